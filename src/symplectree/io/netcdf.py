"""Records as netCDF4 files, which are HDF5 files that netCDF tools understand."""

import os
import re
from pathlib import Path
from typing import Any

import numpy as np

from symplectree.errors import ResultError
from symplectree.io.record import Record, Variable, describing

MAGIC = b"\x89HDF\r\n\x1a\n"


def write(record: Record, path: Path) -> None:
    """Write a new file; raises OSError."""
    import h5netcdf  # slow to import
    import h5py

    _reserve(path, record)
    with h5netcdf.File(path, "w") as file:
        file.attrs.update(record.attributes)
        for name, variable in record.variables.items():
            is_text = isinstance(variable.values, str | list)
            values = np.asarray(variable.values, dtype=object if is_text else None)
            for dimension, size in zip(variable.dimensions, values.shape, strict=True):
                if dimension not in file.dimensions:
                    file.dimensions[dimension] = size
            dtype = h5py.string_dtype() if is_text else values.dtype
            made = file.create_variable(name, variable.dimensions, dtype)
            made[...] = str(variable.values) if isinstance(variable.values, str) else values
            made.attrs.update(describing(name, variable))


def _reserve(path: Path, record: Record) -> None:
    """Raise OSError when the disk is full, before HDF5 finds out half-way."""
    size = 2**16 + sum(v.values.nbytes for v in record.variables.values() if isinstance(v.values, np.ndarray))
    with open(path, "wb") as file:
        if hasattr(os, "posix_fallocate"):
            os.posix_fallocate(file.fileno(), 0, size)


def read(path: Path) -> Record:
    """The record in a file; raises ResultError."""
    import h5netcdf  # slow to import
    import h5py

    try:
        with h5py.File(path, "r") as raw:  # what is damaged shows here; h5netcdf would complain on closing, too
            heads = [raw.attrs, *(raw[name].attrs for name in raw)]
            for head in heads:
                dict(head)
        with h5netcdf.File(path, "r", decode_vlen_strings=True) as file:
            attributes = {name: _plain(value) for name, value in file.attrs.items()}
            if "symplectree" not in attributes:
                return Record({name: Variable((), ()) for name in file.variables}, {})
            variables = {name: _variable(variable) for name, variable in file.variables.items()}
    except (OSError, RuntimeError, KeyError, ValueError, TypeError, AttributeError) as error:
        raise ResultError(f"{path} is {_damage(path, error)}") from error
    return Record(variables, attributes)


def _variable(variable: Any) -> Variable:
    values = variable[...]
    if variable.dtype == str or values.dtype == object:
        texts = values.item() if values.ndim == 0 else [str(v) for v in values]
        return Variable(variable.dimensions, texts)
    return Variable(variable.dimensions, values, str(variable.attrs.get("units", "")))


def _plain(value: Any) -> Any:
    return (
        value.item() if isinstance(value, np.generic) or (isinstance(value, np.ndarray) and value.size == 1) else value
    )


def _damage(path: Path, error: Exception) -> str:
    size = re.search(r"stored_eof = (\d+)", str(error))
    if size:
        return f"cut short: it has {path.stat().st_size} of {size[1]} bytes; copy it again, or make the run again"
    return f"damaged: HDF5 says {str(error.args[-1] if error.args else error)!r}"
