"""Joints and elements by formula in files: the same to the last bit, and mistakes that are shown."""

import pickle
from dataclasses import replace

import numpy as np
import pytest

import symplectree as st
from formulas import ellipsoid, every_joint, wave
from symplectree.cli import main


def row_of_all():
    m = st.Mechanism()
    link = m.world
    for i, joint in enumerate(every_joint()):
        link = link.link(f"b{i}", replace(joint, name=f"j{i}"), mass=1, com=(0.1, 0.2, 0.3), inertia=(1, 1.1, 1.2))
    return m


def test_round_trip():
    m = row_of_all()
    text = m.to_sexpr()
    again = st.loads(text)
    assert again.to_sexpr() == text
    one, other = m.build(), again.build()
    np.testing.assert_array_equal(one.neutral, other.neutral)
    for body, formula in one.formulas.items():
        for a, b in zip(formula.tapes, other.formulas[body].tapes, strict=True):
            np.testing.assert_array_equal(a.code, b.code)
            np.testing.assert_array_equal(a.constants, b.constants)


def test_results_hold_the_formula(tmp_path):
    m = st.Mechanism()
    m.world.link("a", st.CurveJoint("s", lambda s: (s, 0 * s, s**2), frame="fixed"), mass=1)
    traj = st.simulate(m.build(), {"s": 0.3}, duration=0.5, dt=0.01, out=tmp_path / "run.nc")
    loaded = st.load_trajectory(tmp_path / "run.nc")
    np.testing.assert_array_equal(loaded.q, traj.q)
    np.testing.assert_array_equal(loaded.energy, traj.energy)
    longer = st.resume(tmp_path / "run.nc", duration=1.0)
    straight = st.simulate(m.build(), {"s": 0.3}, duration=1.0, dt=0.01)
    np.testing.assert_array_equal(longer.q, straight.q)


def rolling_ball():
    m = st.Mechanism()
    first, second = ellipsoid(2, 1.5, -1), ellipsoid(0.3, 0.25, 0.2)
    m.world.link("a", st.SurfaceContactJoint("c", first, second), mass=1, inertia=(0.01, 0.02, 0.03))
    m.add(st.RollingConstraint("c", pivoting=False))
    m.initial = {"c": (0.3, 0.2, 0.1, 0.1, 0.2)}
    return m


def chain_of_formulas():
    """Every formula element, of one coordinate, of a whole joint, of one of its coordinates, and of all."""
    m = st.Mechanism()
    wire = m.world.link("bead", st.CurveJoint("s", wave, frame="up", spin=True), mass=1, inertia=(0.1, 0.1, 0.2))
    arm = wire.link("arm", st.Revolute("a", "y"), mass=1, com=(0, 0, -0.4), inertia=(0.1, 0.1, 0.01))
    arm.link("fore", st.Revolute("b", "y"), at=(0, 0, -0.8), mass=1, com=(0, 0, -0.4), inertia=(0.1, 0.1, 0.01))
    m.add(
        st.FormulaPotential(lambda q: 2 * (1 - np.cos(q[0])), coordinates="a"),
        st.FormulaPotential(lambda q: 0.3 * q[0] ** 2 + 0.1 * np.sin(q[1] * q[3])),
        st.FormulaForce(lambda q, v: [-0.3 * np.fabs(v[0]) * v[0], -0.1 * v[1] * q[0]], coordinates=["s"]),
        st.FormulaForce(lambda q, v: -0.2 * v[0], coordinates=["s.1"], name="drag"),
        st.FormulaConstraint(lambda q: q[0] ** 2 + q[1] ** 2 - 0.5, coordinates=["a", "b"]),
    )
    m.initial = {"a": 0.5, "b": 0.5, "s": (0.4, 0.1)}
    return m


@pytest.mark.parametrize("make", [rolling_ball, chain_of_formulas])
def test_formula_elements_come_back_to_the_last_bit(make):
    m = make()
    text = m.to_sexpr()
    again = st.loads(text)
    assert again.to_sexpr() == text
    for method in (st.Variational(), st.Variational("midpoint"), st.RK4()):
        one, two = (
            st.simulate(mechanism.build(), mechanism.initial, duration=0.2, dt=0.01, method=method)
            for mechanism in (m, again)
        )
        np.testing.assert_array_equal(one.q, two.q)
        np.testing.assert_array_equal(one.energy, two.energy)
        np.testing.assert_array_equal(one.multipliers, two.multipliers)


def test_a_run_of_formula_elements_holds_its_model(tmp_path):
    m = chain_of_formulas()
    traj = st.simulate(m.build(), m.initial, duration=0.2, dt=0.01)
    traj.save(tmp_path / "run.nc")
    loaded = st.load_trajectory(tmp_path / "run.nc")
    np.testing.assert_array_equal(loaded.energy, traj.energy)


def call(words):
    with pytest.raises(SystemExit) as left:
        main(words)
    assert left.value.code == 0


def test_the_command_takes_files_with_formulas(tmp_path, capsys):
    for make in (rolling_ball, chain_of_formulas):
        file, tidy, run = (tmp_path / f"{make.__name__}{end}" for end in (".sexp", "_tidy.sexp", ".nc"))
        file.write_text(make().to_sexpr(), encoding="utf-8")
        call(["info", str(file)])
        call(["convert", str(file), str(tidy)])
        assert tidy.read_text(encoding="utf-8") == file.read_text(encoding="utf-8")
        call(["run", str(file), "--duration", "0.1", "--dt", "0.01", "--out", str(run)])
        assert len(st.load_trajectory(run)) == 11
    assert "RollingConstraint" in capsys.readouterr().out


def test_joints_keep_their_functions_when_pickled():
    joint = pickle.loads(pickle.dumps(st.CurveJoint("s", wave, frame="up")))
    np.testing.assert_allclose(joint.curve(0.7), wave(0.7), rtol=1e-15)
    np.testing.assert_allclose(joint.curve(np.array([0.1, 0.7]))[:, 1], wave(0.7), rtol=1e-15)
    assert joint.written().curve.tape is joint.curve.tape


def test_a_readable_formula_serves_as_a_potential():
    text = """(system (link "a" (revolute "q" (axis "y")) (mass 1) (com 0 0 -1))
      (formula-potential (formula x (* 2 (^ x 2))) {}))"""
    model = st.loads(text.format('(coordinates ("q"))')).build()
    spring = st.loads(text.format("")).build()
    assert st.potential_energy(model, [0.3]) == st.potential_energy(spring, [0.3])
    assert st.potential_energy(model, [0.3]) == pytest.approx(-9.81 * np.cos(0.3) + 0.18, rel=1e-15)


@pytest.mark.parametrize(
    ("words", "element"),
    [
        ("takes 2 numbers, not 1", "(formula-potential (values 2 1 1 (input 0 1 0) (output 0 0 0)))"),
        ("INPUTS OUTPUTS WORK", "(formula-potential (values 1 1))"),
        ("one input and one output", "(formula-potential (values 0 1 1 (const 0 1) (output 0 0 0)))"),
        ("outputs 0 to 1", "(formula-potential (values 1 2 1 (input 0 0 0) (output 0 0 0)))"),
        ("from 0 to 0", "(formula-potential (values 1 1 1 (input 0 1 0) (output 0 0 0)))"),
        ("true or false", '(rolling-constraint "q" (pivoting 2))'),
        ("'q' is no SurfaceContactJoint", '(rolling-constraint "q" (pivoting false))'),
    ],
)
def test_bad_elements(element, words):
    with pytest.raises((st.ModelSyntaxError, st.ModelError), match=words):
        st.loads(f'(system (link "a" (revolute "q" (axis "y")) (mass 1) (com 0 0 -1)) {element})').build()


def test_bad_choices():
    curve = "(values 1 3 1 (input 0 0 0) (output 0 0 0) (output 1 0 0) (output 2 0 0))"
    with pytest.raises(st.ModelSyntaxError, match='"frenet" or "up" or "fixed"'):
        st.loads(f'(system (link "a" (curve-joint "q" {curve} (frame "upright")) (mass 1)))')
    with pytest.raises(st.ModelError, match=r"'q'.*curve gives 3 numbers; 2 are needed|'q'.*first gives 3 numbers; 2"):
        st.loads(f'(system (link "a" (rolling-joint "q" {curve} {curve}) (mass 1)))').build()


@pytest.mark.parametrize(
    ("pose", "words"),
    [
        ("(pose)", "COORDINATES WORK"),
        ("(pose 1 1 (input 0 0 0))", "outputs 0 to 11"),
        ("(pose 1 1 (input 0 1 0))", "from 0 to 0"),
        ("(pose 1 1 (sin 0 0 0))", "nothing was put in place 0"),
        ("(pose 7 1 (input 0 0 0))", "from 0 to 6"),
        ("(pose 1 1 (sine 0 0 0))", "sin"),
    ],
)
def test_bad_poses(pose, words):
    with pytest.raises(st.ModelSyntaxError, match=words):
        st.loads(f'(system (link "a" (formula-joint "q" {pose}) (mass 1)))')
