"""Bars in terminals, lines in notebooks, and silence where nobody looks."""

import sys
import types

import pytest

from symplectree.simulation import progress
from symplectree.simulation.progress import Progress, waiting


@pytest.fixture
def notebook(monkeypatch):
    """A kernel, as far as `in_notebook` looks."""
    shell = types.SimpleNamespace(config={"IPKernelApp": {}})
    monkeypatch.setitem(sys.modules, "IPython", types.SimpleNamespace(get_ipython=lambda: shell))


def test_a_notebook_without_widgets_gets_a_line(notebook, monkeypatch, capsys):
    monkeypatch.setattr(progress, "find_spec", lambda name: None)
    with Progress(100, 0.1, shown=True) as bar:
        for k in range(1, 101):
            bar.update(k)
    lines = capsys.readouterr().out.split("\r")
    assert lines[1].startswith("simulate: 0.1 of 10 s, ") and lines[-1].startswith("simulate: 10 of 10 s, 0 s left")
    assert lines[-1].endswith("\n") and len(lines) < 10  # a few times a second


def test_a_real_notebook_shows_the_progress_of_a_run():
    import nbformat
    from nbclient import NotebookClient

    cell = """
import importlib.util, sys
sys.modules["ipywidgets"] = None  # as if it were not installed
import symplectree as st
m = st.Mechanism()
m.world.link("arm", st.Revolute("q", "y"), mass=1, com=(0, 0, -1))
traj = st.simulate(m.build(), {"q": 1.0}, duration=1, dt=0.001, progress=True)
"""
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell)])
    NotebookClient(notebook, timeout=120).execute()
    text = "".join(output.get("text", "") for output in notebook.cells[0].outputs)
    assert "simulate: 1 of 1 s" in text


def test_waits_are_silent_where_nobody_looks_and_short_ones_everywhere(capfd, monkeypatch):
    monkeypatch.setattr(progress, "WAIT", 1e-9)
    with waiting(3, "film", "pictures") as bar:
        bar.update(1)
    assert capfd.readouterr() == ("", "")
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    monkeypatch.setattr(progress, "WAIT", 60.0)
    with waiting(3, "film", "pictures") as bar:
        bar.update(3)
    assert capfd.readouterr() == ("", "")
    monkeypatch.setattr(progress, "WAIT", 1e-9)
    with waiting(3, "film", "pictures") as bar:
        bar.update(3)
    out, error = capfd.readouterr()
    assert out == "" and "film" in error and "3 of 3 pictures" in error
