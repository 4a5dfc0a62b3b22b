"""Contacts over time: which pairs touch, whether they stick or slide, how strongly they push, and when they are hit."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from symplectree.errors import ModelError
from symplectree.lie import Array
from symplectree.mechanism.model import Model
from symplectree.sensors.contact_forces import LIMIT, ContactSolution
from symplectree.simulation.applied import states_of
from symplectree.simulation.contact_record import contacts_of
from symplectree.view.contact_marks import HIT, SLIDES, STICKS, hard_hits
from symplectree.view.solids import Color

if TYPE_CHECKING:
    from symplectree.simulation.trajectory import Trajectory

MOST_LANES = 30
LANE = 0.24  # inches of a lane
HOLDS: Color = (0.45, 0.48, 0.52)  # of joint limits
STAR: dict[str, Any] = {"marker": "*", "markersize": 9, "markeredgecolor": "#7a4a00", "markeredgewidth": 0.6}
WORDS = {"sticks": STICKS, "slides": SLIDES, "holds": HOLDS}


@dataclass
class Lane:
    """What happens to one pair, or at one joint limit: by "sticks", "slides" or "holds" intervals (n, 2) [s], and impacts
    [s]."""

    name: str
    spans: dict[str, Array] = field(default_factory=dict)
    hits: Array = field(default_factory=lambda: np.zeros(0))

    @property
    def busy(self) -> float:
        """Time in contact [s]."""
        return float(sum(np.ptp(spans, axis=1).sum() for spans in self.spans.values()))


def has_lanes(model: Model) -> bool:
    """Whether anything of the model can touch or meet a limit."""
    return bool(model.full.tables.contact_pairs or model.full.tables.joint_limits)


def lanes(trajectory: Trajectory) -> list[Lane]:
    """Pairs that touch or are hit in a run, then joint limits, in the order in which they first do."""
    model, t = trajectory.model, trajectory.t
    tables, solution = model.full.tables, _solution(trajectory)
    found: dict[str, Lane] = {}
    contacts = contacts_of(model, t, solution)
    names = pair_names(contacts.a, contacts.b)
    for name in dict.fromkeys(names):
        rows = names == name
        touching = np.zeros(len(t), dtype=bool)
        touching[contacts.state[rows]] = True
        slides = np.zeros(len(t), dtype=bool)
        np.logical_or.at(slides, contacts.state[rows], contacts.sliding[rows].astype(bool))
        found[name] = Lane(name, {"sticks": _spans(t, touching & ~slides), "slides": _spans(t, slides)})
    held = solution.records[(solution.records[:, 1] == LIMIT) & (np.abs(solution.records[:, 10]) > 0)]
    for index in np.unique(held[:, 2]).astype(int):
        name = _limit_name(model, index)
        states = np.zeros(len(t), dtype=bool)
        states[held[held[:, 2] == index, 0].astype(int)] = True
        found[name] = Lane(name, {"holds": _spans(t, states)})
    for time, is_contact, index in trajectory.impacts.rows[hard_hits(trajectory), :3]:
        pair = tables.contact_pairs[int(index)] if is_contact else None
        frames = tables.shape_frames
        name = _limit_name(model, int(index)) if pair is None else f"{frames[pair.a]} – {frames[pair.b]}"
        lane = found.setdefault(name, Lane(name))
        lane.hits = np.append(lane.hits, time)
    begin = {
        lane.name: min([*lane.hits[:1], *(s[0, 0] for s in lane.spans.values() if len(s))], default=np.inf)
        for lane in found.values()
    }
    return sorted(found.values(), key=lambda lane: begin[lane.name])


def contact_curves(trajectory: Trajectory) -> dict[str, dict[str, Array]]:
    """ "normal" and "friction" forces of each pair in each state [N], zero where it does not touch.

    Of a pair with several points normal forces are added up, and friction is the size of the sum.
    """
    contacts, count = contacts_of(trajectory.model, trajectory.t, _solution(trajectory)), len(trajectory)
    names = pair_names(contacts.a, contacts.b)
    normal = -np.einsum("ni,ni->n", contacts.force, contacts.normal)
    along = contacts.force + normal[:, None] * contacts.normal
    out: dict[str, dict[str, Array]] = {"normal": {}, "friction": {}}
    for name in dict.fromkeys(names):
        rows = names == name
        total, rubbing = np.zeros(count), np.zeros((count, 3))
        np.add.at(total, contacts.state[rows], normal[rows])
        np.add.at(rubbing, contacts.state[rows], along[rows])
        out["normal"][name], out["friction"][name] = total, np.linalg.norm(rubbing, axis=1)
    return out


def pair_names(a: Array, b: Array) -> Array:
    """Names of pairs of frames."""
    return np.array([f"{first} – {second}" for first, second in zip(a, b, strict=True)], dtype=object)


def draw_lanes(axes: Any, all_lanes: list[Lane]) -> None:
    """Bars in one row for each pair, with a legend beside them."""
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    shown = most_important(all_lanes)
    for row, lane in enumerate(shown):
        for word, spans in lane.spans.items():
            axes.broken_barh([(a, b - a) for a, b in spans], (row - 0.36, 0.72), color=WORDS[word], linewidth=0)
        if len(lane.hits):
            axes.plot(lane.hits, np.full(len(lane.hits), row), color=HIT, linewidth=0, clip_on=False, **STAR)
    axes.set_yticks(range(len(shown)), [lane.name for lane in shown])
    axes.set_ylim(max(len(shown), 1) - 0.5, -0.5)
    axes.grid(alpha=0.3, axis="x")
    axes.margins(x=0.02)
    seen = {word for lane in shown for word, spans in lane.spans.items() if len(spans)}
    handles: list[Any] = [Patch(color=color, label=word) for word, color in WORDS.items() if word in seen]
    if any(len(lane.hits) for lane in shown):
        handles.append(Line2D([], [], color=HIT, label="impact", linewidth=0, **STAR))
    if handles:
        axes.legend(
            handles=handles, loc="upper left", bbox_to_anchor=(1.0, 1.02), fontsize="small", frameon=False,
            labelspacing=0.3, handlelength=1.8,
        )  # fmt: skip
    else:
        axes.text(0.5, 0.5, "nothing touches", transform=axes.transAxes, ha="center", va="center", color="0.4")
    if len(shown) < len(all_lanes):
        axes.set_title(f"{len(shown)} of {len(all_lanes)} pairs", fontsize="small", loc="right")


def most_important(all_lanes: list[Lane]) -> list[Lane]:
    """Those that are drawn: at most MOST_LANES, those that touch longest."""
    kept = sorted(range(len(all_lanes)), key=lambda k: -all_lanes[k].busy)[:MOST_LANES]
    return [all_lanes[k] for k in sorted(kept)]


def lanes_height(all_lanes: list[Lane]) -> float:
    """Inches that a panel of lanes takes."""
    return max(1.1, 0.3 + LANE * min(len(all_lanes), MOST_LANES))


def _solution(trajectory: Trajectory) -> ContactSolution:
    if not has_lanes(trajectory.model):
        raise ModelError("the model has no contacts and no joint limits")
    return states_of(trajectory).contacts


def _limit_name(model: Model, index: int) -> str:
    element: Any = model.full.elements[model.full.tables.joint_limits[index].owner]
    return f"limit of {element.coordinate}"


def _spans(t: Array, where: Any) -> Array:
    """Intervals (n, 2) of states in a row, each as far as the middle between it and its neighbours."""
    edges = np.concatenate([t[:1], 0.5 * (t[1:] + t[:-1]), t[-1:]])
    changes = np.diff(np.concatenate([[0], where.astype(int), [0]]))
    return np.column_stack([edges[np.flatnonzero(changes > 0)], edges[np.flatnonzero(changes < 0)]])
