"""Robots from URDF and MJCF, parsed by `mujoco.MjSpec`, which applies defaults and includes but compiles nothing.

| in the file | becomes |
| --- | --- |
| link, body | a link of the same name, or a frame where it is fixed; the masses of links fixed to each other are lumped |
| hinge, slide, ball, free (URDF: revolute, continuous, prismatic, planar, floating) | Revolute, Prismatic, Ball, Free; several on one body a row of links. Coordinates have MuJoCo's values, `ref` included, and the pose that the file shows is `m.initial` where it is not zero |
| inertial; without one, in MJCF, the geoms | mass, centre and inertia, with `boundmass`, `settotalmass` and so on, meshes (STL, OBJ) by the volume they enclose, or as MuJoCo's default `legacy` counts it, shells by their surface; a URDF link without inertial has no mass |
| stiffness, damping, armature | JointSpring, JointDamper, armature |
| mimic, equality joint | GearConstraint, or CamConstraint for polynomials, with `eliminate` as the caller says, unless the joint follows another already; WeldConstraint for a joint held still |
| equality connect, weld | PointConstraint, WeldConstraint, held exactly where MuJoCo's are soft |
| motor on a hinge or slide | a JointForce whose input has the motor's name: the force at the joint [N·m or N], gear times MuJoCo's control |
| limit, range, actuatorfrcrange, frictionloss, ctrlrange | `m.limits`, which runs do not enforce |
| site | a frame |
| sensor | `m.sensors`, as `symplectree.io.robots.sensors` says |
| key | `m.keyframes`; the one named "home" is `m.initial`, too |
| visual, geom | `m.shapes` |

URDF's planar joint becomes three, `name_TX`, `name_TY`, `name_RZ`. Everything else that changes the motion is named in
one UserWarning: contacts, limits, dry friction, tendons, other actuators and so on. Numerical settings of MuJoCo
(time step, solver) and textures are not read.
"""  # noqa: E501

import re
import warnings
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np

from symplectree.errors import ModelError
from symplectree.io.reader import Source
from symplectree.io.robots.elements import add_elements, disabled
from symplectree.io.robots.geoms import add_shapes
from symplectree.io.robots.keyframes import add_keyframes
from symplectree.io.robots.leftovers import note_leftovers
from symplectree.io.robots.limits import add_limits
from symplectree.io.robots.masses import add_masses
from symplectree.io.robots.meshes import MeshFinder, Packages
from symplectree.io.robots.reading import Reading
from symplectree.io.robots.sensors import add_sensors
from symplectree.io.robots.tree import add_tree
from symplectree.io.robots.urdf import add_urdf_shapes, check_structure, note_urdf_leftovers, physics_only
from symplectree.mechanism.mechanism import Mechanism


def read(
    data: bytes,
    file: Path,
    *,
    base: str = "auto",
    packages: Packages = None,
    eliminate: bool = False,
    stacklevel: int = 2,
) -> Mechanism:
    """The mechanism of a URDF or MJCF file; see the module and `symplectree.load` for the arguments.

    Raises ModelSyntaxError where the text is no XML, ModelError naming file and culprit where it is no robot.
    """
    if base not in ("auto", "fixed", "free"):
        raise ModelError(f"base is {base!r}; give 'auto', 'fixed' or 'free'")
    filename = str(file)
    root = _parsed(data, filename)
    said: list[str] = []
    urdf = root.tag == "robot"
    if urdf:
        check_structure(root, filename)
        spec = _spec(filename, data, said, text=physics_only(root))
    elif root.tag == "mujoco":
        spec = _spec(filename, data, said, path=file, parts=any(True for _ in root.iter("include")))
    else:
        raise ModelError(f"{filename}: a <{root.tag}> is no robot; URDF begins with <robot>, MJCF with <mujoco>")
    reading = Reading(filename, spec, urdf, base, MeshFinder(file, packages), eliminate)
    reading.note("what MuJoCo's parser says", said)
    mechanism = _converted(reading, root)
    if reading.notes:
        warnings.warn(f"{filename}: not represented: {reading.summary()}", UserWarning, stacklevel=stacklevel + 1)
    return mechanism


def _converted(r: Reading, root: ElementTree.Element) -> Mechanism:
    gravity = np.zeros(3) if disabled(r, "GRAVITY") else r.numbers("gravity", r.spec.option.gravity)
    r.mechanism.gravity = tuple(map(float, gravity))
    add_tree(r)
    if not r.mechanism.tree:
        raise r.error("the file describes no body")
    add_masses(r)
    add_elements(r)
    add_keyframes(r)
    add_limits(r, root if r.urdf else None)
    add_sensors(r)
    note_leftovers(r)
    if r.urdf:
        note_urdf_leftovers(r, root)
        add_urdf_shapes(r, root)
    else:
        add_shapes(r)
    r.note("meshes that were not found", r.finder.missing)
    return r.mechanism


def _parsed(data: bytes, filename: str) -> ElementTree.Element:
    try:
        return ElementTree.fromstring(data)
    except ElementTree.ParseError as error:
        line, column = error.position
        what = f"this is no XML: {str(error).split(': line')[0]}"
        raise _at_line(data, filename, line, what, column) from None
    except (ValueError, LookupError) as error:  # an encoding that nobody knows
        raise ModelError(f"{filename}: this is no XML: {error}") from None


def _at_line(data: bytes, filename: str, line: int, what: str, column: int | None = None) -> ModelError:
    """An error that shows a line of the file, with the caret at a column or at the first thing in the line."""
    text = data.decode("utf-8", errors="replace")
    lines = text.splitlines(keepends=True)
    shown = lines[line - 1] if 0 < line <= len(lines) else ""
    column = len(shown) - len(shown.lstrip()) if column is None else column
    return Source(text, filename).error(sum(map(len, lines[: line - 1])) + column, what)


def _spec(
    filename: str,
    data: bytes,
    said: list[str],
    *,
    text: str | None = None,
    path: Path | None = None,
    parts: bool = False,
) -> Any:
    """What MuJoCo's parser makes of the file; its own warnings are kept instead of going to a log file.

    parts: whether it includes other files, so that a line in an error may be theirs.
    """
    import mujoco

    before = mujoco.get_mju_user_warning()
    mujoco.set_mju_user_warning(lambda message: said.append(str(message).strip()))
    try:
        if text is not None:
            return mujoco.MjSpec.from_string(text)
        return mujoco.MjSpec.from_file(str(path))
    except ValueError as error:
        message = re.sub(r"^(XML )?Error: (Error: )?", "", " ".join(str(error).split()))
        found = re.search(r"(?:, line |Line number=)(\d+)", message)
        if found and parts:
            raise ModelError(f"{filename}, or a file that it includes: {message}") from None
        message = message.replace(found[0], "") if found else message
        if found is None or text is not None:  # the text's lines are not those of the file
            raise ModelError(f"{filename}: {message}") from None
        raise _at_line(data, filename, int(found[1]), message) from None
    finally:
        mujoco.set_mju_user_warning(before)
