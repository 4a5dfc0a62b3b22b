"""xacro, ROS's macros for URDF: expanded by the library `xacro`, which finds packages by `xacrodoc` where ROS is not."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from symplectree.errors import ModelError
from symplectree.io.robots.meshes import MeshFinder, Packages


def expanded(file: Path, packages: Packages, arguments: Mapping[str, Any] | None) -> bytes:
    """The URDF of a xacro file. arguments: values for its `<xacro:arg>`.

    Raises ModelError when no library is installed, when a package is not found, or with what the library says.
    """
    try:
        import xacro
    except ImportError:
        raise ModelError(f"{file} is xacro; to read it, pip install xacrodoc") from None
    try:
        import xacrodoc  # makes xacro find packages without ROS
    except ImportError:
        xacrodoc = None
    given = {str(name): str(value) for name, value in (arguments or {}).items()}
    finder = MeshFinder(file, packages)
    if xacrodoc is not None:
        xacrodoc.packages.walk_up_from(file)
    known: set[str] = set()
    while True:
        try:
            return str(xacro.process_file(str(file), mappings=given).toxml()).encode()
        except Exception as error:  # the libraries raise whatever Python raises in the middle of a macro
            message = re.sub(r"\s+", " ", str(error)).strip()
            lost = re.search(r"[Pp]ackage not found: (\S+)", message)
            if lost is None or xacrodoc is None:
                raise ModelError(f"{file}: xacro cannot be expanded: {message}") from None
            name = lost[1]
            folder = finder.package(name)
            if folder is None or name in known:
                raise ModelError(
                    f"{file}: package {name!r} is not found; give packages={{{name!r}: its folder}}"
                ) from None
            known.add(name)
            xacrodoc.packages.update_package_cache({name: folder})
