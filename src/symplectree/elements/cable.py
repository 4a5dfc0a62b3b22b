"""A cable through points of several bodies: a spring and a damper of its whole length."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from symplectree.elements.contract import Element, Lowering
from symplectree.elements.formula import FormulaForce, FormulaPotential
from symplectree.errors import ModelError
from symplectree.formula.pose_formula import pose_of_tape
from symplectree.formula.rigid import pose, rotation
from symplectree.lie import Array
from symplectree.validation import shown


@dataclass(frozen=True)
class Cable(Element):
    """ℓ = Σ |xᵢ₊₁ − xᵢ| over the origins of frames, with V = ½ `stiffness` (ℓ − `rest`)² and the tension `damping` · ℓ̇.

    frames: names of two or more frames, in the order in which the cable passes them, without friction.
    rest: the length without force [m], or a pair of lengths between which there is none, (0, length) for a rope.

    Between the frames may be joints of every kind but Ball and Free, and no two frames in a row may come to lie on each
    other, where the cable has no direction. A `Spring` is the same for two frames, and needs neither.
    """

    frames: tuple[str, ...]
    stiffness: float = field(default=0.0, kw_only=True)
    rest: float | tuple[float, float] = field(default=0.0, kw_only=True)
    damping: float = field(default=0.0, kw_only=True)

    def add_rows(self, into: Lowering) -> Cable:
        if isinstance(self.frames, str) or not isinstance(self.frames, Sequence) or len(self.frames) < 2:
            raise ModelError(f"{into.what}: frames are {shown(self.frames)}; give the names of two or more")
        points = [into.frame(name) for name in self.frames]
        if len({body for body, _ in points}) == 1:
            raise ModelError(f"{into.what}: all frames are on the same body, so it can do nothing")
        k, c = into.number(self.stiffness, "stiffness"), into.number(self.damping, "damping")
        ends = self.rest if isinstance(self.rest, Sequence | np.ndarray) else (self.rest, self.rest)
        if len(ends) != 2:
            raise ModelError(f"{into.what}: rest is {shown(self.rest)}; give a length, or two")
        lower, upper = (into.number(x, "rest") for x in ends)
        if not 0 <= lower <= upper:
            raise ModelError(f"{into.what}: rest is {shown(self.rest)}; lengths are zero or more, the lower one first")
        if k == 0 and c == 0:
            raise ModelError(f"{into.what} has neither stiffness nor damping, so it can do nothing")
        length = _Length(into, points)
        if k:
            FormulaPotential(_Stretch(length, k, lower, upper), coordinates=length.joints).add_rows(into)
        if c:
            FormulaForce(_Drag(length, c), coordinates=length.joints).add_rows(into)
        return self


class _Length:
    """ℓ as a formula of the coordinates between the bodies; `joints` are the names of these joints, in order."""

    def __init__(self, into: Lowering, points: list[tuple[int, Array]]) -> None:
        assert into.tree is not None
        self.tree, self.points = into.tree, points
        paths = [self._path(body) for body, _ in points]
        shared = 0
        while all(len(path) > shared and path[shared] == paths[0][shared] for path in paths):
            shared += 1
        self.paths = [path[shared:] for path in paths]
        moving = {body for path in self.paths for body in path}
        self.joints: list[str] = []
        self.places: dict[int, int] = {}  # of the coordinates of a body among those of all these joints
        first = 0
        for name, place in into.joints.items():
            own = [b for b in moving if place.q_start <= self.tree.q_start[b] < place.q_start + place.joint.nq]
            if not own:
                continue
            if place.joint.nq != place.joint.nv:
                raise ModelError(
                    f"{into.what}: the Ball or Free joint {name!r} is between its frames, which only a Spring between two "
                    "frames can have"
                )
            self.joints.append(name)
            self.places |= {b: first + self.tree.q_start[b] - place.q_start for b in own}
            first += place.joint.nq

    def __call__(self, q: Any) -> Any:
        import casadi

        where = [self._pose(path, q) @ casadi.SX(T) for path, (_, T) in zip(self.paths, self.points, strict=True)]
        steps = [b[:3, 3] - a[:3, 3] for a, b in itertools.pairwise(where)]
        return sum(casadi.sqrt(casadi.dot(d, d)) for d in steps)

    def _path(self, body: int) -> list[int]:
        """Bodies from the root to this one."""
        path: list[int] = []
        while body >= 0:
            path.insert(0, body)
            body = self.tree.parent[body]
        return path

    def _pose(self, path: list[int], q: Any) -> Any:
        """Of the path's last body, in the one that all paths share."""
        T = pose()
        for body in path:
            T = T @ pose(*_parts(self.tree.placement[body])) @ self._joint(body, q)
        return T

    def _joint(self, body: int, q: Any) -> Any:
        kind, axis, at = self.tree.kind[body], self.tree.axis[body], self.places[body]
        if kind == "formula":
            formula = self.tree.formulas[body]
            return pose(*pose_of_tape(formula.pose, q[at : at + formula.coordinates]))
        if kind == "prismatic":
            return pose(None, [x * q[at] for x in axis])
        return pose(rotation(axis, q[at]), [self.tree.pitch[body] * x * q[at] for x in axis])


def _parts(T: Array) -> tuple[Array, Array]:
    return T[:3, :3], T[:3, 3]


@dataclass(frozen=True)
class _Stretch:
    """½ k times the square of how far ℓ is beyond [lower, upper]."""

    length: _Length
    stiffness: float
    lower: float
    upper: float

    def __call__(self, q: Any) -> Any:
        import casadi

        length = self.length(q)
        if self.lower == self.upper:
            return 0.5 * self.stiffness * (length - self.lower) ** 2
        over, under = casadi.fmax(length - self.upper, 0), casadi.fmax(self.lower - length, 0)
        return 0.5 * self.stiffness * (over**2 + under**2)


@dataclass(frozen=True)
class _Drag:
    """−c ℓ̇ ∂ℓ/∂q."""

    length: _Length
    damping: float

    def __call__(self, q: Any, v: Any) -> Any:
        import casadi

        slope = casadi.gradient(self.length(q), q)
        return -self.damping * casadi.dot(slope, v) * slope
