"""The Python of README and docs passes `mypy --strict` as a user's script would; subpackages are visible."""

import os
import subprocess
import sys
from pathlib import Path

import symplectree as st
from test_docs import PAGES, python_blocks

PACKAGE = Path(st.__file__).parent


def test_package_says_that_it_is_typed():
    assert (PACKAGE / "py.typed").is_file()


def test_subpackages_are_listed():
    assert {"control", "interop", "symbolic", "__version__", "simulate"} <= set(dir(st))


def test_pages_pass_strict_checks(tmp_path):
    """Third-party packages without types aside."""
    scripts = []
    for page in PAGES:
        lines: list[str] = []
        for block in python_blocks(page):
            lines += [""] * (block.first - 1 - len(lines)) + block.lines  # line numbers are those of the page
        if lines:
            scripts.append(f"{page.stem.replace('-', '_')}.py")
            (tmp_path / scripts[-1]).write_text("\n".join(lines), encoding="utf-8")
    command = [sys.executable, "-m", "mypy", "--strict", "--follow-imports=silent", "--no-incremental"]
    command += ["--disable-error-code=import-untyped", "--disable-error-code=import-not-found"]
    command += ["--untyped-calls-exclude=jax", "--untyped-calls-exclude=distributed", *scripts]
    environment = dict(os.environ)
    if "site-packages" not in PACKAGE.parts:
        environment["MYPYPATH"] = str(PACKAGE.parent)
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
