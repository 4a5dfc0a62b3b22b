"""How a written model looks: numbers and texts as atoms, forms in parentheses, lines broken and indented."""

from __future__ import annotations

from dataclasses import dataclass, field

WIDTH = 100
SPECIAL = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r"}


def number(value: float) -> str:
    """The shortest digits that give the same float again: 1, 0.5, -0, 1e-09."""
    return repr(float(value)).removesuffix(".0")


def text(value: str) -> str:
    """A text in quotes, with escapes for what would not survive in a text file."""
    return '"' + "".join(_escaped(c) for c in value) + '"'


def _escaped(c: str) -> str:
    if c in SPECIAL:
        return SPECIAL[c]
    return f"\\u{ord(c):04x}" if ord(c) < 32 or c == "\x7f" or 0xD800 <= ord(c) < 0xE000 else c


@dataclass
class Form:
    """`items` in parentheses, on one line where they fit; `children` each begin a line of their own."""

    items: list[str | Form]
    children: list[Form] = field(default_factory=list)


def flat(form: str | Form) -> str:
    """A form without children on one line."""
    if isinstance(form, str):
        return form
    return "(" + " ".join(flat(item) for item in form.items) + ")"


def lines(form: Form, indent: int = 0) -> list[str]:
    """A form with everything in it, each child two spaces further in than its parent."""
    found = _filled(form, indent)
    for child in form.children:
        found += lines(child, indent + 2)
    found[-1] += ")"
    return found


def _filled(form: Form, indent: int) -> list[str]:
    """The items of a form, as many on each line as it holds; the last parenthesis is left out."""
    head, *rest = form.items or [""]
    found = [" " * indent + "(" + flat(head)]
    full = False  # has the last line ended with an item that did not fit on one?
    for item in rest:
        one = flat(item)
        if not full and len(found[-1]) + 1 + len(one) < WIDTH:
            found[-1] += " " + one
        elif isinstance(item, Form) and indent + 2 + len(one) >= WIDTH:
            found += lines(item, indent + 2)
            full = True
        else:
            found.append(" " * (indent + 2) + one)
            full = False
    return found
