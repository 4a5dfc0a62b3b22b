"""What contact geometry costs: µs per pair of shapes and per scene, in CPU time.

    pip install ".[bench]" && python benchmarks/collision.py

First every pair of shapes at random poses within the margin: all features that touch (ours), beside the one distance of
`mujoco.mj_geomDistance`, less what its call from Python takes, for which that of two spheres stands. Then scenes of many
shapes in free space and in a heap: broad phase and all contacts (ours), beside `mujoco.mj_collision` with the same shapes
at the same poses. Ours and MuJoCo's in turns, best of rounds.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from itertools import combinations, combinations_with_replacement

import mujoco
import numpy as np

from symplectree import _core
from symplectree.bench import Column, Report, ratio, report_parser

KINDS = ("sphere", "capsule", "cylinder", "box", "ellipsoid", "mesh", "plane")
SIZES = {
    "sphere": (0.13,),
    "capsule": (0.08, 0.5),
    "cylinder": (0.15, 0.36),
    "box": (0.3, 0.44, 0.2),
    "ellipsoid": (0.12, 0.2, 0.31),
    "plane": (0.0, 0.0),
}
HALVED = {"box": (0, 1, 2), "cylinder": (1,), "capsule": (1,)}
MARGIN = 0.01
REPEAT = 20


def shape(kind: str) -> _core.CollisionShape:
    nothing = np.zeros((0, 3))
    return _core.CollisionShape(
        kind=KINDS.index(kind), size=list(SIZES[kind]), pose=np.eye(4), vertices=nothing, faces=[]
    )


def geom(kind: str) -> str:
    """The same shape as a body of MJCF, free to be put anywhere."""
    half = [s / 2 if k in HALVED.get(kind, ()) else s for k, s in enumerate(SIZES[kind])]
    text = "1 1 1" if kind == "plane" else " ".join(map(str, half))
    return f'<body mocap="true"><geom type="{kind}" size="{text}" margin="{MARGIN}"/></body>'


def poses(rng: np.random.Generator, n: int, spread: float) -> np.ndarray:
    """Poses (n, 4, 4) with uniform rotations within a cube of that half side."""
    T = np.tile(np.eye(4), (n, 1, 1))
    quaternion = rng.normal(size=(n, 4))
    for k, q in enumerate(quaternion / np.linalg.norm(quaternion, axis=1, keepdims=True)):
        R = np.zeros(9)
        mujoco.mju_quat2Mat(R, q)
        T[k, :3, :3] = R.reshape(3, 3)
    T[:, :3, 3] = rng.uniform(-spread, spread, (n, 3))
    return T


def best(contestants: list[Callable[[], None]], rounds: int) -> list[float]:
    """CPU seconds of each, the least of rounds in turns."""
    least = [np.inf] * len(contestants)
    for _ in range(rounds):
        for k, run in enumerate(contestants):
            start = time.process_time()
            run()
            least[k] = min(least[k], time.process_time() - start)
    return least


def place(data: mujoco.MjData, T: np.ndarray) -> None:
    data.geom_xpos[:], data.geom_xmat[:] = T[:, :3, 3], T[:, :3, :3].reshape(-1, 9)


def pairs(report: Report, n: int, rounds: int) -> None:
    """Random poses at which the shapes are between a little overlap and the margin apart."""
    table = report.table(
        "Pairs of shapes", Column("pair", key=True), Column("symplectree", "µs", ".3f"), Column("contacts"),
        Column("MuJoCo", "µs", ".3f"),
        note="all contacts of a pair (ours), beside one distance (MuJoCo)",
    )  # fmt: skip
    solids, call = KINDS[:5], np.inf
    for kinds in [*combinations_with_replacement(solids, 2), *((kind, "plane") for kind in solids)]:
        rng = np.random.default_rng(0)
        a, b = map(shape, kinds)
        T_a, T_b = poses(rng, n, 0.4), poses(rng, n, 0.4)
        counts, rows = np.zeros(n), np.zeros((n, 8, 43))
        _core.collision_detect(a, T_a, b, T_b, 10.0, counts, rows)
        first = np.array([min(row[: int(c)], key=lambda pair: pair[1]) for row, c in zip(rows, counts, strict=True)])
        T_a[:, :3, 3] -= (first[:, 1] - rng.uniform(-1e-3, MARGIN, n))[:, None] * first[:, 2:5]
        counts = np.zeros(n)

        model = mujoco.MjModel.from_xml_string(f"<mujoco><worldbody>{''.join(map(geom, kinds))}</worldbody></mujoco>")
        data = mujoco.MjData(model)
        mujoco.mj_forward(model, data)
        both = np.stack([T_a, T_b], axis=1)

        def ours(a=a, b=b, T_a=T_a, T_b=T_b, counts=counts) -> None:
            _core.collision_detect(a, T_a, b, T_b, MARGIN, counts, np.zeros(0))

        def theirs(model=model, data=data, both=both) -> None:
            for T in both:
                place(data, T)
                mujoco.mj_geomDistance(model, data, 0, 1, 1.0, None)

        mine, peer = best([ours, theirs], rounds)
        call = min(call, peer)
        table.add("-".join(kinds), 1e6 * mine / n, counts.mean(), 1e6 * (peer - call) / n)


def scenes(report: Report, rounds: int) -> None:
    table = report.table(
        "Scenes", Column("scene", key=True), Column("symplectree", "µs", ".1f"), Column("contacts", format="d"),
        Column("MuJoCo", "µs", ".1f"), Column("MuJoCo's contacts", format="d"), ratio(),
    )  # fmt: skip
    for n, spread, name in ((50, 1.5, "free"), (50, 0.6, "heap"), (400, 3.0, "free"), (400, 1.2, "heap")):
        rng = np.random.default_rng(1)
        kinds = [*rng.choice(KINDS[:5], n), "plane"]
        T = poses(rng, n + 1, spread)
        T[-1] = np.eye(4)
        T[-1, 2, 3] = -spread
        broad = _core.BroadPhase(list(map(shape, kinds)), list(combinations(range(n + 1), 2)))
        text = "".join(
            geom(kind).replace(' mocap="true"', "").replace("<geom", "<freejoint/><geom") for kind in kinds[:-1]
        )
        floor = geom("plane").replace('<body mocap="true">', "").replace("</body>", "")
        model = mujoco.MjModel.from_xml_string(
            f"<mujoco><size memory='1G'/><worldbody>{text}{floor}</worldbody></mujoco>"
        )
        data = mujoco.MjData(model)
        mujoco.mj_forward(model, data)
        # MuJoCo sorts what hangs on the world first.
        place(data, np.concatenate([T[-1:], T[:-1]]))
        data.xpos[1:], data.xipos[1:] = T[:-1, :3, 3], T[:-1, :3, 3]
        data.xmat[1:] = data.ximat[1:] = T[:-1, :3, :3].reshape(-1, 9)

        def ours(broad=broad, T=T) -> None:
            broad.count_contacts(T, MARGIN, REPEAT)

        def theirs(model=model, data=data) -> None:
            for _ in range(REPEAT):
                mujoco.mj_collision(model, data)

        mine, peer = best([ours, theirs], rounds)
        contacts = broad.count_contacts(T, MARGIN, 1)
        times = 1e6 * mine / REPEAT, 1e6 * peer / REPEAT
        table.add(f"{name}, {n} shapes", times[0], contacts, times[1], data.ncon, mine / peer)


def main() -> None:
    parser = report_parser(__doc__)
    parser.add_argument("--poses", type=int, default=2000, help="for each pair of shapes")
    parser.add_argument("--rounds", type=int, default=7)
    options = parser.parse_args()
    report = Report(__doc__, options.report)
    pairs(report, options.poses, options.rounds)
    scenes(report, options.rounds)


if __name__ == "__main__":
    main()
