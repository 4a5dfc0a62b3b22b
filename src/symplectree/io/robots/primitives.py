"""Masses of spheres, boxes and so on, filled or hollow, at unit density; sizes are half lengths, as MuJoCo's."""

import numpy as np

from symplectree.lie import Array
from symplectree.mechanism.inertia import RigidMass

PRIMITIVES = ("sphere", "capsule", "cylinder", "box", "ellipsoid")
HOLLOW = ("sphere", "capsule", "cylinder", "box")  # whose shells are known; the ellipsoid's has no closed form


def filled(kind: str, size: Array) -> RigidMass:
    """The body of unit density of a shape; sizes are half lengths."""
    a, b, c = (float(x) for x in size)
    if kind == "sphere":
        mass = 4 / 3 * np.pi * a**3
        moments = [2 / 5 * mass * a**2] * 3
    elif kind == "ellipsoid":
        mass = 4 / 3 * np.pi * a * b * c
        moments = [mass / 5 * (b * b + c * c), mass / 5 * (a * a + c * c), mass / 5 * (a * a + b * b)]
    elif kind == "box":
        mass = 8 * a * b * c
        moments = [mass / 3 * (b * b + c * c), mass / 3 * (a * a + c * c), mass / 3 * (a * a + b * b)]
    else:
        h = 2 * b
        mass = tube = np.pi * a**2 * h
        side, axial = tube * (3 * a * a + h * h) / 12, tube * a * a / 2
        if kind == "capsule":  # two half balls at the ends
            caps = 4 / 3 * np.pi * a**3
            mass += caps
            side += caps * (2 / 5 * a * a + h * (3 * a + 2 * h) / 8)
            axial += caps * 2 / 5 * a * a
        moments = [side, side, axial]
    return RigidMass(float(mass), np.zeros(3), np.diag(moments))


def shell(kind: str, size: Array) -> RigidMass:
    """The surface of a shape, of unit mass per area: from the second moments ∫x², ∫y², ∫z² of its pieces."""
    a, b, c = (float(x) for x in size)
    if kind == "sphere":
        mass = 4 * np.pi * a * a
        second = np.full(3, mass * a * a / 3)
    elif kind == "box":  # pairs of sides, each at its distance, and wide along the others
        half = np.array([a, b, c])
        sides = 8 * np.array([b * c, c * a, a * b])
        mass = float(sides.sum())
        second = half**2 * (sides + (mass - sides) / 3)
    else:
        wall = 4 * np.pi * a * b
        ends = (2 if kind == "cylinder" else 4) * np.pi * a * a
        mass = wall + ends
        across = wall * a * a / 2 + ends * a * a * (1 / 4 if kind == "cylinder" else 1 / 3)
        height = b * b if kind == "cylinder" else a * a / 3 + a * b + b * b  # mean square of the ends
        second = np.array([across, across, wall * b * b / 3 + ends * height])
    return RigidMass(float(mass), np.zeros(3), np.diag(second.sum() - second))
