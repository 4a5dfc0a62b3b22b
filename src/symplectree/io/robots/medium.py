"""The medium around a robot, of MJCF's <option density="" viscosity="" wind="">: FluidDrag on the boxes of its bodies."""

import numpy as np

from symplectree.elements import FluidDrag
from symplectree.io.robots.poses import placed
from symplectree.io.robots.reading import Reading, new_name
from symplectree.lie import Array, pose, quaternion_matrix

LEAST = 1e-15  # of a mass or an inertia that counts, as in MuJoCo


def add_medium(r: Reading) -> None:
    """Add what the medium does to all bodies that move."""
    option = r.spec.option
    density, viscosity = float(option.density), float(option.viscosity)
    if density == viscosity == 0:
        return
    said = [name for name in ("density", "viscosity", "wind") if np.any(getattr(option, name))]
    compiled = r.compiled
    if compiled is None:
        r.note("the medium around the bodies, which needs all meshes of the file", said)
        return
    ellipsoids = set(compiled.geom_bodyid[compiled.geom_fluid[:, 0] > 0].tolist())
    boxes: dict[str, tuple[float, float, float]] = {}
    for body in r.spec.bodies:
        place, found = r.bodies[body.name], compiled.body(body.name)
        if place.carrier is r.mechanism.world or not found.mass[0] > LEAST:
            continue
        if int(found.id) in ellipsoids:
            r.note("ellipsoids in the medium", [body.name])
            continue
        centre = pose(quaternion_matrix(np.array(found.iquat)), np.array(found.ipos))
        frame = place.frame.frame(new_name(f"{body.name}.drag", r.frame_names), **placed(centre))
        boxes[frame.name] = _sides(np.array(found.inertia), float(found.mass[0]))
    if boxes:
        x, y, z = map(float, option.wind)
        given = {"density": density, "viscosity": viscosity, "wind": (x, y, z)}
        name = new_name("medium", r.element_names)
        frames, sides = tuple(boxes), tuple(boxes.values())
        one = len(frames) == 1
        drag = FluidDrag(frames[0] if one else frames, box=sides[0] if one else sides, **given, name=name)  # type: ignore[arg-type]
        r.mechanism.add(drag)


def _sides(inertia: Array, mass: float) -> tuple[float, float, float]:
    """Sides of the box with these principal moments: sᵢ² = 6 (Jⱼ + Jₖ − Jᵢ)/m."""
    x, y, z = (float(np.sqrt(max(LEAST, inertia.sum() - 2 * moment) * 6 / mass)) for moment in inertia)
    return x, y, z
