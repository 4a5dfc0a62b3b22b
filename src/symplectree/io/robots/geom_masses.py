"""Masses that follow from geoms, as MuJoCo's compiler counts them."""

import re
from collections.abc import Iterable
from typing import Any

import numpy as np

from symplectree.extras import extra
from symplectree.io.robots.geoms import kind, shown_name, size_and_pose
from symplectree.io.robots.reading import Reading
from symplectree.lie import quaternion_matrix
from symplectree.mechanism.inertia import RigidMass

LARGEST = 1e60  # m: its fifth power, which inertia grows with, is still a number
WITHOUT_MASS = ("plane", "hfield")
# kinds of elements that say nothing about the mass of a geom, in an order in which they can be taken out
OTHERS = (
    "keys", "sensors", "actuators", "tendons", "equalities", "pairs", "excludes", "skins", "flexes", "tuples", "texts",
    "numerics", "cameras", "lights", "sites", "joints",
)  # fmt: skip


def counts_geoms(body: Any) -> bool:
    """Do the geoms of a body give its mass, and not its inertial?"""
    mujoco = extra("mujoco")

    rules, rule = mujoco.mjtInertiaFromGeom, body.compiler.inertiafromgeom
    explicit = bool(body.explicitinertial)
    if rule == rules.mjINERTIAFROMGEOM_AUTO:
        return not explicit
    low, high = body.compiler.inertiagrouprange
    counted = any(low <= geom.group <= high for geom in body.geoms)
    return bool(rule == rules.mjINERTIAFROMGEOM_TRUE) and (counted or not explicit)


def geom_masses(r: Reading) -> dict[str, RigidMass]:
    """By name of body: the masses that geoms give, each in its body's axes; raises ModelError for impossible geoms.

    MuJoCo compiles a copy of the file that has nothing else in it: no joint, so that no body must have a mass, no
    geom whose mesh is missing, and none of the compiler's bounds, which are applied afterwards.
    """
    world = r.spec.worldbody.name
    counted = [body.name for body in r.spec.bodies if body.name != world and counts_geoms(body)]
    geoms = [(geom, body.name) for body in r.spec.bodies for geom in body.geoms if body.name in set(counted)]
    for geom, body in geoms:
        _check(r, geom, body)
    if not any(kind(geom) not in WITHOUT_MASS for geom, _ in geoms):
        return {}
    try:
        model = _compiled(r, set(counted), meshes=True)
    except ValueError as error:
        if not any(geom.meshname for geom, _ in geoms):
            raise r.error(_sentence(error)) from None
        try:
            model = _compiled(r, set(counted), meshes=False)
        except ValueError as again:
            raise r.error(_sentence(again)) from None
        lost = [shown_name(geom, body) for geom, body in geoms if geom.meshname and geom.mass != 0]
        r.note(f"the mass of geoms with meshes, which MuJoCo cannot compile ({_sentence(error)})", lost)
    found = {}
    for name in counted:
        body = model.body(name)
        R = quaternion_matrix(body.iquat)
        found[name] = RigidMass(float(body.mass[0]), np.array(body.ipos), R @ np.diag(body.inertia) @ R.T)
    return {name: part for name, part in found.items() if part.mass > 0}


def _check(r: Reading, geom: Any, body: str) -> None:
    """What MuJoCo does not look at, or names by number only."""
    owner, given = shown_name(geom, body), float(geom.mass)
    r.numbers(f"the mass or density of {owner}", (geom.density, 0.0 if np.isnan(given) else given))
    if given < 0 or geom.density < 0:
        raise r.error(f"{owner} has a mass or density below zero")
    if kind(geom) == "mesh" and r.spec.mesh(geom.meshname) is None:
        raise r.error(f"{owner} names mesh {geom.meshname!r}, which does not exist")
    size, _ = size_and_pose(r, geom, body)
    if float(np.abs(size).max()) > LARGEST:
        raise r.error(f"the size of {owner} is {size}; its mass is not finite")


def _compiled(r: Reading, counted: set[str], *, meshes: bool) -> Any:
    """MuJoCo's model of the geoms alone; raises ValueError."""
    spec = r.spec.copy()
    for what in OTHERS:
        _delete(spec, list(getattr(spec, what)))
    for compiler in {id(body.compiler): body.compiler for body in spec.bodies}.values():
        compiler.fusestatic = compiler.discardvisual = compiler.balanceinertia = False
        compiler.boundmass = compiler.boundinertia = 0
        compiler.settotalmass = -1
        compiler.alignfree = False
    used = set()
    for body in spec.bodies:
        for geom in list(body.geoms):
            if (
                body.name not in counted
                or kind(geom) in WITHOUT_MASS
                or (geom.meshname and not _has_mesh(r, geom, meshes))
            ):
                if meshes and geom.meshname and body.name in counted and geom.mass != 0:
                    r.note("the mass of geoms whose mesh was not found", [shown_name(geom, body.name)])
                _delete(spec, [geom])
                continue
            geom.material, geom.contype, geom.conaffinity = "", 0, 0
            used.add(geom.meshname)
    _delete(spec, [mesh for mesh in spec.meshes if mesh.name not in used])
    for mesh in spec.meshes:
        mesh.material = ""
        if mesh.file:
            mesh.file = str(r.finder.find(mesh.file, mesh.compiler.meshdir))
    _delete(spec, [*spec.materials, *spec.textures, *spec.hfields])
    return spec.compile()


def _has_mesh(r: Reading, geom: Any, meshes: bool) -> bool:
    mesh = r.spec.mesh(geom.meshname)
    if not meshes or mesh is None:
        return False
    return not mesh.file or r.finder.find(mesh.file, mesh.compiler.meshdir) is not None


def _delete(spec: Any, elements: Iterable[Any]) -> None:
    for element in elements:
        spec.delete(element)


def _sentence(error: ValueError) -> str:
    """MuJoCo's message in one line."""
    return re.sub(r"^(XML )?Error: (Error: )?", "", " ".join(str(error).split()))
