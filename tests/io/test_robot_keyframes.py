"""Keyframes of MJCF files, beside those that MuJoCo compiles."""

import mujoco
import numpy as np
import pytest

import symplectree as st
from robot_files import compiled, load_quietly, mujoco_state
from robot_texts import in_file, mjcf

ROBOT = """
<mujoco>
  <compiler angle="degree"/>
  <worldbody>
    <body name="root" pos="0 0 1"><freejoint name="free"/><geom size="0.1" mass="1"/>
      <body name="socket"><joint name="ball" type="ball" pos="0.1 0 0"/><geom size="0.1" pos="0.3 0 0" mass="1"/>
        <body name="end"><joint name="slide" type="slide" ref="0.2"/><joint name="turn" axis="0 1 0" ref="30"/>
          <geom size="0.1" pos="0.3 0 0" mass="1"/></body></body>
      <body name="second"><joint name="hinge" axis="0 1 0"/><geom size="0.1" pos="0.3 0 0" mass="1"/></body>
    </body>
  </worldbody>
  <actuator><motor joint="hinge"/><motor name="push" joint="slide"/></actuator>
  <keyframe>
    <key name="posed" time="1.5" qpos="1 2 3 0.5 0.5 -0.5 0.5  0.8 0 0.6 0  0.4 0.5  0.6" ctrl="3 4"
         qvel="1 2 3 4 5 6  7 8 9  10 11  12"/>
    <key ctrl="5 6"/>
    <key name="moving" qvel="1 2 3 4 5 6  7 8 9  10 11  12"/>
  </keyframe>
</mujoco>
"""


def test_the_same_state_as_in_mujoco(tmp_path):
    path = in_file(tmp_path, ROBOT)
    m = load_quietly(path)
    assert list(m.keyframes) == ["posed", "key2", "moving"]
    model, there = m.build(), compiled(path)
    data = mujoco.MjData(there)
    for i, (name, keyframe) in enumerate(model.keyframes.items()):
        mujoco.mj_resetDataKeyframe(there, data, i)
        _, ours, _, _ = mujoco_state(path, model, keyframe.q, keyframe.v)
        np.testing.assert_allclose(ours.qpos, data.qpos, atol=1e-15, err_msg=name)
        np.testing.assert_allclose(ours.qvel, data.qvel, atol=1e-14, err_msg=name)
    assert model.keyframes["posed"].controls == {"hinge": 3.0, "push": 4.0}
    assert model.keyframes["posed"].time == 1.5
    assert m.initial["free"][:3] == (0, 0, 1)  # the pose that the file shows: no keyframe is named home


def test_home_is_the_start(tmp_path):
    m = load_quietly(in_file(tmp_path, ROBOT.replace('"moving"', '"home" qpos="0 0 0 1 0 0 0 1 0 0 0 0 0 0.7"')))
    assert m.initial == m.keyframes["home"].q
    assert m.initial["hinge"] == 0.7


def test_a_base_that_is_fixed_has_no_coordinates(tmp_path):
    m = load_quietly(in_file(tmp_path, ROBOT), base="fixed")
    assert "free" not in m.keyframes["posed"].q
    np.testing.assert_allclose(m.build().keyframes["posed"].q, [0.8, 0, 0.6, 0, 0.4, 0.5, 0.6])


@pytest.mark.parametrize("eliminate", [False, True])
def test_joints_that_follow(tmp_path, eliminate):
    bodies = "".join(
        f'<body name="{n}"><joint name="{n}" axis="0 1 0"/><geom size="0.1" pos="1 0 0"/></body>' for n in "ab"
    )
    more = """<equality><joint joint1="b" joint2="a" polycoef="0 2 0 0 0"/></equality>
      <keyframe><key name="home" qpos="0.3 0.6" qvel="1 2"/></keyframe>"""
    model = load_quietly(in_file(tmp_path, mjcf(bodies, more)), eliminate=eliminate).build()
    traj = st.simulate(model, "home", duration=0.01, dt=0.001)
    assert model.nq == (1 if eliminate else 2)
    np.testing.assert_allclose([traj["a"][0], traj["b"][0]], [0.3, 0.6])


def test_what_does_not_fit_is_named(tmp_path):
    body = '<body><joint name="j"/><geom size="0.1" pos="1 0 0"/></body>'
    path = in_file(tmp_path, mjcf(body, '<keyframe><key name="odd" qpos="1 2"/></keyframe>'))
    with pytest.warns(UserWarning, match=r"not as many as the model has \(1: odd\)"):
        assert st.load(path).keyframes == {}
