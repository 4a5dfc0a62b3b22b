"""Derivatives of a step that is taken as two halves, as `Stepper` takes it where it has no solution in one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from symplectree.lie import Array
from symplectree.mechanism.model import Model

if TYPE_CHECKING:
    from symplectree.linearization.linearize import Linearization

Half = Callable[[tuple[Array, Array], "Mapping[str, Any] | None", int, "Array | None"], "Linearization"]


def can_be_halved(model: Model, prescribed: Mapping[str, Any] | None) -> bool:
    """Whether prescribed coordinates are plain numbers, whose way has a middle, and move no constraint's multiplier."""
    return not prescribed or (len(model.rows) == 0 and all(name in model.coordinates for name in prescribed))


def of_halves(
    half: Half,
    model: Model,
    q: Array,
    p: Array,
    prescribed: Mapping[str, Any] | None,
    order: int,
    contract: Array | None,
) -> Linearization:
    """The chain rule over two halves F₁ and F₂, with inputs x = (q, p, u, prescribed) of the whole step.

    x₁ = X₁ x are the inputs of the first half, at whose end a prescribed coordinate is half-way, and x₂ = (F₁, u,
    prescribed) those of the second, with derivative X₂:

        F' = F₂' X₂,   D = A₂ D₁ + D₂,   Σ w_i F_i'' = X₂ᵀ (Σ w_i F₂_i'') X₂ + X₁ᵀ (Σ_k (F₂'ᵀ w)_k F₁_k'') X₁.

    half(state, prescribed, order, contract) linearizes half a step. Multipliers are those of the first part, at whose
    beginning they act.
    """
    nv, middle = model.nv, None
    if prescribed:
        middle = {name: 0.5 * (q[model.coordinates.index(name)] + float(end)) for name, end in prescribed.items()}
    one = half((q, p), middle, order if contract is None else 1, None)
    two = half((one.q, one.p), prescribed, order, contract)
    J1, J2 = (np.hstack([lin.A, lin.B, lin.C]) for lin in (one, two))
    n = J1.shape[1]
    X1 = np.eye(n)
    if prescribed:
        given = np.flatnonzero(
            np.isin(_coordinate_of_velocity(model), [model.coordinates.index(x) for x in prescribed])
        )
        ends = np.arange(n - len(given), n)
        X1[ends, given] = X1[ends, ends] = 0.5
    X2 = np.vstack([J1 @ X1, np.eye(n)[2 * nv :]])
    J = J2 @ X2
    second = hessian = None
    if two.second is not None and one.second is not None:
        second = X2.T @ two.second @ X2 + np.tensordot(J2[:, : 2 * nv], X1.T @ one.second @ X1, 1)
    elif two.hessian is not None and contract is not None:
        bent = half((q, p), middle, 2, J2[:, : 2 * nv].T @ contract).hessian
        assert bent is not None
        hessian = X2.T @ two.hessian @ X2 + X1.T @ bent @ X1
    rate = np.array([0.5 if name == "dt" else 1.0 for name in one.parameters])  # a half's dt is half of it
    D, multipliers_D = (two.A @ one.D + two.D) * rate, one.multipliers_D * rate
    nu = one.B.shape[1]
    A, B, C = (np.ascontiguousarray(part) for part in np.split(J, [2 * nv, 2 * nv + nu], axis=1))
    return replace(two, A=A, B=B, C=C, multipliers=one.multipliers, multipliers_A=one.multipliers_A,
                   multipliers_B=one.multipliers_B, D=D, multipliers_D=multipliers_D, second=second,
                   hessian=hessian)  # fmt: skip


def _coordinate_of_velocity(model: Model) -> Array:
    """Of each velocity its place in q, or −1 where its joint holds a quaternion."""
    places = np.full(model.nv, -1)
    for place in model.joints.values():
        if place.joint.nq == place.joint.nv:
            places[place.v] = np.arange(model.nq)[place.q]
    return places
