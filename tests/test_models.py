"""Every model file runs, and moves as closed forms of mechanics say."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.linalg import null_space
from scipy.special import ellipk

import symplectree as st

ROOT = Path(__file__).parent.parent
FILES = sorted((ROOT / "models").glob("*.sexp"))


def loaded(name):
    mechanism = st.load(ROOT / "models" / f"{name}.sexp")
    return mechanism.build(), mechanism.initial


def held(model, q):
    """Coordinates without mass, held where they are."""
    return {name: q[model.coordinates.index(name)] for name in model.massless}


def moving(model, q, coordinate, speed):
    """The velocity of a mechanism with one degree of freedom, one coordinate of which moves at a given speed."""
    (motion,) = null_space(st.constraint_jacobian(model, q)).T
    return speed * motion / motion[model.velocities.index(coordinate)]


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.stem)
def test_file_assembles_and_runs(path):
    mechanism = st.load(path)
    model = mechanism.build()
    assert mechanism.initial
    q0 = st.assemble(model, mechanism.initial)
    assert np.abs(st.constraint_values(model, q0)).max(initial=0) <= 1e-9
    fast = path.stem == "squeezing_mechanism"  # of centimetres, and driven by a motor
    dt = 5e-5 if fast else 0.01
    traj = st.simulate(model, q0, duration=100 * dt, dt=dt, prescribed=held(model, q0))
    assert len(traj) == 101
    assert traj.constraint_error.max() <= 1e-10
    # errors of second order: the largest is that of the jack, whose spindle turns by up to 0.5 rad in a step
    work = 0.033 * (traj["beta"] - q0[0]) if fast else 0
    gain = (traj.energy - traj.energy[0] - work).max()
    assert gain <= 0.05 * max(np.ptp(traj.kinetic), 1e-6)


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.stem)
def test_file_starts_where_its_loops_close(path):
    mechanism = st.load(path)
    given_by_hand = path.stem in ("planar_human", "marionette")  # to a millimetre, for people to read
    gaps = st.constraint_values(mechanism.build(), mechanism.initial)
    np.testing.assert_allclose(gaps, 0, atol=2e-3 if given_by_hand else 1e-12)


def test_four_bar_obeys_freudenstein():
    model, initial = loaded("four_bar")
    crank, coupler, rocker, ground = 0.2, 0.5, 0.4, 0.45
    traj = st.simulate(model, initial, v0=moving(model, initial, "crank", 15.0), duration=2.0, dt=0.001)
    assert np.ptp(traj["crank"]) > 4 * np.pi  # whole turns
    c = traj["crank"]
    k1, k2, k3 = ground / crank, ground / rocker, (crank**2 - coupler**2 + rocker**2 + ground**2) / (2 * crank * rocker)
    r = traj["rocker"]
    np.testing.assert_allclose(k1 * np.cos(r) - k2 * np.cos(c) + k3 - np.cos(c - r), 0, atol=1e-10)
    # the coupler's absolute angle from the triangle of its ends
    x = ground + rocker * np.cos(r) - crank * np.cos(c)
    z = -rocker * np.sin(r) + crank * np.sin(c)
    off = np.exp(1j * (c + traj["joint"])) - np.exp(1j * np.arctan2(-z, x))
    np.testing.assert_allclose(np.abs(off), 0, atol=1e-10)


def test_four_bar_conserves_energy_with_second_order():
    model, initial = loaded("four_bar")
    v0 = moving(model, initial, "crank", 15.0)
    errors = []
    for dt in (0.004, 0.002, 0.001):
        traj = st.simulate(model, initial, v0=v0, duration=1.0, dt=dt)
        errors.append(np.abs(traj.energy - traj.energy[0]).max())
    np.testing.assert_allclose(np.divide(errors[:-1], errors[1:]), 4, rtol=0.1)


SPEED = 20.0  # rad/s


@pytest.fixture(scope="module")
def slider_crank():
    model, initial = loaded("slider_crank")
    dt = 2 * np.pi / SPEED / 2000
    return st.simulate(
        model,
        initial,
        v0={"big end": -(1 + 0.1 / 0.3) * SPEED},
        duration=2 * np.pi / SPEED,
        dt=dt,
        prescribed={"crank": lambda t: SPEED * t},
    )


def piston_formula(angle):
    return 0.1 * np.cos(angle) + np.sqrt(0.3**2 - (0.1 * np.sin(angle)) ** 2)


def test_slider_crank_position(slider_crank):
    np.testing.assert_allclose(slider_crank["piston"], piston_formula(slider_crank["crank"]), atol=1e-12)


def test_slider_crank_torque_is_power_over_speed(slider_crank):
    """With the crank at constant speed, d(energy)/dt = torque · speed, with energies from the position formula."""
    angle = SPEED * slider_crank.t
    rod = np.arcsin(-0.1 / 0.3 * np.sin(angle))  # absolute angle about y
    rod_rate = -0.1 / 0.3 * np.cos(angle) * SPEED / np.cos(rod)
    piston_rate = (-0.1 * np.sin(angle) + 0.3 * -np.sin(rod) * rod_rate / SPEED) * SPEED
    x_rate = -0.1 * np.sin(angle) * SPEED - 0.1 * np.sin(rod) * rod_rate
    z_rate = -0.1 * np.cos(angle) * SPEED - 0.1 * np.cos(rod) * rod_rate
    kinetic = 0.25 * piston_rate**2 + 0.3 * (x_rate**2 + z_rate**2) + 0.003 * rod_rate**2
    potential = 9.81 * (-1.0 * 0.02 * np.sin(angle) - 0.6 * (0.1 * np.sin(angle) + 0.1 * np.sin(rod)))
    torque = np.gradient(kinetic + potential, slider_crank.t)[2:-2] / SPEED
    # the force of step k acts at its beginning; differences of energies and the steps are of second order
    np.testing.assert_allclose(slider_crank.prescribed_forces[2:-1, 0], torque, atol=2e-4 * np.abs(torque).max())


@pytest.mark.parametrize("torque", [0.0, 4.0])
def test_screw_jack_acceleration(torque):
    model, initial = loaded("screw_jack")
    pitch, load, inertia = 0.008 / (2 * np.pi), 200.0, 0.0004 + 2 * 0.4 * 0.25**2
    expected = (torque - load * 9.81 * pitch) / (inertia + load * pitch**2)
    acceleration, multipliers = st.constrained_dynamics(model, initial, np.zeros(2), inputs={"torque": torque})
    np.testing.assert_allclose(acceleration, [expected, pitch * expected], rtol=1e-12)
    np.testing.assert_allclose(-multipliers, [load * (9.81 + pitch * expected)], rtol=1e-12)
    traj = st.simulate(model, initial, duration=0.5, dt=0.001, forces={"torque": torque})
    # second order: a step turns the handle by less than 0.03 rad, whose square over 12 is the relative error
    np.testing.assert_allclose(traj["turn"], expected * traj.t**2 / 2, rtol=2e-4, atol=1e-12)
    np.testing.assert_allclose(traj["lift"], pitch * traj["turn"], atol=1e-14)


def test_gear_pair_speeds_and_period():
    model, initial = loaded("gear_pair")
    traj = st.simulate(model, initial, duration=4.0, dt=0.001)
    np.testing.assert_allclose(traj.v[:, 0], -3 * traj.v[:, 1], atol=1e-10 * np.abs(traj.v).max())
    np.testing.assert_allclose(traj["pinion"], -3 * traj["wheel"], atol=1e-13)
    # a pendulum let go level: T = 4 K(sin²(90°/2)) sqrt(I/(m g l)), with the pinion's inertia nine times
    inertia, moment = 0.05 + 1.0 * 0.4**2 + 9 * 0.0006, 1.0 * 9.81 * 0.4
    period = 4 * ellipk(0.5) * np.sqrt(inertia / moment)
    q = traj["wheel"]
    k = np.flatnonzero((q[:-1] > 0) & (q[1:] <= 0))
    crossings = traj.t[k] + q[k] / (q[k] - q[k + 1]) * 0.001
    np.testing.assert_allclose(np.diff(crossings), period, rtol=1e-5)


def test_gears_move_as_one_body():
    """The multiplier is the torque on the wheel: it makes up for what weight alone would do."""
    model, initial = loaded("gear_pair")
    traj = st.simulate(model, initial, duration=1.0, dt=0.001)
    inertia, own = 0.05 + 0.4**2 + 9 * 0.0006, 0.05 + 0.4**2
    weight = -9.81 * 0.4 * np.sin(traj["wheel"])
    torque = own * weight / inertia - weight
    np.testing.assert_allclose(-traj.multipliers[1:, 0], torque[1:-1], atol=2e-3 * np.abs(torque).max())


@pytest.mark.parametrize("rpm", [300, 2100])
def test_cam_follower(rpm):
    model, initial = loaded("cam_follower")
    speed = rpm * 2 * np.pi / 60
    turn = 2 * np.pi / speed
    traj = st.simulate(model, initial, duration=turn, dt=turn / 1000, prescribed={"cam": lambda t: speed * t})
    c, s = np.cos(traj["cam"]), np.sin(traj["cam"])
    place = 0.02 + 0.003 * (1 - c) ** 2
    np.testing.assert_allclose(traj["lift"], place, atol=1e-15)
    # the contact force: m (s'' ω² + g) + k (s - rest)
    force = 0.3 * (0.006 * (c - c**2 + s**2) * speed**2 + 9.81) + 4000 * (place - 0.008)
    np.testing.assert_allclose(-traj.multipliers[1:, 0], force[1:-1], rtol=1e-4, atol=1e-3)


def test_cam_that_turns_freely_conserves_energy():
    model, initial = loaded("cam_follower")
    v0 = moving(model, initial, "cam", 60.0)
    traj = st.simulate(model, initial, v0=v0, duration=1.0, dt=0.0005)
    assert np.ptp(traj["cam"]) > 4 * np.pi
    assert np.abs(traj.energy - traj.energy[0]).max() < 1e-3 * np.ptp(traj.potential)
    np.testing.assert_allclose(traj["lift"], 0.02 + 0.003 * (1 - np.cos(traj["cam"])) ** 2, atol=1e-13)


# The scissor lift


@pytest.fixture(scope="module")
def example():
    spec = importlib.util.spec_from_file_location("scissor_lift", ROOT / "examples" / "scissor_lift.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def one_degree_of_freedom(times, length, segments=5):
    """Independent of the example's: Lagrange's equation in θ, with kinetic energy from the points by differences."""
    n = np.arange(1, segments + 1) - 0.5

    def inertia(theta):
        along, across = np.cos(theta) ** 2, np.sin(theta) ** 2
        links = 2 * np.sum(length**2 * (n**2 * along + across / 4)) + 2 * segments * length**2 / 12
        return links + length**2 * across

    def rate(t, y):
        d = 1e-5
        slope = (inertia(y[0] + d) - inertia(y[0] - d)) / (2 * d)
        force = 2 * 9.81 * length * np.sum(n) * np.cos(y[0])
        return y[1], (force - slope * y[1] ** 2 / 2) / inertia(y[0])

    return solve_ivp(rate, (0, times[-1]), (0.4, 0.0), t_eval=times, method="DOP853", rtol=1e-10, atol=1e-11).y[0]


def test_scissor_lift_file_is_the_example(example):
    model, initial = loaded("scissor_lift_5")
    built, start = example.scissor_lift(5)
    assert initial == pytest.approx(start, abs=1e-15)
    one, other = (st.simulate(m, q, duration=1.0, dt=0.01) for m, q in ((model, initial), (built, start)))
    for name in built.coordinates:
        np.testing.assert_allclose(one[name], other[name], atol=1e-9)


@pytest.mark.parametrize(("length", "tolerance"), [(1.0, 4e-3), (5.0, 1e-3)])
def test_scissor_lift_follows_one_degree_of_freedom(example, length, tolerance):
    model, start = example.scissor_lift(5, length)
    traj = st.simulate(model, start, duration=1.5, dt=0.01)
    exact = one_degree_of_freedom(traj.t, length)
    passed = exact.max() > np.pi / 2
    assert passed == (length == 1.0)  # the fast passage through the singular configuration costs digits
    assert np.abs(traj["left1"] - exact).max() <= tolerance
    np.testing.assert_allclose(example.one_degree_of_freedom(5, traj.t, length), exact, atol=1e-7)


def test_scissor_lift_is_of_second_order(example):
    model, start = example.scissor_lift(5, 5.0)
    errors = []
    for dt in (0.02, 0.01, 0.005):
        traj = st.simulate(model, start, duration=1.4, dt=dt)
        errors.append(np.abs(traj["left1"] - one_degree_of_freedom(traj.t, 5.0)).max())
    np.testing.assert_allclose(np.divide(errors[:-1], errors[1:]), 4, rtol=0.05)


def test_scissor_lift_returns_to_its_energy():
    model, initial = loaded("scissor_lift_5")
    traj = st.simulate(model, initial, duration=10.0, dt=0.01)
    assert traj.constraint_error.max() <= 1e-10
    error = np.abs(traj.energy - traj.energy[0]) / np.abs(traj.energy[0])
    assert error.max() <= 0.05
    assert (traj["left1"].max() > 2.7) and (np.diff(np.sign(traj["left1"] - np.pi / 2)) != 0).sum() == 7
    away = np.abs(traj["left1"] - np.pi / 2) > 0.8
    assert away.sum() > 400
    assert error[away].max() <= 1e-3


# The closed-chain device


def test_closed_chain_device_for_two_minutes():
    model, initial = loaded("closed_chain_device")
    traj = st.simulate(model, initial, duration=120.0, dt=0.01)
    assert traj.constraint_error.max() <= 1e-10
    tenth = len(traj) // 10
    drift = traj.energy[-tenth:].mean() - traj.energy[:tenth].mean()
    assert abs(drift) <= 0.01 * traj.kinetic.max()
    acceleration_level = st.simulate(model, initial, duration=120.0, dt=0.01, method=st.RK4())
    assert acceleration_level.constraint_error.max() > 0.1  # what the variational integrator is for


# Human and marionette


def test_planar_human_hangs_on_its_hands():
    """Mean force on the rungs over a long time is the weight, for the momentum stays bounded."""
    model, initial = loaded("planar_human")
    traj = st.simulate(model, st.assemble(model, initial), duration=20.0, dt=0.005)
    vertical = [i for i, name in enumerate(model.rows) if name.endswith(".1")]
    gained = traj.momentum[-1, 4] - traj.momentum[0, 4]
    weight = 73 * 9.81
    # rows pull towards the hands, b − a: what acts on hands a is the negative
    mean = -traj.multipliers[:, vertical].sum(axis=1).mean()
    assert mean == pytest.approx(weight + gained / 20.0, rel=0.005)
    assert np.abs(traj.energy - traj.energy[0]).max() < 0.02 * np.ptp(traj.kinetic)


def test_marionette_hangs_at_rest():
    """41 degrees of freedom; vertical parts of tensions carry the weight, and damping only takes energy."""
    model, initial = loaded("marionette")
    assert model.nv - len(model.massless) == 41
    q0 = st.assemble(model, initial)
    traj = st.simulate(model, q0, duration=2.0, dt=0.01, prescribed=held(model, q0))
    assert traj.kinetic.max() < 1e-5
    assert np.all(np.diff(traj.energy) < 1e-9)
    forces = dict(zip(traj.prescribed, traj.prescribed_forces[-1], strict=True))
    assert forces["cross z"] == pytest.approx(9.81 * model.mass.sum(), rel=1e-3)
    assert all(force < 0 for name, force in forces.items() if "string" in name)  # strings pull


def test_pulling_a_string_does_work():
    """Power balance: work of the prescribed forces less what the dampers take is the energy gained."""
    model, initial = loaded("marionette")
    q0 = st.assemble(model, initial)
    short = {"left hand string": lambda t: 0.74 - 0.1 * np.sin(np.pi / 2 * t) ** 2}
    traj = st.simulate(model, q0, duration=1.0, dt=0.002, prescribed=held(model, q0) | short)
    names = list(traj.prescribed)
    lengths = np.column_stack([traj[name] for name in names])
    # the force of step k acts at its beginning, so over half of the steps before and after
    steps = np.diff(lengths, axis=0)
    work = np.sum(traj.prescribed_forces[1:] * (steps[1:] + steps[:-1]) / 2)
    rates = {row.v: row.damping for row in model.tables.joint_dampers}
    power = sum(c * traj.v[:, v] ** 2 for v, c in rates.items())
    lost = np.trapezoid(power, traj.t)
    gained = traj.energy[-1] - traj.energy[0]
    assert work > 0.01
    assert gained == pytest.approx(work - lost, rel=5e-3)


def test_scissor_lift_over_a_thousand_seconds():
    """Hundreds of singular passages: it stays on its branch, and the energy comes back after each."""
    model, initial = loaded("scissor_lift_5")
    traj = st.simulate(model, st.assemble(model, initial), duration=1000.0, dt=0.01)
    assert traj.substeps.sum() == 0
    assert traj.constraint_error.max() < 1e-10
    angle, error = traj["left1"], np.abs(traj.energy - traj.energy[0]) / abs(traj.energy[0])
    assert error.max() < 0.05
    assert error[np.abs(angle - np.pi / 2) > 0.4].max() < 1e-3
    np.testing.assert_allclose([angle.min(), angle.max()], [0.4, np.pi - 0.4], atol=1e-5)
