"""Files that users ask for: refused before the work is done when they cannot be, and replaced only by whole ones."""

import contextlib
import errno
import glob
import os
import secrets
import socket
import time
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from symplectree.errors import ResultError

LONGEST = 60  # characters of a file's name in that of its temporary one
ABANDONED = 86400.0  # s since it was last written to


def checked_path(path: Any, endings: tuple[str, ...]) -> Path:
    """The path, when a file with one of the endings can be written there; raises ResultError before any work is done."""
    try:
        file = Path(path).expanduser()
    except (TypeError, RuntimeError) as error:
        raise ResultError(f"{path!r} is no path of a file: {error}") from None
    if file.suffix.lower() not in endings:
        known = f"{'one of ' * (len(endings) > 1)}{', '.join(endings)}"
        raise ResultError(f"{file}: the ending tells the format; give {known}")
    try:
        os.lstat(os.fspath(file.parent))
        with contextlib.suppress(FileNotFoundError):
            os.lstat(os.fspath(file))
        missing, is_folder = not file.parent.is_dir(), file.is_dir()
    except FileNotFoundError:
        missing, is_folder = True, False
    except (OSError, ValueError) as error:  # too long a name, or one that no file can have
        raise ResultError(f"{str(file)[:LONGEST]!r} cannot be written: {reason(error)}") from None
    if missing:
        raise ResultError(f"{file} cannot be written: there is no folder {str(file.parent)!r}; make it first")
    if is_folder:
        raise ResultError(f"{file} cannot be written: it is a folder")
    if not os.access(file.parent, os.W_OK):
        raise ResultError(f"{file} cannot be written: nothing may be written to its folder; give another one")
    return file


def replacing(file: Path, write: Callable[[Path], Any]) -> None:
    """Write a file under a temporary name beside it, then give it its name; raises ResultError, and all is as before.

    The temporary file is new and this user's own, whatever lies in the folder, so that several programs may write the same
    file: the last one's remains.
    """
    new: Path | None = None
    try:
        new = _new_beside(file)
        write(new)
        with open(new, "rb+") as written:
            os.fsync(written.fileno())
        os.replace(new, file)
    except ResultError:
        raise
    except (OSError, RuntimeError) as error:
        raise ResultError(f"{file} cannot be written: {reason(error)}; nothing was changed") from error
    finally:
        if new is not None:
            with contextlib.suppress(OSError):
                new.unlink()


def _new_beside(file: Path) -> Path:
    """An empty file with the same ending that nobody else has; those that killed programs left are removed."""
    head = f".{file.stem[:LONGEST]}."
    for left in file.parent.glob(f"{glob.escape(head)}*.tmp{glob.escape(file.suffix)}"):
        with contextlib.suppress(OSError):
            if _is_abandoned(left, left.name.removeprefix(head).split(".")[0]):
                left.unlink()
    new = file.with_name(f"{head}{_machine()}-{os.getpid()}-{secrets.token_hex(8)}.tmp{file.suffix}")
    os.close(os.open(new, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))
    return new


def _machine() -> str:
    return f"{zlib.crc32(socket.gethostname().encode()):08x}"


def _is_abandoned(left: Path, tag: str) -> bool:
    """Has the program that wrote this temporary file ended? On other machines, after a day."""
    machine, _, process = tag.partition("-")
    number = process.partition("-")[0]
    if os.name == "posix" and machine == _machine() and number.isdigit():
        try:
            os.kill(int(number), 0)
        except (ProcessLookupError, OverflowError):
            return True
        except PermissionError:
            return False
    return time.time() - left.lstat().st_mtime > ABANDONED


def reason(error: BaseException) -> str:
    """Why writing failed, in a few words."""
    number = getattr(error, "errno", None)
    if number == errno.ENOSPC or "No space left" in str(error):
        return "the disk is full"
    return os.strerror(number) if number else str(error)
