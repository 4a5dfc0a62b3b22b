"""From text to nested lists that know their position: the lowest layer of the s-expression format."""

import difflib
import math
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal

from symplectree.errors import ModelSyntaxError

OPENING = '"“”„'
CLOSING = {'"': '"', "“": '”“"', "”": '”“"', "„": '“”"'}
ESCAPES = {"n": "\n", "t": "\t", "r": "\r", '"': '"', "\\": "\\"}
SHOWN = 120  # characters of a source line that an error quotes
LISTED = 40  # words that an error lists

_SPACE = re.compile(r"(?:\s|;[^\n]*)+")
_WORD = re.compile(rf"[^\s();{OPENING}]+")
_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_NOT_FINITE = re.compile(r"[+-]?(?:nan|inf|infinity)", re.IGNORECASE)
_CODE = re.compile(r"\\u([0-9a-fA-F]{4})")
_INDENTED = re.compile(r"^[ \t]*\(", re.MULTILINE)
_NO_TEXT = re.compile(r"[\x00-\x08\x0e-\x1f\x7f]")


@dataclass(slots=True, eq=False)
class Node:
    """A word, a text in quotes, a number, or a list of nodes in parentheses; `at` is where it begins in the source."""

    kind: Literal["word", "text", "number", "list"]
    value: Any
    at: int

    @property
    def keyword(self) -> str:
        """The word that a list begins with, in small letters; empty where there is none."""
        return word(self.value[0]) if self.kind == "list" and self.value else ""


@dataclass(frozen=True)
class Source:
    """The text that is read, and where it came from."""

    text: str
    filename: str

    def error(self, at: int, what: str, hint: str = "") -> ModelSyntaxError:
        """An error that shows the line and a caret below the character `at`, and a hint what to do."""
        at = min(at, len(self.text))
        begin = self.text.rfind("\n", 0, at) + 1
        end = self.text.find("\n", at)
        line, column = self.text.count("\n", 0, at) + 1, at - begin + 1
        shown = self.text[begin : end if end >= 0 else len(self.text)]
        before = column - 1
        if len(shown) > SHOWN:
            cut = max(0, before - SHOWN // 2)
            shown, before = ("…" if cut else "") + shown[cut : cut + SHOWN], before - cut + (cut > 0)
        shown = "".join(c if c == "\t" or c.isprintable() else "�" for c in shown)
        lead = "".join("\t" if c == "\t" else " " for c in shown[:before])
        message = f"{self.filename}:{line}:{column}: {what}\n{shown}\n{lead}^" + (f"\n{hint}" if hint else "")
        return ModelSyntaxError(message, filename=self.filename, line=line, column=column)

    def place(self, at: int) -> str:
        """file:line:column of the character `at`."""
        line, column = self.text.count("\n", 0, at) + 1, at - self.text.rfind("\n", 0, at)
        return f"{self.filename}:{line}:{column}"


def decoded(data: bytes, filename: str) -> str:
    """The text of a file; raises ModelSyntaxError where it is not UTF-8."""
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        source = Source(data.decode("utf-8-sig", errors="replace"), filename)
        at = len(data[: error.start].decode("utf-8-sig", errors="replace"))
        raise source.error(at, "this is not UTF-8 text", "save the file as UTF-8; is it a model at all?") from None


def parse(text: str, filename: str) -> tuple[Source, Node]:
    """The one list that a text holds; raises ModelSyntaxError where parentheses, quotes or numbers are wrong."""
    source = Source(text.replace("\r\n", "\n").replace("\r", "\n").removeprefix("\ufeff"), filename)
    text = source.text
    if found := _NO_TEXT.search(text):
        code = f"U+{ord(found[0]):04X}"
        raise source.error(found.start(), f"the character {code} does not belong here", "is this a binary file?")
    root: Node | None = None
    open_lists: list[Node] = []
    at = 0
    while True:
        if space := _SPACE.match(text, at):
            at = space.end()
        if at >= len(text):
            break
        if root is not None and not open_lists:
            what = "this parenthesis closes nothing" if text[at] == ")" else "the model ended before this"
            raise source.error(at, what, "remove it, or move the last parenthesis of the model behind it")
        if text[at] == ")":
            if not open_lists:
                raise source.error(at, "this parenthesis closes nothing", "a model begins with (system")
            open_lists.pop()
            at += 1
            continue
        if text[at] == "(":
            node = Node("list", [], at)
            at += 1
        else:
            node, at = _atom(source, at)
        if open_lists:
            open_lists[-1].value.append(node)
        elif node.kind == "list":
            root = node
        else:
            raise source.error(node.at, f"a model begins with (system, not {shown(node)}")
        if node.kind == "list":
            open_lists.append(node)
    if root is None:
        raise source.error(
            len(text), "there is no model in this text", "a model looks like (system (gravity 0 0 -9.81) …)"
        )
    if open_lists:
        missing = len(open_lists)
        hint = f"the text ends with {missing} parenthes{'is' if missing == 1 else 'es'} open; "
        if (suspect := _misplaced(source, root)) is not None:
            hint += f"to judge by the indentation, one is missing before {source.place(suspect.at)}"
        else:
            hint += f"add {')' * min(missing, 8)}{' …' if missing > 8 else ''}"
        raise source.error(open_lists[-1].at, "this parenthesis is not closed", hint)
    return source, root


def _misplaced(source: Source, root: Node) -> Node | None:
    """The first list that begins its line no further right than one that it stands in, though lines are indented."""
    indents = {found.end() - 1: found.end() - 1 - found.start() for found in _INDENTED.finditer(source.text)}
    waiting = [root]
    while waiting:
        node = waiting.pop()
        inside = [item for item in node.value if item.kind == "list"]
        for item in inside:
            if 0 < indents.get(item.at, 0) <= indents.get(node.at, 0):
                return item
        waiting += reversed(inside)
    return None


def _atom(source: Source, at: int) -> tuple[Node, int]:
    """The text, number or word at a position, and where it ends."""
    if source.text[at] in OPENING:
        return _quoted(source, at)
    found = _WORD.match(source.text, at)
    assert found is not None  # spaces, parentheses and quotes were ruled out
    name = found[0]
    if _NUMBER.fullmatch(name):
        if not math.isfinite(value := float(name)):
            raise source.error(at, f"{name} is too large for a number")
        return Node("number", value, at), found.end()
    if _NOT_FINITE.fullmatch(name):
        raise source.error(at, f"{name} is not a finite number")
    return Node("word", name, at), found.end()


def _quoted(source: Source, begin: int) -> tuple[Node, int]:
    """The text in quotes at a position, and where it ends; it must end on its line."""
    text, closing = source.text, CLOSING[source.text[begin]]
    parts: list[str] = []
    at = begin + 1
    while at < len(text) and text[at] != "\n":
        if text[at] in closing:
            return Node("text", "".join(parts), begin), at + 1
        if text[at] != "\\":
            parts.append(text[at])
            at += 1
        elif code := _CODE.match(text, at):
            parts.append(chr(int(code[1], 16)))
            at = code.end()
        elif text[at + 1 : at + 2] in ESCAPES:
            parts.append(ESCAPES[text[at + 1]])
            at += 2
        else:
            raise source.error(at, "unknown escape in a text", r"there are \\ for one \, and \" \n \t \r \u0000")
    raise source.error(
        begin,
        "this text is not closed on its line",
        "add a quotation mark at its end, or where one is missing before it",
    )


def word(node: Node) -> str:
    """A word in the one spelling that keywords have; empty for what is no word."""
    return node.value.lower().replace("_", "-") if node.kind == "word" else ""


def shown(node: Node) -> str:
    """A node as an error message names it."""
    if node.kind == "text":
        return f'the text "{node.value}"'
    if node.kind == "number":
        return f"the number {node.value:g}"
    if node.kind == "word":
        return node.value
    return f"({node.keyword} …)" if node.keyword else "a list"


def nearest(given: str, known: Iterable[str]) -> str:
    """A hint: the nearest of the known words, or all of them."""
    known = sorted(set(known))
    near = difflib.get_close_matches(given, known, n=2)
    listed = ", ".join(known[:LISTED]) + (" …" if len(known) > LISTED else "")
    return f"did you mean {' or '.join(near)}?" if near else f"known here: {listed}"


def meant(node: Node, text_allowed: bool) -> str:
    """A hint for a word or text that stands where something else belongs."""
    if node.kind not in ("word", "text"):
        return ""
    bare = re.sub("[−–]", "-", node.value.strip("'"))
    if _NUMBER.fullmatch(bare):
        return f"did you mean {bare}?"
    if bare[:1].isdigit():
        return "numbers look like 1, -0.5 or 2e-3"
    return f'did you mean "{bare}"?' if text_allowed and node.kind == "word" else ""
