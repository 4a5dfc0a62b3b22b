"""Joints by formula in files: the same joint to the last bit, and mistakes that are shown."""

from dataclasses import replace

import numpy as np
import pytest

import symplectree as st
from formulas import every_joint


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


def test_rolling_cannot_be_written():
    m = st.Mechanism()
    joint = next(j for j in every_joint() if isinstance(j, st.SurfaceContactJoint))
    m.world.link("a", joint, mass=1, inertia=(1, 1, 1))
    m.add(st.RollingConstraint("j", name="rolls"))
    with pytest.raises(st.ModelError, match="'rolls'"):
        m.to_sexpr()


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
