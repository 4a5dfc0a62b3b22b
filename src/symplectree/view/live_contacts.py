"""Forces of contact and impacts on a page that runs as one watches."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING, Any

import numpy as np

from symplectree.lie import Array
from symplectree.simulation.step_record import contacts_now, impacts_since
from symplectree.view.contact_marks import HIT, LASTING, SLIDES, STAR, STICKS, arrow_scale, least_blow, pushes_of
from symplectree.view.html import colored

if TYPE_CHECKING:
    from symplectree.simulation.stepper import Stepper
    from symplectree.view.stage import Stage

SMALL = "font-size: 12px; padding: 0 0.8em 0.5em"  # words below a switch
ROOM = 1.3  # for forces that become stronger, before arrows become shorter


class LiveContacts:
    """A switch, a legend, and what they are about, on a stage."""

    def __init__(self, gui: Any, stage: Stage) -> None:
        self._stage, self._size = stage, stage.scene.size
        self._length, self._newtons = arrow_scale(np.zeros(0), self._size)
        self._strongest = self._hardest = 0.0
        self._flashes: list[tuple[float, Array, float]] = []  # time, point, impulse
        self._switch = gui.add_checkbox("contact forces", True)
        self._words = gui.add_html("")

    def show(self, stepper: Stepper, speed: float) -> None:
        """The forces that act now, and the impacts since the last picture and shortly before."""
        stage, now = self._stage, stepper.t
        stage.contacts.visible = bool(self._switch.value)
        impacts, least = impacts_since(stepper), least_blow(stage.scene.model, stepper.dt)
        self._flashes += [
            (float(t), point, float(normal))
            for t, point, normal in zip(impacts.t, impacts.point, impacts.normal, strict=True)
            if normal > least and np.isfinite(point).all()
        ]
        self._flashes = [flash for flash in self._flashes if 0 <= now - flash[0] < LASTING * speed]
        self._hardest = max([self._hardest, *(impulse for _, _, impulse in self._flashes)])
        points = np.array([point for _, point, _ in self._flashes]).reshape(-1, 3)
        radii = np.array(
            [
                STAR * self._size * (impulse / self._hardest) ** (1 / 3) * np.sqrt(1 - (now - t) / (LASTING * speed))
                for t, _, impulse in self._flashes
                if self._hardest > 0
            ]
        )
        pushes = pushes_of(stage.scene.model, contacts_now(stepper), 1)[0]
        strongest = float(np.linalg.norm(pushes.force, axis=1).max(initial=0.0))
        if strongest > self._strongest:
            self._strongest = ROOM * strongest
            self._length, self._newtons = arrow_scale(np.array([self._strongest]), self._size)
            self._tell()
        stage.contacts.show(pushes, self._length / self._newtons, (points[: len(radii)], radii))

    def _tell(self) -> None:
        colors = ((STICKS, "→ sticks"), (SLIDES, "→ slides"), (HIT, "✹ impact"))
        words = [*(colored(name, color) for color, name in colors)]
        words.append(html.escape(f"arrow of {self._length:g} m: {self._newtons:g} N"))
        self._words.content = f'<div style="{SMALL}">{" &nbsp; ".join(words)}</div>'
