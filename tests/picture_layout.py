"""What is wrong with the layout of a matplotlib figure: labels cut off, labels over labels, legends over curves.

`python tests/picture_layout.py SCRIPT` runs a script, and fails when a figure that it saves has any of these.
"""

from __future__ import annotations

import runpy
import sys
from itertools import combinations, pairwise
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.legend import Legend
from matplotlib.text import Text
from matplotlib.transforms import Bbox

SLACK = 1.5  # pixels by which boxes around letters may overlap in height, where they are larger than the letters,
SPACE = 3.0  # and which must be between them on a line


def faults(figure: Figure) -> list[str]:
    """One sentence for each thing that is wrong; texts inside of axes in three dimensions are not looked at."""
    FigureCanvasAgg(figure).draw()
    every = figure.findobj(Axes)
    texts = [text for axes in every for text in _texts(axes)] + [text for part in _parts(figure) for text in part.texts]
    labels = [(t, t.get_window_extent()) for t in texts if t.get_visible() and t.get_text().strip()]
    out = [f"{text.get_text()!r} is cut off" for text, box in labels if not _inside(box, figure.bbox)]
    for (a, first), (b, second) in combinations(labels, 2):
        if _overlap(first, second):
            out.append(f"{a.get_text()!r} and {b.get_text()!r} overlap")
    for axes in every:
        for legend in axes.findobj(Legend):
            box = legend.get_window_extent()
            out += [f"the legend of {axes.get_ylabel()!r} covers a curve" for line in axes.lines if _meets(line, box)]
    return out


def _parts(figure):
    """A figure, and those inside it."""
    return [figure, *(part for inner in figure.subfigs for part in _parts(inner))]


def _texts(axes: Axes) -> list[Text]:
    """What is written on axes: ticks only where they are seen."""
    if hasattr(axes, "zaxis"):
        return [axes.title]
    out = [axes.title, *axes.texts, *(text for legend in axes.findobj(Legend) for text in legend.get_texts())]
    for axis in (axes.xaxis, axes.yaxis) if axes.axison else ():
        out += [axis.label, axis.offsetText]
        out += [label for tick in axis._update_ticks() for label in (tick.label1, tick.label2)]
    return out


def _inside(box: Bbox, outer: Bbox) -> bool:
    return bool(
        box.x0 > outer.x0 - SLACK
        and box.y0 > outer.y0 - SLACK
        and box.x1 < outer.x1 + SLACK
        and box.y1 < outer.y1 + SLACK
    )


def _overlap(a: Bbox, b: Bbox) -> bool:
    return bool(min(a.x1, b.x1) - max(a.x0, b.x0) > -SPACE and min(a.y1, b.y1) - max(a.y0, b.y0) > SLACK)


def _meets(line, box: Bbox) -> bool:
    """Does a line pass through a box? Looked at in points that are a pixel or so apart."""
    points = line.get_transform().transform(line.get_xydata())
    points = points[np.isfinite(points).all(axis=1)]
    if len(points) < 2 or not line.get_visible():
        return False
    pieces = [
        np.linspace(a, b, int(np.clip(np.abs(b - a).max(), 2, 2000)))
        for a, b in pairwise(points)
        if max(a[0], b[0]) > box.x0
        and min(a[0], b[0]) < box.x1
        and max(a[1], b[1]) > box.y0
        and min(a[1], b[1]) < box.y1
    ]
    if not pieces:
        return False
    x, y = np.concatenate(pieces).T
    return bool(((x > box.x0) & (x < box.x1) & (y > box.y0) & (y < box.y1)).any())


def main(script: Path) -> None:
    found: list[str] = []
    save = Figure.savefig

    def checked(figure: Figure, *arguments, **options):
        found.extend(faults(figure))
        return save(figure, *arguments, **options)

    Figure.savefig = checked
    sys.path.insert(0, str(script.parent))
    runpy.run_path(str(script), run_name="__main__")
    if found:
        sys.exit("\n".join(dict.fromkeys(found)))


if __name__ == "__main__":
    sys.path[0] = ""  # the script sees its own folder, not this one
    main(Path(sys.argv[1]))
