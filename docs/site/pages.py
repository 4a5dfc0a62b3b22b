"""The manual's pages for the site: those of docs/, README, CONTRIBUTING and CHANGELOG, with links that lead inside it."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

ROOT = Path(__file__).parents[2]
# Of the page in the repository: its name on the site.
OTHERS = {"README.md": "index", "CONTRIBUTING.md": "contributing", "CHANGELOG.md": "changelog"}
FOLDERS = {"examples": "gallery.md"}  # what a link to a folder leads to
CHAPTERS = {
    "Start": ["gallery"],
    "Manual": [
        "models-and-files", "robots", "results", "integrators", "closed-chains", "contact", "formulas", "derivatives",
        "control", "many-runs", "speed", "benchmarks",
    ],
    "Background": ["theory", "papers", "validation", "other-simulators"],
    "Reference": ["api", "changelog", "contributing"],
}  # fmt: skip


def copied(page: Path, to: Path, own: set[str]) -> None:
    """Write `page` into the folder `to` under its name on the site; `own` are the names of all pages there."""
    name = site_name(page)
    text = page.read_text(encoding="utf-8")

    def link(found: re.Match[str]) -> str:
        mark, label, target = found.groups()
        if "://" in target or target.startswith("#"):
            return found[0]
        path, hash_mark, anchor = target.partition("#")
        there = (page.parent / path).resolve()
        if there.suffix == ".png":
            shutil.copy(there, to / "_static" / there.name)
            return f"{mark}[{label}](_static/{there.name})"
        if there.suffix == ".md" and site_name(there) in own:
            return f"[{label}]({site_name(there)}.md{hash_mark}{anchor})"
        inside = FOLDERS.get(there.name)
        return f"[{label}]({inside})" if inside else label

    text = re.sub(r"(!?)\[([^\]]*)\]\(([^)\s]+)\)", link, text)
    (to / f"{name}.md").write_text(text, encoding="utf-8")


def site_name(page: Path) -> str:
    """A page's name on the site."""
    if page.parent == ROOT:
        return OTHERS[page.name]
    return "contents" if page.name == "README.md" else page.stem


def write_pages(to: Path) -> None:
    """All pages; README is the first, and lists the others by chapters beside it.

    Raises ValueError for a page that no chapter lists.
    """
    found = [*(ROOT / name for name in OTHERS), *sorted((ROOT / "docs").glob("*.md"))]
    own = {site_name(page) for page in found}
    for page in found:
        copied(page, to, own)
    listed = {name for names in CHAPTERS.values() for name in names}
    if missing := own - listed - {"contents", "index"}:
        raise ValueError(f"docs/site/pages.py lists these pages in no chapter: {', '.join(sorted(missing))}")
    there = {p.stem for p in to.glob("*.md")}
    lines = [(to / "index.md").read_text(encoding="utf-8"), ""]
    for chapter, names in CHAPTERS.items():
        entries = [name for name in names if name in there]
        lines += ["```{toctree}", f":caption: {chapter}", ":hidden:", "", *entries, "```", ""]
    lines += ["```{toctree}", ":hidden:", "", "contents", "```", ""]
    (to / "index.md").write_text("\n".join(lines), encoding="utf-8")
