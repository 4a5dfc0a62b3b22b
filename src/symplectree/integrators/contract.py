"""What a method of integration must give.

A method is a small frozen description. `start` makes a Run: the state of one integration, which `simulate` advances many
steps at a time and `Stepper` one by one.
"""

from typing import Any, ClassVar, Literal, Protocol

from symplectree.errors import ConvergenceError
from symplectree.integrators.forces import ForceSource
from symplectree.integrators.prescribed import Prescribed
from symplectree.lie import Array
from symplectree.mechanism.model import Model


class Run(Protocol):
    """The state of one integration.

    `compares_poses` says whether a step looks at the bodies' poses at both of its ends, not at derivatives alone.
    `second` says whether the state's second half is a velocity or a momentum; `q`, `x` (that half) and `activation`
    (of `model.activations`) are current; the latter begins as `forces.activation` says.
    `native`: the core's run, by which a stepper takes steps without Python; None where there is none.
    `counts` grows with every call of `advance`: its first step, how many steps a row stands for, and the rows.
    """

    compares_poses: bool
    second: ClassVar[Literal["v", "p"]]
    q: Array
    x: Array
    activation: Array
    counts: list[tuple[int, int, Array]]
    forces: ForceSource

    @property
    def native(self) -> Any: ...

    def advance(self, first: int, steps: int, save_every: int, q_saved: Array, x_saved: Array) -> int:
        """Take `steps` steps, of which the first is number `first`, and write every `save_every`-th state.

        Returns how many steps were taken; fewer than asked means that one failed.
        """
        ...

    def velocity(self) -> Array:
        """The velocity now, a copy; it satisfies constraints and prescribed coordinates."""
        ...

    def failure(self, step: int) -> ConvergenceError:
        """The error that says why step number `step` failed."""
        ...

    def statistics(self) -> dict[str, Array]:
        """What the trajectory also records, by name, one for each stretch that was saved at its end since this was last
        asked, and in "ends" the numbers of the steps with which these stretches ended: counts, which add up over
        stretches, "activations" at their ends, and rows of numbers (multipliers, forces) at their beginnings. Nothing when
        nothing is recorded."""
        ...

    def take_impacts(self) -> Array:
        """Rows of impacts since this was last asked (`simulation.contact_record.Impacts`), in the order of time."""
        ...

    def restart(self, step: int) -> None:
        """Forget everything but the state (q, x, activation) before step number `step`, as a run does that begins there."""
        ...

    def memory(self) -> Any:
        """All else than q, x and activation that the next steps depend on, as plain data that pickles,"""
        ...

    def recall(self, memory: Any) -> None:
        """and go on from there, after these were set and `restart` was called."""
        ...

    def remarks(self) -> list[str]:
        """Sentences that the user should read about the run as a whole."""
        ...


class Method(Protocol):
    """A method of integration, as `simulate` takes it."""

    def start(self, model: Model, q: Array, v: Array, dt: float, forces: ForceSource, prescribed: Prescribed) -> Run:
        """A Run from the state (q, v), which satisfies all constraints and prescribed coordinates."""
        ...
