"""Forces by name: which shapes they may have, and what is said of the others."""

import weakref

import numpy as np
import pytest

import symplectree as st
from mechanisms import random_mechanism, random_state
from symplectree.integrators.forces import ForceSource


@pytest.fixture(scope="module")
def model():
    m = st.Mechanism()
    arm = m.world.link("arm", st.Revolute("ja", "y"), mass=1, com=(0, 0, -1))
    arm.link("hand", st.Ball("jb"), at=(0, 0, -1), mass=1, inertia=(1, 1, 1))
    return m.build()


def test_whole_joints(model):
    source = ForceSource(model, {"jb": [1, 2, 3], "ja": 4}, 10)
    np.testing.assert_array_equal(source.tau, [[4, 1, 2, 3]])
    rows = np.arange(30.0).reshape(10, 3)
    source = ForceSource(model, {"jb": rows, "ja": np.arange(10)}, 10)
    np.testing.assert_array_equal(source.tau, np.column_stack([np.arange(10), rows]))
    source = ForceSource(model, {"jb": [1, 2, 3], "ja": np.arange(10)}, 10)
    np.testing.assert_array_equal(source.tau[7], [7, 1, 2, 3])


@pytest.mark.parametrize(
    ("forces", "words"),
    [
        ({"ja": np.ones(10), "jb.0": np.ones(3)}, "force 'jb.0': 3 rows, but the run has 10 steps"),
        ({"ja": np.ones((10, 1))}, "force 'ja' has shape (10, 1)"),
        ({"jb": 1.0}, "force 'jb' has shape ()"),
        ({"jb": [1, 2]}, "force 'jb' has shape (2,)"),
        ({"jb": np.ones((5, 3))}, "force 'jb': 5 rows"),
        ({"ja": "x"}, "force 'ja': 'x' is no number"),
        ({"ja": 1j}, "force 'ja': 1j is no number"),
        ({"ja": None}, "force 'ja': None is no number"),
        ({"ja": lambda: 1.0}, "the function of force 'ja' takes no argument; it is called with (t) or (t, q, v)"),
        ({"jc": lambda t: 1.0}, "no input or coordinate is named 'jc'"),
        ({"ja": lambda t: t, "jb": np.ones((10, 3))}, "force 'jb' has a row for each step beside functions"),
        ({"ja": lambda t: t, "jb.0": st.Table([0, 1], [0, 1])}, "force 'jb.0' is a controller beside functions"),
        ({"jb": [1, np.nan, 3]}, "force 'jb': [1, nan, 3] holds a value that is not finite"),
        ({"jb.4": 1}, "no input or coordinate is named 'jb.4'; did you mean 'jb.2'"),
        ({3: 1}, "no input or coordinate is named 3; there are 'ja', 'jb', 'jb.0', 'jb.1', 'jb.2'"),
        ("strong", "forces: 'strong' is no number"),
        (np.ones(4) * 1j, "are no numbers"),
    ],
)
def test_refusal(model, forces, words):
    with pytest.raises(st.ModelError) as raised:
        ForceSource(model, forces, 10)
    assert words in str(raised.value)


@pytest.mark.parametrize("method", [st.Variational(), st.Variational(order=4), st.RK4(), st.Adaptive()])
def test_a_force_function_may_keep_and_change_what_it_gets(model, method):
    kept = []

    def spoil(t, q, v):
        kept.append((t, q.copy(), q, v))
        q[:], v[:] = 7, 7
        return {}

    def clean(t, q, v):
        return {}

    given = {"q0": {"ja": 1}, "duration": 0.05, "dt": 0.01, "method": method}
    spoiled, expected = st.simulate(model, forces=spoil, **given), st.simulate(model, forces=clean, **given)
    np.testing.assert_array_equal(spoiled.q, expected.q)
    assert len({id(q) for _, _, q, _ in kept}) == len(kept)
    assert not np.array_equal(kept[0][1], kept[-1][1])


NOT_FOUR = "the model has 4 velocities (ja, jb.0, jb.1, jb.2): give one number for each"
WRONG = [
    ([1.0, 2.0], f"forces are numbers of shape (2,); {NOT_FOUR}"),
    (5.0, f"forces are 5.0, one number alone; {NOT_FOUR}"),
    (np.ones((3, 4)), "forces: 3 rows; give one"),
    ([1, np.nan, 0, 0], "holds a value that is not finite"),
    ({"jc": 1}, "no input or coordinate is named 'jc'; there are 'ja', 'jb'"),
    ({"ja": np.inf}, "force 'ja': inf holds a value that is not finite"),
    ({"jb": 2}, "force 'jb' has shape ()"),
    ("strong", "forces: 'strong' is no number"),
]


@pytest.mark.parametrize(("forces", "words"), [*WRONG, (None, "gave None at t = 0 s: has it no return?")])
@pytest.mark.parametrize("method", [st.Variational(), st.Variational(order=4), st.RK4(), st.Adaptive()], ids=repr)
def test_what_a_force_function_must_not_give(model, method, forces, words):
    with pytest.raises(st.ModelError) as raised:
        st.simulate(model, {}, duration=0.1, dt=0.01, method=method, forces=lambda t, q, v: forces)
    assert words in str(raised.value)
    assert str(raised.value).startswith("the force function")


@pytest.mark.parametrize(("forces", "words"), [*WRONG, (lambda t, q, v: [0] * 4, "give what it returns for (t, q, v)")])
def test_what_a_step_must_not_be_given(model, forces, words):
    stepper = st.Stepper(model, dt=0.01)
    with pytest.raises(st.ModelError) as raised:
        stepper.step(forces)
    assert words in str(raised.value)
    stepper.step()  # it can go on
    assert stepper.t == 0.01


@pytest.mark.parametrize("function", [lambda t: [0] * 4, lambda: [0] * 4, lambda t, q, v, u: [0] * 4, abs])
def test_a_force_function_of_other_arguments_is_refused_before_the_run(model, function):
    with pytest.raises(st.ModelError, match=r"the force function takes .*; it is called with \(t, q, v\)"):
        st.simulate(model, {}, duration=0.1, dt=0.01, forces=function)


def test_force_functions_may_have_further_optional_arguments_or_be_objects(model):
    class Feedback:
        def __call__(self, t, q, v, gain=1.0):
            return -gain * v

    def end(forces):
        return st.simulate(model, {"ja": 0.3}, duration=0.1, dt=0.01, forces=forces).q[-1]

    np.testing.assert_array_equal(end(Feedback()), end(lambda t, q, v: -v))
    np.testing.assert_array_equal(end(lambda *state: {"ja": 1.0}), end(lambda t, q, v: {"ja": 1.0}))
    assert not np.array_equal(end(Feedback()), end(None))


@pytest.mark.parametrize("method", [st.Variational(), st.Variational(order=4), st.RK4(), st.Adaptive()], ids=repr)
def test_forces_that_no_step_can_take_are_named(model, method):
    with pytest.raises(
        st.ConvergenceError, match=r"forces accelerate 'j.*' by .*e\+\d\d .*is a number or a unit wrong\?"
    ):
        st.simulate(model, {}, duration=0.1, dt=0.01, method=method, forces={"ja": 1e9, "jb": [1e9, 0, 0]})


def test_a_step_says_so_too(model):
    stepper = st.Stepper(model, dt=0.01)
    with pytest.raises(st.ConvergenceError, match="is a number or a unit wrong"):
        stepper.step({"ja": 1e9, "jb": [1e9, 0, 0]})


def test_force_functions_do_not_keep_their_run(model):
    """The core cannot say what it holds, so a reference to the run in what it is given would keep both for ever."""
    source = ForceSource(model, lambda t, q, v: {})
    source.native_rows(0, 1)
    gone = weakref.ref(source)
    del source
    assert gone() is None


@pytest.mark.parametrize("elements", [False, True])
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("action", ["cayley", "chord", "exp", "midpoint"])
def test_a_function_that_gives_numbers_acts_as_these_do(action, seed, elements):
    model = random_mechanism(seed, 9, elements=elements).build()
    q, v, _ = random_state(model, seed)
    u = 0.3 * np.sin(1.0 + np.arange(len(model.inputs or model.velocities)))
    runs = [
        st.simulate(model, q, v0=0.1 * v, duration=0.02, dt=1e-3, method=st.Variational(action=action), forces=forces)
        for forces in (u, lambda t, q, v: u)
    ]
    np.testing.assert_array_equal(runs[0].q, runs[1].q)
    np.testing.assert_array_equal(runs[0].p, runs[1].p)


def test_functions_by_name_are_one_function_of_all(model):
    """Of time alone or of the whole state, beside numbers."""
    by_name = {"ja": lambda t: np.sin(3 * t), "jb": lambda t, q, v: -0.2 * v[1:]}
    whole = lambda t, q, v: [np.sin(3 * t), *(-0.2 * v[1:])]  # noqa: E731
    runs = [
        st.simulate(model, {"ja": 0.3}, v0={"jb": (1, 2, 3)}, duration=0.5, dt=0.01, forces=forces)
        for forces in (by_name, whole)
    ]
    np.testing.assert_array_equal(runs[0].q, runs[1].q)
    beside = st.simulate(model, {"ja": 0.3}, duration=0.5, dt=0.01, forces={"ja": lambda t: t, "jb.2": 0.5})
    other = st.simulate(model, {"ja": 0.3}, duration=0.5, dt=0.01, forces=lambda t, q, v: {"ja": t, "jb.2": 0.5})
    np.testing.assert_array_equal(beside.q, other.q)
    assert beside.settings.forces is None  # no file can hold them


def test_a_function_by_name_without_return_is_named(model):
    with pytest.raises(st.ModelError, match=r"the function of force 'ja' gave None at t = 0 s: has it no return\?"):
        st.simulate(model, {}, duration=0.1, dt=0.01, forces={"ja": lambda t: None, "jb.0": 1.0})
    with pytest.raises(st.ModelError, match=r"force 'ja' has shape \(2,\)|force 'ja': 2 rows"):
        st.simulate(model, {}, duration=0.1, dt=0.01, forces={"ja": lambda t: [1.0, 2.0]})
