"""`symplectree convert`"""

from __future__ import annotations

from pathlib import Path

from symplectree.cli.files import FILMS, PAGES, is_result, mechanism_of, still, trajectory_in, writable, write_page
from symplectree.cli.say import Misuse, said
from symplectree.errors import ResultError
from symplectree.io.results import SUFFIXES, reason, replacing

ENDINGS = (".sexp", *SUFFIXES, *PAGES, *FILMS)


def convert(file: str, out: Path, /, *, model: str | None = None) -> None:
    """Write a model or a run in another format, which the ending tells.

    A model becomes `.sexp`; a run becomes `.nc`, `.npz`, `.csv`, an animation (`.html`, `.mp4`), or the model (`.sexp`)
    whose run it is.

    ```sh
    symplectree convert run.nc run.csv
    symplectree convert run.nc arm_again.sexp
    symplectree convert arm.sexp tidy.sexp
    ```

    Args:
        file: A model, the name of a shipped one, or a file of results.
        out: The file to write.
        model: The model of a run, where its file does not hold it (.csv).
    """
    writable(out, ENDINGS)
    suffix = out.suffix.lower()
    if suffix == ".sexp":
        text = trajectory_in(file, model).model.text if is_result(file) else mechanism_of(file).to_sexpr()
        try:
            replacing(out, lambda new: new.write_text(text, encoding="utf-8"))
        except OSError as error:
            raise ResultError(f"{out} cannot be written: {reason(error)}") from error
    elif suffix in SUFFIXES:
        if not is_result(file):
            raise Misuse(f"{file} is a model, and {out} would hold a run; make one: symplectree run {file} --out {out}")
        trajectory_in(file, model).save(out)
    else:
        write_page(trajectory_in(file, model) if is_result(file) else still(file), out)
        return
    said("written", str(out))
