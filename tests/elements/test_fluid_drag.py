"""Drag of a medium: beside its equations, MuJoCo and differences, and what it does to a run."""

import mujoco
import numpy as np
import pytest

import symplectree as st
from mechanisms import ACTIONS, FORMULAS, JOINTS, random_mechanism, random_state
from refusal import arm, assert_refused
from sexpr_round_trip import assert_round_trip
from symplectree.lie import quaternion_matrix

METHODS = [*(st.Variational(action=action) for action in ACTIONS), st.Variational(order=6), st.RK4()]
BOX, WIND = (0.3, 0.2, 0.5), (0.4, -0.3, 0.2)


def swept(seed: int, *, joints=(*JOINTS, *FORMULAS), **given) -> st.Mechanism:
    """A random tree with drag on a frame of its last link that moves."""
    m = random_mechanism(seed, 7, joints=joints)
    last = [frame for frame in m.tree if frame.joint.nv][-1]
    last.frame("hull", at=(0.1, -0.2, 0.3), rotate=(0.4, 0.5, -0.6))
    return m.add(
        st.FluidDrag("hull", **{"box": BOX, "density": 20.0, "viscosity": 0.7, "wind": WIND, "name": "drag"} | given)
    )


def expected(model, q, v, density, viscosity, wind):
    """J(q)ᵀ of the wrench, with the Jacobian and pose that the core computes."""
    T, J = st.pose(model, q, "hull"), st.jacobian(model, q, "hull")
    V = J @ v
    V[3:] -= T[:3, :3].T @ np.array(wind)
    (a, b, c), d = BOX, np.mean(BOX)
    faces = np.array([b * c, c * a, a * b])
    arms = np.array([a * (b**4 + c**4), b * (c**4 + a**4), c * (a**4 + b**4)])
    torque = -np.pi * d**3 * viscosity * V[:3] - density * arms * np.abs(V[:3]) * V[:3] / 64
    force = -3 * np.pi * d * viscosity * V[3:] - density * faces * np.abs(V[3:]) * V[3:] / 2
    return J.T @ np.concatenate([torque, force])


@pytest.mark.parametrize("seed", range(5))
def test_force_is_that_of_the_box(seed):
    model = swept(seed).build()
    q, v, _ = random_state(model, seed)
    found = st.element_terms(model, "drag", q, v).force
    wanted = expected(model, q, v, 20.0, 0.7, WIND)
    np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-11 * max(1.0, np.abs(wanted).max()))
    st.check_element(model, "drag")


SWIMMER = """
<mujoco>
  <option density="900" viscosity="0.3" wind="0.3 -0.2 0.1"/>
  <default><geom contype="0" conaffinity="0"/></default>
  <worldbody>
    <body name="base" pos="0.1 0.2 0.3" quat="0.6 0.2 0.3 0.1">
      <freejoint/><geom type="box" size="0.1 0.2 0.05" pos="0.1 0 0.02" quat="1 0.3 0.2 0"/>
      <body name="fin" pos="0 0.2 0"><geom type="capsule" size="0.05 0.1" pos="0 0 0.1"/></body>
      <body name="b1" pos="0.3 0 0">
        <joint name="h" axis="0 1 0.3"/><geom type="ellipsoid" size="0.1 0.05 0.2" pos="0 0.05 0.1"/>
        <body name="b2" pos="0.1 0 0.2">
          <joint name="ball" type="ball"/><geom type="box" size="0.1 0.06 0.05"/>
          <body name="b3" pos="0.1 0 0.2">
            <joint name="s" type="slide" axis="1 2 0"/><joint name="h2" axis="1 0 1" pos="0.1 0.1 0"/>
            <geom size="0.07" pos="0.1 0 0"/>
          </body>
        </body>
      </body>
    </body>
  </worldbody>
</mujoco>
"""


@pytest.mark.parametrize("seed", range(3))
def test_the_medium_of_mjcf_is_that_of_mujoco(seed):
    model = st.loads(SWIMMER, "mjcf").build()
    assert model.elements[0].frames == tuple(f"{body}.drag" for body in ("base", "fin", "b1", "b2", "b3"))
    there = mujoco.MjModel.from_xml_string(SWIMMER)
    data = mujoco.MjData(there)
    q, v, _ = random_state(model, seed)
    R = quaternion_matrix(q[3:7])
    data.qpos[:], data.qvel[:] = q, np.concatenate([R @ v[3:6], v[:3], v[6:]])
    mujoco.mj_forward(there, data)
    theirs = np.concatenate([data.qfrc_passive[3:6], R.T @ data.qfrc_passive[:3], data.qfrc_passive[6:]])
    found = st.element_terms(model, "medium", q, v).force
    np.testing.assert_allclose(found, theirs, rtol=0, atol=1e-12 * np.abs(theirs).max())


def test_ellipsoids_in_the_medium_are_named():
    text = SWIMMER.replace('type="ellipsoid"', 'type="ellipsoid" fluidshape="ellipsoid"')
    with pytest.warns(UserWarning, match=r"ellipsoids in the medium \(1: b1\)"):
        st.loads(text, "mjcf")


@pytest.mark.parametrize("action", ACTIONS)
def test_derivatives_of_steps(action):
    model = swept(1).build()
    method, h = st.Variational(action=action, tol=1e-14), 0.005
    q, v, _ = random_state(model, 1)
    p = st.momenta(model, q, v)
    step = st.linearize(model, (q, p), method, h)
    found = []
    for d in 1e-5 * np.eye(2 * model.nv):
        dq, dp = np.split(d, 2)
        one, two = (st.linearize(model, (st.retract(model, q, s * dq), p + s * dp), method, h) for s in (1, -1))
        found.append(np.r_[st.difference(model, two.q, one.q), one.p - two.p] / 2e-5)
    np.testing.assert_allclose(step.A, np.array(found).T, rtol=0, atol=1e-7 * max(1.0, np.abs(step.A).max()))


@pytest.mark.parametrize("method", METHODS, ids=str)
def test_a_ball_reaches_the_wind_as_the_equation_says(method):
    """ẇ = −k w against the medium, of a sphere of mass m with k = 3π d µ/m; turning slows down by itself."""
    m = st.Mechanism(gravity=(0, 0, 0))
    m.world.link("ball", st.Free("ball"), mass=2.0, inertia=(0.02, 0.02, 0.02))
    m.add(st.FluidDrag("ball", box=(0.2, 0.2, 0.2), viscosity=3.0, wind=(1, 0, 0)))
    v0 = {"ball": np.array([2.0, 0, 0, 0, 0, 0.5])}
    traj = st.simulate(m.build(), {}, v0=v0, duration=0.5, dt=0.001, method=method)
    k, turn = 3 * np.pi * 0.2 * 3.0 / 2.0, np.pi * 0.2**3 * 3.0 / 0.02
    R = traj.pose("ball")[-1, :3, :3]
    decay = np.exp(-0.5 * k)
    np.testing.assert_allclose(R @ traj.v[-1, 3:], [1 - decay, 0, 0.5 * decay], rtol=0, atol=2e-6)
    np.testing.assert_allclose(traj.v[-1, :3], [2 * np.exp(-0.5 * turn), 0, 0], rtol=0, atol=2e-6)


def test_several_frames_are_as_many_elements():
    m = swept(3)
    m.tree[0].frame("keel", at=(0.1, 0.2, 0.3))
    m.elements.pop()
    given = {"density": 20.0, "viscosity": 0.7, "wind": WIND}
    m.add(st.FluidDrag("hull", box=BOX, **given, name="a"), st.FluidDrag("keel", box=(1, 2, 3), **given, name="b"))
    m.add(st.FluidDrag(("hull", "keel"), box=(BOX, (1, 2, 3)), **given, name="both"))
    model = m.build()
    q, v, _ = random_state(model, 3)
    a, b, both = (st.element_terms(model, name, q, v).force for name in ("a", "b", "both"))
    np.testing.assert_allclose(both, a + b, rtol=0, atol=1e-12 * np.abs(both).max())
    st.check_element(model, "both")


def test_files_hold_it():
    m = swept(2, joints=JOINTS)
    m.add(st.FluidDrag(("hull", "link0"), box=(BOX, (1, 2, 3)), density=1.0))
    assert_round_trip(m)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"frame": "world", "box": BOX, "density": 1}, ("'d'", "fixed to the world")),
        ({"frame": "leg", "box": BOX, "density": 1}, ("'d'", "leg")),
        ({"frame": "arm", "box": (1, 0, 1), "density": 1}, ("'d'", "above zero")),
        ({"frame": "arm", "box": (1, 1), "density": 1}, ("'d'", "box", "three numbers")),
        ({"frame": "arm", "box": BOX, "density": -1}, ("'d'", "density is -1", "zero or more")),
        ({"frame": "arm", "box": BOX, "viscosity": np.nan}, ("'d'", "viscosity")),
        ({"frame": "arm", "box": BOX}, ("'d'", "neither density nor viscosity")),
        ({"frame": "arm", "box": BOX, "density": 1, "wind": 3}, ("'d'", "wind", "three numbers")),
    ],
)
def test_bad_input_is_refused_by_name(given, words):
    given = dict(given)
    assert_refused(arm().add(st.FluidDrag(given.pop("frame"), **given, name="d")), *words)


def test_boxes_must_be_as_many_as_frames():
    assert_refused(
        arm().add(st.FluidDrag(("arm", "arm"), box=(BOX,), density=1, name="d")), "'d'", "1 boxes for 2 frames"
    )
