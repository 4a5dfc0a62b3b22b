"""Checking and merging of masses."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from symplectree.errors import ModelError
from symplectree.lie import Array
from symplectree.mechanism.mechanism import Mass
from symplectree.validation import real_array, shown

LARGEST = 1e100  # in SI units: squares and products of these are finite


@dataclass(frozen=True)
class RigidMass:
    """mass [kg], centre of mass [m] and inertia about it [kg·m²], all in the axes of one frame."""

    mass: float
    com: Array
    inertia: Array


def checked(owner: str, given: Mass) -> RigidMass:
    """The user's mass as arrays; raises ModelError naming the link when no body can have it."""
    mass = vector(owner, "mass", given.mass, 1)[0]
    if mass < 0:
        raise ModelError(f"mass of {owner} is {mass}; it must be zero or more")
    return RigidMass(mass, vector(owner, "com", given.com, 3), inertia_matrix(owner, given.inertia))


def vector(owner: str, quantity: str, value: Any, size: int) -> Array:
    """`size` finite numbers, a copy; raises ModelError naming owner and quantity."""
    try:
        array = np.atleast_1d(real_array(value))
    except TypeError:
        raise ModelError(f"{quantity} of {owner} is {shown(value)}; give {size} number{'s' * (size > 1)}") from None
    if array.shape != (size,):
        raise ModelError(f"{quantity} of {owner} has shape {array.shape}; give {size} number{'s' * (size > 1)}")
    if not np.all(np.isfinite(array)):
        raise ModelError(f"{quantity} of {owner} holds a value that is not finite: {value!r}")
    _check_size(owner, quantity, array)
    return array


def _check_size(owner: str, quantity: str, array: Array) -> None:
    largest = float(np.abs(array).max(initial=0.0))
    if largest > LARGEST:
        raise ModelError(
            f"{quantity} of {owner} holds {largest:.3g}, too large to compute with; at most {LARGEST:g} is taken"
        )


def inertia_matrix(owner: str, value: Any) -> Array:
    """3×3 inertia from None, three principal moments or a matrix; raises ModelError when no body can have it."""
    if value is None:
        return np.zeros((3, 3))
    try:
        array = real_array(value)
    except TypeError:
        raise ModelError(
            f"inertia of {owner} is {shown(value)}; give three principal moments or a 3×3 matrix"
        ) from None
    if array.shape == (3,):
        array = np.diag(array)
    if array.shape != (3, 3):
        raise ModelError(f"inertia of {owner} has shape {array.shape}; give three principal moments or a 3×3 matrix")
    if not np.all(np.isfinite(array)):
        raise ModelError(f"inertia of {owner} holds a value that is not finite")
    _check_size(owner, "inertia", array)
    scale = float(np.abs(array).max())
    if np.abs(array - array.T).max() > 1e-9 * scale:
        raise ModelError(f"inertia of {owner} is not symmetric")
    array = (array + array.T) / 2
    a, b, c = np.linalg.eigvalsh(array)
    if a < -1e-12 * scale:
        raise ModelError(f"inertia of {owner} has the negative principal moment {a:.6g}")
    if c > (a + b) * (1 + 1e-6) + 1e-12 * scale:
        raise ModelError(
            f"inertia of {owner} has principal moments {a:.6g}, {b:.6g}, {c:.6g}: the largest exceeds the sum of the "
            "others, which no distribution of mass can have"
        )
    return array


def carried(body: RigidMass, T: Array) -> RigidMass:
    """The same mass in the axes of the frame in which its own frame has pose T."""
    R = T[:3, :3]
    return RigidMass(body.mass, R @ body.com + T[:3, 3], R @ body.inertia @ R.T)


def merged(parts: list[RigidMass]) -> RigidMass:
    """One body made of several masses given in the same axes (parallel axis theorem)."""
    parts = [part for part in parts if part.mass > 0 or np.any(part.inertia)]
    mass = sum(part.mass for part in parts)
    if mass > 0:
        com = sum((part.mass * part.com for part in parts), np.zeros(3)) / mass
    else:
        com = parts[0].com if parts else np.zeros(3)
    inertia = np.zeros((3, 3))
    for part in parts:
        d = part.com - com
        inertia += part.inertia + part.mass * (d @ d * np.eye(3) - np.outer(d, d))
    return RigidMass(float(mass), com, inertia)
