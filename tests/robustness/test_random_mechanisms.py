"""Random mechanisms: random joints, masses over ten orders of magnitude, springs, loops, contacts, steps of 1 µs to 0.1 s.

What comes is physically right (constraints hold, momentum stays, energy stays in a band where steps are short), or one of
the package's errors; never a number that is not finite, another exception, or a crash. SYMPLECTREE_MECHANISMS says how
many are tried; the number of a mechanism that fails is in the message.
"""

import os
import warnings
from collections import Counter

import numpy as np
import pytest

import symplectree as st

COUNT = int(os.environ.get("SYMPLECTREE_MECHANISMS", "240"))
CHUNKS = 8
STEPS = 25


def random_joint(rng, name):
    axis = rng.normal(size=3)
    axis = tuple(axis / np.linalg.norm(axis))
    armature = 10 ** rng.uniform(-4, 0) if rng.random() < 0.2 else 0.0
    make = rng.choice(9)
    if make < 3:
        return st.Revolute(name, axis=axis, armature=armature)
    if make == 3:
        return st.Prismatic(name, axis=axis, armature=armature)
    if make == 4:
        return st.Screw(name, axis=axis, pitch=rng.uniform(0.1, 1))
    if make == 5:
        return st.Ball(name)
    return (st.Universal, st.Cylindrical, st.Planar)[make - 6](name)


def random_mechanism(number):
    """A mechanism, whether it floats without anything to hold it, and whether nothing takes energy out of it."""
    rng = np.random.default_rng(number)
    floating = rng.random() < 0.25
    m = st.Mechanism(gravity=(0, 0, 0) if floating else (0, 0, -9.81))
    middle = rng.uniform(-2, 2)
    links = []
    for i in range(rng.integers(1, 7)):
        parent = links[rng.integers(len(links))] if links else m.world
        joint = st.Free("base") if not links and floating else random_joint(rng, f"q{i}")
        mass, size = 10 ** (middle + rng.uniform(-5, 5)), 10 ** rng.uniform(-1.5, 0.5)
        com = rng.normal(size=3) * size
        moments = mass * size**2 * np.array([1.0, 1 + 0.4 * rng.random(), 1.3])
        at = rng.normal(size=3) * size
        link = parent.link(f"l{i}", joint, at=at, rotate=rng.normal(size=3), mass=mass, com=com, inertia=moments)
        link.frame(f"t{i}", at=rng.normal(size=3) * size)
        links.append(link)
    conserved = True
    for k in range(rng.integers(0, 3)):
        a, b = rng.choice([f"t{i}" for i in range(len(links))] + ([] if floating else ["world"]), 2)
        if a != b:
            damping = 10 ** rng.uniform(-3, 2) if rng.random() < 0.3 else 0.0
            conserved &= damping == 0
            m.add(
                st.Spring(
                    a, b, stiffness=10 ** rng.uniform(-2, 6), length=rng.uniform(0, 1), damping=damping, name=f"s{k}"
                )
            )
    if rng.random() < 0.3 and not floating:
        model = m.build()
        T = st.pose(model, model.neutral, f"t{len(links) - 1}")
        m.world.frame("anchor", at=T[:3, 3])
        kind = rng.integers(3)
        if kind == 0:
            m.add(st.PointConstraint(f"t{len(links) - 1}", "anchor", str(rng.choice(["x", "xz", "xyz"]))))
        elif kind == 1:
            m.world.frame("post", at=T[:3, 3] + np.array([0.3, 0.4, 0.0]))
            m.add(st.DistanceConstraint(f"t{len(links) - 1}", "post", 0.5))
        else:
            m.add(st.PlaneConstraint("anchor", f"t{len(links) - 1}"))
    elif rng.random() < 0.35 and not floating:
        conserved = False
        m.world.frame("ground", at=(0, 0, rng.uniform(-3, 0)))
        ball = st.Shape(f"l{len(links) - 1}", "sphere", (rng.uniform(0.02, 0.3),))
        m.add(
            st.Contact(
                ball, st.Shape("ground", "plane", (0, 0)), friction=rng.uniform(0, 1), restitution=rng.uniform(0, 1)
            )
        )
    if rng.random() < 0.2 and isinstance(links[0].joint, st.Revolute):
        conserved = False
        m.add(st.JointFriction(links[0].joint.name, 10 ** rng.uniform(-3, 1)))
    method = (
        st.Variational(), st.Variational("chord"), st.Variational("exp"), st.Variational("midpoint"),
        st.Variational(order=4), st.Variational(solver="riqn"), st.RK4(), st.SemiImplicitEuler(),
    )[rng.integers(8)]  # fmt: skip
    return m, floating, conserved, method, rng


def outcome(number):
    m, floating, conserved, method, rng = random_mechanism(number)
    dt = 10 ** rng.uniform(-6, -1)
    try:
        model = m.build()
        v = rng.normal(size=model.nv) * 10 ** rng.uniform(-2, 1)
        held = st.simulate(model, model.neutral, v0=v, duration=STEPS * dt, dt=dt, method=method)
    except st.SymplectreeError as error:
        assert str(error).strip()
        if isinstance(error, st.ConvergenceError) and error.trajectory is not None:
            assert np.all(np.isfinite(error.trajectory.q))
            assert np.all(np.isfinite(error.trajectory.t))
        return type(error).__name__
    for name in ("t", "q", "v", "p", "kinetic", "potential", "energy", "momentum"):
        assert np.all(np.isfinite(getattr(held, name))), name
    assert len(held) == STEPS + 1
    variational = isinstance(method, st.Variational)
    size = 1 + float(np.abs(st.pose(model, held.q, model.frames[-1])[..., :3, 3]).max())
    if model.rows and variational:
        assert held.constraint_error.max() < 1e-7 * size  # Newton's tolerance, in the rows' unit of metres
    # Steps resolve the springs where this is well below one; beyond, angular momentum is kept to the order of the step.
    stiffest = max((e.stiffness for e in model.elements if isinstance(e, st.Spring)), default=0.0)
    fastest = dt * np.sqrt(stiffest / model.mass[model.mass > 0].min())
    if floating and variational and method.action in ("cayley", "chord", "exp") and method.order == 2:
        scale = float(model.mass.sum()) * size**2 * (1 + float(np.abs(held.v).max()))
        off = np.abs(held.momentum - held.momentum[0]).max(axis=0)
        assert off[3:].max() < 1e-9 * scale
        assert fastest > 0.1 or not conserved or off[:3].max() < 1e-9 * scale
    exchanged = float(held.kinetic.max() + np.ptp(held.potential)) + 1e-12
    if variational and dt < 1e-5 and conserved and np.abs(held.v).max() * dt < 1e-3 and fastest < 0.1:
        assert np.abs(held.energy - held.energy[0]).max() < 1e-3 * exchanged
    return "right"


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_right_or_refused(chunk):
    seen = Counter()
    for number in range(chunk, COUNT, CHUNKS):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                seen[outcome(number)] += 1
            except Exception as error:
                raise AssertionError(f"mechanism number {number}: {type(error).__name__}: {error}") from error
    print(dict(seen))
    assert seen["right"] > 0.6 * seen.total(), dict(seen)
