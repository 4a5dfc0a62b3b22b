"""What the project says of itself is the same everywhere, and the source distribution holds what a build needs."""

import re
import subprocess
import sys
import tarfile
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
VERSION = PROJECT["project"]["version"]


def text(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def contents(tmp_path_factory) -> set[str]:
    """Names of the files in the source distribution, below its folder."""
    folder = tmp_path_factory.mktemp("sdist")
    code = f"from scikit_build_core.build import build_sdist; build_sdist({str(folder)!r})"
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True, capture_output=True)
    (archive,) = folder.glob("*.tar.gz")
    assert archive.name == f"symplectree-{VERSION}.tar.gz"
    with tarfile.open(archive) as files:
        return {name.partition("/")[2] for name in files.getnames()}


def test_version_is_said_once():
    assert re.search(r"^version: (.*)$", text("CITATION.cff"), re.M)[1] == VERSION
    assert f"\n## {VERSION}" in text("CHANGELOG.md")


def test_citation_names_the_papers_of_the_readme():
    citation, readme = text("CITATION.cff"), " ".join(text("README.md").split()).lower()
    references = citation.partition("references:")[2]
    titles = re.findall(r"^    title: (.*)$", references, re.M)
    assert len(titles) == 5
    assert all(title.lower() in readme for title in titles)
    assert all(f"{name}".lower() in readme for name in re.findall(r"family-names: (.*)$", references, re.M))


def test_licence_is_said_once():
    licence = PROJECT["project"]["license"]
    assert f"license: {licence}\n" in text("CITATION.cff") and licence in text("README.md")


def test_source_distribution_holds_what_a_build_and_its_tests_need(contents):
    needed = {"CMakeLists.txt", "core/CMakeLists.txt", "core/cpu/cpu.cpp", "cmake/build_packages.cmake", "LICENSE"}
    needed |= {"pyproject.toml", "README.md", "CHANGELOG.md", "CITATION.cff", "tests/conftest.py", "docs/speed.md"}
    for folder in ("core", "models", "src"):
        files = subprocess.run(["git", "ls-files", folder], cwd=ROOT, capture_output=True, text=True)
        if files.returncode == 0:  # a checkout
            needed |= {name for name in files.stdout.splitlines() if (ROOT / name).is_file()}
    assert needed <= contents


def test_source_distribution_holds_nothing_built(contents):
    assert not {name for name in contents if re.search(r"\.(so|o|pyc|pyd|whl)$|^build/|__pycache__", name)}


def test_wheels_are_made_for_every_machine_and_tried():
    settings = PROJECT["tool"]["cibuildwheel"]
    assert settings["config-settings"] == {"cmake.define.SYMPLECTREE_PORTABLE": "ON"}
    script = re.search(r"\{project\}/(\S+)", settings["test-command"])[1]
    assert (ROOT / script).is_file()
    lowest = re.search(r">=3\.(\d+)", PROJECT["project"]["requires-python"])[1]
    assert settings["build"].startswith(f"cp3{lowest}-")
