"""Models as notebooks show them."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from symplectree.mechanism.doubts import questions
from symplectree.mechanism.info import elements, links, size

if TYPE_CHECKING:
    from symplectree.mechanism.model import Model

MOST = 60  # links, and elements, that are listed
CELL = 'style="text-align:left;white-space:nowrap"'
TREE = 'style="text-align:left;white-space:pre;font-family:monospace"'


def to_html(model: Model, title: str) -> str:
    """A table of links with the tree drawn before their names, then elements and questions; long ones are cut."""
    found, listed = links(model), elements(model)
    rows = "".join(
        f"<tr><td {TREE}>{escape(link.lead + link.name)}</td>"
        + "".join(
            f"<td {CELL}>{escape(text)}</td>"
            for text in (link.joint.partition(": q =")[0], link.mass, ", ".join(link.frames))
        )
        + "</tr>"
        for link in found[:MOST]
    )
    head = "".join(f"<th {CELL}>{name}</th>" for name in ("link", "joint", "mass", "frames"))
    notes = [*listed[:MOST], *(f"question: {text}" for text in questions(model))]
    cut = [
        f"{len(all_) - MOST} more {what}" for what, all_ in (("links", found), ("elements", listed)) if len(all_) > MOST
    ]
    below = "".join(f"<div>{escape(text)}</div>" for text in [*notes, *cut])
    return f"<div><b>{escape(title)}</b> {escape(size(model))}</div><table><tr>{head}</tr>{rows}</table>{below}"
