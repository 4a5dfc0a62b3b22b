"""The equations of motion of a whole mechanism as one graph of expressions (GL09)."""

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Any

from symplectree.errors import ModelError
from symplectree.extras import extra
from symplectree.mechanism.model import Model, refuse_followers
from symplectree.symbolic import articulated, c_code, mass_matrix
from symplectree.symbolic.algebra import Matrix, Scalar, Vector, add, cross, minus, mul, scaled, sub
from symplectree.symbolic.compiled import Backend, Compiled
from symplectree.symbolic.counts import OperationCount, count
from symplectree.symbolic.joints import Motion, elementary, formula
from symplectree.symbolic.links import Link, links_of
from symplectree.symbolic.loads import Loads, joint_loads
from symplectree.symbolic.newton_euler import accelerations, joint_forces, wrench
from symplectree.symbolic.parameters import Parameters, chosen
from symplectree.symbolic.shared import SharedGraph

# What can be asked for, and the arguments that each takes before inputs and parameters.
ARGUMENTS = {
    "inverse_dynamics": ("q", "v", "a"),
    "bias": ("q", "v"),
    "mass_matrix": ("q",),
    "forward_dynamics": ("q", "v", "tau"),
}


class Equations:
    """M(q) a + bias(q, v) = τ of a model, with gravity and all its elements, in symbols (GL09 (13), (14)).

    | name | meaning | size |
    | --- | --- | --- |
    | q, v, a, tau | symbols of configuration, velocity, acceleration, joint forces, as in `st.inverse_dynamics` | nq, nv |
    | inputs | symbols of the model's named inputs | |
    | parameters | symbols of the quantities that stay symbolic; `parameter_names`, `parameter_values` tell which | |

    `parameters` are names as "upper.mass", "upper.com", "upper.inertia", "lower.at", "elbow.armature", "gravity", and
    of springs and dampers by their names "spring.stiffness", "spring.length", "damper.damping"; see
    `symplectree.symbolic.parameters`. All else is numbers, which are folded into the expressions. Constraints do not
    enter: the equations are those of the tree; coordinates that follow others (`eliminate=True`) are put in. Raises
    ModelError on elements that are Python functions.
    """

    def __init__(self, model: Model, *, parameters: Iterable[str] = ()) -> None:
        casadi = extra("casadi")

        if not isinstance(model, Model):
            raise ModelError(f"Equations takes a Model, not {type(model).__name__}; call build() on a Mechanism")
        SX: Any = casadi.SX
        self.model = model
        self.q, self.v = SX.sym("q", model.nq), SX.sym("v", model.nv)
        self.a, self.tau = SX.sym("a", model.nv), SX.sym("tau", model.nv)
        self._functions: dict[str, Any] = {}
        self._shared: SharedGraph | None = None
        tree = None if model.followers is None else Equations(model.full, parameters=parameters)
        if model.followers is not None and tree is not None:
            self._shared = SharedGraph(tree, model.followers, self.q, self.v)
        self.inputs: Any = SX.sym("inputs", len(model.inputs)) if tree is None else tree.inputs
        self._chosen: Parameters = chosen(model, parameters) if tree is None else tree._chosen
        self.parameters, self.parameter_names = self._chosen.symbols, self._chosen.names
        self.parameter_values = self._chosen.values
        if self._shared is not None:
            return
        self._links: list[Link] = links_of(model, self._chosen.of)
        self._motions: list[Motion] = [self._motion(link) for link in self._links]
        self._given_forces = joint_loads(model, _split(self.q), _split(self.v), _split(self.inputs), self._chosen.of)

    def inverse_dynamics(self) -> Any:
        """τ (nv × 1) of (q, v, a, inputs, parameters), in operations proportional to the number of bodies."""
        return self._column(self._inverse(_split(self.a)))

    def bias(self) -> Any:
        """τ at a = 0 (nv × 1): GL09's c(q, q̇), with all elements."""
        return self._column(self._bias)

    def mass_matrix(self) -> Any:
        """M(q) (nv × nv), GL09 (14)."""
        casadi = extra("casadi")

        return casadi.vertcat(*(casadi.horzcat(*row) for row in self._mass))

    def forward_dynamics(self, *, method: str | None = None) -> Any:
        """a (nv × 1) of (q, v, τ, inputs, parameters), with M a = τ − bias solved in symbols.

        method: "cholesky" (M by composite bodies, factors along the tree), "articulated" (articulated bodies, O(n)), or
        None for the one with fewer operations; on a chain that is Cholesky up to about ten coordinates, and always where
        coordinates follow others.
        """
        if method not in (None, "cholesky", "articulated"):
            raise ModelError(f"method is {method!r}; give 'cholesky', 'articulated' or None")
        if self.model.followers is not None:
            if method == "articulated":
                refuse_followers(self.model, "so bodies cannot be eliminated one by one; take method 'cholesky'")
            method = "cholesky"
        if method is not None:
            return self._column(self._forward(method))
        return min(self._column(self._forward("cholesky")), self._column(self._forward("articulated")), key=self._cost)

    def coefficient(self, expression: Any, variable: Any) -> Any:
        """GL09 Algorithm 1: the coefficient of a symbol in an expression that is linear in it.

        Raises ModelError when `variable` is no symbol, or the expression is not linear in it.
        """
        casadi = extra("casadi")

        expression, variable = self._expression(expression), self._symbols([variable])[0]
        if variable.numel() != 1:
            raise ModelError("coefficient takes one symbol, such as eq.a[0]")
        slope = casadi.jacobian(expression, variable)
        if casadi.depends_on(casadi.simplify(slope), variable):
            raise ModelError(f"the expression is not linear in {variable.name()!r}, so it has no coefficient")
        return casadi.cse(slope)

    def substitute(self, expression: Any, variables: Sequence[Any], values: Sequence[Any]) -> Any:
        """GL09 section 4: the expression with symbols replaced by numbers or expressions, and simplified."""
        casadi = extra("casadi")

        symbols = self._symbols(variables)
        given = [casadi.SX(value) for value in values]
        if len(symbols) != len(given):
            raise ModelError(f"substitute has {len(symbols)} variables and {len(given)} values; give as many")
        for x, y in zip(symbols, given, strict=True):
            if x.shape != y.shape and y.numel() != 1:
                raise ModelError(f"a value has shape {y.shape}, its variable {x.shape}; give the same")
        given = [y if x.shape == y.shape else casadi.repmat(y, *x.shape) for x, y in zip(symbols, given, strict=True)]
        return casadi.cse(casadi.substitute([self._expression(expression)], symbols, given)[0])

    def operation_count(self, name: str) -> OperationCount:
        """Operations of "inverse_dynamics", "forward_dynamics" (the solution included), "mass_matrix" or "bias"."""
        return count(self.function(name))

    def function(self, name: str) -> Any:
        """The casadi.Function of (q, v, a | tau, inputs, parameters) → result, common subexpressions shared."""
        casadi = extra("casadi")

        if name not in ARGUMENTS:
            raise ModelError(f"there is no function {name!r}; there are {', '.join(ARGUMENTS)}")
        if name not in self._functions:
            arguments = [*ARGUMENTS[name], "inputs", "parameters"]
            symbols, result = [getattr(self, x) for x in arguments], casadi.densify(getattr(self, name)())
            self._functions[name] = casadi.Function(name, symbols, [result], arguments, [name], {"cse": True})
        return self._functions[name]

    def compile(self, name: str = "forward_dynamics", *, backend: Backend | None = None) -> Compiled:
        """A callable on arrays, `f(q, v, tau, inputs=None, parameters=None)` for "forward_dynamics".

        backend: "llvm" (native code, the extra `jit`; stored on disk by content, see `symbolic.cache`), "casadi" (its
        virtual machine), or None for the first where llvmlite is installed.
        """
        return Compiled(self.function(name), self.model, self.parameter_names, self.parameter_values, backend)

    def to_c(self, path: Any, *, names: Sequence[str] = tuple(ARGUMENTS), prefix: str = "") -> None:
        """Write functions as one self-contained file in C99 whose head documents the signatures.

        names: which of inverse_dynamics, bias, mass_matrix, forward_dynamics; prefix: of the functions' names. Raises
        ModelError when the file cannot be written.
        """
        if isinstance(names, str):
            raise ModelError(f"names is {names!r}; give a list, such as [{names!r}]")
        functions = [self.function(name) for name in names]
        if not functions:
            raise ModelError(f"names is empty; give some of {', '.join(ARGUMENTS)}")
        orders = {"q": self.model.coordinates, "v": self.model.velocities, "a": self.model.velocities,
                  "tau": self.model.velocities, "inputs": self.model.inputs,
                  "parameters": self.parameter_names}  # fmt: skip
        used = {argument for function in functions for argument in function.name_in()}
        documented = {name: entries for name, entries in orders.items() if name in used}
        c_code.write(path, c_code.source(functions, documented, c_code.identifier(prefix)))

    def _cost(self, column: Any) -> int:
        casadi = extra("casadi")

        symbols = [self.q, self.v, self.tau, self.inputs, self.parameters]
        return count(casadi.Function("f", symbols, [column], {"cse": True})).total

    def _motion(self, link: Link) -> Motion:
        casadi = extra("casadi")

        if link.formula is not None:
            q, v = self.q[link.q], self.v[link.v]
            return formula(*link.formula.symbols(q), q, v)
        q = _split(self.q)[link.q]
        angle = add(q[0], link.offset)
        return elementary(link.kind, link.pitch, (casadi.cos(angle), casadi.sin(angle)), q)

    @cached_property
    def _gravity(self) -> Vector:
        return self._chosen.of.get((-1, "gravity"), [float(g) for g in self.model.gravity])

    @cached_property
    def _armature(self) -> Vector:
        return [self._chosen.of.get((j, "armature"), float(x)) for j, x in enumerate(self.model.armature)]

    @cached_property
    def _loads(self) -> Loads:
        q, v, inputs = _split(self.q), _split(self.v), _split(self.inputs)
        return Loads(self.model, self._links, self._motions, q=q, v=v, inputs=inputs, symbols=self._chosen.of)

    def _inverse(self, a: Sequence[Scalar]) -> Vector:
        if self._shared is not None:
            return self._shared.inverse(a)
        out = joint_forces(self._links, self._motions, self._wrenches(a), self.model.nv)
        given = self._given_forces
        rotors = [mul(m, x) for m, x in zip(self._armature, a, strict=True)]
        return [sub(add(add(x, r), b), g) for x, r, b, g in zip(out, rotors, self._rotor_bias, given, strict=True)]

    def _wrenches(self, a: Sequence[Scalar]) -> list[tuple[Vector, Vector]]:
        """(F, N) that the joints must give each body for accelerations a, beside lines and loads."""
        fields = accelerations(self._links, self._motions, self._gravity, _split(self.v), a)
        needed = [wrench(link, field) for link, field in zip(self._links, fields, strict=True)]
        return [(minus(F, f), minus(N, n)) for (F, N), (f, n) in zip(needed, self._loads.wrenches, strict=True)]

    @cached_property
    def _rotor_bias(self) -> Vector:
        """a ω × v of a Free joint's rotor inertia, else 0 (see armature_bias in tests/reference/dynamics.py)."""
        out: Vector = [0.0] * self.model.nv
        for link in self._links:
            if link.kind == "free":
                v = _split(self.v)[link.v]
                out[link.v.start + 3 : link.v.stop] = scaled(self._armature[link.v.start], cross(v[:3], v[3:]))
        return out

    @cached_property
    def _bias(self) -> Vector:
        return self._inverse([0.0] * self.model.nv)

    @cached_property
    def _mass(self) -> Matrix:
        if self._shared is not None:
            return self._shared.mass()
        return mass_matrix.mass_matrix(self._links, self._motions, self._armature)

    def _forward(self, method: str) -> Vector:
        if self._shared is not None:  # anything may depend on anything
            before = [list(reversed(range(k))) for k in range(self.model.nv)]
            return mass_matrix.solve(self._mass, minus(_split(self.tau), self._bias), before)
        links, motions = self._links, self._motions
        if method == "cholesky":
            return mass_matrix.solve(self._mass, minus(_split(self.tau), self._bias), mass_matrix.ancestors(links))
        left, given = self._wrenches([0.0] * self.model.nv), self._given_forces
        tau = [sub(add(t, g), b) for t, g, b in zip(_split(self.tau), given, self._rotor_bias, strict=True)]
        return articulated.forward_dynamics(links, motions, left, tau, self._armature)

    def _column(self, entries: Sequence[Scalar]) -> Any:
        casadi = extra("casadi")

        return casadi.vertcat(*(casadi.SX(x) for x in entries))

    def _expression(self, given: Any) -> Any:
        casadi = extra("casadi")

        if not isinstance(given, casadi.SX):
            raise ModelError(f"an expression of these equations is wanted (casadi.SX), not {type(given).__name__}")
        return given

    def _symbols(self, given: Sequence[Any]) -> list[Any]:
        casadi = extra("casadi")

        for x in given:
            if not isinstance(x, casadi.SX) or not x.is_valid_input():
                raise ModelError("a variable must be a symbol, such as eq.a[0] or eq.v")
        return list(given)


def _split(symbols: Any) -> list[Any]:
    return [symbols[i] for i in range(symbols.numel())]
