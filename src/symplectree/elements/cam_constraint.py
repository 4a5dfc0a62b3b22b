"""A follower whose place is a function of the cam's angle."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from symplectree.elements.constraint import Constraint, add_coordinate_row
from symplectree.elements.contract import Lowering
from symplectree.elements.nonlinear_spring import lowered
from symplectree.elements.table import Table
from symplectree.errors import ModelError
from symplectree.formula.tape import Tape


@dataclass(frozen=True)
class CamConstraint(Constraint):
    """q_follower = `profile`(q_cam).

    `profile` is a function of one variable (written with operators and NumPy functions, so that it can be differentiated
    exactly), or a table: a pair of sequences (angles, places), joined by a cubic spline.

    eliminate: `follower` is then no coordinate of the model, but follows `cam`, as of `GearConstraint`.
    """

    cam: str
    follower: str
    profile: Callable[[Any], Any] | tuple[Any, Any] | Tape | Table = field(kw_only=True)
    eliminate: bool = field(default=False, kw_only=True)

    def add_rows(self, into: Lowering) -> CamConstraint:
        try:
            function = lowered(self.profile, "profile", ("angles", "places"))
        except ModelError as error:
            raise ModelError(f"{into.what}: {error}") from None
        into.tables.functions.append(function)
        index = len(into.tables.functions) - 1
        add_coordinate_row(into, self.cam, 1.0, self.follower, -1.0, 0.0, function=index, eliminate=self.eliminate)
        return replace(self, profile=function)
