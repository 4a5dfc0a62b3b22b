"""Joints and elements in a file: the syntax follows from the fields of their dataclasses.

The keyword is the class's name in kebab-case. Positional fields without default come first, in order; all others are
options `(field value …)`, and so may be the first ones. The last positional field takes all values that are left, so that
`(point-constraint "a" "b" 1 0 0)` and `(revolute "q" 0 1 0)` mean what they seem to. The types of the fields say what a
value may be. A class of the user's own needs no more than to be defined.
"""

import re
import types
from collections.abc import Callable, Sequence
from dataclasses import MISSING, Field, fields
from functools import cache
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import numpy as np

from symplectree.elements import Constraint
from symplectree.errors import ModelError, ModelSyntaxError
from symplectree.io.functions import FUNCTIONS, read_function, write_function
from symplectree.io.layout import Form, flat, number, text
from symplectree.io.reader import Node, Source, meant, nearest, shown
from symplectree.joints import Joint, JointLimits, SymbolicJoint
from symplectree.joints.limits import checked_limits
from symplectree.mechanism.mechanism import Frame
from symplectree.validation import real_array
from symplectree.validation import shown as shown_value

RESERVED = {"system", "mechanical-system", "gravity", "initial", "world", "link", "frame", "shape", *FUNCTIONS}
RESERVED |= {"tx", "ty", "tz", "rx", "ry", "rz", "keyframe", "limits"}
TRUTH = {"true": True, "false": False}
DEEPEST = 3  # lists in lists in lists: no value needs more


@cache
def kebab(name: str) -> str:
    """JointSpring and joint_spring as joint-spring."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", name).replace("_", "-").lower()


def keywords(base: type) -> dict[str, type]:
    """Every class below `base` by keyword; of two with the same one the package's own counts, then the newest."""
    found: dict[str, type] = {}
    waiting = [base]
    while waiting:
        cls = waiting.pop(0)
        waiting += cls.__subclasses__()
        key = kebab(cls.__name__)
        own = key in found and found[key].__module__.startswith("symplectree.")
        if cls not in (base, Constraint) and getattr(cls, "in_files", True) and not own and key not in RESERVED:
            found[key] = cls
    return found


@cache
def hints(cls: type) -> dict[str, Any]:
    """Types of a class's fields; Any for those that are not known."""
    try:
        known = get_type_hints(cls, localns={"Frame": Frame})
    except Exception:  # annotations may hold whatever a user's module does not define at run time
        known = {}
    return {f.name: known.get(f.name, Any) for f in fields(cls) if f.init}


def read_object(source: Source, node: Node, cls: type) -> Any:
    """The joint or element that a list describes; raises ModelSyntaxError."""
    options = {kebab(f.name): f for f in fields(cls) if f.init}
    given: dict[str, Any] = {}
    values: list[Node] = []
    for item in node.value[1:]:
        if item.keyword in options:
            field = options[item.keyword]
            if field.name in given:
                raise source.error(item.value[0].at, f"{item.keyword} of {node.keyword} is given twice")
            given[field.name] = _option(source, node, item, hints(cls)[field.name])
        elif item.keyword and item.keyword not in FUNCTIONS and item.keyword not in keywords(Joint):
            raise source.error(
                item.value[0].at, f"{node.keyword} has no option {item.value[0].value}", nearest(item.keyword, options)
            )
        else:
            values.append(item)
    _take_positional(source, node, cls, values, given)
    for f in fields(cls):
        if f.init and f.name not in given and f.default is MISSING and f.default_factory is MISSING:
            raise source.error(node.value[0].at, f"{node.keyword} needs {kebab(f.name)}", f"write {usage(cls)}")
    try:
        return cls(**given)
    except ModelError as error:
        raise source.error(node.value[0].at, f"{node.keyword}: {error}") from None


def _option(source: Source, owner: Node, item: Node, hint: Any) -> Any:
    values = item.value[1:]
    what = f"{item.keyword} of {owner.keyword}"
    if JointLimits in _alternatives(hint):
        return read_object(source, item, JointLimits)
    if not values:
        raise source.error(item.value[0].at, f"{what} has no value; it takes {described(hint)}")
    if len(values) > 1 and (_is_function(hint) or not _lists(hint)):
        raise source.error(values[1].at, f"{what} takes one value: {described(hint)}")
    value = values[0] if len(values) == 1 else Node("list", values, values[0].at)
    return read_value(source, value, hint, what)


def _take_positional(source: Source, node: Node, cls: type, values: list[Node], given: dict[str, Any]) -> None:
    """Give the values without keyword to the fields that are taken by position."""
    positional = [f for f in fields(cls) if f.init and not f.kw_only]
    for i, value in enumerate(values):
        field = positional[i] if i < len(positional) else None
        if field is None or field.name in given:
            what = f"{node.keyword} has no place for {shown(value)}"
            raise source.error(value.at, what, f"write {usage(cls)}")
        rest = values[i:] if i == len(positional) - 1 else []
        hint = hints(cls)[field.name]
        if len(rest) > 1 and _lists(hint):
            value = Node("list", rest, value.at)
        given[field.name] = read_value(source, value, hint, f"{kebab(field.name)} of {node.keyword}")
        if value.value is rest:
            return


def read_value(source: Source, node: Node, hint: Any, what: str, depth: int = 0) -> Any:
    """A number, text, tuple, joint or function, if the type lets it; raises ModelSyntaxError that says what it takes."""
    allowed = _alternatives(hint)
    anything = Any in allowed
    if node.kind == "number" and (anything or float in allowed):
        return node.value
    if node.kind == "number" and int in allowed and node.value == int(node.value):
        return int(node.value)
    if node.kind == "text" and (anything or str in allowed or node.value in _choices(hint)):
        return node.value
    if node.kind == "word" and bool in allowed and node.value.lower() in TRUTH:
        return TRUTH[node.value.lower()]
    if node.kind == "list" and node.keyword in FUNCTIONS and (anything or _is_function(hint)):
        return read_function(source, node)
    if node.kind == "list" and node.keyword in keywords(Joint) and (anything or Joint in allowed):
        return read_object(source, node, keywords(Joint)[node.keyword])
    if node.kind == "list" and not node.keyword and depth < DEEPEST and not _is_function(hint):
        items: list[Node] = node.value
        failed: ModelSyntaxError | None = None  # as the first of several kinds of lists
        for kind in _lists(hint):
            item_hints = _item_hints(kind, len(items))
            if item_hints is None:
                continue
            try:
                pairs = zip(items, item_hints, strict=True)
                return tuple(read_value(source, item, h, what, depth + 1) for item, h in pairs)
            except ModelSyntaxError as error:
                failed = failed or error
        if failed:
            raise failed
    if depth == DEEPEST and node.kind == "list":
        raise source.error(node.at, f"{what} takes no lists nested so deep")
    raise source.error(node.at, f"{what} takes {described(hint)}, not {_counted(node)}", _remedy(node, hint))


def _counted(node: Node) -> str:
    if node.kind == "list" and not node.keyword:
        return f"{len(node.value)} value{'s' * (len(node.value) != 1)}"
    return shown(node)


def _remedy(node: Node, hint: Any) -> str:
    allowed = _alternatives(hint)
    if node.keyword and _is_function(hint):
        return nearest(node.keyword, FUNCTIONS)
    if node.keyword and Joint in allowed:
        return nearest(node.keyword, keywords(Joint))
    return meant(node, str in allowed or Any in allowed)


def _alternatives(hint: Any) -> tuple[Any, ...]:
    if get_origin(hint) in (Union, types.UnionType):
        return tuple(a for member in get_args(hint) for a in _alternatives(member))
    return (hint,)


def _choices(hint: Any) -> list[Any]:
    """The texts of which a value is one."""
    return [choice for a in _alternatives(hint) if get_origin(a) is Literal for choice in get_args(a)]


def _is_function(hint: Any) -> bool:
    return any(get_origin(a) is Callable or a is Callable for a in _alternatives(hint))


def _lists(hint: Any) -> list[Any]:
    """The alternatives that are sequences of values."""
    kinds = (tuple, list, Sequence, np.ndarray)
    return [a for a in _alternatives(hint) if a is Any or a in kinds or get_origin(a) in kinds]


def _item_hints(kind: Any, count: int) -> list[Any] | None:
    """Types of the items of a sequence with `count` of them; None when it cannot have so many."""
    members = get_args(kind)
    if get_origin(kind) is not tuple:
        return [members[0] if get_origin(kind) in (list, Sequence) else Any] * count
    if len(members) == 2 and members[1] is Ellipsis:
        return [members[0]] * count
    return list(members) if len(members) == count else None


def described(hint: Any) -> str:
    """What a type lets a value be, in words."""
    if _is_function(hint):
        return "(table …), (formula …), (tape …), (spline …), (values …) or, of a joint, (pose …)"
    words = [text(choice) for choice in _choices(hint)]
    for a in _alternatives(hint):
        members = get_args(a) if get_origin(a) is tuple else ()
        if a in (float, int):
            words.append("a number" if a is float else "an integer")
        elif a is bool:
            words += TRUTH
        elif a is str:
            words.append("a text in quotes")
        elif a is Joint:
            words.append('a joint such as (revolute "q")')
        elif members and Ellipsis not in members:
            words.append(f"{len(members)} {'numbers' if set(members) == {float} else 'values'}")
        elif _lists(a):
            words.append("a list")
    return " or ".join(dict.fromkeys(words)) or "a value"


def usage(cls: type) -> str:
    """The form of a class: what comes by position, then the options."""
    parts = [kebab(cls.__name__)]
    for f in _ordered(cls):
        name = kebab(f.name)
        plain = f'"{name}"' if str in _alternatives(hints(cls)[f.name]) else name
        parts.append(plain if _positional(f) else f"({name} …)")
    return f"({' '.join(parts)})"


def _ordered(cls: type) -> list[Field[Any]]:
    """The fields in the order of writing: those taken by position, options, the name of an element."""
    given = [f for f in fields(cls) if f.init]
    return sorted(given, key=lambda f: (not _positional(f), f.kw_only, f.kw_only and f.name == "name"))


def _positional(f: Field[Any]) -> bool:
    return not f.kw_only and f.default is MISSING and f.default_factory is MISSING


def write_object(given: Any, what: str, base: type) -> Form:
    """The form of a joint or element; raises ModelError that says `what` cannot be written."""
    given = given.written() if isinstance(given, SymbolicJoint) else given
    cls: type = type(given)
    if not getattr(cls, "in_files", True):
        raise ModelError(f"{what} cannot be written: it is made of functions of Python")
    if keywords(base).get(kebab(cls.__name__)) is not cls:
        raise ModelError(f"{what} cannot be written: the keyword {kebab(cls.__name__)} is that of something else")
    return write_fields(given, what)


def write_fields(given: Any, what: str) -> Form:
    """The form of any dataclass; see `write_object`."""
    cls: type = type(given)
    form = Form([kebab(cls.__name__)])
    for f in _ordered(cls):
        value, hint, owner = getattr(given, f.name), hints(cls)[f.name], f"{f.name} of {what}"
        default = f.default if f.default_factory is MISSING else f.default_factory()
        if value is None and default is None:
            continue
        written = _written_field(value, hint, owner)
        if _positional(f):
            form.items.append(written[0] if len(written) == 1 else Form(written))
        elif default in (MISSING, None) or flat(Form(written)) != flat(Form(_written_field(default, hint, owner))):
            form.items.append(Form([kebab(f.name), *written]))
    return form


def _written_field(value: Any, hint: Any, what: str) -> list[str | Form]:
    """What stands behind an option's keyword: the value, or the values of a sequence of several."""
    if _is_function(hint):
        try:
            return [write_function(value, what.split()[0])]
        except ModelError as error:
            raise ModelError(f"{what} cannot be written: {error}") from None
    if isinstance(value, JointLimits):
        return write_fields(checked_limits(what, value), what).items[1:]
    if bool in _alternatives(hint):
        return [next(word for word, meant in TRUTH.items() if meant == bool(value))]
    written = _written_value(value, what)
    several = isinstance(written, Form) and not isinstance(value, Joint) and len(written.items) > 1
    return written.items if isinstance(written, Form) and several else [written]


def _written_value(value: Any, what: str) -> str | Form:
    if isinstance(value, str):
        return text(value)
    if isinstance(value, Frame):
        return text(value.name)
    if isinstance(value, Joint):
        return write_object(value, what, Joint)
    if isinstance(value, tuple | list):
        return Form([_written_value(item, what) for item in value])
    try:
        array = real_array(value)
    except TypeError:
        raise ModelError(f"{what} is {shown_value(value)}, which cannot be written") from None
    if array.ndim > 0:
        return Form([_written_value(item, what) for item in array])
    if not np.isfinite(array):
        raise ModelError(f"{what} is {array}, not a finite number")
    return number(float(array))
