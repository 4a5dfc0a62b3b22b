"""Joint limits, dry friction and contact in runs: every action, orders, loops, prescribed coordinates, files, mistakes."""

import copy
import pickle

import numpy as np
import pytest

import symplectree as st
from mechanisms import unilateral_mechanism

ACTIONS = ["cayley", "chord", "exp", "midpoint"]


def pendulum(*elements):
    m = st.Mechanism()
    m.world.link("arm", st.Revolute("q", axis="y"), mass=1.0, com=(0, 0, -1), inertia=(0.01, 0.01, 0.01))
    m.add(*elements)
    return m.build()


@pytest.mark.parametrize("method", [*(st.Variational(action=a) for a in ACTIONS), st.Variational(order=8)])
def test_a_limit_holds_and_loses_energy_only_in_impacts(method):
    model = pendulum(st.JointLimit("q", lower=-0.5, upper=0.3, name="stop"))
    traj = st.simulate(model, {"q": 0.2}, v0={"q": -3.0}, duration=3, dt=0.005, method=method)
    assert traj["q"].min() >= -0.5 - 1e-12 and traj["q"].max() <= 0.3 + 1e-12
    assert len(traj.impacts) > 0 and set(traj.impacts.element) == {"stop"}
    lost = traj.energy[0] - traj.energy[-1]
    assert traj.impacts.lost.sum() == pytest.approx(lost, rel=1e-3)


def test_an_elastic_limit_keeps_the_energy():
    model = pendulum(st.JointLimit("q", lower=-0.5, upper=0.3, restitution=1.0))
    free = st.simulate(pendulum(), {"q": 0.2}, v0={"q": -3.0}, duration=20, dt=0.005)
    traj = st.simulate(model, {"q": 0.2}, v0={"q": -3.0}, duration=20, dt=0.005)
    assert len(traj.impacts) > 50
    assert np.ptp(traj.energy) < 3 * np.ptp(free.energy)
    eight = st.simulate(model, {"q": 0.2}, v0={"q": -3.0}, duration=20, dt=0.02, method=st.Variational(order=8))
    assert np.ptp(eight.energy) < 1e-8


def test_stepped_impacts_stop_at_the_limit():
    model = pendulum(st.JointLimit("q", lower=-0.5, upper=0.3))
    traj = st.simulate(
        model, {"q": 0.2}, v0={"q": -3.0}, duration=2, dt=0.005, method=st.Variational(impacts="stepped")
    )
    assert traj["q"].min() >= -0.5 - 1e-12 and len(traj.impacts) == 0
    assert np.any(np.abs(traj["q"] + 0.5) < 1e-12)


def test_a_weight_held_by_dry_friction_stays_and_a_heavier_one_slips():
    for force, held in ((9.9, True), (9.7, False)):
        m = st.Mechanism()
        m.world.link("weight", st.Prismatic("z", axis="z"), mass=1.0)
        m.add(st.JointFriction("z", force))
        traj = st.simulate(m.build(), {}, duration=1, dt=0.01)
        expected = 0 if held else -0.5 * (9.81 - force)
        assert traj["z"][-1] == pytest.approx(expected, abs=1e-12)


def test_a_limit_in_a_closed_chain():
    m = st.Mechanism()
    crank = m.world.link("crank", st.Revolute("crank", axis="y"), mass=1.0, com=(0.15, 0, 0), inertia=(0.01,) * 3)
    coupler = crank.link(
        "coupler", st.Revolute("pin", axis="y"), at=(0.3, 0, 0), mass=1.0, com=(0.5, 0, 0), inertia=(0.1,) * 3
    )
    coupler.frame("far", at=(1.0, 0, 0))
    rocker = m.world.link(
        "rocker", st.Revolute("rocker", axis="y"), at=(0.9, 0, 0), mass=1.0, com=(0, 0, 0.35), inertia=(0.05,) * 3
    )
    rocker.frame("end", at=(0, 0, 0.7))
    m.add(st.PointConstraint("far", "end", "xz"), st.JointLimit("rocker", lower=-0.5, upper=0.5, name="stop"))
    model = m.build()
    start = st.assemble(model, {"crank": -0.8, "pin": 0.2, "rocker": 0.0})
    traj = st.simulate(model, start, v0=None, duration=2, dt=0.002)
    assert np.abs(traj["rocker"]).max() <= 0.5 + 1e-10
    assert traj.constraint_error.max() < 1e-9
    assert np.any(np.abs(np.abs(traj["rocker"]) - 0.5) < 1e-9)
    assert np.diff(traj.energy).max() < 1e-3


def test_a_prescribed_motion_pushes_a_block():
    m = st.Mechanism()
    m.world.link("pusher", st.Prismatic("push", axis="x"), mass=1.0)
    m.world.link("block", st.Planar("block", normal="y"), mass=2.0, inertia=(0.1, 0.1, 0.1))
    m.shapes += [st.Shape("pusher", "sphere", 0.1), st.Shape("block", "sphere", 0.1)]
    m.add(st.Contact("pusher", "block"))
    m.gravity = (0, 0, 0)
    model = m.build()
    q0 = {"block": [0.3, 0, 0]} if st.pose(model, {"block": [1, 0, 0]}, "block")[0, 3] == 1 else {"block": [0, 0.3, 0]}
    traj = st.simulate(model, q0, duration=2, dt=0.01, prescribed={"push": lambda t: 0.2 * t})
    gap = traj.pose("block")[:, 0, 3] - traj["push"] - 0.2
    assert gap.min() >= -1e-10
    assert traj.pose("block")[-1, 0, 3] == pytest.approx(0.6, abs=1e-9)


def test_followers_have_limits_too():
    m = st.Mechanism()
    m.world.link("a", st.Revolute("a", axis="y"), mass=1.0, com=(0, 0, -0.5), inertia=(0.1,) * 3)
    m.world.link("b", st.Revolute("b", axis="y"), at=(1, 0, 0), mass=1.0, com=(0, 0, -0.5), inertia=(0.1,) * 3)
    m.add(st.GearConstraint("a", "b", ratio=2.0, eliminate=True), st.JointLimit("b", lower=-0.4))
    traj = st.simulate(m.build(), {"a": 0.5}, duration=3, dt=0.005)
    assert traj["b"].min() >= -0.4 - 1e-10 and traj["b"].min() == pytest.approx(-0.4, abs=1e-5)
    assert len(traj.impacts) > 0


@pytest.mark.parametrize("impacts", ["located", "stepped"])
def test_a_stepper_goes_as_a_run_and_can_be_restored(impacts):
    model, method = unilateral_mechanism().build(), st.Variational(impacts=impacts)
    q0, v0 = {"ball": [0, 0, 0.3, 1, 0, 0, 0], "arm": 0.3}, {"ball": [0, 1, 0, 0.5, 0, 0], "arm": -2.0}
    traj = st.simulate(model, q0, v0=v0, duration=1, dt=0.005, method=method)
    stepper = st.Stepper(model, method, 0.005)
    stepper.reset(q0, v0)
    stepper.step(n=90)
    state, other = stepper.state, copy.copy(stepper)
    np.testing.assert_array_equal(stepper.q, traj.q[90])
    stepper.step(n=110)
    np.testing.assert_array_equal(stepper.q, traj.q[-1])
    other.step(n=110)
    np.testing.assert_array_equal(other.q, traj.q[-1])
    stepper.restore(pickle.loads(pickle.dumps(state)))
    stepper.step(n=110)
    np.testing.assert_array_equal(stepper.q, traj.q[-1])


@pytest.mark.parametrize("speed", [0.0, 0.5])  # at rest; and the upper ones slide on the lowest
def test_a_stack_goes_on_as_it_was_when_it_is_restored(speed):
    m = st.Mechanism()
    m.shapes.append(st.Shape("world", "plane", (0, 0)))
    for i in range(4):
        m.world.link(f"box{i}", st.Free(f"box{i}"), mass=1.0 + i, inertia=(0.01, 0.01, 0.01))
        m.shapes.append(st.Shape(f"box{i}", "box", (0.2, 0.2, 0.2)))
        m.add(st.Contact(f"box{i}", f"box{i - 1}" if i else "world", friction=0.5))
    q0 = {f"box{i}": [0, 0, 0.1 + 0.2 * i, 1, 0, 0, 0] for i in range(4)}
    v0 = {f"box{i}": [0, 0, 0, speed if i else 0, 0, 0] for i in range(4)}
    stepper = st.Stepper(m.build(), st.Variational(), 0.001)
    stepper.reset(q0, v0)
    stepper.step(n=37)
    state = stepper.state
    stepper.step(n=60)
    q, p = np.array(stepper.q), np.array(stepper.p)
    stepper.restore(state)
    stepper.step(n=60)
    np.testing.assert_array_equal(stepper.q, q)
    np.testing.assert_array_equal(stepper.p, p)


def test_ten_boxes_stand_still():
    m = st.Mechanism()
    m.shapes.append(st.Shape("world", "plane", (0, 0)))
    for i in range(10):
        m.world.link(f"box{i}", st.Free(f"box{i}"), mass=1.0, inertia=(0.04 / 6,) * 3)
        m.shapes.append(st.Shape(f"box{i}", "box", (0.2, 0.2, 0.2)))
        m.add(st.Contact(f"box{i}", f"box{i - 1}" if i else "world", friction=0.5))
    q0 = {f"box{i}": [0, 0, 0.1 + 0.2 * i, 1, 0, 0, 0] for i in range(10)}
    traj = st.simulate(m.build(), q0, duration=1, dt=0.001, save_every=10)
    assert np.abs(traj.q - traj.q[0]).max() < 1e-12
    assert np.abs(traj.v).max() < 1e-12
    forces = traj.contacts.at(100).force[:, 2]
    assert np.abs(forces).sum() == pytest.approx(9.81 * 55, rel=1e-6)  # each layer carries what is above it


def test_a_stepper_that_records_knows_its_impacts():
    model, q0 = unilateral_mechanism().build(), {"ball": [0, 0, 0.3, 1, 0, 0, 0], "arm": 0.3}
    stepper = st.Stepper(model, st.Variational(), 0.005, record=True)
    for _ in range(2):  # a reset forgets them
        stepper.reset(q0)
        for _ in range(200):
            stepper.step()
    traj = st.simulate(model, q0, duration=1, dt=0.005)
    assert len(traj.impacts) > 0
    np.testing.assert_array_equal(stepper.trajectory().impacts.rows, traj.impacts.rows)


@pytest.mark.parametrize("restitution", [0.5, 1.0])
def test_a_prescribed_pusher_is_no_free_flight(restitution):
    """A wall that comes with 0.2 m/s throws an elastic ball off with 0.4 m/s, and does work on it."""
    m = st.Mechanism(gravity=(0, 0, 0))
    m.world.link("wall", st.Prismatic("wall", axis="x"), mass=1.0)
    m.world.link("ball", st.Prismatic("ball", axis="x"), mass=2.0)
    m.shapes += [st.Shape("wall", "sphere", 0.1), st.Shape("ball", "sphere", 0.1)]
    m.add(st.Contact("wall", "ball", restitution=restitution))
    traj = st.simulate(m.build(), {"ball": 0.2537}, duration=1, dt=0.01, prescribed={"wall": lambda t: 0.2 * t})
    assert traj.velocity("ball")[-1] == pytest.approx(0.2 * (1 + restitution), abs=1e-9)
    assert traj["ball"][-1] == pytest.approx(0.2537 + 0.2 * (1 + restitution) * (1 - 0.0537 / 0.2), abs=1e-9)


def test_runs_are_saved_and_resumed(tmp_path):
    model = unilateral_mechanism().build()
    q0 = {"ball": [0, 0, 0.6, 1, 0, 0, 0], "arm": 0.3}
    whole = st.simulate(model, q0, duration=1.5, dt=0.005)
    whole.save(tmp_path / "whole.nc")
    read = st.load_trajectory(tmp_path / "whole.nc")
    np.testing.assert_array_equal(read.impacts.rows, whole.impacts.rows)
    np.testing.assert_array_equal(read.impacts.element, whole.impacts.element)
    np.testing.assert_allclose(read.contacts.force, whole.contacts.force)
    st.simulate(model, q0, duration=0.5, dt=0.005, out=tmp_path / "part.nc")
    resumed = st.resume(tmp_path / "part.nc", duration=1.5)
    np.testing.assert_array_equal(resumed.q, whole.q)


def test_a_table_stands_on_four_feet():
    m = st.Mechanism()
    m.world.link("table", st.Free("table"), mass=4.0, inertia=(0.2, 0.3, 0.4))
    m.shapes.append(st.Shape("world", "plane", (0, 0)))
    for x, y in ((-0.5, -0.4), (0.5, -0.4), (-0.5, 0.4), (0.5, 0.4)):
        pose = np.eye(4)
        pose[:3, 3] = x, y, -0.5
        m.shapes.append(st.Shape("table", "sphere", 0.05, pose))
    m.add(st.Contact("table", "world", friction=0.5))
    traj = st.simulate(m.build(), {"table": [0, 0, 0.55, 1, 0, 0, 0]}, duration=1, dt=0.01)
    assert np.abs(traj.q - traj.q[0]).max() < 1e-13
    forces = traj.contacts.at(100).force
    np.testing.assert_allclose(forces, np.tile([0, 0, -9.81], (4, 1)), atol=1e-6)  # redundant: shared alike


def test_a_stack_with_a_heavy_top_stands():
    m = st.Mechanism()
    m.shapes.append(st.Shape("world", "plane", (0, 0)))
    for i, mass in enumerate((1.0, 1e4)):
        m.world.link(f"box{i}", st.Free(f"box{i}"), mass=mass, inertia=(mass * 0.04 / 6,) * 3)
        m.shapes.append(st.Shape(f"box{i}", "box", (0.2, 0.2, 0.2)))
    m.add(st.Contact("box0", "world", friction=0.5), st.Contact("box1", "box0", friction=0.5))
    q0 = {f"box{i}": [0, 0, 0.1 + 0.2 * i, 1, 0, 0, 0] for i in range(2)}
    traj = st.simulate(m.build(), q0, duration=0.5, dt=0.001)
    assert np.abs(traj.q - traj.q[0]).max() < 1e-11


@pytest.mark.parametrize(
    "element, message",
    [
        (lambda: st.JointLimit("q"), "give lower, upper or both"),
        (lambda: st.JointLimit("q", lower=1, upper=0.5), "lower is 1 and upper 0.5"),
        (lambda: st.JointLimit("q", lower=0, restitution=1.5), "restitution is 1.5"),
        (lambda: st.JointLimit("q", lower=float("nan")), "not a finite number"),
        (lambda: st.JointLimit("elbow", lower=0), "elbow"),
        (lambda: st.JointFriction("q", -1), "force is -1"),
        (lambda: st.Contact("arm", "world", friction=-0.1), "friction is -0.1"),
        (lambda: st.Contact("arm", "world", restitution=2), "restitution is 2"),
        (lambda: st.Contact("arm", "world"), "has no shape"),
        (lambda: st.Contact("leg", "world"), "leg"),
        (lambda: st.Contact(3, "world"), "give a Shape"),
        (lambda: st.Contact("*", "*"), "has no shape"),
    ],
)
def test_mistakes_are_named(element, message):
    with pytest.raises(st.ModelError, match=message):
        pendulum(element())


@pytest.mark.parametrize("method", [st.RK4(), st.SemiImplicitEuler(), st.Adaptive()])
def test_methods_without_contact_refuse_it_by_name(method):
    model = unilateral_mechanism().build()
    with pytest.raises(st.ModelError, match=r"knows no joint limits.*'contact1' and 2 more.*without_contact"):
        st.simulate(model, {"ball": [0, 0, 0.3, 1, 0, 0, 0]}, duration=0.1, dt=0.01, method=method)
    free = model.without_contact()
    assert len(free.elements) == 0 and free.coordinates == model.coordinates
    st.simulate(free, {"ball": [0, 0, 0.3, 1, 0, 0, 0]}, duration=0.1, dt=0.01, method=method)
    assert free.without_contact() is free


def test_an_unknown_way_of_impacts():
    with pytest.raises(st.ModelError, match="impacts is 'soft'"):
        st.Variational(impacts="soft")


def test_an_overlap_at_the_start_stays_and_does_not_grow():
    model = pendulum(st.JointLimit("q", upper=-0.2))
    traj = st.simulate(model, {"q": -0.1}, duration=1, dt=0.01)
    assert (traj["q"].max() <= -0.1 + 1e-12 and traj["q"][-1] < -0.2) or traj["q"].max() <= -0.1 + 1e-12


def test_an_impact_at_the_start_is_resumed_once(tmp_path):
    model = pendulum(st.JointLimit("q", lower=-0.5, restitution=0.5, name="stop"))
    start = {"q": -0.5}, {"q": -2.0}
    whole = st.simulate(model, start[0], v0=start[1], duration=0.2, dt=0.01)
    st.simulate(model, start[0], v0=start[1], duration=0.1, dt=0.01, out=tmp_path / "run.nc")
    resumed = st.resume(tmp_path / "run.nc", duration=0.2)
    assert whole.impacts.t[0] == 0
    np.testing.assert_array_equal(resumed.impacts.rows, whole.impacts.rows)


def turntable(*, touches):
    """A ball above the very edge of a drum about whose axis it turns, with an arm that swings above."""
    m = st.Mechanism()
    rest = m.world.frame("rest", at=(0, 0, 0.12))
    table = m.world.link("table", st.Revolute("turn"), mass=2.0, com=(0.02, 0.01, 0.3), inertia=(0.02, 0.02, 0.03))
    frame = table.frame("ball", at=(0.08, 0, 0.31))
    light = {"mass": 1.0, "inertia": (0.02, 0.02, 0.01)}
    arm = table.link("arm", st.Revolute("swing", axis="y"), at=(0.08, 0, 0.31), com=(0.2, 0.05, 0.1), **light)
    arm.link("tip", st.Revolute("roll", axis="x"), at=(0.2, 0, 0.1), com=(0.02, 0.15, 0.1), **light)
    drum, ball = st.Shape(rest.name, "cylinder", (0.08, 0.24)), st.Shape(frame.name, "sphere", 0.07)
    m.shapes += [drum, ball]
    if touches:
        m.add(st.Contact(ball, drum, friction=1.0))
    return m.build()


def test_a_contact_that_no_joint_opens_or_closes_does_nothing():
    """The table's bearing carries it; pushed by rounding, its friction took 0.7 rad of this motion."""
    motions = [
        st.simulate(turntable(touches=touches), {}, v0={"turn": 1.0}, duration=0.5, dt=0.001).q
        for touches in (True, False)
    ]
    np.testing.assert_allclose(*motions, rtol=0, atol=1e-12)


def test_tables_of_contacts_and_impacts():
    model = unilateral_mechanism().build()
    traj = st.simulate(model, {"ball": [0, 0, 0.3, 1, 0, 0, 0], "arm": 0.3}, duration=1, dt=0.01)
    contacts = traj.contacts["ball"]
    assert len(contacts) == len(traj.contacts) and "Contacts" in repr(contacts)
    assert list(contacts.to_dataframe().columns[:3]) == ["state", "t", "element"]
    assert {"force.x", "normal.z"} <= set(contacts.to_dataframe().columns)
    assert "impulse.z" in traj.impacts.to_dataframe().columns
    with pytest.raises(st.ModelError, match="'bal'"):
        traj.contacts["bal"]
    np.testing.assert_array_equal(contacts.at(-1).force, contacts.at(100).force)
    assert len(contacts.at(-1)) > 0
    with pytest.raises(st.ModelError, match="no state 101 among 101"):
        contacts.at(101)
    some = traj[50:80]
    assert np.all((some.impacts.t >= some.t[0]) & (some.impacts.t <= some.t[-1]))


@pytest.mark.parametrize("order", [2, 4])
@pytest.mark.parametrize("damping", [1e2, 1e4, 1e6, 1e9])
def test_strong_dampers_are_no_gain_of_energy(damping, order):
    """Of a finger pressed on the floor: what dampers take between the impulses of a step is not what these add."""
    m = st.Mechanism()
    body = {"mass": 1.0, "com": (0, 0, -0.5), "inertia": (0.1,) * 3}
    upper = m.world.link("upper", st.Revolute("a", axis="y"), **body)
    upper.link("lower", st.Revolute("b", axis="y"), at=(0, 0, -1), **body).frame("tip", at=(0, 0, -1))
    floor = np.eye(4)
    floor[2, 3] = -1.6
    m.shapes += [st.Shape("tip", "sphere", 0.05), st.Shape("world", "plane", (0, 0), pose=floor)]
    m.add(st.Contact("tip", "world", friction=0.5), st.JointDamper("b", damping))
    m.add(st.JointSpring("a", 100.0, rest=0.9), st.JointSpring("b", 50.0, rest=-2.0))
    traj = st.simulate(
        m.build(), {"a": 1.4, "b": -1.2}, v0={"a": -3.0}, duration=1, dt=0.005, method=st.Variational(order=order)
    )
    assert traj.substeps.sum() < 10
    assert np.diff(traj.energy).max() < 1e-3


@pytest.mark.filterwarnings("error")
def test_prescribed_motions_go_through_what_only_they_could_meet():
    """A limit of a prescribed joint, and a floor under a prescribed piston; what hangs on it still meets the floor."""
    m = st.Mechanism()
    body = {"mass": 1.0, "inertia": (0.1,) * 3}
    m.world.link("arm", st.Revolute("a", axis="y"), com=(0, 0, -0.5), **body)
    piston = m.world.link("piston", st.Prismatic("z"), at=(3, 0, 1), **body)
    piston.link("foot", st.Prismatic("foot"), at=(1, 0, 0), **body)
    m.shapes += [st.Shape(frame, "sphere", 0.1) for frame in ("piston", "foot")]
    m.shapes.append(st.Shape("world", "plane", (0, 0)))
    m.add(st.JointLimit("a", upper=1.0), st.Contact("piston", "world"), st.Contact("foot", "world"))
    motions = {"a": lambda t: 0.2 + 2 * t, "z": lambda t: -1.5 * t}
    traj = st.simulate(m.build(), {"a": 0.2}, duration=1, dt=0.01, prescribed=motions)
    np.testing.assert_allclose((traj["a"][-1], traj["z"][-1]), (2.2, -1.5), atol=1e-12)
    assert traj.pose("foot")[:, 2, 3].min() > 0.1 - 1e-9
    assert len(traj.impacts.t) == 1 and traj.pose("foot")[-1, 2, 3] == pytest.approx(0.1, abs=1e-9)
