"""Filters, integrators and shared limits of force in MJCF: read, written, and moved beside MuJoCo."""

import warnings

import mujoco
import numpy as np
import pytest

import symplectree as st
from mechanisms import random_mechanism

ARM = """
<mujoco>
  <worldbody>
    <body name="upper">
      <joint name="shoulder" axis="0 1 0" actuatorfrcrange="-9 7"/>
      <inertial pos="0 0 -0.3" mass="1" diaginertia="0.1 0.1 0.1"/>
      <site name="nozzle" pos="0.1 0 -0.2" euler="20 10 0"/>
      <body name="lower" pos="0 0 -1">
        <joint name="elbow" axis="0 1 0" damping="0.1"/>
        <inertial pos="0 0 -0.3" mass="0.8" diaginertia="0.08 0.1 0.1"/>
        <body name="hand" pos="0 0 -0.6">
          <joint name="wrist" axis="1 0 0"/>
          <inertial pos="0.05 0 -0.1" mass="0.3" diaginertia="0.02 0.01 0.02"/>
        </body>
      </body>
    </body>
  </worldbody>
  <tendon>
    <fixed name="band"><joint joint="elbow" coef="1"/><joint joint="shoulder" coef="-0.5"/></fixed>
  </tendon>
  <actuator>
    <position name="hold" joint="shoulder" kp="40" kv="4" timeconst="0.1" gear="1.5"/>
    <general name="rope" tendon="band" gainprm="6" biastype="affine" biasprm="0.2 -6 -1" dyntype="filter" dynprm="0.04"/>
    <intvelocity name="turn" joint="wrist" kp="3" kv="0.2" actrange="-0.4 0.5"/>
    <general name="push" joint="elbow" dyntype="integrator" ctrlrange="-1 1" actearly="true"/>
    <motor name="direct" joint="shoulder" gear="2"/>
  </actuator>
  <keyframe>
    <key name="posed" qpos="0.9 -0.7 0.4" ctrl="0.6 0.9 2.0 -1.7 0.8" act="0.1 0.2 -0.3 0.5"/>
  </keyframe>
</mujoco>
"""


def moved_by_mujoco(there, q, controls, activations, duration, h=1e-4):
    there.opt.timestep, there.opt.integrator = h, mujoco.mjtIntegrator.mjINT_RK4
    data = mujoco.MjData(there)
    data.qpos[:], data.ctrl[:], data.act[:] = q, controls, activations
    for _ in range(round(duration / h)):
        mujoco.mj_step(there, data)
    return data


@pytest.mark.parametrize("method", [st.Variational(order=k) for k in (2, 4, 8)], ids=str)
def test_an_arm_moves_as_in_mujoco(method):
    model, there = st.loads(ARM, "mjcf").build(), mujoco.MjModel.from_xml_string(ARM)
    assert model.activations == ("hold", "rope", "turn", "push")
    run = st.simulate(model, "posed", duration=0.6, dt=0.001, method=method)
    key = there.key(0)
    data = moved_by_mujoco(there, key.qpos, key.ctrl, key.act, 0.6, 1e-5)
    # At order 2 its error; else that of MuJoCo, whose filters and ranges are followed to first order in its steps.
    np.testing.assert_allclose(run.q[-1], data.qpos, rtol=0, atol=2e-5)
    np.testing.assert_allclose(run.activations[-1], data.act, rtol=0, atol=1e-4)
    assert run.activation("turn")[-1] == 0.5  # its limit
    assert data.qfrc_actuator[0] < 7.0 + 1e-12


def test_the_difference_from_mujoco_falls_with_its_steps():
    model, there = st.loads(ARM, "mjcf").build(), mujoco.MjModel.from_xml_string(ARM)
    exact = st.simulate(model, "posed", duration=0.3, dt=0.001, method=st.Variational(order=8)).q[-1]
    key = there.key(0)
    off = [
        np.abs(moved_by_mujoco(there, key.qpos, key.ctrl, key.act, 0.3, h).qpos - exact).max()
        for h in (1e-3, 1e-4, 1e-5)
    ]
    assert off[2] < 2e-6 and off[2] < 0.2 * off[1] < 0.04 * off[0]


@pytest.mark.parametrize("seed", range(4))
def test_random_arms_move_there_as_here(seed, tmp_path):
    rng = np.random.default_rng(seed)
    m = random_mechanism(seed, 5, joints=("Revolute", "Prismatic", "Universal"))
    m.gravity = (0.0, 0.0, -2.0)
    names = [f.joint.name for f in m.tree if f.joint.nv == 1]
    names += [f"{f.joint.name}.{i}" for f in m.tree if f.joint.nv == 2 for i in range(2)]
    one, two, three = map(str, rng.choice(names, 3, replace=False))
    m.add(
        st.PositionServo(one, kp=9.0, kv=2.0, gear=0.8, filter=0.07, name="hold"),
        st.Motor(two, integrator=True, activation_range=(-0.3, 0.4), name="push"),
        st.PositionServo((one, three), kp=4.0, kv=1.0, gear=(1.0, -0.4), filter=0.02, name="rope"),
        st.Motor(one, gear=2.0, name="direct"),
        st.ForceLimit(one, force_range=(-2.5, 3.0)),
    )
    m.keyframes["go"] = st.Keyframe(
        controls={"hold": 0.5, "push": -0.9, "rope": 0.3, "direct": 0.7}, activation={"hold": 0.1, "rope": -0.2}
    )
    m.to_mjcf(tmp_path / "arm.xml")
    there = mujoco.MjModel.from_xml_path(str(tmp_path / "arm.xml"))
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # nothing is left out
        again = st.load(tmp_path / "arm.xml").build()
    for model in (m.build(), again):
        assert model.keyframes["go"].activation["rope"] == -0.2
        run = st.simulate(model, "go", duration=0.4, dt=0.001, method=st.Variational(order=4))
        key = there.key("go")
        data = moved_by_mujoco(there, key.qpos, key.ctrl, key.act, 0.4, 1e-5)
        for j in range(there.njnt):
            name = there.joint(j).name
            np.testing.assert_allclose(run[name][-1], data.qpos[there.jnt_qposadr[j]], rtol=0, atol=1e-5)
        np.testing.assert_allclose(run.activations[-1], data.act, rtol=0, atol=3e-5)


def test_a_jet_has_a_filter(tmp_path):
    text = ARM.replace(
        '<motor name="direct" joint="shoulder" gear="2"/>',
        '<general name="direct" site="nozzle" gear="1 0 2 0 0.3 0" dyntype="filter" dynprm="0.05" ctrlrange="0 0.6"/>',
    ).replace("0.1 0.2 -0.3 0.5", "0.1 0.2 -0.3 0.5 0.2")
    text = text.replace(' actuatorfrcrange="-9 7"', "")
    model, there = st.loads(text, "mjcf").build(), mujoco.MjModel.from_xml_string(text)
    assert model.activations[-1] == "direct"
    run = st.simulate(model, "posed", duration=0.4, dt=0.001, method=st.Variational(order=4))
    key = there.key(0)
    data = moved_by_mujoco(there, key.qpos, key.ctrl, key.act, 0.4, 1e-5)
    np.testing.assert_allclose(run.q[-1], data.qpos, rtol=0, atol=1e-5)


def test_limits_of_a_joint_that_a_jet_shares_are_named():
    text = ARM.replace('<motor name="direct" joint="shoulder"', '<motor name="direct" site="nozzle"')
    with pytest.warns(UserWarning, match="limits of the force of several actuators on a joint"):
        st.loads(text, "mjcf")


def test_activations_are_those_of_actuators_that_are_there():
    text = ARM.replace(
        '<motor name="direct" joint="shoulder" gear="2"/>', '<adhesion body="hand" name="direct" ctrlrange="0 1"/>'
    )
    with pytest.warns(UserWarning, match="actuators"):
        m = st.loads(text, "mjcf")
    assert m.keyframes["posed"].activation == {"hold": 0.1, "rope": 0.2, "turn": -0.3, "push": 0.5}
