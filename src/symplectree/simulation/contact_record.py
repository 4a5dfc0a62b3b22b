"""Contacts in the states of a run, and the impacts between them, as tables."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from symplectree.errors import ModelError
from symplectree.extras import extra
from symplectree.lie import Array
from symplectree.mechanism.model import Model, unknown
from symplectree.validation import shown

if TYPE_CHECKING:
    from symplectree.sensors.contact_forces import ContactSolution

IMPACT_COLUMNS = 11  # of a row of the core: t, of a contact or a limit, index, normal, point (3), impulse (3), lost


@dataclass(frozen=True, eq=False)
class Contacts:
    """Points of contact in the states of a trajectory, one row each, in the order of time.

    | name | meaning | shape, unit |
    | --- | --- | --- |
    | state, t | number and time of the state | (N,), s |
    | element | name of the `Contact` | (N,) |
    | a, b | frames whose shapes touch | (N,) |
    | point, normal | where, and the unit normal from b to a, in the world | (N, 3) m |
    | gap | between the surfaces, zero but for rounding | (N,) m |
    | force | on b, in world axes; on a it is opposite | (N, 3) N |
    | sliding | whether friction is at its limit | (N,) |
    | states | how many states the trajectory has | |
    """

    state: Array
    t: Array
    element: Array
    a: Array
    b: Array
    point: Array
    normal: Array
    gap: Array
    force: Array
    sliding: Array
    states: int

    def __len__(self) -> int:
        return len(self.t)

    def __repr__(self) -> str:
        return f"Contacts: {len(self)} points in {len(np.unique(self.state))} states"

    def __getitem__(self, which: Any) -> Contacts:
        """Some of the rows: a slice, indices, a mask, or the name of a `Contact` or of a frame that takes part."""
        if isinstance(which, str):
            known = {*self.element, *self.a, *self.b}
            if which not in known and len(self):
                raise ModelError(unknown("contact or frame", which, sorted(known)))
            which = (self.element == which) | (self.a == which) | (self.b == which)
        elif isinstance(which, int | np.integer):
            which = [int(which)]
        return Contacts(**{name: values[which] for name, values in self._columns().items()}, states=self.states)

    def at(self, state: int) -> Contacts:
        """Those in one state, by its number; -1 is the last."""
        try:
            return self[self.state == range(self.states)[state]]
        except (TypeError, IndexError):
            raise ModelError(
                f"there is no state {shown(state)} among {self.states}: give the number of a row, as in traj.t"
            ) from None

    def _columns(self) -> dict[str, Array]:
        return {name: values for name, values in vars(self).items() if name != "states"}

    def to_dataframe(self) -> Any:
        """A pandas DataFrame with a row for each point; vectors have a column for each part ("force.x")."""
        return _dataframe(self._columns())


@dataclass(frozen=True, eq=False)
class Impacts:
    """Impacts of a run, one row for each point that was hit, in the order of time.

    | name | meaning | shape, unit |
    | --- | --- | --- |
    | t | when | (N,) s |
    | element | name of the `Contact` or `JointLimit` | (N,) |
    | normal | size of the normal impulse | (N,) N·s, of a revolute joint N·m·s |
    | point, impulse | of contacts: where, and the impulse on the second shape, in the world | (N, 3) m, N·s |
    | lost | energy that it took | (N,) J |
    """

    t: Array
    element: Array
    normal: Array
    point: Array
    impulse: Array
    lost: Array
    rows: Array  # as the core wrote them

    def __len__(self) -> int:
        return len(self.t)

    def __repr__(self) -> str:
        return f"Impacts: {len(self)}, {self.lost.sum():.6g} J lost"

    def to_dataframe(self) -> Any:
        """A pandas DataFrame with a row for each impact; vectors have a column for each part."""
        return _dataframe({name: values for name, values in vars(self).items() if name != "rows"})


def _dataframe(columns: dict[str, Array]) -> Any:
    pandas = extra("pandas")

    table: dict[str, Array] = {}
    for name, values in columns.items():
        parts = {name: values} if values.ndim == 1 else {f"{name}.{x}": values[:, k] for k, x in enumerate("xyz")}
        table |= parts
    return pandas.DataFrame(table)


def impacts_of(model: Model, rows: Any) -> Impacts:
    """Impacts from rows of the core."""
    table = np.asarray(rows, dtype=float).reshape(-1, IMPACT_COLUMNS)
    tables = model.full.tables
    owners = [
        (tables.contact_pairs if row[1] else tables.joint_limits)[int(row[2])].owner for row in table
    ]  # fmt: skip
    names = np.array([str(model.full.elements[owner].name) for owner in owners], dtype=object)
    return Impacts(table[:, 0], names, table[:, 3], table[:, 4:7], -table[:, 7:10], table[:, 10], table)


def contacts_of(model: Model, t: Array, solution: ContactSolution) -> Contacts:
    """Points of contact by name."""
    from symplectree.sensors.contact_forces import CONTACT

    tree = model.full
    rows = solution.records[solution.records[:, 1] == CONTACT]
    pairs = [tree.tables.contact_pairs[int(k)] for k in rows[:, 2]]
    frames = tree.tables.shape_frames

    def names(values: list[str]) -> Array:
        return np.array(values, dtype=object)

    state = rows[:, 0].astype(int)
    return Contacts(
        state=state,
        t=t[state],
        element=names([str(tree.elements[pair.owner].name) for pair in pairs]),
        a=names([frames[pair.a] for pair in pairs]),
        b=names([frames[pair.b] for pair in pairs]),
        point=rows[:, 4:7],
        normal=rows[:, 7:10],
        gap=rows[:, 3],
        force=-rows[:, 10:13],
        sliding=rows[:, 13] > 0,
        states=len(t),
    )
