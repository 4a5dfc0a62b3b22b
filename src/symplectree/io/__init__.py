"""Models and results as files. Each format has its own file here, imported when it is asked for."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from symplectree.errors import ModelError

if TYPE_CHECKING:
    from symplectree.io.robots.meshes import Packages
    from symplectree.mechanism import Mechanism, Model
    from symplectree.simulation.trajectory import Trajectory

ROBOTS = (".urdf", ".xacro", ".xml", ".mjcf")
KNOWN = "a .sexp, .urdf, .xacro, .xml or .mjcf file"
RUNS = (".nc", ".nc4", ".h5", ".hdf5", ".npz", ".mat", ".csv")
FORMATS = {"sexp": "", "urdf": "robot", "mjcf": "mujoco"}  # and the root element of each


def load(
    path: str | os.PathLike[str],
    *,
    base: str = "auto",
    packages: Packages = None,
    eliminate: bool = False,
    inertia: str = "repair",
    density: float | None = None,
    contact: bool = True,
    arguments: Mapping[str, Any] | None = None,
) -> Mechanism:
    """The mechanism described by a file: `.sexp` (see `symplectree.io.sexpr`), or a robot in URDF, xacro or MJCF (`.urdf`,
    `.xacro`, `.xml`, `.mjcf`; the root element tells which; see `symplectree.io.robot_xml`). A name without ending, such
    as "four_bar", is that of a model that comes with Symplectree; the error for another name lists them.

    base: of a robot: "fixed" to the ground, "free" to move, or "auto", as the file says. URDF does not say: it is then
        fixed, unless it has a floating joint or no joint at all, as a drone.
    packages: where a robot's meshes are: folders by name of package, or a folder or several to search; the file's own
        folder and those above it are searched in any case. A mesh that is not found does not matter to the physics.

    eliminate: of a robot: whether joints that mimic others (URDF's mimic, MJCF's equality joint) are to be no coordinates
        of the model, as `GearConstraint(…, eliminate=True)` says, in place of constraints.
    inertia: of a robot: "repair" replaces an inertia that no body can have by the nearest that one can (the same axes,
        no principal moment above the sum of the others), fixes joints of URDF that move no mass, and says so, by name;
        "strict" refuses the file.
    density: [kg/m³] of a URDF's links without mass, which then have that of their collision shapes, or of what is seen.
    contact: of a robot: whether ranges of joints, dry friction and contacts of MJCF's geoms act, as the file says
        (`JointLimit`, `JointFriction`, `Contact`); False leaves them out. URDF does not say what its collision shapes
        meet: they are in `m.shapes`, for a `Contact` of your own.
    arguments: of a xacro file: values for its `<xacro:arg>` by name.

    What of a robot cannot be represented is listed in one UserWarning. Raises ModelSyntaxError with line and column where
    the text is wrong, ModelError when there is no such file, the format is not known, or the robot cannot be.
    """
    from symplectree.io import sexpr
    from symplectree.io.reader import decoded

    try:
        file = Path(path)
    except TypeError:
        raise ModelError(f"load takes the path of a file or the name of a shipped model, not {path!r}") from None
    suffix = file.suffix.lower()
    if suffix not in ("", ".sexp", ".sdf", *ROBOTS):
        if suffix in RUNS:
            raise ModelError(f"{path}: this is the ending of runs, which st.load_trajectory reads; a model is {KNOWN}")
        raise ModelError(f"{path}: suffix {suffix!r} is not known; give {KNOWN}")
    options: dict[str, Any] = {
        "base": base,
        "packages": packages,
        "eliminate": eliminate,
        "inertia": inertia,
        "density": density,
        "contact": contact,
    }
    if suffix not in ROBOTS:
        _only_for_robots(f"{path}", {**options, "arguments": arguments})
    if suffix == ".sdf":
        raise ModelError(f"{path}: SDF is not read; convert it to URDF or MJCF first, as docs/robots.md says")
    if not suffix:
        return _shipped(file)
    try:
        data = file.read_bytes()
    except (OSError, ValueError) as error:  # ValueError: a name that no file can have
        if isinstance(error, ValueError):
            raise ModelError(f"{path!r} cannot be read: {error}") from error
        raise ModelError(f"{path} cannot be read: {error.strerror or error}{_neighbour(file)}") from error
    if suffix not in ROBOTS:
        return sexpr.read(decoded(data, str(path)), str(path))
    from symplectree.io import robot_xml

    if suffix == ".xacro":
        from symplectree.io.robots.xacro_files import expanded

        data = expanded(file, packages, arguments)
    elif arguments is not None:
        raise ModelError(f"{path}: arguments are for xacro files")
    return robot_xml.read(data, file, robot_xml.Options(**options))


def loads(
    text: str,
    format: str = "sexp",
    *,
    base: str = "auto",
    packages: Packages = None,
    eliminate: bool = False,
    inertia: str = "repair",
    density: float | None = None,
    contact: bool = True,
) -> Mechanism:
    """The mechanism described by a text in the format "sexp", "urdf" or "mjcf"; see `load`.

    Errors show the file as `<text>`; meshes and included files are looked for in `packages` and the working folder.
    """
    from symplectree.io import sexpr

    if format not in FORMATS:
        raise ModelError(f"format {format!r} is not known; there are {', '.join(map(repr, FORMATS))}")
    if not isinstance(text, str):
        raise ModelError(f"loads takes a text, not {type(text).__name__}; load takes a path")
    options: dict[str, Any] = {
        "base": base,
        "packages": packages,
        "eliminate": eliminate,
        "inertia": inertia,
        "density": density,
        "contact": contact,
    }
    if format == "sexp":
        _only_for_robots("<text>", options)
        return sexpr.read(text, "<text>")
    from symplectree.io import robot_xml

    wanted = FORMATS[format]
    return robot_xml.read(
        text.encode(),
        Path("robot.xml"),
        robot_xml.Options(**options),
        shown="<text>",
        wanted=wanted,
    )


def _only_for_robots(path: str, options: dict[str, Any]) -> None:
    """Refuse an option of robots for another file."""
    usual = {
        "base": "auto",
        "packages": None,
        "eliminate": False,
        "inertia": "repair",
        "density": None,
        "contact": True,
    }
    for name, value in options.items():
        if value is not usual.get(name) and value != usual.get(name):
            raise ModelError(f"{path}: {name} is for robots in URDF or MJCF")


def load_trajectory(path: str | os.PathLike[str], *, model: Model | None = None) -> Trajectory:
    """The trajectory in a file that `Trajectory.save`, `simulate(..., out=path)` or `symplectree run --out` wrote.

    Of a run that was killed, all but its last few seconds. The model is built from the text inside.

    model: whose run it is; needed when that holds functions of Python, which are not saved, and for `.csv`.

    Raises ResultError when the file cannot be read, is cut short or holds something else; ModelError when a model is
    needed, or another one than that.
    """
    from symplectree.io import results

    return results.read(path, model)


def _shipped(file: Path) -> Mechanism:
    """A model that comes with the package, by name."""
    from symplectree.io import bundled_models, sexpr

    name = str(file)
    try:
        exists = file.exists()
    except (OSError, ValueError):
        exists = False
    if exists:
        raise ModelError(f"{file}: no suffix tells what it is; give {KNOWN}")
    if name not in bundled_models.names():
        raise ModelError(f"{name} is no file, and {bundled_models.no_such(name)}; of your own, give {KNOWN}")
    return sexpr.read(bundled_models.text(name), name)


def _neighbour(file: Path) -> str:
    """A hint at a file of nearly the same name beside the missing one."""
    import difflib

    try:
        names = [f.name for f in file.parent.iterdir() if f.suffix.lower() in (".sexp", *ROBOTS)]
    except OSError:
        return ""
    near = difflib.get_close_matches(file.name, [n for n in names if n != file.name], n=1)
    return f"; did you mean {str(file.with_name(near[0]))!r}?" if near else ""
