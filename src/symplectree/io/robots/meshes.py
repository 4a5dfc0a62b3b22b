"""Where the meshes of a robot are."""

import os
from collections.abc import Iterable, Mapping
from pathlib import Path

from symplectree.errors import ModelError

# Of these, a folder above the robot's file has one when it is the whole of which that is a part.
MARKS = ("package.xml", ".git", "pyproject.toml", "setup.py", "CMakeLists.txt")
SEARCHED = 4  # folders above the file that may have a mark

Packages = Mapping[str, str | os.PathLike[str]] | str | os.PathLike[str] | Iterable[str | os.PathLike[str]] | None


class MeshFinder:
    """Finds the files that a robot's file names.

    packages: folders by name of package, or one or several folders, in which packages or meshes are looked for. The
    file's own folder and those above it are searched in any case, the nearest first.

    A name is that of a stranger who wrote the file: what it finds must lie in one of the `areas`, which are these folders
    and the one above the file's own (or the package that the file is part of), or in the package that it names.
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
        self.areas = [*map(_absolute, [*folders, *self.by_name.values()]), _whole(self.home)]
        self.missing: dict[str, None] = {}
        self.outside: dict[str, None] = {}

    def find(self, name: str, within: str = "") -> Path | None:
        """The file of that name, `package://` and `file://` resolved, or None, which `missing` remembers, and `outside`
        where there is one that must not be read."""
        places = [_absolute(place) for place in self._places(name, within)]
        there = [path for path in places if _is_there(path)]
        for path in there:
            if self.is_inside(path) or self._in_package(path, name):
                return path
        (self.outside if there else self.missing)[name] = None
        return None

    def is_inside(self, path: Path) -> bool:
        """Does a path, with all its `..` resolved, lie in the robot's folders?"""
        place = _absolute(path)
        return any(place.is_relative_to(area) for area in self.areas)

    def _in_package(self, path: Path, name: str) -> bool:
        """Does it lie in the package that its name begins with?"""
        for scheme in ("package://", "model://"):
            package = name.removeprefix(scheme).partition("/")[0]
            if name.startswith(scheme) and package not in ("", ".", ".."):
                return any(path.is_relative_to(root / package) for root in self.roots) or any(
                    root.name == package and path.is_relative_to(root) for root in self.roots
                )
        return False

    def package(self, name: str) -> Path | None:
        """The folder of a package, or None."""
        places = [*([self.by_name[name]] if name in self.by_name else []), *(root / name for root in self.roots)]
        places += [root for root in self.roots if root.name == name]
        return next((place for place in places if _is_there(place, folder=True)), None)

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


def _absolute(path: Path) -> Path:
    return Path(os.path.abspath(path))


def _is_there(path: Path, *, folder: bool = False) -> bool:
    try:
        return path.is_dir() if folder else path.is_file()
    except (OSError, ValueError):  # too long a name, or one that no file can have
        return False


def _whole(home: Path) -> Path:
    """The package that a folder is part of, by its marks, else the folder above; never one that holds everything."""
    for above in (home, *list(home.parents)[:SEARCHED]):
        if above in (Path(above.anchor), Path.home()):
            break
        if any(_is_there(above / mark) or _is_there(above / mark, folder=True) for mark in MARKS):
            return above
    above = home.parent
    return home if above in (Path(above.anchor), Path.home(), *Path.home().parents) else above
