"""The report of all benchmarks: benchmarks.md, benchmarks.html with its pictures inside, and benchmarks.json."""

import base64
import html
import json
import re
import statistics
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from symplectree.bench.report import MISSING, Column, Table
from symplectree.bench.run import Outcome
from symplectree.io.atomic_write import replacing

HOW = (
    "Each benchmark is a script in a process of its own, in which we and our peers do the same work in turns. Times are "
    "CPU times, the best of several rounds; only those of one table compare, and ratios say more than times. A ratio is "
    "ours to the peer's: of times, below 1 is better for us, and of rates above 1, as the first table says."
)


@dataclass(frozen=True)
class Summary:
    """All benchmarks that were asked for, with what they were run on."""

    outcomes: list[Outcome]
    machine: dict[str, str]
    versions: dict[str, str]
    date: str
    quick: bool

    @classmethod
    def from_json(cls, given: dict[str, Any]) -> "Summary":
        return cls(**{**given, "outcomes": [Outcome.from_json(outcome) for outcome in given["outcomes"]]})

    def as_json(self) -> dict[str, Any]:
        return {**vars(self), "outcomes": [outcome.as_json() for outcome in self.outcomes]}

    @property
    def command(self) -> str:
        return "symplectree bench" + " --quick" * self.quick

    @property
    def paragraphs(self) -> list[str]:
        made = f"Made by `{self.command}` on {self.date}. {HOW}"
        where = ", ".join(f"{name} {what}" for name, what in self.machine.items())
        who = ", ".join(f"{name} {what}" for name, what in self.versions.items())
        return [made, f"Machine: {where}. Versions: {who}."]

    def rows(self) -> list[list[str]]:
        """Of each benchmark: what, beside whom, its ratios, and what became of it."""
        return [[o.name, o.about, _range(o), _state(o)] for o in self.outcomes]


HEADINGS = ["benchmark", "what", "ratios: least, median, largest", "done"]


def write(summary: Summary, out: Path) -> list[Path]:
    """Write the three files into a folder; raises ResultError."""
    texts: dict[str, Callable[[], str]] = {
        "benchmarks.json": lambda: json.dumps(summary.as_json(), ensure_ascii=False, indent=1) + "\n",
        "benchmarks.md": lambda: markdown(summary),
        "benchmarks.html": lambda: page(summary, out),
    }
    for name, text in texts.items():
        replacing(out / name, lambda new, text=text: new.write_text(text(), encoding="utf-8"))  # type: ignore[misc]
    return [out / name for name in texts]


def markdown(summary: Summary) -> str:
    lines = ["# Benchmarks", ""]
    for paragraph in summary.paragraphs:
        lines += [paragraph, ""]
    lines += [*_markdown_table(HEADINGS, summary.rows()), ""]
    for outcome in summary.outcomes:
        lines += [f"## {outcome.name}: {outcome.about}", ""]
        for paragraph in _paragraphs(outcome):
            lines += [paragraph.replace("|", "\\|"), ""]
        for table in outcome.tables:
            headings, rows = cells(table)
            lines += [f"**{table.title}**" + (f": {table.note}" if table.note else ""), ""]
            lines += [*_markdown_table(headings, rows), ""]
        for sentence in outcome.sentences:
            lines += [sentence, ""]
        for picture in outcome.pictures:
            lines += [f"![{picture['caption']}]({picture['file']})", ""]
    return "\n".join(lines)


def cells(table: Table) -> tuple[list[str], list[list[str]]]:
    """Headings and rows as they are shown; columns in which nobody has anything are left out."""
    shown = [[c.text(cell) for c, cell in zip(table.columns, row, strict=True)] for row in table.rows]
    kept = [k for k in range(len(table.columns)) if any(row[k] not in (MISSING, "") for row in shown)]
    return [table.columns[k].heading for k in kept], [[row[k] for k in kept] for row in shown]


def _markdown_table(headings: list[str], rows: list[list[str]]) -> list[str]:
    lines = [headings, ["---"] * len(headings), *rows]
    return ["| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines]


def _paragraphs(outcome: Outcome) -> list[str]:
    """What is measured, what is not, and why."""
    found = [text.replace("``", "`") for text in outcome.text]
    if outcome.state != "done":
        found.append(f"Not complete: {outcome.reason}." if outcome.tables else f"Not run: {outcome.reason}.")
    if outcome.left_out:
        found.append("Left out: " + "; ".join(f"{who}, {why}" for who, why in outcome.left_out.items()) + ".")
    return found


def _state(outcome: Outcome) -> str:
    return f"in {outcome.seconds:.0f} s" if outcome.state == "done" else f"{outcome.state}: {outcome.reason}"


def _range(outcome: Outcome) -> str:
    found = []
    for side, values in outcome.ratios.items():
        three = ", ".join(f"{value:.2g}" for value in (min(values), statistics.median(values), max(values)))
        found.append(f"{three} ({side} 1 is better)")
    return "; ".join(found) or MISSING


STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 70em; margin: 2em auto; padding: 0 1em; color: #222; }
table { border-collapse: collapse; margin: 0.5em 0 1.5em; font-variant-numeric: tabular-nums; }
th, td { padding: 0.2em 0.8em; border-bottom: 1px solid #ddd; text-align: right; }
th { border-bottom: 2px solid #888; } th.key, td.key { text-align: left; }
td.better { color: #06732e; font-weight: 600; } td.worse { color: #a33000; font-weight: 600; }
.wide { overflow-x: auto; } img { max-width: 100%; } .missing { color: #a33000; }
@media (prefers-color-scheme: dark) {
  body { background: #181a1b; color: #ddd; } th, td { border-color: #444; } img { background: #fff; } a { color: #8ab4f8; }
  td.better { color: #5fd38d; } td.worse, .missing { color: #ff9a6b; }
}
"""


def page(summary: Summary, out: Path) -> str:
    """The same as one file of HTML, to be opened anywhere; ratios are green where ours is better."""
    parts = [f"<p>{_inline(paragraph)}</p>" for paragraph in summary.paragraphs]
    links = [[f'<a href="#{row[0]}">{row[0]}</a>', *map(html.escape, row[1:])] for row in summary.rows()]
    kept = [[f'<td class="key">{cell}</td>' for cell in row] for row in links]
    parts.append(f"<nav>{_html_table(dict.fromkeys(HEADINGS, True), kept)}</nav>")
    for outcome in summary.outcomes:
        parts.append(f'<h2 id="{outcome.name}">{html.escape(f"{outcome.name}: {outcome.about}")}</h2>')
        for text in _paragraphs(outcome):
            missing = text.startswith(("Not ", "Left out: "))
            parts.append(f"<p{' class=missing' * missing}>{_inline(text)}</p>")
        parts += [_table_page(table) for table in outcome.tables]
        parts += [f"<p>{_inline(sentence)}</p>" for sentence in outcome.sentences]
        for picture in outcome.pictures:
            data = base64.b64encode((out / picture["file"]).read_bytes()).decode()
            parts.append(f'<img alt="{html.escape(picture["caption"])}" src="data:image/png;base64,{data}">')
    body = "\n".join(parts)
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>Symplectree: benchmarks</title>\n'
        f"<style>{STYLE}</style></head><body>\n<h1>Benchmarks</h1>\n{body}\n</body></html>\n"
    )


def _table_page(table: Table) -> str:
    headings, rows = cells(table)
    columns = {column.heading: column for column in table.columns}
    marked = [[_cell(cell, columns[heading]) for heading, cell in zip(headings, row, strict=True)] for row in rows]
    title = f"<p><b>{html.escape(table.title)}</b>{_inline(f': {table.note}') if table.note else ''}</p>"
    return f'{title}<div class="wide">{_html_table({name: columns[name].key for name in headings}, marked)}</div>'


def _cell(text: str, column: Column) -> str:
    """A cell, with a colour when it is a ratio."""
    kind = ' class="key"' if column.key else ""
    if column.better and re.fullmatch(r"[\d.]+(e-\d+)?|inf", text):
        kind = ' class="better"' if (float(text) < 1) == (column.better == "below") else ' class="worse"'
    return f"<td{kind}>{html.escape(text)}</td>"


def _html_table(headings: dict[str, bool], rows: list[list[str]]) -> str:
    """headings: by name, whether the column tells rows apart."""
    head = "".join(f"<th{' class=key' * key}>{html.escape(name)}</th>" for name, key in headings.items())
    return f"<table><tr>{head}</tr>" + "".join(f"<tr>{''.join(row)}</tr>" for row in rows) + "</table>"


def _inline(text: str) -> str:
    """A paragraph, with `code`."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", html.escape(text))
