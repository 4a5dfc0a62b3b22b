"""`symplectree view`"""

from __future__ import annotations

from symplectree.cli.files import still
from symplectree.cli.say import told


def view(file: str, /) -> None:
    """Show a run, or a model at its start, in the browser.

    ```sh
    symplectree view run.nc
    symplectree view arm.sexp
    ```

    Args:
        file: A file of results, a model, or the name of a shipped one.
    """
    trajectory = still(file)
    show = getattr(trajectory, "show", None)
    if show is None:
        told("note: this version has no viewer; draw curves with symplectree plot")
        return
    show()
