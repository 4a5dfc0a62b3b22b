"""Motion control of a free-floating mechanism by its shape, from rest to rest without momentum (K, "Motion Control").

Only the shapes r_0 … r_K are sought. The root follows by K (6) with μ = 0, g_{k+1} = g_k τ(−A_{k+α} (r_{k+1} − r_k)), and
the joint forces by K (5), so that `simulate` with `st.Reduced` and these forces repeats the motion. The cost is the
control effort ∫ Σ_i w_i f_i² dt by the trapezoidal rule; targets at the end are exact constraints, not penalties. CasADi
gives the derivatives, IPOPT solves; the poses of the root and the forces are unknowns, too, so that the equations stay
sparse and the work grows linearly with the number of steps.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from symplectree.control.ends import frame_target
from symplectree.control.iteration_progress import told
from symplectree.dynamics.arguments import configuration, single, unusable, zero_quaternion
from symplectree.dynamics.reduced import BASE, check_floating
from symplectree.errors import ModelError
from symplectree.extras import extra
from symplectree.integrators.reduced import Reduced
from symplectree.lie import Array, quaternion_of
from symplectree.mechanism.model import Model, unknown
from symplectree.simulation.progress import waiting
from symplectree.validation import array_or_empty, is_positive, real_array, shown

if TYPE_CHECKING:
    from symplectree.symbolic.floating import Floating

REACHED = 1e-6  # m, rad: a target that is missed by more is not reached
GUESS = 0.5  # rad or m: size of the loops in shape space that a search begins with
SHORT = {
    "Infeasible_Problem_Detected": "there seems to be no such motion",
    "Maximum_Iterations_Exceeded": "the iterations ran out; if it can be reached at all, allow more, or give a guess",
    "Restoration_Failed": "the search got stuck; give another guess, or more starts",
}


@dataclass(frozen=True, repr=False)
class ShapeMotionResult:
    """The best motion found.

    | name | meaning | shape, unit |
    | --- | --- | --- |
    | success, message | was the target reached, and the constraints kept; in words | |
    | t | times | (K+1,) s |
    | q | configurations, the root's reconstructed | (K+1, nq) |
    | forces | of the shape's velocities at these times; linear in between | (K+1, n) N·m, N |
    | cost, cost_history | control effort; of each iteration of the best search | , (i,) |
    | missed | by frame or coordinate: how far the end is from its target | m, rad |
    """

    success: bool
    message: str
    t: Array
    q: Array
    forces: Array
    cost: float
    cost_history: Array
    missed: Mapping[str, float]
    names: tuple[str, ...]

    def __repr__(self) -> str:
        return f"ShapeMotionResult: {self.message}; cost {self.cost:.6g}, {len(self.t)} states over {self.t[-1]:g} s"

    def force(self, t: float, q: Any = None, v: Any = None) -> dict[str, float]:
        """The joint forces at time t by name, as `simulate(..., forces=result.force)` asks for them; zero after the end."""
        if t > self.t[-1] + 1e-9 * self.t[-1]:
            return {}
        return {name: float(np.interp(t, self.t, f)) for name, f in zip(self.names, self.forces.T, strict=True)}


class _Attempt(NamedTuple):
    status: str
    r: Array
    q: Array
    forces: Array
    cost: float
    history: Array
    missed: dict[str, float]
    worst: float


@dataclass(frozen=True)
class ShapeMotion:
    """A motion from rest to rest in `duration` [s] and `steps` steps, without momentum, of a floating mechanism.

    start: configuration, by name or (nq,).
    shape: where coordinates of the shape end, by name; those not named end anywhere.
    frames: where frames end, by name: a pose (4, 4), a rotation (3, 3) or a position (3,) in the world. The root's link is
        a frame, too. When all of the shape is given, positions follow from the centre of mass, which stays: then give
        rotations only.
    limits: (lowest, highest) of coordinates by name.
    force_limits: largest |force| by name, or one number for all.
    weights: w_i of the effort by name, 1 for others.
    alpha, retraction: of `st.Reduced`.

    Elements may be JointSpring and JointDamper; whatever acts from outside, gravity too, is refused.
    """

    model: Model
    start: Any
    duration: float = field(kw_only=True)
    steps: int = field(kw_only=True)
    shape: Mapping[str, float] = field(default_factory=dict, kw_only=True)
    frames: Mapping[str, Any] = field(default_factory=dict, kw_only=True)
    limits: Mapping[str, tuple[float, float]] = field(default_factory=dict, kw_only=True)
    force_limits: Mapping[str, float] | float | None = field(default=None, kw_only=True)
    weights: Mapping[str, float] = field(default_factory=dict, kw_only=True)
    alpha: float = field(default=0.5, kw_only=True)
    retraction: Literal["cayley", "exp"] = field(default="cayley", kw_only=True)

    def __post_init__(self) -> None:
        from symplectree.symbolic.floating import check_internal

        check_floating(self.model)
        check_internal(self.model)
        Reduced(self.alpha, self.retraction)
        if self.model.nv == BASE:
            raise ModelError("the mechanism has no joints besides the floating one, so it has no shape to move")
        if not is_positive(self.duration):
            raise ModelError(f"duration is {shown(self.duration)}; give seconds above zero")
        if not isinstance(self.steps, int) or isinstance(self.steps, bool) or self.steps < 2:
            raise ModelError(f"steps is {shown(self.steps)}; give a whole number from 2")
        if not self.shape and not self.frames:
            raise ModelError("there is no target: give shape= or frames=")
        for name in (*self.shape, *self.limits, *self.weights):
            self._index(name)
        for name, value in self.shape.items():
            _finite(value, f"the end of {name!r}")
        for name, value in self.weights.items():
            if _finite(value, f"the weight of {name!r}") < 0:
                raise ModelError(f"the weight of {name!r} is {value:g}; weights are zero or more")
        if len(self.shape) == self.model.nv - BASE and any(np.shape(T) != (3, 3) for T in self.frames.values()):
            raise ModelError(
                "with all of the shape given, positions follow from the centre of mass, which stays where it is; give "
                "rotations (3, 3) as targets of frames"
            )

    def solve(
        self, *, guess: Any = None, starts: int = 4, max_iterations: int = 200, seed: int = 0
    ) -> ShapeMotionResult:
        """The motion of least effort that a local search finds.

        guess: shapes (steps + 1, n) to begin with; else loops in shape space, other ones for each of `starts` searches,
            of which the first that reaches the target counts.
        """
        for what, count in (("starts", starts), ("max_iterations", max_iterations)):
            if not isinstance(count, int) or isinstance(count, bool) or count < 1:
                raise ModelError(f"{what} is {shown(count)}; give a whole number from 1")
        problem = _Problem(self)
        best: _Attempt | None = None
        for k in range(1 if guess is not None else starts):
            begin = self._shapes(guess) if guess is not None else problem.loops(np.random.default_rng([seed, k]), k)
            attempt = problem.attempt(begin, max_iterations)
            if best is None or (attempt.worst, attempt.cost) < (best.worst, best.cost):
                best = attempt
            if _solved(attempt):
                best = attempt
                break
        assert best is not None  # starts is at least one
        return self._result(problem, best, max_iterations)

    def _result(self, problem: _Problem, best: _Attempt, max_iterations: int) -> ShapeMotionResult:
        success = _solved(best)
        worst = max(best.missed, key=lambda name: best.missed[name])
        if success:
            message = f"the target is reached within {best.worst:.1e}, at an effort of {best.cost:.6g}"
        else:
            message = f"the target is not reached: {worst!r} misses it by {best.missed[worst]:.3g}; "
            if best.worst <= REACHED:
                message = "no motion to the target was found that keeps the limits; "
            message += SHORT.get(best.status, f"IPOPT says {best.status}")
            message += self._too_short(problem, best, max_iterations)
        names = self.model.velocities[BASE:]
        t = np.linspace(0.0, self.duration, self.steps + 1)
        return ShapeMotionResult(
            success, message, t, best.q, best.forces,
            cost=best.cost, cost_history=best.history, missed=best.missed, names=names,
        )  # fmt: skip

    def _too_short(self, problem: _Problem, best: _Attempt, max_iterations: int) -> str:
        """A sentence when the limits of the forces prevent the motion, else nothing."""
        if self.force_limits is None:
            return ""
        free = problem.attempt(best.r, max_iterations, limited=False)
        if not _solved(free):
            return ""
        excess = np.abs(free.forces).max(axis=0) / problem.most
        i = int(np.argmax(excess))
        return (
            f"; without force limits it is, with {np.abs(free.forces[:, i]).max():.3g} of "
            f"{self.model.velocities[BASE + i]!r}, where {problem.most[i]:.3g} are allowed: the duration of "
            f"{self.duration:g} s is too short"
        )

    def _index(self, name: str) -> int:
        names = self.model.velocities[BASE:]
        if name not in names:
            raise ModelError(unknown("shape coordinate", name, list(names)))
        return names.index(name)

    def _shapes(self, guess: Any) -> Array:
        try:
            array = real_array(guess)
        except TypeError:
            raise ModelError(f"guess is {shown(guess)}; give numbers") from None
        wanted = (self.steps + 1, self.model.nv - BASE)
        if array.shape != wanted or not np.all(np.isfinite(array)):
            raise ModelError(f"guess has shape {array.shape}; give {wanted} finite numbers, the shape at every time")
        return array


def _solved(attempt: _Attempt) -> bool:
    return attempt.status in ("Solve_Succeeded", "Solved_To_Acceptable_Level") and attempt.worst <= REACHED


class _Problem:
    """The nonlinear program of a ShapeMotion in x = (r_0 … r_K, z_0 … z_K, f_0 … f_K).

    These are shapes, the root's positions and quaternions, and joint forces.
    """

    def __init__(self, motion: ShapeMotion) -> None:
        ca = extra("casadi")

        from symplectree.symbolic.floating import Floating

        self.motion, self.n, self.K = motion, motion.model.nv - BASE, motion.steps
        self.h = motion.duration / motion.steps
        self.floating: Floating = Floating(motion.model, self.h, motion.alpha, motion.retraction)
        self.q0 = single(configuration(motion.model, motion.start), "start")
        if not np.all(np.isfinite(self.q0)) or zero_quaternion(motion.model, self.q0):
            raise unusable(motion.model, {"q": self.q0})
        self.most = np.array([self._most(name) for name in motion.model.velocities[BASE:]])
        n, K = self.n, self.K
        r, z, f = (ca.MX.sym(name, rows, K + 1) for name, rows in (("r", n), ("z", 7), ("f", n)))
        taken, given, twist = self.floating.step.map(K)(r[:, :-1], r[:, 1:])
        impulses = ca.horzcat(taken, ca.MX(n, 1)) - ca.horzcat(ca.MX(n, 1), given)
        share = np.full(K + 1, self.h)  # of each node in the trapezoidal rule
        share[[0, -1]] = self.h / 2
        shares = ca.repmat(ca.DM(share).T, n, 1)
        weights = np.array([float(motion.weights.get(name, 1.0)) for name in motion.model.velocities[BASE:]])
        cost = ca.dot(ca.DM(weights) @ ca.DM(share).T, f**2)
        gaps = ca.vec(z[:, 1:] - self.floating.move.map(K)(z[:, :-1], twist))
        last_z, last_r = ca.MX.sym("z", 7), ca.MX.sym("r", n)
        rows, self.parts = self._targets(last_z, last_r)
        self.end = ca.Function("end", [last_z, last_r], [rows])
        end = self.end(z[:, -1], r[:, -1])
        self.reports = ca.Function("reports", [r], [impulses / shares, twist])
        self.cost = ca.Function("cost", [f], [cost])
        balance = ca.vec(impulses - shares * f)
        self.nlp: dict[str, Any] = {"x": ca.veccat(r, z, f), "f": cost, "g": ca.vertcat(gaps, end, balance)}

    def attempt(self, r: Array, max_iterations: int, *, limited: bool = True) -> _Attempt:
        """A search from the shapes r (K+1, n)."""
        ca = extra("casadi")

        options: dict[str, Any] = {
            "print_time": False, "ipopt.print_level": 0, "ipopt.sb": "yes", "ipopt.max_iter": max_iterations,
            "ipopt.tol": 1e-10, "ipopt.constr_viol_tol": 1e-10, "ipopt.acceptable_iter": 0,
        }  # fmt: skip
        lower, upper = self._bounds(limited)
        begin = np.concatenate([r.ravel(), self.follow(r).ravel(), np.array(self.reports(r.T)[0]).T.ravel()])
        with waiting(max_iterations, "ShapeMotion", "iterations") as progress:
            options["iteration_callback"] = told(self.nlp, progress)
            solver = ca.nlpsol("motion", "ipopt", self.nlp, options)
            found = solver(x0=np.clip(begin, lower, upper), lbx=lower, ubx=upper, lbg=0, ubg=0)
        stats = solver.stats()
        count = self.n * (self.K + 1)
        r = np.array(found["x"]).ravel()[:count].reshape(self.K + 1, self.n)
        forces = np.array(self.reports(r.T)[0])
        cost = float(self.cost(forces))
        z = self.follow(r)
        q = np.hstack([z, r])
        missed = self.missed(z[-1], r[-1])
        history = np.array(stats["iterations"]["obj"]) if "iterations" in stats else np.array([cost])
        worst = max(missed.values())
        return _Attempt(
            stats["return_status"], r, q, forces.T, cost=cost, history=history, missed=missed, worst=worst
        )  # fmt: skip

    def follow(self, r: Array) -> Array:
        """The root's coordinates (K+1, 7) that follow from the shapes, K (6)."""
        twist = np.array(self.reports(r.T)[1])
        z = np.empty((self.K + 1, 7))
        z[0] = self.q0[:7]
        z[0, 3:] /= np.linalg.norm(z[0, 3:])
        for k in range(self.K):
            z[k + 1] = np.array(self.floating.move(z[k], twist[:, k])).ravel()
            z[k + 1, 3:] /= np.linalg.norm(z[k + 1, 3:])
        return z

    def loops(self, rng: np.random.Generator, number: int) -> Array:
        """Shapes (K+1, n) that go to the target on a line, and around in a loop: without one the root would not turn."""
        start, s = self.q0[7:], np.linspace(0, 1, self.K + 1)[:, None]
        smooth = s**3 * (10 - 15 * s + 6 * s**2)
        goal = start.copy()
        for name, value in self.motion.shape.items():
            goal[self.motion._index(name)] = value
        phase = rng.uniform(0, 2 * np.pi, self.n) if number else np.linspace(0, np.pi, self.n, endpoint=False)
        loop = np.sin(np.pi * s) ** 2 * np.sin(2 * np.pi * smooth + phase)
        r: Array = start + smooth * (goal - start) + GUESS * (1 + number) / 2 * loop
        return r

    def missed(self, z: Array, r: Array) -> dict[str, float]:
        """How far the end is from its target, by name [m, rad]."""
        names = self.motion.model.velocities[BASE:]
        out = {name: abs(float(r[names.index(name)] - value)) for name, value in self.motion.shape.items()}
        gap = np.array(self.end(z, r)).ravel()
        for name, part, angle in self.parts:
            length = float(np.linalg.norm(gap[part]))
            far = 2 * np.arcsin(min(1.0, length)) if angle else length
            out[name] = max(out.get(name, 0.0), float(far))
        return out

    def _targets(self, z: Any, r: Any) -> tuple[Any, list[tuple[str, slice, bool]]]:
        """Rows that are zero at the end, and of each frame where they are and whether they are of a rotation."""
        ca = extra("casadi")

        from symplectree.symbolic.floating import relative_turn

        rows: list[Any] = []
        parts: list[tuple[str, slice, bool]] = []
        for name, target in self.motion.frames.items():
            x, turn = self.floating.frame(name)(z, r)
            position, rotation = frame_target(name, target)
            for value, wanted in ((x, position), (turn, rotation)):
                if wanted is None:
                    continue
                at = 3 * len(rows)
                parts.append((name, slice(at, at + 3), wanted is rotation))
                rows.append(relative_turn(quaternion_of(wanted), value) if wanted is rotation else value - wanted)
        return (ca.vertcat(*rows) if rows else ca.MX(0, 1)), parts

    def _bounds(self, limited: bool) -> tuple[Array, Array]:
        motion, names = self.motion, self.motion.model.velocities[BASE:]
        lower, upper = np.full((self.K + 1, self.n), -np.inf), np.full((self.K + 1, self.n), np.inf)
        for name, given in motion.limits.items():
            i = names.index(name)
            low, high = _interval(name, given)
            lower[:, i], upper[:, i] = low, high
            for value in (self.q0[7 + i], motion.shape.get(name, self.q0[7 + i])):
                if not low <= value <= high:
                    raise ModelError(f"{name!r} shall be at {value:g}, outside its limits {low:g} and {high:g}")
        lower[0] = upper[0] = self.q0[7:]
        for name, value in motion.shape.items():
            lower[-1, names.index(name)] = upper[-1, names.index(name)] = float(value)
        base = np.full((self.K + 1, 7), np.inf)
        base[0] = self.follow(np.tile(self.q0[7:], (self.K + 1, 1)))[0]
        low_base = -base
        low_base[0] = base[0]
        most = np.tile(self.most if limited else np.full(self.n, np.inf), self.K + 1)
        return np.concatenate([lower.ravel(), low_base.ravel(), -most]), np.concatenate(
            [upper.ravel(), base.ravel(), most]
        )

    def _most(self, name: str) -> float:
        given = self.motion.force_limits
        value = given.get(name, np.inf) if isinstance(given, Mapping) else np.inf if given is None else given
        if not (value == np.inf or is_positive(value)):
            raise ModelError(f"the force limit of {name!r} is {shown(value)}; give a number above zero")
        return float(value)


def _finite(value: Any, what: str) -> float:
    number = array_or_empty(value)
    if number.shape != () or not np.isfinite(number):
        raise ModelError(f"{what} is {shown(value)}; give a finite number")
    return float(number)


def _interval(name: str, given: Any) -> tuple[float, float]:
    limits = array_or_empty(given)
    if limits.shape != (2,) or not limits[0] <= limits[1]:
        raise ModelError(f"limits of {name!r} are {shown(given)}; give (lowest, highest)")
    return float(limits[0]), float(limits[1])
