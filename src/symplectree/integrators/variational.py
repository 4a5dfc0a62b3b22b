"""The variational integrator: a discrete action principle instead of discretised equations of motion."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, ClassVar, Literal

import numpy as np

from symplectree.constraints.dynamics import constraint_jacobian, velocities
from symplectree.constraints.overlaps import overlaps
from symplectree.dynamics import momenta
from symplectree.errors import ConvergenceError, ModelError
from symplectree.integrators.activation import acting
from symplectree.integrators.cheapest_order import cheapest_order
from symplectree.integrators.compositions import COMPOSITIONS, LOBATTO
from symplectree.integrators.failure_causes import independent_constraints, no_solution, prescribed_leap
from symplectree.integrators.forces import ForceSource
from symplectree.integrators.formula_faults import formula_fault
from symplectree.integrators.native_run import NativeRun
from symplectree.integrators.prescribed import Prescribed
from symplectree.integrators.reaction_record import RecordedRows, recorded_rows
from symplectree.integrators.solving import check_solving
from symplectree.integrators.stability import fastest_vibration
from symplectree.lie import Array
from symplectree.mechanism.model import Model
from symplectree.validation import is_fraction, is_positive

ACTIONS = ("cayley", "chord", "exp", "midpoint")
ORDERS = (2, 4, 6, 8, 12, 16)
SOLVERS = ("newton", "riqn", "broyden", "dense")
IMPACTS = ("located", "stepped")
GUESSES = ("extrapolate", "current", "velocity", "acceleration")
FEW = 8  # velocities of the tree up to which, by benchmarks/constrained_orders.py, Lobatto's pair is cheaper at order 4
FINEST = 20  # how often a step may be halved to be accurate
# Accuracies of many stages that are asked for at least: longer steps would end where the iteration no longer finds the
# stages, which depends on the direction of time.
LOOSEST = {12: 1e-5, 16: 1e-6}
ROUNDING = 1e-16  # a tolerance below what can be reached, so that rounding ends the iteration
OVERLAP = 1e-6  # m or rad, at the start, that is worth a word
COARSE = 0.6  # rad per step, above which the action "cayley" turns joints a tenth too slowly and more


@dataclass(frozen=True)
class Variational:
    """Symplectic, symmetric, momentum to rounding; energy without drift over any time. O(n) per step.

    action: how a body's displacement becomes momentum. "cayley" (the default; runs at any speed, but turns joints too
        slowly above half a radian per step, and says so), "chord" (mass points move on straight lines, no solution for
        rotations faster than 1/dt), "exp" (LLPS16's, on SE(3); fast wheels), or "midpoint" (JM08 (22), in the
        coordinates; springs are implicit, which suits stiff ones; a spring or damper between two moving bodies costs
        three more sweeps, both four; when they are more than nv/3, or with constraints, prescribed coordinates or
        elements of the user's own, "newton" is "dense", O(n³)).
    alpha: of midpoint, between 0 and 1; only ½ gives order 2 and symmetry.
    order: 2 (the default), or 4, 6, 8, 12, 16 by Gauss collocation on (q, p) with order/2 stages, O(n) each; for
        accuracy in smooth motion. Then action, alpha, solver and guess do not matter. With constraints, coordinates that
        follow others (`eliminate=True`) or prescribed ones: 6 and 8, and 4 up to eight velocities, by Lobatto's pair IIIA
        and IIIB with order/2 + 1 stages; 4 beyond these, and what the pair does not take (rolling, prescribed rotations,
        massless bodies, singular positions, strong dampers), by symmetric composition of 5 (Suzuki), 9 and 17 (Kahan and
        Li) steps of the action, some of them backwards.
    solver: "newton" (exact, O(n)), or for comparison "riqn" (LLPS16 Algorithm 3), "broyden", "dense" (Algorithm 4);
        for midpoint "newton" or "dense".
    guess: where the solver starts. "extrapolate" the last steps, or as LLPS16 "current", "velocity" (q ⊕ h v with
        v = M⁻¹p), "acceleration" (q ⊕ (h v + ½ h² a)). When it leads nowhere, others are tried.
    tol: what may be left of each equation of the step, relative to the size of the terms that it is made of; rounding
        always counts as solved. At order 2, and in each step of a composition, these are the equations of momentum,
        p − Jᵀμ⁻ + … = 0; of collocation those of its stages, Δqᵢ = h Σ aᵢⱼ q̇ⱼ and pᵢ = p + h Σ aᵢⱼ ṗⱼ. None is as
        accurate as the order deserves: 1e-11 at order 2 and in compositions, rounding in stages, where reversed runs
        then go back to their start; 0.03 times the accuracy saves a quarter of the time and keeps the energy alike.
    max_iterations: of the solver from one guess.
    substeps: how often a step may be halved that has no solution, or in which joints turn by more than a quarter of a
        radian and the energy would err by more than about a hundredth of it; see `Trajectory.substeps`. 0 gives the bare
        method.
    accuracy: of the energy, relative to what is exchanged in the motion, instead of a length of steps: dt is then the
        spacing of states, and each of these steps is divided into 2, 4, 8 … parts where the motion needs it, by what both
        ends of a part and its stages say of its error, so that reversed runs divide alike. Energy then stays within
        about twenty times the accuracy. Unless order is given, it is "auto": the cheapest by a trial on the first steps.
    impacts: of `Contact` and `JointLimit`. "located" in time, where gaps close: nothing overlaps, and elastic impacts keep
        the energy as free flight does; or "stepped", as impulses over whole steps, which costs less where much is hit.
    """

    action: Literal["cayley", "chord", "exp", "midpoint"] = "cayley"
    alpha: float = 0.5
    order: Literal[2, 4, 6, 8, 12, 16, "auto"] | None = None
    solver: Literal["newton", "riqn", "broyden", "dense"] = "newton"
    guess: Literal["extrapolate", "current", "velocity", "acceleration"] = "extrapolate"
    tol: float | None = None
    max_iterations: int = 50
    substeps: int = 6
    accuracy: float | None = None
    impacts: Literal["located", "stepped"] = "located"

    def __post_init__(self) -> None:
        choices = (("action", ACTIONS), ("solver", SOLVERS), ("guess", GUESSES), ("impacts", IMPACTS))
        for name, known in choices:
            if getattr(self, name) not in known:
                raise ModelError(f"{name} is {getattr(self, name)!r}; give one of {', '.join(map(repr, known))}")
        if self.accuracy is not None and not (is_positive(self.accuracy) and self.accuracy < 1):
            raise ModelError(f"accuracy is {self.accuracy!r}; give a number between 0 and 1, as 1e-6")
        if self.order is None:
            object.__setattr__(self, "order", 2 if self.accuracy is None else "auto")
        if self.order == "auto" and self.accuracy is None:
            raise ModelError("order is 'auto', which needs an accuracy to be chosen for, as accuracy=1e-6")
        if self.order not in (*ORDERS, "auto") or isinstance(self.order, bool):
            raise ModelError(f"order is {self.order!r}; give 2, 4, 6, 8, 12, 16 or 'auto'")
        if not is_fraction(self.alpha):
            raise ModelError(f"alpha is {self.alpha!r}; give a number from 0 to 1")
        if self.action == "midpoint" and self.solver not in ("newton", "dense"):
            raise ModelError(f"action 'midpoint' is solved by 'newton' or 'dense', not by {self.solver!r}")
        check_solving(self)

    @property
    def divides(self) -> bool:
        """Whether steps that are too long are taken in parts."""
        return self.substeps > 0 or self.accuracy is not None

    def start(
        self, model: Model, q: Array, v: Array, dt: float, forces: ForceSource, prescribed: Prescribed
    ) -> VariationalRun:
        p = momenta(model, q, v)

        def start(method: Variational) -> VariationalRun:
            return VariationalRun(method, model, q, p, dt=dt, forces=forces, prescribed=prescribed)

        if self.order != "auto":
            return start(self)
        return start(replace(self, order=cheapest_order(lambda order: start(replace(self, order=order)))))


@lru_cache(maxsize=64)
def native_options(method: Any, tol: float, effort: int = 1) -> Any:
    """The core's `MethodOptions` of a `Variational` or `Reduced`, with `tol` where none was given, and that many times its
    `max_iterations`: those of collocation are simpler and more."""
    import symplectree._core as core

    return core.MethodOptions(
        action=core.Action[method.action],
        alpha=float(method.alpha),
        retraction=core.Retraction[getattr(method, "retraction", "cayley")],
        solver=core.Solver[method.solver],
        guess=core.Guess[getattr(method, "guess", "extrapolate")],
        tolerance=tol if method.tol is None else float(method.tol),
        max_iterations=effort * method.max_iterations,
        substeps=FINEST if getattr(method, "accuracy", None) else method.substeps,
        accuracy=min(float(getattr(method, "accuracy", None) or 0.0), LOOSEST.get(method.order, 1.0)),
        order=method.order,
        located=getattr(method, "impacts", "located") == "located",
    )


class VariationalRun(NativeRun):
    """The state (q, p) of a variational integration; see `integrators.contract.Run`."""

    second: ClassVar[Literal["v", "p"]] = "p"

    def __init__(
        self,
        method: Any,
        model: Model,
        q: Array,
        p: Array,
        *,
        dt: float,
        forces: ForceSource,
        prescribed: Prescribed,
    ) -> None:
        self.model, self.method, self.forces, self.prescribed, self.dt = model, method, forces, prescribed, dt
        self._composed = method.order == 2 or bool(model.full.rows or prescribed)
        if self._composed and method.order not in COMPOSITIONS:
            raise ModelError(
                f"order {method.order} is for mechanisms without constraints, followers and prescribed coordinates; take "
                "order 8 or less"
            )
        if getattr(method, "accuracy", None) is not None and model.activations and forces.varies:
            raise ModelError(
                f"{model.activations[0]!r} acts through a filter or integrator, and forces are functions: activations then "
                "follow to second order in dt, so that no accuracy can be kept; take steps of dt without accuracy=, or "
                "Adaptive()"
            )
        self._lobatto = self._composed and (
            method.order > 4 or (method.order == 4 and len(model.full.velocities) <= FEW)
        )
        self.compares_poses = self._composed and method.action in ("cayley", "chord", "exp")
        # Fractions of a step after which prescribed motions are asked for, and the length of a step of order 2 whose half
        # is what momenta leave out of the impulses of constraints.
        self._stages = np.array(COMPOSITIONS[method.order] if self._composed else (1.0,))
        self._left_out = float(self._stages[-1]) * dt
        if self._lobatto:
            nodes, weight = LOBATTO[method.order]
            first, *others = COMPOSITIONS[method.order]
            self._stages, self._left_out = np.array((*np.diff(nodes), first - 1, *others)), 2 * weight * dt
        self._fastest, self._shortest, self._shortened = 0.0, np.inf, 0
        self._native: Any = None
        self.q, self.x, self.activation = np.array(q), np.array(p), np.array(forces.activation)
        self.counts: list[tuple[int, int, Array]] = []
        self._start = np.array(q)
        self.restart(0)

    def restart(self, step: int) -> None:
        import symplectree._core as core

        method, model = self.method, self.model
        self._fastest, self._shortest = self._turn(), self._shortest_part()
        if self._lobatto:
            options, composed = native_options(method, ROUNDING, 2), native_options(method, 1e-11)
            fractions = np.array(COMPOSITIONS[method.order])
            self._native = core.lobatto_run(model.native, options, composed, fractions, self.prescribed.indices)
        elif self._composed:
            found = model.step_code if self._specialised() else None
            code = core.StepCode(direction=found.direction, check=found.check, work=found.work) if found else None
            options, prescribed = native_options(method, 1e-11), self.prescribed.indices
            self._native = core.variational_run(model.native, options, self._stages, prescribed, code)
        else:
            options, shorter = native_options(method, ROUNDING, 2), native_options(method, 1e-11)
            self._native = core.collocation_run(model.native, options, shorter, method.order // 2)
        self._native.reset(self.q, self.x, self.prescribed.rate(step * self.dt))
        self._native.set_activations(self.activation)
        if step > 0:
            self._native.set_last_step_length(self._left_out)

    def leave_out_impulses(self, step: int) -> None:
        """x ← what it would be had this method led to the state (q, v), before step number `step`, of which x is M v.

        Then the forces of constraints and prescribed coordinates over half the step before are in the next impulse.
        """
        model, half = self.model, 0.5 * self._left_out
        if not model.rows and not self.prescribed:
            return
        multipliers, reactions = self._constraint_forces(step)
        self.x -= half * (constraint_jacobian(model, self.q).T @ multipliers)
        if self.prescribed:
            self.x -= half * reactions

    def _constraint_forces(self, step: int) -> tuple[Array, Array]:
        """Multipliers and forces on all velocities, of the acceleration in the state (q, M v) before step number `step`."""
        model, t, rows = self.model, step * self.dt, len(self.model.rows)
        v = velocities(model, self.q, self.x, self.prescribed.rate(t), self.prescribed.indices)
        tau, inputs = self.forces.at(t, step, self.q, v, self.dt)
        inputs = acting(model, inputs, self.activation)
        given, driven = self.prescribed.acceleration(t), self.prescribed.indices
        solution = model.native.constrained_acceleration(self.q, v, tau, given, inputs, driven)
        return solution[model.nv : model.nv + rows], solution[model.nv + rows :]

    def _specialised(self) -> bool:
        """Is this the step that `Model.compile` makes code for?"""
        method = self.method
        usual = method.action == "cayley" and method.solver == "newton"
        return not self.has_stages and usual and not self.prescribed

    def note_turn(self, turn: float) -> None:
        """Steps that others took of this run turned a joint by so much [rad]."""
        self._fastest = max(self._fastest, turn)

    def _turn(self) -> float:
        """The largest angle by which a joint turned in one step [rad]."""
        return max(self._fastest, 0.0 if self._native is None else self._native.largest_turn)

    def _shortest_part(self) -> float:
        """The length of the shortest part of a step that was divided [s]."""
        return min(self._shortest, np.inf if self._native is None else self._native.shortest)

    def advance(self, first: int, steps: int, save_every: int, q_saved: Array, x_saved: Array) -> int:
        recorded = RecordedRows(self.model, self.prescribed, steps // save_every, counts=2)
        self.counts.append((first, save_every, recorded.rows))
        # The impulse of the first half step alone would be that of a quarter of a step later.
        exact = None
        if first == 0 and self.forces.is_fixed and self.model.rows and not self.prescribed:
            exact = self._constraint_forces(0)[0]
        controlled = getattr(self.method, "accuracy", None) is not None
        motion = self.prescribed.native_rows(first, steps, self._stages, accelerations=controlled)
        try:
            return self._advance(first, steps, save_every, motion, recorded.recording(q_saved, x_saved))
        finally:  # a force function may raise
            if exact is not None and len(recorded.rows):
                recorded.multipliers[0] = exact
            recorded.fill(int(np.count_nonzero(np.isfinite(recorded.counts[:, 0]))))

    @property
    def has_stages(self) -> bool:
        """Whether steps are found by their stages, and are no composition."""
        return self._lobatto or not self._composed

    def velocity(self) -> Array:
        """The velocity now, which satisfies constraints and prescribed coordinates."""
        v = np.empty(self.model.nv)
        self._native.velocity(v)
        return v

    def statistics(self) -> dict[str, Array]:
        recorded = recorded_rows(self.model, self.prescribed, self.counts, ("iterations", "substeps"))
        self._shortened += int(recorded["substeps"].sum())
        return recorded

    def remarks(self) -> list[str]:
        said, turn = [], self._turn()
        if deep := overlaps(self.model, self._start, OVERLAP):
            worst = sorted(deep, key=lambda what: -deep[what])
            more = f" and {len(worst) - 3} more" if len(worst) > 3 else ""
            said.append(
                f"at the start {', '.join(worst[:3])}{more}: what overlaps stays so deep or comes out, and is never pushed "
                "apart; start elsewhere, or leave the contact or limit out"
            )
        if self.model.step_code is not None and not self._specialised():
            said.append(
                "the model's compiled step is that of action 'cayley', solver 'newton' and order 2 without prescribed "
                "coordinates; this run took the general one"
            )
        if self._shortened and getattr(self.method, "accuracy", None) is None:
            said.append(
                f"{self._shortened} steps or parts of steps were too long for the motion at dt = {self.dt:g} and were "
                f"taken as two shorter ones each, down to {self._shortest_part():.3g} s; see Trajectory.substeps, take a "
                "smaller dt, or give an accuracy instead: st.Variational(accuracy=1e-6)"
            )
        if self._rough:
            said.append(
                f"in {self._rough} parts of steps the impulses of contact were not found: what approached at their ends "
                "was stopped there, so that it may overlap a little; take a smaller dt, or less friction where things jam"
            )
        if not self.has_stages and self.method.action == "cayley" and turn > COARSE:
            half = min(turn, np.pi) / 2
            said.append(
                f"joints turned by up to {turn:.3g} rad in one step: the action 'cayley' then turns them "
                f"{100 * (1 - half * np.cos(half) ** 3 / np.sin(half)):.0f} % too slowly (their momenta are right); take a "
                "smaller dt, or action='exp'"
            )
        if lowered := self._native.lowered:
            count = len(COMPOSITIONS[self.method.order]) if self._composed else self.method.order + 1
            said.append(
                f"dampers end motions within a step of dt = {self.dt:g}, which order {self.method.order} cannot take where "
                f"constraints, prescribed coordinates or points that move turn what they act on: {lowered} steps are of "
                f"order 2, as {count} shorter ones each; take a smaller dt for the full order"
            )
        if (feeding := self._native.feeding) >= 0:
            said.append(
                f"the force function drives {self.model.full.velocities[feeding]!r} the harder the faster it is, and feeds "
                "energy as a damper of the wrong sign does: look at the sign of its velocity; for damping take "
                "st.JointDamper, for a regulator st.JointSpring and st.JointDamper, which act as a servo does"
            )
        if vibration := self._too_stiff():
            said.append(
                f"springs let the mechanism vibrate with {vibration:.3g} rad/s at the start, and the action "
                f"{self.method.action!r} gains energy in steps of more than {2 / vibration:.3g} s; {self._advice()}"
            )
        return said

    def _too_stiff(self) -> float:
        """What springs let the mechanism vibrate with [rad/s] when the steps are too long for that, else 0."""
        if self.has_stages or getattr(self.method, "action", "midpoint") == "midpoint":
            return 0.0
        vibration = fastest_vibration(self.model, self._start, self.prescribed)
        return vibration if vibration * self.dt * float(np.abs(self._stages).max()) > 2 else 0.0

    @property
    def _names(self) -> tuple[str, ...]:
        """Of what the core's equations are: all velocities of the tree, and all rows."""
        return (*self.model.full.velocities, *self.model.full.rows)

    def _advice(self, step: int | None = None) -> str:
        if (
            step is not None
            and self.prescribed
            and (leap := prescribed_leap(self.model, self.prescribed, step, self.dt))
        ):
            return leap
        if self._too_stiff():
            return "take a smaller dt, or action='midpoint', which suits stiff springs"
        if independent_constraints(self.model, self.q) < independent_constraints(self.model, self._start):
            return (
                "the constraints become dependent here (a singular position, in which a mechanism may branch off or "
                "lock); take a smaller dt, or keep away from it"
            )
        if self.prescribed and self.model.rows:
            return "take a smaller dt, or prescribe a motion that the constraints let it make"
        return "take a smaller dt, or add damping where the motion is violent"

    def _fault(self) -> str:
        return formula_fault(self.model, self.q, self.velocity(), self.dt)

    def failure(self, step: int) -> ConvergenceError:
        """The error for a step that could not be taken."""
        count = FINEST if getattr(self.method, "accuracy", None) else self.method.substeps
        halved = f", also after {count} halvings" if count else ""
        residual, name = self._native.residual, self._names[self._native.worst]
        if self.has_stages:
            return ConvergenceError(
                f"the stages of step {step} (t = {step * self.dt:.6g} s) are not found{halved}, worst in {name!r}; "
                f"{self._advice(step)}{self._fault()}",
                step=step,
                time=step * self.dt,
                coordinate=name,
            )
        return ConvergenceError(
            f"step {step} (t = {step * self.dt:.6g} s) {no_solution(self.method.solver, residual, name)}{halved}; "
            f"{self._advice(step)}{self._fault()}",
            step=step,
            time=step * self.dt,
            residual=residual,
            coordinate=name,
        )
