"""Files that users ask for: refused before the work is done when they cannot be, and replaced only by whole ones."""

import contextlib
import errno
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from symplectree.errors import ResultError


def checked_path(path: Any, endings: tuple[str, ...]) -> Path:
    """The path, when a file with one of the endings can be written there; raises ResultError before any work is done."""
    try:
        file = Path(path).expanduser()
    except (TypeError, RuntimeError) as error:
        raise ResultError(f"{path!r} is no path of a file: {error}") from None
    if file.suffix.lower() not in endings:
        known = f"{'one of ' * (len(endings) > 1)}{', '.join(endings)}"
        raise ResultError(f"{file}: the ending tells the format; give {known}")
    if not file.parent.is_dir():
        raise ResultError(f"{file} cannot be written: there is no folder {str(file.parent)!r}; make it first")
    if file.is_dir():
        raise ResultError(f"{file} cannot be written: it is a folder")
    if not os.access(file.parent, os.W_OK):
        raise ResultError(f"{file} cannot be written: nothing may be written to its folder; give another one")
    return file


def replacing(file: Path, write: Callable[[Path], Any]) -> None:
    """Write a file under a temporary name beside it, then give it its name; raises ResultError, and all is as before."""
    new = file.with_name(f".{file.stem}.tmp{file.suffix}")  # one name, so that a killed run leaves no more than one
    try:
        write(new)
        with open(new, "rb+") as written:
            os.fsync(written.fileno())
        os.replace(new, file)
    except ResultError:
        raise
    except (OSError, RuntimeError) as error:
        raise ResultError(f"{file} cannot be written: {reason(error)}; nothing was changed") from error
    finally:
        with contextlib.suppress(OSError):
            new.unlink()


def reason(error: BaseException) -> str:
    """Why writing failed, in a few words."""
    number = getattr(error, "errno", None)
    if number == errno.ENOSPC or "No space left" in str(error):
        return "the disk is full"
    return os.strerror(number) if number else str(error)
