"""A body that rolls without sliding in the plane: a wheel, a gear, any curve on any curve (GL09 section 5)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from symplectree.errors import ModelError
from symplectree.extras import extra
from symplectree.formula.tape_function import TapeFunction
from symplectree.joints.formula import SymbolicJoint
from symplectree.validation import is_positive, shown


@dataclass(frozen=True)
class RollingJoint(SymbolicJoint):
    """Curve `second`, of the moving body, rolls on curve `first`, of the base, both in the xy plane: one coordinate.

    first, second: functions of a symbol that give x and y [m], such that both points of contact are passed equally fast,
        |f₁'| = |f₂'|: then the curves do not slide. They touch with the same tangent, each on the left of its own: go round
        the moving body counterclockwise, and along the base such that the body is on the left.

    `wheel` makes the most common ones.
    """

    in_files: ClassVar[bool] = True

    first: Callable[[Any], Any]
    second: Callable[[Any], Any]

    @classmethod
    def wheel(
        cls, name: str, *, radius: float, on: float | None = None, inside: bool = False, **options: Any
    ) -> RollingJoint:
        """A wheel about its own origin, that rolls along x on a line (q is its length [m]), or round a circle of radius
        `on` about the base's origin, outside or inside (q is the angle of the contact [rad] from the y axis, clockwise
        outside; from the −y axis, counterclockwise inside)."""
        for what, value in (("radius", radius), ("on", 1.0 if on is None else on)):
            if not is_positive(value):
                raise ModelError(f"{what} of joint {name!r} is {shown(value)}; give a length above zero")
        if on is None:
            return cls(name, lambda q: (q, 0 * q), _circle(radius, 1 / radius, -1.0), **options)
        return cls(name, _circle(on, 1.0, -1.0 if inside else 1.0), _circle(radius, on / radius, -1.0), **options)

    def size(self) -> int:
        return 1

    @cached_property
    def paths(self) -> tuple[TapeFunction, TapeFunction]:
        """Both curves as data: functions of one number that give two."""
        return self.tape("first", 1, 2), self.tape("second", 1, 2)

    def functions(self) -> dict[str, TapeFunction]:
        return dict(zip(("first", "second"), self.paths, strict=True))

    def pose(self, q: Any) -> tuple[Any, Any]:
        """T = C₁ C₂⁻¹ with C = (tangent and normal, point) of each curve."""
        casadi = extra("casadi")

        (R1, x1), (R2, x2) = (_plane_frame(curve, q[0]) for curve in self.paths)
        R = R1 @ R2.T
        x = x1 - R @ x2
        return casadi.diagcat(R, 1), casadi.vertcat(x, 0)

    def check(self) -> None:
        super().check()
        casadi = extra("casadi")

        q = casadi.SX.sym("q")
        speeds = [casadi.norm_2(casadi.jacobian(curve(q), q)) for curve in self.paths]
        function = casadi.Function("speeds", [q], speeds)
        for (at,) in (self.neutral, *self.samples(np.random.default_rng(0), 4), *self._around()):
            one, two = (float(s) for s in function(at))
            if abs(one - two) > 1e-9 * (one + two):
                raise ModelError(
                    f"the curves of joint {self.name!r} slide at q = {at:.6g}: their points of contact move by {one:.6g} "
                    f"and {two:.6g} m per unit of q; give both the same speed"
                )

    def _around(self) -> np.ndarray:
        """Coordinates some way round to both sides of the start, (n, 1)."""
        return np.asarray(self.neutral + np.linspace(-4 * np.pi, 4 * np.pi, 34)[:, None])


def _circle(radius: float, rate: float, side: float) -> Callable[[Any], tuple[Any, Any]]:
    return lambda q: (radius * np.sin(rate * q), side * radius * np.cos(rate * q))


def _plane_frame(curve: TapeFunction, q: Any) -> tuple[Any, Any]:
    casadi = extra("casadi")

    f = curve(q)
    t = casadi.jacobian(f, q)
    t = t / casadi.norm_2(t)
    return casadi.horzcat(t, casadi.vertcat(-t[1], t[0])), f
