"""Importing the package stays light, and the command answers."""

import subprocess
import sys

import symplectree as st

HEAVY = (
    "scipy", "casadi", "matplotlib", "cyclopts", "rich", "xarray", "mujoco", "viser", "trimesh", "PIL", "imageio_ffmpeg",
    "h5py", "h5netcdf", "llvmlite",
)  # fmt: skip


def test_heavy_packages_wait_until_they_are_used():
    code = f"import sys, symplectree; print([m for m in {HEAVY} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_every_public_name_is_there():
    assert all(hasattr(st, name) for name in st.__all__)
    assert len(set(st.__all__)) == len(st.__all__)


def test_version_of_the_command():
    done = subprocess.run(
        [sys.executable, "-c", "from symplectree.cli import main; main()", "--version"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout.strip()[0].isdigit()
