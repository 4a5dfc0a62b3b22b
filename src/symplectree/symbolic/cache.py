"""Compiled code on disk, by the digest of what it was made from.

Files lie in $SYMPLECTREE_CACHE, else in the user's cache folder, and are written in one go, so that programs running
side by side do no harm. Code of another is not run: the folder, each file and the folders above must be this user's (or
the system's) and not open to others, and each file bears an authentication code (HMAC with SHA-256) of its name and its
content under a random key that only this user can read. What cannot be read, or does not fit, is not used.
"""

import contextlib
import hashlib
import hmac
import os
import secrets
import stat
import sys
import tempfile
from pathlib import Path

DIGEST = 32  # bytes of a code of authentication, and of the key
KEY = "key"
LARGEST = 2**28  # bytes of code


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
    directory = folder()
    try:
        if not _private(directory):
            return None
        data, secret = _own_file(directory / f"{key}.o"), _own_file(directory / KEY)
        told, code = data[:DIGEST], data[DIGEST:]
        return code if hmac.compare_digest(_signature(secret, key, code), told) else None
    except (OSError, RuntimeError):
        return None


def write(key: str, code: bytes) -> None:
    """Store the code of a key; a folder that cannot be written to is no error."""
    with contextlib.suppress(OSError, RuntimeError):
        directory = folder()
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not _private(directory):
            return
        _replace(directory / f"{key}.o", _signature(_secret(directory), key, code) + code)


def _signature(secret: bytes, key: str, code: bytes) -> bytes:
    """Of the code under its name, so that no file can take another's place."""
    if len(secret) != DIGEST:
        raise OSError("the key of the cache is damaged")
    return hmac.digest(secret, key.encode() + b"\0" + code, hashlib.sha256)


def _secret(directory: Path) -> bytes:
    """The key of this user's codes of authentication, made when there is none; raises OSError."""
    path = directory / KEY
    with contextlib.suppress(OSError):
        if len(secret := _own_file(path)) == DIGEST:
            return secret
        path.unlink()
    handle, name = tempfile.mkstemp(dir=directory, prefix=".new-")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(secrets.token_bytes(DIGEST))
        with contextlib.suppress(FileExistsError):  # another program was first
            os.link(name, path)
    finally:
        os.unlink(name)
    return _own_file(path)


def _replace(path: Path, data: bytes) -> None:
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=".new-")  # readable to this user alone
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        os.replace(name, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(name)
        raise


def _own_file(path: Path) -> bytes:
    """What a file holds that is no link, and that belongs to this user alone; raises OSError for others."""
    handle = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
    with os.fdopen(handle, "rb") as file:
        status = os.fstat(handle)
        if not stat.S_ISREG(status.st_mode) or status.st_size > LARGEST or not _is_own(status):
            raise PermissionError(f"{path} is not this user's own file")
        return file.read()


def _is_own(status: os.stat_result) -> bool:
    """Does it belong to this user, and can only they write to it?"""
    if not hasattr(os, "getuid"):
        return True
    return status.st_uid == os.getuid() and not status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)


def _private(directory: Path) -> bool:
    """Is the folder this user's own, and can nobody else put another one in its place?"""
    if not hasattr(os, "getuid"):
        return True
    real = directory.resolve(strict=True)
    return _is_own(real.stat()) and all(_is_safe(above.stat()) for above in real.parents)


def _is_safe(above: os.stat_result) -> bool:
    """Can nobody else rename what this user has in the folder? Where the sticky bit is set, as of /tmp, owners can."""
    if above.st_uid not in (0, os.getuid()):
        return False
    if above.st_mode & stat.S_ISVTX:
        return True
    return not above.st_mode & stat.S_IWOTH and (not above.st_mode & stat.S_IWGRP or _is_own_group(above.st_gid))


def _is_own_group(group: int) -> bool:
    """Is it the group of this user alone, which many systems give each user?"""
    import grp
    import pwd

    try:
        return grp.getgrgid(group).gr_name == pwd.getpwuid(os.getuid()).pw_name
    except KeyError:
        return False
