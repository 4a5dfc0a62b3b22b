"""What .npz and .mat files hold beside arrays: attributes, dimensions and units, and a digest of all of it."""

import hashlib
import json
from pathlib import Path

import numpy as np

from symplectree.errors import ResultError
from symplectree.io.record import Record

DIGEST = "digest"  # an attribute


def descriptions(record: Record) -> dict[str, str]:
    """What files hold beside arrays: attributes, and each variable's dimensions and unit, as JSON."""
    shape = {name: [list(v.dimensions), v.unit] for name, v in record.variables.items()}
    return {"attributes": json.dumps(record.attributes | {DIGEST: _digest(record)}), "variables": json.dumps(shape)}


def _digest(record: Record) -> str:
    """SHA-256 of all that a record holds, however its file stores it."""
    digest = hashlib.sha256(json.dumps(record.attributes, sort_keys=True).encode())
    for name, variable in sorted(record.variables.items()):
        values = variable.values
        head = [name, list(variable.dimensions), variable.unit, values if isinstance(values, str | list) else ""]
        digest.update(json.dumps(head).encode())
        if not isinstance(values, str | list):
            numbers = np.asarray(values)
            digest.update(numbers.astype("<f8" if numbers.dtype.kind == "f" else "<i8").tobytes())
    return digest.hexdigest()


def checked(record: Record, path: Path) -> Record:
    """The record, when it has the digest that it was written with, if it was with one; raises ResultError."""
    told = record.attributes.pop(DIGEST, None)
    if told is not None and told != _digest(record):
        raise ResultError(f"{path} is damaged: its numbers are not those that were written; copy it again")
    return record
