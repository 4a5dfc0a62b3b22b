"""What a benchmark reports: tables, sentences and pictures, printed as they come and kept in a file for the report of all.

    parser = report_parser(__doc__)
    given = parser.parse_args()
    report = Report(__doc__, given.report)
    table = report.table("One step", Column("n", format="d", key=True), Column("ours", "µs"), Column("peer", "µs"), ratio())
    table.add(10, 1.4, 2.5, 0.56)

The file is JSON, and whole after every row, so that a benchmark which is stopped leaves what it did.
"""

from __future__ import annotations

import argparse
import json
import math
import re
import textwrap
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from numbers import Integral
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from symplectree.io.atomic_write import replacing

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MISSING = "-"


@dataclass(frozen=True)
class Column:
    """A column of a table.

    | name | meaning |
    | --- | --- |
    | title, unit | what stands above it |
    | format | how its numbers are written, as `format()` takes it |
    | key | whether it is one of those that tell a row from the others |
    | better | of ratios of ours to a peer's: on which side of 1 ours is better, "below" or "above" |
    """

    title: str
    unit: str = ""
    format: str = ".2f"
    key: bool = False
    better: Literal["", "below", "above"] = ""

    @property
    def heading(self) -> str:
        return f"{self.title} [{self.unit}]" if self.unit else self.title

    def text(self, value: Any) -> str:
        """A cell as it is shown."""
        if value is None or (isinstance(value, float) and math.isnan(value)):
            return MISSING
        return value if isinstance(value, str) else format(value, self.format)


def ratio(title: str = "ratio", *, better: Literal["below", "above"] = "below", format: str = ".2f") -> Column:
    """A column of ratios, ours to a peer's."""
    return Column(title, better=better, format=format)


def _nothing() -> None:
    pass


@dataclass
class Table:
    """Rows below columns; `note` says what one has to know to read it, and `changed` is called after every row."""

    title: str
    columns: tuple[Column, ...]
    note: str = ""
    rows: list[list[Any]] = field(default_factory=list)
    changed: Callable[[], None] = _nothing

    @classmethod
    def from_json(cls, given: dict[str, Any]) -> Table:
        return cls(given["title"], tuple(Column(**c) for c in given["columns"]), given["note"], given["rows"])

    def as_json(self) -> dict[str, Any]:
        columns = [asdict(c) for c in self.columns]
        return {"title": self.title, "note": self.note, "columns": columns, "rows": self.rows}

    def add(self, *cells: Any) -> None:
        """A row: a number or a text for each column, None where there is none."""
        if len(cells) != len(self.columns):
            raise ValueError(f"{self.title}: a row of {len(cells)} cells below {len(self.columns)} columns")
        row = [_plain(cell) for cell in cells]
        self.rows.append(row)
        print(self._line([c.text(cell) for c, cell in zip(self.columns, row, strict=True)]), flush=True)
        self.changed()

    def print_head(self) -> None:
        print(f"\n{self.title}" + (f": {self.note}" if self.note else ""))
        print(self._line([c.heading for c in self.columns]), flush=True)

    def _line(self, cells: list[str]) -> str:
        widths = [max(26 if c.key and not c.format.endswith("d") else 6, len(c.heading)) for c in self.columns]
        aligned = ("<" if c.key else ">" for c in self.columns)
        return "  ".join(f"{x:{a}{w}}" for x, a, w in zip(cells, aligned, widths, strict=True)).rstrip()


class Report:
    """What a benchmark says: `text` is the docstring of its script, but for lines of shell and the file that it writes.

    path: the file to write; none when left out. Pictures go to the folder that the script runs in.
    """

    def __init__(self, text: str, path: Path | None = None) -> None:
        paragraphs = [p for p in textwrap.dedent(text).strip().split("\n\n") if not p.startswith(("    ", "python "))]
        self.text = [re.sub(r" Writes \S+\.png\.", "", " ".join(p.split())) for p in paragraphs]
        self.path = path
        self.tables: list[Table] = []
        self.sentences: list[str] = []
        self.left_out: dict[str, str] = {}
        self.pictures: list[dict[str, str]] = []
        self._write()

    def table(self, title: str, *columns: Column, note: str = "") -> Table:
        """A new table, to which rows are added."""
        table = Table(title, columns, note, changed=self._write)
        self.tables.append(table)
        table.print_head()
        return table

    def say(self, sentence: str) -> None:
        """A result that needs no table."""
        self.sentences.append(sentence)
        print(sentence, flush=True)
        self._write()

    def leave_out(self, who: str, why: str) -> None:
        """That somebody or something is not in the tables, and why."""
        self.left_out[who] = why
        print(f"left out: {who}, {why}", flush=True)
        self._write()

    def picture(self, figure: Figure, file: str, caption: str) -> None:
        figure.savefig(file, dpi=110)
        self.pictures.append({"file": file, "caption": caption})
        print(f"\npicture written to {file}")
        self._write()

    def _write(self) -> None:
        if self.path is None:
            return
        whole = {
            "text": self.text, "tables": [table.as_json() for table in self.tables], "sentences": self.sentences,
            "left_out": self.left_out, "pictures": self.pictures,
        }  # fmt: skip
        replacing(self.path, lambda new: new.write_text(json.dumps(whole, ensure_ascii=False), encoding="utf-8"))


def report_parser(text: str) -> argparse.ArgumentParser:
    """A parser for a benchmark's own options, which has --report."""
    parser = argparse.ArgumentParser(description=text, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--report", type=Path, metavar="FILE", help="write the results to a file, as JSON")
    return parser


def _plain(cell: Any) -> Any:
    """A cell as JSON has it: six digits are more than any measurement has; nan and infinity are no numbers there."""
    if cell is None or isinstance(cell, str):
        return cell
    if isinstance(cell, Integral):
        return int(cell)
    number = float(f"{float(cell):.6g}")
    return number if math.isfinite(number) else None if math.isnan(number) else "inf"
