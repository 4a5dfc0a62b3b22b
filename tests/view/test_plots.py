"""Plots: a panel for each unit, labelled with it."""

from itertools import pairwise

import numpy as np
import pytest

import symplectree as st
from picture_layout import faults
from symplectree.view.picture import Picture, label_sparsely
from symplectree.view.plots import panels


@pytest.fixture(scope="module")
def trajectory():
    m = st.Mechanism()
    base = m.world.link("base", st.Free("base"), mass=1, inertia=(1, 1, 1))
    base.link("table", st.Planar("pl"), mass=1, inertia=(1, 1, 1))
    base.link("arm", st.Ball("ball"), mass=1, inertia=(1, 1, 1))
    base.link("nut", st.Screw("nut", pitch=0.1), mass=1, inertia=(1, 1, 1))
    return st.simulate(m.build(), {}, duration=0.1, dt=0.01)


def test_followers_have_curves_and_units():
    m = st.Mechanism()
    m.world.link("nut", st.Cylindrical("nut"), mass=1, inertia=(1, 1, 1))
    m.add(st.ScrewConstraint("nut.0", "nut.1", pitch=0.1, eliminate=True))
    trajectory = st.simulate(m.build(), {}, duration=0.1, dt=0.01)
    assert [axes.get_ylabel() for axes in trajectory.plot("nut.1").axes] == ["nut.1 [m]"]
    assert [axes.get_ylabel() for axes in trajectory.plot("coordinates").axes] == ["coordinates [rad]"]
    with pytest.raises(st.ModelError, match="no phase portrait"):
        trajectory.plot("phase:nut.1")


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
        ("energy", ["energy [J]", "total − start [J]"]),
        ("momentum", ["angular momentum [N·m·s]", "linear momentum [N·s]"]),
        ("velocities", ["velocities [rad/s]", "velocities [m/s]"]),
        ("phase:nut", ["velocity of nut [rad/s]"]),
        ("phase:pl.0", ["velocity of pl.0 [m/s]"]),
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


def test_pictures_are_written_or_refused(trajectory, tmp_path):
    for name in ("run.png", "run.svg", "run.pdf"):
        trajectory.plot("nut", path=tmp_path / name)
        assert (tmp_path / name).stat().st_size > 1000
    with pytest.raises(st.ResultError, match=r"give one of \.png"):
        trajectory.plot("nut", path=tmp_path / "run.doc")
    with pytest.raises(st.ResultError, match="there is no folder"):
        trajectory.plot("nut", path=tmp_path / "no" / "run.png")


def test_phase_portraits_are_velocity_over_position(trajectory):
    (axes,) = trajectory.plot("phase:pl.1").axes
    x, y = axes.lines[0].get_data()
    assert axes.get_xlabel() == "pl.1 [m]"
    assert (x == trajectory["pl.1"]).all()
    assert (y == trajectory.v[:, trajectory.model.velocities.index("pl.1")]).all()


@pytest.mark.parametrize("name", ["phase:ball.0", "phase:base", "phase:pl"])
def test_no_phase_portrait_of_several_coordinates_or_quaternions(trajectory, name):
    with pytest.raises(st.ModelError, match="no phase portrait"):
        trajectory.plot(name)


def test_unknown_names_are_refused(trajectory):
    for name in ("enrgy", "phase:nt"):
        with pytest.raises(st.ModelError, match="nothing that can be plotted is named"):
            trajectory.plot(name)


def test_constraint_error_has_a_unit_and_a_logarithmic_axis():
    m = st.Mechanism()
    arm = m.world.link("arm", st.Revolute("a", "y"), mass=1, com=(0, 0, -1))
    arm.link("end", st.Revolute("b", "y"), at=(0, 0, -1), mass=1, com=(1, 0, 0)).frame("tip", at=(1, 0, 0))
    m.add(st.PointConstraint("world", "tip", "x"))
    model = m.build()
    traj = st.simulate(model, st.assemble(model, {"a": 0.5, "b": 1.0}), duration=0.1, dt=0.01)
    axes = traj.plot("constraint_error", "a").axes
    assert [a.get_ylabel() for a in axes] == ["constraint error [m]", "a [rad]"]
    assert axes[0].get_yscale() == "log"
    assert [a.get_xlabel() for a in axes] == ["", "time [s]"]


@pytest.mark.parametrize("span", [1.5, 4, 30, 900, 1e5, 1e12])
def test_labels_of_logarithmic_axes_do_not_overlap(span):
    figure = Picture(figsize=(3, 2))
    axes = figure.subplots()
    axes.loglog([3, 3 * span], [2e-7, 2e-7 * span])
    label_sparsely(axes.xaxis)
    figure.canvas.draw()
    labels = [label for label in axes.get_xticklabels(which="both") if label.get_text()]
    boxes = [label.get_window_extent() for label in labels]
    inside = sorted((box.x0, box.x1) for box in boxes if axes.bbox.x0 - 1 <= (box.x0 + box.x1) / 2 <= axes.bbox.x1 + 1)
    assert len(inside) >= 1
    assert all(end < begin for (_, end), (begin, _) in pairwise(inside))


@pytest.fixture(scope="module")
def driven():
    mechanism = st.load("slider_crank")
    model = mechanism.build()
    q0 = st.assemble(model, mechanism.initial, fixed=["crank"])
    crank = q0[model.coordinates.index("crank")]
    motion = {"crank": lambda t: crank + 5 * t}
    return st.simulate(model, q0, duration=1, dt=0.01, prescribed=motion)


def test_forces_of_constraints_and_prescribed_motions(driven):
    (axes,) = driven.plot("prescribed_forces").axes
    assert axes.get_ylabel() == "prescribed forces [N·m]"
    x, y = axes.lines[0].get_data()
    assert np.array_equal(x[:-1], driven.t_forces) and np.array_equal(y[:-1], driven.prescribed_forces[:, 0])
    (axes,) = driven.plot("multipliers").axes
    assert [line.get_label() for line in axes.lines] == list(driven.model.rows)
    assert np.array_equal(axes.lines[1].get_ydata()[:-1], driven.multipliers[:, 1])


def test_positions_and_paths_of_frames(driven):
    way = driven.pose("small end")[:, :3, 3]
    (axes,) = driven.plot("small end").axes
    assert axes.get_ylabel() == "small end [m]" and [line.get_label() for line in axes.lines] == ["x", "y", "z"]
    (axes,) = driven.plot("path:rod").axes
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("x of rod [m]", "z of rod [m]") and axes.get_aspect() == 1
    joint = driven.pose("rod")[:, :3, 3]
    assert np.array_equal(axes.lines[0].get_xydata(), joint[:, [0, 2]])
    assert np.ptp(way[:, 0]) > 0.1
    assert driven.plot("crank").axes[0].get_ylabel() == "crank [rad]"  # a coordinate, though a link has the name, too
    assert driven.plot("path:crank").axes[0].get_ylabel() == "z of crank [m]"


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("enrgy", "did you mean 'energy'?"),
        ("multiplier", "did you mean 'multipliers'?"),
        ("small ned", "did you mean 'small end'?"),
        ("path:smal end", "did you mean 'path:small end'?"),
        ("phase:crnk", "did you mean 'phase:crank'?"),
        (
            "zzz",
            "there are energy, momentum, coordinates, velocities, constraint_error, multipliers, prescribed_forces;",
        ),
        (
            3,
            "coordinates crank, big end, piston; positions of frames rod, small end; 'phase:COORDINATE' and 'path:FRAME'",
        ),
    ],
)
def test_what_cannot_be_plotted_gets_a_list(driven, name, words):
    with pytest.raises(st.ModelError) as raised:
        driven.plot(name)
    assert words in str(raised.value)


def test_forces_that_no_run_has_are_not_offered(trajectory):
    for name in ("multipliers", "prescribed_forces"):
        with pytest.raises(st.ModelError, match=f"is named '{name}'"):
            trajectory.plot(name)


def test_the_error_of_the_energy_has_a_scale_of_its_own(trajectory):
    energies, error = trajectory.plot("energy").axes
    assert [line.get_label() for line in energies.lines] == ["kinetic", "potential", "total"]
    np.testing.assert_array_equal(error.lines[0].get_ydata(), trajectory.energy - trajectory.energy[0])
    low, high = error.get_ylim()
    assert high - low < 3 * np.ptp(trajectory.energy - trajectory.energy[0]) + 1e-12


@pytest.mark.parametrize("count", [11, 25, 40])
def test_many_curves_are_told_apart_and_labels_are_whole(count):
    m = st.Mechanism()
    link = m.world
    for i in range(count):
        link = link.link(
            f"l{i}", st.Revolute(f"a joint with a long name {i}", "y"), at=(0, 0, -1), mass=1, com=(0, 0, -1)
        )
    traj = st.simulate(m.build(), {"a joint with a long name 0": 0.3}, duration=0.2, dt=0.01)
    figure = traj.plot("coordinates", "energy", "phase:a joint with a long name 2", "momentum")
    assert faults(figure) == []
    styles = [(line.get_color(), str(line._dash_pattern)) for line in figure.axes[0].lines]
    assert len(set(styles)) == min(count, 30)
    assert (figure.axes[0].get_legend() is None) == (count == 40)


def test_the_check_of_layouts_finds_what_is_wrong():
    figure = Picture(figsize=(3, 2))
    axes = figure.subplots()
    axes.plot([0, 1], [0, 1], label="a curve below its legend")
    axes.legend(loc="upper right")
    axes.text(0.5, 0.1, "one")
    axes.text(0.5, 0.1, "two")
    axes.set_xlabel("below the picture")
    found = " ".join(faults(figure))
    assert (
        "covers a curve" in found and "'one' and 'two' overlap" in found and "'below the picture' is cut off" in found
    )


@pytest.mark.parametrize(
    ("name", "multipliers", "error"),
    [
        ("four_bar", ["multipliers [N]"], "constraint error [m]"),
        ("gear_pair", ["multipliers [N·m]"], "constraint error [rad]"),
        ("cam_follower", ["multipliers [N]"], "constraint error [m]"),
        ("screw_jack", ["multipliers [N]"], "constraint error [m]"),
    ],
)
def test_multipliers_and_errors_have_the_units_of_their_constraints(name, multipliers, error):
    mechanism = st.load(name)
    model = mechanism.build()
    traj = st.simulate(model, st.assemble(model, mechanism.initial), duration=0.02, dt=0.001)
    assert [panel.label for panel in panels(traj, "multipliers")] == multipliers
    assert [panel.label for panel in panels(traj, "constraint_error")] == [error]


def test_multipliers_of_both_units_have_a_panel_each():
    m = st.Mechanism()
    for name, joint in (("a", st.Revolute), ("b", st.Revolute), ("c", st.Prismatic)):
        m.world.link(name, joint(name, "x"), mass=1, inertia=(1, 1, 1))
    m.add(st.GearConstraint("a", "b", ratio=2, name="gear"), st.GearConstraint("a", "c", ratio=0.1, name="rack"))
    traj = st.simulate(m.build(), {}, v0={"a": 1}, duration=0.02, dt=0.001)
    found = {panel.label: list(panel.curves) for panel in panels(traj, "multipliers")}
    assert found == {"multipliers [N·m]": ["gear"], "multipliers [N]": ["rack"]}
    assert panels(traj, "constraint_error")[0].label == "constraint error [m or rad]"
