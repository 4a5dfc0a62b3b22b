"""Where the meshes of a robot are."""

import os
from collections.abc import Iterable, Mapping
from pathlib import Path

from symplectree.errors import ModelError

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

    def package(self, name: str) -> Path | None:
        """The folder of a package, or None."""
        places = [*([self.by_name[name]] if name in self.by_name else []), *(root / name for root in self.roots)]
        places += [root for root in self.roots if root.name == name]
        return next((place for place in places if place.is_dir()), None)

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
