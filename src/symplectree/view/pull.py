"""The hand on a body: a spring and a damper between a point of it and the pointer."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from symplectree.dynamics import jacobian, mass_matrix, pose
from symplectree.lie import Array, hat
from symplectree.mechanism.model import Model

FREQUENCY = 12.0  # rad/s of what the spring moves, whatever its mass
DAMPING = 0.8  # of critical


@dataclass
class Pull:
    """Holds a point of a body [m, in its axes] and pulls it to `target` [m, in the world]."""

    body: int
    point: Array
    target: Array

    def at(self, model: Model, q: Array) -> Array:
        """Where the point is [m]."""
        T = pose(model, q, model.bodies[self.body])
        return np.asarray(T[:3, :3] @ self.point + T[:3, 3])

    def force(self, model: Model, q: Array, v: Array) -> Array:
        """Generalized force Jᵀ Λ (ω² (target − x) − 2 ζ ω ẋ) (nv,), of the velocity's Jacobian J of the point x.

        Λ = (J M⁻¹ Jᵀ)⁻¹ is the mass that is felt at the point, at most that of the whole mechanism: so the same hand moves
        a watch and a crane.
        """
        T = pose(model, q, model.bodies[self.body])
        twist = jacobian(model, q, model.bodies[self.body])
        J = T[:3, :3] @ (twist[3:] - hat(self.point) @ twist[:3])
        mobility, directions = np.linalg.eigh(J @ np.linalg.pinv(mass_matrix(model, q), hermitian=True) @ J.T)
        felt = 1.0 / np.maximum(mobility, 1.0 / max(float(model.mass.sum()), 1e-12))
        asked = FREQUENCY**2 * (self.target - self.at(model, q)) - 2 * DAMPING * FREQUENCY * (J @ v)
        return np.asarray(J.T @ (directions * felt) @ directions.T @ asked)


def forces_by_name(model: Model, tau: Array, inputs: dict[str, float]) -> dict[str, Any]:
    """Forces on coordinates (nv,) and values of inputs, as a `Stepper` takes them.

    An input that has the name of a coordinate is its force, as of motors that robot files name after their joints.
    """
    out: dict[str, Any] = dict(inputs)
    for name, force in zip(model.velocities, tau, strict=True):
        out[name] = out.get(name, 0.0) + float(force)
    return out
