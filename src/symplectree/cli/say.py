"""What the commands say, and where: results on standard output, notes and errors on the other one."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from symplectree.lie import Array
from symplectree.simulation.trajectory import Trajectory
from symplectree.validation import counted


class Misuse(Exception):
    """What the user asked for cannot be; the message says what to do."""


def note(text: str) -> None:
    """A note or an error."""
    print(text, file=sys.stderr)


def report(label: str, text: str) -> None:
    """A line of the result."""
    print(f"{label:<12} {text}", flush=True)


@contextmanager
def waiting(what: str) -> Iterator[None]:
    """Shows that something goes on that may take longer than a second, where somebody looks."""
    from rich.console import Console  # slow to import

    console = Console(stderr=True)
    if not console.is_terminal:
        yield
        return
    with console.status(what):
        yield


def summarize(trajectory: Trajectory) -> None:
    """Time, energy, loops."""
    model, t, energy = trajectory.model, trajectory.t, trajectory.energy
    report("states", f"{len(t)}, {counted(model.nq, 'coordinate')}, {t[0]:g} to {t[-1]:g} s")
    change, exchanged = _largest(energy - energy[0]), float(np.ptp(trajectory.kinetic))
    report(
        "energy",
        f"{energy[0]:.6g} J at the start, {energy[-1]:.6g} J at the end, at most {change:.2g} J from the start "
        f"(kinetic energy varies by {exchanged:.3g} J)",
    )
    if model.rows:
        report("constraints", f"{len(model.rows)} rows hold to {trajectory.constraint_error.max():.1e} (m or rad)")
    if len(trajectory.prescribed_forces) > 1:
        # the first step takes half the force
        for name, force in zip(trajectory.prescribed, trajectory.prescribed_forces[1:].T, strict=True):
            report("moved by", f"{name}: {force.min() + 0.0:.4g} to {force.max() + 0.0:.4g} (N or N·m)")


def _largest(values: Array) -> float:
    return float(np.abs(values).max())
