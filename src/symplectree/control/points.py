"""A point of a trajectory: its state, its controls, and velocities as functions of (q, p) with their derivatives.

v = M(q)⁻¹ p. With g = ∂c/∂v of a cost c(q, v, u), w = M⁻¹ g and N(v)[:, i] = D_i M v,

    D_i (g·v)        = −w·N(v)[:, i]                                        ∂(g·v)/∂p = w
    D_j D_i (g·v)    = −wᵀ(D_j D_i M) v + N(w)ᵀ M⁻¹ N(v) + N(v)ᵀ M⁻¹ N(w)    ∂D_i(g·v)/∂p = −M⁻¹ N(w)[:, i]

where wᵀ(D_j D_i M) v follows from second derivatives of kinetic energy at v + w, v and w.
"""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

import numpy as np

from symplectree.dynamics import lagrangian_derivatives
from symplectree.dynamics.derivatives import LagrangianDerivatives
from symplectree.lie import Array
from symplectree.mechanism.model import Model


class Terms(NamedTuple):
    """A number with its derivatives in increments of (q, p, u), or of (q, v, u): () , (m,) and (m, m)."""

    value: float
    gradient: Array
    hessian: Array

    def plus(self, other: Terms) -> Terms:
        return Terms(self.value + other.value, self.gradient + other.gradient, self.hessian + other.hessian)

    def times(self, factor: float) -> Terms:
        return Terms(factor * self.value, factor * self.gradient, factor * self.hessian)


class Point:
    """One of the states 0 … K of a motion, with the controls of the step that begins there.

    | name | meaning | shape |
    | --- | --- | --- |
    | k, last | which it is, and whether it is state K | |
    | q, p, v | configuration, momentum, velocity M⁻¹ p | (nq,), (nv,), (nv,) |
    | u | controls; zero at state K, where there are none | (nu,) |
    """

    def __init__(self, model: Model, k: int, q: Array, p: Array, u: Array, *, last: bool) -> None:
        self.model, self.k, self.q, self.p, self.u, self.last = model, k, q, p, u, last

    @cached_property
    def v(self) -> Array:
        from symplectree.dynamics import inverse_mass_product

        return np.asarray(inverse_mass_product(self.model, self.q, self.p))

    @cached_property
    def _mass(self) -> tuple[Array, Array]:
        """M⁻¹ and N(v)."""
        terms = lagrangian_derivatives(self.model, self.q, self.v)
        return np.asarray(np.linalg.inv(terms.dvdv), dtype=np.float64), terms.dqdv.T

    @cached_property
    def velocity_slope(self) -> tuple[Array, Array]:
        """D v in increments of q and in p, (nv, nv) each."""
        inverse, N = self._mass
        return -inverse @ N, inverse

    def velocity_second(self, g: Array) -> Array:
        """Second derivative of g·v in increments of (q, p), (2 nv, 2 nv); symmetric."""
        n = self.model.nv
        out = np.zeros((2 * n, 2 * n))
        if not np.any(g):
            return out
        inverse, N = self._mass
        w = inverse @ g
        at_w, at_v, at_sum, rest = (self._kinetic(x) for x in (w, self.v, self.v + w, np.zeros(n)))
        Nw = at_w.dqdv.T
        bent = at_sum.dqdq - at_v.dqdq - at_w.dqdq + rest.dqdq
        both = Nw.T @ inverse @ N
        qq = both + both.T - bent
        out[:n, :n] = 0.5 * (qq + qq.T)
        out[n:, :n] = -inverse @ Nw
        out[:n, n:] = out[n:, :n].T
        return out

    def of_momenta(self, terms: Terms) -> Terms:
        """Terms in (q, v, u) as terms in (q, p, u)."""
        n = self.model.nv
        dq, dp = self.velocity_slope
        T = np.eye(len(terms.gradient))
        T[n : 2 * n, :n], T[n : 2 * n, n : 2 * n] = dq, dp
        hessian = T.T @ terms.hessian @ T
        hessian[: 2 * n, : 2 * n] += self.velocity_second(terms.gradient[n : 2 * n])
        return Terms(terms.value, T.T @ terms.gradient, hessian)

    def _kinetic(self, v: Array) -> LagrangianDerivatives:
        return lagrangian_derivatives(self.model, self.q, v)
