"""Sweeps on a real Dask cluster: a scheduler and two workers, each a process, which the tests start and kill.

Whatever is killed (a worker, the client, the task's own process), every other result is present once, and equal, bit for
bit, to what an uninterrupted sweep of one process gives.
"""

import json
import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import sweep_tasks
import symplectree as st
from command_line import call

PATIENCE = 180.0  # s, on a machine that has other things to do
ROWS = [{"mass": 1 + 0.05 * k, "angle": 0.5 + 0.1 * (k % 7), "fate": "well"} for k in range(36)]


def environment():
    return {**os.environ, "PYTHONPATH": os.pathsep.join(map(os.path.abspath, sys.path)), "OMP_NUM_THREADS": "1"}


def until(condition, *processes):
    end = time.monotonic() + PATIENCE
    while not (value := condition()):
        assert time.monotonic() < end, "waited too long"
        assert all(process.poll() is None for process in processes), "a process has ended"
        time.sleep(0.02)
    return value


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    """Where the scheduler of a cluster of two workers listens; each worker has a nanny that replaces it."""
    folder = tmp_path_factory.mktemp("cluster")
    file = folder / "scheduler.json"
    common = {"cwd": folder, "env": environment(), "stderr": subprocess.DEVNULL}
    start = [sys.executable, "-m"]
    scheduler = subprocess.Popen(
        [*start, "distributed.cli.dask_scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard",
         "--scheduler-file", str(file)], **common,
    )  # fmt: skip
    worker = [
        *start, "distributed.cli.dask_worker", "--scheduler-file", str(file), "--nthreads", "1", "--no-dashboard",
        "--local-directory", str(folder),
    ]  # fmt: skip
    workers: list[subprocess.Popen] = []
    try:
        until(file.exists, scheduler)
        workers += [subprocess.Popen(worker, **common) for _ in range(2)]
        yield json.loads(file.read_text())["address"]
    finally:
        for process in (*workers, scheduler):
            process.terminate()
        for process in (*workers, scheduler):
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()


@pytest.fixture
def client(address):
    from distributed import Client

    with Client(address, timeout=PATIENCE) as client:
        client.wait_for_workers(2, timeout=PATIENCE)
        yield client


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory):
    """The sweep without any cluster."""
    store = tmp_path_factory.mktemp("plain") / "sweep.zarr"
    return st.sweep(sweep_tasks.swing, ROWS, executor=sweep_tasks.InThisProcess(), store=store)


def assert_same(sweep, other, but=()):
    """Bit for bit, but for the runs that failed."""
    rows = np.setdiff1d(np.arange(sweep.runs), but)
    assert sweep.outputs == other.outputs
    for name in (*sweep.parameters, *sweep.outputs):
        assert sweep[name][rows].tobytes() == other[name][rows].tobytes() or name == "fate", name
    state = sweep.dataset["state"].values
    assert (state[rows] == 1).all() and (state[list(but)] == 2).all()


def test_as_a_loop(client, uninterrupted, tmp_path):
    sweep = st.sweep(
        sweep_tasks.swing, ROWS, executor=client.get_executor(pure=False), store=tmp_path / "s.zarr", chunk=5
    )
    assert_same(sweep, uninterrupted)


def test_a_worker_is_killed(client, uninterrupted, tmp_path):
    store, pids = tmp_path / "s.zarr", list(client.run(os.getpid).values())
    assert len(set(pids)) == 2

    def kill():
        until(lambda: store.exists() and st.Sweep(store).done >= 4)
        os.kill(pids[0], signal.SIGKILL)

    thread = threading.Thread(target=kill)
    thread.start()
    sweep = st.sweep(sweep_tasks.slow, ROWS, executor=client.get_executor(pure=False), store=store, chunk=2)
    thread.join()
    assert_same(sweep, uninterrupted)
    assert pids[0] not in until(lambda: (now := client.run(os.getpid).values()) and len(now) == 2 and list(now))


def test_a_task_crashes(client, uninterrupted, tmp_path):
    """A segmentation fault kills the worker, and then only the process that its run is given."""
    rows = [{**row, "fate": "crash" if k in (5, 20) else "raise" if k == 11 else "well"} for k, row in enumerate(ROWS)]
    executor = client.get_executor(pure=False)
    sweep = st.sweep(sweep_tasks.perilous, rows, executor=executor, store=tmp_path / "s.zarr", chunk=6, retries=0)
    assert_same(sweep, uninterrupted, but=[5, 11, 20])
    messages = {failure.run: failure.message for failure in sweep.report()}
    assert messages[5] == messages[20] == "the process died: SIGSEGV, a crash in native code"
    assert messages[11].startswith("ValueError: no mass of")


CLIENT = """
import sys
from distributed import Client
import symplectree as st, sweep_tasks
from test_sweep_dask import ROWS

with Client(sys.argv[1]) as client:
    st.sweep(sweep_tasks.slow, ROWS, executor=client.get_executor(pure=False), store=sys.argv[2], chunk=2)
"""


def test_the_client_is_killed_and_started_again(client, address, uninterrupted, tmp_path):
    store = tmp_path / "s.zarr"
    script = tmp_path / "study.py"
    script.write_text(CLIENT)
    here = os.path.dirname(os.path.abspath(__file__))
    own = {**environment(), "PYTHONPATH": os.pathsep.join([here, environment()["PYTHONPATH"]])}
    command = [sys.executable, str(script), address, str(store)]
    first = subprocess.Popen(command, env=own)
    until(lambda: store.exists() and st.Sweep(store).done >= 4, first)
    first.send_signal(signal.SIGKILL)
    first.wait()
    begun = st.Sweep(store)
    assert 4 <= begun.done < len(ROWS)
    before = {name: begun[name] for name in begun.outputs}
    done = begun.dataset["state"].values == 1
    subprocess.run(command, env=own, check=True, timeout=PATIENCE)
    sweep = st.Sweep(store)
    for name, values in before.items():
        assert values[done].tobytes() == sweep[name][done].tobytes()
    assert_same(sweep, uninterrupted)


def test_from_the_command_line(address, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sweep.toml").write_text(
        'model = "four_bar"\ndt = 0.005\nduration = 0.1\nvelocity = { crank = 15 }\n'
        '[parameters]\ncoupler.mass = [0.4, 0.5, 0.6]\n[outputs]\nend = "final crank"\n'
    )
    code, out, err = call(f"symplectree sweep sweep.toml --executor dask://{address.removeprefix('tcp://')}", capsys)
    assert code == 0 and "3 runs: 3 done, 0 failed" in out, err
    by_dask = st.Sweep("sweep.zarr")["end"]
    (tmp_path / "again.toml").write_text((tmp_path / "sweep.toml").read_text())
    assert call("symplectree sweep again.toml --executor 1", capsys)[0] == 0
    assert by_dask.tobytes() == st.Sweep("again.zarr")["end"].tobytes()
