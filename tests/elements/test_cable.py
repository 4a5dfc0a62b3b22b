"""Cables through points of several bodies: beside springs, differences and MuJoCo."""

import itertools
import warnings

import mujoco
import numpy as np
import pytest

import symplectree as st
from mechanisms import ACTIONS, FORMULAS, JOINTS, random_mechanism, random_state
from refusal import arm, assert_refused
from sexpr_round_trip import assert_round_trip
from symplectree.lie import quaternion_matrix

METHODS = [*(st.Variational(action=action) for action in ACTIONS), st.Variational(order=4), st.Variational(order=8)]


def strung(seed: int, *, joints=(*JOINTS, *FORMULAS), **given) -> tuple[st.Mechanism, list[str]]:
    """A random tree with a cable through frames of four bodies, and the names of these frames."""
    m = random_mechanism(seed, 7, joints=joints)
    rng = np.random.default_rng([seed, 7])
    moving = [frame for frame in m.tree if frame.joint.nv]
    names = ["world"]
    for i, k in enumerate(rng.choice(len(moving), 3, replace=False)):
        names.append(moving[k].frame(f"eye{i}", at=rng.normal(size=3)).name)
    m.add(st.Cable(tuple(names), **{"stiffness": 3.0, "rest": 1.2, "damping": 0.4, "name": "cable"} | given))
    return m, names


def length(model, q, names):
    points = [st.pose(model, q, name)[:3, 3] for name in names]
    return sum(np.linalg.norm(b - a) for a, b in itertools.pairwise(points))


@pytest.mark.parametrize("seed", range(4))
def test_energy_and_force_are_those_of_the_length(seed):
    m, names = strung(seed)
    model = m.build()
    m.elements.pop()
    bare = m.build()
    q, v, a = random_state(model, seed)
    own = length(model, q, names)
    difference = st.potential_energy(model, q) - st.potential_energy(bare, q)
    np.testing.assert_allclose(difference, 1.5 * (own - 1.2) ** 2, rtol=0, atol=1e-10)
    ends = [length(model, st.retract(model, q, d), names) for s in (1e-6, -1e-6) for d in s * np.eye(model.nv)]
    slope = (np.array(ends[: model.nv]) - ends[model.nv :]) / 2e-6
    tension = 3.0 * (own - 1.2) + 0.4 * slope @ v
    taken = st.inverse_dynamics(model, q, v, a) - st.inverse_dynamics(bare, q, v, a)
    np.testing.assert_allclose(taken, tension * slope, rtol=0, atol=1e-7)
    st.check_element(model, "cable")


@pytest.mark.parametrize("method", METHODS, ids=str)
def test_between_two_frames_it_is_a_spring(method):
    def model(*elements):
        m = random_mechanism(5, 5, joints=("Revolute", "Universal", "Prismatic"))
        tips = [frame.frame(f"tip{i}", at=(0.3, 0.1, -0.2)) for i, frame in enumerate(m.tree[:5])]
        assert len(tips) == 5
        return m.add(*elements).build()

    given = {"stiffness": 8.0, "damping": 0.5}
    one = model(st.Cable(("tip0", "tip4"), rest=0.7, **given))
    other = model(st.Spring("tip0", "tip4", length=0.7, **given))
    q, v, _ = random_state(one, 5)
    runs = [st.simulate(m, q, v0=0.2 * v, duration=0.2, dt=0.004, method=method) for m in (one, other)]
    # steps of second order take a damper by its lengths at their ends, and a formula by velocities; midpoint springs, too
    bound = 1e-4 if method.action == "midpoint" and method.order == 2 else 1e-6 if method.order == 2 else 1e-9
    np.testing.assert_allclose(runs[0].q, runs[1].q, rtol=0, atol=bound)


@pytest.mark.parametrize("action", ACTIONS)
@pytest.mark.parametrize("rest", [1.2, (0.1, 0.9)])
def test_derivatives_of_steps(action, rest):
    m, _ = strung(1, rest=rest)
    model, method, h = m.build(), st.Variational(action=action, tol=1e-14), 0.005
    q, v, _ = random_state(model, 1)
    p = st.momenta(model, q, v)
    step = st.linearize(model, (q, p), method, h)
    found = []
    for d in 1e-5 * np.eye(2 * model.nv):
        dq, dp = np.split(d, 2)
        one, two = (st.linearize(model, (st.retract(model, q, s * dq), p + s * dp), method, h) for s in (1, -1))
        found.append(np.r_[st.difference(model, two.q, one.q), one.p - two.p] / 2e-5)
    np.testing.assert_allclose(step.A, np.array(found).T, rtol=0, atol=1e-7 * max(1.0, np.abs(step.A).max()))


def test_a_rope_is_slack_when_it_is_short():
    m, names = strung(2, rest=(0.0, 50.0), damping=0.0)
    model = m.build()
    assert length(model, model.neutral, names) < 50
    m.elements.pop()
    q, v, _ = random_state(model, 2)
    runs = [st.simulate(x, q, v0=0.1 * v, duration=0.05, dt=0.005) for x in (model, m.build())]
    np.testing.assert_allclose(runs[0].q, runs[1].q, rtol=0, atol=1e-12)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("rest", [0.8, (0.2, 0.9)])
def test_moves_as_in_mujoco(seed, rest, tmp_path):
    m, _ = strung(seed, joints=("Revolute", "Prismatic", "Universal"), rest=rest)
    m.gravity = (0.0, 0.0, -3.0)
    m.to_mjcf(tmp_path / "arm.xml")
    there = mujoco.MjModel.from_xml_path(str(tmp_path / "arm.xml"))
    there.opt.timestep, there.opt.integrator = 1e-4, mujoco.mjtIntegrator.mjINT_RK4
    data = mujoco.MjData(there)
    for _ in range(3000):
        mujoco.mj_step(there, data)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # nothing is left out
        again = st.load(tmp_path / "arm.xml")
    assert any(isinstance(element, st.Cable) for element in again.elements)
    for model in (m.build(), again.build()):
        run = st.simulate(model, model.neutral, duration=0.3, dt=0.002, method=st.Variational(order=8))
        for j in range(there.njnt):
            place = there.jnt_qposadr[j]
            np.testing.assert_allclose(run[there.joint(j).name][-1], data.qpos[place], rtol=0, atol=1e-6)


TENDONS = """
<mujoco>
  <worldbody>
    <site name="hook" pos="0 0 1"/>
    <body name="a">
      <joint name="a" axis="0 1 0"/><geom size="0.1" pos="0.3 0 0"/><site name="sa" pos="0.5 0 0"/>
      <body name="b" pos="1 0 0">
        <joint name="b" axis="0 1 0"/><geom size="0.1" pos="0.3 0 0"/><site name="sb" pos="0.5 0 0"/>
        <body name="c" pos="1 0 0">
          <joint name="c" type="ball"/><geom size="0.1" pos="0.3 0 0"/><site name="sc" pos="0.5 0 0"/>
        </body>
      </body>
    </body>
  </worldbody>
  <tendon>
    <spatial name="two" stiffness="3"><site site="hook"/><site site="sc"/></spatial>
    <spatial name="three" stiffness="2" damping="1" springlength="0.1 0.4">
      <site site="hook"/><site site="sa"/><site site="sb"/>
    </spatial>
    <spatial name="over" stiffness="2"><site site="hook"/><site site="sa"/><site site="sc"/></spatial>
    <spatial name="idle"><site site="hook"/><site site="sa"/></spatial>
    <spatial name="split" stiffness="1">
      <site site="hook"/><site site="sa"/><pulley divisor="2"/><site site="sa"/><site site="sb"/>
    </spatial>
  </tendon>
</mujoco>
"""


def test_tendons_of_mjcf():
    with pytest.warns(UserWarning, match="through sites alone") as said:
        m = st.loads(TENDONS, "mjcf")
    words = str(said[0].message)
    assert "(1: split)" in words and "idle" not in words
    two, three, over = (e for e in m.elements if not isinstance(e, st.Contact))
    assert isinstance(two, st.Spring) and isinstance(three, st.Cable) and isinstance(over, st.Cable)
    np.testing.assert_allclose(two.length, np.sqrt(2.5**2 + 1))
    assert three.rest == (0.1, 0.4)


FLOATING = """
<mujoco>
  <option gravity="0 0 0"/>
  <default><geom contype="0" conaffinity="0"/></default>
  <worldbody>
    <site name="hook" pos="0 0 1"/>
    <body name="base" pos="0.3 0 0">
      <freejoint/><geom type="box" size="0.1 0.2 0.3"/><site name="s1" pos="0.1 0 0.2"/>
      <body name="arm" pos="0.4 0 0">
        <joint name="ball" type="ball"/><geom size="0.1" pos="0.3 0 0"/><site name="s2" pos="0.5 0.1 0"/>
        <body name="hand" pos="0.6 0 0">
          <joint name="hinge" axis="0 1 0.3"/><geom size="0.1" pos="0.3 0 0"/><site name="s3" pos="0.2 0 0.1"/>
        </body>
      </body>
    </body>
  </worldbody>
  <tendon>
    <spatial name="long" stiffness="3" damping="0.7" springlength="0.4">
      <site site="hook"/><site site="s1"/><site site="s3"/><site site="s2"/>
    </spatial>
  </tendon>
</mujoco>
"""


@pytest.mark.parametrize("seed", range(4))
def test_over_free_and_ball_joints_it_pulls_as_in_mujoco(seed):
    model = st.loads(FLOATING, "mjcf").build()
    there = mujoco.MjModel.from_xml_string(FLOATING)
    data = mujoco.MjData(there)
    q, v, _ = random_state(model, seed)
    R = quaternion_matrix(q[3:7])
    data.qpos[:], data.qvel[:] = q, np.concatenate([R @ v[3:6], v[:3], v[6:]])
    mujoco.mj_forward(there, data)
    terms, theirs = st.element_terms(model, "long", q, v), data.qfrc_passive
    found = terms.force - terms.gradient
    np.testing.assert_allclose(found, np.concatenate([theirs[3:6], R.T @ theirs[:3], theirs[6:]]), rtol=0, atol=1e-12)
    np.testing.assert_allclose(terms.energy, 1.5 * (data.ten_length[0] - 0.4) ** 2, rtol=1e-12)
    st.check_element(model, "long")


@pytest.mark.parametrize("seed", range(2))
def test_files_hold_them(seed):
    assert_round_trip(strung(seed, joints=JOINTS)[0])
    assert_round_trip(strung(seed, joints=JOINTS, rest=(0.1, 0.2))[0])


@pytest.mark.parametrize(
    ("element", "words"),
    [
        (st.Cable("arm", stiffness=1, name="c"), ("Cable 'c'", "two or more")),
        (st.Cable(("arm",), stiffness=1, name="c"), ("two or more",)),
        (st.Cable(("arm", "leg"), stiffness=1, name="c"), ("leg",)),
        (st.Cable(("arm", "arm"), stiffness=1, name="c"), ("same body",)),
        (st.Cable(("world", "arm"), name="c"), ("neither stiffness nor damping",)),
        (st.Cable(("world", "arm"), stiffness=1, rest=-1, name="c"), ("zero or more",)),
        (st.Cable(("world", "arm"), stiffness=1, rest=(2, 1), name="c"), ("lower one first",)),
        (st.Cable(("world", "arm"), stiffness=1, rest=(1, 2, 3), name="c"), ("rest",)),
        (st.Cable(("world", "arm"), stiffness="k", name="c"), ("stiffness",)),
    ],
)
def test_bad_input_is_refused_by_name(element, words):
    assert_refused(arm().add(element), *words)
