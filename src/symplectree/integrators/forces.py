"""Forces that users apply during a run, in all the forms that they may have.

One word for one thing, in all signatures:

| word | meaning | where |
| --- | --- | --- |
| `forces` | what a user applies: numbers for the inputs, or on coordinates | runs, `linearize`, `control` |
| `inputs` | the model's named inputs, `model.inputs`, and their values | `dynamics`, `constraints` |
| `tau` | generalized forces (nv,) besides all elements | `forward_dynamics`, `constrained_dynamics` |
| u, controls | what an optimiser moves: forces, and rates of prescribed coordinates if asked for | `control`, `interop` |
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from symplectree.errors import ModelError
from symplectree.integrators.activation import start_activations
from symplectree.integrators.controllers import Controller
from symplectree.lie import Array
from symplectree.mechanism.mixed_up import check_model
from symplectree.mechanism.model import Model, unknown_coordinate
from symplectree.validation import check_takes, counted, real_array, shown


class ForceSource:
    """Rows of generalized forces `tau` and of `inputs`: one row for the whole run, or one per step.

    `forces` is None; an array of numbers for the model's inputs (for all nv velocities when it has none), or one
    such row per step; a mapping from names of inputs, coordinates or joints to numbers, to one row of these per step, to
    controllers, or to functions of (t) or (t, q, v); controllers, one or a list (see `controllers.py`); or a function of
    (t, q, v) that returns an array or a mapping of numbers, called wherever the method needs forces; it may return an empty
    mapping, but not None, which a function does whose `return` was forgotten.

    activation: of the model's activations at the start, as `simulate` takes them.
    """

    def __init__(self, model: Model, forces: Any, steps: int | None = None, activation: Any = None) -> None:
        check_model(model)
        self.model = model
        self.names = model.inputs or model.velocities
        self.function: Callable[[float, Array, Array], Any] | None = None
        self.laws: Any = None  # of controllers, in the core
        self.tau = np.zeros((1, model.nv))
        self.inputs = np.zeros((1, len(model.inputs)))
        self.activation = start_activations(model, activation)
        self._begun = -1  # the step that laws have begun
        self._native: Any = None  # the one row, as the core takes it
        if forces is None:
            return
        if callable(forces):
            check_takes(forces, "the force function", "t", "q", "v")
            self.function = forces
        elif isinstance(forces, Controller) or (isinstance(forces, list | tuple) and _has_controller(forces)):
            self._add_controllers(forces if isinstance(forces, list | tuple) else [forces], steps)
        elif isinstance(forces, Mapping) and any(callable(value) for value in forces.values()):
            self.function = self._by_functions(forces)
        elif isinstance(forces, Mapping) and _has_controller(forces.values()):
            self._add_controllers([forces], steps)
        else:
            self._set_rows(forces, steps)

    @property
    def is_fixed(self) -> bool:
        """Are these numbers, known before the run?"""
        return self.function is None and self.laws is None

    @property
    def varies(self) -> bool:
        """Do they follow time and state within a step?"""
        return self.function is not None or (self.laws is not None and self.laws.varies)

    def rows(self, first: int, steps: int) -> tuple[Array, Array]:
        """The rows of steps first … first + steps − 1, or the one row that serves them all."""
        return tuple(a if len(a) == 1 else a[first : first + steps] for a in (self.tau, self.inputs))  # type: ignore[return-value]

    def native_rows(self, first: int, steps: int) -> Any:
        """These rows, or the function, as the core takes them."""
        import symplectree._core as core

        if len(self.tau) == 1 and self._native is not None:
            return self._native
        tau, inputs = self.rows(first, steps)
        given = self._returned if self.function is not None else None
        rows = core.ForceRows(
            tau=tau, inputs=inputs, function=self.function, set=given, laws=self.laws, nq=self.model.nq
        )
        if given is None:  # else each would keep the other alive
            self._native = rows
        return rows

    def at(self, t: float, step: int, q: Array, v: Array, dt: float) -> tuple[Array, Array]:
        """Generalized forces and inputs at one instant of a step of dt."""
        if self.function is not None:
            self._returned(t, self.function(t, q.copy(), v.copy()))  # the user may keep them
        tau, inputs = (rows[0] for rows in self.rows(step, 1))
        if self.laws is not None:
            tau, inputs = tau.copy(), inputs.copy()
            begins, self._begun = step != self._begun, step
            self.laws.add_to(step=step, t=t, dt=dt, q=q, v=v, tau=tau, inputs=inputs, begins=begins)
        return tau, inputs

    def set(self, forces: Any) -> None:
        """Replace constant forces, as a control loop does from step to step; bad ones change nothing."""
        if callable(forces):
            raise ModelError(f"forces are the function {shown(forces)}; give what it returns for (t, q, v)")
        if forces is None:
            self.tau[:], self.inputs[:] = 0, 0
        else:
            self._set_rows(forces, 1)

    def _returned(self, t: float, given: Any) -> None:
        """Take what the force function gave at time t."""
        if given is None:
            raise ModelError(
                f"the force function gave None at t = {t:.6g} s: has it no return? Give numbers, or a mapping of names to "
                "numbers, {} for no force"
            )
        try:
            self.set(given)
        except ModelError as error:
            raise ModelError(f"the force function at t = {t:.6g} s: {error}") from None

    def _by_functions(self, forces: Mapping[str, Any]) -> Callable[[float, Array, Array], dict[str, Any]]:
        """Functions under names, and numbers beside them, as one function of all."""
        functions: dict[str, Callable[[float, Array, Array], Any]] = {}
        for name, value in forces.items():
            _, part = self.place(name)
            if isinstance(value, Controller):
                raise ModelError(
                    f"force {name!r} is a controller beside functions; give functions of (t, q, v) alone, or controllers "
                    "and numbers"
                )
            if callable(value):
                functions[name] = _of_state(value, f"the function of force {name!r}")
            elif len(_rows(value, f"force {name!r}", part.stop - part.start)) > 1:
                raise ModelError(f"force {name!r} has a row for each step beside functions; give one, or a Table")
        numbers = {name: value for name, value in forces.items() if name not in functions}

        def all_of_them(t: float, q: Array, v: Array) -> dict[str, Any]:
            given = {name: function(t, q, v) for name, function in functions.items()}
            for name, value in given.items():
                if value is None:
                    raise ModelError(f"the function of force {name!r} gave None at t = {t:.6g} s: has it no return?")
            return numbers | given

        return all_of_them

    def _add_controllers(self, forces: Any, steps: int | None) -> None:
        """Of a list of controllers, and of mappings of names to these or to numbers."""
        import symplectree._core as core

        self.laws, numbers = core.ControlLaws(self.model.native), {}
        for each in forces:
            if isinstance(each, Controller):
                each.add_to(self.laws, self.model, None)
                continue
            if not isinstance(each, Mapping):
                raise ModelError(
                    f"forces hold {shown(each)}; give controllers, and mappings of names to these or to numbers"
                )
            for name, value in each.items():
                if isinstance(value, Controller):
                    table, part = self.place(name)
                    behind = self.model.nv if table == "inputs" else 0
                    value.add_to(self.laws, self.model, slice(part.start + behind, part.stop + behind))
                elif name in numbers:
                    raise ModelError(f"force {name!r} is given twice")
                else:
                    numbers[name] = value
        if numbers:
            self._set_names(numbers, steps)

    def _set_rows(self, forces: Any, steps: int | None) -> None:
        if isinstance(forces, Mapping):
            self._set_names(forces, steps)
            return
        array = _numbers(forces, "forces")
        if array.ndim == 0 or array.shape[-1] != len(self.names) or array.ndim > 2:
            listed = ", ".join(self.names[:6]) + (", …" if len(self.names) > 6 else "")
            count, inputs = len(self.names), self.model.inputs
            what = f"{counted(count, 'input') if inputs else counted(count, 'velocity', 'velocities')} ({listed})"
            given = f"{shown(forces)}, one number alone" if array.ndim == 0 else f"numbers of shape {array.shape}"
            raise ModelError(
                f"forces are {given}; the model has {what}: give one number for each, a mapping of names to numbers, or "
                "one row of these per step"
            )
        array = np.atleast_2d(array)
        _check_rows("forces", len(array), steps)
        self._clear(len(array))
        (self.inputs if self.model.inputs else self.tau)[:] = array

    def _set_names(self, forces: Mapping[str, Any], steps: int | None) -> None:
        given = []
        for name, value in forces.items():
            table, part = self.place(name)
            rows = _rows(value, f"force {name!r}", part.stop - part.start)
            _check_rows(f"force {name!r}", len(rows), steps)
            given.append((table, part, rows))
        self._clear(max((len(rows) for _, _, rows in given), default=1))
        for table, part, rows in given:
            getattr(self, table)[:, part] = rows

    def place(self, name: str) -> tuple[str, slice]:
        """Where the force of an input, a coordinate or a joint goes: "inputs" or "tau", and which of its columns."""
        model = self.model
        if name in model.joints and name not in model.inputs:
            return "tau", model.joints[name].v
        for table, names in (("inputs", model.inputs), ("tau", model.velocities)):
            if name in names:
                return table, slice(names.index(name), names.index(name) + 1)
        known = [*model.inputs, *model.joints, *model.velocities]
        raise ModelError(unknown_coordinate(model, name, known, "input or coordinate"))

    def _clear(self, count: int) -> None:
        """So many rows of zeros."""
        self.tau[:], self.inputs[:] = 0, 0
        if count != len(self.tau):
            self.tau = np.zeros((count, self.tau.shape[1]))
            self.inputs = np.zeros((count, self.inputs.shape[1]))
            self._native = None


def _of_state(function: Callable[..., Any], what: str) -> Callable[[float, Array, Array], Any]:
    """The function as one of (t, q, v), which it may be already, or of time alone."""
    try:
        check_takes(function, what, "t", "q", "v")
        return function
    except ModelError:
        try:
            check_takes(function, what, "t")
        except ModelError as error:
            raise ModelError(str(error).replace("called with (t)", "called with (t) or (t, q, v)")) from None
    return lambda t, q, v: function(t)


def _has_controller(values: Iterable[Any]) -> bool:
    return any(isinstance(value, Controller | Mapping) for value in values)


def _rows(value: Any, what: str, width: int) -> Array:
    """Rows (1 or more, width) of a number or column (width 1), or of a vector or matrix."""
    array = _numbers(value, what)
    if width == 1 and array.ndim <= 1:
        return array.reshape(-1, 1)
    if width > 1 and array.ndim in (1, 2) and array.shape[-1] == width:
        return np.atleast_2d(array)
    numbers = "one number" if width == 1 else f"{width} numbers"
    raise ModelError(f"{what} has shape {array.shape}; give {numbers}, or {numbers} per step")


def _check_rows(what: str, count: int, steps: int | None) -> None:
    if steps == 1 and count != 1:
        raise ModelError(f"{what}: {count} rows; give one")
    if count not in (1, steps):
        raise ModelError(f"{what}: {count} rows, but the run has {steps} steps; give one row, or one per step")


def _numbers(value: Any, what: str) -> Array:
    try:
        array = value if type(value) is np.ndarray and value.dtype == np.float64 else real_array(value)
    except TypeError:
        if callable(value):
            raise ModelError(f"{what}: {shown(value)} is a function; give what it returns, numbers") from None
        if isinstance(value, str) or np.ndim(value) == 0:
            raise ModelError(f"{what}: {shown(value)} is no number") from None
        raise ModelError(f"{what}: {shown(value)} are no numbers") from None
    if not np.all(np.isfinite(array)):
        raise ModelError(f"{what}: {shown(value)} holds a value that is not finite")
    return array
