"""Equations where coordinates follow others: those of the whole tree, with q_full = φ(q) put in, projected by Cᵀ."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from symplectree.extras import extra
from symplectree.mechanism.followers import Follower, Followers
from symplectree.symbolic.algebra import Matrix, Scalar, Vector, add, mul
from symplectree.symbolic.loads import values_of

if TYPE_CHECKING:
    from symplectree.symbolic.equations import Equations


class SharedGraph:
    """The tree's graph in symbols q, v of the independent coordinates (see core/model/coordinate_map.hpp)."""

    def __init__(self, tree: Equations, followers: Followers, q: Any, v: Any) -> None:
        self.tree, self.lead, self.size = tree, [int(i) for i in followers.leader_v], v.numel()
        self.q: Vector = [q[int(i)] for i in followers.leader_q]
        self.slope: Vector = [1.0] * len(self.lead)
        self.curve: Vector = [0.0] * len(self.lead)
        for follower in followers.by_name.values():
            self._follow(follower)
        rate = [v[i] for i in self.lead]
        self.v = [mul(s, x) for s, x in zip(self.slope, rate, strict=True)]
        self._bend = [mul(c, mul(x, x)) for c, x in zip(self.curve, rate, strict=True)]

    def _follow(self, f: Follower) -> None:
        x, a, b = self.q[f.leader_q], self.slope[f.leader_v], self.curve[f.leader_v]
        y, d1, d2 = add(mul(f.ratio, x), f.offset), f.ratio, 0.0
        if f.function >= 0:
            y, d1, d2 = values_of(self.tree.model.tables.functions[f.function], x)
        self.q[f.q], self.slope[f.v] = y, mul(d1, a)
        self.curve[f.v] = add(mul(d2, mul(a, a)), mul(d1, b))

    def inverse(self, a: Sequence[Scalar]) -> Vector:
        """Cᵀ τ_full at C a + φ'' v²."""
        whole = [add(mul(s, a[i]), b) for s, i, b in zip(self.slope, self.lead, self._bend, strict=True)]
        column = self._put([self.tree.inverse_dynamics()], whole)[0]
        out: Vector = [0.0] * self.size
        for j, (i, s) in enumerate(zip(self.lead, self.slope, strict=True)):
            out[i] = add(out[i], mul(s, column[j]))
        return out

    def mass(self) -> Matrix:
        """Cᵀ M C."""
        M = self._put([self.tree.mass_matrix()])[0]
        out: Matrix = [[0.0] * self.size for _ in range(self.size)]
        for j, (a, s) in enumerate(zip(self.lead, self.slope, strict=True)):
            for k, (b, t) in enumerate(zip(self.lead, self.slope, strict=True)):
                out[a][b] = add(out[a][b], mul(mul(s, t), M[j, k]))
        return out

    def _put(self, expressions: list[Any], a: Sequence[Scalar] | None = None) -> list[Any]:
        """Expressions of the tree's symbols in those of the independent coordinates."""
        casadi = extra("casadi")

        def column(entries: Sequence[Scalar]) -> Any:
            return casadi.vertcat(*(casadi.SX(x) for x in entries))

        tree = self.tree
        pairs = [(tree.q, self.q), (tree.v, self.v), *([] if a is None else [(tree.a, a)])]
        return casadi.substitute(expressions, [x for x, _ in pairs], [column(y) for _, y in pairs])
