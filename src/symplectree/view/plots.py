"""Plots of trajectories, labelled with names and units."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from symplectree.lie import Array

if TYPE_CHECKING:
    from symplectree.mechanism.model import Model
    from symplectree.trajectory import Trajectory

# Units of the coordinates of each kind of elementary joint.
UNITS = {
    "revolute": ("rad",),
    "screw": ("rad",),
    "prismatic": ("m",),
    "ball": ("quaternion",) * 4,
    "free": ("m",) * 3 + ("quaternion",) * 4,
}

Panel = tuple[str, dict[str, Array]]  # label of the vertical axis, and the curves by name


def plot_trajectory(trajectory: Trajectory, what: tuple[str, ...], path: Any = None) -> Any:
    """Panels for each of `what`, one above the other, one for each unit; see `Trajectory.plot`."""
    from matplotlib.figure import Figure  # without pyplot: no display is touched, no figure is kept

    panels = [panel for name in what for panel in _panels(trajectory, name)]
    figure = Figure(figsize=(7, 1.2 + 2.2 * len(panels)), layout="constrained")
    all_axes = figure.subplots(len(panels), 1, sharex=True, squeeze=False)[:, 0]
    for axes, (label, curves) in zip(all_axes, panels, strict=True):
        for name, curve in curves.items():
            axes.plot(trajectory.t, curve, label=name)
        axes.set_ylabel(label)
        axes.grid(alpha=0.3)
        if len(curves) <= 12:
            axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), fontsize="small", frameon=False)
    all_axes[-1].set_xlabel("time [s]")
    if path is not None:
        figure.savefig(path, dpi=150)
    return figure


def _panels(trajectory: Trajectory, name: str) -> list[Panel]:
    if name == "energy":
        curves = {"kinetic": trajectory.kinetic, "potential": trajectory.potential, "total": trajectory.energy}
        return [("energy [J]", curves)]
    if name == "momentum":
        labels = ("Lx", "Ly", "Lz", "px", "py", "pz")
        return [("momentum [N·m·s, N·s]", dict(zip(labels, trajectory.momentum.T, strict=True)))]
    model = trajectory.model
    if name == "coordinates":
        return _by_unit(model, name, dict(zip(model.coordinates, trajectory.q.T, strict=True)))
    course = trajectory[name]
    place = model.joints.get(name)
    names = model.coordinates[place.q] if place is not None else (name,)
    return _by_unit(model, name, dict(zip(names, course.reshape(len(course), -1).T, strict=True)))


def _by_unit(model: Model, label: str, curves: dict[str, Array]) -> list[Panel]:
    units = [u for place in model.joints.values() for step in place.joint.steps() for u in UNITS[step.kind]]
    unit_of = dict(zip(model.coordinates, units, strict=True))
    panels: dict[str, dict[str, Array]] = {}
    for name, curve in curves.items():
        panels.setdefault(unit_of[name], {})[name] = curve
    return [(f"{label} [{unit}]" if unit != "quaternion" else f"{label}, quaternion", c) for unit, c in panels.items()]
