"""An MJCF file in MuJoCo and here with everything on: contacts, joint limits, dry friction.

MuJoCo's are soft. They are made stiff: time constants of 20 steps (2 ms, where that is not near, 0.4 ms), impedance 0.9999,
elliptic cones with impratio 100, no margins; ours give way by nothing. Where a body comes to lie then differs by what
MuJoCo's constraints give way, and by what 2 ms of an impact change: hence 5 mm for positions after 0.5 s.

Files often start beyond a joint's limit or with shapes that overlap, which ours keep as it is and MuJoCo throws apart. Both
therefore start with coordinates within their ranges, and free bodies raised until they overlap nothing that stands below.
Links that overlap each other in the file's pose do so by design, and so do links that hang on the world by turning joints
alone, with what stands still; as `st.load` leaves out their contacts and says so, they are left out in MuJoCo as well.

A contact holds where the gap of two shapes is below 0.1 mm at the end. The two agree on a pair when it holds in one and its
gap is below 1 mm in the other; gaps are those of our shapes at the configuration of either.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass

import mujoco
import numpy as np
from mujoco_pair import DURATION, Acting, Pair, closed, start

import symplectree as st
from symplectree import _core as core

HOLDS, NEARBY = 1e-4, 1e-3  # m or rad: gaps
NEAR = 5e-3  # m
OVERLAP = 1e-4  # m, of links by design
CASES = ((1e-3, 1e-4), (2e-4, 2e-5))  # steps of ours and of MuJoCo's [s]
TAU = 20  # MuJoCo's time constant over its step


@dataclass
class Landing:
    """After the motion: largest difference of a body's position [m]; what holds in one of the two alone; how many hold."""

    off: float
    lost: list[str]
    holding: int


def stiffen(there: mujoco.MjModel, step: float) -> None:
    """Constraints of MuJoCo as hard as its step allows."""
    option = there.opt
    option.timestep, option.integrator = step, int(mujoco.mjtIntegrator.mjINT_IMPLICITFAST)
    option.cone, option.impratio = int(mujoco.mjtCone.mjCONE_ELLIPTIC), 100
    option.iterations, option.ls_iterations, option.tolerance = 200, 100, 1e-12
    there.geom_margin[:], there.geom_gap[:], there.jnt_margin[:] = 0, 0, 0
    there.pair_margin[:], there.pair_gap[:] = 0, 0
    for of in ("geom", "pair", "jnt", "dof", "eq"):
        getattr(there, f"{of}_solref")[:] = (TAU * step, 1)
        getattr(there, f"{of}_solimp")[:, :3] = (0.9999, 0.9999, 1e-3)


def overlapping_links(there: mujoco.MjModel) -> set[tuple[int, int]]:
    """Pairs of geoms that overlap in the file's pose by design, as this module's docstring says."""
    data = mujoco.MjData(there)
    mujoco.mj_kinematics(there, data)
    mujoco.mj_comPos(there, data)
    mujoco.mj_collision(there, data)
    links = [_only_turns(there, int(body)) for body in there.geom_bodyid]
    moving = there.body_weldid[there.geom_bodyid] != 0
    deep = [tuple(sorted(c.geom)) for c in data.contact if c.dist < -OVERLAP and min(c.geom) >= 0]
    return {(int(a), int(b)) for a, b in deep if (moving[a] or links[b]) and (moving[b] or links[a])}


def _only_turns(there: mujoco.MjModel, body: int) -> bool:
    """Whether the body moves, and only turning joints are between the world and it."""
    turning = {int(mujoco.mjtJoint.mjJNT_HINGE), int(mujoco.mjtJoint.mjJNT_BALL)}
    moves = bool(there.body_weldid[body])
    while body > 0:
        first = there.body_jntadr[body]
        if not turning.issuperset(int(k) for k in there.jnt_type[first : first + there.body_jntnum[body]]):
            return False
        body = int(there.body_parentid[body])
    return moves


@contextlib.contextmanager
def without(pairs: set[tuple[int, int]]) -> Iterator[None]:
    """MuJoCo without contacts of these geoms."""
    if pairs:
        mujoco.set_mjcb_contactfilter(lambda _m, _d, a, b: (min(a, b), max(a, b)) in pairs)
    try:
        yield
    finally:
        mujoco.set_mjcb_contactfilter(None)


def theirs_after(pair: Pair, q: np.ndarray, v: np.ndarray, acting: Acting, step: float) -> np.ndarray:
    """Our configuration where MuJoCo's motion ends."""
    there = pair.there
    stiffen(there, step)
    P, _ = pair.velocities(q, v)
    data = mujoco.MjData(there)
    data.qpos[:], data.qvel[:], data.ctrl[:] = pair.to_mujoco(q), P @ v, acting.theirs
    if there.na and there.nkey:
        data.act[:] = there.key_act[0]
    with without(overlapping_links(there)):
        mujoco.mj_step(there, data, round(DURATION / step))
    if data.time < DURATION / 2:
        raise OverflowError("MuJoCo's own run overflows")
    return pair.from_mujoco(data.qpos, data.qvel)[0]


def gaps(pair: Pair, q: np.ndarray, margin: float) -> dict[str, float]:
    """Least gap by what touches, of all below the margin."""
    model = pair.ours
    limits, contacts = core.contacts_nearby(model.native, np.ascontiguousarray(q), margin)
    found: dict[str, float] = {}
    for name, gap in [*_limits(model, limits), *_contacts(model, contacts)]:
        found[name] = min(gap, found.get(name, np.inf))
    return found


def _limits(model: st.Model, found: list[tuple[int, float]]) -> Iterator[tuple[str, float]]:
    for index, gap in found:
        row = model.tables.joint_limits[index]
        yield f"{'lower' if row.side > 0 else 'upper'} end of {model.coordinates[row.q]}", gap


def _contacts(model: st.Model, found: list[tuple[int, float]]) -> Iterator[tuple[str, float]]:
    tables = model.tables
    for index, gap in found:
        row = tables.contact_pairs[index]
        a, b = (model.shapes[tables.shapes[shape]].name for shape in (row.a, row.b))
        yield f"{a} on {b}", gap


def proper(pair: Pair, q: np.ndarray) -> np.ndarray:
    """Coordinates within their ranges, and free bodies above what they overlap with, where that is enough."""
    q = np.array(q)
    for row in pair.ours.tables.joint_limits:
        q[row.q] = row.side * max(row.side * q[row.q], row.side * row.bound)
    for place in pair.ours.joints.values():
        if not isinstance(place.joint, st.Free):
            continue
        deep = depth(pair, q)
        for _ in range(20):
            raised = q.copy()
            raised[place.q_start + 2] += deep + 1e-6
            if deep < HOLDS or depth(pair, raised) > deep - HOLDS / 2:
                break
            q, deep = raised, depth(pair, raised)
    return q


def depth(pair: Pair, q: np.ndarray) -> float:
    """Of the deepest overlap of shapes [m]."""
    _, contacts = core.contacts_nearby(pair.ours.native, np.ascontiguousarray(q), 0.0)
    return -min((gap for _, gap in contacts), default=0.0)


def landed(pair: Pair, push: float = 0.0) -> Landing:
    """Both runs from the file's start; at finer steps where they do not agree at the usual ones."""
    q, v, acting = start(pair)
    v = v + push * np.random.default_rng(2).normal(size=pair.ours.nv)
    q = proper(pair, q)
    if pair.ours.rows:
        q = closed(pair.ours, q)
        v = st.project_velocity(pair.ours, q, v)
    result: Landing | None = None
    for dt, step in CASES:
        with contextlib.suppress(OverflowError):
            traj = st.simulate(
                pair.ours, q, v0=v, duration=DURATION, dt=dt, forces=acting.ours or None,
                activation=acting.activation, save_every=50,
            )  # fmt: skip
            result = _compared(pair, traj.q[-1], theirs_after(pair, q, v, acting, step))
            if result.off < NEAR and not result.lost:
                break
    if result is None:
        raise OverflowError("MuJoCo's own run overflows")
    return result


def _compared(pair: Pair, ours: np.ndarray, theirs: np.ndarray) -> Landing:
    off = float(np.abs(pair.bodies(ours) - pair.bodies(theirs)).max())
    here, there = (gaps(pair, q, NEARBY) for q in (ours, theirs))
    lost = [
        name for one, other in ((here, there), (there, here)) for name in one if one[name] < HOLDS and name not in other
    ]
    return Landing(off, lost, sum(gap < HOLDS for gap in here.values()))
