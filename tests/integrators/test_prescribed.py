"""Prescribed coordinates: motion as given, forces that it takes, work that they do."""

import numpy as np
import pytest

import symplectree as st
from mechanisms import planar_chain
from symplectree.lie import quaternion_exp

BAR = {"mass": 1.0, "com": (0, 0, -0.5), "inertia": (0.09, 0.084, 0.01)}
ACTIONS = ("cayley", "chord", "exp")


def pivot(mass: float = 0.0) -> st.Model:
    """A pendulum "a" on a slide "x", which has a mass or none."""
    m = st.Mechanism()
    slide = m.world.link("slide", st.Prismatic("x", "x"), mass=mass)
    slide.link("bob", st.Revolute("a", "y"), **BAR)
    return m.build()


def shake(t):
    return 0.3 * np.sin(3 * t)


def pendulum_on_a_shaken_pivot(times):
    """(I + m l²) a'' = −m g l sin a + m l x'' cos a, by scipy; about y, with the bob along −z."""
    from scipy.integrate import solve_ivp

    def rate(t, y):
        pull = -9.81 * 0.5 * np.sin(y[0]) + 0.5 * -9 * shake(t) * np.cos(y[0])
        return [y[1], pull / (0.084 + 0.25)]

    return solve_ivp(rate, (0, times[-1]), [0.4, 0.0], t_eval=times, rtol=1e-11, atol=1e-11).y


@pytest.mark.parametrize("mass", [0.0, 2.0])
@pytest.mark.parametrize(
    ("method", "order"),
    [
        *((st.Variational(action=a), 2) for a in ACTIONS),
        *((st.Variational(solver=s), 2) for s in ("riqn", "broyden", "dense")),
        (st.Variational(order=4, tol=1e-14), 4),
        (st.Variational(order=6, tol=1e-14), 6),
        (st.Variational(order=8, tol=1e-14), 8),
        (st.RK4(), 4),
        (st.SemiImplicitEuler(), 1),
    ],
)
def test_pendulum_on_a_moving_pivot(method, order, mass):
    model, errors = pivot(mass), []
    dts = {6: (0.1, 0.05), 8: (0.2, 0.1)}.get(order, (0.02, 0.01))
    for dt in dts:
        traj = st.simulate(
            model, {"a": 0.4}, duration=2.0, dt=dt, method=method, prescribed={"x": shake},
        )  # fmt: skip
        np.testing.assert_array_equal(traj["x"], shake(traj.t))
        np.testing.assert_allclose(traj.v[:, 0], 0.9 * np.cos(3 * traj.t), atol=1e-8)
        errors.append(np.abs(traj["a"] - pendulum_on_a_shaken_pivot(traj.t)[0]).max())
    assert errors[0] / errors[1] > 2 ** (order - 0.4)


def test_adaptive():
    traj = st.simulate(
        pivot(), {"a": 0.4}, duration=2.0, dt=0.1, method=st.Adaptive(1e-11, 1e-11), prescribed={"x": shake}
    )
    np.testing.assert_allclose(traj["a"], pendulum_on_a_shaken_pivot(traj.t)[0], atol=1e-7)


@pytest.mark.parametrize("method", [st.RK4(), st.Adaptive(1e-11, 1e-11)])
def test_classical_methods_give_forces_and_multipliers_too(method):
    m = planar_chain(3)
    m.world.frame("peg", at=(1.0, 0, -1.5))
    m.add(st.DistanceConstraint("tip", "peg", 1.8), st.JointForce("q1", "motor"))
    model = m.build()
    q = st.assemble(model, {"q0": 0.2, "q1": 0.3, "q2": 0.1}, fixed=["q0"])
    given = {"duration": 0.4, "dt": 2e-3, "prescribed": {"q0": lambda t: 0.2 + np.sin(t) ** 2}}
    for forces in (None, {"motor": 3.0, "q2": -1.0}, {"motor": np.linspace(0, 9, 200)}):
        one, two = (st.simulate(model, q, **given, forces=forces, method=x) for x in (st.Variational(), method))
        for name in ("multipliers", "prescribed_forces"):
            found, expected = getattr(two, name), getattr(one, name)
            assert found.shape == expected.shape == (200, 1)
            # steps with forces of their own give the mean of two at a state
            np.testing.assert_allclose(found[5:], expected[5:], atol=1e-2 * np.abs(expected).max())
    one, two = (
        st.simulate(model, q, **given, forces=forces, method=method) for forces in (lambda t, q, v: [3.0], [3.0])
    )
    np.testing.assert_allclose(one.multipliers, two.multipliers, rtol=1e-9)
    np.testing.assert_allclose(one.prescribed_forces, two.prescribed_forces, rtol=1e-9)


def test_functions_arrays_and_numbers_are_one():
    model, given = pivot(1.0), {"duration": 1.0, "dt": 0.01}
    one = st.simulate(model, {"a": 0.4}, prescribed={"x": shake}, **given)
    two = st.simulate(model, {"a": 0.4}, prescribed={"x": shake(one.t)}, **given)
    np.testing.assert_allclose(one.q, two.q, atol=1e-6)  # of a spline is the speed at the start
    np.testing.assert_allclose(one.v, two.v, atol=1e-4)
    assert one.prescribed == ("x",)
    still = [st.simulate(model, {"a": 0.4}, prescribed={"x": x}, **given) for x in (0.7, [0.7], np.full(101, 0.7))]
    fixed = st.simulate(planar_chain(1).build(), {"q0": 0.4}, **given)
    for traj in still:
        np.testing.assert_array_equal(traj["x"], 0.7)
        np.testing.assert_array_equal(traj.q, still[0].q)
    assert len(fixed) == len(still[0])


def test_a_held_joint_is_a_fixed_one():
    model = planar_chain(3).build()
    held = st.simulate(model, [0.4, 0.5, 0.6], duration=1.0, dt=0.01, prescribed={"q1": 0.5})
    m, bar = st.Mechanism(), {"mass": 1.0, "com": (0, 0, -0.5), "inertia": (0.084, 0.084, 0.002)}
    first = m.world.link("link0", st.Revolute("q0", "y"), **bar)
    second = first.frame("link1", at=(0, 0, -1), rotate=(0, 0.5, 0), **bar)
    second.link("link2", st.Revolute("q2", "y"), at=(0, 0, -1), **bar)
    stiff = st.simulate(m.build(), [0.4, 0.6], duration=1.0, dt=0.01)
    np.testing.assert_allclose(held.q[:, [0, 2]], stiff.q, atol=1e-3)  # of the same action up to dt²


@pytest.mark.parametrize("action", ACTIONS)
def test_forces_are_those_of_inverse_dynamics(action):
    """A crank at constant speed: forces at the steps' beginnings, up to dt²."""
    model = planar_chain(3).build()
    errors = []
    for dt in (4e-3, 2e-3):
        traj = st.simulate(
            model, [0.1, 0.2, 0.3], duration=0.6, dt=dt, v0=[5, 0, 0], method=st.Variational(action=action, tol=1e-14),
            prescribed={"q0": lambda t: 0.1 + 5 * t},
        )  # fmt: skip
        tight = st.simulate(
            model, [0.1, 0.2, 0.3], v0=[5, 0, 0], duration=0.6, dt=dt, method=st.Variational(order=6),
            prescribed={"q0": lambda t: 0.1 + 5 * t},
        )  # fmt: skip
        a = np.gradient(tight.v, dt, axis=0, edge_order=2)
        tau = st.inverse_dynamics(model, tight.q, tight.v, a)[:-1]
        assert np.abs(tau[1:, 1:]).max() < 0.05 * np.abs(tau[:, 0]).max()  # nothing moves the others
        errors.append(np.abs(traj.prescribed_forces[:, 0] - tau[:, 0])[5:-5].max())
    assert errors[0] / errors[1] > 3.5
    assert errors[1] < 0.02 * np.abs(tau).max()


def test_forces_at_rest_from_the_first_step_on():
    """A held weight takes its weight, in every order, at every step."""
    m = st.Mechanism()
    m.world.link("load", st.Prismatic("z", "z"), mass=2.0)
    model = m.build()
    for order in (2, 4, 6, 8):
        traj = st.simulate(
            model, {}, duration=0.1, dt=0.01, method=st.Variational(order=order), prescribed={"z": lambda t: t**2}
        )
        np.testing.assert_allclose(traj.prescribed_forces, 2 * (9.81 + 2), rtol=1e-6)


@pytest.mark.parametrize("order", [2, 4])
def test_energy_changes_by_the_work_of_the_forces(order):
    model = pivot(1.5)
    errors = []
    for dt in (0.01, 0.005):
        traj = st.simulate(
            model, {"a": 0.4}, duration=2.0, dt=dt, prescribed={"x": shake}, method=st.Variational(order=order)
        )
        power = np.append(traj.prescribed_forces[:, 0] * traj.v[:-1, 0], 0.0)
        k = len(power) // 2  # up to the middle, so that the rule has both its ends
        work = dt * (power[: k + 1].sum() - (power[0] + power[k]) / 2)
        errors.append(abs(traj.energy[k] - traj.energy[0] - work))
        assert np.ptp(traj.energy) > 1
    assert errors[0] / errors[1] > 3.5
    assert errors[1] < 1e-3


@pytest.mark.parametrize("action", ACTIONS)
def test_ball_and_free_joints_as_a_whole(action):
    """A pendulum in a lift: the Free base rises with 3 m/s² and turns about z, a Ball is turned about x."""
    m = st.Mechanism()
    base = m.world.link("base", st.Free("base"), mass=1.0, inertia=(0.1, 0.1, 0.1))
    base.link("bob", st.Revolute("a", "y"), **BAR)
    other = m.world.link("other", st.Ball("ball"), mass=1.0, inertia=(0.1, 0.1, 0.1))
    other.link("arm", st.Revolute("b", "y"), **BAR)
    model = m.build()
    traj = st.simulate(
        model, {"a": 0.4}, duration=1.0, dt=5e-3,
        method=st.Variational(action=action),
        prescribed={
            "base": lambda t: [0, 0, 1.5 * t**2, 1, 0, 0, 0],
            "ball": lambda t: 5 * quaternion_exp(np.array([0.7 * t, 0, 0])),  # any length will do
        },
    )  # fmt: skip
    assert traj.prescribed == (*(f"base.{i}" for i in range(6)), *(f"ball.{i}" for i in range(3)))
    assert traj.prescribed_forces.shape == (200, 9)
    m = st.Mechanism(gravity=(0, 0, -9.81 - 3))
    m.world.link("bob", st.Revolute("a", "y"), **BAR)
    heavy = st.simulate(m.build(), {"a": 0.4}, duration=1.0, dt=5e-3, method=st.Variational(action=action))
    np.testing.assert_allclose(traj["a"], heavy["a"], atol=5e-4)
    place = model.joints["ball"]
    np.testing.assert_allclose(np.linalg.norm(traj.q[:, place.q], axis=1), 1, atol=1e-12)
    np.testing.assert_allclose(traj.v[:, place.v], np.broadcast_to([0.7, 0, 0], (201, 3)), atol=1e-6)


def test_a_string_without_mass_that_is_wound_in():
    """JM09's kinematic strings: a bob on a string whose length is given; swings grow as it is drawn in."""
    m = st.Mechanism()
    m.world.link("bob", st.Planar("bob", "y"), mass=1.0, inertia=(1e-3, 1e-3, 1e-3))
    model = m.add(st.DistanceConstraint("world", "bob", "string")).build()
    with pytest.raises(st.ModelError, match=r"'string' moves no mass.*prescribed=\{'string'"):
        st.simulate(model, {"bob.0": 1.0, "string": 1.0}, duration=1.0, dt=0.01)
    q = st.assemble(model, {"bob.0": 0.5, "bob.1": 0.9, "string": 1.0})
    traj = st.simulate(model, q, duration=2.0, dt=2e-3, prescribed={"string": lambda t: 1 - 0.3 * t})
    assert traj.constraint_error.max() < 1e-12
    lengths = np.linalg.norm(traj.pose("bob")[:, :3, 3], axis=1)
    np.testing.assert_allclose(lengths, 1 - 0.3 * traj.t, atol=1e-12)
    # the string's force is its tension, which the multiplier is too
    np.testing.assert_allclose(traj.prescribed_forces[:, 0], traj.multipliers[:, 0], atol=1e-9)


@pytest.mark.parametrize("save_every", [1, 3, 7])
def test_save_every(save_every):
    m = planar_chain(3)
    m.world.frame("peg", at=(1.0, 0, -1.5))
    model = m.add(st.DistanceConstraint("tip", "peg", 1.8), st.DistanceConstraint("link1", "peg", "wire")).build()
    q = st.assemble(model, {"q0": 0.2, "q1": 0.3, "q2": 0.1, "wire": 1.2})
    given = {"duration": 0.2, "dt": 0.01, "prescribed": {"wire": lambda t: 1.2 - 0.2 * t}}
    every, some = (st.simulate(model, q, **given, save_every=k) for k in (1, save_every))
    kept = [*range(0, 20, save_every), 20]
    np.testing.assert_array_equal(some.q, every.q[kept])
    np.testing.assert_allclose(some.v, every.v[kept], atol=1e-12)
    np.testing.assert_allclose(some.multipliers, every.multipliers[kept[:-1]], atol=1e-9)
    assert some.multipliers.shape == (len(kept) - 1, 2)
    assert some.prescribed_forces.shape == (len(kept) - 1, 1)
    np.testing.assert_array_equal(some.prescribed_forces, every.prescribed_forces[kept[:-1]])
    assert some.constraint_error.shape == (len(kept),)


@pytest.mark.parametrize(
    ("prescribed", "words"),
    [
        ([1, 2], "prescribed is [1, 2]; give a mapping"),
        ({"z": 1}, "no coordinate is named 'z'"),
        ({"x": "up"}, "prescribed 'x' is 'up'"),
        ({"x": [1, 2, 3]}, "prescribed 'x' has shape (3,); give one number, a function of time, or 11 rows"),
        ({"x": np.nan}, "prescribed 'x' holds a value that is not finite"),
        ({"x": lambda t: np.nan}, "prescribed 'x' is"),
        ({"x": lambda t: [1, 2]}, "the function of prescribed 'x' gave [1, 2], not one number"),
        ({"x": lambda: 1}, "the function of prescribed 'x' takes no argument; it is called with (t)"),
        ({"x": lambda t, q: 1}, "the function of prescribed 'x' takes (t, q); it is called with (t)"),
        ({"x": lambda t: "up"}, "the function of prescribed 'x' gave 'up'"),
        ({"ball.0": 1}, "'ball.0' is part of a quaternion; prescribe the whole joint 'ball'"),
        ({"ball": [1, 2, 3]}, "prescribed 'ball' has shape (3,); give 4 numbers"),
        ({"plane": [1, 2, 3], "plane.1": 3}, "coordinate 'plane.1' is prescribed twice"),
        ({3: 1}, "no coordinate is named 3"),
    ],
)
@pytest.mark.parametrize("method", [st.Variational(), st.RK4()])
def test_refusal(prescribed, words, method):
    m = st.Mechanism()
    m.world.link("a", st.Prismatic("x", "x"), mass=1.0)
    m.world.link("b", st.Ball("ball"), mass=1.0, inertia=(1, 1, 1))
    m.world.link("c", st.Planar("plane"), mass=1.0, inertia=(1, 1, 1))
    with pytest.raises(st.ModelError) as raised:
        st.simulate(m.build(), {}, duration=0.1, dt=0.01, prescribed=prescribed, method=method)
    assert words in str(raised.value)


def test_exception_in_a_motion_keeps_the_trajectory():
    def motion(t):
        if t > 0.5:
            raise RuntimeError("no more")
        return 0.1 * t

    for method in (st.Variational(), st.RK4()):
        with pytest.raises(RuntimeError, match="no more") as raised:
            st.simulate(pivot(1.0), {"a": 0.4}, duration=1, dt=0.01, method=method, prescribed={"x": motion})
        assert len(raised.value.trajectory) >= 1


@pytest.mark.parametrize(
    "method", [st.Variational(), st.Variational(order=4), st.Variational("midpoint"), st.RK4(), st.Adaptive()], ids=str
)
def test_motions_are_asked_for_within_the_run_only(method):
    """A table that ends with the run, and a pivot that moves off at once: the pendulum feels its whole speed."""
    asked = []

    def push(t):
        asked.append(t)
        return 0.8 * max(t, 0.0)

    model = pivot()
    traj = st.simulate(model, {}, duration=1.0, dt=0.01, method=method, prescribed={"x": push})
    assert min(asked) == 0 and max(asked) <= traj.t[-1]
    np.testing.assert_allclose(traj.v[[0, -1], 0], 0.8, rtol=1e-9)
    # seen from the pivot, which does not accelerate, the pendulum hangs at rest: so it stays below, but for the
    # rounding of second differences over a tenth of a step, ε/d² = 2e-10 m/s², where a method takes these
    np.testing.assert_allclose(traj["a"], 0, atol=2e-10)


def test_a_jump_is_named():
    m = st.Mechanism()
    a = m.world.link("a", st.Revolute("a", "y"), mass=1, com=(0, 0, -0.5), inertia=(0.1, 0.1, 0.1))
    a.link("b", st.Revolute("b", "y"), at=(0, 0, -1), mass=1, com=(0, 0, -0.5), inertia=(0.1, 0.1, 0.1))
    with pytest.raises(
        st.ConvergenceError, match="prescribed 'b' goes from 0 to 3 within this step: prescribe a motion without"
    ):
        st.simulate(m.build(), {}, duration=0.5, dt=0.01, prescribed={"b": lambda t: 0.0 if t < 0.2 else 3.0})
