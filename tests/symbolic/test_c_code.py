"""The C file compiles by itself and gives the core's numbers."""

import ctypes
import shutil
import subprocess

import numpy as np
import pytest

import symplectree as st
from mechanisms import random_mechanism, random_state, spatial_chain
from symplectree.symbolic import Equations

COMPILER = shutil.which("cc") or shutil.which("gcc")


def library(path):
    shared = path.with_suffix(".so")
    flags = ["-std=c99", "-Wall", "-Wextra", "-pedantic", "-Werror", "-O1", "-shared", "-fPIC"]
    subprocess.run([COMPILER, *flags, path, "-o", shared, "-lm"], check=True)
    return ctypes.CDLL(str(shared))


def call(function, size, *given):
    arrays = [np.ascontiguousarray(x, dtype=float) for x in given]
    out = np.full(size, np.nan)
    function(*(ctypes.c_void_p(x.ctypes.data) for x in (*arrays, out)))
    return out


@pytest.mark.skipif(COMPILER is None, reason="there is no C compiler")
def test_like_the_core(tmp_path):
    model = random_mechanism(4, 9, elements=True).build()
    Equations(model).to_c(tmp_path / "arm.c", prefix="arm_")
    code, (q, v, a), u = library(tmp_path / "arm.c"), random_state(model, 1), np.ones(3)
    inputs = dict.fromkeys(model.inputs, 1.0)
    for name, given, size in (
        ("inverse_dynamics", (q, v, a), model.nv), ("bias_forces", (q, v), model.nv),
        ("mass_matrix", (q,), model.nv**2), ("forward_dynamics", (q, v, a), model.nv),
    ):  # fmt: skip
        options = {} if name == "mass_matrix" else {"inputs": inputs}
        expected = np.ravel(getattr(st, name)(model, *given, **options))
        function = getattr(code, f"arm_{name.removesuffix('_forces')}")
        result = call(function, size, *given, u, np.zeros(1))
        assert np.abs(result - expected).max() <= 1e-11 * np.abs(expected).max()  # sums in another order


@pytest.mark.skipif(COMPILER is None, reason="there is no C compiler")
def test_stiffness_and_rest_length_as_arguments(tmp_path):
    def chain(stiffness, length, damping):
        m = spatial_chain(3)
        return m.add(st.Spring("world", "tip", stiffness=stiffness, length=length, damping=damping, name="s")).build()

    model = chain(5.0, 0.5, 0.1)
    names = ["s.stiffness", "s.length", "s.damping"]
    Equations(model, parameters=names).to_c(tmp_path / "sprung.c", names=["inverse_dynamics"])
    q, v, a = random_state(model, 1)
    for numbers in ((7.0, 0.3, 0.4), (0.0, 0.0, 0.0)):
        tau = call(library(tmp_path / "sprung.c").inverse_dynamics, model.nv, q, v, a, np.zeros(1), numbers)
        expected = st.inverse_dynamics(chain(*numbers), q, v, a)
        assert np.abs(tau - expected).max() <= 1e-11 * np.abs(expected).max()  # sums in another order


def test_the_head_says_what_is_what(tmp_path):
    eq = Equations(spatial_chain(2).build(), parameters=["link0.mass"])
    eq.to_c(tmp_path / "chain.c", names=["inverse_dynamics"])
    text = (tmp_path / "chain.c").read_text()
    assert "void inverse_dynamics(const double *q, const double *v, const double *a, const double *inputs," in text
    assert "0 q0, 1 q1" in text and "0 link0.mass" in text and "forward_dynamics" not in text


@pytest.mark.skipif(COMPILER is None, reason="there is no C compiler")
def test_names_cannot_leave_the_comment(tmp_path):
    m = st.Mechanism()
    m.world.link("bob", st.Revolute("*/ int main(void) { return 7; } /*\n\\", "y"), mass=1.0, com=(0, 0, -1))
    Equations(m.build()).to_c(tmp_path / "odd.c")
    assert not hasattr(library(tmp_path / "odd.c"), "main")


@pytest.mark.parametrize(
    ("path", "options", "words"),
    [
        ("missing/arm.c", {}, "missing"),
        ("arm.c", {"names": "bias"}, "give a list"),
        ("arm.c", {"names": []}, "empty"),
        ("arm.c", {"names": ["energy"]}, "no function 'energy'"),
        ("arm.c", {"prefix": "my-arm"}, "prefix"),
    ],
)
def test_bad_use_is_refused(tmp_path, path, options, words):
    with pytest.raises(st.ModelError, match=words):
        Equations(spatial_chain(2).build()).to_c(tmp_path / path, **options)
