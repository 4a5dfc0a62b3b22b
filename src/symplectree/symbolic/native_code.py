"""Machine code in this process: compiled by LLVM, or taken from the cache on disk."""

import hashlib
import threading
import time
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path
from typing import Any

from symplectree.symbolic import cache as disk
from symplectree.symbolic.llvm import require

_LOCK = threading.Lock()  # LLVM's set-up is not made for several threads


class NativeCode:
    """Functions of one module: `address(name)`. `seconds` is what compiling took, 0 when it came from the cache."""

    def __init__(self, engine: Any, names: Iterable[str], seconds: float) -> None:
        self._engine, self.seconds = engine, seconds
        self.addresses = {name: engine.get_function_address(name) for name in names}

    def address(self, name: str) -> int:
        return int(self.addresses[name])


def native_code(content: Iterable[str], names: list[str], build: Callable[[Any], None]) -> NativeCode:
    """The functions `names` that `build(module)` writes, compiled for this machine.

    `content` is all that `build` depends on: code with the same content, made for the same processor, is not compiled
    again but read from the cache.
    """
    ir, binding = require()
    with _LOCK:
        _initialize(binding)
        cpu, features = binding.get_host_cpu_name(), binding.get_host_cpu_features().flatten()
        digest = hashlib.sha256()
        for part in (_sources(), ".".join(map(str, binding.llvm_version_info)), cpu, features, *content):
            digest.update(f"{len(part)}:".encode())
            digest.update(part.encode())
        key = digest.hexdigest()
        start = time.perf_counter()
        target = binding.Target.from_triple(binding.get_process_triple())
        machine = target.create_target_machine(cpu=cpu, features=features, opt=3, jit=True)
        engine = binding.create_mcjit_compiler(binding.parse_assembly(""), machine)
        code, seconds = disk.read(key), 0.0
        if code is None:
            module = ir.Module(name="symplectree")
            module.triple = binding.get_process_triple()
            build(module)
            parsed = binding.parse_assembly(str(module))
            parsed.verify()
            code = machine.emit_object(parsed)  # straight-line code gains nothing from passes before this
            seconds = time.perf_counter() - start
            disk.write(key, code)
        engine.add_object_file(binding.ObjectFileRef.from_data(code))
        engine.finalize_object()
        return NativeCode(engine, names, seconds)


@cache
def _sources() -> str:
    """Digest of the packages that write code, so that code of another version is not used."""
    digest, package = hashlib.sha256(), Path(__file__).parents[1]
    for path in sorted([*package.glob("formula/*.py"), *package.glob("symbolic/*.py")]):
        digest.update(path.read_bytes())
    return digest.hexdigest()


def _initialize(binding: Any) -> None:
    import contextlib

    with contextlib.suppress(RuntimeError):  # newer versions do it by themselves
        binding.initialize()
    binding.initialize_native_target()
    binding.initialize_native_asmprinter()
