"""Configurations and their increments, to second order: what optimisers need on joints with quaternions.

An increment ξ (nv) of a configuration q is that of `st.retract`: plain addition, except for Ball and Free, whose
quaternions turn by rotation vectors and twists of the moving frame. Three maps are needed with two derivatives each:

    local     e(ξ) = local(q₀, q ⊕ ξ)       what costs weigh, exact far from q₀
    embed     Q(ξ) = q ⊕ ξ                  the nq coordinates that formulas take
    chart     ξ(Q) = local(q, Q / |Q|)      increments of the nq coordinates that IPOPT moves
"""

from functools import cache
from typing import Any

import numpy as np

from symplectree.dynamics.increments import Increments
from symplectree.extras import extra
from symplectree.formula.rigid import quaternion_product
from symplectree.formula.tape import Tape, from_casadi
from symplectree.lie import Array, hat, quaternion_matrix
from symplectree.mechanism.model import JointPlace, Model


class Chart(Increments):
    """The increments of one model's configurations, with derivatives."""

    def __init__(self, model: Model) -> None:
        super().__init__(model)
        self.model = model

    def retracted(self, q: Any, xi: Any) -> Any:
        """q ⊕ ξ of CasADi symbols, to second order in ξ."""
        ca = extra("casadi")

        out = ca.SX(q)
        for i, j in zip(self.plain_q, self.plain_v, strict=True):
            out[int(i)] += xi[int(j)]
        for place in self.curved:
            own, turn = xi[place.v], xi[place.v.start : place.v.start + 3]
            at = q[_quaternion(place)]
            out[_quaternion(place)] = _turned(ca, at, turn)
            if place.joint.nv == 6:
                out[place.q.start : place.q.start + 3] += _rotate(ca, at, own[3:] + ca.cross(turn, own[3:]) / 2)
        return out

    def embed(self, q: Array) -> Array:
        """Derivative of the nq coordinates along increments, (nq, nv)."""
        out = np.zeros((self.model.nq, self.model.nv))
        out[self.plain_q, self.plain_v] = 1.0
        for place in self.curved:
            at = _quaternion(place)
            out[place.q.stop - 4 : place.q.stop, place.v.start : place.v.start + 3] = 0.5 * _left(q[at])[:, 1:]
            if place.joint.nv == 6:
                out[place.q.start : place.q.start + 3, place.v.start + 3 : place.v.stop] = quaternion_matrix(q[at])
        return out

    def embed_second(self, q: Array, weight: Array) -> Array:
        """Second derivative of weight·(q ⊕ ξ) at ξ = 0, (nv, nv): Q = q (1 − |ω|²/8, ω/2), x + R (v + ½ ω × v)."""
        out = np.zeros((self.model.nv, self.model.nv))
        for place in self.curved:
            at, w = _quaternion(place), slice(place.v.start, place.v.start + 3)
            out[w, w] = -0.25 * (weight[at] @ q[at]) * np.eye(3)
            if place.joint.nv == 6:
                v = slice(place.v.start + 3, place.v.stop)
                pulled = quaternion_matrix(q[at]).T @ weight[place.q.start : place.q.start + 3]
                out[w, v], out[v, w] = -0.5 * hat(pulled), 0.5 * hat(pulled)
        return out

    def chart(self, q: Array) -> Array:
        """Derivative of the increment by the nq coordinates, (nv, nq); a quaternion may have any length."""
        out = np.zeros((self.model.nv, self.model.nq))
        out[self.plain_v, self.plain_q] = 1.0
        for place in self.curved:
            at, w = _quaternion(place), slice(place.v.start, place.v.start + 3)
            length = np.linalg.norm(q[at])
            out[w, at] = 2 / length * _left(q[at] / length)[:, 1:].T
            if place.joint.nv == 6:
                out[place.v.start + 3 : place.v.stop, place.q.start : place.q.start + 3] = quaternion_matrix(q[at]).T
        return out

    def chart_second(self, q: Array, weight: Array) -> Array:
        """Second derivative of weight·ξ(Q) at Q = q, (nq, nq): ω = 2 y / w of q* Q = (w, y), v = d − ½ ω × d."""
        out = np.zeros((self.model.nq, self.model.nq))
        for place in self.curved:
            at, w = _quaternion(place), slice(place.v.start, place.v.start + 3)
            length = np.linalg.norm(q[at])
            L = _left(q[at] / length)
            cross = -2 / length**2 * np.outer(L[:, 0], L[:, 1:] @ weight[w])
            out[at, at] = cross + cross.T
            if place.joint.nv == 6:
                x = slice(place.q.start, place.q.start + 3)
                turn = 2 / length * L[:, 1:]
                mixed = 0.5 * turn @ hat(weight[place.v.start + 3 : place.v.stop]) @ quaternion_matrix(q[at]).T
                out[at, x], out[x, at] = mixed, mixed.T
        return out


def _quaternion(place: JointPlace) -> slice:
    return slice(place.q.stop - 4, place.q.stop)


def _left(q: Array) -> Array:
    """The matrix of b ↦ q b on quaternions, (4, 4)."""
    w, x, y, z = q
    return np.array([[w, -x, -y, -z], [x, w, -z, y], [y, z, w, -x], [z, -y, x, w]])


def local_tapes() -> list[Tape]:
    """Of Ball and of Free: tapes of `local_function`."""
    return [_local_tape(3), _local_tape(6)]


@cache
def _local_tape(nv: int) -> Tape:
    return from_casadi(local_function(nv), "local")


@cache
def local_function(nv: int) -> Any:
    """casadi.Function (q₀, q, weight) → (e, ∂e/∂ξ, ∂²(weight·e)/∂ξ²) of Ball (nv = 3) or Free (nv = 6).

    q ⊕ ξ is replaced by its Taylor polynomial of second order, which leaves both derivatives at ξ = 0 exact.
    """
    ca = extra("casadi")

    SX: Any = ca.SX
    a, b, xi, weight = SX.sym("a", nv + 1), SX.sym("b", nv + 1), SX.sym("xi", nv), SX.sym("weight", nv)
    turn = xi[:3]
    moved = _turned(ca, b[-4:], turn)
    relative = quaternion_product(ca.vertcat(a[-4], -a[-3:]), moved)
    relative = ca.if_else(relative[0] < 0, -relative, relative)
    w, y = relative[0], relative[1:]
    s = ca.dot(y, y) / w**2  # tan² of half the angle
    near = s < 1e-4
    root = ca.sqrt(ca.if_else(near, 1.0, s))
    # atan(x)/x to x⁸ where x² < 1e-4: what is left out is below 1e-20
    scale = ca.if_else(near, 1 - s / 3 + s**2 / 5 - s**3 / 7 + s**4 / 9, ca.atan(root) / root)
    log = 2 * scale * y / w
    e = log
    if nv == 6:
        shift = _rotate(ca, b[-4:], xi[3:] + ca.cross(turn, xi[3:]) / 2) + b[:3] - a[:3]
        d = _rotate(ca, ca.vertcat(a[-4], -a[-3:]), shift)
        e = ca.vertcat(log, d - ca.cross(log, d) / 2 + _bend(ca, ca.dot(log, log)) * ca.cross(log, ca.cross(log, d)))
    second = ca.hessian(ca.dot(weight, e), xi)[0]
    outputs = [ca.substitute(ca.densify(x), xi, SX.zeros(nv)) for x in (e, ca.jacobian(e, xi), second)]
    return ca.Function("local", [a, b, weight], outputs, {"cse": True})


def _turned(ca: Any, q: Any, turn: Any) -> Any:
    """q exp(turn) of a quaternion, to second order."""
    return quaternion_product(q, ca.vertcat(1 - ca.dot(turn, turn) / 8, turn / 2))


def _bend(ca: Any, square: Any) -> Any:
    """(1 − (θ/2) cot(θ/2)) / θ² of θ², the coefficient of [w]² in the inverse of the left Jacobian of SO(3)."""
    near = square < 1e-2
    theta = ca.sqrt(ca.if_else(near, 1.0, square))
    far = (1 - theta / 2 * ca.cos(theta / 2) / ca.sin(theta / 2)) / theta**2
    # Taylor polynomial; what is left out is below 1e-17 where θ² < 1e-2
    series = 1 / 12 + square / 720 + square**2 / 30240 + square**3 / 1209600 + square**4 / 47900160
    return ca.if_else(near, series, far)


def _rotate(ca: Any, q: Any, x: Any) -> Any:
    """R(q) x of a unit quaternion."""
    return x + 2 * ca.cross(q[1:], ca.cross(q[1:], x) + q[0] * x)
