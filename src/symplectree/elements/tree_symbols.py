"""Poses and twists of bodies as formulas of the coordinates and velocities of the joints that move them.

Elements whose forces follow from where several bodies are, and how they move, are written with these; joints may be of
every kind, as derivatives are along the increments of `Joint.retract`, for quaternions too.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from symplectree.elements.contract import Lowering, UserRows
from symplectree.errors import ModelError
from symplectree.extras import extra
from symplectree.formula.pose_formula import body_jacobian, pose_of_tape
from symplectree.formula.rigid import inverse, pose, quaternion_product, rotation
from symplectree.formula.trace import tape_of
from symplectree.lie import Array

SIZES = {"ball": (4, 3), "free": (7, 6)}  # numbers in q and in v; other joints have as many of both


class TreeSymbols:
    """Symbols of the joints between some bodies, and what follows from them.

    The frame of reference is the last body that carries all of the others, the world where there is none, or with
    `from_world`; -1 is the world.

    | name | meaning |
    | --- | --- |
    | q, v | symbols (columns) of all coordinates and velocities between |
    | places_q, places_v | where these are in the model |
    """

    def __init__(self, into: Lowering, bodies: Iterable[int], *, from_world: bool = False) -> None:
        casadi = extra("casadi")
        assert into.tree is not None
        self.into, self.tree = into, into.tree
        paths = [self._path(body) for body in bodies]
        shared = 0
        while not from_world and all(len(path) > shared and path[shared] == paths[0][shared] for path in paths):
            shared += 1
        self._apart = {body: path[shared:] for path in paths for body in path[-1:]}
        self._parts: dict[int, tuple[slice, slice]] = {}
        self._poses: dict[int, Any] = {}
        self._twists: dict[int, Any] = {}
        self.places_q: list[int] = []
        self.places_v: list[int] = []
        for body in sorted({b for path in paths for b in path[shared:]}):
            at_q, at_v = len(self.places_q), len(self.places_v)
            nq, nv = self._sizes(body)
            start = self.tree.q_start[body]
            joint = next(p for p in into.joints.values() if p.q_start <= start < p.q_start + p.joint.nq)
            self.places_q += range(start, start + nq)
            first = joint.v_start + start - joint.q_start
            self.places_v += range(first, first + nv)
            self._parts[body] = slice(at_q, at_q + nq), slice(at_v, at_v + nv)
        self.q, self.v = casadi.SX.sym("q", len(self.places_q)), casadi.SX.sym("v", len(self.places_v))

    def pose(self, body: int, offset: Array | None = None) -> Any:
        """(4 × 4) of a body, or of an offset in it, in the frame of reference."""
        casadi = extra("casadi")
        T = casadi.SX.eye(4)
        for b in self._apart.get(body, []):
            if b not in self._poses:
                self._poses[b] = T @ self._step(b)
            T = self._poses[b]
        return T if offset is None else T @ casadi.SX(offset)

    def twist(self, body: int, offset: Array) -> Any:
        """(6, 1), [angular; linear] of an offset in a body against the frame of reference, in its own axes."""
        casadi = extra("casadi")
        V = casadi.SX.zeros(6, 1)
        for b in self._apart.get(body, []):
            if b not in self._twists:
                self._twists[b] = _carried(self._step(b), V) + self._joint_twist(b)
            V = self._twists[b]
        return _carried(casadi.SX(offset), V)

    def add_potential(self, energy: Any) -> None:
        """The element's potential V(q)."""
        slope = self.slope(energy)
        self._add("potential", [energy], [slope], [self._increments(slope).T])

    def add_force(self, force: Any) -> None:
        """The element's generalized forces f(q, v), one for each of `places_v`."""
        casadi = extra("casadi")
        self._add("force", [force], [self._increments(force).T], [casadi.jacobian(force, self.v).T])

    def slope(self, value: Any) -> Any:
        """∂value/∂q along increments, a column, of one number."""
        return self._increments(value).T

    def _add(self, kind: str, *orders: list[Any]) -> None:
        rows = UserRows(
            kind=kind, what=self.into.what, functions=(None, None, None), q=self.places_q, v=self.places_v, rows=0,
            owner=self.into.owner,
        )  # fmt: skip
        try:
            rows.tapes = tuple(
                tape_of([self.q, self.v], [part for order in orders[: k + 1] for part in order])
                for k in range(len(orders))
            )
        except ModelError as error:
            raise ModelError(f"{self.into.what}: {error}") from None
        self.into.tables.users.append(rows)

    def _increments(self, values: Any) -> Any:
        """Derivatives (values × increments): those in the numbers of q times the rates of these along increments."""
        casadi = extra("casadi")
        rates = casadi.SX.zeros(self.q.numel(), self.v.numel())
        for body, (at_q, at_v) in self._parts.items():
            rates[at_q, at_v] = self._rates(body, self.q[at_q])
        return casadi.jacobian(values, self.q) @ rates

    def _rates(self, body: int, q: Any) -> Any:
        """How a joint's numbers q move along its increments, as `Joint.retract` moves them."""
        casadi = extra("casadi")
        kind = self.tree.kind[body]
        if kind not in SIZES:
            return casadi.SX.eye(q.numel())
        quaternion = q[3:] if kind == "free" else q
        units = casadi.SX.eye(3) / 2
        turning = casadi.horzcat(*(quaternion_product(quaternion, casadi.vertcat(0, units[:, i])) for i in range(3)))
        if kind == "ball":
            return turning
        nothing = casadi.SX.zeros
        return casadi.blockcat([[nothing(3, 3), _matrix(quaternion)], [turning, nothing(4, 3)]])

    def _path(self, body: int) -> list[int]:
        """Bodies from the root to this one."""
        path: list[int] = []
        while body >= 0:
            path.insert(0, body)
            body = self.tree.parent[body]
        return path

    def _sizes(self, body: int) -> tuple[int, int]:
        kind = self.tree.kind[body]
        if kind == "formula":
            return (self.tree.formulas[body].coordinates,) * 2
        return SIZES.get(kind, (1, 1))

    def _step(self, body: int) -> Any:
        """Pose of a body in its parent."""
        casadi = extra("casadi")
        return casadi.SX(self.tree.placement[body]) @ self._joint(body)

    def _joint(self, body: int) -> Any:
        kind, q = self.tree.kind[body], self.q[self._parts[body][0]]
        axis, pitch = _column(self.tree.axis[body]), float(self.tree.pitch[body])
        if kind == "formula":
            return pose(*pose_of_tape(self.tree.formulas[body].pose, q))
        if kind == "ball":
            return pose(_matrix(q))
        if kind == "free":
            return pose(_matrix(q[3:]), q[:3])
        if kind == "prismatic":
            return pose(None, axis * q)
        return pose(rotation(self.tree.axis[body], q), pitch * axis * q)

    def _joint_twist(self, body: int) -> Any:
        """What the joint adds to the twist, in the body's axes."""
        casadi = extra("casadi")
        kind, axis = self.tree.kind[body], _column(self.tree.axis[body])
        q, v = (symbols[part] for symbols, part in zip((self.q, self.v), self._parts[body], strict=True))
        nothing = casadi.SX.zeros(3, 1)
        if kind == "formula":
            T = self._joint(body)
            return body_jacobian(T[:3, :3], T[:3, 3], q) @ v
        if kind == "free":
            return v
        if kind == "ball":
            return casadi.vertcat(v, nothing)
        if kind == "prismatic":
            return casadi.vertcat(nothing, axis * v)
        return casadi.vertcat(axis * v, float(self.tree.pitch[body]) * axis * v)


def _column(axis: Any) -> Any:
    return extra("casadi").SX(np.array(axis, dtype=float))


def _carried(T: Any, V: Any) -> Any:
    """A twist of the outer frame in the axes and at the origin of the inner one, whose pose in the outer is T."""
    casadi = extra("casadi")
    back = inverse(T)
    R, x = back[:3, :3], back[:3, 3]
    w = R @ V[:3]
    return casadi.vertcat(w, R @ V[3:] + casadi.cross(x, w))


def _matrix(quaternion: Any) -> Any:
    """Rotation (3 × 3) of a unit quaternion (w, x, y, z)."""
    casadi = extra("casadi")
    w, x, y, z = (quaternion[i] for i in range(4))
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ]
    return casadi.vertcat(*(casadi.horzcat(*row) for row in rows))
