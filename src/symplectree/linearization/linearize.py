"""Exact derivatives of one step, for control and optimisation."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from threading import get_ident
from typing import Any, NamedTuple

import numpy as np

from symplectree.dynamics.arguments import configuration, unusable, velocity, zero_quaternion
from symplectree.errors import ConvergenceError, ModelError
from symplectree.integrators.activation import start_activations
from symplectree.integrators.failure_causes import no_solution
from symplectree.integrators.forces import ForceSource
from symplectree.integrators.prescribed import Prescribed
from symplectree.integrators.variational import Variational, VariationalRun, native_options
from symplectree.lie import Array
from symplectree.linearization.activation_step import ActivationStep
from symplectree.linearization.linearization import Linearization
from symplectree.linearization.parameters import Quantity, effect_rows, quantities
from symplectree.linearization.refusals import refuse_acting, refuse_couplings
from symplectree.linearization.rows import has_rows, linearize_rows
from symplectree.linearization.straight_paths import rates_of_straight_paths, straight_paths
from symplectree.linearization.substeps import can_be_halved, in_halves, linearize_halves
from symplectree.mechanism.model import Model
from symplectree.mechanism.unilateral import names_of_places
from symplectree.validation import check_seconds, real_array, required_dt, shown

NO_WEIGHTS = np.zeros(0)


def linearize(
    model: Model,
    state: Any,
    method: Variational | None = None,
    dt: float | None = None,
    order: int = 1,
    *,
    forces: Any = None,
    prescribed: Mapping[str, Any] | None = None,
    contract: Any = None,
    parameters: Iterable[str] = (),
) -> Linearization:
    """Take one step from state = (q, p) and differentiate it exactly, by implicit differentiation of its equations.

    Where actuators have a filter or integrator, the state is (q, p, activation), the latter as `simulate` takes it, zero
    where it is left out: A is then of (q, p, activation), and B in the controls.

    method: a `Variational` of order 2, any action; `Variational()` when left out. Its `tol` of None is 1e-14 here, so that
        derivatives are those of the solution.
    dt: length of the step [s], always to be given.
    order: 1, or 2 for second derivatives as well.
    forces: constant over the step, as one row of `simulate(forces=…)`: numbers or a mapping.
    prescribed: coordinates and where they are at the end of the step, by name; at its beginning they are as q says.
    contract: weights (2 nv,) of (q', p'), or of (q', p', activation'): give `hessian`, second derivatives of their weighted
        sum, instead of `second`.

    parameters: names of masses, lengths and other numbers of the model, or "dt", as the docstring of
        `symplectree.linearization.parameters` lists them: give `by_parameters`, the derivatives in them, of first order
        only. (q, p) are held, so that a change of mass changes the velocity M⁻¹p, and a change of a loop's length finds q
        off the constraint, to which q' returns. Forces, positions of prescribed coordinates and their rates at the end
        are held, too, when "dt" changes.

    Where the step is too long for the motion, it is taken as `Stepper` takes it, in halves of halves, as `accuracy` and
    `substeps` of the method say; derivatives are those of all parts one after the other, multipliers those of the first.

    Elements that are functions of Python are differentiated by central differences where they do not give derivatives
    themselves, to about nine digits, and have no second derivatives here; `FormulaPotential`, `FormulaForce` and
    `FormulaConstraint` have.

    Joint limits, dry friction and contact count: derivatives are those on the set that is closed, sticks or slides in this
    step, and impacts within it move in time with the state (saltation). Such steps have first derivatives only, and none
    in parameters. Where a contact that is open would meet or one that is closed would part, however small the change, the
    step is not differentiable: see `weakly_active`.

    Raises TypeError without dt, ModelError for bad arguments, or when constraints cannot follow a parameter because they
    are redundant, or when something acts that has no derivatives of that kind, and ConvergenceError when the step has no
    solution.
    """
    dt = required_dt(dt, "linearize")
    method = _checked_method(method)
    check_seconds("dt", dt)
    plain = type(order) is int and order == 1 and prescribed is None and contract is None and parameters == ()
    if plain and type(state) is tuple and len(state) == 2:
        fields = _ready(model, method, float(dt))(*state, forces)
        if fields is not None:
            return _made(fields)
    return _looked_at(
        model, state, method, dt, order, forces=forces, prescribed=prescribed, contract=contract, parameters=parameters
    )


def _looked_at(
    model: Model,
    state: Any,
    method: Variational,
    dt: float,
    order: int = 1,
    *,
    forces: Any = None,
    prescribed: Mapping[str, Any] | None = None,
    contract: Any = None,
    parameters: Iterable[str] = (),
) -> Linearization:
    """`linearize` of arguments that are not all ready for the core."""
    q, p, activation = _checked_state(model, state)
    if order not in (1, 2) or isinstance(order, bool):
        raise ModelError(f"order is {order!r}; give 1 or 2")
    if order == 2 and (opaque := [str(u.what) for u in model.tables.users if not u.tapes]):
        raise ModelError(f"{opaque[0]} is a function of Python, which has no second derivatives; give it as a formula")
    if callable(forces):
        raise ModelError("forces is a function; give the numbers that it returns, which are constant over the step")
    parameters = (
        tuple(parameters) if isinstance(parameters, Iterable) and not isinstance(parameters, str) else parameters
    )
    chosen = quantities(model.full, parameters)
    refuse_couplings(model, chosen)
    if chosen and order == 2:
        raise ModelError("parameters have no second derivatives; give order=1, or leave them out")
    source = ForceSource(model, forces, 1, activation)
    motion = Prescribed(model, straight_paths(model, prescribed, q, dt), float(dt))
    native = _native(model, method, float(dt), tuple(int(j) for j in motion.indices), chosen)
    weights = None if contract is None else _weights(contract, 2 * model.nv + len(activation))
    step = _Step(
        model, method, native, (q, p), forces=source, motion=motion, order=order, weights=weights, parameters=chosen
    )
    divisible = method.divides and can_be_halved(model, prescribed)
    try:
        whole, fault = step.linearized(), None
        if not divisible or (method.accuracy is None and native.turn <= _longest_turn()):
            return whole
    except ConvergenceError as undivided:
        if not divisible:
            raise
        fault = undivided
    parts = _parts(method, model, (q, p), source, motion)
    if not parts and fault is not None:
        raise fault
    if len(parts) < 2:
        return whole
    single = replace(method, substeps=0, accuracy=None)

    def linearize_parts(lengths: list[float]) -> Any:
        def linearized(state: Any, ends: Any, order: int, contract: Any) -> Linearization:
            if len(lengths) > 1:
                halves = in_halves(lengths)
                both = linearize_parts(halves[0]), linearize_parts(halves[1])
                return linearize_halves(both, model, state, ends, order, contract)
            return linearize(
                model, state, single, lengths[0], order, forces=forces, prescribed=ends, contract=contract,
                parameters=parameters,
            )  # fmt: skip

        return linearized

    divided: Linearization = linearize_parts(parts)((q, p, activation), prescribed, order, weights)
    return divided


def _longest_turn() -> float:
    import symplectree._core as core

    longest: float = core.LONGEST_TURN
    return longest


def _parts(
    method: Variational, model: Model, state: tuple[Array, Array], forces: ForceSource, motion: Prescribed
) -> list[float]:
    """The lengths of the parts in which a run takes the step, [] when it cannot."""
    run = VariationalRun(method, model, *state, dt=motion.dt, forces=forces, prescribed=motion)
    done = run.advance(0, 1, 1, np.empty((1, model.nq)), np.empty((1, model.nv)))
    parts: list[float] = list(run.native.parts) if done == 1 else []
    return parts


class Linearizer:
    """Steps of one model, method and dt, and their first derivatives, as `linearize` gives them, without looking these up
    again: for loops over many states.

        linearizer = st.Linearizer(model, st.Variational(), dt=0.01)
        step = linearizer.at(q, p, u)
        step.A, step.B

    A call with arrays of floats is a single one of the core. Threads may share a linearizer; they take turns.

    Raises TypeError without dt, and ModelError for a method whose steps cannot be differentiated.
    """

    def __init__(self, model: Model, method: Variational | None = None, dt: float | None = None) -> None:
        dt = required_dt(dt, "Linearizer")
        check_seconds("dt", dt)
        self.model, self.method, self.dt = model, _checked_method(method), float(dt)
        self._at = _ready(model, self.method, self.dt)

    def at(self, q: Any, p: Any, u: Any = None, *, activation: Any = None) -> Linearization:
        """The step from (q, p) under constant forces u, as one row of `simulate(forces=…)`, and its first derivatives;
        `activation` as of `simulate`.

        Of rows of states, (rows, nq) and (rows, nv), with one row of forces for all or one for each, every array of the
        result has rows; trees go several states in each vector instruction.

        Raises ModelError for bad arguments, and ConvergenceError when the step has no solution.
        """
        fields = self._at(q, p, u) if activation is None else None
        if fields is None and activation is None and has_rows(q, p):
            return linearize_rows(self.model, self.method, self.dt, (q, p), u, self.at)
        if fields is None:
            return _looked_at(self.model, (q, p, activation), self.method, self.dt, forces=u)
        return _made(fields)


def _made(fields: dict[str, Any]) -> Linearization:
    made = object.__new__(Linearization)
    object.__setattr__(made, "__dict__", fields)  # the constructor would take longer than a small robot's step
    return made


class _Step(NamedTuple):
    """One step and what is asked of it, all checked; `weights` contract second derivatives."""

    model: Model
    method: Variational
    native: Any
    state: tuple[Array, Array]
    forces: ForceSource
    motion: Prescribed
    order: int
    weights: Array | None
    parameters: list[Quantity]

    def linearized(self) -> Linearization:
        """Raises ConvergenceError when the step has no solution in one."""
        model, native, motion, (q, p) = self.model, self.native, self.motion, self.state
        contracted = self.order == 2 and self.weights is not None
        target = motion.place(q, motion.dt) if motion else q
        rates = motion.rate(motion.dt) if motion else np.zeros(model.nv)
        active = ActivationStep(model, self.forces, motion.dt)
        weights = self.weights[: 2 * model.nv] if contracted and self.weights is not None else NO_WEIGHTS
        found = native.compute(
            q, p, self.forces.tau[0], active.inputs, target, rates,
            second=self.order == 2 and not contracted, weights=weights,
        )  # fmt: skip
        if found is None:
            raise self._failure()
        q1, p1, multipliers, first, of_multipliers, second, hessian, acting, weak = found
        refuse_acting(names_of_places(model, acting), self.order, self.parameters)
        nv, rows, n = model.nv, len(model.rows), native.inputs
        by_parameters, multipliers_by_parameters = _in_parameters(native, self.parameters, first, rows)
        if motion:
            T = rates_of_straight_paths(model, motion, n)
            for k, quantity in enumerate(self.parameters):
                if quantity.name == "dt":  # rates are distances over dt
                    change = first[:, -len(motion.velocities) :] @ rates[np.sort(motion.velocities)] / motion.dt
                    by_parameters[:, k] -= change
            first, of_multipliers, n = first @ T, of_multipliers @ T, T.shape[1]
            second, hessian = (None if x is None else T.T @ x @ T for x in (second, hessian))
        by_parameters = active.in_parameters(first, by_parameters, [quantity.name for quantity in self.parameters])
        multipliers_by_parameters = active.multipliers_in_parameters(
            of_multipliers, multipliers_by_parameters, [quantity.name for quantity in self.parameters]
        )
        nf, ns = n - 2 * nv - len(motion.velocities), 2 * nv + len(active.end)
        second = active.second(second, first)
        hessian = active.hessian(hessian, weights @ first if contracted else first[0])
        first, of_multipliers = active.first(first), active.through(of_multipliers)
        n = first.shape[1]
        parts = slice(0, ns), slice(ns, ns + nf), slice(ns + nf, n)
        A, B, by_prescribed = (np.ascontiguousarray(first[:, part]) for part in parts)
        return Linearization(
            q=q1, p=p1, multipliers=multipliers, A=A, B=B, by_prescribed=by_prescribed, by_parameters=by_parameters,
            multipliers_A=of_multipliers[:, parts[0]], multipliers_B=of_multipliers[:, parts[1]],
            multipliers_by_parameters=multipliers_by_parameters,
            parameters=tuple(quantity.name for quantity in self.parameters),
            second=second, hessian=hessian, activation=active.end, weakly_active=names_of_places(model, weak),
        )  # fmt: skip

    def _failure(self) -> ConvergenceError:
        full, native = self.model.full, self.native
        name = (*full.velocities, *full.rows)[native.worst]
        return ConvergenceError(
            f"the step {no_solution(self.method.solver, native.residual, name)}; take a smaller dt",
            step=0,
            time=0.0,
            residual=native.residual,
            coordinate=name,
        )


def _in_parameters(native: Any, chosen: list[Quantity], first: Array, rows: int) -> tuple[Array, Array]:
    """Derivatives of (q', p') and of the multipliers in the parameters, after `compute` gave `first`."""
    of_state, of_multipliers = np.zeros((len(first), len(chosen))), np.zeros((rows, len(chosen)))
    if chosen and (refused := native.differentiate_in_parameters(first, of_state, of_multipliers)) >= 0:
        raise ModelError(
            f"the constraints cannot follow parameter {chosen[refused].name!r}: they are redundant, and a change of it "
            "would tear them apart; leave it out, or one of the constraints"
        )
    return of_state, of_multipliers


def _ready(model: Model, method: Variational, dt: float) -> Any:
    """The core's function of (q, p, forces) for arrays that are ready: fields of a Linearization, or None."""
    import symplectree._core as core

    known = model.linearizers
    key = (method, dt)
    if model.activations:
        return lambda q, p, forces: None
    if key not in known:
        nv, rows, nf = model.nv, len(model.rows), len(model.inputs or model.velocities)
        fields = {
            "multipliers": np.zeros(0), "multipliers_A": np.zeros((0, 2 * nv)), "multipliers_B": np.zeros((0, nf)),
            "by_prescribed": np.zeros((2 * nv, 0)), "by_parameters": np.zeros((2 * nv, 0)),
            "multipliers_by_parameters": np.zeros((rows, 0)), "parameters": (), "second": None, "hessian": None,
            "weakly_active": (), "activation": np.zeros(0),
        }  # fmt: skip
        longest = np.inf if not method.divides else _longest_turn() if method.accuracy is None else -1.0
        native = _native(model, method, dt, (), [])
        known[key] = core.ReadyLinearizer(model.native, native, fields, longest).at
    return known[key]


def _native(model: Model, method: Variational, dt: float, prescribed: tuple[int, ...], chosen: list[Quantity]) -> Any:
    """The core's linearizer, kept for the next call with the same model, method and step."""
    import symplectree._core as core

    known = model.linearizers
    key: Any = (method, dt, prescribed)
    if chosen:  # these take a second call, so that each thread needs its own
        key = (*key, get_ident(), *(quantity.name for quantity in chosen))
    if key not in known:
        if len(known) > 16:
            known.clear()
        options = native_options(method, 1e-14)
        native = core.Linearizer(model.native, options, dt, np.array(prescribed, dtype=float))
        if chosen:
            native.set_parameters(model.native, effect_rows(chosen, core.ARRAYS), len(chosen))
        known[key] = native
    return known[key]


def _checked_method(method: Variational | None) -> Variational:
    if method is None:
        return Variational()
    if not isinstance(method, Variational) or method.order != 2:
        raise ModelError(f"method is {shown(method)}; steps of Variational(order=2) can be differentiated")
    return method


def _checked_state(model: Model, state: Any) -> tuple[Array, Array, Array]:
    try:
        q, p, *rest = state
        (activation,) = rest or (None,)
    except (TypeError, ValueError):
        raise ModelError(f"state is {shown(state)}; give a pair (q, p), or (q, p, activation)") from None
    q, p = np.array(configuration(model, q)), np.array(velocity(model, p, "p"))
    for name, array in (("q", q), ("p", p)):
        if array.ndim != 1:
            raise ModelError(f"{name} has shape {array.shape}; give one state")
        if not np.all(np.isfinite(array)):
            raise unusable(model, {name: array})
    if (error := zero_quaternion(model, q)) is not None:
        raise error
    model.native.normalize(q)
    return q, p, start_activations(model, activation)


def _weights(contract: Any, size: int) -> Array:
    try:
        weights = real_array(contract)
    except TypeError:
        weights = np.zeros(0)
    if weights.shape != (size,) or not np.all(np.isfinite(weights)):
        raise ModelError(f"contract is {shown(contract)}; give {size} numbers, one for each of (q', p')")
    return weights
