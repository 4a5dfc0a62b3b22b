"""URDF: its structure checked with names, and what MuJoCo's parser does not give: shapes and leftovers."""

import copy
from collections import Counter
from dataclasses import replace
from typing import Any
from xml.etree import ElementTree

import numpy as np

from symplectree.errors import ModelError
from symplectree.io.robots.reading import Reading, new_name
from symplectree.lie import Array, pose, rpy
from symplectree.mechanism.model import unknown
from symplectree.mechanism.shapes import GREY, Shape

Element = ElementTree.Element
KINDS = ("revolute", "continuous", "prismatic", "fixed", "floating", "planar")
STILL = ("transmission", "gazebo", "sensor", "ros2_control", "mujoco", "drake")  # say nothing about how links move
NAMED = 3  # links of a loop that an error names

# what stands in links and joints: attributes, how many numbers each has, and whether it may be left out
NUMBERS = {
    "inertial/origin": (("xyz", "rpy"), 3, True),
    "inertial/mass": (("value",), 1, False),
    "inertial/inertia": (("ixx", "ixy", "ixz", "iyy", "iyz", "izz"), 1, False),
    "origin": (("xyz", "rpy"), 3, True),
    "axis": (("xyz",), 3, False),
    "dynamics": (("damping", "friction"), 1, True),
    "limit": (("lower", "upper", "effort", "velocity"), 1, True),
    "mimic": (("multiplier", "offset"), 1, True),
}


def check_structure(robot: Element, filename: str) -> None:
    """Raise ModelError naming file and culprit unless links and joints form one tree."""

    def refuse(message: str) -> ModelError:
        return ModelError(f"{filename}: {message}")

    links = [link.get("name", "") for link in robot.findall("link")]
    if not links:
        raise refuse("the robot has no link")
    joints = robot.findall("joint")
    for what, names in (("link", links), ("joint", [joint.get("name", "") for joint in joints])):
        for name, count in Counter(names).items():
            if not name:
                raise refuse(f"a {what} has no name")
            if count > 1:
                raise refuse(f"two {what}s are named {name!r}")
    parent: dict[str, str] = {}
    for joint in joints:
        owner = f"joint {joint.get('name')!r}"
        if joint.get("type") not in KINDS:
            raise refuse(f"{owner} has type {joint.get('type')!r}; there are {', '.join(KINDS)}")
        ends = []
        for end in ("parent", "child"):
            element = joint.find(end)
            end_link = None if element is None else element.get("link")
            if end_link is None:
                raise refuse(f"{owner} names no {end} link")
            if end_link not in links:
                raise refuse(f"the {end} of {owner} is no link of the robot: {unknown('link', end_link, links)}")
            ends.append(end_link)
        if ends[1] in parent:
            raise refuse(f"link {ends[1]!r} is the child of two joints, the second being {owner}; a robot is a tree")
        parent[ends[1]] = ends[0]
    _check_one_root(links, parent, refuse)
    for what in ("link", "joint"):
        for element in robot.findall(what):
            _check_numbers(element, f"{what} {element.get('name')!r}", refuse)


def _check_numbers(element: Element, owner: str, refuse: Any) -> None:
    for inertial in element.findall("inertial"):
        for tag in ("mass", "inertia"):
            if inertial.find(tag) is None:
                raise refuse(f"the inertial of {owner} has no <{tag}>")
    for path, (attributes, count, optional) in NUMBERS.items():
        for part in element.findall(path):
            for name in attributes:
                text = part.get(name)
                if text is None and optional:
                    continue
                try:
                    _floats(text or "", count)
                except ValueError:
                    what = f"{name} in <{path.rpartition('/')[2]}> of {owner}"
                    given = "missing" if text is None else repr(text)
                    raise refuse(f"{what} is {given}; give {count} finite number{'s' * (count > 1)}") from None


def _check_one_root(links: list[str], parent: dict[str, str], refuse: Any) -> None:
    for link in links:
        seen = [link]
        while seen[-1] in parent:
            seen.append(parent[seen[-1]])
            if seen[-1] == link:
                loop = " – ".join(repr(name) for name in reversed(seen[: NAMED + 1]))
                raise refuse(f"links {loop}{' – …' * (len(seen) > NAMED + 1)} form a loop; a robot is a tree")
            if len(seen) > len(links):
                break  # leads into a loop that another link will find itself in
    roots = [link for link in links if link not in parent]
    if len(roots) > 1:
        raise refuse(f"the robot has {len(roots)} parts: {roots[0]!r} and {roots[1]!r} are both nobody's child")
    if "world" in parent:
        raise refuse("link 'world' is not the root; give it another name")


def physics_only(robot: Element) -> str:
    """The text of the robot without what is seen or touched, which needs files, and without mimics of nobody."""
    robot = copy.deepcopy(robot)
    for link in robot.findall("link"):
        for tag in ("visual", "collision"):
            for element in link.findall(tag):
                link.remove(element)
    names = {joint.get("name") for joint in robot.findall("joint")}
    for joint in robot.findall("joint"):
        for mimic in joint.findall("mimic"):
            if mimic.get("joint") not in names:
                joint.remove(mimic)
    for element in robot.findall("mujoco"):
        robot.remove(element)
    return ElementTree.tostring(robot, encoding="unicode")


def note_urdf_leftovers(r: Reading, robot: Element) -> None:
    """Note what URDF says and a mechanism cannot."""
    joints = {joint.get("name", ""): joint for joint in robot.findall("joint")}
    if not r.contact:
        touched = [link.get("name", "") for link in robot.findall("link") if link.find("collision") is not None]
        r.note("contacts of links", touched)
    moving = {name: joint for name, joint in joints.items() if joint.get("type") != "fixed"}
    limits = {name: limit for name, joint in moving.items() if (limit := joint.find("limit")) is not None}
    r.note("speed limits of joints", [name for name, limit in limits.items() if limit.get("velocity") is not None])
    for name, joint in joints.items():
        mimic = joint.find("mimic")
        if mimic is None:
            continue
        leader = joints.get(mimic.get("joint", ""))
        if leader is None:
            r.note("mimic of a joint that does not exist", [f"{name} of {mimic.get('joint')}"])
        elif leader.get("type") == "fixed" and joint.get("type") != "fixed":
            r.note("mimic of a fixed joint", [f"{name} of {mimic.get('joint')}"])
    macros = [element.tag for element in robot.iter() if "xacro" in str(element.tag)]
    r.note("xacro, which is to be expanded first", [f"<xacro:{tag.rpartition('}')[2]}>" for tag in macros])
    known = ("link", "joint", "material", *STILL, *macros)
    tags = Counter(element.tag for element in robot if element.tag not in known)
    r.note("elements", [f"<{tag}> × {count}" if count > 1 else f"<{tag}>" for tag, count in tags.items()])


def add_urdf_shapes(r: Reading, robot: Element) -> None:
    """The visuals as shapes of the mechanism, and the collisions, which are not drawn where there are visuals.

    URDF does not say what meets what: a collision's shape has a name, its own or that of its link, for a Contact.
    """
    colours = {m.get("name"): m for m in robot.findall("material") if m.find("color") is not None}
    seen = robot.find("link/visual") is not None
    taken = set(r.frame_names)
    for link in robot.findall("link"):
        if seen:
            r.mechanism.shapes += [shape for shape in link_shapes(r, link, "visual", colours) if shape is not None]
        if seen and not r.contact:
            continue
        for given, shape in zip(link.findall("collision"), link_shapes(r, link, "collision", colours), strict=True):
            if shape is not None:
                name = new_name(given.get("name") or f"{link.get('name')} collision", taken) if r.contact else None
                r.mechanism.shapes.append(replace(shape, name=name, visible=not seen))


def link_shapes(
    r: Reading, link: Element, tag: str, colours: dict[str | None, Element] | None = None
) -> list[Shape | None]:
    """The visuals or collisions of a link; None for one that cannot be read."""
    return [_shape(r, link.get("name", ""), visual, colours or {}) for visual in link.findall(tag)]


def _shape(r: Reading, link: str, visual: Element, colours: dict[str | None, Element]) -> Shape | None:
    """A visual as shape; None for what cannot be read, which never stops the physics."""
    body = next(iter(visual.findall("geometry/*")), None)
    if body is None:
        return None
    try:
        sizes = {
            "sphere": ("radius",), "cylinder": ("radius", "length"), "capsule": ("radius", "length"), "box": ("size",),
            "mesh": (),
        }[body.tag]  # fmt: skip
        size = tuple(x for name in sizes for x in _floats(body.get(name, "")))
        T = _origin(visual.find("origin"))
        rgba = _colour(visual.find("material"), colours)
        scale = _floats(body.get("scale", "1 1 1"), 3)
        path = r.finder.find(body.get("filename", "")) if body.tag == "mesh" else None
        frame = r.bodies[link].frame.name
        shown = {"rgba": rgba, "mesh": path and str(path), "scale": scale, "file_colors": path is not None}
        return Shape(frame, body.tag, size, T, **shown)  # type: ignore[arg-type]
    except (KeyError, ValueError):  # a ModelError is a ValueError, too
        return None


def _origin(origin: Element | None) -> Array:
    if origin is None:
        return np.eye(4)
    return pose(rpy(*_floats(origin.get("rpy", "0 0 0"), 3)), _floats(origin.get("xyz", "0 0 0"), 3))


def _colour(material: Element | None, colours: dict[str | None, Element]) -> tuple[float, ...]:
    if material is not None:
        own = material.find("color")
        colour = own if own is not None else colours.get(material.get("name"), material).find("color")
        if colour is not None:
            return _floats(colour.get("rgba", ""), 4)
    return GREY


def _floats(text: str, count: int | None = None) -> tuple[float, ...]:
    values = tuple(float(word) for word in text.split())
    if not values or (count is not None and len(values) != count) or not np.all(np.isfinite(values)):
        raise ValueError(text)
    return values
