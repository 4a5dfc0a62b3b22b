"""Runs of a model by names alone: each parameter and each output is what the same lines of Python give."""

import numpy as np
import pytest

import symplectree as st
from symplectree.ensemble.model_task import ModelTask, Output
from symplectree.io import load


def arm():
    m = st.Mechanism()
    upper = m.world.link(
        "upper", st.Revolute("shoulder", axis="y"), mass=1.0, com=(0, 0, -0.5), inertia=(0.1, 0.1, 0.01)
    )
    lower = upper.link("lower", st.Revolute("elbow", axis="y"), at=(0, 0, -1), mass=0.7, com=(0, 0, -0.4))
    lower.frame("tip", at=(0, 0, -0.8))
    m.add(st.JointForce("elbow", "motor"), st.Spring("tip", "world", stiffness=3.0, length=1.0, name="spring"))
    m.add(st.JointPosition("angle", "elbow"))
    m.keyframes["raised"] = st.Keyframe(q={"shoulder": 2.0}, v={"elbow": 0.5}, controls={"motor": 0.2})
    return m.build()


MODEL = arm()
TEXTS = {
    "final elbow": lambda t: t["elbow"][-1],
    "initial shoulder": lambda t: t["shoulder"][0],
    "max velocity elbow": lambda t: max(t.velocity("elbow")),
    "min kinetic": lambda t: min(t.kinetic),
    "mean potential": lambda t: sum(t.potential) / len(t),
    "drift energy": lambda t: max(abs(t.energy - t.energy[0])),
    "final momentum": lambda t: t.momentum[-1],
    "range position tip.z": lambda t: max(t.pose("tip")[:, 2, 3]) - min(t.pose("tip")[:, 2, 3]),
    "final position tip": lambda t: t.pose("tip")[-1, :3, 3],
    "rms sensor angle": lambda t: np.sqrt(np.mean(t.sensor("angle") ** 2, axis=0)),
    "course elbow": lambda t: t["elbow"],
    "max constraint_error": lambda t: 0.0,
}


def task(**more):
    outputs = {text: Output.parse(text, MODEL) for text in TEXTS}
    return ModelTask(MODEL, more.pop("start", {"shoulder": 0.3}), 0.2, 0.01, outputs, **more)


def check(results, trajectory):
    assert results.keys() == TEXTS.keys()
    for text, expected in TEXTS.items():
        np.testing.assert_allclose(results[text], expected(trajectory), rtol=1e-12, atol=1e-14, err_msg=text)


def test_parameters_of_every_kind():
    given = {
        "upper.mass": 1.3, "spring.stiffness": 5.0, "start.elbow": 0.4, "velocity.shoulder": 1.0, "force.motor": 0.6,
        "dt": 0.005, "duration": 0.3,
    }  # fmt: skip
    expected = st.simulate(
        MODEL.with_parameters({"upper.mass": 1.3, "spring.stiffness": 5.0}), {"shoulder": 0.3, "elbow": 0.4},
        v0={"shoulder": 1.0}, forces={"motor": 0.6}, duration=0.3, dt=0.005,
    )  # fmt: skip
    check(task()(given), expected)


def test_what_all_runs_share():
    shared = task(velocity={"elbow": 0.7}, forces={"motor": 0.1}, method=st.Variational(action="exp"))
    expected = st.simulate(
        MODEL, {"shoulder": 0.3}, v0={"elbow": 0.7}, forces={"motor": 0.1}, duration=0.2, dt=0.01,
        method=st.Variational(action="exp"),
    )  # fmt: skip
    check(shared({}), expected)


def test_from_a_keyframe():
    expected = st.simulate(MODEL, [2.0, 0.1], v0=[0.3, 0.5], forces={"motor": 0.2}, duration=0.2, dt=0.01)
    check(task(start="raised")({"start.elbow": 0.1, "velocity.shoulder": 0.3}), expected)


def test_loops_are_closed_and_named_velocities_stay():
    mechanism = load("four_bar")
    model = mechanism.build()
    outputs = {
        name: Output.parse(text, model) for name, text in {"q": "initial crank", "e": "max constraint_error"}.items()
    }
    outputs["v"] = Output.parse("initial velocity crank", model)
    results = ModelTask(model, mechanism.initial, 0.05, 0.005, outputs, velocity={"crank": 15.0})({"start.crank": 1.0})
    assert results["q"] == 1.0 and results["e"] < 1e-9 and results["v"] == pytest.approx(15.0, rel=1e-9)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (5, "5 says not what is to be kept"),
        ("elbow", "'elbow' says not what is to be kept"),
        ("last elbow", "way to sum up"),
        ("final elbo", "did you mean 'elbow'"),
        ("final velocity elbo", "did you mean 'elbow'"),
        ("final position tipp", "did you mean 'tip'"),
        ("final position tip.w", "tip.w"),
        ("final sensor angel", "did you mean 'angle'"),
    ],
)
def test_words_that_mean_nothing(text, sentence):
    with pytest.raises(st.ModelError, match=sentence):
        Output.parse(text, MODEL)


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"uper.mass": 1.0}, "did you mean 'upper.mass'"),
        ({"start.elbo": 1.0}, "did you mean 'elbow'"),
        ({"velocity.elbo": 1.0}, "did you mean 'elbow'"),
        ({"force.moto": 1.0}, "did you mean 'motor'"),
        ({"dt": -1.0}, "dt is -1.0"),
        ({"upper.mass": -1.0}, "upper"),
    ],
)
def test_parameters_that_mean_nothing(given, sentence):
    with pytest.raises(st.ModelError, match=sentence):
        task().prepared(given)
