"""Numbers and functions from users: what counts as one."""

import inspect
import re
from collections.abc import Callable
from typing import Any

import numpy as np

from symplectree.errors import ModelError
from symplectree.lie import Array

# Files, terminals and other programs cannot have these: zero bytes, and halves of characters.
NO_CHARACTERS = re.compile("[\0\ud800-\udfff]")
MOST_STEPS = 2**31 - 1  # of one call
LARGEST = 10**300  # of whole numbers, which may be larger than any float
NO_NUMBERS = (str, bytes, bool, np.bool_, complex, type(None))


def real_array(value: Any) -> Array:
    """A new array of floats; raises TypeError for texts, truth values, complex numbers, None and ragged rows."""
    try:
        array = np.array(value)
        if array.dtype.kind == "O" and not any(isinstance(item, NO_NUMBERS) for item in array.flat):
            array = array.astype(float)  # fractions, decimals and the like
    except (TypeError, ValueError, OverflowError):
        raise TypeError(f"{value!r} are no real numbers") from None
    if array.dtype.kind not in "iuf":
        raise TypeError(f"{value!r} are no real numbers")
    return array.astype(float, copy=False)


def array_or_empty(value: Any) -> Array:
    """The same, but an array without entries where `real_array` raises TypeError."""
    try:
        return real_array(value)
    except TypeError:
        return np.zeros(0)


def is_positive(value: Any) -> bool:
    """Is it one finite real number above zero?"""
    real = isinstance(value, float | int | np.floating | np.integer) and not isinstance(value, bool)
    return real and bool(0 < value < np.inf) and (not isinstance(value, int) or value < LARGEST)


def is_fraction(value: Any) -> bool:
    """Is it one real number from 0 to 1?"""
    return isinstance(value, float | int) and not isinstance(value, bool) and bool(0 <= value <= 1)


def required_dt(dt: float | None, function: str) -> float:
    """dt, where Python cannot ask for it by itself because it follows an optional argument; TypeError without."""
    if dt is None:
        raise TypeError(f"{function}() needs dt, the length of a step in seconds: give it, such as dt=0.01")
    return dt


def check_seconds(name: str, value: Any) -> None:
    """Raise ModelError unless it is a time above zero."""
    if not is_positive(value):
        raise ModelError(f"{name} is {shown(value)}; give a positive number of seconds")


def check_name(what: str, name: str) -> None:
    """Raise ModelError for a name that no file could hold."""
    if found := NO_CHARACTERS.search(name):
        raise ModelError(
            f"the name {name!r} of a {what} holds the character U+{ord(found[0]):04X}, which files cannot hold; rename it"
        )


def check_steps(name: str, value: Any, least: int = 1) -> None:
    """Raise ModelError unless it is a number of steps that the core can count."""
    if not isinstance(value, int | np.integer) or isinstance(value, bool) or not least <= value <= MOST_STEPS:
        raise ModelError(
            f"{name} is {shown(value)}; give a whole number of steps, {least} or more, at most {MOST_STEPS}"
        )


def check_takes(function: Callable[..., Any], what: str, *names: str) -> None:
    """Raise ModelError unless the function can be called with so many arguments; `names` are what these are."""
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):  # some built-in functions do not say
        return
    try:
        signature.bind(*names)
    except TypeError:
        has = f"takes {signature}".replace("takes ()", "takes no argument")
        raise ModelError(f"{what} {has}; it is called with ({', '.join(names)}): give a function of these") from None


def counted(number: int, one: str, many: str = "") -> str:
    """So many of something, in words: "1 input", "2 inputs"."""
    return f"{number} {one if number == 1 else many or one + 's'}"


def shown(value: Any) -> str:
    """The value as an error message quotes it: on one line, cut when long."""
    text = " ".join(repr(value).split())
    return text if len(text) <= 80 else text[:77] + "..."
