"""Derivatives of a step that is taken in parts, as `Stepper` takes it where it is too long for the motion."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from symplectree.lie import Array
from symplectree.mechanism.model import Model

if TYPE_CHECKING:
    from symplectree.linearization.linearize import Linearization

HalfStep = Callable[[tuple[Array, Array, Array], "Mapping[str, Any] | None", int, "Array | None"], "Linearization"]


def can_be_halved(model: Model, prescribed: Mapping[str, Any] | None) -> bool:
    """Whether prescribed coordinates are plain numbers, whose paths have a middle, and move no constraint's multiplier."""
    return not prescribed or (len(model.rows) == 0 and all(name in model.coordinates for name in prescribed))


def in_halves(parts: list[float]) -> tuple[list[float], list[float]]:
    """The lengths of parts of a step, each a half of a half of … it: those of its first half, and the others."""
    ends = np.cumsum(parts)
    first = int(np.searchsorted(ends, 0.5 * (1 + 1e-9) * ends[-1]))
    return parts[:first], parts[first:]


def linearize_halves(
    half_steps: tuple[HalfStep, HalfStep],
    model: Model,
    state: tuple[Array, Array, Array],
    prescribed: Mapping[str, Any] | None,
    order: int,
    contract: Array | None,
) -> Linearization:
    """The chain rule over two halves F₁ and F₂, with arguments x = (state, forces, prescribed) of the whole step.

    x₁ = X₁ x are the arguments of the first half, at whose end a prescribed coordinate is half-way, and x₂ = (F₁, forces,
    prescribed) those of the second, with derivative X₂; D is the derivative in parameters:

        F' = F₂' X₂,   D = A₂ D₁ + D₂,   Σ w_i F_i'' = X₂ᵀ (Σ w_i F₂_i'') X₂ + X₁ᵀ (Σ_k (F₂'ᵀ w)_k F₁_k'') X₁.

    half_steps: functions of (state, prescribed, order, contract) that linearize the halves. Multipliers are those of the
    first half, at whose beginning they act.
    """
    q, middle = state[0], None
    if prescribed:
        middle = {name: 0.5 * (q[model.coordinates.index(name)] + float(end)) for name, end in prescribed.items()}
    first, last = half_steps
    one = first(state, middle, order if contract is None else 1, None)
    two = last((one.q, one.p, one.activation), prescribed, order, contract)
    n = len(one.A)  # of the state
    J1, J2 = (np.hstack([lin.A, lin.B, lin.by_prescribed]) for lin in (one, two))
    X1 = _arguments_of_first_half(model, prescribed, J1.shape[1])
    X2 = np.vstack([J1 @ X1, np.eye(J1.shape[1])[n:]])
    second = hessian = None
    if two.second is not None and one.second is not None:
        second = X2.T @ two.second @ X2 + np.tensordot(J2[:, :n], X1.T @ one.second @ X1, 1)
    elif two.hessian is not None and contract is not None:
        hessian_1 = first(state, middle, 2, J2[:, :n].T @ contract).hessian
        assert hessian_1 is not None
        hessian = X2.T @ two.hessian @ X2 + X1.T @ hessian_1 @ X1
    share = np.array([0.5 if name == "dt" else 1.0 for name in one.parameters])  # a half's dt is half of it
    A, B, by_prescribed = (np.ascontiguousarray(part) for part in np.split(J2 @ X2, [n, n + one.B.shape[1]], axis=1))
    return replace(
        two, A=A, B=B, by_prescribed=by_prescribed,
        by_parameters=(two.A @ one.by_parameters + two.by_parameters) * share,
        multipliers=one.multipliers, multipliers_A=one.multipliers_A, multipliers_B=one.multipliers_B,
        multipliers_by_parameters=one.multipliers_by_parameters * share, second=second, hessian=hessian,
        weakly_active=tuple(dict.fromkeys(one.weakly_active + two.weakly_active)),
    )  # fmt: skip


def _arguments_of_first_half(model: Model, prescribed: Mapping[str, Any] | None, size: int) -> Array:
    """X₁: the identity, but prescribed coordinates end half-way between where they begin and where they end."""
    X1 = np.eye(size)
    if prescribed:
        indices = [model.coordinates.index(name) for name in prescribed]
        begins = np.flatnonzero(np.isin(_coordinate_of_velocity(model), indices))
        ends = np.arange(size - len(begins), size)
        X1[ends, begins] = X1[ends, ends] = 0.5
    return X1


def _coordinate_of_velocity(model: Model) -> Array:
    """Of each velocity its index in q, or −1 where its joint holds a quaternion."""
    indices = np.full(model.nv, -1)
    for place in model.joints.values():
        if place.joint.nq == place.joint.nv:
            indices[place.v] = np.arange(model.nq)[place.q]
    return indices
