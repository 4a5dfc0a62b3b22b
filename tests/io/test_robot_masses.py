"""Masses of robots: what MuJoCo compiles, inertias that no body can have, and masses from shapes."""

import itertools

import mujoco
import numpy as np
import pytest

import symplectree as st
from robot_files import compiled, load_quietly, mujoco_dynamics, our_dynamics, random_state, worst
from robot_texts import INERTIAL, in_file, joint, link, mjcf, urdf, write_stl
from symplectree.io.robots.repair import TRIANGLE, nearest_inertia


def assert_masses_are_mujocos(path, tolerance=1e-12):
    model = load_quietly(path).build()
    for seed in range(2):
        q, v = random_state(model, seed)
        assert max(worst(our_dynamics(model, q, v), mujoco_dynamics(path, model, q, v)).values()) < tolerance


def write_msh(path, corners, faces):
    counts = np.array([len(corners), 0, 0, len(faces)], dtype=np.int32)
    path.write_bytes(counts.tobytes() + corners.astype(np.float32).tobytes() + faces.astype(np.int32).tobytes())


TETRAHEDRON = (
    np.array([[0, 0, 0], [0.3, 0, 0], [0, 0.2, 0], [0, 0, 0.4]]),
    np.array([[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]]),
)


@pytest.mark.parametrize(
    "geom",
    [
        'type="capsule" pos="1 0 0" mesh="m"', 'type="box" mesh="m" fitscale="0.8"',
        'type="ellipsoid" pos="1 0 0" size=".1 .2 .3" shellinertia="true"',
        'type="mesh" mesh="m" mass="0.4" quat="1 2 3 4"', 'type="capsule" fromto="0 0 0 0 0 1e-3" size="0.2"',
    ],
)  # fmt: skip
@pytest.mark.parametrize("suffix", ["stl", "msh", "obj"])
def test_geoms_weigh_what_mujoco_says(tmp_path, geom, suffix):
    corners, faces = TETRAHEDRON
    write_stl(tmp_path / "t.stl")
    write_msh(tmp_path / "t.msh", corners, faces)
    rows = [f"v {x} {y} {z}" for x, y, z in corners] + [f"f {a + 1} {b + 1} {c + 1}" for a, b, c in faces]
    (tmp_path / "t.obj").write_text("\n".join(rows))
    body = f'<body><joint name="j" axis="1 1 0"/><geom {geom}/></body>'
    asset = f'<asset><mesh name="m" file="t.{suffix}"/><mesh name="unused" file="lost.stl"/></asset>'
    path = in_file(tmp_path, mjcf(body, asset))
    asset = asset.replace('<mesh name="unused" file="lost.stl"/>', "")
    whole = in_file(tmp_path, mjcf(body, asset), "whole.xml")  # which MuJoCo compiles
    model = load_quietly(path).build()
    q, v = random_state(model, 0)
    assert max(worst(our_dynamics(model, q, v), mujoco_dynamics(whole, model, q, v)).values()) < 1e-12


def test_a_fixed_base_may_have_any_geom(tmp_path):
    flat = '<geom type="capsule" mesh="m"/>'
    asset = '<asset><mesh name="m" vertex="0 0 0 1 0 0 0 1 0 1 1 1"/></asset>'
    moving = '<body><joint name="j"/><geom size="0.1" pos="1 0 0"/></body>'
    path = in_file(tmp_path, mjcf(f"<body>{flat}{moving}</body>", asset))
    assert_masses_are_mujocos(path)


def test_what_mujoco_compiles_is_not_changed_by_loading(tmp_path):
    text = mjcf('<body><joint name="j"/><geom size="0.1" pos="1 0 0"/></body>', '<compiler settotalmass="7"/>')
    assert load_quietly(in_file(tmp_path, text)).build().mass.sum() == pytest.approx(7)


def test_a_mesh_that_mujoco_cannot_compile_weighs_nothing_and_is_named(tmp_path):
    asset = '<asset><mesh name="broken" file="b.stl"/></asset>'
    (tmp_path / "b.stl").write_text("nothing")
    geoms = '<geom name="g" type="mesh" mesh="broken"/><geom size="0.1" mass="2" pos="1 0 0"/>'
    path = in_file(tmp_path, mjcf(f'<body><joint name="j"/>{geoms}</body>', asset))
    with pytest.warns(UserWarning, match="geom 'g'"):
        model = st.load(path).build()
    assert model.mass.sum() == 2


@pytest.mark.parametrize("seed", range(20))
def test_the_nearest_inertia_is_one_and_is_nearest(seed):
    """Against a search over the faces of the cone."""
    rng = np.random.default_rng(seed)
    Q = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    moments = rng.normal(size=3) + 0.5
    found = nearest_inertia(Q @ np.diag(moments) @ Q.T)
    mended = np.diag(Q.T @ found @ Q)
    np.testing.assert_allclose(Q.T @ found @ Q, np.diag(mended), atol=1e-12)
    assert np.all(TRIANGLE @ mended > -1e-12)
    best = np.inf
    for count in range(4):
        for rows in itertools.combinations(range(3), count):
            A = TRIANGLE[list(rows)]
            candidate = moments - np.linalg.pinv(A) @ (A @ moments) if count else moments
            if np.all(TRIANGLE @ candidate > -1e-12):
                best = min(best, float(np.linalg.norm(candidate - moments)))
    assert np.linalg.norm(mended - moments) == pytest.approx(best, abs=1e-12)


def flat_link(name: str) -> str:
    flat = '<inertial><mass value="1"/><inertia ixx="0.1" iyy="0.1" izz="0.3" ixy="0" ixz="0" iyz="0"/></inertial>'
    return link(name, flat)


def test_inertias_are_repaired_and_named(tmp_path):
    text = urdf(link("base"), flat_link("disc"), joints=joint("q", "continuous", "base", "disc"))
    path = in_file(tmp_path, text, "r.urdf")
    with pytest.warns(UserWarning, match=r"repaired: inertias that no body can have .*disc by 11 %") as caught:
        model = st.load(path).build()
    assert len(caught) == 1
    # the projection of (0.1, 0.1, 0.3) on a + b = c is (2/15, 2/15, 4/15)
    np.testing.assert_allclose(model.inertia[0], np.diag([2, 2, 4]) / 15, atol=1e-12)
    with pytest.raises(st.ModelError, match=r"'disc'.*largest exceeds the sum"):
        st.load(path, inertia="strict")
    for bad in ("no", None, 1):
        with pytest.raises(st.ModelError, match="'repair' or 'strict'"):
            st.load(path, inertia=bad)
    body = '<body name="b"><joint name="j"/><inertial mass="1" pos="0 0 0" diaginertia="1 1 3"/></body>'
    with pytest.warns(UserWarning, match="b by 11 %"):
        st.loads(mjcf(body), "mjcf")


def test_inertials_that_say_half_are_repaired_and_named(tmp_path):
    half = {"none": "<inertial/>", "point": '<inertial><mass value="2"/></inertial>', "twice": INERTIAL + INERTIAL}
    links = [link(name, inside) for name, inside in half.items()]
    joints = "".join(joint(name, "fixed", "base", name) for name in half)
    text = urdf(link("base"), *links, joints=joints)
    with pytest.warns(UserWarning) as caught:
        model = st.loads(text, "urdf", base="free").build()
    assert len(caught) == 1
    for words in ("link 'none' has no mass", "'point' is a point mass", "first inertial of link 'twice'"):
        assert words in str(caught[0].message)
    assert model.mass.sum() == pytest.approx(4)
    with pytest.raises(st.ModelError, match="'none' has no <mass>"):
        st.loads(text, "urdf", inertia="strict")


def test_joints_that_move_no_mass_are_held_and_named(tmp_path):
    """Fingers without mass on an arm; a knob that a heavy slide mimics turns."""
    links = [link("base"), link("arm", INERTIAL), *(link(n, "") for n in ("wrist", "left", "right", "knob"))]
    links.append(link("slide", INERTIAL))
    mimic = '<mimic joint="{}" multiplier="2"/>'
    joints = (
        joint("shoulder", "continuous", "base", "arm") + joint("roll", "fixed", "arm", "wrist")
        + joint("a", "revolute", "wrist", "left") + joint("b", "prismatic", "wrist", "right", mimic.format("a"))
        + joint("k", "continuous", "base", "knob") + joint("s", "prismatic", "base", "slide", mimic.format("k"))
    )  # fmt: skip
    text = urdf(*links, joints=joints)
    with pytest.warns(UserWarning, match=r"fixed: joints that move no mass \('a', 'b'\)") as caught:
        model = st.loads(text, "urdf").build()
    assert len(caught) == 1 and sorted(model.coordinates) == ["k", "s", "shoulder"]
    assert {"left", "right"} <= set(model.frames)
    with pytest.raises(st.ModelError, match="'b' moves no mass"):
        st.loads(text.replace(mimic.format("a"), ""), "urdf", inertia="strict").build()


def test_density_gives_links_without_mass_that_of_their_shapes(tmp_path):
    write_stl(tmp_path / "t.stl")
    mesh = '<collision><origin xyz="0 0 1"/><geometry><mesh filename="t.stl" scale="1 2 1"/></geometry></collision>'
    ball = '<collision><origin xyz="1 0 0"/><geometry><sphere radius="0.1"/></geometry></collision>'
    seen = '<visual><geometry><box size="1 1 1"/></geometry></visual>'
    box = '<visual><origin rpy="0 0 0.5"/><geometry><box size="0.2 0.4 0.6"/></geometry></visual>'
    links = [link("base"), link("a", mesh + ball + seen), link("b", box), link("c")]
    joints = "".join(joint(f"q{name}", "continuous", "base", name) for name in "abc")
    path = in_file(tmp_path, urdf(*links, joints=joints), "r.urdf")
    with pytest.warns(UserWarning, match=r"move no mass .'qa', 'qb'.*density="):
        assert st.load(path).build().coordinates == ("qc",)
    model = load_quietly(path, density=500.0).build()
    volume = 0.3 * 0.4 * 0.4 / 6 + 4 / 3 * np.pi * 0.1**3
    np.testing.assert_allclose(model.mass, [500 * volume, 500 * 0.2 * 0.4 * 0.6, 1], rtol=1e-6)
    com = (
        500 * 0.3 * 0.4 * 0.4 / 6 * np.array([0.075, 0.1, 1.1]) + 500 * 4 / 3 * np.pi * 1e-3 * np.array([1, 0, 0])
    ) / (500 * volume)
    np.testing.assert_allclose(model.com[0], com, rtol=1e-6)
    np.testing.assert_allclose(np.linalg.eigvalsh(model.inertia[1]), 24 / 12 * np.array([0.2, 0.4, 0.52]), rtol=1e-9)
    for bad in (0, -1, "x", np.inf, True):
        with pytest.raises(st.ModelError, match="density is"):
            st.load(path, density=bad)
    with pytest.raises(st.ModelError, match="geoms of MJCF have their own"):
        st.loads(mjcf('<body><joint/><geom size="1"/></body>'), "mjcf", density=1.0)


@pytest.mark.parametrize(
    "setting",
    [
        '<option apirate="50"/>', '<option collision="all" mpr_iterations="3" mpr_tolerance="1e-3"/>',
        '<option><flag sensornoise="enable"/></option>', '<compiler convexhull="false"/>',
        '<visual><quality numarrows="3"/></visual>',
    ],
)  # fmt: skip
def test_settings_that_say_nothing_about_motion_refuse_no_file(tmp_path, setting):
    (tmp_path / "part.xml").write_text(f"<mujocoinclude>{setting}</mujocoinclude>")
    body = '<body><joint name="j" damping="1"/><geom size="0.1" pos="1 0 0"/></body>'
    for text in (mjcf(body, setting), mjcf(body, '<include file="part.xml"/>')):
        path = in_file(tmp_path, text)
        with pytest.raises(ValueError, match="unrecognized"):
            compiled(path)
        assert len(load_quietly(path).elements) == 1
    with pytest.raises(st.ModelError, match="'nonsense'"):
        st.loads(mjcf(body, '<option nonsense="1"/>'), "mjcf")


def test_settings_that_have_another_name_today():
    body = '<body><joint name="j" damping="1" stiffness="1"/><geom size="0.1" pos="1 0 0"/></body>'
    still = st.loads(mjcf(body, '<option><flag passive="disable"/></option>'), "mjcf")
    assert not still.elements
    mesh = '<asset><mesh name="m" vertex="0 0 0 1 0 0 0 1 0 0 0 1" face="0 2 1 0 1 3 0 3 2 1 2 3"/></asset>'
    body = '<body><joint name="j"/><geom type="mesh" mesh="m"/></body>'
    heavy = st.loads(mjcf(body, f'<compiler exactmeshinertia="true"/>{mesh}'), "mjcf").build()
    assert heavy.mass.sum() == pytest.approx(1000 / 6)


def test_mujoco_warnings_stay_the_users():
    seen = []
    mujoco.set_mju_user_warning(seen.append)
    try:
        st.loads(mjcf('<body><joint name="j"/><geom size="0.1" pos="1 0 0"/></body>'), "mjcf")
        assert mujoco.get_mju_user_warning() is not None
    finally:
        mujoco.set_mju_user_warning(None)
