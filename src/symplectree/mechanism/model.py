"""The frozen model: arrays for the core, names for people."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from symplectree.elements import Element, ElementTables
from symplectree.errors import ModelError
from symplectree.joints import Joint, JointLimits
from symplectree.lie import Array
from symplectree.mechanism.mixed_up import no_attribute_of_a_model
from symplectree.mechanism.shapes import Shape
from symplectree.mechanism.unknown_name import unknown

if TYPE_CHECKING:
    from symplectree.formula.pose_formula import PoseFormula
    from symplectree.mechanism.followers import Followers
    from symplectree.mechanism.keyframes import Keyframe
    from symplectree.mechanism.mechanism import Mechanism
    from symplectree.sensors import Sensor
    from symplectree.symbolic.formula_code import FormulaCode
    from symplectree.symbolic.variational_step_code import StepCode

# In the order of `enum class Kind` in core/model/model.hpp.
KINDS = ("revolute", "prismatic", "screw", "ball", "free", "formula")

FOR_USERS = frozenset((
    "coordinates", "velocities", "nq", "nv", "neutral", "frames", "joints", "inputs", "activations", "elements", "rows",
    "gravity", "full", "keyframes", "limits", "sensors", "text", "info", "compile", "compile_formulas", "with_parameters",
))  # fmt: skip


NATIVE = ("native", "linearizers")  # of this process alone


@dataclass(frozen=True)
class JointPlace:
    """Where a joint's coordinates lie: q[q_start : q_start + joint.nq] and v[v_start : v_start + joint.nv]."""

    joint: Joint
    q_start: int
    v_start: int

    @property
    def q(self) -> slice:
        return slice(self.q_start, self.q_start + self.joint.nq)

    @property
    def v(self) -> slice:
        return slice(self.v_start, self.v_start + self.joint.nv)


@dataclass(frozen=True, eq=False)
class Model:
    """A mechanism ready to compute with. Made by `Mechanism.build()`; not to be changed.

    Bodies are in the order of building, parents first; a joint of several coordinates, unless it has a quaternion or is a
    formula, is a row of bodies, all but the last without mass. A body's frame is the moving frame of its joint.

    For users, and what `dir(model)` lists:

    | name | meaning | shape, unit |
    | --- | --- | --- |
    | coordinates, nq | names in the order of q, and how many | nq |
    | velocities, nv | names in the order of v, and how many | nv |
    | neutral | all coordinates zero, quaternions identity | (nq,) |
    | frames | names of all frames, "world" first | |
    | joints | by name: the joint and where its coordinates lie | |
    | inputs | names given instead of numbers in forces and wrenches | |
    | activations | names of actuators with a filter or integrator, whose activations are part of a run's state | |
    | elements | springs, dampers, loads, each with its name | |
    | rows | names of the constraint rows | |
    | gravity | acceleration in world axes | (3,), m/s² |
    | keyframes | by name: starts, as arrays q and v, with controls | |
    | limits, sensors | by name: `JointLimits` of coordinates and inputs; what `traj.sensor(name)` measures | |
    | full | the model of all coordinates, where some follow others | |
    | text | the mechanism as a file holds it | |
    | info(), with_parameters(…), compile(), compile_formulas() | a picture in text; other numbers; native code | |

    For the package itself:

    | name | meaning | shape, unit |
    | --- | --- | --- |
    | bodies | names of the frames that bodies move with | n |
    | parent | body that each is joined to, -1 the world | (n,) |
    | kind | index into KINDS | (n,) |
    | axis, pitch | of the joint, in its base frame | (n, 3), (n,) m/rad |
    | formulas | by body: the pose of a joint that is a formula, as tapes | |
    | placement | pose of the joint's base frame in the parent | (n, 4, 4) |
    | mass, com, inertia | of each body, inertia about the centre of mass | (n,) kg, (n, 3) m, (n, 3, 3) kg·m² |
    | q_start, v_start | where each body's coordinates begin | (n,) |
    | armature | rotor inertia of each velocity | (nv,) |
    | frame_body, frame_offset | where each frame is fixed | (f,), (f, 4, 4) |
    | shapes | how bodies look, where a robot's file says it (see `mechanism.shapes`) | |
    | massless | names of coordinates that move no mass, and must be prescribed | |
    | ground_energy | gravity potential of masses fixed to the world | J |
    | tables | the elements as rows of numbers | |
    | originals | the elements as the user added them; not kept by pickling | |
    | description | the mechanism that it was built from; pickling keeps its `text` instead | |
    | step_code | native code of the variational step, from `compile()`; not kept by pickling | |
    | formula_code | native code of formulas, from `compile_formulas()`; not kept by pickling | |
    | followers | which coordinates of the tree follow others, and are none of the model's own; None when all are | |

    Of a model with followers (`eliminate=True` of `GearConstraint`, `ScrewConstraint`, `CamConstraint`) coordinates,
    velocities, joints, rows and armature are those of the independent coordinates; bodies and tables describe the whole
    tree, with q_start, v_start and indices into q and v that are those of `full`.
    """

    coordinates: tuple[str, ...]
    velocities: tuple[str, ...]
    frames: tuple[str, ...]
    joints: Mapping[str, JointPlace]
    inputs: tuple[str, ...]
    elements: tuple[Element, ...]
    gravity: Array
    bodies: tuple[str, ...] = field(repr=False)
    parent: NDArray[np.int32] = field(repr=False)
    kind: NDArray[np.int32] = field(repr=False)
    axis: Array = field(repr=False)
    pitch: Array = field(repr=False)
    placement: Array = field(repr=False)
    mass: Array = field(repr=False)
    com: Array = field(repr=False)
    inertia: Array = field(repr=False)
    q_start: NDArray[np.int32] = field(repr=False)
    v_start: NDArray[np.int32] = field(repr=False)
    armature: Array = field(repr=False)
    frame_body: NDArray[np.int32] = field(repr=False)
    frame_offset: Array = field(repr=False)
    ground_energy: float = field(repr=False)
    tables: ElementTables = field(repr=False)
    formulas: Mapping[int, PoseFormula] = field(default_factory=dict, repr=False)
    massless: tuple[str, ...] = field(default=(), repr=False)
    shapes: tuple[Shape, ...] = field(default=(), repr=False)
    originals: tuple[Element, ...] = field(default=(), repr=False)
    description: Mechanism | None = field(default=None, repr=False)
    step_code: StepCode | None = field(default=None, repr=False)
    formula_code: FormulaCode | None = field(default=None, repr=False)
    followers: Followers | None = field(default=None, repr=False)
    keyframes: Mapping[str, Keyframe] = field(default_factory=dict, repr=False)
    limits: Mapping[str, JointLimits] = field(default_factory=dict, repr=False)
    sensors: Mapping[str, Sensor] = field(default_factory=dict, repr=False)

    def __repr__(self) -> str:
        from symplectree.mechanism.info import size

        return f"Model of {size(self)}, mass {self.mass.sum():.6g} kg; info() shows the tree"

    def _repr_html_(self) -> str:
        from symplectree.mechanism.html import to_html

        return to_html(self, "Model of")

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(no_attribute_of_a_model(name))

    def __dir__(self) -> list[str]:
        """What users need; everything else is there, but for the package itself."""
        return [name for name in super().__dir__() if name in FOR_USERS or name.startswith("__")]

    @property
    def full(self) -> Model:
        """The model of the same tree with all its coordinates, where some follow others by constraints; else this one."""
        return self if self.followers is None else self.followers.full

    def tree_coordinates(self, q: Array) -> Array:
        """Coordinates of `full` (..., full.nq) for those of this model (..., nq): followers are where they have to be."""
        out = np.empty((*q.shape[:-1], self.full.nq))
        self.native.tree_coordinates(np.ascontiguousarray(q), out)
        return out

    def tree_velocities(self, q: Array, v: Array) -> Array:
        """Velocities of `full` (full.nv,) for those of this model, (nv,), at q."""
        out = np.empty(self.full.nv)
        self.native.tree_velocities(np.ascontiguousarray(q), np.ascontiguousarray(v), out)
        return out

    @cached_property
    def nq(self) -> int:
        """How many numbers a configuration has (a quaternion counts four)."""
        return len(self.coordinates)

    @cached_property
    def nv(self) -> int:
        """The length of a velocity (a quaternion counts three); degrees of freedom are fewer where constraints act."""
        return len(self.velocities)

    @cached_property
    def neutral(self) -> Array:
        """The configuration with all coordinates zero and quaternions identity, (nq,)."""
        q = np.zeros(self.nq)
        for place in self.joints.values():
            q[place.q] = place.joint.neutral
        q.flags.writeable = False
        return q

    @cached_property
    def activations(self) -> tuple[str, ...]:
        """Names of the actuators whose control acts through a filter or an integrator."""
        return tuple(str(self.elements[row.owner].name) for row in self.tables.actuators if row.dynamics)

    @cached_property
    def rows(self) -> tuple[str, ...]:
        """Names of the constraint rows: the element's, with a number where it has several."""
        owners = list(self.row_owners)
        names: list[str] = []
        for owner in dict.fromkeys(owners):
            name, count = str(self.elements[owner].name), owners.count(owner)
            names += [name] if count == 1 else [f"{name}.{i}" for i in range(count)]
        return tuple(names)

    @cached_property
    def row_numbers(self) -> tuple[int, ...]:
        """Of each constraint row: its number in `tables`, which also hold those of followers."""
        everything = range(len(self.tables.row_owners))
        return tuple(everything if self.followers is None else map(int, self.followers.independent_rows))

    @cached_property
    def row_owners(self) -> tuple[int, ...]:
        """Of each constraint row: the index of its element."""
        return tuple(self.tables.row_owners[k] for k in self.row_numbers)

    @cached_property
    def body_of(self) -> NDArray[np.intp]:
        """Of each velocity: the index of the body that it moves against its parent, (nv,)."""
        if self.followers is not None:
            return self.full.body_of[self.followers.independent_v]
        return np.searchsorted(self.v_start, np.arange(self.nv), side="right") - 1

    @cached_property
    def native(self) -> Any:
        """The core's own form of this model."""
        import symplectree._core as core
        from symplectree.elements.rows import require_same_fields
        from symplectree.elements.user import evaluate

        followers = self.followers
        arrays: dict[str, Any] = {
            name: np.ascontiguousarray(getattr(self, name))
            for name in (
                "parent", "kind", "axis", "pitch", "placement", "mass", "com", "inertia", "gravity", "frame_body",
                "frame_offset",
            )
        }  # fmt: skip
        arrays["armature"] = np.ascontiguousarray(self.armature if followers is None else followers.armature)
        require_same_fields()
        native = core.Model(
            arrays=arrays | self.tables.arrays(),
            functions=self.tables.functions,
            ground_energy=self.ground_energy,
            inputs=len(self.inputs),
            users=self.tables.users,
            evaluate=evaluate,
            formulas=dict(self.formulas),
            followers=np.zeros((0, 8)) if followers is None else followers.native_rows(),
        )
        if self.formula_code is not None:
            for place, address in self.formula_code.addresses.items():
                native.use_code(*place, address)
        return native

    def __getstate__(self) -> dict[str, Any]:
        kept = {name: value for name, value in self.__dict__.items() if name not in NATIVE}
        with contextlib.suppress(ModelError):
            kept["text"] = self.text
        return kept | {
            "originals": (),
            "description": None,
            "step_code": None,
            "formula_code": None,
        }  # they may hold functions

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.freeze()

    def freeze(self) -> None:
        """Make all arrays read-only."""
        for value in self.__dict__.values():
            if isinstance(value, np.ndarray):
                value.flags.writeable = False

    @cached_property
    def linearizers(self) -> dict[Any, Any]:
        """The core's linearizers of this model, by what `linearize` needs them for."""
        return {}

    @cached_property
    def frame_index(self) -> dict[str, int]:
        """Index of each frame by name."""
        return {name: i for i, name in enumerate(self.frames)}

    def find_frame(self, name: str) -> int:
        """Index of a frame; raises ModelError that lists what there is."""
        try:
            return self.frame_index[name]
        except (KeyError, TypeError):
            raise ModelError(unknown("frame", name, self.frames)) from None

    @cached_property
    def text(self) -> str:
        """The mechanism as `Mechanism.to_sexpr` writes it; raises ModelError naming what cannot be written."""
        if self.description is None:
            raise ModelError("the model does not know the mechanism that it was built from")
        return self.description.to_sexpr()

    def compile(self, *, progress: bool | None = None) -> Model:
        """The same model with the step of `Variational()` as native code for this mechanism (the extra `jit`).

        Trajectories are the same to rounding; the code is kept on disk and is made once per mechanism and machine.
        progress: whether to say on the terminal how long compiling took; None says it when that was over a second.
        `info()` tells it, too. `resume` takes the compiled step when it is given this model, else the general one.

        Raises ModelError where no code can be made (constraints, springs between bodies, loads, force functions, rotors
        or dampers on Ball and Free joints), naming the culprit, and when llvmlite is not installed.
        """
        from symplectree.symbolic.variational_step_code import compile_step

        refuse_followers(
            self,
            "which ties their bodies together as a closed loop does; steps are compiled for trees, whose bodies are "
            "eliminated one by one; use the model as it is",
        )
        compiled = replace(self, step_code=compile_step(self, progress=progress))
        compiled.freeze()
        return compiled

    def compile_formulas(self) -> Model:
        """The same model with its formulas (joints, potentials, forces, constraints) as native code (the extra `jit`).

        For any model and every method, where `compile()` specialises the whole step of `Variational()`. Results are the
        same to rounding; the code is kept on disk. Raises ModelError when llvmlite is not installed.
        """
        from symplectree.symbolic.formula_code import compile_formulas

        compiled = replace(self, formula_code=compile_formulas(self))
        compiled.freeze()
        return compiled

    def with_parameters(self, values: Mapping[str, Any]) -> Model:
        """The model with other numbers, as if it had been built with them: {"arm.mass": 2, "spring.stiffness": 30}.

        values: by name, as `linearize(parameters=…)` takes them (`symplectree.linearization.parameters` lists all); all
            numbers of a quantity ("arm.at": (0, 0, -1)) or one of them ("arm.at.z": -1).

        What a name does not say is held: a mass changes with its centre and its inertia about that as they are. Native
        code of `compile()` is for the old numbers, and is left out. Raises ModelError for a name that means nothing here,
        and for numbers that no mechanism can have.
        """
        from symplectree.linearization.with_parameters import changed

        return changed(self, values)

    def without_contact(self) -> Model:
        """The same model without `Contact`, `JointLimit` and `JointFriction`, for methods that do not know them."""
        from symplectree.mechanism.unilateral import without_contact

        return without_contact(self)

    def info(self) -> str:
        """A picture of the tree in text, with masses, coordinates and elements, and questions about numbers that look as
        if they had the wrong unit."""
        from symplectree.mechanism.info import describe

        return describe(self)


def refuse_followers(model: Model, but: str) -> None:
    """Raise ModelError when a coordinate follows another: the sentence names both and goes on as `but` says."""
    if model.followers is not None:
        name, follower = next(iter(model.followers.by_name.items()))
        raise ModelError(f"coordinate {name!r} follows {follower.leader!r}, {but}")


def unknown_coordinate(model: Model, name: object, known: Sequence[str], what: str = "coordinate") -> str:
    """A sentence that says that the model has no such coordinate: whom it follows, or the nearest names."""
    if model.followers is None or not isinstance(name, str):
        return unknown(what, name, list(known))
    followers = model.followers.by_name
    if (found := followers.get(name)) is not None:
        return (
            f"coordinate {name!r} follows {found.leader!r} by constraint {found.element!r}, so it is none of the model's "
            f"own; give {found.root!r} instead"
        )
    place = model.full.joints.get(name)
    own = model.full.coordinates[place.q] if place is not None else ()
    if followed := [n for n in own if n in followers]:
        left = [n for n in own if n not in followers] or dict.fromkeys(followers[n].root for n in followed)
        return (
            f"of joint {name!r} {' and '.join(map(repr, followed))} follow{'s' * (len(followed) == 1)} others; "
            f"give {' and '.join(map(repr, left))} by name"
        )
    return unknown(what, name, list(known))
