"""Meshes: where their files are, and the mass that they enclose."""

import os
from collections.abc import Iterable, Mapping
from pathlib import Path

import numpy as np

from symplectree.errors import ModelError
from symplectree.lie import Array
from symplectree.mechanism.inertia import RigidMass

Packages = Mapping[str, str | os.PathLike[str]] | str | os.PathLike[str] | Iterable[str | os.PathLike[str]] | None


class MeshFinder:
    """Finds the files that a robot's file names.

    packages: folders by name of package, or one or several folders, in which packages or meshes are looked for. The
    file's own folder and those above it are searched in any case, the nearest first.
    """

    def __init__(self, file: Path, packages: Packages = None) -> None:
        self.home = file.resolve().parent
        self.by_name: dict[str, Path] = {}
        folders: list[Path] = []
        try:
            if isinstance(packages, Mapping):
                self.by_name = {str(name): Path(folder) for name, folder in packages.items()}
            elif isinstance(packages, str | os.PathLike):
                folders = [Path(packages)]
            elif packages is not None:
                folders = [Path(folder) for folder in packages]
        except TypeError:
            raise ModelError(
                f"packages is {packages!r}; give folders by name of package, or a list of folders"
            ) from None
        self.folders = [*folders, *self.by_name.values(), self.home]
        self.roots = [*folders, self.home, *self.home.parents]
        self.missing: dict[str, None] = {}

    def find(self, name: str, within: str = "") -> Path | None:
        """The file of that name, `package://` and `file://` resolved, or None, which `missing` remembers."""
        for path in self._places(name, within):
            if path.is_file():
                return path
        self.missing[name] = None
        return None

    def _places(self, name: str, within: str) -> Iterable[Path]:
        for scheme in ("package://", "model://"):
            if name.startswith(scheme):
                package, _, rest = name.removeprefix(scheme).partition("/")
                if package in self.by_name:
                    yield self.by_name[package] / rest
                for root in self.roots:
                    yield root / package / rest
                    if root.name == package:
                        yield root / rest
                return
        name = name.removeprefix("file://")
        for folder in self.folders:
            yield folder / within / name
            yield folder / name


def triangles(path: Path) -> Array | None:
    """Corners (n, 3, 3) of the triangles in an STL or OBJ file; None for other formats and broken files."""
    try:
        if path.suffix.lower() == ".stl":
            return _stl(path.read_bytes())
        if path.suffix.lower() == ".obj":
            return _obj(path.read_text(errors="replace"))
    except (OSError, ValueError, IndexError):
        pass
    return None


def _stl(data: bytes) -> Array:
    count = int.from_bytes(data[80:84], "little")
    if len(data) == 84 + 50 * count:
        record = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("attribute", "<u2")])
        return np.frombuffer(data, record, count, 84)["corners"].astype(float)
    corners = [line.split()[1:4] for line in data.decode("ascii").splitlines() if line.split()[:1] == ["vertex"]]
    return np.array(corners, dtype=float).reshape(-1, 3, 3)


def _obj(text: str) -> Array:
    points: list[list[float]] = []
    faces: list[list[int]] = []
    for line in text.splitlines():
        words = line.split()
        if words[:1] == ["v"]:
            points.append([float(word) for word in words[1:4]])
        elif words[:1] == ["f"]:
            at = [int(word.split("/")[0]) for word in words[1:]]
            at = [i - 1 if i > 0 else len(points) + i for i in at]
            faces += [[at[0], at[k], at[k + 1]] for k in range(1, len(at) - 1)]
    return np.array(points)[np.array(faces, dtype=int)]


def hull(points: Array) -> Array:
    """Triangles (n, 3, 3) of the convex hull, their normals outward."""
    from scipy.spatial import ConvexHull

    corners = points[ConvexHull(points).simplices]
    normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    inward = np.einsum("ij,ij->i", normal, corners.mean(axis=1) - points.mean(axis=0)) < 0
    corners[inward] = corners[inward][:, ::-1]
    return corners


def solid(corners: Array) -> RigidMass | None:
    """The body of unit density inside a closed surface, from its tetrahedra with the centre of the corners."""
    middle = corners.reshape(-1, 3).mean(axis=0)
    edges = corners - middle
    volumes = np.linalg.det(edges) / 6
    volume = float(volumes.sum())
    if not volume > 0:
        return None
    tips = edges.sum(axis=1)
    com = volumes @ tips / 4 / volume
    # second moments of a tetrahedron with one corner at the origin: V/20 (Σ x xᵀ + (Σ x)(Σ x)ᵀ)
    second = np.einsum("n,nij,nik->jk", volumes, edges, edges) + np.einsum("n,nj,nk->jk", volumes, tips, tips)
    second = second / 20 - volume * np.outer(com, com)
    return RigidMass(volume, middle + com, np.trace(second) * np.eye(3) - second)


def legacy_solid(corners: Array) -> RigidMass | None:
    """The body that MuJoCo takes a mesh for unless told otherwise (`inertia="legacy"`).

    As `solid`, from tetrahedra with the centre of the surface, and then with the centre of mass that these give; but
    those that lie outside of the body, where it is not convex, are added and not taken away.
    """
    edges = corners[:, 1:] - corners[:, :1]
    areas = np.linalg.norm(np.cross(edges[:, 0], edges[:, 1]), axis=1)
    if not areas.sum() > 0:
        return None
    middle = areas @ corners.mean(axis=1) / areas.sum()
    volumes = np.abs(np.linalg.det(corners - middle))
    if not volumes.sum() > 0:
        return None
    com = middle + volumes @ (corners - middle).sum(axis=1) / 4 / volumes.sum()
    edges = corners - com
    volumes = np.abs(np.linalg.det(edges)) / 6
    tips = edges.sum(axis=1)
    second = np.einsum("n,nij,nik->jk", volumes, edges, edges) + np.einsum("n,nj,nk->jk", volumes, tips, tips)
    return RigidMass(float(volumes.sum()), com, (np.trace(second) * np.eye(3) - second) / 20)


def skin(corners: Array) -> RigidMass | None:
    """The surface itself, of unit mass per area."""
    edges = corners[:, 1:] - corners[:, :1]
    areas = np.linalg.norm(np.cross(edges[:, 0], edges[:, 1]), axis=1) / 2
    area = float(areas.sum())
    if not area > 0:
        return None
    sums = corners.sum(axis=1)
    com = areas @ sums / 3 / area
    # second moments of a triangle about the origin: A/12 (Σ x xᵀ + (Σ x)(Σ x)ᵀ)
    second = np.einsum("n,nij,nik->jk", areas, corners, corners) + np.einsum("n,nj,nk->jk", areas, sums, sums)
    second = second / 12 - area * np.outer(com, com)
    return RigidMass(area, com, np.trace(second) * np.eye(3) - second)
