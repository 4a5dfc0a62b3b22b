"""Whether a task is the one with which a sweep was begun: a fingerprint of its code and of the values that it uses."""

from __future__ import annotations

import functools
import hashlib
import sys
import types
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from symplectree.errors import ModelError
from symplectree.mechanism.model import Model


def task_name(task: Any) -> str:
    """What people call it: module and name of a function, or its type, without the module of scripts and notebooks;
    or its `title`."""
    if isinstance(title := getattr(task, "title", None), str):
        return title
    function = task.func if isinstance(task, functools.partial) else task
    named = function if hasattr(function, "__qualname__") else type(function)
    return named.__qualname__ if named.__module__ == "__main__" else f"{named.__module__}.{named.__qualname__}"


def task_digest(task: Any) -> str:
    """The same for the same task in another process or on another day; another one when its code has changed, or a number,
    array or model that it holds or finds in its module. Comments do not count, and neither do modules that it imports."""
    found = hashlib.sha256()
    for part in _parts(task, set()):
        found.update(part.encode() if isinstance(part, str) else part)
        found.update(b"\0")
    return found.hexdigest()


def _parts(value: Any, seen: set[int]) -> Iterator[str | bytes]:
    """Texts and bytes that tell a value."""
    yield type(value).__qualname__
    if value is None or isinstance(value, bool | int | float | complex | str | bytes | range | slice):
        yield repr(value)
    elif isinstance(value, np.ndarray) and value.dtype.kind != "O":
        yield f"{value.dtype}{value.shape}"
        yield np.ascontiguousarray(value).tobytes()
    elif isinstance(value, np.generic):
        yield repr(value.item())
    elif isinstance(value, types.ModuleType):
        yield value.__name__
    elif id(value) in seen:
        return
    else:
        seen.add(id(value))
        yield from _compound(value, seen)


def _compound(value: Any, seen: set[int]) -> Iterator[str | bytes]:
    if isinstance(value, Model):
        yield _model_text(value)
    elif isinstance(value, types.CodeType):
        yield value.co_code
        yield repr((value.co_names, value.co_varnames, value.co_freevars))
        for constant in value.co_consts:
            yield from _parts(constant, seen)
    elif isinstance(value, types.FunctionType):
        yield from _function(value, seen)
    elif isinstance(value, types.MethodType):
        yield from _parts(value.__func__, seen)
        yield from _parts(value.__self__, seen)
    elif isinstance(value, functools.partial):
        yield from _parts((value.func, value.args, value.keywords), seen)
    elif isinstance(value, Mapping):
        for key in value:
            yield from _parts(key, seen)
            yield from _parts(value[key], seen)
    elif isinstance(value, set | frozenset):
        yield repr(sorted(map(repr, value)))
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _parts(item, seen)
    elif isinstance(value, type):
        yield f"{value.__module__}.{value.__qualname__}"
    else:
        yield f"{type(value).__module__}.{type(value).__qualname__}"
        call = vars(type(value)).get("__call__")
        if isinstance(call, types.FunctionType):
            yield from _parts(call, seen)
        names = [f.name for f in fields(value)] if is_dataclass(value) else sorted(getattr(value, "__dict__", {}))
        for name in names:
            yield name
            yield from _parts(getattr(value, name), seen)


def _function(function: Callable[..., Any], seen: set[int]) -> Iterator[str | bytes]:
    """Code, defaults, what it closes over, and what it finds in its own module; functions of other modules by name."""
    plain: Any = function
    module = plain.__module__ or ""
    yield f"{module}.{plain.__qualname__}"
    if module.partition(".")[0] in _LIBRARIES or _installed(module):
        return
    yield from _parts(plain.__code__, seen)
    yield from _parts((plain.__defaults__, plain.__kwdefaults__), seen)
    for cell in plain.__closure__ or ():
        yield from _parts(_content(cell), seen)
    for name in sorted(_global_names(plain.__code__)):
        if name in plain.__globals__:
            yield name
            yield from _parts(plain.__globals__[name], seen)


def _content(cell: Any) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # not bound yet
        return None


def _global_names(code: types.CodeType) -> set[str]:
    """Names that code and the functions inside it look up."""
    inner = (constant for constant in code.co_consts if isinstance(constant, types.CodeType))
    return set(code.co_names).union(*map(_global_names, inner))


_LIBRARIES = frozenset(sys.stdlib_module_names) | {"symplectree", "numpy", "scipy"}


def _installed(module: str) -> bool:
    """Is it a package that was installed, whose code is no part of the study?"""
    file = getattr(sys.modules.get(module), "__file__", None) or ""
    return "site-packages" in file or "dist-packages" in file


def _model_text(model: Model) -> str | bytes:
    """What a model is; where a part of it cannot be written, the numbers of its bodies."""
    try:
        return model.text
    except ModelError:
        arrays = (model.parent, model.kind, model.placement, model.mass, model.com, model.inertia, model.gravity)
        return b"".join(np.ascontiguousarray(array).tobytes() for array in arrays)
