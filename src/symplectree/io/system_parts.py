"""Parts of a system in a file that are neither frames nor elements: named starts, and limits."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from symplectree.errors import ModelError
from symplectree.io.layout import Form, number, text
from symplectree.io.objects import read_object, write_fields
from symplectree.io.reader import Node, Source, meant, nearest, shown
from symplectree.joints import JointLimits
from symplectree.joints.limits import checked_limits
from symplectree.mechanism.inertia import vector
from symplectree.mechanism.keyframes import Keyframe
from symplectree.mechanism.mechanism import Mechanism
from symplectree.validation import shown as shown_value

KEYFRAME = ("q", "v", "controls", "activation", "time")

BY_NAME = ("controls", "activation")


def read_values(source: Source, part: Node, what: str) -> dict[str, Any]:
    """Values by name, of `("name" value …) …`; one number alone, several as a tuple."""
    found: dict[str, Any] = {}
    for item in part.value[1:]:
        if item.kind != "list" or len(item.value) < 2 or item.value[0].kind != "text":
            raise source.error(item.at, f'{what} takes ("name" value …) for each joint')
        name = item.value[0].value
        if name in found:
            raise source.error(item.value[0].at, f'{what} gives "{name}" twice')
        values = tuple(_number(source, n, f'{what} value of "{name}"') for n in item.value[1:])
        found[name] = values[0] if len(values) == 1 else values
    return found


def write_values(owner: str, quantity: str, given: Any) -> list[str | Form]:
    """What `read_values` reads."""
    if not isinstance(given, Mapping) or not all(isinstance(name, str) for name in given):
        raise ModelError(f"{quantity} of {owner} is {shown_value(given)}; give values by name")
    return [
        Form([text(name), *map(number, vector(owner, f"{quantity} {name!r}", value, max(np.size(value), 1)))])
        for name, value in given.items()
    ]


def read_keyframe(source: Source, part: Node, mechanism: Mechanism) -> None:
    """Add `(keyframe "name" (q …) (v …) (controls …) (activation …) (time t))` to the mechanism."""
    name, rest = _named(source, part, mechanism.keyframes)
    given: dict[str, Any] = {}
    for item in rest:
        key = _option(source, item, "keyframe", KEYFRAME, given)
        values = item.value[1:]
        if key == "time":
            if len(values) != 1:
                raise source.error(item.value[0].at, f"time takes one number, not {len(values)} values")
            given[key] = _number(source, values[0], "time")
        elif key not in BY_NAME and values and values[0].kind == "number":
            given[key] = tuple(_number(source, n, key) for n in values)
        else:
            given[key] = read_values(source, item, key)
    mechanism.keyframes[name] = Keyframe(**given)


def write_keyframe(name: Any, keyframe: Any) -> Form:
    """What `read_keyframe` reads."""
    owner = f"keyframe {name!r}"
    if not isinstance(name, str) or not isinstance(keyframe, Keyframe):
        raise ModelError(f"{owner} is {shown_value(keyframe)}; give a Keyframe by a name")
    form = Form(["keyframe", text(name)])
    for key in ("q", "v", *BY_NAME):
        value = getattr(keyframe, key)
        if key in BY_NAME or isinstance(value, Mapping):
            written = write_values(owner, key, value)
        else:
            written = [number(x) for x in vector(owner, key, value, max(np.size(value), 1))]
        form.items += [Form([key, *written])] if written else []
    time = float(vector(owner, "time", keyframe.time, 1)[0])
    form.items += [Form(["time", number(time)])] if time else []
    return form


def read_limits(source: Source, part: Node, mechanism: Mechanism) -> None:
    """Add `(limits "name" (lower x) (upper x) …)` to the mechanism."""
    name, rest = _named(source, part, mechanism.limits)
    mechanism.limits[name] = read_object(source, Node("list", [part.value[0], *rest], part.at), JointLimits)


def write_limits(name: Any, limits: Any) -> Form:
    """What `read_limits` reads."""
    if not isinstance(name, str) or not isinstance(limits, JointLimits):
        raise ModelError(f"limits of {name!r} are {shown_value(limits)}; give JointLimits by a name")
    what = f"limits of {name!r}"
    return Form(["limits", text(name), *write_fields(checked_limits(what, limits), what).items[1:]])


def _named(source: Source, part: Node, taken: Mapping[str, Any]) -> tuple[str, list[Node]]:
    """The name that a form begins with, and the rest of it."""
    key, values = part.keyword, part.value[1:]
    if not values or values[0].kind != "text":
        bad = values[0] if values else part.value[0]
        raise source.error(bad.at, f'{key} begins with its name in quotes: ({key} "x" …)', meant(bad, bool(values)))
    name = values[0].value
    if name in taken:
        raise source.error(values[0].at, f'{key} "{name}" is given twice')
    return name, values[1:]


def _option(source: Source, item: Node, owner: str, known: tuple[str, ...], given: Mapping[str, Any]) -> str:
    """The keyword of one of an owner's options, which has not been given yet."""
    if not item.keyword:
        raise source.error(item.at, f"{owner} has no place for {shown(item)}", f"its options: {', '.join(known)}")
    if item.keyword not in known:
        raise source.error(
            item.value[0].at, f"{owner} has no option {item.value[0].value}", nearest(item.keyword, known)
        )
    if item.keyword in given:
        raise source.error(item.value[0].at, f"{item.keyword} of {owner} is given twice")
    return item.keyword


def _number(source: Source, node: Node, what: str) -> float:
    if node.kind != "number":
        raise source.error(node.at, f"{what} takes a number, not {shown(node)}", meant(node, False))
    return float(node.value)
