"""Equations as callables: native code and CasADi's machine give what the core gives."""

import sys

import numpy as np
import pytest

import symplectree as st
from mechanisms import random_mechanism, random_state, spatial_chain
from symplectree.symbolic import Equations

NAMES = ("inverse_dynamics", "bias", "mass_matrix", "forward_dynamics")


def arguments(name, q, v, a):
    return {"bias": (q, v), "mass_matrix": (q,)}.get(name, (q, v, a))


def native(model, name, *given):
    return getattr(st, "bias_forces" if name == "bias" else name)(model, *given)


@pytest.mark.parametrize("backend", ["llvm", "casadi"])
@pytest.mark.parametrize("name", NAMES)
def test_like_the_core(name, backend):
    model = random_mechanism(4, 9, elements=True).build()
    f = Equations(model).compile(name, backend=backend)
    given = arguments(name, *random_state(model, 1))
    expected = native(model, name, *given)
    assert f.backend == backend
    assert np.abs(f(*given) - expected).max() <= 1e-11 * np.abs(expected).max()  # sums in another order
    rows = [np.stack([x, 0.5 * x + 0.1, x]) for x in given]
    many = f(*rows)
    assert many.shape == (3, *expected.shape)
    assert np.array_equal(many[0], many[2]) and np.abs(many[1] - f(*(x[1] for x in rows))).max() == 0
    assert np.array_equal(many[0], f(*given))


def test_inputs_by_name():
    model = random_mechanism(4, 9, elements=True).build()
    q, v, a = random_state(model, 2)
    given = {"motor": 2.0, "thrust": -1.0}
    expected = st.inverse_dynamics(model, q, v, a, inputs=given)
    assert np.abs(Equations(model).compile("inverse_dynamics")(q, v, a, inputs=given) - expected).max() < 1e-10


def test_parameters_by_name():
    eq = Equations(spatial_chain(2).build(), parameters=["link1.mass"])
    f, (q, v, a) = eq.compile("inverse_dynamics"), random_state(eq.model, 3)
    assert np.array_equal(f(q, v, a), f(q, v, a, parameters={"link1.mass": 1.0}))
    assert np.array_equal(f(q, v, a, parameters=[2.0]), f(q, v, a, parameters={"link1.mass": 2.0}))
    assert not np.allclose(f(q, v, a), f(q, v, a, parameters=[2.0]))


def test_long_functions_are_cut_into_pieces(monkeypatch):
    from symplectree.symbolic import llvm

    model = random_mechanism(2, 6).build()
    given = random_state(model, 4)
    expected = st.forward_dynamics(model, *given)
    monkeypatch.setattr(llvm, "CHUNK", 37)
    monkeypatch.setattr("symplectree.symbolic.native_code._sources", lambda: "pieces")
    f = Equations(model).compile()
    assert f.seconds > 0 and np.abs(f(*given) - expected).max() < 1e-11 * np.abs(expected).max()


def test_the_second_time_code_comes_from_disk(tmp_path, monkeypatch):
    monkeypatch.setenv("SYMPLECTREE_CACHE", str(tmp_path / "code"))
    eq = Equations(spatial_chain(3).build())
    first, second = eq.compile(), Equations(spatial_chain(3).build()).compile()
    assert first.seconds > 0 and second.seconds == 0
    state = random_state(eq.model, 5)
    assert np.array_equal(first(*state), second(*state))
    assert len(list((tmp_path / "code").glob("*.o"))) == 1


def test_damaged_files_are_not_used(tmp_path, monkeypatch):
    monkeypatch.setenv("SYMPLECTREE_CACHE", str(tmp_path / "code"))
    eq = Equations(spatial_chain(2).build())
    eq.compile()
    (file,) = (tmp_path / "code").glob("*.o")
    file.write_bytes(file.read_bytes()[:-7] + b"damaged")
    assert eq.compile().seconds > 0


def test_folders_that_others_write_to_are_not_used(tmp_path, monkeypatch):
    place = tmp_path / "code"
    place.mkdir()
    place.chmod(0o777)
    monkeypatch.setenv("SYMPLECTREE_CACHE", str(place))
    eq = Equations(spatial_chain(2).build())
    assert eq.compile().seconds > 0 and eq.compile().seconds > 0
    assert not list(place.iterdir())


def test_without_a_place_to_write_it_still_compiles(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("no folder")
    monkeypatch.setenv("SYMPLECTREE_CACHE", str(tmp_path / "file" / "code"))
    assert Equations(spatial_chain(2).build()).compile().seconds > 0


def test_without_llvmlite(monkeypatch):
    monkeypatch.setitem(sys.modules, "llvmlite", None)
    eq = Equations(spatial_chain(2).build())
    assert eq.compile().backend == "casadi"
    with pytest.raises(st.ModelError, match=r"symplectree\[jit\]"):
        eq.compile(backend="llvm")
    with pytest.raises(st.ModelError, match=r"symplectree\[jit\]"):
        eq.model.compile()


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda eq: eq.compile("energy"), "forward_dynamics"),
        (lambda eq: eq.compile(backend="gcc"), "'llvm'"),
        (lambda eq: eq.compile()([0.0, 0.0]), "q, v, tau"),
        (lambda eq: eq.compile()([0.0], [0.0, 0.0], [0.0, 0.0]), "q is"),
        (lambda eq: eq.compile()("up", [0.0, 0.0], [0.0, 0.0]), "q is 'up'"),
        (lambda eq: eq.compile("mass_matrix")([0.0, 0.0], parameters=[1.0]), "parameters"),
        (lambda eq: eq.compile("mass_matrix")([0.0, 0.0], parameters={"mass": 1.0}), "'mass'"),
        (lambda eq: eq.compile("mass_matrix")([0.0, 0.0], inputs={"motor": 1.0}), "'motor'"),
    ],
)
def test_bad_use_is_refused(call, words):
    with pytest.raises(st.ModelError, match=words):
        call(Equations(spatial_chain(2).build()))
