"""The expressions of variational_step.py as two LLVM functions, in three parts each.

Turns and displacements go from body to body outward; momenta and Newton matrices are computed for several bodies at
once; then the sweeps go from body to body again. Between the parts values lie in scratch memory.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from symplectree.extras import extra
from symplectree.formula.tape import instructions
from symplectree.symbolic import llvm, variational_step
from symplectree.symbolic.algebra import Matrix, Scalar, Vector, is_number
from symplectree.symbolic.lanes import Table, emit_lanes, lanes_for

if TYPE_CHECKING:
    from symplectree.mechanism.model import Model

Local = tuple[Vector, Vector, list[Matrix]]  # force and torque of a body's momentum, blocks of its Newton matrix


def emit(module: Any, model: Model) -> None:
    """Add `direction`, `check` (see compiled_scheme.hpp) and `work`, which says how much scratch they need."""
    given = variational_step.given_symbols(model)
    bodies = variational_step.bodies_of(model, given)
    gravity = [float(g) for g in model.gravity]
    beginning = variational_step.turns(bodies, gravity, given, end=False)
    ending = variational_step.turns(bodies, gravity, given, end=True)

    def before(E: Matrix, d: Vector, mass: Scalar, com: Vector, J: Matrix, inverse_h: Scalar) -> list[Scalar]:
        force, torque = variational_step.momentum(E, d, mass, com, J, inverse_h, end=False)
        blocks = variational_step.newton_matrix(E, mass, com, J, inverse_h)
        return [*force, *torque, *(x for block in blocks for row in block for x in row)]

    def both(E: Matrix, d: Vector, mass: Scalar, com: Vector, J: Matrix, inverse_h: Scalar) -> list[Scalar]:
        first = variational_step.momentum(E, d[:3], mass, com, J, inverse_h, end=False)
        last = variational_step.momentum(E, d[3:], mass, com, J, inverse_h, end=True)
        return [*first[0], *first[1], *last[0], *last[1]]

    def solved(values: list[list[Scalar]]) -> list[Vector]:
        forces = [(x[:3], x[3:6]) for x in values]
        matrices = [[[x[6 + 9 * b + 3 * r :][:3] for r in range(3)] for b in range(4)] for x in values]
        return [variational_step.direction(bodies, forces, matrices, given)]

    def checked(values: list[list[Scalar]]) -> list[Vector]:
        r, scale = variational_step.residual(bodies, [(x[:3], x[3:6]) for x in values], given)
        return [r, scale, variational_step.end_momenta(bodies, [(x[6:9], x[9:12]) for x in values], model.nv)]

    moved = [(E, [*d, *after]) for (E, d), (_, after) in zip(beginning, ending, strict=True)]
    sizes = [
        _emit(module, "direction", bodies, given, beginning, local=before, sweep=solved),
        _emit(module, "check", bodies, given, moved, local=both, sweep=checked),
    ]
    llvm.emit_size(module, "work", max(sizes))


def _emit(
    module: Any,
    name: str,
    bodies: Sequence[variational_step.Body],
    given: variational_step.Given,
    turns: Sequence[tuple[Matrix, Vector]],
    *,
    local: Callable[..., list[Scalar]],
    sweep: Callable[[list[list[Scalar]]], list[Vector]],
) -> int:
    """Write one function; returns how many numbers of scratch it needs."""
    casadi = extra("casadi")

    SX: Any = casadi.SX
    count, lanes = len(bodies), lanes_for(len(bodies))
    before = Table(count, lanes)
    per_body = [_quantities(body, E, d) for body, (E, d) in zip(bodies, turns, strict=True)]
    symbols = SX.sym("x", len(per_body[0]) + 1)
    own: list[Scalar] = []
    for k in range(len(per_body[0])):
        own.append(before.add([values[k] for values in per_body], symbols[before.rows]))
    inverse_h = before.add([given.h[1]] * count, symbols[before.rows])
    d_size = len(turns[0][1])
    E, d = [own[3 * i : 3 * i + 3] for i in range(3)], own[9 : 9 + d_size]
    mass, com, J = own[9 + d_size], own[10 + d_size : 13 + d_size], own[13 + d_size :]
    outputs = local(E, d, mass, com, [J[3 * i : 3 * i + 3] for i in range(3)], inverse_h)
    after = Table(count, lanes, start=before.size)
    varying = [x for x in outputs if not is_number(x)]
    rows = SX.sym("y", len(varying) * count)
    values: list[list[Scalar]] = [[] for _ in bodies]
    for x in outputs:
        for k in range(count):
            values[k].append(x if is_number(x) else rows[after.rows * count + k])
        after.rows += 0 if is_number(x) else 1

    stored = [(row, k, x) for row, entries in enumerate(before.entries) if not all(map(is_number, entries))
              for k, x in enumerate(entries)]  # fmt: skip
    first = casadi.Function("first", given.vectors(), [_column([x for _, _, x in stored])], {"cse": True})
    middle = casadi.Function("middle", [symbols], [_column(varying)], {"cse": True})
    swept = sweep(values)
    last = casadi.Function("last", [*given.vectors(), rows], [_column(x) for x in swept], {"cse": True})

    scratch = before.size + after.size

    def spill(builder: Any, inputs: Any, _: Any, work: Any) -> tuple[llvm.Load, llvm.Store]:
        def store(_: int, entry: int, value: Any) -> None:
            row, k, _ = stored[entry]
            builder.store(value, builder.gep(work, [llvm.index(before.offset(row, k))]))

        return llvm.Arrays(builder, inputs).load, store

    def fetch(builder: Any, inputs: Any, results: Any, work: Any) -> tuple[llvm.Load, llvm.Store]:
        arguments = llvm.Arrays(builder, inputs)

        def load(array: int, entry: int) -> Any:
            if array < len(given.vectors()):
                return arguments.load(array, entry)
            row, k = divmod(entry, count)
            return builder.load(builder.gep(work, [llvm.index(after.offset(row, k))]))

        return load, llvm.Arrays(builder, results).store

    llvm.emit_parts(module, f"{name}.first", list(instructions(first)), spill, scratch)
    emit_lanes(module, f"{name}.middle", middle, before, after)
    llvm.emit_parts(module, f"{name}.last", list(instructions(last)), fetch, scratch)
    llvm.emit_row_of_calls(module, name, [f"{name}.{part}" for part in ("first", "middle", "last")])
    return scratch + max(first.sz_w(), last.sz_w())


def _quantities(body: variational_step.Body, E: Matrix, d: Vector) -> list[Scalar]:
    """All that the momentum of a body depends on, in one order."""
    return [*(x for row in E for x in row), *d, body.mass, *body.com, *(x for row in body.inertia for x in row)]


def _column(entries: Sequence[Scalar]) -> Any:
    casadi = extra("casadi")

    return casadi.densify(casadi.vertcat(casadi.SX(0, 1), *(casadi.SX(x) for x in entries)))
