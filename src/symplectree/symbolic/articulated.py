"""Forward dynamics by articulated bodies: operations proportional to the number of bodies."""

from __future__ import annotations

from collections.abc import Sequence

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
    mul,
    plus,
    rotated,
    skew,
    sub,
    sum_of,
    symmetric,
    times,
    transposed,
)
from symplectree.symbolic.joints import Motion
from symplectree.symbolic.links import Link
from symplectree.symbolic.newton_euler import arm, down, up


class Articulated:
    """Symmetric 6×6 inertia in blocks: N = A α + B a, F = Bᵀ α + D a for accelerations (α, a) of the origin."""

    def __init__(self, link: Link) -> None:
        (xx, xy, xz), (_, yy, yz), (_, _, zz) = link.second
        yx, zx, zy = sub(0.0, xy), sub(0.0, xz), sub(0.0, yz)
        self.A: Matrix = [[add(yy, zz), yx, zx], [yx, add(xx, zz), zy], [zx, zy, add(xx, yy)]]
        self.B = skew(link.moment)
        self.D: Matrix = [[link.mass if i == j else 0.0 for j in range(3)] for i in range(3)]

    def times(self, alpha: Sequence[Scalar], a: Sequence[Scalar]) -> tuple[Vector, Vector]:
        """(N, F)"""
        return plus(times(self.A, alpha), times(self.B, a)), plus(times(transposed(self.B), alpha), times(self.D, a))

    def subtract(self, w: tuple[Vector, Vector], z: tuple[Vector, Vector]) -> None:
        """Less w zᵀ, which is symmetric."""
        self.A = symmetric(_less(self.A, w[0], z[0]))
        self.B = _less(self.B, w[0], z[1])
        self.D = symmetric(_less(self.D, w[1], z[1]))

    def give(self, link: Link, motion: Motion, parent: Articulated) -> None:
        """Add this inertia, turned and moved by r, to the parent's."""
        carried = motion.carried(self.A), motion.carried_general(self.B), motion.carried(self.D)
        (A, B, D), r = (rotated(link.base, m) for m in carried), arm(link, motion)
        moved = added(B, cross_columns(r, D))
        # A + [r] Bᵀ + (B + [r] D) [r]ᵀ
        A = added(A, added(transposed(cross_rows(r, B)), cross_rows(r, moved)))
        parent.A = symmetric(added(parent.A, A))
        parent.B = added(parent.B, moved)
        parent.D = symmetric(added(parent.D, D))


def _less(m: Matrix, a: Vector, b: Vector) -> Matrix:
    """m − a bᵀ."""
    return [[sum_of([(1, 1.0, m[i][j]), (-1, a[i], b[j])]) for j in range(3)] for i in range(3)]


def forward_dynamics(
    links: list[Link],
    motions: list[Motion],
    wrenches: list[tuple[Vector, Vector]],
    tau: Sequence[Scalar],
    armature: Sequence[Scalar],
) -> Vector:
    """a (nv), given the wrenches (F, N) that the bodies need to move as they do at a = 0.

    With accelerations measured from that motion no bias is left in the recursion but the forces: leaves to root
    D = Sᵀ I S + armature, u = τ − Sᵀ p, then I − I S D⁻¹ Sᵀ I and p + I S D⁻¹ u go to the parent.
    """
    inertia = [Articulated(link) for link in links]
    p = [([*N], [*F]) for F, N in wrenches]
    W: list[list[tuple[Vector, Vector]]] = [[] for _ in links]
    D: list[Matrix] = [[] for _ in links]
    u: Vector = list(tau)
    for k in reversed(range(len(links))):
        link, motion, body = links[k], motions[k], inertia[k]
        S = list(zip(motion.angular, motion.linear, strict=True))
        W[k] = [body.times(*s) for s in S]
        block = [[add(dot(S[i][0], w[0]), dot(S[i][1], w[1])) for w in W[k]] for i in range(motion.nv)]
        for i in range(motion.nv):
            j = link.v.start + i
            block[i][i] = add(block[i][i], armature[j])
            u[j] = sub(u[j], add(dot(S[i][0], p[k][0]), dot(S[i][1], p[k][1])))
        D[k] = inverse(block)
        if link.parent < 0:
            continue
        own = u[link.v]
        N, F = p[k]
        for i, row in enumerate(D[k]):
            scaled = [sum_of([(1, row[j], W[k][j][part][c]) for j in range(motion.nv)]) for part in (0, 1)
                      for c in range(3)]  # fmt: skip
            z = scaled[:3], scaled[3:]
            body.subtract(z, W[k][i]) if motion.nv > 1 else body.subtract(W[k][i], z)
            N, F = plus(N, [mul(x, own[i]) for x in z[0]]), plus(F, [mul(x, own[i]) for x in z[1]])
        body.give(link, motion, inertia[link.parent])
        force = up(link, motion, F)
        above = p[link.parent]
        p[link.parent] = (
            plus(above[0], up(link, motion, N), cross(arm(link, motion), force)),
            plus(above[1], force),
        )
    return _outward(links, motions, W, D, u)


def _outward(
    links: list[Link],
    motions: list[Motion],
    W: list[list[tuple[Vector, Vector]]],
    D: list[Matrix],
    u: Vector,
) -> Vector:
    """Root to leaves: the accelerations of the joints."""
    alpha: list[Vector] = []
    origin: list[Vector] = []
    out: Vector = [0.0] * len(u)
    for k, (link, motion) in enumerate(zip(links, motions, strict=True)):
        own = u[link.v]
        turn, move = [0.0] * 3, [0.0] * 3
        if link.parent >= 0:
            above = alpha[link.parent]
            turn = down(link, motion, above)
            move = down(link, motion, plus(origin[link.parent], cross(above, arm(link, motion))))
            own = [sub(x, add(dot(w[0], turn), dot(w[1], move))) for x, w in zip(own, W[k], strict=True)]
        a = times(D[k], own)
        for i, x in enumerate(a):
            out[link.v.start + i] = x
        spin, slide = motion.twist(a)
        alpha.append(plus(turn, spin))
        origin.append(plus(move, slide))
    return out


def inverse(m: Matrix) -> Matrix:
    """Inverse of a symmetric positive matrix of up to six rows, by elimination without pivots."""
    n = len(m)
    if n == 1:
        return [[1.0 / m[0][0]]]
    work = [[*row, *([0.0] * n)] for row in m]
    for i in range(n):
        work[i][n + i] = 1.0
    for c in range(n):
        scale = 1.0 / work[c][c]
        work[c] = [mul(scale, x) if j > c else 0.0 for j, x in enumerate(work[c])]
        work[c][c] = 1.0
        for i in range(n):
            if i != c:
                f = work[i][c]
                work[i] = [0.0 if j <= c else sub(x, mul(f, y))
                           for j, (x, y) in enumerate(zip(work[i], work[c], strict=True))]  # fmt: skip
    return [row[n:] for row in work]
