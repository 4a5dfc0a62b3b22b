"""Sensors of MJCF files, beside MuJoCo's sensordata."""

from xml.etree import ElementTree

import mujoco
import numpy as np
import pytest

import symplectree as st
from random_robots import Mjcf
from robot_files import load_quietly, mujoco_state, random_state
from robot_texts import in_file, mjcf
from sexpr_round_trip import assert_round_trip

AT_SITES = ("accelerometer", "gyro", "velocimeter", "force", "torque")
OF_FRAMES = ("framepos", "framequat", "framexaxis", "frameyaxis", "framezaxis", "framelinvel", "frameangvel")
ACCELERATIONS = ("framelinacc", "frameangacc")


def with_sensors(seed: int) -> str:
    """A random robot with a site on every body, and every sensor that can be read."""
    rng = np.random.default_rng(seed)
    root = ElementTree.fromstring(Mjcf(seed).text)
    bodies = list(root.iter("body"))
    sensors = ElementTree.SubElement(root, "sensor")

    def add(kind: str, **given: str) -> None:
        ElementTree.SubElement(sensors, kind, name=f"{kind}{len(sensors)}", **given)

    for body in bodies:
        name, site = body.get("name"), f"site {body.get('name')}"
        numbers = [" ".join(f"{x:.3f}" for x in rng.normal(size=n)) for n in (3, 4)]
        ElementTree.SubElement(body, "site", name=site, pos=numbers[0], quat=numbers[1])
        for kind in AT_SITES:
            add(kind, site=site)
        other = str(rng.choice([b.get("name") for b in bodies]))
        for kind in OF_FRAMES:
            add(kind, objtype="site", objname=site)
            add(kind, objtype="xbody", objname=name, reftype="xbody", refname=other)
            add(kind, objtype="xbody", objname=name, reftype="site", refname=f"site {other}")
        for kind in ACCELERATIONS:
            add(kind, objtype="site", objname=site)
            add(kind, objtype="xbody", objname=name)
        add("subtreecom", body=name)
        for joint in body.findall("joint"):
            ball = joint.get("type") == "ball"
            add("ballquat" if ball else "jointpos", joint=joint.get("name"))
            add("ballangvel" if ball else "jointvel", joint=joint.get("name"))
    return ElementTree.tostring(root, encoding="unicode")


@pytest.mark.parametrize("seed", [0, 1, 2, 3, 4, 6, 7, 8, 9, 10])  # MuJoCo compiles no 5
def test_the_same_values_as_mujoco(seed, tmp_path):
    path = in_file(tmp_path, with_sensors(seed))
    m = load_quietly(path)
    model = m.build().without_contact()  # MuJoCo is asked without limits below
    q, v = random_state(model, seed)
    there, data, _, _ = mujoco_state(path, model, q, v)
    there.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_LIMIT)
    mujoco.mj_forward(there, data)
    assert len(model.sensors) > 0.8 * there.nsensor
    worst = 0.0
    for name in model.sensors:
        ours, theirs = np.atleast_1d(st.measure(model, name, q, v)), data.sensor(name).data
        if "quat" in name:
            ours = ours * np.sign(ours @ theirs)
        worst = max(worst, np.abs(ours - theirs).max() / (1 + np.abs(theirs).max()))
    assert worst < 1e-9  # the worst mass matrices have conditions of 1e5
    left_out = {there.sensor(i).name for i in range(there.nsensor)} - model.sensors.keys()
    assert all(name.startswith(("force", "torque", "subtreecom")) for name in left_out)  # of bodies without joints


def test_sensors_of_actuators_and_text(tmp_path):
    body = '<body name="b"><joint name="j" axis="0 1 0"/><geom size="0.1" pos="1 0 0"/><site name="s"/></body>'
    more = """<actuator><motor name="m" joint="j"/></actuator>
      <sensor><actuatorfrc name="torque" actuator="m"/><gyro site="s"/><gyro name="imu" site="s" cutoff="3"/></sensor>"""
    path = in_file(tmp_path, mjcf(body, more))
    with pytest.warns(UserWarning, match=r"cutoff of sensors \(1: imu\)"):
        m = st.load(path)
    assert m.sensors == [st.ActuatorForce("torque", "m"), st.Gyro("sensor2", "s"), st.Gyro("imu", "s")]
    assert st.measure(m.build(), "torque", [0.1], inputs={"m": 3.0}) == 3.0
    assert assert_round_trip(m).sensors == m.sensors


def test_what_is_not_read_is_named(tmp_path):
    body = '<body name="b"><joint name="j" axis="0 1 0"/><geom name="g" size="0.1" pos="1 0 0"/><site name="s"/></body>'
    more = """<sensor><touch name="t" site="s"/><framepos name="p" objtype="geom" objname="g"/><clock/>
      <framepos name="c" objtype="body" objname="b"/></sensor>"""
    with pytest.warns(UserWarning) as caught:
        m = st.load(in_file(tmp_path, mjcf(body, more)))
    assert "sensors (4: t (touch), p (framepos), sensor3, clock, c (framepos))" in str(caught[0].message)
    assert m.sensors == []
