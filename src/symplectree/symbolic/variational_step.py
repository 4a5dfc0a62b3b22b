"""The variational step of one mechanism as expressions (action "cayley", Newton's direction; design section 7).

Everything is in the axes of the bodies, about the origins of their joints. With 1 + E = R(k)ᵀ R(k+1) the turn of a body
and d the displacement of its origin in its axes at k, both from the root outward (R_i, r_i of the joint alone),

    E_i = R_i(k)ᵀ E_λ R_i(k+1) + R_i(k)ᵀ R_i(k+1) − 1,    d_i = R_i(k)ᵀ (d_λ + E_λ r_i(k+1) + r_i(k+1) − r_i(k)),

sums of small numbers only, so that rounding stays small beside the motion and does not add up over steps. Momenta and
Newton matrices are a matter of each body alone, and are computed for several bodies at once. A world that is displaced
by −h²g/2 supplies gravity's impulse, as an accelerated one does in inverse dynamics. Momenta at the end follow from
d⁺ = R(k+1)ᵀ (Δx + h²g/2) in the same way.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from symplectree.extras import extra
from symplectree.mechanism.model import Model
from symplectree.symbolic.algebra import (
    Matrix,
    Scalar,
    Vector,
    add,
    added,
    cross,
    cross_columns,
    cross_rows,
    dot,
    minus,
    mul,
    plus,
    product,
    rotated,
    scaled,
    skew,
    sub,
    sum_of,
    times,
    transposed,
    zeros,
)
from symplectree.symbolic.articulated import inverse
from symplectree.symbolic.joints import Motion, elementary, formula
from symplectree.symbolic.links import Link, links_of
from symplectree.symbolic.newton_euler import add_to_parent, arm, down, joint_forces, up


@dataclass
class Given:
    """Symbols of a step: sines and cosines of coordinates, coordinates, b, stiffness, and (h, 1/h, h²/2)."""

    sine: tuple[Any, Any, Any]  # at the beginning, at the end, and of half the difference, (nq) each
    cosine: tuple[Any, Any, Any]
    q: tuple[Any, Any]
    b: Any  # (nv)
    stiff: Any  # (nv)
    h: Any  # (3)

    def vectors(self) -> list[Any]:
        """In the order in which the core passes them."""
        return [*self.sine, *self.cosine, *self.q, self.b, self.stiff, self.h]


def given_symbols(model: Model) -> Given:
    casadi = extra("casadi")

    SX: Any = casadi.SX
    sine, cosine = (tuple(SX.sym(f"{x}{i}", model.nq) for i in range(3)) for x in "sc")
    q = SX.sym("q0", model.nq), SX.sym("q1", model.nq)
    return Given(sine, cosine, q, SX.sym("b", model.nv), SX.sym("stiff", model.nv), SX.sym("h", 3))


@dataclass
class Body:
    """A body of the step: its joint at both ends, arms to it in the parent's axes, and its mass about its centre."""

    link: Link
    motion: tuple[Motion, Motion]
    arm: tuple[Vector, Vector]
    turn: Matrix  # R(k)ᵀ R(k+1) − 1 of the joint
    slide: Vector  # what the joint's shift gains, in its base axes
    mass: float
    com: Vector
    inertia: Matrix
    stiff: bool  # does the joint have rotor inertia or damping?


def bodies_of(model: Model, given: Given) -> list[Body]:
    links = links_of(model, {}, regroup=False)
    damped = {damper.v for damper in model.tables.joint_dampers}
    bodies = []
    for k, link in enumerate(links):
        motions = _motion(link, given, 0), _motion(link, given, 1)
        arms = arm(link, motions[0]), arm(link, motions[1])
        A = link.axes
        stiff = any(model.armature[j] != 0 or j in damped for j in range(link.v.start, link.v.stop))
        turn, slide = _gains(link, given) if link.formula is None else _formula_gains(*motions)
        bodies.append(
            Body(
                link, motions, arms, turn, slide, mass=float(model.mass[k]), com=(A.T @ model.com[k]).tolist(),
                inertia=(A.T @ model.inertia[k] @ A).tolist(), stiff=stiff,
            )
        )  # fmt: skip
    return bodies


def _motion(link: Link, given: Given, end: int) -> Motion:
    if link.formula is not None:
        own = given.q[end][link.q]
        return formula(*link.formula.symbols(own), own, 0 * own)
    c, s = given.cosine[end][link.q.start], given.sine[end][link.q.start]
    if link.offset:
        C, S = math.cos(link.offset), math.sin(link.offset)
        c, s = C * c - S * s, S * c + C * s
    q = [given.q[end][i] for i in range(link.q.start, link.q.stop)]
    return elementary(link.kind, link.pitch, (c, s), q)


def _gains(link: Link, given: Given) -> tuple[Matrix, Vector]:
    """R(k)ᵀ R(k+1) − 1 and x(k+1) − x(k) of a joint, to full relative precision."""
    start = link.q.start
    gain = [given.q[1][i] - given.q[0][i] for i in range(link.q.start, link.q.stop)]
    if link.kind == "prismatic":
        return zeros(), [0.0, 0.0, gain[0]]
    if link.kind in ("revolute", "screw"):
        half, other = given.sine[2][start], given.cosine[2][start]
        twice = half + half
        s, c = twice * other, -twice * half
        rise = link.pitch if link.kind == "screw" else 0.0
        return [[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 0.0]], [0.0, 0.0, mul(rise, gain[0])]
    q = [given.q[0][i] for i in range(link.q.start, link.q.stop)][-4:]
    dw, *dv = gain[-4:]
    # the relative quaternion (w, v), of which v is small
    v = minus(minus(scaled(q[0], dv), scaled(dw, q[1:])), cross(q[1:], dv))
    w = dot(q, [x + y for x, y in zip(q, gain[-4:], strict=True)])
    s = 2.0 / (w * w + dot(v, v))
    sv = scaled(s, v)
    turn = [[sum_of([(1, sv[i], v[j]), *([(-1, sv[k], v[k]) for k in range(3)] if i == j else [])]) for j in range(3)]
            for i in range(3)]  # fmt: skip
    wv = scaled(w, sv)
    for i, j, k in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
        turn[k][j], turn[j][k] = turn[k][j] + wv[i], turn[j][k] - wv[i]
    return turn, list(gain[:3]) if link.kind == "free" else [0.0] * 3


def _formula_gains(first: Motion, last: Motion) -> tuple[Matrix, Vector]:
    """The same of a formula, by differences of its poses: their rounding cancels over steps."""
    change = [minus(a, b) for a, b in zip(last.rotation, first.rotation, strict=True)]
    return product(transposed(first.rotation), change), minus(last.shift, first.shift)


def turns(bodies: list[Body], gravity: Sequence[float], given: Given, *, end: bool) -> list[tuple[Matrix, Vector]]:
    """(E, d) of each body, or (E, d⁺) with `end`."""
    out: list[tuple[Matrix, Vector]] = []
    for body in bodies:
        link, (first, last) = body.link, body.motion
        if link.parent < 0:
            fall = scaled(
                given.h[2] if end else -given.h[2], times(transposed(link.world_base.tolist()), list(gravity))
            )
            own, moved = body.turn, plus(fall, body.slide)
        else:
            E, d = out[link.parent]
            back = transposed(link.base)
            rows = transposed([first.back(column) for column in transposed(rotated(back, E))])
            own = added([last.back(row) for row in rows], body.turn)
            pulled = scaled(-1.0, times(transposed(E), body.arm[0])) if end else times(E, body.arm[1])
            moved = plus(times(back, plus(d, pulled)), body.slide)
        out.append((own, (last if end else first).back(moved)))
    return out


def cayley(E: Matrix, J: Matrix) -> tuple[Vector, Vector, Vector, Scalar]:
    """(w, y, ½ w × y, ¼ w·y) of a turn, with y = J w."""
    s = 2.0 / add(4.0, add(add(E[0][0], E[1][1]), E[2][2]))
    w = [mul(s, sub(E[2][1], E[1][2])), mul(s, sub(E[0][2], E[2][0])), mul(s, sub(E[1][0], E[0][1]))]
    y = times(J, w)
    return w, y, scaled(0.5, cross(w, y)), mul(0.25, dot(w, y))


def momentum(E: Matrix, d: Vector, mass: Scalar, com: Vector, J: Matrix, inverse_h: Scalar, *, end: bool) -> tuple[
    Vector, Vector
]:  # fmt: skip
    """(force, torque about the origin) of the momentum of a body at one end of the step, over h."""
    w, y, half, quarter = cayley(E, J)
    angular = [sum_of([(1, 1.0, y[i]), (-1 if end else 1, 1.0, half[i]), (1, quarter, w[i])]) for i in range(3)]
    moved = minus(d, times(transposed(E), com)) if end else plus(d, times(E, com))
    linear = scaled(mul(mass, inverse_h), moved)
    return linear, plus(scaled(inverse_h, angular), cross(com, linear))


def newton_matrix(E: Matrix, mass: Scalar, com: Vector, J: Matrix, inverse_h: Scalar) -> list[Matrix]:
    """Blocks [A, B, C, D] of K about the joint's origin: (torque, force) at k from the motion (α, a) of the end."""
    w, y, _, quarter = cayley(E, J)
    hw, hy = scaled(0.5, w), scaled(0.5, y)
    wJ, hat = cross_columns(hw, J), skew(hy)
    P = [[sum_of([(1, 1.0, J[i][j]), (1, 1.0, wJ[i][j]), (-1, 1.0, hat[i][j]), (1, 1.0, quarter if i == j else 0.0),
                  (1, w[i], hy[j])]) for j in range(3)] for i in range(3)]  # fmt: skip
    # P (1 + ½ [w] + ¼ w wᵀ)
    Pw, turn = times(P, hw), skew(hw)
    angular = [[mul(inverse_h, sum_of([(1, 1.0, P[i][j]), *((1, P[i][k], turn[k][j]) for k in range(3)),
                                       (1, Pw[i], hw[j])])) for j in range(3)] for i in range(3)]  # fmt: skip
    D = [[mul(mul(mass, inverse_h), add(E[i][j], 1.0 if i == j else 0.0)) for j in range(3)] for i in range(3)]
    B = cross_columns(com, D)
    return [added(angular, cross_rows(com, B)), B, cross_rows(com, D), D]  # A − [c] D [c], [c] D, −D [c], D


def direction(
    bodies: list[Body], forces: list[tuple[Vector, Vector]], matrices: list[list[Matrix]], given: Given
) -> Vector:
    """δ (nv): elimination leaves to root, solution root to leaves, from each body's own momentum and Newton matrix."""
    F = [([*f], [*n]) for f, n in forces]
    K = [[[list(row) for row in m] for m in blocks] for blocks in matrices]
    out: Vector = [0.0] * int(given.b.numel())
    eliminated: list[Any] = [None] * len(bodies)
    for k in reversed(range(len(bodies))):
        body = bodies[k]
        link, (first, last) = body.link, body.motion
        full = [[*a, *b] for a, b in zip(K[k][0], K[k][1], strict=True)]
        full += [[*c, *d] for c, d in zip(K[k][2], K[k][3], strict=True)]
        S0 = [[*a, *b] for a, b in zip(first.angular, first.linear, strict=True)]
        S1 = [[*a, *b] for a, b in zip(last.angular, last.linear, strict=True)]
        wrench = [*F[k][1], *F[k][0]]
        W = [times(full, s) for s in S1]
        Zs = [[dot(s, column) for column in transposed(full)] for s in S0]
        pivot = [[dot(S0[i], W[j]) for j in range(len(W))] for i in range(len(W))]
        u = []
        for i in range(len(W)):
            j = link.v.start + i
            left: Scalar = sub(given.b[j], dot(S0[i], wrench))
            if body.stiff:
                pivot[i][i] = add(pivot[i][i], given.stiff[j])
                left = sub(left, mul(given.stiff[j], sub(given.q[1][link.q.start + i], given.q[0][link.q.start + i])))
            u.append(left)
        inverted = inverse(pivot)
        eliminated[k] = ([_row_to_parent(body, z) for z in Zs], inverted, u)
        if link.parent < 0:
            continue
        unit = None if body.stiff else {"revolute": 2, "prismatic": 5}.get(link.kind)
        for i in range(len(W)):
            scaled_z = [sum_of([(1, inverted[i][j], Zs[j][c]) for j in range(len(W))]) for c in range(6)]
            x = sum_of([(1, inverted[i][j], u[j]) for j in range(len(W))])
            wrench = [sum_of([(1, 1.0, wrench[r]), (1, W[i][r], x)]) for r in range(6)]
            full = [[sum_of([(1, 1.0, full[r][c]), (-1, W[i][r], scaled_z[c])]) for c in range(6)] for r in range(6)]
        if unit is not None:  # nothing is transmitted along the joint's own direction
            full = [[0.0 if unit in (r, c) else full[r][c] for c in range(6)] for r in range(6)]
        _give(body, full, wrench, K[link.parent], F)
    return _outward(bodies, eliminated, out)


def _give(body: Body, full: Matrix, wrench: Vector, K: list[Matrix], F: list[tuple[Vector, Vector]]) -> None:
    """Carry the eliminated matrix and wrench to the parent: force by the joint at k, motion by the joint at k+1."""
    link, (first, last) = body.link, body.motion
    r0, r1 = body.arm

    def turned(m: Matrix) -> Matrix:
        rows = transposed([first.forward(column) for column in transposed(m)])
        return rotated(link.base, [last.forward(row) for row in rows])

    A, B, C, D = (turned([row[c : c + 3] for row in full[r : r + 3]]) for r in (0, 3) for c in (0, 3))
    C = added(C, cross_rows(r1, D))
    A = added(added(A, cross_rows(r1, B)), cross_columns(r0, C))
    B = added(B, cross_columns(r0, D))
    for i, m in enumerate((A, B, C, D)):
        K[i] = added(K[i], m)
    add_to_parent(F, link, first, r0, wrench[3:], wrench[:3])


def _row_to_parent(body: Body, z: Vector) -> Vector:
    """A row on the motion of the body's end as one on its parent's: the sweep outward then waits for one product only."""
    link, last = body.link, body.motion[1]
    if link.parent < 0:
        return z
    slide, turn = up(link, last, z[3:]), up(link, last, z[:3])
    return [*plus(turn, cross(body.arm[1], slide)), *slide]


def _outward(bodies: list[Body], eliminated: list[Any], out: Vector) -> Vector:
    moved: list[tuple[Vector, Vector]] = []
    for body, (Zs, inverted, u) in zip(bodies, eliminated, strict=True):
        link, last = body.link, body.motion[1]
        alpha, a = [0.0] * 3, [0.0] * 3
        left = u
        if link.parent >= 0:
            turn, move = moved[link.parent]
            alpha = down(link, last, turn)
            a = down(link, last, plus(move, cross(turn, body.arm[1])))
            left = [sub(x, add(dot(z[:3], turn), dot(z[3:], move))) for x, z in zip(u, Zs, strict=True)]
        delta = times(inverted, left)
        for i, x in enumerate(delta):
            out[link.v.start + i] = x
        spin, slide = last.twist(delta)
        moved.append((plus(alpha, spin), plus(a, slide)))
    return out


def residual(bodies: list[Body], forces: list[tuple[Vector, Vector]], given: Given) -> tuple[Vector, Vector]:
    """(r, scale), each (nv): the residual, and the size of the terms that it is made of."""
    casadi = extra("casadi")

    def size(x: Sequence[Scalar]) -> Scalar:
        return sum_of([(1, 1.0, abs(y) if isinstance(y, float) else casadi.fabs(y)) for y in x])

    F = [([*f], [*n]) for f, n in forces]
    r: Vector = [0.0] * int(given.b.numel())
    scale: Vector = list(r)
    for k in reversed(range(len(bodies))):
        body = bodies[k]
        link, first = body.link, body.motion[0]
        force, torque = F[k]
        lever = sum(abs(x) for x in body.com)
        for i in range(first.nv):
            j = link.v.start + i
            turn, slide = first.angular[i], first.linear[i]
            left = sub(given.b[j], add(dot(turn, torque), dot(slide, force)))
            terms = add(
                mul(size(turn), add(size(torque), mul(lever, size(force)))), mul(size(slide), size(force))
            )  # fmt: skip
            terms = add(casadi.fabs(given.b[j]), terms)
            if body.stiff:
                own = mul(given.stiff[j], sub(given.q[1][link.q.start + i], given.q[0][link.q.start + i]))
                left, terms = sub(left, own), add(terms, casadi.fabs(own))
            r[j], scale[j] = left, add(terms, 1e-300)
        if link.parent >= 0:
            add_to_parent(F, link, first, body.arm[0], force, torque)
    return r, scale


def end_momenta(bodies: list[Body], forces: list[tuple[Vector, Vector]], nv: int) -> Vector:
    """p at the end (nv), without what the joints' own rotors, dampers and loads give."""
    return joint_forces([body.link for body in bodies], [body.motion[1] for body in bodies], forces, nv)
