"""The version of the package, from its metadata."""

from importlib import metadata


def version() -> str:
    """Such as "0.2.0"; "unknown" when the package is not installed."""
    try:
        return metadata.version("symplectree")
    except metadata.PackageNotFoundError:
        return "unknown"
