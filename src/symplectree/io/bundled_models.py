"""Models that come with the package."""

from importlib import resources
from pathlib import Path
from typing import Any

from symplectree.errors import ModelError


def folder() -> Any:
    """Where they are: in the installed package, else in the repository that this is run from."""
    installed = resources.files("symplectree") / "models"
    return installed if installed.is_dir() else Path(__file__).parents[3] / "models"


def names() -> list[str]:
    """Their names, as `text` takes them."""
    found = folder()
    return sorted(f.name.removesuffix(".sexp") for f in found.iterdir() if f.name.endswith(".sexp"))


def text(name: str) -> str:
    """The text of a model; raises ModelError for one that is not there."""
    if name not in names():
        raise ModelError(no_such(name))
    written: str = (folder() / f"{name}.sexp").read_text(encoding="utf-8")
    return written


def no_such(name: str) -> str:
    """A sentence that says so, with all names that there are, the nearest first."""
    import difflib

    near = difflib.get_close_matches(name, names(), n=2)
    hint = f"did you mean {' or '.join(map(repr, near))}? All are" if near else "there are"
    return f"no shipped model is named {name!r}; {hint} {', '.join(names())}"
