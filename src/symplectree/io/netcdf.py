"""Records as netCDF4 files, which are HDF5 files that netCDF tools understand."""

import os
import re
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from symplectree.errors import ResultError
from symplectree.io import seal
from symplectree.io.record import Record, Variable, describing
from symplectree.io.trial_reading import check_readable

SEALED = "sealed"  # an attribute of files that end with a seal
MAGIC = b"\x89HDF\r\n\x1a\n"
NO_VARIABLE = "This is a netCDF dimension but not a netCDF variable. "


def write(record: Record, path: Path) -> None:
    """Write a new file, and seal it; raises OSError.

    Dimensions are HDF5's dimension scales, numbered in the order in which variables name them: of each the variable of its
    name, or a dataset without content, as netCDF4 has them.
    """
    import h5py  # slow to import

    _reserve(path, record)
    with h5py.File(path, "w", track_order=True) as file:
        file.attrs.update(record.attributes | {SEALED: 1})
        sizes: dict[str, int] = {}
        for name, variable in record.variables.items():
            is_text = isinstance(variable.values, str | list)
            values = np.asarray(variable.values, dtype=object if is_text else None)
            sizes |= dict(zip(variable.dimensions, values.shape, strict=True))
            made = file.create_dataset(name, data=values, dtype=h5py.string_dtype() if is_text else values.dtype)
            made.attrs.update(describing(name, variable))
        numbers = {name: number for number, name in enumerate(sizes)}
        for name, number in numbers.items():
            if name in record.variables:
                file[name].make_scale(name)
            else:
                file.create_dataset(name, (sizes[name],), ">f4").make_scale(f"{NO_VARIABLE}{sizes[name]:10d}")
            file[name].attrs["_Netcdf4Dimid"] = np.int32(number)
        for name, variable in record.variables.items():
            if variable.dimensions:
                own = np.array([numbers[dimension] for dimension in variable.dimensions], dtype=np.int32)
                file[name].attrs["_Netcdf4Coordinates"] = own
            for axis, dimension in enumerate(variable.dimensions):
                if dimension != name:
                    file[name].dims[axis].attach_scale(file[dimension])
    seal.seal(path)


def _reserve(path: Path, record: Record) -> None:
    """Raise OSError when the disk is full, before HDF5 finds out half-way."""
    size = (
        2**16
        + seal.LENGTH
        + sum(v.values.nbytes for v in record.variables.values() if isinstance(v.values, np.ndarray))
    )
    with open(path, "wb") as file:
        if hasattr(os, "posix_fallocate"):
            os.posix_fallocate(file.fileno(), 0, size)


def read(path: Path) -> Record:
    """The record in a file; raises ResultError. Warns when another program has changed the file, which is then unsealed."""
    try:
        sealed = seal.is_sealed(path)
    except OSError as error:
        raise error if isinstance(error, ResultError) else ResultError(f"{path} cannot be read: {error}") from error
    if not sealed:
        check_readable(path)
    record = _read(path)
    if not sealed and record.attributes.get(SEALED):
        warnings.warn(
            f"{path} was changed by another program after it was saved, so that damage to it would not be noticed",
            stacklevel=4,
        )
    record.attributes.pop(SEALED, None)
    return record


def _read(path: Path) -> Record:
    import h5py  # slow to import

    try:
        with h5py.File(path, "r") as file:
            attributes = {name: _plain(value) for name, value in file.attrs.items() if name != "_NCProperties"}
            names = [name for name, dataset in file.items() if not _is_only_dimension(dataset)]
            if "symplectree" not in attributes:
                return Record({name: Variable((), ()) for name in names}, {})
            variables = {name: _variable(file[name]) for name in names}
    except Exception as error:  # h5py raises whatever it stumbles over
        raise ResultError(f"{path} is {_damage(path, error)}") from error
    return Record(variables, attributes)


def _damage(path: Path, error: Exception) -> str:
    size = re.search(r"stored_eof = (\d+)", str(error))
    if size:
        return f"cut short: it has {path.stat().st_size} of {size[1]} bytes; copy it again, or make the run again"
    return f"damaged: HDF5 says {str(error.args[-1] if error.args else error)!r}"


def _is_only_dimension(dataset: Any) -> bool:
    return bytes(dataset.attrs.get("NAME", b"")).startswith(NO_VARIABLE.encode())


def _variable(dataset: Any) -> Variable:
    """A variable, whose dimensions are the names of the scales attached to it, or its own where it is a scale."""
    attributes = dict(dataset.attrs)
    dimensions = tuple(scale[0].name.strip("/") for scale in dataset.dims if len(scale)) if dataset.shape else ()
    if attributes.get("CLASS") == b"DIMENSION_SCALE":
        dimensions = (dataset.name.strip("/"),)
    if len(dimensions) != dataset.ndim:
        raise ValueError(f"{dataset.name} lacks dimensions")
    if dataset.dtype == object:
        texts = dataset.asstr()[()]
        return Variable(dimensions, texts if dataset.ndim == 0 else [str(text) for text in texts])
    return Variable(dimensions, dataset[()], str(attributes.get("units", "")))


def _plain(value: Any) -> Any:
    return (
        value.item() if isinstance(value, np.generic) or (isinstance(value, np.ndarray) and value.size == 1) else value
    )
