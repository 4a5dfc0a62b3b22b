"""`symplectree demo`"""

import shlex
import time
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from symplectree.cli.demos import DEMOS, FIRST
from symplectree.cli.files import start_of, writable, write_page, write_plot
from symplectree.cli.run import LATER
from symplectree.cli.say import Misuse, report, summarize
from symplectree.io import bundled_models, loads
from symplectree.mechanism.model import unknown
from symplectree.simulation.simulate import simulate


def demo(
    name: str | None = None,
    /,
    *,
    folder: Path = Path("."),
    list: Annotated[bool, Parameter(negative="", show_default=False)] = False,
) -> None:
    """Run a demonstration: simulate a shipped model, show that energy and loops hold, draw and animate it.

    ```sh
    symplectree demo
    symplectree demo marionette
    symplectree demo --list
    ```

    Args:
        name: Which; the device with closed chains when left out.
        folder: Where the plot, the animation and the results go.
        list: Name all demonstrations, and run none.
    """
    if list:
        print("\n".join(f"{key:<20} {one.about}" for key, one in DEMOS.items()))
        return
    chosen = FIRST if name is None else name
    if chosen not in DEMOS:
        raise Misuse(unknown("demonstration", chosen, [*DEMOS]))
    if not folder.is_dir():
        raise Misuse(f"there is no folder {str(folder)!r}; make it first")
    results = folder / f"{chosen}.nc"
    writable(results, (".nc",))
    one = DEMOS[chosen]
    print(f"{chosen}: {one.about}")
    mechanism = loads(bundled_models.text(chosen))
    model = mechanism.build()
    q0 = start_of(model, mechanism.initial, {})
    at = {n: float(q0[i]) for i, n in enumerate(model.coordinates)}
    begin = time.perf_counter()
    traj = simulate(
        model, q0, v0=dict(one.velocity) or None, duration=one.duration, dt=one.dt, forces=dict(one.forces) or None,
        prescribed=one.motions(at) or None, progress=LATER,
    )  # fmt: skip
    spent = time.perf_counter() - begin
    report("computed", f"{one.duration:g} s in steps of {one.dt:g} s, within {spent:.2f} s")
    summarize(traj)
    if one.says is not None:
        report("measured", one.says(traj))
    write_plot(traj, folder / f"{chosen}.png", one.look)
    traj.save(results)
    report("results", str(results))
    write_page(traj, folder / f"{chosen}.html")
    print(f"\nGo on with\n  symplectree info {chosen}\n  symplectree view {results}")
    print(f"  symplectree plot {results} momentum --out momentum.png")
    if not traj.prescribed:
        given = [f" --velocity {shlex.quote(f'{key}={value:g}')}" for key, value in one.velocity.items()]
        given += [f" --force {shlex.quote(f'{key}={value:g}')}" for key, value in one.forces.items()]
        longer = f"--duration {2 * one.duration:g} --dt {one.dt:g}{''.join(given)} --out longer.nc"
        print(f"  symplectree run {chosen} {longer}")
    others = [key for key in DEMOS if key != chosen]
    print(f"\nOther demonstrations, symplectree demo NAME: {', '.join(others)}")
