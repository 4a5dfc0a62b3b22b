"""Files that are no robots: each is refused by a sentence that names the file and the culprit."""

import pytest

import symplectree as st
from robot_files import load_quietly
from robot_texts import INERTIAL, in_file, joint, link, mjcf, urdf

A, B, C = link("a"), link("b"), link("c")
TURNING = joint("j", "continuous", "a", "b")
SPRING = '<body name="b"><joint name="j"/></body>'


def glue(*pairs: str) -> str:
    """Fixed joints j, k, … between links named by letters."""
    return "".join(joint(name, "fixed", *pair) for name, pair in zip("jk", pairs, strict=False))


def spoiled(mass: str) -> str:
    """A robot whose second link has this mass."""
    return urdf(A, link("b", INERTIAL.replace('"1"', f'"{mass}"', 1)), joints=TURNING)


def ball(geom: str) -> str:
    return mjcf(f'<body name="b"><joint/><geom {geom}/></body>')


BAD = [
    ("r.urdf", "<robot><link name='a'></robot>", "no XML", "r.urdf:1:"),
    ("r.urdf", "\x00\x01", "no XML", "r.urdf:1:"),
    ("r.urdf", "", "no XML", "r.urdf"),
    ("r.xml", "<html/>", "<html> is no robot", "begins with <robot>"),
    ("r.urdf", urdf(), "no link", ""),
    ("r.urdf", urdf(A, A), "two links", "'a'"),
    ("r.urdf", urdf(A, "<link/>"), "a link has no name", ""),
    ("r.urdf", urdf(A, B, C, joints=glue("ab", "bc").replace('"k"', '"j"')), "two joints", "'j'"),
    ("r.urdf", urdf(A, joints=glue("az")), "the child of joint 'j'", "'z'"),
    ("r.urdf", urdf(A, joints=glue("za")), "the parent of joint 'j'", "'z'"),
    ("r.urdf", urdf(A, joints='<joint name="j" type="fixed"><child link="a"/></joint>'), "'j' names no parent", ""),
    ("r.urdf", urdf(A, B, joints=joint("j", "gear", "a", "b")), "type 'gear'", "revolute"),
    ("r.urdf", urdf(A, B), "2 parts", "'b'"),
    ("r.urdf", urdf(A, B, joints=glue("ab", "ba")), "form a loop", "'b'"),
    ("r.urdf", urdf(A, joints=glue("aa")), "form a loop", "'a'"),
    ("r.urdf", urdf(A, B, C, joints=glue("bc", "cb")), "form a loop", "'c'"),
    ("r.urdf", urdf(A, B, joints=glue("ab", "ab")), "child of two", "'k'"),
    ("r.urdf", urdf(A, link("world"), joints=joint("j", "fixed", "a", "world")), "'world' is not the root", ""),
    ("r.urdf", spoiled("-1"), "mass of link 'b' is -1", ""),
    ("r.urdf", spoiled("nan"), "value in <mass> of link 'b' is 'nan'", "1 finite number"),
    ("r.urdf", spoiled("one"), "value in <mass> of link 'b' is 'one'", ""),
    ("r.urdf", spoiled("1").replace('izz="1"', "", 1), "izz in <inertia> of link 'a' is missing", ""),
    (
        "r.urdf",
        urdf(A, link("b", '<inertial><mass value="1"/></inertial>'), joints=TURNING),
        "link 'b'",
        "no <inertia>",
    ),
    ("r.urdf", urdf(A, B, joints=joint("j", "fixed", "a", "b", '<origin rpy="0 0"/>')), "rpy in <origin>", "joint 'j'"),
    (
        "r.urdf",
        urdf(A, B, joints=joint("j", "continuous", "a", "b", '<axis xyz="0 0 0"/>')),
        "axis of joint 'j'",
        "zero",
    ),
    ("r.xml", "<mujoco>\n <worldbody>\n  <bodyy/></worldbody></mujoco>", "bodyy", "r.xml:3:"),
    ("r.xml", mjcf(""), "no body", ""),
    ("r.xml", ball('size="1" density="-1"'), "below zero", "'b'"),
    ("r.xml", ball('size="1" name="g" density="inf"'), "geom 'g'", "not finite"),
    ("r.xml", ball('size="1" axisangle="0 0 0 1"'), "orientation of", "too small"),
    ("r.xml", mjcf(SPRING.replace('"j"', '"j" ref="inf"')), "ref of joint 'j'", "not finite"),
    ("r.xml", ball('size="1e150"'), "body 'b'", "not finite"),
    ("r.xml", ball('type="mesh" mesh="x"'), "'x'", ""),
    ("r.xml", mjcf(SPRING, '<equality><joint joint1="j" joint2="k"/></equality>'), "'k'", ""),
    ("r.xml", mjcf(SPRING, '<equality><weld body1="c"/></equality>'), "'c'", ""),
    ("r.xml", mjcf(SPRING, '<equality><connect site1="c" site2="d"/></equality>'), "'c'", ""),
]


@pytest.mark.parametrize(("name", "text", "words", "more"), BAD)
def test_bad_files_are_refused_by_name(tmp_path, name, text, words, more):
    path = in_file(tmp_path, text, name)
    with pytest.raises(st.ModelError) as raised:
        load_quietly(path, inertia="strict")
    message = str(raised.value)
    assert str(path) in message
    assert words in message
    assert more in message


def test_not_xml_is_a_syntax_error(tmp_path):
    with pytest.raises(st.ModelSyntaxError) as raised:
        st.load(in_file(tmp_path, "<robot>\n  <link name='a'>\n</robot>", "r.urdf"))
    assert (raised.value.line, raised.value.column) == (3, 3)
    with pytest.raises(st.ModelError, match="cannot be read"):
        st.load(tmp_path / "absent.urdf")


def test_a_file_that_is_cut_short_says_so():
    with pytest.raises(
        st.ModelSyntaxError, match="the file ends before all of its elements are closed; is it cut short"
    ):
        st.loads("<mujoco>\n  <worldbody>\n", "mjcf")
    with pytest.raises(st.ModelSyntaxError, match="this is no XML: no element found"):
        st.loads("", "mjcf")


def test_a_run_is_no_model():
    with pytest.raises(st.ModelError, match=r"run\.nc: this is the ending of runs, which st\.load_trajectory reads"):
        st.load("run.nc")


def test_a_missing_folder_is_named(tmp_path):
    for write in (st.load("gear_pair").to_mjcf, st.load("gear_pair").to_urdf):
        with pytest.raises(st.ResultError, match=r"cannot be written: there is no folder .*nowhere.; make it first"):
            write(tmp_path / "nowhere" / "x.xml")
