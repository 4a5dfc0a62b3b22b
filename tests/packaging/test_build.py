"""What CMake passes to the compiler for each kind of build: configured, not compiled."""

import json
import platform
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
pytestmark = [
    pytest.mark.skipif(
        not (shutil.which("cmake") and shutil.which("ninja") and find_spec("nanobind")),
        reason="cmake, ninja or nanobind is not installed",
    ),
    pytest.mark.skipif(platform.machine() not in ("x86_64", "AMD64"), reason="levels are those of x86-64"),
]


@pytest.fixture(params=["g++", "clang++"])
def compiler(request):
    if not shutil.which(request.param):
        pytest.skip(f"{request.param} is not installed")
    return request.param


def commands(folder: Path, compiler: str, *options: str) -> list[str]:
    """The compiler's commands for the core, precompiled headers and nanobind aside."""
    arguments = ["-G", "Ninja", f"-DCMAKE_CXX_COMPILER={compiler}", "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON"]
    arguments += [f"-DPython_EXECUTABLE={sys.executable}", *options]
    done = subprocess.run(["cmake", "-S", ROOT, "-B", folder, *arguments], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    entries = json.loads((folder / "compile_commands.json").read_text())
    core = [e for e in entries if Path(e["file"]).is_relative_to(ROOT / "core") and "cmake_pch" not in e["file"]]
    return [e["command"] for e in core]


def test_one_core_for_this_machine(compiler, tmp_path):
    found = commands(tmp_path, compiler)
    sources = [*(ROOT / "core").rglob("*.cpp")]
    assert len(found) == len(sources) - 1  # all but cpu.cpp
    assert all("-march=native" in command and "-O3" in command for command in found)
    assert any("--param=" in command for command in found) == (compiler == "g++")  # options that GCC alone has


def test_a_core_for_each_level(compiler, tmp_path):
    found = commands(tmp_path, compiler, "-DSYMPLECTREE_PORTABLE=ON")
    (cpu,) = [command for command in found if "cpu.cpp" in command]
    assert "-march" not in cpu
    counts = [sum(f"-march=x86-64-{level} " in command for command in found) for level in ("v2", "v3", "v4")]
    assert counts == [(len(found) - 1) / 3] * 3
    assert not any("native" in command for command in found)
