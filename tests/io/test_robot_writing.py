"""Mechanisms written as MJCF and URDF: MuJoCo and Pinocchio judge, and our own reading of them."""

import warnings

import mujoco
import numpy as np
import pinocchio as pin
import pytest

import symplectree as st
from mechanisms import random_mechanism
from pinocchio_model import TWIST
from robot_files import load_quietly, our_dynamics, random_state, worst
from robot_texts import write_stl
from symplectree.elements import Constraint
from symplectree.io.robots.writing import roll_pitch_yaw
from symplectree.lie import quaternion_matrix, rpy
from symplectree.mechanism.shapes import Shape

AGREEMENT = 1e-10  # bodies without mass have 1e-13 kg·m² in MuJoCo, and poses are products of many
IN_MJCF = ("Fixed", "Revolute", "Prismatic", "Cylindrical", "Universal", "Planar", "Ball")
IN_URDF = IN_MJCF[:-1]
LOST = (st.NonlinearSpring, st.BodyWrench, st.SpatialWrench)


def written(mechanism, path):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        (mechanism.to_mjcf if path.suffix == ".xml" else mechanism.to_urdf)(path)
    assert len(caught) <= 1
    return str(caught[0].message) if caught else ""


def free_and_random(seed, kinds, *, elements=False):
    """A random tree, and a second one on a base that floats."""
    m = random_mechanism(seed, 8, joints=kinds, elements=elements)
    mass = {"mass": 2.0, "com": (0.1, 0.2, 0.3), "inertia": (0.4, 0.5, 0.6)}
    base = m.world.link("base", st.Free("base"), **mass)
    arm = base.link(
        "arm", st.Revolute("shoulder", (0.6, 0, 0.8)), at=(0, 0.3, 0.2), rotate=(0.1, 0.2, 0.3), mass=1.0, com=(0, 0, 1)
    )
    arm.link("hand", st.Prismatic("reach", "y"), at=(0, 1, 0), mass=0.5)
    return m


def mujoco_state(path, model, q, v):
    """MuJoCo's model and data at our state, P with v_mujoco = P v_ours, and Ṗ v."""
    there = mujoco.MjModel.from_xml_path(str(path))
    there.opt.enableflags |= int(mujoco.mjtEnableBit.mjENBL_ENERGY)
    data = mujoco.MjData(there)
    P, drift = np.zeros((model.nv, model.nv)), np.zeros(model.nv)
    names, rates = list(model.coordinates), list(model.velocities)
    assert there.nv == model.nv
    for j in range(there.njnt):
        name, at, to = there.joint(j).name, there.jnt_qposadr[j], there.jnt_dofadr[j]
        place = model.joints.get(name)
        if place is None or place.joint.nq == 1:
            data.qpos[at] = q[names.index(name)]
            P[to, rates.index(name)] = 1
            continue
        data.qpos[at : at + place.joint.nq] = q[place.q]
        if isinstance(place.joint, st.Free):
            R = quaternion_matrix(q[place.q][3:])
            P[to : to + 3, place.v_start + 3 : place.v_start + 6] = R
            P[to + 3 : to + 6, place.v_start : place.v_start + 3] = np.eye(3)
            drift[to : to + 3] = R @ np.cross(v[place.v][:3], v[place.v][3:])
        else:
            P[to : to + 3, place.v] = np.eye(3)
    data.qvel[:] = P @ v
    return there, data, P, drift


def mujoco_dynamics(path, model, q, v):
    there, data, P, drift = mujoco_state(path, model, q, v)
    mujoco.mj_forward(there, data)
    M = np.zeros((there.nv, there.nv))
    mujoco.mj_fullM(there, data, M)
    bias = data.qfrc_bias - data.qfrc_passive - data.qfrc_actuator + M @ drift
    return {
        "mass matrix": P.T @ M @ P, "bias": P.T @ bias, "kinetic": data.energy[1], "potential": data.energy[0],
    }  # fmt: skip


def assert_agree(ours, theirs):
    for name, error in worst(ours, theirs).items():
        assert error < AGREEMENT, f"{name} is off by {error:.2g}"


@pytest.mark.parametrize("seed", range(12))
def test_mujoco_moves_what_is_written(tmp_path, seed):
    m = free_and_random(seed, IN_MJCF, elements=True)
    message = written(m, tmp_path / "r.xml")
    assert message.count("NonlinearSpring") == 2
    assert "BodyWrench" in message
    m.elements = [e for e in m.elements if not isinstance(e, LOST)]
    model = m.build()
    for state in range(3):
        q, v = random_state(model, state)
        ours = our_dynamics(model, q, v)
        ours["potential"] = ours["potential"] - model.ground_energy  # of what stands on the ground: MuJoCo counts none
        theirs = mujoco_dynamics(tmp_path / "r.xml", model, q, v)
        assert_agree(ours, theirs)


@pytest.mark.parametrize("seed", range(6))
def test_our_reading_of_what_is_written(tmp_path, seed):
    m = free_and_random(seed, IN_MJCF)
    assert written(m, tmp_path / "r.xml") == ""
    model, again = m.build(), load_quietly(tmp_path / "r.xml").build()
    assert set(model.coordinates) == set(again.coordinates)
    order = [model.coordinates.index(name) for name in again.coordinates]
    rates = [model.velocities.index(name) for name in again.velocities]
    q, _ = random_state(model, seed)
    M = st.mass_matrix(model, q)[np.ix_(rates, rates)]
    np.testing.assert_allclose(st.mass_matrix(again, q[order]), M, atol=1e-11)
    for frame in (name for name in model.frames if name in again.frames):
        np.testing.assert_allclose(st.pose(again, q[order], frame), st.pose(model, q, frame), atol=1e-12)


def pinocchio_state(there, model, q):
    """Pinocchio's configuration, and P(q) with v_pinocchio = P v_ours."""
    x, P = pin.neutral(there), np.zeros((there.nv, model.nv))
    for name in list(there.names)[1:]:
        joint = there.joints[there.getJointId(name)]
        if name in model.joints and model.joints[name].joint.nq == 7:
            place = model.joints[name]
            x[joint.idx_q : joint.idx_q + 7] = q[place.q][[0, 1, 2, 4, 5, 6, 3]]
            P[joint.idx_v : joint.idx_v + 6, place.v] = np.eye(6)[TWIST]
            continue
        value = q[model.coordinates.index(name)]
        x[joint.idx_q : joint.idx_q + joint.nq] = (np.cos(value), np.sin(value)) if joint.nq == 2 else value
        P[joint.idx_v, model.velocities.index(name)] = 1
    return x, P


@pytest.mark.parametrize("seed", range(10))
def test_pinocchio_moves_what_is_written(tmp_path, seed):
    m = free_and_random(seed, IN_URDF)
    m.gravity = (0, 0, -9.81)
    scalars = [frame.joint.name for frame in m.tree if frame.joint.nv]
    m.add(*(st.JointDamper(name, 0.1 * (i + 1)) for i, name in enumerate(scalars) if name != "base"))
    armed = [f.joint.name for f in m.tree if f.joint.nv and np.any(f.joint.armatures())]
    message = written(m, tmp_path / "r.urdf")
    assert ("armature" in message) == bool(armed)
    model = m.build()
    there = pin.buildModelFromUrdf(str(tmp_path / "r.urdf"))
    data, (q, v) = there.createData(), random_state(model, seed)
    x, P = pinocchio_state(there, model, q)
    M = pin.crba(there, data, x)
    M = P.T @ (np.triu(M) + np.triu(M, 1).T) @ P
    assert_agree(
        {
            "mass matrix": st.mass_matrix(model, q) - np.diag(model.armature),
            "bias": st.bias_forces(model, q, v),
            "kinetic": st.kinetic_energy(model, q, v) - model.armature @ v**2 / 2,
            "potential": st.potential_energy(model, q) - model.ground_energy,
        },
        {
            "mass matrix": M,
            "bias": P.T @ (pin.nonLinearEffects(there, data, x, P @ v) + there.damping * (P @ v)),
            "kinetic": pin.computeKineticEnergy(there, data, x, P @ v),
            "potential": pin.computePotentialEnergy(there, data, x),
        },
    )


def arm(**links):
    m = st.Mechanism()
    upper = m.world.link("upper", st.Revolute("shoulder", "y"), mass=1.0, com=(0, 0, -0.5), **links)
    lower = upper.link("lower", st.Revolute("elbow", "y"), at=(0, 0, -1), mass=1.0, com=(0, 0, -0.5))
    lower.frame("tip", at=(0, 0, -1))
    m.world.frame("hook", at=(1, 0, -1))
    return m


def test_constraints_motors_and_start(tmp_path):
    m = arm()
    m["lower"].link("wrist", st.Revolute("wrist", "y"), at=(0, 0, -1), mass=0.1, com=(0.1, 0, 0))
    m.add(
        st.GearConstraint("shoulder", "elbow", ratio=-2.0, offset=0.1), st.PointConstraint("tip", "hook"),
        st.WeldConstraint("wrist", "tip"), st.JointForce("elbow", "motor"), st.JointForce("shoulder", 3.0),
    )  # fmt: skip
    m.initial = {"shoulder": 0.3, "elbow": -0.5}
    assert written(m, tmp_path / "r.xml") == ""
    there = mujoco.MjModel.from_xml_path(str(tmp_path / "r.xml"))
    assert [there.equality(i).name for i in range(there.neq)] == [
        "gearconstraint1",
        "pointconstraint1",
        "weldconstraint1",
    ]
    np.testing.assert_allclose(there.key("home").qpos, [0.3, -0.5, 0])
    data = mujoco.MjData(there)
    data.ctrl[there.actuator("motor").id] = 2.0
    mujoco.mj_forward(there, data)
    np.testing.assert_allclose(data.qfrc_actuator, [3, 2, 0])
    again = load_quietly(tmp_path / "r.xml")
    kinds = [type(element).__name__ for element in again.elements if isinstance(element, Constraint)]
    assert kinds == ["GearConstraint", "PointConstraint", "PointConstraint"]  # in the plane, a weld is one more row
    assert len(again.build().rows) == 4
    m.elements = m.elements[:1]
    written(m, tmp_path / "r.urdf")
    gear = load_quietly(tmp_path / "r.urdf").elements[0]
    assert (gear.a, gear.b, gear.ratio, gear.offset) == ("shoulder", "elbow", -2, 0.1)


def test_loops_of_planar_linkages(tmp_path):
    m = st.load("four_bar")
    assert written(m, tmp_path / "r.xml") == ""
    model, again = m.build(), load_quietly(tmp_path / "r.xml").build()
    assert len(model.rows) == len(again.rows) == 2
    q = st.assemble(model, m.initial)
    ours, theirs = (st.simulate(which, q, duration=0.2, dt=0.001) for which in (model, again))
    np.testing.assert_allclose(theirs.q, ours.q, atol=1e-9)
    m = arm()
    m.add(st.PointConstraint("tip", "hook", "x"))
    assert "PointConstraint" in written(m, tmp_path / "r.xml")


def test_a_free_body_starts_where_it_is_placed(tmp_path):
    m = st.Mechanism()
    table = m.world.frame("table", at=(0, 0, 1))
    table.link("box", st.Free("box"), at=(0.5, 0, 0), rotate=(0, 0, np.pi / 2), mass=1.0, inertia=(1, 1, 1))
    m.initial = {"box": (1, 0, 0, 1, 0, 0, 0)}
    written(m, tmp_path / "r.xml")
    there = mujoco.MjModel.from_xml_path(str(tmp_path / "r.xml"))
    for q in (there.qpos0, there.key("home").qpos):
        np.testing.assert_allclose(q, [0.5, 1, 1, np.sqrt(0.5), 0, 0, np.sqrt(0.5)], atol=1e-12)


def test_shapes_are_written(tmp_path):
    write_stl(tmp_path / "t.stl")
    m = arm()
    T = np.eye(4)
    T[:3, 3] = (0.1, 0.2, 0.3)
    sizes = {"sphere": (0.1,), "box": (0.1, 0.2, 0.3), "cylinder": (0.1, 0.4), "capsule": (0.1, 0.5),
             "ellipsoid": (0.1, 0.2, 0.3), "plane": (1.0, 2.0)}  # fmt: skip
    m.shapes = [Shape("upper" if kind != "plane" else "world", kind, size, T) for kind, size in sizes.items()]
    m.shapes.append(Shape("tip", "mesh", (), T, mesh=str(tmp_path / "t.stl"), scale=(1, 2, 3)))
    written(m, tmp_path / "r.xml")
    again = load_quietly(tmp_path / "r.xml")
    assert {(s.frame, s.kind, s.size) for s in again.shapes} == {(s.frame, s.kind, s.size) for s in m.shapes}
    for shape in again.shapes:
        np.testing.assert_allclose(shape.pose[:3, 3], T[:3, 3], atol=1e-9)
    written(m, tmp_path / "r.urdf")
    assert [s.kind for s in load_quietly(tmp_path / "r.urdf").shapes] == ["sphere", "box", "cylinder", "mesh"]


@pytest.mark.parametrize(
    ("joint", "formats"),
    [(st.Screw("j", "z", pitch=0.1), ("xml", "urdf")), (st.Ball("j"), ("urdf",)), (st.Free("j"), ("xml",))],
)
def test_what_cannot_be_written_is_refused(tmp_path, joint, formats):
    m = arm()
    m["lower"].link("odd", joint, mass=1.0, com=(0.1, 0.2, 0.3), inertia=(1, 1, 1))
    for suffix in formats:
        path = tmp_path / f"r.{suffix}"
        with pytest.raises(st.ModelError, match=r"cannot hold this mechanism.*'j'"):
            (m.to_mjcf if suffix == "xml" else m.to_urdf)(path)
        assert not path.exists()


@pytest.mark.parametrize("write", ["to_mjcf", "to_urdf"])
def test_paths_that_are_none(tmp_path, write):
    for path, words in ((5, "not to 5"), (None, "not to None"), (tmp_path, "is a folder"), ("", "is a folder")):
        with pytest.raises(st.ModelError, match=words):
            getattr(arm(), write)(path)
    with pytest.raises(OSError, match="cannot be written"):
        getattr(arm(), write)(tmp_path / "no" / "folder.xml")
    with pytest.raises(st.ModelError, match="no coordinate"):
        getattr(st.Mechanism(), write)(tmp_path / "empty.xml")


def test_what_is_left_out_of_urdf_is_named(tmp_path):
    m = arm()
    m.gravity = (0, 0, -1.62)
    m.add(st.Spring("tip", "hook", stiffness=1.0, name="bungee"), st.JointForce("elbow", "motor"))
    with pytest.warns(
        UserWarning, match=r"URDF has no such thing: gravity .*Spring bungee, JointForce without name, element 2"
    ) as caught:
        m.to_urdf(tmp_path / "r.urdf")
    assert caught[0].filename == __file__


def test_roll_pitch_yaw_is_exact_at_its_singularity():
    rng = np.random.default_rng(0)
    for pitch in (0.3, np.pi / 2, -np.pi / 2, np.pi / 2 - 1e-9, 3.0):
        R = rpy(*rng.uniform(-3, 3, 1), pitch, *rng.uniform(-3, 3, 1))
        np.testing.assert_allclose(rpy(*roll_pitch_yaw(R)), R, atol=1e-15)


def test_actuators_move_in_mujoco_as_here(tmp_path):
    import mujoco

    m = st.Mechanism()
    bar = {"mass": 1.0, "com": (0.1, 0, -0.4), "inertia": (0.1, 0.12, 0.03)}
    upper = m.world.link("upper", st.Revolute("shoulder", axis="y"), **bar)
    lower = upper.link("lower", st.Revolute("elbow", axis=(0, 0.6, 0.8)), at=(0, 0, -1), **bar)
    lower.frame("jet", at=(0, 0.1, -0.5), rotate=(0.2, 0.3, 0.4))
    m.add(
        st.PositionServo("shoulder", kp=30.0, kv=2.0, gear=1.4, force_range=(-3, 4), name="hold"),
        st.VelocityServo("elbow", kv=0.7, control_range=(-1, 1), name="spin"),
        st.Actuator(("shoulder", "elbow"), gear=(0.5, -1.0), gain=2.0, bias=(0.1, -1.0, -0.3), name="rope"),
        st.Tendon(
            ("shoulder", "elbow"), coefficients=(1.0, 0.5), stiffness=3.0, rest=(-0.1, 0.2), damping=0.1, name="band"
        ),
        st.Thruster("jet", force=(0.5, 0, 1), torque=(0, 0.1, 0), control_range=(0, 2), name="thrust"),
    )
    m.to_mjcf(tmp_path / "arm.xml")
    there = mujoco.MjModel.from_xml_path(str(tmp_path / "arm.xml"))
    data, model = mujoco.MjData(there), m.build()
    rng = np.random.default_rng(4)
    for _ in range(5):
        q, v, u = rng.normal(size=2), rng.normal(size=2), 2 * rng.normal(size=4)
        data.qpos[:], data.qvel[:], data.ctrl[:] = q, v, u
        mujoco.mj_forward(there, data)
        a = st.forward_dynamics(model, q, v, np.zeros(2), inputs=u)
        np.testing.assert_allclose(a, data.qacc, rtol=0, atol=1e-9)
