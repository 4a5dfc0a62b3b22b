"""Public names: old ones warn once, where they are used, and give the same; what is required is asked for by name."""

import importlib.metadata
import inspect
import subprocess
import sys
import warnings

import numpy as np
import pytest

import symplectree as st
from mechanisms import planar_chain


def warned(call):
    """What the call gives; it must warn once, naming this file."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        out = call()
    assert [w.category for w in caught] == [DeprecationWarning]
    assert caught[0].filename == __file__
    return out, str(caught[0].message)


@pytest.mark.parametrize(
    ("old", "new"),
    [("C", "by_prescribed"), ("D", "by_parameters"), ("multipliers_D", "multipliers_by_parameters")],
)
def test_old_names_of_derivatives(old, new):
    model = planar_chain(2).build()
    lin = st.linearize(model, ([0.3, 0.2], [0, 0]), dt=0.01, prescribed={"q0": 0.31}, parameters=["dt"])
    value, message = warned(lambda: getattr(lin, old))
    assert value is getattr(lin, new)
    assert f"Linearization.{old} is now called {new}" in message


def test_old_name_of_what_a_method_recorded():
    traj = st.simulate(planar_chain(2).build(), {"q0": 0.3}, duration=0.02, dt=0.01)
    value, message = warned(lambda: traj.kept)
    assert list(value) == list(traj.recorded)
    np.testing.assert_array_equal(value["iterations"], traj.recorded["iterations"])
    assert "Trajectory.kept is now called recorded" in message


def test_version():
    assert st.__version__ == importlib.metadata.version("symplectree")


def test_import_looks_up_no_metadata():
    code = "import sys, symplectree; print('symplectree.version' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


MODEL = planar_chain(2).build()


@pytest.mark.parametrize(
    "call",
    [
        lambda: st.simulate(MODEL, {}, duration=1.0),
        lambda: st.Stepper(MODEL),
        lambda: st.Stepper(MODEL, st.Variational()),
        lambda: st.linearize(MODEL, (np.zeros(2), np.zeros(2))),
        lambda: st.linearize(MODEL, (np.zeros(2), np.zeros(2)), st.Variational(), order=2),
        lambda: st.control.balance(MODEL, {}),
        lambda: st.control.follow(None, None, None),
        lambda: st.control.StagewiseNewton(MODEL, st.control.EffortCost(), steps=3),
        lambda: st.control.DirectProblem(MODEL, st.control.EffortCost(), steps=3, start=None),
        lambda: st.interop.jax_step(MODEL),
        lambda: st.interop.torch_step(MODEL),
    ],
)
def test_dt_is_required_everywhere(call):
    with pytest.raises(TypeError, match=r"\bdt\b"):
        call()


def test_dt_has_no_hidden_default():
    public = [getattr(st, name) for name in st.__all__] + [getattr(st.control, name) for name in st.control.__all__]
    for function in [*public, *(getattr(st.interop, name) for name in st.interop.__all__)]:
        if not callable(function) or (isinstance(function, type) and issubclass(function, Exception)):
            continue
        dt = inspect.signature(function).parameters.get("dt")
        assert dt is None or dt.default in (None, inspect.Parameter.empty), function
