"""A mechanism as a functional mock-up unit (FMU): co-simulation after FMI 3.0, for other simulators.

| variable | is |
| --- | --- |
| inputs.NAME | an input of the model, held over a communication step |
| start.q.NAME, start.v.NAME | parameters: where coordinates start, and how fast; see below for loops |
| q.NAME, v.NAME, energy | outputs: coordinates, velocities, kinetic and potential energy together [J] |

Loops that are open at the start are closed, and velocities of zero follow those that are not. Inside, `Stepper` takes
steps of `dt`; communication steps are whole multiples of it. The FMU holds the model's text and a few lines of Python, in
the shell of PythonFMU3: whoever runs it needs, in its process, Python with symplectree.
"""

import dataclasses
import json
import re
import shutil
import tempfile
from os import PathLike
from pathlib import Path

from symplectree.errors import ModelError
from symplectree.extras import extra
from symplectree.integrators import Variational
from symplectree.io.atomic_write import checked_path, replacing
from symplectree.mechanism.mechanism import Mechanism
from symplectree.validation import check_seconds
from symplectree.version import version

SCRIPT = '''"""A mechanism of symplectree as an FMU, which needs Python with symplectree; symplectree.io.fmu explains it."""

from pythonfmu3 import Fmi3Slave

from symplectree.io.fmu_instance import Instance


class {name}(Instance, Fmi3Slave):
    pass
'''


def write_fmu(mechanism: Mechanism, path: str | PathLike[str], *, dt: float, method: Variational | None = None) -> None:
    """Write a mechanism as an FMU; see the module.

    dt: length of the steps inside [s]. method: `Variational()` when left out.

    Raises ModelError, also for a model that no text can hold, and ResultError when the file cannot be written.
    """
    package = extra("pythonfmu3")
    check_seconds("dt", dt)
    chosen = Variational() if method is None else method
    if not isinstance(chosen, Variational):
        raise ModelError(f"method {type(chosen).__name__} cannot be in an FMU; give Variational(…)")
    file = checked_path(path, (".fmu",))
    text = mechanism.to_sexpr()
    model = mechanism.build()  # whatever is wrong is said here
    if model.massless:
        raise ModelError(
            f"coordinate {model.massless[0]!r} moves no mass: its motion must be given, which no FMU takes"
        )
    settings = {"dt": float(dt), "method": dataclasses.asdict(chosen), "version": version()}
    name = re.sub(r"\W", "_", file.stem, flags=re.ASCII)
    name = name if name[:1].isalpha() else f"model_{name}"
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        script = folder / f"{name}_module.py"
        script.write_text(SCRIPT.format(name=name), encoding="utf-8")
        (folder / "model.sexp").write_text(text, encoding="utf-8")
        (folder / "settings.json").write_text(json.dumps(settings), encoding="utf-8")
        parts = [folder / "model.sexp", folder / "settings.json"]
        made = package.FmuBuilder.build_FMU(script, folder / "made", parts)
        replacing(file, lambda new: shutil.copyfile(made, new))
