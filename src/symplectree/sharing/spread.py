"""From independent coordinates to all of a tree: the map and its derivatives.

Every coordinate of the tree is a function of one independent coordinate, q_i = φ_i(q_l), with l = l(i); that of an
independent one is the identity, quaternions included. With C_il = φ_i'(q_l) the principle of virtual work gives

    v_full = C v,    a_full = C a + φ'' v²,    τ = Cᵀ τ_full,    p = Cᵀ p_full,    M = Cᵀ M_full C.

Constraint rows q_f − φ(q_l) = 0 have the derivative G with G C = 0, so that Cᵀ takes their forces away.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from symplectree.elements.table import Table
from symplectree.formula.run_tape import run_tape
from symplectree.formula.tape import Tape
from symplectree.lie import Array

if TYPE_CHECKING:
    from symplectree.mechanism.model import Model


class Spread(NamedTuple):
    """All coordinates (..., full nq), and φ', φ'', φ''' of each degree of freedom, (..., full nv) or (full nv,)."""

    q: Array
    slope: Array
    curve: Array
    third: Array


@dataclass(frozen=True)
class Follower:
    """A coordinate that follows: q = ratio · x + offset, or φ(x), of the value x of its leader, which may follow, too.

    | name | meaning |
    | --- | --- |
    | name, leader, root | names of the coordinate, of the one that it follows, and of the independent one behind that |
    | element, row | name of the constraint, and number of its row |
    | q, v, leader_q, leader_v | places in q and v of the tree |
    | function | φ, None where it is affine |
    """

    name: str
    leader: str
    root: str
    element: str
    row: int
    q: int
    v: int
    leader_q: int
    leader_v: int
    ratio: float
    offset: float
    function: Tape | Table | None = None


@dataclass(frozen=True, eq=False)
class Sharing:
    """Who follows whom in a tree, and the map from independent coordinates to all of them.

    | name | meaning |
    | --- | --- |
    | full | the tree with all coordinates, and with the constraints that make some follow as rows |
    | followers | by name, leaders first |
    | kept_q, kept_v, kept_rows | places of independent coordinates and velocities, and of all other rows, in `full` |
    | lead_q, lead_v | of each coordinate and velocity of `full`: the place of the independent one that it depends on |
    | tree | `full` with rotors where followers move no mass, None when there are no such |
    """

    full: Model
    followers: Mapping[str, Follower]
    kept_q: NDArray[np.intp]
    kept_v: NDArray[np.intp]
    kept_rows: NDArray[np.intp]
    lead_q: NDArray[np.intp]
    lead_v: NDArray[np.intp]
    tree: Model | None = None
    _affine: tuple[Array, Array, Array] = field(init=False, repr=False)
    _curved: tuple[Follower, ...] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        """Compose what is affine all the way from the independent coordinate; the rest is evaluated one by one."""
        nq, nv = len(self.lead_q), len(self.lead_v)
        ratio, offset, slope, curved = np.ones(nq), np.zeros(nq), np.ones(nv), []
        bent: set[int] = set()
        for f in self.followers.values():
            if f.function is not None or f.leader_q in bent:
                bent.add(f.q)
                curved.append(f)
                continue
            ratio[f.q] = slope[f.v] = f.ratio * ratio[f.leader_q]
            offset[f.q] = f.ratio * offset[f.leader_q] + f.offset
        object.__setattr__(self, "_affine", (ratio, offset, slope))
        object.__setattr__(self, "_curved", tuple(curved))

    @property
    def slope(self) -> Array:
        """φ' of each velocity of the tree (full nv); of those that do not follow by ratios alone, 1."""
        return self._affine[2]

    @property
    def curved(self) -> frozenset[str]:
        """Names of coordinates that are not affine functions of an independent one."""
        return frozenset(f.name for f in self._curved)

    @property
    def native(self) -> Any:
        """The core's form of the tree, as it can run it."""
        return (self.tree or self.full).native

    def spread(self, q: Array) -> Spread:
        """All coordinates of the tree for independent ones (..., nq), and derivatives of the map."""
        ratio, offset, slope = self._affine
        whole = np.take(q, self.lead_q, axis=-1) * ratio + offset
        nothing = np.zeros(len(slope))
        if not self._curved:
            return Spread(whole, slope, nothing, nothing)
        s1, s2, s3 = (np.broadcast_to(x, (*q.shape[:-1], len(slope))).copy() for x in (slope, nothing, nothing))
        for f in self._curved:
            x, a, b, c = whole[..., f.leader_q], s1[..., f.leader_v], s2[..., f.leader_v], s3[..., f.leader_v]
            y, d1, d2, d3 = f.ratio * x + f.offset, f.ratio, 0.0, 0.0
            if f.function is not None:
                y, d1, d2, d3 = values_of(f.function, x)
            whole[..., f.q] = y
            s1[..., f.v], s2[..., f.v] = d1 * a, d2 * a**2 + d1 * b
            s3[..., f.v] = d3 * a**3 + 3 * d2 * a * b + d1 * c
        return Spread(whole, s1, s2, s3)

    def velocity(self, s: Spread, v: Array) -> Array:
        """C v."""
        return np.asarray(np.take(v, self.lead_v, axis=-1) * s.slope)

    def acceleration(self, s: Spread, v: Array, a: Array) -> Array:
        """C a + φ'' v²."""
        return np.asarray(self.velocity(s, a) + s.curve * np.take(v, self.lead_v, axis=-1) ** 2)

    def forces(self, s: Spread, x: Array) -> Array:
        """Cᵀ x of forces or momenta."""
        return self.gathered(s.slope * x)

    def placed(self, x: Array) -> Array:
        """Forces or momenta of the tree with Cᵀ placed(x) = x: on independent coordinates only."""
        out = np.zeros((*x.shape[:-1], len(self.lead_v)))
        out[..., self.kept_v] = x
        return out

    def places(self, velocities: Array) -> Array:
        """Numbers of velocities of the model, as the tree counts them."""
        return self.kept_v[np.asarray(velocities, dtype=int)].astype(float)

    def gathered(self, x: Array) -> Array:
        """Sums (..., nv) of (..., full nv) over all that follow the same; of each row the same bits, however many."""
        order, starts = self._groups
        return np.asarray(np.add.reduceat(np.take(x, order, axis=-1), starts, axis=-1))

    def matrix(self, s: Spread) -> Array:
        """C (..., full nv, nv)."""
        return np.asarray(s.slope[..., None] * self.ones)

    @cached_property
    def _groups(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        order = np.argsort(self.lead_v, kind="stable")
        return order, np.searchsorted(self.lead_v[order], np.arange(len(self.kept_v)))

    @cached_property
    def ones(self) -> Array:
        """(full nv, nv): 1 where a velocity of the tree is a function of an independent one."""
        return np.asarray(self.lead_v[:, None] == np.arange(len(self.kept_v)), dtype=float)


def values_of(function: Tape | Table, x: Array) -> Sequence[Any]:
    """φ and its first three derivatives at every x."""
    if isinstance(function, Tape):
        return run_tape(function, [np.asarray(x)])
    return function.values(x)
