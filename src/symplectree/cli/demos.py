"""What `symplectree demo` runs: shipped models, and for some of them motions that a hand or a motor makes."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from symplectree.cli import contact_demos
from symplectree.simulation.trajectory import Trajectory

Motion = Callable[[float], float]


@dataclass(frozen=True)
class Demo:
    """A run of a shipped model, by whose name it goes.

    about: what there is to see, in a few words; look: what to plot, as for `Trajectory.plot`.
    motions: from the model's initial values to `prescribed` of `simulate`. says: a sentence about the run, measured in it.
    """

    about: str
    duration: float = 10.0
    dt: float = 0.01
    look: tuple[str, ...] = ("energy", "coordinates")
    velocity: Mapping[str, float] = field(default_factory=dict)
    forces: Mapping[str, float] = field(default_factory=dict)
    motions: Callable[[Mapping[str, Any]], dict[str, Motion]] = lambda initial: {}
    says: Callable[[Trajectory], str] | None = None


def _turning(coordinate: str, speed: float) -> Callable[[Mapping[str, Any]], dict[str, Motion]]:
    """A motor that turns at a speed [rad/s]."""
    return lambda initial: {coordinate: lambda t: initial[coordinate] + speed * t}


BEAT = 0.8  # s


def _dance(initial: Mapping[str, Any]) -> dict[str, Motion]:
    """Hands that dance the marionette: the cross sways and bobs, strings are pulled in and let out."""

    def gently(t: float) -> float:
        return math.sin(min(t / 3, 1.0) * math.pi / 2) ** 2

    def pull(string: str, amount: float, phase: float, beats: int) -> Motion:
        def length(t: float) -> float:
            wave = 0.5 - 0.5 * math.cos(2 * math.pi * (t / (beats * BEAT) - phase))
            return float(initial[string] - gently(t) * amount * wave)

        return length

    return {
        "cross x": lambda t: 0.02 * gently(t) * math.sin(math.pi * t / BEAT / 2),
        "cross z": lambda t: initial["cross z"] + 0.01 * (1 - math.cos(2 * math.pi * t / BEAT)),
        "back string": pull("back string", 0.02, 0.0, 4),
        "left knee string": pull("left knee string", 0.09, 0.0, 2),
        "right knee string": pull("right knee string", 0.09, 0.5, 2),
        "left hand string": pull("left hand string", 0.22, 0.25, 4),
        "right hand string": pull("right hand string", 0.22, 0.75, 4),
    }


DEMOS = {
    "closed_chain_device": Demo(
        "three arms joined in two loops swing (Johnson and Murphey 2009, Fig. 6)"
    ),
    "scissor_lift_5": Demo("a lift of five segments turns inside out and back (their Fig. 9)"),
    "planar_human": Demo("a man swings below two rungs of a ladder (their Fig. 2)", dt=0.005),
    "marionette": Demo(
        "a puppet of 41 degrees of freedom dances on seven strings", duration=8.0, motions=_dance,
        look=("energy", "pelvis", "left knee", "right knee"),
    ),
    "four_bar": Demo(
        "a crank that turns fully drives a rocker to and fro", duration=5.0, dt=0.005,
        velocity={"crank": 13.0, "joint": -9.0, "rocker": 4.0},
    ),
    "slider_crank": Demo(
        "a motor turns the crank of an engine at 190 turns per minute", duration=2.0, dt=0.001,
        velocity={"big end": -80 / 3}, motions=_turning("crank", 20.0),
    ),
    "screw_jack": Demo(
        "a torque of 4 N·m on the spindle lifts 200 kg", duration=2.0, dt=0.002, forces={"torque": 4.0}
    ),
    "gear_pair": Demo("a weight on the wheel drives a pinion to and fro", dt=0.005),
    "cam_follower": Demo(
        "a cam at 300 turns per minute lifts a follower against its spring", duration=1.0, dt=0.001,
        motions=_turning("cam", 10 * math.pi),
    ),
    "squeezing_mechanism": Demo(
        "a motor whirls seven bodies in three loops (Andrews; Hairer and Wanner)", duration=0.03, dt=5e-5,
        look=("energy", "beta", "phi", "epsilon"),
    ),
    "satellite": Demo(
        "an arm that swings turns its satellite to and fro (Kobilarov)", velocity={"shoulder.0": 1.5, "elbow": -2.0},
        look=("energy", "momentum", "coordinates"),
    ),
    "rimless_wheel": Demo(
        "a wheel without rim walks down a slope by itself, spoke after spoke (McGeer)", duration=6.0, dt=0.002,
        velocity={"wheel.0": 0.2215, "wheel.1": 0.6851, "wheel.2": 2.4}, look=("energy", "wheel", "contacts"),
        says=contact_demos.of_rimless_wheel,
    ),
    "rattleback": Demo(
        "a stone that is spun one way rattles and turns back", duration=6.0, dt=0.0005,
        velocity={"rattleback.1": 0.1, "rattleback.2": -5.0}, look=("energy", "momentum", "contacts"),
        says=contact_demos.of_rattleback,
    ),
    "stack": Demo(
        "a ball rolls into a tower of boxes, which stood without creeping", duration=1.5, dt=0.002,
        velocity={"ball.3": 3.0}, look=("energy", "box2", "contacts"), says=contact_demos.of_stack,
    ),
}  # fmt: skip
FIRST = "closed_chain_device"
