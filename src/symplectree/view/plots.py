"""Plots of trajectories, labelled with names and units."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from symplectree.trajectory import Trajectory


def plot_trajectory(trajectory: Trajectory, what: tuple[str, ...], path: Any = None) -> Any:
    """One panel for each of `what`, one above the other; see `Trajectory.plot`."""
    from matplotlib.figure import Figure  # without pyplot: no display is touched, no figure is kept

    figure = Figure(figsize=(7, 1.2 + 2.2 * len(what)), layout="constrained")
    panels = figure.subplots(len(what), 1, sharex=True, squeeze=False)[:, 0]
    for panel, name in zip(panels, what, strict=True):
        _draw(panel, trajectory, name)
        panel.grid(alpha=0.3)
    panels[-1].set_xlabel("time [s]")
    if path is not None:
        figure.savefig(path, dpi=150)
    return figure


def _draw(panel: Any, trajectory: Trajectory, name: str) -> None:
    t = trajectory.t
    if name == "energy":
        for label in ("kinetic", "potential", "energy"):
            panel.plot(t, getattr(trajectory, label), label="total" if label == "energy" else label)
        panel.set_ylabel("energy [J]")
    elif name == "momentum":
        for k, label in enumerate(("Lx", "Ly", "Lz", "px", "py", "pz")):
            panel.plot(t, trajectory.momentum[:, k], label=label)
        panel.set_ylabel("momentum [N·m·s, N·s]")
    elif name == "coordinates":
        for k, label in enumerate(trajectory.model.coordinates):
            panel.plot(t, trajectory.q[:, k], label=label)
        panel.set_ylabel("coordinates [rad, m]")
    else:
        course = trajectory[name].reshape(len(t), -1)
        for k in range(course.shape[1]):
            panel.plot(t, course[:, k], label=name if course.shape[1] == 1 else f"{name}.{k}")
        panel.set_ylabel(f"{name} {_unit(trajectory, name)}")
    if len(panel.lines) <= 12:
        panel.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), fontsize="small", frameon=False)


def _unit(trajectory: Trajectory, name: str) -> str:
    from symplectree.joints import Prismatic, Revolute, Screw

    place = trajectory.model.joints.get(name)
    if place is None:
        return ""
    return "[rad]" if isinstance(place.joint, Revolute | Screw) else "[m]" if isinstance(place.joint, Prismatic) else ""
