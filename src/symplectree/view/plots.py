"""Plots of trajectories, labelled with names and units."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from symplectree.errors import ModelError
from symplectree.io.atomic_write import checked_path, replacing
from symplectree.io.record import COORDINATE_UNITS, INCREMENT_UNITS
from symplectree.lie import Array
from symplectree.view.contact_marks import has_contacts
from symplectree.view.contact_plots import Lane, contact_curves, draw_lanes, has_lanes, lanes, lanes_height
from symplectree.view.plot_names import not_plotted
from symplectree.view.row_units import FORCES, error_unit, row_units

if TYPE_CHECKING:
    from symplectree.mechanism.model import Model
    from symplectree.simulation.trajectory import Trajectory

PICTURES = (".png", ".svg", ".pdf", ".jpg", ".jpeg", ".eps", ".ps", ".webp", ".tif", ".tiff")
SMALLEST = 1e-18  # of errors on a logarithmic axis
LONG = 24  # letters, beyond which a label has its unit on a second line
NAMED = 0.17  # inches that a name in a legend takes


@dataclass(frozen=True)
class Panel:
    """One set of axes: the label of the vertical one, the curves by name, and what they are drawn over.

    over: label and values of the horizontal axis; None is time. equal: whether both axes have the same scale.
    lanes: bars over time in place of curves.
    """

    label: str
    curves: dict[str, Array]
    over: tuple[str, Array] | None = None
    logarithmic: bool = False
    equal: bool = False
    lanes: list[Lane] | None = None


def plot_trajectory(trajectory: Trajectory, what: tuple[str, ...], path: Any = None) -> Any:
    """Panels for each of `what`, one above the other, one for each unit; see `Trajectory.plot`."""
    from symplectree.view.picture import Picture  # slow to import

    file = None if path is None else checked_path(path, PICTURES)
    drawn = [panel for name in what for panel in panels(trajectory, name)]
    heights = [_height(panel) for panel in drawn]
    figure = Picture(figsize=(7, 1.2 + sum(heights)), layout="constrained")
    all_axes = figure.subplots(len(drawn), 1, squeeze=False, gridspec_kw={"height_ratios": heights})[:, 0]
    timed = [axes for axes, panel in zip(all_axes, drawn, strict=True) if panel.over is None]
    for axes in (axes for axes, panel in zip(all_axes, drawn, strict=True) if panel.equal):
        axes.set_aspect("equal", adjustable="datalim")
    for axes, panel in zip(all_axes, drawn, strict=True):
        _draw(axes, panel, trajectory.t)
        if panel.over is None and axes is not timed[-1]:
            axes.sharex(timed[-1])
            axes.tick_params(labelbottom=False)
        else:
            axes.set_xlabel(plain(panel.over[0]) if panel.over is not None else "time [s]")
    figure.align_ylabels([axes for axes, panel in zip(all_axes, drawn, strict=True) if panel.lanes is None])
    if file is not None:
        replacing(file, lambda new: figure.savefig(new, dpi=150))
    return figure


def plain(text: str) -> str:
    """A text whose dollar signs matplotlib shows, and does not take for the beginning of a formula."""
    return text.replace("$", r"\$")


def _height(panel: Panel) -> float:
    """Inches: room for the curves, and for all their names beside them."""
    from symplectree.view.picture import MOST_NAMED

    if panel.lanes is not None:
        return lanes_height(panel.lanes)
    names = len(panel.curves) if len(panel.curves) <= MOST_NAMED else 0
    return max(2.2 if panel.over is None else 4.4, NAMED * names + 0.2)


def _draw(axes: Any, panel: Panel, t: Array) -> None:
    """Curves with a legend beside them, which never covers any."""
    from symplectree.view.picture import MOST_NAMED, label_sparsely, style

    if panel.lanes is not None:
        draw_lanes(axes, panel.lanes)
        return
    x = t if panel.over is None else panel.over[1]
    for k, (name, curve) in enumerate(panel.curves.items()):
        values = np.maximum(curve, SMALLEST) if panel.logarithmic else curve
        axes.plot(x, values, label=plain(name), linewidth=1.3, **style(k))
    axes.set_ylabel(plain(panel.label if len(panel.label) <= LONG else panel.label.replace(" [", "\n[")))
    axes.margins(x=0.02)
    axes.grid(alpha=0.3)
    if panel.logarithmic:
        axes.set_yscale("log")
        label_sparsely(axes.yaxis)
    else:
        axes.ticklabel_format(axis="y", scilimits=(-3, 5), useMathText=True)
    if panel.over is not None:
        axes.plot(x[0], next(iter(panel.curves.values()))[0], "o", color="k", markersize=4, label="start")
    if len(panel.curves) <= MOST_NAMED:
        axes.legend(
            loc="upper left", bbox_to_anchor=(1.0, 1.02), fontsize="small", frameon=False, labelspacing=0.3,
            handlelength=1.8,
        )  # fmt: skip
    else:
        axes.set_title(f"{len(panel.curves)} curves", fontsize="small", loc="right")


def panels(trajectory: Trajectory, name: str) -> list[Panel]:
    """The panels of one quantity by name; see `Trajectory.plot`."""
    model = trajectory.model
    if name == "energy":
        curves = {"kinetic": trajectory.kinetic, "potential": trajectory.potential, "total": trajectory.energy}
        change = {"total": trajectory.energy - trajectory.energy[0]}  # the error where nothing drives or damps
        return [Panel("energy [J]", curves), Panel("total − start [J]", change)]
    if name == "momentum":
        angular, linear = trajectory.momentum[:, :3], trajectory.momentum[:, 3:]
        return [
            Panel("angular momentum [N·m·s]", dict(zip(("Lx", "Ly", "Lz"), angular.T, strict=True))),
            Panel("linear momentum [N·s]", dict(zip(("px", "py", "pz"), linear.T, strict=True))),
        ]
    if name == "constraint_error":
        return [Panel(_error_label(model), {"largest": trajectory.constraint_error}, logarithmic=True)]
    if name == "coordinates":
        return _by_unit(model, name, dict(zip(model.coordinates, trajectory.q.T, strict=True)))
    if name == "velocities":
        return _by_unit(model, name, dict(zip(model.velocities, trajectory.v.T, strict=True)), velocities=True)
    if name == "multipliers" and model.rows:
        return _multipliers(trajectory)
    if name == "prescribed_forces" and trajectory.prescribed:
        return _prescribed_forces(trajectory)
    if name == "contacts" and has_lanes(model) and not _is_coordinate(model, name):
        return [Panel("", {}, lanes=lanes(trajectory)), *_contact_forces(trajectory, ("normal",))]
    if name == "contact_forces" and has_contacts(model) and not _is_coordinate(model, name):
        return _contact_forces(trajectory, ("normal", "friction"))
    if isinstance(name, str) and name.startswith("phase:"):
        return [_phase_portrait(trajectory, name.removeprefix("phase:").strip())]
    if isinstance(name, str) and name in model.sensors and not _is_coordinate(model, name):
        return _sensor(trajectory, name)
    if isinstance(name, str) and name.removeprefix("path:") in model.frames and not _is_coordinate(model, name):
        return [
            _path(trajectory, name.removeprefix("path:")) if name.startswith("path:") else _position(trajectory, name)
        ]
    if not _is_coordinate(model, name):
        raise not_plotted(trajectory, name)
    course = trajectory[name]
    place = model.joints.get(name)
    names = model.coordinates[place.q] if place is not None else (name,)
    return _by_unit(model, name, dict(zip(names, course.reshape(len(course), -1).T, strict=True)))


def _sensor(trajectory: Trajectory, name: str) -> list[Panel]:
    """What a sensor shows, a panel for each unit."""
    model, sensor = trajectory.model, trajectory.model.sensors[name]
    values = trajectory.sensor(name).reshape(len(trajectory), -1)
    by_unit: dict[str, dict[str, Array]] = {}
    for label, unit, curve in zip(sensor.labels(model), sensor.units(model), values.T, strict=True):
        by_unit.setdefault(unit, {})[label] = curve
    return [Panel(f"{name} [{unit}]" if unit else name, curves) for unit, curves in by_unit.items()]


def _is_coordinate(model: Model, name: object) -> bool:
    """Is it one, also one that follows, or a joint?"""
    full = model.full
    return name in full.coordinates or (isinstance(name, str) and name in model.joints)


def _between(names: Sequence[str], rows: Array) -> dict[str, Array]:
    """Curves of what is known at each state but the last."""
    curves = np.vstack([rows, np.full((1, len(names)), np.nan)]) if len(names) else np.zeros((len(rows) + 1, 0))
    return dict(zip(names, curves.T, strict=True))


def _prescribed_forces(trajectory: Trajectory) -> list[Panel]:
    units = {"rad/s": "N·m", "m/s": "N"}
    by_unit: dict[str, dict[str, Array]] = {}
    rates = _units(trajectory.model, velocities=True)
    for name, curve in _between(trajectory.prescribed, trajectory.prescribed_forces).items():
        by_unit.setdefault(units.get(rates[name], "unit"), {})[name] = curve
    return [Panel(f"prescribed forces [{unit}]", curves) for unit, curves in by_unit.items()]


def _contact_forces(trajectory: Trajectory, kinds: tuple[str, ...]) -> list[Panel]:
    """Forces of pairs that touch."""
    curves = contact_curves(trajectory) if has_contacts(trajectory.model) else {}
    return [Panel(f"{kind} force [N]", curves[kind]) for kind in kinds if curves.get(kind)]


def _position(trajectory: Trajectory, frame: str) -> Panel:
    """Where a frame's origin is over time."""
    return Panel(f"{frame} [m]", dict(zip("xyz", trajectory.pose(frame)[:, :3, 3].T, strict=True)))


def _path(trajectory: Trajectory, frame: str) -> Panel:
    """The way of a frame's origin, along the two axes along which it goes farthest."""
    way = trajectory.pose(frame)[:, :3, 3]
    a, b = sorted(np.argsort(np.ptp(way, axis=0), kind="stable")[1:])
    over = f"{'xyz'[a]} of {frame} [m]", way[:, a]
    return Panel(f"{'xyz'[b]} of {frame} [m]", {frame: way[:, b]}, over=over, equal=True)


def _phase_portrait(trajectory: Trajectory, name: str) -> Panel:
    """Velocity over position of one coordinate."""
    model = trajectory.model
    if not _is_coordinate(model, name):
        raise not_plotted(trajectory, f"phase:{name}")
    course = trajectory[name]
    units, rates = _units(model), _units(model, velocities=True)
    if name not in model.coordinates or not _has_rate(model, name):
        raise ModelError(f"{name!r} has no phase portrait: it is not one coordinate with a velocity of its own")
    rate = trajectory.v[:, model.velocities.index(name)]
    return Panel(f"velocity of {name} [{rates[name]}]", {name: rate}, over=(f"{name} [{units[name]}]", course))


def _has_rate(model: Model, name: str) -> bool:
    """Whether the velocity of the same name is the rate of a coordinate: not of joints with quaternions."""
    return all(
        place.joint.nq == place.joint.nv for place in model.joints.values() if name in model.coordinates[place.q]
    )


def _multipliers(trajectory: Trajectory) -> list[Panel]:
    """One panel for each unit: forces, torques, and those of rows whose unit nobody knows."""
    model = trajectory.model
    units = row_units(model, _units(model.full))
    curves, by_unit = _between(model.rows, trajectory.multipliers), dict.fromkeys(units.values())
    return [
        Panel(f"multipliers [{FORCES.get(unit, unit)}]", {row: curves[row] for row in model.rows if units[row] == unit})
        for unit in by_unit
    ]


def _error_label(model: Model) -> str:
    return f"constraint error [{error_unit(row_units(model, _units(model.full)))}]"


def _units(model: Model, *, velocities: bool = False) -> dict[str, str]:
    """Units of coordinates, or of velocities, by name; those of a formula's are not known."""
    names, table = (model.velocities, INCREMENT_UNITS) if velocities else (model.coordinates, COORDINATE_UNITS)
    steps = [step for place in model.joints.values() for step in place.joint.steps()]
    units = [unit for step in steps for unit in table.get(step.kind, ("unit",) * step.nq)]
    rate = "/s" if velocities else ""
    return {name: unit if unit == "unit" else unit + rate for name, unit in zip(names, units, strict=True)}


def _by_unit(model: Model, label: str, curves: dict[str, Array], *, velocities: bool = False) -> list[Panel]:
    """Panels of coordinates, or of velocities, one for each unit."""
    unit_of = _units(model.full, velocities=velocities)  # followers have units, too
    by_unit: dict[str, dict[str, Array]] = {}
    for name, curve in curves.items():
        by_unit.setdefault(unit_of[name], {})[name] = curve
    return [
        Panel(f"{label} [{unit}]" if unit != "quaternion" else f"{label}, quaternion", found)
        for unit, found in by_unit.items()
    ]
