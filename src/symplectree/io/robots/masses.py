"""Masses: from the file's inertials or from the shapes of its geoms, lumped where links are fixed to each other."""

from typing import Any

import numpy as np

from symplectree.errors import ModelError
from symplectree.io.robots.geom_masses import counts_geoms, geom_masses
from symplectree.io.robots.poses import rotation_matrix
from symplectree.io.robots.reading import Reading, listed
from symplectree.io.robots.repair import mended_inertia
from symplectree.lie import pose
from symplectree.mechanism.inertia import LARGEST, RigidMass, carried, inertia_matrix, merged
from symplectree.mechanism.mechanism import Frame, Mass

ROUNDING = 1e-15  # square of a radius of gyration [m²] that programs wrote for zero, also with a minus sign


def add_masses(r: Reading, from_shapes: dict[str, RigidMass] | None = None) -> None:
    """Give each moving link one mass, that of all bodies fixed to it; raises ModelError when no body can have it.

    from_shapes: of a URDF, masses for links without.
    """
    from_geoms = (from_shapes or {}) if r.urdf else geom_masses(r)
    masses = {body.name: _mass(r, body, from_geoms) for body in r.spec.bodies if body.name != r.spec.worldbody.name}
    masses = _as_compiler_says(r, masses)
    lumps: dict[int, tuple[Frame, list[str], list[RigidMass]]] = {}
    for name, mass in masses.items():
        if mass.mass == 0 and not np.any(mass.inertia):
            continue
        place = r.bodies[name]
        if place.carrier is r.mechanism.world and (r.urdf or r.spec.compiler.fusestatic):
            continue  # never moves; Pinocchio and MuJoCo count its energy no more than that of the ground
        _, names, parts = lumps.setdefault(id(place.carrier), (place.carrier, [], []))
        names.append(name)
        parts.append(carried(mass, place.offset))
    for carrier, names, parts in lumps.values():
        total = merged(parts)
        owner = f"link {names[0]!r}" + (f" (with {listed(names[1:])} fixed to it)" if names[1:] else "")
        if carrier is not r.mechanism.world:  # what stands on the ground never turns
            try:
                inertia_matrix(owner, total.inertia)
            except ModelError as error:
                if r.strict:
                    raise r.error(str(error)) from None
                total = RigidMass(total.mass, total.com, mended_inertia(r, names[0], total.inertia))
        x, y, z = map(float, total.com)
        inertia = total.inertia if np.any(total.inertia) and carrier is not r.mechanism.world else None
        carrier.masses[:] = [Mass(total.mass, (x, y, z), inertia)]


def without_mass(r: Reading) -> list[str]:
    """Names of links that a joint moves although neither they nor what hangs on them has a mass."""
    heavy = {id(frame) for frame in r.mechanism.tree if frame.masses}
    for frame in reversed(list(r.mechanism.tree)):
        if id(frame) in heavy:
            heavy.add(id(frame.parent))
    return [f.name for f in r.mechanism.tree if id(f) not in heavy and f.joint.nv and not np.any(f.joint.armature)]


def _mass(r: Reading, body: Any, from_geoms: dict[str, RigidMass]) -> RigidMass:
    """Mass of one body in its own axes."""
    if body.name in from_geoms:
        return from_geoms[body.name]
    if not r.urdf and counts_geoms(body):
        return _nothing(r, body)
    return _given_mass(r, body) if body.explicitinertial else _nothing(r, body)


def _nothing(r: Reading, body: Any) -> RigidMass:
    """No mass. Where boundmass makes it some, MuJoCo puts that off the body's origin by what `pos` of the body says."""
    return RigidMass(0.0, r.numbers(f"the position of body {body.name!r}", body.pos), np.zeros((3, 3)))


def _given_mass(r: Reading, body: Any) -> RigidMass:
    owner = f"link {body.name!r}"
    mass = float(r.numbers(f"the mass of {owner}", body.mass))
    if mass < 0:
        raise r.error(f"mass of {owner} is {mass}; it must be zero or more")
    if np.isfinite(body.fullinertia[0]):
        xx, yy, zz, xy, xz, yz = r.numbers(f"the inertia of {owner}", body.fullinertia)
        inertia = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    else:
        inertia = np.diag(r.numbers(f"the inertia of {owner}", body.inertia))
    if np.abs(inertia).max() < ROUNDING * mass:
        inertia = np.zeros((3, 3))
    R = rotation_matrix(r, body.iquat, body.ialt, body.compiler, f"the inertia of {owner}")
    com = r.numbers(f"the centre of mass of {owner}", body.ipos)
    return carried(RigidMass(mass, np.zeros(3), inertia), pose(R, com))


def _as_compiler_says(r: Reading, masses: dict[str, RigidMass]) -> dict[str, RigidMass]:
    """The compiler element's bounds, balancing and total mass."""
    compiler = r.spec.compiler
    changed = {}
    for name, part in masses.items():
        mass, inertia = max(part.mass, float(compiler.boundmass)), part.inertia
        if not np.all(np.abs(inertia) <= LARGEST):
            raise r.error(f"the inertia of {name!r} is too large to compute with")
        moments, axes = np.linalg.eigh(inertia)
        if compiler.boundinertia > 0 and moments[0] < compiler.boundinertia:
            moments = np.maximum(moments, float(compiler.boundinertia))
            inertia = axes @ np.diag(moments) @ axes.T
        if compiler.balanceinertia and moments[2] > moments[0] + moments[1]:
            inertia = np.eye(3) * moments.mean()
        changed[name] = RigidMass(mass, part.com, inertia)
    total = sum(part.mass for part in changed.values())
    if compiler.settotalmass > 0 and total > 0:
        scale = float(compiler.settotalmass) / total
        changed = {n: RigidMass(p.mass * scale, p.com, p.inertia * scale) for n, p in changed.items()}
    return changed
