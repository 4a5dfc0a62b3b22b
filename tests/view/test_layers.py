"""Planar linkages: links that touch or cross are in different layers."""

import numpy as np
import pytest

import symplectree as st
from symplectree.view.film import film
from symplectree.view.layers import layers
from symplectree.view.scene import LAYER, scene

FLAT = ("four_bar", "slider_crank", "squeezing_mechanism", "closed_chain_device", "scissor_lift_5")


def visited(name, count=15):
    mechanism = st.load(f"models/{name}.sexp")
    model = mechanism.build()
    q = st.assemble(model, mechanism.initial)
    dt = 1e-4 if name == "squeezing_mechanism" else 0.01
    return model, st.simulate(model, q, duration=count * dt, dt=dt).q


def rods(model, q, picture):
    """Both ends of each rod in the world, with its body."""
    for solid in picture.solids:
        if solid.kind == "capsule":
            T = st.pose(model, q, model.bodies[solid.body]) @ solid.pose
            yield solid.body, T[:3, 3] - solid.size[1] * T[:3, 2], T[:3, 3] + solid.size[1] * T[:3, 2]


def distance(a, b, c, d):
    """Between two segments, by many points of each."""
    s = np.linspace(0, 1, 60)[:, None]
    one, other = a + s * (b - a), c + s * (d - c)
    return np.linalg.norm(one[:, None] - other[None], axis=2).min()


@pytest.mark.parametrize("name", FLAT)
def test_no_two_links_lie_in_each_other(name):
    model, q = visited(name)
    picture = scene(model, q[0], visited=q)
    for row in (0, len(q) // 2, -1):
        found = list(rods(model, q[row], picture))
        for i, (body, a, b) in enumerate(found):
            for other, c, d in found[:i]:
                if body != other:
                    assert distance(a, b, c, d) > 0.99 * LAYER * picture.radius


def test_other_mechanisms_stay_as_they_are():
    marionette = st.load("models/marionette.sexp")
    model = marionette.build()
    assert not layers(model, st.assemble(model, marionette.initial)[None], 1.0).of_body
    m = st.Mechanism()
    a = m.world.link("a", st.Revolute("a", "y"), mass=1, com=(0, 0, -1))
    a.link("b", st.Revolute("b", "y"), at=(0, 0.1, -1), mass=1, com=(0, 0, -1))  # side by side already
    assert not layers(m.build(), np.zeros((1, 2)), 1.0).of_body


def test_pins_go_through_the_links_that_they_join():
    model, q = visited("four_bar")
    picture = scene(model, q[0], visited=q)
    ends = [(a, b) for _, a, b in rods(model, q[0], picture)]
    pins = [solid for solid in picture.solids if solid.name.startswith(("hinge", "constraint"))]
    assert len(pins) == 4
    for pin in pins:
        T = st.pose(model, q[0], model.bodies[pin.body]) @ pin.pose
        low, high = T[:3, 3] - pin.size[1] * T[:3, 2], T[:3, 3] + pin.size[1] * T[:3, 2]
        assert min(distance(a, b, low, high) for a, b in ends) < 1e-2 * picture.size / 60 + 0.3 * picture.radius
    assert np.isfinite(film(st.simulate(model, q[0], duration=0.1, dt=0.01)).camera.position).all()


def test_long_chains_alternate():
    m = st.Mechanism()
    link = m.world
    for i in range(120):
        link = link.link(f"l{i}", st.Revolute(f"j{i}", "y"), at=(0, 0, -1), mass=1, com=(0, 0, -1))
    found = layers(m.build(), np.zeros((1, 120)), 120.0).of_body
    assert all(found[i] != found[i + 1] for i in range(119)) and len(set(found.values())) <= 3
