"""What does the change of one header cost a developer, in seconds of compilation?

    python benchmarks/compile_time.py [TREE] [--optimization -O3] [--only core/dynamics]

Every source file below core/ of TREE (default: this checkout) is compiled once, without a cache, by the command that CMake
writes for it, one after another; its cost is the compiler's user CPU time. The compiler also names the headers that each
file reads. A change of a header costs the sum over the files that read it, directly or through others. Printed: all files,
mean and median over the headers, and the ten dearest of both kinds. Needs cmake, ninja, nanobind and Eigen, as the build
does.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parent.parent


def commands(tree: Path, build: Path, optimization: str) -> dict[Path, list[str]]:
    """Source file → the compiler's command, as CMake configures it in the folder `build`."""
    options = [f"-DSYMPLECTREE_OPTIMIZATION={optimization}", "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON"]
    options += [f"-DPython_EXECUTABLE={sys.executable}", "-DCMAKE_CXX_COMPILER_LAUNCHER="]
    subprocess.run(["cmake", "-S", tree, "-B", build, "-G", "Ninja", *options], check=True, stdout=subprocess.DEVNULL)
    entries = json.loads((build / "compile_commands.json").read_text())
    return {Path(e["file"]): shlex.split(e["command"]) for e in entries}


def user_seconds(command: list[str], folder: Path) -> float:
    """User CPU time of a command and of the processes that it starts."""
    with open(folder / "messages", "w+") as messages:
        process = subprocess.Popen(command, cwd=folder, stderr=messages, env={**os.environ, "CCACHE_DISABLE": "1"})
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            messages.seek(0)
            sys.exit(f"{messages.read()}\nthis command failed:\n{shlex.join(command)}")
    return usage.ru_utime


def headers_read(rule: Path, core: Path) -> set[str]:
    """Headers below core/ in the rule for make that the compiler wrote, as paths relative to core/."""
    words = rule.read_text().replace("\\\n", " ").split()[1:]
    paths = [Path(os.path.abspath(rule.parent / w)) for w in words]
    return {str(p.relative_to(core)) for p in paths if p.suffix == ".hpp" and p.is_relative_to(core)}


def measure(tree: Path, build: Path, optimization: str, only: str) -> tuple[dict[str, float], dict[str, set[str]]]:
    """Seconds per source file, and the headers that each of them reads."""
    core, rule = tree / "core", build / "headers.d"
    all_commands = commands(tree, build, optimization)
    for path, command in all_commands.items():
        if path.name.startswith("cmake_pch"):
            user_seconds(command, build)
    seconds, reads = {}, {}
    for path, command in sorted(all_commands.items()):
        if path.is_relative_to(tree / only) and path.is_relative_to(core):
            name = str(path.relative_to(core))
            seconds[name] = user_seconds([*command, "-MD", "-MF", str(rule)], build)
            reads[name] = headers_read(rule, core)
    return seconds, reads


def print_dearest(title: str, costs: dict[str, float], notes: dict[str, str]) -> None:
    print(f"\n{title}")
    for name in sorted(costs, key=lambda n: -costs[n])[:10]:
        print(f"  {costs[name]:6.1f} s  {name}  {notes[name]}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tree", nargs="?", type=Path, default=ROOT, help="a checkout of symplectree")
    parser.add_argument("--optimization", default="-O3", help="the compiler's option, e.g. -O1")
    parser.add_argument("--only", default="core", help="compile the files below this folder only")
    parser.add_argument("--json", type=Path, help="also write seconds and headers per file here")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as build:
        seconds, reads = measure(args.tree.resolve(), Path(build).resolve(), args.optimization, args.only)
    if not seconds:
        sys.exit(f"no source files below {args.tree / args.only}")
    if args.json:
        args.json.write_text(json.dumps({n: [seconds[n], sorted(reads[n])] for n in seconds}, indent=1))
    readers = {h: [n for n in reads if h in reads[n]] for h in set().union(*reads.values())}
    costs = {h: sum(seconds[n] for n in readers[h]) for h in readers}
    total, mean, median = sum(seconds.values()), statistics.mean(costs.values()), statistics.median(costs.values())
    print(f"{len(seconds)} files, {len(costs)} headers, {args.optimization}: all files {total:.1f} s user CPU")
    print(f"change of one header: mean {mean:.1f} s, median {median:.1f} s")
    print_dearest("dearest headers", costs, {h: f"({len(readers[h])} files)" for h in costs})
    print_dearest("dearest files", seconds, {n: f"({len(reads[n])} headers)" for n in seconds})


if __name__ == "__main__":
    main()
