"""A task without Python: runs of one model whose numbers, start or forces vary, and what is kept of them, by name.

| parameter | what varies |
| --- | --- |
| "arm.mass", "spring.stiffness", … | a number of the model, as `Model.with_parameters` takes it |
| "start.NAME", "velocity.NAME" | where a coordinate or joint starts, and how fast |
| "force.NAME" | the constant force of an input, or on a coordinate |
| "dt", "duration" | of the run |

| output | what is kept |
| --- | --- |
| "final elbow", "max velocity elbow" | of a coordinate or joint |
| "final position tip", "range position tip.z" | of a frame's origin |
| "max energy", "drift energy", "mean kinetic", … | energy, kinetic, potential, momentum, constraint_error |
| "rms sensor imu" | of a sensor |

The first word is what is made of the course over time: one of `REDUCERS`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from symplectree.constraints.assembly import CLOSED, assemble, start_errors
from symplectree.dynamics.arguments import configuration, velocity
from symplectree.errors import ModelError
from symplectree.integrators import Method, Variational
from symplectree.integrators.forces import ForceSource
from symplectree.lie import Array
from symplectree.mechanism.keyframes import keyframe_of
from symplectree.mechanism.model import Model, unknown, unknown_coordinate
from symplectree.sensors.measure import sensor_of
from symplectree.simulation.simulate import initial_state, simulate
from symplectree.simulation.trajectory import Trajectory
from symplectree.validation import check_seconds, shown

REDUCERS: dict[str, Callable[[Array], Any]] = {
    "initial": lambda x: x[0],
    "final": lambda x: x[-1],
    "min": lambda x: x.min(axis=0),
    "max": lambda x: x.max(axis=0),
    "mean": lambda x: x.mean(axis=0),
    "rms": lambda x: np.sqrt((x**2).mean(axis=0)),
    "range": lambda x: np.ptp(x, axis=0),
    "drift": lambda x: np.abs(x - x[0]).max(axis=0),
    "course": lambda x: x,
}
TOTALS = ("energy", "kinetic", "potential", "momentum", "constraint_error")
KINDS = ("velocity", "position", "sensor")  # words before a name
STARTS = ("start", "velocity", "force")  # of parameters
AXES = ("x", "y", "z")


@dataclass(frozen=True)
class Output:
    """What is kept of a run: `reducer` of a course, which is that of a total, coordinate, velocity, frame or sensor."""

    reducer: str
    kind: str
    name: str
    axis: int | None = None

    @classmethod
    def parse(cls, text: Any, model: Model) -> Output:
        """From words such as "max velocity elbow"; raises ModelError that says which words there are."""
        example = "such as 'final elbow', 'max energy' or 'range position tip.z'"
        if not isinstance(text, str) or len(text.split(maxsplit=1)) < 2:
            raise ModelError(f"{shown(text)} says not what is to be kept; give two or three words, {example}")
        reducer, rest = text.split(maxsplit=1)
        if reducer not in REDUCERS:
            raise ModelError(f"{shown(text)}: {unknown('way to sum up', reducer, list(REDUCERS))}")
        kind, _, name = rest.partition(" ")
        name = name.strip()
        if rest in TOTALS:
            return cls(reducer, "total", rest)
        if kind not in KINDS or not name:
            _check_coordinate(model, rest, text)
            return cls(reducer, "coordinate", rest)
        axis = None
        if kind == "velocity":
            _check_coordinate(model, name, text)
        elif kind == "sensor":
            sensor_of(model, name)
        else:
            letter = name[-2:]
            if name not in model.frames and letter[:1] == "." and letter[1:] in AXES:
                name, axis = name[:-2], AXES.index(letter[1:])
            model.find_frame(name)
        return cls(reducer, kind, name, axis)

    def of(self, run: Trajectory) -> Any:
        """The number or array that is kept of this run."""
        return REDUCERS[self.reducer](self._course(run))

    def _course(self, run: Trajectory) -> Array:
        if self.kind == "total":
            return np.asarray(getattr(run, self.name))
        if self.kind == "coordinate":
            return run[self.name]
        if self.kind == "velocity":
            return run.velocity(self.name)
        if self.kind == "sensor":
            return run.sensor(self.name)
        position = run.pose(self.name)[:, :3, 3]
        return position if self.axis is None else position[:, self.axis]


@dataclass(frozen=True)
class ModelTask:
    """Runs of a model, as a task of `sweep`: called with the parameters of one run, it returns the outputs.

    | name | meaning |
    | --- | --- |
    | model | with the numbers that all runs share |
    | start, velocity, forces | where runs begin, by name, or `start` a keyframe by name; constant forces |
    | duration, dt, method | as of `simulate` |
    | outputs | by name |
    | title | what a store calls it |

    Loops are closed at the start of each run, with the coordinates held that are given; coordinates that move no mass
    are held.
    """

    model: Model
    start: Any
    duration: float
    dt: float
    outputs: Mapping[str, Output]
    velocity: Mapping[str, Any] = field(default_factory=dict)
    forces: Mapping[str, Any] = field(default_factory=dict)
    method: Method = field(default_factory=Variational)
    title: str = "a model"

    def __call__(self, parameters: Mapping[str, Any]) -> dict[str, Any]:
        model, q0, arguments = self.prepared(parameters)
        run = simulate(model, q0, **arguments)
        return {name: output.of(run) for name, output in self.outputs.items()}

    def prepared(self, parameters: Mapping[str, Any]) -> tuple[Model, Array, dict[str, Any]]:
        """Model, start and further arguments of `simulate` for one run; raises ModelError for names that mean nothing."""
        parts = split(self.model, parameters)
        model = self.model.with_parameters(parts["model"]) if parts["model"] else self.model
        keyframe = keyframe_of(model, self.start) if isinstance(self.start, str) else None
        q = np.array(configuration(model, self.start if keyframe is None else keyframe.q))
        v = np.zeros(model.nv) if keyframe is None else np.array(keyframe.v)
        forces = {} if keyframe is None else dict(keyframe.controls)
        for name, value in parts["start"].items():
            _put(model, q, configuration(model, {name: value}), name, "q")
        rates = {**self.velocity, **parts["velocity"]}
        velocity(model, rates)  # refuses names that are none
        for name, value in rates.items() if np.any(v) else ():
            _put(model, v, velocity(model, {name: value}), name, "v")
        forces |= {**self.forces, **parts["force"]}
        ForceSource(model, forces or None, 1)  # refuses names that are none
        q, _ = initial_state(model, q, v)
        if model.rows and not np.all(start_errors(model, q) <= CLOSED):
            q = assemble(model, q, fixed=[*model.massless, *parts["start"]])
        times = {name: parts["run"].get(name, getattr(self, name)) for name in ("duration", "dt")}
        for name, value in times.items():
            check_seconds(name, value)
        held = {name: q[model.coordinates.index(name)] for name in model.massless} or None
        v0 = v if np.any(v) else rates or None  # those that are named stay, and others follow in loops
        more = {"forces": forces or None, "prescribed": held, "method": self.method, "v0": v0}
        return model, q, {**times, **more}


def split(model: Model, parameters: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Parameters by what they change: "model", "start", "velocity", "force" and "run"."""
    found: dict[str, dict[str, Any]] = {name: {} for name in ("model", *STARTS, "run")}
    for name, value in parameters.items():
        before, _, rest = name.partition(".")
        if name in ("dt", "duration"):
            found["run"][name] = value
        elif before in STARTS and rest and before not in model.bodies:
            found[before][rest] = value
        else:
            found["model"][name] = value
    return found


def _put(model: Model, into: Array, values: Array, name: str, which: str) -> None:
    """The numbers of one coordinate or joint out of an array of all."""
    names = model.coordinates if which == "q" else model.velocities
    part: Any = getattr(model.joints[name], which) if name in model.joints else names.index(name)
    into[part] = values[part]


def _check_coordinate(model: Model, name: str, text: str) -> None:
    known = [*model.full.joints, *model.full.coordinates]
    if name not in known:
        hint = unknown_coordinate(model, name, [*model.joints, *model.coordinates])
        raise ModelError(f"{shown(text)}: {hint}; {', '.join(TOTALS)} need no name")
