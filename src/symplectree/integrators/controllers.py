"""Controllers that the core evaluates by itself: `forces=` of `simulate` and `Stepper` takes one, several in a list, or
mappings of names of inputs, coordinates or joints to them.

    st.simulate(model, q0, duration=5, dt=0.01, forces=[st.PD("shoulder", 200, 20, 0.5), st.PD("elbow", 100, 10, 0.0)])
    st.simulate(model, q0, duration=5, dt=0.01, forces={"motor": st.Table([0, 1, 2], [0.0, 3.0, 0.0])})
"""

from __future__ import annotations

import warnings
from dataclasses import KW_ONLY, dataclass
from typing import Any, Literal

import numpy as np

from symplectree.errors import ModelError
from symplectree.lie import Array
from symplectree.mechanism.model import Model, unknown_coordinate
from symplectree.validation import array_or_empty, check_seconds, is_positive, shown

INTERPOLATIONS = ("hold", "linear")


@dataclass(frozen=True, eq=False)
class Table:
    """Forces over time, by name in a mapping or for all of the model's inputs; or the target of a PD or PID.

    times: (n,), rising [s]. values: (n,), or (n, width) of joints or of all inputs.
    interpolation: "linear" between the times, or "hold": constant from each time to the next, and over a step as it
        begins. Constant before the first and after the last time.
    """

    times: Any
    values: Any
    interpolation: Literal["hold", "linear"] = "linear"

    def __post_init__(self) -> None:
        if self.interpolation not in INTERPOLATIONS:
            raise ModelError(f"interpolation is {self.interpolation!r}; give 'hold' or 'linear'")
        times, values = array_or_empty(self.times), array_or_empty(self.values)
        if times.ndim != 1 or not len(times) or not np.all(np.isfinite(times)) or np.any(np.diff(times) <= 0):
            raise ModelError(f"times of a Table are {shown(self.times)}; give rising numbers, in seconds")
        if values.ndim not in (1, 2) or len(values) != len(times) or not np.all(np.isfinite(values)):
            raise ModelError(
                f"values of a Table have shape {values.shape}; give a row of numbers for each of its times"
            )
        object.__setattr__(self, "times", times)
        object.__setattr__(self, "values", np.ascontiguousarray(values))

    @property
    def width(self) -> int:
        return 1 if self.values.ndim == 1 else int(self.values.shape[1])

    @property
    def signal(self) -> dict[str, Any]:
        return {"times": self.times, "hold": self.interpolation == "hold"}

    def add_to(self, laws: Any, model: Model, at: slice | None) -> None:
        at = at if at is not None else all_forces(model)
        if self.width != at.stop - at.start:
            raise ModelError(f"a Table has {self.width} columns for {at.stop - at.start} forces; give one for each")
        laws.add_table(place=at.start, rows=self.values, **self.signal)


@dataclass(frozen=True, eq=False)
class PID:
    """u = kp (r − q) + kd (ṙ − v) + ki ∫ (r − q) dt of a coordinate and its target r, within limits.

    A force on the coordinate itself; in a mapping, of the input that is named there. Methods take it at both ends of a
    step, as a function of (t, q, v); the integral is a sum over the steps' beginnings, and ki times it kept within the
    limits, so that it does not wind up.

    coordinate: its name; no part of a quaternion. kp, ki, kd: gains. target: r, a number or a `Table` of them over time.
    limits: the largest |u|, or a pair of the lowest and highest u.
    """

    coordinate: str
    kp: float
    ki: float
    kd: float
    target: Any = 0.0
    _: KW_ONLY
    limits: Any = None

    def __post_init__(self) -> None:
        for name in ("kp", "ki", "kd"):
            _one_number(f"{name} of the controller of {self.coordinate!r}", getattr(self, name))
        if not isinstance(self.target, Table):
            _one_number(f"target of the controller of {self.coordinate!r}", self.target)
        elif self.target.width != 1:
            raise ModelError(f"the target of {self.coordinate!r} is a Table of {self.target.width} columns; give one")
        _limits(self.limits, 1)

    def add_to(self, laws: Any, model: Model, at: slice | None) -> None:
        q, v = _plain_coordinate(model, self.coordinate)
        if at is not None and at.stop - at.start != 1:
            raise ModelError(f"the controller of {self.coordinate!r} gives one force, not {at.stop - at.start}")
        if at is None or at.start == v:  # an input may act the other way round
            self._ask_about_signs()
        target = self.target if isinstance(self.target, Table) else Table([0.0], [float(self.target)], "hold")
        laws.add_pid(
            q=q, v=v, place=v if at is None else at.start, gains=np.array([self.kp, self.ki, self.kd], dtype=float),
            target=target.values, limits=np.concatenate(_limits(self.limits, 1)), **target.signal,
        )  # fmt: skip

    def _ask_about_signs(self) -> None:
        """Warn of gains that drive away from the target, or feed energy."""
        wrong = [f"{name} = {value:g}" for name in ("kp", "ki", "kd") if (value := getattr(self, name)) < 0]
        if wrong:
            warnings.warn(
                f"the controller of {self.coordinate!r} has {' and '.join(wrong)}: negative gains drive away from the "
                "target or feed energy; wanted?",
                stacklevel=2,
            )


class PD(PID):
    """u = kp (r − q) + kd (ṙ − v), as `PID` without an integral.

    st.PD("elbow", 100.0, 10.0, 0.5, limits=30.0)
    """

    def __init__(self, coordinate: str, kp: float, kd: float, target: Any = 0.0, *, limits: Any = None) -> None:
        super().__init__(coordinate, kp, 0.0, kd, target, limits=limits)

    def __repr__(self) -> str:
        return f"PD({self.coordinate!r}, {self.kp!r}, {self.kd!r}, {self.target!r}, limits={self.limits!r})"


@dataclass(frozen=True, eq=False)
class StateFeedback:
    """u = u_k − K_k [local(q_k, q); p − p_k] at the beginning of step k, held over it, within limits.

    | name | meaning | shape |
    | --- | --- | --- |
    | gains | K | (nu, 2 nv), or one for each step |
    | q, p | reference | (nq,), (nv,), or one for each step |
    | forces | u: the model's inputs, or all degrees of freedom when it has none | (nu,), or one for each step |
    | dt | time of each row [s] | |
    | limits | the largest |u|, or a pair of the lowest and highest, each a number or (nu,) | |

    The last row of each holds for further steps.
    """

    gains: Any
    q: Any
    p: Any
    forces: Any
    _: KW_ONLY
    dt: float
    limits: Any = None

    def add_to(self, laws: Any, model: Model, at: slice | None) -> None:
        if at is not None:
            raise ModelError("StateFeedback gives all forces; give it by itself or in a list, not under a name")
        place, nv = all_forces(model), model.nv
        nu = place.stop - place.start
        rows: dict[str, Array] = {}
        for name, shape in (("gains", (nu, 2 * nv)), ("q", (model.nq,)), ("p", (nv,)), ("forces", (nu,))):
            array = array_or_empty(getattr(self, name))
            if array.shape[-len(shape) :] != shape or array.ndim > len(shape) + 1 or not np.all(np.isfinite(array)):
                raise ModelError(
                    f"{name} of StateFeedback have shape {array.shape}; give {shape}, or one for each step"
                )
            rows[name] = np.ascontiguousarray(array)
        check_seconds("dt", self.dt)
        low, high = _limits(self.limits, nu)
        laws.add_feedback(place=place.start, low=low, high=high, dt=float(self.dt), **rows)


Controller = Table | PID | StateFeedback


def all_forces(model: Model) -> slice:
    """Where those stand that an array of forces gives, among generalized forces and inputs behind them."""
    count = len(model.inputs)
    return slice(model.nv, model.nv + count) if count else slice(0, model.nv)


def _plain_coordinate(model: Model, name: str) -> tuple[int, int]:
    """Indices of a coordinate in q and of its velocity in v."""
    for place in model.joints.values():
        if name in model.coordinates[place.q]:
            if place.joint.nq != place.joint.nv:
                raise ModelError(
                    f"{name!r} is part of a quaternion, which no PD or PID can control; give StateFeedback"
                )
            q = place.q_start + model.coordinates[place.q].index(name)
            return q, place.v_start + q - place.q_start
    raise ModelError(unknown_coordinate(model, name, [*model.coordinates]))


def _one_number(what: str, value: Any) -> None:
    if array_or_empty(value).shape != () or not np.isfinite(value):
        raise ModelError(f"{what} is {shown(value)}; give a number")


def _limits(given: Any, count: int) -> tuple[Array, Array]:
    """Lowest and highest forces, (count,) each."""
    if given is None:
        given = (-np.inf, np.inf)
    elif is_positive(given):
        given = (-given, given)
    try:
        low, high = (np.array(np.broadcast_to(array_or_empty(x), (count,))) for x in given)
    except (TypeError, ValueError):
        low, high = np.ones(count), np.zeros(count)
    if np.any(np.isnan(low)) or np.any(np.isnan(high)) or not np.all(low <= high):
        raise ModelError(f"limits are {shown(given)}; give the largest size, or a pair of the lowest and highest")
    return low, high
