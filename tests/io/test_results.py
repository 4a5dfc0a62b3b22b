"""Trajectories as files: bit for bit, readable by others, and nothing is lost by damage, full disks or a killed run."""

import errno
import json
import os
import pickle
import random
import signal
import subprocess
import sys
import time
import warnings

import numpy as np
import pytest

import symplectree as st
from symplectree.io import bundled_models, netcdf, stream
from symplectree.simulation import recording
from symplectree.simulation.run_record import method_from_text

TABLES = ("t", "q", "v", "p", "iterations", "substeps", "multipliers", "prescribed_forces", "energy")


def assert_same(one, other):
    for name in TABLES:
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name), err_msg=name)
    assert one.prescribed == other.prescribed
    assert one.model.coordinates == other.model.coordinates


def built(name):
    mechanism = st.loads(bundled_models.text(name))
    model = mechanism.build()
    return model, st.assemble(model, mechanism.initial)


def free_body():
    m = st.Mechanism()
    body = m.world.link("body", st.Free("body"), mass=2, inertia=(0.1, 0.2, 0.3))
    body.link("arm", st.Ball("ball"), at=(0, 0, -1), mass=1, com=(0, 0, -0.3), inertia=(0.1, 0.1, 0.02))
    m.add(st.Spring("arm", "world", stiffness=3.0))
    return m.build()


@pytest.fixture(scope="module", params=["free", "classical", "constrained", "prescribed", "thinned"])
def run(request):
    kind = request.param
    if kind == "free":
        return st.simulate(free_body(), {}, v0={"body": [1, 2, 3, 0, 0, 0]}, duration=0.5, dt=0.01)
    if kind == "prescribed":
        model, q0 = built("marionette")
        held = {name: q0[model.coordinates.index(name)] for name in model.massless}
        return st.simulate(model, q0, duration=0.2, dt=0.01, prescribed=held)
    model, q0 = built("four_bar")
    method = st.RK4() if kind == "classical" else st.Variational()
    return st.simulate(model, q0, duration=0.5, dt=0.01, method=method, save_every=7 if kind == "thinned" else 1)


@pytest.mark.parametrize("suffix", [".nc", ".npz", ".h5", ".mat"])
def test_saved_and_loaded_bit_for_bit(run, suffix, tmp_path):
    path = tmp_path / f"run{suffix}"
    run.save(path)
    loaded = st.load_trajectory(path)
    assert_same(loaded, run)
    assert loaded.settings == run.settings
    assert loaded.model.text == run.model.text
    np.testing.assert_array_equal(loaded.restart.x, run.restart.x)
    assert os.listdir(tmp_path) == [path.name]


def test_mat_files_hold_names_and_columns(run, tmp_path):
    """As MATLAB's load shows them."""
    from scipy.io import loadmat

    run.save(tmp_path / "run.mat")
    held = loadmat(tmp_path / "run.mat")
    np.testing.assert_array_equal(held["t"], run.t[:, None])
    np.testing.assert_array_equal(held["q"], run.q)
    np.testing.assert_array_equal(held["interval"], run.t[:-1, None])
    assert [str(cell.item()) for cell in held["coordinate"].ravel()] == list(run.model.coordinates)
    (tmp_path / "cut.mat").write_bytes((tmp_path / "run.mat").read_bytes()[:2000])
    with pytest.raises(st.ResultError, match=r"cut\.mat is damaged"):
        st.load_trajectory(tmp_path / "cut.mat")


def test_other_mat_files_are_refused(tmp_path):
    from scipy.io import savemat

    savemat(tmp_path / "other.mat", {"x": 1.0})
    with pytest.raises(st.ResultError, match=r"no result of Symplectree; it holds x"):
        st.load_trajectory(tmp_path / "other.mat")


def test_dataframe_has_a_row_for_each_state(run):
    frame, model = run.to_dataframe(), run.model
    velocities = [f"v {name}" for name in model.velocities]
    assert list(frame) == ["t", *model.coordinates, *velocities, "kinetic", "potential", "energy"]
    assert len(frame) == len(run)
    np.testing.assert_array_equal(frame[model.coordinates[-1]], run.q[:, -1])
    np.testing.assert_array_equal(frame[velocities[0]], run.v[:, 0])
    np.testing.assert_array_equal(frame["energy"], run.energy)


def test_dataframe_of_coordinates_called_t_and_energy():
    m = st.Mechanism()
    m.world.link("a", st.Prismatic("t"), mass=1).link("b", st.Prismatic("energy"), mass=1)
    frame = st.simulate(m.build(), {"t": 3, "energy": 4}, duration=0.1, dt=0.1).to_dataframe()
    assert list(frame)[:3] == ["t", "q t", "q energy"]
    assert frame["q t"][0] == 3 and frame["q energy"][0] == 4 and frame["t"][0] == 0


def test_dataset_says_when_and_where(run):
    name = run.model.frames[-1]
    data = run.to_dataset(frames=[name, "world"])
    np.testing.assert_array_equal(data["position"].sel(frame=name), run.pose(name)[:, :3, 3])
    np.testing.assert_array_equal(data["rotation"].sel(frame=name), run.pose(name)[:, :3, :3])
    np.testing.assert_array_equal(data["interval"], run.t_forces)
    for table in data.data_vars.values():  # everything over time has times
        assert all(d in data.coords for d in table.dims)
    if run.prescribed:
        course = data["prescribed_forces"].sel(prescribed=run.prescribed[0])
        np.testing.assert_array_equal(course, run.prescribed_forces[:, 0])
        assert course.plot()[0].get_xdata().shape == run.t_forces.shape
    for frames, words in (("tip", "frames are 'tip'; give a list"), (["nowhere"], "no frame is named 'nowhere'")):
        with pytest.raises(st.ModelError, match=words):
            run.to_dataset(frames=frames)


def test_csv_is_a_table_of_all_digits(run, tmp_path):
    run.save(tmp_path / "run.csv")
    head, *rows = (tmp_path / "run.csv").read_text().splitlines()
    assert head.split(",") == list(run.to_dataframe().columns) and len(rows) == len(run)
    loaded = st.load_trajectory(tmp_path / "run.csv", model=run.model)
    for name in ("t", "q", "v"):
        np.testing.assert_array_equal(getattr(loaded, name), getattr(run, name))
    with pytest.raises(st.ModelError, match="holds numbers only: give the model"):
        st.load_trajectory(tmp_path / "run.csv")
    table = run.to_dataframe().drop(columns=["kinetic", "potential"])  # as tables once were
    table.to_csv(tmp_path / "old.csv", index=False)
    np.testing.assert_array_equal(st.load_trajectory(tmp_path / "old.csv", model=run.model).v, run.v)


def test_other_programs_read_names_units_and_model(run, tmp_path):
    xarray, h5py = pytest.importorskip("xarray"), pytest.importorskip("h5py")
    run.save(tmp_path / "run.nc")
    with xarray.open_dataset(tmp_path / "run.nc") as data:
        name = run.model.coordinates[0]
        np.testing.assert_array_equal(data.q.sel(coordinate=name), run[name])
        np.testing.assert_array_equal(data.v, run.v)
        np.testing.assert_array_equal(data.energy, run.energy)
        assert (data.t.units, data.energy.units) == ("s", "J")
        assert list(data.coordinate_unit.values)[-1] in ("rad", "1", "m")
        assert data.attrs["method"] == run.settings.method
        assert st.loads(data.model.item()).build().coordinates == run.model.coordinates
        assert data.equals(run.to_dataset())
    with h5py.File(tmp_path / "run.nc") as file:
        np.testing.assert_array_equal(file["q"], run.q)


def test_functions_of_python_are_not_saved_but_told(tmp_path):
    m = st.Mechanism()
    m.world.link("arm", st.Revolute("q", axis="y"), mass=1, com=(0, 0, -1))
    m.add(st.UserPotential(lambda q: q[0] ** 2, lambda q: 2 * q))
    model = m.build()
    traj = st.simulate(model, {"q": 1}, duration=0.1, dt=0.01)
    with pytest.warns(UserWarning, match="load_trajectory needs model=…: UserPotential"):
        traj.save(tmp_path / "run.nc")
    with pytest.raises(st.ModelError, match="holds no model"):
        st.load_trajectory(tmp_path / "run.nc")
    assert_same(st.load_trajectory(tmp_path / "run.nc", model=model), traj)
    with pytest.raises(st.ModelError, match="another model's run, with the coordinates q"):
        st.load_trajectory(tmp_path / "run.nc", model=free_body())


def test_model_keeps_its_text_whatever_becomes_of_the_mechanism(tmp_path):
    m = st.Mechanism()
    arm = m.world.link("arm", st.Revolute("q", axis="y"), mass=1, com=(0, 0, -1))
    m.add(st.Spring(arm, "world", stiffness=1.0))
    model, text = m.build(), m.to_sexpr()
    arm.add_mass(5.0)
    arm.frame("later")
    assert model.text == text
    assert pickle.loads(pickle.dumps(model)).text == text


@pytest.mark.parametrize("text", ["Variational(order=4, tol=1e-12)", "RK4()", "Adaptive(rtol=1e-06, atol=1e-09)"])
def test_methods_from_text(text):
    assert repr(method_from_text(text)).startswith(text.split("(")[0])


@pytest.mark.parametrize(
    "text", ["__import__('os')", "RK4().x", "open('f')", "Variational(tol=print())", "RK4(", "Other()"]
)
def test_no_text_is_evaluated(text):
    with pytest.raises(st.ModelError, match="give it with method="):
        method_from_text(text)


# Damage


@pytest.fixture
def small():
    model, q0 = built("four_bar")
    return st.simulate(model, q0, duration=0.1, dt=0.01)


@pytest.mark.parametrize("suffix", [".nc", ".npz"])
def test_file_cut_short(small, suffix, tmp_path):
    path = tmp_path / f"run{suffix}"
    small.save(path)
    whole = path.read_bytes()
    for size in (len(whole) - 1, len(whole) // 2, 100, 9):
        path.write_bytes(whole[:size])
        with pytest.raises(st.ResultError, match=r"run\.\w+ is (cut short|damaged)"):
            st.load_trajectory(path)
    path.write_bytes(b"")
    with pytest.raises(st.ResultError, match="is empty"):
        st.load_trajectory(path)


def test_table_cut_short(small, tmp_path):
    path = tmp_path / "run.csv"
    small.save(path)
    whole = path.read_bytes()
    for size in (len(whole) - 1, len(whole) - 40, 10):
        path.write_bytes(whole[:size])
        with pytest.raises(st.ResultError, match=r"run\.csv is cut short"):
            st.load_trajectory(path, model=small.model)


def test_file_of_something_else(tmp_path):
    h5py = pytest.importorskip("h5py")
    (tmp_path / "text.nc").write_text("hello, this is no result")
    with pytest.raises(st.ResultError, match="is no file of results"):
        st.load_trajectory(tmp_path / "text.nc")
    with h5py.File(tmp_path / "other.nc", "w") as file:
        file["rain"] = [1.0, 2.0]
    np.savez(tmp_path / "other.npz", rain=[1.0, 2.0])
    for name in ("other.nc", "other.npz"):
        with pytest.raises(st.ResultError, match="is no result of Symplectree; it holds rain"):
            st.load_trajectory(tmp_path / name)
    with pytest.raises(st.ResultError, match="No such file"):
        st.load_trajectory(tmp_path / "missing.nc")


def test_places_that_cannot_be_written(small, tmp_path):
    with pytest.raises(st.ResultError, match=r"there is no folder .*no.*; make it first") as raised:
        small.save(tmp_path / "no" / "run.nc")
    with pytest.raises(st.ResultError, match=r"give one of \.nc"):
        small.save(tmp_path / "run.txt")
    (tmp_path / "folder.nc").mkdir()
    with pytest.raises(st.ResultError, match="is a folder"):
        small.save(tmp_path / "folder.nc")
    assert isinstance(raised.value, OSError)


def full(*_, **__):
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


@pytest.mark.parametrize("suffix", [".nc", ".npz", ".csv"])
def test_full_disk_keeps_the_old_file_and_the_trajectory(small, suffix, tmp_path, monkeypatch):
    path = tmp_path / f"run{suffix}"
    small.save(path)
    before = path.read_bytes()
    monkeypatch.setattr(os, "posix_fallocate" if suffix == ".nc" else "fsync", full)
    with pytest.raises(st.ResultError, match="the disk is full; nothing was changed") as raised:
        small.save(path)
    assert raised.value.trajectory is small
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == [path.name]


def test_disk_that_is_full_for_a_while_does_not_stop_a_run(tmp_path, monkeypatch):
    model, q0 = built("four_bar")
    monkeypatch.setattr(stream, "FLUSH", 0.0)
    monkeypatch.setattr(stream, "_write_all", full)
    with pytest.warns(UserWarning, match="run.nc cannot be written any more: the disk is full"):
        traj = st.simulate(model, q0, duration=2, dt=0.01, out=tmp_path / "run.nc")
    assert_same(st.load_trajectory(tmp_path / "run.nc"), traj)
    assert os.listdir(tmp_path) == ["run.nc"]


def test_write_that_the_system_cuts_off(tmp_path):
    """A limit on the size of files makes real writes fail half-way."""
    code = """
import resource, symplectree as st
from symplectree.io import bundled_models
m = st.loads(bundled_models.text("four_bar")); model = m.build()
short, long = (st.simulate(model, m.initial, duration=d, dt=0.01) for d in (0.1, 100))
short.save("run.nc")
resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))
for name in ("run.nc", "run.npz", "run.csv"):
    try:
        long.save(name)
    except st.ResultError as error:
        print(error)
print(len(st.load_trajectory("run.nc")))
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    *errors, count = done.stdout.splitlines()
    assert [e.split(" cannot be written: ")[1] for e in errors] == ["File too large; nothing was changed"] * 3
    assert count == "11" and os.listdir(tmp_path) == ["run.nc"]


# Resuming


@pytest.mark.parametrize(
    "method",
    [
        st.Variational(), st.Variational(order=4), st.Variational(action="midpoint"), st.Variational(solver="broyden"),
        st.RK4(), st.Adaptive(),
    ],
)  # fmt: skip
@pytest.mark.parametrize("save_every", [1, 7, 120])
def test_resumed_run_is_the_same_to_the_last_bit(method, save_every, tmp_path, monkeypatch):
    monkeypatch.setattr(recording, "restart_interval", lambda model: 50)
    model, q0 = built("closed_chain_device")
    given = {"dt": 0.01, "method": method, "save_every": save_every}
    whole = st.simulate(model, q0, duration=2, **given)
    st.simulate(model, q0, duration=1.3, **given, out=tmp_path / "run.nc")
    assert_same(st.resume(tmp_path / "run.nc", duration=2), whole)
    assert_same(st.load_trajectory(tmp_path / "run.nc"), whole)


def test_restarts_change_a_motion_by_less_than_the_solver_leaves(monkeypatch):
    model, q0 = built("four_bar")
    one = st.simulate(model, q0, duration=5, dt=0.01)
    monkeypatch.setattr(recording, "restart_interval", lambda model: 50)
    other = st.simulate(model, q0, duration=5, dt=0.01)
    np.testing.assert_allclose(one.q, other.q, atol=1e-9)
    assert not np.array_equal(one.q, other.q)  # or the test would say nothing


def test_forces_and_held_coordinates_are_resumed(tmp_path, monkeypatch):
    monkeypatch.setattr(recording, "restart_interval", lambda model: 20)
    model, q0 = built("closed_chain_device")
    given = {"dt": 0.01, "prescribed": {"J": q0[0]}, "forces": {"H": 2.0}}
    st.simulate(model, q0, duration=0.5, **given, out=tmp_path / "run.nc")
    assert_same(st.resume(tmp_path / "run.nc", duration=1), st.simulate(model, q0, duration=1, **given))


def test_functions_are_to_be_given_again(tmp_path, monkeypatch):
    monkeypatch.setattr(recording, "restart_interval", lambda model: 20)
    model, q0 = built("slider_crank")
    given = {"dt": 0.01, "prescribed": {"crank": lambda t: t**2}, "forces": lambda t, q, v: {"piston": np.sin(9 * t)}}
    st.simulate(model, q0, duration=0.5, **given, out=tmp_path / "run.nc")
    with pytest.raises(st.ModelError, match=r"forces were functions or arrays.*give forces= again"):
        st.resume(tmp_path / "run.nc", duration=1)
    again = {name: given[name] for name in ("prescribed", "forces")}
    resumed = st.resume(tmp_path / "run.nc", duration=1, **again)
    assert_same(resumed, st.simulate(model, q0, duration=1, **given))


def test_run_that_failed_leaves_what_it_had(tmp_path):
    def forces(t, q, v):
        if t > 0.5:
            raise RuntimeError("no more")
        return [0, 0, 0]

    model, q0 = built("four_bar")
    with pytest.raises(RuntimeError, match="no more") as raised:
        st.simulate(model, q0, duration=1, dt=0.01, forces=forces, out=tmp_path / "run.nc")
    assert_same(st.load_trajectory(tmp_path / "run.nc"), raised.value.trajectory)
    whole = st.simulate(model, q0, duration=1, dt=0.01, forces=lambda t, q, v: [0, 0, 0])
    assert_same(st.resume(tmp_path / "run.nc", forces=lambda t, q, v: [0, 0, 0]), whole)


def test_resuming_does_not_shorten_the_file_before_it_is_longer(tmp_path, monkeypatch):
    monkeypatch.setattr(stream, "FLUSH", 0.0)
    model, q0 = built("four_bar")
    st.simulate(model, q0, duration=2, dt=0.01, forces=lambda t, q, v: [0, 0, 0], out=tmp_path / "run.nc")
    before = (tmp_path / "run.nc").read_bytes()

    def stop(t, q, v):
        if t > 1:
            raise RuntimeError("stop")
        return [0, 0, 0]

    with pytest.raises(RuntimeError, match="stop"):
        st.resume(tmp_path / "run.nc", duration=4, forces=stop)
    assert (tmp_path / "run.nc").read_bytes() == before


def test_run_of_one_state(tmp_path):
    model, q0 = built("four_bar")
    one = st.Trajectory(model, np.zeros(1), q0[None], v=np.zeros((1, 3)))
    for name in ("one.nc", "one.npz"):
        one.save(tmp_path / name)
        assert_same(st.load_trajectory(tmp_path / name), one)
    with pytest.raises(st.ModelError, match="does not say how its run was made"):
        st.resume(tmp_path / "one.nc")


# Killing

RUN = """
import sys, symplectree as st
from symplectree.io import bundled_models
from symplectree.simulation import recording
from symplectree.io import stream
stream.FLUSH, stream.WHOLE, stream.SHARE, recording.restart_interval = 0.01, 0.05, 0, lambda model: 500
m = st.loads(bundled_models.text("four_bar")); model = m.build()
st.simulate(model, m.initial, duration=1e4, dt=0.01, save_every=int(sys.argv[1]), out="run.nc")
"""


def killed(command, folder, after):
    """Start a command, kill it so many seconds after its file is there, and return when that was."""
    process = subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 60
    while not (folder / "run.nc").exists():
        assert time.monotonic() < deadline and process.poll() is None
        time.sleep(0.001)
    time.sleep(after)
    process.send_signal(signal.SIGKILL)
    process.wait()
    return time.time()


@pytest.mark.parametrize("attempt", range(6))
def test_killed_at_any_moment_the_file_opens_and_goes_on(attempt, tmp_path, monkeypatch):
    """The file is replaced 20 times a second and the journal grows in between, so that kills hit both."""
    save_every = (1, 3)[attempt % 2]
    after = random.Random(attempt).uniform(0, 0.4)
    killed([sys.executable, "-c", RUN, str(save_every)], tmp_path, after)
    with pytest.importorskip("xarray").open_dataset(tmp_path / "run.nc") as data:
        assert data.sizes["t"] == len(data.q)
    partial = st.load_trajectory(tmp_path / "run.nc")
    assert len(partial) > 1 or after < 0.2
    monkeypatch.setattr(recording, "restart_interval", lambda model: 500)
    duration = round(partial.t[-1] + 5.03, 2)
    model, _ = built("four_bar")
    initial = st.loads(bundled_models.text("four_bar")).initial
    whole = st.simulate(model, initial, duration=duration, dt=0.01, save_every=save_every)
    np.testing.assert_array_equal(partial.q[:-1], whole.q[: len(partial) - 1])  # the last may lie within an interval
    assert_same(st.resume(tmp_path / "run.nc", duration=duration), whole)
    assert os.listdir(tmp_path) == ["run.nc"]


def test_killed_command_has_lost_seconds_at_most_and_resumes(tmp_path):
    command = [sys.executable, "-m", "symplectree", "run", "four_bar", "--duration", "1e5", "--save-every", "50"]
    when = killed([*command, "--out", "run.nc"], tmp_path, 3.5)
    newest = max((tmp_path / name).stat().st_mtime for name in os.listdir(tmp_path))
    assert when - newest < 5
    partial = st.load_trajectory(tmp_path / "run.nc")
    assert partial.t[-1] > 50
    again = subprocess.run([*command, "--out", "run.nc"], cwd=tmp_path, capture_output=True, text=True)
    assert again.returncode == 1 and "holds a run that was stopped at" in again.stderr
    duration = float(partial.t[-1]) + 10
    resumed = subprocess.run(
        [sys.executable, "-m", "symplectree", "run", "--resume", "run.nc", "--duration", repr(duration)],
        cwd=tmp_path, capture_output=True, text=True,
    )  # fmt: skip
    assert resumed.returncode == 0, resumed.stderr
    model, _ = built("four_bar")
    initial = st.loads(bundled_models.text("four_bar")).initial
    whole = st.simulate(model, initial, duration=duration, dt=0.01, save_every=50)
    assert_same(st.load_trajectory(tmp_path / "run.nc"), whole)


@pytest.mark.parametrize("method", [st.Variational(), st.RK4(), st.Adaptive()])
@pytest.mark.parametrize("save_every", [1, 7])
def test_journal_holds_all_that_the_file_would(method, save_every, tmp_path, monkeypatch):
    """Prescribed coordinates, multipliers and counts, as after a kill before the file was replaced."""
    monkeypatch.setattr(recording, "restart_interval", lambda model: 20)
    model, q0 = built("closed_chain_device")
    given = {"dt": 0.01, "prescribed": {"J": q0[0]}, "method": method, "save_every": save_every}
    with monkeypatch.context() as patch:
        patch.setattr(stream, "FLUSH", 0.0)
        patch.setattr(stream, "WHOLE", 1e9)
        patch.setattr(stream.Stream, "close", lambda self: None)
        killed_run = st.simulate(model, q0, duration=0.65, **given, out=tmp_path / "run.nc")
    assert len(netcdf.read(tmp_path / "run.nc").get("t")) == 1
    assert_same(st.load_trajectory(tmp_path / "run.nc"), killed_run)
    assert_same(st.resume(tmp_path / "run.nc", duration=1), st.simulate(model, q0, duration=1, **given))
    assert os.listdir(tmp_path) == ["run.nc"]


def test_journal_of_another_run_is_not_read(small, tmp_path):
    small.save(tmp_path / "run.nc")
    for text in (b"rubbish", b"stj1" + b"\0" * 40, b""):
        (tmp_path / "run.nc.journal").write_bytes(text)
        assert_same(st.load_trajectory(tmp_path / "run.nc"), small)


def test_attributes_are_plain(small, tmp_path):
    small.save(tmp_path / "run.nc")
    attributes = netcdf.read(tmp_path / "run.nc").attributes
    assert json.dumps(attributes)
    assert attributes["complete"] == 1 and attributes["steps_done"] == 10


def test_saving_warns_of_nothing(small, tmp_path):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        small.save(tmp_path / "run.nc")
        assert_same(st.load_trajectory(tmp_path / "run.nc"), small)
    assert [str(w.message) for w in caught] == []
