"""The linear-quadratic regulator: constant gains at an equilibrium, gains over time along a motion."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from symplectree.control.weights import weight_matrix
from symplectree.errors import ModelError
from symplectree.lie import Array
from symplectree.mechanism.model import Model
from symplectree.validation import real_array, shown

MARGIN = 1e-9  # of an eigenvalue's modulus to one, and of a singular value to zero, relative


@dataclass(frozen=True)
class Regulator:
    """The best u = −K x for x⁺ = A x + B u at the cost ½ Σ xᵀQx + uᵀRu + 2 xᵀNu.

    | name | meaning | shape |
    | --- | --- | --- |
    | K | gains | (m, n) |
    | P | cost-to-go, ½ xᵀPx | (n, n) |
    | eigenvalues | of A − BK, all within the unit circle | (n,) |
    """

    K: Array
    P: Array
    eigenvalues: Array


def lqr(A: Any, B: Any, Q: Any, R: Any, N: Any = None) -> Regulator:
    """Gains of the discrete linear-quadratic regulator over an infinite horizon.

    A, B: matrices (n, n) and (n, m), such as `linearize` gives. Q, R: symmetric weights, numbers, vectors or matrices;
    Q zero or more, R above zero. N: (n, m).

    Raises ModelError naming the eigenvalues when a mode that does not decay cannot be controlled, or does not cost.
    At an equilibrium of a mechanism see `balance`.
    """
    from scipy.linalg import solve_discrete_are

    if isinstance(A, Model):
        raise ModelError("lqr takes matrices; for a model at an equilibrium use balance(model, q, dt=…)")
    A, B = _matrix(A, "A"), _matrix(B, "B")
    n, m = B.shape
    if A.shape != (n, n):
        raise ModelError(f"A has shape {A.shape} and B {B.shape}; A must be square with as many rows as B")
    Q = weight_matrix(Q, [f"state {i}" for i in range(n)], "Q")
    R = _positive(weight_matrix(R, [f"control {i}" for i in range(m)], "R"))
    S = None if N is None else _matrix(N, "N")
    if S is not None and S.shape != (n, m):
        raise ModelError(f"N has shape {S.shape}; give ({n}, {m})")
    lost = unstabilizable(A, B)
    if len(lost):
        raise ModelError(
            f"the controls do not reach {_modes(lost)}, which do not decay by themselves: no feedback stabilises this; "
            "add a control that moves them, or damping"
        )
    try:
        P = solve_discrete_are(A, B, Q, R, s=S)
    except (np.linalg.LinAlgError, ValueError):
        P = np.full((n, n), np.nan)
    cross = np.zeros((n, m)) if S is None else S
    K = np.linalg.solve(R + B.T @ P @ B, B.T @ P @ A + cross.T) if np.all(np.isfinite(P)) else np.zeros((m, n))
    eigenvalues = np.linalg.eigvals(A - B @ K)
    if not np.all(np.isfinite(P)) or np.abs(eigenvalues).max() >= 1 - MARGIN:
        raise ModelError(
            f"no regulator was found: {_modes(_marginal(A, Q))} cost nothing, so that they are left as they are; "
            "give the states that they move a weight in Q"
        )
    return Regulator(K, P, eigenvalues)


def tvlqr(A: Sequence[Any], B: Sequence[Any], Q: Any, R: Any, Qf: Any) -> tuple[Array, Array]:
    """Gains K (steps, m, n) and cost-to-go P (steps + 1, n, n) of x_{k+1} = A_k x_k + B_k u_k over a finite horizon.

    Minimises ½ x_KᵀQf x_K + ½ Σ xᵀQx + uᵀRu; the best u_k = −K_k x_k. A, B: one matrix per step. Q, R: weights for all
    steps, or lists of matrices, one per step. Qf: weight at the end.
    """
    steps = len(A)
    if len(B) != steps or steps == 0:
        raise ModelError(f"A has {steps} matrices and B {len(B)}; give as many, one per step")
    Bs = [_matrix(b, "B") for b in B]
    n, m = Bs[0].shape
    As = [_matrix(a, "A") for a in A]
    if any(a.shape != (n, n) for a in As) or any(b.shape != (n, m) for b in Bs):
        raise ModelError(f"every A must have shape ({n}, {n}) and every B ({n}, {m}), as the first ones do")
    Qs, Rs = _each(Q, n, steps, "Q"), [_positive(r) for r in _each(R, m, steps, "R")]
    K, P = np.zeros((steps, m, n)), np.zeros((steps + 1, n, n))
    P[steps] = weight_matrix(Qf, [f"state {i}" for i in range(n)], "Qf")
    for k in reversed(range(steps)):
        BP = Bs[k].T @ P[k + 1]
        K[k] = np.linalg.solve(Rs[k] + BP @ Bs[k], BP @ As[k])
        closed = As[k] - Bs[k] @ K[k]
        P[k] = Qs[k] + K[k].T @ Rs[k] @ K[k] + closed.T @ P[k + 1] @ closed
    return K, P


def unstabilizable(A: Array, B: Array) -> Array:
    """Eigenvalues of A on or outside the unit circle whose modes B does not reach (Popov, Belevitch, Hautus)."""
    lost = []
    size = np.linalg.norm(A, 2) + np.linalg.norm(B, 2)
    for value in np.linalg.eigvals(A):
        if abs(value) < 1 - 1e-7:  # a double eigenvalue one is found within the root of the rounding
            continue
        pencil = np.hstack([A - value * np.eye(len(A)), B])
        if np.linalg.svd(pencil, compute_uv=False)[-1] < 1e-8 * size:
            lost.append(value)
    return np.array(lost)


def _marginal(A: Array, Q: Array) -> Array:
    """Eigenvalues of A on the unit circle whose modes Q does not weigh; all on it when there are none such."""
    on = np.array([value for value in np.linalg.eigvals(A) if abs(abs(value) - 1) < 1e-6])
    unseen = [v for v in on if np.linalg.svd(np.vstack([A - v * np.eye(len(A)), Q]), compute_uv=False)[-1] < 1e-8]
    return np.array(unseen) if unseen else on


def _modes(eigenvalues: Array) -> str:
    shown_values = ", ".join(f"{v.real:.6g}{v.imag:+.3g}j" if abs(v.imag) > 1e-9 else f"{v.real:.6g}"
                             for v in np.unique(np.round(eigenvalues, 6)))  # fmt: skip
    return f"modes with eigenvalues {shown_values}"


def _matrix(given: Any, what: str) -> Array:
    try:
        matrix = real_array(given)
    except TypeError:
        raise ModelError(f"{what} is {shown(given)}; give a matrix") from None
    if matrix.ndim != 2 or not np.all(np.isfinite(matrix)):
        raise ModelError(f"{what} has shape {matrix.shape}; give a matrix of finite numbers")
    return matrix


def _positive(R: Array) -> Array:
    if np.linalg.eigvalsh(R).min() <= 0:
        raise ModelError("R has an eigenvalue that is zero; every control must cost something")
    return R


def _each(given: Any, n: int, steps: int, what: str) -> list[Array]:
    names = [f"{what} {i}" for i in range(n)]
    if isinstance(given, list | tuple) and len(given) == steps and np.ndim(given[0]) == 2:
        return [weight_matrix(each, names, what) for each in given]
    return [weight_matrix(given, names, what)] * steps
