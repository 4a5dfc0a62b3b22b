"""Twin of core/model/coordinate_map.hpp: from independent coordinates to all of a tree, and derivatives of the map.

q_tree = φ(u),    v_tree = C v,    a_tree = C a + φ'' v²,    τ = Cᵀ τ_tree,    p = Cᵀ p_tree,    C_il = φ_i'(u_l)
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

import symplectree as st
from symplectree.elements.table import Table


class Point(NamedTuple):
    """All coordinates (..., nq of the tree), and φ', φ'', φ''' of each of its velocities (..., nv of the tree)."""

    q: np.ndarray
    first: np.ndarray
    second: np.ndarray
    third: np.ndarray


class CoordinateMap:
    """Of a model with followers; the names are those of `mechanism.followers.Followers`."""

    def __init__(self, model: st.Model) -> None:
        self.model, self.followers = model, model.followers

    def __getattr__(self, name: str) -> np.ndarray:
        return getattr(self.followers, name)

    def evaluate(self, u: np.ndarray) -> Point:
        f = self.followers
        q = np.take(u, f.leader_q, axis=-1).astype(float)
        first = np.ones((*u.shape[:-1], f.full.nv))
        second, third = np.zeros_like(first), np.zeros_like(first)
        for each in f.by_name.values():
            x = q[..., each.leader_q]
            a, b, c = (s[..., each.leader_v] for s in (first, second, third))
            y, d1, d2, d3 = each.ratio * x + each.offset, each.ratio, 0.0, 0.0
            if each.function >= 0:
                y, d1, d2, d3 = _values(self.model.tables.functions[each.function], x)
            q[..., each.q] = y
            first[..., each.v], second[..., each.v] = d1 * a, d2 * a**2 + d1 * b
            third[..., each.v] = d3 * a**3 + 3 * d2 * a * b + d1 * c
        return Point(q, first, second, third)

    def matrix(self, u: np.ndarray) -> np.ndarray:
        """C (..., nv of the tree, nv)."""
        ones = self.followers.leader_v[:, None] == np.arange(self.model.nv)
        return self.evaluate(u).first[..., None] * ones

    def velocity(self, u: np.ndarray, v: np.ndarray) -> np.ndarray:
        return (self.matrix(u) @ v[..., None])[..., 0]

    def acceleration(self, u: np.ndarray, v: np.ndarray, a: np.ndarray) -> np.ndarray:
        return self.velocity(u, a) + self.evaluate(u).second * v[..., self.followers.leader_v] ** 2

    def forces(self, u: np.ndarray, x: np.ndarray) -> np.ndarray:
        """Cᵀ x."""
        return (np.swapaxes(self.matrix(u), -1, -2) @ x[..., None])[..., 0]

    def placed(self, x: np.ndarray) -> np.ndarray:
        """Forces or momenta of the tree on independent coordinates only: Cᵀ placed(x) = x."""
        out = np.zeros((*x.shape[:-1], self.followers.full.nv))
        out[..., self.followers.independent_v] = x
        return out


def _values(function: object, x: np.ndarray) -> list[np.ndarray]:
    """φ and its first three derivatives at every x."""
    if isinstance(function, Table):
        return function.values(x)
    from symplectree.formula.run_tape import run_tape

    return run_tape(function, [np.asarray(x)])
