"""What a joint must give, and the check that it gives it.

A joint joins a base frame (placed in the parent) to a moving frame (the link's own). For its own coordinates it gives

| method | meaning | shape |
| --- | --- | --- |
| `transform(q)` | pose T(q) of the moving frame in the base frame | (4, 4) |
| `subspace(q)` | body-frame Jacobian S: the twist of the moving frame is S v | (6, nv) |
| `subspace_derivative(q)` | D_j S, the change of S along increment j | (nv, 6, nv) |
| `retract(q, d)` | the configuration reached from q by the increment d | (nq,) |
| `local(q0, q1)` | the increment d with retract(q0, d) = q1 | (nv,) |
| `neutral` | the configuration with T = identity; of a formula, where it starts | (nq,) |
| `steps()` | the same joint as a row of elementary joints, which is what the core executes | |

The first three follow from `steps()` unless a joint gives them itself.

Increments are plain differences of coordinates, except for quaternions, where they are rotation vectors (Ball)
or twists (Free) of the moving frame: T(retract(q, d)) = T(q) exp[S d] for these.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import reduce
from typing import Any, ClassVar, Literal, Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike

from symplectree.errors import ModelError
from symplectree.joints.limits import JointLimits
from symplectree.lie import AXES, Ad, Array, ad, axis_vector, exp_pose, inverse, pose, quaternion_matrix
from symplectree.validation import array_or_empty, shown

Kind = Literal["revolute", "prismatic", "screw", "ball", "free", "formula"]


@dataclass(frozen=True)
class Step:
    """An elementary joint. The core knows only these kinds; S is constant in the moving frame of all but "formula".

    coordinates, formula: of a formula, how many it has, and its tapes (`formula.pose_formula.PoseFormula`).
    """

    kind: Kind
    axis: tuple[float, float, float] = (0.0, 0.0, 1.0)
    pitch: float = 0.0
    coordinates: int = 1
    formula: Any = None

    @property
    def nq(self) -> int:
        return {"ball": 4, "free": 7}.get(self.kind, self.coordinates)

    @property
    def nv(self) -> int:
        return {"ball": 3, "free": 6}.get(self.kind, self.coordinates)


@dataclass(frozen=True)
class Joint:
    """Base of all joints: a name, coordinates in a vector space, and rotor inertia.

    `armature` is one number for all coordinates, or one for each (Ball and Free: one number for all); it is added to
    the diagonal of the mass matrix, in the units that each coordinate has there. `limits` are kept in the model, for
    each of its coordinates.
    """

    nq: ClassVar[int] = 1
    nv: ClassVar[int] = 1

    name: str
    armature: float | tuple[float, ...] = field(default=0.0, kw_only=True)
    limits: JointLimits | None = field(default=None, kw_only=True)

    @property
    def neutral(self) -> Array:
        return np.zeros(self.nq)

    def retract(self, q: ArrayLike, increment: ArrayLike) -> Array:
        return np.asarray(q, dtype=float) + np.asarray(increment, dtype=float)

    def local(self, q0: ArrayLike, q1: ArrayLike) -> Array:
        return np.asarray(q1, dtype=float) - np.asarray(q0, dtype=float)

    def transform(self, q: ArrayLike) -> Array:
        return reduce(np.matmul, (T for _, T in self._placed(q)), np.eye(4))

    def subspace(self, q: ArrayLike) -> Array:
        """Twists of the elementary joints, carried over those that come after."""
        S = np.zeros((6, 0))
        for step, T in self._placed(q):
            S = np.hstack([Ad(inverse(T)) @ S, step_subspace(step.kind, step.axis, step.pitch)])
        return S

    def subspace_derivative(self, q: ArrayLike) -> Array:
        """D_j S_i = −[S_j, S_i] where j is of an elementary joint after that of i, else zero."""
        S, order = self.subspace(q), [k for k, step in enumerate(self.steps()) for _ in range(step.nv)]
        dS = np.zeros((self.nv, 6, self.nv))
        for j, of_j in enumerate(order):
            earlier = np.array(order) < of_j
            dS[j][:, earlier] = -ad(S[:, j]) @ S[:, earlier]
        return dS

    def steps(self) -> tuple[Step, ...]:
        raise TypeError(f"{type(self).__name__} gives no elementary joints")

    def _placed(self, q: ArrayLike) -> Iterator[tuple[Step, Array]]:
        """The elementary joints, each with the pose of its moving frame in its base frame at q."""
        q, at = np.ravel(np.asarray(q, dtype=float)), 0
        for step in self.steps():
            own = q[at : at + step.nq]
            formula = step.formula
            yield (
                step,
                step_transform(step.kind, step.axis, step.pitch, own) if formula is None else formula.transform(own),
            )
            at += step.nq

    def samples(self, rng: np.random.Generator, count: int) -> list[Array]:
        """Random configurations to try the joint at, away from the neutral one."""
        return [self.retract(self.neutral, rng.uniform(0.3, 1.2, self.nv)) for _ in range(count)]

    def check(self) -> None:
        """Raise ModelError when the joint cannot be what it says; `build()` asks."""

    def armatures(self) -> Array:
        """Rotor inertia of each coordinate, (nv,). Raises ModelError when it cannot be one."""
        values = np.atleast_1d(array_or_empty(self.armature))
        if values.shape not in ((1,), (self.nv,)):
            raise ModelError(f"armature of joint {self.name!r} is {self.armature!r}; give 1 or {self.nv} numbers")
        if not np.all(np.isfinite(values)) or np.any(values < 0):
            raise ModelError(f"armature of joint {self.name!r} is {self.armature}; it must be zero or more")
        return np.broadcast_to(values, (self.nv,)).copy()


@runtime_checkable
class SecondOrder(Protocol):
    """A joint whose S varies in ways that second derivatives need: it also gives D_k D_j S at [k, j], (nv, nv, 6, nv)."""

    def subspace_second(self, q: ArrayLike) -> Array: ...


def unit_axis(owner: str, axis: object) -> tuple[float, float, float]:
    """The checked unit vector of an axis; raises ModelError naming `owner`."""
    if isinstance(axis, str):
        if axis.removeprefix("-") not in AXES:
            raise ModelError(f"axis of {owner} is {axis!r}; give 'x', 'y', 'z' or a unit vector of three numbers")
        vector = axis_vector(axis)
    else:
        vector = array_or_empty(axis)
    if vector.shape != (3,):
        raise ModelError(f"axis of {owner} is {axis!r}; give 'x', 'y', 'z' or a unit vector of three numbers")
    if not np.all(np.isfinite(vector)):
        raise ModelError(f"axis of {owner} holds a value that is not finite: {axis!r}")
    length = float(np.linalg.norm(vector))
    if length == 0:
        raise ModelError(f"axis of {owner} is zero; give a unit vector")
    if abs(length - 1) > 1e-6:
        unit = ", ".join(f"{c:.9g}" for c in vector / length)
        raise ModelError(f"axis of {owner} has length {length:.6g}, not 1; did you mean ({unit})?")
    x, y, z = (float(c) for c in vector / length)
    return x, y, z


def step_transform(kind: str, axis: ArrayLike, pitch: float, q: ArrayLike) -> Array:
    """Pose T(q) of an elementary joint's moving frame in its base frame, (4, 4)."""
    q = np.ravel(np.asarray(q, dtype=float))
    if kind == "ball":
        return pose(quaternion_matrix(q))
    if kind == "free":
        return pose(quaternion_matrix(q[3:]), q[:3])
    return exp_pose(step_subspace(kind, axis, pitch) @ q)


def step_subspace(kind: str, axis: ArrayLike, pitch: float) -> Array:
    """Twists S of an elementary joint, (6, nv): the moving frame's body twist against the base is S v."""
    e, zero = np.asarray(axis, dtype=float), np.zeros(3)
    if kind == "ball":
        return np.eye(6)[:, :3]
    if kind == "free":
        return np.eye(6)
    angular, linear = {"revolute": (e, zero), "prismatic": (zero, e), "screw": (e, pitch * e)}[kind]
    return np.concatenate([angular, linear])[:, None]


def _require(condition: bool, joint: Joint, what: str, error: float) -> None:
    if not condition:
        raise AssertionError(f"{type(joint).__name__} {joint.name!r}: {what} (off by {error:.3g})")


def check_joint(joint: Joint, *, samples: int = 8, seed: int = 0, tolerance: float = 1e-7) -> None:
    """Compare everything `joint` gives with finite differences, and its parts with each other.

    Checked at `samples` random configurations: T is a rigid motion and the identity at neutral (unless it is a formula);
    S is the derivative of T, D_j S that of S along increments, and D_k D_j S, where the joint gives it, that of D_j S;
    local undoes retract; the elementary joints of `steps()` give the same T.

    Raises AssertionError saying which part is wrong and by how much. `tolerance` is that of central differences with a
    step of 1e-5 (their rounding is about 1e-11, their truncation 1e-10 for coordinates of order one).
    """
    if not isinstance(joint, Joint):
        raise ModelError(f"check_joint takes a joint, such as Revolute('q'), not {shown(joint)}")
    rng = np.random.default_rng(seed)
    step = 1e-5
    _require(len(joint.neutral) == joint.nq, joint, "neutral has the wrong length", len(joint.neutral) - joint.nq)
    if joint.nv == 0:
        return
    joint.check()
    by_formula = isinstance(joint, SecondOrder)
    error = 0.0 if by_formula else float(np.abs(joint.transform(joint.neutral) - np.eye(4)).max())
    _require(error < 1e-12, joint, "T(neutral) is not the identity", error)
    for _ in range(samples):
        q = joint.samples(rng, 1)[0] if by_formula else joint.retract(joint.neutral, rng.normal(size=joint.nv))
        T, S = joint.transform(q), joint.subspace(q)
        _require(S.shape == (6, joint.nv), joint, f"S has shape {S.shape}", 0)
        dS = joint.subspace_derivative(q)
        _require(dS.shape == (joint.nv, 6, joint.nv), joint, f"dS has shape {dS.shape}", 0)
        error = float(np.abs(T[:3, :3] @ T[:3, :3].T - np.eye(3)).max())
        _require(error < 1e-12, joint, "T is not a rigid motion", error)
        for j in range(joint.nv):
            e = np.eye(joint.nv)[j] * step
            ahead, behind = joint.retract(q, e), joint.retract(q, -e)
            dT = (joint.transform(ahead) - joint.transform(behind)) / (2 * step)
            body = inverse(T) @ dT
            twist = np.array([body[2, 1], body[0, 2], body[1, 0], *body[:3, 3]])
            error = float(np.abs(twist - S[:, j]).max())
            _require(error < tolerance, joint, f"column {j} of S is not the derivative of T", error)
            slope = (joint.subspace(ahead) - joint.subspace(behind)) / (2 * step)
            error = float(np.abs(slope - dS[j]).max())
            _require(error < tolerance, joint, f"D_{j} S is not the derivative of S", error)
            if isinstance(joint, SecondOrder):
                slope = (joint.subspace_derivative(ahead) - joint.subspace_derivative(behind)) / (2 * step)
                error = float(np.abs(slope - joint.subspace_second(q)[j]).max())
                _require(error < tolerance, joint, f"D_{j} D S is not the derivative of D S", error)
        d = rng.normal(size=joint.nv) * 0.5
        error = float(np.abs(joint.local(q, joint.retract(q, d)) - d).max())
        _require(error < 1e-10, joint, "local does not undo retract", error)
        error = float(np.abs(Joint.transform(joint, q) - T).max())
        _require(error < 1e-12, joint, "steps() give another transform", error)
