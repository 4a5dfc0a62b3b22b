"""COLLADA files: their triangles and plain colours, whatever their materials refer to.

As robots' tools do, the unit of length is taken into account and the axis that is up is not.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np

from symplectree import lie
from symplectree.lie import Array

Color = tuple[float, float, float] | None
Piece = tuple[Array, Array, Color]  # vertices (v, 3), triangles (f, 3), red, green, blue

DEEPEST = 64  # nodes inside each other


def read_collada(path: Path) -> list[Piece]:
    """The pieces of a file, each of one colour, in metres; raises ValueError when the file is broken."""
    try:
        return list(_File(path).pieces())
    except ElementTree.ParseError as error:
        raise ValueError(f"it is no XML: {error}") from None
    except (LookupError, AttributeError, TypeError) as error:
        raise ValueError(f"it is no COLLADA that can be read: {error}") from None


class _File:
    """Elements of a file by their id, without the prefix of COLLADA's name space."""

    def __init__(self, path: Path) -> None:
        self.folder, self.root = path.parent, ElementTree.parse(path).getroot()
        for element in self.root.iter():
            element.tag = str(element.tag).rpartition("}")[2]
        self.by_id = {element.get("id", ""): element for element in self.root.iter() if element.get("id")}
        self.sources: dict[int, Array] = {}

    def pieces(self) -> Iterator[Piece]:
        unit = self.root.find("asset/unit")
        scale = np.diag([float(unit.get("meter", 1.0)) if unit is not None else 1.0] * 3 + [1.0])
        scene = self._referred(self.root.find("scene/instance_visual_scene"))
        for node in [] if scene is None else scene.findall("node"):
            yield from self._node(node, scale, 0)

    def _referred(self, element: Any, attribute: str = "url") -> Any:
        return None if element is None else self.by_id.get(element.get(attribute, "").removeprefix("#"))

    def _node(self, node: Any, T: Array, depth: int) -> Iterator[Piece]:
        if depth > DEEPEST:
            raise ValueError("its nodes are inside each other without end")
        for child in node:
            T = T @ _transform(child)
            if child.tag == "node":
                yield from self._node(child, T, depth + 1)
            elif child.tag == "instance_node" and (found := self._referred(child)) is not None:
                yield from self._node(found, T, depth + 1)
            elif child.tag == "instance_geometry" and (found := self._referred(child)) is not None:
                colors = {bound.get("symbol"): self._color(bound) for bound in child.iter("instance_material")}
                for vertices, faces, material in self._geometry(found):
                    placed = vertices @ T[:3, :3].T + T[:3, 3]
                    yield placed, faces if np.linalg.det(T[:3, :3]) > 0 else faces[:, ::-1], colors.get(material)

    def _color(self, bound: Any) -> Color:
        """The plain colour of a material, of a texture its mean; None where the file lacks what it refers to."""
        material = self._referred(bound, "target")
        effect = self._referred(None if material is None else material.find("instance_effect"))
        color = None if effect is None else effect.find(".//diffuse/color")
        if color is not None:
            red, green, blue = (float(x) for x in (color.text or "").split()[:3])
            return red, green, blue
        texture = None if effect is None else effect.find(".//diffuse/texture")
        if texture is None:
            return None
        names = [texture.get("texture", ""), *(found.text or "" for found in effect.iter("init_from"))]
        images = [self.by_id[name] for name in names if name in self.by_id and self.by_id[name].tag == "image"]
        return next(filter(None, (_mean_color(self.folder / (i.findtext("init_from") or "")) for i in images)), None)

    def _geometry(self, geometry: Any) -> Iterator[tuple[Array, Array, str | None]]:
        own = {child.get("id"): child for child in geometry.findall("mesh/*") if child.get("id")}
        for primitive in geometry.findall("mesh/*"):
            inputs = primitive.findall("input")
            corner = next((i for i in inputs if i.get("semantic") == "VERTEX"), None)
            if corner is None:
                continue
            stride = 1 + max(int(i.get("offset", 0)) for i in inputs)
            lists = [_numbers(p, int).reshape(-1, stride)[:, int(corner.get("offset", 0))] for p in primitive.iter("p")]
            faces = _triangles(primitive, lists)
            if len(faces):
                points = self._positions(own[corner.get("source", "").removeprefix("#")], own)
                used, at = np.unique(faces, return_inverse=True)
                corners: Any = at.reshape(-1, 3)
                yield points[used], corners, primitive.get("material")

    def _positions(self, vertices: Any, own: dict[str, Any]) -> Array:
        """The array of floats behind an input: of `vertices`, or directly of a source.

        own: the mesh's children by id, which other meshes of the same file may use again.
        """
        place = next((i for i in vertices.findall("input") if i.get("semantic") == "POSITION"), None)
        source = vertices if place is None else own[place.get("source", "").removeprefix("#")]
        if id(source) not in self.sources:
            accessor = source.find("technique_common/accessor")
            stride = 3 if accessor is None else int(accessor.get("stride", 3))
            self.sources[id(source)] = _numbers(source.find("float_array"), float).reshape(-1, stride)[:, :3]
        return self.sources[id(source)]


def _triangles(primitive: Any, lists: list[Array]) -> Array:
    """Triangles (f, 3) of a primitive's lists of corners; none of lines."""
    fans: list[Array] = []
    if primitive.tag == "triangles":
        return np.concatenate([np.zeros((0, 3), int), *(corners.reshape(-1, 3) for corners in lists)])
    if primitive.tag == "polylist" and lists:
        counts = _numbers(primitive.find("vcount"), int)
        if (counts == 3).all():
            return lists[0].reshape(-1, 3)
        fans = np.split(lists[0], np.cumsum(counts)[:-1])
    elif primitive.tag in ("polygons", "trifans"):
        fans = lists
    elif primitive.tag == "tristrips":
        strips = [np.stack([c[:-2], c[1:-1], c[2:]], 1) for c in lists]
        for strip in strips:
            strip[1::2] = strip[1::2, ::-1]
        return np.concatenate([np.zeros((0, 3), int), *strips])
    parts = [np.stack([np.full(len(c) - 2, c[0]), c[1:-1], c[2:]], 1) for c in fans if len(c) > 2]
    return np.concatenate([np.zeros((0, 3), int), *parts])


def _transform(element: Any) -> Array:
    """What an element of a node adds to its pose."""
    if element.tag == "matrix":
        return _numbers(element, float).reshape(4, 4)
    if element.tag == "translate":
        return lie.pose(x=_numbers(element, float))
    if element.tag == "scale":
        return np.diag([*_numbers(element, float), 1.0])
    if element.tag == "rotate":
        *axis, angle = _numbers(element, float)
        return lie.pose(lie.rotation(np.array(axis) / (np.linalg.norm(axis) or 1.0), np.radians(angle)))
    return np.eye(4)


def _mean_color(path: Path) -> Color:
    """Of a picture; None when it cannot be read."""
    from PIL import Image

    try:
        with Image.open(path) as picture:
            red, green, blue = np.asarray(picture.convert("RGB").resize((16, 16))).reshape(-1, 3).mean(axis=0) / 255
    except (OSError, ValueError):
        return None
    return float(red), float(green), float(blue)


def _numbers(element: Any, kind: type) -> Array:
    return np.array((element.text or "").split(), dtype=kind)
