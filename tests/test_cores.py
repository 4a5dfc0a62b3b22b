"""Which core is loaded: by the machine's features, which are made up here, and by SYMPLECTREE_ISA."""

import os
import re
import subprocess
import sys
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path

import pytest

import symplectree as st
from symplectree import _core as core
from symplectree.cores import LEVELS, choose, core_folder, lacking

ROOT = Path(__file__).parents[1]
V2, V3, V4 = (
    set().union(*(LEVELS[level] for level in levels)) for levels in (["v2"], ["v2", "v3"], ["v2", "v3", "v4"])
)
ALL = ("v2", "v3", "v4")


@pytest.mark.parametrize(
    ("held", "features", "expected"),
    [
        (ALL, V4, "v4"),
        (ALL, V3, "v3"),
        (ALL, V4 - {"bmi2"}, "v2"),  # a level needs all of those below
        (ALL, V4 - {"avx512vl"}, "v3"),
        (ALL, V2, "v2"),
        (("v2", "v3"), V4, "v3"),
        (("v2", "v3", "native"), V4, "native"),
        (("native",), set(), "native"),
    ],
)
def test_the_fastest_that_runs_is_taken(held, features, expected):
    assert choose(None, held, lambda: features) == expected


@pytest.mark.parametrize("level", ALL)
def test_one_that_is_asked_for(level):
    assert choose(level, ALL, lambda: V4) == level


@pytest.mark.parametrize(
    ("asked", "held", "features", "message"),
    [
        ("v4", ALL, V3, r"SYMPLECTREE_ISA is 'v4', but this machine lacks avx512f, avx512bw, .*: leave it unset"),
        ("v3", ALL, V3 - {"fma"}, r"'v3', but this machine lacks fma: leave it unset"),
        ("v3", ("v2",), V4, r"'v3', but this installation has only v2: .* install a wheel"),
        ("v3", ("native",), V4, r"'v3', but this installation has only native: .* install a wheel"),
        ("native", ALL, V4, r"'native', but this installation has only v2, v3 and v4: .* pip install \."),
        ("V3", ALL, V4, r"'V3'; it may be native, v2, v3, v4, or not set"),
        (None, ALL, V2 - {"popcnt"}, r"lacks popcnt, which the core for x86-64-v2 needs: .* pip install \."),
        (None, ("v3", "v4"), V2, r"lacks avx, avx2, .*, which the core for x86-64-v3 needs"),
    ],
)
def test_one_that_is_not_there_or_does_not_run(asked, held, features, message):
    with pytest.raises(st.CoreError, match=message):
        choose(asked, held, lambda: features)


def test_nothing_is_asked_of_the_machine_where_one_core_is_held():
    def never():
        raise AssertionError

    assert choose(None, ("native",), never) == choose("native", ("native",), never) == "native"


def test_folders(tmp_path):
    assert core_folder(tmp_path, {}) == core_folder(tmp_path, {"SYMPLECTREE_ISA": ""}) == []
    with pytest.raises(st.CoreError, match="only native"):
        core_folder(tmp_path, {"SYMPLECTREE_ISA": "v2"})
    (tmp_path / "_cores" / "v2").mkdir(parents=True)
    with pytest.raises(st.CoreError, match="only v2"):
        core_folder(tmp_path, {"SYMPLECTREE_ISA": "native"})
    (tmp_path / f"_core{EXTENSION_SUFFIXES[0]}").touch()
    assert core_folder(tmp_path, {}) == core_folder(tmp_path, {"SYMPLECTREE_ISA": "native"}) == []


def test_every_level_names_what_the_core_can_tell():
    source = (ROOT / "core" / "cpu" / "cpu.cpp").read_text(encoding="utf-8")
    assert set(re.findall(r'\{"(\w+)", (?:\d|0x)', source)) == V4
    assert lacking("v3", ()) == [*LEVELS["v2"], *LEVELS["v3"]]


def test_the_import_says_what_is_wrong():
    environment = os.environ | {"SYMPLECTREE_ISA": "fastest"}
    done = subprocess.run([sys.executable, "-c", "import symplectree"], env=environment, capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].endswith(
        "SYMPLECTREE_ISA is 'fastest'; it may be native, v2, v3, v4, or not set"
    )


def test_the_core_is_loaded_from_the_folder_chosen():
    folder = core_folder(Path(st.__file__).parent)
    assert not folder or Path(core.__file__).parent == Path(folder[0])
    assert core.__name__ == "symplectree._core" and core.Model.__module__ == "symplectree._core"
