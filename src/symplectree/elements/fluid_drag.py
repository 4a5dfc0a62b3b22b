"""What a still or streaming medium, such as air or water, does to a body that moves through it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from symplectree.elements.contract import Element, Lowering
from symplectree.elements.tree_symbols import TreeSymbols
from symplectree.errors import ModelError
from symplectree.extras import extra
from symplectree.validation import shown

if TYPE_CHECKING:
    from symplectree.mechanism.mechanism import Frame


@dataclass(frozen=True)
class FluidDrag(Element):
    """Drag on bodies in a medium, each as a box with the sides `box` [m] about the origin of its frame, along its axes.

    frames: one, with one box, or several with as many. With a frame's velocity v and angular velocity ω against the
    medium, in its own axes, box sides s, and d their mean:

        force   fᵢ = −3π d `viscosity` vᵢ − ½ `density` sⱼ sₖ |vᵢ| vᵢ
        torque  nᵢ = −π d³ `viscosity` ωᵢ − `density` sᵢ (sⱼ⁴ + sₖ⁴) |ωᵢ| ωᵢ / 64

    the drag of a sphere in slow motion, and of faces in fast motion (MuJoCo's model of boxes with the body's inertia).

    density: of the medium [kg/m³]; viscosity [Pa s]. wind: the medium's velocity in the world [m/s].
    """

    frames: str | Frame | tuple[str, ...]
    box: tuple[float, float, float] | tuple[tuple[float, float, float], ...] = field(kw_only=True)
    density: float = field(default=0.0, kw_only=True)
    viscosity: float = field(default=0.0, kw_only=True)
    wind: tuple[float, float, float] = field(default=(0, 0, 0), kw_only=True)

    def add_rows(self, into: Lowering) -> Element:
        casadi = extra("casadi")
        several = isinstance(self.frames, tuple | list)
        frames = list(self.frames) if several else [self.frames]  # type: ignore[arg-type]
        boxes = list(self.box) if several and isinstance(self.box, Sequence | np.ndarray) else [self.box]
        if not frames or len(boxes) != len(frames):
            raise ModelError(f"{into.what}: {len(boxes)} boxes for {len(frames)} frames; give one for each")
        places = [into.frame(name) for name in frames]
        for name, (body, _) in zip(frames, places, strict=True):
            if body < 0:
                raise ModelError(f"{into.what}: frame {name!r} is fixed to the world, so it can do nothing")
        sides, wind = [_sides(into, box) for box in boxes], _three(into, self.wind, "wind")
        density, viscosity = (into.number(getattr(self, what), what) for what in ("density", "viscosity"))
        if density < 0 or viscosity < 0:
            raise ModelError(f"{into.what}: density is {density:g} and viscosity {viscosity:g}; both are zero or more")
        if density == viscosity == 0:
            raise ModelError(f"{into.what} has neither density nor viscosity, so it can do nothing")
        symbols = TreeSymbols(into, [body for body, _ in places], from_world=True)
        twists, wrenches = [], []
        for (body, offset), own in zip(places, sides, strict=True):
            V = symbols.twist(body, offset)
            twists.append(V)
            if any(wind):
                R = symbols.pose(body, offset)[:3, :3]
                V = casadi.vertcat(V[:3], V[3:] - R.T @ casadi.SX(np.array(wind)))
            wrenches.append(_drag(V, own, density, viscosity))
        symbols.add_force(casadi.jtimes(casadi.vertcat(*twists), symbols.v, casadi.vertcat(*wrenches), True))
        return self


def _three(into: Lowering, given: Any, what: str) -> list[float]:
    if isinstance(given, str) or not isinstance(given, Sequence | np.ndarray) or len(given) != 3:
        raise ModelError(f"{into.what}: {what} is {shown(given)}; give three numbers")
    return [into.number(x, what) for x in given]


def _sides(into: Lowering, given: Any) -> list[float]:
    sides = _three(into, given, "box")
    if min(sides) <= 0:
        raise ModelError(f"{into.what}: box is {shown(given)}; give three sides above zero [m]")
    return sides


def _drag(V: Any, sides: list[float], density: float, viscosity: float) -> Any:
    """The wrench [torque; force] at the twist V against the medium."""
    casadi = extra("casadi")
    mean, torque, force = sum(sides) / 3, [], []
    for i in range(3):
        s, a, b = sides[i], sides[(i + 1) % 3], sides[(i + 2) % 3]
        w, v = V[i], V[3 + i]
        torque.append(-np.pi * mean**3 * viscosity * w - density * s * (a**4 + b**4) / 64 * casadi.fabs(w) * w)
        force.append(-3 * np.pi * mean * viscosity * v - 0.5 * density * a * b * casadi.fabs(v) * v)
    return casadi.vertcat(*torque, *force)
