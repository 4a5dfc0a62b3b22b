"""One step of the variational integrators that give each body an action of its own: chord, exp and cayley.

With p = ∂L/∂v (left-trivialised for Ball and Free) and h the step, q₁ is the root of the residual r:

    r(q₁) = p₀ − J(q₀)ᵀ μ⁻ − a⁻ + f⁻ = 0,  p₁ = J(q₁)ᵀ μ⁺ + a⁺ + f⁺.

μ∓ are the momenta of the bodies at the two ends of the step, −D₁ and D₂ of a discrete Lagrangian of one body
(LLPS16 (16)), a∓ those of the rotors, f∓ the discrete forces (JM09 (43)), gravity and springs among them. Jᵀμ is
the leaves-to-root sweep of LLPS16's Algorithm 2, with the joints at q₀ or at q₁. Constraints add Dh(q₀)ᵀλ to r and
ask for h(q₁) = 0 (JM09 (44)); p₁ is without their impulse, which is all in λ of the step that follows.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import NamedTuple

import numpy as np
from scipy.special import bernoulli, factorial

from reference import user_elements
from reference.constraints import constraint_jacobian, saddle, step_jacobian, step_values
from reference.dynamics import inverse_mass_product
from reference.elements import built_in_force, energy_gradient, gauges
from reference.kinematics import (
    Q_SIZE,
    body_poses,
    jacobian_at,
    kind,
    local_poses,
    own_q,
    own_v,
    retract,
    subspace,
)
from symplectree.elements.rows import LineRow
from symplectree.lie import (
    Ad,
    Array,
    ad,
    inverse,
    left_jacobian_inverse,
    pose,
    quaternion_conjugate,
    quaternion_matrix,
    quaternion_product,
)
from symplectree.mechanism.model import Model

# B_j / j! of LLPS16 (12); each term is at most |ω|/2π of the one before, and |ω| ≤ π
DLOG_COEFFICIENTS = bernoulli(70) / factorial(np.arange(71))


def residual(
    model: Model,
    q0: Array,
    p0: Array,
    q1: Array,
    h: float,
    action: str,
    *,
    inputs: Array | None = None,
    tau: Array | None = None,
) -> Array:
    """r(q₁), (nv,): the impulse that is missing for a step from (q₀, p₀) to q₁. LLPS16 Algorithm 2, (21)–(22).

    `action` is "chord", "exp" or "cayley"; `inputs` are the numbers for the model's inputs, `tau` (nv,) further
    joint forces; both act half at each end.
    """
    return p0 + 0.5 * h * loads(model, q0, inputs, tau) - left_momentum(model, q0, q1, h, action)


def left_momentum(model: Model, q0: Array, q1: Array, h: float, action: str) -> Array:
    """What the residual has of q₁, (nv,): J(q₀)ᵀμ⁻ + a⁻ less damping and the user's forces in f⁻."""
    mu, _ = momenta_of_bodies(model, q0, q1, h, action)
    rotors, _ = armature_momenta(model, q0, q1, h)
    f_minus = damping_impulse(model, q0, q1, end=0) + user_impulse(model, q0, q1, h, end=0)
    return project(model, q0, mu) + rotors - f_minus


def momentum(
    model: Model,
    q0: Array,
    q1: Array,
    h: float,
    action: str,
    *,
    inputs: Array | None = None,
    tau: Array | None = None,
) -> Array:
    """p₁ = D₂L_d(q₀, q₁) + f⁺, (nv,): the momentum at the end of a step from q₀ to q₁. LLPS16 (16b)."""
    _, mu = momenta_of_bodies(model, q0, q1, h, action)
    _, rotors = armature_momenta(model, q0, q1, h)
    f_plus = damping_impulse(model, q0, q1, end=1) + user_impulse(model, q0, q1, h, end=1)
    return project(model, q1, mu) + rotors + f_plus + 0.5 * h * loads(model, q1, inputs, tau)


def step(
    model: Model,
    q0: Array,
    p0: Array,
    h: float,
    action: str,
    *,
    inputs: Array | None = None,
    tau: Array | None = None,
    guess: Array | None = None,
) -> tuple[Array, Array]:
    """(q₁, p₁) from (q₀, p₀), to rounding. The guess for q₁ is q₀ ⊕ h M⁻¹p₀ when none is given."""
    start = retract(model, q0, h * inverse_mass_product(model, q0, p0)) if guess is None else guess
    wanted = p0 + 0.5 * h * loads(model, q0, inputs, tau)
    q1 = find_root(model, lambda q: wanted - left_momentum(model, q0, q, h, action), start)
    return q1, momentum(model, q0, q1, h, action, inputs=inputs, tau=tau)


class ConstrainedStep(NamedTuple):
    """q₁ and p₁; the impulses λ of the constraint rows; the impulses that move driven velocities, zero for others."""

    q: Array
    p: Array
    multipliers: Array
    driving: Array


def constrained_step(
    model: Model,
    q0: Array,
    p0: Array,
    h: float,
    action: str,
    *,
    inputs: Array | None = None,
    tau: Array | None = None,
    driven: Collection[int] = (),
    guess: Array | None = None,
) -> ConstrainedStep:
    """A step with constraints and prescribed coordinates: r(q₁) + Dh(q₀)ᵀλ = 0 and h(q₁) = 0, JM09 (44)–(46).

    Rolling asks for P(q_m)(q₁ − q₀) = 0 instead, and P(q₀)ᵀλ is its impulse (discrete Lagrange–d'Alembert).
    Newton's method on (q₁, λ). Velocities of indices `driven` have no equation: their coordinates stay as in `guess`.
    Raises ArithmeticError when there is no convergence in 50 iterations.
    """
    q1 = retract(model, q0, h * inverse_mass_product(model, q0, p0)) if guess is None else guess
    wanted = p0 + 0.5 * h * loads(model, q0, inputs, tau)
    G0, size = constraint_jacobian(model, q0), np.inf
    for _ in range(50):
        r = wanted - left_momentum(model, q0, q1, h, action)
        if size > 1e-5:
            N = differences(model, lambda q: left_momentum(model, q0, q, h, action), q1)
            G1 = step_jacobian(model, q0, q1)
        delta, lam = saddle(N, G1, r, -step_values(model, q0, q1), driven=driven, given=None, G_left=G0)
        before, size = size, float(np.linalg.norm(delta))
        if size == 0 or (before < 1e-9 and size > 0.2 * before):  # rounding is all that is left
            driving = np.zeros(model.nv)
            driving[list(driven)] = -(r + G0.T @ lam)[list(driven)]
            return ConstrainedStep(q1, momentum(model, q0, q1, h, action, inputs=inputs, tau=tau), lam, driving)
        q1 = retract(model, q1, delta)
    raise ArithmeticError(f"no root found: after 50 iterations the increment is {size:.1e}; take a shorter step")


def find_root(
    model: Model, function: Callable[[Array], Array], q: Array, jacobian: Callable[[Array], Array] | None = None
) -> Array:
    """Root near q of a function (nq,) → (nv,), by Newton's method until increments shrink no more.

    The Jacobian (nv, nv) along increments of `retract`, by `differences` if not given, is renewed while increments
    are large. Raises ArithmeticError when there is no convergence in 50 iterations.
    """
    size, D = np.inf, np.eye(model.nv)
    for _ in range(50):
        if size > 1e-5:
            D = jacobian(q) if jacobian else differences(model, function, q)
        delta = np.asarray(-np.linalg.solve(D, function(q)), dtype=float)
        before, size = size, float(np.linalg.norm(delta))
        if size == 0 or (before < 1e-9 and size > 0.2 * before):  # rounding is all that is left
            return q
        q = retract(model, q, delta)
    raise ArithmeticError(f"no root found: after 50 iterations the increment is {size:.1e}; take a shorter step")


def differences(model: Model, function: Callable[[Array], Array], q: Array) -> Array:
    """Jacobian (m, nv) of a function (nq,) → (m,) along increments of `retract`, by forward differences."""
    e, here = 1e-7, function(q)
    return np.array([(function(retract(model, q, e * i)) - here) / e for i in np.eye(model.nv)]).T


def body_momenta(action: str, T0: Array, T1: Array, mass: float, inertia: Array, h: float) -> tuple[Array, Array]:
    """(μ⁻, μ⁺), each (6,), of a body that moves from T0 to T1, the poses of its centre of mass, in h seconds.

    With body increments η of the poses they are the derivatives −∂A/∂η₀ and ∂A/∂η₁ of the body's action A:

    chord:  A = Σ_points m |x₁ − x₀|² / 2h, all points of the body moving on straight chords
    exp:    A = ½ h VᵀGV, hV = log(T₀⁻¹T₁), LLPS16 (9)–(10); μ⁻ is (21b), and μ⁺ its Ad-transform, (16b)
    cayley: A = (wᵀJw + m |x₁ − x₀|²) / 2h, w the Cayley vector (2 tan(θ/2) along the axis) of R₀ᵀR₁
    """
    dT = inverse(T0) @ T1
    dR, dx = dT[:3, :3], dT[:3, 3]
    if action == "exp":
        V = log_pose(dT) / h
        mu = dlog_transposed(h * V, np.concatenate([inertia @ V[:3], mass * V[3:]]))
        return mu, Ad(dT).T @ mu
    if action == "chord":
        C = dR @ (0.5 * np.trace(inertia) * np.eye(3) - inertia)
        angular = vee(C - C.T) / h
    elif action == "cayley":
        w = 2 * vee(dR - dR.T) / (1 + np.trace(dR))
        y = inertia @ w
        angular = (y + 0.5 * np.cross(w, y) + 0.25 * (w @ y) * w) / h
    else:
        raise ValueError(f"action is {action!r}; it must be 'chord', 'exp' or 'cayley'")
    linear = mass * dx / h
    return np.concatenate([angular, linear]), np.concatenate([dR.T @ angular, dR.T @ linear])


def momenta_of_bodies(model: Model, q0: Array, q1: Array, h: float, action: str) -> tuple[Array, Array]:
    """(μ⁻, μ⁺) of every body, each (n, 6), carried from its centre of mass to its own frame."""
    poses0, poses1 = body_poses(model, q0), body_poses(model, q1)
    mu = np.zeros((2, len(model.parent), 6))
    for k, com in enumerate(model.com):
        T = pose(x=com)
        at_com = body_momenta(action, poses0[k] @ T, poses1[k] @ T, model.mass[k], model.inertia[k], h)
        mu[:, k] = at_com @ Ad(inverse(T))
    return mu[0], mu[1]


def project(model: Model, q: Array, wrenches: Array) -> Array:
    """Jᵀ F, (nv,), of a wrench (n, 6) on each body in its own frame: LLPS16 Algorithm 2, lines 6–10."""
    F, g, projected = np.array(wrenches), local_poses(model, q), np.zeros(model.nv)
    for k in reversed(range(len(model.parent))):
        projected[own_v(model, k)] = subspace(model, k, q).T @ F[k]
        if model.parent[k] >= 0:
            F[model.parent[k]] += Ad(inverse(g[k])).T @ F[k]
    return projected


def loads(model: Model, q: Array, inputs: Array | None, tau: Array | None) -> Array:
    """Q(q), all generalized forces that no velocity changes, (nv,): gravity, springs, motors, wrenches and tau."""
    Q = built_in_force(model, q, np.zeros(model.nv), inputs) - energy_gradient(model, q)
    for k, g in enumerate(body_poses(model, q)):
        weight = model.mass[k] * g[:3, :3].T @ model.gravity  # in the body's axes
        Q += jacobian_at(model, q, k, pose(x=model.com[k]))[3:].T @ weight
    return Q if tau is None else Q + tau


def armature_momenta(model: Model, q0: Array, q1: Array, h: float) -> tuple[Array, Array]:
    """(a⁻, a⁺), each (nv,): the momenta of the rotors, a (q₁ − q₀)/h.

    Of a Ball or Free joint a/2h · vee(ΔR − ΔRᵀ), the chord action of a ball of inertia a, and for translation
    a Rᵀ(x₁ − x₀)/h with R at either end.
    """
    minus, plus = displacements(model, q0, q1, lambda z: 2 * z[0] * z[1:])  # ½ vee(ΔR − ΔRᵀ) = sin θ · axis
    return model.armature * minus / h, model.armature * plus / h


def damping_impulse(model: Model, q0: Array, q1: Array, end: int) -> Array:
    """The damping part of f⁻ (`end` 0) or f⁺ (1), (nv,); it has no h, as velocity × h is a displacement.

    Joints: −(c/2)(q₁ − q₀); on the rotation of a Ball or Free joint −(c/2) · 2 vec(q₀* ⊗ q₁) with scalar part ≥ 0,
    on a Free joint's translation −(c/2) Rᵀ(x₁ − x₀). Lines: −(c/2)(ℓ₁ − ℓ₀) ∂ℓ/∂q, and pairs
    likewise. R and ∂ℓ/∂q are those at the end.
    """
    f, d = np.zeros(model.nv), displacements(model, q0, q1, lambda z: 2 * z[1:] * (1 if z[0] >= 0 else -1))[end]
    for damper in model.tables.joint_dampers:
        f[damper.v] -= 0.5 * damper.damping * d[damper.v]
    for row in (row for row in model.tables.lines if row.damping != 0):
        stretch = np.linalg.norm(line(model, q1, row)) - np.linalg.norm(line(model, q0, row))
        f -= 0.5 * row.damping * stretch * length_gradient(model, (q0, q1)[end], row)
    for start, stop in zip(gauges(model, q0), gauges(model, q1), strict=True):
        f -= 0.5 * start.c * start.change_to(stop.s) * (start, stop)[end].ds
    return f


def user_impulse(model: Model, q0: Array, q1: Array, h: float, end: int) -> Array:
    """The part of f⁻ (`end` 0) or f⁺ (1) of the user's forces, (nv,): (h/2) f(q, (q₁ ⊖ q₀)/h) with q at that end."""
    return 0.5 * h * user_elements.force(model, (q0, q1)[end], user_elements.step_velocity(model, q0, q1, h))


def displacements(model: Model, q0: Array, q1: Array, turn: Callable[[Array], Array]) -> tuple[Array, Array]:
    """How far each joint moves, (nv,), in its moving frame at q₀ and at q₁.

    q₁ − q₀; for rotations `turn` of the quaternion q₀* ⊗ q₁, the same in both frames; for the translation of a
    Free joint R₀ᵀ(x₁ − x₀) and R₁ᵀ(x₁ − x₀).
    """
    minus, plus = np.zeros(model.nv), np.zeros(model.nv)
    for k in range(len(model.parent)):
        at, own = own_q(model, k), own_v(model, k)
        if kind(model, k) not in Q_SIZE:
            minus[own] = plus[own] = q1[at] - q0[at]
            continue
        z0, z1 = (unit_quaternion(q[at]) for q in (q0, q1))
        angular = slice(own.start, own.start + 3)
        minus[angular] = plus[angular] = turn(quaternion_product(quaternion_conjugate(z0), z1))
        if kind(model, k) == "free":
            linear, dx = slice(own.start + 3, own.stop), q1[at][:3] - q0[at][:3]
            minus[linear], plus[linear] = quaternion_matrix(z0).T @ dx, quaternion_matrix(z1).T @ dx
    return minus, plus


def unit_quaternion(q: Array) -> Array:
    """The quaternion of a Ball's or Free joint's own coordinates, normalised."""
    return q[-4:] / np.linalg.norm(q[-4:])


def line(model: Model, q: Array, row: LineRow) -> Array:
    """The vector from one end to the other of a row of `tables.lines`, in world axes, (3,)."""
    g_s = [*body_poses(model, q), np.eye(4)]  # the world is −1
    return (g_s[row.b.body] @ [*row.b.at, 1] - g_s[row.a.body] @ [*row.a.at, 1])[:3]


def length_gradient(model: Model, q: Array, row: LineRow) -> Array:
    """D_i ℓ, (nv,), of a row of `tables.lines`; zero where ℓ is (JM09 section IV-C)."""
    g_s, d = [*body_poses(model, q), np.eye(4)], line(model, q, row)
    J_a, J_b = (g_s[end.body][:3, :3] @ jacobian_at(model, q, end.body, pose(x=end.at))[3:] for end in (row.a, row.b))
    return d @ (J_b - J_a) / (np.linalg.norm(d) or 1.0)


def vee(M: Array) -> Array:
    """z of M = [z], `hat(z)`."""
    return np.array([M[2, 1], M[0, 2], M[1, 0]])


def log_pose(T: Array) -> Array:
    """The twist V = log(T), (6,), with exp[V] = T (LLPS16 (10)); rotations stay clear of half a turn."""
    sine = 0.5 * vee(T[:3, :3] - T[:3, :3].T)
    s = np.linalg.norm(sine)
    angle = np.arctan2(s, 0.5 * (np.trace(T[:3, :3]) - 1))
    w = sine * (angle / s if s > 0 else 1.0)
    return np.concatenate([w, left_jacobian_inverse(w) @ T[:3, 3]])


def dlog_transposed(V: Array, y: Array) -> Array:
    """dlog_Vᵀ y = Σ_j (B_j / j!) (ad_Vᵀ)^j y, (6,): LLPS16 (12)–(13), B₁ = −½."""
    A, total = ad(V).T, np.zeros(6)
    for c in DLOG_COEFFICIENTS[::-1]:  # Horner's rule
        total = c * y + A @ total
    return total
