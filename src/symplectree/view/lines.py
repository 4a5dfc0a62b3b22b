"""Wires and springs as rigid pieces, whose poses alone follow the ends: what browsers move without delay.

A wire of changing length is made of pieces that slide over each other. A spring is a coil of straight pieces, six to a
turn: chords of length l over a height h have the radius √(l² − h²), as has the first one, from the axis to the coil.
"""

from dataclasses import dataclass

import numpy as np

from symplectree.lie import Array
from symplectree.view.meshes import Surface
from symplectree.view.solids import Line, stretched
from symplectree.view.surfaces import capsule

TURN = 6  # pieces of a coil
FEWEST, MOST = 2 * TURN, 8 * TURN  # pieces of a spring
MOST_SLEEVES = 24  # pieces of a wire
WIRE = 0.22  # radius of a spring's wire, of that of its coils
SAME = 1e-6  # relative change of length that is none


@dataclass(frozen=True)
class Strand:
    """A line cut into `count` pieces of one length [m]."""

    line: Line
    count: int
    length: float

    def surface(self) -> Surface:
        """Triangles of one piece, along z about its middle."""
        radius = self.line.radius * (WIRE if self.line.kind == "spring" else 1.0)
        return capsule(radius, 0.5 * self.length)

    def poses(self, a: Array, b: Array) -> Array:
        """Of the pieces (F, count, 4, 4), between ends a and b (F, 3)."""
        T = stretched(a, b)
        length = np.linalg.norm(b - a, axis=-1)
        if self.line.kind == "spring":
            return self._coil(T, length)
        middles = np.linspace(0.0, 1.0, self.count) if self.count > 1 else np.array([0.5])
        room = np.where(length > 0, (length - self.length) / np.where(length > 0, length, 1), 0.0)
        at = 0.5 + room[:, None] * (middles - 0.5)
        out = np.broadcast_to(_unstretched(T)[:, None], (len(T), self.count, 4, 4)).copy()
        out[..., :3, 3] = T[:, None, :3, 3] + at[..., None] * T[:, None, :3, 2]
        return out

    def _coil(self, T: Array, length: Array) -> Array:
        radius = np.sqrt(np.maximum(self.length**2 - (length / self.count) ** 2, 0.0))
        i = np.arange(self.count + 1)
        wide = radius[:, None] * ((i > 0) & (i < self.count))
        angle = 2 * np.pi * i / TURN
        points = np.stack([wide * np.cos(angle), wide * np.sin(angle), np.broadcast_to(i / self.count, wide.shape)], -1)
        points = np.einsum("fij,fpj->fpi", T[:, :3, :3], points) + T[:, None, :3, 3]
        out = _unstretched(stretched(points[:, :-1], points[:, 1:]))
        out[..., :3, 3] = 0.5 * (points[:, :-1] + points[:, 1:])
        return out


def strand(line: Line, shortest: float, longest: float) -> Strand:
    """The pieces of a line whose length stays between these [m]."""
    if line.kind == "spring":
        count = int(np.clip(np.ceil(longest / (1.5 * line.radius) / TURN) * TURN, FEWEST, MOST))
        return Strand(line, count, float(np.hypot(line.radius, longest / count)))
    if longest - shortest <= SAME * longest:
        return Strand(line, 1, longest)
    count = int(np.clip(np.ceil(1.05 * longest / max(shortest, 1e-12)), 2, MOST_SLEEVES))
    return Strand(line, count, longest / count)


def _unstretched(T: Array) -> Array:
    """Poses (..., 4, 4) of maps whose z axis is as long as a line."""
    out = T.copy()
    length = np.linalg.norm(T[..., :3, 2], axis=-1, keepdims=True)
    out[..., :3, 2] = np.where(
        length > 0, T[..., :3, 2] / np.where(length > 0, length, 1), np.cross(T[..., :3, 0], T[..., :3, 1])
    )
    return out
