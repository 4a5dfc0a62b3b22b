"""The description of a mechanism: a tree of frames with joints and masses, and the elements that act on them.

Nothing is checked while describing; `build()` checks everything and says what is wrong.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from html import escape
from os import PathLike
from typing import TYPE_CHECKING, Any

from symplectree.elements import Element
from symplectree.errors import ModelError
from symplectree.joints import Fixed, Joint, JointLimits
from symplectree.validation import counted, shown

if TYPE_CHECKING:
    from symplectree.integrators import Variational
    from symplectree.mechanism.frames import FrameLiteral
    from symplectree.mechanism.keyframes import Keyframe
    from symplectree.mechanism.model import Model
    from symplectree.mechanism.shapes import Shape
    from symplectree.sensors import Sensor


@dataclass(frozen=True)
class Mass:
    """A mass as the user gave it: centre `com` and `inertia` about it, in the axes of the frame that carries it."""

    mass: Any
    com: Any = (0.0, 0.0, 0.0)
    inertia: Any = None


@dataclass(eq=False, repr=False)
class Frame:
    """A frame of the tree: placed in its parent, moved by its joint, perhaps carrying a mass. Made by `link` or `frame`."""

    mechanism: Mechanism
    name: str
    parent: Frame | None
    joint: Joint
    at: Any = (0.0, 0.0, 0.0)
    rotate: Any = None
    masses: list[Mass] = field(default_factory=list)

    def __repr__(self) -> str:
        if self.parent is None:
            return "Frame 'world'"
        mass = sum(m.mass for m in self.masses if isinstance(m.mass, int | float))
        if not isinstance(self.joint, Joint):
            return f"Frame {self.name!r} on {self.parent.name!r}, whose joint is {no_joint(self.joint)}"
        moved = f"moved by {type(self.joint).__name__} {self.joint.name!r} on" if self.joint.nv else "fixed on"
        return f"Frame {self.name!r} {moved} {self.parent.name!r}{f', {mass:.6g} kg' if mass else ''}"

    def link(
        self,
        name: str,
        joint: Joint,
        *,
        at: Any = (0.0, 0.0, 0.0),
        rotate: Any = None,
        mass: float = 0.0,
        com: Any = (0.0, 0.0, 0.0),
        inertia: Any = None,
    ) -> Frame:
        """Add a body that moves against this frame by `joint`, and return it.

        name: the link's, which also names the joint's moving frame.
        at, rotate: place the joint in this frame; position [m], and a 3×3 matrix or (roll, pitch, yaw) [rad].
        mass: [kg]; com: centre of mass in the moving frame [m].
        inertia: about the centre of mass [kg·m²], three principal moments or a 3×3 matrix; None is a point mass.
        """
        frame = Frame(self.mechanism, name, self, joint, at, rotate)
        frame.add_mass(mass, com=com, inertia=inertia)
        self.mechanism.tree.append(frame)
        return frame

    def frame(
        self,
        name: str,
        *,
        at: Any = (0.0, 0.0, 0.0),
        rotate: Any = None,
        mass: float = 0.0,
        com: Any = (0.0, 0.0, 0.0),
        inertia: Any = None,
    ) -> Frame:
        """Add a frame fixed in this one, and return it; it may carry a mass of its own (arguments as for `link`)."""
        return self.link(name, Fixed(), at=at, rotate=rotate, mass=mass, com=com, inertia=inertia)

    def add_mass(self, mass: float, *, com: Any = (0.0, 0.0, 0.0), inertia: Any = None) -> Frame:
        """Attach one more mass to this frame, and return the frame; a body may carry any number."""
        self.masses.append(Mass(mass, com, inertia))
        return self

    def frames(self, *children: FrameLiteral) -> Frame:
        """Hang the papers' nested frames below this one; see `Mechanism.frames`. Adds all of them, or raises."""
        from symplectree.mechanism.frames import check_literals

        check_literals(f"frames of {self.name!r}", children)
        tree = self.mechanism.tree
        before = len(tree)
        try:
            for child in children:
                child.hang(self)
        except BaseException:
            del tree[before:]
            raise
        return self


class Mechanism:
    """A mechanism under construction.

        m = Mechanism(gravity=(0, 0, -9.81))
        arm = m.world.link("arm", Revolute("shoulder", axis="y"), mass=1.0, com=(0, 0, -0.5))
        m.add(JointDamper("shoulder", 0.1))
        model = m.build()

    gravity: acceleration in world axes [m/s²].
    initial: where to start by name of coordinate or joint, for programs that run the mechanism; may be set by anyone.
    keyframes: named starts with velocities and controls (`Keyframe`); `simulate(model, "home", …)` starts at one.
    limits: by name of coordinate, joint or input: what it can do (`JointLimits`), over what joints say of themselves.
    sensors: what is measured of it, by name (`Gyro`, `JointReaction`, …).
    shapes: how its links look (`Shape`), and what collides where a `Contact` says so.
    """

    def __init__(self, gravity: Any = (0.0, 0.0, -9.81)) -> None:
        self.gravity = gravity
        self.world = Frame(self, "world", None, Fixed())
        self.tree: list[Frame] = []
        self.elements: list[Element] = []
        self.initial: dict[str, Any] = {}
        self.keyframes: dict[str, Keyframe] = {}
        self.limits: dict[str, JointLimits] = {}
        self.sensors: list[Sensor] = []
        self.shapes: list[Shape] = []

    def frames(self, *roots: FrameLiteral) -> Mechanism:
        """Add trees in the papers' notation (JM08 section II), and return the mechanism.

        m.frames(ry("J", name="J")[tz(-0.5, name="I", mass=1), tz(-1)[ry("H", name="H")[...]]])
        """
        self.world.frames(*roots)
        return self

    def add(self, *elements: Element | Sensor) -> Mechanism:
        """Add springs, dampers, loads and sensors, and return the mechanism."""
        from symplectree.sensors import Sensor

        self.elements.extend(element for element in elements if not isinstance(element, Sensor))
        self.sensors.extend(element for element in elements if isinstance(element, Sensor))
        return self

    def build(self) -> Model:
        """Check everything and freeze it; raises ModelError with one sentence that names the culprit."""
        from symplectree.mechanism.build import build

        return build(self)

    def copy(self) -> Mechanism:
        """The same description, which no longer changes with this one; elements name their frames."""
        copy = Mechanism(self.gravity)
        copy.world.masses, copy.initial = list(self.world.masses), dict(self.initial)
        copy.keyframes, copy.limits = dict(self.keyframes), dict(self.limits)
        frames = {id(self.world): copy.world}
        for frame in self.tree:
            parent = None if frame.parent is None else frames.get(id(frame.parent), frame.parent)
            frames[id(frame)] = replace(frame, mechanism=copy, parent=parent, masses=list(frame.masses))
        copy.tree = [frames[id(frame)] for frame in self.tree]
        copy.shapes = list(self.shapes)
        copy.elements = [with_frame_names(element) for element in self.elements]
        copy.sensors = [with_frame_names(sensor) for sensor in self.sensors]
        return copy

    def to_sexpr(self) -> str:
        """The mechanism as text, which `loads` turns into an equal one, bit for bit; see `symplectree.io.sexpr`.

        Raises ModelError naming the link or element that cannot be written.
        """
        from symplectree.io.sexpr_writer import write

        return write(self)

    def to_mjcf(self, path: str | PathLike[str]) -> None:
        """Write the mechanism as MJCF, for MuJoCo; `symplectree.io.robots.to_mjcf` says what becomes of what.

        Raises ModelError naming a joint that MuJoCo does not have; one UserWarning names elements that it does not have.
        """
        from symplectree.io.robots.to_mjcf import write_mjcf

        write_mjcf(self, path)

    def to_urdf(self, path: str | PathLike[str]) -> None:
        """Write the mechanism as URDF, for ROS; `symplectree.io.robots.to_urdf` says what becomes of what.

        Raises ModelError naming a joint that URDF does not have; one UserWarning names what else it does not have.
        """
        from symplectree.io.robots.to_urdf import write_urdf

        write_urdf(self, path)

    def to_fmu(self, path: str | PathLike[str], *, dt: float, method: Variational | None = None) -> None:
        """Write the mechanism as an FMU, for co-simulation after FMI 3.0, with steps of dt [s] inside; `symplectree.io.fmu`
        says what it offers and needs. Raises ModelError for functions of Python, which no file can hold.
        """
        from symplectree.io.fmu import write_fmu

        write_fmu(self, path, dt=dt, method=method)

    def __getitem__(self, name: str) -> Frame:
        """The link or frame of that name, "world" included; of a loaded robot, too. Raises ModelError with the nearest
        names."""
        frames = {"world": self.world} | {frame.name: frame for frame in self.tree if isinstance(frame.name, str)}
        if isinstance(name, str) and name in frames:
            return frames[name]
        from symplectree.mechanism.model import unknown

        moved = [frame.name for frame in self.tree if frame.joint.nv and frame.joint.name == name]
        hint = f"; joint {name!r} moves link {moved[0]!r}" if moved else ""
        raise ModelError(unknown("link or frame", name, list(frames)) + hint)

    def __contains__(self, name: object) -> bool:
        return name == "world" or any(frame.name == name for frame in self.tree)

    __iter__ = None  # or Python would try m[0], m[1], …

    def __repr__(self) -> str:
        fixed = sum(frame.joint.nv == 0 for frame in self.tree)
        counts = ((len(self.tree) - fixed, "link"), (fixed, "frame"), (len(self.elements), "element"))
        return f"Mechanism of {', '.join(counted(*count) for count in counts)}; build() makes a Model of it"

    def _repr_html_(self) -> str:
        from symplectree.mechanism.html import to_html

        try:
            return to_html(self.build(), "Mechanism of")
        except ModelError as error:
            return f"<div><b>{escape(repr(self))}</b></div><div>{escape(str(error))}</div>"

    def __getattr__(self, name: str) -> Any:
        """Say what to do when a mechanism is used where a Model is needed; only asked for what a mechanism has not."""
        from symplectree.mechanism.model import Model

        if not name.startswith("_") and (hasattr(Model, name) or name in Model.__dataclass_fields__):
            raise ModelError("a Mechanism was given where a Model is needed; call build() first")
        raise AttributeError(f"a Mechanism has no attribute {name!r}")


def no_joint(given: Any) -> str:
    """What was given for a joint, and what to give instead."""
    if isinstance(given, type) and issubclass(given, Joint):
        return f"the class {given.__name__}; give one of it, such as {given.__name__}('{given.__name__.lower()}1', …)"
    return f"{shown(given)}; give one such as Revolute('hinge', axis='y'), or Fixed()"


def with_frame_names(element: Any) -> Any:
    """The element or sensor with names in place of Frames."""
    frames = {f.name: value for f in fields(element) if isinstance(value := getattr(element, f.name), Frame)}
    return replace(element, **{name: frame.name for name, frame in frames.items()}) if frames else element
