"""The figures that pages quote are those of docs/benchmarks.json, and docs/benchmarks.md is made of it."""

import importlib.util
import json
import re
from pathlib import Path

import pytest

from symplectree.bench import Column, Table, ratio
from symplectree.bench.pages import Summary, markdown

ROOT = Path(__file__).parents[2]
SPEC = importlib.util.spec_from_file_location("quote_benchmarks", ROOT / "docs/quote_benchmarks.py")
quote = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(quote)
REPORT = json.loads((ROOT / "docs/benchmarks.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("page", quote.PAGES, ids=lambda p: p.name)
def test_pages_quote_the_report(page):
    text = page.read_text(encoding="utf-8")
    assert quote.MARK.search(text)
    assert text == quote.quoted(text, REPORT), "python docs/quote_benchmarks.py brings it up to date"


def test_main_tables_are_quoted():
    """No table of figures of the two sections has lost its mark."""
    readme, speed, *_ = (page.read_text(encoding="utf-8") for page in quote.PAGES)
    for part in (
        readme.split("## How fast")[1],
        *(speed.split(f"## {t}")[1] for t in ("One step", "Continuous dynamics")),
    ):
        before = part.split("\n## ")[0].split("| --- |")[0]
        assert "from benchmarks.json" in before


def test_the_page_is_made_of_the_file():
    text = (ROOT / "docs/benchmarks.md").read_text(encoding="utf-8")
    assert text == markdown(Summary.from_json(REPORT)), "python docs/quote_benchmarks.py brings it up to date"
    assert all((ROOT / "docs" / name).is_file() for name in re.findall(r"\((pictures/[^)]+)\)", text))
    assert Summary.from_json(REPORT).as_json() == REPORT and not REPORT["quick"]


TABLE = Table("t", (Column("n", format="d", key=True), Column("ours", "µs"), ratio()), rows=[[1, 2.0, 0.5], [9, 3, 4]])
MADE = {"outcomes": [{"name": "b", "sentences": ["One.", "Two."], "tables": [TABLE.as_json()]}]}
PAGE = """Before.

<!-- from benchmarks.json: b, t -->

| n | ratio |
| --- | --- |
| 9 | 0 |

<!-- from benchmarks.json: b -->

Said
long ago.

After 0.
"""


def test_only_what_is_marked_changes():
    new = quote.quoted(PAGE, MADE)
    assert new == PAGE.replace("| 9 | 0 |", "| 9 | 4.00 |").replace("Said\nlong ago.", "One. Two.")
    assert quote.quoted(new, MADE) == new


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (": b, t", ": c, t", "no benchmark 'c'"),
        (": b, t", ": b, u", "b has no table 'u'; it has t"),
        ("| 9 |", "| 7 |", "t has no row 7"),
        ("| ratio |", "| theirs |", "t has no column 'theirs'; it has n, ours, ratio"),
    ],
)
def test_what_the_report_lacks_is_named(old, new, said):
    with pytest.raises(ValueError, match=said):
        quote.quoted(PAGE.replace(old, new), MADE)
