"""Increments of configurations: three maps with two derivatives each, against differences, on every joint."""

import numpy as np
import pytest

import symplectree as st
from mechanisms import random_mechanism, random_state
from symplectree.control.charts import Chart, local_function


def bent(function, size, h=1e-3):
    """First and second derivatives of a vector function at zero by five points (truncation h⁴, rounding 1e-16/h²)."""
    E = np.eye(size)

    def along(d):
        a, b, c, e = (function(s * h * d) for s in (1, -1, 2, -2))
        return (8 * (a - b) - c + e) / (12 * h), (16 * (a + b) - c - e - 30 * function(0 * d)) / (12 * h * h)

    first = np.array([along(d)[0] for d in E]).T
    diagonal = [along(d)[1] for d in E]
    second = np.array(
        [[0.5 * (along(E[i] + E[j])[1] - diagonal[i] - diagonal[j]) for j in range(size)] for i in range(size)]
    )
    return first, np.moveaxis(second, 2, 0)


@pytest.fixture(params=[3, 5])
def at(request):
    model = random_mechanism(request.param, 4).build()
    assert model.nq > model.nv
    return model, Chart(model), random_state(model, request.param)[0], random_state(model, 99)[0]


def local(chart, origin, q, weight):
    """e, its derivative, and the second one of weight·e, joint by joint with a quaternion."""
    for place in chart.curved:
        terms = local_function(place.joint.nv)(origin[place.q], q[place.q], weight[place.v])
        yield place.v, *(np.asarray(part) for part in terms)


def test_local_has_exact_derivatives_far_from_its_origin(at):
    model, chart, q, origin = at
    first, second = bent(lambda d: chart.difference(origin, st.retract(model, q, d)), model.nv)
    w = np.random.default_rng(0).normal(size=model.nv)
    for own, e, slope, curved in local(chart, origin, q, w):
        assert np.allclose(e[:, 0], chart.difference(origin, q)[own], rtol=0, atol=1e-12)
        assert np.allclose(slope, first[own, own], rtol=0, atol=1e-8)
        assert np.allclose(curved, np.tensordot(w, second, 1)[own, own], rtol=0, atol=1e-6)


def test_local_at_its_origin(at):
    model, chart, q, _ = at
    for _, e, slope, _ in local(chart, q, q, np.ones(model.nv)):
        assert np.allclose(e, 0, atol=1e-15) and np.allclose(slope, np.eye(len(e)), atol=1e-14)


def test_retracted_is_the_retraction_to_second_order(at):
    import casadi

    model, chart, q, _ = at
    x, xi = casadi.SX.sym("q", model.nq), casadi.SX.sym("xi", model.nv)
    moved = casadi.Function("moved", [x, xi], [chart.retracted(x, xi)])
    d = np.random.default_rng(3).normal(size=model.nv)
    off = [np.abs(np.asarray(moved(q, s * d))[:, 0] - st.retract(model, q, s * d)).max() for s in (1e-2, 1e-3)]
    assert off[1] < 2e-3 * off[0] < 1e-6  # of third order


def test_embed_has_exact_derivatives(at):
    model, chart, q, _ = at
    first, second = bent(lambda d: st.retract(model, q, d), model.nv)
    w = np.random.default_rng(1).normal(size=model.nq)
    assert np.allclose(chart.embed(q), first, rtol=0, atol=1e-9)
    assert np.allclose(chart.embed_second(q, w), np.tensordot(w, second, 1), rtol=0, atol=1e-6)


def test_chart_has_exact_derivatives_for_quaternions_of_any_length(at):
    model, chart, q, _ = at
    raw = np.array(q)
    for place in chart.curved:
        raw[place.q.stop - 4 : place.q.stop] *= 1.3
    first, second = bent(lambda d: chart.difference(q, chart.normalized(raw + d)), model.nq)
    w = np.random.default_rng(2).normal(size=model.nv)
    assert np.allclose(chart.chart(raw), first, rtol=0, atol=1e-8)
    assert np.allclose(chart.chart_second(raw, w), np.tensordot(w, second, 1), rtol=0, atol=1e-6)
