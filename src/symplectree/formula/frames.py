"""Frames that travel along curves and over surfaces, as CasADi expressions (GL09 section 5)."""

from collections.abc import Callable
from typing import Any

import numpy as np

from symplectree.extras import extra
from symplectree.formula.rigid import matrix, pose


def curve_frame(curve: Callable[[Any], Any], q: Any, *, up: Any = None) -> Any:
    """C(q) = [b, p, n, f] (4 × 4) of GL09: origin on the curve f, first axis along its tangent b.

    Frenet's frame when `up` is left out: n = b × f'' / |b × f''|, p = n × b, which needs curvature. Else the third axis
    is what `up` (three numbers) leaves across the tangent, which needs a tangent that is not parallel to it.
    """
    casadi = extra("casadi")

    f, df, ddf = _along(curve, q)
    b = df / casadi.norm_2(df)
    if up is None:
        n = _cross(b, ddf)
    else:
        up = casadi.SX(np.asarray(up, dtype=float))
        n = up - casadi.dot(up, b) * b
    n = n / casadi.norm_2(n)
    return pose(casadi.horzcat(b, _cross(n, b), n), f)


def surface_frame(surface: Callable[[Any, Any], Any], u: Any, v: Any) -> Any:
    """S(u, v) = [p₀, n × p₀, n, f] (4 × 4) of GL09: origin on the surface f, first axis along ∂f/∂u, third normal to it.

    n = p₀ × p₁ is made a unit vector, so that coordinate lines need not meet at right angles.
    """
    casadi = extra("casadi")

    a, b = casadi.SX.sym("u"), casadi.SX.sym("v")
    f = casadi.vec(matrix(surface(a, b)))
    f, first, second = casadi.substitute([f, casadi.jacobian(f, a), casadi.jacobian(f, b)], [a, b], [u, v])
    p = first / casadi.norm_2(first)
    n = _cross(p, second)
    n = n / casadi.norm_2(n)
    return pose(casadi.horzcat(p, _cross(n, p), n), f)


def shape_operator(surface: Callable[[Any, Any], Any], u: Any, v: Any) -> Any:
    """The second fundamental form [1/m] (2 × 2) of a surface in the axes of `surface_frame`: its height over the tangent
    plane, along the normal, is ½ xᵀ II x to second order."""
    casadi = extra("casadi")

    a, b = casadi.SX.sym("u"), casadi.SX.sym("v")
    f = casadi.vec(matrix(surface(a, b)))
    slopes = casadi.jacobian(f, casadi.vertcat(a, b))
    frame = surface_frame(surface, a, b)
    n = frame[:3, 2]
    bend = [casadi.dot(n, casadi.jacobian(slopes[:, i], x)) for i in range(2) for x in (a, b)]
    inverse = casadi.inv(frame[:3, :2].T @ slopes)
    II = inverse.T @ casadi.reshape(casadi.vertcat(*bend), 2, 2) @ inverse
    return casadi.substitute([II], [a, b], [u, v])[0]


def _along(curve: Callable[[Any], Any], q: Any) -> tuple[Any, Any, Any]:
    """A curve with its first and second derivatives at q, (3,) each."""
    casadi = extra("casadi")

    s = casadi.SX.sym("s")
    f = casadi.vec(matrix(curve(s)))
    df = casadi.jacobian(f, s)
    f, df, ddf = casadi.substitute([f, df, casadi.jacobian(df, s)], [s], [q])
    return f, df, ddf


def _cross(a: Any, b: Any) -> Any:
    casadi = extra("casadi")

    return casadi.cross(a, b)
