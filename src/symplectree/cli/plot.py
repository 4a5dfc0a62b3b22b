"""`symplectree plot`"""

from pathlib import Path

from symplectree.cli.files import trajectory_in, writable, write_plot
from symplectree.view.plots import PICTURES


def plot(file: str, /, *what: str, out: Path | None = None) -> None:
    """Draw curves of a run over time.

    ```sh
    symplectree plot run.nc
    symplectree plot run.nc energy momentum --out energy.png
    symplectree plot run.nc shoulder phase:elbow path:tip --out elbow.svg
    ```

    Args:
        file: A file of results.
        what: "energy", "coordinates", "velocities", "momentum", "constraint_error", "multipliers", "prescribed_forces",
            "contacts", "contact_forces", names of coordinates, joints or frames, "phase:NAME", a velocity over its
            coordinate, or "path:FRAME", the way of a frame in a plane; energy and coordinates, and contacts where there
            are some, when left out.
        out: The picture (.png, .svg, .pdf); when left out, named as the results, ending in .png.
    """
    path = Path(file).with_suffix(".png") if out is None else out
    writable(path, PICTURES)
    write_plot(trajectory_in(file), path, what)
