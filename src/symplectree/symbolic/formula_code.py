"""Formulas of one mechanism as native code instead of tapes (`Model.compile_formulas`)."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from symplectree.formula.tape import OPERATIONS, Tape
from symplectree.symbolic import llvm
from symplectree.symbolic.native_code import NativeCode, native_code

if TYPE_CHECKING:
    from symplectree.mechanism.model import Model

Slot = tuple[str, int, int]  # what ("joint", "element", "potential"), which, and order


@dataclass(frozen=True)
class FormulaCode:
    """Addresses of functions that do what tapes do, by the slot of the tape in the core's model."""

    code: NativeCode
    addresses: dict[Slot, int]


def tapes_of(model: Model) -> Iterator[tuple[Slot, Tape]]:
    """All tapes that the core executes for a model."""
    for index, body in enumerate(sorted(model.formulas)):
        for order, tape in enumerate(model.formulas[body].tapes):
            yield ("joint", index, order), tape
    for index, user in enumerate(model.tables.users):
        for order, tape in enumerate(user.tapes):
            yield ("element", index, order), tape
    for index, function in enumerate(model.tables.functions):
        if isinstance(function, Tape):
            yield ("potential", index, 0), function


def compile_formulas(model: Model) -> FormulaCode:
    """Native code of all formulas of a model; raises ModelError when llvmlite is not installed."""
    llvm.require()
    tapes = dict(tapes_of(model))
    names = {slot: f"{slot[0]}_{slot[1]}_{slot[2]}" for slot in tapes}

    def build(module: Any) -> None:
        for slot, tape in tapes.items():
            llvm.emit_parts(module, names[slot], instructions(tape), _access)

    code = native_code(("formulas", *(_digest(tape) for tape in tapes.values())), list(names.values()), build)
    return FormulaCode(code, {slot: code.address(name) for slot, name in names.items()})


def instructions(tape: Tape) -> list[tuple[str, list[int], list[int], float]]:
    """(operation, results, arguments, constant) of each instruction, as `formula.tape.instructions` gives of CasADi's."""
    rows: list[tuple[str, list[int], list[int], float]] = []
    for (code, result, first, second), constant in zip(tape.code.tolist(), tape.constants.tolist(), strict=True):
        name = OPERATIONS[code]
        if name == "CONST":
            rows.append((name, [result], [], constant))
        elif name == "INPUT":
            rows.append((name, [result], [0, first], 0.0))
        elif name == "OUTPUT":
            rows.append((name, [0, result], [first], 0.0))
        else:
            rows.append((name, [result], [first, second], 0.0))
    return rows


def _access(builder: Any, inputs: Any, outputs: Any, _: Any) -> tuple[llvm.Load, llvm.Store]:
    return llvm.Arrays(builder, inputs).load, llvm.Arrays(builder, outputs).store


def _digest(tape: Tape) -> str:
    digest = hashlib.sha256()
    for array in (tape.code, tape.constants):
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()
