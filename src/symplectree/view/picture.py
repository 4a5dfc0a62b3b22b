"""Figures that notebooks show by themselves."""

import io
from typing import Any

from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullFormatter

FEW = 3  # decades, on which 2 and 5 are labelled, too
# Ten colours that are told apart, also by those who see red and green alike as far as lightness helps; then with dashes.
COLORS = ("#1f6fb4", "#e8780c", "#2b9a3e", "#c9252b", "#8256b0", "#7d4f3f", "#dd6bb8", "#5f6368", "#a8a500", "#10b0c4")
DASHES: tuple[Any, ...] = ("solid", (0, (4, 1.5)), (0, (1.2, 1.2)))
MOST_NAMED = len(COLORS) * len(DASHES)


class Picture(Figure):
    """A figure made without pyplot: no display is touched, no figure is kept, and a notebook shows it all the same."""

    def _repr_png_(self) -> bytes:
        out = io.BytesIO()
        self.savefig(out, format="png", dpi=100)
        return out.getvalue()


def style(k: int) -> dict[str, Any]:
    """Colour and dashes of curve k of a panel: no two of 30 are alike."""
    return {"color": COLORS[k % len(COLORS)], "linestyle": DASHES[k // len(COLORS) % len(DASHES)]}


def label_sparsely(axis: Any) -> None:
    """Labels on a logarithmic axis that never overlap: powers of ten, and 2 and 5 times these where there are few."""
    low, high = sorted(axis.get_view_interval())
    axis.set_minor_formatter(NullFormatter())
    if low > 0 and high / low < 10**FEW:
        axis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axis.set_major_formatter(_short)


def _short(value: float, position: Any = None) -> str:
    """Digits, short as they can be: 0.02, 500, 2·10⁻⁷."""
    if 1e-3 <= value < 1e5:
        return f"{value:g}"
    digits, power = f"{value:.0e}".split("e")
    factor = "" if digits == "1" else rf"{digits}{{\cdot}}"
    return f"${factor}10^{{{int(power)}}}$"
