"""Checks of what methods say of their solver."""

from typing import Any

from symplectree.errors import ModelError
from symplectree.validation import is_positive


def check_solving(method: Any) -> None:
    """Raise ModelError when a method's tol, max_iterations or substeps cannot be used."""
    if method.tol is not None and not (is_positive(method.tol) and method.tol < 1):
        raise ModelError(f"tol is {method.tol!r}; give a number between 0 and 1")
    for name, least, most in (("max_iterations", 1, 10000), ("substeps", 0, 30)):
        value = getattr(method, name)
        if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
            raise ModelError(f"{name} is {value!r}; give a whole number from {least} to {most}")
