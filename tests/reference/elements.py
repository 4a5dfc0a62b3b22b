"""Energies and forces of springs, dampers, motors and loads, from the rows of `model.tables`.

Each function takes `element`, the index of one element of `model.elements` to look at alone; None takes all.
Gravity is not an element.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from reference import user_elements
from reference.derivatives import pose_derivatives_at, velocity_derivatives_at
from reference.functions import evaluate
from symplectree.elements.contract import Kind, UserRows
from symplectree.elements.rotary_spring import RotarySpringRow
from symplectree.elements.rows import (
    ActuatorRow,
    ForceLimitRow,
    JointDamperRow,
    JointForceRow,
    JointSpringRow,
    LineRow,
    PairRow,
    WrenchRow,
)
from symplectree.lie import Array, pose
from symplectree.mechanism.model import Model


class Line(NamedTuple):
    """A line d = x_b − x_a of length ℓ between two points, as a function of q (JM09 section IV-C, (33)–(35)).

    dd (nv, 3), ddd (nv, nv, 3): derivatives of d. u: direction d/ℓ, zero when ℓ = 0. phi: φ, φ', φ'' at ℓ.
    c: damping.
    """

    d: Array
    dd: Array
    ddd: Array
    length: float
    u: Array
    phi: tuple[float, float, float]
    c: float


class Gauge(NamedTuple):
    """A scalar s of the poses of two bodies as a function of q, with a potential V(s) and a damper c ṡ.

    ds (nv,), dds (nv, nv): D_i s and D_j D_i s. phi: V, V', V'' at s. c: damping. period: of an angle s, else 0.
    """

    s: float
    ds: Array
    dds: Array
    phi: tuple[float, float, float]
    c: float
    period: float = 0.0

    def change_to(self, s: float) -> float:
        """s less this one's; of an angle, the shorter way round."""
        d = s - self.s
        return d - self.period * round(d / self.period) if self.period else d


class Load(NamedTuple):
    """A wrench (torque, force) on a frame; the frame's Jacobian in the wrench's axes (6, nv), and its D_j."""

    wrench: Array
    J: Array
    dJ: Array


def energy(model: Model, q: Array, element: int | None = None) -> float:
    """V(q) of all springs [J]: ½ k (q − rest)² on joints, φ(ℓ) along lines, V(s) of pairs, the user's potentials."""
    springs = sum(0.5 * s.stiffness * (q[s.q] - s.rest) ** 2 for s in _rows(model, JointSpringRow, element) if s.stored)
    users = sum(terms.value for _, terms in _potentials(model, q, 0, element))
    lines, pairs = _lines(model, q, element), gauges(model, q, element)
    return float(springs + sum(line.phi[0] for line in lines) + sum(pair.phi[0] for pair in pairs) + users)


def energy_gradient(model: Model, q: Array, element: int | None = None) -> Array:
    """D_i V, (nv,): for a line φ'(ℓ) D_i ℓ = (φ'/ℓ) d·D_i d (JM09 section IV-C)."""
    gradient = np.zeros(model.nv)
    for spring in _rows(model, JointSpringRow, element):
        gradient[spring.v] += spring.stiffness * (q[spring.q] - spring.rest)
    for line in _lines(model, q, element):
        gradient += _tension_over_length(line) * line.dd @ line.d
    for pair in gauges(model, q, element):
        gradient += pair.phi[1] * pair.ds
    for rows, terms in _potentials(model, q, 1, element):
        gradient[rows.v] += terms.first
    return gradient


def energy_hessian(model: Model, q: Array, element: int | None = None) -> Array:
    """[i, j] = D_j D_i V, (nv, nv).

    For a line, with s = φ'/ℓ: s (D_j d·D_i d + d·D_jD_i d) + (φ'' − s) (u·D_i d)(u·D_j d). This is JM09's
    formula (whose ½ before x⁻² is a misprint), ordered so that it holds at ℓ = 0 once s is known.
    """
    hessian = np.zeros((model.nv, model.nv))
    for spring in _rows(model, JointSpringRow, element):
        hessian[spring.v, spring.v] += spring.stiffness
    for line in _lines(model, q, element):
        s, w = _tension_over_length(line), line.dd @ line.u
        hessian += s * (line.dd @ line.dd.T + line.ddd @ line.d) + (line.phi[2] - s) * np.outer(w, w)
    for pair in gauges(model, q, element):
        hessian += pair.phi[2] * np.outer(pair.ds, pair.ds) + pair.phi[1] * pair.dds
    for rows, terms in _potentials(model, q, 2, element):
        hessian[np.ix_(rows.v, rows.v)] += terms.second
    return hessian


def force(model: Model, q: Array, v: Array, inputs: Array | None = None, element: int | None = None) -> Array:
    """Applied generalized force that comes from no energy, (nv,): damping, motors, loads and the user's forces."""
    built_in = built_in_force(model, q, v, inputs, element) + limits_of_actuators(model, q, v, inputs, element)
    return built_in + user_elements.force(model, q, v, element)


def built_in_force(model: Model, q: Array, v: Array, inputs: Array | None = None, element: int | None = None) -> Array:
    """The same without the user's forces and limits of actuators.

    A joint's damper −c v, a line's −c ℓ̇ D_i ℓ, a pair's −c ṡ D_i s, loads Jᵀ F.
    """
    f = np.zeros(model.nv)
    for damper in _rows(model, JointDamperRow, element):
        f[damper.v] -= damper.damping * v[damper.v]
    for motor in _rows(model, JointForceRow, element):
        f[motor.v] += motor.value + motor.gain * _input(inputs, motor.input)
    for line in _lines(model, q, element):
        w = line.dd @ line.u  # D_i ℓ
        f -= line.c * w * (w @ v)
    for pair in gauges(model, q, element):
        f -= pair.c * pair.ds * (pair.ds @ v)
    for load in _loads(model, q, inputs, element):
        f += load.J.T @ load.wrench
    return f


def limits_of_actuators(model: Model, q: Array, v: Array, inputs: Array | None, element: int | None = None) -> Array:
    """What limits of controls and forces change of the joint forces, springs and dampers of actuators, (nv,)."""
    f, total = np.zeros(model.nv), np.zeros(model.nv)
    for a in _rows(model, ActuatorRow, element):
        u, rows = _input(inputs, a.input), model.tables.transmissions[a.first : a.first + a.count]
        length = sum(row.factor * q[row.q] for row in rows if row.q >= 0)
        rate = sum(row.factor * v[row.v] for row in rows)

        def law(control: float, a: ActuatorRow = a, length: float = length, rate: float = rate) -> float:
            return a.gain * control + a.bias + a.by_length * length + a.by_rate * rate

        for row in rows:
            f[row.v] += row.factor * (np.clip(law(np.clip(u, *within(a))), *a.force_range) - law(u))
            total[row.v] += row.factor * np.clip(law(np.clip(u, *within(a))), *a.force_range)
    for limit in _rows(model, ForceLimitRow, element):
        f[limit.v] += np.clip(total[limit.v], *limit.force_range) - total[limit.v]
    return f


def within(a: ActuatorRow) -> tuple[float, float]:
    """The range of what acts: the control, or an activation in its place."""
    return a.activation_range if a.dynamics else a.control_range


def force_derivatives(
    model: Model, q: Array, v: Array, inputs: Array | None = None, element: int | None = None
) -> tuple[Array, Array]:
    """(dq, dv), each (nv, nv): dq[i, j] = D_j f_i and dv[i, j] = ∂f_i/∂v_j of `force`."""
    dq, dv = np.zeros((model.nv, model.nv)), np.zeros((model.nv, model.nv))
    for damper in _rows(model, JointDamperRow, element):
        dv[damper.v, damper.v] -= damper.damping
    for line in _lines(model, q, element):
        if line.length == 0:
            continue
        w = line.dd @ line.u
        W = (line.dd @ line.dd.T + line.ddd @ line.d - np.outer(w, w)) / line.length  # D_j D_i ℓ
        dq -= line.c * (W * (w @ v) + np.outer(w, v @ W))
        dv -= line.c * np.outer(w, w)
    for pair in gauges(model, q, element):
        dq -= pair.c * (pair.dds * (pair.ds @ v) + np.outer(pair.ds, v @ pair.dds))
        dv -= pair.c * np.outer(pair.ds, pair.ds)
    for load in _loads(model, q, inputs, element):
        dq += np.einsum("jai,a->ij", load.dJ, load.wrench)
    for rows in user_elements.of_kind(model, "force", element):
        terms = user_elements.terms(rows, 2, q, v)
        dq[np.ix_(rows.v, rows.v)] += terms.first
        dv[np.ix_(rows.v, rows.v)] += terms.second
    return dq, dv


def rotary_spring(model: Model, q: Array, row: RotarySpringRow) -> Gauge:
    """The twist θ = atan2(y, x), y = C₂₁ − C₁₂ and x = C₁₁ + C₂₂, of the rotation C = AᵀB from the axes (e, n × e, n) of
    a to those of b. In terms of its quaternion, y = 4 w (n·v) and x = 2 (w² − (n·v)²): θ = 2 atan2(n·v, w).
    """
    A, B = (
        pose_derivatives_at(model, q, n.body, pose(np.column_stack([e.along, np.cross(n.along, e.along), n.along])))
        for n, e in ((row.a, row.side_a), (row.b, row.side_b))
    )
    (R_a, da, dda), (R_b, db, ddb) = ((P.g[:3, :3], P.dq[..., :3, :3], P.dqdq[..., :3, :3]) for P in (A, B))
    C = R_a.T @ R_b
    dC = np.einsum("iba,bc->iac", da, R_b) + np.einsum("ba,ibc->iac", R_a, db)
    ddC = np.einsum("ijba,bc->ijac", dda, R_b) + np.einsum("ba,ijbc->ijac", R_a, ddb)
    ddC += np.einsum("iba,jbc->ijac", da, db) + np.einsum("jba,ibc->ijac", da, db)
    (y, x), (dy, dx), (ddy, ddx) = ((M[..., 1, 0] - M[..., 0, 1], M[..., 0, 0] + M[..., 1, 1]) for M in (C, dC, ddC))
    square, turn = x * x + y * y, 2 * np.pi
    ds = (x * dy - y * dx) / square
    slope = 2 * (x * dx + y * dy) / square  # D_j of x² + y², over it
    dds = (np.outer(dy, dx) - np.outer(dx, dy) + x * ddy - y * ddx) / square - np.outer(ds, slope)
    angle = float(np.arctan2(y, x)) - row.rest
    angle -= turn * round(angle / turn)
    k = row.stiffness
    return Gauge(row.rest + angle, ds, dds, (0.5 * k * angle**2, k * angle, k), row.damping, turn)


GAUGES: dict[type[PairRow], Callable[[Model, Array, Any], Gauge]] = {  # of each kind of pair
    RotarySpringRow: rotary_spring,
}


def gauges(model: Model, q: Array, element: int | None = None) -> Iterator[Gauge]:
    """Of all elements between two bodies that are pairs."""
    return (of_row(model, q, row) for kind, of_row in GAUGES.items() for row in _rows(model, kind, element))


def _rows(model: Model, kind: type[Kind], element: int | None) -> Iterator[Kind]:
    return (row for row in model.tables.of_kind(kind) if element is None or row.owner == element)


def _potentials(
    model: Model, q: Array, order: int, element: int | None
) -> Iterator[tuple[UserRows, user_elements.Terms]]:
    for rows in user_elements.of_kind(model, "potential", element):
        yield rows, user_elements.terms(rows, order, q, np.zeros(model.nv))


def _input(inputs: Array | None, source: int) -> float:
    return 0.0 if source < 0 or inputs is None else float(inputs[source])


def _lines(model: Model, q: Array, element: int | None) -> Iterator[Line]:
    for row in _rows(model, LineRow, element):
        a, b = (pose_derivatives_at(model, q, end.body, pose(x=end.at)) for end in (row.a, row.b))
        d, dd, ddd = b.g[:3, 3] - a.g[:3, 3], (b.dq - a.dq)[..., :3, 3], (b.dqdq - a.dqdq)[..., :3, 3]
        length = float(np.linalg.norm(d))
        u = d / length if length > 0 else np.zeros(3)
        if row.function >= 0:
            phi = evaluate(model.tables.functions[row.function], length)
        else:
            stretch = length - row.length
            phi = (0.5 * row.stiffness * stretch**2, row.stiffness * stretch, row.stiffness)
        yield Line(d=d, dd=dd, ddd=ddd, length=length, u=u, phi=phi, c=row.damping)


def _tension_over_length(line: Line) -> float:
    """s = φ'(ℓ)/ℓ; at ℓ = 0 its limit φ''(0) if the tension vanishes there.

    Otherwise the line pulls in no direction at ℓ = 0, and exerts no force: s = 0, and no stiffness.
    """
    _, slope, curvature = line.phi
    if line.length > 0:
        return slope / line.length
    return curvature if slope == 0 else 0.0


def _loads(model: Model, q: Array, inputs: Array | None, element: int | None) -> Iterator[Load]:
    for row in _rows(model, WrenchRow, element):
        body, offset = row.point.body, pose(row.axes, row.point.at)
        V = velocity_derivatives_at(model, q, np.zeros(model.nv), body, offset)
        J, dJ = V.dv.T, np.swapaxes(V.dqdv, 1, 2)
        if row.world_axes:  # the frame's twist in world axes, R J
            g = pose_derivatives_at(model, q, body, offset)
            R, dR = np.kron(np.eye(2), g.g[:3, :3]), np.array([np.kron(np.eye(2), D[:3, :3]) for D in g.dq])
            J, dJ = R @ J, dR @ J + R @ dJ
        rows = zip(row.value, row.gain, row.input, strict=True)
        wrench = np.array([x + g * np.clip(_input(inputs, i), *row.control_range) for x, g, i in rows])
        yield Load(wrench, J, dJ)
