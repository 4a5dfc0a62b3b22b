"""Is the model that a user gives the one whose run a file holds?"""

import itertools
import re
from typing import Any

import numpy as np

from symplectree.dynamics import kinetic_energy, potential_energy
from symplectree.errors import ModelError
from symplectree.lie import Array
from symplectree.mechanism.model import Model
from symplectree.simulation.trajectory import Trajectory

SAME_ENERGY = 1e-8  # relative: far more than rounding on another machine makes of it


def check_model(
    model: Model, path: Any, text: str | None, trajectory: Trajectory, energy: Array | None, *, every: bool = False
) -> None:
    """Raise ModelError when `model` is not that of the file's `text`, where to start excepted; of models that have
    functions of Python, and so no text, the energies of the first and last state, or of every one, are compared."""
    if text is not None:
        given = _text_of(model)
        if given != text and (found := _difference(_without_start(text), _without_start(given))):
            raise ModelError(f"{path} holds another model's run: {found}; leave out model=, or give that one")
    elif energy is not None:
        ends = np.arange(len(energy)) if every else np.array([0, -1])
        q, v = trajectory.q[ends], trajectory.v[ends]
        kinetic, potential = kinetic_energy(model, q, v), potential_energy(model, q)
        off = ~(np.abs(kinetic + potential - energy[ends]) <= SAME_ENERGY * (1 + np.abs(kinetic) + np.abs(potential)))
        for k in np.flatnonzero(off):
            raise ModelError(
                f"{path} holds another model's run: at t = {trajectory.t[ends[k]]:.6g} s the energy is "
                f"{energy[ends[k]]:.6g} J, of the given model {kinetic[k] + potential[k]:.6g} J"
            )


def _text_of(model: Model) -> str:
    try:
        return model.text
    except ModelError as error:  # the file's can be written, so it is another one
        return str(error)


def _without_start(text: str) -> list[str]:
    """Lines of a mechanism's text, written anew without the start that it carries; others as they are."""
    from symplectree.io import loads

    try:
        mechanism = loads(text)
        mechanism.initial = {}
        return mechanism.to_sexpr().splitlines()
    except ModelError:
        return text.splitlines()


def _difference(held: list[str], given: list[str]) -> str:
    """The first lines that differ, and the name near which they stand; empty when there are none."""
    name = ""
    for one, other in itertools.zip_longest(held, given, fillvalue=""):
        names = re.findall(r'"([^"]+)"', one)
        name = f", near {names[0]!r}" if names else name
        if one != other:
            return f"where it has {one.strip() or 'nothing'} the given model has {other.strip() or 'nothing'}{name}"
    return ""
