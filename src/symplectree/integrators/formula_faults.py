"""Why a step failed, or should not have been taken, where a formula is to blame."""

from typing import Any

import numpy as np

from symplectree.elements.contract import UserRows
from symplectree.joints import SurfaceContactJoint, SymbolicJoint
from symplectree.lie import Array
from symplectree.mechanism.model import JointPlace, Model

NEARLY_SINGULAR = 0.05  # smallest singular value of S, relative to that at the joint's start, that is told
AHEAD = np.linspace(0, 2, 41)  # in steps; where a step may lead,
BEYOND = (-0.5, -1.0, 4.0, 8.0)  # and farther
ORDERS = {"potential": 1, "force": 0, "constraint": 1}  # of derivatives without which there is no step


def formula_fault(model: Model, q: Array, v: Array, dt: float) -> str:
    """ "; " and a sentence that names the joint or element and the value, when a formula has no value, a kink or is
    singular near where a step of `dt` from (q, v) leads; else nothing."""
    if not np.all(np.isfinite(q)):
        return ""
    v = np.nan_to_num(v)
    if model.followers is not None:
        q, v, model = model.tree_coordinates(q), model.tree_velocities(q, v), model.full
    for place in formula_joints(model):
        joint, here, rate = _symbolic(place), q[place.q], dt * v[place.v]
        for steps in (*AHEAD, *BEYOND):
            fault = joint.fault(here + steps * rate, small=NEARLY_SINGULAR)
            if fault is not None:
                return f"; {fault}"
        for a, b in ((0.0, 2.0), (0.0, -1.0), (2.0, 8.0)):
            fault = joint.kink(here + a * rate, here + b * rate) or joint.leap(here + a * rate, here + b * rate)
            if fault is not None:
                return f"; {fault}"
    for steps in (*AHEAD, *BEYOND):
        fault = element_fault(model, q, v, steps * dt)
        if fault is not None:
            return f"; {fault}"
    return ""


def element_fault(model: Model, q: Array, v: Array, ahead: float = 0.0) -> str | None:
    """What is wrong with a formula element at (q, v), or `ahead` seconds farther with the same speed; None when nothing
    is. Names the element and the values of its coordinates."""
    import symplectree._core as core

    for rows in model.tables.users:
        if not rows.tapes:
            continue
        tape = rows.tapes[ORDERS[rows.kind]]
        own = q[rows.q] + (ahead * v[rows.v] if ahead and len(rows.q) == len(rows.v) else 0.0)
        out = np.empty(tape.outputs)
        core.run_tape(tape, np.concatenate([own, v[rows.v]]), out)
        if not np.all(np.isfinite(out)):
            values = {"potential": 1, "force": len(out), "constraint": rows.rows}[rows.kind]
            what = "is not finite" if not np.all(np.isfinite(out[:values])) else "cannot be differentiated"
            return f"{rows.what} {what} at {_named(model, rows, own)}"
    return None


def _named(model: Model, rows: UserRows, values: Array) -> str:
    """The coordinates of an element by name, with their values."""
    pairs = [f"{model.coordinates[i]} = {x:.6g}" for i, x in zip(rows.q, values, strict=True)]
    return ", ".join(pairs[:6]) + (" …" if len(pairs) > 6 else "")


def formula_joints(model: Model) -> list[JointPlace]:
    """The joints that are formulas."""
    return [place for place in model.joints.values() if isinstance(place.joint, SymbolicJoint)]


def _symbolic(place: JointPlace) -> Any:
    return place.joint


class FormulaWatch:
    """Looks at states that were reached for what no solver notices: kinks and jumps of joints that a step went across,
    surfaces in contact that cross, and potentials that have no value.

    leaps: whether to look for jumps of poses that no switch tells, as at the pole of a sphere; steps that compare the poses
        at their ends fail there by themselves.
    """

    def __init__(self, model: Model, *, leaps: bool) -> None:
        self.model, self.leaps = model, leaps
        model = model.full
        self.joints = [p for p in formula_joints(model) if leaps or _symbolic(p).switches is not None]
        self.contacts = [p for p in formula_joints(model) if isinstance(p.joint, SurfaceContactJoint)]
        self.potentials = [rows for rows in model.tables.users if rows.kind == "potential" and rows.tapes]

    def __bool__(self) -> bool:
        return bool(self.joints or self.contacts or self.potentials)

    def first(self, q: Array) -> tuple[int, str] | None:
        """The number of the first way between neighbours of the configurations (n, nq) that leads across a fault, and
        the sentence; None when there is none."""
        from symplectree.formula.switches import sides

        q = self.model.tree_coordinates(q)
        found: list[tuple[int, str]] = []
        for place in self.joints:
            joint, rows = _symbolic(place), q[:, place.q]
            doubtful = joint.turning(rows) if self.leaps else np.zeros(len(q) - 1, dtype=bool)
            if joint.switches is not None:
                on = sides(joint.switches, rows)
                doubtful |= np.any(on[1:] != on[:-1], axis=1)
            for k in np.flatnonzero(doubtful):
                fault = joint.kink(rows[k], rows[k + 1]) or joint.leap(rows[k], rows[k + 1])
                if fault is not None:
                    found.append((int(k), fault))
                    break
        for place in self.contacts:
            contact: Any = place.joint
            a, b, c = contact.bending(*q[1:, place.q].T)
            for k in np.flatnonzero(a * c < b * b):
                fault = contact.crossing(q[k + 1, place.q])
                if fault is not None:
                    found.append((int(k), fault))
                    break
        for users in self.potentials:
            lost = np.flatnonzero(~np.isfinite(self._values(users, q[1:])))
            if len(lost):
                first = int(lost[0])
                where = _named(self.model.full, users, q[first + 1, users.q])
                found.append((first, f"{users.what} is not finite at {where}"))
        return min(found, default=None)

    @staticmethod
    def _values(users: UserRows, q: Array) -> Array:
        import symplectree._core as core

        rows = np.zeros((len(q), len(users.q) + len(users.v)))
        rows[:, : len(users.q)] = q[:, users.q]
        out = np.empty((len(q), 1))
        core.run_tape(users.tapes[0], rows, out)
        return out[:, 0]
