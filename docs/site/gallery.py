"""The gallery: every example run, with its picture, what it prints, its motion in the page, and a notebook to download."""

from __future__ import annotations

import ast
import html
import json
import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).parents[2]
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))


def title(example: Path) -> tuple[str, str]:
    """The first sentence of an example's docstring, and the rest of it without the line that says how to run it."""
    first, _, rest = (ast.get_docstring(ast.parse(example.read_text(encoding="utf-8"))) or example.stem).partition(
        "\n\n"
    )
    rest = "\n\n".join(part for part in rest.split("\n\n") if not part.startswith("python "))
    return " ".join(first.split()).rstrip("."), rest


def run(example: Path, folder: Path) -> str:
    """Run an example in a folder of its own, which then holds its pictures and pages; what it prints."""
    folder.mkdir(parents=True)
    environment = {**os.environ, "MPLBACKEND": "Agg"}
    done = subprocess.run(
        [sys.executable, example], cwd=folder, env=environment, capture_output=True, text=True, timeout=900, check=False
    )
    if done.returncode:
        raise RuntimeError(f"examples/{example.name} failed:\n{done.stderr}")
    return done.stdout


def program(example: Path) -> str:
    """The example without its docstring."""
    source = example.read_text(encoding="utf-8")
    head = ast.parse(source).body[0].end_lineno or 0
    return "\n".join(source.splitlines()[head:]).strip()


def notebook(example: Path) -> str:
    """The example as a Jupyter notebook: what it is about, and its code cut at double blank lines."""
    name, rest = title(example)
    code_as_written = program(example)
    code = code_as_written.replace("__file__", repr(f"examples/{example.name}"))
    where = "\n\nRun it from the project's folder, where `models/` is." if "__file__" in code_as_written else ""
    cells = [cell("markdown", f"# {name}\n\n{rest}{where}"), *(cell("code", part) for part in code.split("\n\n\n"))]
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    return json.dumps(
        {"cells": cells, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 4}, indent=1
    )


def cell(kind: str, text: str) -> dict[str, object]:
    common: dict[str, object] = {"cell_type": kind, "metadata": {}, "source": text.splitlines(keepends=True)}
    return common | ({"execution_count": None, "outputs": []} if kind == "code" else {})


def page(example: Path, folder: Path | None, printed: str, static: Path) -> str:
    """The page of one example; its pictures and pages are moved below `static`."""
    name, rest = title(example)
    parts = [f"# {name}", rest]
    for picture in sorted(folder.glob("*.png")) if folder else ():
        shutil.move(picture, static / picture.name)
        parts.append(f"![{name}](_static/examples/{picture.name})")
    for motion in sorted(folder.glob("*.html")) if folder else ():
        shutil.move(motion, static / motion.name)
        frame = (
            f'<iframe class="motion" loading="lazy" title="{html.escape(name)}" src="_static/examples/{motion.name}">'
        )
        parts.append(f"```{{raw}} html\n{frame}</iframe>\n```")
    if printed:
        parts.append(f"It prints:\n\n```text\n{printed.rstrip()}\n```")
    (static / f"{example.stem}.ipynb").write_text(notebook(example), encoding="utf-8")
    shutil.copy(example, static / example.name)
    link = '<p><a href="_static/examples/{0}" download>{1}</a></p>'
    downloads = link.format(example.name, "As a script") + link.format(f"{example.stem}.ipynb", "As a notebook")
    parts.append(f"```{{raw}} html\n{downloads}\n```")
    parts.append(f"```python\n{program(example)}\n```")
    return "\n\n".join(parts) + "\n"


def write_gallery(to: Path, work: Path, *, running: bool, jobs: int) -> None:
    """gallery.md and a page for each example; `running`: run them all, or show code alone."""
    static = to / "_static" / "examples"
    static.mkdir(parents=True)
    folders = {example: work / example.stem for example in EXAMPLES}
    printed = dict.fromkeys(EXAMPLES, "")
    if running:
        with ThreadPoolExecutor(jobs) as pool:
            printed = dict(zip(EXAMPLES, pool.map(run, EXAMPLES, folders.values()), strict=True))
    tiles, names = [], []
    for example in EXAMPLES:
        text = page(example, folders[example] if running else None, printed[example], static)
        (to / f"example-{example.stem}.md").write_text(text, encoding="utf-8")
        names.append(f"example-{example.stem}")
        pictures = sorted(static.glob(f"{example.stem}*.png"))
        image = f'<img src="_static/examples/{pictures[0].name}" alt="">' if pictures else ""
        label = html.escape(title(example)[0])
        tiles.append(f'<a href="example-{example.stem}.html">{image}<p>{label}</p></a>')
    lines = ["# Gallery", "", "The scripts of `examples/`, each with what it prints and draws.", "", "```{raw} html"]
    lines += ['<div class="gallery">', *tiles, "</div>", "```", "", "```{toctree}", ":hidden:", "", *names, "```", ""]
    (to / "gallery.md").write_text("\n".join(lines), encoding="utf-8")
