"""Operations in the equations of motion, beside GL09: their Table 1, and their Fig. 6 and 7 redrawn.

    python benchmarks/operation_counts.py [--out operation_counts.png]

Additions include subtractions and changes of sign, multiplications divisions; sines and cosines are counted apart. GL09
report "roughly best and worst case results" for six revolute joints in a row and do not say which chains these are; ours
are listed with what they have in common.
"""

from __future__ import annotations

import argparse
import warnings

from matplotlib.figure import Figure
from symbolic_chains import CASES, revolute_chain, torus_chain

from symplectree.symbolic import Equations

GL09 = {
    "GL09 best": ((328, 365), (818, 943)),
    "Balafoutis and Patel": ((386, 450), (790, 956)),
    "GL09 worst": ((509, 971), (1875, 2389)),
}
KINDS = ("inverse_dynamics", "forward_dynamics")
JOINTS = (1, 2, 4, 6, 8, 10, 15, 20, 30, 45, 60)
TORI = (1, 2, 3, 5, 7, 10, 15)


def table() -> None:
    print("six revolute joints in a row       inverse dynamics      forward dynamics with its solution")
    print(f"{'':34} {'±':>8} {'×':>8} {'±':>10} {'×':>8} {'sin, cos':>9}")
    for case, what in CASES.items():
        eq = Equations(revolute_chain(6, case))
        inverse, forward = (eq.operation_count(kind) for kind in KINDS)
        print(
            f"{case:34} {inverse.additions:8} {inverse.multiplications:8} {forward.additions:10} "
            f"{forward.multiplications:8} {forward.functions:9}   {what}"
        )
    for name, ((a, b), (c, d)) in GL09.items():
        print(f"{name:34} {a:8} {b:8} {c:10} {d:8}")


def growth(joints: tuple[int, ...], tori: tuple[int, ...]) -> dict[str, list[tuple[int, int, int]]]:
    """Of each chain: (coordinates, operations of inverse, operations of forward dynamics)."""
    found: dict[str, list[tuple[int, int, int]]] = {}
    for name, sizes, build in (
        ("revolute, letter axes", joints, lambda n: revolute_chain(n, "letters")),
        ("revolute, general", joints, lambda n: revolute_chain(n, "general")),
        ("tori", tori, torus_chain),
    ):
        for n in sizes:
            eq = Equations(build(n))
            counts = [eq.operation_count(kind).total for kind in KINDS]
            found.setdefault(name, []).append((eq.model.nv, *counts))
        (n1, i1, f1), (n2, i2, f2) = found[name][-2:]
        print(
            f"{name}: per coordinate between {n1} and {n2}: inverse {(i2 - i1) / (n2 - n1):.1f}, forward "
            f"{(f2 - f1) / (n2 - n1):.1f} operations"
        )
    return found


def draw(found: dict[str, list[tuple[int, int, int]]], path: str) -> None:
    figure = Figure(figsize=(10, 7), layout="constrained")
    axes = figure.subplots(2, 2)
    for row, (kind, label) in enumerate(((1, "inverse"), (2, "forward"))):
        for name, points in found.items():
            plot = axes[row, int(name == "tori")]
            plot.plot([p[0] for p in points], [p[kind] for p in points], "o-", markersize=4, label=name)
            plot.set_title(f"{label} dynamics (GL09 Fig. {6 + row}{'b' if name == 'tori' else 'a'})")
            plot.set_xlabel("coordinates")
            plot.set_ylabel("additions and multiplications")
            plot.grid(alpha=0.3)
            plot.legend()
    for row in (0, 1):
        for name, counts in GL09.items():
            if "GL09" in name:
                axes[row, 0].plot(6, sum(counts[row]), "kx" if "best" in name else "k+")
                axes[row, 0].annotate(
                    name, (6, sum(counts[row])), textcoords="offset points", xytext=(6, 0), fontsize=8
                )
    figure.savefig(path, dpi=120)
    print(f"drawn in {path}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", default="operation_counts.png")
    parser.add_argument("--quick", action="store_true", help="short chains only")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore", FutureWarning)  # CasADi's notice on NumPy functions of symbols
    table()
    draw(growth((1, 2, 3), (1, 2)) if arguments.quick else growth(JOINTS, TORI), arguments.out)


if __name__ == "__main__":
    main()
