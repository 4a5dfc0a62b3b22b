"""The claims of Lee, Liu, Park and Srinivasa 2016 (section 1), measured as ratios in one run.

    pip install ".[bench]" && python benchmarks/llps16.py

They report their O(n) residual 15 and 32 times faster than the O(n²) one of Johnson and Murphey at 10 and 100 degrees of
freedom, and their root update 3.8 and 53 times faster than a full Jacobian. llps16.cpp times the kernels themselves, with
our core's headers; it is compiled here with g++.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
CORE = HERE.parent / "core"
SOURCES = (  # what the headers that it includes only declare
    "constraints/constraint_rows.cpp", "constraints/loop_solver.cpp", "constraints/row_evaluation.cpp",
    "constraints/row_structure.cpp", "dense/dense_solvers.cpp", "dynamics/aba.cpp",
    "elements/element_forces.cpp", "formula/tape.cpp",
    "integrators/body_action/root_direction.cpp", "integrators/body_action/step_rows.cpp",
    "kinematics/configurations.cpp", "kinematics/place_formula.cpp", "model/workspace.cpp",
)  # fmt: skip


def eigen_headers() -> Path:
    """Where cmeel-eigen keeps its headers."""
    for entry in map(Path, sys.path):
        if (found := entry / "cmeel.prefix/include/eigen3").is_dir():
            return found
    raise SystemExit("Eigen's headers are missing: pip install cmeel-eigen")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="*", default=[5, 10, 20, 50, 100], help="links of the chains")
    parser.add_argument("--level", type=int, default=3, help="the compiler's optimisation (default 3)")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "llps16"
        subprocess.run(
            [
                "g++", "-std=c++20", f"-O{arguments.level}", "-march=native", "-fno-math-errno", "-fno-trapping-math",
                f"-I{CORE}", "-isystem", str(eigen_headers()), str(HERE / "llps16.cpp"), *(str(CORE / f) for f in SOURCES),
                "-o", str(program),
            ],
            check=True,
        )  # fmt: skip
        subprocess.run([program, *map(str, arguments.sizes)], check=True)


if __name__ == "__main__":
    main()
