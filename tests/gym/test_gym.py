"""Environments: Gymnasium's own check, spaces and starts of the model, rewards, endings, seeds, and vectors of them."""

import warnings

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

import symplectree as st
from mechanisms import planar_chain
from symplectree.gym import Environment, StepperBatch, VectorEnvironment


def cart_pole():
    m = st.Mechanism()
    cart = m.world.link("cart", st.Prismatic("cart", axis="x"), mass=1.0)
    pole = cart.link("pole", st.Revolute("pole", axis="y"), mass=0.3, com=(0, 0, -0.25), inertia=(0.007, 0.007, 0))
    pole.frame("tip", at=(0, 0, -0.5))
    m.add(st.Motor("cart", name="motor", control_range=(-12.0, 8.0)), st.JointForce("pole", "wind"))
    m.add(st.JointPosition("encoder", "pole"))
    m.limits["cart"] = st.JointLimits(lower=-1.0, upper=1.5, velocity=5.0)
    m.keyframes["up"] = st.Keyframe(q={"pole": np.pi}, v={"cart": 0.2}, controls={"wind": 0.05})
    m.keyframes["low"] = st.Keyframe(q={"cart": 0.5})
    return m.build()


MODEL = cart_pole()
TASK = {"dt": 0.02, "duration": 1.0, "actions": ["motor"], "reward": {"alive": 1.0}}


def environment(**more):
    return Environment(MODEL, **{**TASK, **more})


def four_bar():
    from symplectree.io import load

    m = load("four_bar")
    m.add(st.Motor("crank", name="motor", control_range=(-1.0, 1.0)))
    return m.build(), m.initial


@pytest.mark.parametrize("scaled", [False, True])
def test_gymnasium_finds_nothing_wrong(scaled):
    """Its warnings are advice on spaces without limits, and on render modes of what is not registered."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", message=".*(infinity|normalized space|having a spec).*")
        check_env(environment(noise=0.1, start=["up", "low"], scaled=scaled, render_mode="rgb_array", size=(96, 64)))
        model, start = four_bar()
        check_env(Environment(model, **{**TASK, "start": start, "noise": 0.05, "velocity_noise": 0.5}))


def test_spaces_are_those_of_the_model():
    env = environment()
    inf = np.inf
    np.testing.assert_array_equal(env.observation_space.low, [-1.0, -1, -1, -5.0, -inf])
    np.testing.assert_array_equal(env.observation_space.high, [1.5, 1, 1, 5.0, inf])
    assert (env.action_space.low, env.action_space.high) == (-12.0, 8.0)
    both = environment(actions={"wind": (-1.0, 2.0), "motor": (-3.0, 3.0)})
    np.testing.assert_array_equal(both.action_space.low, [-1.0, -3.0])
    assert environment(scaled=True).action_space.high == 1.0


def test_what_is_seen():
    names = ["pole", "sin pole", "velocity cart", "position tip", "sensor encoder"]
    env = environment(observe=names, start={"pole": 0.4, "cart": 0.3})
    seen, _ = env.reset(seed=0)
    tip = st.pose(MODEL, [0.3, 0.4], "tip")[:3, 3]
    np.testing.assert_allclose(seen, [0.4, np.sin(0.4), 0.0, *tip, 0.4], atol=1e-15)


@pytest.mark.parametrize("scaled", [False, True])
def test_a_step_is_that_of_a_stepper(scaled):
    env = environment(start="up", control_every=3, scaled=scaled)
    env.reset(seed=0)
    env.step(np.array([0.5]))
    u = -12 + 1.5 / 2 * 20 if scaled else 0.5
    stepper = st.Stepper(MODEL, dt=0.02)
    stepper.reset("up")
    stepper.step({"motor": u, "wind": 0.05}, n=3)
    assert env.q.tobytes() == stepper.q.tobytes() and env.v.tobytes() == stepper.v.tobytes()
    assert env.t == pytest.approx(0.06)


def test_controls_are_cut_off_at_their_range():
    ends = []
    for action in (8.0, 80.0):
        env = environment()
        env.reset(seed=0)
        env.step(np.array([action]))
        ends.append(env.q)
    np.testing.assert_array_equal(*ends)


def episode(env, seed, actions):
    env.reset(seed=seed)
    return np.array([[*env.q, *env.v, *np.atleast_1d(env.step(action)[1])] for action in actions])


def test_the_same_seed_is_the_same_episode():
    actions = np.random.default_rng(0).uniform(-1, 1, (20, 1))
    runs = [episode(environment(noise=0.2, velocity_noise={"pole": 0.5}), seed, actions) for seed in (4, 4, 5)]
    assert runs[0].tobytes() == runs[1].tobytes()
    assert not np.allclose(runs[0][0], runs[2][0])


def test_starts_are_keyframes_with_noise():
    env = environment(start=["up", "low"], noise={"pole": 0.1}, velocity_noise={"cart": 0.3})
    env.reset(seed=1)
    q, v = np.array([(env.reset(), (env.q, env.v))[1] for _ in range(400)]).transpose(1, 0, 2)
    up = q[:, 1] > 1
    assert 100 < up.sum() < 300
    assert set(q[up, 0]) == {0.0} and set(q[~up, 0]) == {0.5}
    for values, middle, width in (
        (q[up, 1], np.pi, 0.1),
        (q[~up, 1], 0.0, 0.1),
        (v[up, 0], 0.2, 0.3),
        (v[~up, 0], 0, 0.3),
    ):
        assert np.abs(values - middle).max() <= width and np.ptp(values) > 1.9 * width
    assert np.abs(v[:, 1]).max() < 1e-12  # momenta are what a run keeps
    env.reset(options={"q": {"cart": 0.25}, "v": {"pole": 1.0}})
    assert env.q[0] == 0.25 and env.v[1] == 1.0


def test_starts_close_loops():
    model, start = four_bar()
    env = Environment(model, **{**TASK, "start": start, "noise": 0.3, "velocity_noise": 1.0})
    for seed in range(5):
        env.reset(seed=seed)
        assert np.abs(st.constraint_values(model, env.q)).max() < 1e-9
        assert np.abs(st.constraint_jacobian(model, env.q) @ env.v).max() < 1e-9
        assert not np.allclose(env.q, st.assemble(model, start))


def test_named_rewards_are_their_formulas():
    random = np.random.default_rng(2)
    q, v, u = random.normal(size=(5, 2)), random.normal(size=(5, 2)), random.normal(size=(5, 1))
    height = st.pose(MODEL, q, "tip")[:, 2, 3]
    expected = {
        "pole": ((1.0, 2.0), -4 * (1 - np.cos(q[:, 1] - 1.0))),
        "cart": ((1.0, 2.0), -2 * (q[:, 0] - 1.0) ** 2),
        "height tip": (3.0, 3 * height),
        "speed": (0.5, -0.5 * (v**2).sum(axis=1)),
        "effort": (0.5, -0.5 * u[:, 0] ** 2),
        "alive": (0.7, np.full(5, 0.7)),
    }
    for name, (value, reward) in expected.items():
        np.testing.assert_allclose(environment(reward={name: value}).problem.reward(q, v, u), reward, rtol=1e-14)
    everything = environment(reward={name: value for name, (value, _) in expected.items()})
    total = sum(reward for _, reward in expected.values())
    np.testing.assert_allclose(everything.problem.reward(q, v, u), total, rtol=1e-14)


def test_rewards_of_a_function_are_of_the_state_after_the_step():
    env = environment(reward=lambda q, v, u: q[:, 0] + 10 * v[:, 1] + 100 * u[:, 0])
    env.reset(seed=0)
    reward = env.step(np.array([2.0]))[1]
    assert reward == env.q[0] + 10 * env.v[1] + 200


def test_endings():
    env = environment(end={"pole": (-0.2, 0.2)})
    env.reset(options={"q": {"pole": 0.19}, "v": {"pole": 1.0}})
    assert env.step(np.zeros(1))[2:4] == (True, False)
    env = environment(end=lambda q, v: v[:, 0] > 0.1)
    env.reset(seed=0)
    assert not env.step(np.zeros(1))[2] and env.step(np.array([8.0]))[2]
    env = environment()  # leaves the rail
    env.reset(options={"q": {"cart": 1.49}, "v": {"cart": 2.0}})
    seen, _, ended, _, _ = env.step(np.zeros(1))
    assert ended and env.q[0] > 1.5 and seen[0] == 1.5
    env.reset(seed=0)
    cut = [env.step(np.zeros(1))[3] for _ in range(50)]
    assert cut == [False] * 49 + [True]


def test_limits_that_are_held_end_nothing():
    m = planar_chain(1)
    m.limits["q0"] = st.JointLimits(lower=-0.1, upper=0.1)
    m.add(st.JointLimit("q0", lower=-0.1, upper=0.1), st.Motor("q0", name="motor", control_range=(-1.0, 1.0)))
    env = Environment(m.build(), dt=0.01, duration=1.0, reward={"alive": 1.0})
    env.reset(options={"q": {"q0": 0.1}, "v": {"q0": 1.0}})
    assert not any(env.step(np.ones(1))[2] for _ in range(50))


def test_a_step_that_fails_ends_the_episode(monkeypatch):
    env = environment()
    env.reset(seed=0)
    monkeypatch.setattr(StepperBatch, "step", lambda *arguments: {0: "no solution"})
    seen, reward, ended, _, info = env.step(np.zeros(1))
    assert ended and info == {"failure": "no solution"} and np.isfinite(reward) and np.isfinite(seen).all()


def test_pictures_follow_the_state():
    env = environment(render_mode="rgb_array", size=(160, 120))
    env.reset(options={"q": {"pole": 0.0}})
    first = env.render()
    assert first.shape == (120, 160, 3) and first.dtype == np.uint8
    env.reset(options={"q": {"pole": 2.0}})
    second = env.render()
    changed = np.mean(np.any(first != second, axis=2))
    assert 0.0005 < changed < 0.2  # the pole moves, the camera does not
    assert environment().render() is None
    assert env.metadata["render_fps"] == 50


def test_a_vector_is_its_environments():
    """Bit for bit, through ends of episodes and starts of new ones, as Gymnasium's own vector of single ones."""
    options = {"noise": 0.3, "velocity_noise": 1.0, "end": {"pole": (-0.8, 0.8)}, "duration": 0.4}
    options["reward"] = {"pole": (0.0, 1.0), "effort": 0.1}
    envs = VectorEnvironment(MODEL, 5, **{**TASK, **options})
    singles = gymnasium.vector.SyncVectorEnv([lambda: environment(**options)] * 5)
    seen, _ = envs.reset(seed=7)
    expected, _ = singles.reset(seed=7)
    assert seen.tobytes() == expected.tobytes()
    random, over = np.random.default_rng(1), 0
    for _ in range(60):
        actions = random.uniform(-12, 8, (5, 1))
        got, want = envs.step(actions), singles.step(actions)
        for one, other in zip(got[:4], want[:4], strict=True):
            np.testing.assert_array_equal(one, other)
        over += int(got[2].sum() + got[3].sum())
    assert over > 5
    assert envs.observation_space == singles.observation_space and envs.action_space == singles.action_space
    assert envs.metadata["autoreset_mode"] == singles.metadata["autoreset_mode"]


def test_a_batch_of_the_users_own_moves_a_vector():
    class Counted(StepperBatch):
        steps = 0

        def step(self, controls, steps, resting):
            self.steps += 1
            return {1: "stuck"} if self.steps == 2 else super().step(controls, steps, resting)

    batch = Counted(MODEL, 3, 0.02)
    envs = VectorEnvironment(MODEL, 3, **TASK, batch=batch)
    envs.reset(seed=[1, 2, 3])
    envs.step(np.zeros((3, 1)))
    _, _, ended, _, info = envs.step(np.zeros((3, 1)))
    assert ended.tolist() == [False, True, False] and info["failure"][1] == "stuck"


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"dt": 0}, "dt is 0"),
        ({"duration": 0.01}, "duration is 0.01 s, less than one action of 0.02 s"),
        ({"control_every": 0}, "control_every is 0"),
        ({"actions": ["moter"]}, "did you mean 'motor'"),
        ({"actions": None}, "input 'wind' has no limits; give actions="),
        ({"actions": {"motor": (2, 1)}}, r"input 'motor' has the range \(2, 1\)"),
        ({"observe": ["pol"]}, "did you mean 'pole'"),
        ({"observe": "pole"}, "observe is 'pole'; give a list"),
        ({"observe": []}, "observe is empty"),
        ({"observe": ["position tap"]}, "tap"),
        ({"start": "upp"}, "did you mean 'up'"),
        ({"start": {"pol": 1.0}}, "did you mean 'pole'"),
        ({"noise": -1}, "noise is -1; give a number, zero or more"),
        ({"noise": {"pol": 1}}, "noise: .*did you mean 'pole'"),
        ({"reward": {"alive": "much"}}, "reward 'alive' is 'much'; give a number"),
        ({"reward": {"aliv": 1.0}}, "did you mean 'alive'"),
        ({"reward": {"pole": 1.0}}, r"reward 'pole' is 1.0; give \(target, weight\)"),
        ({"reward": 5}, "reward is 5; give a function"),
        ({"reward": lambda q: 0}, r"reward takes \(q\); it is called with \(q, v, u\)"),
        ({"reward": {}}, "reward has no terms"),
        ({"end": {"pol": (0, 1)}}, "did you mean 'pole'"),
        ({"end": 3}, "end is 3; give a function"),
        ({"render_mode": "human"}, "render_mode is 'human'"),
    ],
)
def test_mistakes(change, sentence):
    with pytest.raises(st.ModelError, match=sentence):
        environment(**change)


def test_mistakes_of_functions_and_actions():
    env = environment(reward=lambda q, v, u: q)
    env.reset(seed=0)
    with pytest.raises(st.ModelError, match=r"reward returned shape \(1, 2\) for 1 rows of states; index columns"):
        env.step(np.zeros(1))
    env = environment(reward=lambda q, v, u: np.full(len(q), np.nan))
    env.reset(seed=0)
    with pytest.raises(st.ModelError, match="reward returned nan, which is not finite"):
        env.step(np.zeros(1))
    with pytest.raises(st.ModelError, match="give one number for each of motor"):
        env.step(np.zeros(2))
    with pytest.raises(st.ModelError, match="no inputs"):
        Environment(planar_chain(2).build(), dt=0.01, duration=1.0, reward={"alive": 1.0})
    with pytest.raises(st.ModelError, match="2 seeds for 3"):
        VectorEnvironment(MODEL, 3, **TASK).reset(seed=[1, 2])
    with pytest.raises(st.ModelError, match="count is 0"):
        VectorEnvironment(MODEL, 0, **TASK)


def test_a_few_generations_learn():
    """The cross-entropy method of the example on a small budget: much better than no control, from the same starts."""
    m = st.Mechanism()
    m.world.link("rod", st.Revolute("rod", axis="y"), mass=1.0, com=(0, 0, -0.5), inertia=(1 / 12, 1 / 12, 0))
    m.add(st.Motor("rod", name="motor", control_range=(-6.0, 6.0)))
    task = {"dt": 0.04, "duration": 2.0, "noise": 0.5, "scaled": True, "reward": {"rod": (np.pi, 1.0)}}
    envs = VectorEnvironment(m.build(), 24, **task)

    def returns(weights, seed):
        seen, _ = envs.reset(seed=seed)
        total = np.zeros(24)
        for _ in range(50):
            seen, reward, *_ = envs.step(np.tanh(np.einsum("nk,nk->n", weights, seen))[:, None])
            total += reward
        return total

    random, middle, spread = np.random.default_rng(0), np.zeros(3), np.full(3, 3.0)
    for generation in range(6):
        tried = middle + spread * random.standard_normal((24, 3))
        best = tried[np.argsort(returns(tried, generation))[-5:]]
        middle, spread = best.mean(axis=0), best.std(axis=0) + 0.2
    learned, nothing = (returns(np.tile(weights, (24, 1)), 99).mean() for weights in (middle, np.zeros(3)))
    assert learned > 0.6 * nothing  # both negative
