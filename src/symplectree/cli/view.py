"""`symplectree view`"""

from __future__ import annotations

from symplectree.cli.files import still


def view(file: str, /) -> None:
    """Show a run, or a model at its start, in the browser.

    ```sh
    symplectree view run.nc
    symplectree view arm.sexp
    ```

    Args:
        file: A file of results, a model, or the name of a shipped one.
    """
    still(file).show()
