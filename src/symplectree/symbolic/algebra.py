"""Vectors and matrices of three as lists whose entries are numbers or CasADi expressions.

Every product and sum looks first whether an entry is a number that makes it trivial, so that zeros, ones and constants
of a mechanism cost no operation in its equations.
"""

from collections.abc import Sequence
from typing import Any

Scalar = Any  # float, or casadi.SX of one entry
Vector = list[Scalar]
Matrix = list[list[Scalar]]  # by rows


def is_number(x: Scalar) -> bool:
    return isinstance(x, float)


def is_zero(x: Scalar) -> bool:
    return isinstance(x, float) and x == 0


def mul(a: Scalar, b: Scalar) -> Scalar:
    if is_number(b):
        a, b = b, a
    if is_number(a):
        if a == 0:
            return 0.0
        if a == 1:
            return b
        if a == -1:
            return -b
    return a * b


def add(a: Scalar, b: Scalar) -> Scalar:
    if is_zero(a):
        return b
    return a if is_zero(b) else a + b


def sub(a: Scalar, b: Scalar) -> Scalar:
    if is_zero(b):
        return a
    return -b if is_zero(a) else a - b


def sum_of(terms: Sequence[tuple[int, Scalar, Scalar]]) -> Scalar:
    """Σ sign · a · b, begun with a positive term so that no sign costs an operation of its own."""
    total: Scalar = 0.0
    added_terms: Vector = []
    taken: Vector = []
    for sign, a, b in terms:
        if is_number(b):
            a, b = b, a
        if is_number(a) and is_number(b):
            total += sign * a * b
            continue
        if is_number(a) and a < 0:
            sign, a = -sign, -a
        if not is_zero(a):
            (added_terms if sign > 0 else taken).append(mul(a, b))
    for x in added_terms:
        total = add(total, x)
    if taken and is_zero(total):
        negative = taken[0]
        for x in taken[1:]:
            negative = add(negative, x)
        return -negative
    for x in taken:
        total = sub(total, x)
    return total


def dot(a: Sequence[Scalar], b: Sequence[Scalar]) -> Scalar:
    return sum_of([(1, x, y) for x, y in zip(a, b, strict=True)])


def plus(*vectors: Sequence[Scalar]) -> Vector:
    return [sum_of([(1, 1.0, x) for x in entries]) for entries in zip(*vectors, strict=True)]


def minus(a: Sequence[Scalar], b: Sequence[Scalar]) -> Vector:
    return [sub(x, y) for x, y in zip(a, b, strict=True)]


def scaled(s: Scalar, a: Sequence[Scalar]) -> Vector:
    return [mul(s, x) for x in a]


def cross(a: Sequence[Scalar], b: Sequence[Scalar]) -> Vector:
    return [sum_of([(1, a[i], b[j]), (-1, a[j], b[i])]) for i, j in ((1, 2), (2, 0), (0, 1))]


def skew(a: Sequence[Scalar]) -> Matrix:
    """[a], the matrix of b ↦ a × b."""
    x, y, z = a
    return [[0.0, sub(0.0, z), y], [z, 0.0, sub(0.0, x)], [sub(0.0, y), x, 0.0]]


def cross_rows(a: Sequence[Scalar], m: Sequence[Sequence[Scalar]]) -> Matrix:
    """m [a]ᵀ: the rows of a matrix, each multiplied by a from the left."""
    return [cross(a, row) for row in m]


def cross_columns(a: Sequence[Scalar], m: Sequence[Sequence[Scalar]]) -> Matrix:
    """[a] m: the columns of a matrix, each multiplied by a from the left."""
    return transposed(cross_rows(a, transposed(m)))


def transposed(m: Sequence[Sequence[Scalar]]) -> Matrix:
    return [list(column) for column in zip(*m, strict=True)]


def times(m: Sequence[Sequence[Scalar]], a: Sequence[Scalar]) -> Vector:
    return [dot(row, a) for row in m]


def product(m: Sequence[Sequence[Scalar]], n: Sequence[Sequence[Scalar]]) -> Matrix:
    columns = transposed(n)
    return [[dot(row, column) for column in columns] for row in m]


def added(m: Sequence[Sequence[Scalar]], n: Sequence[Sequence[Scalar]]) -> Matrix:
    return [[add(x, y) for x, y in zip(a, b, strict=True)] for a, b in zip(m, n, strict=True)]


def identity() -> Matrix:
    return [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]


def zeros(rows: int = 3, columns: int = 3) -> Matrix:
    return [[0.0] * columns for _ in range(rows)]


def symmetric(m: Matrix) -> Matrix:
    """The upper triangle of a matrix of three, on both sides of the diagonal."""
    return [[m[min(i, j)][max(i, j)] for j in range(3)] for i in range(3)]


def rotated(R: Matrix, m: Matrix) -> Matrix:
    """R m Rᵀ."""
    return m if is_identity(R) else product(product(R, m), transposed(R))


def is_identity(m: Sequence[Sequence[Scalar]]) -> bool:
    return all(is_number(x) for row in m for x in row) and m == identity()


def all_numbers(*values: Any) -> bool:
    """Are all entries of these scalars, vectors and matrices numbers?"""
    return all(all_numbers(*v) if isinstance(v, list | tuple) else is_number(v) for v in values)
