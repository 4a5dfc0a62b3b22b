"""Reading a file in another process first: libraries may go on for ever, or crash, on a damaged one."""

import json
import subprocess
import sys
from pathlib import Path

from symplectree.errors import ResultError

SECONDS = 30.0  # at least
PER_BYTE = 2e-7  # s
BEGIN = "import json, os, sys; sys.path[:] = json.loads(sys.argv[2])"
SCRIPTS = {
    "HDF5": """
import h5py
with h5py.File(sys.argv[1], "r") as file:
    dict(file.attrs)
    for dataset in file.values():
        dataset[()], dict(dataset.attrs), [list(scales.keys()) for scales in dataset.dims]
os._exit(0)
""",
    "SciPy": """
from scipy.io import loadmat
loadmat(sys.argv[1], chars_as_strings=True)
os._exit(0)
""",
}


def check_readable(path: Path, library: str = "HDF5") -> None:
    """Raise ResultError for a file on which the library hangs or crashes; what it refuses is left to the reader."""
    if not sys.executable or getattr(sys, "frozen", False):
        return  # no interpreter to start
    places = json.dumps([place for place in sys.path if place])
    limit = SECONDS + PER_BYTE * path.stat().st_size
    try:
        done = subprocess.run(
            [sys.executable, "-I", "-c", BEGIN + SCRIPTS[library], str(path.resolve()), places], timeout=limit,
            check=False, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        raise ResultError(f"{path} is damaged: {library} was not through with it after {limit:.0f} s") from None
    if done.returncode < 0:
        raise ResultError(f"{path} is damaged: {library} crashes on it")
