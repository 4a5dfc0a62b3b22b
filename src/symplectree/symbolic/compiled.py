"""Equations as a callable on arrays."""

import ctypes
from collections.abc import Mapping
from typing import Any, Literal

import numpy as np

from symplectree.dynamics.arguments import inputs_vector
from symplectree.errors import ModelError
from symplectree.lie import Array
from symplectree.mechanism.model import Model
from symplectree.symbolic import llvm
from symplectree.symbolic.native_code import native_code
from symplectree.validation import real_array, shown

Backend = Literal["llvm", "casadi"]


class Compiled:
    """f(q, v, a | tau, *, inputs=None, parameters=None) of vectors, or of rows (..., n) for many states at once.

    `inputs` are by name or a vector, zero when left out; `parameters` a vector in the order of
    `Equations.parameter_names`, or by name, those of the model when left out. `backend` is what executes: "llvm" or
    "casadi"; `seconds` what compiling took (0 from the cache).
    """

    def __init__(
        self, function: Any, model: Model, names: tuple[str, ...], values: Array, backend: Backend | None
    ) -> None:
        if backend not in (None, "llvm", "casadi"):
            raise ModelError(f"backend is {backend!r}; give 'llvm', 'casadi' or None")
        self._function, self._model, self._names, self._values = function, model, names, values
        self.name: str = function.name()
        self.arguments: tuple[str, ...] = tuple(function.name_in())[:-2]
        self._sizes = [function.numel_in(i) for i in range(function.n_in())]
        self._shape = (model.nv, model.nv) if self.name == "mass_matrix" else (model.nv,)
        self.backend: Backend = backend or ("llvm" if llvm.available() else "casadi")
        self.seconds = 0.0
        if self.backend == "llvm":
            self._load()

    def _load(self) -> None:
        function = self._function

        def build(module: Any) -> None:
            llvm.emit(module, "row", function)
            llvm.emit_rows(module, "rows", "row", self._sizes, function.numel_out(0))

        code = native_code(("equations", function.serialize()), ["rows"], build)
        self._code, self.seconds = code, code.seconds
        self._rows = ctypes.CFUNCTYPE(None, ctypes.c_int64, *[ctypes.c_void_p] * 4)(code.address("rows"))

    def __call__(self, *arguments: Any, inputs: Any = None, parameters: Any = None) -> Array:
        if len(arguments) != len(self.arguments):
            raise ModelError(f"{self.name} takes {', '.join(self.arguments)}; {len(arguments)} were given")
        given = [self._rows_of(name, x, n) for name, x, n in zip(self.arguments, arguments, self._sizes, strict=False)]
        shape = np.broadcast_shapes(*(x.shape[:-1] for x in given))
        given = [np.ascontiguousarray(np.broadcast_to(x, (*shape, x.shape[-1]))) for x in given]
        u = np.zeros(len(self._model.inputs)) if inputs is None else inputs_vector(self._model, inputs)
        given += [np.ascontiguousarray(u, dtype=float), self._parameter_vector(parameters)]
        count = int(np.prod(shape))
        out = np.empty((count, int(np.prod(self._shape))))
        if self.backend == "llvm":
            self._run(given, count, out)
        else:
            for k in range(count):
                row = [x if x.ndim == 1 else x.reshape(count, x.shape[-1])[k] for x in given]
                out[k] = self._function(*row).full().ravel()
        return out.reshape(*shape, *self._shape)

    def _run(self, given: list[Array], count: int, out: Array) -> None:
        many = len(given)
        pointers = (ctypes.c_void_p * many)(*(x.ctypes.data for x in given))
        last = len(self.arguments)
        steps = (ctypes.c_int64 * many)(*(self._sizes[i] if i < last else 0 for i in range(many)))
        work = np.empty(max(self._function.sz_w(), 1))
        self._rows(count, ctypes.addressof(pointers), ctypes.addressof(steps), out.ctypes.data, work.ctypes.data)

    def _rows_of(self, name: str, value: Any, size: int) -> Array:
        try:
            array = np.asarray(real_array(value), dtype=float)
        except TypeError:
            array = np.zeros(())
        if array.ndim == 0 or array.shape[-1] != size:
            raise ModelError(f"{name} is {shown(value)}; give {size} numbers, or rows of {size}")
        return array

    def _parameter_vector(self, given: Any) -> Array:
        values = self._values.copy()
        if given is None:
            return values
        if isinstance(given, Mapping):
            for name, value in given.items():
                if name not in self._names:
                    raise ModelError(f"no parameter is named {name!r}; there are {', '.join(self._names) or 'none'}")
                values[self._names.index(name)] = float(value)
            return values
        vector = self._rows_of("parameters", given, len(values))
        if vector.ndim != 1:
            raise ModelError(f"parameters have shape {vector.shape}; give one vector of {len(values)} numbers")
        return np.ascontiguousarray(vector)
