"""Motions of a satellite by its shape: targets, forces that repeat them, limits, what cannot be reached, bad input."""

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

import symplectree as st
from mechanisms import floating_mechanism
from reference import reduced as twin
from symplectree.control import ShapeMotion
from symplectree.lie import pose, quaternion_of, rotation
from symplectree.symbolic.floating import Floating

SATELLITE = Path(__file__).parent.parent.parent / "models" / "satellite.sexp"
START = {"shoulder.1": -0.6, "elbow": 1.2}
SHORT = {"duration": 10.0, "steps": 24}
PLAIN = ("Revolute", "Prismatic", "Screw", "Cylindrical", "Universal", "Planar")


@pytest.fixture(scope="module")
def model():
    return st.load(SATELLITE).build()


@pytest.fixture(scope="module")
def turn(model):
    """The bus turned, the arm back where it was."""
    shape = {"shoulder.0": 0.0, **START}
    return ShapeMotion(model, START, **SHORT, shape=shape, frames={"bus": rotation((0, 0, 1), 0.2)}).solve()


def test_the_bus_turns_by_the_arm_alone(model, turn):
    assert turn.success, turn.message
    assert turn.message.startswith("the target is reached within")
    np.testing.assert_allclose(st.pose(model, turn.q[-1], "bus")[:3, :3], rotation((0, 0, 1), 0.2), atol=1e-6)
    np.testing.assert_allclose(turn.q[-1, 7:], turn.q[0, 7:], atol=1e-9)
    assert max(turn.missed.values()) < 1e-6
    assert np.abs(turn.q[:, 7:] - turn.q[0, 7:]).max() > 0.1  # it moved
    assert turn.cost_history[-1] == pytest.approx(turn.cost, rel=1e-6)


@pytest.mark.parametrize("retraction", ["cayley", "exp"])
def test_its_forces_repeat_the_motion(model, retraction):
    """ShapeMotion's formulas and the native integrator are two derivations of K (4)–(6)."""
    motion = ShapeMotion(
        model, START, **SHORT, retraction=retraction, alpha=0.4, shape={"elbow": -0.5, "shoulder.0": 1.0}
    )
    found = motion.solve()
    assert found.success, found.message
    method = st.Reduced(0.4, retraction, tol=1e-14, substeps=0)
    run = st.simulate(model, found.q[0], duration=10, dt=10 / 24, method=method, forces=found.force)
    np.testing.assert_allclose(run.q, found.q, atol=1e-9)
    np.testing.assert_allclose(run.p[-1], 0, atol=1e-9)  # at rest
    np.testing.assert_allclose(run.momentum, 0, atol=1e-12)


def test_springs_and_dampers_of_joints_are_part_of_it():
    m = st.load(SATELLITE)
    m.add(st.JointSpring("elbow", 0.5, rest=0.3), st.JointDamper("shoulder.0", 0.2))
    model = m.build()
    found = ShapeMotion(model, START, **SHORT, shape={"elbow": 0.2, "shoulder.0": 0.5}).solve()
    method = st.Reduced(tol=1e-14, substeps=0)
    run = st.simulate(model, found.q[0], duration=10, dt=10 / 24, method=method, forces=found.force)
    np.testing.assert_allclose(run.q, found.q, atol=1e-9)


@pytest.mark.parametrize("seed", [0, 1])
def test_formulas_are_those_of_the_twin(seed):
    model = floating_mechanism(seed, 4, joints=PLAIN, gravity=False).build()
    rng = np.random.default_rng(seed)
    h, alpha = 0.05, 0.3
    q0, q1 = (np.concatenate([[0, 0, 0, 1, 0, 0, 0], 0.5 * rng.normal(size=model.nv - 6)]) for _ in range(2))
    floating = Floating(model, h, alpha, "cayley")
    taken, given, twist = (np.array(x).ravel() for x in floating.step(q0[7:], q1[7:]))
    q1[:7] = np.array(floating.move(q0[:7], twist)).ravel()
    zero = np.zeros(model.nv)
    residual = -twin.residual(model, q0, zero, q1, h, alpha, retraction="cayley")  # what p₀ and forces must give
    momentum = twin.momentum(model, q0, q1, h, alpha, retraction="cayley")
    size = np.abs(residual).max()
    np.testing.assert_allclose(residual, np.concatenate([np.zeros(6), taken]), atol=1e-11 * size)
    np.testing.assert_allclose(momentum, np.concatenate([np.zeros(6), given]), atol=1e-11 * size)
    for frame in model.frames[1:]:
        x, z = (np.array(part).ravel() for part in floating.frame(frame)(q1[:7], q1[7:]))
        T = st.pose(model, q1, frame)
        np.testing.assert_allclose(x, T[:3, 3], atol=1e-12)
        assert abs(z @ quaternion_of(T[:3, :3])) == pytest.approx(1, abs=1e-12)


def test_the_hand_reaches_a_pose_with_limits(model):
    begin = st.pose(model, START, "hand")
    target = begin[:3, 3] + (-0.2, 0.3, 0.1)
    limits = {"elbow": (0.5, 2.0), "shoulder.0": (-1.5, 1.5)}
    found = ShapeMotion(model, START, **SHORT, frames={"hand": target}, limits=limits).solve()
    assert found.success, found.message
    np.testing.assert_allclose(st.pose(model, found.q[-1], "hand")[:3, 3], target, atol=1e-6)
    assert found.q[:, 9].min() >= 0.5 - 1e-7 and found.q[:, 9].max() <= 2.0 + 1e-7


def test_less_effort_than_a_motion_by_hand(model):
    """A fifth-order polynomial from shape to shape is a motion, too; the best one costs less."""
    shape = {"shoulder.0": 0.6, "shoulder.1": 0.2, "elbow": 0.3}
    motion = ShapeMotion(model, START, **SHORT, shape=shape)
    found = motion.solve()
    floating, h = Floating(model, 10 / 24, 0.5, "cayley"), 10 / 24
    s = np.linspace(0, 1, 25)[:, None]
    r = found.q[0, 7:] + s**3 * (10 - 15 * s + 6 * s**2) * (found.q[-1, 7:] - found.q[0, 7:])
    parts = [[np.array(x).ravel() for x in floating.step(a, b)[:2]] for a, b in pairwise(r)]
    inner = sum(np.sum((b[0] - a[1]) ** 2) for a, b in pairwise(parts))
    by_hand = (inner + 2 * np.sum(parts[0][0] ** 2) + 2 * np.sum(parts[-1][1] ** 2)) / h
    assert 0 < found.cost < by_hand
    weighted = ShapeMotion(model, START, **SHORT, shape=shape, weights={"elbow": 100.0}).solve()
    assert np.sum(weighted.forces[:, 2] ** 2) < np.sum(found.forces[:, 2] ** 2)


def test_a_target_out_of_reach_is_said_and_the_best_kept(model):
    motion = ShapeMotion(model, START, duration=10.0, steps=8, frames={"hand": (6, 0, 0)})
    found = motion.solve(starts=1, max_iterations=60)
    assert not found.success
    assert found.message.startswith("the target is not reached: 'hand' misses it by")
    assert found.missed["hand"] > 3  # the arm and the bus together are less than 3 m long
    assert found.q.shape == (9, model.nq) and np.all(np.isfinite(found.q))


def test_a_time_too_short_for_the_forces_is_said(model):
    found = ShapeMotion(model, START, duration=1.0, steps=16, shape={"elbow": 0.2}, force_limits=0.2).solve(
        starts=1, max_iterations=100
    )
    assert not found.success
    assert "the duration of 1 s is too short" in found.message
    longer = ShapeMotion(model, START, duration=6.0, steps=16, shape={"elbow": 0.2}, force_limits=0.2).solve()
    assert longer.success and np.abs(longer.forces).max() <= 0.2 + 1e-7


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({}, "there is no target"),
        ({"shape": {"wrist": 0}}, "no shape coordinate is named 'wrist'"),
        ({"frames": {"hat": np.eye(3)}}, "no frame is named 'hat'"),
        ({"frames": {"world": np.eye(3)}}, "fixed to the world"),
        ({"frames": {"hand": np.ones((3, 3))}}, "is no rotation"),
        ({"frames": {"hand": (1, 2)}}, "give a pose"),
        ({"shape": {"shoulder.0": 0, **START}, "frames": {"bus": pose()}}, "positions follow from the centre of mass"),
        ({"shape": {"elbow": 0}, "steps": 1}, "steps is 1"),
        ({"shape": {"elbow": 0}, "duration": -1}, "duration is -1"),
        ({"shape": {"elbow": 0}, "limits": {"elbow": (0.5, 2)}}, "outside its limits"),
        ({"shape": {"elbow": 0}, "limits": {"elbow": (2, 1)}}, "give .lowest, highest."),
        ({"shape": {"elbow": 0}, "force_limits": -1}, "force limit of 'shoulder.0' is -1"),
        ({"shape": {"elbow": 0}, "alpha": 2}, "alpha is 2"),
        ({"shape": {"elbow": np.nan}}, "the end of 'elbow' is nan"),
        ({"shape": {"elbow": 0}, "weights": {"elbow": -1}}, "the weight of 'elbow' is -1"),
        ({"shape": {"elbow": 0}, "weights": {"elbow": "much"}}, "the weight of 'elbow' is 'much'"),
    ],
)
def test_bad_problems_are_refused(model, given, message):
    with pytest.raises(st.ModelError, match=message):
        ShapeMotion(model, START, **{**SHORT, **given}).solve()


def test_bad_starts_are_refused(model):
    with pytest.raises(st.ModelError, match="q of 'elbow' is nan"):
        ShapeMotion(model, {"elbow": np.nan}, **SHORT, shape={"elbow": 0}).solve()
    with pytest.raises(st.ModelError, match="starts is 0"):
        ShapeMotion(model, START, **SHORT, shape={"elbow": 0}).solve(starts=0)


def test_joints_with_quaternions_are_refused():
    m = floating_mechanism(0, 2, joints=("Revolute", "Ball"), gravity=False)
    with pytest.raises(st.ModelError, match="of the kind ball"):
        ShapeMotion(m.build(), {}, **SHORT, shape={"joint0": 0})


def test_models_on_which_something_acts_are_refused():
    for add, message in (
        (st.Spring("hand", "world", stiffness=1.0), "Spring 'spring1' is not of the joints"),
        (st.JointForce("elbow", 1.0), "a constant force acts on 'elbow'"),
        (st.JointDamper("bus", 1.0), "acts on the floating joint from outside"),
    ):
        m = st.load(SATELLITE)
        m.add(add)
        with pytest.raises(st.ModelError, match=message):
            ShapeMotion(m.build(), START, **SHORT, shape={"elbow": 0}).solve()
    m = floating_mechanism(0, 2, joints=PLAIN)
    with pytest.raises(st.ModelError, match="gravity acts from outside"):
        ShapeMotion(m.build(), {}, **SHORT, shape={"joint0": 0}).solve()


def test_a_guess_of_the_wrong_shape_is_refused(model):
    motion = ShapeMotion(model, START, **SHORT, shape={"elbow": 0})
    with pytest.raises(st.ModelError, match=r"guess has shape \(3, 2\); give \(25, 3\)"):
        motion.solve(guess=np.zeros((3, 2)))
