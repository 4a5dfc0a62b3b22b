"""The scripts of this folder on small numbers: memory does not grow, and no input of the fuzzer is a fault."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent


@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="memory is read as Linux tells it")
def test_memory_does_not_grow():
    command = [sys.executable, str(HERE / "memory.py"), "--steps", "40000", "--builds", "300"]
    run = subprocess.run(command, capture_output=True, text=True)
    assert run.returncode == 0, run.stdout + run.stderr
    assert run.stdout.count("MB") == 6


@pytest.mark.parametrize("kind", ["sexp", "robot", "result"])
def test_hostile_inputs_are_read_or_refused(kind):
    command = [sys.executable, str(HERE / "fuzz.py"), "--kind", kind, "--inputs", "150"]
    run = subprocess.run(command, capture_output=True, text=True)
    assert run.returncode == 0, run.stdout + run.stderr
    assert "150 inputs" in run.stdout and " 0 faults" in run.stdout
