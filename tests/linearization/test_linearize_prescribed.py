"""Derivatives of steps in which coordinates are prescribed: against differences of the steps, rates included."""

import numpy as np
import pytest

import symplectree as st

ACTIONS = ("cayley", "chord", "exp", "midpoint")
DT, H = 0.01, 1e-4  # s; of differences of fourth order, whose rounding is 1e-13 over H


def crane(*, closed=False, gear=False) -> st.Mechanism:
    """A cart x that carries a pendulum on a winch, and beside it an arm whose hand is prescribed."""
    m = st.Mechanism()
    cart = m.world.link("cart", st.Prismatic("x", "x"), mass=2.0)
    rod = cart.link("rod", st.Revolute("swing", "y"), mass=0.5, com=(0.02, 0, -0.4), inertia=(0.02, 0.03, 0.01))
    rod.link("load", st.Prismatic("hoist", "z"), at=(0, 0, -1), mass=1.5, inertia=(0.1, 0.2, 0.1))
    upper = m.world.link("upper", st.Revolute("a", "y"), at=(0, 0, 1), mass=1, com=(0.2, 0, 0), inertia=(0.1, 0.1, 0.1))
    lower = upper.link("lower", st.Revolute("b", "y"), at=(0.5, 0, 0), mass=1, com=(0.2, 0, 0), inertia=(0.1, 0.1, 0.1))
    tip = lower.link("tip", st.Revolute("c", "y"), at=(0.5, 0, 0), mass=0.5, com=(0.1, 0, 0), inertia=(0.1, 0.1, 0.1))
    tip.frame("end", at=(0.5, 0, 0))
    if closed:
        m.world.frame("wall", at=(1.2, 0, 1.3))
        m.add(st.PointConstraint("end", "wall", "xz"))
    if gear:
        m.add(st.GearConstraint("swing", "b", ratio=0.5, eliminate=True))
    return m


def differences(f, x):
    """df/dx (…, n) of fourth order."""
    columns = []
    for e in H * np.eye(len(x)):
        columns.append((8 * (f(x + e) - f(x - e)) - (f(x + 2 * e) - f(x - 2 * e))) / (12 * H))
    return np.stack(columns, axis=-1)


@pytest.mark.parametrize("action", ACTIONS)
@pytest.mark.parametrize("kind", ["free", "closed", "gear"])
def test_rates_follow_where_coordinates_begin_and_end(action, kind):
    model = crane(closed=kind == "closed", gear=kind == "gear").build()
    places = [model.coordinates.index(name) for name in ("x", "hoist", "a")]
    start = {"swing": 0.3, "hoist": 0.1, "a": -0.5, "b": 0.15, "c": 0.4}
    q = st.assemble(model, {name: value for name, value in start.items() if name in model.coordinates})
    v = st.project_velocity(model, q, np.linspace(-1, 1, model.nv))
    p = st.momenta(model, q, v)
    nv, method = model.nv, st.Variational(action, tol=1e-14)
    x = np.concatenate([q, p, np.zeros(nv), q[places] + DT * np.linspace(0.3, 0.9, len(places))])

    def step(x, **options):
        q, p, u, ends = np.split(x, (nv, 2 * nv, 3 * nv))
        given = {model.coordinates[i]: end for i, end in zip(places, ends, strict=True)}
        return st.linearize(model, (q, p), method, DT, forces=u, prescribed=given, **options)

    def state(x):
        lin = step(x)
        return np.concatenate([lin.q, lin.p])

    lin = step(x, order=2)
    first = np.hstack([lin.A, lin.B, lin.by_prescribed])
    along = np.eye(len(x))
    if kind == "closed":  # starts that meet the constraints only: steps from others close them at once
        along = np.delete(along, np.arange(nv), axis=1)
    found = differences(lambda z: state(x + along @ z), np.zeros(along.shape[1]))
    np.testing.assert_allclose(first @ along, found, atol=1e-8 * np.abs(found).max())

    def slopes(z):
        lin = step(x + along @ z)
        return np.hstack([lin.A, lin.B, lin.by_prescribed]) @ along

    found = differences(slopes, np.zeros(along.shape[1]))
    second = np.einsum("iab,ac,bd->icd", lin.second, along, along)
    np.testing.assert_allclose(second, found, atol=1e-7 * np.abs(found).max())
    weights = np.linspace(-1, 1, 2 * nv)
    hessian = step(x, order=2, contract=weights).hessian
    expected = np.einsum("i,ijk->jk", weights, lin.second)
    np.testing.assert_allclose(hessian, expected, atol=1e-9 * np.abs(expected).max())


@pytest.mark.parametrize("action", ACTIONS)
@pytest.mark.parametrize("closed", [False, True])
def test_a_longer_step_is_a_slower_way(action, closed):
    model = crane(closed=closed).build()
    q = st.assemble(model, {"swing": 0.3, "hoist": 0.1, "a": -0.5, "b": 0.15, "c": 0.4})
    p = st.momenta(model, q, st.project_velocity(model, q, np.linspace(-1, 1, model.nv)))
    given = {"x": q[0] + 0.007, "hoist": q[2] - 0.004, "a": q[3] + 0.002}

    def state(dt, **options):
        lin = st.linearize(model, (q, p), st.Variational(action, tol=1e-14), float(dt[0]), prescribed=given, **options)
        return lin if options else np.concatenate([lin.q, lin.p])

    found = differences(state, np.array([DT]))[:, 0]
    D = state(np.array([DT]), parameters=["dt"]).by_parameters[:, 0]
    np.testing.assert_allclose(D, found, atol=1e-5 * np.abs(found).max())  # (H/DT)⁴ and what comes with it
