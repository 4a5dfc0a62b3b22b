"""Mechanisms in which coordinates follow others, in two forms: by constraint rows, and eliminated."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.interpolate import CubicSpline

import symplectree as st
from mechanisms import closed_mechanism, floating_mechanism, random_mechanism, random_state
from reference.coordinate_map import CoordinateMap

# Of random trees; formulas of one coordinate may follow.
JOINTS = ("Fixed", "Revolute", "Prismatic", "Screw", "Cylindrical", "Universal", "Planar", "Ball", "Free", "Formula1")
FLAT = ("Fixed", "Revolute", "Prismatic", "Screw", "Cylindrical", "Universal", "Planar")


@dataclass
class Pair:
    """The same mechanism with couplings as rows and eliminated; a state (q, v) of each that meets all constraints."""

    rows: st.Model
    shared: st.Model
    q: np.ndarray
    v: np.ndarray
    q_rows: np.ndarray
    v_rows: np.ndarray

    def C(self, q: np.ndarray) -> np.ndarray:
        """Derivative of all coordinates in the independent ones."""
        return CoordinateMap(self.shared).matrix(q)


def tree_pair(seed: int, bodies: int = 10, *, curved: bool = False, joints: tuple[str, ...] = JOINTS) -> Pair:
    """A random tree with one of every element."""
    m = random_mechanism(seed, bodies, elements=True, joints=joints)
    q, v, _ = random_state(m.build(), seed)
    return _pair(m, q, v, seed, curved)


def floating_pair(seed: int, bodies: int = 7, *, curved: bool = False) -> Pair:
    """A tree that hangs on a Free joint."""
    m = floating_mechanism(seed, bodies, elements=True, joints=FLAT)
    q, v, _ = random_state(m.build(), seed)
    return _pair(m, q, v, seed, curved)


def closed_pair(seed: int, kinds: Any = ("Point", "Gear"), *, curved: bool = False) -> Pair:
    """A random tree with closed loops besides."""
    model, q, v = closed_mechanism(seed, 14, kinds, joints=JOINTS)
    return _pair(model.description.copy(), q, v, seed, curved, count=3)


def _pair(m: st.Mechanism, q: np.ndarray, v: np.ndarray, seed: int, curved: bool, count: int = 5) -> Pair:
    """Couplings that the configuration q meets: several follow one, and one follows a follower."""
    rng = np.random.default_rng(seed)
    tree = m.build()
    coupled = {c for e in m.elements if isinstance(e, st.GearConstraint) for c in (e.a, e.b)}
    names = [
        name for place in tree.joints.values() if place.joint.nq == place.joint.nv
        for name in tree.coordinates[place.q] if name not in coupled
    ]  # fmt: skip
    picked = [str(x) for x in rng.permutation(names)[: count + 1]]
    leaders = [picked[0], picked[0], picked[1], *picked[:1] * count]
    added = []
    for k, name in enumerate(picked[1:]):
        leader = leaders[k]
        x, y = q[tree.coordinates.index(leader)], q[tree.coordinates.index(name)]
        added.append(_coupling(k, leader, name, float(x), float(y), rng=rng, curved=curved))
    models = []
    for eliminate in (False, True):
        copy = m.copy()
        copy.add(*(type(e)(**vars(e) | {"eliminate": eliminate}) for e in added))
        models.append(copy.build())
    rows, shared = models
    v = st.project_velocity(rows, q, v)
    assert shared.nv == rows.nv - len(added)
    assert len(shared.rows) == len(rows.rows) - len(added)
    followers = shared.followers
    return Pair(rows, shared, q[followers.independent_q].copy(), v[followers.independent_v].copy(), q, v)


def _coupling(k: int, leader: str, name: str, x: float, y: float, *, rng: Any, curved: bool) -> Any:
    ratio = float(rng.uniform(0.3, 1.5) * rng.choice([-1, 1]))
    if curved and k % 2 == 1:
        if k == 3:
            at = x + np.linspace(-4.3, 3.7, 9)  # not with a break at x, where the third derivative jumps
            spline = CubicSpline(at, 0.3 * np.cos(at))  # as the constraint makes of it
            return st.CamConstraint(leader, name, profile=(at, y + ratio * (at - x) + 0.3 * np.cos(at) - spline(x)))
        shift = y - 0.4 * np.sin(x) - ratio * x
        return st.CamConstraint(leader, name, profile=lambda z: 0.4 * np.sin(z) + ratio * z + shift)
    if k == 0:
        return st.ScrewConstraint(leader, name, pitch=ratio, offset=y - ratio * x)
    return st.GearConstraint(leader, name, ratio=ratio, offset=y - ratio * x)


def tongs(cells: int, *, eliminate: bool = True) -> st.Mechanism:
    """Lazy tongs with a load at their end: one coordinate, and two of the load (GL09 Fig. 5(d))."""
    m = st.Mechanism()
    bar: dict[str, Any] = {"mass": 0.05, "inertia": (1.7e-4, 1.7e-4, 1e-6)}
    for side, sign in (("left", 1), ("right", -1)):
        link = m.world.link(f"{side}0", st.Revolute(f"{side}0", "z"), **bar)
        for i in range(1, cells):
            at = (0.1 if i == 1 else 0.2, 0, 0)
            link = link.link(f"{side}{i}", st.Revolute(f"{side}{i}", "z"), at=at, com=(0.1, 0, 0), **bar)
            turn = -2 * sign if i % 2 else 2 * sign
            m.add(st.GearConstraint("left0", f"{side}{i}", ratio=turn, eliminate=eliminate))
        link.frame(f"{side} tip", at=(0.2, 0, 0))
    m.add(st.GearConstraint("left0", "right0", ratio=-1, eliminate=eliminate), st.JointSpring("left0", 2.0, rest=0.9))
    load = link.link("load", st.Universal("load", "yx"), at=(0.2, 0, 0))
    load.frame("body", at=(0, 0, -0.3), mass=0.5, inertia=(2e-3, 2e-3, 5e-4))
    return m
