"""The mass matrix by composite bodies, and its factorisation without fill along the tree."""

from collections.abc import Sequence

from symplectree.symbolic.algebra import (
    Matrix,
    Scalar,
    Vector,
    add,
    added,
    cross,
    dot,
    is_zero,
    mul,
    plus,
    rotated,
    scaled,
    sub,
    sum_of,
    symmetric,
    zeros,
)
from symplectree.symbolic.joints import Motion
from symplectree.symbolic.links import Link
from symplectree.symbolic.newton_euler import arm, up


def mass_matrix(links: list[Link], motions: list[Motion], armature: Sequence[Scalar]) -> Matrix:
    """M (nv × nv): M_ij is the coefficient of the acceleration a_j in GL09's equation (14) for coordinate i.

    The bodies beyond a joint move as one, with the moments (m, h, Σ) of all of them; column j is the wrench that this
    composite body needs for a unit acceleration, projected on the joints below it.
    """
    nv = len(armature)
    M = zeros(nv, nv)
    mass = [link.mass for link in links]
    moment = [link.moment for link in links]
    second = [link.second for link in links]
    for k in reversed(range(len(links))):
        link, motion = links[k], motions[k]
        for j in range(motion.nv):
            S = motion.angular[j], motion.linear[j]
            _project(links, motions, k, link.v.start + j, _unit_wrench(mass[k], moment[k], second[k], *S), M)
        if link.parent < 0:
            continue
        p, r = link.parent, arm(link, motion)
        h = up(link, motion, moment[k])
        turned = rotated(link.base, motion.carried(second[k]))
        mass[p] = add(mass[p], mass[k])
        moment[p] = plus(moment[p], h, scaled(mass[k], r))
        shifted = plus(h, scaled(mul(0.5, mass[k]), r))  # r hᵀ + h rᵀ + m r rᵀ
        outer = [[sum_of([(1, r[i], shifted[j]), (1, shifted[i], r[j])]) for j in range(3)] for i in range(3)]
        second[p] = symmetric(added(second[p], added(turned, outer)))
    for j in range(nv):
        M[j][j] = add(M[j][j], armature[j])
    return M


def _unit_wrench(mass: Scalar, h: Vector, second: Matrix, angular: Vector, linear: Vector) -> tuple[Vector, Vector]:
    """(F, N) of a body whose origin accelerates by `linear` and which turns by `angular`, from rest."""
    (xx, xy, xz), (_, yy, yz), (_, _, zz) = second
    x, y, z = angular
    force = plus(scaled(mass, linear), cross(angular, h))
    inertia = [
        sum_of([(1, 0.0 if is_zero(x) else add(yy, zz), x), (-1, xy, y), (-1, xz, z)]),
        sum_of([(-1, xy, x), (1, 0.0 if is_zero(y) else add(xx, zz), y), (-1, yz, z)]),
        sum_of([(-1, xz, x), (-1, yz, y), (1, 0.0 if is_zero(z) else add(xx, yy), z)]),
    ]
    return force, plus(inertia, cross(h, linear))


def _project(
    links: list[Link], motions: list[Motion], k: int, column: int, start: tuple[Vector, Vector], M: Matrix
) -> None:
    """Entries of a column (and row) of M for all joints from body k to the root."""
    F, N = start
    while True:
        link, motion = links[k], motions[k]
        for i in range(motion.nv):
            row = link.v.start + i
            if row <= column:
                M[row][column] = M[column][row] = add(dot(motion.angular[i], N), dot(motion.linear[i], F))
        if link.parent < 0:
            return
        force = up(link, motion, F)
        N = plus(up(link, motion, N), cross(arm(link, motion), force))
        F, k = force, link.parent


def ancestors(links: list[Link]) -> list[list[int]]:
    """Of each velocity: those before it on the path to the root, nearest first; M is zero for all other pairs."""
    before: list[list[int]] = []
    ends: list[list[int]] = []
    for link in links:
        path = list(ends[link.parent]) if link.parent >= 0 else []
        for j in range(link.v.start, link.v.stop):
            before.append(list(path))
            path.insert(0, j)
        ends.append(path)
    return before


def solve(M: Matrix, rhs: Sequence[Scalar], before: list[list[int]]) -> Vector:
    """M⁻¹ rhs by M = Lᵀ D L, Cholesky's factors without square roots, from the leaves so that nothing fills in."""
    n = len(rhs)
    M = [list(row) for row in M]
    x = list(rhs)
    inverse: Vector = [0.0] * n
    factor = zeros(n, n)
    for k in reversed(range(n)):
        inverse[k] = 1.0 / M[k][k]
        for i in before[k]:
            factor[k][i] = mul(M[k][i], inverse[k])
        for index, i in enumerate(before[k]):
            for j in before[k][index:]:  # j is i or nearer to the root
                M[i][j] = sub(M[i][j], mul(factor[k][i], M[k][j]))
            x[i] = sub(x[i], mul(factor[k][i], x[k]))
    for k in range(n):
        terms = [(1, inverse[k], x[k]), *((-1, factor[k][i], x[i]) for i in before[k])]
        x[k] = sum_of(terms)
    return x
