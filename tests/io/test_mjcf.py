"""What gymnasium's robots do not show: every way MJCF says things, equalities, and what is left out."""

import warnings

import mujoco
import numpy as np
import pytest

import symplectree as st
from robot_files import compiled, load_quietly, mujoco_dynamics, mujoco_state, our_dynamics, random_state, worst
from robot_texts import in_file, mjcf, write_stl
from sexpr_round_trip import assert_round_trip

EVERYTHING = """
<mujoco>
  <compiler angle="{unit}" eulerseq="{order}" boundmass="0.01" boundinertia="1e-5" inertiagrouprange="0 2" {compiler}/>
  <option gravity="0.3 -0.2 -9"/>
  <default>
    <joint damping="0.2" armature="0.01"/>
    <geom density="400"/>
    <default class="stiff"><joint stiffness="5" springref="{turn}" damping="0.7"/><geom density="77"/></default>
  </default>
  <asset>
    <mesh name="inline" vertex="0 0 0  1 0 0  0 1 0  0 0 1" scale="0.2 0.3 -0.4" refpos="0.1 0 0.1" refquat="1 1 0 0"/>
    <mesh name="file" file="tetrahedron.stl"/>
  </asset>
  <worldbody>
    <geom type="plane" size="1 1 1"/>
    <body name="floating" pos="1 2 3" euler="{three}">
      <freejoint name="root"/>
      <geom type="ellipsoid" size="0.1 0.2 0.3" pos="0.1 0 0"/>
      <geom type="sphere" size="5" group="3"/>
      <site name="tip" pos="0 0 1"/>
      <body name="fixed" pos="0 1 0" xyaxes="0 1 0 -1 0 0">
        <inertial pos="0.1 0.2 0.3" mass="2" fullinertia="0.2 0.3 0.4 0.01 0.02 0.03"/>
        <body name="socket" pos="1 0 0" axisangle="1 1 0 {turn}"><joint name="ball" type="ball" pos="0.1 0.2 0.3"/>
          <geom type="box" size="0.1 0.2 0.3" mass="3"/></body>
      </body>
    </body>
    <frame pos="1 2 3" euler="{three}"><frame pos="0.5 0 0" zaxis="0 1 1">
      <body name="several" pos="1 1 1" childclass="stiff">
        <joint name="a" type="hinge" axis="0 2 0" pos="1 0 0" ref="{turn}"/>
        <frame pos="0.1 0.2 0.3" euler="{three}">
          <joint name="b" type="slide" axis="1 0 1" ref="0.3"/>
          <joint name="c" type="hinge" axis="1 0 0" pos="0 1 0"/>
          <geom type="capsule" size="0.1" fromto="0 0 0 0.1 0.2 0.5"/>
          <geom type="cylinder" size="0.1 0.2" quat="1 2 3 4"/>
        </frame>
        <body name="thin"><joint name="d" type="hinge" ref="{turn}" stiffness="3"/>
          <inertial pos="0 0 0" euler="{three}" mass="0.001" diaginertia="1e-6 1e-6 1e-6"/></body>
        {meshes}
      </body>
    </frame></frame>
  </worldbody>
</mujoco>
"""

MESHES = """
<body name="meshes"><joint name="e" axis="1 0 0" type="hinge"/>
  <geom type="mesh" mesh="inline" pos="1 0 0" quat="1 2 3 4"/>
  <geom type="mesh" mesh="file" mass="0.3" quat="1 0 1 0"/></body>
"""
DEGREES = {"unit": "degree", "order": "xyz", "turn": "25", "three": "10 20 30"}
RADIANS = {"unit": "radian", "order": "ZyX", "turn": "0.4", "three": "0.1 0.2 0.3"}


@pytest.mark.parametrize("compiler", ["", 'settotalmass="30"', 'inertiafromgeom="true"', 'balanceinertia="true"'])
@pytest.mark.parametrize("words", [DEGREES, RADIANS], ids=["degree", "radian"])
@pytest.mark.parametrize(("meshes", "tolerance"), [("", 1e-13), (MESHES, 1e-6)], ids=["solids", "meshes"])
def test_every_way_of_mjcf_agrees_with_mujoco(tmp_path, words, compiler, meshes, tolerance):
    """MuJoCo keeps meshes in single precision."""
    write_stl(tmp_path / "tetrahedron.stl")
    path = in_file(tmp_path, EVERYTHING.format(**words, compiler=compiler, meshes=meshes))
    mechanism = load_quietly(path)
    model = mechanism.build()
    there = compiled(path)
    for name, value in mechanism.initial.items():
        np.testing.assert_allclose(value, there.qpos0[there.joint(name).qposadr[0] :][: np.size(value)], atol=1e-14)
    for seed in range(3):
        q, v = random_state(model, seed)
        errors = worst(our_dynamics(model, q, v), mujoco_dynamics(path, model, q, v))
        assert max(errors.values()) < tolerance, errors
    assert_round_trip(mechanism)


def test_the_pose_in_the_file_is_the_start(tmp_path):
    write_stl(tmp_path / "tetrahedron.stl")
    path = in_file(tmp_path, EVERYTHING.format(**DEGREES, compiler="", meshes=MESHES))
    mechanism = load_quietly(path)
    model = mechanism.build()
    there = compiled(path)
    data = mujoco.MjData(there)
    mujoco.mj_forward(there, data)
    q0 = dict(mechanism.initial)
    for body in ("floating", "fixed", "socket", "several", "thin", "meshes"):
        T = st.pose(model, q0, body)
        np.testing.assert_allclose(T[:3, 3], data.body(body).xpos, atol=1e-12)
        np.testing.assert_allclose(T[:3, :3], data.body(body).xmat.reshape(3, 3), atol=1e-12)
    np.testing.assert_allclose(st.pose(model, q0, "tip")[:3, 3], data.site("tip").xpos, atol=1e-12)


def test_shapes_are_mujocos_geoms(tmp_path):
    write_stl(tmp_path / "tetrahedron.stl")
    path = in_file(tmp_path, EVERYTHING.format(**RADIANS, compiler="", meshes=""))
    shapes, there = load_quietly(path, contact=False).shapes, compiled(path)
    geoms = [i for i in range(there.ngeom) if there.geom_group[i] < 3]
    assert len(shapes) == len(geoms) == there.ngeom - 1
    halves = {"sphere": 1, "box": 0.5, "ellipsoid": 1, "plane": 0.5, "cylinder": (1, 0.5), "capsule": (1, 0.5)}
    for i, shape in zip(geoms, shapes, strict=True):
        assert shape.frame == there.body(there.geom_bodyid[i]).name
        size = np.multiply(shape.size, halves[shape.kind])
        np.testing.assert_allclose(size, there.geom_size[i][: len(size)], atol=1e-12)
        R = np.zeros(9)
        mujoco.mju_quat2Mat(R, there.geom_quat[i])
        np.testing.assert_allclose(shape.pose[:3, 3], there.geom_pos[i], atol=1e-12)
        np.testing.assert_allclose(shape.pose[:3, :3], R.reshape(3, 3), atol=1e-12)


BODIES = """
<worldbody>
  <body name="one" pos="0 0 1"><joint name="p" axis="0 1 0" ref="10"/><geom size="0.1" pos="0.3 0 0"/>
    <site name="s1" pos="0 0 1"/>
    <body name="two" pos="0 0 1" euler="10 20 30"><joint name="q" type="ball"/><geom type="box" size="0.1 0.2 0.3"/>
      <body name="three" pos="0.5 0 0"><joint name="r" type="slide" ref="0.2"/><geom size="0.1"/></body></body>
  </body>
  <body name="four" pos="1 0 0"><freejoint name="f"/><geom size="0.1"/><site name="s2"/></body>
</worldbody>
"""


def rows_in_mujoco(path, model, q, v):
    """Values and Jacobian of MuJoCo's equalities, the latter in our velocities."""
    there, data, P, _ = mujoco_state(path, model, q, v)
    mujoco.mj_forward(there, data)
    rows = data.ne
    return data.efc_pos[:rows].copy(), data.efc_J.reshape(-1, there.nv)[:rows] @ P


@pytest.mark.parametrize(
    "equality",
    [
        '<connect body1="one" body2="four" anchor="0.1 0.2 0.3"/>', '<connect body1="three" anchor="0.1 0.2 0.3"/>',
        '<weld body1="three"/>', '<weld body1="two" body2="four"/>',
        '<weld body1="two" body2="four" anchor="0.1 0.2 0.3"/>',
        '<weld body1="one" body2="four" relpose="1 2 3 1 1 0 0" anchor="0.1 -0.2 0.3"/>',
        '<connect site1="s1" site2="s2"/>', '<weld site1="s1" site2="s2"/>',
        '<joint joint1="p" joint2="r" polycoef="0.1 2 0 0 0"/>', '<joint joint1="r" polycoef="0.3 0 0 0 0"/>',
        '<joint joint1="p" joint2="r" polycoef="0.1 2 0.3 -0.4 0.5"/>', '<joint joint1="p"/>',
    ],
)  # fmt: skip
def test_equalities_hold_what_mujocos_hold(tmp_path, equality):
    """Where MuJoCo's rows are zero ours are, and there both allow the same velocities."""
    path = in_file(tmp_path, f'<mujoco><option jacobian="dense"/>{BODIES}<equality>{equality}</equality></mujoco>')
    mechanism = load_quietly(path)
    model = mechanism.build()
    v = np.zeros(model.nv)
    q = st.assemble(model, st.retract(model, model.neutral, np.random.default_rng(0).normal(size=model.nv) * 0.3))
    values, J = rows_in_mujoco(path, model, q, v)
    np.testing.assert_allclose(values, 0, atol=1e-7)
    ours = st.constraint_jacobian(model, q)
    rank = np.linalg.matrix_rank(J, tol=1e-6)
    assert rank == np.linalg.matrix_rank(ours, tol=1e-6) == np.linalg.matrix_rank(np.vstack([J, ours]), tol=1e-6)
    assert_round_trip(mechanism)


def test_relative_pose_of_a_weld(tmp_path):
    text = f'<mujoco>{BODIES}<equality><weld body1="one" body2="four" relpose="1 2 3 1 1 0 0"/></equality></mujoco>'
    model = load_quietly(in_file(tmp_path, text)).build()
    q = st.assemble(model, model.neutral)
    between = np.linalg.inv(st.pose(model, q, "one")) @ st.pose(model, q, "four")
    np.testing.assert_allclose(between, [[1, 0, 0, 1], [0, 0, -1, 2], [0, 1, 0, 3], [0, 0, 0, 1]], atol=1e-9)


LEFT_OUT = """
<mujoco>
  <option density="1" wind="1 0 0" magnetic="0 1 0"/>
  <worldbody>
    <camera name="eye"/><site name="one"/><site name="two" pos="1 0 0"/><light name="lamp"/>
    <body name="b" gravcomp="1"><joint name="j" range="-10 10" frictionloss="0.1" actuatorfrcrange="-1 1"/>
      <geom name="ball" size="0.1"/><site name="spot"/>
      <body name="c" pos="1 0 0"><joint name="k" type="ball" stiffness="1"/>
      <joint name="l" type="slide" springdamper="1 1"/><geom name="other" type="mesh" mesh="lost" mass="1"/>
      <geom name="weight" size="0.1"/></body></body>
    <body name="mocap" mocap="true"/>
  </worldbody>
  <asset><mesh name="lost" file="lost.stl"/></asset>
  <tendon><spatial name="rope"><site site="one"/><site site="two"/></spatial></tendon>
  <actuator><motor name="motor" joint="j" gear="50"/><position name="servo" joint="l"/>
    <muscle name="flexor" joint="l"/></actuator>
  <sensor><jointpos name="encoder" joint="j"/><magnetometer name="compass" site="spot"/></sensor>
  <equality><connect name="idle" body1="b" anchor="0 0 0" active="false"/><tendon name="tied" tendon1="rope"/></equality>
  <contact><exclude body1="b" body2="c"/></contact>
  <keyframe><key name="home" qpos="0 1 0 0 0 0"/></keyframe>
</mujoco>
"""


def test_one_warning_names_all_that_is_left_out(tmp_path):
    path = in_file(tmp_path, LEFT_OUT)
    with pytest.warns(UserWarning) as caught:
        mechanism = st.load(path, contact=False)
    assert len(caught) == 1
    assert caught[0].filename == __file__
    message = str(caught[0].message)
    for words in (
        str(path), "density", "wind", "which needs all meshes of the file (1: b)", "joint limits (1: j)",
        "dry friction of joints (1: j)", "springs of ball and free joints (1: k)",
        "springdamper", "contacts (3: ball, other, weight)", "geom 'other'", "lost.stl",
        "actuators with activation dynamics (1: flexor)", "compass (magnetometer)", "tied",
    ):  # fmt: skip
        assert words in message, words
    for words in ("eye", "lamp", "encoder", "idle", "flux"):  # say nothing about the motion
        assert words not in message, words
    assert mechanism.build().inputs == ("motor", "servo")
    with pytest.warns(UserWarning) as caught:
        st.load(path)
    assert not any(words in str(caught[0].message) for words in ("joint limits", "dry friction", "contacts"))


def test_nothing_left_out_is_no_warning(tmp_path):
    text = mjcf('<body><joint name="j" axis="1 0 0"/><geom size="0.1" pos="0 0 1"/></body>')
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert st.load(in_file(tmp_path, text)).build().coordinates == ("j",)


def test_a_motor_is_an_input(tmp_path):
    more = '<option gravity="0 0 0"/><actuator><motor joint="j"/></actuator>'
    text = mjcf('<body><joint name="j" type="slide"/><geom size="0.1" mass="2"/></body>', more)
    model = load_quietly(in_file(tmp_path, text)).build()
    traj = st.simulate(model, model.neutral, duration=1, dt=0.01, forces={"j": 3.0})
    np.testing.assert_allclose(traj.q[-1], 0.75, rtol=1e-9)  # ½ (3/2) t²


def test_springs_that_follow_from_the_inertia(tmp_path):
    joints = '<joint name="j" axis="0 1 0" springdamper="0.1 0.8"/><joint name="k" type="slide" springdamper="0.2 1"/>'
    path = in_file(tmp_path, mjcf(f'<body>{joints}<geom size="0.1" pos="0.3 0 0"/></body>'))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = st.load(path).build()
    assert len(model.elements) == 4
    for seed in range(2):
        q, v = random_state(model, seed)
        assert max(worst(our_dynamics(model, q, v), mujoco_dynamics(path, model, q, v)).values()) < 1e-12


def test_attached_models_keep_their_units(tmp_path):
    part = """<mujoco model="part"><compiler angle="radian" eulerseq="ZYX" inertiafromgeom="true"/><worldbody>
      <body name="arm" euler="0.1 0.2 0.3"><joint name="j" ref="0.5" axis="0 1 0"/><inertial mass="9" pos="0 0 0"
      diaginertia="1 1 1"/><geom size="0.1" pos="0 0 1"/></body></worldbody></mujoco>"""
    in_file(tmp_path, part, "part.xml")
    whole = """<mujoco><asset><model name="part" file="part.xml"/></asset><worldbody><body name="base" euler="10 20 30">
      <joint name="k" ref="10"/><geom size="0.2" pos="1 0 0"/><frame euler="40 0 0" pos="1 0 0">
      <attach model="part" body="arm" prefix="a_"/></frame></body></worldbody></mujoco>"""
    path = in_file(tmp_path, whole)
    model = load_quietly(path).build()
    assert model.coordinates == ("k", "a_j")
    q, v = random_state(model, 0)
    assert max(worst(our_dynamics(model, q, v), mujoco_dynamics(path, model, q, v)).values()) < 1e-13


def test_included_files_and_flags(tmp_path):
    in_file(
        tmp_path,
        '<mujocoinclude><body name="b"><joint name="j"/><geom size="1" pos="1 0 0"/></body></mujocoinclude>',
        "b.xml",
    )
    text = '<mujoco><option><flag gravity="disable"/></option><worldbody><include file="b.xml"/></worldbody></mujoco>'
    model = load_quietly(in_file(tmp_path, text)).build()
    assert model.bodies == ("b",)
    np.testing.assert_array_equal(model.gravity, 0)


def test_what_only_collides_is_not_shown(tmp_path):
    """Groups from 3 on are hidden, as MuJoCo does, unless the robot would vanish."""
    geoms = '<geom size="0.1" group="{}"/><geom size="0.2" group="3"/><geom size="0.3" rgba="1 1 1 0"/>'
    body = '<geom type="plane" size="1 1 1"/><body name="b"><joint/>{}</body>'
    shown = [s for s in load_quietly(in_file(tmp_path, mjcf(body.format(geoms.format(2))))).shapes if s.visible]
    assert [(s.kind, s.size) for s in shown] == [("plane", (2, 2)), ("sphere", (0.1,))]
    shown = [s for s in load_quietly(in_file(tmp_path, mjcf(body.format(geoms.format(4))))).shapes if s.visible]
    assert [s.kind for s in shown] == ["plane", "sphere", "sphere"]


def test_included_files_and_errors_in_them(tmp_path):
    (tmp_path / "parts").mkdir()
    part = '<mujocoinclude>\n\n<body name="p"><joint type="{}"/><geom size="0.1" pos="1 0 0"/></body></mujocoinclude>'
    whole = '<body name="b"><freejoint/><geom size="0.2"/><include file="parts/part.xml"/></body>'
    path = in_file(tmp_path, mjcf(whole))
    in_file(tmp_path / "parts", part.format("hinge"), "part.xml")
    assert load_quietly(path).build().nv == 7
    in_file(tmp_path / "parts", part.format("hingee"), "part.xml")
    with pytest.raises(st.ModelError, match=r"robot\.xml, or a file that it includes: invalid keyword: 'hingee'"):
        st.load(path)
    (tmp_path / "parts" / "part.xml").unlink()
    with pytest.raises(st.ModelError, match=r"parts/part\.xml"):
        st.load(path)


@pytest.mark.parametrize("scale", ["0.5 0.5 0.5", "0.2 0.3 -0.4"])
def test_shells_of_meshes(tmp_path, scale):
    write_stl(tmp_path / "tetrahedron.stl")
    asset = f'<asset><mesh name="m" file="tetrahedron.stl" scale="{scale}" inertia="shell"/></asset>'
    body = '<body name="b"><joint name="j" axis="1 1 0"/><geom type="mesh" mesh="m" pos="1 0 0" quat="1 2 3 4"/></body>'
    path = in_file(tmp_path, mjcf(body, asset))
    model = load_quietly(path).build()
    q, v = random_state(model, 1)
    theirs = mujoco_dynamics(path, model, q, v)
    assert max(worst(our_dynamics(model, q, v), theirs).values()) < 1e-12
    assert theirs["mass matrix"][0, 0] > 1e-3


@pytest.mark.parametrize("way", ["", 'inertia="legacy"', 'inertia="exact"', 'inertia="convex"', 'inertia="shell"'])
def test_meshes_that_are_not_convex(tmp_path, way):
    """An L: of the part that a corner overlooks, MuJoCo's default adds what it should take away (dm_control's Jaco)."""
    outline = [(0, 0), (2, 0), (2, 1), (1, 1), (1, 3), (0, 3)]
    lid = [(0, 1, 2), (0, 2, 3), (0, 3, 5), (3, 4, 5)]
    sides = [f for i in range(6) for f in ((i, (i + 1) % 6, (i + 1) % 6 + 6), (i, (i + 1) % 6 + 6, i + 6))]
    faces = [(a, c, b) for a, b, c in lid] + [(a + 6, b + 6, c + 6) for a, b, c in lid] + sides
    vertex = " ".join(f"{x} {y} {z}" for z in (0, 0.5) for x, y in outline)
    face = " ".join(f"{a} {b} {c}" for a, b, c in faces)
    asset = f'<asset><mesh name="m" vertex="{vertex}" face="{face}" scale=".1 .1 -.2" {way}/></asset>'
    body = '<body name="b"><joint name="j" axis="1 1 0"/><geom type="mesh" mesh="m" pos="1 0 0" quat="1 2 3 4"/></body>'
    path = in_file(tmp_path, mjcf(body, asset))
    model = load_quietly(path).build()
    q, v = random_state(model, 1)
    assert max(worst(our_dynamics(model, q, v), mujoco_dynamics(path, model, q, v)).values()) < 1e-12
