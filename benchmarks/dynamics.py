"""Inverse and forward dynamics and the mass matrix, beside Pinocchio on the same chains.

    pip install ".[bench]" && python benchmarks/dynamics.py

Both are called from Python with arrays that are ready, in turns within one run; CPU time, best of several rounds.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pinocchio as pin
from chains import best_times, chain, pinocchio_model

import symplectree as st
from symplectree.bench import Column, Report, ratio, report_parser


def compare(n: int, budget: float) -> list[tuple[str, float, float]]:
    """(function, our µs, Pinocchio's µs) for a chain of n links; checks that both give the same."""
    model, peer = chain(n), pinocchio_model(n)
    data = peer.createData()
    rng = np.random.default_rng(n)
    q, v, a = rng.normal(size=(3, n))
    assert np.allclose(st.inverse_dynamics(model, q, v, a), pin.rnea(peer, data, q, v, a))
    pairs: dict[str, tuple[Callable[[], object], Callable[[], object]]] = {
        "inverse dynamics": (lambda: st.inverse_dynamics(model, q, v, a), lambda: pin.rnea(peer, data, q, v, a)),
        "forward dynamics": (lambda: st.forward_dynamics(model, q, v, a), lambda: pin.aba(peer, data, q, v, a)),
        "mass matrix": (lambda: st.mass_matrix(model, q), lambda: pin.crba(peer, data, q)),
    }
    result = []
    for name, calls in pairs.items():
        ours, theirs = best_times(list(calls), budget)
        result.append((name, 1e6 * ours, 1e6 * theirs))
    return result


def main() -> None:
    parser = report_parser(__doc__)
    parser.add_argument("--budget", type=float, default=2.0, help="seconds per pair (default 2)")
    given = parser.parse_args()
    report = Report(__doc__, given.report)
    table = report.table(
        "Continuous dynamics", Column("function", key=True), Column("n", format="d", key=True),
        Column("symplectree", "µs"), Column("Pinocchio", "µs"), ratio(),
        note="a call from Python for a chain of n revolute joints",
    )  # fmt: skip
    for n in (6, 10, 30, 100):
        for name, ours, theirs in compare(n, given.budget):
            table.add(name, n, ours, theirs, ours / theirs)
    model = {n: chain(n) for n in (100, 1000)}
    state = {n: np.random.default_rng(n).normal(size=(3, n)) for n in model}
    short, long = best_times([lambda n=n: st.forward_dynamics(model[n], *state[n]) for n in (100, 1000)], given.budget)
    report.say(f"Forward dynamics take {long / short:.1f} times as long for 1000 links as for 100.")


if __name__ == "__main__":
    main()
