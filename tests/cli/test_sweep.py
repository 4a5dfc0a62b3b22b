"""`symplectree sweep`: the example of its help runs, results are those of `simulate`, mistakes are told."""

import re
import sys

import numpy as np
import pytest

import symplectree as st
from command_line import call, help_of, lines_of

MODEL = """
(system
  (gravity 0 0 -9.81)
  (link "arm" (revolute "shoulder" (axis "y")) (mass 1.0) (com 0 0 -0.5) (inertia 0.1 0.1 0.01)
    (frame "tip" (at 0 0 -1)))
  (joint-force "shoulder" "motor")
  (initial ("shoulder" 0.7)))
"""

SWEEP = """# a swinging arm
model = "arm.sexp"
dt = 0.01
duration = 0.2

[start]
shoulder = 0.5

[parameters]
arm.mass = [1.0, 2.0]
"force.motor" = { from = 0, to = 1, count = 3 }

[outputs]
angle = "final shoulder"
drift = "drift energy"
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("symplectree.ensemble.sweep_processes.cores", lambda: 1)
    (tmp_path / "arm.sexp").write_text(MODEL)
    (tmp_path / "sweep.toml").write_text(SWEEP)
    return tmp_path


def test_results_are_those_of_simulate(folder, capsys):
    code, out, err = call("symplectree sweep sweep.toml --executor 1", capsys)
    assert code == 0, err
    assert "6 runs to sweep.zarr" in out and "runs of arm.sexp, 6 runs: 6 done, 0 failed" in out
    assert (folder / "sweep.png").stat().st_size > 5000
    sweep, model = st.Sweep("sweep.zarr"), st.load("arm.sexp").build()
    assert sweep.shape == (2, 3)
    angles = [
        st.simulate(
            model.with_parameters({"arm.mass": mass}), {"shoulder": 0.5}, forces={"motor": force}, duration=0.2, dt=0.01
        )["shoulder"][-1]
        for mass in (1.0, 2.0)
        for force in (0.0, 0.5, 1.0)
    ]  # fmt: skip
    np.testing.assert_array_equal(sweep["angle"], angles)


def test_begun_sweeps_are_not_taken_for_new_ones(folder, capsys):
    assert call("symplectree sweep sweep.toml --executor 1", capsys)[0] == 0
    code, _, err = call("symplectree sweep sweep.toml", capsys)
    assert code == 2 and "sweep.zarr is there already: --resume goes on with it" in err
    code, out, _ = call("symplectree sweep sweep.toml --resume --executor 1 --plot other.png", capsys)
    assert code == 0 and "6 done" in out and (folder / "other.png").is_file()
    (folder / "sweep.toml").write_text(SWEEP.replace("2.0]", "3.0]"))
    code, _, err = call("symplectree sweep sweep.toml --resume", capsys)
    assert code == 1 and "6 runs of arm.mass, force.motor with other values" in err


def test_failures_are_listed_and_tried_again(folder, capsys):
    text = SWEEP.replace('"force.motor" = { from = 0, to = 1, count = 3 }', "dt = [0.01, 0.5]")
    (folder / "sweep.toml").write_text(text)
    code, out, err = call("symplectree sweep sweep.toml --executor 1", capsys)
    assert code == 0 and "4 runs: 2 done, 2 failed" in out and "run 1 (arm.mass=1, dt=0.5)" in out, err
    code, out, _ = call("symplectree sweep sweep.toml --resume --retry-failed --executor 1", capsys)
    assert code == 0 and "tried again  2 failed runs" in out and "2 failed" in out


def test_random_samples(folder, capsys):
    text = SWEEP.replace("[1.0, 2.0]", "{ mean = 1.0, deviation = 0.01 }").replace(", count = 3", "")
    (folder / "sweep.toml").write_text(f'{text}\n[samples]\nruns = 8\nseed = 2\ndesign = "latin"\n')
    code, out, err = call("symplectree sweep sweep.toml --executor 1", capsys)
    assert code == 0 and "8 done" in out, err
    assert len(set(st.Sweep("sweep.zarr")["arm.mass"])) == 8


def test_the_example_of_the_help(folder, capsys, monkeypatch):
    text = help_of(["sweep"], capsys, monkeypatch)
    (example,) = re.findall(r'model = "four_bar".*?drift energy"', text, re.S)
    (folder / "sweep.toml").write_text(
        "\n".join(line.strip() for line in example.splitlines()).replace("1.0\n", "0.1\n")
    )
    lines = [line for line in lines_of(text) if "dask" not in line]
    assert len(lines) == 3
    assert call(lines[0], capsys)[0] == 0
    assert call(lines[2], capsys)[0] == 0
    assert st.Sweep("sweep.zarr").done == 15


MISTAKES = [
    ('model = "arm.sexp"', "", "model is missing; write model ="),
    ('model = "arm.sexp"', "model = 5", ":2: model is 5; give a file"),
    ('model = "arm.sexp"', 'model = "arms.sexp"', ":2: model 'arms.sexp': "),
    ("dt = 0.01", "dt = -1", ":3: dt is -1; give a positive number of seconds"),
    ("dt = 0.01", "dt = ", "is no TOML: "),
    ("dt = 0.01", "dtt = 0.01", ":3: no entry is named 'dtt'; did you mean 'dt'?"),
    ("duration = 0.2", "duration = 'long'", ":4: duration is 'long'"),
    ("duration = 0.2", 'duration = 0.2\nmethod = "magic"', ":5: no method is named 'magic'"),
    ("duration = 0.2", 'duration = 0.2\nmethod = { name = "rk4", order = 2 }', ":5: method 'rk4': "),
    ("duration = 0.2", "duration = 0.2\nmethod = { order = 3 }", ":5: method 'variational': order is 3"),
    ("duration = 0.2", "duration = 0.2\nchunk = 0", ":5: chunk is 0; give a whole number, 1 or more"),
    ("duration = 0.2", 'duration = 0.2\nbase = "loose"', ":5: base is 'loose'"),
    ("[start]\nshoulder = 0.5", 'start = "home"', "'home'"),
    ("shoulder = 0.5", "sholder = 0.5", "did you mean 'shoulder'?"),
    ("shoulder = 0.5", 'shoulder = "up"', ":7: 'shoulder' in [start] is 'up'; give a number"),
    ("arm.mass = [1.0, 2.0]", "arm.mas = [1.0, 2.0]", ":10: no parameter is named 'arm.mas'"),
    ("arm.mass = [1.0, 2.0]", "arm.mass = 1.0", ":10: 'arm.mass' is 1.0; give a list"),
    ("arm.mass = [1.0, 2.0]", "arm.mass = [-1.0]", ":10: "),
    ("arm.mass = [1.0, 2.0]", "arm.mass = []", ":10: parameter 'arm.mass' has no values"),
    ("count = 3", "count = 0", ":11: 'force.motor' is "),
    ("count = 3", 'count = 3, spacing = "log"', ":11: 'force.motor': spacing is 'log'"),
    (", count = 3", "", ":11: 'force.motor' is {'from': 0, 'to': 1}; give a list, or"),
    ("force.motor", "force.moter", ":11: "),
    ("[outputs]", "samples = 5\n[outputs]", ":1"),
    ("[outputs]", "[samples]\nrun = 5\n[outputs]", "[samples] no entry is named 'run'; did you mean 'runs'?"),
    ("[outputs]", "[samples]\nruns = 5\n[outputs]", ":10: 'arm.mass' is [1.0, 2.0]; with [samples] give {"),
    ('angle = "final shoulder"', 'angle = "last shoulder"', ":14: output 'angle': "),
    ('angle = "final shoulder"', 'angle = "final sholder"', "did you mean 'shoulder'?"),
    ('angle = "final shoulder"\ndrift = "drift energy"', "", "outputs are empty; write"),
    ('angle = "final', '"arm.mass" = "final', "'arm.mass' is both a parameter and an output"),
]


@pytest.mark.parametrize(
    ("old", "new", "message"), MISTAKES, ids=[m[1].splitlines()[-1] if m[1] else m[2] for m in MISTAKES]
)
def test_mistakes_in_the_file(old, new, message, folder, capsys):
    assert SWEEP.count(old) == 1
    (folder / "sweep.toml").write_text(SWEEP.replace(old, new))
    code, out, err = call("symplectree sweep sweep.toml", capsys)
    assert code == 2 and err.startswith("error: sweep.toml") and message in err, err
    assert "Traceback" not in err and not (folder / "sweep.zarr").exists() and out == ""


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("sweep none.toml", "none.toml: there is no such file"),
        ("sweep sweep.toml --executor cluster", "--executor cluster: give a number of processes, or dask://HOST:PORT"),
        ("sweep sweep.toml --retry-failed", "--retry-failed is for --resume"),
        ("sweep sweep.toml --plot picture.doc", "picture.doc: the ending tells the format"),
    ],
)
def test_wrong_use(line, message, folder, capsys):
    code, _, err = call(f"symplectree {line}", capsys)
    assert code == 2 and message in err


def test_a_scheduler_that_does_not_answer(folder, capsys, monkeypatch):
    monkeypatch.setattr(sys.modules["symplectree.cli.sweep"], "WAIT", 0.5)
    code, _, err = call("symplectree sweep sweep.toml --executor dask://127.0.0.1:9", capsys)
    assert code == 2 and "no Dask scheduler answers at 127.0.0.1:9" in err
