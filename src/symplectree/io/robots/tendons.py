"""Tendons of MJCF as our elements.

| in the file | becomes |
| --- | --- |
| fixed tendon with stiffness or damping | Tendon |
| spatial tendon through sites with stiffness or damping | Spring between two sites, else Cable |
| equality of fixed tendons | FormulaConstraint |

Spatial tendons around geoms or over pulleys are named in the one warning, as are limits, dry friction and armature of
tendons.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from symplectree.elements import Cable, FormulaConstraint, Spring, Tendon
from symplectree.extras import extra
from symplectree.io.robots.limits import is_limited
from symplectree.io.robots.poses import angle
from symplectree.io.robots.reading import Reading, new_name
from symplectree.io.robots.tree import joint_kind, reference_value
from symplectree.mechanism.mechanism import Frame


@dataclass(frozen=True)
class Sum:
    """A length of coordinates: names and coefficients, as a joint or a fixed tendon has it."""

    coordinates: tuple[str, ...]
    coefficients: tuple[float, ...]


def add_tendons(r: Reading, joints: dict[str, Any]) -> dict[str, Sum]:
    """Add the springs and dampers of tendons; returns all fixed tendons by name, and notes what is not represented."""
    found: dict[str, Sum] = {}
    for index, tendon in enumerate(r.spec.tendons):
        _check_path(r, tendon)
        length = _fixed_length(tendon, joints)
        k, c = (float(np.atleast_1d(x)[0]) for x in (tendon.stiffness, tendon.damping))
        if length is None:
            _add_spatial(r, index, tendon, k, c)
        else:
            found[tendon.name] = length
            if k or c:
                name = new_name(tendon.name or "tendon", r.element_names)
                rest = _rest_length(tendon, length, joints)
                given: dict[str, Any] = {"stiffness": k, "rest": rest, "damping": c, "name": name}
                r.mechanism.add(Tendon(length.coordinates, coefficients=length.coefficients, **given))
        r.note("limits of tendons", [tendon.name] if is_limited(tendon, "limited", "range") else [])
        r.note("dry friction of tendons", [tendon.name] if tendon.frictionloss else [])
        r.note("armature of tendons", [tendon.name] if tendon.armature else [])
    return found


def _check_path(r: Reading, tendon: Any) -> None:
    """Raise ModelError for a tendon over what the file does not have."""
    mujoco = extra("mujoco")

    for number, wrap in enumerate(tendon.path, start=1):
        if wrap.type != mujoco.mjtWrap.mjWRAP_PULLEY and wrap.target is None:
            raise r.error(f"part {number} of tendon {tendon.name!r} names what is not in the file")


def _add_spatial(r: Reading, index: int, tendon: Any, stiffness: float, damping: float) -> None:
    """Add a tendon through sites; one without stiffness and damping does nothing by itself."""
    mujoco = extra("mujoco")

    kinds = {wrap.type for wrap in tendon.path}
    if kinds != {mujoco.mjtWrap.mjWRAP_SITE} or any(wrap.target.name not in r.sites for wrap in tendon.path):
        r.note("tendons that are neither fixed nor through sites alone", [tendon.name])
        return
    if not stiffness and not damping:
        return
    frames = [r.sites[wrap.target.name] for wrap in tendon.path]
    if not _moves_between(frames):
        return
    rest = _spatial_rest(r, index, tendon)
    if rest is None:
        r.note("tendons whose length at rest needs all meshes of the file", [tendon.name])
        return
    names, name = tuple(frame.name for frame in frames), new_name(tendon.name or "tendon", r.element_names)
    if len(names) == 2 and rest[0] == rest[1]:
        given: dict[str, Any] = {"stiffness": stiffness, "length": rest[0], "damping": damping, "name": name}
        r.mechanism.add(Spring(*names, **given))
    else:
        span = rest[0] if rest[0] == rest[1] else rest
        r.mechanism.add(Cable(names, stiffness=stiffness, rest=span, damping=damping, name=name))


def _moves_between(frames: list[Frame]) -> bool:
    """Does a joint move one of the frames against another?"""
    carriers = set()
    for end in frames:
        frame: Frame | None = end
        while frame is not None and not frame.joint.nv:
            frame = frame.parent
        carriers.add(id(frame))
    return len(carriers) > 1


def _spatial_rest(r: Reading, index: int, tendon: Any) -> tuple[float, float] | None:
    """The spring's length, that of the file's pose when it is left out, which MuJoCo's compiler knows."""
    lower, upper = map(float, tendon.springlength)
    if lower == upper == -1:
        if r.compiled is None:
            return None
        lower, upper = map(float, r.compiled.tendon_lengthspring[index])
    return lower, lower if upper == -1 else upper


def add_tendon_equality(r: Reading, equality: Any, tendons: dict[str, Sum], joints: dict[str, Any], name: str) -> None:
    """ℓ₁ − ℓ₁⁰ = Σ cᵢ (ℓ₂ − ℓ₂⁰)ⁱ, or ℓ₁ − ℓ₁⁰ = c₀ without a second tendon; lengths ⁰ are those of the reference."""
    named = [equality.name1, *([equality.name2] if equality.name2 else [])]
    if any(tendon not in tendons for tendon in named):
        r.note("equalities of tendons that are not fixed", [name])
        return
    lengths = [tendons[tendon] for tendon in named]
    coordinates = tuple(dict.fromkeys(c for length in lengths for c in length.coordinates))
    polynomial = tuple(map(float, r.numbers(f"equality {name}", equality.data[:5])))
    references = tuple(
        sum(c * reference_value(joints[q]) for q, c in zip(length.coordinates, length.coefficients, strict=True))
        for length in lengths
    )
    weights = tuple(
        tuple(dict(zip(length.coordinates, length.coefficients, strict=True)).get(q, 0.0) for q in coordinates)
        for length in lengths
    )
    r.mechanism.add(FormulaConstraint(_TendonEquality(weights, references, polynomial), coordinates=coordinates))


@dataclass(frozen=True)
class _TendonEquality:
    weights: tuple[tuple[float, ...], ...]
    references: tuple[float, ...]
    polynomial: tuple[float, ...]

    def __call__(self, q: Any) -> Any:
        stretched = [
            sum(w * q[i] for i, w in enumerate(own) if w) - zero
            for own, zero in zip(self.weights, self.references, strict=True)
        ]
        x = stretched[1] if len(stretched) > 1 else 0.0
        value: Any = 0.0
        for coefficient in reversed(self.polynomial):
            value = value * x + coefficient
        return stretched[0] - value


def _fixed_length(tendon: Any, joints: dict[str, Any]) -> Sum | None:
    """Σ coefficient · q of a fixed tendon; None of one through sites, or through joints that are none of ours."""
    mujoco = extra("mujoco")

    parts: dict[str, float] = {}
    for wrap in tendon.path:
        if wrap.type != mujoco.mjtWrap.mjWRAP_JOINT or wrap.target.name not in joints:
            return None
        if joint_kind(wrap.target) not in ("hinge", "slide"):
            return None
        parts[wrap.target.name] = parts.get(wrap.target.name, 0.0) + float(wrap.coef)
    return Sum(tuple(parts), tuple(parts.values())) if parts else None


def _rest_length(tendon: Any, length: Sum, joints: dict[str, Any]) -> float | tuple[float, float]:
    """The spring's length, that where joints are at rest when the file leaves it out."""
    lower, upper = map(float, tendon.springlength)
    if lower == upper == -1:
        pairs = zip(length.coordinates, length.coefficients, strict=True)
        return sum(c * _at_rest(joints[name]) for name, c in pairs)
    return lower if upper in (-1, lower) else (lower, upper)


def _at_rest(joint: Any) -> float:
    """Where a joint's spring is at rest, which is where tendons are as well."""
    return float(angle(joint.springref, joint.compiler) if joint_kind(joint) == "hinge" else joint.springref)
