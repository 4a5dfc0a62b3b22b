"""How far the slider of an input goes on a live page."""

from __future__ import annotations

import numpy as np

from symplectree.elements.actuator import Drive
from symplectree.mechanism.model import Model


def slider_ends(model: Model, name: str, force: float) -> tuple[float, float]:
    """The range of an input: that of its control; of servos, that of what they drive; else forces up to `force` [N, N·m].

    A position servo without any range turns by half a turn to both sides, a velocity servo by a turn in a second.
    """
    own = model.limits.get(name)
    if own is not None and own.control is not None:
        return own.control
    element = next((e for e in model.elements if e.name == name and isinstance(e, Drive)), None)
    if element is None:
        return -force, force
    row, rows = element.rows(model)
    gear = sum(abs(t.factor) for t in rows)
    if row.by_length and row.gain:
        share = -row.by_length / row.gain  # of a position servo 1: the control is the length
        low = high = 0.0
        for t in rows:
            limits = model.limits.get(model.full.velocities[t.v])
            ends = np.array((-np.pi, np.pi) if limits is None else limits.position_range)
            ends[~np.isfinite(ends)] = (np.pi * np.sign(ends))[~np.isfinite(ends)]
            one, other = sorted(share * t.factor * ends)
            low, high = low + float(one), high + float(other)
        return low, high
    if row.by_rate and row.gain:
        most = 2 * np.pi * gear * abs(row.by_rate / row.gain)
        return -float(most), float(most)
    most = force / (gear * abs(row.gain)) if row.gain else force
    return -most, most
