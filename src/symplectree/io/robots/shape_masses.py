"""Masses of links whose URDF gives none, from their shapes and a density."""

from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np

from symplectree.extras import extra
from symplectree.io.robots.reading import Reading
from symplectree.io.robots.urdf import link_shapes
from symplectree.lie import quaternion_matrix
from symplectree.mechanism.inertia import RigidMass
from symplectree.mechanism.shapes import Shape

HALF = {"sphere": (1.0,), "cylinder": (1.0, 0.5), "capsule": (1.0, 0.5), "box": (0.5, 0.5, 0.5)}


def shape_masses(r: Reading, robot: ElementTree.Element, density: float) -> dict[str, RigidMass]:
    """By name of link: mass, centre and inertia of its collision shapes (visuals where it has none), in its own axes.

    density: [kg/m³]. Meshes count by the volume that they enclose, or by their convex hull where one of the robot's is
    not closed. Links that the file gives a mass are left out.
    """
    shapes: dict[str, list[Shape]] = {}
    for link in robot.findall("link"):
        mass = link.find("inertial/mass")
        if mass is not None and float(mass.get("value", "0")) > 0:
            continue
        for tag in ("collision", "visual"):
            found = [shape for shape in link_shapes(r, link, tag) if shape is not None]
            if found:
                shapes[link.get("name", "")] = found
                break
    if not shapes:
        return {}
    try:
        model = _compiled(r, shapes, density, "EXACT")
    except ValueError:
        try:
            model = _compiled(r, shapes, density, "CONVEX")
        except ValueError as error:
            raise r.error(f"the shapes of links without mass have no volume: {' '.join(str(error).split())}") from None
    masses = {}
    for name in shapes:
        body = model.body(name)
        R = quaternion_matrix(body.iquat)
        masses[name] = RigidMass(float(body.mass[0]), np.array(body.ipos), R @ np.diag(body.inertia) @ R.T)
    return masses


def _compiled(r: Reading, shapes: dict[str, list[Shape]], density: float, rule: str) -> Any:
    mujoco = extra("mujoco")

    spec = mujoco.MjSpec()
    for link, parts in shapes.items():
        body = spec.worldbody.add_body(name=link)
        for i, shape in enumerate(parts):
            quaternion = np.zeros(4)
            mujoco.mju_mat2Quat(quaternion, np.array(shape.pose)[:3, :3].flatten())
            geom = body.add_geom(density=density, pos=np.array(shape.pose)[:3, 3], quat=quaternion)
            geom.type = getattr(mujoco.mjtGeom, f"mjGEOM_{shape.kind.upper()}")
            if shape.kind != "mesh":
                half = np.multiply(shape.size, HALF[shape.kind])
                geom.size[: len(half)] = half
                continue
            corners = _mesh(shape.mesh)
            if corners is None:
                r.note("the mass of links whose mesh was not found or cannot be read", [link])
                spec.delete(geom)
                continue
            name = geom.meshname = f"{link}.{i}"
            mesh = spec.add_mesh(name=name, scale=shape.scale)
            mesh.uservert, mesh.userface = (part.flatten().tolist() for part in corners)
            mesh.inertia = getattr(mujoco.mjtMeshInertia, f"mjMESH_INERTIA_{rule}")
    return spec.compile()


def _mesh(path: str | None) -> tuple[Any, Any] | None:
    """Points and triangles of a mesh's file; None where it is missing or broken."""
    import trimesh

    if path is None or not Path(path).is_file():
        return None
    try:
        mesh: Any = trimesh.load(path, force="mesh")
        return (mesh.vertices, mesh.faces) if len(mesh.faces) else None
    except Exception:  # whatever a broken file makes its reader raise
        return None
