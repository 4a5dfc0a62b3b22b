"""Closing loops: a configuration near a guess that meets all constraints."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from symplectree.constraints.dynamics import constraint_jacobian, constraint_values, velocity_places
from symplectree.dynamics import jacobian, pose, retract
from symplectree.dynamics.arguments import configuration, single, unusable
from symplectree.elements import Constraint
from symplectree.errors import AssemblyError, ModelError
from symplectree.lie import Array, hat
from symplectree.mechanism.mixed_up import check_model
from symplectree.mechanism.model import Model

CLOSED = 1e-9  # largest row (m, rad) that counts as met at a start
ITERATIONS = 500
LONGEST = 0.7  # of a step (rad, m)
BESIDE = 1e-7  # how far beside a guess that leads nowhere another is tried (rad, m)


def assemble(model: Model, q_guess: Any = None, *, fixed: Iterable[str] | None = None) -> Array:
    """A configuration near `q_guess` (neutral when left out) that meets all constraints, by damped Gauss–Newton.

    Where a guess leads nowhere, as a straight chain does that has to become shorter, another 1e-7 beside it is tried.

    fixed: names of coordinates or joints that stay as guessed; when left out, those that move no mass (lengths of
        strings) stay, and everything else may move.

    Raises AssemblyError, which says which constraints cannot be met and by how much, when none is found.
    """
    check_model(model)
    guess = np.array(single(configuration(model, model.neutral if q_guess is None else q_guess), "q"))
    if not np.all(np.isfinite(guess)):
        raise unusable(model, {"q": guess})
    model.native.normalize(guess)
    loose = np.ones(model.nv, dtype=bool)
    for name in model.massless if fixed is None else [fixed] if isinstance(fixed, str) else fixed:
        loose[velocity_places(model, name)] = False
    if not model.rows:
        return guess
    q = _closed(model, guess, loose)
    errors = start_errors(model, q)
    if not np.all(errors <= CLOSED) and np.any(
        loose
    ):  # a straight chain, say, which can neither shorten nor turn aside
        beside = np.zeros(model.nv)
        beside[loose] = BESIDE * np.random.default_rng(0).uniform(0.5, 1, size=int(loose.sum()))
        other = _closed(model, retract(model, guess, beside), loose)
        if np.all((errors_beside := start_errors(model, other)) <= CLOSED):
            q, errors = other, errors_beside
    if not np.all(errors <= CLOSED):
        raise not_assembled(model, q, errors, found=True, held=model.massless if fixed is None else ())
    return q


def _closed(model: Model, q: Array, loose: Array) -> Array:
    """q moved along its loose velocities to where constraints are met, or nearest to it."""
    pairs = [pair for e in model.elements if isinstance(e, Constraint) for pair in e.same_directions()]
    if pairs:  # first so that hinges and welds are not closed the wrong way round
        q = _minimised(model, q, loose, lambda q: _with_directions(model, q, pairs), 1e-6)
    return close_loops(model, q, loose)


def close_loops(model: Model, q: Array, loose: NDArray[Any]) -> Array:
    """q moved along its loose velocities until the rows of constraints are met, or fall no more."""
    rows = holonomic_rows(model)
    if not rows:
        return q
    return _minimised(
        model, q, loose, lambda q: (constraint_values(model, q)[rows], constraint_jacobian(model, q)[rows]), 1e-14
    )


def holonomic_rows(model: Model) -> list[int]:
    """Numbers of the rows that say where the mechanism can be, not only how it can move there."""
    rolling = {u.first_row + k for u in model.tables.users if u.step is not None for k in range(u.rows)}
    return [k for k, number in enumerate(model.row_numbers) if number not in rolling]


def start_errors(model: Model, q: Array) -> Array:
    """What is left of each row at q, absolute; rows of hinges and welds that are closed the wrong way round count 2."""
    errors = np.abs(constraint_values(model, q))
    for index, element in enumerate(model.elements):
        if not isinstance(element, Constraint):
            continue
        for a, u, b, w in element.same_directions():
            if (pose(model, q, a)[:3, :3] @ u) @ (pose(model, q, b)[:3, :3] @ w) < 0:
                errors[[k for k, owner in enumerate(model.row_owners) if owner == index][-1]] = 2.0
    return errors


Residual = Callable[[Array], tuple[Array, Array]]


def _minimised(model: Model, q: Array, loose: Array, residual: Residual, enough: float) -> Array:
    """q moved along its loose velocities until the residual (value, derivative) is small or falls no more."""
    damping = 1e-3
    h, G = residual(q)
    for _ in range(ITERATIONS):
        if not np.abs(h).max() > enough * _size(model, q):  # a formula may have no value here
            break
        G = G[:, loose]
        size = max(float(np.linalg.norm(G, 2)), 1e-12) if G.size else 1.0
        for _ in range(30):
            # min |G δ + h|² + μ² |δ|²; without damping the least δ that meets the linear equations
            mu = damping * size * min(1.0, float(np.linalg.norm(h)))
            stacked = np.vstack([G, mu * np.eye(G.shape[1])])
            step = -np.linalg.lstsq(stacked, np.concatenate([h, np.zeros(G.shape[1])]), rcond=1e-10)[0]
            d = np.zeros(model.nv)
            d[loose] = step * min(1.0, LONGEST / max(float(np.abs(step).max(initial=0)), 1e-300))
            trial = retract(model, q, d)
            h_trial, G_trial = residual(trial)
            if np.linalg.norm(h_trial) < np.linalg.norm(h):
                break
            damping *= 4
        else:
            break
        q, h, G, damping = trial, h_trial, G_trial, damping / 5
    return q


def _with_directions(model: Model, q: Array, pairs: list[tuple[str, Array, str, Array]]) -> tuple[Array, Array]:
    """Rows and their derivatives, and below them the differences of directions that must be the same."""
    rows = holonomic_rows(model)
    values, derivatives = [constraint_values(model, q)[rows]], [constraint_jacobian(model, q)[rows]]
    for a, u, b, w in pairs:
        R_a, R_b = pose(model, q, a)[:3, :3], pose(model, q, b)[:3, :3]
        values.append(R_a @ u - R_b @ w)
        turn_a, turn_b = jacobian(model, q, a)[:3], jacobian(model, q, b)[:3]  # in the frames' own axes
        derivatives.append(-R_a @ hat(u) @ turn_a + R_b @ hat(w) @ turn_b)
    return np.concatenate(values), np.vstack(derivatives)


def independent_rows(model: Model, q: Any) -> tuple[str, ...]:
    """Names of constraint rows that do not depend on those before them at q; as many as the rank of Dh(q).

    Dependent rows are common: a planar loop closed by full hinges has three. They do no harm; their multipliers are not
    unique, and the least are given.
    """
    G = constraint_jacobian(model, single(configuration(model, q), "q"))
    size = np.abs(G).max(initial=0.0)
    basis = np.zeros((0, model.nv))
    found = []
    for name, row in zip(model.rows, G, strict=True):
        left = row
        for _ in range(2):  # twice is enough against rounding
            left = left - basis.T @ (basis @ left)
        if np.linalg.norm(left) > 1e-9 * max(float(np.linalg.norm(row)), 1e-6 * size):
            basis = np.vstack([basis, left / np.linalg.norm(left)])
            found.append(name)
    return tuple(found)


def generic_independent_rows(model: Model) -> tuple[str, ...] | None:
    """Names of the rows that are independent in a generic configuration that meets all constraints; None when none is
    found.

    Tried are the start that the mechanism carries, and configurations near the neutral one; the most rows count.
    """
    rng = np.random.default_rng(0)
    best: tuple[str, ...] | None = None
    start = model.description.initial if model.description is not None else {}
    guesses: list[Any] = [start] if start else []
    guesses += [retract(model, model.neutral, size * rng.normal(size=model.nv)) for size in (0.0, 0.1, 0.5, 1.0)]
    for guess in guesses:
        try:
            rows = independent_rows(model, assemble(model, guess, fixed=()))
        except (AssemblyError, ModelError):  # a start may name what is not there
            continue
        if best is None or len(rows) > len(best):
            best = rows
        if len(rows) == len(model.rows):
            break
    return best


def not_assembled(
    model: Model, q: Array, errors: Array, *, found: bool = False, held: Sequence[str] = ()
) -> AssemblyError:
    """The error that names the constraints that are not met; `found`: after trying to assemble, with coordinates `held`
    though the user did not say so."""
    worst = np.argsort(-errors)
    named = [f"{model.rows[k]!r} by {errors[k]:.3g}" for k in worst[:4] if errors[k] > CLOSED]
    more = int(np.count_nonzero(errors > CLOSED)) - len(named)
    which = ", ".join(named) + (f" and {more} more" if more > 0 else "")
    if found:
        text = (
            f"no configuration near the guess meets all constraints; the nearest misses {which} (m or rad): give a "
            "better guess, fix fewer coordinates, or check the lengths"
        )
        if held:
            first = ", ".join(map(repr, held[:3])) + (f" and {len(held) - 3} more" if len(held) > 3 else "")
            text += f"; coordinates that move no mass ({first}) were held: fixed=() lets them move, too"
    else:
        text = f"the start breaks constraints: {which} (m or rad); close them first with q0 = st.assemble(model, q0)"
    return AssemblyError(text, errors={model.rows[k]: float(errors[k]) for k in range(len(errors))}, q=q)


def _size(model: Model, q: Array) -> float:
    """The size of the mechanism: rounding of rows is relative to it."""
    return 1 + float(np.abs(q).max()) + float(np.abs(model.placement[:, :3, 3]).sum())
