"""Many runs at once are those of `simulate`, whatever the model, and bit for bit the same whatever goes beside them."""

import warnings

import numpy as np
import pytest

import symplectree as st
from mechanisms import actuated_mechanism, closed_mechanism, planar_chain, random_mechanism, random_state
from symplectree.ensemble.pack_runs import PackRuns
from symplectree.ensemble.single_runs import SingleRuns

PLAIN = ("Fixed", "Revolute", "Prismatic", "Screw", "Cylindrical", "Universal", "Planar", "Ball", "Free")


def loaded_tree(seed):
    """A random tree with springs, dampers, rotors, motors and loads, which packs take."""
    m = random_mechanism(seed, 9, joints=PLAIN)
    flat = [f.joint.name for f in m.tree if f.joint.nv == 1]
    turning = [f"{f.joint.name}.{i}" for f in m.tree if f.joint.nq > f.joint.nv for i in range(f.joint.nv)]
    frames = [f.name for f in m.tree if f.joint.nv == 6]
    m.add(
        st.JointSpring(flat[0], 4.0, rest=0.2),
        st.JointDamper(flat[-1], 0.05),
        st.JointDamper(turning[0], 0.02),
        st.JointForce(flat[1], "motor"),
        st.BodyWrench(frames[0], force=(0.3, "thrust", 0.1), torque=(0, 0, 0.1)),
        st.SpatialWrench(frames[0], force=("wind", 0, 0)),
    )
    return m


def starts(model, runs, size=0.3):
    states = [random_state(model, seed) for seed in range(runs)]
    q = np.array([state[0] for state in states])
    return q, size * np.array([state[1] for state in states])


def singles(model, q, v, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return [st.simulate(model, a, b, **options) for a, b in zip(q, v, strict=True)]


def assert_alike(result, runs, tolerance):
    for k, run in enumerate(runs):
        np.testing.assert_allclose(result.t, run.t, atol=1e-14)
        for name in ("q", "p", "v", "energy"):
            here, there = getattr(result, name)[k], getattr(run, name)
            np.testing.assert_allclose(here, there, rtol=0, atol=tolerance * max(1, abs(there).max()), err_msg=name)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("action", ["cayley", "chord"])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_packs_are_single_runs(seed, action):
    model, method = loaded_tree(seed).build(), st.Variational(action)
    q, v = starts(model, 11)
    forces = np.random.default_rng(seed).normal(size=(11, len(model.inputs)))
    result = st.rollout(model, q, v, duration=0.1, dt=1e-3, method=method, forces=forces)
    assert PackRuns.fits(task_of(model, method))
    runs = [st.simulate(model, q[k], v[k], duration=0.1, dt=1e-3, method=method, forces=forces[k]) for k in range(11)]
    assert not result.failures
    assert_alike(result, runs, 1e-12)


def task_of(model, method, **options):
    """The task of one run, to see who takes it."""
    from symplectree.ensemble.rows import Count
    from symplectree.ensemble.run_forces import run_forces
    from symplectree.ensemble.run_models import RunModels
    from symplectree.ensemble.task import Task

    count = Count()
    forces = run_forces(model, options.get("forces"), 10, count)
    return Task(
        RunModels(model, options.get("parameters"), count), method, 1e-3, 10, 1, model.neutral[None],
        np.zeros((1, model.nv)), forces, None, 1,
    )  # fmt: skip


@pytest.mark.parametrize("packs", [True, False])
def test_no_run_knows_of_its_neighbours_and_of_threads(packs):
    """Violent motions among calm ones: some lanes take many iterations, halved steps, or fail."""
    m = planar_chain(4)
    if not packs:
        m.add(st.DistanceConstraint("world", "link3", 2.5))
    model = planar_chain(4).build()
    rng = np.random.default_rng(5)
    q, v = rng.uniform(-3, 3, (21, 4)), rng.normal(size=(21, 4)) * np.geomspace(0.1, 100, 21)[:, None]
    v[7] = 1e4
    method = st.Variational(substeps=3, solver="newton" if packs else "dense")
    options = {"steps": 60, "dt": 0.01, "method": method}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        whole = st.rollout(model, q, v, threads=1, **options)
        assert whole.substeps.max() > 0
        order = rng.permutation(21)
        for threads in (2, 3):
            shuffled = st.rollout(model, q[order], v[order], threads=threads, **options)
            np.testing.assert_array_equal(shuffled.q, whole.q[order])
            np.testing.assert_array_equal(shuffled.p, whole.p[order])
        for k in (0, 7, 12, 20):
            alone = st.rollout(model, q[k], v[k], **options)
            np.testing.assert_array_equal(alone.q[0], whole.q[k])
            assert [f.step for f in alone.failures] == [f.step for f in whole.failures if f.run == k]


def test_a_run_that_fails_is_told_and_the_others_go_on():
    model = planar_chain(2).build()
    q, v = np.zeros((10, 2)), np.zeros((10, 2))
    q[:, 0], v[3] = 0.5, (2000.0, -3000.0)
    method = st.Variational("chord", substeps=0)
    result = st.rollout(model, q, v, steps=50, dt=0.01, method=method, save_every=5)
    (failure,) = result.failures
    assert (failure.run, failure.step, failure.time) == (3, 0, 0.0)
    with pytest.raises(st.ConvergenceError) as single:
        st.simulate(model, q[3], v[3], duration=0.5, dt=0.01, method=method)
    assert failure.sentence == str(single.value)
    assert np.all(np.isnan(result.q[3, 1:]))
    assert np.all(np.isfinite(np.delete(result.q, 3, axis=0)))
    assert np.all(np.isnan(result.energy[3, 1:]))
    assert len(result[3]) == 1


@pytest.mark.parametrize(
    ("make", "options"),
    [
        (lambda: closed_mechanism(3)[0], {}),
        (lambda: actuated_mechanism(2).build(), {}),
        (lambda: random_mechanism(4, 6, elements=True).build(), {}),
        (lambda: random_mechanism(4, 6).build(), {"method": st.Variational(order=4)}),
        (lambda: planar_chain(3).build(), {"method": st.Variational("midpoint")}),
        (lambda: planar_chain(3).build(), {"method": st.Variational("exp")}),
        (lambda: planar_chain(3).build(), {"method": st.Variational(accuracy=1e-5)}),
        (lambda: planar_chain(3).build(), {"method": st.RK4()}),
        (lambda: planar_chain(3).build(), {"method": st.SemiImplicitEuler()}),
        (lambda: planar_chain(3).build(), {"method": st.Adaptive()}),
        (lambda: planar_chain(3).build(), {"forces": lambda t, q, v: -0.1 * v}),
        (lambda: planar_chain(3).build(), {"forces": [st.PD("q1", 10.0, 1.0, 0.3)]}),
    ],
)
@pytest.mark.filterwarnings("ignore")
def test_all_other_runs_are_single_ones_bit_for_bit(make, options):
    model = make()
    q, v = starts(model, 5)
    if model.rows:
        q = np.array([st.assemble(model, row) for row in q[:1]]).repeat(5, axis=0)
        v *= 0
    result = st.rollout(model, q, v, steps=30, dt=1e-3, save_every=4, threads=2, **options)
    for k, run in enumerate(singles(model, q, v, duration=0.03, dt=1e-3, save_every=4, **options)):
        np.testing.assert_array_equal(result.q[k], run.q)
        np.testing.assert_array_equal(result.v[k], run.v)
        np.testing.assert_allclose(result.t, run.t, atol=1e-15)
        np.testing.assert_array_equal(result[k].q, run.q)


def test_long_runs_begin_anew_where_single_ones_do():
    model = planar_chain(2).build()
    q, v = starts(model, 3)
    method = st.Variational("exp")
    result = st.rollout(model, q, v, steps=26000, dt=1e-3, save_every=1000, method=method)
    for k, run in enumerate(singles(model, q, v, duration=26.0, dt=1e-3, save_every=1000, method=method)):
        np.testing.assert_array_equal(result.q[k], run.q)


def test_parameters_of_each_run():
    model = planar_chain(3).build()
    rng = np.random.default_rng(2)
    values = {"link0.mass": rng.uniform(1, 3, 9), "link2.com": rng.normal(size=(9, 3)) * 0.2, "gravity": (0, 0, -5.0)}
    q, v = rng.normal(size=(9, 3)), rng.normal(size=(9, 3))
    result = st.rollout(model, q, v, steps=100, dt=1e-3, parameters=values)
    for k in range(9):
        own = model.with_parameters({"link0.mass": values["link0.mass"][k], "link2.com": values["link2.com"][k],
                                     "gravity": values["gravity"]})  # fmt: skip
        run = st.simulate(own, q[k], v[k], duration=0.1, dt=1e-3)
        for name in ("q", "p", "energy"):
            np.testing.assert_allclose(getattr(result, name)[k], getattr(run, name), rtol=0, atol=1e-11, err_msg=name)
        assert result[k].model.mass[0] == values["link0.mass"][k]


def test_forces_of_each_run_and_step():
    m = planar_chain(2)
    m.add(st.JointForce("q0", "motor"), st.PositionServo("q1", kp=5.0, kv=0.3, name="servo"))
    model = m.build()
    rng = np.random.default_rng(3)
    table, targets = rng.normal(size=(6, 40)), rng.normal(size=6)
    q = rng.normal(size=(6, 2))
    result = st.rollout(model, q, steps=40, dt=1e-3, forces={"motor": table, "servo": targets})
    same = st.rollout(model, q, steps=40, dt=1e-3, forces=np.dstack([table, np.repeat(targets[:, None], 40, axis=1)]))
    np.testing.assert_array_equal(result.q, same.q)
    for k in range(6):
        run = st.simulate(model, q[k], duration=0.04, dt=1e-3, forces={"motor": table[k], "servo": targets[k]})
        np.testing.assert_allclose(result.q[k], run.q, atol=1e-12)
    by_number = st.rollout(model, q, steps=40, dt=1e-3, forces=lambda run: {"motor": table[run], "servo": targets[run]})
    np.testing.assert_allclose(by_number.q, result.q, atol=1e-12)


def test_feedback_of_each_run():
    model = planar_chain(2).build()
    rng = np.random.default_rng(4)
    gains, at = rng.uniform(0, 3, (5, 1, 2, 4)), np.array([0.2, -0.1])
    law = st.StateFeedback(gains, at, np.zeros(2), np.zeros(2), dt=1e-3)
    q = rng.normal(size=(5, 2))
    result = st.rollout(model, q, steps=50, dt=1e-3, forces=law)
    for k in range(5):
        own = st.StateFeedback(gains[k], at, np.zeros(2), np.zeros(2), dt=1e-3)
        run = st.simulate(model, q[k], duration=0.05, dt=1e-3, forces=own)
        np.testing.assert_allclose(result.q[k], run.q, atol=1e-12)


def test_starts_by_name_and_what_is_kept():
    model = planar_chain(2).build()
    angles = np.linspace(-1, 1, 7)
    result = st.rollout(model, {"q0": angles}, {"q1": 0.5}, steps=10, dt=0.01, save_every=None)
    assert result.q.shape == (7, 2, 2)
    np.testing.assert_allclose(result.t, [0, 0.1])
    np.testing.assert_allclose(result.q[:, 0], np.column_stack([angles, 0 * angles]))
    np.testing.assert_allclose(result.v[:, 0], np.tile([0, 0.5], (7, 1)), atol=1e-14)
    every = st.rollout(model, {"q0": angles}, {"q1": 0.5}, steps=10, dt=0.01, save_every=4)
    np.testing.assert_allclose(every.t, [0, 0.04, 0.08, 0.1])
    np.testing.assert_array_equal(every.q[:, -1], result.q[:, -1])
    again = st.rollout(model, {"q0": -angles}, {"q1": 0.5}, steps=10, dt=0.01, save_every=4, out=every)
    assert again.q is every.q
    assert "7 runs" in repr(again)


def test_reducers_see_every_run_once():
    model = planar_chain(2).build()
    q = np.random.default_rng(6).normal(size=(50, 2))
    whole = st.rollout(model, q, steps=20, dt=0.01)
    seen = []

    def highest(part):
        seen.extend(part.runs)
        return {"highest": part.q[:, :, 0].max(axis=1), "drift": np.ptp(part.energy, axis=1)}

    result = st.rollout(model, q, steps=20, dt=0.01, reduce=highest)
    assert sorted(seen) == list(range(50))
    np.testing.assert_array_equal(result.reduced["highest"], whole.q[:, :, 0].max(axis=1))
    np.testing.assert_array_equal(result.reduced["drift"], np.ptp(whole.energy, axis=1))
    with pytest.raises(st.ModelError, match="states are not kept"):
        result.energy  # noqa: B018


MODEL = planar_chain(2).build()
GOOD = {"q0s": np.zeros((3, 2)), "steps": 5, "dt": 0.01}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"q0s": np.zeros((3, 4))}, "q0s has 4 values, but the model has 2 coordinates"),
        ({"q0s": np.zeros((2, 3, 2))}, "q0s has shape .2, 3, 2.; give one state, or a row for each run"),
        ({"q0s": [[0, 0], [0, np.nan]]}, "q of 'q1' is nan in row 1"),
        ({"q0s": np.zeros((0, 2))}, "q0s has no rows"),
        ({"q0s": {"q7": [1, 2, 3]}}, "q7"),
        ({"q0s": {"q0": [1, 2, np.inf]}}, "q0s of 'q0' is inf in row 2"),
        ({"v0s": np.zeros((4, 2))}, "v0s has 4 rows, but q0s has 3"),
        ({"steps": 5, "duration": 1.0}, "give steps or duration, not both"),
        ({"steps": None}, "give steps or duration, one of them"),
        ({"steps": 0}, "steps are 0"),
        ({"steps": 2.5}, "steps are 2.5"),
        ({"dt": -1.0}, "dt is -1.0"),
        ({"save_every": 0}, "save_every is 0"),
        ({"threads": 0}, "threads are 0"),
        ({"reduce": 3}, "reduce is 3"),
        ({"reduce": lambda part: 1.0}, "what the reducer gave has shape .., for 3 runs"),
        ({"reduce": lambda part: {"a": np.zeros(2)}}, "'a' of what the reducer gave has shape .2,., for 3 runs"),
        ({"forces": np.zeros((4, 2))}, "forces has 4 rows, but q0s has 3"),
        ({"forces": np.zeros((3, 4, 2))}, "forces has 4 rows for each run, but there are 5 steps"),
        ({"forces": np.zeros((3, 3))}, "forces has shape .3, 3."),
        ({"forces": {"q0": [1, 2, np.nan]}}, "force 'q0' is nan in row 2"),
        ({"forces": {"q9": 1.0}}, "q9"),
        ({"parameters": {"link9.mass": 1.0}}, "link9"),
        ({"parameters": {"link0.mass": [1, 2]}}, "parameter 'link0.mass' has 2 rows, but q0s has 3"),
        ({"parameters": {"link0.mass": [1, 2, -3]}}, "parameters of run 2: mass of link 'link0' is -3"),
        ({"parameters": {"link0.com": [1, 2]}}, "parameter 'link0.com' has shape .2,.; give 3 numbers"),
        ({"parameters": {"dt": 0.1}}, "'dt' is no number of the model"),
        ({"parameters": 3}, "parameters are 3; give a mapping"),
        ({"out": 3}, "out is 3; give an earlier result"),
        ({"method": "newton"}, "method is 'newton'"),
    ],
)
def test_bad_input(change, message):
    with pytest.raises(st.ModelError, match=message):
        given = GOOD | change
        st.rollout(MODEL, given.pop("q0s"), given.pop("v0s", None), **given)


def test_exceptions_of_the_users_stop_all_runs():
    def fails(t, q, v):
        if t > 0.02:
            raise RuntimeError("enough")
        return np.zeros(2)

    with pytest.raises(RuntimeError, match="enough"):
        st.rollout(MODEL, np.zeros((20, 2)), steps=50, dt=0.01, forces=fails, threads=3)


def test_who_takes_which_runs():
    usual = st.Variational()
    assert PackRuns.fits(task_of(MODEL, usual))
    assert not PackRuns.fits(task_of(MODEL, usual, forces=lambda t, q, v: np.zeros(2)))
    assert not PackRuns.fits(task_of(MODEL, st.Variational(order=4)))
    assert not PackRuns.fits(task_of(closed_mechanism(3)[0], usual))
    assert SingleRuns(task_of(MODEL, usual)).start(0).native is not None
