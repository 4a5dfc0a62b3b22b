"""`check_element`: everything an element or constraint gives, compared with finite differences."""

from dataclasses import fields
from typing import Any

import numpy as np

from symplectree.constraints.dynamics import constraint_jacobian, constraint_values
from symplectree.dynamics.elements import ElementTerms, element_index, element_second, element_terms
from symplectree.dynamics.increments import retract
from symplectree.elements import (
    Constraint,
    Element,
    RollingConstraint,
)
from symplectree.errors import ModelError
from symplectree.joints import SymbolicJoint
from symplectree.lie import Array
from symplectree.mechanism.model import Model


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
        if any(user.owner == index for user in model.tables.users):  # functions and formulas
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
