"""Robots as texts and as xacro."""

import builtins
import sys

import numpy as np
import pytest

import symplectree as st
from robot_texts import INERTIAL, in_file, joint, link, mjcf, urdf, write_stl

ARM = urdf(link("a"), link("b"), joints=joint("q", "continuous", "a", "b"))
BALL = mjcf('<body name="b"><joint name="j"/><geom size="0.1" pos="1 0 0"/></body>')


def test_texts(tmp_path, monkeypatch):
    assert st.loads(ARM, "urdf").build().coordinates == ("q",)
    assert st.loads(ARM, "urdf", base="free").build().nv == 7
    assert st.loads(BALL, format="mjcf").build().coordinates == ("j",)
    monkeypatch.chdir(tmp_path)
    write_stl(tmp_path / "t.stl")
    asset = '<asset><mesh name="m" file="t.stl"/></asset>'
    body = '<body><joint name="j"/><geom type="mesh" mesh="m"/></body>'
    assert st.loads(mjcf(body, asset), "mjcf").build().mass.sum() == pytest.approx(1000 * 0.3 * 0.2 * 0.4 / 6, rel=1e-6)


@pytest.mark.parametrize(
    ("text", "format", "words"),
    [
        (ARM, "mjcf", "begins with <robot>, not with <mujoco>"), (BALL, "urdf", "begins with <mujoco>, not with <robot>"),
        ("<robot", "urdf", "<text>:1:"), (BALL.replace("joint", "jointt"), "mjcf", "jointt"),
        (ARM, "sdf", "'sexp', 'urdf', 'mjcf'"), (ARM, None, "format None"), (None, "urdf", "takes a text"),
    ],
)  # fmt: skip
def test_bad_texts(text, format, words):
    with pytest.raises(st.ModelError, match=words):
        st.loads(text, format)


def test_mjcf_files(tmp_path):
    assert st.load(in_file(tmp_path, BALL, "robot.mjcf")).build().coordinates == ("j",)
    part = in_file(tmp_path, BALL.replace("mujoco", "mujocoinclude"), "part.xml")
    whole = in_file(tmp_path, '<mujoco><include file="part.xml"/></mujoco>', "robot.mjcf")
    assert st.load(whole).build().coordinates == ("j",)
    part.unlink()
    with pytest.raises(st.ModelError, match=r"part\.xml is not there"):
        st.load(whole)
    with pytest.raises(st.ModelError, match="SDF is not read; convert it"):
        st.load(tmp_path / "robot.sdf")


XACRO = f"""<robot name="r" xmlns:xacro="http://www.ros.org/wiki/xacro">
  <xacro:arg name="mass" default="1"/><xacro:include filename="$(find parts)/arm.xacro"/>
  <xacro:include filename="base.xacro"/>
  <xacro:arm name="b" mass="$(arg mass)"/>{joint("q", "continuous", "a", "b")}</robot>"""
PART = """<robot xmlns:xacro="http://www.ros.org/wiki/xacro"><xacro:macro name="arm" params="name mass">
  <link name="${name}">
  <inertial><mass value="${2 * mass}"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
  </xacro:macro></robot>"""


@pytest.fixture
def xacro(tmp_path):
    pytest.importorskip("xacrodoc")
    (tmp_path / "robot").mkdir()
    (tmp_path / "elsewhere" / "parts").mkdir(parents=True)
    in_file(tmp_path / "elsewhere" / "parts", PART, "arm.xacro")
    base = f'<robot xmlns:xacro="http://www.ros.org/wiki/xacro">{link("a", INERTIAL)}</robot>'
    in_file(tmp_path / "robot", base, "base.xacro")
    return in_file(tmp_path / "robot", XACRO, "r.urdf.xacro")


def test_xacro(xacro):
    elsewhere = xacro.parents[1] / "elsewhere"
    with pytest.raises(st.ModelError, match=r"package 'parts' is not found; give packages=\{'parts': its folder\}"):
        st.load(xacro)
    for packages in (elsewhere, {"parts": elsewhere / "parts"}):
        np.testing.assert_allclose(st.load(xacro, packages=packages).build().mass, [2])
    model = st.load(xacro, packages=elsewhere, arguments={"mass": 4}).build()
    np.testing.assert_allclose(model.mass, [8])


def test_bad_xacro(xacro, monkeypatch):
    for text in ("<xacro:nothing/>", '<a b="${1/0}"/>'):
        broken = in_file(xacro.parent, f'<robot xmlns:xacro="http://www.ros.org/wiki/xacro">{text}</robot>', "b.xacro")
        with pytest.raises(st.ModelError, match=r"b\.xacro"):
            st.load(broken)
    with pytest.raises(st.ModelError, match="arguments are for xacro"):
        st.load(in_file(xacro.parent, ARM, "r.urdf"), arguments={"a": 1})
    there = builtins.__import__

    def without(name, *given, **more):
        if name.partition(".")[0] in ("xacro", "xacrodoc"):
            raise ImportError(name)
        return there(name, *given, **more)

    for name in [name for name in sys.modules if name.startswith("xacro")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(st.ModelError, match="pip install xacrodoc"):
        st.load(xacro)
