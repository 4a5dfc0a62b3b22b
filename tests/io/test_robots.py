"""Robots from URDF and MJCF: all of two packages against Pinocchio and MuJoCo, and energy kept in motion."""

import importlib.metadata

import numpy as np
import pytest

import symplectree as st
from robot_files import (
    find,
    load_quietly,
    mjcf_files,
    mujoco_dynamics,
    our_dynamics,
    pinocchio_dynamics,
    pinocchio_mjcf,
    pinocchio_robot,
    random_state,
    urdf_files,
    worst,
)
from sexpr_round_trip import assert_round_trip

# files that no reader could make a mechanism of, and what the sentence must name
DEFECTS = {
    "ur3.urdf": ("no link",),
    "falcon.urdf": ("'top_propeller_joint'", "is no link"),
    "romeo_small.urdf": ("'RShoulderYawLink'", "largest exceeds the sum"),
    "romeo_laas_small.urdf": ("'LShoulderYaw_link'", "largest exceeds the sum"),
}
# whose fingers have no mass, and are held
FINGERS = ("bravo7_gripper.urdf", "bluevolta_bravo7_gripper.urdf", "falcon_bravo7_gripper.urdf")
STRICT = ("romeo.urdf",)  # fingers without mass that mimic each other, which Pinocchio lets move
# read otherwise by Pinocchio 4.1: half_cheetah weighs 21 kg, not 14; four or two joints are missing; swimmer has no mass
NOT_PINOCCHIO = ("half_cheetah.xml", "pusher.xml", "pusher_v5.xml", "reacher.xml", "swimmer.xml")
URDFS = [file for file in urdf_files() if file.name not in (*DEFECTS, *FINGERS)]
AGREEMENT = 1e-12  # of values of order one to 1e4, each a sum of thousands of products; measured 6e-15


def _installed(name: str) -> bool:
    try:
        importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return False
    return True


def _name(path) -> str:
    return f"{path.parent.parent.name}/{path.name}" if path.suffix == ".urdf" else path.name


def assert_agree(ours, theirs) -> None:
    for name, error in worst(ours, theirs).items():
        assert error < AGREEMENT, f"{name} is off by {error:.2g}"


@pytest.mark.skipif(not _installed("example-robot-data"), reason="example-robot-data is not installed")
def test_all_urdfs_are_there():
    assert len(urdf_files()) >= 69


@pytest.mark.skipif(not _installed("gymnasium"), reason="gymnasium is not installed")
def test_all_mjcf_files_are_there():
    assert len(mjcf_files()) >= 14


@pytest.mark.parametrize("path", URDFS, ids=_name)
def test_urdf_agrees_with_pinocchio(path):
    inertia = "strict" if path.name in STRICT else "repair"
    fixed = load_quietly(path, inertia=inertia)
    for mechanism in (fixed, load_quietly(path, base="free", inertia=inertia)):
        model = mechanism.build()
        robot = pinocchio_robot(path, mechanism, free="root" in model.joints)
        assert robot.model.nv == model.nv
        for seed in range(2):
            q, v = random_state(model, seed)
            ours = our_dynamics(model, q, v)
            ours["potential"] = ours["potential"] - model.ground_energy  # Pinocchio leaves out what cannot move
            assert_agree(ours, pinocchio_dynamics(robot, model, q, v))
    assert_round_trip(fixed)


@pytest.mark.parametrize("path", [file for file in urdf_files() if file.name in DEFECTS], ids=_name)
def test_defects_are_named(path):
    with pytest.raises(st.ModelError) as raised:
        load_quietly(path, inertia="strict")
    for words in (path.name, *DEFECTS[path.name]):
        assert words in str(raised.value)


@pytest.mark.parametrize("path", [file for file in urdf_files() if file.name in FINGERS], ids=_name)
def test_fingers_without_mass_are_held(path):
    """The mechanism is that of the same robot without a hand, and a point of the hand's frame moves with its wrist."""
    with pytest.warns(
        UserWarning, match=r"fixed: joints that move no mass \('bravo_finger1_joint', 'bravo_finger2_joint'\)"
    ):
        mechanism = st.load(path)
    model, bare = mechanism.build(), load_quietly(path.with_name(path.name.replace("gripper", "no_ee"))).build()
    assert model.coordinates == bare.coordinates
    assert "bravo_finger1_link" in model.frames
    assert_round_trip(mechanism)


@pytest.mark.parametrize("path", mjcf_files(), ids=_name)
def test_mjcf_agrees_with_mujoco(path):
    mechanism = load_quietly(path)
    model = mechanism.build()
    for seed in range(3):
        q, v = random_state(model, seed)
        assert_agree(our_dynamics(model, q, v), mujoco_dynamics(path, model, q, v))
    assert_round_trip(mechanism)


@pytest.mark.parametrize("path", [file for file in mjcf_files() if file.name not in NOT_PINOCCHIO], ids=_name)
def test_mjcf_agrees_with_pinocchio(path):
    mechanism = load_quietly(path)
    mechanism.elements.clear()  # Pinocchio's dynamics know no springs
    mechanism.limits.clear()  # of motors among them
    model = mechanism.build()
    for seed in range(2):
        q, v = random_state(model, seed)
        ours = our_dynamics(model, q, v)
        ours["potential"] = ours["potential"] - model.ground_energy
        assert_agree(ours, pinocchio_mjcf(path, model, q, v))


def without_losses(mechanism: st.Mechanism) -> st.Model:
    """The model without dampers and motors: nothing left that changes the energy."""
    mechanism.elements = [e for e in mechanism.elements if not isinstance(e, st.JointDamper | st.JointForce)]
    return mechanism.build()


ANYMAL = "anymal_b_simple_description/robots/anymal.urdf"


@pytest.mark.parametrize(
    ("name", "base", "spread"),
    [
        # arms fall at 10 rad/s and fingers whirl without limits: errors of second order at 1 ms, but no drift
        ("panda.urdf", "fixed", 1e-3), ("talos_full_v2.urdf", "fixed", 2e-3),
        # free fall turns a hundred times as much into kinetic energy as the limbs have
        (ANYMAL, "free", 1e-10), ("talos_reduced.urdf", "free", 1e-10), ("humanoid.xml", "auto", 1e-7),
    ],
)  # fmt: skip
def test_robots_keep_their_energy(name, base, spread):
    model = without_losses(load_quietly(find(name), base=base, contact=False))
    rng = np.random.default_rng(0)
    q0 = st.assemble(model, st.retract(model, model.neutral, 0.1 * rng.normal(size=model.nv)))
    v0 = st.project_velocity(model, q0, 0.3 * rng.normal(size=model.nv))
    traj = st.simulate(model, q0, v0=v0, duration=2, dt=0.001)
    energy, exchanged = traj.energy, np.ptp(traj.kinetic)
    assert exchanged > 50
    assert np.ptp(energy) < spread * exchanged
    assert abs(energy[-400:].mean() - energy[:400].mean()) < 0.2 * spread * exchanged
    if model.rows:
        assert traj.constraint_error.max() < 1e-12


@pytest.mark.parametrize("name", [ANYMAL, "talos_reduced.urdf", "panda.urdf"])
def test_robots_keep_their_momentum_in_space(name):
    mechanism = load_quietly(find(name), base="free", contact=False)
    mechanism.gravity = (0, 0, 0)
    model = mechanism.build()  # dampers stay: forces inside the robot change no momentum
    rng = np.random.default_rng(1)
    q0 = st.assemble(model, st.retract(model, model.neutral, 0.1 * rng.normal(size=model.nv)))
    v0 = st.project_velocity(model, q0, 0.5 * rng.normal(size=model.nv))
    traj = st.simulate(model, q0, v0=v0, duration=0.3, dt=0.001)
    change = np.abs(traj.momentum - traj.momentum[0]).max()
    assert np.abs(traj.v[-1] - traj.v[0]).max() > 0.1
    assert change < 1e-9 * np.abs(traj.momentum[0]).max()  # stopping of the root finder, 300 steps


@pytest.mark.parametrize(("name", "independent"), [("panda.urdf", 8), ("pr2.urdf", 20), ("baxter.urdf", 17)])
def test_robots_whose_fingers_mimic_each_other_move_the_same_without_constraints(name, independent):
    rows, shared = (load_quietly(find(name), contact=False, eliminate=e).build() for e in (False, True))
    assert (shared.nv, shared.rows) == (independent, ())
    assert len(rows.rows) == rows.nv - independent
    v = 0.1 * np.random.default_rng(0).normal(size=independent)
    given = {"duration": 0.02, "dt": 0.001}
    ours = st.simulate(shared, shared.neutral, v0=v, **given)
    theirs = st.simulate(
        rows, shared.tree_coordinates(shared.neutral), v0=shared.tree_velocities(shared.neutral, v), **given
    )
    np.testing.assert_allclose(shared.tree_coordinates(ours.q), theirs.q, atol=1e-13)
