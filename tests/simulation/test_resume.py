"""Runs that go on by another method, and results that are those of another model."""

import numpy as np
import pytest

import symplectree as st
from symplectree.integrators.classical import ClassicalRun
from symplectree.io import bundled_models

METHODS = [
    st.Variational(), st.Variational(order=4), st.Variational(action="midpoint"), st.RK4(), st.SemiImplicitEuler(),
    st.Adaptive(),
]  # fmt: skip


def pendulum(mass=5.0):
    m = st.Mechanism()
    m.world.link("arm", st.Revolute("swing", axis="y"), mass=mass, com=(0, 0, -1))
    return m.build()


def four_bar():
    mechanism = st.loads(bundled_models.text("four_bar"))
    model = mechanism.build()
    return model, st.assemble(model, mechanism.initial)


@pytest.mark.parametrize("second", METHODS, ids=repr)
@pytest.mark.parametrize("first", METHODS, ids=repr)
def test_another_method_goes_on_from_the_last_state(first, second, tmp_path):
    model = pendulum()
    st.simulate(model, {"swing": 0.5}, v0={"swing": 1}, duration=0.5, dt=0.005, method=first, out=tmp_path / "run.nc")
    before = st.load_trajectory(tmp_path / "run.nc")
    after = st.resume(tmp_path / "run.nc", duration=1.0, method=second)
    assert after.settings.method == repr(second)
    rounding = 1e-8 if first == second else 1e-12  # Adaptive looks for its steps anew
    np.testing.assert_allclose(after.q[: len(before)], before.q, atol=rounding)
    np.testing.assert_allclose(after.v[: len(before)], before.v, atol=rounding)
    exact = st.simulate(model, {"swing": 0.5}, v0={"swing": 1}, duration=1.0, dt=0.005, method=st.Adaptive())
    first_order = st.SemiImplicitEuler() in (first, second)
    np.testing.assert_allclose(after.v, exact.v, atol=0.05 if first_order else 1e-4)
    held = st.load_trajectory(tmp_path / "run.nc")
    np.testing.assert_array_equal(held.q, after.q)
    longer = st.resume(tmp_path / "run.nc", duration=1.5)  # by the second method, which the file knows
    assert longer.settings.method == repr(second)
    np.testing.assert_allclose(longer.q[: len(after)], after.q, atol=1e-8)


@pytest.mark.parametrize("second", METHODS, ids=repr)
@pytest.mark.parametrize("first", [st.Variational(), st.Variational(order=4), st.RK4()], ids=repr)
@pytest.mark.parametrize(("held", "save_every"), [((), 1), (("J",), 7)], ids=["free", "held"])
def test_another_method_under_constraints(first, second, held, save_every, tmp_path):
    """Motion, velocities and multipliers go on as of one method throughout; so after a second interruption."""
    mechanism = st.loads(bundled_models.text("closed_chain_device"))
    model = mechanism.build()
    q0 = st.assemble(model, mechanism.initial)
    held = {name: q0[model.coordinates.index(name)] for name in held}
    given = {"dt": 0.002, "prescribed": held, "save_every": save_every}
    st.simulate(model, q0, duration=0.1, method=first, out=tmp_path / "run.nc", **given)
    st.resume(tmp_path / "run.nc", duration=0.12, method=second)
    after = st.resume(tmp_path / "run.nc", duration=0.2)
    one = st.simulate(model, q0, duration=0.2, method=second, **given)
    np.testing.assert_array_equal(after.t, one.t)
    loose = 30 if st.SemiImplicitEuler() in (first, second) else 1
    np.testing.assert_allclose(after.q, one.q, atol=1e-4 * loose)
    np.testing.assert_allclose(after.v, one.v, atol=3e-3 * loose)
    size = np.abs(one.multipliers).max()
    np.testing.assert_allclose(after.multipliers[1:], one.multipliers[1:], atol=0.03 * loose * size)
    if held:
        size = np.abs(one.prescribed_forces).max()
        np.testing.assert_allclose(after.prescribed_forces[1:], one.prescribed_forces[1:], atol=0.03 * loose * size)


def test_the_same_method_given_again_is_the_same_to_the_last_bit(tmp_path, monkeypatch):
    model, q0 = four_bar()
    monkeypatch.setattr("symplectree.simulation.recording.restart_interval", lambda model: 20)
    whole = st.simulate(model, q0, duration=1, dt=0.01)
    st.simulate(model, q0, duration=0.55, dt=0.01, out=tmp_path / "run.nc")
    again = st.resume(tmp_path / "run.nc", duration=1, method=st.Variational(order=2))
    np.testing.assert_array_equal(again.q, whole.q)


def test_a_method_of_the_users_own_is_the_same_again(tmp_path, monkeypatch):
    class Own:
        def start(self, model, q, v, dt, forces, prescribed):
            return ClassicalRun("rk4", model, q, v, dt=dt, forces=forces, prescribed=prescribed)

    monkeypatch.setattr("symplectree.simulation.recording.restart_interval", lambda model: 20)
    whole = st.simulate(pendulum(), {"swing": 0.5}, duration=1, dt=0.01, method=Own())
    st.simulate(pendulum(), {"swing": 0.5}, duration=0.55, dt=0.01, method=Own(), out=tmp_path / "run.nc")
    with pytest.raises(st.ModelError, match="give it with method="):
        st.resume(tmp_path / "run.nc", duration=1)
    again = st.resume(tmp_path / "run.nc", duration=1, method=Own())
    np.testing.assert_array_equal(again.q, whole.q)
    assert again.restart.step == 100


def test_other_coordinates_cannot_become_prescribed(tmp_path):
    st.simulate(pendulum(), {"swing": 0.5}, duration=0.1, dt=0.01, out=tmp_path / "run.nc")
    with pytest.raises(st.ModelError, match=r"prescribes nothing.*'swing'"):
        st.resume(tmp_path / "run.nc", duration=1, prescribed={"swing": 0.5})


@pytest.mark.parametrize("use", [st.load_trajectory, st.resume])
@pytest.mark.parametrize("suffix", [".nc", ".npz"])
def test_another_model_with_the_same_names_is_refused(use, suffix, tmp_path):
    path = tmp_path / f"run{suffix}"
    st.simulate(pendulum(), {"swing": 0.5}, duration=0.1, dt=0.01).save(path)
    with pytest.raises(st.ModelError, match=r"another model's run: where it has .*5.* the given model has .*2.5"):
        use(path, model=pendulum(2.5))
    assert len(use(path, model=pendulum())) == 11


def test_a_start_that_the_model_carries_does_not_matter(tmp_path):
    st.simulate(pendulum(), {"swing": 0.5}, duration=0.1, dt=0.01).save(tmp_path / "run.nc")
    mechanism = st.loads(pendulum().text)
    mechanism.initial = {"swing": 2.0}
    assert len(st.load_trajectory(tmp_path / "run.nc", model=mechanism.build())) == 11


@pytest.mark.filterwarnings("ignore:the model is not saved")
@pytest.mark.parametrize("suffix", [".nc", ".csv"])
def test_another_model_is_known_by_its_energy_where_the_file_holds_no_text(suffix, tmp_path):
    def with_function(mass):
        m = st.Mechanism()
        m.world.link("arm", st.Revolute("swing", axis="y"), mass=mass, com=(0, 0, -1))
        return m.add(st.UserPotential(lambda q: q[0] ** 2, lambda q: 2 * q)).build()

    path = tmp_path / f"run{suffix}"
    st.simulate(with_function(5.0), {"swing": 0.5}, duration=0.1, dt=0.01).save(path)
    with pytest.raises(
        st.ModelError, match=r"another model's run: at t = 0 s the energy is -42.*J, of the given model -21"
    ):
        st.load_trajectory(path, model=with_function(2.5))
    assert len(st.load_trajectory(path, model=with_function(5.0))) == 11


@pytest.mark.parametrize("count", [3, 4, 7])
def test_few_prescribed_values_are_no_constants(count, tmp_path):
    """Arrays are not in the file, however many values they have; held coordinates are."""
    rows = list(0.1 * np.arange(count))
    given = {"duration": 0.01 * (count - 1), "dt": 0.01}
    traj = st.simulate(pendulum(), {}, prescribed={"swing": rows}, out=tmp_path / "run.nc", **given)
    assert traj.settings.prescribed is None
    with pytest.raises(st.ModelError, match="give prescribed= again"):
        st.resume(tmp_path / "run.nc", duration=1)
    held = st.simulate(pendulum(), {}, prescribed={"swing": 0.3}, **given)
    assert held.settings.prescribed == {"swing": (0.3,)}
