"""Contacts and impacts of a run as tables, for other programs to read."""

import warnings

from symplectree.errors import ModelError
from symplectree.io.sensor_variables import Variable
from symplectree.lie import Array
from symplectree.simulation.trajectory import Trajectory

UNITS = {"t": "s", "point": "m", "gap": "m", "force": "N", "impulse": "N s", "lost": "J"}
CONTACTS = ("state", "t", "element", "a", "b", "point", "normal", "gap", "force", "sliding")
IMPACTS = ("t", "element", "normal", "point", "impulse", "lost")


def contact_variables(trajectory: Trajectory) -> dict[str, Variable]:
    """By name, "contact_point" and so on, rows of `Trajectory.contacts`, and "impact_t" and so on, rows of its impacts.

    Warns where the forces of the run, from which those of contacts follow, are not known any more.
    """
    found: dict[str, Variable] = {}
    if len(trajectory.impacts):
        found |= _columns("impact", trajectory.impacts, IMPACTS)
    if not trajectory.model.full.tables.contact_pairs:
        return found
    try:
        contacts = trajectory.contacts
    except ModelError as error:
        warnings.warn(f"contacts are left out: {error}", stacklevel=5)
        return found
    return found | (_columns("contact", contacts, CONTACTS) if len(contacts) else {})


def _columns(what: str, table: object, names: tuple[str, ...]) -> dict[str, Variable]:
    """A variable for each column; vectors have the axes x, y and z."""
    out = {}
    for name in names:
        values: Array = getattr(table, name)
        dimensions = (what,) if values.ndim == 1 else (what, "axis")
        kept = list(values) if values.dtype == object else values.astype(int) if values.dtype == bool else values
        out[f"{what}_{name}"] = Variable(dimensions, kept, UNITS.get(name, ""))
    return out | {"axis": Variable(("axis",), list("xyz"))}
