"""One state of a trajectory, or one between two that were saved."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from symplectree import dynamics
from symplectree.constraints.assembly import assemble
from symplectree.constraints.dynamics import project_velocity
from symplectree.errors import AssemblyError, ModelError
from symplectree.lie import Array, ad
from symplectree.mechanism.model import Model, unknown, unknown_coordinate
from symplectree.validation import real_array, shown

if TYPE_CHECKING:
    from symplectree.simulation.trajectory import Trajectory


@dataclass(frozen=True, eq=False)
class State:
    """Where a model is at one time, and how fast; at several times when `Trajectory.at` was asked for several.

    | name | meaning | shape, unit |
    | --- | --- | --- |
    | t | time | (...), s |
    | q, v | configuration, velocity | (..., nq), (..., nv) |
    | activations | of `model.activations` | (..., names) |
    | model | whose state it is | |

    `state["elbow"]`, `state.velocity("elbow")` and `state.pose("tip")` are as of a Trajectory;
    `simulate(model, state.q, v0=state.v, activation=state.activations, …)` goes on from there.
    """

    model: Model
    t: Any
    q: Array
    v: Array
    activations: Array = field(default_factory=lambda: np.zeros(0))

    def __getitem__(self, name: str) -> Any:
        return coordinate_of(self.model, self.q, name)

    def velocity(self, name: str) -> Any:
        """Of a coordinate, or of a whole joint (..., nv)."""
        return velocity_of(self.model, self.q, self.v, name)

    def pose(self, frame: str) -> Array:
        """Of a frame in the world, (..., 4, 4)."""
        return dynamics.pose(self.model, self.q, frame)

    def __repr__(self) -> str:
        when = f"at t = {self.t:g} s" if np.ndim(self.t) == 0 else f"at {len(self.t)} times"
        return f"State {when}: q = {shown(self.q.tolist())}, v = {shown(self.v.tolist())}"


def coordinate_of(model: Model, q: Array, name: str) -> Array:
    """One coordinate (...) of configurations (..., nq), one that follows included, or all of a joint's (..., nq)."""
    if name in model.coordinates:
        return q[..., model.coordinates.index(name)]
    if name in model.joints:
        return q[..., model.joints[name].q]
    if model.followers is not None and name in model.followers.by_name:
        return model.tree_coordinates(q)[..., model.followers.by_name[name].q]
    raise ModelError(unknown_coordinate(model, name, [*model.coordinates, *model.joints]))


def velocity_of(model: Model, q: Array, v: Array, name: str) -> Array:
    """One velocity (...) of (..., nv), of a coordinate that follows, too, or all of a joint's (..., nv)."""
    if name in model.velocities:
        return v[..., model.velocities.index(name)]
    if name in model.joints:
        return v[..., model.joints[name].v]
    if model.followers is not None and name in model.followers.by_name:
        k = model.followers.by_name[name].v
        rows = zip(q.reshape(-1, model.nq), v.reshape(-1, model.nv), strict=True)
        return np.array([model.tree_velocities(*row)[k] for row in rows]).reshape(q.shape[:-1])
    known = [*model.velocities, *model.joints]
    raise ModelError(unknown_coordinate(model, name, known, "velocity"))


def activation_of(model: Model, activations: Array, name: str) -> Array:
    """One activation (...) of (..., names)."""
    if name not in model.activations:
        if name in model.inputs:
            raise ModelError(f"{name!r} has no activation: it acts as its control says, at once")
        raise ModelError(unknown("activation", name, list(model.activations)))
    return activations[..., model.activations.index(name)].copy()


def state_at(trajectory: Trajectory, t: Any) -> State:
    """See `Trajectory.at`. Between rows the increment δ from the first, q ⊕ δ, is the cubic with the positions and rates of
    both ends; its rates are V = φ(−ad_δ) δ', φ(x) = (eˣ − 1)/x, on joints with quaternions, and V = δ' on others. Loops
    are closed from there. Activations go straight."""
    try:
        times = real_array(t)
    except TypeError:
        raise ModelError(f"t is {shown(t)}; give seconds") from None
    model, saved = trajectory.model, trajectory.t
    slack = 1e-9 * max(abs(saved[-1] - saved[0]), 1e-300)
    outside = ~((times >= saved[0] - slack) & (times <= saved[-1] + slack))
    if np.any(outside):
        raise ModelError(
            f"t = {times[outside].flat[0]:.6g} s is not within the run, {saved[0]:.6g} to {saved[-1]:.6g} s"
        )
    rows = [_between(trajectory, float(x)) for x in np.clip(times, saved[0], saved[-1]).ravel()]
    q = np.array([row[0] for row in rows]).reshape(*times.shape, model.nq)
    v = np.array([row[1] for row in rows]).reshape(*times.shape, model.nv)
    columns = [np.interp(times, saved, column) for column in trajectory.activations.T]
    return State(model, times[()], q, v, np.stack(columns, axis=-1) if columns else np.zeros((*times.shape, 0)))


def _between(trajectory: Trajectory, t: float) -> tuple[Array, Array]:
    saved, model = trajectory.t, trajectory.model
    k = int(np.searchsorted(saved, t, side="right")) - 1
    if saved[k] == t:
        return trajectory.q[k].copy(), trajectory.v[k].copy()
    h = saved[k + 1] - saved[k]
    s = (t - saved[k]) / h
    d = dynamics.difference(model, trajectory.q[k], trajectory.q[k + 1])
    left, right = h * trajectory.v[k], h * trajectory.v[k + 1]
    curved = [place.v for place in model.joints.values() if place.joint.nq != place.joint.nv]
    for part in curved:
        right[part] = np.linalg.solve(_rates(d[part]), right[part])
    increment = s * (s - 1) ** 2 * left + s**2 * (3 - 2 * s) * d + s**2 * (s - 1) * right
    rate = (3 * s - 1) * (s - 1) * left + 6 * s * (1 - s) * d + s * (3 * s - 2) * right
    for part in curved:
        rate[part] = _rates(increment[part]) @ rate[part]
    q, v = dynamics.retract(model, trajectory.q[k], increment), rate / h
    return _closed(model, q, v, trajectory.prescribed) if model.rows else (q, v)


def _closed(model: Model, q: Array, v: Array, held: tuple[str, ...]) -> tuple[Array, Array]:
    """A state near the constraints moved onto them; prescribed coordinates stay."""
    joints = [name for name, place in model.joints.items() if {*model.velocities[place.v]} <= {*held}]
    names = [*joints, *(name for name in held if name in model.coordinates)]
    with contextlib.suppress(AssemblyError):  # nothing is left to move
        q = assemble(model, q, fixed=names)
    return q, project_velocity(model, q, v, fixed=names)


def _rates(d: Array) -> Array:
    """The matrix φ(−ad_d) that takes the rate of an increment d to a body velocity: of rotations (3) or of poses (6)."""
    from scipy.linalg import expm  # slow to import

    n = len(d)
    block = np.zeros((2 * n, 2 * n))
    block[:n, :n] = -ad(np.concatenate([d, np.zeros(6 - n)]))[:n, :n]
    block[:n, n:] = np.eye(n)
    return expm(block)[:n, n:]
