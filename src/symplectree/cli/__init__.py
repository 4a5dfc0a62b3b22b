"""The command `symplectree`: one file per subcommand.

Exit codes: 0 done, 1 the computation failed, 2 wrong use, 130 stopped by Ctrl-C.
"""

import contextlib
import sys
import traceback
import warnings
from typing import Any

from cyclopts import App, CycloptsError

from symplectree.cli.bench import bench
from symplectree.cli.convert import convert
from symplectree.cli.demo import demo
from symplectree.cli.info import info
from symplectree.cli.plot import plot
from symplectree.cli.run import run
from symplectree.cli.say import Misuse, note
from symplectree.cli.sweep import sweep
from symplectree.cli.view import view
from symplectree.errors import ModelError, SymplectreeError
from symplectree.version import version

HELP = """Simulate mechanisms of rigid bodies with variational integrators.

Start with a demonstration, then run a model of your own:

```sh
symplectree demo
symplectree run four_bar --duration 10 --out run.nc
symplectree COMMAND --help
```

Exit codes: 0 done, 1 the computation failed, 2 wrong use. Errors are one paragraph; `--debug` shows where they arose.
"""

app = App(name="symplectree", version=version, help=HELP, help_format="markdown", suppress_keyboard_interrupt=False)
for command in (demo, run, sweep, info, plot, view, convert, bench):
    app.command(command)


def main(arguments: list[str] | None = None) -> None:
    """Entry point of the command."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    debug = "--debug" in given
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(AttributeError, ValueError):  # what stands in for them may be no file
            stream.reconfigure(errors="replace")  # type: ignore[union-attr]  # m/s² where a terminal knows no ²
    sys.exit(_exit_code([a for a in given if a != "--debug"], debug))


def _exit_code(arguments: list[str], debug: bool) -> int:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("default", UserWarning)
            warnings.showwarning = _note
            app(arguments, exit_on_error=False, print_error=False, result_action="return_value")
    except KeyboardInterrupt:
        note("stopped by Ctrl-C")
        return 130
    except CycloptsError as error:
        return _failed(error, f"{error}\nSee symplectree --help, or symplectree COMMAND --help.", 2, debug)
    except (ModelError, Misuse) as error:
        return _failed(error, str(error), 2, debug)
    except SymplectreeError as error:
        return _failed(error, str(error), 1, debug)
    except BrokenPipeError:  # the reader of our output has gone, as `head` does
        sys.stderr.close()
        return 0
    except Exception as error:
        text = f"{type(error).__name__}: {error}\nThis is a mistake of the program; --debug shows where it arose."
        return _failed(error, text, 1, debug)
    return 0


def _failed(error: BaseException, text: str, code: int, debug: bool) -> int:
    if debug:
        traceback.print_exception(error)
    note(f"error: {text}")
    return code


def _note(message: Warning | str, *rest: Any, **more: Any) -> None:
    note(f"note: {message}")
