"""Benchmarks as processes: what is done counts, whatever becomes of the script; one report of all."""

import os
import shutil
import signal
import subprocess
import sys
import textwrap
import time

import pytest

from symplectree.bench import benchmarks, machine, pages
from symplectree.bench.benchmarks import BENCHMARKS, Benchmark
from symplectree.bench.run import run

HEAD = """
import os, sys, time
from symplectree.bench import Column, Report, ratio, report_parser
given = report_parser("Measures nothing | at all.").parse_args()
report = Report("Measures nothing | at all.", given.report)
table = report.table("One step", Column("n", format="d", key=True), Column("ours", "µs"), ratio("to <peer>"))
table.add(1, 2.0, 0.25)
"""
SCRIPTS = {
    "good": "table.add(2, 3.0, 1.5); report.say('Said.')\n"
    "from matplotlib.figure import Figure; report.picture(Figure(), 'curve.png', 'A curve')",
    "raises": "raise ValueError('the wheel came off')",
    "crashes": "os.kill(os.getpid(), 9)",
    "hangs": "pid = os.fork()\nif pid: open(os.environ['CHILD'], 'w').write(str(pid))\ntime.sleep(100)",
    "never": "",
}


@pytest.fixture
def scripts(tmp_path, monkeypatch):
    """A folder of small benchmarks."""
    for name, code in SCRIPTS.items():
        (tmp_path / f"{name}.py").write_text(HEAD + code)
    monkeypatch.setattr(benchmarks, "folder", lambda: tmp_path)
    monkeypatch.setitem(benchmarks.PEERS, "Nobody", ("no_such_module", "no-such-package"))
    monkeypatch.setenv("CHILD", str(tmp_path / "child"))
    return tmp_path


def tried(name, out, *, peers=("SciPy",), needed=(), limit=60.0):
    return run(Benchmark(name, f"what is {name}", peers, quick=(), needed=needed), out, quick=True, limit=limit)


def test_what_is_done_is_kept(scripts, tmp_path):
    good = tried("good", tmp_path, peers=("SciPy", "Nobody"))
    assert (good.state, good.reason) == ("done", "")
    assert good.tables[0].rows == [[1, 2.0, 0.25], [2, 3.0, 1.5]] and good.sentences == ["Said."]
    assert good.ratios == {"below": [0.25, 1.5]}
    assert (tmp_path / "pictures/benchmark_curve.png").is_file()
    assert good.left_out == {"Nobody": "which is not installed: pip install no-such-package"}


def test_what_fails_says_why_and_keeps_its_rows(scripts, tmp_path):
    for name, reason in {
        "raises": "ValueError: the wheel came off",
        "crashes": "its process ended with code -9",
    }.items():
        outcome = tried(name, tmp_path)
        assert (outcome.state, outcome.reason) == ("failed", reason)
        assert outcome.tables[0].rows == [[1, 2.0, 0.25]]


@pytest.mark.skipif(not hasattr(os, "fork") or not shutil.which("ps"), reason="no fork, or no ps to look")
def test_what_takes_too_long_is_stopped_with_its_children(scripts, tmp_path):
    begin = time.monotonic()
    outcome = tried("hangs", tmp_path, limit=5.0)
    assert time.monotonic() - begin < 30
    assert (outcome.state, outcome.reason) == ("stopped", "stopped after its limit of 5 s")
    assert outcome.tables[0].rows == [[1, 2.0, 0.25]]
    child = int((tmp_path / "child").read_text())
    for _ in range(50):
        state = subprocess.run(["ps", "-o", "stat=", "-p", str(child)], capture_output=True, text=True).stdout
        if not state.strip() or state.startswith("Z"):
            return
        time.sleep(0.1)
    pytest.fail("a process that the benchmark had started still runs")


def test_what_lacks_its_peers_is_not_run(scripts, tmp_path):
    one = tried("never", tmp_path, peers=("Nobody",))
    assert one.state == "left out"
    assert one.reason == "none of its peers (Nobody) is installed: pip install no-such-package"
    two = tried("never", tmp_path, needed=("Nobody",))
    assert two.state == "left out" and two.reason.startswith("it needs Nobody, not installed here: pip install no-such")


def test_the_report_names_everything(scripts, tmp_path):
    outcomes = [
        tried("good", tmp_path), tried("raises", tmp_path), tried("never", tmp_path, peers=("Nobody",)),
    ]  # fmt: skip
    summary = pages.Summary(outcomes, machine.machine(), machine.versions(), "2000-01-01", True)
    files = pages.write(summary, tmp_path)
    assert [file.name for file in files] == ["benchmarks.json", "benchmarks.md", "benchmarks.html"]
    text, page = (file.read_text(encoding="utf-8") for file in files[1:])
    for row in (
        "| good | what is good | 0.25, 0.88, 1.5 (below 1 is better) |", "| n | ours [µs] | to <peer> |",
        "| 2 | 3.00 | 1.50 |", "![A curve](pictures/benchmark_curve.png)", "Measures nothing \\| at all.", "Said.",
        "Not complete: ValueError: the wheel came off.", "Not run: none of its peers (Nobody) is installed",
    ):  # fmt: skip
        assert row in text, row
    for piece in (
        '<td class="better">0.25</td>', '<td class="worse">1.50</td>', "to &lt;peer&gt;", "Said.", "the wheel came off",
        'src="data:image/png;base64,', "none of its peers",
    ):  # fmt: skip
        assert piece in page, piece
    assert "http" not in page  # nothing is fetched


def test_the_list_is_of_scripts():
    for one in BENCHMARKS.values():
        assert one.script.is_file(), one.name
        assert set(one.needed) <= set(one.peers) <= set(benchmarks.PEERS)


@pytest.mark.skipif(os.name != "posix", reason="signals are another matter there")
@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM])
def test_ctrl_c_keeps_what_was_done(sent, scripts, tmp_path):
    program = f"""
        import pathlib
        from symplectree.bench import benchmarks
        from symplectree.cli import main
        benchmarks.folder = lambda: pathlib.Path({str(scripts)!r})
        benchmarks.BENCHMARKS.clear()
        for name in ("good", "hangs", "never"):
            benchmarks.BENCHMARKS[name] = benchmarks.Benchmark(name, name, ("SciPy",), quick=())
        main(["bench", "--out", "report"])
        """
    process = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(program)], cwd=tmp_path, text=True, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )  # fmt: skip
    for _ in range(600):
        if (tmp_path / "child").exists():
            break
        time.sleep(0.1)
    process.send_signal(sent)
    out, err = process.communicate(timeout=30)
    assert process.returncode == 130, err
    assert out.startswith("good ") and "report/benchmarks.md holds what was done" in err
    text = (tmp_path / "report/benchmarks.md").read_text(encoding="utf-8")
    assert "| 2 | 3.00 | 1.50 |" in text
    assert "Not complete: stopped by Ctrl-C." in text and "Not run: stopped by Ctrl-C." in text
