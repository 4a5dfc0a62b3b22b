"""Every benchmark runs, on the smallest sizes that it takes: their figures are looked at, their code must not rot."""

import importlib.util
import json
import os
import shutil
import subprocess
import sys
import time
from importlib.util import find_spec
from pathlib import Path

import pytest

import symplectree
from symplectree.bench.benchmarks import BENCHMARKS as LISTED

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
    reports = script.removesuffix(".py") in LISTED
    done = run(script, *SMALL[script], *(["--report", "report.json"] if reports else []), folder=tmp_path)
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stdout.strip()
    if reports:
        report = json.loads((tmp_path / "report.json").read_text(encoding="utf-8"))
        assert all(table["rows"] for table in report["tables"]), report["left_out"]
        assert all((tmp_path / picture["file"]).is_file() for picture in report["pictures"])


@pytest.mark.parametrize("name", LISTED)
def test_options_of_the_command_are_known(name, tmp_path):
    """Those that `symplectree bench` gives to a script."""
    text = run(f"{name}.py", "--help", folder=tmp_path).stdout
    for option in (*LISTED[name].quick, *LISTED[name].full):
        assert not option.startswith("--") or f"{option} " in text or f"{option}]" in text, option


def run(script, *options, folder):
    return subprocess.run(
        [sys.executable, BENCHMARKS / script, *options],
        cwd=folder, env={**os.environ, "MPLBACKEND": "Agg"}, capture_output=True, text=True, check=False,
    )  # fmt: skip


def test_patience():
    """Work in a copy of the process: its result, its error, and when it is given up."""
    spec = importlib.util.spec_from_file_location("patience", BENCHMARKS / "patience.py")
    patience = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(patience)

    def work():
        while True:
            pass

    assert patience.within(20, lambda: {"a": 1}) == {"a": 1}
    with pytest.raises(ZeroDivisionError):
        patience.within(20, lambda: 1 / 0)
    if hasattr(os, "fork"):
        with pytest.raises(ChildProcessError, match="its process died"):
            patience.within(20, lambda: os._exit(3))
        with pytest.raises(TimeoutError, match="more than 1 s of CPU time"):
            patience.within(1, work)
        with pytest.raises(TimeoutError, match=r"more than 0\.1 s"):
            patience.within(0.1, lambda: time.sleep(100))
