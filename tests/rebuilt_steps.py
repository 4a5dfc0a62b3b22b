"""Derivatives of the step in parameters by differences of whole steps between models built anew."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

import symplectree as st
from mechanisms import random_state
from symplectree.lie import inverse

# Differences of fourth order have the truncation (H/θ)⁴ of a number θ of order one (inertias: of a tenth; loops that
# start off their constraint by H move with H/dt at once), and the rounding of the step over H. A step is solved to about
# NOISE [rad, m]; so are its momenta, relative to their size, and its multipliers to 2 NOISE/dt² [kg m/s²].
H, H_SMALL, NOISE = 1e-3, 2e-4, 2e-14
INERTIA = {"xx": (0, 0), "yy": (1, 1), "zz": (2, 2), "xy": (0, 1), "xz": (0, 2), "yz": (1, 2)}


def body_changed(model, name, e):
    """The model with one number of its arrays changed: masses are of all that moves with a link."""
    owner, quantity, *letter = name.split(".")
    if owner == "gravity":
        return replace(model, gravity=model.gravity + e * np.eye(3)["xyz".index(quantity)])
    body = model.bodies.index(owner)
    if quantity == "at" and f"{owner}#0" in model.bodies:
        body = model.bodies.index(f"{owner}#0")
    field = {"at": "placement"}.get(quantity, quantity)
    array = np.array(getattr(model, field))
    if quantity == "mass":
        array[body] += e
    elif quantity == "inertia":
        i, j = INERTIA[letter[0]]
        array[body][i, j] += e
        array[body][j, i] = array[body][i, j]
    else:
        place = (body, "xyz".index(letter[0])) if quantity == "com" else (body, "xyz".index(letter[0]), 3)
        array[place] += e
    return replace(model, **{field: array})


def element_changed(model, name, e):
    """The model of the mechanism with an element's number changed."""
    owner, quantity, *letter = name.split(".")
    m = model.description.copy()
    index = [element.name for element in model.elements].index(owner)
    value = getattr(m.elements[index], quantity)
    if letter:
        value = list(value)
        value["xyz".index(letter[0])] += e
    else:
        value = value + e
    m.elements[index] = replace(m.elements[index], **{quantity: value})
    return m.build()


def frame_changed(model, name, e):
    """The model of the mechanism with a fixed frame moved along an axis of its body."""
    owner, _, letter = name.split(".")
    m = model.description.copy()
    frame = next(f for f in m.tree if f.name == owner)
    parent = model.frame_offset[model.find_frame(frame.parent.name)] if frame.parent.joint.nv == 0 else np.eye(4)
    along = inverse(parent)[:3, :3] @ np.eye(3)["xyz".index(letter)]
    frame.at = np.asarray(frame.at, dtype=float) + e * along
    return m.build()


def joint_changed(model, name, e):
    """The model of the mechanism with a number of a joint changed, armature for all coordinates alike."""
    owner, quantity = name.split(".")[:2]
    m = model.description.copy()
    frame = next(f for f in m.tree if f.joint.name == owner)
    value = np.asarray(getattr(frame.joint, quantity), dtype=float) + e
    frame.joint = replace(frame.joint, **{quantity: float(value) if value.ndim == 0 else tuple(value)})
    return m.build()


def values(model, q1, state, method, dt, **given):
    lin = st.linearize(model, state, method, dt, **given)
    return np.concatenate([st.difference(model, q1, lin.q), lin.p, lin.multipliers])


def by_differences(change, model, name, state, method, dt, **given):
    """d(q', p', multipliers) by a difference of fourth order between models built anew, and its rounding."""
    lin = st.linearize(model, state, method, dt, **given)
    h = H_SMALL if model.rows or name.split(".")[1] in ("inertia", "armature") else H
    at = {k: values(change(model, name, k * h), lin.q, state, method, dt, **given) for k in (-2, -1, 1, 2)}
    rounding = NOISE / h * np.array([1.0, 1 + np.abs(lin.p).max(), 2 / dt**2])
    return (8 * (at[1] - at[-1]) - (at[2] - at[-2])) / (12 * h), rounding


def assert_exact(change, model, names, state, method, dt, **given):
    """Every column to 1e-8 of its size, and to the rounding of differences; and not all of them are small."""
    lin = st.linearize(model, state, method, dt, parameters=names, **given)
    nv, tested = model.nv, 0
    assert lin.by_parameters.shape == (2 * nv, len(lin.parameters))
    assert lin.multipliers_by_parameters.shape == (len(model.rows), len(lin.parameters))
    for k, name in enumerate(lin.parameters):
        expected, rounding = by_differences(change, model, name, state, method, dt, **given)
        found = np.concatenate([lin.by_parameters[:, k], lin.multipliers_by_parameters[:, k]])
        for part, floor in zip(np.split(np.arange(len(found)), [nv, 2 * nv]), rounding, strict=True):
            if part.size:
                size = np.abs(expected[part]).max()
                assert np.abs(found - expected)[part].max() < 1e-8 * size + floor, name
                tested += 1e-8 * size > 0.1 * floor
    assert tested >= len(names)
    return lin


def all_of(model):
    """Every number of every body."""
    return [f"{b}.{x}" for b in model.bodies if "#" not in b for x in ("mass", "com", "inertia", "at")] + ["gravity"]


def start(model, seed, speed=0.5):
    q, v, _ = random_state(model, seed)
    return q, st.momenta(model, q, speed * v)
