"""Contacts of robots' files: which geoms collide, beside MuJoCo; shapes; starts that overlap; motion."""

import mujoco
import numpy as np
import pytest

import symplectree as st
from robot_files import compiled, load_quietly, mjcf_files
from robot_texts import in_file, joint, link, mjcf, urdf, write_stl
from sexpr_round_trip import assert_round_trip

FAR = 100.0  # m: a margin that everything is within
BALL = '<geom name="{0}" size="0.1" {1}/>'  # of boxes MuJoCo does not tell contacts at any distance
FLOOR = '<geom name="floor" type="plane" size="0 0 1"/>'


def pairs_of_mujoco(there) -> dict[tuple[int, int], float]:
    """Friction of every two geoms that MuJoCo lets collide, by asking for contacts at any distance."""
    there.body_margin[:], there.geom_margin[:], there.geom_gap[:] = FAR, FAR, FAR
    there.pair_margin[:], there.pair_gap[:] = FAR, FAR
    there.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_MIDPHASE)
    data = mujoco.MjData(there)
    mujoco.mj_forward(there, data)
    return {tuple(sorted(map(int, c.geom))): c.friction[0] if c.dim > 1 else 0.0 for c in data.contact}


def our_pairs(m: st.Mechanism) -> dict[frozenset[str], float]:
    model = m.build()
    names = [model.shapes[number].name for number in model.tables.shapes]
    return {frozenset((names[row.a], names[row.b])): row.friction for row in model.tables.contact_pairs}


@pytest.mark.parametrize("path", mjcf_files(), ids=lambda p: p.stem)
def test_geoms_that_mujoco_lets_collide(path):
    there, ours = compiled(path), our_pairs(load_quietly(path))
    theirs = pairs_of_mujoco(there)
    overlapping = 6 if path.stem == "humanoidstandup" else 0  # pairs of its links, lying down, which are left out
    assert len(ours) == len(theirs) - overlapping
    assert sorted(set(ours.values())) == pytest.approx(sorted({float(f) for f in theirs.values()}))


def arm(inside: str = "", **geoms: str) -> str:
    """A floor, and bodies a – b – c in a row and d beside them, each with a ball, of which `geoms` says more."""
    ball = {name: BALL.format(f"{name}_ball", geoms.get(name, "")) for name in "abcd"}
    return mjcf(
        f'{FLOOR}<geom name="wall" size="1" pos="5 0 0"/>'
        f'<body name="a" pos="0 0 1"><joint name="ja"/>{ball["a"]}'
        f'<body name="fixed">{BALL.format("fixed_ball", "")}</body>'
        f'<body name="b" pos="1 0 0"><joint name="jb"/>{ball["b"]}'
        f'<body name="c" pos="1 0 0"><joint name="jc"/>{ball["c"]}</body></body></body>'
        f'<body name="d" pos="0 3 1"><freejoint name="jd"/>{ball["d"]}</body>',
        inside,
    )


CASES = {
    "plain": arm(),
    "filterparent off": arm('<option><flag filterparent="disable"/></option>'),
    "exclude": arm('<contact><exclude body1="a" body2="d"/><exclude body1="world" body2="c"/></contact>'),
    "pair": arm(
        '<contact><pair geom1="a_ball" geom2="b_ball" friction="0.3 0.3 0.1 0 0"/>'
        '<pair geom1="d_ball" geom2="floor" condim="1"/><pair geom1="c_ball" geom2="d_ball"/></contact>',
        c='friction="0.9 0.005 0.0001"',
    ),
    "bits": arm(a='contype="2" conaffinity="0"', b='contype="0" conaffinity="3"', d='contype="0" conaffinity="0"'),
    "friction": arm(a='friction="0.2 0 0"', d='friction="0.4 0 0" priority="1"', c='condim="1" priority="2"'),
    "condim": arm(a='condim="1"', d='condim="1"'),
    "override": arm('<option o_friction="0.7 0.7 0.1 0.1 0.1"><flag override="enable"/></option>'),
}


@pytest.mark.parametrize("case", CASES)
def test_rules(tmp_path, case):
    path = in_file(tmp_path, CASES[case])
    there = compiled(path)
    named = {frozenset(there.geom(i).name for i in pair): friction for pair, friction in pairs_of_mujoco(there).items()}
    ours = our_pairs(load_quietly(path))
    assert ours.keys() == named.keys()
    assert ours == {pair: pytest.approx(friction) for pair, friction in named.items()}


def test_switched_off(tmp_path):
    path = in_file(tmp_path, arm())
    assert not any(isinstance(e, st.Contact) for e in load_quietly(path, contact=False).elements)
    path = in_file(tmp_path, arm('<option><flag contact="disable"/></option>'))
    assert not any(isinstance(e, st.Contact) for e in st.load(path).elements)
    with pytest.raises(st.ModelError, match="contact is 'no'"):
        st.load(path, contact="no")
    with pytest.raises(st.ModelError, match="contact is for robots"):
        st.load("four_bar", contact=False)


def test_what_only_collides_is_not_drawn(tmp_path):
    path = in_file(tmp_path, arm(a='group="3"'))
    shapes = {shape.name: shape for shape in st.load(path).shapes}
    assert not shapes["a_ball"].visible and shapes["b_ball"].visible
    drawn = load_quietly(path, contact=False).shapes
    assert len(drawn) == len(shapes) - 1 and all(shape.visible for shape in drawn)


def test_left_out_by_name(tmp_path):
    spoiled = {"d": 'condim="6"', "c": 'margin="0.01"'}
    with pytest.warns(UserWarning) as said:
        st.load(in_file(tmp_path, arm(**spoiled)))
    assert "torsional and rolling friction (1: geom 'd_ball')" in str(said[0].message)
    assert "margins of contacts (1: geom 'c_ball')" in str(said[0].message)
    field = '<asset><hfield name="h" nrow="2" ncol="2" size="1 1 1 1"/></asset>'
    ball = '<geom name="hills" type="hfield" hfield="h"/><body><freejoint/><geom name="ball" size="0.1"/></body>'
    with pytest.warns(UserWarning, match="contacts of geoms of kind hfield .1: geom 'hills'"):
        assert not any(isinstance(e, st.Contact) for e in st.load(in_file(tmp_path, mjcf(ball, field))).elements)


def test_bad_pair(tmp_path):
    ball = '<body name="b"><freejoint/><geom name="g" size="1"/></body>'
    path = in_file(tmp_path, mjcf(FLOOR + ball, '<contact><pair geom1="g" geom2="h"/></contact>'))
    with pytest.raises(st.ModelError, match="contact pair g–h names geom 'h'"):
        st.load(path)


def test_overlap_at_the_start(tmp_path):
    ball = '<body name="b" pos="0 0 0.06"><freejoint name="f"/><geom name="ball" size="0.1"/></body>'
    key = '<keyframe><key name="deep" qpos="0 0 0.01 1 0 0 0"/><key name="up" qpos="0 0 1 1 0 0 0"/></keyframe>'
    path = in_file(tmp_path, mjcf(FLOOR + ball, key))
    with pytest.warns(UserWarning, match="floor is 90 mm in ball at keyframe 'deep', floor is 40 mm") as said:
        m = st.load(path)
    assert len(said) == 1 and "keep but do not let grow" in str(said[0].message)
    traj = st.simulate(m.build(), {"f": (0, 0, 0.06, 1, 0, 0, 0)}, duration=0.1, dt=0.001)
    assert np.ptp(traj.q[:, 2]) < 1e-9


def test_links_that_overlap_each_other_at_the_start_do_not_collide(tmp_path):
    joint, geom = '<joint axis="0 1 0"/>', '<geom name="{}" size="0.1"/>'
    chain = f'<body pos="0 0 1"><freejoint/>{geom.format("one")}<body pos="0.3 0 0">{joint}{geom.format("two")}'
    chain += f'<body pos="-0.25 0 0">{joint}{geom.format("three")}</body></body></body>'
    with pytest.warns(UserWarning, match="because they overlap at the start: contacts of one and three"):
        m = st.load(in_file(tmp_path, mjcf(FLOOR + chain)))
    model = m.build()
    assert {model.shapes[model.tables.shapes[p.a]].name for p in model.tables.contact_pairs} == {"floor"}
    assert len(model.tables.contact_pairs) == 3
    traj = st.simulate(model, m.initial or model.neutral, duration=0.1, dt=0.002)
    assert np.all(np.isfinite(traj.q))


@pytest.mark.parametrize(("mounted", "collides"), [(True, False), (False, True)])
def test_what_slides_in_its_base_does_not_collide_with_it(tmp_path, mounted, collides):
    """A finger in the hull of its hand, which stands still, moves; in a wall that it does not hang on it stays."""
    hand = '<body name="hand"><geom name="palm" type="box" size="0.1 0.1 0.1"/>{}</body>'
    finger = '<body name="{}" pos="0.15 0 0"><joint name="{}" type="slide" axis="1 0 0"/>{}{}</body>'
    tip = finger.format("tip", "close", '<geom name="pad" size="0.06"/>', "")
    middle = finger.format("finger", "open", '<geom name="bone" size="0.01" contype="0" conaffinity="0"/>', tip)
    middle = middle.replace('name="tip" pos="0.15 0 0"', 'name="tip"')
    body = hand.format(middle) if mounted else hand.format("") + middle
    with pytest.warns(UserWarning, match="overlap.* at the start.*p"):
        model = st.load(in_file(tmp_path, mjcf(body))).build()
    assert bool(model.tables.contact_pairs) is collides
    traj = st.simulate(model, model.neutral, v0={"close": -0.1}, duration=0.1, dt=0.002)
    assert traj["close"][-1] == pytest.approx(0 if collides else -0.01, abs=1e-9)


def test_ball_rolls_down_as_in_mujoco(tmp_path):
    """A ball on a slope of 0.3 with friction 1 rolls: 5/7 g sin θ; MuJoCo's stiff contact within 1e-3 of the way."""
    body = '<geom name="slope" type="plane" size="0 0 1" euler="0 16.7 0"/>'
    body += '<body name="b" pos="0.0287 0 0.0958"><freejoint name="f"/><geom name="ball" size="0.1"/></body>'
    path = in_file(tmp_path, mjcf(body))
    m = load_quietly(path)
    traj = st.simulate(m.build(), m.initial, duration=0.5, dt=0.002)
    there = compiled(path)
    there.opt.timestep, there.geom_solref[:], there.geom_solimp[:, :2] = 1e-4, (2e-3, 1), 0.9999
    data = mujoco.MjData(there)
    mujoco.mj_step(there, data, 5000)
    np.testing.assert_allclose(
        traj.q[-1, :3], data.qpos[:3], atol=1e-3 * np.linalg.norm(traj.q[-1, :3] - traj.q[0, :3])
    )


INERTIAL = '<inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/>'
MESH = mjcf(
    f'{FLOOR}<body name="b" pos="0 0 0.01"><freejoint name="f"/>{INERTIAL}'
    '<geom name="part" type="mesh" mesh="part"/></body>',
    '<asset><mesh name="part" file="part.stl" scale="1 2 1"/></asset>',
)


def test_meshes_collide_as_their_hulls(tmp_path):
    write_stl(tmp_path / "part.stl")
    m = load_quietly(in_file(tmp_path, MESH.replace(INERTIAL, "")))
    model = m.build()
    assert len(model.tables.hull_vertices) == len(model.tables.hull_faces) == 4
    traj = st.simulate(model, m.initial, duration=0.3, dt=0.002)
    corners = np.array([[0, 0, 0], [0.3, 0, 0], [0, 0.4, 0], [0, 0, 0.4]])
    shape = next(s for s in m.shapes if s.kind == "mesh")
    T = traj.pose("b")[-1] @ shape.pose
    heights = (corners @ T[:3, :3].T + T[:3, 3])[:, 2]
    np.testing.assert_allclose(heights, [0, 0, 0, 0.4], atol=1e-6)  # it has come to lie on the floor


def test_meshes_that_cannot_collide(tmp_path):
    with pytest.warns(UserWarning, match="contacts of meshes without a file or without volume .1: geom 'part'"):
        m = st.load(in_file(tmp_path, MESH))
    assert not any(isinstance(e, st.Contact) for e in m.elements)


@pytest.mark.parametrize("case", CASES)
def test_round_trip_of_text_and_mjcf(tmp_path, case):
    m = load_quietly(in_file(tmp_path, CASES[case]))
    again = assert_round_trip(m)
    assert our_pairs(again) == our_pairs(m)
    again.to_mjcf(tmp_path / "again.xml")
    assert our_pairs(load_quietly(tmp_path / "again.xml")) == our_pairs(m)


def test_round_trip_of_a_humanoid():
    path = next(p for p in mjcf_files() if p.stem == "humanoid")
    m = load_quietly(path)
    assert_round_trip(m)
    assert (
        len([e for e in m.elements if isinstance(e, st.Contact)]) == 2
    )  # floor, and limbs among themselves, which condim makes smooth


FOOT = """<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
<visual><geometry><sphere radius="0.2"/></geometry></visual>
<collision name="sole"><geometry><box size="0.2 0.2 0.2"/></geometry></collision>"""
LIFT = '<axis xyz="0 0 1"/><limit lower="-5" upper="5" effort="1" velocity="1"/>'


def test_urdf_collides_where_the_user_says_so(tmp_path):
    text = urdf(link("base"), link("foot", FOOT), joints=joint("lift", "prismatic", "base", "foot", LIFT))
    m = load_quietly(in_file(tmp_path, text, "r.urdf"))
    sole = next(shape for shape in m.shapes if shape.name == "sole")
    assert not sole.visible and not any(isinstance(e, st.Contact) for e in m.elements)
    m.shapes.append(st.Shape("world", "plane", (0, 0), pose=[[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, -1], [0, 0, 0, 1]]))
    m.add(st.Contact("sole", "world", friction=0.8))
    traj = st.simulate(m.build(), {"lift": 0.0}, duration=1, dt=0.005)
    assert traj["lift"][-1] == pytest.approx(-0.9, abs=1e-9)
    assert all(shape.visible for shape in load_quietly(tmp_path / "r.urdf", contact=False).shapes)
