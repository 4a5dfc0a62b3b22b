"""Files that the commands take and make."""

from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from cyclopts import Parameter

from symplectree.cli.say import Misuse, report, waiting
from symplectree.constraints.assembly import CLOSED, assemble, start_errors
from symplectree.dynamics.arguments import configuration
from symplectree.elements import Contact
from symplectree.errors import ResultError
from symplectree.io import ROBOTS, bundled_models, load, load_trajectory
from symplectree.io.atomic_write import checked_path
from symplectree.io.results import SUFFIXES
from symplectree.lie import Array
from symplectree.mechanism import Mechanism, Model
from symplectree.simulation.trajectory import Trajectory

PAGES, FILMS = (".html", ".htm"), (".mp4",)
Base = Literal["auto", "fixed", "free"]
Packages = Annotated[list[Path] | None, Parameter(negative="", show_default=False)]


def mechanism_of(given: str, base: Base = "auto", packages: Packages = None) -> Mechanism:
    """The mechanism in a file, or a shipped one by name; base and packages as of `load`."""
    for folder in packages or ():
        if not folder.is_dir():
            raise Misuse(f"--packages {folder}: there is no such folder")
    return load(given, base=base, packages=packages)


def is_result(given: str) -> bool:
    """Does the ending say that it holds a run?"""
    return Path(given).suffix.lower() in SUFFIXES


def trajectory_in(given: str, model: str | None = None) -> Trajectory:
    """The run that a file holds."""
    path = Path(given)
    if path.suffix.lower() == ".csv" and model is None and path.is_file():
        raise Misuse(f"{given} holds numbers only; give its model: symplectree convert {given} run.nc --model MODEL")
    if path.suffix.lower() in (".sexp", *ROBOTS) or given in bundled_models.names():
        raise Misuse(f"{given} is a model; make a run first: symplectree run {given} --out run.nc")
    try:
        with waiting(f"reading {given}"):
            return load_trajectory(given, model=mechanism_of(model).build() if model else None)
    except ResultError as error:
        raise Misuse(str(error)) from error


def still(given: str, base: Base = "auto", packages: Packages = None) -> Trajectory:
    """The run that a file holds, or a model at its start as a run of one state."""
    if is_result(given):
        return trajectory_in(given)
    mechanism = mechanism_of(given, base, packages)
    model = mechanism.build()
    q = start_of(model, mechanism.initial, {})
    return Trajectory(model, np.zeros(1), q[None], v=np.zeros((1, model.nv)))


def start_of(model: Model, initial: Any, given: dict[str, Any]) -> Array:
    """The configuration to start from: the file's, with what the user gave, loops closed; tells what it does."""
    q = np.array(configuration(model, initial))
    for name, value in given.items():
        values = configuration(model, {name: value})  # checks name and numbers
        part = model.joints[name].q if name in model.joints else model.coordinates.index(name)
        q[part] = values[part]
    if not model.rows or np.all(start_errors(model, q) <= CLOSED):
        return q
    closed = assemble(model, q, fixed=[*model.massless, *given])
    moved = np.abs(closed - q)
    name = model.coordinates[int(np.argmax(moved))]
    report("assembled", f"the start was moved so that the loops close, by up to {moved.max():.2g} in {name!r}")
    return closed


def writable(path: Path | None, endings: tuple[str, ...]) -> None:
    """Find out before a long run that its results could not be written."""
    try:
        if path is not None:
            checked_path(path, endings)
    except ResultError as error:
        raise Misuse(str(error)) from None


def write_page(trajectory: Trajectory, path: Path | None, contacts: bool = True) -> None:
    """An HTML page or a film, by the method of Trajectory that makes it."""
    if path is None:
        return
    (trajectory.to_html if path.suffix.lower() in PAGES else trajectory.to_video)(path, contacts=contacts)
    report("animation", f"{path}: open it in a browser" if path.suffix.lower() in PAGES else str(path))


def write_plot(trajectory: Trajectory, path: Path | None, what: tuple[str, ...] = ()) -> None:
    """A picture of curves: energy and coordinates, and contacts where there are some, unless said otherwise."""
    if path is None:
        return
    model = trajectory.model
    usual = ("energy", "coordinates", *(["contacts"] if any(isinstance(e, Contact) for e in model.elements) else []))
    with waiting(f"drawing {path}"):
        trajectory.plot(*(what or usual), path=path)
    report("plot", str(path))
