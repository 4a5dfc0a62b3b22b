"""Trajectories as tables of other packages: xarray and pandas."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from symplectree.errors import ModelError
from symplectree.extras import extra
from symplectree.io.record import Variable, describing, record_of
from symplectree.mechanism.model import Model
from symplectree.simulation.trajectory import Trajectory
from symplectree.validation import shown

ENERGIES = ("kinetic", "potential", "energy")


def to_dataset(trajectory: Trajectory, frames: Sequence[str] = ()) -> Any:
    """See `Trajectory.to_dataset`."""
    xarray = extra("xarray")  # slow to import

    record = record_of(trajectory)
    tables = {
        name: (variable.dimensions, np.asarray(variable.values), describing(name, variable))
        for name, variable in (record.variables | _poses(trajectory, frames)).items()
    }
    return xarray.Dataset(tables, attrs=record.attributes)


def _poses(trajectory: Trajectory, frames: Sequence[str]) -> dict[str, Variable]:
    if isinstance(frames, str) or not all(isinstance(name, str) for name in frames):
        raise ModelError(f"frames are {shown(frames)}; give a list of names, such as ['tip']")
    if not frames:
        return {}
    poses = np.stack([trajectory.pose(name) for name in frames], axis=1)
    return {
        "frame": Variable(("frame",), list(frames)),
        "axis": Variable(("axis",), list("xyz")),
        "frame_axis": Variable(("frame_axis",), list("xyz")),
        "position": Variable(("t", "frame", "axis"), poses[..., :3, 3], "m"),
        "rotation": Variable(("t", "frame", "axis", "frame_axis"), poses[..., :3, :3]),
    }


def column_names(model: Model) -> list[str]:
    """Of a table of states: t, coordinates by name, velocities as "v NAME", energies.

    A coordinate that is called as another column is "q NAME".
    """
    others = ["t", *(f"v {name}" for name in model.velocities), *ENERGIES]
    return ["t", *(f"q {n}" if n in others else n for n in model.coordinates), *others[1:]]


def to_dataframe(trajectory: Trajectory) -> Any:
    """See `Trajectory.to_dataframe`."""
    pandas = extra("pandas")  # slow to import; xarray brings it

    energies = [getattr(trajectory, name) for name in ENERGIES]
    columns = [trajectory.t, *trajectory.q.T, *trajectory.v.T, *energies]
    return pandas.DataFrame(dict(zip(column_names(trajectory.model), columns, strict=True)))
