"""Sensors in runs: closed forms, differences, files, plots, and bad input."""

import pickle

import numpy as np
import pytest

import symplectree as st
from mechanisms import planar_chain, random_mechanism, random_state
from sexpr_round_trip import assert_round_trip

L, M, G = 1.5, 2.0, 9.81


def pendulum() -> st.Mechanism:
    """A point mass on a rod, with a motor, and every sensor."""
    m = st.Mechanism(gravity=(0, 0, -G))
    rod = m.world.link("rod", st.Revolute("angle", axis="y"), mass=M, com=(0, 0, -L))
    tip = rod.frame("tip", at=(0, 0, -L))
    m.add(
        st.JointForce("angle", "motor"), st.Accelerometer("imu", tip), st.Gyro("gyro", "tip"), st.FramePose("pose", "tip"),
        st.FramePose("place", "tip", part="position"), st.FrameVelocity("speed", "tip", part="linear"),
        st.FrameAcceleration("shake", "tip", axes="frame"), st.JointReaction("pivot", "angle"),
        st.JointPosition("encoder", "angle"), st.JointVelocity("tachometer", "angle"), st.ActuatorForce("torque", "motor"),
        st.CenterOfMass("centre", "rod"),
    )  # fmt: skip
    return m


def test_a_pendulum_in_closed_form():
    model = pendulum().build()
    traj = st.simulate(model, {"angle": 2.0}, v0=[1.0], duration=1.0, dt=0.01, forces={"motor": 3.0})
    angle, rate = traj.q[:, 0], traj.v[:, 0]
    turn = (3.0 - M * G * L * np.sin(angle)) / (M * L * L)  # angular acceleration
    along, up = -L * turn, L * rate**2  # of the mass, along x and z of the rod
    zero = np.zeros_like(angle)
    expected = np.column_stack([along - G * np.sin(angle), zero, up + G * np.cos(angle)])
    np.testing.assert_allclose(traj.sensor("imu"), expected, atol=1e-11)
    np.testing.assert_allclose(traj.sensor("gyro"), np.column_stack([zero, rate, zero]), atol=1e-12)
    np.testing.assert_allclose(traj.sensor("shake"), np.column_stack([zero, turn, zero, along, zero, up]), atol=1e-11)
    pivot = np.column_stack([zero, zero + 3.0, zero, M * expected])
    np.testing.assert_allclose(traj.sensor("pivot"), pivot, atol=1e-11)
    np.testing.assert_array_equal(traj.sensor("place"), traj.pose("tip")[:, :3, 3])
    np.testing.assert_allclose(traj.sensor("centre"), traj.sensor("place"), atol=1e-14)
    np.testing.assert_array_equal(traj.sensor("encoder"), angle)
    np.testing.assert_array_equal(traj.sensor("tachometer"), rate)
    np.testing.assert_array_equal(traj.sensor("torque"), zero + 3.0)
    assert traj.sensor("pose").shape == (101, 4, 4)
    some = traj[50:60]
    np.testing.assert_array_equal(some.sensor("pivot"), traj.sensor("pivot")[50:60])


@pytest.mark.parametrize("seed", range(3))
def test_accelerations_are_the_rates_of_velocities(seed):
    model = random_mechanism(
        seed, 12, joints=("Revolute", "Screw", "Universal", "Planar", "Ball", "Free", "Formula3")
    ).build()
    q, v, a = random_state(model, seed)
    h = 1e-5
    ahead, behind = (st.retract(model, q, s * h * v + h * h / 2 * a) for s in (1, -1))
    for frame in model.bodies:
        if frame not in model.frames:
            continue
        velocity = st.FrameVelocity("v", frame)
        rate = (st.measure(model, velocity, ahead, v + h * a) - st.measure(model, velocity, behind, v - h * a)) / (
            2 * h
        )
        exact = st.measure(model, st.FrameAcceleration("a", frame), q, v, a=a)
        np.testing.assert_allclose(exact, rate, atol=1e-6 * (1 + np.abs(rate).max()))


def test_velocity_relative_to_a_frame_that_moves():
    model = random_mechanism(1, 9).build()
    q, v, _ = random_state(model, 1)
    h = 1e-6
    sensor = st.FramePose("p", "link8", part="position", relative_to="link3")
    ahead, behind = (st.measure(model, sensor, st.retract(model, q, s * h * v)) for s in (1, -1))
    exact = st.measure(model, st.FrameVelocity("v", "link8", part="linear", relative_to="link3"), q, v)
    np.testing.assert_allclose(exact, (ahead - behind) / (2 * h), atol=1e-7)
    own = st.measure(model, st.FrameVelocity("v", "link8", axes="frame"), q, v)
    np.testing.assert_allclose(own, st.body_velocity(model, q, v, "link8"), atol=1e-12)


def test_forces_of_all_kinds():
    model = pendulum().build()
    start = {"angle": 0.3}
    given = {"duration": 0.5, "dt": 0.01}
    constant = st.simulate(model, start, **given, forces={"motor": 3.0})
    rows = st.simulate(model, start, **given, forces=np.full((50, 1), 3.0))
    function = st.simulate(model, start, **given, forces=lambda t, q, v: {"motor": 3.0})
    table = st.simulate(model, start, **given, forces={"motor": st.Table([0, 1], [3.0, 3.0])})
    for traj in (rows, function, table):
        np.testing.assert_allclose(traj.sensor("pivot"), constant.sensor("pivot"), atol=1e-9)
    law = st.simulate(model, start, **given, forces=lambda t, q, v: [5 * t])
    np.testing.assert_allclose(law.sensor("torque"), 5 * law.t)


def test_prescribed_motion():
    m = planar_chain(2)
    m.add(st.Accelerometer("imu", "link0"), st.JointReaction("load", "q1"))
    model = m.build()
    motion = {"q0": lambda t: 0.5 * np.sin(3 * t)}
    traj = st.simulate(model, {}, v0={"q0": 1.5}, duration=0.5, dt=0.002, prescribed=motion)
    turn = -4.5 * np.sin(3 * traj.t)
    link = st.measure(model, st.FrameAcceleration("a", "link1", part="angular"), traj.q, traj.v)
    assert not np.allclose(link[:, 1], turn, atol=0.1)  # without the motion's own acceleration
    angular = traj.sensor(st.FrameAcceleration("a", "link0", part="angular"))
    np.testing.assert_allclose(angular[:, 1], turn, atol=1e-5)
    again = pickle.loads(pickle.dumps(traj))  # forgets the function, keeps its rates
    np.testing.assert_allclose(
        again.sensor(st.FrameAcceleration("a", "link0", part="angular"))[5:-5, 1], turn[5:-5], atol=1e-3
    )


def test_a_loop_carries_its_load():
    """A beam on two supports: half its weight on each, of which one is a constraint."""
    m = st.Mechanism()
    beam = m.world.link("beam", st.Revolute("pin", axis="y"), mass=M, com=(1, 0, 0), inertia=(0.1, 0.1, 0.1))
    beam.frame("end", at=(2, 0, 0))
    m.world.frame("support", at=(2, 0, 0))
    m.add(st.PointConstraint("end", "support", "z"), st.JointReaction("pin load", "pin", part="force"))
    traj = st.simulate(m.build(), {}, duration=0.05, dt=0.01)
    np.testing.assert_allclose(traj.sensor("pin load"), [[0, 0, M * G / 2]] * 6, atol=1e-9)


def test_a_stepper_shows_the_same():
    model = pendulum().build()
    traj = st.simulate(model, {"angle": 2.0}, duration=0.1, dt=0.01, forces={"motor": 3.0})
    stepper = st.Stepper(model, dt=0.01)
    stepper.reset({"angle": 2.0})
    for k in range(1, 11):
        stepper.step([3.0])
        np.testing.assert_allclose(stepper.sensor("pivot"), traj.sensor("pivot")[k], atol=1e-11)
    held = st.Stepper(model, dt=0.01, forces={"motor": st.PID("angle", 10, 1, 5, 0.5)})
    other = st.Stepper(model, dt=0.01, forces={"motor": st.PID("angle", 10, 1, 5, 0.5)})
    for _ in range(20):
        held.step(), other.step()
        held.sensor("imu")
    np.testing.assert_array_equal(held.q, other.q)  # looking changes nothing


def test_files(tmp_path):
    m = pendulum()
    assert_round_trip(m)
    model = m.build()
    assert "imu (Accelerometer)" in model.info()
    traj = st.simulate(model, {"angle": 2.0}, duration=0.1, dt=0.01, forces={"motor": 3.0})
    traj.save(tmp_path / "run.nc")
    again = st.load_trajectory(tmp_path / "run.nc")
    np.testing.assert_array_equal(again.sensor("pivot"), traj.sensor("pivot"))
    data = traj.to_dataset()
    np.testing.assert_array_equal(data["sensor_imu"].sel(sensor_imu_part="z"), traj.sensor("imu")[:, 2])
    assert data["sensor_imu"].attrs["units"] == "m/s²"
    assert list(data["sensor_pivot_unit"].values) == ["N·m"] * 3 + ["N"] * 3
    assert data["sensor_pose"].shape == (11, 16)
    by_function = st.simulate(model, {"angle": 2.0}, duration=0.1, dt=0.01, forces=lambda t, q, v: [3.0])
    by_function.save(tmp_path / "function.nc")
    loaded = st.load_trajectory(tmp_path / "function.nc")
    with pytest.raises(st.ModelError, match="the forces of this run were functions"):
        loaded.sensor("pivot")
    np.testing.assert_array_equal(loaded.sensor("pivot", forces={"motor": 3.0}), by_function.sensor("pivot"))
    np.testing.assert_array_equal(loaded.sensor("gyro"), by_function.sensor("gyro"))  # which needs no forces
    with pytest.warns(UserWarning, match=r"what sensors show \(imu, shake, pivot, torque\) is left out"):
        data = loaded.to_dataset()
    assert "sensor_gyro" in data and "sensor_imu" not in data


def test_plots():
    model = pendulum().build()
    traj = st.simulate(model, {"angle": 2.0}, duration=0.1, dt=0.01)
    figure = traj.plot("imu", "pivot", "encoder")
    assert [axes.get_ylabel() for axes in figure.axes] == ["imu [m/s²]", "pivot [N·m]", "pivot [N]", "encoder [rad]"]
    with pytest.raises(st.ModelError, match="did you mean 'imu'"):
        traj.plot("imuu")


@pytest.mark.parametrize(
    ("sensor", "message"),
    [
        (st.Gyro("g", "tp"), "Gyro 'g': no frame is named 'tp'; did you mean 'tip'"),
        (st.Gyro("", "tip"), "the name of a Gyro is ''"),
        (st.Gyro("imu", "tip"), "two sensors are named 'imu'"),
        (st.FramePose("p", "tip", part="angle"), "FramePose 'p': part is 'angle'; give None, 'position'"),
        (st.FrameVelocity("p", "tip", axes="body"), "axes is 'body'; give 'world' or 'frame'"),
        (st.FrameVelocity("p", "tip", relative_to="x"), "no frame is named 'x'"),
        (st.JointReaction("r", "angel"), "no joint is named 'angel'; did you mean 'angle'?"),
        (st.ActuatorForce("r", "moto"), "no input is named 'moto'"),
        (st.JointPosition("r", "angel"), "no coordinate is named 'angel'"),
        (st.CenterOfMass("c", "empty"), "has no mass"),
    ],
)
def test_bad_ones_are_named(sensor, message):
    m = pendulum()
    m.world.link("empty", st.Prismatic("slide", armature=1.0))
    m.add(sensor)
    with pytest.raises(st.ModelError) as caught:
        m.build()
    assert message in str(caught.value)


def test_other_names_are_told():
    model = pendulum().build()
    with pytest.raises(st.ModelError, match="no sensor is named 'imuu'; did you mean 'imu'"):
        st.measure(model, "imuu", [0.0])
    with pytest.raises(st.ModelError, match="and the model has none"):
        st.measure(planar_chain(1).build(), "imu", [0.0])
    with pytest.raises(st.ModelSyntaxError, match="gyro needs frame"):
        st.loads('(system (link "l" (revolute "q") (mass 1) (com 1 0 0)) (gyro "g"))')
