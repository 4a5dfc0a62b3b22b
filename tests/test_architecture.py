"""The order of the folders that CONTRIBUTING lists is kept by every include and import, and no file has two ideas.

A folder may use only those above it. Files that stand directly in a folder, and its subfolders, may use each other; the
subfolders are ordered as listed. Imports inside functions and below `if TYPE_CHECKING` do not count.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
HEADER_LINES, PYTHON_LINES = 300, 400

# Arrows against the order (file, what it includes or imports). To be emptied, never to grow.
KNOWN_ARROWS: set[tuple[str, str]] = set()

# Files that are too long. To be emptied, never to grow.
KNOWN_LONG: set[str] = set()


@dataclass(frozen=True)
class Arrow:
    """Line `line` of file `user` uses `used`, both paths below the top folder and without ending."""

    user: str
    line: int
    used: str


@dataclass(frozen=True)
class Order:
    """Rank of each folder or module that is listed."""

    rank: dict[str, int]

    def entry(self, path: str) -> str | None:
        """The folder or module that holds a path: the longest that fits."""
        parts = path.split("/")
        prefixes = ("/".join(parts[:n]) for n in range(len(parts), 0, -1))
        return next((prefix for prefix in prefixes if prefix in self.rank), None)

    def allows(self, arrow: Arrow) -> bool:
        """Whether an arrow points upwards; one from or to a folder that is not listed does not."""
        user, used = self.entry(arrow.user), self.entry(arrow.used)
        if user is None or used is None:
            return False
        nested = used.startswith(f"{user}/") or user.startswith(f"{used}/")
        return self.rank[used] <= self.rank[user] or nested


def order_of(text: str, top: str) -> Order:
    """The block that follows `<!-- order of TOP -->`, one folder or module a line."""
    found = re.search(rf"<!-- order of {re.escape(top)} -->\n```text\n(.*?)```", text, re.S)
    assert found, f"CONTRIBUTING has no block 'order of {top}'"
    return Order({line.split()[0]: rank for rank, line in enumerate(found[1].splitlines())})


def includes(top: Path) -> Iterator[Arrow]:
    """Every `#include "folder/…"` below core/."""
    for file in sorted(chain(top.rglob("*.hpp"), top.rglob("*.cpp"))):
        user = file.relative_to(top).with_suffix("").as_posix()
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
            if found := re.match(r'\s*#\s*include\s+"([^"]+)"', line):
                yield Arrow(user, number, found[1].rpartition(".")[0])


def at_module_level(body: list[ast.stmt]) -> Iterator[ast.Import | ast.ImportFrom]:
    for statement in body:
        if isinstance(statement, ast.Import | ast.ImportFrom):
            yield statement
        elif isinstance(statement, ast.If) and "TYPE_CHECKING" not in ast.unparse(statement.test):
            yield from at_module_level(statement.body + statement.orelse)
        elif isinstance(statement, ast.Try):
            yield from at_module_level(
                statement.body
                + statement.orelse
                + statement.finalbody
                + [s for h in statement.handlers for s in h.body]
            )


def imports(top: Path) -> Iterator[Arrow]:
    """Every import of the package itself at module level; `from package.folder import module` is one of that module."""
    for file in sorted(top.rglob("*.py")):
        user = file.relative_to(top).with_suffix("").as_posix()
        if user in ("__init__", "__main__"):  # the public names, of all folders
            continue
        for statement in at_module_level(ast.parse(file.read_text(encoding="utf-8")).body):
            if isinstance(statement, ast.ImportFrom):
                assert statement.level == 0, f"{file}:{statement.lineno}: a relative import"
                modules = [f"{statement.module}.{alias.name}" for alias in statement.names]
            else:
                modules = [alias.name for alias in statement.names]
            for module in modules:
                name, *parts = module.split(".")
                if name != top.name or not parts or parts[0] == "_core":
                    continue
                here = top.joinpath(*parts)
                is_module = here.is_dir() or here.with_suffix(".py").is_file()
                yield Arrow(user, statement.lineno, "/".join(parts if is_module else parts[:-1]))


TOPS = {"core": includes, "src/symplectree": imports}


def wrong(top: str, order: Order, root: Path = ROOT) -> list[str]:
    """Sentences that name file, line and arrow."""
    files = {"core": ("hpp", "cpp"), "src/symplectree": ("py",)}[top]
    out = []
    for arrow in TOPS[top](root / top):
        if not order.allows(arrow) and (f"{top}/{arrow.user}", arrow.used) not in KNOWN_ARROWS:
            path = next(p for e in files if (p := root / top / f"{arrow.user}.{e}").is_file())
            user, used = (order.entry(p) or p for p in (arrow.user, arrow.used))
            out.append(f"{path.relative_to(root)}:{arrow.line}: {user} → {used} ({arrow.used})")
    return out


@pytest.fixture(scope="module")
def contributing():
    return (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("top", TOPS)
def test_folders_use_only_those_above_them(top, contributing):
    found = wrong(top, order_of(contributing, top))
    assert not found, "against the order that CONTRIBUTING lists:\n" + "\n".join(found)


@pytest.mark.parametrize("top", TOPS)
def test_every_folder_and_module_is_listed_and_there(top, contributing):
    order = order_of(contributing, top).rank
    for name in order:
        assert (ROOT / top / name).is_dir() or (ROOT / top / f"{name}.py").is_file(), f"{top}/{name} is not there"
    for path in (ROOT / top).iterdir():
        if path.is_dir() and any(path.glob("*.?pp" if top == "core" else "*.py")):
            assert path.name in order, f"{top}/{path.name} is not in CONTRIBUTING"
        elif path.suffix == ".py" and not path.stem.startswith("__"):
            assert path.stem in order, f"{top}/{path.name} is not in CONTRIBUTING"


def test_no_file_is_too_long():
    limits = {"core": ("*.hpp", HEADER_LINES), "src/symplectree": ("*.py", PYTHON_LINES)}
    for top, (pattern, limit) in limits.items():
        for file in (ROOT / top).rglob(pattern):
            lines = len(file.read_text(encoding="utf-8").splitlines())
            name = file.relative_to(ROOT).as_posix()
            assert lines <= limit or name in KNOWN_LONG, f"{name} has {lines} lines; more than {limit} are two ideas"


ORDER = """<!-- order of core -->
```text
scalar     numbers
model      bodies
model/a    first
model/b    second
run        steps
```
<!-- order of src/symplectree -->
```text
lie              poses
formula          tapes
joints           joints
symbolic         equations
```
"""


@pytest.mark.parametrize(
    ("top", "files", "expected"),
    [
        ("core", {"scalar/dual.hpp": '\n#include "model/body.hpp"'}, ["core/scalar/dual.hpp:2: scalar → model"]),
        ("core", {"model/a/x.hpp": '#include "model/b/y.hpp"'}, ["core/model/a/x.hpp:1: model/a → model/b"]),
        ("core", {"model/a/x.hpp": '#include "attic/y.hpp"'}, ["core/model/a/x.hpp:1: model/a → attic/y"]),
        ("core", {"run/x.cpp": '#include "model/a/y.hpp"\n#include <vector>\n#include "scalar/z.hpp"'}, []),
        ("core", {"model/x.hpp": '#include "model/b/y.hpp"', "model/b/y.hpp": '#include "model/z.hpp"'}, []),
        (
            "src/symplectree",
            {"lie.py": "", "joints/a.py": "\nfrom symplectree.symbolic import llvm", "symbolic/llvm.py": ""}
            | {"formula/tape.py": "from symplectree.lie import pose"},
            ["src/symplectree/joints/a.py:2: joints → symbolic (symbolic/llvm)"],
        ),
        (
            "src/symplectree",
            {"formula/tape.py": "import symplectree.symbolic.llvm", "symbolic/llvm.py": ""},
            ["src/symplectree/formula/tape.py:1: formula → symbolic"],
        ),
        (
            "src/symplectree",
            {"lie.py": "if TYPE_CHECKING:\n  from symplectree.joints import b\ndef f():\n  import symplectree.joints"},
            [],
        ),
    ],
)  # fmt: skip
def test_of_the_check(top, files, expected, tmp_path):
    for name, text in files.items():
        file = tmp_path / top / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    found = wrong(top, order_of(ORDER, top), tmp_path)
    assert len(found) == len(expected)
    assert all(a.startswith(b) for a, b in zip(found, expected, strict=True)), found
