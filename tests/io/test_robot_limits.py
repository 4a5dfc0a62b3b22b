"""Limits of robots' files, beside those that MuJoCo and Pinocchio read."""

import mujoco
import numpy as np
import pinocchio as pin
import pytest

import symplectree as st
from robot_files import compiled, load_quietly, mjcf_files, urdf_files
from robot_texts import in_file, joint, link, mjcf, urdf

NAMED = [f for f in urdf_files() if f.name in ("ur5_robot.urdf", "panda.urdf", "talos_reduced.urdf", "solo12.urdf")]


@pytest.mark.parametrize("path", NAMED, ids=lambda p: p.stem)
def test_urdf_as_pinocchio_reads_it(path):
    limits, there = load_quietly(path).build().limits, pin.buildModelFromUrdf(str(path))
    for i in range(1, there.njoints):
        own, at = limits.get(there.names[i], st.JointLimits()), there.joints[i].idx_v
        if there.joints[i].nq == 1:
            at_q = there.joints[i].idx_q
            both = there.lowerPositionLimit[at_q], there.upperPositionLimit[at_q]
            if both != (0, 0):
                np.testing.assert_array_equal(own.position_range, both)
        for value, theirs in ((own.velocity, there.velocityLimit[at]), (own.force, there.effortLimit[at])):
            assert (value or 0.0) == (theirs if 0 < theirs < np.inf else 0.0)


@pytest.mark.parametrize("path", mjcf_files(), ids=lambda p: p.stem)
def test_mjcf_as_mujoco_compiles_it(path):
    m, there = load_quietly(path), compiled(path)
    limits = m.build().limits
    for j in range(there.njnt):
        own = limits.get(there.joint(j).name, st.JointLimits()) if there.joint(j).name else None
        if own is None or there.jnt_type[j] in (mujoco.mjtJoint.mjJNT_FREE, mujoco.mjtJoint.mjJNT_BALL):
            continue
        if there.jnt_limited[j]:
            np.testing.assert_allclose(own.position_range, there.jnt_range[j], rtol=1e-15)
        else:
            assert own.lower is None and own.upper is None
        assert own.friction == there.dof_frictionloss[there.jnt_dofadr[j]]
    inputs = m.build().inputs
    for k in range(there.nu):
        name = there.actuator(k).name or there.joint(there.actuator_trnid[k, 0]).name
        if there.actuator_ctrllimited[k] and name in inputs:
            assert limits[name].control == tuple(there.actuator_ctrlrange[k])


def test_every_kind_of_mjcf(tmp_path):
    bodies = """<body><joint name="h" range="-90 45" frictionloss="0.3" actuatorfrcrange="-2 2"/>
      <joint name="s" type="slide" range="-0.1 0.2" actuatorfrcrange="-1 3"/><geom size="0.1" pos="1 0 0"/>
      <body><joint name="b" type="ball" range="0 30"/><geom size="0.1" pos="1 0 0"/></body></body>"""
    more = '<actuator><motor joint="h" ctrlrange="-1 2"/><motor name="m" joint="s" ctrlrange="0 3"/></actuator>'
    limits = load_quietly(in_file(tmp_path, mjcf(bodies, more))).build().limits
    half, friction = np.pi / 2, 0.3
    assert limits["h"] == st.JointLimits(-half, half / 2, force=2.0, friction=friction, control=(-1.0, 2.0))
    assert limits["s"] == st.JointLimits(-0.1, 0.2, force=(-1.0, 3.0))
    assert limits["b"] == st.JointLimits(upper=np.deg2rad(30))
    assert limits["m"] == st.JointLimits(control=(0.0, 3.0))


def test_zeros_of_urdf_are_no_limits(tmp_path):
    axis = '<axis xyz="0 1 0"/><dynamics friction="0.7"/>'
    text = urdf(
        link("a"), link("b"), link("c"),
        joints=joint("j", "revolute", "a", "b", axis + '<limit lower="0" upper="0" effort="0" velocity="0"/>')
        + joint("k", "continuous", "b", "c", '<axis xyz="0 1 0"/><limit effort="5" velocity="2"/>'),
    )  # fmt: skip
    limits = load_quietly(in_file(tmp_path, text, "r.urdf")).build().limits
    assert limits["j"] == st.JointLimits(friction=0.7)
    assert limits["k"] == st.JointLimits(velocity=2.0, force=5.0)
