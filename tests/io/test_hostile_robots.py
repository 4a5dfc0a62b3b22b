"""Robots' files of strangers: they read nothing outside their folders, and end soon, whatever they ask for."""

import time
import warnings

import pytest

import symplectree as st
from symplectree.io.robots.meshes import MeshFinder

CUBE = (
    "".join(f"v {x} {y} {z}\n" for x in (0, 1) for y in (0, 1) for z in (0, 1)) + "f 1 2 3\nf 2 3 4\nf 5 6 7\nf 1 5 6\n"
)
URDF = """<robot name="r"><link name="a"/><link name="b"><inertial><mass value="1"/>
  <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
  <visual><geometry><mesh filename="{}"/></geometry></visual></link>
  <joint name="j" type="continuous"><parent link="a"/><child link="b"/><axis xyz="0 0 1"/></joint></robot>"""
MJCF = """<mujoco>{}<worldbody><body name="b"><joint name="j"/><geom size=".1"/></body></worldbody></mujoco>"""


@pytest.fixture
def place(tmp_path):
    """A robot in its package, and a stranger's mesh above and beside that."""
    home = tmp_path / "above" / "package" / "urdf"
    home.mkdir(parents=True)
    for folder in (tmp_path, tmp_path / "above", home.parent / "meshes", home):
        folder.mkdir(exist_ok=True)
        (folder / "cube.obj").write_text(CUBE)
    (tmp_path / "above" / "secrets").mkdir()
    (tmp_path / "above" / "secrets" / "cube.obj").write_text(CUBE)
    return home


def found(home, name, **options):
    """Meshes that a robot shows, and what it warned of."""
    (home / "r.urdf").write_text(URDF.format(name))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        m = st.load(home / "r.urdf", **options)
    m.build()
    return [shape.mesh for shape in m.shapes if shape.mesh], " ".join(str(w.message) for w in caught)


@pytest.mark.parametrize(
    "name", ["cube.obj", "./cube.obj", "../meshes/cube.obj", "package://package/meshes/cube.obj", "file://cube.obj"]
)
def test_meshes_of_the_robot_are_found(place, name):
    meshes, said = found(place, name)
    assert len(meshes) == 1 and not said


@pytest.mark.parametrize(
    "name",
    [
        "../../cube.obj",
        "../../../cube.obj",
        "package://package/../secrets/cube.obj",
        "package://../secrets/cube.obj",
        "package://./../secrets/cube.obj",
        "model://package/../../cube.obj",
        "file://{}/above/secrets/cube.obj",
        "{}/cube.obj",
        "/etc/passwd",
        "../../../../../../../../../../../../etc/passwd",
    ],
)
def test_names_that_point_outside_are_not_followed(place, name):
    name = name.format(place.parents[2])
    meshes, said = found(place, name)
    assert not meshes
    assert "not read: meshes outside the robot's folders" in said or "not found" in said
    if "cube" in name and not name.startswith("package://."):
        assert "outside" in said
        meshes, said = found(place, name, packages=[place.parents[2]])
        assert len(meshes) == 1 and not said


@pytest.mark.parametrize(
    "name", ["x" * 300, "x" * 5000, "package://" + "y" * 5000 + "/z.stl", "a/" * 3000 + "b.stl", "é" * 200]
)
def test_names_that_are_too_long(place, name):
    meshes, said = found(place, name)
    assert not meshes and "not found" in said
    assert MeshFinder(place / "r.urdf").package(name) is None


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('<include file="{0}"/>', "which is outside the robot's folders"),
        ('<include file="../../../cube.obj"/>', "which is outside the robot's folders"),
        ('<asset><mesh name="m" file="{0}"/></asset>', "which is outside the robot's folders"),
        (
            '<compiler meshdir="../../.."/><asset><mesh name="m" file="cube.obj"/></asset>',
            "outside the robot's folders",
        ),
        ('<compiler assetdir="/dev"/><asset><hfield name="m" file="zero"/></asset>', "outside the robot's folders"),
        ('<asset><texture name="t" type="2d" file="/dev/zero"/></asset>', "outside the robot's folders"),
        ('<asset><model name="m" file="/dev/stdin"/></asset>', "outside the robot's folders"),
        ('<include file="inner.xml"/>', "inner.xml: names the file '/dev/zero'"),
    ],
)
@pytest.mark.parametrize("suffix", [".xml", ".mjcf"])
def test_mjcf_reads_nothing_outside(place, text, words, suffix):
    (place / "inner.xml").write_text('<mujoco><include file="/dev/zero"/></mujoco>')
    path = place / f"r{suffix}"
    path.write_text(MJCF.format(text.format("/etc/passwd")))
    with pytest.raises(st.ModelError, match=words):
        st.load(path)


def test_mjcf_reads_what_the_user_allows(place):
    path = place / "r.xml"
    path.write_text(MJCF.format('<asset><mesh name="m" file="../../cube.obj"/></asset>'))
    with pytest.raises(st.ModelError, match="give packages="):
        st.load(path)
    assert st.load(path, packages=[place.parents[1]]).build().coordinates == ("j",)


INCLUDING = '<compiler meshdir="{}"/><include file="part.xml"/><asset><mesh name="m" file="{}"/></asset>'


def test_the_last_folder_that_is_said_holds_in_all_files(place):
    """As in MuJoCo, for which an include stands for its contents."""
    (place / "part.xml").write_text('<mujoco><asset><mesh name="n" file="../../urdf/cube.obj"/></asset></mujoco>')
    (place / "r.xml").write_text(MJCF.format(INCLUDING.format("../meshes/parts", "../cube.obj")))
    (place.parent / "meshes" / "parts").mkdir()
    st.load(place / "r.xml").build()
    (place / "part.xml").write_text('<mujoco><compiler meshdir="../../.."/></mujoco>')
    (place / "r.xml").write_text(MJCF.format(INCLUDING.format("", "cube.obj")))
    with pytest.raises(st.ModelError, match="outside the robot's folders"):
        st.load(place / "r.xml")


def test_files_that_include_themselves(place):
    for name, other in (("one.mjcf", "two.mjcf"), ("two.mjcf", "one.mjcf"), ("self.mjcf", "self.mjcf")):
        (place / name).write_text(f'<mujoco><include file="{other}"/></mujoco>')
    for name in ("one.mjcf", "self.mjcf"):
        with pytest.raises(st.ModelError, match="includes itself"):
            st.load(place / name)


BODY = '<body><joint/><geom size=".1"/></body>'
NESTED = "<replicate count='100'>" * 4 + BODY + "</replicate>" * 4
LAUGHS = "".join(f'<!ENTITY {a} "{f"&{b};" * 10}">' for a, b in zip("bcdefghijkl", "abcdefghijk", strict=True))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (f'<mujoco><worldbody><replicate count="3000000">{BODY}</replicate></worldbody></mujoco>', "copied elements"),
        (f'<mujoco><worldbody><replicate count="1e300">{BODY}</replicate></worldbody></mujoco>', "copied elements"),
        (f"<mujoco><worldbody>{NESTED}</worldbody></mujoco>", "copied elements, in <"),
        (
            '<mujoco><worldbody><flexcomp name="s" type="grid" count="900 900 900" dim="3"/></worldbody></mujoco>',
            "copied",
        ),
        ("<mujoco><worldbody>" + "<body>" * 5000 + "</body>" * 5000 + "</worldbody></mujoco>", "401 elements deep"),
        ("<robot><link name='a'/>" + "<x>" * 100_000 + "</x>" * 100_000 + "</robot>", "<x> stands 401 elements deep"),
        ("<robot>" + "<x>" * 300_000, "no XML"),
        (f'<!DOCTYPE robot [<!ENTITY a "aaaaaaaaaa">{LAUGHS}]><robot name="&l;"/>', "amplification"),
        (f'<!DOCTYPE r [<!ENTITY a "{"a" * 100_000}">]><robot name="{"&a;" * 20_000}"/>', "amplification"),
        ('<!DOCTYPE r [<!ENTITY x SYSTEM "file:///etc/passwd">]><robot name="&x;"/>', "external entity"),
        ('<!DOCTYPE r [<!ENTITY x SYSTEM "file:///etc/passwd">]><robot>&x;</robot>', "undefined entity|no XML"),
        ('<!DOCTYPE m [<!ENTITY x SYSTEM "file:///etc/passwd">]><mujoco model="&x;"/>', "external entity"),
        ('<!DOCTYPE r [<!ENTITY % x SYSTEM "http://127.0.0.1:9/x"> %x;]><robot>&y;</robot>', "no XML|no body"),
        (URDF.format("a.stl").replace('value="1"', 'value="1e308"'), "too large to compute with"),
        (URDF.format("a.stl").replace('ixx="1" iyy="1"', 'ixx="1e308" iyy="1e308"'), "too large to compute with"),
    ],
)
def test_what_asks_for_too_much_ends_soon(text, words):
    start = time.process_time()
    with pytest.raises(st.ModelError, match=words), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        st.loads(text, "mjcf" if "<mujoco" in text else "urdf").build()
    assert time.process_time() - start < 10


def test_a_tendon_over_a_joint_that_is_not_there():
    """Found by the fuzzer, as is the next."""
    tendon = '<tendon><fixed name="t"><joint joint="{}" coef="2"/></fixed></tendon>'
    with pytest.raises(st.ModelError, match="part 1 of tendon 't' names what is not in the file"):
        st.loads(MJCF.format(tendon.format("nothing")), "mjcf")
    assert st.loads(MJCF.format(tendon.format("j")), "mjcf").build().nq == 1


def test_a_body_of_too_much_inertia():
    body = '<inertial pos="0 0 0" mass="1" diaginertia="1e308 1e308 1e308"/><geom'
    with pytest.raises(st.ModelError, match="the inertia of 'b' is too large to compute with"):
        st.loads(MJCF.format("").replace("<geom", body, 1), "mjcf")


def test_copies_that_are_meant():
    text = f'<mujoco><worldbody><replicate count="12" offset="1 0 0">{BODY}</replicate></worldbody></mujoco>'
    assert st.loads(text, "mjcf").build().nq == 12
