"""Files to be written: refused before the work, and never half there."""

import os

import pytest

import symplectree as st
from symplectree.io.atomic_write import checked_path, replacing


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("run.txt", "the ending tells the format; give one of .nc, .csv"),
        ("run", "the ending tells the format"),
        (".nc", "the ending tells the format"),
        ("no/run.nc", "there is no folder"),
        ("folder.nc", "it is a folder"),
    ],
)
def test_paths_that_cannot_be(tmp_path, name, words):
    (tmp_path / "folder.nc").mkdir()
    with pytest.raises(st.ResultError, match=words):
        checked_path(tmp_path / name, (".nc", ".csv"))


def test_paths_that_can(tmp_path, monkeypatch):
    assert checked_path(str(tmp_path / "RUN.NC"), (".nc",)) == tmp_path / "RUN.NC"
    monkeypatch.setenv("HOME", str(tmp_path))
    assert checked_path("~/run.nc", (".nc",)) == tmp_path / "run.nc"
    with pytest.raises(st.ResultError, match="3 is no path"):
        checked_path(3, (".nc",))


def test_a_folder_that_may_not_be_written_to(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "access", lambda path, mode: False)  # tests may run as root, who may do everything
    with pytest.raises(st.ResultError, match="nothing may be written to its folder"):
        checked_path(tmp_path / "run.nc", (".nc",))


def test_a_file_is_replaced_by_a_whole_one_or_not_at_all(tmp_path):
    file = tmp_path / "a.txt"
    replacing(file, lambda new: new.write_text("first"))

    def half(new):
        new.write_text("sec")
        raise OSError(28, "No space left on device")

    with pytest.raises(st.ResultError, match=r"a\.txt cannot be written: the disk is full; nothing was changed"):
        replacing(file, half)
    assert file.read_text() == "first" and list(tmp_path.iterdir()) == [file]
