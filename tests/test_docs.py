"""README and the pages of docs/: every Python block runs, every link leads somewhere, every name in tables exists.

The blocks of a page run in order in one process, in an empty folder that holds the repository's `models`. A comment
directly before a block excepts it: `<!-- not run: reason -->`, or `<!-- needs MODULE -->` where that is not installed.
"""

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


def run(page: Path, folder: Path, more: str = "") -> subprocess.CompletedProcess:
    """Run a page's blocks, and `more` after them, with the line numbers of the page in tracebacks."""
    code: list[str] = []
    for block in filter(runs, python_blocks(page)):
        code += [""] * (block.first - 1 - len(code)) + block.lines
    script = folder / f"{page.stem}.py"
    script.write_text("\n".join([*code, more]), encoding="utf-8")
    (folder / "models").symlink_to(ROOT / "models")
    return subprocess.run(
        [sys.executable, script], cwd=folder, env={**os.environ, "MPLBACKEND": "Agg"},
        capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip


@pytest.mark.parametrize("page", [p for p in PAGES[1:] if python_blocks(p)], ids=lambda p: p.stem)  # README: below
def test_python_blocks_run(page, tmp_path):
    done = run(page, tmp_path)
    assert done.returncode == 0, done.stderr


def test_marks_have_a_reason():
    for page in PAGES:
        for block in blocks(page):
            where = f"{page.name}:{block.first}: {block.mark}"
            assert not block.mark or re.fullmatch(r"<!-- (not run: \w.{8,}|needs \w+) -->", block.mark), where
            if block.language == "python":
                compile("\n".join(block.lines), where, "exec")  # what is not run is Python at least


def test_most_pages_have_examples():
    assert sum(bool(python_blocks(page)) for page in PAGES) >= 8  # or this file reads nothing


def test_readme_prints_digits_of_the_accurate_solution(tmp_path):
    compare = """
reference = st.simulate(model, {"shoulder": 0.7}, duration=5.0, dt=0.01, method=st.Adaptive(rtol=1e-12, atol=1e-12))
print(reference.energy[-1].round(3), reference.pose("tip")[-1, :3, 3].round(3))
"""
    done = run(ROOT / "README.md", tmp_path, compare)
    assert done.returncode == 0, done.stderr
    here, accurate = done.stdout.splitlines()
    assert here == accurate
    assert f"# {here}, in J and m" in (ROOT / "README.md").read_text(encoding="utf-8")


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
    names = {p.name for folder in ("examples", "models") for p in (ROOT / folder).iterdir()}
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
