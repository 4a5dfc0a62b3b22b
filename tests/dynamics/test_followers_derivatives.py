"""Exact derivatives in independent coordinates against central differences, with affine followers and with cams."""

import numpy as np
import pytest

import symplectree as st
from follower_mechanisms import tree_pair
from symplectree.dynamics.elements import element_second

H = 1e-5  # rounding of differences is about 1e-11 of the function's size, truncation 1e-10 of its third derivative's


@pytest.fixture(scope="module", params=[(seed, curved) for seed in (0, 1, 2) for curved in (False, True)], ids=str)
def pair(request):
    return tree_pair(request.param[0], 8, curved=request.param[1])


def assert_close(given, found):
    np.testing.assert_allclose(given, found, rtol=0, atol=2e-7 * max(1.0, float(np.abs(given).max())))


def along(model, q, function):
    """Derivatives of a function of q along each increment, which is the first index."""
    columns = H * np.eye(model.nv)
    return np.array(
        [(function(st.retract(model, q, d)) - function(st.retract(model, q, -d))) / (2 * H) for d in columns]
    )


def in_velocity(v, function):
    return np.array([(function(v + d) - function(v - d)) / (2 * H) for d in H * np.eye(len(v))])


def test_pose(pair):
    S, q = pair.shared, pair.q
    for frame in ("link3", "link5", "link7"):
        assert_close(st.pose_derivatives(S, q, frame), along(S, q, lambda x, f=frame: st.pose(S, x, f)))
        second = along(S, q, lambda x, f=frame: st.pose_derivatives(S, x, f))
        assert_close(st.pose_derivatives(S, q, frame, 2), np.swapaxes(second, 0, 1))


def test_body_velocity(pair):
    S, q, v = pair.shared, pair.q, pair.v
    found = st.body_velocity_derivatives(S, q, v, "link7")
    assert_close(found.dq, along(S, q, lambda x: st.body_velocity(S, x, v, "link7")))
    assert_close(found.dv, in_velocity(v, lambda x: st.body_velocity(S, q, x, "link7")))
    assert_close(found.dqdv, along(S, q, lambda x: st.body_velocity_derivatives(S, x, v, "link7").dv))
    second = along(S, q, lambda x: st.body_velocity_derivatives(S, x, v, "link7").dq)
    assert_close(found.dqdq, np.swapaxes(second, 0, 1))


def test_lagrangian(pair):
    S, q, v = pair.shared, pair.q, pair.v
    found = st.lagrangian_derivatives(S, q, v)
    assert found.value == pytest.approx(float(st.lagrangian(S, q, v)), rel=1e-13)
    assert_close(found.dq, along(S, q, lambda x: st.lagrangian(S, x, v)))
    assert_close(found.dv, st.momenta(S, q, v))
    assert_close(found.dvdv, st.mass_matrix(S, q))
    assert_close(found.dqdv, along(S, q, lambda x: st.momenta(S, x, v)))
    assert_close(found.dqdq, along(S, q, lambda x: st.lagrangian_derivatives(S, x, v).dq).T)


def test_elements(pair):
    S, q, v = pair.shared, pair.q, pair.v
    u = np.random.default_rng(0).normal(size=len(S.inputs))

    def terms(x, y):
        return st.element_terms(S, None, x, y, inputs=u)

    here, second = terms(q, v), element_second(S, None, q, v, inputs=u)
    assert_close(here.gradient, along(S, q, lambda x: terms(x, v).energy))
    assert_close(here.hessian, along(S, q, lambda x: terms(x, v).gradient).T)
    assert_close(here.force_dq, along(S, q, lambda x: terms(x, v).force).T)
    assert_close(here.force_dv, in_velocity(v, lambda x: terms(q, x).force).T)
    assert_close(second.force_dqdq, np.moveaxis(along(S, q, lambda x: terms(x, v).force_dq), 0, 2))
    assert_close(second.force_dqdv, np.moveaxis(along(S, q, lambda x: terms(x, v).force_dv), 0, 1))
    assert_close(second.force_dvdv, np.moveaxis(in_velocity(v, lambda x: terms(q, x).force_dv), 0, 2))


def test_elements_are_checked_on_all_coordinates(pair):
    S = pair.shared
    for element in S.elements:
        st.check_element(S, str(element.name), samples=1)
