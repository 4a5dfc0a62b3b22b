"""What demonstrations with contact say about their runs, measured in these."""

import numpy as np

from symplectree.lie import Array
from symplectree.simulation.simulate import simulate
from symplectree.simulation.trajectory import Trajectory

SPOKES, LENGTH, SLOPE = 8, 0.3, 0.08  # of the rimless wheel: m, rad
STEADY = 4  # steps at the end of a walk, which count


def of_rattleback(traj: Trajectory) -> str:
    """When the spin turns back, and what becomes of the opposite one."""
    spin, settings = _spin(traj), traj.settings
    assert settings is not None
    turned = np.flatnonzero(spin * spin[0] < 0)
    back = f"turned back after {traj.t[turned[0]]:.2f} s" if len(turned) else "did not turn back"
    mirrored = np.array(traj.v[0])
    mirrored[2] *= -1
    other = _spin(simulate(traj.model, traj.q[0], v0=mirrored, duration=traj.t[-1], dt=settings.dt))
    return (
        f"spun at {spin[0]:+.2f} rad/s it rattled and {back}, and has {spin[-1]:+.2f} rad/s at the end; "
        f"spun at {other[0]:+.2f} rad/s it keeps {other[-1]:+.2f} rad/s"
    )


def of_rimless_wheel(traj: Trajectory) -> str:
    """Energy that a step takes and that the slope gives, McGeer's condition of a steady walk."""
    times, first = np.unique(traj.impacts.t.round(9), return_index=True)
    lost = np.add.reduceat(traj.impacts.lost, first)[-STEADY:].mean()
    strength = float(np.linalg.norm(traj.model.gravity)) * float(traj.model.mass.sum())
    given = 2 * strength * LENGTH * np.sin(np.pi / SPOKES) * np.sin(SLOPE)
    return (
        f"{len(times)} steps, the last {STEADY} of {np.diff(times[-STEADY - 1 :]).mean():.3f} s each; the impact of one "
        f"takes {lost:.4f} J, and the slope gives 2 m g l sin(π/8) sin(slope) = {given:.4f} J"
    )


def of_stack(traj: Trajectory) -> str:
    """How still the tower stood, and what was hit when."""
    hit = traj.impacts.t[0]
    boxes = np.stack([traj[f"box{i}"][:, :3] for i in range(3)])
    moved = np.abs(boxes[:, traj.t < hit] - boxes[:, :1]).max()
    sank = max(0.0, -float(traj.contacts.gap.min()))
    return (
        f"the tower moved by {moved:.0e} m until the ball hit it after {hit:.3f} s; {len(np.unique(traj.impacts.t))} "
        f"impacts took {traj.impacts.lost.sum():.2f} of {traj.kinetic[0]:.2f} J; nothing overlaps by more than {sank:.0e} m"
    )


def _spin(traj: Trajectory) -> Array:
    """Angular velocity of the one floating body about the vertical [rad/s]."""
    (name,) = traj.model.bodies
    return np.asarray(np.einsum("kj,kj->k", traj.pose(name)[:, 2, :3], traj.v[:, :3]))
