"""Constraint rows, their derivatives, and constrained accelerations, on random trees with every joint and constraint."""

import numpy as np
import pytest

import symplectree as st
from mechanisms import random_mechanism, random_state


def constrained_mechanism(seed: int, n: int = 12, count: int = 6) -> st.Mechanism:
    """A random tree with random constraints of every kind; they are not satisfied, which derivatives do not mind."""
    rng = np.random.default_rng(seed)
    m = random_mechanism(seed, n, elements=True)
    names = [f.name for f in m.tree]
    body_of = dict(zip(m.build().frames, m.build().frame_body, strict=True))
    plain = [place.joint.name for place in m.build().joints.values() if place.joint.nq == place.joint.nv == 1]

    def pair() -> tuple[str, str]:
        while True:
            a, b = rng.choice([*names, "world"], 2)
            if body_of[a] != body_of[b]:
                return str(a), str(b)

    makers = [
        lambda: st.PointConstraint(*pair(), "xz", frame=str(rng.choice(names))),
        lambda: st.PointConstraint(*pair(), [rng.normal(size=3)]),
        lambda: st.DistanceConstraint(*pair(), 0.7),
        lambda: st.PlaneConstraint(*pair(), normal="y"),
        lambda: st.WeldConstraint(*pair()),
        lambda: st.HingeConstraint(*pair(), axis=(0.6, 0, 0.8)),
        lambda: st.JointConstraint(*pair(), st.Universal("u")),
    ]
    if len(plain) >= 2:
        makers += [
            lambda: st.GearConstraint(*map(str, rng.choice(plain, 2, replace=False)), ratio=-2.5),
            lambda: st.ScrewConstraint(*map(str, rng.choice(plain, 2, replace=False)), pitch=0.1),
            lambda: st.CamConstraint(
                *map(str, rng.choice(plain, 2, replace=False)), profile=lambda x: np.sin(x) + x**2
            ),
            lambda: st.DistanceConstraint(*pair(), str(rng.choice(plain))),
        ]
    for k in rng.choice(len(makers), count, replace=count > len(makers)):
        m.add(makers[k]())
    return m


@pytest.mark.parametrize("seed", range(12))
def test_jacobian_is_the_derivative(seed):
    model = constrained_mechanism(seed).build()
    q, _, _ = random_state(model, seed)
    step = 1e-6
    found = [
        (
            st.constraint_values(model, st.retract(model, q, step * e))
            - st.constraint_values(model, st.retract(model, q, -step * e))
        )
        / (2 * step)
        for e in np.eye(model.nv)
    ]
    G = st.constraint_jacobian(model, q)
    np.testing.assert_allclose(G, np.transpose(found), atol=1e-7 * (1 + np.abs(G).max()))


@pytest.mark.parametrize("seed", range(20))
def test_accelerations_solve_the_full_system(seed):
    model = constrained_mechanism(seed, count=3).build()
    q, v, tau = random_state(model, seed)
    a, multipliers = st.constrained_dynamics(model, q, v, tau)
    M, G = st.mass_matrix(model, q), st.constraint_jacobian(model, q)
    bias = st.bias_forces(model, q, v)
    np.testing.assert_allclose(
        M @ a + bias, tau + G.T @ multipliers, rtol=1e-9, atol=1e-8 * (np.abs(bias).max() + np.abs(multipliers).max())
    )
    # d²h/dt² = 0 along the motion, as far as the rows are independent: compare with differences of dh/dt
    step = 1e-5

    def rate(s: float) -> np.ndarray:
        d = s * v + 0.5 * s * s * a  # increments; Ball and Free: velocity stays v + s a to second order
        return st.constraint_jacobian(model, st.retract(model, q, d)) @ (v + s * a)

    change = (rate(step) - rate(-step)) / (2 * step)
    if np.linalg.matrix_rank(G, tol=1e-8) == len(G):
        np.testing.assert_allclose(
            change, 0, atol=1e-5 * (1 + np.abs(a).max() + np.abs(v).max() ** 2) * (1 + np.abs(G).max())
        )


@pytest.mark.parametrize("seed", range(20))
def test_velocities_are_projected_in_the_kinetic_metric(seed):
    model = constrained_mechanism(seed, count=3).build()
    q, v, _ = random_state(model, seed)
    w = st.project_velocity(model, q, v)
    M, G = st.mass_matrix(model, q), st.constraint_jacobian(model, q)
    np.testing.assert_allclose(G @ w, 0, atol=1e-9 * (1 + np.abs(G).max() * np.abs(v).max()))
    basis = np.linalg.svd(G)[2][np.linalg.matrix_rank(G, tol=1e-10) :]
    np.testing.assert_allclose(basis @ M @ (w - v), 0, atol=1e-8 * np.abs(M @ v).max())
