"""Linearizer.at is linearize, for arrays that are ready and for others."""

import threading

import numpy as np
import pytest

import symplectree as st
from mechanisms import closed_mechanism, planar_chain, random_mechanism, random_state

DT = 0.005
FIELDS = ("q", "p", "multipliers", "A", "B", "multipliers_A", "multipliers_B", "by_prescribed", "by_parameters")


def states():
    """Models with Ball and Free joints, elements, inputs, closed chains, followers; (model, q, p)."""
    for seed, elements in ((1, False), (4, True)):
        model = random_mechanism(seed, 6, elements=elements).build()
        q, v, _ = random_state(model, seed)
        yield model, q, st.momenta(model, q, v)
    model, q, v = closed_mechanism(2, 8)
    yield model, q, st.momenta(model, q, 0.1 * v)
    yield gripper(), np.array([0.3, -0.2, 0.1]), np.array([0.5, 0.2, -0.1])


def gripper() -> st.Model:
    """Five joints, of which the third follows the second, and the fifth follows the third; springs, dampers, motors."""
    m = planar_chain(5)
    m.add(
        st.GearConstraint("q2", "q1", ratio=-0.7, offset=0.1, eliminate=True),
        st.GearConstraint("q4", "q2", ratio=1.5, eliminate=True),
        st.JointSpring("q2", 3.0, rest=0.2), st.JointDamper("q4", 0.4), st.JointDamper("q0", 0.1),
        st.JointForce("q2", "motor"), st.JointForce("q3", "wrist"),
    )  # fmt: skip
    return m.build()


@pytest.mark.parametrize("action", ["cayley", "chord", "exp", "midpoint"])
def test_at_is_linearize(action):
    method = st.Variational(action=action)
    for model, q, p in states():
        linearizer = st.Linearizer(model, method, DT)
        u = np.linspace(0.5, 1, len(model.inputs or model.velocities))
        named = dict(zip(model.inputs or model.velocities, u, strict=True))
        for force, other in ((u, named), (None, {})):
            ready, looked_at = linearizer.at(q, p, force), linearizer.at(list(q), list(p), other)
            by_function = st.linearize(model, (q, p), method, DT, forces=force)
            assert (ready.second, ready.hessian, ready.parameters) == (None, None, ())
            for name in FIELDS:
                a, b, c = (getattr(x, name) for x in (ready, looked_at, by_function))
                assert a.shape == b.shape
                # The order of sums in products of matrices depends on where these lie in memory.
                rounding = 1e-12 * np.abs(a).max(initial=1.0)
                np.testing.assert_allclose(a, b, atol=rounding, err_msg=name)
                np.testing.assert_allclose(a, c, atol=rounding, err_msg=name)


@pytest.mark.parametrize("action", ["cayley", "chord", "exp"])
def test_followers_against_differences_and_rows(action):
    """By the tree's blocks, against differences of steps, and against second derivatives, which go another way."""
    model, method, h = gripper(), st.Variational(action=action), 1e-5
    rng = np.random.default_rng(3)
    q, p, u = 0.5 * rng.normal(size=3), rng.normal(size=3), rng.normal(size=2)
    linearizer = st.Linearizer(model, method, DT)
    at, x = linearizer.at(q, p, u), np.concatenate([q, p, u])

    def end(y):
        step = linearizer.at(y[:3], y[3:6], y[6:])
        return np.concatenate([step.q, step.p])

    slopes = np.array([(end(x + d) - end(x - d)) / (2 * h) for d in h * np.eye(8)]).T
    np.testing.assert_allclose(np.hstack([at.A, at.B]), slopes, atol=1e-7)  # rounding over h
    general = st.linearize(model, (q, p), method, DT, 2, forces=u)
    np.testing.assert_allclose(at.A, general.A, atol=1e-12)
    np.testing.assert_allclose(at.B, general.B, atol=1e-12)
    weights = rng.normal(size=6)  # after first derivatives by blocks
    contracted = st.linearize(model, (q, p), method, DT, 2, forces=u, contract=weights)
    np.testing.assert_allclose(contracted.hessian, np.tensordot(weights, general.second, 1), atol=1e-10)
    by_mass = st.linearize(model, (q, p), method, DT, forces=u, parameters=["link1.mass"])
    assert by_mass.by_parameters.shape == (6, 1) and np.any(by_mass.by_parameters)


def geared(more: float = 0.0) -> st.Model:
    """A floating root with a Ball joint, and six joints, of which three are geared to others by constraints; `more` mass
    on one."""
    m = st.Mechanism()
    link = m.world.link("root", st.Free("root"), mass=2, com=(0.1, 0, 0), inertia=(0.3, 0.2, 0.4))
    link = link.link("hip", st.Ball("hip"), at=(0.2, 0, 0), mass=1, com=(0, 0.1, -0.2), inertia=(0.1, 0.2, 0.1))
    for k in range(6):
        place = {
            "at": (0, 0.1, -0.4),
            "mass": 0.5 + (more if k == 3 else 0),
            "com": (0, 0.05, -0.2),
            "inertia": (0.03, 0.02, 0.01),
        }
        link = link.link(f"l{k}", st.Revolute(f"q{k}", axis="xyz"[k % 3]), **place)
    m.add(
        st.GearConstraint("q1", "q0", ratio=-0.7), st.GearConstraint("q3", "q0", ratio=0.4, offset=0.1),
        st.ScrewConstraint("q4", "q5", pitch=0.8), st.JointSpring("q2", 3.0), st.JointDamper("q1", 0.3),
        st.JointForce("q3", "motor"), st.JointForce("q2", "knee"),
    )  # fmt: skip
    return m.build()


@pytest.mark.parametrize("action", ["cayley", "chord", "exp"])
@pytest.mark.parametrize("off", [0.0, 0.01])
def test_affine_rows_against_the_general_way(action, off):
    """Also from states that break the constraints, to which q' returns; second derivatives take the general way."""
    model, method = geared(), st.Variational(action=action)
    rng = np.random.default_rng(5)
    q = st.assemble(model, st.retract(model, model.neutral, 0.3 * rng.normal(size=model.nv)))
    q = st.retract(model, q, off * rng.normal(size=model.nv))
    p, u = st.momenta(model, q, rng.normal(size=model.nv)), rng.normal(size=2)
    quick = st.Linearizer(model, method, DT).at(q, p, u)
    general = st.linearize(model, (q, p), method, DT, 2, forces=u)
    for name in FIELDS:
        a, b = getattr(quick, name), getattr(general, name)
        np.testing.assert_allclose(a, b, atol=1e-10 * np.abs(b).max(initial=1.0), err_msg=name)
    weights = rng.normal(size=2 * model.nv)
    contracted = st.linearize(model, (q, p), method, DT, 2, forces=u, contract=weights)
    expected = np.tensordot(weights, general.second, 1)
    np.testing.assert_allclose(contracted.hessian, expected, atol=1e-9 * np.abs(expected).max())
    h = 1e-4  # of a mass; differences err by h² of the third derivative, and by rounding over h
    by_mass = st.linearize(model, (q, p), method, DT, forces=u, parameters=["l3.mass"]).by_parameters[:, 0]
    ends = [st.Linearizer(geared(s * h), method, DT).at(q, p, u) for s in (1, -1)]
    change = np.concatenate([st.difference(model, ends[1].q, ends[0].q), ends[0].p - ends[1].p])
    np.testing.assert_allclose(by_mass, change / (2 * h), atol=1e-7 * np.abs(change / h).max())


def test_rows_that_depend_on_each_other_take_the_general_way():
    m = planar_chain(4)
    ratios = {("q1", "q0"): 2.0, ("q2", "q1"): 3.0, ("q2", "q0"): 6.0}
    model = m.add(*(st.GearConstraint(a, b, ratio=r) for (a, b), r in ratios.items())).build()
    q = st.assemble(model, {"q0": 0.1, "q3": 0.3})
    found = st.Linearizer(model, dt=DT).at(q, np.array([0.1, 0, 0, 0.2]))
    assert np.all(np.isfinite(found.A)) and found.multipliers.shape == (3,)


def test_results_are_their_own():
    model = planar_chain(2).build()
    linearizer = st.Linearizer(model, dt=DT)
    first = linearizer.at(np.zeros(2), np.zeros(2))
    kept = first.A.copy()
    linearizer.at(np.ones(2), np.ones(2))
    np.testing.assert_array_equal(first.A, kept)


def test_quaternions_of_any_length():
    m = st.Mechanism()
    m.world.link("b", st.Ball("b"), mass=1, inertia=(1, 2, 3), com=(0, 0, -1))
    linearizer = st.Linearizer(m.build(), dt=DT)
    q = np.array([0.8, 0.1, 0.3, 0.2])
    one, other = linearizer.at(q, np.ones(3)), linearizer.at(3 * q, np.ones(3))
    np.testing.assert_allclose(one.A, other.A, atol=1e-13)
    with pytest.raises(st.ModelError, match="quaternion"):
        linearizer.at(np.zeros(4), np.ones(3))


def test_steps_that_are_halved_and_such_that_have_no_solution():
    model = planar_chain(2).build()
    q, p = np.zeros(2), np.array([900.0, -700.0])
    with pytest.raises(st.ConvergenceError, match="no solution"):
        st.Linearizer(model, st.Variational(action="chord", substeps=0), 0.1).at(q, p)


@pytest.mark.parametrize("arguments, message", [
    ((np.zeros(3), np.zeros(2)), "q"), ((np.zeros(2), np.zeros(1)), "p"), ((np.array([np.nan, 0]), np.zeros(2)), "q0"),
    ((np.zeros(2), np.zeros(2), np.zeros(3)), "shape"), ((np.zeros(2), np.zeros(2), [np.inf, 0]), "not finite"),
    ((np.zeros(2), np.zeros(2), {"q9": 1.0}), "'q9'"), ((np.zeros(2), np.zeros(2), lambda t: 0), "function"),
])  # fmt: skip
def test_bad_arguments_are_told(arguments, message):
    linearizer = st.Linearizer(planar_chain(2).build(), dt=DT)
    with pytest.raises(st.ModelError, match=message):
        linearizer.at(*arguments)


def test_bad_linearizers_are_told():
    model = planar_chain(2).build()
    with pytest.raises(TypeError, match="needs dt"):
        st.Linearizer(model)
    with pytest.raises(st.ModelError, match="dt is -1"):
        st.Linearizer(model, dt=-1)
    with pytest.raises(st.ModelError, match="can be differentiated"):
        st.Linearizer(model, st.RK4(), DT)


def test_threads_may_share_one():
    model = random_mechanism(1, 6).build()
    q, v, _ = random_state(model, 1)
    p, linearizer = st.momenta(model, q, v), st.Linearizer(model, dt=DT)
    expected, wrong = [linearizer.at(q, k * p).A for k in range(4)], []

    def work(k):
        for _ in range(200):
            if not np.array_equal(linearizer.at(q, k * p).A, expected[k]):
                wrong.append(k)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
