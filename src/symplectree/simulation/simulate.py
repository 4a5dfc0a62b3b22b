"""The loop: advance a method, save, show progress, answer Ctrl-C, lose nothing."""

import contextlib
import os
import time
import warnings
from dataclasses import replace
from typing import Any

import numpy as np

from symplectree.constraints.assembly import CLOSED, start_errors
from symplectree.constraints.dynamics import constraint_jacobian
from symplectree.dynamics.arguments import configuration, unusable, velocity, zero_quaternion
from symplectree.errors import ModelError, ResultError
from symplectree.integrators import Method, Run, Variational
from symplectree.integrators.forces import ForceSource
from symplectree.integrators.formula_faults import element_fault
from symplectree.integrators.prescribed import Prescribed
from symplectree.integrators.variational import VariationalRun
from symplectree.joints import SurfaceContactJoint, SymbolicJoint
from symplectree.lie import Array
from symplectree.mechanism.doubts import degree_questions
from symplectree.mechanism.mixed_up import check_model
from symplectree.mechanism.model import Model
from symplectree.simulation.applied import Applied
from symplectree.simulation.named_start import named_start
from symplectree.simulation.prescribed_start import refused_start, tell_replaced
from symplectree.simulation.progress import Progress
from symplectree.simulation.recording import Recording
from symplectree.simulation.run_record import (
    Restart,
    Settings,
    constant_forces,
    constant_motions,
    is_method,
    method_from_text,
)
from symplectree.simulation.start_velocity import along_constraints
from symplectree.simulation.trajectory import Trajectory
from symplectree.validation import MOST_STEPS, check_seconds, check_steps, is_positive, shown

SLICE = 0.05  # seconds between looks at the clock and at the keyboard


def simulate(
    model: Model,
    q0: Any,
    v0: Any = None,
    *,
    duration: float,
    dt: float,
    method: Method | None = None,
    forces: Any = None,
    prescribed: Any = None,
    activation: Any = None,
    save_every: int = 1,
    progress: bool | float | None = None,
    out: str | os.PathLike[str] | None = None,
) -> Trajectory:
    """Move the model from (q0, v0) for `duration` in steps of `dt`, and return the trajectory.

    q0, v0: arrays, or mappings from names of coordinates or joints; what is not named is zero. v0 is rest when left out.
        {} is the neutral configuration, all coordinates zero.
        q0 may be the name of a keyframe (`model.keyframes`): its loops are closed first, and its velocities, controls
        and activations are then the defaults of v0, forces and activation. What is given counts alone.
    duration, dt: [s], always to be given; as many whole steps as fit into the duration are taken, and a warning says
        where the run ends when a part of one is left. No step is shortened: equal ones keep the energy without drift.
    method: how to step; `Variational()` when left out.
    forces: None; numbers for the model's inputs (for all nv velocities when it has none), or one row of these per
        step; a mapping of names to numbers, or to one row of these per step; or a function of (t, q, v) that returns
        either. `Variational` asks it at both ends of each step, at the end for forces that go with the velocity there
        (JM09 (43)), and at orders 4 to 8 without constraints at the stages. What resists motion so strongly that it would
        end it within a step, as a regulator with much damping does, is estimated by differences and taken implicitly, as
        `JointDamper` is, so that it settles at any step; other methods take functions as they are.
    prescribed: a mapping of coordinates (or joints) to functions of time, to arrays of values at the start and at each
        step's end, or to numbers; their motion is as given, and `Trajectory.prescribed_forces` is what it takes.
    activation: of actuators with a filter or integrator (`model.activations`), at the start: numbers by name, or an
        array; zero when left out.
    save_every: keep every so many steps, and the last, which may follow after fewer: then `t` ends with a shorter gap.
    progress: True shows a bar in the terminal; a number, when the run takes longer than so many seconds.
    out: a file (`.nc`; others are written at the end, see `Trajectory.save`) to which the run is written as it goes: at
        any moment, killed or not, it holds all but the last few seconds, and `resume` goes on from there.

    Of a closed chain the velocities that v0 names stay, and others follow; a v0 that the constraints do not allow, or an
    array, is projected onto them, with a warning that says by how much. An angle that is more than a
    turn and a round number of degrees, such as 70, is asked about in a warning.

    Raises ModelError for bad arguments, AssemblyError when q0 breaks the constraints, ResultError when `out` cannot be
    written, and ConvergenceError when a step fails. Whatever stops the run early (that, an
    exception in a force function, KeyboardInterrupt by Ctrl-C) has everything up to then in its attribute `trajectory`.
    """
    check_model(model)
    steps = whole_steps(duration, dt)
    check_steps("save_every", save_every)
    q0, v0, forces, activation = named_start(model, q0, v0, forces, activation)
    motion = Prescribed(model, prescribed, float(dt), steps)
    q, v = consistent_start(model, *initial_state(model, q0, v0), motion, told=v0 is None, given=(q0, v0))
    for question in degree_questions(model, q0):
        warnings.warn(f"{question} Angles are in radians; np.radians(70) converts 70°", stacklevel=2)
    source, method = ForceSource(model, forces, steps, activation), chosen(method)
    run = started(method, model, (q, v), dt, source, motion)
    settings = Settings(
        float(dt),
        steps,
        int(save_every),
        _text(run, method),
        constant_forces(source),
        constant_motions(prescribed, motion),
    )
    recording = Recording(model, run, settings, motion)
    recording.applied = Applied(forces, motion)
    return _completed(recording, progress, out)


def resume(
    path: str | os.PathLike[str],
    *,
    duration: float | None = None,
    model: Model | None = None,
    method: Method | None = None,
    forces: Any = None,
    prescribed: Any = None,
    progress: bool | float | None = None,
) -> Trajectory:
    """Go on with the run that a file holds, to its end or to another `duration`, in the same file; return all of it.

    The states are those of a run that was never stopped, bit for bit on the same machine.

    path: a `.nc` or `.npz` file that `simulate(..., out=path)`, `Trajectory.save` or `symplectree run --out` wrote.
    model, forces, prescribed: as for `simulate`; needed only where they are functions or classes of the user's own,
        which files do not hold.
    method: as for `simulate`; needed only when it is a class of the user's own. Another one than the file's goes on from
        the last state, with v = M⁻¹p or p = M v, and is what the file names from then on.

    Raises ResultError when the file cannot be read, ModelError when something that it does not hold is not given, or
    when the model or the names of prescribed coordinates are others.
    """
    from symplectree.io import load_trajectory

    earlier = load_trajectory(path, model=model)
    settings, restart, model = earlier.settings, earlier.restart, earlier.model
    if settings is None or restart is None:
        raise ModelError(f"{path} does not say how its run was made; begin anew with simulate(..., out=…)")
    for name, in_settings, given in (
        ("forces", settings.forces, forces),
        ("prescribed", settings.prescribed, prescribed),
    ):
        if in_settings is None and given is None:
            raise ModelError(f"{path}: {name} were functions or arrays, which a file does not hold; give {name}= again")
    forces = settings.forces if forces is None else forces
    prescribed = settings.prescribed if prescribed is None else prescribed
    steps = settings.steps if duration is None else whole_steps(duration, settings.dt)
    if steps <= round(earlier.t[-1] / settings.dt):
        return earlier
    method = method_from_text(settings.method) if method is None else chosen(method)
    source, motion = ForceSource(model, forces, steps), Prescribed(model, prescribed, settings.dt, steps)
    if set(motion.names) != set(earlier.prescribed):
        before, now = (", ".join(map(repr, names)) or "nothing" for names in (earlier.prescribed, motion.names))
        raise ModelError(f"the run in {path} prescribes {before}, not {now}; give the same names")
    if is_method(method, settings.method):
        source.activation[:] = restart.activation
        run = started(method, model, (restart.q, np.zeros(model.nv)), settings.dt, source, motion)
        run.q[:], run.x[:] = restart.q, restart.x
        run.restart(restart.step)
    else:
        source.activation[:] = earlier.activations[-1]
        run = started(method, model, (earlier.q[-1], earlier.v[-1]), settings.dt, source, motion)
        restart = _taken_over(earlier, run)
    settings = replace(settings, steps=steps, method=_text(run, method))
    recording = Recording(model, run, settings, motion)
    recording.go_on(earlier, restart)
    recording.applied = Applied(forces, motion)
    return _completed(recording, progress, path, in_file=round(earlier.t[-1] / settings.dt))


def started(
    method: Method, model: Model, state: tuple[Array, Array], dt: float, forces: ForceSource, prescribed: Prescribed
) -> Run:
    """The run that a method starts at (q, v); raises ModelError when it knows of no activations and the model has such."""
    run = method.start(model, *state, dt, forces, prescribed)
    if not hasattr(run, "activation"):
        if model.activations:
            raise ModelError(
                f"the method {shown(method)} knows of no activations, and {model.activations[0]!r} has one; take another, "
                "or leave its filter or integrator out"
            )
        run.activation = np.zeros(0)
    return run


def _text(run: Run, method: Method) -> str:
    """The method as files name it, with what the run has chosen for itself."""
    return repr(run.method if isinstance(run, VariationalRun) else method)


def _taken_over(earlier: Trajectory, run: Run) -> Restart:
    """The run, which starts at the last state of another method's, made to go on from there; and that as a restart."""
    assert earlier.settings is not None
    step = round(earlier.t[-1] / earlier.settings.dt)
    if step > 0 and isinstance(run, VariationalRun):
        run.leave_out_impulses(step)
    run.restart(step)
    recorded = {name: table[-1] for name, table in earlier.recorded.items()} if step > 0 else {}
    return Restart(step, run.q.copy(), run.x.copy(), recorded, run.activation.copy())


def _completed(recording: Recording, progress: bool | float | None, out: Any, in_file: int | None = None) -> Trajectory:
    """Advance to the end, and write to a file meanwhile; `in_file`: steps that the file holds already."""
    settings, writer = recording.settings, None
    if progress is not None and not isinstance(progress, bool) and not is_positive(progress):
        raise ModelError(f"progress is {shown(progress)}; give True, or the seconds after which to show a bar")
    if out is not None:
        from symplectree.io.stream import Stream

        writer = Stream(out, recording, in_file)
    with Progress(settings.steps, settings.dt, shown=progress) as bar:
        try:
            chunk = 1
            while recording.done < settings.steps:
                start = time.perf_counter()
                count = recording.advance(chunk)
                spent = max(time.perf_counter() - start, 1e-7)
                if count == chunk or spent > SLICE:  # others were cut short, and say little about the time
                    chunk = max(1, min(int(SLICE / spent * count), 10 * count))
                bar.update(recording.done)
                if writer is not None:
                    writer.update()
        except BaseException as error:
            with contextlib.suppress(AttributeError, TypeError):  # some exceptions take no attributes
                error.trajectory = recording.trajectory()  # type: ignore[attr-defined]
            if writer is not None:
                with contextlib.suppress(ResultError):  # what stopped the run matters more
                    writer.close()
            raise
        finally:
            for remark in recording.run.remarks():
                warnings.warn(remark, stacklevel=3)
    if writer is not None:
        writer.close()
    return recording.trajectory()


def chosen(method: Method | None) -> Method:
    """The method, Variational() for None; raises ModelError for what is none."""
    if method is None:
        return Variational()
    if isinstance(method, type) and hasattr(method, "start"):
        raise ModelError(f"method is the class {method.__name__}; did you mean {method.__name__}()?")
    if not hasattr(method, "start"):
        raise ModelError(f"method is {shown(method)}; give a method of integration, such as RK4()")
    return method


def initial_state(model: Model, q0: Any, v0: Any) -> tuple[Array, Array]:
    """Checked copies of a state, quaternions normalised; raises ModelError naming what is wrong."""
    q = np.array(configuration(model, q0))
    v = np.zeros(model.nv) if v0 is None else np.array(velocity(model, v0, "v0"))
    for name, array in (("q", q), ("v", v)):
        if array.ndim != 1:
            raise ModelError(f"{name}0 has shape {array.shape}; give one state")
        if not np.all(np.isfinite(array)):
            raise unusable(model, {name: array})
    if (error := zero_quaternion(model, q)) is not None:
        raise error
    model.native.normalize(q)
    whole = model.tree_coordinates(q)
    for place in model.full.joints.values():
        if isinstance(place.joint, SymbolicJoint) and (fault := place.joint.fault(whole[place.q])) is not None:
            raise ModelError(f"{fault}; start elsewhere")
        if isinstance(place.joint, SurfaceContactJoint) and (fault := place.joint.crossing(q[place.q])) is not None:
            raise ModelError(f"{fault}; start elsewhere")
    if (fault := element_fault(model, q, v)) is not None:
        raise ModelError(f"{fault}; start elsewhere")
    return q, v


def consistent_start(
    model: Model,
    q: Array,
    v: Array,
    prescribed: Prescribed,
    *,
    told: bool,
    given: tuple[Any, Any] | None = None,
    named: Any = None,
) -> tuple[Array, Array]:
    """The start with prescribed coordinates where they are, and velocities along the constraints.

    Raises AssemblyError when q breaks them; warns when v does, unless the user knows (`told`), and when prescribed
    motions begin elsewhere than the user's start, `given` as (q0, v0). `named` is v0 as the user gave it: velocities under
    names stay where constraints allow it.
    """
    named = named if given is None else given[1]
    asked = q, v
    if prescribed:
        q, v = prescribed.place(q, 0.0), np.array(v)
        v[prescribed.velocities] = prescribed.rate(0.0)[prescribed.velocities]
    errors = start_errors(model, q) if model.rows else np.zeros(0)
    if not np.all(errors <= CLOSED):
        raise refused_start(model, asked[0], q, errors, prescribed)
    if given is not None:
        tell_replaced(prescribed, given, asked, (q, v))
    if not model.rows:
        return q, v
    undefined = ~np.all(np.isfinite(constraint_jacobian(model, q)), axis=1)
    if np.any(undefined):
        name = model.rows[int(np.argmax(undefined))]
        raise ModelError(
            f"the derivative of constraint {name!r} is not finite at the start; check it, or start elsewhere"
        )
    return q, along_constraints(model, q, v, prescribed.indices, named, told=told)


def whole_steps(duration: Any, dt: Any) -> int:
    """How many steps fit into the duration; warns when a part of one is left."""
    check_seconds("duration", duration)
    check_seconds("dt", dt)
    steps = np.floor(duration / dt * (1 + 1e-12) + 1e-6)
    if steps < 1:
        raise ModelError(f"duration {duration} is shorter than one step of {dt}")
    if duration - steps * dt > 1e-6 * dt + 1e-12 * duration:
        warnings.warn(
            f"the duration of {duration:.6g} s is no whole number of steps of {dt:.6g} s: the run ends at "
            f"{steps * dt:.6g} s; dt={duration / (steps + 1):.6g} ends at {duration:.6g} s",
            stacklevel=3,
        )
    if steps > MOST_STEPS:
        raise ModelError(f"the run has {steps:.3g} steps, more than {MOST_STEPS}; take a larger dt, or run it in parts")
    return int(steps)
