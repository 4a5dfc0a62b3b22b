"""Models with a compiled step: the same trajectories, where they are made, and what is refused."""

import pickle
import warnings

import numpy as np
import pytest

import symplectree as st
from mechanisms import FORMULAS, distance, random_mechanism, random_state, spatial_chain

PLAIN = ("Revolute", "Prismatic", "Screw", "Cylindrical", "Universal", "Planar")


def without_rotors(seed, bodies, joints):
    """A random mechanism in which Ball and Free joints have no rotor inertia."""
    m = random_mechanism(seed, bodies, joints=joints)
    for frame in m.tree:
        if frame.joint.nq != frame.joint.nv:
            object.__setattr__(frame.joint, "armature", 0.0)
    return m


def assert_same_motion(model, q, v, *, steps=100, dt=1e-3, tolerance=1e-12, **options):
    """To 1e-12: rounding of positions, 1e-16 each step, adds up in the momenta of a hundred steps."""
    compiled = model.compile(progress=False)
    a, b = (st.simulate(x, q, v0=v, duration=steps * dt, dt=dt, **options) for x in (model, compiled))
    assert max(distance(model, x, y) for x, y in zip(a.q[::10], b.q[::10], strict=True)) < tolerance
    assert np.abs(a.p - b.p).max() < 1e3 * tolerance * max(1.0, np.abs(a.p).max())  # over dt
    assert np.array_equal(a.iterations, b.iterations)
    return a, b


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("joints", [PLAIN, ("Revolute", "Ball", "Free", "Planar"), ("Revolute", *FORMULAS)])
def test_every_joint(seed, joints):
    model = without_rotors(seed, 1 + seed, joints).build()
    q, v, _ = random_state(model, seed)
    assert_same_motion(model, q, v)


def test_long_steps_of_a_chain():
    model = spatial_chain(10).build()
    assert_same_motion(model, np.full(10, 0.3), np.zeros(10), dt=0.01)


def test_rotors_dampers_springs_motors_and_inputs():
    m = spatial_chain(3)
    m.add(
        st.JointDamper("q0", 0.4), st.JointSpring("q1", 30.0, rest=0.2), st.JointForce("q2", 1.0),
        st.JointForce("q2", "motor"), st.FormulaPotential(lambda q: q[0] ** 4, coordinates=["q1"]),
    )  # fmt: skip
    m.world.link("wheel", st.Revolute("spin", "z", armature=0.3), mass=1.0, inertia=(1, 1, 1))
    model = m.build()
    q, v, _ = random_state(model, 1)
    assert_same_motion(model, q, v, forces={"motor": 2.0, "spin": -1.0})
    assert_same_motion(model, q, v, forces=lambda t, q, v: {"motor": np.sin(t), "spin": -v[3]})


@pytest.mark.parametrize("method", [st.Variational(tol=1e-15), st.Variational(guess="current")])
def test_other_tolerances_and_guesses(method):
    model = spatial_chain(3).build()
    assert_same_motion(model, np.full(3, 0.5), np.ones(3), method=method)


def test_steps_that_are_halved():
    """A violent motion at a long step, where the general kernel helps out."""
    model = spatial_chain(4).build()
    compiled = model.compile(progress=False)
    q, v = np.array([0.3, 1.2, -0.7, 2.0]), np.array([9.0, -14.0, 20.0, -25.0])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # both say that steps were shortened
        a, b = (st.simulate(x, q, v0=v, duration=0.4, dt=0.05) for x in (model, compiled))
    assert a.iterations.max() > 3  # not what the quick path alone does
    assert np.abs(a.q - b.q).max() < 1e-9  # rounding grows fast in such motion
    assert np.array_equal(a.substeps, b.substeps)


def test_at_rest_it_stays_at_rest():
    model = spatial_chain(3).build()
    a, b = assert_same_motion(model, np.zeros(3), np.zeros(3))
    assert np.abs(b.q).max() < 1e-12 and np.abs(a.energy - b.energy).max() < 1e-12


def test_momentum_of_a_free_body_stays():
    m = st.Mechanism(gravity=(0, 0, 0))
    base = m.world.link("base", st.Free("base"), mass=2.0, com=(0.1, 0, 0), inertia=(0.1, 0.2, 0.25))
    base.link("arm", st.Ball("wrist"), at=(0.3, 0, 0), mass=0.5, com=(0, 0.2, 0), inertia=(0.01, 0.02, 0.02))
    model = m.build().compile(progress=False)
    q, v, _ = random_state(model, 3)
    momentum = st.simulate(model, q, v0=v, duration=2.0, dt=0.01).momentum
    assert np.abs(momentum - momentum[0]).max() < 1e-11  # 200 steps of rounding


def test_other_methods_take_the_general_step_and_say_so():
    model = spatial_chain(2).build()
    compiled = model.compile(progress=False)
    with pytest.warns(UserWarning, match="general"):
        b = st.simulate(compiled, [0.3, 0.3], duration=0.1, dt=0.01, method=st.Variational(action="chord"))
    a = st.simulate(model, [0.3, 0.3], duration=0.1, dt=0.01, method=st.Variational(action="chord"))
    assert np.array_equal(a.q, b.q)


def test_prescribed_coordinates_take_the_general_step():
    compiled = spatial_chain(2).build().compile(progress=False)
    with pytest.warns(UserWarning, match="general"):
        run = st.simulate(compiled, [0.0, 0.3], duration=0.1, dt=0.01, prescribed={"q0": lambda t: t})
    assert run.q[-1, 0] == pytest.approx(0.1)


def test_it_steps_one_by_one():
    model = spatial_chain(3).build()
    steppers = [st.Stepper(x, st.Variational(), 0.01) for x in (model, model.compile(progress=False))]
    for stepper in steppers:
        stepper.reset(np.full(3, 0.4))
        for _ in range(20):
            stepper.step({"q1": 0.5})
    assert np.abs(steppers[0].q - steppers[1].q).max() < 1e-12


def test_time_is_told(capsys):
    model = spatial_chain(2).build()
    first = model.compile(progress=True)
    assert "2 coordinates" in capsys.readouterr().err
    assert "native code" in first.info() and "native code" not in model.info()
    model.compile(progress=False)
    assert capsys.readouterr().err == ""


def test_the_second_time_code_comes_from_disk(tmp_path, monkeypatch):
    monkeypatch.setenv("SYMPLECTREE_CACHE", str(tmp_path / "code"))
    first, second = (spatial_chain(3).build().compile(progress=False) for _ in range(2))
    assert first.step_code.seconds > 0 and second.step_code.seconds == 0
    m = spatial_chain(3)
    m.add(st.JointDamper("q0", 0.1))  # a step with damping is other code
    assert m.build().compile(progress=False).step_code.seconds > 0


def test_pickling_leaves_the_code_behind():
    compiled = spatial_chain(2).build().compile(progress=False)
    again = pickle.loads(pickle.dumps(compiled))
    assert again.step_code is None and again.nv == 2


def refused(change):
    m = spatial_chain(2)
    change(m)
    return m.build()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda m: m.add(st.Spring("tip", "world", stiffness=1.0, name="band")), "'band'"),
        (lambda m: m.add(st.BodyWrench("tip", force=(1, 0, 0), name="push")), "'push'"),
        (lambda m: m.add(st.PointConstraint("tip", "world", "x", name="rail")), "'rail'"),
        (lambda m: m.add(st.UserForce(lambda q, v: -v, coordinates=["q0"], name="drag")), "'drag'"),
        (lambda m: m.world.link("b", st.Ball("wrist", armature=0.1), mass=1.0, inertia=(1, 1, 1)), "'wrist'"),
    ],
)
def test_what_has_no_code_is_refused_by_name(change, words):
    with pytest.raises(st.ModelError, match=words):
        refused(change).compile()
