"""The reference: every public name with its signature and docstring, a page for each row of the table in docs/README.md."""

from __future__ import annotations

import inspect
import re
import textwrap
from pathlib import Path
from typing import Any

import symplectree as st

ROOT = Path(__file__).parents[2]
MANY = 14  # parameters
NO_ARGUMENTS = {"Units", "Unit", "Raises", "Returns", "Then", "Here", "Note"}  # words before a colon


def groups() -> dict[str, list[str]]:
    """The rows of the table of public names: what they are for → names as they are called, such as `control.lqr`."""
    table = (ROOT / "docs/README.md").read_text(encoding="utf-8").split("## Public names")[1]
    found = {}
    for title, names in re.findall(r"^\| ([^|`]+) \| (.*) \|$", table, re.M):
        if set(title) <= {"-", " "} or title == "for":
            continue
        words = re.findall(r"`((?:[a-z_]+\.)?[A-Za-z_]\w*)`", names)
        found[title] = [word for word in words if found_object(word) is not None]
    return found


def found_object(name: str) -> Any:
    """What a name of the table means; None for what is no object of its own, as methods are."""
    thing: Any = st
    for part in name.split("."):
        thing = getattr(thing, part, None)
    return thing if callable(thing) else None


def markdown(doc: str) -> str:
    """A docstring as Markdown: what begins with `names: ` at its margin becomes a list, with what is indented below."""
    out: list[str] = []
    in_list = False
    for line in inspect.cleandoc(doc).splitlines():
        found = re.match(r"(\w+(?:, \w+)*): (.+)", line)
        if found and found[1] not in NO_ARGUMENTS:
            out += [] if in_list else [""]
            out.append(f"- `{found[1]}`: {found[2]}")
            in_list = True
        elif in_list and line.startswith("    "):
            out.append("  " + line.strip())
        else:
            out += [""] if in_list and line else []
            out.append(line)
            in_list = False
    return "\n".join(out)


def signature(call: str, thing: Any) -> str:
    """The call as it would be typed, with defaults; types are in the docstring's words."""
    try:
        parameters = list(inspect.signature(thing).parameters.values())
    except ValueError:
        parameters = []
    words, keyword_only = [], False
    for p in parameters:
        if p.name == "self":
            continue
        if p.kind is p.KEYWORD_ONLY and not keyword_only:
            keyword_only = True
            words.append("*")
        stars = {p.VAR_POSITIONAL: "*", p.VAR_KEYWORD: "**"}.get(p.kind, "")
        keyword_only = keyword_only or stars == "*"
        words.append(stars + p.name + ("" if p.default is p.empty else f"={default(p.default)}"))
    if len(words) > MANY:  # results, which users do not make
        return f"```python\n{call}\n```"
    lines = textwrap.wrap(f"{call}({', '.join(words)})", 100, subsequent_indent="    ", break_on_hyphens=False)
    return "```python\n" + "\n".join(lines) + "\n```"


def default(value: Any) -> str:
    text = repr(value)
    return "..." if "<" in text else text


def methods(thing: type) -> list[tuple[str, Any]]:
    """Public methods and properties that a class defines itself and that have a docstring."""
    members = [(n, m) for n, m in vars(thing).items() if not n.startswith("_")]
    return [(n, m) for n, m in members if isinstance(m, property | staticmethod | classmethod) or inspect.isfunction(m)]


def entry(name: str) -> str:
    """The section of one public name."""
    thing = found_object(name)
    parts = [f"## {name}", signature(f"st.{name}", thing), markdown(thing.__doc__ or "")]
    if inspect.isclass(thing):
        for member, value in methods(thing):
            doc = inspect.getdoc(value)
            if not doc:
                continue
            parts.append(f"### {name}.{member}")
            if not isinstance(value, property):
                parts.append(signature(f".{member}", getattr(thing, member)))
            parts.append(markdown(doc))
    return "\n\n".join(parts)


def write_reference(to: Path) -> None:
    """api.md and a page for each group."""
    lines = ["# Reference", "", "With `import symplectree as st`; units are SI, angles in radians.", ""]
    pages = []
    for title, names in groups().items():
        if not names:
            continue
        page = "api-" + re.sub(r"\W+", "-", title.lower()).strip("-")
        pages.append(page)
        body = "\n\n".join(entry(name) for name in names)
        (to / f"{page}.md").write_text(f"# {title[0].upper()}{title[1:]}\n\n{body}\n", encoding="utf-8")
    lines += ["```{toctree}", ":maxdepth: 2", "", *pages, "```", ""]
    (to / "api.md").write_text("\n".join(lines), encoding="utf-8")
