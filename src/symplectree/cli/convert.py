"""`symplectree convert`"""

from pathlib import Path

from symplectree.cli.files import (
    FILMS,
    PAGES,
    Base,
    Packages,
    is_result,
    mechanism_of,
    still,
    trajectory_in,
    writable,
    write_page,
)
from symplectree.cli.say import Misuse, report
from symplectree.io import loads
from symplectree.io.atomic_write import replacing
from symplectree.io.results import SUFFIXES
from symplectree.mechanism.mechanism import Mechanism

ROBOTS = {".xml": Mechanism.to_mjcf, ".mjcf": Mechanism.to_mjcf, ".urdf": Mechanism.to_urdf}
FMU, STEP = ".fmu", 0.01  # s
ENDINGS = (".sexp", *ROBOTS, FMU, *SUFFIXES, *PAGES, *FILMS)


def convert(
    file: str,
    out: Path,
    /,
    *,
    model: str | None = None,
    dt: float | None = None,
    base: Base = "auto",
    packages: Packages = None,
) -> None:
    """Write a model or a run in another format, which the ending tells.

    A model becomes `.sexp`, MJCF (`.xml`) for MuJoCo, URDF (`.urdf`) for ROS, or an FMU (`.fmu`) for co-simulation by FMI
    3.0, which needs Python with symplectree where it runs; a run becomes `.nc`, `.npz`, `.csv`, an animation (`.html`,
    `.mp4`), or the model (`.sexp`) whose run it is.

    ```sh
    symplectree convert run.nc run.csv
    symplectree convert run.nc arm_again.sexp
    symplectree convert arm.sexp tidy.sexp
    symplectree convert arm.sexp arm.xml
    ```

    Args:
        file: A model, the name of a shipped one, or a file of results.
        out: The file to write.
        model: The model of a run, where its file does not hold it (.csv).
        dt: Of an FMU: length of the steps inside [s], of which communication steps are multiples; 0.01 when left out.
        base: Of a robot: whether its base is fixed to the ground or free to move; auto is as the file says.
        packages: Folders in which a robot's meshes are looked for, beside its own.
    """
    writable(out, ENDINGS)
    suffix = out.suffix.lower()
    if dt is not None and suffix != FMU:
        raise Misuse(f"--dt is for FMUs; leave it out, or end {out} in .fmu")
    if suffix == ".sexp":
        text = (
            trajectory_in(file, model).model.text if is_result(file) else mechanism_of(file, base, packages).to_sexpr()
        )
        replacing(out, lambda new: new.write_text(text, encoding="utf-8"))
    elif suffix in ROBOTS:
        mechanism = (
            loads(trajectory_in(file, model).model.text) if is_result(file) else mechanism_of(file, base, packages)
        )
        ROBOTS[suffix](mechanism, out)
    elif suffix == FMU:
        if is_result(file):
            raise Misuse(f"{file} is a run, and an FMU holds a model: symplectree convert {file} model.sexp, then that")
        mechanism_of(file, base, packages).to_fmu(out, dt=STEP if dt is None else dt)
    elif suffix in SUFFIXES:
        if not is_result(file):
            raise Misuse(f"{file} is a model, and {out} would hold a run; make one: symplectree run {file} --out {out}")
        trajectory_in(file, model).save(out)
    else:
        write_page(trajectory_in(file, model) if is_result(file) else still(file, base, packages), out)
        return
    report("written", str(out))
