"""An MJCF file in MuJoCo and here with everything on: contacts, joint limits, dry friction.

MuJoCo's are soft. They are made stiff: time constants of 20 steps (2 ms; where that is not near, 0.4 ms), impedance 0.9999,
elliptic cones with impratio 100, no margins; ours give way by nothing. Where a body comes to lie then differs by what
MuJoCo's constraints give way, and by what 2 ms of an impact change: hence 5 mm for positions after 0.5 s.

Neither damping ratio is right for all: at the usual one of 1 what is hit leaves with e⁻² = 0.135 of its speed, as a damped
spring that cannot pull (here, as in the files, nothing is said of restitution, which is none); at 5, with 0.01 of it, what
slides goes too far (a block on a slope 0.4386 m in place of 0.4206; 0.4214 with 1). Both are tried.

Friction of MuJoCo is not Coulomb's, however stiff it is: in its convex problem what slides is lifted, by µ times the decay
of its slip, and in an impact friction acts against the change of the slip rather than against the slip. Where the two do
not agree, contacts of MuJoCo are therefore made frictionless, and Coulomb's friction is applied on top of them in every
step, µ times the normal force of the step before against the slip (0.4207 m): `Landing.law` says that only then they
agree.

Files often start beyond a joint's limit or with shapes that overlap, which ours keep as it is and MuJoCo throws apart. Both
therefore start with coordinates within their ranges, and free bodies raised until they overlap nothing that stands below.
Links that overlap each other in the file's pose do so by design, and so do links with a base that stands still on which
they are mounted, and links that hang on the world by turning joints alone, with what stands still; as `st.load` leaves out
their contacts and says so, they are left out in MuJoCo as well.

A contact holds where the gap of two shapes is below 0.1 mm at the end. The two agree on a pair when it holds in one and its
gap is below 1 mm in the other; gaps are those of our shapes at the configuration of either.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass, replace

import mujoco
import numpy as np
from mujoco_pair import DURATION, Acting, Pair, closed, start

import symplectree as st
from symplectree import _core as core

HOLDS, NEARBY = 1e-4, 1e-3  # m or rad: gaps
NEAR = 5e-3  # m
OVERLAP = 1e-4  # m, of links by design
CASES = ((1e-3, 1e-4, 1), (2e-4, 2e-5, 5))  # steps of ours and of MuJoCo's [s], and MuJoCo's damping ratio
LAWFUL = (2e-5, 4e-6)  # steps of MuJoCo's under Coulomb's law [s]
SLIP = 1e-4  # m/s, below which friction by Coulomb's law grows with the slip
TAU = 20  # MuJoCo's time constant over its step


@dataclass
class Landing:
    """After the motion: largest difference of a body's position [m]; what holds in one of the two alone; how many hold;
    whether this is beside MuJoCo with Coulomb's law."""

    off: float
    lost: list[str]
    holding: int
    law: bool = False

    @property
    def near(self) -> bool:
        return self.off < NEAR and not self.lost


def stiffen(there: mujoco.MjModel, step: float, damping: float) -> None:
    """Constraints of MuJoCo as hard as its step allows."""
    option = there.opt
    option.timestep, option.integrator = step, int(mujoco.mjtIntegrator.mjINT_IMPLICITFAST)
    option.cone, option.impratio = int(mujoco.mjtCone.mjCONE_ELLIPTIC), 100
    option.iterations, option.ls_iterations, option.tolerance = 200, 100, 1e-12
    there.geom_margin[:], there.geom_gap[:], there.jnt_margin[:] = 0, 0, 0
    there.pair_margin[:], there.pair_gap[:] = 0, 0
    for of in ("geom", "pair", "jnt", "dof", "eq"):
        getattr(there, f"{of}_solref")[:] = (TAU * step, damping)
        getattr(there, f"{of}_solimp")[:, :3] = (0.9999, 0.9999, 1e-3)


def overlapping_links(there: mujoco.MjModel) -> set[tuple[int, int]]:
    """Pairs of geoms that overlap in the file's pose by design, as this module's docstring says."""
    data = mujoco.MjData(there)
    mujoco.mj_kinematics(there, data)
    mujoco.mj_comPos(there, data)
    mujoco.mj_collision(there, data)
    deep = [sorted(c.geom) for c in data.contact if c.dist < -OVERLAP and min(c.geom) >= 0]
    found = set()
    for a, b in deep:
        bodies = [int(there.geom_bodyid[k]) for k in (a, b)]
        if all(
            there.body_weldid[one] or _only_turns(there, other) or _carries(there, one, other)
            for one, other in (bodies, bodies[::-1])
        ):
            found.add((int(a), int(b)))
    return found


def _carries(there: mujoco.MjModel, base: int, link: int) -> bool:
    """Whether a body, not the world, is one of those on which another is mounted."""
    while link > base:
        link = int(there.body_parentid[link])
    return link == base > 0


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


def theirs_after(
    pair: Pair, q: np.ndarray, v: np.ndarray, acting: Acting, step: float, damping: float, *, law: bool = False
) -> np.ndarray:
    """Our configuration where MuJoCo's motion ends; `law`: with friction by Coulomb's law."""
    there = pair.there
    stiffen(there, step, damping)
    P, _ = pair.velocities(q, v)
    data = mujoco.MjData(there)
    data.qpos[:], data.qvel[:], data.ctrl[:] = pair.to_mujoco(q), P @ v, acting.theirs
    if there.na and there.nkey:
        data.act[:] = there.key_act[0]
    with without(overlapping_links(there)):
        if law:
            Coulomb(there).run(data, round(DURATION / step))
        else:
            mujoco.mj_step(there, data, round(DURATION / step))
    if data.time < DURATION / 2:
        raise OverflowError("MuJoCo's own run overflows")
    return pair.from_mujoco(data.qpos, data.qvel)[0]


class Coulomb:
    """Runs of MuJoCo with frictionless contacts, and Coulomb's friction applied on top."""

    def __init__(self, there: mujoco.MjModel) -> None:
        self.there = there
        self.rough = there.geom_condim > 1
        self.light = there.body_invweight0[there.geom_bodyid, 0]
        self.normal: dict[tuple[int, int, int], float] = {}  # forces of the last step

    def run(self, data: mujoco.MjData, steps: int) -> None:
        condim, pairs = np.array(self.there.geom_condim), np.array(self.there.pair_dim)
        self.there.geom_condim[:], self.there.pair_dim[:] = 1, 1
        try:
            for _ in range(steps):
                self._step(data)
        finally:
            self.there.geom_condim[:], self.there.pair_dim[:] = condim, pairs

    def _step(self, data: mujoco.MjData) -> None:
        mujoco.mj_step1(self.there, data)
        data.qfrc_applied[:] = 0
        names: list[tuple[int, int, int]] = []
        for contact, (a, b) in zip(data.contact, data.contact.geom.tolist(), strict=True):
            names.append((a, b, sum(name[:2] == (a, b) for name in names)))
            if (self.rough[a] or self.rough[b]) and (force := self.normal.get(names[-1], 0.0)) > 0:
                self._rub(data, contact, a, b, float(contact.friction[0]) * force)
        mujoco.mj_step2(self.there, data)
        rows = data.contact.efc_address.tolist()
        self.normal = {name: float(data.efc_force[row]) for name, row in zip(names, rows, strict=True) if row >= 0}

    def _rub(self, data: mujoco.MjData, contact: mujoco.MjContact, a: int, b: int, most: float) -> None:
        """A force of at most so much against the slip of two geoms, and no larger than would stop it in this step."""
        J = np.zeros((2, 3, self.there.nv))
        for jacobian, geom in zip(J, (a, b), strict=True):
            mujoco.mj_jac(self.there, data, jacobian, None, contact.pos, int(self.there.geom_bodyid[geom]))
        along = J[1] - J[0]
        slip = along @ data.qvel
        slip -= (slip @ contact.frame[:3]) * contact.frame[:3]
        stopping = 2 * self.there.opt.timestep * most * (self.light[a] + self.light[b])
        data.qfrc_applied -= along.T @ slip * (most / max(float(np.linalg.norm(slip)), SLIP, stopping))


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


def within(pair: Pair, q: np.ndarray) -> np.ndarray:
    """Loops closed with coordinates within their ranges: those that closing took beyond are held at the end."""
    model, held = pair.ours, set(pair.ours.massless)
    for _ in range(5):
        beyond = [row for row in model.tables.joint_limits if row.side * (q[row.q] - row.bound) < -HOLDS / 10]
        if not beyond:
            return q
        guess = np.array(q)
        for row in beyond:
            guess[row.q] = row.bound
            held.add(str(model.coordinates[row.q]))
        try:
            q = st.assemble(model, guess, fixed=held)
        except st.AssemblyError:
            return q
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
        q = within(pair, closed(pair.ours, q))
        v = st.project_velocity(pair.ours, q, v)
    result: Landing | None = None
    for dt, step, damping in CASES:
        with contextlib.suppress(OverflowError):
            traj = st.simulate(
                pair.ours, q, v0=v, duration=DURATION, dt=dt, forces=acting.ours or None,
                activation=acting.activation, save_every=50,
            )  # fmt: skip
            result = _compared(pair, traj.q[-1], theirs_after(pair, q, v, acting, step, damping))
            if result.near:
                return result
    if result is None:
        raise OverflowError("MuJoCo's own run overflows")
    for step in LAWFUL:
        with contextlib.suppress(OverflowError):
            other = _compared(pair, traj.q[-1], theirs_after(pair, q, v, acting, step, damping, law=True))
            if other.near:
                return replace(other, law=True)
            if other.off > 4 * NEAR:
                break
    return result


def _compared(pair: Pair, ours: np.ndarray, theirs: np.ndarray) -> Landing:
    off = float(np.abs(pair.bodies(ours) - pair.bodies(theirs)).max())
    here, there = (gaps(pair, q, NEARBY) for q in (ours, theirs))
    lost = [
        name for one, other in ((here, there), (there, here)) for name in one if one[name] < HOLDS and name not in other
    ]
    return Landing(off, lost, sum(gap < HOLDS for gap in here.values()))
