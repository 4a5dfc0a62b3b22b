"""Pictures of a sweep: results over the parameters that vary."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from symplectree.ensemble.sweep_store import FAILED
from symplectree.errors import ModelError
from symplectree.io.atomic_write import checked_path, replacing
from symplectree.lie import Array
from symplectree.mechanism.model import unknown
from symplectree.view.picture import Picture
from symplectree.view.plots import PICTURES

if TYPE_CHECKING:
    from symplectree.ensemble.sweep_result import Sweep

MOST = 4  # results, and parameters, that one picture shows unless they are named
POINTS = 20_000  # that are drawn of each panel


def plot_sweep(sweep: Sweep, outputs: Sequence[str] = (), path: Any = None) -> Any:
    """See `Sweep.plot`."""
    file = None if path is None else checked_path(path, PICTURES)
    scalars = [name for name in sweep.outputs if sweep[name].ndim == 1 and sweep[name].dtype.kind == "f"]
    for name in outputs:
        if name not in sweep.outputs:
            raise ModelError(unknown("result", name, list(sweep.outputs)))
        if name not in scalars:
            raise ModelError(f"result {name!r} is no single real number for each run; plot draws numbers only")
    chosen = list(outputs) or scalars[:MOST]
    if not chosen:
        raise ModelError("the runs have no result that is a single number yet; there is nothing to draw")
    varying = {name: values for name in sweep.parameters if _varies(values := sweep[name])}
    if not varying:
        raise ModelError("no parameter is a number that varies; there is nothing to draw results over")
    failed = np.asarray(sweep.dataset["state"]) == FAILED
    if sweep.shape is not None and len(varying) == 2 and sum(n > 1 for n in sweep.shape) == 2:
        figure = _maps(sweep, chosen, varying, failed)
    else:
        figure = _curves(sweep, chosen, dict(list(varying.items())[:MOST]), failed)
    if file is not None:
        replacing(file, lambda new: figure.savefig(new, dpi=150))
    return figure


def _varies(values: Array) -> bool:
    return values.ndim == 1 and values.dtype.kind in "iuf" and bool(np.ptp(values) > 0)


def _curves(sweep: Sweep, outputs: list[str], varying: dict[str, Array], failed: Any) -> Picture:
    """A panel for each result and parameter: a curve along a single one, else points."""
    figure = Picture(figsize=(1.5 + 3.4 * len(varying), 1 + 2.6 * len(outputs)), layout="constrained")
    panels = figure.subplots(len(outputs), len(varying), squeeze=False, sharex="col", sharey="row")
    line = len(varying) == 1 and sum(n > 1 for n in sweep.shape or ()) == 1
    step = max(1, sweep.runs // POINTS)
    for row, output in zip(panels, outputs, strict=True):
        values = sweep[output]
        for axes, x in zip(row, varying.values(), strict=True):
            if line:
                axes.plot(x, values, "o-", markersize=4, linewidth=1)
            else:
                axes.plot(x[::step], values[::step], ".", markersize=3, alpha=0.6, rasterized=sweep.runs > 5000)
            for place in x[failed][:POINTS]:
                axes.axvline(place, ymax=0.04, color="C3")
            axes.grid(alpha=0.3)
        row[0].set_ylabel(output)
    for axes, name in zip(panels[-1], varying, strict=True):
        axes.set_xlabel(name)
    _tell(figure, failed)
    return figure


def _maps(sweep: Sweep, outputs: list[str], varying: dict[str, Array], failed: Any) -> Picture:
    """A map of each result over the two parameters of a grid; crosses are failures."""
    columns = min(2, len(outputs))
    rows = -(-len(outputs) // columns)
    figure = Picture(figsize=(1 + 4.6 * columns, 0.6 + 3.6 * rows), layout="constrained")
    panels = figure.subplots(rows, columns, squeeze=False).ravel()
    shape = [n for n in sweep.shape or () if n > 1]
    (first, x), (second, y) = varying.items()
    x, y = x.reshape(shape), y.reshape(shape)
    for axes, output in zip(panels, outputs, strict=False):
        values = np.ma.masked_invalid(sweep[output].reshape(shape))
        colors = axes.pcolormesh(x, y, values, shading="nearest", rasterized=True)
        figure.colorbar(colors, ax=axes, label=output)
        axes.plot(x.ravel()[failed], y.ravel()[failed], "x", color="C3", markersize=4)
        axes.set_xlabel(first)
        axes.set_ylabel(second)
    for axes in panels[len(outputs) :]:
        axes.set_visible(False)
    _tell(figure, failed)
    return figure


def _tell(figure: Picture, failed: Any) -> None:
    if failed.any():
        count = int(failed.sum())
        figure.suptitle(f"{count:,} of {len(failed):,} runs failed (red)", fontsize="medium", color="C3")
