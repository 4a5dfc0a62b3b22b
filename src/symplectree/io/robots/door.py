"""What of a robot's file is refused before MuJoCo's parser, which follows every path and makes every copy, sees it."""

import math
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

from symplectree.errors import ModelError
from symplectree.io.robots.meshes import MeshFinder

Element = ElementTree.Element

DEEPEST = 400  # elements in elements; MuJoCo's parser takes 500
MOST = 10_000  # copied elements
COPIES = ("replicate", "flexcomp", "composite")
FOLDERS = {"mesh": "meshdir", "hfield": "meshdir", "skin": "meshdir", "texture": "texturedir"}
ASSETS = (*FOLDERS, "model")


def check_depth(root: Element, filename: str) -> None:
    """Raise ModelError where elements are nested so deep that no robot is meant."""
    level, depth = [root], 0
    while level:
        depth += 1
        if depth > DEEPEST:
            raise ModelError(f"{filename}: <{level[0].tag}> stands {depth} elements deep; at most {DEEPEST} are read")
        level = [child for element in level for child in element]


def check_mjcf(root: Element, filename: str, finder: MeshFinder) -> None:
    """Raise ModelError for MJCF that names files outside the robot's folders, or asks for too many copies, also in files
    that it includes. Those that are not there, or are no XML, are left to the parser."""
    folders: dict[str, str] = {}  # the last that is said holds everywhere, as includes stand for their contents
    assets: list[tuple[Element, str]] = []
    for element, name in _elements(root, filename, finder):
        if element.tag == "compiler":
            both = {key: element.get("assetdir") for key in FOLDERS.values()}
            given = both | {key: element.get(key, folder) for key, folder in both.items()}
            folders |= {key: folder for key, folder in given.items() if folder is not None}
        elif element.tag in ASSETS:
            assets.append((element, name))
    for element, name in assets:
        if file := element.get("file"):
            _check_place(file, folders.get(FOLDERS.get(element.tag, ""), ""), name, finder)


def _elements(root: Element, filename: str, finder: MeshFinder) -> Iterator[tuple[Element, str]]:
    """All elements of a file, and of those that it includes in the places where it does, once each, in their order."""
    _check_part(root, filename)
    waiting: list[tuple[Element, str, Path]] = [(root, filename, finder.home)]
    seen: set[Path] = set()
    while waiting:
        element, name, folder = waiting.pop()
        yield element, name
        waiting += [(child, name, folder) for child in reversed(element)]
        if element.tag != "include":
            continue
        file = element.get("file", "")
        _check_place(file, "", name, finder)
        path = next((place for base in (finder.home, folder) if (place := _file(base / file)) is not None), None)
        if path is None or path in seen:
            continue
        seen.add(path)
        try:
            part = ElementTree.fromstring(path.read_bytes())
        except (OSError, ValueError, LookupError, ElementTree.ParseError):
            continue
        _check_part(part, file)
        waiting.append((part, file, path.parent))


def _check_part(root: Element, name: str) -> None:
    check_depth(root, name)
    _check_copies(root, name)


def _file(path: Path) -> Path | None:
    try:
        return path if path.is_file() else None
    except (OSError, ValueError):
        return None


def _check_place(file: str, folder: str, filename: str, finder: MeshFinder) -> None:
    if not finder.is_inside(finder.home / folder / file):
        raise ModelError(
            f"{filename}: names the file {file!r}, which is outside the robot's folders "
            f"({', '.join(map(str, finder.areas))}); if that is meant, give packages=[its folder]"
        )


def _check_copies(root: Element, filename: str) -> None:
    """Elements, each counted as often as it is copied."""
    total, waiting = 0.0, [(root, 1.0)]
    while waiting:
        element, times = waiting.pop()
        if element.tag in COPIES:
            times *= _count(element.get("count", "1"))
        total += times if times > 1 else 0.0
        if total > MOST:
            raise ModelError(
                f"{filename}: asks for more than {MOST} copied elements, in <{element.tag}>; give a count that is meant"
            )
        waiting += [(child, times) for child in element]


def _count(text: str) -> float:
    """The product of the whole numbers in a text; 1 for what is none, which the parser refuses."""
    try:
        return math.prod(max(1.0, float(number)) for number in text.split())
    except ValueError:
        return 1.0
