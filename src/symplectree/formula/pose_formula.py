"""The pose of a joint as formulas of its coordinates, with all derivatives that mechanics needs, as tapes.

For T(q) = (R, x) the body Jacobian has the columns S_j = (vee(Rᵀ ∂_j R), Rᵀ ∂_j x). One tape for each order shares common
subexpressions, so that a pose does not pay for second derivatives:

| tape | inputs | outputs |
| --- | --- | --- |
| `pose` | q (n) | R by columns (9), x (3): all others follow from it |
| `tapes[0]` | q (n) | R by columns (9), x (3), S_j (n × 6) |
| `tapes[1]` | q | the same, then ∂_j S_i at [j, i] (n × n × 6) |
| `tapes[2]` | q | the same, then ∂_k ∂_j S_i at [k, j, i] for k ≤ j (n (n + 1) / 2 × n × 6) |
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from symplectree.extras import extra
from symplectree.formula.run_tape import run_tape
from symplectree.formula.tape import Tape, from_expression
from symplectree.lie import Array
from symplectree.lie import pose as rigid_motion

REMEDY = (
    "its formula cannot be differentiated; write it with operators and functions of CasADi or NumPy (np.sin, not "
    "math.sin; np.fmax, not if) of its coordinates"
)


@dataclass(frozen=True, eq=False)
class PoseFormula:
    """`coordinates` (1 to 6), the tape of the pose alone, and the three tapes; plain data, which pickles."""

    coordinates: int
    pose: Tape
    tapes: tuple[Tape, Tape, Tape]

    def transform(self, q: Any) -> Array:
        """T(q), (4, 4)."""
        out = self._run(0, q)
        return rigid_motion(out[:9].reshape(3, 3).T, out[9:12])

    def subspace(self, q: Any) -> Array:
        """S(q), (6, n)."""
        return self._run(0, q)[12:].reshape(self.coordinates, 6).T

    def subspace_derivative(self, q: Any) -> Array:
        """∂_j S at [j], (n, 6, n)."""
        n = self.coordinates
        return self._run(1, q)[12 + 6 * n :].reshape(n, n, 6).transpose(0, 2, 1)

    def subspace_second(self, q: Any) -> Array:
        """∂_k ∂_j S at [k, j], (n, n, 6, n)."""
        n = self.coordinates
        packed = self._run(2, q)[12 + 6 * n + 6 * n * n :].reshape(-1, n, 6)
        full = np.zeros((n, n, 6, n))
        for part, k, j in zip(packed, *np.triu_indices(n), strict=True):
            full[k, j] = full[j, k] = part.T
        return full

    def symbols(self, q: Any) -> tuple[Any, Any]:
        """R (3 × 3) and x (3) as CasADi expressions of the symbols q."""
        return pose_of_tape(self.pose, q)

    def _run(self, order: int, q: Any) -> Array:
        import symplectree._core as core

        tape, out = self.tapes[order], np.empty(self.tapes[order].outputs)
        core.run_tape(tape, np.ascontiguousarray(np.ravel(q), dtype=float), out)
        return out


@dataclass(frozen=True, eq=False)
class PoseTape:
    """The function of a joint's coordinates that a tape stands for: what a file holds in place of a Python function."""

    tape: Tape

    def __call__(self, q: Any) -> tuple[Any, Any]:
        return pose_of_tape(self.tape, [q] if self.tape.inputs == 1 else q)


def pose_of_tape(tape: Tape, q: Any) -> tuple[Any, Any]:
    """R (3 × 3) and x (3) as CasADi expressions of the symbols q, from the tape of a pose."""
    casadi = extra("casadi")

    out = run_tape(tape, [q[i] for i in range(tape.inputs)], casadi)
    return casadi.reshape(casadi.vertcat(*out[:9]), 3, 3), casadi.vertcat(*out[9:12])


def body_jacobian(R: Any, x: Any, q: Any) -> Any:
    """S (6, n) of a pose (R, x) of symbols q (n)."""
    casadi = extra("casadi")

    columns = []
    for j in range(q.numel()):
        M = R.T @ casadi.reshape(casadi.jacobian(casadi.vec(R), q[j]), 3, 3)
        columns.append(casadi.vertcat(M[2, 1], M[0, 2], M[1, 0], R.T @ casadi.jacobian(x, q[j])))
    return casadi.horzcat(*columns)


def pose_expressions(R: Any, x: Any, q: Any) -> tuple[Any, Any, Any]:
    """(S, dS, ddS) of a pose (R, x) of symbols q (n): matrices (6, n), and lists [j] and [k][j] of such."""
    casadi = extra("casadi")

    n, S = q.numel(), body_jacobian(R, x, q)
    dS = [casadi.reshape(casadi.jacobian(casadi.vec(S), q[j]), 6, n) for j in range(n)]
    ddS = [[casadi.reshape(casadi.jacobian(casadi.vec(dS[j]), q[k]), 6, n) for j in range(n)] for k in range(n)]
    return S, dS, ddS


def trace_pose(R: Any, x: Any, q: Any) -> PoseFormula:
    """The tapes of a pose (R, x) of symbols q; raises ModelError on what the core cannot execute.

    Derivatives are those of the tape of the pose, so that whoever has this tape gets the same ones to the last bit.
    """
    casadi = extra("casadi")

    n = q.numel()
    shared = casadi.cse([casadi.densify(casadi.vertcat(casadi.vec(R), x))])[0]
    alone = from_expression(q, shared, REMEDY)
    R, x = pose_of_tape(alone, q)
    S, dS, ddS = pose_expressions(R, x, q)
    parts = [casadi.vec(R), x, casadi.vec(S)]
    tapes = []
    for further in ([], [casadi.vec(d) for d in dS], [casadi.vec(ddS[k][j]) for k in range(n) for j in range(k, n)]):
        parts += further
        shared = casadi.cse([casadi.densify(casadi.vertcat(*parts))])[0]
        tapes.append(from_expression(q, shared, REMEDY))
    return PoseFormula(n, alone, (tapes[0], tapes[1], tapes[2]))
