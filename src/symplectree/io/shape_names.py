"""Names for the shapes that contacts refer to as objects, so that a text can refer to them."""

from collections import Counter
from dataclasses import replace
from typing import Any

from symplectree.elements import Contact, Element
from symplectree.mechanism.mechanism import Mechanism
from symplectree.mechanism.shapes import Shape


def with_shape_names(mechanism: Mechanism) -> tuple[list[Element], list[Shape]]:
    """The mechanism's elements and shapes, where contacts name their shapes, which get names unless they have their own."""
    contacts = {i: e for i, e in enumerate(mechanism.elements) if isinstance(e, Contact)}
    meant = [shape for e in contacts.values() for shape in _objects((e.a, e.b, e.pairs))]
    if not meant:
        return mechanism.elements, mechanism.shapes
    taken = Counter(shape.name for shape in mechanism.shapes)
    taken.update(frame.name for frame in mechanism.tree)
    names: dict[int, str] = {}
    shapes = list(mechanism.shapes)
    for i, shape in enumerate(shapes):
        if not any(shape is other for other in meant):
            continue
        name = shape.name
        if name is None or taken[name] > 1:
            name = next(n for k in range(1, len(shapes) + len(taken) + 2) if not taken[n := f"shape{k}"])
            taken[name] += 1
            shapes[i] = replace(shape, name=name)
        names[id(shape)] = name
    elements = list(mechanism.elements)
    for i, e in contacts.items():
        elements[i] = replace(e, a=_named(e.a, names), b=_named(e.b, names), pairs=_named(e.pairs, names))
    return elements, shapes


def _objects(given: Any) -> list[Shape]:
    if isinstance(given, tuple | list):
        return [shape for part in given for shape in _objects(part)]
    return [given] if isinstance(given, Shape) else []


def _named(given: Any, names: dict[int, str]) -> Any:
    if isinstance(given, tuple | list):
        return tuple(_named(part, names) for part in given)
    return names.get(id(given), given)
