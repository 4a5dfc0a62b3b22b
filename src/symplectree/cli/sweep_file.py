"""Sweeps described by a TOML file: read into a task and parameters, each mistake told with its line."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from symplectree.cli.files import mechanism_of
from symplectree.cli.say import Misuse
from symplectree.ensemble.model_task import ModelTask, Output
from symplectree.ensemble.sweep_parameters import Parameters
from symplectree.errors import ModelError, SymplectreeError
from symplectree.integrators import RK4, Adaptive, Method, Reduced, SemiImplicitEuler, Variational
from symplectree.mechanism.model import Model, unknown
from symplectree.validation import is_positive, shown

METHODS: dict[str, Any] = {
    "variational": Variational, "reduced": Reduced, "rk4": RK4, "euler": SemiImplicitEuler, "adaptive": Adaptive,
}  # fmt: skip
KEYS = (
    "model", "base", "method", "dt", "duration", "start", "velocity", "forces", "parameters", "samples", "outputs", "store",
    "chunk", "retries", "plot",
)  # fmt: skip
LINEAR, NORMAL = {"from", "to"}, {"mean", "deviation"}
GRID = LINEAR | {"count", "spacing"}


@dataclass(frozen=True)
class SweepFile:
    """What a file asks for; paths are relative to its folder."""

    task: ModelTask
    parameters: Parameters
    store: Path
    plot: Path
    chunk: int | None
    retries: int


def read(path: Path) -> SweepFile:
    """Read a file; raises Misuse that names file, line and what to do."""
    if not path.is_file():
        raise Misuse(f"{path}: there is no such file; symplectree sweep --help shows what it holds")
    try:
        text = path.read_text(encoding="utf-8")
        given = tomllib.loads(text)
    except UnicodeDecodeError:
        raise Misuse(f"{path} is no text in UTF-8") from None
    except tomllib.TOMLDecodeError as error:
        raise Misuse(f"{path} is no TOML: {error}") from None
    return _Reader(path, text, given).read()


class _Reader:
    def __init__(self, path: Path, text: str, given: dict[str, Any]) -> None:
        self.path, self.text, self.given = path, text, given

    def read(self) -> SweepFile:
        for key in self.given:
            if key not in KEYS:
                raise self.wrong(key, unknown("entry", key, list(KEYS)))
        for key, example in (
            ("model", 'model = "arm.sexp"'),
            ("dt", "dt = 0.01"),
            ("duration", "duration = 10.0"),
            ("parameters", '[parameters] with "arm.mass" = [1.0, 2.0]'),
            ("outputs", '[outputs] with angle = "final elbow"'),
        ):
            if key not in self.given:
                raise Misuse(f"{self.path}: {key} is missing; write {example}")
        task = self.task()
        table = self.parameters()
        row = table[0]
        for key, some in [*((name, {name: row[name]}) for name in row), ("parameters", row)]:  # each alone, then all
            try:
                task.prepared(some)
            except ModelError as error:
                raise self.wrong(key, str(error)) from None
            except SymplectreeError as error:
                raise Misuse(f"{self.path}: the first run cannot start: {error}") from None
        store = self.value("store", str, f"{self.path.stem}.zarr", "a folder")
        plot = self.value("plot", str, f"{self.path.stem}.png", "a file")
        chunk, retries = (self.count(key) for key in ("chunk", "retries"))
        if clash := set(table.columns) & set(task.outputs):
            name = min(clash)
            raise self.wrong(name, f"{name!r} is both a parameter and an output; give the output another name")
        folder = self.path.parent
        return SweepFile(task, table, folder / store, folder / plot, chunk, 2 if retries is None else retries)

    def wrong(self, key: str, sentence: str) -> Misuse:
        """An error at the line where the key stands."""
        quoted = re.escape(key)
        last = re.escape(key.rpartition(".")[2])
        for pattern in (rf'^\s*(\[\s*)?["\']?{quoted}["\']?\s*[=\].]', rf'["\']?{quoted}["\']?\s*=', rf"{last}\s*="):
            if found := re.search(pattern, self.text, re.M):
                line = self.text.count("\n", 0, found.start() + len(found[0]) - 1) + 1
                return Misuse(f"{self.path}:{line}: {sentence}")
        return Misuse(f"{self.path}: {sentence}")

    def culprit(self, error: ModelError, names: list[str]) -> str:
        """The parameter that an error speaks of."""
        return next((name for name in names if any(part in str(error) for part in (f"'{name}'", name))), "parameters")

    def value(self, key: str, kind: type, default: Any, what: str) -> Any:
        found = self.given.get(key, default)
        if not isinstance(found, kind) or not found:
            raise self.wrong(key, f"{key} is {shown(found)}; give {what}")
        return found

    def count(self, key: str) -> int | None:
        found = self.given.get(key)
        least = 1 if key == "chunk" else 0
        if found is not None and (not isinstance(found, int) or isinstance(found, bool) or found < least):
            raise self.wrong(key, f"{key} is {shown(found)}; give a whole number, {least} or more")
        return found

    def table(self, key: str) -> dict[str, Any]:
        found = self.given.get(key, {})
        if not isinstance(found, dict):
            raise self.wrong(key, f"{key} is {shown(found)}; give a table, such as [{key}]")
        return found

    def task(self) -> ModelTask:
        model_name = self.value("model", str, None, "a file or the name of a shipped model")
        beside = self.path.parent / model_name
        base = self.value("base", str, "auto", "'auto', 'fixed' or 'free'")
        if base not in ("auto", "fixed", "free"):
            raise self.wrong("base", f"base is {base!r}; give 'auto', 'fixed' or 'free'")
        try:
            mechanism = mechanism_of(str(beside) if beside.exists() else model_name, base)
            model = mechanism.build()
        except ModelError as error:
            raise self.wrong("model", f"model {model_name!r}: {error}") from None
        for key in ("dt", "duration"):
            if not is_positive(self.given[key]):
                raise self.wrong(key, f"{key} is {shown(self.given[key])}; give a positive number of seconds")
        return ModelTask(
            model=model, start=self.start(model, mechanism.initial), velocity=self.numbers("velocity"),
            forces=self.numbers("forces"), duration=float(self.given["duration"]), dt=float(self.given["dt"]),
            method=self.method(), outputs=self.outputs(model), title=f"runs of {model_name}",
        )  # fmt: skip

    def start(self, model: Model, initial: Mapping[str, Any]) -> Any:
        given = self.given.get("start", {})
        if isinstance(given, str):
            if given not in model.keyframes:
                raise self.wrong("start", unknown("keyframe", given, list(model.keyframes)))
            return given
        return {**initial, **self.numbers("start")}

    def numbers(self, key: str) -> dict[str, Any]:
        """A table of names to numbers or lists of them."""
        found = _flat(self.table(key))
        for name, value in found.items():
            values = value if isinstance(value, list) else [value]
            if not values or not all(isinstance(x, int | float) and not isinstance(x, bool) for x in values):
                raise self.wrong(name, f"{name!r} in [{key}] is {shown(value)}; give a number")
        return found

    def method(self) -> Method:
        given = self.given.get("method", "variational")
        options = dict(given) if isinstance(given, dict) else {"name": given}
        name = options.pop("name", "variational")
        if name not in METHODS:
            raise self.wrong("method", unknown("method", name, list(METHODS)))
        try:
            method: Method = METHODS[name](**options)
        except (TypeError, ModelError) as error:
            raise self.wrong("method", f"method {name!r}: {str(error).partition('() ')[2] or error}") from None
        return method

    def outputs(self, model: Model) -> dict[str, Output]:
        found: dict[str, Output] = {}
        for name, text in self.table("outputs").items():
            try:
                found[name] = Output.parse(text, model)
            except ModelError as error:
                raise self.wrong(name, f"output {name!r}: {error}") from None
        if not found:
            raise self.wrong("outputs", 'outputs are empty; write, such as, angle = "final elbow"')
        return found

    def parameters(self) -> Parameters:
        given = _flat(self.table("parameters"), leaf=GRID | NORMAL)
        if not given:
            raise self.wrong("parameters", 'parameters are empty; write, such as, "arm.mass" = [1.0, 2.0]')
        try:
            if "samples" not in self.given:
                return Parameters.grid({name: self.values(name, value) for name, value in given.items()})
            samples = self.given["samples"]
            samples = {"runs": samples} if isinstance(samples, int) else self.table("samples")
            for key in samples:
                if key not in ("runs", "seed", "design"):
                    raise self.wrong(key, f"[samples] {unknown('entry', key, ['runs', 'seed', 'design'])}")
            ranges = {name: self.range(name, value) for name, value in given.items()}
            return Parameters.samples(ranges, **{"runs": 0, **samples})
        except ModelError as error:
            raise self.wrong(self.culprit(error, list(given)), str(error)) from None

    def values(self, name: str, given: Any) -> Any:
        """The values of one parameter of a grid."""
        if isinstance(given, list):
            return given
        if not isinstance(given, dict) or not LINEAR | {"count"} <= given.keys() <= GRID:
            hint = "; random samples need runs: [samples] with runs = 1000" if isinstance(given, dict) else ""
            raise self.wrong(
                name, f"{name!r} is {shown(given)}; give a list, or {{ from = 1.0, to = 2.0, count = 11 }}{hint}"
            )
        low, high, count = (given[key] for key in ("from", "to", "count"))
        if not isinstance(count, int) or isinstance(count, bool) or count < 1 or not _real(low, high):
            raise self.wrong(name, f"{name!r} is {shown(given)}; give numbers, and a whole count, 1 or more")
        spacing = given.get("spacing", "linear")
        if spacing not in ("linear", "log") or (spacing == "log" and not low * high > 0):
            raise self.wrong(name, f"{name!r}: spacing is {shown(spacing)}; give 'linear', or 'log' for one sign")
        return (np.geomspace if spacing == "log" else np.linspace)(low, high, count)

    def range(self, name: str, given: Any) -> Any:
        """The range or distribution of one parameter of samples."""
        if isinstance(given, dict) and given.keys() == LINEAR and _real(*given.values()):
            return given["from"], given["to"]
        if isinstance(given, dict) and given.keys() == NORMAL and _real(*given.values()) and given["deviation"] > 0:
            from scipy.stats import norm

            return norm(given["mean"], given["deviation"])
        raise self.wrong(
            name, f"{name!r} is {shown(given)}; with [samples] give {{ from = 1.0, to = 2.0 }} or "
            "{ mean = 1.0, deviation = 0.1 }"
        )  # fmt: skip


def _flat(table: Mapping[str, Any], leaf: set[str] | frozenset[str] = frozenset(), before: str = "") -> dict[str, Any]:
    """Names with dots, which TOML takes for tables in tables unless they are quoted; tables of `leaf` keys are values."""
    found: dict[str, Any] = {}
    for key, value in table.items():
        nested = isinstance(value, dict) and not (value and value.keys() <= leaf)
        found |= _flat(value, leaf, f"{before}{key}.") if nested else {f"{before}{key}": value}
    return found


def _real(*values: Any) -> bool:
    return all(isinstance(x, int | float) and not isinstance(x, bool) and np.isfinite(x) for x in values)
