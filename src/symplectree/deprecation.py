"""Old names that still work: each says once per call what it is called now, and goes with the next release."""

import warnings


def warn_renamed(old: str, new: str, *, stacklevel: int = 3) -> None:
    """Warn whoever called the function (or read the property) that calls this; `stacklevel` counts from here."""
    warnings.warn(f"{old} is now called {new}; the next release drops the old name", DeprecationWarning, stacklevel)
