"""Plots: a panel for each unit, labelled with it."""

import pytest

import symplectree as st


@pytest.fixture(scope="module")
def trajectory():
    m = st.Mechanism()
    base = m.world.link("base", st.Free("base"), mass=1, inertia=(1, 1, 1))
    base.link("table", st.Planar("pl"), mass=1, inertia=(1, 1, 1))
    base.link("arm", st.Ball("ball"), mass=1, inertia=(1, 1, 1))
    base.link("nut", st.Screw("nut", pitch=0.1), mass=1, inertia=(1, 1, 1))
    return st.simulate(m.build(), {}, duration=0.1, dt=0.01)


@pytest.mark.parametrize(
    ("name", "labels"),
    [
        ("pl", ["pl [m]", "pl [rad]"]),
        ("pl.1", ["pl.1 [m]"]),
        ("pl.2", ["pl.2 [rad]"]),
        ("base", ["base [m]", "base, quaternion"]),
        ("base.3", ["base.3, quaternion"]),
        ("ball", ["ball, quaternion"]),
        ("nut", ["nut [rad]"]),
        ("coordinates", ["coordinates [m]", "coordinates, quaternion", "coordinates [rad]"]),
        ("momentum", ["momentum [N·m·s, N·s]"]),
    ],
)
def test_units(trajectory, name, labels):
    figure = trajectory.plot(name)
    assert [axes.get_ylabel() for axes in figure.axes] == labels


def test_curves_are_named(trajectory):
    position, turn = trajectory.plot("base").axes
    assert [line.get_label() for line in position.lines] == ["base.0", "base.1", "base.2"]
    assert [line.get_label() for line in turn.lines] == [f"base.{k}" for k in range(3, 7)]


def test_nothing_is_written_without_a_path(trajectory, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    trajectory.plot()
    assert not list(tmp_path.iterdir())
