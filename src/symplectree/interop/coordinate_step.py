"""One step as a map of plain numbers (q, p, u) → (q', p'), with its derivatives in these numbers, for whole batches.

`linearize` differentiates along increments; here a quaternion is four numbers that stand for their direction. The
formulas are those of tests/reference/coordinate_step.py.
"""

from typing import Any

import numpy as np

from symplectree.control.weights import control_names, exact_method
from symplectree.errors import ConvergenceError, ModelError
from symplectree.integrators.activation import refuse_activations
from symplectree.integrators.variational import native_options
from symplectree.lie import Array
from symplectree.mechanism.model import Model
from symplectree.mechanism.unilateral import refuse_unilateral
from symplectree.validation import check_seconds

FAILURES = ("raise", "nan")


class NumberStep:
    """A model's step of dt [s]: `sizes` are those of q, p and u, the model's inputs or its nv forces.

    failure: what becomes of a row whose step has no solution or whose numbers are not finite: an error, or NaN.
    """

    def __init__(self, model: Any, dt: float, method: Any = None, *, failure: str = "raise") -> None:
        import symplectree._core as core

        if not isinstance(model, Model):
            raise ModelError(f"a step takes a Model, not {type(model).__name__}; call build() on a Mechanism")
        refuse_activations(model, "a step of JAX or PyTorch")
        refuse_unilateral(model, "a step of JAX or PyTorch")
        check_seconds("dt", dt)
        if failure not in FAILURES:
            raise ModelError(f"failure is {failure!r}; give 'raise' or 'nan'")
        if model.massless:
            raise ModelError(
                f"coordinate {model.massless[0]!r} moves no mass and must be prescribed, which is not done here"
            )
        method, controls = exact_method(method), control_names(model)
        self.model, self.sizes = model, (model.nq, model.nv, len(controls))
        self.opaque = [str(user.what) for user in model.tables.users if not user.tapes]
        kinds = ("q", model.coordinates), ("p", model.velocities), ("u", controls)
        names = core.NumberNames(
            numbers=[f"{kind} of {name!r}" for kind, names in kinds for name in names],
            equations=[*model.full.velocities, *model.full.rows],
            solver=method.solver,
        )
        self.native = core.NumberStep(model.native, native_options(method, 1e-14), float(dt), names, failure == "nan")

    def compute(self, q: Any, p: Any, u: Any, order: int) -> tuple[Array, ...]:
        """q' (..., nq), p' (..., nv), from order 1 J (..., nx, m), and of order 2 H (..., nx, m, m); nx = nq + nv.

        q (..., nq), p (..., nv), u (..., nu): leading shapes that broadcast. m = nx + nu.

        Raises ConvergenceError and ModelError when `failure` says so, and ModelError for second derivatives of elements
        that have none.
        """
        if order == 2:
            self.check_second()
        given = [np.asarray(x, dtype=float) for x in (q, p, u)]
        lead = np.broadcast_shapes(*(x.shape[:-1] for x in given))
        rows = [np.ascontiguousarray(np.broadcast_to(x, (*lead, n))) for x, n in zip(given, self.sizes, strict=True)]
        out = tuple(np.empty((*lead, *shape)) for shape in self.shapes(order))
        arrays = dict(zip(("q", "p", "u"), rows, strict=True))
        results = dict(zip(("q1", "p1", "J", "H"), (*out, *(np.empty(0),) * (2 - order)), strict=True))
        failed: Any = self.native.compute(**arrays, **results)
        if failed is None:
            return out
        text, no_solution, residual, worst = failed
        if not no_solution:
            raise ModelError(text)
        name = (*self.model.full.velocities, *self.model.full.rows)[worst]
        raise ConvergenceError(text, step=0, time=0.0, residual=residual, coordinate=name)

    def shapes(self, order: int) -> list[tuple[int, ...]]:
        """Of one row's q', p', J and H, as many as the order asks for."""
        nq, nv, nu = self.sizes
        nx, m = nq + nv, nq + nv + nu
        return [(nq,), (nv,), (nx, m), (nx, m, m)][: 2 + order]

    def check_second(self) -> None:
        """Refuse second derivatives where an element has none."""
        if self.opaque:
            raise ModelError(
                f"{self.opaque[0]} is a function of Python, which has no second derivatives; give it as a formula"
            )
