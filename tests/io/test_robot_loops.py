"""Loops of robots whose files are rounded: they close, move, and move as MuJoCo's soft ones do when those are stiff."""

import mujoco
import numpy as np
import pytest

import symplectree as st
from robot_texts import mjcf

INERTIAL = '<inertial pos="{} 0" mass="1" diaginertia=".01 .01 .01"/>'


def four_bar(tilt: float, *, base: str = "") -> str:
    """A four-bar linkage whose axes are off the normal of its plane by `tilt` [rad], on a fixed or free base."""
    bars = f"""<body name="a"><joint name="a" axis="0 0 1"/>{INERTIAL.format(".1 0")}
        <body name="b" pos="0.2 0 0"><joint name="b" axis="0 {tilt} 1"/>{INERTIAL.format(".1 0")}</body></body>
      <body name="c" pos="0.3 0.1 0"><joint name="c" axis="{tilt} 0 1"/>{INERTIAL.format(".05 .05")}</body>"""
    bars = f'<body name="base">{base}{INERTIAL.format("0 0")}{bars}</body>' if base else bars
    more = '<compiler angle="radian"/><option gravity="0 -9.81 0"/>'
    return mjcf(bars, f'{more}<equality><connect name="e" body1="b" body2="c" anchor="0.2 0.05 0"/></equality>')


@pytest.mark.parametrize("base", ["", '<freejoint name="f"/>'], ids=["fixed", "free"])
@pytest.mark.parametrize("tilt", [0, 1e-10, 1e-8, 1e-7, 1e-6, 1e-5])
def test_a_rounded_linkage_moves(tilt, base):
    model = st.loads(four_bar(tilt, base=base), "mjcf").build()
    assert len(model.rows) == 2
    q = st.assemble(model, {"a": 0.3})
    traj = st.simulate(model, q, duration=0.3, dt=0.001)
    exact = st.simulate(st.loads(four_bar(0, base=base), "mjcf").build(), q, duration=0.3, dt=0.001)
    assert abs(traj["a"][-1] - traj["a"][0]) > 0.02 or base
    assert traj.constraint_error.max() < 1e-12
    np.testing.assert_allclose(traj.q, exact.q, atol=100 * tilt + 1e-9)


def test_it_moves_as_mujocos_stiff_equality():
    text = four_bar(1e-6)
    model = st.loads(text, "mjcf").build()
    q = st.assemble(model, {"a": 0.3})
    ours = st.simulate(model, q, duration=0.2, dt=0.01, method=st.Variational(accuracy=1e-8))
    there = mujoco.MjModel.from_xml_string(text)
    there.opt.timestep, there.opt.integrator = 1e-4, mujoco.mjtIntegrator.mjINT_RK4
    there.eq_solref[:] = (2e-3, 1)  # stiffer ones feel the rounded axes, as exact ones do
    there.eq_solimp[:, :3] = (0.99, 0.99, 0.001)
    data = mujoco.MjData(there)
    data.qpos[:] = q
    mujoco.mj_step(there, data, 2000)
    np.testing.assert_allclose(ours.q[-1], data.qpos, atol=1e-5)


def test_two_points_of_the_same_bodies_are_a_hinge():
    """The distance of the sites is rounded: 0.3 here, 0.3 + 1e-8 there."""
    sites = '<site name="s{0}1" pos="0 0 0"/><site name="s{0}2" pos="0 0 {1}"/>'
    one = f'<body name="one"><freejoint/><geom size="0.1"/>{sites.format(1, 0.3)}</body>'
    ball = '<freejoint/><geom size="0.1" pos="0.2 0 0"/>'
    two = f'<body name="two" pos="0 0 1e-9">{ball}{sites.format(2, 0.30000001)}</body>'
    ties = '<connect site1="s11" site2="s21"/><connect site1="s12" site2="s22"/>'
    model = st.loads(mjcf(one + two, f"<equality>{ties}</equality>"), "mjcf").build()
    assert len(model.rows) == 5
    q = st.assemble(model, st.loads(mjcf(one + two), "mjcf").initial)
    rng = np.random.default_rng(0)
    v = st.project_velocity(model, q, rng.normal(size=model.nv))
    traj = st.simulate(model, q, v0=v, duration=0.2, dt=0.001)
    assert traj.constraint_error.max() < 1e-12


def parallelogram(tilt: float) -> str:
    """Two cranks, a coupler on one, and a foot on the other that is welded to the coupler."""
    crank = '<body name="{0}" pos="{1} 0 0"><joint name="{0}" axis="0 {2} 1"/>{3}{4}</body>'
    far = '<body name="{0}" pos="0 0.2 0"><joint name="{0}" axis="{1} 0 1"/>{2}</body>'
    coupler = far.format("coupler", tilt, INERTIAL.format(".15 0"))
    foot = far.format("foot", -tilt, INERTIAL.format("0 .05"))
    bodies = crank.format("a", 0, tilt, INERTIAL.format("0 .1"), coupler) + crank.format(
        "b", 0.3, -tilt, INERTIAL.format("0 .1"), foot
    )
    more = '<compiler angle="radian"/><option gravity="9.81 0 0"/>'
    return mjcf(bodies, f'{more}<equality><weld name="w" body1="coupler" body2="foot"/></equality>')


@pytest.mark.parametrize("tilt", [0, 1e-9, 1e-7, 1e-5])
def test_a_rounded_weld_moves(tilt):
    model = st.loads(parallelogram(tilt), "mjcf").build()
    assert len(model.rows) == 3
    q = st.assemble(model, {"a": 0.3, "b": 0.3, "coupler": -0.3, "foot": -0.3})
    traj = st.simulate(model, q, duration=0.3, dt=0.001)
    exact = st.simulate(st.loads(parallelogram(0), "mjcf").build(), q, duration=0.3, dt=0.001)
    assert abs(traj["a"][-1] - traj["a"][0]) > 0.3
    np.testing.assert_allclose(traj["a"], traj["b"], atol=100 * tilt + 1e-9)
    np.testing.assert_allclose(traj.q, exact.q, atol=100 * tilt + 1e-9)


def test_linkages_in_space_keep_their_rows():
    ball = '<body name="{0}" pos="{1} 0 0"><joint name="{0}" type="ball"/><geom size="0.1" pos="0 0 1"/></body>'
    tie = '<equality><connect body1="a" body2="b" anchor="0 0 1"/></equality>'
    model = st.loads(mjcf(ball.format("a", 0) + ball.format("b", 0.5), tie), "mjcf").build()
    assert len(model.rows) == 3
