"""What elements give: energies and generalized forces with their derivatives."""

from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from symplectree.dynamics.arguments import configuration, inputs_vector, single, unusable, velocity
from symplectree.elements import Element
from symplectree.elements.nonlinear_spring import same_potential
from symplectree.errors import ModelError
from symplectree.lie import Array
from symplectree.mechanism.mechanism import with_frame_names
from symplectree.mechanism.model import Model, unknown
from symplectree.validation import shown


@dataclass(frozen=True)
class ElementTerms:
    """Energy and generalized force of an element (or of all) with their derivatives.

    The whole generalized force is −gradient + force. D_j is as in `dynamics.derivatives`.

    | name | meaning | shape |
    | --- | --- | --- |
    | energy | V, of springs | number |
    | gradient | D_i V | (nv,) |
    | hessian | D_j D_i V at [i, j] | (nv, nv) |
    | force | f_i of dampers, forces and wrenches | (nv,) |
    | force_dq | D_j f_i at [i, j] | (nv, nv) |
    | force_dv | ∂f_i/∂v_j at [i, j] | (nv, nv) |
    """

    energy: float
    gradient: Array
    hessian: Array
    force: Array
    force_dq: Array
    force_dv: Array


@dataclass(frozen=True)
class ElementSecond:
    """Second derivatives of the force f_i: D_k D_j f_i, D_j ∂f_i/∂v_k and ∂²f_i/∂v_j∂v_k at [i, j, k]."""

    force_dqdq: Array
    force_dqdv: Array
    force_dvdv: Array


def element_index(model: Model, element: str | Element | None) -> int:
    """Index of an element given by name, or as it was added; -1 for None, which means all.

    An element that is not the very one that was added may equal one of the model's, and no other.
    """
    if element is None:
        return -1
    added, names = model.originals, [str(e.name) for e in model.elements]
    if isinstance(element, str):
        if element not in names:
            raise ModelError(unknown("element", element, names))
        return names.index(element)
    if not isinstance(element, Element):
        raise ModelError(f"{shown(element)} is no element; give its name, or the element as it was added")
    found = [i for i, own in enumerate(added) if own is element]
    found = found or [i for i, own in enumerate(model.elements) if _equal(own, element)]
    if not found:
        raise ModelError(f"the model has no element {shown(element)}; there are {', '.join(names) or 'none'}")
    if len(found) > 1:
        same = " and ".join(repr(names[i]) for i in found)
        raise ModelError(f"{same} are equal; say which {type(element).__name__} is meant by its name")
    return found[0]


def _equal(own: Element, given: Element) -> bool:
    """Is the model's element as the given one says? A name may be left out."""
    if type(own) is not type(given) or given.name not in (None, own.name):
        return False
    given = with_frame_names(given)
    return all(
        same_potential(getattr(own, f.name), getattr(given, f.name))
        if f.name in ("potential", "profile")
        else np.array_equal(getattr(own, f.name), getattr(given, f.name))
        for f in fields(own)
        if f.name != "name"
    )


def element_terms(model: Model, element: str | Element | None, q: Any, v: Any, *, inputs: Any = None) -> ElementTerms:
    """Energy, force and first derivatives of one element (by name or as added), or of all (None)."""
    index = element_index(model, element)
    q, v = single(configuration(model, q), "q"), single(velocity(model, v), "v")
    values = inputs_vector(model, inputs)
    out = [np.empty((model.nv,) * axes) for axes in (1, 2, 1, 2, 2)]
    try:
        energy = model.native.element_terms(index, q, v, values, out)
    except ValueError:
        raise unusable(model, {"q": q, "v": v, "inputs": values}) from None
    return ElementTerms(energy, *out)


def element_second(model: Model, element: str | Element | None, q: Any, v: Any, *, inputs: Any = None) -> ElementSecond:
    """Second derivatives of the force of one element (by name or as added), or of all (None); exact, by dual numbers."""
    index = element_index(model, element)
    q, v = single(configuration(model, q), "q"), single(velocity(model, v), "v")
    values = inputs_vector(model, inputs)
    out = [np.empty((model.nv,) * 3) for _ in range(3)]
    try:
        model.native.element_second(index, q, v, values, out)
    except ValueError:
        raise unusable(model, {"q": q, "v": v, "inputs": values}) from None
    return ElementSecond(*out)
