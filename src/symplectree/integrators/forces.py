"""Forces that users apply during a run, in all the forms that they may have.

One word for one thing, in all signatures:

| word | meaning | where |
| --- | --- | --- |
| `forces` | what a user applies: numbers for the inputs, or on coordinates | runs, `linearize`, `control` |
| `inputs` | the model's named inputs, `model.inputs`, and their values | `dynamics`, `constraints` |
| `tau` | generalized forces (nv,) besides all elements | `forward_dynamics`, `constrained_dynamics` |
| u, controls | what an optimiser moves: forces, and rates of prescribed coordinates if asked for | `control`, `interop` |
"""

from collections.abc import Callable, Mapping
from typing import Any
from weakref import ref

import numpy as np

from symplectree.errors import ModelError
from symplectree.lie import Array
from symplectree.mechanism.model import Model, unknown_coordinate
from symplectree.validation import check_takes, counted, real_array, shown


class ForceSource:
    """Rows of generalized forces `tau` and of `inputs`: one row for the whole run, or one per step.

    `forces` is None; an array of numbers for the model's inputs (for all nv velocities when it has none), or one
    such row per step; a mapping from names of inputs, coordinates or joints to numbers, or to one row of these per step;
    or a function of (t, q, v) that returns an array or a mapping, called wherever the method needs forces; it may return
    an empty mapping, but not None, which a function does whose `return` was forgotten.
    """

    def __init__(self, model: Model, forces: Any, steps: int | None = None) -> None:
        self.model = model
        self.names = model.inputs or model.velocities
        self.function: Callable[[float], None] | None = None
        self.tau = np.zeros((1, model.nv))
        self.inputs = np.zeros((1, len(model.inputs)))
        self.q, self.v = np.zeros(model.nq), np.zeros(model.nv)
        self._native: Any = None  # the one row, as the core takes it
        if forces is None:
            return
        if callable(forces):
            check_takes(forces, "the force function", "t", "q", "v")
            self.function = _called(ref(self), forces)
            return
        self._set_rows(forces, steps)

    def rows(self, first: int, steps: int) -> tuple[Array, Array]:
        """The rows of steps first … first + steps − 1, or the one row that serves them all."""
        return tuple(a if len(a) == 1 else a[first : first + steps] for a in (self.tau, self.inputs))  # type: ignore[return-value]

    def native_rows(self, first: int, steps: int) -> Any:
        """These rows, or the function, as the core takes them."""
        import symplectree._core as core

        if len(self.tau) == 1 and self._native is not None:
            return self._native
        tau, inputs = self.rows(first, steps)
        self._native = core.ForceRows(tau=tau, inputs=inputs, function=self.function, q=self.q, v=self.v)
        return self._native

    def at(self, t: float, step: int, q: Array, v: Array) -> tuple[Array, Array]:
        """Generalized forces and inputs at one instant."""
        if self.function is not None:
            self.q[:], self.v[:] = q, v
            self.function(t)
        tau, inputs = self.rows(step, 1)
        return tau[0], inputs[0]

    def set(self, forces: Any) -> None:
        """Replace constant forces, as a control loop does from step to step."""
        self.tau[:], self.inputs[:] = 0, 0
        if callable(forces):
            raise ModelError(f"forces are the function {shown(forces)}; give what it returns for (t, q, v)")
        if forces is not None:
            self._set_rows(forces, 1)

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
        self._resize(len(array))
        (self.inputs if self.model.inputs else self.tau)[:] = array

    def _set_names(self, forces: Mapping[str, Any], steps: int | None) -> None:
        given = []
        for name, value in forces.items():
            table, part = self._place(name)
            rows = _rows(value, f"force {name!r}", part.stop - part.start)
            _check_rows(f"force {name!r}", len(rows), steps)
            given.append((table, part, rows))
        self._resize(max((len(rows) for _, _, rows in given), default=1))
        for table, part, rows in given:
            getattr(self, table)[:, part] = rows

    def _place(self, name: str) -> tuple[str, slice]:
        """Where the force of an input, a coordinate or a joint goes: "inputs" or "tau", and which of its columns."""
        model = self.model
        if name in model.joints and name not in model.inputs:
            return "tau", model.joints[name].v
        for table, names in (("inputs", model.inputs), ("tau", model.velocities)):
            if name in names:
                return table, slice(names.index(name), names.index(name) + 1)
        known = [*model.inputs, *model.joints, *model.velocities]
        raise ModelError(unknown_coordinate(model, name, known, "input or coordinate"))

    def _resize(self, count: int) -> None:
        if count != len(self.tau):
            self.tau = np.zeros((count, self.tau.shape[1]))
            self.inputs = np.zeros((count, self.inputs.shape[1]))
            self._native = None


def _called(source: "ref[ForceSource]", forces: Callable[[float, Array, Array], Any]) -> Callable[[float], None]:
    """The user's function as the core calls it. The core cannot say what it holds, so that a strong reference to the
    source, which holds what the core made of it, would keep both for ever."""

    def function(t: float) -> None:
        here = source()
        assert here is not None  # a run holds it
        given = forces(t, here.q.copy(), here.v.copy())  # the user may keep them
        if given is None:
            raise ModelError(
                f"the force function gave None at t = {t:.6g} s: has it no return? Give numbers, or a mapping of names to "
                "numbers, {} for no force"
            )
        try:
            here.set(given)
        except ModelError as error:
            raise ModelError(f"the force function at t = {t:.6g} s: {error}") from None

    return function


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
        raise ModelError(
            f"{what}: {shown(value)} are no numbers; give numbers, a mapping of names to numbers, or a function"
        ) from None
    if not np.all(np.isfinite(array)):
        raise ModelError(f"{what}: {shown(value)} holds a value that is not finite")
    return array
