"""How many arithmetic operations an expression takes, after common subexpressions are shared (GL09 Table 1)."""

from collections import Counter
from dataclasses import dataclass
from typing import Any

from symplectree.formula.tape import instructions

ADDITIONS = frozenset({"ADD", "SUB", "NEG"})
MULTIPLICATIONS = frozenset({"MUL", "DIV", "SQ", "TWICE", "INV"})
FREE = frozenset({"CONST", "INPUT", "OUTPUT", "PARAMETER", "ASSIGN"})


@dataclass(frozen=True)
class OperationCount:
    """`additions` (with subtractions and changes of sign), `multiplications` (with divisions), `functions` (sine,
    root and all else)."""

    additions: int
    multiplications: int
    functions: int

    @property
    def total(self) -> int:
        """Additions and multiplications."""
        return self.additions + self.multiplications


def count(function: Any) -> OperationCount:
    """Operations in the instruction list of a CasADi function of SX."""
    used = Counter(name for name, *_ in instructions(function))
    additions = sum(n for name, n in used.items() if name in ADDITIONS)
    multiplications = sum(n for name, n in used.items() if name in MULTIPLICATIONS)
    free = sum(n for name, n in used.items() if name in FREE)
    return OperationCount(additions, multiplications, used.total() - additions - multiplications - free)
