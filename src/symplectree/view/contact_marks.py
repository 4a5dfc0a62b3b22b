"""Forces of contact as arrows, as long as they are strong, and impacts as flashes: what is drawn beside a scene.

An arrow begins at the point of contact and shows the force on the body that moves, or that lies above; on the other body it
is opposite.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from symplectree.errors import ModelError
from symplectree.lie import Array
from symplectree.mechanism.model import Model
from symplectree.simulation.applied import contacts_in
from symplectree.view.camera import upward
from symplectree.view.meshes import Surface, joined
from symplectree.view.solids import Color, along, round_length, stretched
from symplectree.view.surfaces import revolved

if TYPE_CHECKING:
    from symplectree.simulation.contact_record import Contacts
    from symplectree.simulation.trajectory import Trajectory

STICKS: Color = (0.00, 0.50, 0.36)
SLIDES: Color = (0.87, 0.10, 0.50)
HIT: Color = (1.00, 0.70, 0.00)
STRONG, BEYOND = 95.0, 1.6  # per cent of forces, over whose strength by this factor none counts for the scale
LONGEST = 0.2  # length of what is as strong, over the size of the scene, before rounding
LASTING = 0.15  # s of film that a flash takes
# Radii of shaft and head, length of the head, and radius of a point, over the size of the scene.
SHAFT, HEAD, TIP, DOT = 0.0055, 0.014, 0.04, 0.009
STAR = 0.05  # radius of the strongest flash, of the size
WEAK = 1e-9  # of the strongest force: nothing


@dataclass(frozen=True)
class Pushes:
    """Contacts of one picture: points [m], forces on the body that is pushed [N], and whether friction is at its limit."""

    point: Array
    force: Array
    slides: Array

    def __len__(self) -> int:
        return len(self.point)

    def strongest(self, most: int) -> Pushes:
        """At most so many of them."""
        if len(self) <= most:
            return self
        kept = np.sort(np.argsort(-np.linalg.norm(self.force, axis=1), kind="stable")[:most])
        return Pushes(self.point[kept], self.force[kept], self.slides[kept])


@dataclass(frozen=True)
class Flashes:
    """Impacts, in the order of time [s]: where [m], and how strong, from 0 to 1."""

    t: Array
    point: Array
    strength: Array


@dataclass(frozen=True)
class ContactMarks:
    """What is drawn of contacts in a film.

    | name | meaning |
    | --- | --- |
    | pushes | forces in each picture |
    | flashes | impacts |
    | lasting | how long a flash is seen, of the motion's time [s] |
    | length, newtons | an arrow of this length [m] is a force of so many N; both are round numbers |
    | size | of the scene [m] |
    """

    pushes: list[Pushes]
    flashes: Flashes
    lasting: float
    length: float
    newtons: float
    size: float

    @property
    def scale(self) -> float:
        """Length of an arrow over its force [m/N]."""
        return self.length / self.newtons

    @cached_property
    def most(self) -> int:
        """Contacts that one picture has at most."""
        return max((len(pushes) for pushes in self.pushes), default=0)

    def lit(self, time: float) -> tuple[Array, Array]:
        """Where flashes are at a time, (n, 3), and their radii [m], which shrink."""
        first, last = np.searchsorted(self.flashes.t, [time - self.lasting, time], side="right")
        which = slice(int(first), int(last))
        left = 1 - (time - self.flashes.t[which]) / self.lasting
        return self.flashes.point[which], STAR * self.size * self.flashes.strength[which] * np.sqrt(left)


def legend(marks: ContactMarks) -> list[tuple[Color, str]]:
    """What colours mean, of those that are seen."""
    slides = np.concatenate([np.zeros(0, dtype=bool), *(pushes.slides for pushes in marks.pushes)])
    out = [(STICKS, "→ contact sticks")] * bool((~slides).any()) + [(SLIDES, "→ contact slides")] * bool(slides.any())
    return out + [(HIT, "✹ impact")] * bool(len(marks.flashes.t))


def measure(marks: ContactMarks) -> str:
    """What the length of arrows means."""
    return f"arrow of {marks.length:g} m: {marks.newtons:g} N" if marks.most else ""


def has_contacts(model: Model) -> bool:
    """Whether shapes of the model can touch."""
    return bool(model.full.tables.contact_pairs)


def marks_of(
    trajectory: Trajectory, rows: Any, *, size: float, speed: float, trouble: list[str] | None = None
) -> ContactMarks | None:
    """Contacts of the states in these rows, for a film that runs at `speed`; None where the model has none.

    Where forces are not known any more, as those of functions in a run from a file, only impacts are left, and `trouble`
    gets a sentence about it. size: of the scene [m].
    """
    model = trajectory.model
    if not has_contacts(model):
        return None
    try:
        contacts = contacts_in(trajectory, rows)
        pushes = pushes_of(model, contacts, len(rows))
    except ModelError as error:
        pushes = [_none() for _ in rows]
        if trouble is not None:
            trouble.append(str(error))
    strengths = np.concatenate([np.zeros(0), *(np.linalg.norm(each.force, axis=1) for each in pushes)])
    length, newtons = arrow_scale(strengths, size)
    return ContactMarks(pushes, _flashes(trajectory), LASTING * speed, length, newtons, size)


def arrow_scale(strengths: Array, size: float) -> tuple[float, float]:
    """A round length [m] and the round force [N] that an arrow of this length stands for."""
    strong = strengths[strengths > WEAK * strengths.max(initial=0.0)]
    length = round_length(LONGEST * size)
    if not len(strong):
        return length, 1.0
    newtons = min(float(strong.max()), BEYOND * float(np.percentile(strong, STRONG)))
    return length, round_length(max(newtons, 1e-300) * length / (LONGEST * size) * (1 + 1e-9))


def pushes_of(model: Model, contacts: Contacts, count: int) -> list[Pushes]:
    """Contacts in states 0 to `count` − 1, by state."""
    on_b = pushes_on_b(model, contacts)
    force = np.where(on_b[:, None], contacts.force, -contacts.force)
    ends = np.searchsorted(contacts.state, np.arange(count + 1))
    return [Pushes(contacts.point[a:b], force[a:b], contacts.sliding[a:b].astype(bool)) for a, b in pairwise(ends)]


def pushes_on_b(model: Model, contacts: Contacts) -> Array:
    """Whether the force on b is drawn: where a is fixed, or both move and b is pushed upwards."""
    body = {name: int(model.frame_body[model.find_frame(name)]) for name in {*contacts.a, *contacts.b}}
    a, b = (np.array([body[name] for name in names], dtype=int) for names in (contacts.a, contacts.b))
    under = contacts.normal @ upward(model.gravity) < -0.1
    return np.asarray((a < 0) | (under & (b >= 0)))


def hard_hits(trajectory: Trajectory) -> Any:
    """Which rows of the impacts are blows, and not what stayed in touch meanwhile."""
    settings = trajectory.settings
    return np.asarray(trajectory.impacts.normal > least_blow(trajectory.model, settings.dt if settings else 0.0))


def least_blow(model: Model, dt: float) -> float:
    """An impulse that the weight of all has in a step [N·s], by which contacts that rest go on when others are hit."""
    return max(float(np.linalg.norm(model.gravity)) * float(model.mass.sum()) * dt, 1e-300)


def _flashes(trajectory: Trajectory) -> Flashes:
    """Impacts of contacts, those of joint limits left out, which have no point."""
    impacts = trajectory.impacts
    hits = hard_hits(trajectory) & np.asarray(impacts.rows[:, 1] > 0)
    strength = impacts.normal[hits]
    part = (strength / strength.max(initial=0.0)) ** (1 / 3) if len(strength) else strength
    return Flashes(impacts.t[hits], impacts.point[hits], part)


def _none() -> Pushes:
    return Pushes(np.zeros((0, 3)), np.zeros((0, 3)), np.zeros(0, dtype=bool))


@lru_cache(maxsize=16)
def head(size: float) -> Surface:
    """The head of an arrow along z, with its tip at the origin."""
    return revolved(np.array([[0.0, -TIP], [HEAD, -TIP], [HEAD, -TIP], [0.0, 0.0]]) * size, sides=12)


@lru_cache(maxsize=16)
def shaft(size: float) -> Surface:
    """A shaft of length 1 along z from the origin."""
    radius = SHAFT * size
    return revolved(np.array([[0.0, 0.0], [radius, 0.0], [radius, 0.0], [radius, 1.0]]), sides=10)


@lru_cache(maxsize=16)
def dot(size: float) -> Surface:
    """A point of contact."""
    return revolved(DOT * size * np.column_stack([np.cos(u := np.linspace(-0.5, 0.5, 6) * np.pi), np.sin(u)]), sides=10)


@lru_cache(maxsize=16)
def star() -> Surface:
    """A flash of radius 1: spikes in all directions."""
    golden = np.pi * (3 - np.sqrt(5))
    z = np.linspace(-0.95, 0.95, 14)
    angle = golden * np.arange(len(z))
    wide = np.sqrt(1 - z**2)
    spikes = np.column_stack([wide * np.cos(angle), wide * np.sin(angle), z])
    profile = np.array([[0.13, 0.0], [0.13, 0.0], [0.0, 1.0]])
    out = []
    for spike in spikes:
        vertices, faces = revolved(profile, sides=5)
        out.append((vertices @ along(np.zeros(3), spike)[0][:3, :3].T, faces))
    core, faces = revolved(
        0.35 * np.column_stack([np.cos(u := np.linspace(-0.5, 0.5, 6) * np.pi), np.sin(u)]), sides=10
    )
    return joined([*out, (core, faces)])


@dataclass(frozen=True)
class Arrows:
    """Where parts of arrows are.

    | name | meaning | shape, unit |
    | --- | --- | --- |
    | point, neck, tip | ends of shafts, and of heads | (n, 3) m |
    | turn | rotations, with z along the arrow | (n, 3, 3) |
    | length | of shafts | (n,) m |
    | grown | how large heads are, 1 but for short arrows | (n,) |
    """

    point: Array
    neck: Array
    tip: Array
    turn: Array
    length: Array
    grown: Array


def placed_arrows(pushes: Pushes, scale: float, size: float) -> Arrows:
    """Arrows of one picture, of `scale` [m/N]; heads of short ones are smaller."""
    way = scale * pushes.force
    length = np.linalg.norm(way, axis=1)
    T = stretched(pushes.point, pushes.point + way)
    turn = T[:, :3, :3].copy()
    turn[:, :, 2] = np.cross(turn[:, :, 0], turn[:, :, 1])
    grown = np.minimum(1.0, length / (2 * TIP * size))
    shafts = np.maximum(length - 0.9 * TIP * size * grown, 0.0)
    return Arrows(pushes.point, pushes.point + shafts[:, None] * turn[:, :, 2], pushes.point + way, turn, shafts, grown)
