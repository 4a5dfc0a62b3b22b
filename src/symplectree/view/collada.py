"""COLLADA files: their triangles and colours, whatever their materials refer to.

A texture gives each triangle one of a few colours, those that its triangles have most.

As robots' tools do, the unit of length is taken into account and the axis that is up is not.
"""

from collections import Counter
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
SHADES = 6  # colours of a texture
ALIKE = 24  # of 255, by which colours differ at most that are taken for one
GRAIN = 128  # pixels of a texture's side that are looked at


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
                for vertices, faces, material, texels in self._geometry(found):
                    placed = vertices @ T[:3, :3].T + T[:3, 3]
                    turned = faces if np.linalg.det(T[:3, :3]) > 0 else faces[:, ::-1]
                    color = colors.get(material)
                    if not isinstance(color, np.ndarray):
                        yield placed, turned, color
                        continue
                    for shade, chosen in _shades(color, texels):
                        yield placed, turned[chosen], shade

    def _color(self, bound: Any) -> Color | Array:
        """The plain colour of a material, or its texture (h, w, 3); None where the file lacks what it refers to."""
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
        pictures = (_picture(self.folder / (image.findtext("init_from") or "")) for image in images)
        return next((picture for picture in pictures if picture is not None), None)

    def _geometry(self, geometry: Any) -> Iterator[tuple[Array, Array, str | None, Array | None]]:
        """Vertices, triangles, the name of their material and where they lie in a texture (f, 3, 2), if in any."""
        own = {child.get("id"): child for child in geometry.findall("mesh/*") if child.get("id")}
        for primitive in geometry.findall("mesh/*"):
            inputs = primitive.findall("input")
            corner = next((i for i in inputs if i.get("semantic") == "VERTEX"), None)
            if corner is None:
                continue
            faces = _faces(primitive, inputs, corner)
            if len(faces):
                points = self._positions(own[corner.get("source", "").removeprefix("#")], own)
                used, at = np.unique(faces, return_inverse=True)
                corners: Any = at.reshape(-1, 3)
                flat = next((i for i in inputs if i.get("semantic") == "TEXCOORD"), None)
                texels = None
                if flat is not None and (source := own.get(flat.get("source", "").removeprefix("#"))) is not None:
                    texels = self._positions(source, own)[_faces(primitive, inputs, flat)][..., :2]
                yield points[used], corners, primitive.get("material"), texels

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


def _faces(primitive: Any, inputs: list[Any], chosen: Any) -> Array:
    """Triangles (f, 3) of a primitive, by their numbers of one of its inputs."""
    stride = 1 + max(int(i.get("offset", 0)) for i in inputs)
    column = int(chosen.get("offset", 0))
    return _triangles(primitive, [_numbers(p, int).reshape(-1, stride)[:, column] for p in primitive.iter("p")])


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


def _shades(picture: Array, texels: Array | None) -> Iterator[tuple[Color, Any]]:
    """The few colours that triangles have, each with which these are; one for all when they lie nowhere in a picture.

    texels: where corners of the triangles are in the picture (f, 3, 2), to the right and up, 0 to 1, and so on again.
    """
    from PIL import Image

    if texels is None:
        red, green, blue = (float(x) for x in picture.mean(axis=(0, 1)) / 255)
        yield (red, green, blue), slice(None)
        return
    height, width, _ = picture.shape
    inside = (0.6 * texels + 0.4 * texels.mean(axis=1, keepdims=True)) % 1.0
    rows, columns = ((1 - inside[..., 1]) * height).astype(int) % height, (inside[..., 0] * width).astype(int) % width
    seen = picture[rows, columns].mean(axis=1).round().astype(np.uint8)
    few = Image.fromarray(seen[None]).quantize(SHADES, kmeans=2)
    palette = np.array(few.getpalette()).reshape(-1, 3)
    left, index = [int(k) for k, _ in Counter(np.asarray(few)[0].tolist()).most_common()], np.asarray(few)[0]
    while left:
        alike = [k for k in left if np.abs(palette[k] - palette[left[0]]).max() <= ALIKE]
        red, green, blue = (float(x) / 255 for x in palette[left[0]])
        yield (red, green, blue), np.isin(index, alike)
        left = [k for k in left if k not in alike]


def _picture(path: Path) -> Array | None:
    """Pixels (h, w, 3) of a picture, 0 to 255; None when it cannot be read."""
    from PIL import Image

    try:
        with Image.open(path) as picture:
            small = picture.convert("RGB").resize((min(picture.width, GRAIN), min(picture.height, GRAIN)))
    except (OSError, ValueError):
        return None
    return np.asarray(small)


def _numbers(element: Any, kind: type) -> Array:
    return np.array((element.text or "").split(), dtype=kind)
