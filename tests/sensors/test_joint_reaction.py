"""What joints carry: beside Pinocchio, and beside models in which the joint is cut."""

from dataclasses import replace

import numpy as np
import pinocchio as pin
import pytest

import symplectree as st
from follower_mechanisms import closed_pair, tree_pair
from mechanisms import FLOATING, closed_mechanism, random_mechanism, random_state
from pinocchio_model import TWIST, to_pinocchio
from symplectree.sensors import States
from symplectree.sensors.frames import frame_acceleration
from symplectree.sensors.rotations import quaternions

FRAMES = (st.Spring, st.Damper, st.NonlinearSpring, st.RotarySpring, st.BodyWrench, st.SpatialWrench)
LOOPS = (
    st.PointConstraint, st.DistanceConstraint, st.PlaneConstraint, st.WeldConstraint, st.HingeConstraint,
    st.JointConstraint,
)  # fmt: skip


@pytest.mark.parametrize("seed", range(6))
def test_every_joint_beside_pinocchio(seed):
    model = random_mechanism(seed, 14).build()
    q, v, a = random_state(model, 7)
    peer, convert = to_pinocchio(model)
    data = peer.createData()
    pin.rnea(peer, data, convert.q(q), convert.v(v), convert.v(a))
    for name, place in model.joints.items():
        body = int(np.searchsorted(model.v_start, place.v.stop)) - 1
        theirs = data.f[convert.joint[body]].vector[TWIST]
        ours = st.measure(model, st.JointReaction("r", name), q, v, a=a)
        np.testing.assert_allclose(ours, theirs, atol=1e-10 * (1 + np.abs(theirs).max()))


def cut_wrench(model: st.Model, states: States, joint: str) -> np.ndarray:
    """The force on a Free joint that takes the place of this one, on the ground, with only what acts between bodies."""
    cut = model.description.copy()
    frame = next(f for f in cut.tree if f.joint.nv and f.joint.name == joint)
    frame.joint, frame.parent, frame.at, frame.rotate = st.Free("cut"), cut.world, (0, 0, 0), None
    for each in cut.tree:  # what is left may have no mass, but rotors change no other joint's force
        each.joint = replace(each.joint, armature=1.0) if each.joint.nv else each.joint
    cut.elements = [e for e in model.elements if isinstance(e, (*FRAMES, *LOOPS))]
    built = cut.build()
    q, v, a = built.neutral.copy(), np.zeros(built.nv), np.zeros(built.nv)
    accelerations = _tree_acceleration(model, states)
    whole = {"q": model.tree_coordinates(states.q[0]), "v": model.tree_velocities(states.q[0], states.v[0])}
    for name, place in model.full.joints.items():
        if name in built.joints:  # the cut one may still be the length of a string
            to = built.joints[name]
            q[to.q], v[to.v], a[to.v] = whole["q"][place.q], whole["v"][place.v], accelerations[place.v]
    T = st.pose(model, states.q[0], frame.name)
    to = built.joints["cut"]
    q[to.q] = np.concatenate([T[:3, 3], quaternions(T[None, :3, :3])[0]])
    v[to.v] = st.body_velocity(model, states.q[0], states.v[0], frame.name)
    A, V = frame_acceleration(states, frame.name)[0], v[to.v]
    a[to.v] = np.concatenate([A[:3], A[3:] - np.cross(V[:3], V[3:])])  # the rate of the body twist
    inputs = dict(zip(model.inputs, states.inputs[0], strict=True))
    wrench = st.inverse_dynamics(built, q, v, a, inputs={n: u for n, u in inputs.items() if n in built.inputs})
    if built.rows:
        by_name = dict(zip(model.rows, states.multipliers[0], strict=True))
        wrench = wrench - st.constraint_jacobian(built, q).T @ [by_name[name] for name in built.rows]
    return wrench[to.v] - A  # of the rotor


def _tree_acceleration(model: st.Model, states: States) -> np.ndarray:
    """Of all coordinates of the tree, by a difference along the motion."""
    q, v, a, h = states.q[0], states.v[0], states.a[0], 1e-5
    if model.followers is None:
        return a
    ahead, behind = (
        model.tree_velocities(st.retract(model, q, s * h * v + h * h / 2 * a), v + s * h * a) for s in (1, -1)
    )
    return (ahead - behind) / (2 * h)


def assert_as_cut(model: st.Model, q, v, seed: int, tolerance: float) -> None:
    rng = np.random.default_rng(seed)
    inputs, tau = rng.normal(size=len(model.inputs)), rng.normal(size=model.nv)
    states = States(model, q[None], v[None], lambda: (tau[None], inputs[None]))
    for name in model.full.joints:
        ours = st.measure(model, st.JointReaction("r", name), q, v, inputs=inputs, tau=tau)
        expected = cut_wrench(model, states, name)
        np.testing.assert_allclose(ours, expected, atol=tolerance * (1 + np.abs(expected).max()), err_msg=name)


@pytest.mark.parametrize("seed", range(4))
def test_every_element_beside_a_cut(seed):
    m = random_mechanism(seed, 9, elements=True, joints=FLOATING)
    model = m.build()
    q, v, _ = random_state(model, seed)
    assert_as_cut(model, q, v, seed, 1e-9)


@pytest.mark.parametrize("seed", range(4))
def test_loops_beside_a_cut(seed):
    model, q, v = closed_mechanism(seed)
    assert_as_cut(model, q, v, seed, 1e-8)


@pytest.mark.parametrize("curved", [False, True])
def test_followers_beside_a_cut(curved):
    for pair in (tree_pair(1, curved=curved), closed_pair(2, ("Point",), curved=curved)):
        assert_as_cut(pair.shared, pair.q, pair.v, 1, 1e-6)  # of differences


def test_rows_that_are_formulas_are_refused():
    m = st.Mechanism()
    for name in "ab":
        m.world.link(name, st.Revolute(name), mass=1, com=(1, 0, 0))
    m.add(st.FormulaConstraint(lambda q: q[0] - q[1], coordinates=["a", "b"], name="tie"), st.JointReaction("r", "a"))
    with pytest.raises(st.ModelError, match="JointReaction 'r': constraint 'tie' is a formula or function"):
        m.build()
