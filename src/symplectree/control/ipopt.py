"""IPOPT through CasADi: a programme's own values and derivatives, and the outcome in words."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from symplectree.control.transcription import Pattern, Transcription
from symplectree.errors import ModelError
from symplectree.extras import extra
from symplectree.lie import Array


@dataclass(frozen=True)
class Outcome:
    """The last iterate, and how it was reached."""

    z: Array
    cost: float
    converged: bool
    message: str
    violation: float
    costs: Array
    violations: Array


def minimize(
    programme: Transcription,
    z: Array,
    lower: Array,
    upper: Array,
    *,
    tol: float,
    most: int,
    progress: bool,
    options: dict[str, Any],
) -> Outcome:
    """The programme's minimum near z within bounds of the unknowns."""
    casadi = extra("casadi")

    low, high = programme.bounds()
    faults: list[Exception] = []
    functions = _functions(casadi, programme, len(low), faults)
    settings = {
        "grad_f": functions["grad_f"], "jac_g": functions["jac_g"], "hess_lag": functions["hess_lag"],
        "no_nlp_grad": True, "calc_lam_p": False, "print_time": False, "error_on_fail": False, "show_eval_warnings": False,
        "ipopt": {"tol": tol, "max_iter": most, "print_level": 5 if progress else 0, "sb": "yes",
                  "mu_strategy": "adaptive", "bound_relax_factor": 0.0} | options,
    }  # fmt: skip
    try:
        solver = casadi.nlpsol("direct", "ipopt", functions["nlp"], settings)
    except RuntimeError as error:
        raise ModelError(f"IPOPT does not take these options: {str(error).splitlines()[-1]}") from None
    solution = solver(x0=z, lbx=lower, ubx=upper, lbg=low, ubg=high)
    if faults:  # IPOPT takes them for values that are not finite
        raise faults[0]
    statistics = solver.stats()
    z = np.asarray(solution["x"]).ravel()
    violation, worst = _violation(programme, z, low, high)
    status = statistics["return_status"]
    converged = status in ("Solve_Succeeded", "Solved_To_Acceptable_Level")
    history = statistics.get("iterations") or {}
    costs, violations = (np.array(history.get(name, [])) for name in ("obj", "inf_pr"))
    missed = f"{worst} is missed by {violation:.3g}" if violation > 1e-6 else "all conditions are met"
    words = WORDS.get(status, f"IPOPT ended with {status}")
    if not converged and np.sum(low == high) > np.sum(lower < upper):
        words = WORDS["Not_Enough_Degrees_Of_Freedom"]
    message = f"{words} after {max(len(costs) - 1, 0)} iterations" + ("" if converged else f"; {missed}")
    cost = programme.cost_value(z)
    return Outcome(z, cost, converged, message, violation=violation, costs=costs, violations=violations)


WORDS = {
    "Solve_Succeeded": "converged",
    "Solved_To_Acceptable_Level": "converged to IPOPT's acceptable level",
    "Infeasible_Problem_Detected": "the conditions cannot be met together near the last iterate: allow more time or "
    "stronger controls, or begin with another guess",
    "Restoration_Failed": "no motion that meets the conditions was found: allow more time or stronger controls, or begin "
    "with another guess",
    "Maximum_Iterations_Exceeded": "no minimum yet",
    "Not_Enough_Degrees_Of_Freedom": "the horizon is too short: there are fewer controls than conditions to meet; allow "
    "more steps, or name fewer things at the end",
    "Diverging_Iterates": "the iterates diverge: the cost may have no minimum",
    "Invalid_Number_Detected": "the guess cannot be used: a step from one of its states has no solution; take a shorter "
    "dt or another guess",
    "Error_In_Step_Computation": "the conditions contradict or repeat each other",
    "Search_Direction_Becomes_Too_Small": "no step improves the last iterate",
    "NonIpopt_Exception_Thrown": "stopped by Ctrl-C",
}


def _violation(programme: Transcription, z: Array, low: Array, high: Array) -> tuple[float, str]:
    """The largest amount by which a row is missed, and its name."""
    g = programme.values(z)
    off = np.nan_to_num(np.maximum(np.maximum(low - g, g - high), 0.0), nan=np.inf)
    if len(off) == 0:
        return 0.0, ""
    worst = int(np.argmax(off))
    return float(off[worst]), programme.names()[worst]


def _functions(casadi: Any, t: Transcription, rows: int, faults: list[Exception]) -> dict[str, Any]:
    """The programme as functions that IPOPT asks, with the signatures that CasADi expects; errors go to `faults`."""
    dense, n = casadi.Sparsity.dense, t.size
    jacobian = _sparsity(casadi, rows, n, t.jacobian_pattern)
    hessian = _sparsity(casadi, n, n, t.hessian_pattern)
    point, number = dense(n, 1), dense(1, 1)
    DM: Any = casadi.DM

    def values(z: Array, _p: Array) -> list[Any]:
        return [t.cost_value(z), t.values(z)]

    def gradient(z: Array, _p: Array) -> list[Any]:
        return [t.cost_value(z), t.cost_gradient(z)]

    def slopes(z: Array, _p: Array) -> list[Any]:
        return [t.values(z), DM(jacobian, t.jacobian(z))]

    def bending(z: Array, _p: Array, scale: Array, multipliers: Array) -> list[Any]:
        return [DM(hessian, t.hessian(z, float(scale[0]), multipliers))]

    none = dense(0, 0)
    made: dict[str, tuple[Callable[..., list[Any]], dict[str, Any], dict[str, Any]]] = {
        "nlp": (values, {"x": point, "p": none}, {"f": number, "g": dense(rows, 1)}),
        "grad_f": (gradient, {"x": point, "p": none}, {"f": number, "grad_f_x": point}),
        "jac_g": (slopes, {"x": point, "p": none}, {"g": dense(rows, 1), "jac_g_x": jacobian}),
        "hess_lag": (
            bending, {"x": point, "p": none, "lam_f": number, "lam_g": dense(rows, 1)}, {"triu_hess_gamma_x_x": hessian}
        ),
    }  # fmt: skip
    return {name: _callback(casadi, faults, name, *rest) for name, rest in made.items()}


def _callback(
    casadi: Any,
    faults: list[Exception],
    name: str,
    function: Callable[..., list[Any]],
    inputs: dict[str, Any],
    outputs: dict[str, Any],
) -> Any:
    class Asked(casadi.Callback):
        def __init__(self) -> None:
            casadi.Callback.__init__(self)
            self.construct(name, {})

        def get_n_in(self) -> int:
            return len(inputs)

        def get_n_out(self) -> int:
            return len(outputs)

        def get_name_in(self, i: int) -> str:
            return list(inputs)[i]

        def get_name_out(self, i: int) -> str:
            return list(outputs)[i]

        def get_sparsity_in(self, i: int) -> Any:
            return list(inputs.values())[i]

        def get_sparsity_out(self, i: int) -> Any:
            return list(outputs.values())[i]

        def eval(self, arguments: list[Any]) -> list[Any]:
            try:
                return function(*(np.asarray(x).ravel() for x in arguments))
            except Exception as error:
                faults.append(error)
                raise

    return Asked()


def _sparsity(casadi: Any, rows: int, columns: int, pattern: Pattern) -> Any:
    return casadi.Sparsity.triplet(rows, columns, pattern[0].tolist(), pattern[1].tolist())
