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
    assert pictures.ground[2] < pictures.low[2]


def test_values_that_are_not_finite_are_refused():
    traj = pendulum(0.1, 0.01)
    traj.q[3] = np.nan
    with pytest.raises(st.ModelError, match="not a finite number"):
        film(traj)
