"""Tasks for sweeps, in a module that other processes can import: one that does some mechanics, and ones that fail."""

import ctypes
import os
import signal
import time
import warnings
from concurrent.futures import Executor, Future
from pathlib import Path

import numpy as np

import symplectree as st


def arm():
    m = st.Mechanism()
    m.world.link("arm", st.Revolute("arm", axis="y"), mass=1.0, com=(0, 0, -0.5), inertia=(0.1, 0.1, 0.01))
    m.add(st.JointDamper("arm", 0.1))
    return m.build()


MODEL = arm()


def swing(p):
    """The arm let go: its angle and velocity at the end, and its energy over time."""
    model = MODEL.with_parameters({"arm.mass": p["mass"]})
    traj = st.simulate(model, {"arm": p.get("angle", 1.0)}, duration=0.3, dt=0.01)
    return {"end": np.concatenate([traj.q[-1], traj.v[-1]]), "energy": traj.energy, "count": len(traj)}


def slow(p):
    """The same, in a tenth of a second at least."""
    time.sleep(0.1)
    return swing(p)


def perilous(p):
    """The same, if "fate" lets it."""
    if p["fate"] == "crash":
        ctypes.string_at(0)
    if p["fate"] == "raise":
        raise ValueError(f"no mass of {p['mass']:g} kg")
    if p["fate"] == "exit":
        os._exit(3)
    if p["fate"] == "quit":
        raise SystemExit
    return swing(p)


def killed_once(p):
    """The same; the first call of all kills its process, as a machine does that runs out of memory."""
    try:
        os.close(os.open(Path(p["folder"]) / "killed", os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        return swing(p)
    os.kill(os.getpid(), signal.SIGKILL)


def passing(p):
    """A file that is there the second time only."""
    mark = Path(p["folder"]) / f"tried{p['k']}"
    if not mark.exists():
        mark.touch()
        raise OSError("the network is away")
    return {"value": float(p["k"])}


def warn(number):
    warnings.warn(f"{number} steps were too long", stacklevel=1)


class InThisProcess(Executor):
    """An executor as simple as can be."""

    def submit(self, fn, /, *args, **kwargs):
        future = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except Exception as error:
            future.set_exception(error)
        return future
