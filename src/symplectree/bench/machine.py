"""What figures were measured on: the processor, and versions of all packages that take part."""

import os
import platform
from importlib import metadata
from pathlib import Path

from symplectree.bench.benchmarks import PEERS
from symplectree.version import version


def machine() -> dict[str, str]:
    """The machine and its load, without its name."""
    load = f"{os.getloadavg()[0]:.1f} at the start" if hasattr(os, "getloadavg") else "unknown"
    return {
        "processor": _processor(), "cores": str(os.cpu_count()), "load": load,
        "system": f"{platform.system()} {platform.machine()}",
    }  # fmt: skip


def versions() -> dict[str, str]:
    """Of this package, of Python, NumPy and of every peer that is installed."""
    found = {"symplectree": version(), "Python": platform.python_version(), "NumPy": _version("numpy")}
    return found | {name: known for name, (_, package) in PEERS.items() if (known := _version(package))}


def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return ""


def _processor() -> str:
    """Its name, which `platform` does not know on Linux."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    named = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(named, platform.processor() or "unknown")
