"""Linkages in space and rolling bodies whose motion is known in closed form."""

import numpy as np
import pytest

import symplectree as st
from formulas import ellipsoid

CUBE = np.array([(0, 0, 0), (1, 0, 0), (1, 1, 0), (1, 1, 1), (0, 1, 1), (0, 0, 1)], dtype=float)
AXES = "yzxyzx"  # of the hinges at these corners
SIGNS = np.array([-1, 1, 1, -1, 1, 1])  # does the angle between neighbouring edges grow with the hinge's?


def bricard():
    """Bricard's linkage of the IFToMM library (A04): five rods and the ground, along six edges of a cube."""
    m = st.Mechanism(gravity=(0, -9.81, 0))
    body, at = m.world, CUBE[0]
    for k in range(5):
        edge = CUBE[k + 1] - CUBE[k]
        inertia = (1 - np.abs(edge)) / 12
        body = body.link(
            f"rod{k}",
            st.Revolute(f"q{k}", axis=AXES[k]),
            at=tuple(at),
            mass=1,
            com=tuple(edge / 2),
            inertia=tuple(inertia),
        )
        at = edge
    body.frame("end", at=tuple(edge))
    m.world.frame("pin", at=tuple(CUBE[5]))
    m.add(st.HingeConstraint("pin", "end", axis="x"))
    return m.build()


@pytest.mark.parametrize(
    ("method", "dt", "drift"),
    [(st.Variational(), 0.01, 1e-2), (st.Variational(order=6), 0.01, 1e-6), (st.Variational(accuracy=1e-8), 0.1, 1e-6)],
    ids=str,
)
def test_bricard(method, dt, drift):
    """It moves, though overconstrained: cos θ + cos φ + cos θ cos φ = 0 for neighbouring hinges (Chen et al. 2005)."""
    traj = st.simulate(bricard(), {}, duration=10, dt=dt, method=method)
    cosines = -SIGNS[:5] * np.sin(traj.q)  # of the angles between neighbouring edges, right angles at the start
    even, odd = cosines[:, 0], cosines[:, 1]
    np.testing.assert_allclose(cosines[:, 2], even, atol=1e-9)
    np.testing.assert_allclose(cosines[:, 4], even, atol=1e-9)
    np.testing.assert_allclose(cosines[:, 3], odd, atol=1e-9)
    np.testing.assert_allclose(even + odd + even * odd, 0, atol=1e-9)
    assert np.ptp(even) > 1  # it moves far
    assert np.ptp(traj.energy) < drift * np.ptp(traj.potential)
    assert traj.constraint_error.max() < 1e-10


def test_ball_in_an_upright_pipe():
    """A ball rolling inside a vertical cylinder climbs again: z = −(5/2)(g/Ω²)(1 − cos(√(2/7) Ω t)) (Routh, 1905)."""
    R, r, turn, mass = 0.5, 0.1, 5.0, 0.3
    m = st.Mechanism(gravity=(0, 0, -9.81))

    def pipe(u, v):
        return R * np.cos(u), R * np.sin(u), v

    m.world.link(
        "ball", st.SurfaceContactJoint("c", pipe, ellipsoid(r, r, r)), mass=mass, inertia=(0.4 * mass * r**2,) * 3
    )
    m.add(st.RollingConstraint("c"))
    model = m.build()
    q0 = np.array([0, 0, 0, 0.1, 0])
    still = st.pose(model, q0, "ball")
    np.testing.assert_allclose(still[:3, 3], [R - r, 0, 0], atol=1e-12)
    # The centre goes round with Ω; no slip: the ball turns about the vertical by −Ω (R − r)/r and not about the normal.
    J = st.jacobian(model, q0, "ball")
    twist = still[:3, :3].T @ np.array([[0, 0, -turn * (R - r) / r], [0, turn * (R - r), 0]]).T
    v0 = np.linalg.lstsq(J, twist.T.ravel(), rcond=None)[0]
    np.testing.assert_allclose(J @ v0, twist.T.ravel(), atol=1e-12)
    places = []
    for dt in (1e-3, 5e-4):
        traj = st.simulate(model, q0, v0=v0, duration=3.0, dt=dt, save_every=round(0.01 / dt))
        places.append(traj.pose("ball")[:, :3, 3])
    rate, depth = np.sqrt(2 / 7) * turn, 2.5 * 9.81 / turn**2
    around = (R - r) * np.exp(1j * turn * traj.t)
    exact = np.column_stack([around.real, around.imag, -depth * (1 - np.cos(rate * traj.t))])
    errors = [np.abs(place - exact).max() for place in places]
    assert errors[0] / errors[1] == pytest.approx(4, rel=0.01)  # of second order
    np.testing.assert_allclose((4 * places[1] - places[0]) / 3, exact, atol=5e-6)  # and without what is of that order
