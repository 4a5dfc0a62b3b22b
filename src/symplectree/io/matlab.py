"""Records as .mat files of MATLAB's fifth format.

Such a file begins with a text that MATLAB shows and nothing reads; ours holds the SHA-256 of the rest, by which damage is
found before SciPy, which crashes on some damaged files, reads it.
"""

import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np

from symplectree.errors import ResultError
from symplectree.io.record import Record, Variable
from symplectree.io.record_digest import checked, descriptions
from symplectree.io.trial_reading import check_readable

MAGIC = b"MATLAB 5"
TEXT = 116  # bytes of the text
SEALED = b"MATLAB 5.0 MAT-file, symplectree, SHA-256 "
LARGEST = 2**31 - 1  # bytes of an array


def write(record: Record, path: Path) -> None:
    """Write a new file, in which vectors are columns and lists of names cells; raises OSError and ResultError."""
    from scipy.io import savemat  # slow to import

    arrays: dict[str, Any] = {}
    for name, variable in record.variables.items():
        names = isinstance(variable.values, list)
        arrays[name] = np.array(variable.values, dtype=object) if names else variable.values
        if np.asarray(arrays[name]).nbytes > LARGEST:
            raise ResultError(f"{name} is too large for a .mat file; save as .nc, which MATLAB reads, too")
    with open(path, "wb") as file:
        savemat(file, arrays | descriptions(record), oned_as="column")
    _seal(path)


def read(path: Path) -> Record:
    """The record in a file; raises ResultError."""
    from scipy.io import loadmat  # slow to import

    if not _is_sealed(path):
        check_readable(path, "SciPy")
    try:
        with open(path, "rb") as opened:
            file = loadmat(opened, chars_as_strings=True)
        if "attributes" not in file or "variables" not in file:
            return Record({name: Variable((), ()) for name in file if not name.startswith("__")}, {})
        attributes, shape = (json.loads(str(file[name].item())) for name in ("attributes", "variables"))
        variables = {}
        for name, (dimensions, unit) in shape.items():
            values = file[name]
            if values.dtype.kind == "O":
                values = [str(cell.item()) for cell in values.ravel()]
            elif values.dtype.kind == "U":
                values = str(values.item())
            elif len(dimensions) < 2:
                values = values.ravel() if dimensions else values.reshape(())
            variables[name] = Variable(tuple(dimensions), values, unit)
        return checked(Record(variables, attributes), path)
    except ResultError:
        raise
    except Exception as error:  # scipy raises whatever it stumbles over
        raise ResultError(f"{path} is cut short or damaged: {error}") from error


def _seal(path: Path) -> None:
    with open(path, "rb+") as file:
        digest = _digest(file)
        file.seek(0)
        file.write((SEALED + digest).ljust(TEXT))


def _is_sealed(path: Path) -> bool:
    """Has the file a digest, and the right one? Raises ResultError where that is another, OSError."""
    with open(path, "rb") as file:
        text = file.read(TEXT)
        if not text.startswith(SEALED):
            return False
        if text != (SEALED + _digest(file)).ljust(TEXT):
            raise ResultError(
                f"{path} is damaged: its bytes are not those that were written; copy it again, or make the run again"
            )
    return True


def _digest(file: Any) -> bytes:
    """SHA-256 of what follows the text."""
    file.seek(TEXT)
    return hashlib.file_digest(file, "sha256").hexdigest().encode()
