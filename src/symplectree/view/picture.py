"""Figures that notebooks show by themselves."""

from __future__ import annotations

import io

from matplotlib.figure import Figure


class Picture(Figure):
    """A figure made without pyplot: no display is touched, no figure is kept, and a notebook shows it all the same."""

    def _repr_png_(self) -> bytes:
        out = io.BytesIO()
        self.savefig(out, format="png", dpi=100)
        return out.getvalue()
