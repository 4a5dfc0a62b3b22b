"""Random contact problems with Coulomb's cone: how many stay unsolved, the worst residual, iterations and CPU time.

One to thirty parts (contacts, end stops, dry frictions, discs) on free bodies, half of them with masses over six orders
of magnitude, half of the contacts on a lattice, so that many are redundant; friction from 0 to 2. y₀ = J v, so that every
problem has a solution.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import numpy as np

from symplectree import _core

ROWS = {"limit": 1, "friction": 1, "disc": 2, "contact": 3}


def random_problem(rng: np.random.Generator) -> tuple[list[str], list[float], Any, Any]:
    """Kinds, bounds, W and y₀."""
    parts = int(rng.integers(1, 31))
    bodies = int(rng.integers(1, max(2, parts)))
    masses = 10 ** rng.uniform(-3, 3, bodies) if rng.random() < 0.5 else np.ones(bodies)
    kinds = [str(k) for k in rng.choice(list(ROWS), parts, p=[0.1, 0.1, 0.05, 0.75])]
    bounds, rows = [], []
    for kind in kinds:
        a, b = int(rng.integers(bodies)), int(rng.integers(-1, bodies))
        friction = rng.choice([0.0, rng.uniform(0, 2), 0.5])
        bounds.append(float(friction if kind == "contact" else 0 if kind == "limit" else rng.exponential()))
        if ROWS[kind] == 1:
            rows.append(np.eye(6 * bodies)[6 * a + rng.integers(6)])
            continue
        axes, at, there = np.linalg.qr(rng.normal(size=(3, 3)))[0], rng.normal(size=3) / 2, rng.normal(size=3) / 2
        if rng.random() < 0.5:
            axes, at = np.eye(3)[[2, 0, 1]], np.round(2 * at) / 2
        for axis in axes[3 - ROWS[kind] :]:
            row = np.zeros(6 * bodies)
            row[6 * a : 6 * a + 6] = np.r_[axis, np.cross(at, axis)]
            if b not in (-1, a):
                row[6 * b : 6 * b + 6] = -np.r_[axis, np.cross(there, axis)]
            rows.append(row)
    J = np.array(rows)
    inverse = np.repeat(1 / masses, 6) * np.tile([1, 1, 1, 10, 10, 10], bodies)
    v = rng.normal(size=6 * bodies) if rng.random() < 0.7 else np.zeros(6 * bodies)
    v[2::6] -= 1
    return kinds, bounds, (J * inverse) @ J.T, J @ v


def residual(kinds: list[str], bounds: list[float], W: Any, y0: Any, x: Any) -> float:
    """The largest x − proj(x − ρ y), relative to the largest impulse."""
    y, largest, i = W @ x + y0, 0.0, 0
    for kind, bound in zip(kinds, bounds, strict=True):
        n = ROWS[kind]
        t = slice(i + (kind == "contact"), i + n)
        if kind in ("limit", "contact"):
            largest = max(largest, abs(min(x[i], y[i] / W[i, i])))
        if kind != "limit":
            z = x[t] - y[t] / np.linalg.norm(W[t, t], 2)
            length, most = np.linalg.norm(z), bound * x[i] if kind == "contact" else bound
            largest = max(largest, np.abs(x[t] - z * min(1.0, most / max(length, 1e-300))).max())
        i += n
    return largest / max(np.abs(x).max(), (-y0 / np.diag(W)).max(), 1e-300)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--problems", type=int, default=10000)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    rng = np.random.default_rng(arguments.seed)
    unsolved, unfinite, worst, seconds = 0, 0, 0.0, 0.0
    iterations = []
    for _ in range(arguments.problems):
        kinds, bounds, W, y0 = random_problem(rng)
        x, codes = np.zeros(len(y0)), [getattr(_core.ConeKind, kind) for kind in kinds]
        start = time.process_time()
        solved, count = _core.solve_cone_problem(codes, bounds, W, y0, x)
        seconds += time.process_time() - start
        iterations.append(count)
        unfinite += not np.isfinite(x).all()
        unsolved += not solved
        if solved:
            worst = max(worst, residual(kinds, bounds, W, y0, x))
    print(f"{arguments.problems} problems: {unsolved} unsolved, {unfinite} not finite")
    print(f"worst residual of those solved {worst:.1e} of the largest impulse")
    print(f"iterations: median {np.median(iterations):.0f}, mean {np.mean(iterations):.1f}, most {max(iterations)}")
    print(f"{seconds / arguments.problems * 1e6:.0f} µs each")


if __name__ == "__main__":
    main()
