"""Units of the rows of constraints, for labels of plots."""

from __future__ import annotations

from typing import TYPE_CHECKING

from symplectree.elements import (
    CamConstraint,
    DistanceConstraint,
    GearConstraint,
    PlaneConstraint,
    PointConstraint,
    ScrewConstraint,
)

if TYPE_CHECKING:
    from symplectree.mechanism.model import Model

LENGTHS = (PointConstraint, DistanceConstraint, PlaneConstraint, ScrewConstraint)
FORCES = {"m": "N", "rad": "N·m"}  # units of multipliers
UNKNOWN = "unit of the row"


def row_units(model: Model, coordinate_units: dict[str, str]) -> dict[str, str]:
    """ "m", "rad" or UNKNOWN of each row, by its name; coordinate_units: those of coordinates, by name."""
    units = {}
    for row in model.rows:
        element = next((e for e in model.elements if row == e.name or row.startswith(f"{e.name}.")), None)
        if isinstance(element, LENGTHS):
            unit = "m"
        elif isinstance(element, GearConstraint | CamConstraint):
            unit = coordinate_units.get(element.b if isinstance(element, GearConstraint) else element.follower, UNKNOWN)
        else:
            unit = UNKNOWN
        units[row] = unit if unit in FORCES else UNKNOWN
    return units


def error_unit(units: dict[str, str]) -> str:
    """Of the largest error of all rows."""
    found = set(units.values())
    return UNKNOWN if UNKNOWN in found else " or ".join(sorted(found)) or "m"
