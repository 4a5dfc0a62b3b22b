"""The variational step of one mechanism as native code (`Model.compile`)."""

from __future__ import annotations

import hashlib
import sys
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from symplectree.elements.rows import LineRow, WrenchRow
from symplectree.errors import ModelError
from symplectree.symbolic import llvm, variational_step_llvm
from symplectree.symbolic.native_code import NativeCode, native_code

if TYPE_CHECKING:
    from symplectree.mechanism.model import Model

LARGEST = 100  # coordinates; compiling takes half a minute there, and gains a fifth of the time


@dataclass(frozen=True)
class StepCode:
    """Addresses of the two functions that compiled_scheme.hpp of the core calls, how many numbers of scratch they need,
    and the seconds that compiling took (0 from the cache)."""

    code: NativeCode
    direction: int
    check: int
    work: int
    seconds: float


def compile_step(model: Model, *, progress: bool | None = None) -> StepCode:
    """Code for the step of `model`; raises ModelError naming what it has no code for."""
    llvm.require()
    _require_plain(model)
    start = time.perf_counter()
    code = native_code(
        ("step", _digest(model)),
        ["direction", "check", "work"],
        lambda module: variational_step_llvm.emit(module, model),
    )
    seconds = time.perf_counter() - start
    if progress or (progress is None and seconds > 1):
        how = f"compiled in {seconds:.1f} s" if code.seconds else f"read from the cache in {seconds:.2f} s"
        print(f"symplectree: step of {model.nv} coordinates {how}", file=sys.stderr)
    work = llvm.call_size(code.address("work"))
    return StepCode(code, code.address("direction"), code.address("check"), work, code.seconds)


def _digest(model: Model) -> str:
    """Of all that the code depends on."""
    digest = hashlib.sha256()
    names = ("parent", "kind", "axis", "pitch", "placement", "mass", "com", "inertia", "gravity", "q_start", "v_start")
    damped = np.array(sorted({damper.v for damper in model.tables.joint_dampers}))
    poses = [model.formulas[k].pose for k in sorted(model.formulas)]
    tapes = [part for pose in poses for part in (pose.code, pose.constants)]
    for array in (*(getattr(model, name) for name in names), model.armature != 0, damped, *tapes):
        array = np.ascontiguousarray(array)
        digest.update(f"{array.dtype}{array.shape}".encode() + array.tobytes())
    return digest.hexdigest()


def _require_plain(model: Model) -> None:
    tables = model.tables
    for kind, what in ((LineRow, "acts between two points"), (WrenchRow, "is a load on a frame")):
        if rows := tables.of_kind(kind):
            name = model.elements[rows[0].owner].name
            raise ModelError(f"element {name!r} {what}, for which no step is compiled; use the model as it is")
    if pairs := tables.all_pairs():
        name = model.elements[pairs[0].owner].name
        raise ModelError(
            f"element {name!r} acts between two bodies, for which no step is compiled; use the model as it is"
        )
    for user in tables.users:
        if user.kind == "force":
            name = model.elements[user.owner].name
            raise ModelError(
                f"element {name!r} is a force function, for which no step is compiled; use the model as it is"
            )
    for row in tables.actuators:
        limits = [*row.force_range, *(() if row.dynamics else row.control_range)]
        if np.isfinite(limits).any():
            name = model.elements[row.owner].name
            raise ModelError(f"actuator {name!r} has limits, for which no step is compiled; use the model as it is")
    for limit in tables.force_limits:
        name = model.elements[limit.owner].name
        raise ModelError(f"element {name!r} limits forces, for which no step is compiled; use the model as it is")
    if model.rows:
        raise ModelError(
            f"constraint {model.rows[0]!r} closes a loop, for which no step is compiled; use the model as it is"
        )
    if model.massless:
        raise ModelError(
            f"coordinate {model.massless[0]!r} moves no mass and must be prescribed, for which no step is compiled"
        )
    if model.nv > LARGEST:
        raise ModelError(
            f"the model has {model.nv} coordinates; steps are compiled for up to {LARGEST}; more gain little: "
            "use the model as it is"
        )
    damped = {damper.v for damper in tables.joint_dampers}
    for place in model.joints.values():
        own = range(place.v.start, place.v.stop)
        if place.joint.nq != place.joint.nv and any(model.armature[j] != 0 or j in damped for j in own):
            raise ModelError(
                f"joint {place.joint.name!r} has rotor inertia or damping on a rotation in space, for which no step is "
                "compiled; use the model as it is"
            )
