"""README and the pages of docs/: every Python block runs, every link leads somewhere, every name in tables exists.

The blocks of a page run in order in one process, in an empty folder. A comment after a `print` that begins with a number, a
list or True shows what is printed, `# 0.25, in m`; it must be that, and what a much more accurate run prints. A comment
directly before a block excepts it: `<!-- not run: reason -->`, or `<!-- needs MODULE -->` where that is not installed.
"""

import json
import os
import re
import subprocess
import sys
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import pytest

import symplectree as st

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
LINKED = [*PAGES, ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md"]


@dataclass
class Block:
    """A fenced block: its language, the comment before it, the number of its first line, and its lines."""

    language: str
    mark: str
    first: int
    lines: list[str]


def blocks(page: Path) -> list[Block]:
    """All fenced blocks of a page."""
    found: list[Block] = []
    inside = False
    lines = page.read_text(encoding="utf-8").splitlines()
    for number, line in enumerate(lines, 1):
        if line.startswith("```"):
            inside = not inside
            if inside:
                before = lines[number - 2] if number > 1 else ""
                found.append(Block(line[3:].strip(), before if before.startswith("<!--") else "", number + 1, []))
        elif inside:
            found[-1].lines.append(line)
    assert not inside, f"{page.name}: a block is not closed"
    return found


def runs(block: Block) -> bool:
    """Whether a Python block is to be run here."""
    needed = re.fullmatch(r"<!-- needs (\w+) -->", block.mark)
    return find_spec(needed[1]) is not None if needed else not block.mark


def python_blocks(page: Path) -> list[Block]:
    return [block for block in blocks(page) if block.language == "python"]


def run(page: Path, folder: Path, *, accurate: bool = False) -> dict[int, list[str]]:
    """Run a page's blocks, with the line numbers of the page in tracebacks; by line: what it prints, each time.

    accurate: up to the last line whose result the page shows, with the errors of steps removed (see page_runner.py).
    """
    code: list[str] = []
    for block in filter(runs, python_blocks(page)):
        code += [""] * (block.first - 1 - len(code)) + block.lines
    if accurate:
        del code[max(shown_results(page)) :]
    folder.mkdir()
    script, output = folder / f"{page.stem}.py", folder / "printed.json"
    script.write_text("\n".join(code), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, Path(__file__).with_name("page_runner.py"), script, output, *["accurate"] * accurate],
        cwd=folder, env={**os.environ, "MPLBACKEND": "Agg"}, capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    printed: dict[int, list[str]] = {}
    for line, text in json.loads(output.read_text(encoding="utf-8")):
        printed.setdefault(line, []).append(text)
    return printed


def shown_results(page: Path) -> dict[int, str]:
    """By line: the comment after a `print` of a block that runs, where it begins with a number, a list or True."""
    found = {}
    for block in filter(runs, python_blocks(page)):
        for number, line in enumerate(block.lines, block.first):
            comment = re.fullmatch(r" *print\(.*\)  # ((?:[-\d\[(]|True|False|Frame ).*)", line)
            if comment:
                found[number] = comment[1]
    return found


@pytest.mark.parametrize("page", [p for p in PAGES if python_blocks(p)], ids=lambda p: str(p.relative_to(ROOT)))
def test_pages_run_and_print_what_they_show_and_what_is_true(page, tmp_path):
    """From top to bottom, and all digits shown are those of the accurate solution."""
    shown = shown_results(page)
    runs_of_it = [run(page, tmp_path / "plain")]
    if shown:
        runs_of_it.append(run(page, tmp_path / "accurate", accurate=True))
    for printed in runs_of_it:
        for line, comment in shown.items():
            for text in printed[line]:
                rest = comment.removeprefix(text)
                assert rest != comment or not text, f"{page.name}:{line} shows {comment!r}, but is {text!r}"
                assert not rest or rest[0] in ",:;", f"{page.name}:{line} shows {comment!r}, but is {text!r}"


def test_most_pages_show_results():
    assert sum(len(shown_results(page)) for page in PAGES) >= 18


def test_marks_have_a_reason():
    for page in PAGES:
        for block in blocks(page):
            where = f"{page.name}:{block.first}: {block.mark}"
            assert not block.mark or re.fullmatch(r"<!-- (not run: \w.{8,}|needs \w+) -->", block.mark), where
            if block.language == "python":
                compile("\n".join(block.lines), where, "exec")  # what is not run is Python at least


def test_most_pages_have_examples():
    assert sum(bool(python_blocks(page)) for page in PAGES) >= 8  # or this file reads nothing


def anchors(page: Path) -> set[str]:
    """The anchors that GitHub gives to the headings of a page."""
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.S)
    titles = re.findall(r"^#+ (.*)$", text, re.M)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


@pytest.mark.parametrize("page", LINKED, ids=lambda p: str(p.relative_to(ROOT)))
def test_links_and_pictures_are_there(page):
    for target in re.findall(r"\]\(([^)\s]+)\)", page.read_text(encoding="utf-8")):
        if "://" in target:
            continue
        path, _, anchor = target.partition("#")
        there = (page.parent / path).resolve() if path else page
        assert there.exists(), f"{page.name} links to {target}"
        assert not anchor or anchor in anchors(there), f"{page.name} links to {target}, which has no such heading"


def test_index_lists_every_page():
    index = (ROOT / "docs/README.md").read_text(encoding="utf-8")
    assert all(f"({p.name})" in index for p in PAGES if p.name != "README.md")


def test_index_names_every_public_name():
    table = (ROOT / "docs/README.md").read_text(encoding="utf-8").split("## Public names")[1]
    missing = set(st.__all__) - set(re.findall(r"\w+", table))
    assert not missing


def test_files_that_pages_name_exist():
    """Scripts, models and folders in `code`, as README's table of folders and the tables of examples have them."""
    names = {p.name for folder in ("examples", "models", "benchmarks") for p in (ROOT / folder).iterdir()}
    own = {"arm.sexp", "anymal.sexp"}  # of the reader
    for page in PAGES:
        text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.S)
        for code in re.findall(r"`([^`\n]+)`", text):
            if re.fullmatch(r"[a-z_0-9]+\.(py|sexp)", code):
                assert code in names | own, f"{page.name} names {code}"
            elif re.fullmatch(r"(src|core|docs|tests|examples|models|benchmarks)(/[\w./]*)?", code):
                assert (ROOT / code).exists(), f"{page.name} names {code}"
            elif re.match(r"python [\w/]+\.py", code):
                assert (ROOT / code.split()[1]).is_file(), f"{page.name} names {code}"


def test_contributing_names_paths_that_exist():
    page = ROOT / "CONTRIBUTING.md"
    for block in blocks(page):
        if block.mark.startswith("<!-- order of "):
            top = ROOT / block.mark.split()[3]
            for line in block.lines:
                name = line.split()[0].partition("/{")[0]
                assert (top / name).is_dir() or (top / f"{name}.py").is_file(), f"{top.name}/{name} is not there"
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.S)
    named = [code for code in re.findall(r"`([\w./]+/[\w./]*)`", text) if "NAME" not in code]
    assert len(named) > 15
    for code in named:
        assert any((top / code).exists() for top in (ROOT, ROOT / "src", ROOT / "src/symplectree")), (
            f"{code} is not there"
        )
