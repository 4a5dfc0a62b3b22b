"""Compiled code on disk, by the digest of what it was made from.

Files lie in $SYMPLECTREE_CACHE, else in the user's cache folder, and are written in one go, so that programs running
side by side do no harm. What cannot be read, is damaged, or lies in a folder that others may write to, is not used.
"""

import contextlib
import hashlib
import os
import stat
import sys
import tempfile
from pathlib import Path


def folder() -> Path:
    """Where compiled code is stored."""
    given = os.environ.get("SYMPLECTREE_CACHE")
    if given:
        return Path(given)
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", Path.home() / "AppData" / "Local")) / "symplectree" / "cache"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "symplectree"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "symplectree"


def read(key: str) -> bytes | None:
    """The code of a key, or None."""
    path = folder() / f"{key}.o"
    try:
        if not _own(path.parent):
            return None
        data = path.read_bytes()
    except (OSError, RuntimeError):
        return None
    digest, code = data[:32], data[32:]
    return code if hashlib.sha256(code).digest() == digest else None


def write(key: str, code: bytes) -> None:
    """Store the code of a key; a folder that cannot be written to is no error."""
    with contextlib.suppress(OSError, RuntimeError):
        directory = folder()
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not _own(directory):
            return
        handle, name = tempfile.mkstemp(dir=directory, prefix=".new-")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(hashlib.sha256(code).digest() + code)
            os.replace(name, directory / f"{key}.o")
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(name)
            raise


def _own(directory: Path) -> bool:
    """Does the folder belong to this user, and can only they write to it?"""
    if not hasattr(os, "getuid"):
        return True
    status = directory.stat()
    return status.st_uid == os.getuid() and not status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
