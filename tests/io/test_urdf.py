"""What example-robot-data's robots do not show: every joint of URDF, bases, lumping, meshes."""

import numpy as np
import pytest

import symplectree as st
from robot_files import load_quietly
from robot_texts import INERTIAL, in_file, joint, link, mjcf, urdf, write_stl
from sexpr_round_trip import assert_round_trip


def test_urdf_joints_springs_and_mimic(tmp_path):
    text = urdf(
        *(link(name) for name in "abcdef"),
        joints=joint("p", "prismatic", "a", "b", '<axis xyz="0 0 2"/><dynamics damping="3" friction="0.1"/>')
        + joint("m", "revolute", "b", "c", '<origin xyz="1 0 0"/><mimic joint="p" multiplier="-2" offset="0.5"/>')
        + joint("flat", "planar", "c", "d", '<axis xyz="0 0 1"/>')
        + joint("loose", "floating", "a", "e", '<origin xyz="0 0 5"/>')
        + joint("held", "continuous", "e", "f", '<mimic joint="p" multiplier="0" offset="0.25"/>'),
    )
    mechanism = load_quietly(in_file(tmp_path, text, "r.urdf"))
    model = mechanism.build()
    assert set(model.joints) == {"p", "m", "flat_TX", "flat_TY", "flat_RZ", "loose", "held"}
    q = dict.fromkeys(("p", "m", "flat_TX", "flat_TY", "flat_RZ", "held"), 0.0) | {"p": 0.7}
    np.testing.assert_allclose(st.pose(model, q, "b")[:3, 3], [0, 0, 0.7])
    np.testing.assert_allclose(st.pose(model, q, "e")[:3, 3], [0, 0, 5])
    closed = st.assemble(model, q, fixed=["p"])
    np.testing.assert_allclose(closed[model.joints["m"].q], 0.5 - 2 * 0.7, atol=1e-9)
    np.testing.assert_allclose(closed[model.joints["held"].q], 0.25, atol=1e-9)
    by_hand = st.Mechanism()
    by_hand.world.link("d", st.Planar("flat", normal="z"), mass=1, inertia=(1, 1, 1))
    flat = [model.joints[f"flat_{name}"].v_start for name in ("TX", "TY", "RZ")]
    M = st.mass_matrix(model, model.neutral)[np.ix_(flat, flat)]
    np.testing.assert_allclose(M, st.mass_matrix(by_hand.build(), np.zeros(3)), atol=1e-12)
    assert_round_trip(mechanism)


def test_joints_that_mimic_others_need_be_no_coordinates(tmp_path):
    text = urdf(
        *(link(name) for name in "abcde"),
        joints=joint("p", "prismatic", "a", "b", '<axis xyz="0 0 1"/>')
        + joint("m", "revolute", "b", "c", '<origin xyz="1 0 0"/><mimic joint="p" multiplier="-2" offset="0.5"/>')
        + joint("n", "revolute", "a", "d", '<mimic joint="m" multiplier="3"/>')
        + joint("free", "continuous", "d", "e", '<origin xyz="1 0 0"/>'),
    )
    path = in_file(tmp_path, text, "r.urdf")
    rows, model = load_quietly(path).build(), load_quietly(path, eliminate=True).build()
    assert model.coordinates == ("p", "free")
    assert (len(rows.rows), model.rows) == (2, ())
    np.testing.assert_allclose(model.tree_coordinates(np.array([0.2, 0.7])), [0.2, 0.1, 0.3, 0.7], atol=1e-15)
    assert_round_trip(load_quietly(path, eliminate=True))
    with pytest.raises(st.ModelError, match="eliminate is for robots"):
        (tmp_path / "m.sexp").write_text("(system)")
        st.load(tmp_path / "m.sexp", eliminate=True)


def test_joints_that_mimic_each_other_keep_one_constraint(tmp_path):
    """An equality that would make a follower of a leader, or of a follower, is a constraint all the same."""
    body = '<body pos="0 0 {0}"><joint name="j{0}" axis="0 1 0" ref="{0}"/><geom size="0.1" mass="1"/></body>'
    text = mjcf(
        "".join(body.format(k) for k in (1, 2, 3)),
        '<compiler angle="radian"/><equality><joint joint1="j2" joint2="j1"/><joint joint1="j1" joint2="j2"/>'
        '<joint joint1="j2" joint2="j3"/><joint joint1="j3" joint2="j1" polycoef="0 1 0.5 0 0"/></equality>',
    )
    mechanism = load_quietly(in_file(tmp_path, text, "r.xml"), eliminate=True)
    model = mechanism.build()
    assert model.coordinates == ("j1",)
    assert len(model.rows) == 2
    assert set(mechanism.initial) == {"j1"}  # followers start where they have to be
    q = st.assemble(model, mechanism.initial)
    assert len(model.tree_coordinates(q)) == 3


def test_fixed_links_are_lumped_before_inertia_is_checked(tmp_path):
    """Alone, neither could be: one has no mass but inertia, one an inertia that is too flat."""
    flat = '<inertial><mass value="1"/><inertia ixx="0.1" iyy="0.1" izz="0.3" ixy="0" ixz="0" iyz="0"/></inertial>'
    tall = '<inertial><mass value="1"/><inertia ixx="0.3" iyy="0.3" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial>'
    joints = joint("q", "continuous", "base", "flat")
    with pytest.raises(st.ModelError, match="'flat'"):
        load_quietly(
            in_file(tmp_path, urdf(link("base"), link("flat", flat), joints=joints), "bad.urdf"), inertia="strict"
        )
    joints += joint("glue", "fixed", "flat", "tall")
    good = urdf(link("base"), link("flat", flat), link("tall", tall), joints=joints)
    model = load_quietly(in_file(tmp_path, good, "good.urdf")).build()
    np.testing.assert_allclose(model.inertia[0], np.diag([0.4, 0.4, 0.4]))
    assert "tall" in model.frames


def test_bases(tmp_path):
    arm = in_file(tmp_path, urdf(link("a"), link("b"), joints=joint("q", "continuous", "a", "b")), "arm.urdf")
    assert load_quietly(arm).build().nv == load_quietly(arm, base="fixed").build().nv == 1
    free = load_quietly(arm, base="free").build()
    assert (free.nv, list(free.joints)) == (7, ["root", "q"])
    drone = in_file(tmp_path, urdf(link("a")), "drone.urdf")
    assert load_quietly(drone).build().nv == 6
    on_world = urdf(link("world", ""), link("a"), link("b"), joints=joint("g", "fixed", "world", "a")
                    + joint("q", "continuous", "a", "b"))  # fmt: skip
    assert load_quietly(in_file(tmp_path, on_world, "w.urdf"), base="free").build().nv == 7
    ball = '<geom size="1" pos="1 1 1"/>'
    floating = mjcf(f'<body><freejoint name="f"/>{ball}<body><joint name="j"/>{ball}</body></body>')
    assert list(load_quietly(in_file(tmp_path, floating), base="fixed").build().joints) == ["j"]
    assert list(load_quietly(in_file(tmp_path, floating), base="free").build().joints) == ["f", "j"]
    for bad in ("loose", None):
        with pytest.raises(st.ModelError, match="'auto', 'fixed' or 'free'"):
            st.load(arm, base=bad)
    moved = mjcf(f"<body><joint/>{ball}</body>")
    with pytest.raises(st.ModelError, match="joints move it already"):
        st.load(in_file(tmp_path, moved), base="free")


def test_meshes_are_found_or_named(tmp_path):
    visual = """<visual><origin xyz="1 0 0" rpy="0 0 1.5707963267948966"/>
      <geometry><mesh filename="{}" scale="1 2 3"/></geometry></visual>"""
    box = """<visual><geometry><box size="1 2 3"/></geometry>
      <material name="red"><color rgba="1 0 0 0.5"/></material></visual>"""
    names = ["package://robot/meshes/near.stl", "package://far/a.stl", "meshes/near.stl", "package://lost/b.stl"]
    folder = tmp_path / "robot" / "urdf"
    (tmp_path / "robot" / "meshes").mkdir(parents=True)
    (tmp_path / "elsewhere" / "far").mkdir(parents=True)
    folder.mkdir()
    write_stl(tmp_path / "robot" / "meshes" / "near.stl")
    write_stl(tmp_path / "elsewhere" / "far" / "a.stl")
    text = urdf(link("a", INERTIAL + box + "".join(visual.format(name) for name in names)))
    path = in_file(folder, text, "r.urdf")
    near = tmp_path / "robot" / "meshes" / "near.stl"
    far = tmp_path / "elsewhere" / "far" / "a.stl"
    with pytest.warns(UserWarning, match=r"meshes that were not found \(package://far/a.stl, meshes/near.stl"):
        shapes = st.load(path).shapes
    assert [shape.mesh for shape in shapes] == [None, str(near), None, None, None]
    assert (shapes[0].kind, shapes[0].size, shapes[0].rgba) == ("box", (1, 2, 3), (1, 0, 0, 0.5))
    np.testing.assert_allclose(shapes[1].pose[:3, [0, 3]], [[0, 1], [1, 0], [0, 0]], atol=1e-15)
    assert shapes[1].scale == (1, 2, 3)
    for packages in (
        [tmp_path / "elsewhere", tmp_path / "robot"],
        {"far": tmp_path / "elsewhere" / "far", "x": tmp_path / "robot"},
    ):
        assert [s.mesh for s in load_quietly(path, packages=packages).shapes] == [
            None,
            str(near),
            str(far),
            str(near),
            None,
        ]
    with pytest.raises(st.ModelError, match="packages"):
        st.load(path, packages=3)


def test_what_stands_on_the_ground_has_no_energy(tmp_path):
    """As in Pinocchio, and in MuJoCo, which makes it part of the world."""
    high = INERTIAL.replace("<inertial>", '<inertial><origin xyz="0 0 7"/>')
    text = urdf(link("a", high), link("b"), joints=joint("q", "continuous", "a", "b"))
    model = load_quietly(in_file(tmp_path, text, "r.urdf")).build()
    assert st.potential_energy(model, model.neutral) == 0
    free = load_quietly(in_file(tmp_path, text, "r.urdf"), base="free").build()
    np.testing.assert_allclose(st.potential_energy(free, free.neutral), 7 * 9.81)
