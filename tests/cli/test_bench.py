"""`symplectree bench`: what it takes and refuses. How benchmarks are run is in tests/bench."""

import pytest

from command_line import call, help_of, lines_of
from symplectree.bench.benchmarks import BENCHMARKS, Benchmark


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_all_are_listed_and_none_is_run(folder, capsys):
    code, out, _ = call("symplectree bench --list", capsys)
    assert code == 0 and [line.split()[0] for line in out.splitlines()] == [*BENCHMARKS]
    assert "step_cost        a step of spatial chains of 1 to 500 links; beside MuJoCo, Pinocchio, DART" in out
    assert not any(folder.iterdir())


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ("--only step_costs", "no benchmark is named 'step_costs'; did you mean 'step_cost'"),
        ("--limit 0", "--limit 0: give a positive number of seconds"),
        ("--limit nan", "--limit nan: give a positive number of seconds"),
        ("--limit soon", "soon"),
        ("--out no/where", "--out no/where: there is no folder 'no'; make it first"),
        ("--out file", "--out file cannot be made: "),
    ],
)
def test_misuse_is_told(folder, options, said, capsys):
    (folder / "file").write_text("")
    code, _, err = call(f"symplectree bench --only dynamics {options}", capsys)
    assert code == 2 and said in err


def test_one_by_name_writes_the_report(folder, capsys, monkeypatch):
    """The first of several peers is enough."""
    monkeypatch.setitem(
        BENCHMARKS, "collision", Benchmark("collision", "shapes", ("MuJoCo",), ("--poses", "10", "--rounds", "1"))
    )
    code, out, err = call("symplectree bench --quick --only collision --out here", capsys)
    assert code == 0, err
    assert out.startswith("collision        in ") and "; ratios 0." in out
    assert "| sphere-sphere |" in (folder / "here/benchmarks.md").read_text(encoding="utf-8")


def test_nothing_that_ran_is_a_failure(folder, capsys, monkeypatch):
    monkeypatch.setitem(BENCHMARKS, "collision", Benchmark("collision", "shapes", ("MuJoCo",), ("--no-such-option",)))
    code, out, err = call("symplectree bench --quick --only collision", capsys)
    assert code == 1 and "no benchmark has run; benchmarks/benchmarks.md says why" in " ".join(err.split())
    assert "failed: collision.py: error: unrecognized arguments: --no-such-option" in out


def test_the_help_shows_lines_to_type(capsys, monkeypatch):
    assert len(lines_of(help_of(["bench"], capsys, monkeypatch))) == 3
