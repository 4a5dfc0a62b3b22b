"""What a run gives: states over time, and what follows from them, computed when asked for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from symplectree import dynamics
from symplectree.constraints.dynamics import constraint_values, least_norm, velocities
from symplectree.deprecation import warn_renamed
from symplectree.errors import ModelError
from symplectree.lie import Array
from symplectree.mechanism.model import Model
from symplectree.simulation.contact_record import Contacts, contacts_of, impacts_of
from symplectree.simulation.state import State, activation_of, coordinate_of, state_at, velocity_of
from symplectree.validation import counted, shown

if TYPE_CHECKING:
    from symplectree.sensors import Sensor
    from symplectree.simulation.applied import Applied
    from symplectree.simulation.run_record import Restart, Settings


class Trajectory:
    """States of a model over time.

    | name | meaning | shape, unit |
    | --- | --- | --- |
    | t | time; the last gap may be shorter, see `save_every` of `simulate` | (K+1,) s |
    | q | configurations | (K+1, nq) |
    | v | velocities | (K+1, nv) |
    | p | momenta, M(q) v | (K+1, nv) |
    | energy, kinetic, potential | with springs and rotors | (K+1,) J |
    | momentum | angular about the world's origin, and linear, world axes | (K+1, 6) |
    | activations | of actuators with a filter or integrator, `model.activations` | (K+1, names) |
    | multipliers | forces of the constraint rows (`model.rows`) at t[:-1]: Dhᵀλ acts on the mechanism | (K, rows) |
    | constraint_error | largest constraint row in its own unit | (K+1,) |
    | prescribed, prescribed_forces | names of prescribed coordinates; forces at t[:-1] that move them | (K, names) |
    | iterations, substeps | of the solver, and steps taken as shorter ones, since the state before | (K,) |
    | model | whose motion it is | |
    | settings | dt, method and whatever else the run was asked for; None when not known | |
    | contacts | points of contact in each state, with forces (`Contacts`) | |
    | impacts | what was hit, when, and how hard (`Impacts`) | |
    | t_forces | the times of multipliers and prescribed_forces, t[:-1] | (K,) s |

    `traj["elbow"]` is the course of a coordinate, `traj.velocity("elbow")` its velocity, `traj.pose("tip")` that of a
    frame, `traj.activation("servo")` that of an actuator, `traj.sensor("imu")` what a sensor shows; `traj[10:20]` are some
    of the rows, `traj[-1]` is one of them, and `traj.at(3.2)` a state between.

    A run keeps t, q and v or p; everything else is computed on first use, for all rows at once.
    """

    def __init__(
        self,
        model: Model,
        t: Array,
        q: Array,
        *,
        v: Array | None = None,
        p: Array | None = None,
        iterations: Array | None = None,
        substeps: Array | None = None,
        multipliers: Array | None = None,
        prescribed: tuple[str, ...] = (),
        prescribed_forces: Array | None = None,
        rates: Array | None = None,
        activations: Array | None = None,
        settings: Settings | None = None,
        restart: Restart | None = None,
        impacts: Any = (),
    ) -> None:
        if (v is None) == (p is None):
            raise ModelError("a trajectory takes either velocities or momenta")
        self.model, self.t, self.q = model, t, q
        self.iterations = iterations if iterations is not None else np.zeros(len(t) - 1, dtype=int)
        self.substeps = substeps if substeps is not None else np.zeros(len(t) - 1, dtype=int)
        self.prescribed = prescribed
        self.prescribed_forces = prescribed_forces if prescribed_forces is not None else np.zeros((len(t) - 1, 0))
        self._multipliers, self.rates = multipliers, rates
        self.activations = activations if activations is not None else np.zeros((len(t), len(model.activations)))
        self.settings, self.restart = settings, restart
        self.impacts = impacts_of(model, impacts)
        self.applied: Applied | None = None  # forces and prescribed motions, as long as they are known
        # Of a run with constraints or prescribed coordinates, momenta hold half a step's impulse of their forces.
        self.raw = p
        if v is not None:
            self.v = v
        if p is not None and not model.rows and not prescribed:
            self.p = p

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"applied": None}  # which may hold functions

    def __len__(self) -> int:
        return len(self.t)

    def __repr__(self) -> str:
        sizes = f"{counted(len(self), 'state')} of {counted(self.model.nq, 'coordinate')}"
        return f"Trajectory of {sizes}, {self.t[0]:g} to {self.t[-1]:g} s"

    @overload
    def __getitem__(self, which: str) -> Array: ...
    @overload
    def __getitem__(self, which: slice) -> Trajectory: ...
    @overload
    def __getitem__(self, which: int) -> State: ...
    def __getitem__(self, which: Any) -> Any:
        """By name: the course of one coordinate (K+1,), one that follows included, or of all of a joint's (K+1, nq). A
        slice: a Trajectory of these rows. A number: the State in that row."""
        if isinstance(which, str):
            return coordinate_of(self.model, self.q, which)
        if isinstance(which, slice):
            return self._rows(which)
        try:
            row = range(len(self))[which]
        except (TypeError, IndexError):
            raise ModelError(
                f"a trajectory of {len(self)} states has no {shown(which)}; give the name of a coordinate, the number of a "
                "row or a slice, or use at(t) for a time"
            ) from None
        return State(self.model, self.t[row], self.q[row].copy(), self.v[row].copy(), self.activations[row].copy())

    def _rows(self, which: slice) -> Trajectory:
        rows = np.arange(len(self))[which]
        if not len(rows) or (which.step or 1) < 1:
            raise ModelError(f"{shown(which)} of {len(self)} states: give one or more rows, in the order of time")
        some: dict[str, Any] = {
            name: values[rows[:-1]] if values.ndim > 1 else np.add.reduceat(np.append(values, 0), rows)[:-1]
            for name, values in self.recorded.items()
        }
        some["v" if self.raw is None else "p"] = (self.v if self.raw is None else self.raw)[rows]
        settings = self.settings and replace(
            self.settings,
            steps=round(self.t[rows[-1]] / self.settings.dt),
            save_every=self.settings.save_every * (which.step or 1),
        )
        rates = None if self.rates is None else self.rates[rows]
        kept = (self.impacts.t >= self.t[rows[0]]) & (self.impacts.t <= self.t[rows[-1]])
        part = Trajectory(
            self.model, self.t[rows], self.q[rows], **some, prescribed=self.prescribed, rates=rates,
            activations=self.activations[rows], settings=settings, impacts=self.impacts.rows[kept],
        )  # fmt: skip
        part.applied = self.applied
        return part

    def at(self, t: Any) -> State:
        """The state at a time within the run [s], or at several: by cubic interpolation between the saved rows.

        Errors are of fourth order in the time between rows for q, of third order for v. Constraints hold, so that a run can
        start there.
        Rotations of Ball and Free joints must be less than half a turn from row to row. Raises ModelError outside the run.
        """
        return state_at(self, t)

    def velocity(self, name: str) -> Array:
        """The course of one velocity (K+1,), that of a coordinate that follows included, or of a joint's (K+1, nv)."""
        return velocity_of(self.model, self.q, self.v, name)

    def activation(self, name: str) -> Array:
        """The course of one actuator's activation (K+1,); raises ModelError for one that has none."""
        return activation_of(self.model, self.activations, name)

    @property
    def t_forces(self) -> Array:
        """Times of multipliers and prescribed_forces (K,)."""
        return self.t[:-1]

    @property
    def recorded(self) -> dict[str, Array]:
        """What the method recorded beside the states, unchanged, by name: one for each state but the first."""
        recorded = {"iterations": self.iterations, "substeps": self.substeps}
        if self._multipliers is not None:
            recorded["multipliers"] = self._multipliers
        if self.prescribed:
            recorded["prescribed_forces"] = self.prescribed_forces
        return recorded

    @property
    def kept(self) -> dict[str, Array]:
        """Old name of `recorded`."""
        warn_renamed("Trajectory.kept", "recorded")
        return self.recorded

    @cached_property
    def v(self) -> Array:
        assert self.raw is not None
        rates = self.rates if self.rates is not None else np.zeros(self.model.nv)
        return velocities(self.model, self.q, self.raw, rates, self._prescribed_velocities)

    @cached_property
    def p(self) -> Array:
        return dynamics.momenta(self.model, self.q, self.v)

    @cached_property
    def constraint_error(self) -> Array:
        if not self.model.rows:
            return np.zeros(len(self))
        return np.abs(constraint_values(self.model, self.q)).max(axis=1)

    @cached_property
    def multipliers(self) -> Array:
        """At each state but the last; of a variational run impulses over the time that they act, half a step to each
        side."""
        if self._multipliers is None:
            return np.zeros((len(self) - 1, 0))
        if len(self) == 1:
            return self._multipliers
        return least_norm(self.model, self.q[:-1], self._multipliers)

    @cached_property
    def contacts(self) -> Contacts:
        """Points of contact in the saved states, with the forces there: those that hold what rests, and brake what slides.

        Raises ModelError where the run's forces are not known any more; see `sensor`.
        """
        from symplectree.simulation.applied import states_of

        return contacts_of(self.model, self.t, states_of(self).contacts)

    @cached_property
    def _prescribed_velocities(self) -> Array:
        """Indices of the velocities whose coordinates are prescribed."""
        return np.unique([self.model.velocities.index(n) for n in self.prescribed])

    @cached_property
    def kinetic(self) -> Array:
        return dynamics.kinetic_energy(self.model, self.q, self.v)

    @cached_property
    def potential(self) -> Array:
        return dynamics.potential_energy(self.model, self.q)

    @cached_property
    def energy(self) -> Array:
        return self.kinetic + self.potential

    @cached_property
    def momentum(self) -> Array:
        return dynamics.spatial_momentum(self.model, self.q, self.v)

    def pose(self, frame: str) -> Array:
        """Pose of a frame over time, (K+1, 4, 4)."""
        return dynamics.pose(self.model, self.q, frame)

    def sensor(self, name: str | Sensor, *, forces: Any = None) -> Array:
        """What a sensor of the model, by name, or another one shows in each state, (K+1, …).

        Accelerations and what joints carry follow from the states and the forces in them, those of the run.
        forces: as of `simulate`; needed only where they were functions or controllers and the trajectory comes from a file
            or a Stepper. Raises ModelError for an unknown name, and where forces are not known.
        """
        from symplectree.sensors.measure import sensor_of
        from symplectree.simulation.applied import states_of

        return sensor_of(self.model, name).measure(states_of(self, forces))

    def save(self, path: Any) -> None:
        """Write everything to a file. Its ending tells the format: `.nc` (netCDF4, which is HDF5), `.npz`, `.mat`, `.csv`.

        The first three hold the run bit for bit with names, units and the model's text, for `load_trajectory`; a table of
        numbers, t, q, v and energy, is what `.csv` holds. A file that is there already is replaced when the new one is
        complete. Raises ResultError when it cannot be written; the file that was there, and this trajectory, stay.
        """
        from symplectree.io.results import save

        save(self, path)

    def to_dataset(self, *, frames: Sequence[str] = ()) -> Any:
        """Everything as an xarray Dataset, on the axes `t` and, of what belongs to the time between two rows (multipliers,
        prescribed_forces, iterations), `interval`: the time at which it begins.

        frames: names of frames whose `position` (t, frame, axis) [m] and `rotation` (t, frame, axis, frame_axis) are added.
        """
        from symplectree.io.tables import to_dataset

        return to_dataset(self, frames)

    def to_dataframe(self) -> Any:
        """A pandas DataFrame with a row for each state: `t`, coordinates by name, velocities as "v NAME", `kinetic`,
        `potential` and `energy`. A coordinate that has one of these names is "q NAME"."""
        from symplectree.io.tables import to_dataframe

        return to_dataframe(self)

    def plot(self, *what: str, path: Any = None) -> Any:
        """Draw quantities over time, one panel for each unit; all coordinates when none is named.

        what: "energy", "coordinates", "velocities", "momentum", "constraint_error", "multipliers", "prescribed_forces",
            "contacts" (which pairs touch when, and how strongly), "contact_forces" (normal ones and friction), a sensor,
            coordinate, joint or frame (its position) by name, "phase:NAME" for a coordinate's velocity over the
            coordinate, or "path:FRAME" for the way of a frame in a plane.
        path: where to write the picture, in the format that the ending says.

        Returns the figure, which opens no window.
        """
        from symplectree.view.plots import plot_trajectory  # slow to import

        return plot_trajectory(self, what or ("coordinates",), path)

    def show(
        self,
        *,
        trails: Sequence[str] = (),
        view: str | tuple[float, float] | None = None,
        port: int | None = None,
        block: bool | None = None,
        browser: bool = True,
        height: int = 560,
        embed: bool | None = None,
        contacts: bool = True,
    ) -> Any:
        """Play the motion on a page of this computer (127.0.0.1), with time bar, speeds and curves that follow.

        trails: names of frames whose paths are drawn.
        view: where to look from: two letters for the axes to the right and up, such as "xz", or (azimuth, elevation) in
            degrees; None chooses.
        port: of the page; None takes the first free one from 8080.
        block: whether to keep the page until Ctrl-C; None does so in a script, and not in a notebook or at a prompt.
        browser: whether to open the page. height: of the page inside a notebook [pixels].
        embed: whether to put all of the page, as of `to_html`, into the notebook's cell, which needs no server; None does
            so where the notebook's browser seems to be on another computer: Colab, JupyterHub, Binder, by SSH, …

        contacts: whether forces of contact are drawn as arrows, and impacts as flashes, where the model has contacts.

        Returns a viewer with `url`, `time` (which can be set) and `stop()`, unless it blocks or embeds.
        """
        from symplectree.view.web import show

        return show(
            self, trails=trails, view=view, port=port, block=block, browser=browser, height=height, embed=embed,
            contacts=contacts,
        )  # fmt: skip

    def to_html(
        self,
        path: Any,
        *,
        trails: Sequence[str] = (),
        view: str | tuple[float, float] | None = None,
        speed: float = 1.0,
        title: str = "",
        contacts: bool = True,
    ) -> Path:
        """Write one HTML file that plays the motion in any browser, offline; returns its path.

        trails, view, contacts: as of `show`. speed: seconds of motion per second of film. title: of the page.
        It holds 30 pictures per second of film, and at most 2000, less when there are very many bodies.
        """
        from symplectree.view.html import write_html

        return write_html(self, path, trails=trails, view=view, speed=speed, title=title, contacts=contacts)

    def to_video(
        self,
        path: Any,
        *,
        trails: Sequence[str] = (),
        view: str | tuple[float, float] | None = None,
        speed: float = 1.0,
        size: tuple[int, int] = (960, 640),
        title: str = "",
        contacts: bool = True,
    ) -> Path:
        """Write an MP4 of the motion, without any display; returns its path.

        trails, view, contacts: as of `show`. speed: seconds of motion per second of film. size: (width, height) in pixels.
        title: written at the top, beside the time of the motion.
        It holds 30 pictures per second, and at most 2000: a longer film has fewer per second.
        """
        from symplectree.view.video import write_video

        return write_video(self, path, trails=trails, view=view, speed=speed, size=size, title=title, contacts=contacts)
