"""`symplectree run`"""

import tempfile
import time
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from cyclopts import Parameter

from symplectree.cli.files import (
    FILMS,
    PAGES,
    Base,
    Packages,
    mechanism_of,
    start_of,
    trajectory_in,
    writable,
    write_page,
    write_plot,
)
from symplectree.cli.say import Misuse, note, report, summarize, waiting
from symplectree.dynamics.arguments import velocity as velocity_vector
from symplectree.errors import ConvergenceError, ModelError, ResultError
from symplectree.integrators import RK4, Adaptive, Method, Reduced, SemiImplicitEuler, Variational
from symplectree.io.results import SUFFIXES
from symplectree.mechanism import Mechanism, Model
from symplectree.mechanism.doubts import start_questions
from symplectree.mechanism.keyframes import keyframe_of
from symplectree.simulation.simulate import resume as go_on
from symplectree.simulation.simulate import simulate
from symplectree.simulation.trajectory import Trajectory
from symplectree.view.plots import PICTURES

Named = Annotated[list[str] | None, Parameter(negative="", show_default=False)]
LATER = 1.0  # s, after which a run shows a bar
DEFAULTS: dict[str, Any] = {"duration": 10.0, "dt": 0.01, "save_every": 1, "progress": LATER}


def _whole(kind: Any, tokens: Any) -> int:
    """A whole number; others are refused, not rounded."""
    try:
        return int(tokens[0].value)
    except ValueError:
        raise Misuse(f"--save-every {tokens[0].value}: give a whole number, 1 or more") from None


def run(
    model: str | None = None,
    /,
    *,
    duration: float | None = None,
    dt: float | None = None,
    start: str | None = None,
    set: Named = None,
    velocity: Named = None,
    force: Named = None,
    hold: Named = None,
    method: Literal["variational", "reduced", "rk4", "euler", "adaptive"] | None = None,
    action: Literal["cayley", "chord", "exp", "midpoint"] | None = None,
    order: Literal[2, 4, 6, 8] | None = None,
    accuracy: float | None = None,
    solver: Literal["newton", "riqn", "broyden", "dense"] | None = None,
    save_every: Annotated[int | None, Parameter(converter=_whole)] = None,
    out: Path | None = None,
    html: Path | None = None,
    video: Path | None = None,
    plot: Path | None = None,
    resume: Path | None = None,
    base: Base | None = None,
    packages: Packages = None,
    no_contacts: Annotated[bool, Parameter(negative="", show_default=False)] = False,
) -> None:
    """Simulate a model, and save, plot or animate the run.

    The start is that of the file, `(initial …)`, or the keyframe that `--start` names; `--set` changes it. Loops that do
    not close there are closed, and you are told. Coordinates without mass (lengths of strings) are held. A run that goes
    to a `.nc` file can be killed and resumed.

    ```sh
    symplectree run arm.sexp --duration 10 --dt 0.01 --out run.nc
    symplectree run arm.sexp --set shoulder=0.7 --set elbow=0.1 --plot run.png
    symplectree run arm.sexp --html run.html
    symplectree run arm.sexp --start raised
    symplectree run four_bar --velocity crank=0 --method rk4 --dt 0.001
    symplectree run screw_jack --force torque=4 --duration 1 --dt 0.002
    symplectree run --resume run.nc --duration 20
    ```

    Args:
        model: A file (.sexp, .urdf, .xml), or the name of a shipped model; `symplectree demo --list` names them.
        duration: Simulated time [s]; 10 when left out, or, with --resume, as it was.
        dt: Length of a step [s]; 0.01 when left out.
        start: NAME, a keyframe of the model: where it starts, with its velocities and controls, which --set, --velocity
            and --force change.
        set: NAME=VALUE, where a coordinate starts (rad, m); several numbers of a joint are joined by commas.
        velocity: NAME=VALUE, how fast a coordinate starts (rad/s, m/s); at rest when left out.
        force: NAME=VALUE, a constant force of an input or on a coordinate (N, N·m).
        hold: NAME, a coordinate that is held where it starts.
        method: How to step; variational when left out, reduced for floating mechanisms, the others to compare with.
        action: Of variational: how motion becomes momentum; cayley when left out.
        order: Of variational: order of accuracy; 2 when left out.
        accuracy: Of variational: error of the energy, relative to what is exchanged, such as 1e-6; steps are divided as
            the motion needs it, and dt is the time between states.
        solver: Of variational: how a step is found; newton when left out.
        save_every: Keep every so many steps; 1 when left out.
        out: File for the results: .nc (netCDF4/HDF5, written while the run goes on), .npz, .mat, .csv.
        html: File for an animation that any browser shows.
        video: File for a film (.mp4).
        plot: File for curves of energy and coordinates (.png, .svg, .pdf).
        resume: Go on with the run in this file (.nc, .npz), which was killed or shall be longer.
        base: Of a robot: whether its base is fixed to the ground or free to move; auto, as the file says, when left out.
        packages: Folders in which a robot's meshes are looked for, beside its own.
        no_contacts: Leave forces of contact and impacts out of animations.
    """
    for path, endings in ((out, SUFFIXES), (html, PAGES), (video, FILMS), (plot, PICTURES)):
        writable(path, endings)
    begin = time.perf_counter()
    options: dict[str, Any] = {"action": action, "order": order, "accuracy": accuracy, "solver": solver}
    begun: dict[str, Any] = {"keyframe": start, "set": set, "velocity": velocity, "force": force, "hold": hold}
    if resume is not None:
        given = (model, dt, method, save_every, out, base, packages, *options.values(), *begun.values())
        traj = _resumed(resume, duration, fresh=any(value is not None for value in given))
    else:
        settings = {"duration": duration, "dt": dt, "save_every": save_every, "method": _method(method, **options)}
        traj = _new(_mechanism(model, base, packages), out, settings, **begun)
    report("computed", f"in {time.perf_counter() - begin:.2f} s")
    _finish(traj, out or resume, html, video, plot, not no_contacts)


def _mechanism(model: str | None, base: Base | None, packages: Packages) -> Mechanism:
    if model is None:
        raise Misuse("which model? Give a file or a name: symplectree run MODEL, or see symplectree run --help")
    return mechanism_of(model, base or "auto", packages)


def _finish(
    traj: Trajectory, saved: Path | None, html: Path | None, video: Path | None, plot: Path | None, contacts: bool
) -> None:
    """Sum a run up and draw it; one that is saved nowhere yet is rescued when that fails."""
    summarize(traj)
    if saved is not None:
        report("results", f"{saved}: open with st.load_trajectory, symplectree plot, or any tool for its format")
    try:
        write_page(traj, html, contacts)
        write_page(traj, video, contacts)
        write_plot(traj, plot)
    except ResultError as error:
        if saved is not None:
            raise
        error.trajectory = traj
        raise _rescued(error, Path("run.nc")) from error


def _new(
    mechanism: Mechanism, out: Path | None, settings: dict[str, Any], *, keyframe: str | None,
    set: list[str] | None,
    velocity: list[str] | None, force: list[str] | None, hold: list[str] | None,
) -> Trajectory:  # fmt: skip
    """A run from the start; settings that are None are left to their defaults."""
    settings = DEFAULTS | {name: value for name, value in settings.items() if value is not None}
    settings |= {"v0": _values("--velocity", velocity) or None, "forces": _values("--force", force) or None}
    given = _values("--set", set)
    built = mechanism.build()
    if keyframe is not None:
        settings |= _with_keyframe(built, keyframe, settings)
    q0 = start_of(built, mechanism.initial if keyframe is None else keyframe, given)
    for question in start_questions(built, given):
        note(f"question: {question}")
    held = {name: q0[built.coordinates.index(name)] for name in built.massless}
    if held:
        report("held", f"{', '.join(held)}, which move no mass")
    held |= {name: _place(built, q0, name) for name in hold or ()}
    try:
        return simulate(built, q0, **settings, prescribed=held or None, out=out)
    except ResultError as error:
        raise _rescued(error, out or Path("run.nc")) from error
    except (ConvergenceError, KeyboardInterrupt) as error:
        partial = getattr(error, "trajectory", None)
        if out is not None and partial is not None:
            note(f"note: {out} holds the run up to {partial.t[-1]:g} s")
        raise


def _with_keyframe(model: Model, name: str, settings: dict[str, Any]) -> dict[str, Any]:
    """Velocities and controls of a keyframe, over which those that the user gave are laid."""
    try:
        keyframe = keyframe_of(model, name)
    except ModelError as error:
        raise Misuse(f"--start {name}: {error}") from None
    v0 = np.array(keyframe.v)
    for own, value in (settings["v0"] or {}).items():
        values = velocity_vector(model, {own: value})
        part = model.joints[own].v if own in model.joints else model.velocities.index(own)
        v0[part] = values[part]
    forces = {**keyframe.controls, **(settings["forces"] or {})}
    return {"v0": v0 if np.any(v0) or settings["v0"] else None, "forces": forces or None}


def _resumed(path: Path, duration: float | None, *, fresh: bool) -> Trajectory:
    """Go on with a run; `fresh`: whether anything was given that only a run from the start has."""
    if fresh:
        raise Misuse("--resume goes on as the run began, in the same file: only --duration, --html, --video and --plot")
    if path.suffix.lower() == ".csv":
        raise Misuse(f"{path} cannot be resumed: a table does not hold all that is needed; .nc and .npz do")
    before = trajectory_in(str(path))
    steps = before.settings.steps * before.settings.dt if before.settings else 0.0
    report("resumed", f"{path}, which was at {before.t[-1]:g} of {steps:g} s")
    if duration is None and before.settings is not None and before.t[-1] >= steps - 0.5 * before.settings.dt:
        note("note: that run is complete; give a longer --duration to go on")
    try:
        return go_on(path, duration=duration, progress=LATER)
    except ResultError as error:
        raise _rescued(error, path) from error


def _rescued(error: ResultError, path: Path) -> ResultError:
    """Keep a run that could not be written where it was meant to be somewhere else."""
    if error.trajectory is None:
        return error
    other = Path(tempfile.mkdtemp(prefix="symplectree-")) / path.name
    try:
        with waiting(f"writing {other}"):
            error.trajectory.save(other)
    except ResultError:
        return error
    return ResultError(f"{error}. The run is kept in {other}")


def _values(option: str, given: list[str] | None) -> dict[str, Any]:
    """NAME=VALUE pairs; a value is a number, or several joined by commas."""
    values: dict[str, Any] = {}
    for text in given or ():
        name, equals, value = text.rpartition("=")
        try:
            numbers = [float(x) for x in value.split(",")]
        except ValueError:
            numbers = []
        if not equals or not name or not numbers:
            raise Misuse(f"{option} {text}: write NAME=VALUE, as in {option} shoulder=0.7")
        values[name] = numbers[0] if len(numbers) == 1 else numbers
    return values


def _place(model: Model, q: Any, name: str) -> Any:
    if name in model.joints:
        values = q[model.joints[name].q]
        return values if len(values) > 1 else float(values[0])
    if name in model.coordinates:
        return float(q[model.coordinates.index(name)])
    from symplectree.mechanism.model import unknown_coordinate

    raise Misuse(unknown_coordinate(model, name, [*model.joints, *model.coordinates]))


def _method(method: str | None, **options: Any) -> Method:
    given = {name: value for name, value in options.items() if value is not None}
    if method in (None, "variational"):
        return Variational(**given)
    if given:
        raise Misuse(f"--{next(iter(given))} belongs to --method variational, not to {method}")
    others: dict[str | None, Method] = {
        "rk4": RK4(),
        "euler": SemiImplicitEuler(),
        "adaptive": Adaptive(),
        "reduced": Reduced(),
    }
    return others[method]
