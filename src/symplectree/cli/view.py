"""`symplectree view`"""

from symplectree.cli.files import Base, Packages, still
from symplectree.cli.run import Named


def view(
    file: str, /, *, trail: Named = None, port: int | None = None, base: Base = "auto", packages: Packages = None
) -> None:
    """Show a run, or a model at its start, in the browser.

    ```sh
    symplectree view run.nc
    symplectree view run.nc --trail tip
    symplectree view arm.sexp
    ```

    Args:
        file: A file of results, a model, or the name of a shipped one.
        trail: NAME of a frame whose path is drawn.
        port: Of the page on this computer; the first free one from 8080 when left out.
        base: Of a robot: whether its base is fixed to the ground or free to move; auto is as the file says.
        packages: Folders in which a robot's meshes are looked for, beside its own.
    """
    still(file, base, packages).show(trails=trail or (), port=port)
