"""Chains whose equations are counted and timed: revolute joints in four degrees of generality, and GL09's tori."""

from __future__ import annotations

from typing import Any

import numpy as np

import symplectree as st
from symplectree.lie import quaternion_matrix
from symplectree.symbolic import inverse, pose, rotation, surface_frame

# From the easiest to the hardest: what the joints of the chain have in common.
CASES = {
    "planar": "parallel axes, slender links",
    "letters": "axes x, y, z in turn, slender links: our best case in space",
    "offsets": "axes x, y, z in turn, everything else at random",
    "general": "axes, placements and masses at random: our worst case",
}
RING, TUBE = 0.1, 0.02  # radii of a torus [m]


def revolute_chain(n: int, case: str) -> st.Model:
    """n revolute joints in a row; see CASES."""
    rng = np.random.default_rng(0)
    m = st.Mechanism(gravity=rng.normal(size=3) if case == "general" else (0, 0, -9.81))
    link = m.world
    for i in range(n):
        spread = rng.normal(size=(3, 3))
        general: dict[str, Any] = {
            "at": rng.normal(size=3), "com": rng.normal(size=3),
            "inertia": np.trace(spread @ spread.T) * np.eye(3) - spread @ spread.T,
        }  # fmt: skip
        slender = {"at": (0, 0, -1), "com": (0, 0, -0.5), "inertia": (0.084, 0.084, 0.002)}
        axis: Any = "y" if case == "planar" else "xyz"[i % 3]
        if case == "general":
            axis = rng.normal(size=3)
            axis /= np.linalg.norm(axis)
            general["rotate"] = quaternion_matrix(rng.normal(size=4))
        given = slender if case in ("planar", "letters") else general
        link = link.link(f"link{i}", st.Revolute(f"q{i}", axis), mass=1.0, **given)
    return m.build()


def torus(u: Any, v: Any) -> tuple[Any, Any, Any]:
    """u round the ring, v round the tube; v = π is the inner side."""
    r = RING + TUBE * np.cos(v)
    return r * np.cos(u), r * np.sin(u), TUBE * np.sin(v)


def contact(q: Any) -> Any:
    """Two rings touch inside, crosswise, at q[0] of the upper and q[1] of the lower one: T = S₁ Z S₂⁻¹, GL09 (15)."""
    across = pose(rotation("z", np.pi / 2) @ rotation("x", np.pi))
    return surface_frame(torus, q[0], np.pi) @ across @ inverse(surface_frame(torus, q[1], np.pi))


def torus_chain(n: int, mass: float = 0.2) -> st.Model:
    """n tori, each hanging in the one before: GL09 Fig. 5(b), two coordinates each."""
    m = st.Mechanism()
    polar = mass * (RING**2 + 0.75 * TUBE**2)
    inertia = (0.5 * polar + 0.125 * mass * TUBE**2,) * 2 + (polar,)
    link = m.world.link("hook", st.Fixed(), rotate=(np.pi / 2, 0, 0))
    for i in range(n):
        joint = st.FormulaJoint(f"q{i}", contact, 2, start=(-np.pi / 2, np.pi / 2))
        link = link.link(f"ring{i}", joint, mass=mass, inertia=inertia)
    return m.build()
