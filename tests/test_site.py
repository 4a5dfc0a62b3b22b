"""What writes the site: docstrings as Markdown, links that lead inside it, examples as notebooks."""

import importlib.util
import sys
from pathlib import Path

import nbformat
import pytest

import symplectree as st

ROOT = Path(__file__).parents[1]


def module(name):
    """A module of docs/site, which is no package."""
    spec = importlib.util.spec_from_file_location(f"site_{name}", ROOT / "docs" / "site" / f"{name}.py")
    loaded = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = loaded
    spec.loader.exec_module(loaded)
    return loaded


api, gallery, pages = module("api"), module("gallery"), module("pages")


def test_arguments_become_a_list():
    doc = """What it does.

    q0, v0: where it starts,
        and how fast.
    dt: length of a step [s].
    Units: SI.

        code(1)
        more(2)
    """
    lines = api.markdown(doc).splitlines()
    assert lines[2:7] == ["", "- `q0, v0`: where it starts,", "  and how fast.", "- `dt`: length of a step [s].", ""]
    assert lines[7] == "Units: SI."
    assert lines[-2:] == ["    code(1)", "    more(2)"]


def test_reference_has_every_public_name(tmp_path):
    api.write_reference(tmp_path)
    text = "".join(p.read_text(encoding="utf-8") for p in tmp_path.glob("*.md"))
    public = {name for name in st.__all__ if callable(getattr(st, name))}
    missing = {name for name in public if f"## {name}\n" not in text}
    assert not missing
    assert "st.simulate(model, q0, v0=None, *, duration, dt, method=None" in text
    assert "object at 0x" not in text


def test_links_lead_inside_the_site(tmp_path):
    (tmp_path / "_static").mkdir()
    pages.write_pages(tmp_path)
    index = (tmp_path / "index.md").read_text(encoding="utf-8")
    assert "(integrators.md)" in index and "](docs/" not in index
    assert "(_static/show.png)" in index and (tmp_path / "_static" / "show.png").is_file()
    for page in tmp_path.glob("*.md"):
        assert "](../" not in page.read_text(encoding="utf-8"), page.name


def test_a_page_that_no_chapter_lists_is_an_error(tmp_path, monkeypatch):
    (tmp_path / "_static").mkdir()
    monkeypatch.setitem(pages.CHAPTERS, "Manual", ["robots"])
    with pytest.raises(ValueError, match="integrators"):
        pages.write_pages(tmp_path)


@pytest.mark.parametrize("example", gallery.EXAMPLES, ids=lambda p: p.stem)
def test_notebooks_are_valid_and_hold_the_whole_example(example):
    notebook = nbformat.reads(gallery.notebook(example), as_version=4)
    nbformat.validate(notebook)
    code = "\n\n\n".join(c["source"] for c in notebook.cells if c["cell_type"] == "code")
    compile(code, example.name, "exec")
    assert code.count("\n") > 10


def test_gallery_without_running(tmp_path):
    (tmp_path / "_static").mkdir()
    gallery.write_gallery(tmp_path, tmp_path / "work", running=False, jobs=1)
    text = (tmp_path / "example-four_bar.md").read_text(encoding="utf-8")
    assert text.startswith("# A four-bar linkage that runs on its own")
    assert "python examples/four_bar.py" not in text
    assert (tmp_path / "_static" / "examples" / "four_bar.ipynb").is_file()
    assert len(list(tmp_path.glob("example-*.md"))) == len(gallery.EXAMPLES)
