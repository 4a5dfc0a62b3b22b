"""A page on this computer on which a mechanism moves as one watches, and can be pulled with the mouse."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from typing import Any

import numpy as np

from symplectree.dynamics.arguments import configuration
from symplectree.errors import ConvergenceError, ModelError
from symplectree.lie import Array
from symplectree.mechanism.keyframes import keyframe_of
from symplectree.mechanism.model import Model
from symplectree.simulation.stepper import Stepper
from symplectree.simulation.trajectory import Trajectory
from symplectree.validation import is_positive, shown
from symplectree.view import server as servers
from symplectree.view.camera import PAGE_ASPECT, View
from symplectree.view.contact_marks import has_contacts
from symplectree.view.film import film, placed
from symplectree.view.lines import strand
from symplectree.view.live_contacts import LiveContacts
from symplectree.view.poses import body_poses
from symplectree.view.pull import Pull, forces_by_name
from symplectree.view.slider_ends import slider_ends
from symplectree.view.solids import round_length

FRAMES = 30.0  # pictures per second
STEP = 0.005  # s, longest step; in slow motion shorter, such that there are two in a picture
BUSY = 0.8  # part of a picture's time that steps may take
SPEEDS = ("0.001×", "0.01×", "0.1×", "0.25×", "0.5×", "1×", "2×", "5×")
REACH = (0.2, 2.0)  # how much shorter and longer springs and wires may become, of their length at the start
HAND = 0.01  # s of motion between looks at where the hand is


class Live:
    """A mechanism that runs at `url` until `stop()`.

    | name | meaning |
    | --- | --- |
    | t, q, v | time since the last reset [s], configuration and velocity; copies |
    | playing, speed | whether time goes on, and how many seconds of motion it asks for in a second |
    | pace | what part of that speed is reached: 1, or less when steps take too long |
    | inputs, prescribed | values by name, which sliders and you may set |
    """

    def __init__(
        self, model: Model, q: Any, *, v: Any = None, controls: Mapping[str, float] | None = None, view: View = None,
        port: int = 0, title: str = "",
    ) -> None:  # fmt: skip
        self.model = model
        self._first = np.array(configuration(model, q)), v
        self.inputs = {name: float((controls or {}).get(name, 0.0)) for name in model.inputs}
        self._begun = self._first, dict(self.inputs)
        start = Trajectory(model, np.zeros(1), self._first[0][None], v=np.zeros((1, model.nv)))
        self.prescribed = {name: float(np.ravel(start[name])[0]) for name in model.massless}
        self._held = dict(self.prescribed)  # where these are, on their way
        self.speed, self.playing, self.pace, self.fault = 1.0, True, 1.0, ""
        self._pull: Pull | None = None
        self._bars: list[tuple[dict[str, float], str, Any, float]] = []  # values, name, slider, value at the start
        self._lock, self._over = threading.RLock(), threading.Event()
        self._stepper = self._fresh(*self._first)
        self._past = 0.0  # s before the stepper's own time
        self._server = servers.start(port, title or "symplectree")
        self.url = servers.url(self._server)
        self._build(start, view)
        self._controls()
        self._show()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def __repr__(self) -> str:
        return f"Live mechanism at {self.url}, at {self.t:g} s{', stopped' * self._over.is_set()}"

    @property
    def t(self) -> float:
        return self._past + self._stepper.t

    @property
    def q(self) -> Array:
        return self._stepper.q

    @property
    def v(self) -> Array:
        return self._stepper.v

    def reset(self) -> None:
        """Go back to the start, sliders included."""
        with self._lock:
            self._pull, self._past, self.fault = None, 0.0, ""
            for values, name, bar, value in self._bars:
                values[name] = bar.value = value
            self._held = dict(self.prescribed)
            self._stepper = self._fresh(*self._first)
            self._show()

    def go_to(self, keyframe: str | None) -> None:
        """Start anew at a keyframe, with its controls; None: where the page began."""
        with self._lock:
            controls: Mapping[str, Any]
            self._first, controls = self._begun
            if keyframe is not None:
                found = keyframe_of(self.model, keyframe)
                self._first, controls = (np.array(found.q), np.array(found.v)), found.controls
            self._bars = [
                (values, name, bar, float(controls.get(name, 0.0)) if values is self.inputs else value)
                for values, name, bar, value in self._bars
            ]
            self.reset()

    def rest(self) -> None:
        """Stop all motion where it is."""
        with self._lock:
            self._restart(np.zeros(self.model.nv))

    def pull(self, body: str, point: Any, target: Any) -> None:
        """Pull at a point of a body [m, in its axes] towards a target [m, in the world], until `release()`."""
        if body not in self.model.bodies:
            raise ModelError(f"no body is named {body!r}; there are {', '.join(self.model.bodies)}")
        with self._lock:
            at, to = (np.array(x, dtype=float) for x in (point, target))
            self._pull = Pull(self.model.bodies.index(body), at, to)

    def release(self) -> None:
        """Let go of what is pulled."""
        with self._lock:
            self._pull = None

    def set_speed(self, speed: float) -> None:
        """Seconds of motion in a second; slow motion takes shorter steps."""
        if not is_positive(speed):
            raise ModelError(f"speed is {shown(speed)}, not a positive number")
        with self._lock:
            self.speed = float(speed)
            self._restart(self._stepper.v)

    def stop(self) -> None:
        """End the page."""
        if not self._over.is_set():
            self._over.set()
            self._thread.join(timeout=2)
            servers.stop(self._server)

    def wait(self) -> None:
        """Keep the page until Ctrl-C."""
        servers.keep(self._over, self.stop)

    def _fresh(self, q: Array, v: Any) -> Stepper:
        dt = min(STEP, 0.5 * self.speed / FRAMES)
        stepper = Stepper(self.model, None, dt, prescribed=dict(self._held) or None)
        stepper.reset(q, v)
        return stepper

    def _restart(self, v: Array) -> None:
        """Another stepper from where the last one is."""
        self._past, q = self.t, self._stepper.q
        self._stepper, self.fault = self._fresh(q, v), ""

    def _build(self, start: Trajectory, view: View) -> None:
        from symplectree.view.stage import ROOT, Stage
        from symplectree.view.surroundings import add_ground

        still = film(start, view=view, room=0.5, aspect=PAGE_ASPECT)
        lengths = [float(np.linalg.norm(still.track(line.b) - still.track(line.a))) for line in still.scene.lines]
        sizes = [(REACH[0] * length, REACH[1] * length + 1e-3 * still.scene.size) for length in lengths]
        strands = [strand(line, *size) for line, size in zip(still.scene.lines, sizes, strict=True)]
        # One looks after what nothing holds; positions on the page are then off by as much.
        self._loose = not still.scene.outline.supports
        self._home: Array | None = None
        self._follow = np.zeros(3)
        with self._server.atomic():
            self._stage = Stage(self._server, still.scene, strands, still.camera)
            add_ground(self._server.scene, still, f"{ROOT}/ground")
        for bodies, node in self._stage.meshes:
            node.on_drag(lambda event, bodies=bodies: self._dragged(bodies[event.instance_index or 0], event))

    def _dragged(self, body: int, event: Any) -> None:
        """A person pulls: the spring holds the point where the body was taken, and goes to the pointer."""
        with self._lock:
            if event.phase == "end":
                self._pull = None
                return
            if self._pull is None or event.phase == "start":
                T = body_poses(self.model, self.q[None], [body])[body][0]
                at = np.array(event.start_position) / self._stage.scale + self._follow
                self._pull = Pull(body, T[:3, :3].T @ (at - T[:3, 3]), np.zeros(3))
            self._pull.target = np.array(event.end_position, dtype=float) / self._stage.scale + self._follow

    def _controls(self) -> None:
        gui = self._server.gui
        self._status = gui.add_markdown("")
        pause, back, rest = gui.add_button("Pause"), gui.add_button("Reset"), gui.add_button("Stop motion")
        speed = gui.add_dropdown("speed", SPEEDS, initial_value="1×")
        if self.model.keyframes:
            names = ("start", *self.model.keyframes)
            key = gui.add_dropdown("keyframe", names, initial_value="start")
            key.on_update(lambda _: self.go_to(None if key.value == "start" else key.value))
        gui.add_markdown("Drag a body with the mouse to pull at it; drag beside it to look from elsewhere.")
        self._contacts = LiveContacts(gui, self._stage) if has_contacts(self.model) else None

        @pause.on_click
        def _(_: Any) -> None:
            self.playing = not self.playing
            pause.label = "Pause" if self.playing else "Play"

        back.on_click(lambda _: self.reset())
        rest.on_click(lambda _: self.rest())
        speed.on_update(lambda _: self.set_speed(float(speed.value.removesuffix("×"))))
        heavy = float(self.model.mass.sum()) * max(float(np.linalg.norm(self.model.gravity)), 1.0)
        most = round_length(max(heavy * self._stage.scene.size, 1e-9))
        for values in (self.inputs, self.prescribed):
            for name, value in values.items():
                low, high = value - self._stage.scene.size, value + self._stage.scene.size
                if values is self.inputs:
                    low, high = slider_ends(self.model, name, most)
                    low, high = min(low, value), max(high, value)
                bar = gui.add_slider(name, low, high, (high - low) / 200, value)
                self._bars.append((values, name, bar, value))
                bar.on_update(lambda _, bar=bar, name=name, values=values: values.update({name: float(bar.value)}))

    def _run(self) -> None:
        last = told = time.monotonic()
        asked = done = owed = 0.0  # s of motion: since the page was told, taken since then, and due
        while not self._over.wait(max(0.001, 1 / FRAMES - (time.monotonic() - last))):
            now = time.monotonic()
            passed, last = now - last, now
            if self.playing and not self.fault:
                asked += passed * self.speed
                owed, before = owed + min(passed, 0.2) * self.speed, self.t
                in_time = self._advance(int(owed / self._stepper.dt), now + BUSY / FRAMES)
                owed = max(0.0, owed - (self.t - before)) if in_time else 0.0  # a slow machine never catches up
                done += max(0.0, self.t - before)
                with self._lock, self._server.atomic():
                    self._show()
            if now - told > 0.5:
                self.pace = min(1.0, done / asked) if asked > 0 else self.pace
                told, asked, done = now, 0.0, 0.0
                self._tell()

    def _advance(self, count: int, until: float) -> bool:
        """Take so many steps; whether there was time for all of them."""
        often, forces = max(1, int(HAND / self._stepper.dt)), None
        for k in range(count):
            with self._lock:
                if k % often == 0:
                    forces = self._forces()
                try:
                    self._stepper.step(forces, prescribed=self._approached(self._stepper.dt) or None)
                except (ConvergenceError, ModelError) as error:
                    self.fault, self._pull = str(error), None
                    return False
            if time.monotonic() > until and k + 1 < count:
                return False
        return True

    def _forces(self) -> dict[str, Any] | None:
        """Of the hand and of the inputs; None of neither."""
        if self._pull is None and not self.inputs:
            return None
        tau = np.zeros(self.model.nv)
        if self._pull is not None:
            tau = self._pull.force(self.model, self._stepper.q, self._stepper.v)
        return forces_by_name(self.model, tau, self.inputs)

    def _approached(self, dt: float) -> dict[str, float]:
        """Prescribed coordinates on their way to where sliders have them, a size of the mechanism in a second."""
        most = self._stage.scene.size * dt
        for name, target in self.prescribed.items():
            self._held[name] += float(np.clip(target - self._held[name], -most, most))
        return self._held

    def _show(self) -> None:
        from symplectree.view.surroundings import quaternions

        poses = body_poses(self.model, self._stepper.q[None], self._stage.scene.bodies)
        T = placed(self._stage.scene, self._stage.strands, poses)[0]
        if self._loose and len(T):
            middle = T[: len(self._stage.scene.bodies), :3, 3].mean(axis=0)
            self._home = middle if self._home is None else self._home
            self._follow = middle - self._home
        self._stage.move(T[:, :3, 3], quaternions(T), self._follow)
        if self._contacts is not None:
            self._contacts.show(self._stepper, self.speed)

    def _tell(self) -> None:
        """Time, and whether the motion is as fast as asked."""
        if self.fault:
            text = f"**stopped** at {self.t:.2f} s: {self.fault}\n\nPress Reset."
        elif self.pace < 0.95:
            text = f"**{self.t:.2f} s**, real-time factor {self.pace * self.speed:.2g} of {self.speed:g}: too slow here"
        else:
            text = f"**{self.t:.2f} s**, real-time factor {self.speed:g}"
        self._status.content = text


def live(
    model: Model, q: Any, *, v: Any = None, controls: Mapping[str, float] | None = None, view: View = None,
    port: int | None = None, block: bool = True, browser: bool = True, title: str = "",
) -> Live | None:  # fmt: skip
    """Run a model from (q, v) in real time on a page of this computer, to be pulled with the mouse.

    Loops must be closed at q. controls: of inputs, at the start; 0 where left out. port, block, browser: as of
    `Trajectory.show`. Returns the running mechanism, unless it blocks.
    """
    running = Live(model, q, v=v, controls=controls, view=view, port=servers.check_port(port), title=title)
    print(f"The mechanism is at {running.url}", flush=True)
    if browser:
        servers.open_page(running.url)
    if not block:
        return running
    running.wait()
    return None
