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
    for part, name in _parts(root, filename, finder):
        check_depth(part, name)
        _check_copies(part, name)
        settings = {key: value for compiler in part.iter("compiler") for key, value in compiler.items()}
        for element in part.iter():
            if element.tag in ASSETS and (file := element.get("file")):
                folder = settings.get(FOLDERS.get(element.tag, ""), settings.get("assetdir", ""))
                _check_place(file, folder, name, finder)


def _parts(root: Element, filename: str, finder: MeshFinder) -> Iterator[tuple[Element, str]]:
    """The file's root and those of all files that it includes, once each."""
    waiting: list[tuple[Element, str, Path]] = [(root, filename, finder.home)]
    seen: set[Path] = set()
    while waiting:
        part, name, folder = waiting.pop()
        yield part, name
        for include in part.iter("include"):
            file = include.get("file", "")
            _check_place(file, "", name, finder)
            path = next((place for base in (finder.home, folder) if (place := _file(base / file)) is not None), None)
            if path is None or path in seen:
                continue
            seen.add(path)
            try:
                waiting.append((ElementTree.fromstring(path.read_bytes()), file, path.parent))
            except (OSError, ValueError, LookupError, ElementTree.ParseError):
                continue


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
