"""Why a step failed, where forces are far too strong for it."""

import numpy as np

from symplectree.dynamics import forward_dynamics
from symplectree.errors import ConvergenceError
from symplectree.integrators.contract import Run
from symplectree.lie import Array
from symplectree.mechanism.model import Model

FAR = 10.0  # rad or m: what no force should move a coordinate by within one step


def explained(error: ConvergenceError, model: Model, run: Run, q: Array, dt: float) -> ConvergenceError:
    """The error of a step from q, with a sentence about the forces when these alone would move a coordinate too far."""
    try:
        tau, inputs = run.forces.at(error.time, error.step, q, np.zeros(model.nv), dt)
        acceleration = forward_dynamics(model, q, np.zeros(model.nv), tau, inputs=inputs)
    except Exception:  # of coordinates without mass, or of a function that does not bear this state
        return error
    worst = int(np.argmax(np.abs(acceleration)))
    if (move := abs(acceleration[worst]) * dt**2) > FAR:
        error.args = (
            f"{error}; forces accelerate {model.velocities[worst]!r} by {acceleration[worst]:.3g} (rad/s² or m/s²), which "
            f"moves it by {move:.3g} within one step of {dt:.6g} s: is a number or a unit wrong?",
        )
    return error
