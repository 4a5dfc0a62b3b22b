"""Expressions as native code through LLVM (llvmlite, the extra `jit`): straight-line functions without a compiler."""

from collections.abc import Callable, Sequence
from typing import Any

from symplectree.errors import ModelError
from symplectree.formula.tape import instructions

MISSING = 'native code needs llvmlite: pip install "symplectree[jit]" (or pip install llvmlite)'
CHUNK = 3000  # instructions per function: LLVM's time grows with the square of its length
INTRINSICS = {"SQRT": "sqrt", "SIN": "sin", "COS": "cos", "EXP": "exp", "LOG": "log", "FABS": "fabs"}
LIBRARY = {"TAN": "tan", "ASIN": "asin", "ACOS": "acos", "ATAN": "atan", "SINH": "sinh", "COSH": "cosh",
           "TANH": "tanh", "ATAN2": "atan2", "POW": "pow", "CONSTPOW": "pow", "FMIN": "fmin", "FMAX": "fmax",
           "ASINH": "asinh", "ACOSH": "acosh", "ATANH": "atanh"}  # fmt: skip
COMPARISONS = {"LT": "<", "LE": "<=", "EQ": "==", "NE": "!="}
Load = Callable[[int, int], Any]  # (array, entry) → value
Store = Callable[[int, int, Any], None]
EXACT = ("contract",)  # products and sums may be fused; nothing else is reordered


def require() -> tuple[Any, Any]:
    """(llvmlite.ir, llvmlite.binding); raises ModelError saying what to install."""
    try:
        from llvmlite import binding, ir
    except ImportError:
        raise ModelError(MISSING) from None
    return ir, binding


def available() -> bool:
    try:
        require()
    except ModelError:
        return False
    return True


class Emitter:
    """Writes operations on values of one type: a double, or several side by side."""

    def __init__(self, module: Any, builder: Any, lanes: int = 1) -> None:
        self.ir, _ = require()
        self.module, self.builder, self.lanes = module, builder, lanes
        self.double = self.ir.DoubleType()
        self.type = self.double if lanes == 1 else self.ir.VectorType(self.double, lanes)

    def constant(self, value: float) -> Any:
        return self.ir.Constant(self.type, value if self.lanes == 1 else [value] * self.lanes)

    def apply(self, name: str, a: Any, b: Any) -> Any:
        """One operation of CasADi's on values."""
        build = self.builder
        plain: dict[str, Callable[[], Any]] = {
            "ADD": lambda: build.fadd(a, b, flags=EXACT),
            "SUB": lambda: build.fsub(a, b, flags=EXACT),
            "MUL": lambda: build.fmul(a, b, flags=EXACT),
            "DIV": lambda: build.fdiv(a, b),
            "NEG": lambda: build.fneg(a),
            "SQ": lambda: build.fmul(a, a, flags=EXACT),
            "TWICE": lambda: build.fadd(a, a),
            "INV": lambda: build.fdiv(self.constant(1.0), a),
            "ASSIGN": lambda: a,
        }
        if name in plain:
            return plain[name]()
        if name in INTRINSICS:
            return build.call(self._declared(f"llvm.{INTRINSICS[name]}", 1), [a])
        if self.lanes > 1:
            raise ModelError(f"operation {name.lower()} is not emitted on several values at once")
        if name in LIBRARY:
            two = name in ("ATAN2", "POW", "CONSTPOW", "FMIN", "FMAX")
            return build.call(self._declared(LIBRARY[name], 2 if two else 1), [a, b] if two else [a])
        return self._logic(name, a, b)

    def _logic(self, name: str, a: Any, b: Any) -> Any:
        build, zero, one = self.builder, self.constant(0.0), self.constant(1.0)

        def true(x: Any) -> Any:
            return build.fcmp_unordered("!=", x, zero)

        if name in COMPARISONS:
            compare = build.fcmp_unordered if name == "NE" else build.fcmp_ordered
            return build.select(compare(COMPARISONS[name], a, b), one, zero)
        if name == "NOT":
            return build.select(true(a), zero, one)
        if name in ("AND", "OR"):
            both = build.and_ if name == "AND" else build.or_
            return build.select(both(true(a), true(b)), one, zero)
        if name == "IF_ELSE_ZERO":
            return build.select(true(a), b, zero)
        if name == "SIGN":
            negative = build.select(build.fcmp_ordered("<", a, zero), self.constant(-1.0), zero)
            return build.select(build.fcmp_ordered(">", a, zero), one, negative)
        raise ModelError(f"operation {name.lower()} has no native form; use another formula, or backend='casadi'")

    def _declared(self, name: str, arguments: int) -> Any:
        if name.startswith("llvm."):
            return self.module.declare_intrinsic(name, [self.type])
        if name not in self.module.globals:
            return self.ir.Function(self.module, self.ir.FunctionType(self.double, [self.double] * arguments), name)
        return self.module.globals[name]


def emit(module: Any, name: str, function: Any) -> None:
    """Add `void name(const double **in, double **out, double *work)` to a module: a CasADi function of SX.

    Arguments and results are dense and by columns; function.sz_w() numbers of `work` are needed.
    """

    def access(builder: Any, inputs: Any, outputs: Any, _: Any) -> tuple[Load, Store]:
        return Arrays(builder, inputs).load, Arrays(builder, outputs).store

    emit_parts(module, name, list(instructions(function)), access)


def new_function(module: Any, name: str) -> Any:
    """`void name(const double **in, double **out, double *work)`, still empty."""
    ir, _ = require()
    pointer = ir.DoubleType().as_pointer()
    kind = ir.FunctionType(ir.VoidType(), [pointer.as_pointer(), pointer.as_pointer(), pointer])
    return ir.Function(module, kind, name)


def emit_parts(
    module: Any, name: str, rows: Sequence[Any], access: Callable[..., tuple[Load, Store]], scratch: int = 0
) -> None:
    """Add a function that executes instructions; `access(builder, in, out, work)` says how to load and store.

    Long ones become a row of shorter functions, which leave to each other in `work`, from `scratch` on, what is needed
    later.
    """
    ir, _ = require()
    parts = [rows[i : i + CHUNK] for i in range(0, len(rows), CHUNK)] or [rows]
    main = new_function(module, name)
    if len(parts) == 1:
        _emit_part(module, main, parts[0], access, scratch, set())
        return
    builder = ir.IRBuilder(main.append_basic_block())
    for i, part in enumerate(parts):
        piece = new_function(module, f"{name}.{i}")
        _emit_part(module, piece, part, access, scratch, _read_later(parts[i + 1 :]))
        builder.call(piece, main.args)
    builder.ret_void()


def _read_later(parts: Sequence[Sequence[Any]]) -> set[int]:
    """Slots that these parts read before they write them."""
    found: set[int] = set()
    written: set[int] = set()
    for name, results, arguments, _ in (row for part in parts for row in part):
        if name not in ("CONST", "INPUT"):
            found.update(slot for slot in arguments if slot not in written)
        if name != "OUTPUT":
            written.add(results[0])
    return found


def _emit_part(
    module: Any, function: Any, rows: Sequence[Any], access: Callable[..., tuple[Load, Store]], scratch: int,
    needed: set[int],
) -> None:  # fmt: skip
    ir, _ = require()
    builder = ir.IRBuilder(function.append_basic_block())
    work, index = function.args[2], ir.IntType(64)
    values: dict[int, Any] = {}

    def spilled(slot: int) -> Any:
        return builder.load(builder.gep(work, [index(scratch + slot)]))

    written = run(Emitter(module, builder), rows, *access(builder, *function.args), values, spilled)
    for slot in sorted(written & needed):
        builder.store(values[slot], builder.gep(work, [index(scratch + slot)]))
    builder.ret_void()


class Arrays:
    """Entries of the arrays that an array of pointers holds."""

    def __init__(self, builder: Any, pointers: Any) -> None:
        ir, _ = require()
        self._builder, self._pointers, self._index = builder, pointers, ir.IntType(64)
        self._loaded: dict[int, Any] = {}

    def address(self, array: int, entry: int) -> Any:
        if array not in self._loaded:
            self._loaded[array] = self._builder.load(self._builder.gep(self._pointers, [self._index(array)]))
        return self._builder.gep(self._loaded[array], [self._index(entry)])

    def load(self, array: int, entry: int) -> Any:
        return self._builder.load(self.address(array, entry))

    def store(self, array: int, entry: int, value: Any) -> None:
        self._builder.store(value, self.address(array, entry))


def run(
    emitter: Emitter,
    rows: Sequence[Any],
    load: Load,
    store: Store,
    values: dict[int, Any] | None = None,
    spilled: Callable[[int], Any] | None = None,
) -> set[int]:
    """Write instructions where the emitter stands: arguments from `load(array, entry)`, results to `store`.

    `values` are those of slots so far, `spilled(slot)` one from an earlier part. Returns the slots that were written.
    """
    values = {} if values is None else values
    written: set[int] = set()
    shared = _divisors(rows)
    reciprocals: dict[int, Any] = {}

    def value(slot: int) -> Any:
        if slot not in values and spilled is not None:
            values[slot] = spilled(slot)
        return values[slot]

    for row, (name, results, arguments, constant) in enumerate(rows):
        if name == "CONST":
            values[results[0]] = emitter.constant(constant)
        elif name == "INPUT":
            values[results[0]] = load(*arguments)
        elif name == "OUTPUT":
            store(results[0], results[1], value(arguments[0]))
            continue
        else:
            a = value(arguments[0])
            b = value(arguments[1]) if len(arguments) > 1 else a
            if (number := shared.get(row)) is None:
                values[results[0]] = emitter.apply(name, a, b)
            else:
                if number not in reciprocals:
                    reciprocals[number] = emitter.apply("INV", b, b)
                r = reciprocals[number]
                values[results[0]] = r if name == "INV" else emitter.apply("MUL", a, r)
        written.add(results[0])
    return written


def _divisors(rows: Sequence[Any]) -> dict[int, int]:
    """Divisions by a value by which others divide, too, and a number for that value: one reciprocal serves them all."""
    version: dict[int, int] = {}  # of each slot: the row that wrote it last
    divisions: dict[tuple[int, int], list[int]] = {}
    for row, (name, results, arguments, _) in enumerate(rows):
        if name in ("DIV", "INV"):
            divisor = arguments[-1]
            divisions.setdefault((divisor, version.get(divisor, -1)), []).append(row)
        if name != "OUTPUT":
            version[results[0]] = row
    several = [found for found in divisions.values() if len(found) > 1]
    return {row: number for number, found in enumerate(several) for row in found}


def emit_rows(module: Any, name: str, inner: str, sizes: Sequence[int], result: int) -> None:
    """Add `void name(long rows, const double **in, const long *step, double *out, double *work)`.

    It calls `inner` for each row: argument i of a row lies step[i] numbers after that of the row before, results
    follow one another.
    """
    ir, _ = require()
    pointer, index = ir.DoubleType().as_pointer(), ir.IntType(64)
    kind = ir.FunctionType(ir.VoidType(), [index, pointer.as_pointer(), index.as_pointer(), pointer, pointer])
    function = ir.Function(module, kind, name)
    rows, inputs, steps, out, work = function.args
    begin, loop, end = (function.append_basic_block(label) for label in ("begin", "loop", "end"))
    builder = ir.IRBuilder(begin)
    pointers = builder.alloca(pointer, index(max(len(sizes), 1)))
    target = builder.alloca(pointer)
    starts = [builder.load(builder.gep(inputs, [index(i)])) for i in range(len(sizes))]
    strides = [builder.load(builder.gep(steps, [index(i)])) for i in range(len(sizes))]
    builder.cbranch(builder.icmp_signed(">", rows, index(0)), loop, end)
    builder.position_at_end(loop)
    row = builder.phi(index)
    row.add_incoming(index(0), begin)
    for i, (start, stride) in enumerate(zip(starts, strides, strict=True)):
        builder.store(builder.gep(start, [builder.mul(row, stride)]), builder.gep(pointers, [index(i)]))
    builder.store(builder.gep(out, [builder.mul(row, index(result))]), target)
    builder.call(module.globals[inner], [pointers, target, work])
    following = builder.add(row, index(1))
    row.add_incoming(following, loop)
    builder.cbranch(builder.icmp_signed("<", following, rows), loop, end)
    builder.position_at_end(end)
    builder.ret_void()


def emit_row_of_calls(module: Any, name: str, parts: Sequence[str]) -> None:
    """Add a function that calls others of the same arguments, one after the other."""
    ir, _ = require()
    main = new_function(module, name)
    builder = ir.IRBuilder(main.append_basic_block())
    for part in parts:
        builder.call(module.globals[part], main.args)
    builder.ret_void()


def index(value: int) -> Any:
    """An index into an array, as a constant."""
    ir, _ = require()
    return ir.IntType(64)(value)


def emit_size(module: Any, name: str, value: int) -> None:
    """Add `long name(void)`, which returns a number that belongs to the code."""
    ir, _ = require()
    function = ir.Function(module, ir.FunctionType(ir.IntType(64), []), name)
    ir.IRBuilder(function.append_basic_block()).ret(ir.IntType(64)(value))


def call_size(address: int) -> int:
    """What a function made by `emit_size` returns."""
    import ctypes

    return int(ctypes.CFUNCTYPE(ctypes.c_int64)(address)())
