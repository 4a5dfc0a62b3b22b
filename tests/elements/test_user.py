"""Elements of the user's own give the motion of the built-in ones that they imitate."""

import gc
import subprocess
import sys
import textwrap
import weakref

import numpy as np
import pytest

import symplectree as st
from mechanisms import planar_chain, random_mechanism
from refusal import assert_refused

METHODS = [
    st.Variational(),
    st.Variational("chord"),
    st.Variational("exp"),
    st.Variational("midpoint"),
    st.Variational(solver="dense"),
    st.Variational(order=4),
    st.RK4(),
]


def double_pendulum() -> st.Mechanism:
    m = st.Mechanism()
    upper = m.world.link("upper", st.Revolute("a", axis="y"), mass=1, com=(0, 0, -0.5), inertia=(0.1, 0.1, 0.01))
    upper.link("lower", st.Revolute("b", axis="y"), at=(0, 0, -1), mass=1, com=(0, 0, -0.5), inertia=(0.1, 0.1, 0.01))
    return m


@pytest.mark.parametrize("method", METHODS, ids=str)
def test_potential_as_joint_spring(method):
    own = st.UserPotential(
        lambda q: 3 * (q[0] - 0.2) ** 2, lambda q: [6 * (q[0] - 0.2)], hessian=lambda q: [[6.0]], coordinates=["b"]
    )
    runs = [
        st.simulate(double_pendulum().add(e).build(), [1.0, 0.5], duration=0.5, dt=0.01, method=method)
        for e in (own, st.JointSpring("b", 6, rest=0.2))
    ]
    np.testing.assert_allclose(runs[0].q, runs[1].q, atol=1e-10)
    np.testing.assert_allclose(runs[0].energy, runs[1].energy, atol=1e-9)


@pytest.mark.parametrize("method", METHODS, ids=str)
def test_force_as_joint_damper(method):
    own = st.UserForce(lambda q, v: [-0.7 * v[0], -0.7 * v[1]], dv=lambda q, v: -0.7 * np.eye(2))
    built_in = (st.JointDamper("a", 0.7), st.JointDamper("b", 0.7))
    runs = [
        st.simulate(double_pendulum().add(*e).build(), [1.0, 0.5], duration=0.5, dt=0.01, method=method)
        for e in ((own,), built_in)
    ]
    np.testing.assert_allclose(runs[0].q, runs[1].q, atol=1e-9)


@pytest.mark.parametrize("method", METHODS, ids=str)
def test_constraint_as_gear(method):
    own = st.UserConstraint(lambda q: 2 * q[1] - q[0], lambda q: [[-1.0, 2.0]], coordinates=["a", "b"])
    runs = [
        st.simulate(double_pendulum().add(e).build(), [1.0, 0.5], duration=0.5, dt=0.01, method=method)
        for e in (own, st.GearConstraint("b", "a", ratio=2))
    ]
    np.testing.assert_allclose(runs[0].q, runs[1].q, atol=1e-8)
    np.testing.assert_allclose(runs[0].multipliers, runs[1].multipliers, atol=1e-6)


def test_nonlinear_constraint_in_the_classical_methods():
    """A bead on the circle x² + z² = 1 is a pendulum."""
    m = st.Mechanism()
    m.world.link("x", st.Prismatic("x", axis="x")).link("z", st.Prismatic("z", axis="z"), mass=1)
    m.add(st.UserConstraint(lambda q: q @ q - 1, lambda q: 2 * q))
    model = m.build()
    q0 = [np.sin(0.8), -np.cos(0.8)]
    pendulum = st.Mechanism()
    pendulum.world.link("arm", st.Revolute("angle", axis="y"), mass=1, com=(0, 0, -1))
    exact = st.simulate(pendulum.build(), [-0.8], duration=2, dt=0.01, method=st.Adaptive(1e-12, 1e-12))
    for method, tolerance in ((st.RK4(), 1e-6), (st.Variational(), 1e-3), (st.Variational(order=4), 1e-6)):
        traj = st.simulate(model, q0, duration=2, dt=0.01, method=method)
        np.testing.assert_allclose(traj["x"], -np.sin(exact["angle"]), atol=tolerance)


def test_newton_stays_quadratic_with_strong_own_damping():
    own = st.UserForce(
        lambda q, v: -30 * np.array([v[0] + 0.5 * v[1], 0.5 * v[0] + v[1]]),
        dv=lambda q, v: -30 * np.array([[1, 0.5], [0.5, 1]]),
    )
    traj = st.simulate(double_pendulum().add(own).build(), [1.0, 0.5], v0=[3, -2], duration=1, dt=0.02)
    assert traj.iterations[3:].max() <= 2  # after the first steps' coarse guesses


def test_all_of_them_on_every_joint():
    """A potential of all coordinates of a tree with quaternions, with derivatives along increments by differences."""
    m = random_mechanism(3, 10)
    target = np.linspace(-1, 1, m.build().nq)
    model = m.build()

    def value(q):
        return float(np.sum(np.sin(q + target)))

    def gradient(q):
        step = 1e-6
        return [
            (value(st.retract(model, q, d)) - value(st.retract(model, q, -d))) / (2 * step)
            for d in step * np.eye(model.nv)
        ]

    own = random_mechanism(3, 10).add(st.UserPotential(value, gradient, name="own")).build()
    st.check_element(own, "own", samples=2, tolerance=1e-3)


def test_wrong_derivatives_are_found():
    wrong = [
        st.UserPotential(lambda q: q[0] ** 2, lambda q: [q[0]], coordinates=["a"], name="e"),
        st.UserForce(lambda q, v: [-(v[0] ** 3)], dv=lambda q, v: [[-1.0]], coordinates=["a"], name="e"),
        st.UserConstraint(lambda q: q[0] - q[1], lambda q: [1, 1], name="e"),
    ]
    for element in wrong:
        with pytest.raises(AssertionError, match="'e'"):
            st.check_element(double_pendulum().add(element).build(), "e")


@pytest.mark.parametrize(
    ("element", "words"),
    [
        (st.UserPotential(3, lambda q: q, name="e"), ["'e'", "value", "give a function"]),
        (st.UserPotential(lambda q: 1, None, name="e"), ["'e'", "first derivative"]),
        (st.UserConstraint(lambda q: 0, lambda q: 0, rows=0, name="e"), ["'e'", "rows is 0"]),
        (st.UserForce(lambda q, v: 0, coordinates=["nobody"], name="e"), ["'e'", "'nobody'"]),
        (st.UserForce(lambda q, v: 0, coordinates=["a", "a"], name="e"), ["'e'", "twice"]),
        (st.UserForce(lambda q, v: 0, coordinates=[3], name="e"), ["'e'", "list of names"]),
    ],
)
def test_bad_input(element, words):
    assert_refused(double_pendulum().add(element), *words)


def test_what_functions_return_is_checked():
    m = double_pendulum().add(st.UserForce(lambda q, v: [1, 2, 3], name="e"))
    with pytest.raises(st.ModelError, match=r"'e'.*give 2 numbers"):
        st.simulate(m.build(), [0, 0], duration=1, dt=0.01)


def test_what_functions_raise_comes_through_with_the_trajectory():
    def late(q, v):
        if q[0] > 0.5:
            raise ZeroDivisionError("too far")
        return [5.0, 0.0]

    m = double_pendulum().add(st.UserForce(late, name="e"))
    for method in (st.Variational(), st.RK4()):
        with pytest.raises(ZeroDivisionError, match="too far") as caught:
            st.simulate(m.build(), [0, 0], duration=5, dt=0.01, method=method)
        assert len(caught.value.trajectory) > 3


def test_a_potential_that_is_no_number_is_told():
    m = planar_chain(1)
    model = m.add(st.UserPotential(lambda q: np.nan, lambda q: 0 * q, name="odd")).build()
    traj = st.simulate(model, [0.3], duration=0.1, dt=0.01)
    with pytest.warns(UserWarning, match=r"'odd'.*value gave nan"):
        _ = traj.energy


@pytest.mark.parametrize(
    ("element", "words"),
    [
        (st.UserForce(value=lambda q: [1], coordinates=["q0"], name="e"), r"the value takes \(q\); .* \(q, v\)"),
        (st.UserPotential(lambda: 0, lambda q: [0], coordinates=["q0"], name="e"), r"the value takes no argument"),
        (st.UserPotential(lambda q: 0, lambda q, v: [0], coordinates=["q0"], name="e"), r"the first derivative takes"),
    ],
)  # fmt: skip
def test_functions_of_other_arguments_are_refused_when_the_model_is_built(element, words):
    with pytest.raises(st.ModelError, match=rf"'e': {words}"):
        planar_chain(1).add(element).build()


def test_scripts_with_own_functions_leave_nothing_behind():
    """Functions at the top of a script know its names, the model among them: a ring that the collector has to see."""
    script = """
        import symplectree as st
        m = st.Mechanism()
        m.world.link("cart", st.Prismatic("x", axis="x"), mass=1.0)
        m.add(st.UserPotential(lambda q: q[0] ** 2, lambda q: [2 * q[0]], coordinates=["x"]))
        model = m.build()
        traj = st.simulate(model, {"x": 0.3}, duration=0.1, dt=0.01, forces=lambda t, q, v: -v)
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(script)], capture_output=True, text=True, check=True)
    assert done.stderr == ""


def test_models_that_their_own_functions_know_are_collected():
    def used():
        m, known = st.Mechanism(), []
        m.world.link("cart", st.Prismatic("x", axis="x"), mass=1.0)
        m.add(st.UserForce(lambda q, v: [-len(known) * v[0]], coordinates=["x"]))
        known.append(m.build())
        st.simulate(known[0], {"x": 0.3}, duration=0.1, dt=0.01)
        return weakref.ref(known[0])

    gone = used()
    gc.collect()
    assert gone() is None
