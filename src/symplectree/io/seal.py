"""The seal at the end of a file: its length and SHA-256, by which damage is found before any library reads the file.

HDF5 ignores what follows the end that a file's own first block states, so that other programs read sealed files as they
do others; a program that adds something to the file removes the seal.
"""

import hashlib
import re
import struct
from pathlib import Path
from typing import BinaryIO

from symplectree.errors import ResultError

PATTERN = re.compile(rb"\nsymplectree seal: SHA-256 ([0-9a-f]{64}) of ([0-9]{20}) bytes\n")
LENGTH = len(b"\nsymplectree seal: SHA-256  of  bytes\n") + 64 + 20
CHUNK = 2**20
# Where HDF5 states the size of its addresses and the end of a file, by version of the first block.
STATED_END = {0: (13, 40), 1: (13, 44), 2: (9, 28), 3: (9, 28)}


def seal(path: Path) -> None:
    """Append the seal; raises OSError."""
    with open(path, "rb+") as file:
        size = file.seek(0, 2)
        digest = _digest(file, size)
        file.seek(size)
        file.write(b"\nsymplectree seal: SHA-256 %s of %020d bytes\n" % (digest.encode(), size))


def is_sealed(path: Path) -> bool:
    """Is the file sealed, and as it was when it was? False where there is no seal; raises ResultError where the file is cut
    short or its bytes are not those that were sealed, OSError where it cannot be read."""
    with open(path, "rb") as file:
        size = file.seek(0, 2)
        content = size - LENGTH
        file.seek(max(content, 0))
        found = PATTERN.fullmatch(file.read())
        if found is None:
            _check_length(path, file, size)
            return False
        if int(found[2]) != content or _digest(file, content) != found[1].decode():
            raise ResultError(
                f"{path} is damaged: its bytes are not those that were written; copy it again, or make the run again"
            )
    return True


def _check_length(path: Path, file: BinaryIO, size: int) -> None:
    """Raise ResultError for HDF5 whose end is not where its first block says."""
    file.seek(0)
    head = file.read(56)
    width, at = STATED_END.get(head[8], (8, 0)) if len(head) == 56 else (8, 0)
    if at == 0 or head[width] != 8:
        return
    (end,) = struct.unpack_from("<Q", head, at)
    if size < end:
        raise ResultError(f"{path} is cut short: it has {size} of {end} bytes; copy it again, or make the run again")
    if size > end:
        raise ResultError(f"{path} is damaged: {size - end} bytes at its end are no seal; copy it again")


def _digest(file: BinaryIO, size: int) -> str:
    """SHA-256 of the first bytes, as text."""
    digest = hashlib.sha256()
    file.seek(0)
    while size > 0 and (chunk := file.read(min(CHUNK, size))):
        digest.update(chunk)
        size -= len(chunk)
    return digest.hexdigest()
