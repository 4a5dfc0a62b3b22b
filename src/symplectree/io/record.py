"""A trajectory as named tables with units, which every file format holds in its own form.

| variable | dimensions | meaning |
| --- | --- | --- |
| t | t | time |
| q | t, coordinate | configurations |
| v | t, velocity | velocities |
| p | t, velocity | momenta, of methods that record them |
| p_raw | t, velocity | the same of runs with constraints or prescribed coordinates, whose forces they hold half a step of |
| kinetic, potential, energy, constraint_error | t | as of `Trajectory` |
| interval | interval | time at which each interval between two states begins |
| iterations, substeps | interval | of the solver, between two states |
| multipliers, prescribed_forces | interval, row or prescribed | as the method recorded them |
| impacts | impact, impact_part | time, of a contact (1) or limit (0), row, normal impulse, point, impulse, energy lost |
| rates | t, velocity | velocities of prescribed coordinates |
| activations | t, activation | of actuators with a filter or integrator |
| contact_… | contact, axis | columns of `Trajectory.contacts`: t, element, a, b, point, force, … |
| impact_… | impact, axis | columns of `Trajectory.impacts`: t, element, normal, point, impulse, lost |
| sensor_NAME | t, sensor_NAME_part | what the sensor of that name shows; its parts, and their units |
| coordinate, velocity, row, prescribed, activation | themselves | names |
| coordinate_unit, velocity_unit, momentum_unit | | units, where they are not all the same |
| model | | the mechanism's text, as `loads` takes it |
| restart_… | | the state from which `resume` goes on |

Of v and p a run records one; the file says which in the attribute `kept`.
"""

import json
import warnings
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from symplectree.errors import ModelError, ResultError
from symplectree.io.contact_variables import contact_variables
from symplectree.io.same_model import check_model
from symplectree.io.sensor_variables import Variable, sensor_variables
from symplectree.mechanism.model import Model
from symplectree.simulation.run_record import Restart, Settings
from symplectree.simulation.trajectory import Trajectory

FORMAT = 1  # of the attribute `symplectree`; a reader of this version reads no higher
COUNTS = ("iterations", "substeps")
ROWS = {"multipliers": "row", "prescribed_forces": "prescribed"}
# Units of the coordinates of each kind of elementary joint, and of their increments; velocities have these per second.
_PLAIN: dict[str, tuple[str, ...]] = {"revolute": ("rad",), "screw": ("rad",), "prismatic": ("m",)}
COORDINATE_UNITS = _PLAIN | {"ball": ("quaternion",) * 4, "free": ("m",) * 3 + ("quaternion",) * 4}
INCREMENT_UNITS = _PLAIN | {"ball": ("rad",) * 3, "free": ("rad",) * 3 + ("m",) * 3}
MEANINGS = {
    "t": "time",
    "q": "configurations",
    "v": "velocities",
    "p": "momenta",
    "p_raw": "momenta as the method keeps them, with half a step of the forces of constraints",
    "kinetic": "kinetic energy",
    "potential": "potential energy",
    "energy": "kinetic and potential energy",
    "constraint_error": "largest constraint row",
    "interval": "time at which the interval between two states begins",
    "position": "origins of frames in the world",
    "rotation": "axes of frames in the world, as columns",
    "iterations": "iterations of the solver since the state before",
    "substeps": "steps taken as shorter ones since the state before",
    "multipliers": "forces of the constraint rows",
    "prescribed_forces": "forces that move the prescribed coordinates",
    "impacts": "time, of a contact (1) or a limit (0), number of its row, normal impulse, point, impulse, energy lost",
    "contact_point": "where shapes touch",
    "contact_normal": "from b to a",
    "contact_force": "on b; on a it is opposite",
    "contact_sliding": "whether friction is at its limit",
    "impact_impulse": "on the second shape",
    "impact_lost": "energy that an impact took",
    "rates": "velocities of prescribed coordinates, zero elsewhere",
    "activations": "activations of actuators with a filter or integrator",
    "model": "the mechanism, for symplectree.loads",
}


@dataclass(frozen=True)
class Record:
    """All of a trajectory: tables by name, and attributes, which are numbers and short texts."""

    variables: dict[str, Variable]
    attributes: dict[str, Any] = field(default_factory=dict)

    def get(self, name: str) -> Any:
        """The values of a variable, None when there is none."""
        return self.variables[name].values if name in self.variables else None


def record_of(trajectory: Trajectory, *, derived: bool = True) -> Record:
    """Everything that a trajectory keeps; `derived`: and what follows from it, for other programs to read.

    Warns when the model cannot be written as text, because it holds functions of Python.
    """
    model, variables = trajectory.model, _names(trajectory.model)
    second = "v" if trajectory.raw is None else "p_raw" if model.rows or trajectory.prescribed else "p"
    state = trajectory.v if trajectory.raw is None else trajectory.raw
    variables |= {
        "t": Variable(("t",), trajectory.t, "s"),
        "q": Variable(("t", "coordinate"), trajectory.q, _common(variables["coordinate_unit"])),
        second: Variable(
            ("t", "velocity"), state, _common(variables["velocity_unit" if second == "v" else "momentum_unit"])
        ),
    }
    if derived:
        variables["v"] = Variable(("t", "velocity"), trajectory.v, _common(variables["velocity_unit"]))
        for name in ("kinetic", "potential", "energy"):
            variables[name] = Variable(("t",), getattr(trajectory, name), "J")
        variables["interval"] = Variable(("interval",), trajectory.t_forces, "s")
        variables |= sensor_variables(trajectory)
        variables |= contact_variables(trajectory)
        if model.rows:
            variables["constraint_error"] = Variable(("t",), trajectory.constraint_error)
    for name, values in trajectory.recorded.items():
        variables[name] = Variable(("interval", ROWS[name]) if name in ROWS else ("interval",), values)
    if len(trajectory.impacts):
        variables["impacts"] = Variable(("impact", "impact_part"), trajectory.impacts.rows)
    if trajectory.prescribed:
        variables["prescribed"] = Variable(("prescribed",), list(trajectory.prescribed))
    if trajectory.rates is not None:
        variables["rates"] = Variable(("t", "velocity"), trajectory.rates)
    if model.activations:
        variables["activations"] = Variable(("t", "activation"), trajectory.activations)
    attributes = _attributes(trajectory) | {"kept": second}
    try:
        variables["model"] = Variable((), model.text)
    except ModelError as error:
        warnings.warn(
            f"the model is not saved with its trajectory, so that load_trajectory needs model=…: {error}", stacklevel=4
        )
    if trajectory.restart is not None:
        _add_restart(variables, attributes, trajectory.restart)
    return Record({n: v for n, v in variables.items() if np.size(v.values)}, attributes)


def _names(model: Model) -> dict[str, Variable]:
    steps = [step for place in model.joints.values() for step in place.joint.steps()]
    speeds = [u for step in steps for u in INCREMENT_UNITS.get(step.kind, ("1",) * step.nv)]
    units = {
        "coordinate": [
            "1" if unit == "quaternion" else unit
            for step in steps
            for unit in COORDINATE_UNITS.get(step.kind, ("1",) * step.nq)
        ],
        "velocity": [f"{u}/s" for u in speeds],
        "momentum": [{"rad": "N m s", "m": "N s"}.get(u, "J s") for u in speeds],
    }
    names = {"coordinate": model.coordinates, "velocity": model.velocities, "row": model.rows, "input": model.inputs}
    names["activation"] = model.activations
    variables = {name: Variable((name,), list(values)) for name, values in names.items()}
    for name, values in units.items():
        variables[f"{name}_unit"] = Variable(("coordinate" if name == "coordinate" else "velocity",), values)
    return variables


def _common(units: Variable) -> str:
    """The unit of a table whose columns have these; empty when they differ."""
    each = set(units.values)
    return each.pop() if len(each) == 1 else ""


def _attributes(trajectory: Trajectory) -> dict[str, Any]:
    from symplectree.version import version

    given = trajectory.settings
    attributes: dict[str, Any] = {
        "symplectree": FORMAT,
        "title": "Trajectory of a mechanism, simulated with Symplectree",
        "version": version(),
    }
    if given is None:
        return attributes
    done = round(trajectory.t[-1] / given.dt)
    return attributes | {
        "dt": given.dt,
        "steps": given.steps,
        "steps_done": done,
        "complete": int(done >= given.steps),
        "save_every": given.save_every,
        "method": given.method,
        "forces": "functions" if given.forces is None else json.dumps(dict(given.forces)),
        "prescribed_values": "functions" if given.prescribed is None else json.dumps(dict(given.prescribed)),
    }


def _add_restart(variables: dict[str, Variable], attributes: dict[str, Any], restart: Restart) -> None:
    attributes["restart_step"] = restart.step
    variables["restart_q"] = Variable(("coordinate",), restart.q)
    variables["restart_x"] = Variable(("velocity",), restart.x)
    variables["restart_activations"] = Variable(("activation",), restart.activation)
    for name, values in restart.recorded.items():
        variables[f"restart_{name}"] = Variable((ROWS[name],) if name in ROWS else (), values)


def trajectory_of(record: Record, path: Any, model: Model | None = None) -> Trajectory:
    """The trajectory that a record holds, bit for bit; raises ResultError that names the file and what is wrong."""
    attributes = record.attributes
    if "symplectree" not in attributes:
        raise ResultError(f"{path} is no result of Symplectree; it holds {', '.join(record.variables) or 'nothing'}")
    if int(attributes["symplectree"]) > FORMAT:
        raise ResultError(f"{path} was written by version {attributes['version']} of Symplectree; update to read it")
    try:
        built = _model(record, path) if model is None else model
        recorded = {name: record.get(name) for name in (*COUNTS, *ROWS) if name in record.variables}
        names = tuple(record.get("prescribed") if "prescribed" in record.variables else ())
        second = attributes["kept"]
        trajectory = Trajectory(
            built,
            record.variables["t"].values,
            record.variables["q"].values,
            **{"v" if second == "v" else "p": record.variables[second].values},
            **recorded,
            prescribed=names,
            rates=record.get("rates"),
            activations=record.get("activations"),
            settings=_settings(attributes),
            restart=_restart(record),
            impacts=record.get("impacts") if "impacts" in record.variables else (),
        )
    except KeyError as error:
        raise ResultError(f"{path} is incomplete: it holds no {error.args[0]!r}") from None
    _check_names(record, built, path)
    if model is not None:
        check_model(model, path, record.get("model"), trajectory, record.get("energy"))
    return trajectory


def _model(record: Record, path: Any) -> Model:
    from symplectree.io import loads

    if "model" not in record.variables:
        raise ModelError(
            f"{path} holds no model, because it has functions of Python: give it, load_trajectory(path, model=…)"
        )
    return loads(str(record.get("model"))).build()


def _settings(attributes: dict[str, Any]) -> Settings | None:
    if "dt" not in attributes:
        return None
    forces, held = attributes["forces"], attributes["prescribed_values"]
    return Settings(
        dt=float(attributes["dt"]),
        steps=int(attributes["steps"]),
        save_every=int(attributes["save_every"]),
        method=str(attributes["method"]),
        forces=None if forces == "functions" else json.loads(forces),
        prescribed=None if held == "functions" else {name: tuple(v) for name, v in json.loads(held).items()},
    )


def _restart(record: Record) -> Restart | None:
    if "restart_step" not in record.attributes:
        return None
    recorded = {n: record.get(f"restart_{n}") for n in (*COUNTS, *ROWS) if f"restart_{n}" in record.variables}
    step = int(record.attributes["restart_step"])
    q, x = (record.variables[name].values for name in ("restart_q", "restart_x"))
    activation = record.get("restart_activations")
    return Restart(step, q, x, recorded, np.zeros(0) if activation is None else activation)


def _check_names(record: Record, model: Model, path: Any) -> None:
    for name, names in (("coordinate", model.coordinates), ("velocity", model.velocities)):
        held = [str(n) for n in record.get(name)]
        if held != list(names):
            raise ModelError(f"{path} holds another model's run, with the coordinates {', '.join(held)}")


def describing(name: str, variable: Variable) -> dict[str, str]:
    """Attributes of a variable: its meaning and its unit."""
    found = {"long_name": MEANINGS.get(name, ""), "units": variable.unit}
    return {key: text for key, text in found.items() if text}
