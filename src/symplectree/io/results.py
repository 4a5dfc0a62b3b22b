"""Trajectories as files: netCDF4/HDF5, .npz, .mat and .csv."""

import csv
import json
import os
from pathlib import Path
from typing import Any

import numpy as np

from symplectree.errors import ModelError, ResultError
from symplectree.io import matlab, netcdf
from symplectree.io.atomic_write import checked_path, replacing
from symplectree.io.record import Record, Variable, record_of, trajectory_of
from symplectree.io.record_digest import checked, descriptions
from symplectree.io.same_model import check_model
from symplectree.io.tables import ENERGIES, column_names
from symplectree.mechanism.model import Model
from symplectree.simulation.trajectory import Trajectory

NETCDF = (".nc", ".nc4", ".h5", ".hdf5")
SUFFIXES = (*NETCDF, ".npz", ".mat", ".csv")


def save(trajectory: Trajectory, path: Any) -> None:
    """Write a trajectory to a file; see `Trajectory.save`."""
    file = checked_path(path, SUFFIXES)
    suffix = file.suffix.lower()
    try:
        if suffix == ".csv":
            replacing(file, lambda new: _write_csv(trajectory, new))
        else:
            record, write = record_of(trajectory), {".npz": _write_npz, ".mat": matlab.write}.get(suffix, netcdf.write)
            replacing(file, lambda new: write(record, new))
    except ResultError as error:
        error.trajectory = trajectory
        raise


def read(path: str | os.PathLike[str], model: Model | None = None) -> Trajectory:
    """The trajectory in a file; see `symplectree.io.load_trajectory`."""
    from symplectree.io.stream import with_journal

    try:
        file = Path(path)
        with open(file, "rb") as opened:
            head = opened.read(8)
    except OSError as error:
        raise ResultError(f"{path} cannot be read: {error.strerror or error}") from error
    except (TypeError, ValueError) as error:
        raise ResultError(f"{path!r} is no path of a file: {error}") from None
    if file.suffix.lower() == ".csv":
        return _read_csv(file, model)
    if head == netcdf.MAGIC:
        record = with_journal(netcdf.read(file), file)
    elif head.startswith(b"PK"):
        record = _read_npz(file)
    elif head == matlab.MAGIC:
        record = matlab.read(file)
    elif not head:
        raise ResultError(f"{path} is empty")
    else:
        raise ResultError(f"{path} is no file of results: neither netCDF4/HDF5 nor .npz nor .mat nor .csv")
    return trajectory_of(record, path, model)


def _write_npz(record: Record, path: Path) -> None:
    arrays: dict[str, Any] = {name: np.asarray(v.values) for name, v in record.variables.items()}
    arrays |= {name: np.array(text) for name, text in descriptions(record).items()}
    with open(path, "wb") as file:
        np.savez(file, **arrays)


def _read_npz(path: Path) -> Record:
    try:
        with np.load(path, allow_pickle=False) as file:
            if "attributes" not in file or "variables" not in file:
                return Record({name: Variable((), ()) for name in file}, {})
            attributes, shape = json.loads(str(file["attributes"])), json.loads(str(file["variables"]))
            variables = {}
            for name, (dimensions, unit) in shape.items():
                values = file[name]
                if values.dtype.kind == "U":
                    values = str(values) if values.ndim == 0 else [str(v) for v in values]
                variables[name] = Variable(tuple(dimensions), values, unit)
        return checked(Record(variables, attributes), path)
    except ResultError:
        raise
    except Exception as error:  # of zip, zlib, NumPy and its parser of headers
        raise ResultError(f"{path} is cut short or damaged: {error}") from error


def _write_csv(trajectory: Trajectory, path: Path) -> None:
    """The columns of `Trajectory.to_dataframe`; all digits."""
    energies = [getattr(trajectory, name) for name in ENERGIES]
    table = np.column_stack([trajectory.t, trajectory.q, trajectory.v, *energies])
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(column_names(trajectory.model))
        writer.writerows([repr(x) for x in row] for row in table.tolist())


def _read_csv(path: Path, model: Model | None) -> Trajectory:
    if model is None:
        raise ModelError(f"{path} holds numbers only: give the model, load_trajectory(path, model=…)")
    try:
        text = path.read_bytes().decode("utf-8")
        head, *rows = list(csv.reader(text.splitlines()))
        if not text.endswith("\n") or any(len(row) != len(head) for row in rows) or not rows:
            raise ResultError(f"{path} is cut short: its last line is not whole")
        table = np.array([[float(x) for x in row] for row in rows])
    except ValueError as error:
        raise ResultError(f"{path} is no table of a trajectory: {error}") from error
    older = ["t", *model.coordinates, *(f"v {name}" for name in model.velocities), "energy"]
    if head not in (column_names(model), older):
        raise ResultError(f"{path} has the columns {', '.join(head[:8])} …, not those of this model's trajectory")
    q, v = table[:, 1 : 1 + model.nq], table[:, 1 + model.nq :][:, : model.nv]
    trajectory = Trajectory(model, table[:, 0].copy(), q.copy(), v=v.copy())
    check_model(model, path, None, trajectory, table[:, -1], every=True)
    return trajectory
