"""What elements give: energies and generalized forces with their derivatives, and the check of them."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from symplectree.dynamics.arguments import configuration, inputs_vector, single, unusable, velocity
from symplectree.dynamics.constraints import constraint_jacobian, constraint_values
from symplectree.dynamics.kinematics import retract
from symplectree.elements import (
    Constraint,
    Element,
    FormulaForce,
    FormulaPotential,
    RollingConstraint,
    UserForce,
    UserPotential,
)
from symplectree.elements.nonlinear_spring import same_potential
from symplectree.errors import ModelError
from symplectree.joints import SymbolicJoint
from symplectree.lie import Array
from symplectree.mechanism.mechanism import with_frame_names
from symplectree.mechanism.model import Model, unknown
from symplectree.numeric import shown


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
    found = [i for i, kept in enumerate(added) if kept is element]
    found = found or [i for i, kept in enumerate(model.elements) if _equal(kept, element)]
    if not found:
        raise ModelError(f"the model has no element {shown(element)}; there are {', '.join(names) or 'none'}")
    if len(found) > 1:
        same = " and ".join(repr(names[i]) for i in found)
        raise ModelError(f"{same} are equal; say which {type(element).__name__} is meant by its name")
    return found[0]


def _equal(kept: Element, given: Element) -> bool:
    """Is the model's element as the given one says? A name may be left out."""
    if type(kept) is not type(given) or given.name not in (None, kept.name):
        return False
    given = with_frame_names(given)
    return all(
        same_potential(getattr(kept, f.name), getattr(given, f.name))
        if f.name in ("potential", "profile")
        else np.array_equal(getattr(kept, f.name), getattr(given, f.name))
        for f in fields(kept)
        if f.name != "name"
    )


def element_terms(model: Model, element: str | Element | None, q: Any, v: Any, *, inputs: Any = None) -> ElementTerms:
    """Energy, force and first derivatives of one element (by name or as added), or of all (None)."""
    index = element_index(model, element)
    q, v = single(configuration(model, q), "q"), single(velocity(model, v), "v")
    u = inputs_vector(model, inputs)
    n = model.nv
    gradient, force = np.empty(n), np.empty(n)
    hessian, force_dq, force_dv = np.empty((n, n)), np.empty((n, n)), np.empty((n, n))
    try:
        energy = model.native.element_terms(index, q, v, u, gradient, hessian, force, force_dq, force_dv)
    except ValueError:
        raise unusable(model, {"q": q, "v": v, "inputs": u}) from None
    return ElementTerms(energy, gradient, hessian, force, force_dq, force_dv)


def element_second(model: Model, element: str | Element | None, q: Any, v: Any, *, inputs: Any = None) -> ElementSecond:
    """Second derivatives of the force of one element (by name or as added), or of all (None); exact, by dual numbers."""
    index = element_index(model, element)
    q, v = single(configuration(model, q), "q"), single(velocity(model, v), "v")
    u = inputs_vector(model, inputs)
    out = [np.empty((model.nv,) * 3) for _ in range(3)]
    try:
        model.native.element_second(index, q, v, u, *out)
    except ValueError:
        raise unusable(model, {"q": q, "v": v, "inputs": u}) from None
    return ElementSecond(*out)


def check_element(
    model: Model, element: str | Element, *, samples: int = 4, seed: int = 0, tolerance: float = 1e-6
) -> None:
    """Compare everything an element gives with central differences of what it is the derivative of.

    Checked at `samples` random states with random inputs: gradient of energy, Hessian of gradient, and of the force its
    first and second derivatives in q and v (second ones not of the user's own); of a constraint the derivatives of its
    rows. Raises AssertionError saying which is wrong, and by how much; `tolerance` is
    relative to the size of what is compared, and is that of differences with a step of 1e-5.
    """
    if element is None:
        raise ModelError("check_element takes one element at a time; give its name, or the element as it was added")
    model = model.full  # an element acts on all coordinates, followers included
    index = element_index(model, element)
    name = str(model.elements[index].name)
    rng = np.random.default_rng(seed)
    for _ in range(samples):
        q = model.neutral.copy()
        for place in model.joints.values():
            by_formula = isinstance(place.joint, SymbolicJoint)
            moved = place.joint.retract(place.joint.neutral, rng.normal(size=place.joint.nv))
            q[place.q] = place.joint.samples(rng, 1)[0] if by_formula else moved
        v, u = rng.normal(size=model.nv), rng.normal(size=len(model.inputs))
        if isinstance(model.elements[index], Constraint):
            _check_rows(model, index, q, tolerance)
            continue

        def terms(q: Array, v: Array, u: Array = u) -> ElementTerms:
            return element_terms(model, name, q, v, inputs=u)

        here, second = terms(q, v), element_second(model, name, q, v, inputs=u)
        in_q = [_difference(lambda d, q=q, v=v: terms(retract(model, q, d), v), e) for e in np.eye(model.nv)]
        in_v = [_difference(lambda d, q=q, v=v: terms(q, v + d), e) for e in np.eye(model.nv)]
        comparisons = {
            "gradient": (here.gradient, [d.energy for d in in_q]),
            "hessian": (here.hessian.T, [d.gradient for d in in_q]),
            "force_dq": (here.force_dq.T, [d.force for d in in_q]),
            "force_dv": (here.force_dv.T, [d.force for d in in_v]),
            "force_dqdq": (second.force_dqdq.transpose(2, 0, 1), [d.force_dq for d in in_q]),
            "force_dqdv": (second.force_dqdv.transpose(1, 0, 2), [d.force_dv for d in in_q]),
            "force_dvdv": (second.force_dvdv.transpose(2, 0, 1), [d.force_dv for d in in_v]),
        }
        if isinstance(model.elements[index], UserForce | UserPotential | FormulaForce | FormulaPotential):
            comparisons = {k: c for k, c in comparisons.items() if k not in ("force_dqdq", "force_dqdv", "force_dvdv")}
        for what, (given, found) in comparisons.items():
            error = float(np.max(np.abs(given - np.array(found))))
            if not error <= tolerance * (1 + float(np.max(np.abs(given)))):
                raise AssertionError(
                    f"{type(model.elements[index]).__name__} {name!r}: {what} is not the derivative (off by {error:.3g})"
                )


def _check_rows(model: Model, index: int, q: Array, tolerance: float, step: float = 1e-5) -> None:
    """Compare the derivatives of a constraint's rows with central differences of their values."""
    rows = [k for k, owner in enumerate(model.row_owners) if owner == index]
    if isinstance(model.elements[index], RollingConstraint):
        return  # rows without values: nothing to differentiate
    given = constraint_jacobian(model, q)[rows]
    found = np.transpose(
        [
            (constraint_values(model, retract(model, q, d)) - constraint_values(model, retract(model, q, -d)))[rows]
            / (2 * step)
            for d in step * np.eye(model.nv)
        ]
    )
    error = np.abs(given - found)
    if not np.all(error <= tolerance * (1 + np.abs(given).max())):
        row, j = np.unravel_index(int(np.argmax(error)), error.shape)
        raise AssertionError(
            f"{type(model.elements[index]).__name__} {model.rows[rows[row]]!r}: the derivative along "
            f"{model.velocities[j]!r} is {given[row, j]:.6g}, but differences give {found[row, j]:.6g}"
        )


def _difference(function: Any, direction: Array, step: float = 1e-5) -> ElementTerms:
    ahead, behind = function(step * direction), function(-step * direction)
    return ElementTerms(
        *((getattr(ahead, f.name) - getattr(behind, f.name)) / (2 * step) for f in fields(ElementTerms))
    )
