"""Stabilise a mechanism: at an equilibrium by constant gains, along a motion by gains over time."""

from typing import Any

import numpy as np

from symplectree.constraints.dynamics import constraint_jacobian
from symplectree.control.charts import Chart
from symplectree.control.costs import Cost, TotalCost
from symplectree.control.feedback import Feedback
from symplectree.control.lqr import lqr, tvlqr
from symplectree.control.points import Point
from symplectree.control.weights import (
    control_limits,
    control_names,
    exact_method,
    horizon_of,
    target_rows,
    weight_matrix,
)
from symplectree.dynamics import mass_matrix
from symplectree.errors import ModelError
from symplectree.integrators import Method, Variational
from symplectree.lie import Array
from symplectree.linearization.linearize import Linearization, linearize
from symplectree.mechanism.model import Model
from symplectree.simulation.simulate import consistent_start, initial_state
from symplectree.simulation.trajectory import Trajectory
from symplectree.validation import shown


def balance(
    model: Model,
    q: Any,
    *,
    q_weight: Any = 1.0,
    v_weight: Any = 1.0,
    effort: Any = 1.0,
    dt: float,
    method: Method | None = None,
    forces: Any = None,
    limits: Any = None,
) -> Feedback:
    """The feedback that holds a mechanism at an equilibrium q at the least ∫ ½ (eᵀW_q e + vᵀW_v v + uᵀR u) dt.

    The exact derivatives of the method's step at q give the discrete regulator (`lqr`). With constraints, states are
    those that the mechanism can take: A and B are reduced to the tangent space of the constraints.

    q: array or names. q_weight, v_weight, effort: weights of displacement, velocity and control, as of `QuadraticCost`.
    dt: [s], of the loop that will apply the feedback. forces: controls that hold q; found when left out.
    limits: (lowest, highest) control, or "model", which the feedback keeps.

    Raises ModelError when no constant controls hold q, and when the controls do not stabilise it, with the eigenvalues.
    """
    horizon, exact = horizon_of(model, 1, None, dt), exact_method(method)
    q, _ = initial_state(model, q, None)
    if model.rows:
        from symplectree.integrators.prescribed import Prescribed

        consistent_start(model, q, np.zeros(model.nv), Prescribed(model, None, dt), told=True)
    u = None if forces is None else target_rows(horizon, forces, "u", "forces")[0]
    u, lin = _equilibrium_controls(model, q, exact, dt, u)
    n, nu = model.nv, len(horizon.controls)
    T = np.eye(2 * n)  # from (q, p) to (q, v) at rest
    T[n:, n:] = np.linalg.inv(mass_matrix(model, q))
    W = np.zeros((2 * n, 2 * n))
    W[:n, :n] = weight_matrix(q_weight, model.velocities, "q_weight")
    W[n:, n:] = weight_matrix(v_weight, model.velocities, "v_weight")
    R = dt * weight_matrix(effort, horizon.controls, "effort")
    Z, back = tangent_space(model, q)
    found = lqr(back @ lin.A @ Z, back @ lin.B, dt * (Z.T @ T.T @ W @ T @ Z), R)
    low, high = control_limits(horizon, limits)
    gains, p = (found.K @ back)[None], np.zeros((1, n))
    return Feedback(model, gains, q[None], p, u.reshape(1, nu), dt=float(dt), limits=(low, high))


def follow(
    trajectory: Trajectory,
    forces: Any,
    cost: Cost,
    *,
    dt: float,
    method: Method | None = None,
    limits: Any = None,
) -> Feedback:
    """The feedback that keeps a mechanism near a motion, by the second derivatives of `cost` along it (`tvlqr`).

    trajectory: all steps of the motion. forces: (steps, nu) that make it. cost: what deviations cost, such as
    QuadraticCost(q=10, v=1) + EffortCost(0.1) + QuadraticCost(q=100, when="end"); only its curvature counts.
    """
    if not isinstance(trajectory, Trajectory):
        raise ModelError(f"trajectory is {shown(trajectory)}; give a Trajectory, such as the result of simulate")
    model, steps = trajectory.model, len(trajectory) - 1
    horizon, exact = horizon_of(model, steps, None, dt), exact_method(method)
    if np.abs(np.diff(trajectory.t) - dt).max() > 1e-6 * dt:
        raise ModelError(
            f"the trajectory has states {trajectory.t[1] - trajectory.t[0]:g} s apart, and dt is {dt:g} s; give all steps"
        )
    rows = target_rows(horizon, forces, "u", "forces")
    u = np.array(np.broadcast_to(rows, (steps, rows.shape[1])))
    total = TotalCost(horizon, cost)
    A, B, Q, R = [], [], [], []
    m = 2 * model.nv
    for k in range(steps):
        lin = linearize(model, (trajectory.q[k], trajectory.p[k]), exact, dt, forces=u[k])
        H = total.terms(Point(model, k, trajectory.q[k], trajectory.p[k], u[k], last=False)).hessian
        A.append(lin.A)
        B.append(lin.B)
        Q.append(_without_negative(H[:m, :m]))
        R.append(H[m:, m:])
    last = Point(model, steps, trajectory.q[-1], trajectory.p[-1], np.zeros(u.shape[1]), last=True)
    K, _ = tvlqr(A, B, Q, R, _without_negative(total.terms(last).hessian[:m, :m]))
    return Feedback(
        model,
        K,
        np.array(trajectory.q),
        np.array(trajectory.p),
        u,
        dt=float(dt),
        limits=control_limits(horizon, limits),
    )


def tangent_space(model: Model, q: Array) -> tuple[Array, Array]:
    """Z (2 nv, r), the states (δq, δp) at rest that constraints allow, and the left inverse of Z; identities without.

    Dh δq = 0 and Dh M⁻¹ δp = 0: with the columns of N a basis of the former, δp ranges over M N.
    """
    n = model.nv
    if not model.rows:
        return np.eye(2 * n), np.eye(2 * n)
    from scipy.linalg import null_space

    N = null_space(np.asarray(constraint_jacobian(model, q)), rcond=1e-9)
    MN = mass_matrix(model, q) @ N
    Z = np.block([[N, np.zeros_like(N)], [np.zeros_like(N), MN]])
    left = np.linalg.solve(N.T @ MN, N.T)  # (NᵀMN)⁻¹ Nᵀ undoes MN
    return Z, np.block([[left @ mass_matrix(model, q), np.zeros_like(left)], [np.zeros_like(left), left]])


def _equilibrium_controls(
    model: Model, q: Array, method: Variational, dt: float, u: Array | None
) -> tuple[Array, Linearization]:
    """Controls that hold q, by Newton on the step, and the step's derivatives there."""
    chart, names = Chart(model), control_names(model)
    rest, given = np.zeros(model.nv), u is not None
    u = np.zeros(len(names)) if u is None else u
    for _ in range(1 if given else 6):
        lin = linearize(model, (q, rest), method, dt, forces=u)
        moved = np.concatenate([chart.difference(q, lin.q), lin.p])
        if not given:
            u = u - np.linalg.lstsq(lin.B, moved, rcond=1e-10)[0]
    lin = linearize(model, (q, rest), method, dt, forces=u)
    force = lin.p / dt  # what is left over, as a generalized force
    stiffness = np.abs(lin.A[model.nv :, : model.nv]).max() / dt  # q may be off by rounding: sin π is not 0
    size = np.abs(linearize(model, (q, rest), method, dt).p / dt).max() + stiffness + 1e-9
    worst = int(np.argmax(np.abs(force)))
    if np.abs(force).max() > 1e-6 * size:
        why = "with these forces" if given else f"whatever the controls {', '.join(names)} do"
        raise ModelError(
            f"the mechanism does not stay at q: {force[worst]:.3g} (N or N·m) is left on {model.velocities[worst]!r} "
            f"{why}; give an equilibrium, or follow a motion with follow(…)"
        )
    return u, lin


def _without_negative(H: Array) -> Array:
    """The nearest matrix without negative eigenvalues: far from its target a cost may bend down."""
    values, vectors = np.linalg.eigh(0.5 * (H + H.T))
    return (vectors * np.maximum(values, 0)) @ vectors.T
