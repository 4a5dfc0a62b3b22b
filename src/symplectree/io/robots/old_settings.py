"""Settings of older MuJoCo versions that its parser refuses today: taken out where they say nothing about motion."""

import copy
import re
from pathlib import Path
from xml.etree import ElementTree

Element = ElementTree.Element

# by element: numerics of collisions and the solver, what is drawn, and rates of an interface that is gone
OBSOLETE = {
    "option": ("apirate", "collision", "mpr_iterations", "mpr_tolerance"),
    "flag": ("sensornoise",),
    "compiler": ("convexhull",),
    "default": ("group",),
    "quality": ("numarrows", "numquads"),
}
REFUSED = re.compile(r"unrecognized attribute: '(\w+)'\s+Element '(\w+)'")


def is_obsolete(message: str) -> bool:
    """Does MuJoCo's message name a setting that can be taken out or be said otherwise?"""
    found = REFUSED.search(message)
    if found is None:
        return False
    name, element = found.groups()
    return name in OBSOLETE.get(element, ()) or (element, name) in (
        ("flag", "passive"),
        ("compiler", "exactmeshinertia"),
    )


def modern_text(root: Element, folder: Path) -> str:
    """The file as one text without obsolete settings, its includes in place; raises OSError where one is missing."""
    root = copy.deepcopy(root)
    _include(root, folder, folder, ())
    exact = False
    for element in root.iter():
        for name in OBSOLETE.get(element.tag, ()):
            element.attrib.pop(name, None)
        if element.tag == "flag" and "passive" in element.attrib:
            element.attrib["spring"] = element.attrib["damper"] = element.attrib.pop("passive")
        if element.tag == "compiler":
            exact |= element.attrib.pop("exactmeshinertia", "false") == "true"
    for mesh in root.findall("asset/mesh") if exact else ():
        mesh.attrib.setdefault("inertia", "exact")
    return ElementTree.tostring(root, encoding="unicode")


def _include(element: Element, folder: Path, home: Path, within: tuple[Path, ...]) -> None:
    """Replace each <include> by what stands in its file, which is looked for beside the main file and the including one."""
    for i, child in reversed(list(enumerate(element))):
        if child.tag != "include":
            _include(child, folder, home, within)
            continue
        places = (base / child.get("file", "") for base in (home, folder))
        path = next((place for place in places if place.is_file()), None)
        if path is None:
            raise FileNotFoundError(f"{child.get('file')} is not there")
        if path.resolve() in within:
            raise FileNotFoundError(f"{child.get('file')} includes itself")
        part = ElementTree.fromstring(path.read_bytes())
        _include(part, path.parent, home, (*within, path.resolve()))
        element[i : i + 1] = list(part)
