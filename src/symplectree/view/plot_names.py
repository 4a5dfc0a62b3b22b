"""What of a trajectory can be plotted, by name, and the nearest names to one that cannot."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

from symplectree.errors import ModelError
from symplectree.view.contact_marks import has_contacts
from symplectree.view.contact_plots import has_lanes

if TYPE_CHECKING:
    from symplectree.simulation.trajectory import Trajectory

ALWAYS = ("energy", "momentum", "coordinates", "velocities")
PREFIXES = ("phase:", "path:")
LISTED = 12  # names of each kind that an error lists


def quantities(trajectory: Trajectory) -> list[str]:
    """Names of what is plotted as a whole."""
    found = list(ALWAYS)
    if trajectory.model.rows:
        found += ["constraint_error", "multipliers"]
    found += ["contacts"] * has_lanes(trajectory.model) + ["contact_forces"] * has_contacts(trajectory.model)
    return found + ["prescribed_forces"] * bool(trajectory.prescribed)


def not_plotted(trajectory: Trajectory, name: object) -> ModelError:
    """The error for a name that means nothing here: the nearest ones, and all that there are."""
    model, whole = trajectory.model, quantities(trajectory)
    coordinates = list(dict.fromkeys([*model.full.coordinates, *model.full.joints]))
    frames = [frame for frame in model.frames[1:] if frame not in coordinates and not frame.startswith("#")]
    sensors = list(model.sensors)
    known = [*whole, *sensors, *coordinates, *frames]
    text, prefix = str(name), next((p for p in PREFIXES if str(name).startswith(p)), "")
    if prefix:
        known = frames if prefix == "path:" else list(model.coordinates)
        text = text.removeprefix(prefix).strip()
    near = [f"{prefix}{found}" for found in difflib.get_close_matches(text, known, n=3)]
    hint = f"did you mean {' or '.join(map(repr, near))}? There" if near else "there"
    measured = f"; sensors {_listed(sensors)}" if sensors else ""
    return ModelError(
        f"nothing that can be plotted is named {name!r}; {hint} are {', '.join(whole)}{measured}; coordinates "
        f"{_listed(coordinates)}; positions of frames {_listed(frames) or 'world'}; 'phase:COORDINATE' and 'path:FRAME'"
    )


def _listed(names: list[str]) -> str:
    return ", ".join(names[:LISTED]) + (f" and {len(names) - LISTED} more" if len(names) > LISTED else "")
