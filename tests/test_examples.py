"""Every example runs as a person would run it, in an empty folder, and writes its picture."""

import subprocess
import sys
from pathlib import Path

import pytest

FILMS = ("balanced_double_pendulum", "cart_pole", "falling_cat", "marionette_follows", "satellite", "satellite_wheels")
EXAMPLES = sorted((Path(__file__).parent.parent / "examples").glob("*.py"))


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda p: p.stem)
def test_example(example, tmp_path):
    done = subprocess.run([sys.executable, example], cwd=tmp_path, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    pictures = list(tmp_path.glob("*.png"))
    assert pictures, "the example wrote no picture"
    assert all(p.stat().st_size > 10_000 for p in pictures)
    if example.stem in FILMS:
        film = (tmp_path / f"{example.stem}.html").read_text()
        assert len(film) > 100_000 and "<html" in film  # one page that plays offline, its player inside
