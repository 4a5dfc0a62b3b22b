"""Marks of actuators, and cables."""

import numpy as np

import symplectree as st
from mechanisms import actuated_mechanism
from symplectree.mechanism.shapes import Shape
from symplectree.view.drives import DRIVE_COLOR, RING
from symplectree.view.film import film
from symplectree.view.outline import outline
from symplectree.view.scene import scene


def crane() -> st.Mechanism:
    m = st.Mechanism()
    body = {"mass": 1.0, "com": (0, 0, -0.5), "inertia": (0.1, 0.1, 0.1)}
    arm = m.world.link("arm", st.Revolute("turn", axis=(0, 0.6, 0.8)), **body)
    hand = arm.link("hand", st.Prismatic("reach", "x"), at=(0, 0, -1), **body)
    hand.frame("tip", at=(0.2, 0, -0.4))
    m.world.frame("hook", at=(1, 0, 0))
    return m.add(
        st.PositionServo("turn", kp=3.0, filter=0.1, name="servo"),
        st.Motor("turn", name="second"),
        st.Motor("reach", name="motor"),
        st.Thruster("tip", force=(0, 0, 2), name="jet"),
        st.Cable(("hook", "arm", "tip"), stiffness=1.0, name="cable"),
    )


def marks(model):
    return {solid.name: solid for solid in scene(model, model.neutral).solids if solid.color == DRIVE_COLOR}


def test_each_driven_joint_has_one_mark_along_its_axis():
    model = crane().build()
    found = marks(model)
    assert set(found) == {"drive servo", "drive motor", "drive jet"}  # the second actuator drives what has a mark
    radius = scene(model, model.neutral).radius
    ring, arrow, jet = found.values()
    np.testing.assert_allclose(ring.pose[:3, 2], (0, 0.6, 0.8), atol=1e-12)
    np.testing.assert_allclose(arrow.pose[:3, 2], (1, 0, 0), atol=1e-12)
    np.testing.assert_allclose(jet.pose[:3, 3], (0.2, 0, -0.4), atol=1e-12)
    vertices, faces = ring.triangles
    wide = np.linalg.norm(vertices[:, :2], axis=1)
    assert np.isclose(np.median(wide), RING * radius, rtol=0.2) and faces.max() < len(vertices)
    assert arrow.triangles[0][:, 2].max() > 5 * radius


def test_shapes_of_a_file_take_their_place():
    m = crane()
    m.shapes.append(Shape("arm", "sphere", (0.1,), np.eye(4)))
    assert set(marks(m.build())) == {"drive motor", "drive jet"}


def test_a_cable_is_drawn_in_straight_pieces():
    model = crane().build()
    plan = outline(model)
    assert [(a[0], b[0]) for a, b in plan.strings] == [(-1, 0), (0, 1)]
    assert any(place == (-1, (1.0, 0.0, 0.0)) for place in plan.supports)
    run = st.simulate(model, model.neutral, duration=0.2, dt=0.01)
    assert np.isfinite(film(run).placed).all()


def test_every_kind_of_joint_can_be_driven():
    for seed in range(3):
        model = actuated_mechanism(seed).build()
        found = marks(model)
        assert found and all(np.isfinite(solid.triangles[0]).all() for solid in found.values())
