"""Springs, dampers, motors and loads as expressions: what they give to coordinates, and as wrenches on bodies."""

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from symplectree.elements.rows import ActuatorRow, LineRow, Row
from symplectree.elements.table import Table, cubic
from symplectree.errors import ModelError
from symplectree.extras import extra
from symplectree.formula.run_tape import run_tape
from symplectree.formula.tape import Tape
from symplectree.lie import Array
from symplectree.mechanism.model import Model
from symplectree.symbolic.algebra import (
    Matrix,
    Scalar,
    Vector,
    add,
    cross,
    dot,
    is_zero,
    minus,
    mul,
    plus,
    product,
    scaled,
    sub,
    times,
    transposed,
)
from symplectree.symbolic.joints import Motion
from symplectree.symbolic.links import Link
from symplectree.symbolic.newton_euler import arm, down

Symbols = Mapping[tuple[int, str], Scalar]  # of parameters, by (element, quantity)


def joint_loads(
    model: Model, q: Sequence[Scalar], v: Sequence[Scalar], inputs: Sequence[Scalar], symbols: Symbols
) -> Vector:
    """Forces of joint springs −k (q − rest), dampers −c v, motors and formulas on each velocity, (nv).

    Raises ModelError on an element that is a Python function.
    """
    casadi = extra("casadi")

    out: Vector = [0.0] * model.nv
    for spring in model.tables.joint_springs:
        stiffness, rest = _quantity(symbols, spring, "stiffness"), _quantity(symbols, spring, "rest")
        out[spring.v] = sub(out[spring.v], mul(stiffness, sub(q[spring.q], rest)))
    for damper in model.tables.joint_dampers:
        out[damper.v] = sub(out[damper.v], mul(_quantity(symbols, damper, "damping"), v[damper.v]))
    for motor in model.tables.joint_forces:
        out[motor.v] = add(out[motor.v], _value(motor.value, motor.gain, motor.input, inputs))
    _add_limits(model, q, v, inputs, out)
    for rows in model.tables.users:
        if rows.kind == "constraint":
            continue
        if not rows.tapes:
            name = model.elements[rows.owner].name
            raise ModelError(f"element {name!r} is a Python function; write it as a formula to have its equations")
        arguments = [*(q[i] for i in rows.q), *(v[j] for j in rows.v)]
        potential = rows.kind == "potential"  # whose second tape goes on to the gradient
        results = run_tape(rows.tapes[int(potential)], arguments, casadi)[int(potential) :]
        for j, x in zip(rows.v, results, strict=True):
            out[j] = sub(out[j], x) if potential else add(out[j], x)
    return out


def _quantity(symbols: Symbols, row: Row, quantity: str) -> Scalar:
    return symbols.get((row.owner, quantity), float(getattr(row, quantity)))


def _value(value: float, gain: float, source: int, inputs: Sequence[Scalar]) -> Scalar:
    return float(value) if source < 0 else add(float(value), mul(float(gain), inputs[source]))


def _add_limits(model: Model, q: Sequence[Scalar], v: Sequence[Scalar], inputs: Sequence[Scalar], out: Vector) -> None:
    """Add what limits of actuators change of their forces (core/elements/actuator.hpp)."""
    for a in model.tables.actuators:
        within = a.activation_range if a.dynamics else a.control_range
        if not np.isfinite([*within, *a.force_range]).any():
            continue
        rows = model.tables.transmissions[a.first : a.first + a.count]
        free = _unlimited(a, rows, q, v, inputs[a.input])
        beyond = sub(_clamped(inputs[a.input], within), inputs[a.input])
        change = sub(_clamped(add(free, mul(float(a.gain), beyond)), a.force_range), free)
        for row in rows:
            out[row.v] = add(out[row.v], mul(float(row.factor), change))
    for limit in model.tables.force_limits:
        total = _joint_total(model, limit.v, q, v, inputs)
        out[limit.v] = add(out[limit.v], sub(_clamped(total, limit.force_range), total))


def _joint_total(
    model: Model, joint: int, q: Sequence[Scalar], v: Sequence[Scalar], inputs: Sequence[Scalar]
) -> Scalar:
    """The force of all actuators together on one velocity, each within its own limits."""
    total: Scalar = 0.0
    for a in model.tables.actuators:
        rows = model.tables.transmissions[a.first : a.first + a.count]
        on = [row.factor for row in rows if row.v == joint]
        if on:
            u = _clamped(inputs[a.input], a.activation_range if a.dynamics else a.control_range)
            force = _clamped(_unlimited(a, rows, q, v, u), a.force_range)
            total = add(total, mul(float(sum(on)), force))
    return total


def _unlimited(a: ActuatorRow, rows: Sequence[Any], q: Sequence[Scalar], v: Sequence[Scalar], u: Scalar) -> Scalar:
    """The force of an actuator under the control u, without its limit."""
    force = add(float(a.bias), mul(float(a.gain), u))
    for row in rows:
        rate = mul(a.by_rate * row.factor, v[row.v])
        force = add(force, rate if row.q < 0 else add(rate, mul(a.by_length * row.factor, q[row.q])))
    return force


def _clamped(x: Scalar, limits: Sequence[float]) -> Scalar:
    casadi = extra("casadi")

    lower, upper = limits
    at_least = casadi.fmax(x, lower) if np.isfinite(lower) else x
    return casadi.fmin(at_least, upper) if np.isfinite(upper) else at_least


class Loads:
    """Wrenches of lines and loads on the bodies; poses and velocities are formed of the bodies that need them."""

    def __init__(
        self,
        model: Model,
        links: list[Link],
        motions: list[Motion],
        *,
        q: Sequence[Scalar],
        v: Sequence[Scalar],
        inputs: Sequence[Scalar],
        symbols: Symbols,
    ) -> None:
        self.model, self.links, self.motions, self.v, self.inputs = model, links, motions, v, inputs
        self.symbols = symbols
        self._rotation: dict[int, Matrix] = {}
        self._position: dict[int, Vector] = {}
        self._twist: dict[int, tuple[Vector, Vector]] = {}

    @cached_property
    def wrenches(self) -> list[tuple[Vector, Vector]]:
        """(F, N) on each body about its origin, in its axes. Raises ModelError on pairs (elements/rows.py)."""
        for pair in self.model.tables.all_pairs():
            element = self.model.elements[pair.owner]
            raise ModelError(
                f"{type(element).__name__} {element.name!r} has no symbolic form; write it as a formula (FormulaPotential, "
                "FormulaForce) to have its equations"
            )
        out: list[tuple[Vector, Vector]] = [([0.0] * 3, [0.0] * 3) for _ in self.links]
        for line in self.model.tables.lines:
            self._line(line, out)
        for row in self.model.tables.wrenches:
            body = row.point.body
            if body < 0:
                continue
            inputs = [_clamped(u, row.control_range) for u in self.inputs]
            value = [_value(x, g, i, inputs) for x, g, i in zip(row.value, row.gain, row.input, strict=True)]
            axes = self.links[body].axes
            if row.world_axes:
                turn = transposed(self.rotation(body))
            else:
                turn = (axes.T @ row.axes).tolist()
            self._push(out, body, self._point(body, row.point.at), times(turn, value[3:]), times(turn, value[:3]))
        return out

    def rotation(self, k: int) -> Matrix:
        """World axes of body k."""
        if k not in self._rotation:
            link, motion = self.links[k], self.motions[k]
            above = link.world_base.tolist() if link.parent < 0 else product(self.rotation(link.parent), link.base)
            self._rotation[k] = [motion.back(row) for row in above]
        return self._rotation[k]

    def position(self, k: int) -> Vector:
        """World position of the origin of body k."""
        if k not in self._position:
            link, motion = self.links[k], self.motions[k]
            if link.parent < 0:
                self._position[k] = plus(link.at, times(link.world_base.tolist(), motion.shift))
            else:
                r = times(self.rotation(link.parent), arm(link, motion))
                self._position[k] = plus(self.position(link.parent), r)
        return self._position[k]

    def twist(self, k: int) -> tuple[Vector, Vector]:
        """(ω, velocity of the origin) of body k in its axes."""
        if k not in self._twist:
            link, motion = self.links[k], self.motions[k]
            spin, slide = motion.twist(self.v[link.v])
            if link.parent >= 0:
                omega, velocity = self.twist(link.parent)
                spin = plus(down(link, motion, omega), spin)
                slide = plus(down(link, motion, plus(velocity, cross(omega, arm(link, motion)))), slide)
            self._twist[k] = spin, slide
        return self._twist[k]

    def _point(self, body: int, at: Array) -> Vector:
        """A point of the user's link frame in the body's axes."""
        return (self.links[body].axes.T @ at).tolist() if body >= 0 else [float(x) for x in at]

    def _world(self, body: int, point: Vector) -> Vector:
        return point if body < 0 else plus(self.position(body), times(self.rotation(body), point))

    def _velocity(self, body: int, point: Vector) -> Vector:
        """World velocity of a point of a body."""
        if body < 0:
            return [0.0] * 3
        omega, velocity = self.twist(body)
        return times(self.rotation(body), plus(velocity, cross(omega, point)))

    def _push(self, out: list[tuple[Vector, Vector]], body: int, point: Vector, force: Vector, torque: Vector) -> None:
        F, N = out[body]
        out[body] = plus(F, force), plus(N, torque, cross(point, force))

    def _line(self, row: LineRow, out: list[tuple[Vector, Vector]]) -> None:
        """Tension φ'(ℓ) + c ℓ̇ along d = x_b − x_a (JM09 (33)–(35)); at ℓ = 0 there is no direction and no force."""
        casadi = extra("casadi")

        a, b, function = row.a.body, row.b.body, row.function
        ends = self._point(a, row.a.at), self._point(b, row.b.at)
        k, rest, c = (_quantity(self.symbols, row, name) for name in ("stiffness", "length", "damping"))
        d = minus(self._world(b, ends[1]), self._world(a, ends[0]))
        stretch: Scalar = k if function < 0 and is_zero(rest) else None  # tension over length
        if stretch is None or not is_zero(c):
            length = casadi.sqrt(dot(d, d))
            length = length + (length == 0)  # d is zero there, and so is what it is multiplied with
            if stretch is None:
                functions = self.model.tables.functions
                slope = values_of(functions[function], length)[1] if function >= 0 else k * (length - rest)
                stretch = slope / length
            if not is_zero(c):
                rate = dot(d, minus(self._velocity(b, ends[1]), self._velocity(a, ends[0])))
                stretch = add(stretch, c * rate / (length * length))
        force = scaled(stretch, d)  # on a
        for body, point, sign in ((a, ends[0], 1.0), (b, ends[1], -1.0)):
            if body >= 0:
                local = times(transposed(self.rotation(body)), scaled(sign, force))
                self._push(out, body, point, local, [0.0] * 3)


def values_of(function: Tape | Table, x: Scalar) -> Vector:
    """φ(x), φ'(x) and φ''(x) of a tape, whose first outputs these are, or of piecewise cubics."""
    casadi = extra("casadi")

    if isinstance(function, Tape):
        return run_tape(function, [x], casadi)[:3]
    breaks, c = function.breaks, function.coefficients
    inside = casadi.fmin(casadi.fmax(x, float(breaks[0])), float(breaks[-1]))
    beyond = x - inside
    out: Vector = [0.0, 0.0, 0.0]
    for i in range(len(c)):
        parts = cubic(c[i].tolist(), inside - float(breaks[i]), beyond)
        here = 1.0
        if i > 0:
            here = here * (inside >= float(breaks[i]))
        if i < len(c) - 1:
            here = here * (inside < float(breaks[i + 1]))
        out = [add(sum_, here * part) for sum_, part in zip(out, parts, strict=True)]
    return out
