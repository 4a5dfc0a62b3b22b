"""Inverse and forward dynamics and the mass matrix, beside Pinocchio on the same chains.

    pip install ".[bench]" && python benchmarks/dynamics.py

Both are called from Python with arrays that are ready, in turns within one run; CPU time, best of several rounds.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

import numpy as np
import pinocchio as pin

import symplectree as st


def chain(n: int) -> st.Model:
    """n links of 1 m and 1 kg, turning about x, y, z, x, …"""
    m = st.Mechanism()
    link = m.world
    for i in range(n):
        link = link.link(
            f"link{i}", st.Revolute(f"q{i}", "xyz"[i % 3]), at=(0, 0, -1 if i else 0),
            mass=1.0, com=(0, 0, -0.5), inertia=(0.084, 0.084, 0.002),
        )  # fmt: skip
    return m.build()


def pinocchio_chain(n: int) -> pin.Model:
    """The same chain for Pinocchio, with its joints made for the letter axes."""
    model = pin.Model()
    joints = (pin.JointModelRX, pin.JointModelRY, pin.JointModelRZ)
    inertia = pin.Inertia(1.0, np.array([0, 0, -0.5]), np.diag([0.084, 0.084, 0.002]))
    parent = 0
    for i in range(n):
        placement = pin.SE3(np.eye(3), np.array([0, 0, -1.0 if i else 0.0]))
        parent = model.addJoint(parent, joints[i % 3](), placement, f"q{i}")
        model.appendBodyToJoint(parent, inertia, pin.SE3.Identity())
    return model


def best_times(calls: list[Callable[[], object]], budget: float) -> list[float]:
    """CPU seconds per call of each, the best of rounds taken in turns for about `budget` seconds in all."""
    counts = []
    for call in calls:
        start, count = time.process_time(), 0
        while time.process_time() - start < 0.01:
            call()
            count += 1
        counts.append(max(count, 1))
    best = [float("inf")] * len(calls)
    begin = time.perf_counter()
    while time.perf_counter() - begin < budget:
        for k, (call, count) in enumerate(zip(calls, counts, strict=True)):
            start = time.process_time()
            for _ in range(count):
                call()
            best[k] = min(best[k], (time.process_time() - start) / count)
    return best


def compare(n: int, budget: float) -> list[tuple[str, float, float]]:
    """(function, our µs, Pinocchio's µs) for a chain of n links; checks that both give the same."""
    model, peer = chain(n), pinocchio_chain(n)
    data = peer.createData()
    rng = np.random.default_rng(n)
    q, v, a = rng.normal(size=(3, n))
    assert np.allclose(st.inverse_dynamics(model, q, v, a), pin.rnea(peer, data, q, v, a))
    pairs: dict[str, tuple[Callable[[], object], Callable[[], object]]] = {
        "inverse": (lambda: st.inverse_dynamics(model, q, v, a), lambda: pin.rnea(peer, data, q, v, a)),
        "forward": (lambda: st.forward_dynamics(model, q, v, a), lambda: pin.aba(peer, data, q, v, a)),
        "mass matrix": (lambda: st.mass_matrix(model, q), lambda: pin.crba(peer, data, q)),
    }
    result = []
    for name, calls in pairs.items():
        ours, theirs = best_times(list(calls), budget)
        result.append((name, 1e6 * ours, 1e6 * theirs))
    return result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--budget", type=float, default=2.0, help="seconds per pair (default 2)")
    budget = parser.parse_args().budget
    print(f"Pinocchio {pin.__version__}; µs per call from Python, CPU time, best of rounds")
    print(f"{'function':>12} {'n':>5} {'symplectree':>12} {'Pinocchio':>10} {'ratio':>6}")
    for n in (6, 10, 30, 100):
        for name, ours, theirs in compare(n, budget):
            print(f"{name:>12} {n:5d} {ours:12.2f} {theirs:10.2f} {ours / theirs:6.2f}")
    model = {n: chain(n) for n in (100, 1000)}
    state = {n: np.random.default_rng(n).normal(size=(3, n)) for n in model}
    short, long = best_times([lambda n=n: st.forward_dynamics(model[n], *state[n]) for n in (100, 1000)], budget)
    print(f"forward dynamics, time(1000) / time(100): {long / short:.1f}")


if __name__ == "__main__":
    main()
