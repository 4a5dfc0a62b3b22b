"""`symplectree view`"""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from symplectree.cli.files import Base, Packages, still
from symplectree.cli.run import Named
from symplectree.cli.say import Misuse


def view(
    file: str,
    /,
    *,
    live: Annotated[bool, Parameter(negative="", show_default=False)] = False,
    trail: Named = None,
    port: int | None = None,
    base: Base = "auto",
    packages: Packages = None,
    no_contacts: Annotated[bool, Parameter(negative="", show_default=False)] = False,
) -> None:
    """Show a run, or a model at its start, in the browser; or run a model there, to be pulled with the mouse.

    ```sh
    symplectree view run.nc
    symplectree view run.nc --trail tip
    symplectree view arm.sexp
    symplectree view arm.sexp --live
    ```

    Args:
        file: A file of results, a model, or the name of a shipped one.
        live: Run the model as you watch, in real time: drag bodies with the mouse, move inputs by sliders.
        trail: NAME of a frame whose path is drawn.
        port: Of the page on this computer; the first free one from 8080 when left out.
        base: Of a robot: whether its base is fixed to the ground or free to move; auto is as the file says.
        packages: Folders in which a robot's meshes are looked for, beside its own.
        no_contacts: Leave forces of contact and impacts out.
    """
    start = still(file, base, packages)
    if not live:
        start.show(trails=trail or (), port=port, contacts=not no_contacts)
        return
    if trail:
        raise Misuse("--trail draws the path of a run; leave it out with --live")
    from symplectree.view.live import live as run_live  # slow to import

    home = start.model.keyframes.get("home")
    controls = {} if home is None else home.controls  # what the file shows is that keyframe, where there is one
    run_live(
        start.model, start.q[0], v=start.v[0], controls=controls, port=port, title=f"symplectree: {Path(file).stem}"
    )
