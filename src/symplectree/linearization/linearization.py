"""A step and its derivatives."""

from dataclasses import dataclass, field

import numpy as np

from symplectree.deprecation import warn_renamed
from symplectree.lie import Array


@dataclass(frozen=True, eq=False)
class Linearization:
    """One step (q, p) → (q', p') under constant forces, and its derivatives. Where actuators have activations a, they are
    part of the state, (q, p, a) → (q', p', a'), and 2 nv stands for 2 nv + na in all shapes.

    Derivatives in q are along increments, as `retract` takes them: plain differences of coordinates, rotation vectors of
    Ball joints, twists of Free joints; so are those of q'. p and p' are momenta M v with v along the constraints.

    | name | meaning | shape |
    | --- | --- | --- |
    | q, p, activation | the state after the step | (nq,), (nv,), (na,) |
    | multipliers | forces of the constraints over the step; of least norm where rows are redundant | (rows,) |
    | A | derivative of (q', p') in (q, p) | (2 nv, 2 nv) |
    | B | in the forces: the model's inputs, or generalized forces when it has none | (2 nv, nf) |
    | by_prescribed | in the ends of prescribed coordinates, in the order of v; their rates change along | (2 nv, np) |
    | by_parameters | in the parameters asked for, named in `parameters` | (2 nv, n_parameters) |
    | multipliers_A, multipliers_B | derivatives of the multipliers in (q, p) and in the forces | (rows, 2 nv), (rows, nf) |
    | multipliers_by_parameters | of the multipliers in the parameters | (rows, n_parameters) |
    | weakly_active | joint limits, frictions and contacts that are at the border of acting, to rounding, by name | |
    | second | order 2: second derivatives in (q, p, forces, prescribed), symmetric | (2 nv, n, n), n = 2 nv + nf + np |
    | hessian | order 2 with `contract`: Σ contract_i second_i | (n, n) |

    Where something is weakly active, derivatives differ from side to side; these are those of the side on which what
    touches without a force is open, and what can stick sticks.

    `C`, `D` and `multipliers_D` are old names of `by_prescribed`, `by_parameters` and `multipliers_by_parameters`; they
    warn.
    """

    q: Array
    p: Array
    multipliers: Array
    A: Array
    B: Array
    by_prescribed: Array
    multipliers_A: Array
    multipliers_B: Array
    by_parameters: Array
    multipliers_by_parameters: Array
    parameters: tuple[str, ...] = ()
    second: Array | None = None
    hessian: Array | None = None
    activation: Array = field(default_factory=lambda: np.zeros(0))
    weakly_active: tuple[str, ...] = ()

    @property
    def C(self) -> Array:
        """Old name of `by_prescribed`."""
        warn_renamed("Linearization.C", "by_prescribed")
        return self.by_prescribed

    @property
    def D(self) -> Array:
        """Old name of `by_parameters`."""
        warn_renamed("Linearization.D", "by_parameters")
        return self.by_parameters

    @property
    def multipliers_D(self) -> Array:
        """Old name of `multipliers_by_parameters`."""
        warn_renamed("Linearization.multipliers_D", "multipliers_by_parameters")
        return self.multipliers_by_parameters
