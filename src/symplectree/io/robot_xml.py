"""Robots from URDF and MJCF, parsed by `mujoco.MjSpec`, which applies defaults and includes; MuJoCo compiles the masses of geoms.

| in the file | becomes |
| --- | --- |
| link, body | a link of the same name, or a frame where it is fixed; the masses of links fixed to each other are lumped |
| hinge, slide, ball, free (URDF: revolute, continuous, prismatic, planar, floating) | Revolute, Prismatic, Ball, Free; several on one body a row of links. Coordinates have MuJoCo's values, `ref` included, and the pose that the file shows is `m.initial` where it is not zero |
| inertial; without one, in MJCF, the geoms | mass, centre and inertia; those of geoms are what MuJoCo compiles, with `boundmass`, `settotalmass` and so on; a URDF link without inertial has no mass unless `density` gives it one. An inertia that no body can have is repaired (`symplectree.io.robots.repair`) |
| stiffness, damping, armature | JointSpring, JointDamper, armature |
| mimic, equality joint | GearConstraint, or CamConstraint for polynomials, with `eliminate` as the caller says, unless the joint follows another already; WeldConstraint for a joint held still |
| equality connect, weld | PointConstraint, WeldConstraint, held exactly where MuJoCo's are soft |
| actuators, fixed tendons, gravcomp | Motor, PositionServo and so on with the same names (`robots/actuators.py`), Tendon, SpatialWrench |
| limit, range, frictionloss (URDF: friction) | JointLimit, JointFriction, and `m.limits`, which has actuatorfrcrange, too |
| geoms that collide, pair, exclude | Contact of the pairs that MuJoCo lets collide (`robots/contacts.py`); a mesh is its convex hull |
| site | a frame |
| sensor | `m.sensors`, as `symplectree.io.robots.sensors` says |
| key | `m.keyframes`; the one named "home" is `m.initial`, too |
| visual, collision, geom | `m.shapes`; what is not shown in the file is not `visible` |

URDF's planar joint becomes three, `name_TX`, `name_TY`, `name_RZ`. Everything else that changes the motion is named in
one UserWarning: height fields, limits of tendons and so on, and with `contact=False` contacts, limits and dry friction.
Numerical settings of MuJoCo (time step, solver, and solref and solimp, as nothing is soft here),
cameras, lights and textures are not read, nor are settings of its older versions that say nothing about motion.
"""  # noqa: E501

import re
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np

from symplectree.errors import ModelError
from symplectree.extras import extra
from symplectree.io.reader import Source
from symplectree.io.robots.contacts import add_contacts
from symplectree.io.robots.door import check_depth, check_mjcf
from symplectree.io.robots.elements import add_elements, disabled
from symplectree.io.robots.geoms import add_shapes
from symplectree.io.robots.keyframes import add_keyframes
from symplectree.io.robots.leftovers import note_leftovers
from symplectree.io.robots.limits import add_limits
from symplectree.io.robots.loops import release_still_directions
from symplectree.io.robots.masses import add_masses, without_mass
from symplectree.io.robots.meshes import MeshFinder, Packages
from symplectree.io.robots.old_settings import is_obsolete, modern_text
from symplectree.io.robots.reading import Reading, listed
from symplectree.io.robots.repair import hold_massless, mend_inertials
from symplectree.io.robots.sensors import add_sensors
from symplectree.io.robots.shape_masses import shape_masses
from symplectree.io.robots.start_overlaps import start_overlaps
from symplectree.io.robots.stops import add_stops
from symplectree.io.robots.tree import add_tree
from symplectree.io.robots.urdf import add_urdf_shapes, check_structure, note_urdf_leftovers, physics_only
from symplectree.mechanism.mechanism import Mechanism
from symplectree.validation import is_positive


@dataclass(frozen=True)
class Options:
    """How a robot is to be read; see `symplectree.load`."""

    base: str = "auto"
    packages: Packages = None
    eliminate: bool = False
    inertia: str = "repair"
    density: float | None = None
    contact: bool = True

    def check(self) -> None:
        """Raise ModelError for what is no option."""
        if self.base not in ("auto", "fixed", "free"):
            raise ModelError(f"base is {self.base!r}; give 'auto', 'fixed' or 'free'")
        if self.inertia not in ("repair", "strict"):
            raise ModelError(f"inertia is {self.inertia!r}; give 'repair' or 'strict'")
        if self.density is not None and not is_positive(self.density):
            raise ModelError(f"density is {self.density!r}; give a number above zero, in kg/m³")
        if not isinstance(self.contact, bool):
            raise ModelError(f"contact is {self.contact!r}; give True or False")


def read(
    data: bytes, file: Path, options: Options, *, shown: str = "", wanted: str = "", stacklevel: int = 2
) -> Mechanism:
    """The mechanism of a URDF or MJCF file; see the module and `symplectree.load` for the options.

    shown: the name in messages of a text that is in no file; `file` is then where its meshes are looked for.
    wanted: the root element that the text must have.

    Raises ModelSyntaxError where the text is no XML, ModelError naming file and culprit where it is no robot.
    """
    options.check()
    filename = shown or str(file)
    root = _parsed(data, filename)
    check_depth(root, filename)
    finder = MeshFinder(file, options.packages)
    said: list[str] = []
    mended: list[str] = []
    if wanted and root.tag != wanted:
        raise ModelError(f"{filename}: begins with <{root.tag}>, not with <{wanted}>")
    urdf = root.tag == "robot"
    if urdf:
        if options.inertia == "repair":
            mended = mend_inertials(root)
        check_structure(root, filename)
        if options.inertia == "repair" and options.density is None:
            mended += hold_massless(root)
        spec = _spec(filename, data, said, root, text=physics_only(root))
    elif root.tag == "mujoco":
        if options.density is not None:
            raise ModelError(f"{filename}: density is for links of URDF; geoms of MJCF have their own")
        check_mjcf(root, filename, finder)
        spec = _mjcf(filename, data, file, root, said, in_file=not shown)
    else:
        raise ModelError(f"{filename}: a <{root.tag}> is no robot; URDF begins with <robot>, MJCF with <mujoco>")
    reading = Reading(filename, spec, urdf, options.base, finder, options.eliminate)
    reading.strict, reading.contact = options.inertia == "strict", options.contact
    mechanism = _converted(reading, root, options.density)
    sentences = [*mended, *_repairs(reading)]
    if reading.notes:
        sentences.append(f"not represented: {reading.summary()}")
    if options.contact:
        sentences += start_overlaps(reading)
    if urdf and (light := without_mass(reading)):
        sentences.append(f"without mass: {listed(light)}, to which density=… gives that of their shapes")
    if finder.missing:
        sentences.append(f"not shown: meshes that were not found ({listed(list(finder.missing))})")
    if finder.outside:
        sentences.append(
            f"not read: meshes outside the robot's folders ({listed(list(finder.outside))}), which packages=[…] allows"
        )
    if sentences:
        warnings.warn(f"{filename}: {'; '.join(sentences)}", UserWarning, stacklevel=stacklevel + 1)
    return mechanism


def _repairs(r: Reading) -> list[str]:
    if not r.repairs:
        return []
    return [f"repaired: inertias that no body can have are the nearest that one can ({listed(r.repairs)})"]


def _converted(r: Reading, root: ElementTree.Element, density: float | None) -> Mechanism:
    gravity = np.zeros(3) if disabled(r, "GRAVITY") else r.numbers("gravity", r.spec.option.gravity)
    r.mechanism.gravity = tuple(map(float, gravity))
    add_tree(r)
    if not r.mechanism.tree:
        raise r.error("the file describes no body that moves; base='free' makes the whole move")
    add_masses(r, shape_masses(r, root, density) if density is not None else None)
    add_elements(r)
    release_still_directions(r)
    add_keyframes(r)
    add_limits(r, root if r.urdf else None)
    if r.contact:
        add_stops(r)
    add_sensors(r)
    note_leftovers(r)
    if r.urdf:
        note_urdf_leftovers(r, root)
        add_urdf_shapes(r, root)
    elif r.contact:
        add_contacts(r)
    else:
        add_shapes(r)
    return r.mechanism


def _parsed(data: bytes, filename: str) -> ElementTree.Element:
    try:
        return ElementTree.fromstring(data)
    except ElementTree.ParseError as error:
        line, column = error.position
        why = str(error).split(": line")[0]
        if why == "no element found" and data.strip():
            why = "the file ends before all of its elements are closed; is it cut short?"
        what = f"this is no XML: {why}"
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


def _mjcf(filename: str, data: bytes, file: Path, root: ElementTree.Element, said: list[str], *, in_file: bool) -> Any:
    """What MuJoCo's parser makes of MJCF; it opens files by their ending, of which it knows .xml."""
    if in_file and file.suffix.lower() == ".xml":
        return _spec(filename, data, said, root, path=file)
    try:
        text = modern_text(root, file.parent) if in_file else data.decode()
    except (OSError, ValueError, LookupError, ElementTree.ParseError) as error:
        raise ModelError(f"{filename}: a file that it includes cannot be read: {error}") from None
    return _spec(filename, data, said, root, text=text)


def _spec(
    filename: str, data: bytes, said: list[str], root: ElementTree.Element, *, text: str | None = None,
    path: Path | None = None,
) -> Any:  # fmt: skip
    """What MuJoCo's parser makes of a text or file; its own warnings are kept instead of going to a log file."""
    mujoco = extra("mujoco")

    before = mujoco.get_mju_user_warning()
    mujoco.set_mju_user_warning(lambda message: said.append(str(message).strip()))
    try:
        if path is None:
            return mujoco.MjSpec.from_string(text)
        return mujoco.MjSpec.from_file(str(path))
    except (ValueError, OSError) as error:
        if root.tag == "mujoco" and is_obsolete(str(error)):
            folder = path.parent if path else Path()
            try:
                return mujoco.MjSpec.from_string(modern_text(root, folder))
            except (OSError, ValueError, ElementTree.ParseError):
                pass  # the first message is the one that the user can find in the file
        raise _parser_error(str(error), filename, data, root) from None
    finally:
        mujoco.set_mju_user_warning(before)


def _parser_error(said: str, filename: str, data: bytes, root: ElementTree.Element) -> ModelError:
    """The parser's message with the line of the file, unless a file that it includes may be meant."""
    message = re.sub(r"^(XML )?Error: (Error: )?", "", " ".join(said.split()))
    found = re.search(r"(?:, line |Line number=)(\d+)", message)
    if found and any(True for _ in root.iter("include")):
        return ModelError(f"{filename}, or a file that it includes: {message}")
    message = message.replace(found[0], "") if found else message
    if found is None or root.tag == "robot":  # the text's lines are not those of the file
        return ModelError(f"{filename}: {message}")
    return _at_line(data, filename, int(found[1]), message)
