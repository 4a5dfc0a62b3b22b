"""The reduced variational integrator: a free-floating mechanism's momentum and shape, K (1)–(6)."""

from dataclasses import dataclass
from typing import ClassVar, Literal

from symplectree.dynamics import momenta
from symplectree.dynamics.reduced import check_floating
from symplectree.errors import ModelError
from symplectree.integrators.forces import ForceSource
from symplectree.integrators.prescribed import Prescribed
from symplectree.integrators.variational import VariationalRun, check_solving
from symplectree.lie import Array
from symplectree.mechanism.model import Model
from symplectree.validation import is_fraction

RETRACTIONS = ("cayley", "exp")


@dataclass(frozen=True)
class Reduced:
    """For satellites, robots in space, jumpers: one Free joint, from the world, on which everything hangs. O(n) per step.

    The discrete action is that of K (3), in the root's pose and the shape, the coordinates of all other joints: velocity
    Ω of the locked mechanism and shape velocity are taken at once through the mechanical connection. Joints of any kind,
    Ball and Free ones of the shape moving along their twists as the root does. Symplectic; spatial momentum to rounding.
    Order 2 with alpha = ½, else 1. With constraints, followers or prescribed coordinates a step takes O(n³). The equations
    are in tests/reference/reduced.py.

    alpha: between 0 and 1, weight of the end of a step in the action, of potentials too; all other forces act half at
        each end.
    retraction: how the root, and Ball and Free joints, move along their twists: "cayley" (rational, any speed) or "exp"
        (fast spins).
    tol, max_iterations, substeps: as of `Variational`.
    """

    alpha: float = 0.5
    retraction: Literal["cayley", "exp"] = "cayley"
    tol: float | None = None
    max_iterations: int = 50
    substeps: int = 6

    order: ClassVar[Literal[2]] = 2
    action: ClassVar[str] = "reduced"
    solver: ClassVar[str] = "newton"

    def __post_init__(self) -> None:
        if self.retraction not in RETRACTIONS:
            raise ModelError(f"retraction is {self.retraction!r}; give one of {', '.join(map(repr, RETRACTIONS))}")
        if not is_fraction(self.alpha):
            raise ModelError(f"alpha is {self.alpha!r}; give a number from 0 to 1")
        check_solving(self)

    def start(
        self, model: Model, q: Array, v: Array, dt: float, forces: ForceSource, prescribed: Prescribed
    ) -> VariationalRun:
        check_floating(model)
        return VariationalRun(self, model, q, momenta(model, q, v), dt=dt, forces=forces, prescribed=prescribed)
