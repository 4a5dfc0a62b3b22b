"""Formulas that are bad where a run leads: it stops with a sentence, and what went before is kept."""

import casadi
import numpy as np
import pytest

import symplectree as st
from formulas import ellipsoid
from refusal import assert_refuses
from symplectree.formula.switches import sides, switch_tape

METHODS = [
    st.Variational(), st.Variational("midpoint"), st.Variational(order=4), st.RK4(), st.SemiImplicitEuler(),
    st.Adaptive(1e-8, 1e-8),
]  # fmt: skip
BODY = {"mass": 1, "com": (0.1, 0.05, -0.2), "inertia": (0.1, 0.1, 0.2)}
FLAT = np.eye(3)


def model(joint, *elements):
    m = st.Mechanism()
    m.world.link("a", joint, **BODY)
    return m.add(*elements).build()


def slide(height, **options):
    """A body that does not turn, above x at a height of it."""
    return st.FormulaJoint("q", lambda q: (FLAT, [q, 0, height(q)]), **options)


def assert_stops(model, words, q0, v0, method, save_every=1):
    with pytest.raises(st.ConvergenceError, match=words) as raised:
        st.simulate(model, q0, v0=v0, duration=2, dt=0.01, method=method, save_every=save_every)
    kept = raised.value.trajectory
    assert 1 < len(kept) < 200
    assert np.isfinite(kept.q).all() and np.isfinite(kept.energy).all()
    assert raised.value.time >= kept.t[-1] and raised.value.step > 0
    return kept


@pytest.mark.parametrize("method", METHODS, ids=str)
@pytest.mark.parametrize(
    ("height", "words"),
    [
        (lambda q: np.fabs(q), "joint 'q' has a kink at q = -?[0-9.e-]+, where it cannot be differentiated"),
        (lambda q: np.fmax(q, 0.2), r"joint 'q' has a kink at q = 0\.2"),
        (lambda q: casadi.if_else(q > 0, -q, 0.5 - q), "the pose of joint 'q' jumps at q = "),
        (lambda q: np.where(q > 0.1, -q, 0 * q), r"the pose of joint 'q' jumps at q = 0\.1"),
    ],
    ids=["abs", "max", "if_else", "where"],
)
def test_kinks_and_jumps_on_the_way(height, words, method):
    joint = slide(height, start=-1.0)
    kept = assert_stops(model(joint), words, {"q": -0.5}, {"q": 2.5}, method)
    assert kept["q"].max() < 0.21


@pytest.mark.parametrize("method", METHODS[:4], ids=str)
def test_smooth_switches_pass(method):
    """fmax(q, 0)³ has no kink that matters: twice differentiable."""
    traj = st.simulate(
        model(slide(lambda q: np.fmax(q, 0) ** 3)), {"q": -0.5}, v0={"q": 2.0}, duration=0.5, dt=0.01, method=method
    )
    assert traj["q"][-1] > 0.2


@pytest.mark.parametrize("save_every", [1, 7, 1000])
def test_what_is_kept_ends_before_the_fault(save_every):
    kept = assert_stops(
        model(slide(np.fabs, start=-1.0)), "kink", {"q": -0.5}, {"q": 2.5}, st.Variational(), save_every
    )
    assert (kept["q"] < 0).all()


def test_a_stepper_stays_where_it_was():
    stepper = st.Stepper(model(slide(np.fabs, start=-1.0)), dt=0.01)
    stepper.reset({"q": -0.02}, {"q": 2.5})
    with pytest.raises(st.ConvergenceError, match=r"joint 'q'.* kink"):
        for _ in range(5):
            stepper.step()
    assert stepper.q[0] < 0
    t, q = stepper.t, stepper.q
    with pytest.raises(st.ConvergenceError, match=r"joint 'q'.* kink"):
        stepper.step()
    assert stepper.t == t and stepper.q == q


@pytest.mark.parametrize("method", METHODS[:4], ids=str)
@pytest.mark.parametrize(
    ("joint", "q0", "v0", "words"),
    [
        (st.CurveJoint("s", lambda s: (s, 0 * s, 0.3 * np.sin(s)), start=1), 1.0, -3, r"joint 's'.*q = .*frame='up'"),
        (st.CurveJoint("s", lambda s: (np.cos(s), 0 * s, np.sin(s)), frame="up", start=-1), -1.0, 5, "joint 's'.*q = "),
        (
            st.SurfaceJoint("s", lambda u, v: (np.cos(u) * np.cos(v), np.sin(u) * np.cos(v), np.sin(v))),
            (0.2, 1.0), (0, 4), r"joint 's' jumps at q = \(0\.\d*, 1\.5708\)",
        ),
        (slide(lambda q: -np.sqrt(1 - q**2)), 0.0, 6, r"joint 'q' at q = 1(\.0\d*)? is not finite"),
    ],
    ids=["frenet", "up", "pole", "end"],
)  # fmt: skip
def test_singular_on_the_way(joint, q0, v0, words, method):
    assert_stops(model(joint), words, {joint.name: q0}, {joint.name: v0}, method)


@pytest.mark.parametrize("method", METHODS[:4], ids=str)
def test_elements_without_value_on_the_way(method):
    x = st.Prismatic("x", "x")
    barrier = st.FormulaPotential(lambda q: 0.01 * np.log(q[0]), coordinates=["x"], name="wall")
    assert_stops(model(x, barrier), r"FormulaPotential 'wall' is not finite at x = -", {"x": 1.0}, {"x": -3.0}, method)
    force = st.FormulaForce(lambda q, v: [-np.sqrt(q[0])], coordinates=["x"], name="pull")
    assert_stops(model(x, force), "FormulaForce 'pull' is not finite at x = -", {"x": 1.0}, {"x": -3.0}, method)
    assert_refuses(lambda: st.simulate(model(x, barrier), {}, duration=1, dt=0.1), "'wall'", "x = 0", "start elsewhere")
    cone = st.FormulaPotential(lambda q: np.sqrt(q[0] ** 2 + q[1] ** 2), coordinates=["p"], name="cone")
    flat = model(st.Planar("p"), cone)
    assert_refuses(
        lambda: st.simulate(flat, {}, duration=1, dt=0.1), "'cone' cannot be differentiated at p.0 = 0, p.1 = 0"
    )
    stepper = st.Stepper(model(x, barrier), dt=0.01)
    assert_refuses(stepper.step, "reset(q)")
    stepper.reset({"x": 1.0})
    stepper.step()


def egg_box(depth):
    return lambda u, v: (u, v, depth * np.cos(3 * u) * np.cos(3 * v))


def test_surfaces_that_cross():
    """A ball that is flatter than the hollows that it rolls through, and one that is not."""
    ball = ellipsoid(0.1, 0.1, 0.1)
    assert_refuses(
        lambda: model(st.SurfaceContactJoint("c", lambda u, v: (u, v, u**2 - 8 * v**2), lambda u, v: (u, v, 0 * u))),
        "surfaces of joint 'c' cross each other at q = (0, 0, 0, 0, 0)",
    )
    small = st.SurfaceContactJoint("c", egg_box(0.3), ball, start=(0.2, 0.1, 0, 0, 0))
    built = model(small, st.RollingConstraint("c"))
    st.simulate(built, built.neutral, duration=0.3, dt=0.005)
    large = st.SurfaceContactJoint("c", egg_box(-0.3), ellipsoid(0.6, 0.6, 0.6))  # on top of a hill
    built = model(large, st.RollingConstraint("c"))
    q0 = [0.05, 0.05, 0, 0, 0]
    v0 = st.project_velocity(built, q0, [1.5, 0.5, 0, 0, 0])
    with pytest.raises(st.ConvergenceError, match=r"of joint 'c' (cross each|at q = .*bend alike)") as raised:
        st.simulate(built, q0, v0=v0, duration=3, dt=0.005)
    assert len(raised.value.trajectory) > 1


def test_bending_against_differences():
    """The gap along the normal, from points of both surfaces near the contact."""
    joint = st.SurfaceContactJoint("c", egg_box(0.2), ellipsoid(0.3, 0.25, 0.2))
    q = np.array([0.3, -0.2, 0.2, 0.1, 0.4])
    T, e = joint.transform(q), 1e-4
    frame = np.linalg.inv(np.array(frame_of(joint.first, *q[:2])))
    E = np.array(joint.bending(*q))[[0, 1, 1, 2]].reshape(2, 2)

    def height(surface, start, place, x):
        """Height over the tangent plane at x, in the first surface's frame: parameters by Newton's method."""
        p = np.array(start)
        for _ in range(20):
            at, du, dv = (place(surface(*(p + d))) for d in np.array([(0, 0), (1e-6, 0), (0, 1e-6)]))
            p = p - np.linalg.solve(np.stack([(du - at)[:2], (dv - at)[:2]], 1) / 1e-6, at[:2] - x)
        return at[2]

    for angle in np.linspace(0, np.pi, 5):
        x = e * np.array([np.cos(angle), np.sin(angle)])
        mean = [
            height(joint.second, q[2:4], lambda y: (frame @ T @ [*y, 1])[:3], s * x)
            - height(joint.first, q[:2], lambda y: (frame @ [*y, 1])[:3], s * x)
            for s in (1, -1)
        ]
        assert np.mean(mean) / e**2 == pytest.approx(0.5 * x @ E @ x / e**2, rel=1e-4)


def frame_of(surface, u, v):
    from symplectree.symbolic import surface_frame

    return casadi.DM(casadi.evalf(surface_frame(surface, u, v))).full()


def test_switches_of_a_formula():
    joint = st.FormulaJoint(
        "q", lambda q: (FLAT, [np.fabs(q[0]), np.fmin(q[0], q[1]), casadi.if_else(q[1] < 2, q[0], 0)]), 2
    )
    assert joint.switches.outputs == 3
    on = sides(joint.switches, np.array([(1.0, 0.5), (-1.0, 0.5), (1.0, 3.0)]))
    assert (on[0] != on[1]).sum() == 2 and (on[0] != on[2]).sum() == 2
    assert switch_tape(st.FormulaJoint("q", lambda q: (FLAT, [np.sin(q), 0, 0])).tapes.pose) is None
