"""What build() makes of a description: folding, merging, numbering, names."""

import copy
import pickle

import numpy as np
import pytest

import symplectree as st
from mechanisms import JOINTS, planar_chain, random_mechanism, random_state, spatial_chain
from symplectree.elements import Constraint, Element
from symplectree.elements.actuator import Drive
from symplectree.lie import placement
from symplectree.mechanism.model import KINDS

ARRAYS = (
    "gravity", "parent", "kind", "axis", "pitch", "placement", "mass", "com", "inertia", "q_start", "v_start",
    "armature",
)  # fmt: skip


def assert_same_bodies(one: st.Model, other: st.Model) -> None:
    assert one.coordinates == other.coordinates
    for name in ARRAYS:
        # the two notations multiply the same matrices in another order: a few roundings
        np.testing.assert_allclose(getattr(one, name), getattr(other, name), rtol=0, atol=1e-14, err_msg=name)


def two_links() -> st.Mechanism:
    m = st.Mechanism()
    upper = m.world.link("J", st.Revolute("J", "y"))
    upper.frame("I", at=(0, 0, -0.5), mass=1.0, inertia=(0.084, 0.084, 0.002))
    upper.link("H", st.Revolute("H", "y"), at=(0, 0, -1)).frame("G", at=(0, 0, -0.5), mass=2.0)
    return m


def test_links_and_nested_frames_give_equal_models():
    nested = st.Mechanism().frames(
        st.ry("J", name="J")[
            st.tz(-0.5, name="I", mass=(1.0, 0.084, 0.084, 0.002)),
            st.tz(-1)[st.ry("H", name="H")[st.tz(-0.5, name="G", mass=2.0)]],
        ]
    )
    assert_same_bodies(nested.build(), two_links().build())


def test_nested_frames_of_all_six_kinds_compose_like_links():
    nested = st.Mechanism().frames(
        st.tx("a")[st.rx(0.3)[st.ty(0.5)[st.ry("b")[st.rz(-0.7)[st.tz(0.2, mass=(1, 2, 2, 1))]]]]],
        st.ty("c", mass=1)[st.tz("d", mass=2)[st.rx("e")[st.ry(0.4)[st.rz("f", mass=(0, 1, 1, 1))]]]],
    )
    m = st.Mechanism()
    a = m.world.link("a", st.Prismatic("a", "x"))
    turned = placement((0, 0, 0), (0.3, 0, 0)) @ placement((0, 0.5, 0), None)
    b = a.link("b", st.Revolute("b", "y"), at=turned[:3, 3], rotate=turned[:3, :3])
    b.frame("b mass", rotate=(0, 0, -0.7)).add_mass(1, com=(0, 0, 0.2), inertia=(2, 2, 1))
    c = m.world.link("c", st.Prismatic("c", "y"), mass=1)
    e = c.link("d", st.Prismatic("d", "z"), mass=2).link("e", st.Revolute("e", "x"))
    e.link("f", st.Revolute("f", "z"), rotate=(0, 0.4, 0), inertia=(1, 1, 1))
    assert_same_bodies(nested.build(), m.build())


def test_frames_hang_below_any_frame_and_a_literal_can_be_used_twice():
    m = st.Mechanism()
    arm = m.world.link("arm", st.Revolute("shoulder", "y"), mass=1, com=(0, 0, -1))
    stub = st.tz(-1, mass=1)
    arm.frames(stub, stub[st.tx(1, name="end")])
    model = m.build()
    assert model.mass == pytest.approx([3.0])
    np.testing.assert_allclose(model.frame_offset[model.find_frame("end")][:3, 3], (1, 0, -1))


def test_frame_without_a_name_does_not_take_one_that_the_user_gives():
    m = st.Mechanism().frames(st.ry("q", name="frame2")[st.tz(-1, mass=1)[st.tx(1, name="frame3")]])
    model = m.build()
    assert len(model.frames) == 4 and {"frame2", "frame3"} < set(model.frames)


def test_fixed_frames_fold_into_the_body_that_carries_them():
    m = st.Mechanism()
    arm = m.world.frame("base", at=(1, 0, 0), rotate=(0, 0, np.pi / 2)).link("arm", st.Revolute("q", "y"), at=(0, 2, 0))
    arm.frame("elbow", at=(0, 0, 1), rotate=(0, np.pi / 2, 0)).frame("tip", at=(0, 0, 3), mass=1)
    model = m.build()
    assert model.bodies == ("arm",)
    assert model.frames == ("world", "base", "arm", "elbow", "tip")
    assert model.frame_body.tolist() == [-1, -1, 0, 0, 0]
    np.testing.assert_allclose(model.placement[0][:3, 3], (-1, 0, 0), atol=1e-15)
    np.testing.assert_allclose(model.frame_offset[4][:3, 3], (3, 0, 1), atol=1e-15)
    np.testing.assert_allclose(model.com[0], (3, 0, 1), atol=1e-15)


def test_link_with_fixed_joint_is_a_frame():
    def model(fixed: bool) -> st.Model:
        m = st.Mechanism()
        arm = m.world.link("arm", st.Revolute("q", "y"), mass=1, com=(1, 0, 0))
        given = {
            "at": (0, 1, 0),
            "rotate": (0.1, 0.2, 0.3),
            "mass": 2,
            "com": (0, 0, 1),
            "inertia": (1, 2, 2),
        }
        arm.link("hand", st.Fixed(), **given) if fixed else arm.frame("hand", **given)
        return m.build()

    assert_same_bodies(model(True), model(False))


def test_masses_merge_by_the_parallel_axis_theorem():
    m = st.Mechanism()
    arm = m.world.link("arm", st.Revolute("q", "y"), mass=2, com=(1, 0, 0), inertia=(0.1, 0.2, 0.25))
    arm.frame("load", at=(0, 0, 3), rotate=(0, 0, np.pi / 2), mass=1, com=(0, -4, 0), inertia=(0.3, 0.4, 0.5))
    arm.add_mass(1, com=(-2, 0, 1))
    model = m.build()
    # by hand: parts of 2, 1, 1 kg at (1,0,0), (4,0,3), (-2,0,1); the load's quarter turn swaps Ixx and Iyy
    assert model.mass[0] == pytest.approx(4)
    np.testing.assert_allclose(model.com[0], (1, 0, 1), atol=1e-15)
    # offsets from the common centre (0,0,-1), (3,0,2), (-3,0,0)
    xx, yy, zz = 0.1 + 0.4 + 2 + 4, 0.2 + 0.3 + 2 + 13 + 9, 0.25 + 0.5 + 9 + 9
    np.testing.assert_allclose(model.inertia[0], [[xx, 0, -6], [0, yy, 0], [-6, 0, zz]], atol=1e-14)


def test_inertia_by_moments_and_by_matrix_is_the_same():
    def model(inertia) -> st.Model:
        m = st.Mechanism()
        m.world.link("arm", st.Revolute("q", "y"), mass=1, inertia=inertia)
        return m.build()

    assert_same_bodies(model((1, 2, 2.5)), model(np.diag([1, 2, 2.5])))


def test_point_mass_is_a_proper_body():
    m = st.Mechanism()
    m.world.link("bob", st.Revolute("q", "y"), mass=1, com=(0, 0, -1))
    model = m.build()
    assert model.mass.tolist() == [1] and not model.inertia.any()


def test_armature_alone_makes_a_coordinate_proper():
    m = st.Mechanism()
    m.world.link("rotor", st.Revolute("q", "y", armature=0.1))
    assert m.build().armature.tolist() == [0.1]


def test_masses_fixed_to_the_world_keep_their_potential():
    m = st.Mechanism(gravity=(0, 0, -10))
    m.world.add_mass(2, com=(0, 0, 1))
    m.world.frame("shelf", at=(0, 0, 3), mass=1)
    m.world.link("bob", st.Revolute("q", "y"), mass=5, com=(0, 0, -1))
    model = m.build()
    assert model.mass.tolist() == [5]
    assert model.ground_energy == pytest.approx(2 * 10 * 1 + 1 * 10 * 3)


def test_coordinates_are_named_and_ordered_as_built():
    m = st.Mechanism()
    base = m.world.link("base", st.Free("base"), mass=1, inertia=(1, 1, 1))
    base.link("arm", st.Revolute("shoulder"), mass=1, inertia=(1, 1, 1))
    base.link("head", st.Ball("neck", armature=0.5), mass=1, inertia=(1, 1, 1))
    base.link("table", st.Planar("plane", armature=(1, 2, 3)), mass=1, inertia=(1, 1, 1))
    model = m.build()
    assert (model.nq, model.nv) == (7 + 1 + 4 + 3, 6 + 1 + 3 + 3)
    names = [f"base.{i}" for i in range(7)], [f"neck.{i}" for i in range(4)], [f"plane.{i}" for i in range(3)]
    assert model.coordinates == (*names[0], "shoulder", *names[1], *names[2])
    assert model.velocities == (*names[0][:6], "shoulder", *names[1][:3], *names[2])
    assert model.neutral.tolist() == [0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0]
    assert model.armature.tolist() == [0] * 7 + [0.5] * 3 + [1, 2, 3]
    assert (model.joints["neck"].q, model.joints["neck"].v) == (slice(8, 12), slice(7, 10))
    assert (model.joints["plane"].q, model.joints["plane"].v) == (slice(12, 15), slice(10, 13))


def test_frames_coordinates_and_elements_have_name_spaces_of_their_own():
    m = st.Mechanism()
    m.world.link("J", st.Revolute("J"), mass=1, inertia=(1, 1, 1))
    m.add(st.JointDamper("J", 0.1, name="J"), st.JointForce("J", "J", name="world"))
    model = m.build()
    assert (model.frames, model.coordinates, model.inputs) == (("world", "J"), ("J",), ("J",))
    assert [e.name for e in model.elements] == ["J", "world"]


def test_elements_without_a_name_get_one_that_is_free():
    m = planar_chain(2)
    m.add(*(st.JointDamper("q0", 0.1, name=name) for name in (None, "jointdamper1", None)))
    names = [e.name for e in m.build().elements]
    assert len(set(names)) == 3 and names[1] == "jointdamper1"


def test_one_input_may_drive_several_elements():
    m = planar_chain(2)
    m.add(
        st.JointForce("q0", "u"),
        st.BodyWrench("tip", force=("w", 0, "u")),
        st.SpatialWrench("tip", torque=(1, 2, "w")),
    )
    model = m.build()
    assert model.inputs == ("u", "w")
    assert [row.input for row in model.tables.wrenches] == [(-1, -1, -1, 1, -1, 0), (-1, -1, 1, -1, -1, -1)]


@pytest.mark.parametrize("seed", range(5))
def test_every_kind_of_joint_and_element_builds(seed):
    m = random_mechanism(seed, 18, elements=True)
    model = m.build()
    assert {type(frame.joint).__name__ for frame in m.tree} == set(JOINTS)
    assert {KINDS[k] for k in model.kind} == set(KINDS) - {"formula"}  # joints by formula have mechanisms of their own
    forces = [e for e in Element.__subclasses__() if e is not Constraint and e.in_files]
    kinds = {k for e in forces for k in (e, *e.__subclasses__()) if k.__module__.startswith("symplectree.")}
    apart = {st.FormulaPotential, st.FormulaForce, st.RotarySpring}  # as with joints; closed_mechanism has the last
    apart |= {Drive, *Drive.__subclasses__(), st.ForceLimit, st.Tendon, st.Thruster}  # actuated_mechanism has these
    apart |= {st.Cable, st.FluidDrag}  # which are formulas
    apart |= {st.JointLimit, st.JointFriction, st.Contact}  # which not every method takes
    assert {type(e) for e in model.elements} == kinds - apart
    assert all(parent < body for body, parent in enumerate(model.parent))
    q, v, a = random_state(model, seed)
    assert (q.shape, v.shape, a.shape) == ((model.nq,), (model.nv,), (model.nv,))
    assert all(name in model.info() for name in (*model.frames, *model.joints, *model.inputs, "bungee"))


@pytest.mark.parametrize("copied", [lambda model: pickle.loads(pickle.dumps(model)), copy.deepcopy])
def test_model_survives_pickling(copied):
    model = random_mechanism(3, 12, elements=True).build()
    other = copied(model)
    assert_same_bodies(model, other)
    assert (other.frames, other.inputs, other.joints) == (model.frames, model.inputs, model.joints)
    assert other.info() == model.info()
    for name, rows in model.tables.arrays().items():
        np.testing.assert_array_equal(other.tables.arrays()[name], rows)
    assert not any(getattr(other, name).flags.writeable for name in ARRAYS)


def test_arrays_of_the_user_are_copied():
    gravity, lengths = np.array([0, 0, -9.81]), np.linspace(0, 3, 5)
    m = st.Mechanism(gravity=gravity)
    m.world.link("arm", st.Revolute("q", "y"), mass=1, com=(0, 0, -1)).frame("hand", at=(0, 0, -1))
    m.add(st.NonlinearSpring("hand", "world", potential=(lengths, lengths**2)))
    model = m.build()
    gravity[:], lengths[:] = 1, 1
    assert model.gravity.tolist() == [0, 0, -9.81]
    assert model.elements[0].potential.breaks.tolist() == np.linspace(0, 3, 5).tolist()


def test_model_is_frozen():
    model = planar_chain(2).build()
    with pytest.raises(ValueError, match="read-only"):
        model.mass[0] = 5
    with pytest.raises(AttributeError):
        model.mass = np.ones(2)
    with pytest.raises(ValueError, match="read-only"):
        model.neutral[0] = 5


def test_building_again_gives_the_same_and_later_changes_do_not_reach_back():
    m = planar_chain(2)
    first, second = m.build(), m.build()
    assert_same_bodies(first, second)
    m.tree[0].add_mass(10)
    assert m.build().mass[0] == 11 and first.mass[0] == 1


@pytest.mark.parametrize(("chain", "axes"), [(planar_chain, "yyyy"), (spatial_chain, "xyxy")])
def test_chains(chain, axes):
    model = chain(4).build()
    np.testing.assert_array_equal(model.axis, [np.eye(3)["xyz".index(axis)] for axis in axes])
    assert model.parent.tolist() == [-1, 0, 1, 2]
