"""`symplectree info`"""

from typing import Any

import numpy as np

from symplectree.cli.files import Base, is_result, mechanism_of, trajectory_in
from symplectree.cli.say import report, summarize


def info(file: str, /, *, base: Base = "auto") -> None:
    """Show what a model is made of: its tree, masses, coordinates, constraints and their rank.

    Of a file of results also how the run was made, and its energy.

    ```sh
    symplectree info arm.sexp
    symplectree info closed_chain_device
    symplectree info run.nc
    ```

    Args:
        file: A model, the name of a shipped one, or a file of results.
        base: Of a robot: whether its base is fixed to the ground or free to move; auto is as the file says.
    """
    if not is_result(file):
        mechanism = mechanism_of(file, base)
        print(mechanism.build().info())
        if mechanism.initial:
            print("starts at " + ", ".join(f"{name} = {_shown(value)}" for name, value in mechanism.initial.items()))
        return
    trajectory = trajectory_in(file)
    settings = trajectory.settings
    if settings is not None:
        report("method", settings.method)
        whole = settings.dt * settings.steps
        stopped = (
            "" if trajectory.t[-1] > whole - 0.5 * settings.dt else f"; resume with symplectree run --resume {file}"
        )
        report("steps", f"dt = {settings.dt:g} s, {settings.steps} steps, every {settings.save_every} kept{stopped}")
    summarize(trajectory)
    print(trajectory.model.info())


def _shown(value: Any) -> str:
    numbers = [f"{x:.6g}" for x in np.atleast_1d(value)]
    return numbers[0] if len(numbers) == 1 else f"({', '.join(numbers)})"
