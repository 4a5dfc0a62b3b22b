"""Geoms of MJCF: the mass of each, as MuJoCo counts it, and how it looks."""

from typing import Any

import numpy as np

from symplectree.io.robots.meshes import hull, legacy_solid, skin, solid, triangles
from symplectree.io.robots.poses import frame_pose, local_pose
from symplectree.io.robots.primitives import HOLLOW, PRIMITIVES, filled, shell
from symplectree.io.robots.reading import Reading
from symplectree.io.robots.tree import along
from symplectree.lie import Array, pose, quaternion_matrix
from symplectree.mechanism.inertia import RigidMass, carried
from symplectree.mechanism.shapes import GREY, Shape

NOTHING = RigidMass(0.0, np.zeros(3), np.zeros((3, 3)))
SHOWN_GROUPS = 3  # of geoms, from 0 on, that MuJoCo shows unless asked to; files keep what only collides in others


def kind(geom: Any) -> str:
    """ "sphere", "mesh" and so on."""
    return str(geom.type.name).removeprefix("mjGEOM_").lower()


def shown_name(geom: Any, body: str) -> str:
    """The geom's name, or that of its body."""
    return f"geom {geom.name!r}" if geom.name else f"a geom of body {body!r} ({kind(geom)})"


def geom_mass(r: Reading, geom: Any, body: str) -> RigidMass:
    """Mass of a geom in its body's axes, from its mass, or density and volume."""
    import mujoco

    owner, given = shown_name(geom, body), float(geom.mass)
    r.numbers(f"the mass or density of {owner}", (geom.density, 0.0 if np.isnan(given) else given))
    if given < 0 or geom.density < 0:
        raise r.error(f"{owner} has a mass or density below zero")
    if given == 0 or (np.isnan(given) and geom.density == 0) or kind(geom) in ("plane", "hfield"):
        return NOTHING
    if kind(geom) in PRIMITIVES and not geom.meshname:
        size, T = size_and_pose(r, geom, body)
        hollow = geom.typeinertia != mujoco.mjtGeomInertia.mjINERTIA_VOLUME
        if hollow and kind(geom) not in HOLLOW:
            raise r.error(f"{owner} is a shell, whose inertia is not known here; give body {body!r} an inertial")
        try:
            unit = (shell if hollow else filled)(kind(geom), size)
        except OverflowError:
            raise r.error(f"the size of {owner} is {size}; its mass is not finite") from None
    else:
        found = _mesh_body(r, geom, owner)
        if found is None:
            r.note("the mass of geoms whose mesh was not found or encloses no volume", [owner])
            return NOTHING
        unit, T = found, local_pose(r, geom, owner)
    if not unit.mass > 0:
        raise r.error(f"{owner} has no volume; give its sizes")
    scale = float(geom.density) if np.isnan(given) else given / unit.mass
    return carried(RigidMass(unit.mass * scale, unit.com, unit.inertia * scale), T)


def size_and_pose(r: Reading, geom: Any, body: str) -> tuple[Array, Array]:
    """Sizes as MuJoCo means them (half lengths), and pose in the body; `fromto` resolved."""
    owner = shown_name(geom, body)
    size = r.numbers(f"the size of {owner}", geom.size)
    if not np.isfinite(geom.fromto[0]):
        return size, local_pose(r, geom, owner)
    middle, R, length = along(r.numbers(f"fromto of {owner}", geom.fromto))
    size[1:] = [length / 2, 0] if kind(geom) in ("capsule", "cylinder") else [size[0], length / 2]
    return size, frame_pose(r, geom, owner) @ pose(R, middle)


def _mesh_body(r: Reading, geom: Any, owner: str) -> RigidMass | None:
    """The body of unit density inside a geom's mesh, in the geom's axes; None when there is none."""
    if kind(geom) != "mesh":
        raise r.error(f"{owner} is fitted to a mesh, which is not done here; give its body an inertial")
    mesh = r.spec.mesh(geom.meshname)
    if mesh is None:
        raise r.error(f"{owner} names mesh {geom.meshname!r}, which does not exist")
    if len(mesh.uservert):
        points = np.array(mesh.uservert, dtype=float).reshape(-1, 3)
        faces = np.array(mesh.userface, dtype=int).reshape(-1, 3)
        corners: Array | None = points[faces] if len(faces) else hull(points)
    else:
        path = r.finder.find(mesh.file, mesh.compiler.meshdir) if mesh.file else None
        corners = triangles(path) if path else None
    if corners is None or not corners.size:
        return None
    scaled = (corners - np.array(mesh.refpos)) @ quaternion_matrix(mesh.refquat) * np.array(mesh.scale)
    if np.prod(mesh.scale) < 0:
        scaled = scaled[:, ::-1]
    if "CONVEX" in mesh.inertia.name:
        scaled = hull(scaled.reshape(-1, 3))
    bodies = {"SHELL": skin, "LEGACY": legacy_solid}
    return bodies.get(mesh.inertia.name.rpartition("_")[2], solid)(scaled)


def add_shapes(r: Reading) -> None:
    """The visible geoms of MJCF as shapes of the mechanism; all of them where none is in a group that is shown."""
    geoms = [(geom, body.name) for body in r.spec.bodies for geom in body.geoms if geom.rgba[3] > 0]
    shown = [(geom, body) for geom, body in geoms if geom.group < SHOWN_GROUPS]
    moving = any(body != r.spec.worldbody.name for _, body in shown)
    for geom, body in shown if moving else geoms:
        shape = _shape(r, geom, body)
        if shape is not None:
            r.mechanism.shapes.append(shape)


def _shape(r: Reading, geom: Any, body: str) -> Shape | None:
    size, T = size_and_pose(r, geom, body)
    a, b, c = (float(x) for x in size)
    sizes: dict[str, tuple[float, ...]] = {
        "sphere": (a,), "box": (2 * a, 2 * b, 2 * c), "cylinder": (a, 2 * b), "capsule": (a, 2 * b),
        "ellipsoid": (a, b, c), "plane": (2 * a, 2 * b), "mesh": (),
    }  # fmt: skip
    if kind(geom) not in sizes:
        r.note("the look of geoms", [shown_name(geom, body)])
        return None
    rgba = tuple(round(float(x), 7) for x in geom.rgba)
    if rgba == GREY and geom.material and (material := r.spec.material(geom.material)) is not None:
        rgba = tuple(round(float(x), 7) for x in material.rgba)
    path, scale = None, (1.0, 1.0, 1.0)
    if kind(geom) == "mesh" and (mesh := r.spec.mesh(geom.meshname)) is not None:
        path = r.finder.find(mesh.file, mesh.compiler.meshdir) if mesh.file else None
        scale = tuple(float(x) for x in mesh.scale)  # type: ignore[assignment]
        turn = quaternion_matrix(mesh.refquat).T
        T = T @ pose(turn, -turn @ np.array(mesh.refpos) * scale)
    frame = r.bodies[body].frame.name
    shown = {"rgba": rgba, "mesh": path and str(path), "scale": scale}
    return Shape(frame, kind(geom), sizes[kind(geom)], T, **shown)  # type: ignore[arg-type]
