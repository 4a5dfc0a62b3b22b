"""The live page: it runs in real time, a person pulls at bodies, and everything can be set back."""

import time

import numpy as np
import pytest

import symplectree as st
from mechanisms import random_mechanism
from symplectree.view.live import Live, live
from symplectree.view.outline import drawn_bodies
from symplectree.view.pull import Pull, forces_by_name


@pytest.fixture(scope="module")
def pendulum():
    m = st.Mechanism()
    m.world.link("arm", st.Revolute("q", "y"), mass=1, com=(0, 0, -1), inertia=(0.01, 0.01, 0.01))
    m.add(st.JointForce("q", "motor"))
    return m.build()


@pytest.fixture
def running(pendulum):
    running = live(pendulum, {"q": 0.3}, block=False, browser=False)
    yield running
    running.stop()


def wait_until(condition, seconds=20.0):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.05)


def test_a_person_pulls_pauses_and_resets(running, page):
    page.open(running.url)
    page.wait_for_mechanism(pixels=200)
    assert page.page.get_by_text("real-time factor").first.is_visible()
    page.page.get_by_role("button", name="Pause").click()
    page.wait_until(lambda: not running.playing, "a pause")
    page.page.get_by_role("button", name="Reset").click()
    page.wait_until(lambda: running.q == pytest.approx([0.3]), "the start")

    # The mass at the end of the arm, where the camera sees it, is taken and pulled to the right.
    camera, box = running._stage.camera, page.page.locator("canvas[data-engine]").bounding_box()
    mass = st.pose(running.model, running.q, "arm") @ [0, 0, -1, 1]
    x, y, back = camera.axes @ (mass[:3] - camera.position)
    zoom = 0.5 * box["height"] / np.tan(camera.field / 2) / -back
    at = box["x"] + 0.5 * box["width"] + zoom * x, box["y"] + 0.5 * box["height"] - zoom * y
    page.wait_until(lambda: page.steady() is not None, "rest")
    running.playing = True
    mouse = page.page.mouse
    mouse.move(*at)
    mouse.down()
    for k in range(1, 11):
        mouse.move(at[0] + 8 * k, at[1] - 4 * k)
    page.wait_until(lambda: running._pull is not None, "a pull")
    held = running._pull
    page.wait_until(
        lambda: np.linalg.norm(held.at(running.model, running.q) - held.target) < 0.35 and abs(running.v[0]) < 0.3,
        "rest near the pointer",
    )
    swung = running.q[0]
    mouse.up()
    page.wait_until(lambda: running._pull is None, "release")
    assert abs(swung - 0.3) > 0.05
    assert page.requests and not page.errors


def test_time_goes_on_as_asked_and_slow_machines_say_so(running):
    wait_until(lambda: running.t > 0.5)
    start, t = time.monotonic(), running.t
    wait_until(lambda: running.t > t + 1.0)
    assert time.monotonic() - start > 0.93  # not faster than real time, up to a picture's time
    running.set_speed(0.1)
    assert running._stepper.dt == pytest.approx(0.1 / 60)
    before = running.t
    time.sleep(0.5)
    assert running.t - before < 0.12

    class Slow:
        """A stepper that takes a fifth of a second for each step."""

        def __init__(self, inner):
            self.inner = inner

        def __getattr__(self, name):
            return getattr(self.inner, name)

        def step(self, *arguments, **options):
            time.sleep(0.2)
            self.inner.step(*arguments, **options)

    running.set_speed(1.0)
    running._stepper = Slow(running._stepper)
    wait_until(lambda: running.pace < 0.2)
    wait_until(lambda: "too slow here" in running._status.content)


def test_inputs_move_it_and_it_can_be_brought_to_rest(running):
    """A motor of 20 N·m holds the arm of 1 kg and 1 m at no angle: it turns over."""
    running.inputs["motor"] = 20.0
    wait_until(lambda: running.q[0] > 3.5)
    running.inputs["motor"] = 0.0
    running.playing = False
    running.rest()
    assert not running.v.any() and running.t > 0
    running.reset()
    assert running.t == 0 and running.q == pytest.approx([0.3])


def test_the_hand_holds_against_gravity(running):
    running.pull("arm", (0, 0, -1), (1.0, 0, 0.0))
    wait_until(lambda: abs(running.q[0] + np.pi / 2) < 0.1 and abs(running.v[0]) < 0.05)
    running.release()
    wait_until(lambda: running.q[0] > -1.0)


def test_closed_chains_and_prescribed_strings_run():
    mechanism = st.load("models/marionette.sexp")
    model = mechanism.build()
    running = Live(model, st.assemble(model, mechanism.initial))
    try:
        assert set(running.prescribed) == set(model.massless)
        running.prescribed["cross z"] += 0.05
        wait_until(lambda: running.t > 0.2 or running.fault)
        assert not running.fault
        place = model.joints["cross z"].q
        wait_until(lambda: running.q[place][0] == pytest.approx(running.prescribed["cross z"], abs=1e-6), 60)
        assert np.abs(st.constraint_values(model, running.q)).max() < 1e-8
        running.playing = False
        running.reset()
        assert running.prescribed["cross z"] == pytest.approx(running.q[place][0])
    finally:
        running.stop()


def test_what_falls_stays_in_view():
    m = st.Mechanism()
    m.world.link("box", st.Free("box"), mass=1, inertia=(0.1, 0.2, 0.3))
    model = m.build()
    running = Live(model, model.neutral)
    try:
        wait_until(lambda: running.q[2] < -5)
        wait_until(lambda: running._stage._root.position[2] / running._stage.scale > 4)
    finally:
        running.stop()


def test_a_fault_is_said_and_reset_goes_on(pendulum):
    running = Live(pendulum, {"q": 0.3})
    try:
        running.inputs["motor"] = float("nan")
        wait_until(lambda: running.fault)
        wait_until(lambda: "stopped" in running._status.content)
        running.inputs["motor"] = 0.0
        running.reset()
        wait_until(lambda: running.t > 0.1)
        assert not running.fault
    finally:
        running.stop()


@pytest.mark.parametrize("seed", range(4))
def test_the_force_of_the_hand_is_that_of_the_point(seed):
    """Its power on any velocity is that of the force at the point, by differences of the point's way."""
    model = random_mechanism(seed, 9).build()
    rng = np.random.default_rng(seed + 100)
    q = st.retract(model, model.neutral, 0.3 * rng.normal(size=model.nv))
    body = drawn_bodies(model)[-1]
    hand = Pull(body, rng.normal(size=3), rng.normal(size=3))
    tau = hand.force(model, q, np.zeros(model.nv))
    J = np.array(
        [
            (hand.at(model, st.retract(model, q, 1e-6 * e)) - hand.at(model, st.retract(model, q, -1e-6 * e))) / 2e-6
            for e in np.eye(model.nv)
        ]
    ).T
    push = np.linalg.lstsq(J.T, tau, rcond=None)[0]
    np.testing.assert_allclose(J.T @ push, tau, atol=1e-6 * (1 + np.abs(tau).max()))  # it is a force at the point
    assert push @ (hand.target - hand.at(model, q)) >= -1e-9  # towards the target


def test_inputs_with_names_of_coordinates_add_up(pendulum):
    assert forces_by_name(pendulum, np.array([2.0]), {"motor": 3.0}) == {"motor": 3.0, "q": 2.0}
    assert forces_by_name(pendulum, np.array([2.0]), {"q": 3.0}) == {"q": 5.0}


def test_refusals(pendulum, running):
    with pytest.raises(st.ModelError, match="no body is named 'leg'; there are arm"):
        running.pull("leg", (0, 0, 0), (0, 0, 0))
    with pytest.raises(st.ModelError, match="speed is 0"):
        running.set_speed(0)
    with pytest.raises(st.ModelError, match="port is"):
        live(pendulum, {"q": 0.3}, port=-1, block=False, browser=False)


def test_servos_have_sliders_of_their_own_range_and_keyframes_are_starts():
    m = st.Mechanism()
    arm = m.world.link("arm", st.Revolute("shoulder", "y", limits=st.JointLimits(-1.0, 2.0)), mass=1, com=(0.5, 0, 0))
    arm.link("hand", st.Revolute("wrist", "y"), at=(1, 0, 0), mass=0.1, com=(0.1, 0, 0))
    m.add(
        st.PositionServo("shoulder", kp=400, kv=40, name="hold"),
        st.PositionServo("wrist", kp=40, kv=4, gear=2.0, name="turn"),
        st.Motor("wrist", control_range=(-0.2, 0.3), name="push"),
    )
    m.keyframes["up"] = st.Keyframe(q={"shoulder": -0.8}, controls={"hold": -0.8})
    running = Live(m.build(), {"shoulder": 0.5}, controls={"hold": 0.5})
    try:
        bars = {name: bar for _, name, bar, _ in running._bars}
        assert {name: (round(bar.min, 3), round(bar.max, 3)) for name, bar in bars.items()} == {
            "hold": (-1.0, 2.0), "turn": (-6.283, 6.283), "push": (-0.2, 0.3),
        }  # fmt: skip
        assert bars["hold"].value == running.inputs["hold"] == 0.5
        running.go_to("up")
        assert bars["hold"].value == running.inputs["hold"] == -0.8
        wait_until(lambda: running.t > 0.5)
        assert abs(running.q[0] + 0.8) < 0.05  # it is held there
        running.go_to(None)
        assert running.inputs["hold"] == 0.5
    finally:
        running.stop()
