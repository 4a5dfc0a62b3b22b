"""Twin of core/collision/gap.hpp: the gap between two features, one formula for each pair.

A feature in the world is (kind, point, axes (3, 3) by columns, radii (3,)); a plane's normal, a line's direction and a
circle's axis are the third column. A gap is (g, n, x_a, x_b): the distance, the normal from b to a, the witness points.
"""

import numpy as np
from scipy.optimize import brentq, root

KINDS = ("sphere", "plane", "line", "circle", "ellipsoid")


def placed(row, T):
    """A feature in the world, of its 16 numbers (kind, point, rows of axes, radii) and a pose (4, 4)."""
    point, axes = row[1:4], row[4:13].reshape(3, 3)
    return KINDS[int(row[0])], T[:3, :3] @ point + T[:3, 3], T[:3, :3] @ axes, row[13:16]


def gap(a, b):
    """g, n, x_a, x_b."""
    if (a[0], b[0]) in PAIRS:
        return PAIRS[a[0], b[0]](a[1:], b[1:])
    g, n, x_b, x_a = PAIRS[b[0], a[0]](b[1:], a[1:])
    return g, -n, x_a, x_b


def along(x_a, x_b, n):
    return n @ (x_a - x_b), n, x_a, x_b


def sphere_sphere(a, b):
    n = (a[0] - b[0]) / np.linalg.norm(a[0] - b[0])
    return along(a[0] - a[2][0] * n, b[0] + b[2][0] * n, n)


def sphere_plane(a, b):
    n = b[1][:, 2]
    return along(a[0] - a[2][0] * n, a[0] - n * (n @ (a[0] - b[0])), n)


def sphere_line(a, b):
    d = b[1][:, 2]
    return sphere_sphere(a, (b[0] + d * (d @ (a[0] - b[0])), b[1], b[2]))


def sphere_circle(a, b):
    e, f, _ = b[1].T
    angle = np.arctan2(f @ (a[0] - b[0]), e @ (a[0] - b[0]))
    return sphere_sphere(a, (b[0] + b[2][0] * (np.cos(angle) * e + np.sin(angle) * f), b[1], np.zeros(3)))


def plane_circle(a, b):
    e, f, _ = b[1].T
    n = a[1][:, 2]
    angle = np.arctan2(-n @ f, -n @ e)
    lowest = b[0] + b[2][0] * (np.cos(angle) * e + np.sin(angle) * f)
    g, n, x_b, x_a = sphere_plane((lowest, b[1], np.zeros(3)), a)
    return g, -n, x_a, x_b


def line_line(a, b):
    """Signed by the turn from a to b: the normal is d_a × d_b."""
    d, e = a[1][:, 2], b[1][:, 2]
    n = np.cross(d, e) / np.linalg.norm(np.cross(d, e))
    s, t, _ = np.linalg.solve(np.column_stack([d, -e, -n]), b[0] - a[0])
    return along(a[0] + s * d - a[2][0] * n, b[0] + t * e + b[2][0] * n, n)


def matrix(e):
    """A, of which sqrt(nᵀAn) is the reach of the ellipsoid along n."""
    return e[1] @ np.diag(e[2] ** 2) @ e[1].T


def disc(c):
    """What a circle encloses, as a flat ellipsoid."""
    return c[0], c[1], c[2][0] * np.array([1, 1, 0])


def support(e, n):
    A = matrix(e)
    return e[0] + A @ n / np.sqrt(n @ A @ n)


def nearest(A, y):
    """The outward normal at the point of xᵀA⁻¹x = 1 that is nearest to y: along (A + t)⁻¹ y."""
    one = np.eye(len(y))
    solve = lambda t: np.linalg.solve(A + t * one, y)  # noqa: E731
    least, most = np.linalg.eigvalsh(A)[[0, -1]]
    t = brentq(
        lambda t: solve(t) @ A @ solve(t) - 1, -least * (1 - 1e-6), np.sqrt(most) * np.linalg.norm(y), xtol=1e-16
    )
    return solve(t) / np.linalg.norm(solve(t))


def sphere_ellipsoid(a, b):
    n = nearest(matrix(b), a[0] - b[0])
    return along(a[0] - a[2][0] * n, support(b, n), n)


def plane_ellipsoid(a, b):
    n = a[1][:, 2]
    x_b = support(b, -n)
    return along(x_b - n * (n @ (x_b - a[0])), x_b, -n)


def line_ellipsoid(a, b):
    P = a[1][:, :2]  # the plane across the line
    n = P @ nearest(P.T @ matrix(b) @ P, P.T @ (a[0] - b[0]))
    x_b, d = support(b, n), a[1][:, 2]
    return along(a[0] + d * (d @ (x_b - a[0])) - a[2][0] * n, x_b, n)


def ellipsoid_ellipsoid(a, b):
    """x_a − x_b = g n, for the support points along n and |n| = 1."""

    def conditions(u):
        n = u[:3]
        return np.append(support(a, -n) - support(b, n) - u[3] * n, n @ n - 1)

    d = a[0] - b[0]
    d = d / np.linalg.norm(d)
    found = root(conditions, np.append(d, d @ (support(a, -d) - support(b, d))), tol=1e-15)
    return along(support(a, -found.x[:3]), support(b, found.x[:3]), found.x[:3] / np.linalg.norm(found.x[:3]))


PAIRS = {
    ("sphere", "sphere"): sphere_sphere,
    ("sphere", "plane"): sphere_plane,
    ("sphere", "line"): sphere_line,
    ("sphere", "circle"): sphere_circle,
    ("sphere", "ellipsoid"): sphere_ellipsoid,
    ("plane", "circle"): plane_circle,
    ("plane", "ellipsoid"): plane_ellipsoid,
    ("line", "line"): line_line,
    ("line", "ellipsoid"): line_ellipsoid,
    ("ellipsoid", "ellipsoid"): ellipsoid_ellipsoid,
    ("line", "circle"): lambda a, b: line_ellipsoid(a, disc(b)),
    ("circle", "circle"): lambda a, b: ellipsoid_ellipsoid(disc(a), disc(b)),
    ("circle", "ellipsoid"): lambda a, b: ellipsoid_ellipsoid(disc(a), b),
}
