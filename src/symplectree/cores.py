"""Which of the installed cores `import symplectree._core` finds.

A core built from source is made for this machine and stands in the package itself. A wheel holds one for each level of
x86-64, `_cores/v2` to `_cores/v4`, of which the highest is taken that this machine has. SYMPLECTREE_ISA names another:
v2, v3, v4, or native, which is the one built from source.
"""

import os
from collections.abc import Callable, Collection, Iterable, Mapping
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path

from symplectree.errors import CoreError

VARIABLE = "SYMPLECTREE_ISA"

# Instructions that a level has beyond those of the one before; the names are those of core/cpu/cpu.cpp.
LEVELS = {
    "v2": ("cx16", "lahf_lm", "popcnt", "sse3", "sse4_1", "sse4_2", "ssse3"),
    "v3": ("avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "lzcnt", "movbe"),
    "v4": ("avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"),
}


def lacking(level: str, features: Collection[str]) -> list[str]:
    """The instructions that a machine with these features lacks for a level."""
    names = list(LEVELS)
    needed = (name for below in names[: names.index(level) + 1] for name in LEVELS[below])
    return [name for name in needed if name not in features]


def choose(asked: str | None, held: Collection[str], features: Callable[[], Collection[str]]) -> str:
    """One of the cores held, "native" or a level: the one asked for, or else the fastest that runs with these features.

    Raises CoreError where that one is not installed, or would not run.
    """
    if asked is not None and asked not in ("native", *LEVELS):
        raise CoreError(f"{VARIABLE} is {asked!r}; it may be native, {', '.join(LEVELS)}, or not set")
    if asked is not None and asked not in held:
        source = "install from source with pip install ." if asked == "native" else "install a wheel for x86-64"
        raise CoreError(
            f"{VARIABLE} is {asked!r}, but this installation has only {_listed(held)}: leave it unset, or {source}"
        )
    if asked == "native" or (asked is None and "native" in held):
        return "native"
    here = features()
    if asked is not None:
        if missing := lacking(asked, here):
            raise CoreError(f"{VARIABLE} is {asked!r}, but this machine lacks {', '.join(missing)}: leave it unset")
        return asked
    runs = [level for level in LEVELS if level in held and not lacking(level, here)]
    if not runs:
        lowest = min(held)
        raise CoreError(
            f"this machine lacks {', '.join(lacking(lowest, here))}, which the core for x86-64-{lowest} needs: "
            "install from source with pip install ."
        )
    return runs[-1]


def core_folder(package: str | Path, environment: Mapping[str, str] = os.environ) -> list[str]:
    """What the package's search path needs beyond the package itself: a folder of `_cores`, or nothing."""
    package = Path(package)
    folders = package / "_cores"
    held = sorted(level for level in LEVELS if (folders / level).is_dir())
    if not held or any((package / f"_core{suffix}").is_file() for suffix in EXTENSION_SUFFIXES):
        held.append("native")
    core = choose(environment.get(VARIABLE) or None, held, _features)
    return [] if core == "native" else [str(folders / core)]


def _features() -> Collection[str]:
    import symplectree._cpu as cpu

    names: list[str] = cpu.features()
    return names


def _listed(names: Iterable[str]) -> str:
    *most, last = names
    return f"{', '.join(most)} and {last}" if most else last
