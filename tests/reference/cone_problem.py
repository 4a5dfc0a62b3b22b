"""Contact problems in NumPy: their conditions one by one, and projected Gauss–Seidel, which is slow and short."""

import numpy as np

ROWS = {"limit": 1, "friction": 1, "disc": 2, "contact": 3}


def slices(kinds):
    """Rows of each part."""
    ends = np.cumsum([ROWS[kind] for kind in kinds])
    return [slice(int(end) - ROWS[kind], int(end)) for kind, end in zip(kinds, ends, strict=True)]


def violations(kinds, bounds, W, y0, x):
    """By how much x [impulses] misses each condition of core/contact/cone_problem.hpp, relative to the largest impulse."""
    y = W @ x + y0
    step = 1 / np.diag(W)
    size = max(np.abs(x).max(), np.maximum(-step * y0, 0).max(), 1e-300)
    out = []
    for kind, bound, rows in zip(kinds, bounds, slices(kinds), strict=True):
        own, rate, rho = x[rows], y[rows], step[rows]
        if kind in ("limit", "contact"):
            out.append(abs(min(own[0], rho[0] * rate[0])))  # 0 ≤ x ⟂ y ≥ 0
        if kind == "limit":
            continue
        if kind == "contact":
            own, rate, rho, bound = own[1:], rate[1:], rho[1:], bound * own[0]
        out.append(max(0.0, np.linalg.norm(own) - bound))
        speed = np.linalg.norm(rate)
        # No other impulse of the disc takes more energy.
        out.append((own @ rate + bound * speed) / (speed + size / rho.max()))
    return np.array(out) / size


def gauss_seidel(kinds, bounds, W, y0, *, sweeps=20000):
    """x by projecting each row, or two tangents, onto what it may be, until nothing moves."""
    x = np.zeros(len(y0))
    for _ in range(sweeps):
        before = x.copy()
        for kind, bound, rows in zip(kinds, bounds, slices(kinds), strict=True):
            tangents = range(rows.start, rows.stop)
            if kind in ("limit", "contact"):
                i = rows.start
                x[i] = max(0.0, x[i] - (W[i] @ x + y0[i]) / W[i, i])
                tangents = tangents[1:]
                bound = bound * x[i]
            if not len(tangents):
                continue
            t = list(tangents)
            z = x[t] - (W[t] @ x + y0[t]) / np.linalg.norm(W[np.ix_(t, t)], 2)
            length = np.linalg.norm(z)
            x[t] = z if length <= bound else z * (bound / length)
        if np.abs(x - before).max() <= 1e-15 * np.abs(x).max():
            return x
    return None


def random_problem(rng, *, parts, bodies, ratio=1.0, friction=2.0):
    """kinds, bounds, W, y₀ = J v of parts on free bodies, so that there is a solution; `ratio`: of masses."""
    kinds = list(rng.choice(["limit", "friction", "disc", "contact"], parts, p=[0.1, 0.1, 0.1, 0.7]))
    bounds = [0.0 if k == "limit" else friction * rng.random() if k == "contact" else rng.exponential() for k in kinds]
    J = np.zeros((sum(ROWS[k] for k in kinds), 6 * bodies))
    for rows in slices(kinds):
        a, b = rng.integers(bodies), rng.integers(-1, bodies)
        axes = np.linalg.qr(rng.normal(size=(3, 3)))[0][3 - (rows.stop - rows.start) :]
        for body, sign in ((a, 1.0), (b, -1.0)) if b not in (-1, a) else ((a, 1.0),):
            J[rows, 6 * body : 6 * body + 3] = sign * axes
            J[rows, 6 * body + 3 : 6 * body + 6] = sign * np.cross(0.5 * rng.normal(size=3), axes)
    masses = ratio ** (rng.random(bodies) - 0.5)
    inverse = np.repeat(1 / masses, 6) * np.tile([1, 1, 1, 10, 10, 10], bodies)
    v = rng.normal(size=6 * bodies) - np.tile([0, 0, 1, 0, 0, 0], bodies)
    return kinds, bounds, (J * inverse) @ J.T, J @ v
