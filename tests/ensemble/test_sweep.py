"""Sweeps on this machine: what is computed is what a loop computes, failures harm no other run, and stores go on."""

import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pytest
import xarray

import sweep_tasks
import symplectree as st
from sweep_tasks import InThisProcess
from symplectree.ensemble.sweep_process import Process, ProcessDied
from symplectree.ensemble.sweep_processes import Processes

MASSES = [1.0, 1.5, 2.0, 2.5, 3.0, 3.5, 4.0]


@pytest.fixture
def store(tmp_path):
    return tmp_path / "sweep.zarr"


def expected(rows, task=sweep_tasks.swing):
    """What a loop gives, by name."""
    results = [task(row) for row in rows]
    return {name: np.array([np.asarray(x[name], dtype=float) for x in results]) for name in results[0]}


def same_as_loop(sweep, rows):
    for name, values in expected(rows).items():
        np.testing.assert_array_equal(sweep[name], values)


@pytest.mark.parametrize(
    "executor",
    [None, 1, InThisProcess(), lambda: ThreadPoolExecutor(2), lambda: ProcessPoolExecutor(1, get_context("spawn"))],
    ids=["processes", "one process", "own", "threads", "pool"],
)
def test_equal_to_a_loop_on_every_executor(executor, store):
    rows = [{"mass": mass, "angle": angle} for mass in MASSES[:3] for angle in (0.5, 1.0)]
    sweep = st.sweep(
        sweep_tasks.swing, {"mass": MASSES[:3], "angle": [0.5, 1.0]}, executor=executor, store=store, chunk=2
    )
    same_as_loop(sweep, rows)
    assert (sweep.runs, sweep.done, sweep.failed, sweep.missing) == (6, 6, 0, 0)
    assert (
        sweep.shape == (3, 2) and sweep.parameters == ("mass", "angle") and sweep.outputs == ("end", "energy", "count")
    )
    np.testing.assert_array_equal(sweep["mass"], [row["mass"] for row in rows])


def test_xarray_reads_it_alone(store):
    sweep = st.sweep(
        sweep_tasks.swing, {"mass": MASSES[:3], "angle": [0.5, 1.0]}, executor=InThisProcess(), store=store
    )
    alone = xarray.open_zarr(store)
    assert alone["end"].shape == (6, 2) and list(alone["state"].values) == [1] * 6
    grid = sweep.on_grid()
    assert grid["end"].dims == ("mass", "angle", "end_0")
    for mass in MASSES[:3]:
        values = grid["end"].sel(mass=mass, angle=0.5).values
        np.testing.assert_array_equal(values, sweep_tasks.swing({"mass": mass, "angle": 0.5})["end"])


FATES = ["well", "raise", "well", "crash", "exit", "well", "quit", "well"]


@pytest.mark.parametrize(
    "executor", [2, lambda: ProcessPoolExecutor(2, get_context("spawn"))], ids=["processes", "pool"]
)
def test_crashing_and_raising_runs_harm_no_other(executor, store):
    rows = [{"mass": 1 + 0.1 * k, "fate": fate} for k, fate in enumerate(FATES)]
    sweep = st.sweep(sweep_tasks.perilous, rows, executor=executor, store=store, chunk=4, retries=0)
    report = sweep.report()
    assert [failure.run for failure in report] == [k for k, fate in enumerate(FATES) if fate != "well"]
    assert report.done == 4
    messages = [failure.message for failure in report]
    assert messages[0].startswith("ValueError: no mass of 1.1 kg (sweep_tasks.py:")
    assert messages[1] == "the process died: SIGSEGV, a crash in native code"
    assert messages[2] == "the process died: it ended with exit code 3"
    assert messages[3] == "the task stopped its process (SystemExit)"
    assert report[0].parameters == rows[1]
    text = str(report)
    assert "8 runs: 4 done, 4 failed" in text and "run 1 (mass=1.1, fate=raise): ValueError" in text
    assert "2 × the process died" in text and "<pre>" in report._repr_html_()
    well = [k for k, fate in enumerate(FATES) if fate == "well"]
    for name, values in expected([rows[k] for k in well]).items():
        np.testing.assert_array_equal(sweep[name][well], values)
    assert np.isnan(sweep["end"][1]).all()


def test_a_broken_pool_of_the_user_is_made_anew(store):
    """A ProcessPoolExecutor is given up by Python as soon as one of its processes dies."""
    rows = [{"mass": 1 + 0.1 * k, "fate": "exit" if k == 5 else "well"} for k in range(8)]
    with ProcessPoolExecutor(2, get_context("spawn")) as pool:
        sweep = st.sweep(sweep_tasks.perilous, rows, executor=pool, store=store, chunk=2, retries=0)
        with pytest.raises(RuntimeError):
            pool.submit(abs, 1)
    assert (sweep.done, sweep.failed) == (7, 1) and sweep.report()[0].run == 5


def test_a_run_whose_worker_was_killed_is_tried_again(store, tmp_path):
    rows = [{"mass": mass, "folder": str(tmp_path)} for mass in MASSES]
    sweep = st.sweep(sweep_tasks.killed_once, rows, executor=1, store=store, chunk=3)
    assert (tmp_path / "killed").exists() and sweep.done == len(rows)
    same_as_loop(sweep, rows)


def test_passing_faults_are_tried_again(store, tmp_path):
    rows = [{"k": k, "folder": str(tmp_path)} for k in range(3)]
    sweep = st.sweep(sweep_tasks.passing, rows, executor=InThisProcess(), store=tmp_path / "never.zarr", retries=0)
    assert sweep.failed == 3 and "OSError: the network is away" in sweep.report()[0].message
    for mark in tmp_path.glob("tried*"):
        mark.unlink()
    assert st.sweep(sweep_tasks.passing, rows, executor=InThisProcess(), store=store, retries=1).done == 3


def test_failures_can_be_forgotten_and_tried_again(store, tmp_path):
    rows = [{"k": k, "folder": str(tmp_path)} for k in range(5)]
    call = {"executor": InThisProcess(), "store": store, "chunk": 2, "retries": 0}
    assert st.sweep(sweep_tasks.passing, rows, **call).failed == 5
    again = st.sweep(sweep_tasks.passing, rows, **call)
    assert again.failed == 5  # they are outcomes
    assert again.forget_failures() == 5 and again.missing == 5
    done = st.sweep(sweep_tasks.passing, rows, **call)
    assert done.done == 5 and len(done.report()) == 0
    np.testing.assert_array_equal(done["value"], range(5))


class Counting(InThisProcess):
    """Which runs were computed; it raises KeyboardInterrupt after so many chunks."""

    def __init__(self, stop=None):
        self.runs, self.stop = [], stop

    def submit(self, fn, /, *args, **kwargs):
        if self.stop is not None and self.stop == 0:
            raise KeyboardInterrupt
        self.stop = None if self.stop is None else self.stop - 1
        self.runs += [run for run, _ in args[1]]
        return super().submit(fn, *args, **kwargs)


def test_an_interrupted_sweep_goes_on_where_it_was(store, tmp_path, monkeypatch):
    monkeypatch.setattr("symplectree.ensemble.sweep_executor.AHEAD", 1)
    first = Counting(stop=3)
    first.workers = 1
    with pytest.raises(KeyboardInterrupt):
        st.sweep(sweep_tasks.swing, {"mass": MASSES}, executor=first, store=store, chunk=2)
    begun = st.Sweep(store)
    assert 0 < begun.done < len(MASSES) and begun.missing == len(MASSES) - begun.done
    missing = np.flatnonzero(begun.dataset["state"] == 0).tolist()
    second = Counting()
    sweep = st.sweep(sweep_tasks.swing, {"mass": MASSES}, executor=second, store=store)
    assert second.runs == missing
    whole = st.sweep(sweep_tasks.swing, {"mass": MASSES}, executor=InThisProcess(), store=tmp_path / "whole.zarr")
    xarray.testing.assert_identical(sweep.dataset.drop_attrs(), whole.dataset.drop_attrs())
    third = Counting()
    st.sweep(sweep_tasks.swing, {"mass": MASSES}, executor=third, store=store)
    assert third.runs == []


def test_it_is_read_while_it_runs(store):
    seen = []

    class Looking(InThisProcess):
        def submit(self, fn, /, *args, **kwargs):
            if (store / "end").exists():
                now = xarray.open_zarr(store)
                done = now["state"].values == 1
                assert not np.isnan(now["end"].values[done]).any()
                seen.append(int(done.sum()))
            return super().submit(fn, *args, **kwargs)

    looking = Looking()
    looking.workers = 0.25  # one chunk at a time
    st.sweep(sweep_tasks.swing, {"mass": MASSES}, executor=looking, store=store, chunk=1)
    assert seen == sorted(seen)


def other_task(p):
    return {"end": p["mass"]}


def test_other_sweeps_are_refused(store):
    st.sweep(sweep_tasks.swing, {"mass": MASSES[:3]}, executor=InThisProcess(), store=store, chunk=2)
    before = sorted((p, p.stat().st_mtime_ns) for p in store.rglob("*"))
    for task, parameters, more, sentence in (
        (other_task, {"mass": MASSES[:3]}, {}, "holds a sweep of sweep_tasks.swing, not of .*other_task; give another"),
        (sweep_tasks.swing, {"mass": MASSES}, {}, "a sweep of 3 runs of mass, not 7 runs of mass; give another store="),
        (sweep_tasks.swing, {"mass": [1, 2, 3]}, {}, "3 runs of mass with other values"),
        (sweep_tasks.swing, {"mass": MASSES[:3]}, {"chunk": 1}, "has chunks of 2 runs; leave chunk out"),
    ):
        with pytest.raises(st.ResultError, match=sentence):
            st.sweep(task, parameters, executor=InThisProcess(), store=store, **more)
    assert sorted((p, p.stat().st_mtime_ns) for p in store.rglob("*")) == before


def test_a_task_that_has_changed_is_refused(store):
    def with_factor(factor):
        return lambda p: {"x": factor * p["mass"]}

    st.sweep(with_factor(2.0), {"mass": MASSES}, executor=InThisProcess(), store=store)
    st.sweep(with_factor(2.0), {"mass": MASSES}, executor=InThisProcess(), store=store)
    with pytest.raises(st.ResultError, match=r"begun with another .*its code, or a value that it uses, has changed"):
        st.sweep(with_factor(3.0), {"mass": MASSES}, executor=InThisProcess(), store=store)


def test_what_is_no_store_is_refused_and_left_alone(tmp_path):
    (tmp_path / "text.zarr").write_text("mine")
    (tmp_path / "folder.zarr").mkdir()
    for name in ("text.zarr", "folder.zarr"):
        with pytest.raises(st.ResultError, match=f"{name} is no store of a sweep"):
            st.sweep(sweep_tasks.swing, {"mass": MASSES}, store=tmp_path / name)
    assert (tmp_path / "text.zarr").read_text() == "mine"
    with pytest.raises(st.ResultError, match="there is no folder"):
        st.sweep(sweep_tasks.swing, {"mass": MASSES}, store=tmp_path / "none" / "sweep.zarr")
    with pytest.raises(st.ResultError, match="there is no store"):
        st.Sweep(tmp_path / "none.zarr")


@pytest.mark.parametrize(
    ("returned", "sentence"),
    [
        (5, "the task returned 5; return a dict"),
        ({}, "the task returned {}; return a dict"),
        ({"x": "text"}, r"the task returned 'x' = 'text'; return numbers"),
        ({"x": [[1], [1, 2]]}, "return numbers or arrays"),
        ({3: 1.0}, "a value named 3"),
    ],
)
def test_results_that_are_none(returned, sentence, store):
    sweep = st.sweep(lambda p: returned, {"mass": MASSES[:2]}, executor=InThisProcess(), store=store)
    assert sweep.failed == 2 and sentence in sweep.report()[0].message


def test_results_of_unlike_shape_are_failures(store):
    def task(p):
        return {"x": np.zeros(p["n"])} if p["n"] < 9 else {"x": np.zeros(2), "y": 1}

    sweep = st.sweep(task, {"n": [2, 3, 2, 9]}, executor=InThisProcess(), store=store, chunk=4)
    messages = [failure.message for failure in sweep.report()]
    assert [failure.run for failure in sweep.report()] == [1, 3]
    assert messages[0] == "the task returned 'x' of shape (3,), and (2,) in the first run that was done"
    assert messages[1] == "the task returned 'x', 'y', and 'x' in the first run that was done"


def test_names_that_stand_for_others_are_refused(store):
    with pytest.raises(st.ModelError, match="'mass', which is the name of a parameter"):
        st.sweep(lambda p: p, {"mass": MASSES[:2]}, executor=InThisProcess(), store=store)


def test_kinds_of_numbers(store):
    def task(p):
        k = p["k"]
        return {"walker/x": k, "flag": k > 1, "z": 1j * k, "small": np.float32(k), "mean": np.full((2, 2), k)}

    sweep = st.sweep(task, {"k": [0, 1, 2], "way/of": ["up", "down"]}, executor=InThisProcess(), store=store)
    assert sweep["walker/x"].dtype == sweep["flag"].dtype == float and sweep["small"].dtype == np.float32
    np.testing.assert_array_equal(sweep["z"], 1j * np.array([0, 0, 1, 1, 2, 2]))
    assert sweep["mean"].shape == (6, 2, 2)
    assert sweep["way/of"].tolist() == ["up", "down"] * 3
    assert "walker|x" in sweep.dataset


@pytest.mark.parametrize(
    ("change", "error", "sentence"),
    [
        ({"task": 5}, st.ModelError, "the task is 5; give a function"),
        ({"task": lambda: {}}, st.ModelError, "the task takes no argument"),
        ({"task": threading.Lock().acquire}, st.ModelError, "cannot be sent to other processes"),
        ({"chunk": 0}, st.ModelError, "chunk is 0; give a whole number, 1 or more"),
        ({"chunk": 2.5}, st.ModelError, "chunk is 2.5"),
        ({"retries": -1}, st.ModelError, "retries is -1; give a whole number, 0 or more"),
        ({"executor": 0}, st.ModelError, "executor is 0; give the number of processes"),
        ({"executor": "dask"}, st.ModelError, "executor is 'dask', no concurrent.futures.Executor"),
        ({"executor": lambda: 5}, st.ModelError, r"executor\(\) gave 5"),
        ({"parameters": 5}, st.ModelError, "parameters are 5"),
    ],
)
def test_bad_arguments(change, error, sentence, store):
    given = {"task": sweep_tasks.swing, "parameters": {"mass": MASSES}, "store": store, **change}
    with pytest.raises((error, TypeError), match=sentence):
        st.sweep(given.pop("task"), given.pop("parameters"), **given)


def test_an_executor_that_is_shut_down_is_told(store):
    pool = ThreadPoolExecutor(1)
    pool.shutdown()
    with pytest.raises(st.ResultError, match="the executor takes no work"):
        st.sweep(sweep_tasks.swing, {"mass": MASSES}, executor=pool, store=store)


class DyingWorkers(Executor):
    """A cluster on which nothing works."""

    def submit(self, fn, /, *args, **kwargs):
        future = Future()
        future.set_exception(ConnectionError("no route to host"))
        return future


def test_a_cluster_that_does_nothing_is_no_failure_of_runs(store):
    with pytest.raises(st.ResultError, match=r"workers die at once .*no route to host.* holds 0 runs of 7"):
        st.sweep(sweep_tasks.swing, {"mass": MASSES}, executor=DyingWorkers(), store=store)
    assert st.Sweep(store).missing == 7


class WeakWorkers(InThisProcess):
    """Workers that die of run 4, whatever is done for them."""

    def submit(self, fn, /, *args, **kwargs):
        if any(run == 4 for run, _ in args[1]):
            future = Future()
            future.set_exception(RuntimeError("worker lost"))
            return future
        return super().submit(fn, *args[:-1], False)


def test_a_run_that_kills_workers_is_found_by_halving(store):
    sweep = st.sweep(sweep_tasks.swing, {"mass": MASSES}, executor=WeakWorkers(), store=store, chunk=7)
    assert sweep.done == 6 and [failure.run for failure in sweep.report()] == [4]
    assert sweep.report()[0].message == "its worker died: RuntimeError: worker lost"


SCRIPT = """
import time
import symplectree as st

factor = 2.0

def task(p):
    time.sleep(0.05)
    return {"x": factor * p["k"]}

print(st.sweep(task, {"k": list(range(40))}, executor=2, store="sweep.zarr", chunk=2))
"""


def test_a_script_that_is_killed_leaves_no_process_and_goes_on(tmp_path):
    """The task is the script's own, and the script has no guard of `__main__`."""
    script = tmp_path / "study.py"
    script.write_text(SCRIPT)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, str(script)]
    client = subprocess.Popen(command, cwd=tmp_path, env=environment)
    store, patience = tmp_path / "sweep.zarr", time.monotonic() + 120
    while not (store.exists() and st.Sweep(store).done >= 4):
        assert client.poll() is None and time.monotonic() < patience
        time.sleep(0.02)
    children = _children(client.pid)
    assert len(children) == 2
    client.send_signal(signal.SIGKILL)
    client.wait()
    while any(_alive(child) for child in children):
        assert time.monotonic() < patience
        time.sleep(0.02)
    before = st.Sweep(store).done
    assert 4 <= before < 40
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=True)
    assert "40 of 40 runs done" in done.stdout
    np.testing.assert_array_equal(st.Sweep(store)["x"], 2.0 * np.arange(40))


def _children(pid):
    return [
        int(child) for task in Path(f"/proc/{pid}/task").iterdir() for child in (task / "children").read_text().split()
    ]


def _alive(pid):
    try:
        return "State:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return False


def test_a_process_answers_raises_and_dies(capfd):
    process = Process()
    try:
        assert process.call(abs, -3) == 3
        process.call(print, "said there")
        with pytest.raises(ZeroDivisionError):
            process.call(divmod, 1, 0)
        assert process.call(os.getpid) == process.pid
        with pytest.raises(ProcessDied, match="SIGKILL, as when memory runs out"):
            process.call(os.kill, process.pid, signal.SIGKILL)
    finally:
        process.close()
    assert "said there" in capfd.readouterr().err


def test_warnings_of_runs_are_shown_once(capfd):
    process = Process()
    try:
        for number in range(5):
            process.call(sweep_tasks.warn, number)
    finally:
        process.close()
    assert capfd.readouterr().err.count("UserWarning") == 1


def test_processes_outlive_one_of_them():
    with Processes(2) as pool:
        futures = [pool.submit(abs, -1), pool.submit(os._exit, 7), pool.submit(abs, -2)]
        assert futures[0].result() == 1 and futures[2].result() == 2
        with pytest.raises(ProcessDied, match="exit code 7"):
            futures[1].result()
        assert pool.submit(abs, -5).result() == 5
    with pytest.raises(RuntimeError):
        pool.submit(abs, 1)


def test_plots(store, tmp_path):
    sweep = st.sweep(
        lambda p: {"x": p["a"] * p["b"] if p["a"] else 1 / 0, "y": p["a"]}, {"a": [0, 1, 2], "b": [1.0, 2.0]},
        executor=InThisProcess(), store=store,
    )  # fmt: skip
    figure = sweep.plot(path=tmp_path / "map.png")
    assert (tmp_path / "map.png").stat().st_size > 5000
    assert figure._suptitle.get_text() == "2 of 6 runs failed (red)"
    assert {axes.get_xlabel() for axes in figure.axes if axes.get_xlabel()} == {"a"}
    lines = st.sweep(
        lambda p: {"x": p["a"]}, {"a": [0, 1, 2]}, executor=InThisProcess(), store=tmp_path / "l.zarr"
    ).plot()
    assert lines.axes[0].get_ylabel() == "x" and len(lines.axes[0].lines[0].get_xdata()) == 3
    with pytest.raises(st.ModelError, match="'z'"):
        sweep.plot("z")
