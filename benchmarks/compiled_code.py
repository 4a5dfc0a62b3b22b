"""What compiling brings: the motion equation of GL09's torus chain, and steps of chains by code of their own.

    pip install ".[jit]" && python benchmarks/compiled_code.py

CPU time, all in one run, in turns, best of rounds.
"""

from __future__ import annotations

import argparse
import warnings

import numpy as np
from chains import best_times, chain
from symbolic_chains import torus_chain

import symplectree as st
from symplectree.symbolic import Equations

ROWS, STEPS = 500, 200


def motion_equation(budget: float) -> None:
    """µs for the accelerations of seven tori, 14 coordinates, the solution included; GL09: 21 µs on a Core 2."""
    model = torus_chain(7)
    q, v, tau = model.neutral + 0.3 * np.random.default_rng(0).normal(size=(3, ROWS, model.nv))
    compiled = Equations(model).compile("forward_dynamics")
    times = best_times([lambda: compiled(q, v, tau), lambda: st.forward_dynamics(model, q, v, tau)], budget)
    error = np.abs(compiled(q, v, tau) / st.forward_dynamics(model, q, v, tau) - 1).max()
    print(
        f"motion equation of seven tori: compiled {1e6 * times[0] / ROWS:.2f} µs, by tapes {1e6 * times[1] / ROWS:.1f} µs"
    )
    print(f"  (compiled in {compiled.seconds:.2f} s; largest relative difference {error:.1e})")


def steps(sizes: tuple[int, ...], budget: float) -> None:
    """µs per step at 1 ms of the general kernel and of code for the mechanism."""
    print(f"{'step of':>24} {'general':>9} {'compiled':>9} {'ratio':>6} {'made in':>9}")
    models = {f"{n} spatial links": (chain(n), 0.3) for n in sizes}
    if 10 in sizes:
        models["10 planar links"] = (chain(10, spatial=False), 0.3)
    models["7 tori"] = (torus_chain(7), 0.1)
    for name, (model, angle) in models.items():
        compiled = model.compile(progress=False)
        steppers = [st.Stepper(x, st.Variational(), 1e-3) for x in (model, compiled)]
        for stepper in steppers:
            stepper.reset(model.neutral + angle)
        general, own = (1e6 * t / STEPS for t in best_times([lambda s=s: s.run(STEPS) for s in steppers], budget))
        seconds = compiled.step_code.seconds  # type: ignore[union-attr]
        made = f"{seconds:7.2f} s" if seconds else "   cached"
        print(f"{name:>24} {general:9.2f} {own:9.2f} {general / own:6.2f} {made}")


def main() -> None:
    warnings.simplefilter("ignore", FutureWarning)  # CasADi's notice on NumPy functions of symbols
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="a short chain only, timed for a moment")
    quick = parser.parse_args().quick
    motion_equation(0.01 if quick else 2.0)
    steps((2,) if quick else (2, 5, 10, 20, 40), 0.01 if quick else 2.0)


if __name__ == "__main__":
    main()
