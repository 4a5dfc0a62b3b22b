"""Actuators, tendons and thrusters: against MuJoCo, their twins, springs and dampers; limits, derivatives, files."""

import numpy as np
import pytest

import symplectree as st
from mechanisms import ACTIONS, JOINTS, MIXED, actuated_mechanism, driven_four_bar, random_state
from reference import dynamics as twin
from refusal import arm, assert_refused
from sexpr_round_trip import assert_round_trip
from symplectree.symbolic import Equations

METHODS = [*(st.Variational(action=action) for action in ACTIONS), st.Variational(order=4), st.RK4()]
FLAT = ("Revolute", "Prismatic", "Cylindrical", "Universal", "Planar")

ARM = """
<mujoco>
  <worldbody>
    <body name="upper">
      <joint name="shoulder" axis="0 1 0"/>
      <inertial pos="0 0 -0.3" mass="1" diaginertia="0.1 0.1 0.1"/>
      <site name="nozzle" pos="0.1 0 -0.2" euler="20 10 0"/>
      <body name="lower" pos="0 0 -1">
        <joint name="elbow" axis="0 1 0"/>
        <inertial pos="0 0 -0.3" mass="0.8" diaginertia="0.08 0.1 0.1"/>
        <body name="hand" pos="0 0 -0.6" gravcomp="0.6">
          <joint name="wrist" axis="1 0 0"/>
          <inertial pos="0.05 0 -0.1" mass="0.3" diaginertia="0.02 0.01 0.02"/>
        </body>
      </body>
    </body>
  </worldbody>
  <tendon>
    <fixed name="band" stiffness="3" damping="0.4" springlength="-0.1 0.3">
      <joint joint="elbow" coef="1"/><joint joint="wrist" coef="-0.5"/>
    </fixed>
  </tendon>
  <actuator>
    <position name="hold" joint="shoulder" kp="40" dampratio="0.7" gear="1.5" forcerange="-7 9"/>
    <general name="rope" tendon="band" gainprm="6" biastype="affine" biasprm="0.2 -6 -1" forcerange="-2 2.5"/>
    <velocity name="spin" joint="wrist" kv="0.4" ctrlrange="-1 1"/>
    <motor name="jet" site="nozzle" gear="1 0 2 0 0.3 0" ctrlrange="0 1.5"/>
    <motor joint="elbow" gear="3"/>
  </actuator>
</mujoco>
"""
CONTROLS = {"hold": 0.6, "rope": 0.9, "spin": 2.5, "jet": 1.1, "elbow": -0.2}


@pytest.fixture(scope="module")
def robot(tmp_path_factory):
    """(path, model) of an arm with every kind of actuator that MJCF and we have."""
    path = tmp_path_factory.mktemp("arm") / "arm.xml"
    path.write_text(ARM)
    return path, st.load(path).build()


def mujoco_end(path, q0, duration, h=1e-4):
    import mujoco

    model = mujoco.MjModel.from_xml_path(str(path))
    model.opt.timestep, model.opt.integrator = h, mujoco.mjtIntegrator.mjINT_RK4
    data = mujoco.MjData(model)
    data.qpos[:], data.ctrl[:] = q0, list(CONTROLS.values())
    reached = np.zeros(model.nu, bool)
    for _ in range(round(duration / h)):
        mujoco.mj_step(model, data)
        reached |= np.isclose(np.abs(data.actuator_force), [7, 2.5, np.inf, np.inf, np.inf]) | np.isclose(
            data.actuator_force, [9, -2, np.inf, np.inf, np.inf]
        )
    assert reached[:2].all()  # limits of force are met
    return data.qpos, data.qvel


def test_moves_as_in_mujoco(robot):
    path, model = robot
    assert model.inputs == tuple(CONTROLS)
    start = np.array([0.9, -0.7, 0.4])
    q, v = mujoco_end(path, start, 0.8)
    bounds = {
        2: 1e-5,
        4: 1e-6,
        8: 1e-6,
    }  # of order 2: its error at 1 ms; of others, that of changing limits within steps
    for order, bound in bounds.items():
        traj = st.simulate(model, start, duration=0.8, dt=0.001, method=st.Variational(order=order), forces=CONTROLS)
        np.testing.assert_allclose(traj.q[-1], q, rtol=0, atol=bound)
        np.testing.assert_allclose(traj.v[-1], v, rtol=0, atol=30 * bound)


def test_the_limit_of_a_joint_is_that_of_its_only_actuator(tmp_path):
    path = tmp_path / "arm.xml"
    path.write_text(
        ARM.replace('name="shoulder"', 'name="shoulder" actuatorfrcrange="-9 6"').replace(
            '<motor name="jet" site="nozzle" gear="1 0 2 0 0.3 0"', '<motor name="jet" joint="elbow"'
        )
    )
    servo = st.load(path).build().elements[1]
    assert servo.force_range == (-6, 4)  # by the gear 1.5; that of the servo itself is -7 to 9


@pytest.mark.parametrize("joints", [JOINTS, MIXED])
@pytest.mark.parametrize("seed", range(4))
def test_dynamics_are_those_of_the_twin(seed, joints):
    model = actuated_mechanism(seed, joints=joints).build()
    q, v, a = random_state(model, seed)
    for scale in (0.1, 1.0, 5.0):
        u = scale * np.random.default_rng(seed).normal(size=len(model.inputs))
        np.testing.assert_allclose(
            st.inverse_dynamics(model, q, v, a, inputs=u), twin.inverse_dynamics(model, q, v, a, u), rtol=0, atol=1e-10
        )
        tau = st.inverse_dynamics(model, q, v, a, inputs=u)
        np.testing.assert_allclose(st.forward_dynamics(model, q, v, tau, inputs=u), a, rtol=0, atol=1e-8)


@pytest.mark.parametrize("seed", range(3))
def test_equations_in_symbols_have_the_limits(seed):
    model = actuated_mechanism(seed, joints=FLAT).build()
    q, v, a = random_state(model, seed)
    found = Equations(model).function("inverse_dynamics")
    for scale in (0.1, 3.0):
        u = scale * np.random.default_rng(seed).normal(size=len(model.inputs))
        expected = st.inverse_dynamics(model, q, v, a, inputs=u)
        np.testing.assert_allclose(np.ravel(found(q, v, a, u, [])), expected, rtol=0, atol=1e-10)


@pytest.mark.parametrize("method", METHODS, ids=str)
def test_a_servo_without_limits_is_a_spring_and_a_damper(method):
    def model(*elements):
        m = arm()
        return m.add(*elements).build()

    servo = model(st.PositionServo("q", kp=30.0, kv=2.0, gear=0.5, name="servo"))
    spring = model(st.JointSpring("q", 7.5, rest=0.8), st.JointDamper("q", 0.5))
    one = st.simulate(servo, {"q": 0.2}, duration=1, dt=0.01, method=method, forces={"servo": 0.4})
    other = st.simulate(spring, {"q": 0.2}, duration=1, dt=0.01, method=method)
    np.testing.assert_allclose(one.q, other.q, rtol=0, atol=1e-12)
    swinging = arm().build()  # the servo's energy is the supply's
    np.testing.assert_allclose(
        one.energy, st.kinetic_energy(swinging, one.q, one.v) + st.potential_energy(swinging, one.q)
    )


@pytest.mark.parametrize("method", [st.Variational(), st.Variational(action="midpoint"), st.Variational(action="exp")])
def test_second_order_where_limits_are_reached_and_left(method, robot):
    _, model = robot
    start = [0.9, -0.7, 0.4]

    def end(dt, method=method):
        return st.simulate(model, start, duration=0.8, dt=dt, method=method, forces=CONTROLS).q[-1]

    exact = end(0.01, st.Adaptive(rtol=1e-12, atol=1e-12))
    errors = [np.abs(end(dt) - exact).max() for dt in (0.008, 0.004, 0.002, 0.001)]
    slope = np.polyfit(np.log([8, 4, 2, 1]), np.log(errors), 1)[0]
    assert 1.7 < slope < 2.6


@pytest.mark.parametrize("action", ACTIONS)
@pytest.mark.parametrize(("seed", "joints"), [(0, JOINTS), (1, MIXED), (2, FLAT)])
def test_derivatives_of_steps_at_and_off_limits(action, seed, joints):
    model = actuated_mechanism(seed, joints=joints).build()
    method, h = st.Variational(action=action, tol=1e-14), 0.005
    q, v, _ = random_state(model, seed)
    p = st.momenta(model, q, v)
    for scale in (0.2, 4.0):
        u = scale * np.random.default_rng(seed).normal(size=len(model.inputs))

        def after(d, q=q, p=p, u=u):
            dq, dp, du = np.split(d, [model.nv, 2 * model.nv])
            step = st.linearize(model, (st.retract(model, q, dq), p + dp), method, h, forces=u + du)
            return step.q, step.p

        step = st.linearize(model, (q, p), method, h, forces=u)
        columns = np.eye(2 * model.nv + len(u)) * 1e-5
        found = []
        for d in columns:
            (q1, p1), (q2, p2) = after(d), after(-d)
            found.append(np.r_[st.difference(model, q2, q1), p1 - p2] / 2e-5)
        size = max(1.0, np.abs(step.A).max())
        np.testing.assert_allclose(np.c_[step.A, step.B], np.array(found).T, rtol=0, atol=1e-7 * size)


def test_second_derivatives(robot):
    _, model = robot
    q, p, u = np.array([0.9, -0.7, 0.4]), np.array([0.1, 0.2, -0.1]), np.array(list(CONTROLS.values()))
    weights = np.array([0.3, -1.0, 0.5, 0.7, 0.2, -0.4])
    method = st.Variational(tol=1e-14)
    exact = st.linearize(model, (q, p), method, 0.01, forces=u, order=2, contract=weights).hessian

    def gradient(x):
        step = st.linearize(model, (x[:3], x[3:6]), method, 0.01, forces=x[6:])
        return weights @ np.c_[step.A, step.B]

    x = np.r_[q, p, u]
    found = [(gradient(x + d) - gradient(x - d)) / 2e-5 for d in 1e-5 * np.eye(len(x))]
    np.testing.assert_allclose(exact, np.array(found), rtol=0, atol=1e-7)


@pytest.mark.parametrize("method", METHODS[:5], ids=str)
def test_a_state_at_a_limit_goes_on_bit_for_bit(method, robot):
    _, model = robot
    stepper = st.Stepper(model, method, 0.002)
    stepper.reset([0.9, -0.7, 0.4])
    for _ in range(60):
        stepper.step(CONTROLS)
    saved = stepper.state
    stepper.step(CONTROLS, n=200)
    end = stepper.q.copy()
    other = st.Stepper(model, method, 0.002)
    other.restore(saved)
    other.step(CONTROLS, n=200)
    assert np.array_equal(other.q, end)


def test_a_run_resumes_bit_for_bit(robot, tmp_path):
    _, model = robot
    options = {"dt": 0.002, "forces": CONTROLS}
    whole = st.simulate(model, [0.9, -0.7, 0.4], duration=0.8, **options)
    st.simulate(model, [0.9, -0.7, 0.4], duration=0.2, **options, out=tmp_path / "run.nc")
    resumed = st.resume(tmp_path / "run.nc", duration=0.8, model=model)
    assert np.array_equal(resumed.q[-1], whole.q[-1])


def test_a_force_function_sets_controls_by_name(robot):
    _, model = robot
    constant = st.simulate(model, [0.9, -0.7, 0.4], duration=0.5, dt=0.002, forces=CONTROLS)
    asked = st.simulate(model, [0.9, -0.7, 0.4], duration=0.5, dt=0.002, forces=lambda t, q, v: CONTROLS)
    np.testing.assert_allclose(asked.q, constant.q, rtol=0, atol=1e-10)


def test_the_power_of_all_actuators_is_what_the_energy_gains(robot):
    _, model = robot
    start = [0.9, -0.7, 0.4]
    traj = st.simulate(model, start, duration=0.5, dt=0.0005, method=st.Variational(order=8), forces=CONTROLS)
    power = sum(traj.sensor(st.ActuatorPower(name, name)) for name in CONTROLS)
    assert traj.sensor(st.ActuatorForce("force", "rope")).max() == 2.5  # its limit
    band = traj.v @ [0, 1, -0.5]
    carried = traj.pose("hand.centre")[:, 2, 3] * 0.6 * 0.3 * 9.81  # work of what carries the hand
    gained = np.trapezoid(power - 0.4 * band**2, traj.t) + carried[-1] - carried[0]
    np.testing.assert_allclose(traj.energy[-1] - traj.energy[0], gained, rtol=0, atol=1e-4)  # of the trapezium rule


def test_a_servo_holds_a_closed_chain():
    m = driven_four_bar()
    m.add(st.PositionServo("crank", kp=400.0, kv=60.0, force_range=(-80, 80), name="servo"))
    model = m.build()
    q0 = st.assemble(model, {"crank": -1.0, "coupler": 1.0, "rocker": 1.0})
    traj = st.simulate(model, q0, duration=4, dt=0.005, forces={"servo": -1.4})
    assert traj.constraint_error.max() < 1e-12
    acceleration, _ = st.constrained_dynamics(model, traj.q[-1], traj.v[-1], inputs=np.array([-1.4]))
    assert np.abs(acceleration).max() < 1e-4  # at rest
    assert abs(traj["crank"][-1] + 1.4) < 0.1  # but for the weight, which a spring does not carry without giving way


def test_limits_hold_at_any_gain():
    """A servo so stiff that it is always at its limit but near the target pushes with just this force."""
    model = (
        arm(gravity=(0, 0, 0)).add(st.PositionServo("q", kp=1e7, kv=1e5, force_range=(-3, 3), name="servo")).build()
    )  # inertia 1 + 1·1² = 2 kg·m²
    traj = st.simulate(model, {"q": 0.0}, duration=0.5, dt=0.001, forces={"servo": 1.0})
    np.testing.assert_allclose(traj["q"], 0.5 * 3 / 2 * traj.t**2, rtol=0, atol=1e-8)  # cayley turns by 2 tan⁻¹(ωh/2)


@pytest.mark.parametrize("seed", range(3))
def test_files_hold_them(seed):
    assert_round_trip(actuated_mechanism(seed))


@pytest.mark.parametrize(
    ("element", "words"),
    [
        (st.Motor("knee", name="m"), ("Motor 'm'", "knee")),
        (st.Motor(3, name="m"), ("Motor 'm'", "coordinate is 3", "give a name")),
        (st.Motor(("q", None), name="m"), ("Motor 'm'", "give a name")),
        (st.Motor("q", gear=0, name="m"), ("Motor 'm'", "gear is zero")),
        (st.Motor("q", gear=(1, 2), name="m"), ("2 gears for 1",)),
        (st.Motor(("q", "q"), gear=(1, 2), name="m"), ("twice",)),
        (st.Motor((), name="m"), ("no coordinate",)),
        (st.Motor("q", control_range=(1, -1), name="m"), ("control_range", "not below")),
        (st.Motor("q", force_range=3, name="m"), ("force_range is 3",)),
        (st.PositionServo("q", kp=np.nan, name="m"), ("kp", "finite")),
        (st.VelocityServo("q", kv="fast", name="m"), ("kv", "'fast'")),
        (st.Actuator("q", bias=(1, 2), name="m"), ("bias", "three numbers")),
        (st.Thruster("arm", force=(0, 0, 0), name="m"), ("zero",)),
        (st.Thruster("world", name="m"), ("fixed to the world",)),
        (st.Thruster("arm", force=(1, 2), name="m"), ("three numbers",)),
        (st.Tendon(("q",), coefficients=(1,), name="m"), ("neither stiffness nor damping",)),
        (st.Tendon(("q",), coefficients=(1, 2), stiffness=1, name="m"), ("as many coefficients",)),
        (st.Tendon(("q",), coefficients=(1,), stiffness=1, rest=(2, 1), name="m"), ("rest",)),
    ],
)
def test_bad_input_is_refused_by_name(element, words):
    assert_refused(arm().add(element), *words)


def test_a_ball_joint_has_no_length_to_hold():
    m = arm(st.Ball("q")).add(st.PositionServo("q.0", kp=1, name="servo"))
    assert_refused(m, "servo", "Ball or Free")


def test_no_step_is_compiled_with_limits():
    model = arm().add(st.Motor("q", force_range=(-1, 1), name="motor")).build()
    with pytest.raises(st.ModelError, match="'motor' has limits"):
        model.compile()


def test_a_given_accuracy_holds_where_limits_are_reached_and_left():
    model = st.loads(
        ARM.replace('springlength="-0.1 0.3"', ""), "mjcf"
    ).build()  # a spring that bends is not looked for
    options = {"duration": 0.8, "dt": 0.02, "forces": CONTROLS}
    exact = st.simulate(model, [0.9, -0.7, 0.4], **options, method=st.Adaptive(rtol=1e-12, atol=1e-12))
    for accuracy, bound in ((1e-6, 1e-7), (1e-10, 1e-9)):
        near = st.simulate(model, [0.9, -0.7, 0.4], **options, method=st.Variational(accuracy=accuracy))
        np.testing.assert_allclose(near.q, exact.q, rtol=0, atol=bound)


@pytest.mark.parametrize("method", [*(st.Variational(order=k) for k in (4, 6, 8, 16)), st.Variational(accuracy=1e-8)])
@pytest.mark.parametrize("dt", [0.001, 0.01])
def test_an_arm_that_servos_hold_comes_to_rest(method, dt):
    """At rest large forces cancel, and what they leave is rounding: no method may look for more."""
    m = st.Mechanism()
    link = m.world
    for i in range(4):
        body = {"mass": 4.0 / (i + 1), "com": (0.2, 0, 0.1), "inertia": (0.02, 0.03, 0.02)}
        link = link.link(f"link{i}", st.Revolute(f"q{i}", axis="zyyx"[i]), at=(0.1, 0, 0.3), **body)
        m.add(st.PositionServo(f"q{i}", kp=2000.0, kv=400.0, force_range=(-150, 150), name=f"servo{i}"))
    controls = {"servo0": -1.57, "servo1": -1.2, "servo2": 1.57, "servo3": 0.5}
    start = {name.replace("servo", "q"): u for name, u in controls.items()}
    traj = st.simulate(m.build(), start, duration=3, dt=dt, method=method, forces=controls)
    assert np.abs(traj.v[-1]).max() < 1e-6
    assert 1e-4 < np.abs(traj.q[-1] - traj.q[0]).max() < 0.1
