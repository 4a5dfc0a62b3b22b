"""Every benchmark runs, on the smallest sizes that it takes: their figures are looked at, their code must not rot."""

import os
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

import symplectree

PACKAGE = str(Path(symplectree.__file__).parents[1])
BENCHMARKS = Path(__file__).parents[1] / "benchmarks"
SMALL = {
    "step_cost.py": ["--sizes", "2", "--budget", "0.01"],
    "work_precision.py": ["--sizes", "2", "--durations", "1.5"],
    "reliability.py": ["--quick"],
    "long_runs.py": ["--sizes", "2", "--durations", "1"],
    "llps16.py": ["--sizes", "3", "--level", "0"],
    "dynamics.py": ["--budget", "0.01"],
    "calls.py": ["--links", "2", "--robots", "UR5", "--budget", "0.01"],
    "derivatives.py": ["--sizes", "2", "--long", "3", "80", "--budget", "0.01"],
    "closed_chains.py": ["--quick"],
    "collision.py": ["--poses", "10", "--rounds", "1"],
    "constrained_orders.py": ["--quick"],
    "operation_counts.py": ["--quick"],
    "compiled_code.py": ["--quick"],
    "optimal_control.py": ["--steps", "4", "8", "--links", "1"],
    "compare_versions.py": [PACKAGE, PACKAGE, "--seconds", "0.01", "--rounds", "1"],  # with itself
    "builds.py": ["--rounds", "1", "--budget", "0.001"],
    "robots.py": ["gymnasium", "--limit", "3"],
    "compile_time.py": [str(BENCHMARKS.parent), "--optimization=-O0", "--only", "core/formula"],
    "cone_problems.py": ["--problems", "20"],
    "contact.py": ["--steps", "5", "--rounds", "1"],
    "batch.py": ["--sizes", "2", "--runs", "9", "--budget", "0.01"],
    "jax_rollout.py": ["--links", "1", "--steps", "5", "--rows", "2"],
}


def test_every_benchmark_is_tried():
    scripts = {p.name for p in BENCHMARKS.glob("*.py") if "__main__" in p.read_text()}
    assert scripts == set(SMALL)


@pytest.mark.parametrize("script", SMALL)
def test_runs(script, tmp_path):
    if script == "llps16.py" and shutil.which("g++") is None:
        pytest.skip("llps16.py compiles with g++, which is not installed")
    if script == "compile_time.py" and not (shutil.which("cmake") and shutil.which("ninja") and find_spec("nanobind")):
        pytest.skip("compile_time.py configures the build, for which cmake, ninja or nanobind is not installed")
    done = subprocess.run(
        [sys.executable, BENCHMARKS / script, *SMALL[script]],
        cwd=tmp_path, env={**os.environ, "MPLBACKEND": "Agg"}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stdout.strip()
