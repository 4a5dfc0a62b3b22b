"""Any joint, written as the formula of its pose (GL09 section 5)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from symplectree.errors import ModelError
from symplectree.extras import extra
from symplectree.formula.pose_formula import PoseFormula, PoseTape, pose_expressions, trace_pose
from symplectree.formula.rigid import matrix, quiet
from symplectree.formula.switches import jump, switch_tape
from symplectree.formula.tape import Tape
from symplectree.formula.tape_function import TapeFunction, as_tape
from symplectree.formula.trace import untraceable
from symplectree.joints.contract import Joint, Step
from symplectree.lie import Array
from symplectree.validation import array_or_empty, shown

MOST = 6  # coordinates of one joint
ROTATION_JUMP = 0.5  # of an entry of a rotation between two states, above which one looks closer
LEAPS = 20  # parts of a segment that are searched for jumps
KINK_DISTANCE = 1e-9  # relative, how near a kink counts as at it
SINGULAR = 1e-9  # smallest singular value of S, relative to the largest, that counts as zero


@dataclass(frozen=True)
class SymbolicJoint(Joint):
    """Base of joints that are a formula: everything that a joint gives follows from `pose` by exact differentiation.

    Coordinates are plain numbers (nq = nv), and the pose need not be the identity at zero. `start` is where the joint
    stands when nothing is said (`model.neutral`): one number for all coordinates, or one for each; the formula must be
    regular there.
    """

    in_files: ClassVar[bool] = False  # a file holds those without functions of their own as a FormulaJoint

    start: float | tuple[float, ...] = field(default=0.0, kw_only=True)

    def size(self) -> int:
        """How many coordinates."""
        raise TypeError(f"{type(self).__name__} does not say how many coordinates it has")

    def pose(self, q: Any) -> tuple[Any, Any]:
        """R (3 × 3) and x (3) as CasADi expressions of the vector of symbols q."""
        raise TypeError(f"{type(self).__name__} gives no pose")

    @property
    def nq(self) -> int:  # type: ignore[override]
        return self.size()

    @property
    def nv(self) -> int:  # type: ignore[override]
        return self.size()

    @property
    def neutral(self) -> Array:
        values = np.atleast_1d(array_or_empty(self.start))
        if values.shape not in ((1,), (self.nq,)) or not np.all(np.isfinite(values)):
            wanted = "one finite number" if self.nq == 1 else f"1 or {self.nq} finite numbers"
            raise ModelError(f"start of joint {self.name!r} is {shown(self.start)}; give {wanted}")
        return np.broadcast_to(values, (self.nq,)).copy()

    @cached_property
    def tapes(self) -> PoseFormula:
        """The pose and its derivatives as instructions; raises ModelError naming the joint."""
        casadi = extra("casadi")

        q = casadi.SX.sym("q", self.nq)
        try:
            return trace_pose(*self._traced(q), q)
        except ModelError as error:
            raise ModelError(f"joint {self.name!r}: {error}") from None

    def expressions(self, q: Any) -> tuple[Any, Any, Any, Any]:
        """(R, x, S, dS) as CasADi expressions of the vector of symbols q: (3, 3), (3,), (6, n), and [j] = ∂_j S (6, n)."""
        R, x = self.tapes.symbols(q)
        S, dS, _ = pose_expressions(R, x, q)
        return R, x, S, dS

    def transform(self, q: ArrayLike) -> Array:
        return self.tapes.transform(q)

    def subspace(self, q: ArrayLike) -> Array:
        return self.tapes.subspace(q)

    def subspace_derivative(self, q: ArrayLike) -> Array:
        return self.tapes.subspace_derivative(q)

    def subspace_second(self, q: ArrayLike) -> Array:
        """∂_k ∂_j S at [k, j], (n, n, 6, n)."""
        return self.tapes.subspace_second(q)

    def steps(self) -> tuple[Step, ...]:
        return (Step("formula", coordinates=self.nq, formula=self.tapes),)

    def functions(self) -> dict[str, TapeFunction]:
        """The functions that the joint was given, by field, as data; a joint that has them can be written as it is."""
        return {}

    def written(self) -> SymbolicJoint:
        """The same joint as a file holds it: its functions as tapes, or where it has none of these, its pose."""
        functions = self.functions()
        if functions:
            return replace(self, **functions)  # type: ignore[arg-type]
        tape = PoseTape(self.tapes.pose)
        return FormulaJoint(self.name, tape, self.nq, start=self.start, armature=self.armature, limits=self.limits)

    def tape(self, field_name: str, inputs: int, outputs: int) -> TapeFunction:
        """The function in a field as data, of so many symbols; raises ModelError unless it gives so many numbers."""
        try:
            found = as_tape(getattr(self, field_name), *[1] * inputs)
        except ModelError as error:
            raise ModelError(f"{field_name}: {error}") from None
        if not isinstance(found, TapeFunction) or (found.tape.inputs, found.tape.outputs) != (inputs, outputs):
            gives = f"{found.tape.outputs} numbers" if isinstance(found, TapeFunction) else "one number"
            raise ModelError(f"{field_name} gives {gives}; {outputs} are needed")
        return found

    def samples(self, rng: np.random.Generator, count: int) -> list[Array]:
        """Configurations around the start where the formula has values: near it where it has few."""
        found: list[Array] = []
        for attempt in range(40 * count):
            if len(found) == count:
                break
            q = self.neutral + rng.uniform(-1.2, 1.2, self.nq) * 0.8 ** (attempt // count)
            if np.all(np.isfinite(self.tapes._run(1, q))):
                found.append(q)
        return found or [self.neutral]

    def _said(self, fault: str) -> str:
        """A sentence on a fault, with what this kind of joint has to say about it."""
        return fault

    def fault(self, q: ArrayLike, small: float = SINGULAR) -> str | None:
        """What is wrong with the formula at q, in a sentence naming the joint and the value; None when nothing is.

        Singular is where S, relative to its columns at the start, has a singular value below `small`.
        """
        q = np.ravel(np.asarray(q, dtype=float))
        where = f"joint {self.name!r} at {self._at(q)}"
        out = self.tapes._run(1, q)
        if not np.all(np.isfinite(out[:12])):
            return self._said(f"the pose of {where} is not finite")
        R = out[:9].reshape(3, 3).T
        off = float(np.abs(R @ R.T - np.eye(3)).max())
        if off > 1e-9:
            return self._said(f"the rotation of {where} is not a rotation matrix (off by {off:.3g})")
        if np.linalg.det(R) < 0:
            return self._said(f"the rotation of {where} is a reflection")
        if not np.all(np.isfinite(out)):
            return self._said(f"the formula of {where} cannot be differentiated")
        for e in np.eye(self.nq) * KINK_DISTANCE * (1 + np.abs(q)) if self.switches is not None else ():
            if self.kink(q - e, q + e) is not None:
                return self._said(f"the formula of {where} cannot be differentiated: it has a kink or jumps there")
        S, usual = self.tapes.subspace(q), np.linalg.norm(self.tapes.subspace(self.neutral), axis=0)
        sizes = np.linalg.norm(S, axis=0)
        k = int(np.argmin(sizes / np.where(usual > 0, usual, 1.0)))
        if sizes[k] <= small * usual[k]:
            word = "singular" if sizes[k] <= SINGULAR * usual[k] else "nearly singular"
            return self._said(f"the formula of {where} is {word}: coordinate {k} does not move it there")
        least = np.linalg.svd(S / sizes, compute_uv=False)[-1]
        if least <= small:
            word = "singular" if least <= SINGULAR else "nearly singular"
            return self._said(f"the formula of {where} is {word}: its coordinates do not move it independently there")
        return None

    @cached_property
    def switches(self) -> Tape | None:
        """What decides on abs, min, max and conditions in the formula (`formula.switches`); None without these."""
        return switch_tape(self.tapes.pose)

    def kink(self, a: ArrayLike, b: ArrayLike) -> str | None:
        """Where on the line from a to b the pose or its derivative jumps, in a sentence; None when neither does."""
        if self.switches is None:
            return None
        a, b = (np.ravel(np.asarray(q, dtype=float)) for q in (a, b))
        at = jump(self.switches, lambda q: self.tapes._run(0, q)[:12], a, b)
        if at is not None:
            return self._said(f"the pose of joint {self.name!r} jumps at {self._at(at)}")
        at = jump(self.switches, lambda q: self.tapes._run(0, q), a, b)
        if at is not None:
            return self._said(
                f"the formula of joint {self.name!r} has a kink at {self._at(at)}, where it cannot be differentiated"
            )
        return None

    def leap(self, a: ArrayLike, b: ArrayLike) -> str | None:
        """Where on the straight line from a to b the pose changes by far more than its twists say, in a sentence: as at the
        pole of a sphere, beyond which a surface's frame turns over. None when it does not."""
        a, b = (np.ravel(np.asarray(q, dtype=float)) for q in (a, b))
        ends = np.linspace(0, 1, LEAPS + 1)
        for k in np.flatnonzero(self.leaping(a + ends[:, None] * (b - a))):
            low, high = ends[k], ends[k + 1]
            for _ in range(40):
                if not self.leaping(np.array([a + low * (b - a), a + high * (b - a)]))[0]:
                    break
                middle = 0.5 * (low + high)
                if self.leaping(np.array([a + low * (b - a), a + middle * (b - a)]))[0]:
                    high = middle
                else:
                    low = middle
            else:
                return self._said(f"the pose of joint {self.name!r} jumps at {self._at(a + high * (b - a))}")
        return None

    def turning(self, rows: Array) -> NDArray[np.bool_]:
        """On which segments between rows of configurations (n, nq) the rotation changes much, (n − 1,): it may jump."""
        import symplectree._core as core

        out = np.empty((len(rows), 12))
        core.run_tape(self.tapes.pose, np.ascontiguousarray(rows, dtype=float), out)
        return np.asarray(np.abs(np.diff(out[:, :9], axis=0)).max(axis=1) > ROTATION_JUMP)

    def leaping(self, rows: Array) -> NDArray[np.bool_]:
        """On which segments between rows of configurations (n, nq) the pose changes by far more than S says at their
        ends, (n − 1,): jumps are among these."""
        import symplectree._core as core

        tape, n = self.tapes.tapes[0], self.nq
        out = np.empty((len(rows), tape.outputs))
        core.run_tape(tape, np.ascontiguousarray(rows, dtype=float), out)
        poses, S = out[:, :12], out[:, 12:].reshape(-1, n, 6)
        change = np.diff(rows, axis=0)
        expected = [np.abs(np.einsum("kja,kj->ka", ends, change)).max(axis=1) for ends in (S[1:], S[:-1])]
        return np.asarray(np.abs(np.diff(poses, axis=0)).max(axis=1) > 10 * np.maximum(*expected) + 1e-9)

    def check(self) -> None:
        """Raise ModelError when the formula cannot be that of a joint, at its start or at points around it."""
        fault = self.fault(self.neutral)
        for q in () if fault else self.samples(np.random.default_rng(0), 8):
            fault = fault or self.fault(q)
        if fault is not None:
            raise ModelError(f"{fault}; change the formula, or start the joint where it is regular (start=…)")

    def _at(self, q: Array) -> str:
        values = ", ".join(f"{value:.6g}" for value in q)
        return f"q = {values}" if len(q) == 1 else f"q = ({values})"

    def _traced(self, q: Any) -> tuple[Any, Any]:
        """`pose` with checked shapes; raises ModelError."""
        casadi = extra("casadi")

        try:
            with quiet():
                R, x = self.pose(q)
                R, x = matrix(R), casadi.vec(matrix(x))
        except ModelError:
            raise
        except Exception as error:
            raise untraceable(error) from error
        if R.shape != (3, 3) or x.shape != (3, 1):
            raise ModelError(
                f"its formula gives a rotation of shape {R.shape} and a position of shape {x.shape}; "
                "return a 4×4 matrix, or a 3×3 rotation and 3 numbers"
            )
        return casadi.densify(R), casadi.densify(x)

    def __getstate__(self) -> dict[str, Any]:
        """Plain data: functions become tapes, or are left out where the tapes of the pose are all there is."""
        _ = self.tapes
        state = {name: None if _holds_function(value) else value for name, value in self.__dict__.items()}
        return state | self.functions() | getattr(self, "surfaces", {})

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)


def _holds_function(value: Any) -> bool:
    if isinstance(value, TapeFunction):
        return False
    return callable(value) or (isinstance(value, list | tuple) and any(_holds_function(item) for item in value))


@dataclass(frozen=True)
class FormulaJoint(SymbolicJoint):
    """A joint whose pose is a formula: a Python function of CasADi symbols.

        FormulaJoint("q", lambda q: (st.symbolic.rotation("z", q), [q * np.cos(q), q * np.sin(q), 0]))

    function: takes the coordinate (a symbol) when there is one, else the vector of them (q[0], q[1], …), and returns the
        pose of the moving frame in the base frame: a 4×4 matrix, or a 3×3 rotation and three numbers. Write it with
        operators, and functions of CasADi or NumPy.
    coordinates: how many, 1 to 6.
    base_surface, moving_surface: how base and moving body look, as functions of two symbols that give three numbers [m];
        for pictures only.
    """

    in_files: ClassVar[bool] = True

    function: Callable[[Any], Any]
    coordinates: int = 1
    base_surface: Callable[[Any, Any], Any] | None = field(default=None, kw_only=True)
    moving_surface: Callable[[Any, Any], Any] | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        count = self.coordinates
        if not isinstance(count, int | np.integer) or isinstance(count, bool) or not 1 <= count <= MOST:
            raise ModelError(
                f"joint {self.name!r} has {shown(count)} coordinates; give a whole number from 1 to {MOST}"
            )
        if not callable(self.function):
            raise ModelError(f"the formula of joint {self.name!r} is {shown(self.function)}; give a function")

    def size(self) -> int:
        return int(self.coordinates)

    @cached_property
    def surfaces(self) -> dict[str, TapeFunction]:
        """The surfaces that are drawn, by field, as data."""
        names = ("base_surface", "moving_surface")
        try:
            return {name: self.tape(name, 2, 3) for name in names if getattr(self, name) is not None}
        except ModelError as error:
            raise ModelError(f"joint {self.name!r}: {error}") from None

    def written(self) -> SymbolicJoint:
        return replace(super().written(), **self.surfaces)  # type: ignore[arg-type]

    def check(self) -> None:
        super().check()
        _ = self.surfaces

    def pose(self, q: Any) -> tuple[Any, Any]:
        given = self.function(q[0] if self.coordinates == 1 else q)
        if isinstance(given, tuple) and len(given) == 2:
            return given
        T = matrix(given)
        if T.shape != (4, 4):
            raise ModelError(
                f"its formula gives a matrix of shape {T.shape}; return a 4×4 matrix, or a 3×3 rotation and 3 numbers"
            )
        return T[:3, :3], T[:3, 3]
