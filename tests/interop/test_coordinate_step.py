"""The step in plain numbers: against its twin, central differences, rows by themselves, and what it refuses."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import symplectree as st
from control_problems import cart_pole, closed_pendulum, spacecraft
from follower_mechanisms import tree_pair
from mechanisms import JOINTS, MIXED, random_mechanism, random_state
from reference.coordinate_step import number_step
from symplectree.interop.coordinate_step import NumberStep

DT = 0.01
TIGHT = st.Variational(tol=1e-15, substeps=0)


def numbers(model, seed=0, length=1.0):
    """(q, p, u) with quaternions of that length."""
    q, v, _ = random_state(model, seed)
    p = st.momenta(model, q, v)
    for place in model.joints.values():
        if place.joint.nq != place.joint.nv:
            q[place.q.stop - 4 : place.q.stop] *= length
    return q, p, np.random.default_rng(seed).normal(size=len(model.inputs) or model.nv)


@pytest.mark.parametrize("action", ["cayley", "chord", "exp", "midpoint"])
@pytest.mark.parametrize("seed", range(3))
def test_is_its_twin_with_every_joint(action, seed):
    model = random_mechanism(seed, 5, elements=seed == 1, joints=JOINTS if seed else MIXED).build()
    assert model.nq > model.nv
    method = st.Variational(action, tol=1e-15, substeps=0)
    q, p, u = numbers(model, seed, length=1.3)
    q1, p1, J, H = NumberStep(model, DT, method).compute(q, p, u, 2)
    out, first, second = number_step(model, q, p, u, method, DT)
    # the same native step behind both, at quaternions that rounding sets apart: 1e-16 times M/h² of order 1e5
    for a, b in ((np.concatenate([q1, p1]), out), (J, first), (H, second)):
        assert np.allclose(a, b, rtol=0, atol=1e-10 * max(1.0, np.abs(b).max()))


def all_joints():
    return random_mechanism(4, 4, elements=True, joints=("Free", "Revolute", "Ball")).build()


def with_followers():
    return tree_pair(5, 6, curved=True, joints=("Revolute", "Ball", "Prismatic", "Free")).shared


@pytest.mark.parametrize("build", [all_joints, with_followers])
def test_derivatives_are_those_of_differences(build):
    model = build()
    assert model.nq > model.nv
    step = NumberStep(model, DT, TIGHT)
    z = np.concatenate(numbers(model, 1, length=0.8))
    parts = np.cumsum(step.sizes)[:-1]

    def first(z):
        q1, p1, J = step.compute(*np.split(z, parts), 1)
        return np.concatenate([q1, p1]), J

    d, h = np.random.default_rng(0).normal(size=len(z)), 1e-5
    plus, minus = first(z + h * d), first(z - h * d)
    *_, J, H = step.compute(*np.split(z, parts), 2)
    # central differences: truncation h² times third derivatives, rounding 1e-15 / h; both below 1e-8 of the largest
    assert np.allclose((plus[0] - minus[0]) / (2 * h), J @ d, rtol=0, atol=1e-8 * np.abs(J).max())
    assert np.allclose((plus[1] - minus[1]) / (2 * h), H @ d, rtol=0, atol=1e-7 * np.abs(H).max())


@pytest.mark.parametrize("build", [cart_pole, spacecraft, closed_pendulum])
def test_is_linearize_to_the_last_bit(build):
    model = build()
    q = st.assemble(model, random_state(model, 0)[0] * 0.1) if model.rows else model.neutral
    p, u = np.zeros(model.nv), np.full(len(model.inputs) or model.nv, 0.3)
    lin = st.linearize(model, (q, p), TIGHT, DT, forces=u)
    q1, p1 = NumberStep(model, DT, TIGHT).compute(q, p, u, 0)
    assert np.array_equal(q1, lin.q) and np.array_equal(p1, lin.p)


def test_rows_are_those_taken_alone_and_threads_do_not_mix():
    model = random_mechanism(3, 4).build()
    step = NumberStep(model, DT, TIGHT)
    rows = [np.array(x) for x in zip(*(numbers(model, seed) for seed in range(12)), strict=True)]
    shaped = [x.reshape(3, 4, -1) for x in rows]
    together = step.compute(*shaped, 1)
    assert together[2].shape == (3, 4, *step.shapes(1)[2])

    def alone(k):
        return [step.compute(*(x[k] for x in rows), 1) for _ in range(20)]

    with ThreadPoolExecutor(4) as pool:
        for k, taken in enumerate(pool.map(alone, range(12))):
            for result in taken:
                assert all(np.array_equal(a.reshape(12, *b.shape)[k], b) for a, b in zip(together, result, strict=True))


def test_leading_shapes_broadcast():
    model = cart_pole()
    step = NumberStep(model, DT)
    q, p, _ = numbers(model)
    forces = np.linspace(-1, 1, 5)[:, None]
    together, _ = step.compute(q, p, forces, 0)
    assert together.shape == (5, 2)
    assert np.array_equal(together[3], step.compute(q, p, forces[3], 0)[0])
    assert step.compute(q, p, np.empty((0, 1)), 1)[2].shape == (0, 4, 5)


def test_a_failure_is_a_sentence_or_nan():
    model = random_mechanism(3, 4).build()
    q, p, u = numbers(model)
    p[2] = np.nan
    with pytest.raises(st.ModelError, match=f"p of '{model.velocities[2]}' is nan; give finite numbers"):
        NumberStep(model, DT).compute(q, p, u, 0)
    place = next(x for x in model.joints.values() if x.joint.nq != x.joint.nv)
    p[2], q[place.q] = 0, 0
    with pytest.raises(st.ModelError, match="quaternion of length zero"):
        NumberStep(model, DT).compute(q, p, u, 0)
    model = cart_pole()
    fast = np.array([[0.0, 1.0], [0.0, 1e6], [0.0, 2.0]])
    with pytest.raises(st.ConvergenceError, match=r"no solution that 'newton' finds.*smaller dt \(row 1 of 3\)") as e:
        NumberStep(model, 1.0).compute(np.zeros(2), fast, np.zeros(1), 0)
    assert e.value.coordinate in model.velocities and e.value.residual > 0
    for result in NumberStep(model, 1.0, failure="nan").compute(np.zeros(2), fast, np.zeros(1), 2):
        assert np.all(np.isnan(result[1])) and np.all(np.isfinite(result[[0, 2]]))


def test_functions_of_python_have_first_derivatives_only():
    m = st.Mechanism()
    m.world.link("bob", st.Revolute("angle", axis="y"), mass=1.0, com=(0, 0, -1))
    m.add(st.UserPotential(lambda q: 0.5 * q[0] ** 2, lambda q: q))
    step = NumberStep(m.build(), DT)
    _, _, J = step.compute([0.3], [0.1], [0.0], 1)
    h = 1e-6
    ends = [np.concatenate(step.compute([0.3 + d], [0.1], [0.0], 0)) for d in (h, -h)]
    # the element itself is differentiated by central differences, to about nine digits
    assert np.allclose((ends[0] - ends[1]) / (2 * h), J[:, 0], rtol=0, atol=1e-7)
    with pytest.raises(st.ModelError, match="no second derivatives; give it as a formula"):
        step.compute([0.3], [0.1], [0.0], 2)


def test_bad_arguments_are_refused():
    with pytest.raises(st.ModelError, match="failure is 'ignore'; give 'raise' or 'nan'"):
        NumberStep(cart_pole(), DT, failure="ignore")
    with pytest.raises(st.ModelError, match="call build"):
        NumberStep(st.Mechanism(), DT)
    with pytest.raises(st.ModelError, match="positive number of seconds"):
        NumberStep(cart_pole(), -1.0)
