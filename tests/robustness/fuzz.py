"""Damaged, spliced and hostile inputs for the readers of models, robots and results.

    python tests/robustness/fuzz.py --inputs 1000000                # all kinds, some hours on one core
    python tests/robustness/fuzz.py --kind sexp --seconds 60 --first 5000

An input is fine when it is read, or refused with one of the package's errors; everything else is a fault: another
exception, numbers that are not finite, a crash, or more than `--limit` seconds. Each input follows from its kind and
number, so that `--kind robot --first 1234 --inputs 1` repeats one. Readers run in a process of their own, so that a crash
or an endless loop is one fault and not the end.
"""

# ruff: noqa: E501

import argparse
import multiprocessing
import random
import sys
import tempfile
import time
import warnings
from collections import Counter
from pathlib import Path

import numpy as np

import symplectree as st
from symplectree.io import bundled_models, results

NUMBERS = (
    "0", "-0", "-1", "1e308", "-1e308", "1e-320", "1e400", "nan", "inf", "-inf", "1e", "0x10", "1_0", "9" * 400, "1.7e5",
    "0.5.5", "+", "-", "٣", "1e999999999",
)  # fmt: skip
BYTES = (
    b"\xff",
    b"\xc3",
    b"\xed\xa0\x80",
    b"\x00",
    b"\xef\xbb\xbf",
    b"\xf4\x90\x80\x80",
    b"\r",
    b"\x1b[31m",
    b"\xe2\x80\xae",
)
SEXP_WORDS = (
    b"(", b")", b"((", b"))", b'"', b'"" ', b";", b"\\", b"(system", b"(link", b"(formula x (/ 1 x))", b"(tape 1 (const 0 1))",
    b"(inertia 1 1 1)", b"(mass 1e308)", b"(parent \"world\")", b"(rotate 0 0 9)", b"(values 2 1 3 (input 0 1 0))", b"(ball \"b\")",
    b"(free \"f\")", b"(weld-constraint \"world\" \"world\")", b"\"world\"", b"(initial (\"q\" 1))", b"(shape \"world\" \"mesh\" (1))",
)  # fmt: skip
XML_WORDS = (
    b"<", b">", b"</", b"/>", b"<!--", b"]]>", b"&lt;", b"&#0;", b"&x;", b"<?xml encoding='utf-99'?>", b'<!DOCTYPE a [<!ENTITY x "y">]>',
    b'<body name="b"><joint/></body>', b'<geom type="mesh" mesh="m"/>', b'<include file="x.xml"/>', b'<include file="/dev/zero"/>',
    b'<replicate count="999999">', b"</replicate>", b'<mesh filename="../../../etc/passwd"/>', b'<mimic joint="j"/>', b'name="world"',
    b'<inertial><mass value="-1"/></inertial>', b'<default class="main"/>', b'type="floating"', b'<connect body1="b" anchor="0 0 0"/>',
)  # fmt: skip
RESULTS = [".nc", ".npz", ".mat", ".csv"]
URDF = b"""<?xml version="1.0"?><robot name="arm"><material name="m"><color rgba="1 0 0 1"/></material>
<link name="base"/><link name="a"><inertial><origin xyz="0 0 .1" rpy="0 .1 0"/><mass value="1.5"/>
<inertia ixx=".1" ixy="0" ixz="0" iyy=".1" iyz="0" izz=".02"/></inertial><visual><geometry><box size=".1 .1 .3"/></geometry>
<material name="m"/></visual><collision><geometry><cylinder radius=".1" length=".2"/></geometry></collision></link>
<link name="b"><inertial><mass value=".5"/><inertia ixx=".01" ixy="0" ixz="0" iyy=".01" iyz="0" izz=".01"/></inertial></link>
<joint name="j" type="revolute"><parent link="base"/><child link="a"/><origin xyz="0 0 1" rpy="0 0 .5"/><axis xyz="0 1 0"/>
<limit lower="-1" upper="2" effort="10" velocity="5"/><dynamics damping=".1" friction=".2"/></joint>
<joint name="k" type="prismatic"><parent link="a"/><child link="b"/><axis xyz="1 0 0"/><mimic joint="j" multiplier="2"/>
<limit lower="0" upper=".1" effort="1" velocity="1"/></joint></robot>"""
MJCF = b"""<mujoco model="m"><compiler angle="radian"/><option gravity="0 0 -9.8"/><default><geom density="900"/></default>
<worldbody><geom type="plane" size="1 1 .1"/><body name="a" pos="0 0 1"><joint name="j" axis="0 1 0" damping=".1" range="-1 1"/>
<geom type="capsule" fromto="0 0 0 0 0 -.5" size=".05"/><site name="s"/><body name="b" pos="0 0 -.5"><joint name="k" type="ball"/>
<inertial pos="0 0 -.1" mass="1" diaginertia=".1 .1 .1"/><geom type="box" size=".1 .1 .1"/></body></body>
<body name="f" pos="1 0 1"><freejoint/><geom size=".1"/></body></worldbody>
<equality><connect body1="b" body2="f" anchor="0 0 0"/></equality><tendon><fixed name="t"><joint joint="j" coef="2"/></fixed></tendon>
<actuator><motor joint="j" gear="3"/><position joint="j" kp="5"/></actuator><sensor><gyro site="s"/></sensor>
<keyframe><key name="home" qpos="0 1 0 0 0 1 0 1 1 0 0 0"/></keyframe></mujoco>"""


def mutated(rng: random.Random, data: bytes, words: tuple[bytes, ...], other: bytes) -> bytes:
    """Some of: bytes changed, parts taken out, doubled, moved or nested, numbers and words put in, two inputs spliced."""
    for _ in range(rng.choice((1, 1, 2, 3, 6, 12))):
        at = rng.randrange(len(data) + 1)
        end = min(len(data), at + rng.choice((1, 2, 5, 20, 100)))
        kind = rng.randrange(12)
        if kind == 0:
            data = data[:at] + bytes([rng.randrange(256)]) + data[at + 1 :]
        elif kind == 1:
            data = data[:at] + data[end:]
        elif kind == 2:
            data = data[:at] + data[at:end] * rng.choice((2, 3, 30)) + data[end:]
        elif kind == 3:
            to = rng.randrange(len(data) + 1)
            data = data[:to] + data[at:end] + data[to:]
        elif kind in (4, 5, 6):
            data = with_number(rng, data)
        elif kind == 7:
            data = data[:at] + rng.choice(BYTES) + data[at:]
        elif kind in (8, 9):
            data = data[:at] + rng.choice(words) + data[at:]
        elif kind == 10:
            data = data[:at] + other[rng.randrange(len(other)) :][: rng.choice((10, 200, 5000))] + data[at:]
        elif rng.randrange(40) == 0:  # seldom, since these are long
            data = data[:at] + rng.choice(words) * rng.choice((500, 5000, 50_000)) + data[at:]
    return data


def with_number(rng: random.Random, data: bytes) -> bytes:
    """One of the numbers replaced by an unlikely one."""
    places = [i for i in range(len(data)) if data[i : i + 1].isdigit() and not data[i - 1 : i].isdigit()]
    if not places:
        return data
    at = rng.choice(places)
    end = at
    while end < len(data) and data[end : end + 1] in b"0123456789.e-":
        end += 1
    return data[:at] + rng.choice(NUMBERS).encode() + data[max(end, at + 1) :]


class Readers:
    """What each kind starts from, and reads with."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        models = {name: bundled_models.text(name).encode() for name in bundled_models.names()}
        self.seeds = {"sexp": [text for text in models.values() if len(text) < 20_000], "robot": [URDF, MJCF]}
        mechanism = st.loads(models["four_bar"].decode())
        model = mechanism.build()
        run = st.simulate(model, st.assemble(model, mechanism.initial), duration=0.05, dt=0.01)
        self.seeds["result"], self.model = [], model
        for suffix in RESULTS:
            run.save(folder / f"run{suffix}")
            self.seeds["result"].append((folder / f"run{suffix}").read_bytes())

    def read(self, kind: str, number: int) -> str:
        """Try one input: "read", "refused", or what is wrong."""
        rng = random.Random(f"{kind} {number}")
        seeds = self.seeds[kind]
        which = rng.randrange(len(seeds))
        words = SEXP_WORDS if kind == "sexp" else XML_WORDS if kind == "robot" else BYTES
        data = mutated(rng, seeds[which], words, rng.choice(seeds))
        suffix = {"sexp": [".sexp"] * len(seeds), "robot": [".urdf", ".xml"], "result": RESULTS}[kind][which]
        path = self.folder / f"input{suffix}"
        path.write_bytes(data)
        try:
            if kind == "result":
                held = results.read(path, self.model if suffix == ".csv" else None)
                return "read" if np.all(np.isfinite(held.q)) and np.all(np.isfinite(held.v)) else "not finite"
            mechanism = st.load(path)
            model = mechanism.build()
            if kind == "sexp" and number % 4 == 0:
                st.loads(mechanism.to_sexpr()).build()
            if number % 4 == 1 and model.nv < 30:
                held = st.simulate(model, model.neutral, duration=2e-3, dt=1e-3)
                return "read" if np.all(np.isfinite(held.q)) and np.all(np.isfinite(held.p)) else "not finite"
            return "read"
        except st.SymplectreeError as error:
            return "refused" if str(error).strip() else "an error without words"
        except Exception as error:
            return f"{type(error).__name__}: {' '.join(str(error).split())[:120]}"


def work(kind: str, first: int, end: int, queue: "multiprocessing.Queue[tuple[int, str]]") -> None:
    """Read the inputs of these numbers and tell of each, before and after."""
    import resource

    warnings.simplefilter("ignore")
    resource.setrlimit(resource.RLIMIT_AS, (8 * 2**30,) * 2)
    with tempfile.TemporaryDirectory() as folder:
        readers = Readers(Path(folder))
        for number in range(first, end):
            queue.put((number, ""))
            queue.put((number, readers.read(kind, number)))


def fuzz(kind: str, first: int, count: int, seconds: float, limit: float) -> tuple[Counter[str], dict[int, str]]:
    """Inputs by outcome, and the faults by number."""
    context, outcomes, faults = multiprocessing.get_context("spawn"), Counter[str](), dict[int, str]()
    number, end, until = first, first + count, time.monotonic() + seconds
    while number < end and time.monotonic() < until:
        queue: multiprocessing.Queue[tuple[int, str]] = context.Queue()
        worker = context.Process(target=work, args=(kind, number, end, queue), daemon=True)
        worker.start()
        wait = 120.0  # to import everything
        while number < end and time.monotonic() < until:
            try:
                at, outcome = queue.get(timeout=wait)
            except Exception:  # nothing came
                faults[number] = (
                    f"crash, exit code {worker.exitcode}" if not worker.is_alive() else f"more than {limit:g} s"
                )
                outcomes["fault"] += 1
                number += 1
                break
            wait = limit
            if not outcome:
                continue
            number = at + 1
            if outcome not in ("read", "refused"):
                faults[at] = outcome
            outcomes[outcome if outcome in ("read", "refused") else "fault"] += 1
        worker.kill()
        worker.join()
    return outcomes, faults


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kind", choices=("sexp", "robot", "result", "all"), default="all")
    parser.add_argument("--inputs", type=int, default=3000, help="of all kinds together")
    parser.add_argument("--first", type=int, default=0, help="number of the first input of each kind")
    parser.add_argument("--seconds", type=float, default=1e9, help="stop after so long")
    parser.add_argument("--limit", type=float, default=60.0, help="seconds that one input may take")
    given = parser.parse_args()
    kinds = ("sexp", "robot", "result") if given.kind == "all" else (given.kind,)
    total = 0
    for kind in kinds:
        start = time.monotonic()
        outcomes, faults = fuzz(kind, given.first, given.inputs // len(kinds), given.seconds / len(kinds), given.limit)
        total += len(faults)
        print(
            f"{kind}: {sum(outcomes.values())} inputs from number {given.first}, {outcomes['read']} read, {outcomes['refused']} refused, "
            f"{len(faults)} faults, {time.monotonic() - start:.0f} s", flush=True,
        )  # fmt: skip
        for number, fault in list(faults.items())[:40]:
            print(f"  --kind {kind} --first {number} --inputs 1: {fault}")
    return total > 0


if __name__ == "__main__":
    sys.exit(main())
