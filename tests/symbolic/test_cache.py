"""Compiled code is taken from the disk only where this user put it there."""

import hashlib
import os
import subprocess
import sys
import textwrap

import pytest

from symplectree.symbolic import cache

KEY = "0" * 64


@pytest.fixture
def place(tmp_path, monkeypatch):
    folder = tmp_path / "cache"
    monkeypatch.setenv("SYMPLECTREE_CACHE", str(folder))
    cache.write(KEY, b"code")
    assert cache.read(KEY) == b"code"
    return folder


def test_what_is_stored_is_private(place):
    assert place.stat().st_mode & 0o777 == 0o700
    assert all(file.stat().st_mode & 0o777 == 0o600 for file in place.iterdir())
    assert sorted(file.name for file in place.iterdir()) == [f"{KEY}.o", "key"]


def test_damage_is_noticed_at_every_byte(place):
    path = place / f"{KEY}.o"
    whole = path.read_bytes()
    for at in range(len(whole)):
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
        assert cache.read(KEY) is None
        path.write_bytes(whole[:at])
        assert cache.read(KEY) is None
    path.write_bytes(whole)
    assert cache.read(KEY) == b"code"


def test_a_matching_digest_is_not_enough(place):
    (place / f"{KEY}.o").write_bytes(hashlib.sha256(b"other").digest() + b"other")
    assert cache.read(KEY) is None


def test_code_under_the_name_of_other_code(place):
    (place / f"{KEY}.o").rename(place / f"{'1' * 64}.o")
    assert cache.read("1" * 64) is None


def test_a_lost_or_damaged_key_is_made_anew(place):
    for damaged in (b"", b"short", None):
        (place / "key").write_bytes(damaged) if damaged is not None else (place / "key").unlink()
        assert cache.read(KEY) is None
        cache.write(KEY, b"code")
        assert cache.read(KEY) == b"code"


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="permissions of POSIX")
@pytest.mark.parametrize("name", [f"{KEY}.o", "key", ".", ".."])
def test_what_others_may_write_to_is_not_used(place, name):
    (place / name).chmod(0o777 if name.startswith(".") else 0o666)
    assert cache.read(KEY) is None


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="owners of POSIX")
def test_what_belongs_to_others_is_not_used(place, monkeypatch):
    owner = os.getuid()
    monkeypatch.setattr(os, "getuid", lambda: owner + 1)
    assert cache.read(KEY) is None


@pytest.mark.parametrize("name", [f"{KEY}.o", "key"])
def test_links_and_pipes_are_not_followed(place, name, tmp_path):
    path = place / name
    path.rename(tmp_path / "elsewhere")
    path.symlink_to(tmp_path / "elsewhere")
    assert cache.read(KEY) is None
    path.unlink()
    os.mkfifo(path, 0o600)
    assert cache.read(KEY) is None


def test_a_planted_entry_does_not_crash_the_program(tmp_path):
    """The compiled model's own entry, its code damaged and its plain digest made to match."""
    pytest.importorskip("llvmlite")
    script = textwrap.dedent("""
        import hashlib, pathlib, os, sys
        import symplectree as st
        m = st.Mechanism()
        m.world.link("a", st.Revolute("q", axis="y"), mass=1, com=(0, 0, -1))
        compiled = st.symbolic.Equations(m.build()).compile()
        for path in pathlib.Path(os.environ["SYMPLECTREE_CACHE"]).glob("*.o"):
            code = bytearray(path.read_bytes()[32:])
            code[64:] = bytes(255 - x for x in code[64:])
            path.write_bytes(hashlib.sha256(code).digest() + code)
        print("compiled")
    """)
    environment = os.environ | {"SYMPLECTREE_CACHE": str(tmp_path / "cache")}
    for _ in range(2):
        run = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True)
        assert run.returncode == 0 and run.stdout == "compiled\n", run.stderr
