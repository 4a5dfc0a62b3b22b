"""What is beyond a joint limit or overlaps in a configuration."""

from typing import Any

import numpy as np

from symplectree.mechanism.model import Model


def overlaps(model: Model, q: Any, least: float) -> dict[str, float]:
    """By what it is, how far each joint is beyond its limit and how deep shapes overlap [rad or m], beyond `least`."""
    import symplectree._core as core

    full = model.full
    if not full.tables.joint_limits and not full.tables.contact_pairs:
        return {}
    limits, contacts = core.contacts_nearby(full.native, np.ascontiguousarray(model.tree_coordinates(q)), -least)
    found: dict[str, float] = {}
    for index, gap in limits:
        row = full.tables.joint_limits[index]
        found[f"{full.coordinates[row.q]} is {-gap:.3g} beyond its limit"] = -gap
    deepest: dict[tuple[int, int], float] = {}
    for index, gap in contacts:
        pair = full.tables.contact_pairs[index]
        deepest[pair.a, pair.b] = max(-gap, deepest.get((pair.a, pair.b), 0.0))
    for (a, b), depth in deepest.items():
        one, two = (model.shapes[full.tables.shapes[row]].name for row in (a, b))
        found[f"{one} is {1e3 * depth:.3g} mm in {two}"] = depth
    return found
