"""Exact derivatives of one step, for control and optimisation."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from threading import get_ident
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from symplectree.dynamics.arguments import configuration, unusable, velocity
from symplectree.errors import ConvergenceError, ModelError
from symplectree.integrators.forces import ForceSource
from symplectree.integrators.prescribed import Prescribed
from symplectree.integrators.variational import Variational
from symplectree.lie import Array
from symplectree.linearization.parameters import Quantity, effect_rows, quantities
from symplectree.linearization.substeps import can_be_halved, of_halves
from symplectree.mechanism.model import Model
from symplectree.sharing.linearizer import SharedLinearizer
from symplectree.validation import is_positive, real_array, shown


@dataclass(frozen=True, eq=False)
class Linearization:
    """One step (q, p) → (q', p') under forces u, and its derivatives.

    Derivatives in q are along increments, as `retract` takes them: plain differences of coordinates, rotation vectors of
    Ball joints, twists of Free joints; so are those of q'. p and p' are momenta M v with v along the constraints.

    | name | meaning | shape |
    | --- | --- | --- |
    | q, p | the state after the step | (nq,), (nv,) |
    | multipliers | forces of the constraints over the step | (rows,) |
    | A | derivative of (q', p') in (q, p) | (2 nv, 2 nv) |
    | B | in u: the model's inputs, or generalized forces when it has none | (2 nv, nu) |
    | C | in the ends of prescribed coordinates, in the order of v; their rates change along | (2 nv, np) |
    | D | in the parameters asked for, named in `parameters` | (2 nv, n_parameters) |
    | multipliers_A, multipliers_B, multipliers_D | derivatives of the multipliers | (rows, 2 nv), (rows, nu), … |
    | second | order 2: second derivatives in (q, p, u, prescribed), symmetric | (2 nv, n, n), n = 2 nv + nu + np |
    | hessian | order 2 with `contract`: Σ contract_i second_i | (n, n) |
    """

    q: Array
    p: Array
    multipliers: Array
    A: Array
    B: Array
    C: Array
    multipliers_A: Array
    multipliers_B: Array
    D: Array
    multipliers_D: Array
    parameters: tuple[str, ...] = ()
    second: Array | None = None
    hessian: Array | None = None


def linearize(
    model: Model,
    state: Any,
    method: Variational | None = None,
    dt: float = 0.01,
    order: int = 1,
    *,
    forces: Any = None,
    prescribed: Mapping[str, Any] | None = None,
    contract: Any = None,
    parameters: Iterable[str] = (),
) -> Linearization:
    """Take one step from state = (q, p) and differentiate it exactly, by implicit differentiation of its equations.

    method: a `Variational` of order 2, any action; `Variational()` when left out.
    dt: [s].
    order: 1, or 2 for second derivatives as well.
    forces: constant over the step, as one row of `simulate(forces=…)`: numbers or a mapping.
    prescribed: coordinates and where they are at the end of the step, by name; at its beginning they are as q says.
    contract: weights (2 nv,) of (q', p'): give `hessian`, second derivatives of their weighted sum, instead of `second`.

    parameters: names of masses, lengths and other numbers of the model, or "dt", as the docstring of
        `symplectree.linearization.parameters` lists them: give `D`, the derivatives in them, of first order only. (q, p)
        are held, so that a change of mass changes the velocity M⁻¹p, and a change of a loop's length finds q off the
        constraint, to which q' returns. Forces, positions of prescribed coordinates and their rates at the end are held,
        too, when "dt" changes.

    Where the step has no solution in one, it is taken as `Stepper` takes it, in halves of halves of which the method's
    `substeps` says how many; derivatives are those of all parts one after the other, multipliers those of the first.

    Elements that are functions of Python are differentiated by central differences where they do not give derivatives
    themselves, to about nine digits, and have no second derivatives here; `FormulaPotential`, `FormulaForce` and
    `FormulaConstraint` have.

    Raises ModelError for bad arguments, or when constraints cannot follow a parameter because they are redundant, and
    ConvergenceError when the step has no solution.
    """
    method = _checked_method(method)
    q, p = _checked_state(model, state)
    if order not in (1, 2) or isinstance(order, bool):
        raise ModelError(f"order is {order!r}; give 1 or 2")
    if not is_positive(dt):
        raise ModelError(f"dt is {shown(dt)}; give a positive number of seconds")
    if order == 2 and (opaque := [str(u.what) for u in model.tables.users if not u.tapes]):
        raise ModelError(f"{opaque[0]} is a function of Python, which has no second derivatives; give it as a formula")
    if callable(forces):
        raise ModelError("forces is a function; give the numbers that it returns, which are constant over the step")
    parameters = (
        tuple(parameters) if isinstance(parameters, Iterable) and not isinstance(parameters, str) else parameters
    )
    chosen = quantities(model.full, parameters)
    _refuse_couplings(model, chosen)
    if chosen and order == 2:
        raise ModelError("parameters have no second derivatives; give order=1, or leave them out")
    source = ForceSource(model, forces, 1)
    motion = Prescribed(model, _straight(model, prescribed, q, dt), float(dt))
    native = _native(model, method, float(dt), tuple(int(j) for j in model.tree_places(motion.indices)), chosen)
    target = motion.place(q, float(dt)) if motion else q
    try:
        return _computed(model, method, native, q, p, source, motion, target, order, contract, chosen)
    except ConvergenceError as whole:
        if method.substeps == 0 or not can_be_halved(model, prescribed):
            raise
        shorter = replace(method, substeps=method.substeps - 1)

        def half(state: Any, places: Any, order: int, contract: Any) -> Linearization:
            return linearize(
                model, state, shorter, dt / 2, order, forces=forces, prescribed=places, contract=contract,
                parameters=parameters,
            )  # fmt: skip

        weights = None if contract is None else _weights(contract, 2 * model.nv)
        try:
            return of_halves(half, model, q, p, prescribed, order, weights)
        except ConvergenceError:
            raise whole from None


def _computed(
    model: Model, method: Variational, native: Any, q: Array, p: Array, source: ForceSource, motion: Prescribed,
    target: Array, order: int, contract: Any, chosen: list[Quantity],
) -> Linearization:  # fmt: skip
    import symplectree._core as core

    nv, rows, n = model.nv, len(model.rows), native.inputs
    q1, p1, multipliers = np.empty(model.nq), np.empty(nv), np.empty(rows)
    first, of_multipliers = np.empty((2 * nv, n)), np.zeros((rows, n))
    weights = _weights(contract, 2 * nv) if order == 2 and contract is not None else np.zeros(0)
    second = np.empty((2 * nv, n, n) if order == 2 and contract is None else (0,))
    hessian = np.empty((n, n) if len(weights) else (0,))
    rates = motion.rate(motion.dt) if motion else np.zeros(nv)
    conditions = core.StepConditions(q=q, p=p, tau=source.tau[0], inputs=source.inputs[0], target=target, rates=rates)
    results = core.StepResults(
        q=q1, p=p1, multipliers=multipliers, first=first, multipliers_first=of_multipliers, second=second,
        weights=weights, hessian=hessian,
    )  # fmt: skip
    if not native.compute(conditions, results):
        name = (*model.full.velocities, *model.full.rows)[native.worst]
        raise ConvergenceError(
            f"the step has no solution that {method.solver!r} finds: relative residual {native.residual:.3g}, worst in "
            f"{name!r}; take a smaller dt",
            step=0,
            time=0.0,
            residual=native.residual,
            coordinate=name,
        )
    D, multipliers_D = _in_parameters(native, chosen, first, rows)
    if motion:
        T = _straight_ways(model, motion, n)
        for k, quantity in enumerate(chosen):
            if quantity.name == "dt":  # rates are ways over dt
                D[:, k] -= first[:, -len(motion.velocities) :] @ rates[np.sort(motion.velocities)] / motion.dt
        first, of_multipliers, n = first @ T, of_multipliers @ T, T.shape[1]
        second = T.T @ second @ T if second.size else second
        hessian = T.T @ hessian @ T if hessian.size else hessian
    nu = n - 2 * nv - len(motion.velocities)
    parts = slice(0, 2 * nv), slice(2 * nv, 2 * nv + nu), slice(2 * nv + nu, n)
    A, B, C = (np.ascontiguousarray(first[:, part]) for part in parts)
    return Linearization(
        q1, p1, multipliers, A, B, C, of_multipliers[:, parts[0]], of_multipliers[:, parts[1]], D, multipliers_D,
        tuple(quantity.name for quantity in chosen),
        None if order == 1 or contract is not None else second, hessian if len(weights) else None,
    )  # fmt: skip


def _straight_ways(model: Model, motion: Prescribed, size: int) -> Array:
    """From (q, p, u, ends of prescribed coordinates) to these and the rates of the latter: (end − beginning)/dt on a
    straight way; of a joint that is given as a whole, zero."""
    driven = np.sort(motion.velocities)
    count = len(driven)
    T = np.eye(size)[:, : size - count]
    plain = [v.start for name, _, v, _, _ in motion.motions if name in model.coordinates]
    for k in np.flatnonzero(np.isin(driven, plain)):
        T[size - count + k, size - 2 * count + k] = 1 / motion.dt
        T[size - count + k, driven[k]] = -1 / motion.dt
    return T


def _in_parameters(native: Any, chosen: list[Quantity], first: Array, rows: int) -> tuple[Array, Array]:
    """Derivatives of (q', p') and of the multipliers in the parameters, after `compute` gave `first`."""
    D, of_multipliers = np.zeros((len(first), len(chosen))), np.zeros((rows, len(chosen)))
    if chosen and (torn := native.differentiate_in_parameters(first, D, of_multipliers)) >= 0:
        raise ModelError(
            f"the constraints cannot follow parameter {chosen[torn].name!r}: they are redundant, and a change of it would "
            "tear them apart; leave it out, or one of the constraints"
        )
    return D, of_multipliers


def _refuse_couplings(model: Model, chosen: list[Quantity]) -> None:
    if model.shared is None:
        return
    owners = {str(follower.element): name for name, follower in model.shared.followers.items()}
    for quantity in chosen:
        if (name := owners.get(quantity.name.rpartition(".")[0])) is not None:
            raise ModelError(
                f"parameter {quantity.name!r} belongs to the constraint by which {name!r} follows another coordinate, and "
                "has no derivatives; leave its eliminate=True out"
            )


_natives: WeakKeyDictionary[Model, dict[Any, Any]] = WeakKeyDictionary()


def _native(model: Model, method: Variational, dt: float, prescribed: tuple[int, ...], chosen: list[Quantity]) -> Any:
    """The core's linearizer, kept for the next call with the same model, method and step."""
    import symplectree._core as core

    known = _natives.setdefault(model, {})
    key: Any = (method, dt, prescribed)
    if chosen:  # these take a second call, so that each thread needs its own
        key = (*key, get_ident(), *(quantity.name for quantity in chosen))
    if key not in known:
        if len(known) > 16:
            known.clear()
        options = method.native_options(1e-14)
        native = core.Linearizer(model.tree_native, options, dt, np.array(prescribed, dtype=float))
        if chosen:
            native.set_parameters(model.tree_native, effect_rows(chosen, core.ARRAYS), len(chosen))
        known[key] = native if model.shared is None else SharedLinearizer(model.shared, native)
    return known[key]


def _checked_method(method: Variational | None) -> Variational:
    if method is None:
        return Variational()
    if not isinstance(method, Variational) or method.order != 2:
        raise ModelError(f"method is {shown(method)}; steps of Variational(order=2) can be differentiated")
    return method


def _checked_state(model: Model, state: Any) -> tuple[Array, Array]:
    try:
        q, p = state
    except (TypeError, ValueError):
        raise ModelError(f"state is {shown(state)}; give a pair (q, p)") from None
    q, p = np.array(configuration(model, q)), np.array(velocity(model, p, "p"))
    for name, array in (("q", q), ("p", p)):
        if array.ndim != 1:
            raise ModelError(f"{name} has shape {array.shape}; give one state")
        if not np.all(np.isfinite(array)):
            raise unusable(model, {name: array})
    model.native.normalize(q)
    return q, p


def _weights(contract: Any, size: int) -> Array:
    try:
        weights = real_array(contract)
    except TypeError:
        weights = np.zeros(0)
    if weights.shape != (size,) or not np.all(np.isfinite(weights)):
        raise ModelError(f"contract is {shown(contract)}; give {size} numbers, one for each of (q', p')")
    return weights


def _straight(model: Model, prescribed: Mapping[str, Any] | None, q: Array, dt: float) -> dict[str, Any] | None:
    """Motions of prescribed coordinates, straight from where they are to where they are to be."""
    if prescribed is None:
        return None
    if not isinstance(prescribed, Mapping):
        raise ModelError(f"prescribed is {shown(prescribed)}; give a mapping of coordinates to positions")
    places = dict(zip(model.coordinates, range(model.nq), strict=True))

    def motion(name: str, end: Any) -> Any:
        if name not in places:  # a whole joint, or a name that is refused elsewhere
            return end
        start = float(q[places[name]])
        try:
            goal = float(end)
        except (TypeError, ValueError):
            raise ModelError(f"prescribed {name!r} is {shown(end)}; give a number") from None
        return lambda t: start + (goal - start) * t / dt

    return {name: motion(name, end) for name, end in prescribed.items()}
