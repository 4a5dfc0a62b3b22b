"""Damage to a file of results is noticed before a library reads it, and never gives other numbers."""

import os
import random
import subprocess
import sys
import textwrap
import warnings
import zipfile

import h5py
import numpy as np
import pytest

import symplectree as st
from symplectree.io import bundled_models, netcdf, seal, trial_reading

TABLES = ("t", "q", "p", "v", "energy")


@pytest.fixture(scope="module")
def small():
    mechanism = st.loads(bundled_models.text("four_bar"))
    model = mechanism.build()
    return st.simulate(model, st.assemble(model, mechanism.initial), duration=0.1, dt=0.01)


@pytest.fixture(scope="module")
def whole(small, tmp_path_factory):
    """The bytes of the run in each format, and those of a .nc file as they were before there were seals."""
    folder, found = tmp_path_factory.mktemp("whole"), {}
    for suffix in (".nc", ".npz", ".mat", ".csv"):
        small.save(folder / f"run{suffix}")
        found[suffix] = (folder / f"run{suffix}").read_bytes()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(seal, "seal", lambda path: None)
        small.save(folder / "old.nc")
    with h5py.File(folder / "old.nc", "a") as file:
        del file.attrs[netcdf.SEALED]
    found["old"] = (folder / "old.nc").read_bytes()
    return found


def damaged(data, seed):
    """Some bytes changed, taken out, put in, or the end cut off."""
    rng, data = random.Random(seed), bytearray(data)
    for _ in range(rng.randint(1, 6)):
        at = rng.randrange(len(data))
        kind = rng.randrange(8)
        if kind < 5:
            data[at] = rng.randrange(256)
        elif kind == 5:
            data[at] ^= 1 << rng.randrange(8)
        elif kind == 6:
            del data[at : at + rng.randint(1, 9)]
        else:
            data[at:at] = rng.randbytes(rng.randint(1, 9))
    return bytes(data)


@pytest.mark.parametrize(("suffix", "count"), [(".nc", 600), (".npz", 300), (".mat", 200), (".csv", 150)])
def test_damaged_files_are_refused_or_whole(small, whole, suffix, count, tmp_path):
    """Where it loads nonetheless, as where a byte of the date in a zip was hit, all numbers are those that were saved;
    a table has no checksum but its energies, which tell of changes that matter."""
    path, refused = tmp_path / f"run{suffix}", 0
    for seed in range(count):
        path.write_bytes(data := damaged(whole[suffix], seed))
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                held = st.load_trajectory(path, model=small.model if suffix == ".csv" else None)
        except st.SymplectreeError as error:
            assert path.name in str(error)
            refused += 1
            continue
        for name in TABLES:
            one, other = getattr(held, name), getattr(small, name)
            if suffix == ".csv":
                assert np.all(np.isfinite(one)), seed
            else:
                np.testing.assert_array_equal(one, other, err_msg=f"{name}, seed {seed}")
        assert suffix != ".nc" or data == whole[suffix]
    assert refused > 0.5 * count


def test_every_byte_of_a_sealed_file_matters(whole, tmp_path):
    path, data = tmp_path / "run.nc", whole[".nc"]
    for at in [*range(0, len(data), 97), *range(len(data) - seal.LENGTH, len(data))]:
        path.write_bytes(data[:at] + bytes([data[at] ^ 4]) + data[at + 1 :])
        with pytest.raises(st.ResultError, match=r"damaged|no file of results"):
            st.load_trajectory(path)


def test_cut_at_any_place(whole, tmp_path):
    path, data = tmp_path / "run.nc", whole[".nc"]
    for size in range(8, len(data), 331):
        path.write_bytes(data[:size])
        with pytest.raises(st.ResultError, match=r"damaged|cut short"):
            st.load_trajectory(path)


def test_files_from_before_there_were_seals(small, whole, tmp_path):
    (tmp_path / "old.nc").write_bytes(whole["old"])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        held = st.load_trajectory(tmp_path / "old.nc")
    np.testing.assert_array_equal(held.q, small.q)
    (tmp_path / "old.nc").write_bytes(whole["old"][:-10])
    with pytest.raises(st.ResultError, match=r"cut short: it has [0-9]+ of [0-9]+ bytes"):
        st.load_trajectory(tmp_path / "old.nc")


def test_a_file_that_another_program_changed_is_read_with_a_word(small, tmp_path):
    path = tmp_path / "run.nc"
    small.save(path)
    with h5py.File(path, "a") as file:
        file.attrs["note"] = "the good one " * 1000
    with pytest.warns(UserWarning, match="run.nc was changed by another program after it was saved"):
        held = st.load_trajectory(path)
    np.testing.assert_array_equal(held.q, small.q)


def test_sealed_files_are_plain_netcdf(small, tmp_path):
    xarray = pytest.importorskip("xarray")
    path = tmp_path / "run.nc"
    small.save(path)
    assert seal.is_sealed(path)
    with xarray.open_dataset(path) as data:
        np.testing.assert_array_equal(data.q, small.q)
    with xarray.open_dataset(path) as data:
        data.load().to_netcdf(tmp_path / "copy.nc", engine="h5netcdf")
    with xarray.open_dataset(tmp_path / "copy.nc") as data:
        np.testing.assert_array_equal(data.q, small.q)


def test_what_hangs_or_crashes_does_so_elsewhere(whole, tmp_path, monkeypatch):
    """HDF5 waits for ever at a pipe, and is made to crash."""
    monkeypatch.setattr(trial_reading, "SECONDS", 2.0)
    os.mkfifo(tmp_path / "pipe.nc")
    with pytest.raises(st.ResultError, match=r"pipe.nc is damaged: HDF5 was not through with it after 2 s"):
        trial_reading.check_readable(tmp_path / "pipe.nc")
    monkeypatch.setattr(trial_reading, "SECONDS", 60.0)
    (tmp_path / "old.nc").write_bytes(whole["old"])
    trial_reading.check_readable(tmp_path / "old.nc")
    monkeypatch.setitem(trial_reading.SCRIPTS, "HDF5", "; os.abort()")
    with pytest.raises(st.ResultError, match=r"old.nc is damaged: HDF5 crashes on it"):
        st.load_trajectory(tmp_path / "old.nc")


def test_archives_are_not_unpacked_and_hold_no_objects(whole, tmp_path):
    """Names that point elsewhere, pickled objects, headers of arrays that are no Python, and sizes that are too large."""
    (tmp_path / "run.npz").write_bytes(whole[".npz"])
    with zipfile.ZipFile(tmp_path / "run.npz") as file:
        members = {name: file.read(name) for name in file.namelist()}
    header = b"\x93NUMPY\x01\x00\x76\x00"
    objects = header + b"{'descr': '|O', 'fortran_order': False, 'shape': (), }".ljust(117) + b"\n" + b"cos\nsystem\n."
    for bad in (
        objects,
        header + b"{'descr': '<f8', 'fortran_order': False, 'shape': (((((".ljust(117) + b"\n",
        header + b"{'descr': '<f8', 'fortran_order': False, 'shape': (10000000000000, ), }".ljust(117) + b"\n",
        header + b"__import__('os').system('touch x')".ljust(117) + b"\n",
        header + b"'''".ljust(117) + b"\n",
    ):
        with zipfile.ZipFile(tmp_path / "bad.npz", "w") as file:
            for name, data in (members | {"q.npy": bad, "../../escaped.npy": members["q.npy"]}).items():
                file.writestr(name, data)
        with pytest.raises(st.ResultError, match=r"bad.npz is cut short or damaged"):
            st.load_trajectory(tmp_path / "bad.npz")
    assert sorted(os.listdir(tmp_path)) == ["bad.npz", "run.npz"]


def test_two_programs_may_save_one_path(small, tmp_path):
    script = textwrap.dedent("""
        import sys, symplectree as st
        from symplectree.io import bundled_models
        m = st.loads(bundled_models.text("four_bar")); model = m.build()
        traj = st.simulate(model, st.assemble(model, m.initial), duration=0.1, dt=0.01)
        for k in range(25):
            traj.save("run.nc"); traj.save("run.csv")
    """)
    runs = [subprocess.Popen([sys.executable, "-c", script], cwd=tmp_path, stderr=subprocess.PIPE) for _ in range(3)]
    for run in runs:
        _, said = run.communicate(timeout=300)
        assert run.returncode == 0, said.decode()
    np.testing.assert_array_equal(st.load_trajectory(tmp_path / "run.nc").q, small.q)
    assert sorted(os.listdir(tmp_path)) == ["run.csv", "run.nc"]


def test_two_runs_do_not_write_to_one_file(small, tmp_path):
    from symplectree.io.stream import Stream

    recording = type("Recording", (), {"trajectory": lambda self: small, "rows": len(small), "done": 10})()
    first = Stream(tmp_path / "run.nc", recording)
    (tmp_path / "run.nc").unlink()
    with pytest.raises(st.ResultError, match=r"run.nc is being written by another run; give another name"):
        Stream(tmp_path / "run.nc", recording)
    first.close()
    assert os.listdir(tmp_path) == ["run.nc"]


def test_planted_links_are_not_followed(small, tmp_path):
    """Under the names of temporary files that were once used, and of the journal."""
    target = tmp_path / "precious.txt"
    target.write_text("mine")
    (tmp_path / "runs").mkdir()
    for name in (".run.tmp.nc", "run.nc"):
        (tmp_path / "runs" / name).symlink_to(target)
    small.save(tmp_path / "runs" / "run.nc")
    (tmp_path / "runs" / "out.nc.journal").symlink_to(target)
    with pytest.raises(st.ResultError, match=r"out.nc.journal cannot be written: it is a link, which is not followed"):
        st.simulate(small.model, small.q[0], duration=0.1, dt=0.01, out=tmp_path / "runs" / "out.nc")
    assert target.read_text() == "mine"
    assert not (tmp_path / "runs" / "out.nc").exists()
    np.testing.assert_array_equal(st.load_trajectory(tmp_path / "runs" / "run.nc").q, small.q)


def test_what_killed_programs_left_is_removed(small, tmp_path):
    ended = subprocess.run([sys.executable, "-c", "import os; print(os.getpid())"], capture_output=True, text=True)
    from symplectree.io.atomic_write import _machine

    left = tmp_path / f".run.{_machine()}-{int(ended.stdout)}-0123.tmp.nc"
    alive = tmp_path / f".run.{_machine()}-{os.getpid()}-0123.tmp.nc"
    elsewhere, old = tmp_path / ".run.00000000-1-0123.tmp.nc", tmp_path / ".run.00000000-1-4567.tmp.nc"
    for file in (left, alive, elsewhere, old):
        file.write_text("half")
    os.utime(old, (0, 0))
    small.save(tmp_path / "run.nc")
    assert sorted(os.listdir(tmp_path)) == sorted(["run.nc", alive.name, elsewhere.name])
