"""Inverse kinematics: targets made by forward kinematics are found again; what is out of reach is told."""

import warnings

import numpy as np
import pytest
from scipy.optimize import least_squares

import symplectree as st
from follower_mechanisms import tree_pair
from mechanisms import closed_mechanism, planar_chain, random_mechanism, random_state
from robot_files import load_quietly, urdf_files
from symplectree.constraints.assembly import start_errors
from symplectree.lie import quaternion_of, rpy

ROBOTS = {"ur5_robot.urdf": "ee_link", "panda.urdf": "panda_hand"}
PATHS = [path for path in urdf_files() if path.name in ROBOTS]


def ranges(model: st.Model) -> tuple[np.ndarray, np.ndarray]:
    pairs = [model.limits.get(name, st.JointLimits()).position_range for name in model.coordinates]
    return np.array([p[0] for p in pairs]), np.array([p[1] for p in pairs])


@pytest.mark.parametrize("whole", [True, False], ids=["pose", "position"])
@pytest.mark.parametrize("path", PATHS, ids=lambda p: p.stem)
def test_robots_find_what_they_can_reach(path, whole):
    """Also from a start 1 rad away in every joint, and within the limits."""
    model, tool = load_quietly(path).build(), ROBOTS[path.name]
    low, high = ranges(model)
    rng, found = np.random.default_rng(1), 0
    for _ in range(50):
        q = rng.uniform(np.maximum(low, -np.pi), np.minimum(high, np.pi))
        T = st.pose(model, q, tool)
        guess = np.clip(q + rng.normal(size=model.nq), low, high)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            result = st.reach(model, {tool: T if whole else T[:3, 3]}, guess, limits="model")
        assert np.all(result.q >= low) and np.all(result.q <= high)
        if result.reached:
            found += 1
            at = st.pose(model, result.q, tool)
            np.testing.assert_allclose(at if whole else at[:3, 3], T if whole else T[:3, 3], atol=1e-8)
    assert found == 50


@pytest.mark.parametrize("seed", range(8))
def test_every_joint(seed):
    model = random_mechanism(seed, 9).build()
    q, _, _ = random_state(model, seed)
    rng = np.random.default_rng(seed)
    guess = st.retract(model, q, 0.3 * rng.normal(size=model.nv))
    targets = {"link8": st.pose(model, q, "link8"), "link4": st.pose(model, q, "link4")[:3, 3]}
    targets = {frame: T for frame, T in targets.items() if model.frame_body[model.find_frame(frame)] >= 0}
    result = st.reach(model, targets, guess)
    assert result.reached, result.message
    for frame, T in targets.items():
        at = st.pose(model, result.q, frame)
        np.testing.assert_allclose(at if T.ndim == 2 else at[:3, 3], T, atol=1e-8)
    off = np.linalg.norm(st.difference(model, guess, result.q))
    assert off <= np.linalg.norm(st.difference(model, guess, q)) * (1 + 1e-6)  # the nearest, not only one


@pytest.mark.parametrize("seed", range(4))
def test_loops_stay_closed(seed):
    model, q, _ = closed_mechanism(seed, kinds=("Point", "Hinge"))
    rng = np.random.default_rng(seed)
    G = st.constraint_jacobian(model, q)
    along = np.linalg.svd(G)[2][np.linalg.matrix_rank(G) :]
    guess = st.retract(model, q, along.T @ (0.1 * rng.normal(size=len(along))))
    result = st.reach(model, {"link11": st.pose(model, q, "link11")}, guess)
    assert result.reached, result.message
    assert start_errors(model, result.q).max() < 1e-9
    np.testing.assert_allclose(st.pose(model, result.q, "link11"), st.pose(model, q, "link11"), atol=1e-8)


@pytest.mark.parametrize("name", ["four_bar", "slider_crank", "closed_chain_device", "scissor_lift_5"])
def test_linkages_at_and_beyond_reach(name):
    m = st.load(name)
    model = m.build()
    q = st.assemble(model, m.initial)
    frame = model.bodies[-1]
    moved = st.assemble(model, st.retract(model, q, st.project_velocity(model, q, np.full(model.nv, 0.05))))
    x = st.pose(model, moved, frame)[:3, 3]
    result = st.reach(model, {frame: x}, q)
    assert result.reached, result.message
    with pytest.warns(UserWarning, match=f"frame '{frame}' misses its target by"):
        result = st.reach(model, {frame: x + np.array([0, 0, 30])}, q)
    assert not result.reached and start_errors(model, result.q).max() < 1e-9


@pytest.mark.parametrize("target", [(2.0, 0.0, 0.5), (0.3, 0.4, 5.0), (0.0, -3.0, 0.0)])
def test_what_is_out_of_reach_is_missed_least(target):
    path = next(p for p in PATHS if p.name == "ur5_robot.urdf")
    model = load_quietly(path).build()
    with pytest.warns(UserWarning, match="frame 'ee_link' misses its target by") as caught:
        result = st.reach(model, {"ee_link": target}, np.full(6, 0.4))
    assert caught[0].filename == __file__ and str(caught[0].message) == result.message
    starts = np.random.default_rng(0).normal(size=(6, 6))
    miss = lambda q: st.pose(model, q, "ee_link")[:3, 3] - target  # noqa: E731
    best = min(np.sqrt(2 * least_squares(miss, q, xtol=1e-14, ftol=1e-14, gtol=1e-14).cost) for q in starts)
    assert result.misses["ee_link"][0] < best + 1e-6
    assert result.misses["ee_link"][1] == 0  # nobody asked for an angle


def arm() -> st.Mechanism:
    m = planar_chain(3)
    for name in ("q0", "q1", "q2"):
        m.limits[name] = st.JointLimits(-1.0, 1.0)
    return m


def test_limits_and_fixed_coordinates():
    model = arm().build()
    x = st.pose(model, [0.9, 0.9, -0.8], "tip")[:3, 3]
    result = st.reach(model, {"tip": x}, limits="model")
    assert result.reached and np.all(np.abs(result.q) <= 1)
    folded = st.pose(model, [0.0, 2.0, 1.0], "tip")[:3, 3]
    assert st.reach(model, {"tip": folded}).reached
    with pytest.warns(UserWarning, match=r"misses its target by .* m with .*'q1'.* at the limit"):
        result = st.reach(model, {"tip": folded}, limits="model")
    assert np.all(np.abs(result.q) <= 1)
    wide = st.reach(model, {"tip": folded}, limits={"q1": (-3, 3)})
    assert wide.reached
    held = st.reach(model, {"tip": x}, [0.9, 0.5, 0.0], fixed=["q0"])
    assert held.reached and held.q[0] == 0.9
    with pytest.warns(UserWarning, match="misses"):
        held = st.reach(model, {"tip": x}, [-0.9, 0.5, 0.0], fixed=["q0"], limits="model")
    assert held.q[0] == -0.9


def test_a_ball_turns_no_further_than_it_may():
    m = st.Mechanism()
    link = m.world.link("link", st.Ball("ball"), mass=1, com=(0, 0, -1), inertia=(1, 1, 1))
    link.frame("tip", at=(0, 0, -1))
    model = m.build()
    half = np.pi / 4
    limits = {"ball": st.JointLimits(upper=half)}
    assert st.reach(model, {"tip": (np.sin(0.5), 0, -np.cos(0.5))}, limits=limits).reached
    with pytest.warns(UserWarning, match="'ball' at the limit"):
        result = st.reach(model, {"tip": (1, 0, 0)}, limits=limits)
    np.testing.assert_allclose(st.pose(model, result.q, "tip")[:3, 3], [np.sin(half), 0, -np.cos(half)], atol=1e-4)


def test_forms_of_targets():
    model = random_mechanism(2, 9).build()
    q, _, _ = random_state(model, 2)
    T = st.pose(model, q, "link8")
    R, x = T[:3, :3], T[:3, 3]
    guess = st.retract(model, q, np.full(model.nv, 0.1))
    expected = st.reach(model, {"link8": T}, guess).q
    for target in ((x, R), (x, quaternion_of(R)), [list(x), -quaternion_of(R)]):
        np.testing.assert_allclose(st.reach(model, {"link8": target}, guess).q, expected, atol=1e-6)
    turned = st.reach(model, {"link8": (None, (0.1, 0.2, 0.3))}, guess)
    np.testing.assert_allclose(st.pose(model, turned.q, "link8")[:3, :3], rpy(0.1, 0.2, 0.3), atol=1e-8)


def test_posture_of_what_is_left_free():
    model = arm().build()
    x = st.pose(model, [0.5, 0.5, -0.3], "tip")[:3, 3]
    other = st.reach(model, {"tip": x}, [0.4, 0.4, 0.0], posture=[0.0, 1.0, 0.0])
    near = st.reach(model, {"tip": x}, [0.4, 0.4, 0.0])
    assert other.reached and near.reached
    off = lambda r, to: np.linalg.norm(r.q - to)  # noqa: E731
    assert off(other, [0.0, 1.0, 0.0]) < off(near, [0.0, 1.0, 0.0])
    assert off(near, [0.4, 0.4, 0.0]) < off(other, [0.4, 0.4, 0.0])


def test_followers_follow():
    pair = tree_pair(1)
    model, q = pair.shared, pair.q
    frame = model.bodies[-1]
    guess = st.retract(model, q, np.full(model.nv, 0.05))
    result = st.reach(model, {frame: st.pose(model, q, frame)[:3, 3]}, guess)
    assert result.reached, result.message


@pytest.mark.parametrize(
    ("targets", "options", "message"),
    [
        ({}, {}, "targets are {}; give a mapping of frames"),
        ([1, 2, 3], {}, "targets are [1, 2, 3]"),
        ({"tp": (0, 0, 0)}, {}, "no frame is named 'tp'; did you mean 'tip'?"),
        ({"world": (0, 0, 0)}, {}, "frame 'world' is fixed to the world"),
        ({"tip": (None, None)}, {}, "the target of frame 'tip' is (None, None)"),
        ({"tip": (0, 0, np.nan)}, {}, "the position of frame 'tip' is"),
        ({"tip": "there"}, {}, "the target of frame 'tip' is 'there'; give a position"),
        ({"tip": np.ones((4, 4))}, {}, "the target of frame 'tip' is"),
        ({"tip": ((0, 0, 0), np.ones((3, 3)))}, {}, "is no rotation matrix"),
        ({"tip": ((0, 0, 0), (0, 0, 0, 0))}, {}, "the quaternion zero"),
        ({"tip": ((0, 0, 0), 3)}, {}, "the rotation of frame 'tip' is 3"),
        ({"tip": (0, 0, 0)}, {"limits": 3}, "limits are 3; give 'model', or a mapping"),
        ({"tip": (0, 0, 0)}, {"limits": {"q": (0, 1)}}, "no coordinate is named 'q'"),
        ({"tip": (0, 0, 0)}, {"limits": {"q0": 1}}, "limits of 'q0' are 1; give (lowest, highest)"),
        ({"tip": (0, 0, 0)}, {"fixed": ["q9"]}, "no coordinate is named 'q9'"),
        ({"tip": (0, 0, 0)}, {"posture": [1]}, "posture has 1 value"),
        ({"tip": (0, 0, 0)}, {"q_guess": [[0, 0, 0]]}, "q has shape (1, 3)"),
    ],
)
def test_bad_input_is_named(targets, options, message):
    model = arm().build()
    with pytest.raises(st.ModelError) as caught:
        st.reach(model, targets, **options)
    assert message in str(caught.value)


def test_a_position_of_two_numbers_is_quoted():
    m = st.Mechanism()
    m.world.link("a", st.Revolute("a", "y"), mass=1, com=(0, 0, -1))
    with pytest.raises(st.ModelError, match=r"the target of frame 'a' is \(0, 0\); give a position \(3,\)"):
        st.reach(m.build(), {"a": (0, 0)})
