"""xacro, ROS's macros for URDF: expanded by the library `xacrodoc`, or by ROS's own `xacro` where that is installed."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from symplectree.errors import ModelError
from symplectree.io.robots.meshes import MeshFinder, Packages

TRIES = 50  # packages that one file may name


def expanded(file: Path, packages: Packages, arguments: Mapping[str, Any] | None) -> bytes:
    """The URDF of a xacro file. arguments: values for its `<xacro:arg>`.

    Raises ModelError when no library is installed, when a package is not found, or with what the library says.
    """
    given = {str(name): str(value) for name, value in (arguments or {}).items()}
    finder = MeshFinder(file, packages)
    try:
        import xacrodoc
    except ImportError:
        return _by_xacro(file, given)
    for _ in range(TRIES):
        try:
            text = xacrodoc.XacroDoc.from_file(str(file), subargs=given, resolve_packages=False).to_urdf_string()
            return str(text).encode()
        except xacrodoc.packages.PackageNotFoundError as error:
            name = str(error.args[0])
            folder = finder.package(name)
            if folder is None:
                raise ModelError(
                    f"{file}: package {name!r} is not found; give packages={{{name!r}: its folder}}"
                ) from None
            xacrodoc.packages.update_package_cache({name: folder})
        except Exception as error:  # the libraries raise whatever Python raises in the middle of a macro
            raise ModelError(f"{file}: xacro cannot be expanded: {_line(error)}") from None
    raise ModelError(f"{file}: xacro names more than {TRIES} packages")


def _by_xacro(file: Path, given: dict[str, str]) -> bytes:
    try:
        import xacro
    except ImportError:
        raise ModelError(f"{file} is xacro; to read it, pip install xacrodoc") from None
    try:
        return str(xacro.process_file(str(file), mappings=given).toxml()).encode()
    except Exception as error:
        raise ModelError(f"{file}: xacro cannot be expanded: {_line(error)}") from None


def _line(error: Exception) -> str:
    return re.sub(r"\s+", " ", f"{type(error).__name__}: {error}").strip()
