"""One step at a time, for control loops."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from symplectree.dynamics import momenta
from symplectree.errors import ConvergenceError, ModelError
from symplectree.integrators import Method, Run
from symplectree.integrators.forces import ForceSource
from symplectree.integrators.formula_faults import FormulaWatch, element_fault
from symplectree.integrators.prescribed import Prescribed
from symplectree.integrators.variational import VariationalRun
from symplectree.integrators.violent_forces import explained
from symplectree.lie import Array
from symplectree.mechanism.model import Model, unknown
from symplectree.simulation.moved_coordinate import MovedCoordinate, given_as_numbers
from symplectree.simulation.named_start import named_start
from symplectree.simulation.recording import restart_interval
from symplectree.simulation.simulate import SLICE, chosen, consistent_start, initial_state, started
from symplectree.simulation.state import activation_of
from symplectree.simulation.step_record import StepRecord, measured
from symplectree.simulation.trajectory import Trajectory
from symplectree.simulation.turn import Turn
from symplectree.validation import check_seconds, check_steps, required_dt

if TYPE_CHECKING:
    from symplectree.sensors import Sensor

ASK, FAILED = 1, 2  # what became of a call of the core, see core/bindings/stepper.cpp
MOST_ROWS = 10_000  # steps between looks at the clock and at the keyboard, each of which takes a row of numbers


@dataclass(frozen=True, eq=False)
class StepperState:
    """Where a Stepper stands: `Stepper.restore` goes back there, and on from there bit for bit. Plain data, which pickles.

    | name | meaning |
    | --- | --- |
    | step | steps since reset |
    | q, x | configuration, and velocity or momentum, as the method keeps them |
    | method | that chose itself an order, if it did |
    | memory | what else the next steps depend on, such as the steps before, from which the next is guessed |
    | tau, inputs | forces of the last step |
    | activation | of `model.activations` |
    | laws | what controllers remember |
    | moved | where coordinates that were prescribed as numbers are |
    | controls | of the keyframe at which it was reset by name: forces of steps that are given none |
    """

    step: int
    q: Array
    x: Array
    method: Method
    memory: Any
    tau: Array
    inputs: Array
    laws: Array
    moved: dict[str, Array]
    controls: Any = None
    activation: Array = field(default_factory=lambda: np.zeros(0))


class Stepper:
    """Advances a model step by step.

        stepper = Stepper(model, Variational(), dt=0.001)
        stepper.reset({"shoulder": 0.7})
        while stepper.t < 10:
            stepper.step({"motor": controller(stepper.q, stepper.v)})

    | name | meaning |
    | --- | --- |
    | t | time since reset [s] |
    | q, v, p | configuration, velocity, momentum; copies, which the next step leaves alone |
    | activations, activation(name) | of actuators with a filter or integrator, `model.activations` |
    | state | all of it, to `restore` |

    method: how to step; `Variational()` when left out.
    dt: length of a step [s], always to be given.
    forces: controllers that act in all steps, such as `PD`, besides the forces that a step is given.
    prescribed: motions of prescribed coordinates as for `simulate`: functions of time since reset, or numbers, from
        which `step` may move them.
    record: whether to keep the state after each step, for `trajectory()`.

    A step under an array of forces, or none, is a single call of the core: a few tenths of a microsecond on top of the step
    itself. Mappings, prescribed coordinates, formulas that are watched for kinks and elements that are functions of Python
    take some ten more. Whatever stops it, an exception of the user's own functions or Ctrl-C, q, v and t are those after
    the last whole step. Threads take turns; a function that a step calls cannot use the stepper, and is told so by
    ModelError. Copies (`copy.copy`) go their own way from the same state; steppers of models that pickle can be pickled.
    """

    def __init__(
        self,
        model: Model,
        method: Method | None = None,
        dt: float | None = None,
        *,
        prescribed: Any = None,
        forces: Any = None,
        record: bool = False,
    ) -> None:
        import symplectree._core as core

        check_seconds("dt", dt := required_dt(dt, "Stepper"))
        self.model, self.method, self.dt = model, chosen(method), float(dt)
        self._given = {"prescribed": prescribed, "forces": forces, "record": record}
        self._forces = ForceSource(model, forces, 1)
        numbers = self._forces.laws is None or np.any(self._forces.tau) or np.any(self._forces.inputs)
        if forces is not None and numbers:
            raise ModelError("forces of a Stepper are controllers, such as PD; give numbers to its steps")
        self._moved = {name: MovedCoordinate(value, self.dt) for name, value in given_as_numbers(prescribed).items()}
        given = prescribed if prescribed is None or not self._moved else {**prescribed, **self._moved}
        self._prescribed = Prescribed(model, given, self.dt)
        self._interval = restart_interval(model)
        self._loop = core.StepLoop(self.dt, self._interval)
        self._take = self._loop.step
        self._turn, self._chunk = Turn(self._loop), 1  # how many steps fit between two looks at the clock
        self._started: Run | None = None
        self._controls: Any = None
        self._kept = StepRecord(self) if record else None
        self._watch = FormulaWatch(model, leaps=True)
        # Then all states between are kept, to go back to.
        self._may_raise = bool(self._watch) or any(not user.tapes for user in model.tables.users)
        whole = model.tree_coordinates(model.neutral)
        valued = np.all(np.isfinite(whole)) and element_fault(model.full, whole, np.zeros(model.full.nv)) is None
        if not model.rows and valued:
            self.reset(model.neutral)

    def reset(self, q: Any, v: Any = None, *, activation: Any = None) -> None:
        """Start anew at t = 0 from (q, v) and activations, given as for `simulate`; rest and zero when these are left out.

        q may be the name of a keyframe, whose velocities and activations then count when they are left out, and whose
        controls are the forces of all steps that are given none. Prescribed coordinates stay where they are.
        """
        with self._turn:
            for motion in self._moved.values():
                motion.hold()
            q, v, controls, activation = named_start(self.model, q, v, None, activation)
            given = q, v
            q, v = initial_state(self.model, q, v)
            q, v = consistent_start(self.model, q, v, self._prescribed, told=given[1] is None, given=given)
            self._forces = ForceSource(self.model, self._given["forces"], 1, activation)  # controllers begin anew
            self._start(self.method, q, v)
            self._begin_count(0)
            self._set_controls(controls)

    def step(self, forces: Any = None, *, n: int = 1, prescribed: Mapping[str, Any] | None = None) -> None:
        """One step, or n, under constant `forces`: an array or a mapping, as one row of `simulate(forces=…)`; when
        left out none, or the controls of the keyframe that it was reset to. Fastest is an array of floats, of which
        `input` tells the places by name.

        prescribed: where coordinates that were prescribed as numbers are to be at the end of the step, by name, and stay
            in further ones; others stay.

        Raises ConvergenceError when a step cannot be taken; the state is that before it.
        """
        forces = self._controls if forces is None else forces
        if prescribed is not None or (outcome := self._take(forces, n)) == ASK:
            return self._step_with_python(forces, n, prescribed)
        if outcome == FAILED:
            self._fail()

    def input(self, name: str) -> int | slice:
        """Where the force of an input stands in the array that `step` takes; of a coordinate or joint, a slice where it has
        several degrees of freedom, in models without inputs."""
        table, part = self._forces.place(name)
        if table != ("inputs" if self.model.inputs else "tau"):
            raise ModelError(
                f"{name!r} is no input, and the model has inputs, of which arrays of forces are: set it by a mapping, "
                f"step({{{name!r}: …}}), or give it one: JointForce({name!r}, 'name of an input')"
            )
        return part.start if part.stop == part.start + 1 else part

    def run(self, steps: int) -> None:
        """That many steps under the forces of the last `step`, or none; prescribed numbers stay."""
        check_steps("steps", steps, least=0)
        with self._turn:
            for motion in self._moved.values():
                motion.hold()
            self._advance_for(steps)

    def sensor(self, name: str | Sensor) -> Array:
        """What a sensor of the model, by name, or another one shows now, under the forces of the last step."""
        return measured(self, name)

    def trajectory(self) -> Trajectory:
        """All states since reset, or since a state was restored, of a stepper that was made with `record=True`."""
        if self._kept is None:
            raise ModelError("the stepper keeps no states; make it with Stepper(…, record=True)")
        return self._kept.trajectory()

    @property
    def state(self) -> StepperState:
        """All that the next steps depend on; see `restore`. An array of numbers of each kind, some 20 nv in all."""
        with self._turn:
            run = self._run
            method = run.method if isinstance(run, VariationalRun) else self.method
            moved = {name: motion.end.copy() for name, motion in self._moved.items()}
            source = self._forces
            laws = np.array([] if source.laws is None else source.laws.memory())
            return StepperState(
                step=self._loop.count, q=run.q.copy(), x=run.x.copy(), method=method, memory=run.memory(),
                tau=source.tau.copy(), inputs=source.inputs.copy(), laws=laws, moved=moved, controls=self._controls,
                activation=run.activation.copy(),
            )  # fmt: skip

    def restore(self, state: StepperState) -> None:
        """Go back to a state of this stepper, or of another of the same model, method and dt: the next steps are, bit for
        bit, those that followed it then."""
        with self._turn:
            same = isinstance(state, StepperState) and state.q.shape == (self.model.nq,)
            same = same and state.x.shape == (self.model.nv,) and set(state.moved) == set(self._moved)
            same = same and state.activation.shape == (len(self.model.activations),)
            if not same or (state.method != self.method and getattr(self.method, "order", None) != "auto"):
                raise ModelError("this is no state of a stepper of this model, method and prescribed coordinates")
            for name, motion in self._moved.items():
                motion.end = state.moved[name].copy()
                motion.hold()
            self._start(state.method, state.q, np.zeros(self.model.nv))
            self._run.q[:], self._run.x[:], self._run.activation[:] = state.q, state.x, state.activation
            self._run.restart(state.step)
            self._run.recall(state.memory)
            self._attach()
            self._begin_count(state.step)
            self._controls = state.controls
            self._forces.tau[:], self._forces.inputs[:] = state.tau, state.inputs
            if self._forces.laws is not None:
                self._forces.laws.recall(state.laws)

    def __reduce__(self) -> tuple[Any, ...]:
        state = None if self._started is None else self.state
        return _restored, (type(self), (self.model, self.method, self.dt), self._given, state)

    def __copy__(self) -> Stepper:
        make, arguments = self.__reduce__()
        copied: Stepper = make(*arguments)
        return copied

    def __deepcopy__(self, memo: Any) -> Stepper:
        return self.__copy__()  # models do not change

    def _start(self, method: Method, q: Array, v: Array) -> None:
        self._started = started(method, self.model, (q, v), self.dt, self._forces, self._prescribed)
        self._attach()

    def _set_controls(self, controls: dict[str, Any] | None) -> None:
        """Forces of a keyframe, for `run` at once, and for steps that are given none."""
        source = self._forces
        source.set(controls)
        plain = controls and self.model.inputs and not np.any(source.tau)  # an array of inputs is fastest
        self._controls = source.inputs[0].copy() if plain else controls

    def _begin_count(self, step: int) -> None:
        """Count steps, and keep states, from here on."""
        self._loop.count = step
        if self._kept is not None:
            self._kept.begin(self.t, self._run)

    def _attach(self) -> None:
        """Let the core take steps by itself, where it can, as soon as nobody has the turn."""
        run = self._run
        plain = not self._may_raise and not self._prescribed and self._kept is None
        alone = plain and getattr(run, "native", None) is not None
        if alone:
            self._loop.attach(run.native, self._forces.native_rows(0, 1), run.q, run.x, run.activation)
        self._turn.leaves_open = alone

    def _step_with_python(self, forces: Any, n: Any, prescribed: Mapping[str, Any] | None) -> None:
        check_steps("n", n)
        with self._turn:
            _ = self._run  # refuses before anything changes
            for name in prescribed or {}:
                if name not in self._moved:
                    raise ModelError(unknown("coordinate prescribed as a number", name, list(self._moved)))
            self._forces.set(forces)
            for name, motion in self._moved.items():
                motion.begin(self.t, (prescribed or {}).get(name, motion.end))
            try:
                self._advance(1)
            except BaseException:
                for motion in self._moved.values():
                    motion.end = motion.start
                raise
            for motion in self._moved.values() if n > 1 else ():
                motion.hold()
            self._advance_for(int(n) - 1)

    def _fail(self) -> None:
        with self._turn:
            run = self._run
            if run.second == "p":
                raise run.failure(self._loop.count)
            run.restart(self._loop.count)  # explicit methods end beyond numbers; once more, to say how
            self._advance(1)

    def _advance_for(self, steps: int) -> None:
        """Take steps, with looks at the clock and at the keyboard."""
        end = self._loop.count + steps
        while self._loop.count < end:
            count, start = min(self._chunk, end - self._loop.count), time.perf_counter()
            count = self._advance(count)
            spent = max(time.perf_counter() - start, 1e-7)
            if count == self._chunk or spent > SLICE:
                self._chunk = max(1, min(int(SLICE / spent * count), 10 * count, MOST_ROWS))

    def _advance(self, most: int) -> int:
        """Take at most so many steps, count them, and return how many; whatever the run raises, q, x and the count are
        those after the last whole one. The run is started anew where `simulate` does so."""
        run, first = self._run, self._loop.count
        steps = min(most, self._interval - first % self._interval if self._kept is None else 1)
        rows = steps if self._may_raise else 1
        states = np.empty((rows + 1, self.model.nq)), np.empty((rows + 1, self.model.nv))
        states[0][0], states[1][0] = run.q, run.x
        activations = [run.activation.copy()]
        states[0][1:, 0] = np.nan
        done = -1
        try:
            done = run.advance(first, steps, steps // rows, states[0][1:], states[1][1:])
        finally:
            if len(activations[0]):
                activations += list(run.statistics().get("activations", ()))
            run.counts.clear()  # a loop may go on for ever
            taken = done
            if done < 0:
                written = int(np.count_nonzero(~np.isnan(states[0][1:, 0])))
                run.q[:], run.x[:] = states[0][written], states[1][written]
                run.activation[:] = activations[min(written, len(activations) - 1)]
                taken = written * (steps // rows)
            self._loop.count = first + taken
        if self._watch and (found := self._watch.first(states[0][: taken + 1])) is not None:
            count = self._loop.count = first + found[0]
            run.q[:], run.x[:] = states[0][found[0]], states[1][found[0]]  # the state before the fault
            run.activation[:] = activations[found[0]]
            run.restart(count)
            why = f"the step {count} (t = {self.t:.6g} s) leads across a fault: {found[1]}"
            raise ConvergenceError(why, step=count, time=self.t)
        if taken < steps:
            raise explained(run.failure(self._loop.count), self.model, run, run.q, self.dt)
        if self._loop.count % self._interval == 0:
            run.restart(self._loop.count)
            self._attach()
        if self._kept is not None:
            self._kept.add(self.t, run)
        return steps

    @property
    def _run(self) -> Run:
        if self._started is None:
            if self.model.rows:
                raise ModelError(
                    "the model has constraints; reset(q) the stepper to a configuration that meets them first"
                )
            raise ModelError("a formula has no value where all coordinates are zero; reset(q) the stepper first")
        return self._started

    @property
    def t(self) -> float:
        return float(self._loop.count * self.dt)

    @property
    def q(self) -> Array:
        run = self._started
        return (self._run if run is None else run).q.copy()

    @property
    def v(self) -> Array:
        velocity: Any = self._loop.velocity()
        if velocity is None:
            with self._turn:
                velocity = self._run.velocity()
        return velocity

    @property
    def activations(self) -> Array:
        return self._run.activation.copy()

    def activation(self, name: str) -> float:
        """That of one actuator now; raises ModelError for one that has none."""
        return float(activation_of(self.model, self.activations, name))

    @property
    def p(self) -> Array:
        run = self._run
        if run.second == "p" and not self.model.rows and not self._prescribed:
            return run.x.copy()
        return momenta(self.model, run.q, self.v)


def _restored(kind: type[Stepper], arguments: Any, given: Any, state: StepperState | None) -> Stepper:
    stepper = kind(*arguments, **given)
    if state is not None:
        stepper.restore(state)
    return stepper
