"""Inverse dynamics of a tree in O(n): GL09 (13), with its 4×4 matrices φ_j reduced to the wrench that they stand for.

GL09 writes a body's share as t a^T − ½ B U^T and carries sums of it by the transforms A to the root; that is the second
moment matrix of the body times its acceleration field. In the axes of the body, with U = [ω̇] + [ω]², first moment h and
second moment Σ about the joint's origin, which accelerates by a,

    force  F = m a + U h,    torque  N = vee(U Σ − (U Σ)ᵀ) + h × a,    τ = S_ωᵀ N + S_vᵀ F,

and a child's wrench reaches its parent by F_λ += R F, N_λ += R N + r × R F.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from symplectree.symbolic.algebra import (
    Matrix,
    Scalar,
    Vector,
    add,
    cross,
    dot,
    plus,
    scaled,
    sub,
    sum_of,
    times,
    transposed,
)
from symplectree.symbolic.joints import Motion, relative
from symplectree.symbolic.links import Link


@dataclass
class Field:
    """Motion of a body in its axes: ω, velocity (where asked for) and acceleration of its origin, and U."""

    omega: Vector
    U: Matrix
    acceleration: Vector


def acceleration_matrix(omega: Sequence[Scalar], rate: Sequence[Scalar]) -> Matrix:
    """U = [ω̇] + [ω]²: the acceleration of a point p of the body is a + U p."""
    x, y, z = omega
    xx, yy, zz = (sum_of([(1, w, w)]) for w in omega)
    xy, xz, yz = (sum_of([(1, a, b)]) for a, b in ((x, y), (x, z), (y, z)))
    return [
        [sum_of([(-1, 1.0, yy), (-1, 1.0, zz)]), sub(xy, rate[2]), add(xz, rate[1])],
        [add(xy, rate[2]), sum_of([(-1, 1.0, xx), (-1, 1.0, zz)]), sub(yz, rate[0])],
        [sub(xz, rate[1]), add(yz, rate[0]), sum_of([(-1, 1.0, xx), (-1, 1.0, yy)])],
    ]


def arm(link: Link, motion: Motion) -> Vector:
    """r: from the parent's origin to the body's, in the parent's axes."""
    return plus(link.at, times(link.base, motion.shift))


def down(link: Link, motion: Motion, x: Sequence[Scalar]) -> Vector:
    """A vector of the parent's axes in the body's."""
    return motion.back(times(transposed(link.base), x))


def up(link: Link, motion: Motion, x: Sequence[Scalar]) -> Vector:
    """A vector of the body's axes in the parent's."""
    return times(link.base, motion.forward(x))


def accelerations(
    links: list[Link], motions: list[Motion], gravity: Sequence[Scalar], v: Sequence[Scalar], a: Sequence[Scalar]
) -> list[Field]:
    """Root to leaves: how every body moves when the world accelerates by −gravity."""
    fields: list[Field] = []
    rates: list[Vector] = []
    for link, motion in zip(links, motions, strict=True):
        own_v, own_a = v[link.v], a[link.v]
        spin, slide = motion.twist(own_v)
        spin_rate, slide_rate = motion.twist(own_a)
        if link.parent < 0:
            start = times(transposed(link.world_base.tolist()), [-g for g in gravity])
            omega, rate = spin, plus(spin_rate, motion.angular_bias)
            origin = plus(motion.back(start), slide_rate, relative(motion, own_v))
        else:
            above, r = fields[link.parent], arm(link, motion)
            carried = down(link, motion, above.omega)
            omega = plus(carried, spin)
            rate = plus(down(link, motion, rates[link.parent]), spin_rate, motion.angular_bias, cross(carried, spin))
            pulled = plus(above.acceleration, times(above.U, r))
            twice = scaled(2.0, cross(carried, slide))
            origin = plus(down(link, motion, pulled), slide_rate, relative(motion, own_v), twice)
        rates.append(rate)
        fields.append(Field(omega, acceleration_matrix(omega, rate), origin))
    return fields


def wrench(link: Link, field: Field) -> tuple[Vector, Vector]:
    """(F, N) that the body's own mass needs."""
    (xx, xy, xz), (_, yy, yz), (_, _, zz) = link.second
    x, y, z = field.omega
    U, h, a = field.U, link.moment, field.acceleration
    force = [sum_of([(1, link.mass, a[i]), *((1, U[i][j], h[j]) for j in range(3))]) for i in range(3)]
    squares = [sum_of([(1, w, w)]) for w in (x, y, z)]
    # differences of the diagonal of U are differences of squares of ω
    torque = [
        sum_of([
            (1, xy, U[2][0]), (-1, xz, U[1][0]), (1, yy, U[2][1]), (-1, zz, U[1][2]),
            (1, yz, sub(squares[2], squares[1])), (1, h[1], a[2]), (-1, h[2], a[1]),
        ]),
        sum_of([
            (1, yz, U[0][1]), (-1, xy, U[2][1]), (1, zz, U[0][2]), (-1, xx, U[2][0]),
            (1, xz, sub(squares[0], squares[2])), (1, h[2], a[0]), (-1, h[0], a[2]),
        ]),
        sum_of([
            (1, xz, U[1][2]), (-1, yz, U[0][2]), (1, xx, U[1][0]), (-1, yy, U[0][1]),
            (1, xy, sub(squares[1], squares[0])), (1, h[0], a[1]), (-1, h[1], a[0]),
        ]),
    ]  # fmt: skip
    return force, torque


def joint_forces(
    links: list[Link], motions: list[Motion], wrenches: list[tuple[Vector, Vector]], nv: int
) -> list[Scalar]:
    """Leaves to root: the generalized forces (nv) that hold the balance with a wrench (F, N) on every body."""
    total = [([*F], [*N]) for F, N in wrenches]
    out: list[Scalar] = [0.0] * nv
    for k in reversed(range(len(links))):
        link, motion = links[k], motions[k]
        F, N = total[k]
        for j in range(motion.nv):
            out[link.v.start + j] = add(dot(motion.angular[j], N), dot(motion.linear[j], F))
        if link.parent < 0:
            continue
        add_to_parent(total, link, motion, arm(link, motion), F, N)
    return out


def add_to_parent(
    total: list[tuple[Vector, Vector]], link: Link, motion: Motion, r: Vector, F: Vector, N: Vector
) -> None:
    """Add a wrench about the body's origin, in its axes, to that of the parent; r is the arm from the parent's origin."""
    force, torque = up(link, motion, F), up(link, motion, N)
    above = total[link.parent]
    total[link.parent] = plus(above[0], force), plus(above[1], torque, cross(r, force))
