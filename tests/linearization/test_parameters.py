"""Names of parameters: what they mean after pickling, and which are refused."""

import pickle

import numpy as np
import pytest

import symplectree as st
from mechanisms import planar_chain, random_mechanism
from rebuilt_steps import start


def test_after_pickling():
    model = random_mechanism(4, 9).build()
    state, frame = start(model, 4), next(f for f in model.frames if f.startswith("load"))
    one, other = (
        st.linearize(x, state, dt=0.01, parameters=[f"{frame}.at"]).by_parameters
        for x in (model, pickle.loads(pickle.dumps(model)))
    )
    np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize(
    ("names", "words"),
    [
        (["lnk0.mass"], "did you mean 'link0.mass'"),
        (["link0.length"], "no parameter is named 'link0.length'"),
        (["link0.com.w"], "no parameter is named 'link0.com.w'"),
        (["link0.mass.x"], "no parameter is named"),
        (["q0.pitch"], "no parameter is named"),
        (["world.at"], "no parameter is named"),
        (["q0.armature.1"], "no parameter is named"),
        ([""], "no parameter is named ''"),
        (["spring.rest"], "did you mean 'spring.length'"),
        (["rod.length"], "'string', a coordinate"),
        (["motor.value"], "'motor', an input, whose derivatives are in B"),
        (["wind.force"], "'gust', an input"),
        (["mark.at"], "frame 'mark' carries no mass, joint or element"),
        (["link0.mass", "link0.mass"], "'link0.mass' is named twice"),
        (["link0.com", "link0.com.x"], "'link0.com.x' is named twice"),
        ("link0.mass", "give a list of names"),
        ([3], "give a list of names"),
        (7, "give a list of names"),
    ],
)
def test_bad_names(names, words):
    m = planar_chain(2)
    m.tree[1].frame("mark", at=(0, 0, -0.3))
    m.add(
        st.Spring("tip", "world", stiffness=1.0, length=0.5, name="spring"), st.JointForce("q0", "motor", name="motor"),
        st.DistanceConstraint("tip", "world", "string", name="rod"),
        st.SpatialWrench("tip", force=(1.0, 0, "gust"), name="wind"),
    )  # fmt: skip
    model = m.build()
    with pytest.raises(st.ModelError, match=words):
        st.linearize(model, (model.neutral, np.zeros(model.nv)), dt=0.01, parameters=names, prescribed={"string": 2.0})


def test_second_derivatives_are_refused():
    model = planar_chain(2).build()
    with pytest.raises(st.ModelError, match="parameters have no second derivatives; give order=1"):
        st.linearize(model, (np.zeros(2), np.zeros(2)), dt=0.01, order=2, parameters=["link0.mass"])


def test_without_parameters_there_are_none():
    model = planar_chain(2).build()
    lin = st.linearize(model, (np.zeros(2), np.zeros(2)), dt=0.01)
    assert lin.by_parameters.shape == (4, 0) and lin.multipliers_by_parameters.shape == (0, 0) and lin.parameters == ()
