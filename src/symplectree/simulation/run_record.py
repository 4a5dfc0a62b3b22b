"""How a run was made, in words that a file can hold, and from where it can go on."""

import ast
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from symplectree import integrators
from symplectree.errors import ModelError
from symplectree.integrators import Method
from symplectree.integrators.prescribed import Prescribed
from symplectree.lie import Array

METHODS = ("Variational", "Reduced", "SemiImplicitEuler", "RK4", "Adaptive")


@dataclass(frozen=True)
class Settings:
    """What `simulate` was asked for.

    | name | meaning |
    | --- | --- |
    | dt, steps, save_every | as for `simulate`; steps is how many the duration holds |
    | method | as text, with its arguments |
    | forces | constant numbers by name of input or coordinate; None when they were a function, or varied |
    | prescribed | constant values by name; None when some were functions or arrays |
    """

    dt: float
    steps: int
    save_every: int
    method: str
    forces: Mapping[str, float] | None = field(default_factory=dict)
    prescribed: Mapping[str, tuple[float, ...]] | None = field(default_factory=dict)


@dataclass(frozen=True)
class Restart:
    """A state from which a run goes on as if it had never stopped: every so many steps it forgets all else.

    x: velocities or momenta, as the method's runs keep them.
    activation: of `model.activations`.
    recorded: what the method recorded (iterations, multipliers, …) of the row that this step lies in, by name; empty at
        the start.
    """

    step: int
    q: Array
    x: Array
    recorded: Mapping[str, Array]
    activation: Array = field(default_factory=lambda: np.zeros(0))


def method_from_text(text: str) -> Method:
    """The method that `repr` wrote; raises ModelError for others. Nothing is evaluated but numbers and texts."""
    try:
        call = ast.parse(text, mode="eval").body
        if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and not call.args):
            raise ValueError
        if call.func.id not in METHODS:
            raise ValueError
        arguments = {str(k.arg): ast.literal_eval(k.value) for k in call.keywords}
        method: Method = getattr(integrators, call.func.id)(**arguments)
    except (SyntaxError, ValueError, TypeError, RecursionError):
        raise ModelError(f"the method {text} is none of {', '.join(METHODS)}; give it with method=") from None
    return method


def is_method(method: Method, text: str) -> bool:
    """Is it the one that `repr` wrote?"""
    try:
        return method_from_text(text) == method
    except ModelError:  # of the user's own; objects that do not say what they are tell where they lie
        one, other = (re.sub(r" at 0x[0-9a-fA-F]+", "", t) for t in (text, repr(method)))
        return one == other


def constant_forces(source: Any) -> dict[str, float] | None:
    """Forces of a ForceSource by name, when they are the same throughout."""
    if not source.is_fixed or len(source.tau) > 1:
        return None
    tables = ((source.model.inputs, source.inputs[0]), (source.model.velocities, source.tau[0]))
    return {name: float(value) for names, row in tables for name, value in zip(names, row, strict=True) if value != 0}


def constant_motions(given: Mapping[str, Any] | None, motion: Prescribed) -> dict[str, tuple[float, ...]] | None:
    """Prescribed coordinates that are held, by name; None when there are others."""
    if not motion.is_held:
        return None
    return {name: tuple(float(x) for x in np.ravel(value)) for name, value in (given or {}).items()}
