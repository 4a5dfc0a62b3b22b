"""Where films are written to."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from symplectree.errors import ModelError


def checked_path(path: Any, *endings: str) -> Path:
    """A path that can be written to and has one of the endings; raises ModelError before any work is done."""
    out = Path(path).expanduser()
    if out.suffix.lower() not in endings:
        raise ModelError(f"cannot write {str(out)!r}: its name must end with {' or '.join(endings)}")
    if not out.parent.is_dir():
        raise ModelError(f"cannot write {str(out)!r}: there is no folder {str(out.parent)!r}; make it first")
    if out.is_dir():
        raise ModelError(f"cannot write {str(out)!r}: it is a folder")
    return out
