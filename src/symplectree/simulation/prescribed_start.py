"""Starts that prescribed motions do not agree with: who is told, and what."""

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np

from symplectree.constraints.assembly import not_assembled
from symplectree.errors import AssemblyError
from symplectree.integrators.prescribed import Motion, Prescribed
from symplectree.lie import Array
from symplectree.mechanism.model import Model

SAME = 1e-9  # of a coordinate, relative above 1: what differs less is rounding
SAME_RATE = 1e-6  # of a velocity: rates of functions are differences


def refused_start(model: Model, asked: Array, q: Array, errors: Array, prescribed: Prescribed) -> AssemblyError:
    """The error for a start q that breaks constraints by `errors`; `asked` is the user's, before coordinates moved to
    where their prescribed motions begin."""
    error = not_assembled(model, q, errors)
    moved = [text for motion in prescribed.motions if (text := _apart(motion, asked, q))]
    if not moved:
        return error
    names = [name for name, *_ in prescribed.motions]
    broken = str(error).partition(": ")[2].partition(";")[0]
    text = (
        f"at t = 0 prescribed {' and '.join(moved)}, and with that the start breaks constraints: {broken}; let the motion "
        f"begin where q0 is, or close the loops where it begins: q0 = st.assemble(model, q, fixed={names!r}) with a "
        "guess q that has the prescribed values"
    )
    return AssemblyError(text, errors=error.errors, q=q)


def tell_replaced(prescribed: Prescribed, given: tuple[Any, Any], asked: tuple[Array, Array], taken: Any) -> None:
    """Warn when a state that the user gave by name, or as an array, is not the one that is taken.

    given: q0 and v0 as the user gave them; asked: the same as arrays; taken: with prescribed motions in place.
    """
    model = prescribed.model
    of_q, of_v = _named(model, given[0], velocity=False), _named(model, given[1], velocity=True)
    told = [
        text for motion in prescribed.motions if of_q[motion[1]].any() and (text := _apart(motion, asked[0], taken[0]))
    ]
    for name, _, v, _, _ in prescribed.motions:
        off = np.abs(asked[1][v] - taken[1][v])
        if of_v[v].any() and np.any(off > SAME_RATE * (1 + np.abs(taken[1][v]))):
            told.append(f"{name!r} begins with the velocity {_shown(taken[1][v])}, but v0 has {_shown(asked[1][v])}")
    if told:
        warnings.warn(f"at t = 0 prescribed {' and '.join(told)}; the prescribed motion is taken", stacklevel=4)


def _apart(motion: Motion, asked: Array, taken: Array) -> str:
    """How far a motion begins from the start that was asked for, in words; empty when it begins there."""
    name, q, _, place, _ = motion
    off = taken[q] - asked[q] if place is None else place.joint.local(asked[q], taken[q])
    if np.all(np.abs(off) <= SAME * (1 + np.abs(taken[q]).max())):
        return ""
    by = f"off by {_shown(off)}" if place is None else f"off by {np.linalg.norm(off):.4g} (rad, m)"
    return f"{name!r} is {_shown(taken[q])}, but q0 has {_shown(asked[q])} ({by})"


def _shown(values: Array) -> str:
    texts = [f"{x:.6g}" for x in values]
    return texts[0] if len(texts) == 1 else f"({', '.join(texts)})"


def _named(model: Model, given: Any, *, velocity: bool) -> Array:
    """Which numbers of a state the user gave: all of an array, unless it is the neutral configuration or rest."""
    names = model.velocities if velocity else model.coordinates
    found = np.zeros(len(names), dtype=bool)
    if not isinstance(given, Mapping):
        neutral = np.zeros(model.nv) if velocity else model.neutral
        found[:] = given is not None and not np.array_equal(given, neutral)
        return found
    for name in given:
        if name in model.joints:
            place = model.joints[name]
            found[place.v if velocity else place.q] = True
        else:
            found[names.index(name)] = True
    return found
