"""Lobatto's pair under constraints: its twin, orders, symplecticity, symmetry, momentum, energy, forces, prescriptions."""

import numpy as np
import pytest

import symplectree as st
from mechanisms import closed_mechanism, distance
from reference import lobatto
from reference.constraints import constraint_jacobian, constraint_values
from symplectree.integrators.variational import LOBATTO

ORDERS = [4, 6, 8]


def stages_of(order):
    return order // 2 + 1


def small(gravity=(0, 0, -9.81)):
    """Few velocities, so that order 4 takes the pair as well: a Ball and a slider that a rod holds together."""
    m = st.Mechanism(gravity=gravity)
    top = m.world.link("top", st.Ball("r"), mass=1, com=(0.1, 0.2, 0.5), inertia=(0.3, 0.2, 0.1))
    cart = m.world.link("cart", st.Prismatic("x", "x"), at=(0, 0.8, 0), mass=2)
    arm = cart.link("arm", st.Revolute("a", "y"), mass=0.7, com=(0, 0, 0.3), inertia=(0.1, 0.2, 0.15))
    top.frame("A", at=(0, 0.1, 1))
    arm.frame("B", at=(0, 0.1, 0.6))
    m.add(st.DistanceConstraint("A", "B", 1.0))
    model = m.build()
    q = st.assemble(model, {"x": 0.2, "a": 0.3})
    return model, q, st.project_velocity(model, q, np.array([1.0, 0.5, 2.0, -0.4, 0.7]))


def floating_loop():
    """Two free bodies that a point and an axis hold together, without gravity: momentum is conserved."""
    m = st.Mechanism(gravity=(0, 0, 0))
    one = m.world.link("one", st.Free("one"), mass=2, com=(0.1, 0, 0), inertia=(0.3, 0.4, 0.5))
    two = m.world.link("two", st.Free("two"), mass=1, com=(0, 0.1, 0), inertia=(0.1, 0.2, 0.15))
    one.frame("A", at=(0, 0.2, 0.5))
    two.frame("B", at=(0.1, 0, -0.4))
    m.add(st.HingeConstraint("A", "B"))
    model = m.build()
    q = st.assemble(model, {"two": (0, 0.1, 0.9, 1, 0, 0, 0)})
    return model, q, st.project_velocity(model, q, np.random.default_rng(3).normal(size=model.nv))


@pytest.mark.parametrize("order", ORDERS)
def test_nodes_of_the_tables(order):
    nodes, weight = LOBATTO[order]
    table = lobatto.tableau(stages_of(order))
    np.testing.assert_allclose(nodes, table.c, rtol=0, atol=1e-14)
    assert weight == pytest.approx(table.b[-1], abs=1e-14)


@pytest.mark.parametrize("order", ORDERS)
def test_two_steps_with_a_ball_joint_against_the_twin(order):
    model, q, v = small()
    check_twin(model, q, v, order, 0.02)


@pytest.mark.parametrize(
    ("seed", "kinds"), [(11, ["Hinge"]), (9, ["Hinge"]), (2, ["Cam", "Distance"]), (6, ["Screw", "Plane"])]
)
def test_two_steps_of_random_mechanisms_against_the_twin(seed, kinds):
    """With every element; rows may depend on each other."""
    model, q, v = closed_mechanism(seed, 5, kinds)
    check_twin(model, q, v, 6, 2e-3)


def check_twin(model, q, v, order, h):
    rng = np.random.default_rng(order)
    u, tau = rng.normal(size=len(model.inputs)), rng.normal(size=model.nv)
    forces = dict(zip(model.inputs, u, strict=True)) | dict(zip(model.velocities, tau, strict=True))
    traj = st.simulate(model, q, v0=v, duration=2 * h, dt=h, method=st.Variational(order=order), forces=forces)
    assert traj.substeps.sum() == 0
    p, weight = st.momenta(model, q, v), LOBATTO[order][1] * h
    for k in range(2):
        twin = lobatto.step(model, q, p, h, stages_of(order), inputs=u, tau=tau)
        assert np.abs(constraint_values(model, twin.q)).max() < 1e-13
        assert distance(model, traj.q[k + 1], twin.q) < 1e-9  # differences of the twin
        if k > 0:  # the first are those of the acceleration at the start
            G = constraint_jacobian(model, q)
            pull = G.T @ twin.impulses[0] / (2 * weight)
            np.testing.assert_allclose(G.T @ traj.multipliers[k], pull, rtol=0, atol=1e-4 * (1 + np.abs(pull).max()))
        q, p = twin.q, twin.p
    size = 1 + np.abs(p).max()
    G = constraint_jacobian(model, q)
    along = np.eye(model.nv) - np.linalg.pinv(G, rcond=1e-9) @ G
    np.testing.assert_allclose(
        along @ traj.p[-1], along @ p, rtol=0, atol=2e-6 * size
    )  # differences of the twin over h


@pytest.mark.parametrize(("order", "step"), [(4, 0.02), (6, 0.04), (8, 0.08)])
def test_order(order, step):
    model, q, v = small()
    exact = st.simulate(model, q, v0=v, duration=0.64, dt=0.005, method=st.Variational(order=8)).q[-1]
    errors = [
        distance(
            model, st.simulate(model, q, v0=v, duration=0.64, dt=h, method=st.Variational(order=order)).q[-1], exact
        )
        for h in (step, step / 2)
    ]
    assert np.log2(errors[0] / errors[1]) == pytest.approx(order, abs=0.5)


@pytest.mark.parametrize("order", ORDERS)
def test_symplectic_on_the_constraint_manifold(order):
    """Of the four-bar's one degree of freedom, area in (crank angle, its momentum) is kept."""
    mechanism = st.load("models/four_bar.sexp")
    model = mechanism.build()
    q = st.assemble(model, mechanism.initial)
    tangent = st.project_velocity(model, q, np.ones(model.nv))
    d, h = 1e-5, 0.05

    def flow(shift, speed):
        at = st.assemble(model, q + shift * tangent, fixed=["crank"])
        along = st.project_velocity(model, at, tangent)
        stepper = st.Stepper(model, st.Variational(order=order), h)
        stepper.reset(at, (1.0 + speed) * along)
        state = independent(model, stepper.q, stepper.v)
        stepper.run(2)
        return state, independent(model, stepper.q, stepper.v)

    def independent(model, q, v):
        """The crank's angle, and the momentum with it: that of all motion per rate of the crank."""
        crank = model.coordinates.index("crank")
        path = st.project_velocity(model, q, v + 1e-3 * (v == 0))
        return np.array([q[crank], st.momenta(model, q, v) @ path / path[crank]])

    pairs = [(flow(s * d, 0), flow(-s * d, 0)) if s else (flow(0, d), flow(0, -d)) for s in (1, 0)]
    before = np.array([(a[0] - b[0]) / (2 * d) for a, b in pairs]).T
    after = np.array([(a[1] - b[1]) / (2 * d) for a, b in pairs]).T
    assert np.linalg.det(after) / np.linalg.det(before) == pytest.approx(1, abs=1e-7)


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("made", [small, floating_loop])
def test_forward_then_backward_returns(made, order):
    model, q, v = made()
    method = st.Variational(order=order)
    there = st.simulate(model, q, v0=v, duration=1.0, dt=0.02, method=method)
    back = st.simulate(model, there.q[-1], v0=-there.v[-1], duration=1.0, dt=0.02, method=method)
    assert distance(model, back.q[-1], q) < 1e-10
    np.testing.assert_allclose(back.v[-1], -v, rtol=0, atol=1e-9)


@pytest.mark.parametrize("order", [6, 8])
def test_momentum_is_kept(order):
    model, q, v = floating_loop()
    traj = st.simulate(model, q, v0=v, duration=10, dt=0.02, method=st.Variational(order=order))
    assert np.abs(traj.momentum - traj.momentum[0]).max() < 1e-10 * np.abs(traj.momentum[0]).max()
    assert traj.constraint_error.max() < 1e-12


@pytest.mark.parametrize(("order", "bound"), [(4, 1e-4), (6, 1e-6), (8, 1e-7)])
def test_energy_has_no_trend(order, bound):
    mechanism = st.load("models/four_bar.sexp")
    model = mechanism.build()
    start = st.assemble(model, mechanism.initial)
    traj = st.simulate(model, start, duration=200, dt=0.02, method=st.Variational(order=order))
    quarters = [part.mean() for part in np.array_split(traj.energy, 4)]
    assert np.ptp(quarters) < bound * traj.kinetic.max()
    assert traj.constraint_error.max() < 1e-12


def test_planar_loop_with_full_hinges():
    """Dependent rows: the motion is that of the independent ones, and multipliers share the load."""

    def built(full):
        m = st.Mechanism()
        bar = {"mass": 1.0, "com": (0, 0, -0.5), "inertia": (0.084, 0.084, 0.002)}
        left = m.world.link("left", st.Revolute("left", "y"), **bar)
        coupler = left.link("coupler", st.Revolute("coupler", "y"), at=(0, 0, -1), **bar)
        coupler.frame("here", at=(0, 0, -1))
        m.world.link("right", st.Revolute("right", "y"), at=(1, 0, 0), **bar).frame("there", at=(0, 0, -1))
        both = st.HingeConstraint("here", "there", axis="y") if full else st.PointConstraint("here", "there", "xz")
        return m.add(both).build()

    method, given = st.Variational(order=8), {"duration": 1.0, "dt": 0.02}
    start = st.assemble(built(False), {"left": 0.3, "coupler": -1.5, "right": 0.2})
    few, all_rows = (st.simulate(built(full), start, method=method, **given) for full in (False, True))
    np.testing.assert_allclose(all_rows.q, few.q, rtol=0, atol=1e-11)
    for k in (3, 20):
        G = st.constraint_jacobian(all_rows.model, all_rows.q[k])
        least = np.linalg.pinv(G.T, rcond=1e-9) @ (G.T @ all_rows.multipliers[k])
        np.testing.assert_allclose(all_rows.multipliers[k], least, rtol=0, atol=1e-6 * np.abs(least).max())


@pytest.mark.parametrize("order", ORDERS)
def test_multipliers_are_forces_of_the_motion(order):
    model, q, v = small()
    traj = st.simulate(model, q, v0=v, duration=0.2, dt=0.005, method=st.Variational(order=order))
    for k in (1, 20, 39):
        expected = st.constrained_dynamics(model, traj.q[k], traj.v[k], np.zeros(model.nv))[1]
        np.testing.assert_allclose(traj.multipliers[k], expected, rtol=2e-3)


@pytest.mark.parametrize("order", ORDERS)
def test_prescribed_forces_are_those_of_the_motion(order):
    """The torque on a crank that turns evenly, beside order 2 in steps a tenth as long."""
    m = st.Mechanism()
    crank = m.world.link("crank", st.Revolute("crank", "y"), mass=1, com=(0.15, 0, 0), inertia=(0.001, 0.01, 0.01))
    rod = crank.link("rod", st.Revolute("rod", "y"), at=(0.3, 0, 0), mass=1, com=(0.5, 0, 0), inertia=(0.001, 0.1, 0.1))
    rod.frame("pin", at=(1, 0, 0), mass=2)
    model = m.add(st.PointConstraint("world", "pin", "z")).build()
    start = st.assemble(model, {"crank": 1.0, "rod": -1.3}, fixed=["crank"])
    turn = {"crank": lambda t: 1 + 2 * t}
    run = st.simulate(model, start, duration=1, dt=0.01, prescribed=turn, method=st.Variational(order=order))
    fine = st.simulate(model, start, duration=1, dt=0.001, prescribed=turn)
    np.testing.assert_allclose(run.prescribed_forces[10:90:10, 0], fine.prescribed_forces[100:900:100, 0], rtol=5e-3)
    assert distance(model, run.q[-1], fine.q[-1]) < 1e-5


@pytest.mark.parametrize("order", ORDERS)
def test_stepper_goes_on_after_a_state_is_restored(order):
    model, q, v = small()
    stepper = st.Stepper(model, st.Variational(order=order), 0.01)
    stepper.reset(q, v)
    stepper.run(5)
    state = stepper.state
    stepper.run(5)
    end = stepper.q
    stepper.restore(state)
    stepper.run(5)
    np.testing.assert_array_equal(stepper.q, end)


def test_a_run_that_is_resumed_is_the_same_motion(tmp_path):
    model, q, v = small()
    method, file = st.Variational(order=8), tmp_path / "run.npz"
    st.simulate(model, q, v0=v, duration=0.4, dt=0.02, method=method, out=file)
    whole = st.simulate(model, q, v0=v, duration=0.8, dt=0.02, method=method)
    np.testing.assert_allclose(st.resume(file, duration=0.8).q[-1], whole.q[-1], rtol=0, atol=1e-11)


@pytest.mark.parametrize("order", ORDERS)
def test_too_long_steps_are_divided_or_told(order):
    model, q, v = small()
    with pytest.warns(UserWarning, match="shorter ones"):
        traj = st.simulate(model, q, v0=v, duration=4, dt=1.0, method=st.Variational(order=order))
    assert traj.substeps.sum() > 0
    assert traj.constraint_error.max() < 1e-10
    with pytest.raises(st.ConvergenceError, match="smaller dt") as raised:
        st.simulate(model, q, v0=v, duration=4, dt=1.0, method=st.Variational(order=order, substeps=0))
    assert raised.value.coordinate in model.velocities
    assert f"worst in {raised.value.coordinate!r}" in str(raised.value)


@pytest.mark.parametrize("accuracy", [1e-4, 1e-7, 1e-10])
def test_the_order_is_chosen_for_an_accuracy(accuracy):
    mechanism = st.load("models/closed_chain_device.sexp")
    model = mechanism.build()
    start = st.assemble(model, mechanism.initial)
    traj = st.simulate(model, start, duration=5, dt=0.05, method=st.Variational(accuracy=accuracy))
    assert np.abs(traj.energy - traj.energy[0]).max() < 30 * accuracy * traj.kinetic.max()
    assert any(f"order={order}" in str(traj.settings.method) for order in (2, 4, 6, 8))


def test_order_4_is_a_composition_beyond_eight_velocities():
    """The cheaper one there; both are the same motion to the error of the order."""
    model, q, v = closed_mechanism(8, 8, ["Hinge", "Distance"])
    assert model.nv > 8
    ends = [st.simulate(model, q, v0=0.3 * v, duration=0.1, dt=0.01, method=st.Variational(order=o)) for o in (4, 8)]
    assert distance(model, ends[0].q[-1], ends[1].q[-1]) < 1e-6
