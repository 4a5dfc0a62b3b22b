"""The Python of README and docs passes `mypy --strict` and pyright as a user's script would; subpackages are visible."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import symplectree as st
from test_docs import PAGES, python_blocks

PACKAGE = Path(st.__file__).parent


def test_package_says_that_it_is_typed():
    assert (PACKAGE / "py.typed").is_file()


def test_subpackages_are_listed():
    assert {"control", "interop", "symbolic", "__version__", "simulate"} <= set(dir(st))


@pytest.fixture
def scripts(tmp_path):
    """Names of files in `tmp_path` that hold the Python of one page each, on the page's lines."""
    names = []
    for page in PAGES:
        lines: list[str] = []
        for block in python_blocks(page):
            lines += [""] * (block.first - 1 - len(lines)) + block.lines
        if lines:
            names.append(f"{page.stem.replace('-', '_')}.py")
            (tmp_path / names[-1]).write_text("\n".join(lines), encoding="utf-8")
    return names


def test_pages_pass_strict_checks(tmp_path, scripts):
    """Third-party packages without types aside."""
    command = [sys.executable, "-m", "mypy", "--strict", "--follow-imports=silent", "--no-incremental"]
    command += ["--disable-error-code=import-untyped", "--disable-error-code=import-not-found"]
    command += ["--untyped-calls-exclude=jax", "--untyped-calls-exclude=distributed", *scripts]
    environment = dict(os.environ)
    if "site-packages" not in PACKAGE.parts:
        environment["MYPYPATH"] = str(PACKAGE.parent)
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.skipif(shutil.which("pyright") is None, reason="pyright, which needs Node.js, is not installed")
def test_pages_pass_pyright(tmp_path, scripts):
    """Packages that are not installed aside, and MuJoCo's own types, which lack its names."""
    settings = {"reportMissingImports": False, "extraPaths": [str(PACKAGE.parent)], "include": scripts}
    (tmp_path / "pyrightconfig.json").write_text(json.dumps(settings), encoding="utf-8")
    command = ["pyright", "--outputjson", "--pythonpath", sys.executable]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    told = json.loads(done.stdout)
    assert told["summary"]["filesAnalyzed"] == len(scripts)
    wrong = [
        f"{Path(found['file']).name}:{found['range']['start']['line'] + 1}: {found['message']}"
        for found in told["generalDiagnostics"]
        if found["severity"] == "error" and 'module "mujoco"' not in found["message"]
    ]
    assert not wrong, "\n".join(wrong)
