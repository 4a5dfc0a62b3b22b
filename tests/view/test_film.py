"""Films: which states are shown, and that the camera sees them."""

import numpy as np
import pytest

import symplectree as st
from symplectree.view.camera import camera_for
from symplectree.view.film import film
from symplectree.view.scene import points_of


def pendulum(duration, dt, **options):
    m = st.Mechanism(**options)
    m.world.link("arm", st.Revolute("q", "y"), mass=1, com=(0, 0, -1))
    return st.simulate(m.build(), {"q": 1.0}, duration=duration, dt=dt)


@pytest.mark.parametrize(
    ("duration", "dt", "speed", "count"),
    [
        (2.0, 0.001, 1.0, 61),  # 30 in a second
        (2.0, 0.001, 0.5, 121),
        (2.0, 0.1, 1.0, 21),  # all that there are
        (200.0, 0.01, 1.0, 2000),  # no more than that
        (0.01, 0.01, 1.0, 2),
    ],
)
def test_pictures_are_thinned_out(duration, dt, speed, count):
    pictures = film(pendulum(duration, dt), speed=speed)
    assert len(pictures) == count
    assert pictures.t[0] == 0 and pictures.t[-1] == pytest.approx(duration)
    assert (np.diff(pictures.rows) > 0).all()
    assert np.diff(pictures.t).max() < 1.6 * np.diff(pictures.t).min() + dt


def test_the_nearest_picture():
    pictures = film(pendulum(1.0, 0.1))
    assert [pictures.nearest(t) for t in (-5, 0.04, 0.06, 0.5, 99)] == [0, 0, 1, 5, 10]


@pytest.mark.parametrize("view", [None, "xz", "yz", "xy", (20, 30), (0, 90), (50, -90)])
@pytest.mark.parametrize("gravity", [(0, 0, -9.81), (0, -9.81, 0), (9.81, 0, 0), (0, 0, 0)])
def test_the_camera_sees_all_points(view, gravity):
    rng = np.random.default_rng(1)
    points = rng.normal(size=(50, 3)) * (1, 2, 0.5) + (10, 0, -3)
    camera = camera_for(points, np.array(gravity, dtype=float), view)
    x, y, back = camera.axes @ (points - camera.position).T
    assert (back < 0).all()
    tangent = np.tan(camera.field / 2)
    assert (np.abs(y) < -back * tangent).all() and (np.abs(x) < 1.05 * -back * tangent).all()
    assert max(np.abs(y / back).max(), np.abs(x / back).max() / 1.05) > 0.5 * tangent  # and they fill the picture


def test_flat_mechanisms_are_seen_face_on_with_x_to_the_right():
    pictures = film(pendulum(1.0, 0.01))
    right, up, back = pictures.camera.axes
    assert right[0] > 0.9 and up[2] > 0.9 and back[1] < -0.9


def test_tracks_and_trails_are_where_poses_say(swing):
    pictures = film(swing, trails="tip")
    np.testing.assert_allclose(pictures.trails["tip"], swing.pose("tip")[pictures.rows, :3, 3])
    for place in points_of(pictures.scene.outline):
        assert np.isfinite(pictures.track(place)).all()
    assert pictures.ground.at[2] < pictures.low[2] and not pictures.ground.solid


def test_trails_are_smooth_curves_through_the_pictures():
    """Of a pendulum's end, a circle: between pictures as well as at them, though the run has no states there."""
    m = st.Mechanism()
    arm = m.world.link("arm", st.Revolute("q", "y"), mass=1, com=(0, 0, -1))
    arm.frame("tip", at=(0, 0, -1))
    pictures = film(st.simulate(m.build(), {"q": 2.5}, duration=3, dt=0.05), trails="tip")
    curve = pictures.curves["tip"]
    assert len(curve) == 6 * len(pictures) - 5
    np.testing.assert_allclose(curve[::6], pictures.trails["tip"], atol=1e-12)
    np.testing.assert_allclose(np.linalg.norm(curve, axis=1), 1, atol=2e-3)  # chords of the run's own steps: 0.03 off


def test_what_falls_is_followed_and_what_is_held_is_not(swing):
    m = st.Mechanism()
    m.world.link("box", st.Free("box"), mass=1, inertia=(0.1, 0.2, 0.3))
    model = m.build()
    falling = film(st.simulate(model, model.neutral, duration=3, dt=0.01))
    np.testing.assert_allclose(falling.follow, falling.poses[0][:, :3, 3], atol=1e-12)
    distance = np.linalg.norm(falling.camera.position - falling.camera.look_at)
    assert distance < 10 * falling.scene.size  # a fall of 44 m, and a box of 2 m that fills the picture
    assert not film(swing).follow.any()


def test_there_is_a_ground_where_there_is_gravity():
    assert film(pendulum(1.0, 0.1)).ground is not None
    assert film(pendulum(1.0, 0.1, gravity=(0, 0, 0))).ground is None


@pytest.mark.parametrize("aspect", [0.7, 1.0, 2.0])
def test_the_picture_is_filled_whatever_its_sides(aspect):
    points = np.random.default_rng(2).normal(size=(100, 3)) * (1, 1, 2)
    camera = camera_for(points, np.array([0, 0, -9.81]), (30, 15), aspect=aspect)
    x, y, back = camera.axes @ (points - camera.position).T
    slope = np.tan(camera.field / 2)
    wide, high = np.abs(x / back / slope / aspect).max(), np.abs(y / back / slope).max()
    assert max(wide, high) < 1 and max(wide, high) > 0.85


def test_poses_of_many_bodies_are_those_of_each():
    from mechanisms import random_mechanism
    from symplectree.view import poses

    for seed in range(3):
        model = random_mechanism(seed, 12).build()
        rng = np.random.default_rng(seed)
        q = np.array([st.retract(model, model.neutral, rng.normal(size=model.nv)) for _ in range(4)])
        bodies = [k for k, name in enumerate(model.bodies) if name in model.frame_index]
        plain, before = poses.body_poses(model, q, bodies), poses.MANY
        try:
            poses.MANY = 0
            fast = poses.body_poses(model, q, bodies)
        finally:
            poses.MANY = before
        assert set(plain) == set(fast)
        for body in plain:
            np.testing.assert_allclose(fast[body], plain[body], atol=1e-12)


def test_values_that_are_not_finite_are_refused():
    traj = pendulum(0.1, 0.01)
    traj.q[3] = np.nan
    with pytest.raises(st.ModelError, match="not a finite number"):
        film(traj)
