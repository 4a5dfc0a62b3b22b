"""Activations of actuators over a time: by the differential equation itself, in many small steps."""

import numpy as np

from symplectree.elements.rows import INTEGRATOR, ActuatorRow

STEPS = 4000


def course(row: ActuatorRow, a: float, u: float, h: float) -> tuple[float, float]:
    """(end, mean) of an activation under the control u: Heun's method, and the trapezium rule."""
    u = float(np.clip(u, *row.control_range))

    def rate(x: float) -> float:
        return u if row.dynamics == INTEGRATOR else (u - x) / row.time_constant

    dt, values = h / STEPS, [a]
    for _ in range(STEPS):
        x = values[-1]
        k = rate(x)
        x += 0.5 * dt * (k + rate(x + dt * k))
        values.append(float(np.clip(x, *row.activation_range)))
    return values[-1], float(np.trapezoid(values, dx=dt)) / h
