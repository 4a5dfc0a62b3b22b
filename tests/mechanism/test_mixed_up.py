"""A Model taken for a Mechanism, a name or path for a Model: sentences that say what to do."""

import pickle

import pytest

import symplectree as st
from mechanisms import planar_chain
from refusal import assert_refuses


@pytest.mark.parametrize(
    "use",
    [
        lambda given: st.simulate(given, {}, duration=1, dt=0.1),
        lambda given: st.Stepper(given, dt=0.1),
        lambda given: st.assemble(given, {}),
    ],
)
def test_what_is_no_model(use):
    assert_refuses(
        lambda: use("four_bar"), "'four_bar' was given where a Model is needed", "st.load('four_bar').build()"
    )
    assert_refuses(lambda: use(planar_chain(2)), "a Mechanism was given where a Model is needed; call build() first")
    assert_refuses(lambda: use(3), "3 was given where a Model is needed")


@pytest.mark.parametrize("name", ["add", "link", "world", "to_sexpr"])
def test_a_model_says_that_it_cannot_be_changed(name):
    with pytest.raises(AttributeError, match=f"a Model has no '{name}'.* use the Mechanism, and build\\(\\) it again"):
        getattr(planar_chain(2).build(), name)


def test_other_attributes_are_missing_as_usual():
    model = planar_chain(2).build()
    with pytest.raises(AttributeError, match="a Model has no attribute 'colour'"):
        model.colour  # noqa: B018
    assert not hasattr(model, "add") and pickle.loads(pickle.dumps(model)).coordinates == model.coordinates
