"""Bring docs/benchmarks.md and all figures that pages quote up to date with docs/benchmarks.json.

That file is one of those that `symplectree bench --out docs` writes.

    python docs/quote_benchmarks.py

A table below `<!-- from benchmarks.json: BENCHMARK, TABLE -->` keeps its columns and rows: the cells of the report's table
with the same titles and keys are filled in. A paragraph below `<!-- from benchmarks.json: BENCHMARK -->` becomes what the
benchmark says in sentences.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from symplectree.bench import Table
from symplectree.bench.pages import Summary, markdown

DOCS = Path(__file__).parent
PAGES = (DOCS.parent / "README.md", *(DOCS / f"{name}.md" for name in ("speed", "many-runs", "control")))
MARK = re.compile(r"<!-- from benchmarks\.json: (\w+)(?:, ([^>]*?))? -->\n\n(.*?)(?=\n\n|\n?\Z)", re.S)


def quoted(page: str, report: dict[str, Any]) -> str:
    """The text of a page with the figures of a report; raises ValueError for what the report does not have."""
    outcomes = {outcome["name"]: outcome for outcome in report["outcomes"]}

    def fill(found: re.Match[str]) -> str:
        name, title, text = found.groups()
        if name not in outcomes:
            raise ValueError(f"the report has no benchmark {name!r}")
        if title is None:
            new = " ".join(outcomes[name]["sentences"])
        else:
            tables = {table["title"]: Table.from_json(table) for table in outcomes[name]["tables"]}
            if title not in tables:
                raise ValueError(f"{name} has no table {title!r}; it has {', '.join(tables)}")
            new = filled(text, tables[title])
        return found[0].removesuffix(text) + new

    return MARK.sub(fill, page)


def filled(text: str, table: Table) -> str:
    """A Markdown table with the cells of a report's."""
    head, rule, *lines = text.splitlines()
    titles = [cell.partition(" [")[0] for cell in _cells(head)]
    place = {column.title: k for k, column in enumerate(table.columns)}
    if strange := [title for title in titles if title not in place]:
        raise ValueError(f"{table.title} has no column {strange[0]!r}; it has {', '.join(place)}")
    shown = [[c.text(cell) for c, cell in zip(table.columns, row, strict=True)] for row in table.rows]
    keys = [k for k, column in enumerate(table.columns) if column.key]
    rows = {tuple(row[k] for k in keys): row for row in shown}
    asked = [titles.index(table.columns[k].title) for k in keys]
    new = [head, rule]
    for line in lines:
        key = tuple(_cells(line)[k] for k in asked)
        if key not in rows:
            raise ValueError(f"{table.title} has no row {', '.join(key)}")
        new.append("| " + " | ".join(rows[key][place[title]] for title in titles) + " |")
    return "\n".join(new)


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def main() -> None:
    report = json.loads((DOCS / "benchmarks.json").read_text(encoding="utf-8"))
    texts = {page: quoted(page.read_text(encoding="utf-8"), report) for page in PAGES}
    texts[DOCS / "benchmarks.md"] = markdown(Summary.from_json(report))
    for page, after in texts.items():
        before = page.read_text(encoding="utf-8")
        page.write_text(after, encoding="utf-8")
        print(f"{page.name}: {'as it was' if before == after else 'changed'}")


if __name__ == "__main__":
    main()
