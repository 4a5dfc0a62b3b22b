"""Packages that not every user needs: imported where they are used, with a sentence that says what to type without them."""

from importlib import import_module
from typing import Any

from symplectree.errors import MissingPackageError

# By package: what needs it, its own name, and the extra of this package that brings it.
EXTRAS = {
    "casadi": ("formulas, equations in symbols and optimal control need", "CasADi", "symbolic"),
    "mujoco": ("URDF and MJCF files need the parser of", "MuJoCo", "robots"),
    "imageio_ffmpeg": ("films need", "imageio-ffmpeg", "video"),
    "pythonfmu3": ("FMUs need", "PythonFMU3", "fmi"),
    "xarray": ("datasets need", "xarray", "xarray"),
    "pandas": ("data frames need", "pandas", "xarray"),
}


def extra(package: str) -> Any:
    """The module of a package of EXTRAS; raises MissingPackageError, which says what to type, where it is not installed."""
    try:
        return import_module(package)
    except ModuleNotFoundError as error:
        if error.name != package:  # it is there, and lacks something itself
            raise
        use, title, own = EXTRAS[package]
        raise MissingPackageError(f"{use} {title}, which is not installed: pip install 'symplectree[{own}]'") from None
