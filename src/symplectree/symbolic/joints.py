"""How a joint moves, as expressions of its coordinates: rotation, displacement of the origin, S and what velocity adds.

A one-coordinate joint turns about, or moves along, the third axis of its body (see links.py), so that S is a column of
zeros and a one. Every other joint needs to give its transform only; the rest follows by differentiation.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from symplectree.extras import extra
from symplectree.formula.pose_formula import body_jacobian
from symplectree.symbolic.algebra import (
    Matrix,
    Scalar,
    Vector,
    add,
    cross,
    dot,
    identity,
    mul,
    product,
    sub,
    sum_of,
    times,
    transposed,
    zeros,
)


@dataclass(frozen=True)
class Motion:
    """Motion of a joint at (q, v), from its base axes to its body's axes.

    | name | meaning | shape |
    | --- | --- | --- |
    | turn | rotation R(q) when it is about the third axis: (cos, sin), else None | |
    | rotation | R(q) | 3×3 |
    | shift | x(q), the displacement of the origin in base axes | 3 |
    | angular, linear | columns of S in body axes | nv × 3 each |
    | angular_bias, linear_bias | Ṡ v in body axes | 3 each |
    """

    turn: tuple[Scalar, Scalar] | None
    rotation: Matrix
    shift: Vector
    angular: Matrix
    linear: Matrix
    angular_bias: Vector
    linear_bias: Vector

    @property
    def nv(self) -> int:
        return len(self.angular)

    def forward(self, a: Sequence[Scalar]) -> Vector:
        """R a: from body axes to base axes."""
        if self.turn is None:
            return times(self.rotation, a)
        c, s = self.turn
        return [sum_of([(1, c, a[0]), (-1, s, a[1])]), sum_of([(1, s, a[0]), (1, c, a[1])]), a[2]]

    def back(self, a: Sequence[Scalar]) -> Vector:
        """Rᵀ a: from base axes to body axes."""
        if self.turn is None:
            return times(transposed(self.rotation), a)
        c, s = self.turn
        return [sum_of([(1, c, a[0]), (1, s, a[1])]), sum_of([(1, c, a[1]), (-1, s, a[0])]), a[2]]

    def carried(self, m: Matrix) -> Matrix:
        """R m Rᵀ of a symmetric matrix."""
        if self.turn is None:
            return product(product(self.rotation, m), transposed(self.rotation))
        c, s = self.turn
        (xx, xy, xz), (_, yy, yz), (_, _, zz) = m
        # e = s (xx − yy) + 2 c xy turns the upper block with five products
        e = sum_of([(1, s, sub(xx, yy)), (1, c, mul(2.0, xy))])
        se, ce = mul(s, e), mul(c, e)
        x, y, _ = self.forward([xz, yz, 0.0])
        xx, yy, xy = sub(xx, se), add(yy, se), sub(ce, xy)
        return [[xx, xy, x], [xy, yy, y], [x, y, zz]]

    def carried_general(self, m: Matrix) -> Matrix:
        """R m Rᵀ of any matrix."""
        columns = transposed([self.forward(column) for column in transposed(m)])
        return [self.forward(row) for row in columns]

    def twist(self, v: Sequence[Scalar]) -> tuple[Vector, Vector]:
        """S v: angular and linear part."""
        return (
            [dot(row, v) for row in transposed(self.angular)] if self.nv else [0.0] * 3,
            [dot(row, v) for row in transposed(self.linear)] if self.nv else [0.0] * 3,
        )


Z = [0.0, 0.0, 1.0]
NONE = [0.0, 0.0, 0.0]


def elementary(kind: str, pitch: float, turn: tuple[Scalar, Scalar], q: Sequence[Scalar]) -> Motion:
    """Motion of one of the core's joints; `turn`: cosine and sine of its angle, with the offset of the chosen axes."""
    if kind == "prismatic":
        return Motion(None, identity(), [0.0, 0.0, q[0]], [NONE], [Z], angular_bias=NONE, linear_bias=NONE)
    if kind in ("revolute", "screw"):
        c, s = turn
        rotation = [[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]]
        rise = pitch if kind == "screw" else 0.0
        return Motion(
            (c, s), rotation, [0.0, 0.0, mul(rise, q[0])], [Z], [[0.0, 0.0, rise]], angular_bias=NONE, linear_bias=NONE
        )
    rotation = quaternion_rotation(q[-4:])
    if kind == "ball":
        return Motion(None, rotation, NONE, identity(), zeros(), angular_bias=NONE, linear_bias=NONE)
    return Motion(
        None, rotation, list(q[:3]), identity() + zeros(), zeros() + identity(), angular_bias=NONE, linear_bias=NONE
    )


def quaternion_rotation(q: Sequence[Scalar]) -> Matrix:
    """Rotation of a quaternion (w, x, y, z) of any length but zero: 1 + s (…) with s = 2/|q|²."""
    w, x, y, z = q
    s = 2.0 / (w * w + x * x + y * y + z * z)
    sx, sy, sz = s * x, s * y, s * z
    wx, wy, wz = w * sx, w * sy, w * sz
    xx, xy, xz, yy, yz, zz = x * sx, x * sy, x * sz, y * sy, y * sz, z * sz
    return [
        [1.0 - (yy + zz), xy - wz, xz + wy],
        [xy + wz, 1.0 - (xx + zz), yz - wx],
        [xz - wy, yz + wx, 1.0 - (xx + yy)],
    ]


def formula(rotation: Any, position: Any, q: Any, v: Any) -> Motion:
    """Motion of a joint given by its transform alone: CasADi matrices R (3×3) and x (3) of the symbols q.

    S has the columns (vee(Rᵀ ∂R/∂q_j), Rᵀ ∂x/∂q_j), GL09 (5); Ṡ v is the derivative of S v along v.
    """
    casadi = extra("casadi")

    S = casadi.simplify(body_jacobian(rotation, position, q))
    bias = casadi.jtimes(S @ v, q, v)
    entries = [[_entry(S, i, j) for i in range(6)] for j in range(q.numel())]
    rates = [_entry(bias, i, 0) for i in range(6)]
    return Motion(
        None,
        [[_entry(rotation, i, j) for j in range(3)] for i in range(3)],
        [_entry(position, i, 0) for i in range(3)],
        [c[:3] for c in entries],
        [c[3:] for c in entries],
        angular_bias=rates[:3],
        linear_bias=rates[3:],
    )


def _entry(matrix: Any, i: int, j: int) -> Scalar:
    """An entry, as a float where it is one."""
    x = matrix[i, j]
    return float(x) if x.is_constant() else x


def relative(motion: Motion, v: Sequence[Scalar]) -> Vector:
    """What velocity alone adds to the acceleration of the joint's origin, in body axes: Ṡ_v v + (S_ω v) × (S_v v)."""
    angular, linear = motion.twist(v)
    turned = cross(angular, linear)
    return [add(x, y) for x, y in zip(motion.linear_bias, turned, strict=True)]
