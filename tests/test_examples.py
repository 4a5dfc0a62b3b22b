"""Every example runs as a person would run it, in an empty folder, and writes its picture, whose labels are whole."""

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

FILMS = ("balanced_double_pendulum", "cart_pole", "falling_cat", "marionette_follows", "satellite", "satellite_wheels")
EXAMPLES = sorted((Path(__file__).parent.parent / "examples").glob("*.py"))


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda p: p.stem)
def test_example(example, tmp_path):
    if "\nimport jax\n" in example.read_text() and find_spec("jax") is None:
        pytest.skip("JAX is not installed (pip install 'symplectree[jax]')")
    command = [sys.executable, Path(__file__).parent / "picture_layout.py", example]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    pictures = list(tmp_path.glob("*.png"))
    assert pictures, "the example wrote no picture"
    assert all(p.stat().st_size > 10_000 for p in pictures)
    if example.stem in FILMS:
        film = (tmp_path / f"{example.stem}.html").read_text()
        assert len(film) > 100_000 and "<html" in film  # one page that plays offline, its player inside
