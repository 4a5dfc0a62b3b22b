"""The same expressions for every body, computed for several bodies at once in the lanes of vector instructions."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from symplectree.formula.tape import instructions
from symplectree.symbolic import llvm
from symplectree.symbolic.algebra import Scalar, is_number


@dataclass
class Table:
    """Quantities of all bodies: a row for each quantity, whose entries lie side by side in memory.

    A quantity that is the same number for all bodies has no row; it stays a number in the expressions.
    """

    bodies: int
    lanes: int
    start: int = 0  # where in the scratch memory the table begins
    rows: int = 0
    entries: list[list[Scalar]] = field(default_factory=list)  # of each row, one for each body

    @property
    def width(self) -> int:
        return -(-self.bodies // self.lanes) * self.lanes

    @property
    def size(self) -> int:
        return self.rows * self.width

    def offset(self, row: int, body: int) -> int:
        return self.start + row * self.width + body

    def add(self, values: Sequence[Scalar], symbol: Any) -> Scalar:
        """A quantity by its values for each body: the number that it is for all, or `symbol` for its row."""
        if all(is_number(x) and x == values[0] for x in values):
            return values[0]
        self.entries.append(list(values))
        self.rows += 1
        return symbol


def lanes_for(bodies: int) -> int:
    """How many bodies at once."""
    return 1 if bodies == 1 else 2 if bodies == 2 else 4


def emit_lanes(module: Any, name: str, function: Any, table: Table, results: Table) -> None:
    """Add a function that computes a CasADi function of the rows of `table` (one vector of them) for all bodies."""
    rows = list(instructions(function))
    groups = []
    for first in range(0, table.width, table.lanes):
        groups.append(f"{name}.{first}")
        _emit_group(module, groups[-1], rows, table, results, first)
    llvm.emit_row_of_calls(module, name, groups)


def _emit_group(module: Any, name: str, rows: Sequence[Any], table: Table, results: Table, first: int) -> None:
    """The bodies from `first` on that lie side by side."""
    ir, _ = llvm.require()
    group = llvm.new_function(module, name)
    builder, work = ir.IRBuilder(group.append_basic_block()), group.args[2]
    emitter = llvm.Emitter(module, builder, table.lanes)
    kind = emitter.type.as_pointer()

    def address(offset: int) -> Any:
        return builder.bitcast(builder.gep(work, [llvm.index(offset)]), kind)

    def load(_: int, row: int) -> Any:
        constants = table.entries[row]
        if all(is_number(x) for x in constants):
            own = [constants[i] if i < len(constants) else 0.0 for i in range(first, first + table.lanes)]
            return ir.Constant(emitter.type, own[0] if table.lanes == 1 else own)
        return builder.load(address(table.offset(row, first)), align=8)

    def store(_: int, row: int, value: Any) -> None:
        builder.store(value, address(results.offset(row, first)), align=8)

    llvm.run(emitter, rows, load, store)
    builder.ret_void()
