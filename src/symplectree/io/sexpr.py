"""The native model format: s-expressions, after JM09 Table II and Listing 1, for everything that a mechanism holds.

A file holds one `(system …)`. Keywords may have any case; names stand in quotes, straight or typographic, and keep theirs; a
comment goes from `;` to the end of its line. Numbers are finite, in SI units and radians. In a text, `\\\\`, `\\"`, `\\n`, `\\t`,
`\\r` and `\\u0000` are escapes. Below, … is a repetition and ? what may be left out.

| form | meaning |
| --- | --- |
| `(system part …)`, `(mechanical-system part …)` | the model; its parts are the forms below, in any order |
| `(gravity x y z)` | acceleration; without it that of `Mechanism()`, (0, 0, -9.81) |
| `(initial ("joint" q …) …)` | where to start, kept in `Mechanism.initial`; without it, the configuration of keyframe "home" |
| `(keyframe "name" (q ("joint" q …) …) (v …) (controls ("input" u) …) (activation ("actuator" a) …) (time t))` | a named start, kept in `Mechanism.keyframes`; q and v may be all numbers in a row |
| `(limits "name" (lower x) (upper x) (velocity x) (force x) (friction x) (control x y))` | what a coordinate, joint or input can do, kept in `Mechanism.limits`; joints take it as an option, too: `(revolute "q" (limits -1 1))` |
| `(world option …)` | masses that are fixed to the world: `mass`, `com`, `inertia`, `add-mass` |
| frame | one of the next three; frames written inside another hang on it, the others on the world |
| `(tx value option … frame …)`, also `ty tz rx ry rz` | a step along or about one axis; the value is a number (fixed), or `"name"` or `(d "name")` (a coordinate); options `name`, `mass`, `add-mass`, `parent` |
| `(tx 0.1 ry "q" … option … frame …)` | several steps nested in each other; the rest belongs to the last |
| `(link "name"? joint option … frame …)` | a body that moves by a joint; options `at`, `rotate`, `mass`, `com`, `inertia`, `add-mass`, `parent` |
| `(frame "name"? option … frame …)` | a link that is fixed; the same options |
| `(name "x")` | name of a frame; without any it is called # and its number |
| `(mass m)`, `(mass m Ixx Iyy Izz)` | a mass at the frame's origin |
| `(com x y z)`, `(inertia a b c)`, `(inertia (…) (…) (…))` | centre of that mass; moments about it, or the rows of a matrix |
| `(add-mass m (com …)? (inertia …)?)` | one more mass; as many as you like |
| `(at x y z)`, `(rotate roll pitch yaw)`, `(rotate (…) (…) (…))` | where the joint is in the parent; angles, or the rows of a matrix |
| `(parent "name")` | the frame that it hangs on, written before; for frames that stand directly in the system |
| joint | `(fixed)`, `(revolute "q" (axis "y") (armature 0.1))`, `prismatic`, `(screw "q" (pitch 0.1))`, `cylindrical`, `(universal "q" (axes "xy"))`, `(planar "q" (normal 0 0 1))`, `ball`, `free`, `(formula-joint "q" (pose …))`, `(curve-joint "q" (values …) (spin true))`, `surface-joint`, `surface-contact-joint`, `rolling-joint` |
| element | `(spring "a" "b" (stiffness 20) (length 0.5) (name "s"))`, `(joint-damper "q" 0.1)`, `(joint-force "q" "input")`, … |
| constraint | `(point-constraint "a" "b" 1 0 0)`, `(point-constraint "a" "b" "xz")`, `(gear-constraint "p" "q" (ratio -2) (eliminate true))`, `(joint-constraint "a" "b" (ball "x"))`, `(rolling-constraint "c" (pivoting false))`, … |
| sensor | `(accelerometer "imu" "frame")`, `(joint-reaction "load" "joint" (part "force"))`, …, kept in `Mechanism.sensors` |
| by formula | `(formula-potential (values …) (coordinates "q" "r"))`, or `(formula x (…))` of one coordinate; `formula-force`, `formula-constraint` |
| `(shape "frame" "box" (size 1 2 3) (pose (…) (…) (…) (…)) (rgba …) (mesh "file") (scale …) (file-colors true) (name "…") (visible false))` | what a frame looks like, kept in `Mechanism.shapes`; kinds and sizes as in `symplectree.mechanism.shapes` |
| function | `(potential (table (x …) (y …)))`, `(profile (formula x (* 0.1 (cos x))))`; see `functions.py` |

Joints and elements are written as their classes are called in Python: `objects.py` says how. JM09's `point-constaint` is
read as `point-constraint`, with a warning. `Mechanism.to_sexpr` writes every number with the digits that give the same float.
"""  # noqa: E501

import warnings
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any

from symplectree.elements import Element
from symplectree.io.objects import keywords, read_object
from symplectree.io.reader import Node, Source, meant, nearest, parse, shown, word
from symplectree.io.system_parts import read_keyframe, read_limits, read_values
from symplectree.joints import Fixed, Joint
from symplectree.mechanism.frames import FrameLiteral
from symplectree.mechanism.mechanism import Frame, Mechanism
from symplectree.mechanism.shapes import Shape
from symplectree.sensors import Sensor

STEPS = ("tx", "ty", "tz", "rx", "ry", "rz")
FRAMES = ("link", "frame", *STEPS)
PARTS = ("gravity", "initial", "world", "shape", "keyframe", "limits")
OPTIONS = {
    "step": ("name", "mass", "parent"),
    "link": ("at", "rotate", "mass", "com", "inertia", "parent"),
    "world": ("mass", "com", "inertia"),
}
MISPRINTS = {"point-constaint": "point-constraint"}


def read(text: str, filename: str) -> Mechanism:
    """The mechanism that a text describes; raises ModelSyntaxError. Meant to be called from `load` and `loads` only."""
    source, root = parse(text, filename)
    if root.keyword not in ("system", "mechanical-system"):
        at = root.value[0].at if root.value else root.at
        raise source.error(at, f"a model begins with (system, not {shown(root)}", "write (system … ) around it")
    grammar = _Grammar(source, Mechanism())
    grammar.system(root)
    for note in grammar.notes:
        warnings.warn(note, stacklevel=3)
    return grammar.mechanism


@dataclass
class _Options:
    """What stands in a frame's form: options by keyword, further masses, the joint, and frames that hang on it."""

    by_name: dict[str, Node] = field(default_factory=dict)
    masses: list[Node] = field(default_factory=list)
    joint: Node | None = None
    children: list[Node] = field(default_factory=list)


@dataclass
class _Grammar:
    """Reads the parts of a system into a mechanism."""

    source: Source
    mechanism: Mechanism
    notes: list[str] = field(default_factory=list)
    frames: dict[str, Frame] = field(default_factory=dict)

    def system(self, root: Node) -> None:
        mechanism, once = self.mechanism, set()
        self.frames["world"] = mechanism.world
        elements, sensors = keywords(Element), keywords(Sensor)
        for part in root.value[1:]:
            key = self._keyword(part, "the system")
            if key in ("gravity", "initial", "world"):
                if key in once:
                    raise self.source.error(part.value[0].at, f"{key} is given twice")
                once.add(key)
            if key == "gravity":
                mechanism.gravity = self._numbers(part, 3)
            elif key == "initial":
                mechanism.initial = read_values(self.source, part, "initial")
            elif key == "keyframe":
                read_keyframe(self.source, part, mechanism)
            elif key == "limits":
                read_limits(self.source, part, mechanism)
            elif key == "world":
                options = self._options(part, part.value[1:], "world")
                if options.children:
                    raise self.source.error(options.children[0].at, "frames do not stand in (world …)", "move it out")
                self._add_masses(mechanism.world, options)
            elif key in FRAMES:
                self._tree(part)
            elif key == "shape":
                mechanism.shapes.append(read_object(self.source, part, Shape))
            elif key in elements or key in sensors:
                mechanism.add(read_object(self.source, part, elements.get(key) or sensors[key]))
            elif key in MISPRINTS:
                name = MISPRINTS[key]
                self.notes.append(f"{self.source.place(part.value[0].at)}: {key} is read as {name}")
                part.value[0].value = name
                mechanism.add(read_object(self.source, part, elements[name]))
            else:
                known = (*FRAMES, *PARTS, *elements, *sensors)
                raise self.source.error(part.value[0].at, f"{part.value[0].value} is not known", nearest(key, known))
        home = mechanism.keyframes.get("home")
        if "initial" not in once and home is not None and isinstance(home.q, dict):
            mechanism.initial = dict(home.q)

    def _tree(self, root: Node) -> None:
        """Add a frame and all that hang on it, in the order of reading; a stack, since chains may be long."""
        waiting: list[tuple[Node, Frame | None]] = [(root, None)]
        while waiting:
            node, parent = waiting.pop()
            frame, options = self._step(node, parent) if node.keyword in STEPS else self._link(node, parent)
            self.frames.setdefault(frame.name, frame)
            waiting += [(child, frame) for child in reversed(options.children)]

    def _step(self, node: Node, parent: Frame | None) -> tuple[Frame, _Options]:
        """A frame of JM09 Table II: pairs of type and parameter, then options."""
        items, pairs = node.value, []
        at = 0
        while at < len(items) and word(items[at]) in STEPS:
            if at + 1 == len(items) or word(items[at + 1]) in STEPS:
                raise self.source.error(items[at].at, f"{word(items[at])} needs a number or the name of a coordinate")
            pairs.append((word(items[at]), self._parameter(word(items[at]), items[at + 1])))
            at += 2
        options = self._options(node, items[at:], "step")
        frame = self._parent(options, parent)
        name, mass = options.by_name.get("name"), options.by_name.get("mass")
        for i, (key, value) in enumerate(pairs):
            literal = FrameLiteral(key[0], key[1], value)
            if i == len(pairs) - 1:
                literal.name = self._text(name) if name else None
                literal.mass = self._mass(mass) if mass else None
            literal.hang(frame)
            frame = self.mechanism.tree[-1]
        for extra in options.masses:
            self._add_mass(frame, extra)
        return frame, options

    def _parameter(self, key: str, node: Node) -> float | str:
        if node.kind == "list" and node.keyword == "d":
            return self._text(node)
        if node.kind in ("number", "text"):
            value: float | str = node.value
            return value
        what = f"{key} takes a number or the name of a coordinate, not {shown(node)}"
        raise self.source.error(node.at, what, meant(node, True))

    def _link(self, node: Node, parent: Frame | None) -> tuple[Frame, _Options]:
        rest = node.value[1:]
        name = f"#{len(self.mechanism.tree) + 1}"
        if rest and rest[0].kind == "text":
            name, rest = rest[0].value, rest[1:]
        options = self._options(node, rest, "link")
        if node.keyword == "link" and options.joint is None:
            raise self.source.error(
                node.value[0].at, "link needs a joint", 'such as (revolute "q" (axis "y")), or write frame'
            )
        if node.keyword == "frame" and options.joint is not None:
            raise self.source.error(options.joint.at, "a frame has no joint", "write link in place of frame")
        joint = (
            read_object(self.source, options.joint, keywords(Joint)[options.joint.keyword])
            if options.joint
            else Fixed()
        )
        given: dict[str, Any] = {}
        if "at" in options.by_name:
            given["at"] = self._numbers(options.by_name["at"], 3)
        if "rotate" in options.by_name:
            given["rotate"] = self._rows(options.by_name["rotate"])
        given |= self._mass_options(options)
        frame = self._parent(options, parent).link(name, joint, **given)
        for extra in options.masses:
            self._add_mass(frame, extra)
        return frame, options

    def _parent(self, options: _Options, parent: Frame | None) -> Frame:
        node = options.by_name.get("parent")
        if node is None:
            return parent or self.mechanism.world
        if parent is not None:
            raise self.source.error(
                node.at, "a frame inside another hangs on that one", "remove (parent …), or move it out"
            )
        name = self._text(node)
        if name not in self.frames:
            known = [f'"{n}"' for n in self.frames]
            raise self.source.error(
                node.value[1].at, f'no frame before this one is named "{name}"', nearest(f'"{name}"', known)
            )
        return self.frames[name]

    def _options(self, node: Node, rest: list[Node], kind: str) -> _Options:
        """Sort what stands in a frame's form; raises ModelSyntaxError for what does not belong there or comes twice."""
        found, joints = _Options(), keywords(Joint) if kind == "link" else {}
        for item in rest:
            key = self._keyword(item, node.keyword)
            if key in FRAMES:
                found.children.append(item)
            elif key == "add-mass":
                found.masses.append(item)
            elif key in OPTIONS[kind]:
                if key in found.by_name:
                    raise self.source.error(item.value[0].at, f"{key} of {node.keyword} is given twice")
                found.by_name[key] = item
            elif key in joints:
                if found.joint is not None:
                    raise self.source.error(item.value[0].at, f"{node.keyword} has two joints", "nest a second link")
                found.joint = item
            else:
                known: Collection[str] = (*OPTIONS[kind], "add-mass", *joints, *FRAMES)
                what = f"{node.keyword} has no option {item.value[0].value}"
                if key in keywords(Element) or key in keywords(Sensor) or key in PARTS:
                    hint = "it belongs to the system: perhaps a parenthesis is missing before it"
                else:
                    hint = nearest(key, known)
                raise self.source.error(item.value[0].at, what, hint)
        return found

    def _add_masses(self, frame: Frame, options: _Options) -> None:
        """The masses of the world, which no link() makes."""
        if given := self._mass_options(options):
            frame.add_mass(given.pop("mass", 0.0), **given)
        for extra in options.masses:
            self._add_mass(frame, extra)

    def _mass_options(self, options: _Options) -> dict[str, Any]:
        given: dict[str, Any] = {}
        by_name = options.by_name
        if "mass" in by_name:
            mass, *moments = self._mass(by_name["mass"])
            given["mass"] = mass
            if moments and "inertia" in by_name:
                raise self.source.error(by_name["inertia"].value[0].at, "the moments stand in (mass …) already")
            if moments:
                given["inertia"] = tuple(moments)
        if "com" in by_name:
            given["com"] = self._numbers(by_name["com"], 3)
        if "inertia" in by_name:
            given["inertia"] = self._rows(by_name["inertia"])
        return given

    def _add_mass(self, frame: Frame, node: Node) -> None:
        """(add-mass m (com x y z) (inertia …)), which are a mass's options in a form of their own."""
        own = [item for item in node.value[1:] if item.kind == "list"]
        mass = Node("list", [node.value[0], *(item for item in node.value[1:] if item.kind != "list")], node.at)
        options = _Options({"mass": mass})
        for item in own:
            key = self._keyword(item, "add-mass")
            if key not in ("com", "inertia"):
                what = f"add-mass has no option {item.value[0].value}"
                raise self.source.error(item.value[0].at, what, nearest(key, ("com", "inertia")))
            if key in options.by_name:
                raise self.source.error(item.value[0].at, f"{key} of add-mass is given twice")
            options.by_name[key] = item
        self._add_masses(frame, options)

    def _mass(self, node: Node) -> tuple[float, ...]:
        """(mass m) or (mass m Ixx Iyy Izz)."""
        values = node.value[1:]
        if len(values) not in (1, 4):
            what = f"{node.keyword} takes m, or m Ixx Iyy Izz, not {len(values)} values"
            raise self.source.error(node.value[0].at, what)
        return tuple(self._number(n, node.keyword) for n in values)

    def _rows(self, node: Node) -> tuple[Any, ...]:
        """Three numbers, or three rows of three."""
        values = node.value[1:]
        if len(values) != 3 or len({n.kind for n in values}) != 1:
            raise self.source.error(node.value[0].at, f"{node.keyword} takes 3 numbers, or 3 rows in parentheses")
        if values[0].kind != "list":
            return self._numbers(node, 3)
        for row in values:
            if len(row.value) != 3:
                raise self.source.error(row.at, f"a row of {node.keyword} has 3 numbers, not {len(row.value)}")
        return tuple(tuple(self._number(n, node.keyword) for n in row.value) for row in values)

    def _numbers(self, node: Node, count: int) -> tuple[float, ...]:
        values = node.value[1:]
        for n in values:
            self._number(n, node.keyword)
        if len(values) != count:
            raise self.source.error(node.value[0].at, f"{node.keyword} takes {count} numbers, not {len(values)}")
        return tuple(n.value for n in values)

    def _number(self, node: Node, what: str) -> float:
        if node.kind != "number":
            raise self.source.error(node.at, f"{what} takes a number, not {shown(node)}", meant(node, False))
        return float(node.value)

    def _text(self, node: Node) -> str:
        """The one text in a form such as (name "x")."""
        values = node.value[1:]
        if len(values) != 1 or values[0].kind != "text":
            bad = values[0] if values else node.value[0]
            hint = meant(bad, True) if values else ""
            raise self.source.error(bad.at, f'{node.keyword} takes one text in quotes: ({node.keyword} "x")', hint)
        value: str = values[0].value
        return value

    def _keyword(self, item: Node, owner: str) -> str:
        """The keyword of a form; raises ModelSyntaxError for what is no form."""
        if item.keyword:
            return item.keyword
        hint = f"did you mean ({item.value} …)?" if item.kind == "word" else "forms look like (keyword …)"
        raise self.source.error(item.at, f"{owner} has no place for {shown(item)}", hint)
