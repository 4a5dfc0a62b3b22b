"""What runs inside an FMU that `symplectree.io.fmu` has written: the variables of a model, and its steps."""

import json
import uuid
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element

import numpy as np
from pythonfmu3 import (
    DefaultExperiment,
    Float64,
    Fmi3Causality,
    Fmi3Initial,
    Fmi3Status,
    Fmi3StepResult,
    Fmi3Variability,
)

from symplectree.constraints.assembly import CLOSED, assemble, start_errors
from symplectree.dynamics import kinetic_energy, potential_energy
from symplectree.dynamics.arguments import configuration
from symplectree.errors import ModelError, SymplectreeError
from symplectree.integrators import Variational
from symplectree.io.sexpr import read
from symplectree.lie import Array
from symplectree.simulation.stepper import Stepper
from symplectree.validation import counted
from symplectree.version import version

WHOLE = 1e-6  # of a step: how far a communication step may be from a whole number of them


class Exact(Float64):
    """A number whose start value keeps all its digits."""

    def to_xml(self) -> Element:
        made: Element = super().to_xml()
        if self.start is not None:
            made.set("start", repr(float(self.start)))
        return made


class Instance:
    """The methods that PythonFMU3 calls; the class of an FMU is made of this and of its `Fmi3Slave`.

    Exceptions that leave a method are fatal there, and may end the process of whoever runs the FMU. What is wrong is
    therefore kept as `trouble`, with which the next step fails.
    """

    log: Callable[..., None]
    register_variable: Callable[..., None]
    vars: dict[int, Any]
    resources: str
    modelName: str

    def __init__(self, **given: Any) -> None:
        super().__init__(**given)
        folder = Path(self.resources)
        settings = json.loads((folder / "settings.json").read_text(encoding="utf-8"))
        mechanism = read((folder / "model.sexp").read_text(encoding="utf-8"), "model.sexp")
        self.model, self.dt = mechanism.build(), float(settings["dt"])
        self.stepper = Stepper(self.model, Variational(**settings["method"]), self.dt)
        self.made_by = settings["version"]
        self.running = False
        self.trouble = ""
        self.begin = 0.0  # s, of the simulation
        self.q = self.start_q = _closed(self.model, configuration(self.model, mechanism.initial))
        self.v = self.start_v = np.zeros(self.model.nv)
        self.controls = np.zeros(len(self.model.inputs))
        self.guid = uuid.uuid4()  # one that does not tell the machine
        self.description = "a mechanism of symplectree, which it needs to run"
        self.default_experiment = DefaultExperiment(0.0, 10.0, self.dt)
        self._declare()

    def _declare(self) -> None:
        model, continuous = self.model, Fmi3Variability.continuous
        time = Float64("time", causality=Fmi3Causality.independent, variability=continuous, getter=lambda: self.time)
        self.register_variable(time, nested=False)
        for k, name in enumerate(model.inputs):
            self._number(f"inputs.{name}", "controls", k, Fmi3Causality.input, continuous)
        fixed = {"variability": Fmi3Variability.fixed, "initial": Fmi3Initial.exact}
        for kind, names in (("q", model.coordinates), ("v", model.velocities)):
            for k, name in enumerate(names):
                self._number(f"start.{kind}.{name}", f"start_{kind}", k, Fmi3Causality.parameter, **fixed)
        found = {"variability": continuous, "initial": Fmi3Initial.calculated}
        for kind, names in (("q", model.coordinates), ("v", model.velocities)):
            for k, name in enumerate(names):
                self._number(f"{kind}.{name}", kind, k, Fmi3Causality.output, **found)
        energy = Float64("energy", causality=Fmi3Causality.output, getter=self.energy, description="J", **found)
        self.register_variable(energy, nested=False)

    def _number(self, name: str, array: str, k: int, causality: Any, variability: Any, initial: Any = None) -> None:
        """A variable that is an entry of one of the arrays of this instance."""

        def get() -> float:
            return float(getattr(self, array)[k])

        def put(value: float) -> None:
            if causality is Fmi3Causality.output:
                self.trouble = f"{name} is an output, which cannot be set"
            elif self.running and causality is Fmi3Causality.parameter:
                self.trouble = f"{name} can be set before the simulation begins only"
            elif not np.isfinite(value):
                self.trouble = f"{name} was set to {value}; give a finite number"
            values = getattr(self, array).copy()
            values[k] = value
            setattr(self, array, values)

        made = Exact(name, causality=causality, variability=variability, initial=initial, getter=get, setter=put)
        self.register_variable(made, nested=False)

    def to_xml(self, *options: Any) -> Element:
        """As PythonFMU3 makes it; names are those of the model, whatever characters they have."""
        root: Element = super().to_xml(*options)  # type: ignore[misc]
        root.set("variableNamingConvention", "flat")
        part = root.find("CoSimulation")
        assert part is not None
        part.set("fixedInternalStepSize", repr(self.dt))
        return root

    @property
    def time(self) -> float:
        return self.begin + (self.stepper.t if self.running else 0.0)

    def energy(self) -> float:
        return float(kinetic_energy(self.model, self.q, self.v) + potential_energy(self.model, self.q))

    def setup_experiment(self, start_time: float) -> None:
        self.begin = start_time

    def exit_initialization_mode(self) -> None:
        """Start from the parameters, with loops closed."""
        self.running = True
        if self.made_by != version():
            self._warn(f"this FMU was made by symplectree {self.made_by}, and runs by {version()}")
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", UserWarning)
            try:
                self.stepper.reset(_closed(self.model, self.start_q), self._start_velocity())
            except SymplectreeError as error:
                self.trouble = self.trouble or str(error)
                return
        for warning in caught:
            self._warn(str(warning.message))
        self._look()

    def _start_velocity(self) -> Any:
        """With loops, those that are not zero by name: they are kept, and all others follow the loops."""
        if not self.model.rows:
            return self.start_v
        return {name: v for name, v in zip(self.model.velocities, self.start_v, strict=True) if v != 0}

    def do_step(self, current_time: float, step_size: float) -> Any:
        """Steps of dt up to the next communication point, all under the present inputs."""
        if self.trouble:
            return self._fail(self.trouble)
        steps = round(step_size / self.dt)
        if steps < 1 or abs(step_size / self.dt - steps) > WHOLE * steps:
            return self._fail(
                f"the communication step of {step_size:g} s is no multiple of {self.dt:g} s, the step of the model inside"
            )
        if abs(current_time - self.time) > WHOLE * self.dt * max(1, self.time / self.dt):
            return self._fail(f"the model stands at {self.time:g} s, and a step from {current_time:g} s was asked for")
        try:
            if self.model.inputs:
                self.stepper.step(self.controls, n=steps)
            else:
                self.stepper.run(steps)
        except SymplectreeError as error:
            return self._fail(str(error))
        finally:
            self._look()
        return Fmi3StepResult()

    def get_float64(self, references: list[int]) -> list[float]:
        self._check(references)
        found: list[float] = super().get_float64(references)  # type: ignore[misc]
        return found

    def set_float64(self, references: list[int], values: list[float]) -> None:
        self._check(references)
        super().set_float64(references, values)  # type: ignore[misc]

    def _check(self, references: list[int]) -> None:
        for reference in references:
            if reference not in self.vars:
                known = counted(len(self.vars), "variable")
                raise ModelError(f"no variable has the value reference {reference}; there are {known}, from 0 on")

    def _look(self) -> None:
        self.q, self.v = self.stepper.q, self.stepper.v

    def _warn(self, text: str) -> None:
        self.log(text, status=Fmi3Status.warning)

    def _fail(self, text: str) -> Any:
        self.log(text, status=Fmi3Status.error)
        return Fmi3StepResult(status=Fmi3Status.error)


def _closed(model: Any, q: Any) -> Array:
    """The configuration, with loops closed where they are open."""
    given = np.array(q, dtype=float)
    if not model.rows or np.all(start_errors(model, given) <= CLOSED):
        return given
    return assemble(model, given, fixed=[*model.massless])
