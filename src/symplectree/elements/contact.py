"""Contact of shapes, with Coulomb's friction."""

from __future__ import annotations

import difflib
from dataclasses import dataclass, field
from itertools import product
from typing import Any

from symplectree.elements.contract import Element, Lowering
from symplectree.elements.rows import ContactPairRow
from symplectree.errors import ModelError
from symplectree.validation import shown

ALL = "*"
MOST_NAMED = 8  # in a message


@dataclass(frozen=True)
class Contact(Element):
    """Shapes that cannot pass through each other: they push where they touch, and rub there.

    a, b: a `Shape` of `Mechanism.shapes`, the name of one, or a frame by name, which means all its shapes; "*" means all
        shapes there are. Shapes of one body, and with "*" those of neighbours in the tree, are no pair.
    pairs: in place of a and b, many at once: groups (a, b, c, …) of which a meets each of the others.
    friction: µ of Coulomb's cone; the force along the surfaces is at most µ times the normal one. It holds without
        creeping while it can, and acts against sliding otherwise.
    restitution: how much of their speed of approach they keep in an impact, from 0 to 1 (no energy is lost).
    """

    a: Any = None
    b: Any = None
    pairs: Any = field(default=(), kw_only=True)
    friction: float = field(default=0.0, kw_only=True)
    restitution: float = field(default=0.0, kw_only=True)

    def add_rows(self, into: Lowering) -> Contact:
        friction, restitution = into.number(self.friction, "friction"), into.number(self.restitution, "restitution")
        if friction < 0:
            raise ModelError(f"{into.what}: friction is {friction:g}; it must be zero or more")
        if not 0 <= restitution <= 1:
            raise ModelError(f"{into.what}: restitution is {restitution:g}; give a number from 0 to 1")
        found: dict[tuple[int, int], None] = {}
        for a, b in self._given(into):
            first, second = self._shapes(into, "a", a), self._shapes(into, "b", b)
            every = ALL in (a, b)
            pairs = {
                (i, k) if a != b or i < k else (k, i)
                for i, k in product(first, second)
                if into.may_touch(i, k, neighbours=not every)
            }
            if not pairs:
                raise ModelError(
                    f"{into.what}: no shape of {shown(a)} can meet one of {shown(b)}; give shapes of two bodies"
                )
            found |= dict.fromkeys(pair for pair in sorted(pairs) if pair[::-1] not in found)
        for i, k in found:
            if (other := into.touching.setdefault((min(i, k), max(i, k)), into.what)) != into.what:
                raise ModelError(
                    f"{into.what}: {self._called(into, i)} and {self._called(into, k)} are a pair of {other} already, and "
                    "would push each other twice; leave one out"
                )
            row_a, row_b = into.shape_row(i), into.shape_row(k)
            into.tables.add(
                ContactPairRow(owner=into.owner, a=row_a, b=row_b, friction=friction, restitution=restitution)
            )
        return self

    def _given(self, into: Lowering) -> list[tuple[Any, Any]]:
        """Both of each two."""
        groups = self.pairs if isinstance(self.pairs, tuple | list) else ()
        if not groups and self.a is not None and self.b is not None:
            return [(self.a, self.b)]
        if groups and isinstance(groups[0], str):
            groups = (groups,)
        well = all(isinstance(group, tuple | list) and len(group) > 1 for group in groups)
        if not groups or not well or self.a is not None or self.b is not None:
            raise ModelError(f"{into.what}: give a and b, or pairs, such as [('floor', 'left foot', 'right foot')]")
        return [(group[0], other) for group in groups for other in group[1:]]

    def _shapes(self, into: Lowering, which: str, given: Any) -> list[int]:
        """Indices of the shapes that are meant."""
        if given == ALL:
            found = list(range(len(into.shapes)))
        elif isinstance(given, str):
            found = into.find_shapes(given)
            if not found and not self._is_frame(into, given):
                raise ModelError(
                    f"{into.what}: {which}: no shape and no frame is named {given!r}; {_hint(into, given)}"
                )
        else:
            found = into.find_shapes(given)
            if not found and not hasattr(given, "kind"):
                raise ModelError(
                    f"{into.what}: {which} is {shown(given)}; give a Shape, or the name of one or of a frame"
                )
        if not found:
            what = "the mechanism" if given == ALL else f"{given!r}" if isinstance(given, str) else "this"
            raise ModelError(
                f"{into.what}: {which}: {what} has no shape in Mechanism.shapes; add one: "
                "m.shapes.append(st.Shape(frame, 'sphere', 0.1))"
            )
        return found

    @staticmethod
    def _is_frame(into: Lowering, name: str) -> bool:
        try:
            into.find_frame(name)
        except ModelError:
            return False
        return True

    @staticmethod
    def _called(into: Lowering, index: int) -> str:
        """A shape by its name, or its kind and frame."""
        shape = into.shapes[index]
        return repr(shape.name) if shape.name else f"the {shape.kind} of {shape.frame!r}"


def _hint(into: Lowering, name: str) -> str:
    """The nearest names, or all there are."""
    known = list(dict.fromkeys(each for s in into.shapes for each in (s.name, s.frame) if each))
    near = difflib.get_close_matches(name, known, n=3)
    if near:
        return f"did you mean {' or '.join(map(repr, near))}?"
    more = f" and {len(known) - MOST_NAMED} more" if len(known) > MOST_NAMED else ""
    return f"there are {', '.join(map(repr, known[:MOST_NAMED])) or 'no shapes'}{more}"
