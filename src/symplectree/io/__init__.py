"""Models and results as files. Each format has its own file here, imported when it is asked for."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from symplectree.errors import ModelError

if TYPE_CHECKING:
    from symplectree.mechanism import Mechanism, Model
    from symplectree.trajectory import Trajectory

NOT_YET = {".urdf": "URDF", ".xml": "MJCF"}


def load(path: str | os.PathLike[str]) -> Mechanism:
    """The mechanism described by a file, whose format its suffix tells: `.sexp` (see `symplectree.io.sexpr`).

    Raises ModelSyntaxError with line and column where the text is wrong, ModelError when there is no such file or the
    format is not known.
    """
    from symplectree.io import sexpr
    from symplectree.io.reader import decoded

    file = Path(path)
    suffix = file.suffix.lower()
    if suffix in NOT_YET:
        raise ModelError(f"{path}: {NOT_YET[suffix]} cannot be read yet; give a .sexp file")
    if suffix != ".sexp":
        raise ModelError(f"{path}: {f'suffix {suffix!r} is not known' if suffix else 'no suffix'}; give a .sexp file")
    try:
        data = file.read_bytes()
    except OSError as error:
        raise ModelError(f"{path} cannot be read: {error.strerror or error}{_neighbour(file)}") from error
    return sexpr.read(decoded(data, str(path)), str(path))


def loads(text: str, format: str = "sexp") -> Mechanism:
    """The mechanism described by a text; see `load`. Errors show the file as `<text>`."""
    from symplectree.io import sexpr

    if format != "sexp":
        raise ModelError(f"format {format!r} is not known; the one that there is: 'sexp'")
    if not isinstance(text, str):
        raise ModelError(f"loads takes a text, not {type(text).__name__}; load takes a path")
    return sexpr.read(text, "<text>")


def load_trajectory(path: str | os.PathLike[str], *, model: Model | None = None) -> Trajectory:
    """The trajectory in a file that `Trajectory.save`, `simulate(..., out=path)` or `symplectree run --out` wrote.

    Of a run that was killed, all but its last few seconds. The model is built from the text inside.

    model: whose run it is; needed when that holds functions of Python, which are not saved, and for `.csv`.

    Raises ResultError when the file cannot be read, is cut short or holds something else; ModelError when a model is
    needed, or another one than that.
    """
    from symplectree.io import results

    return results.read(path, model)


def _neighbour(file: Path) -> str:
    """A hint at a file of nearly the same name beside the missing one."""
    import difflib

    try:
        names = [f.name for f in file.parent.iterdir() if f.suffix.lower() == ".sexp"]
    except OSError:
        return ""
    near = difflib.get_close_matches(file.name, [n for n in names if n != file.name], n=1)
    return f"; did you mean {str(file.with_name(near[0]))!r}?" if near else ""
