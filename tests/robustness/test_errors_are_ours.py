"""Whatever is asked, what leaves the package is one of its errors, with the culprit's name, and no other library's."""

import contextlib
import warnings

import numpy as np
import pytest

import symplectree as st


def chain(n=3, mass=1.0, length=1.0):
    m, link = st.Mechanism(), None
    for i in range(n):
        link = (link or m.world).link(
            f"l{i}", st.Revolute(f"q{i}", axis="y"), at=(0, 0, -length if i else 0), mass=mass, com=(0, 0, -length / 2),
            inertia=(0.1 * min(mass, 1e300),) * 3,
        )  # fmt: skip
    return m


def pendulum(joint="q", link="a"):
    m = st.Mechanism()
    m.world.link(link, st.Revolute(joint, axis="y"), mass=1, com=(0, 0, -1), inertia=(1, 1, 1))
    return m


def run(m=None, q0=None, **options):
    model = (m or chain()).build()
    options = {"duration": 0.05, "dt": 0.01} | options
    return st.simulate(model, np.ones(model.nq) if q0 is None else q0, **options)


def stepper():
    made = st.Stepper(pendulum().build(), st.Variational(), 0.01)
    made.reset([1.0])
    return made


def inertia(value):
    m = st.Mechanism()
    m.world.link("a", st.Revolute("q"), mass=1, inertia=value)
    return m.build()


def with_gravity():
    m = chain()
    m.gravity = (0, 0, -1e308)
    return m


REFUSED = {
    "inertia of 1e308": (lambda: inertia((1e308,) * 3), "inertia of link 'a' holds 1e[+]308, too large"),
    "matrix of 1e308": (lambda: inertia(np.full((3, 3), 1e308)), "inertia of link 'a' holds 1e[+]308, too large"),
    "mass of 1e308": (lambda: run(chain(mass=1e308)), "mass of link 'l0' holds 1e[+]308, too large"),
    "length of 1e308": (lambda: run(chain(length=1e308)), "of link 'l0' holds .*, too large"),
    "gravity of 1e308": (lambda: run(with_gravity()), "gravity of the mechanism holds 1e[+]308, too large"),
    "mass of 10^400": (lambda: run(chain(mass=10**400)), "mass of link 'l0' is 1000"),
    "start of 10^400": (lambda: run(q0=[10**400] * 3), "q is "),
    "start of texts": (lambda: run(q0=["a"] * 3), "q is "),
    "duration of 10^400": (lambda: run(duration=10**400), "duration is 1000"),
    "dt of 10^400": (lambda: run(dt=10**400), "dt is 1000"),
    "dt of 1e-300": (lambda: run(dt=1e-300), "the run has .* steps, more than"),
    "save_every of 10^30": (lambda: run(save_every=10**30), "save_every is 1000000000000000000000000000000"),
    "10^30 steps": (lambda: stepper().step(n=10**30), "n is 1000000000000000000000000000000"),
    "run of 10^30 steps": (lambda: stepper().run(10**30), "steps is 1000000000000000000000000000000"),
    "run of text": (lambda: stepper().run("many"), "steps is 'many'"),
    "zero byte in a joint": (lambda: pendulum(joint="x\0y").build(), r"'x\\x00y' of a joint holds the character U\+0000"),
    "zero byte in a link": (lambda: pendulum(link="x\0y").build(), r"the name 'x\\x00y' of a frame"),
    "half a character": (lambda: pendulum(link="\ud800").build(), r"holds the character U\+D800"),
    "zero byte in a path": (lambda: st.load("a\0b.sexp"), r"'a\\x00b.sexp' cannot be read"),
    "zero byte in a robot's path": (lambda: st.load("a\0b.urdf"), "cannot be read"),
    "zero byte in a model's name": (lambda: st.load("a\0b"), "is no file"),
    "half a character in a path": (lambda: st.load("\ud800.sexp"), "cannot be read"),
    "long path": (lambda: st.load("x" * 5000 + ".sexp"), "File name too long"),
    "long name": (lambda: st.load("x" * 5000), "is no file"),
    "zero byte in results": (lambda: st.load_trajectory("a\0b.nc"), "is no path of a file"),
    "number for results": (lambda: st.load_trajectory(3), "3 is no path of a file"),
    "folder for results": (lambda: st.load_trajectory("."), "Is a directory"),
    "saving under a zero byte": (lambda: run().save("a\0b.nc"), "cannot be written"),
    "saving under a long name": (lambda: run().save("x" * 300 + ".nc"), "File name too long"),
    "long name of a run": (lambda: run(out="x" * 300 + ".nc"), "File name too long"),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_refused_by_name(case, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    call, words = REFUSED[case]
    with pytest.raises(st.SymplectreeError, match=words):
        call()
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("scale", [1e-320, 1e-308, 1e-200, 1e-100, 1e50, 1e99, 1e154])
@pytest.mark.parametrize("what", ["mass", "length"])
def test_extreme_sizes(what, scale):
    """Right, or refused; never another library's error, and no state that is not finite."""
    try:
        model = chain(**{what: scale}).build()
    except st.ModelError:
        return
    x = np.full(3, 0.3)
    calls = [
        lambda: st.mass_matrix(model, x),
        lambda: st.forward_dynamics(model, x, x, x),
        lambda: st.inverse_dynamics(model, x, x, x),
        lambda: model.info(),
        lambda: st.linearize(model, (x, x), st.Variational(), 0.01),
        lambda: st.locked_inertia(model, x),
        lambda: st.reach(model, {"l2": (0.1, 0, -0.5)}, x),
    ]
    methods = (st.Variational(), st.Variational("midpoint"), st.Variational(order=4), st.RK4(), st.Adaptive())
    for call in calls:
        with contextlib.suppress(st.SymplectreeError):
            call()
    for method in methods:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                held = st.simulate(model, x, duration=0.05, dt=0.01, method=method)
        except st.SymplectreeError:
            continue
        assert np.all(np.isfinite(held.q)) and np.all(np.isfinite(held.v)), method


@pytest.mark.parametrize("name", ["$$x", "$x_{$", "a$b", "$\\frac$", "a_b^c", "\\alpha", "%s {0}"])
def test_names_that_look_like_formulas_are_drawn(name, tmp_path):
    held = run(pendulum(joint=name, link=name), duration=0.1)
    for what in ("coordinates", "energy", name, f"phase:{name}", f"path:{name}"):
        figure = held.plot(what)
        figure.savefig(tmp_path / "plot.png")
    held.plot("coordinates", path=tmp_path / "saved.png")
    for suffix in (".nc", ".npz", ".mat"):
        held.save(tmp_path / f"run{suffix}")
        assert st.load_trajectory(tmp_path / f"run{suffix}").model.coordinates == (name,)


def test_more_steps_than_fit_into_32_bits():
    """A stepper's count goes on, in the core and in Python, which takes the steps at which a run is started anew."""
    made = stepper()
    made._loop.count = 2**31 - 4
    for _ in range(10):
        made.step()
        made.step(n=3)
        made.step({"q": 0.1})
    made.run(20)
    assert made._loop.count == 2**31 - 4 + 70
    assert made.t == pytest.approx(0.01 * made._loop.count) and np.all(np.isfinite(made.q))
