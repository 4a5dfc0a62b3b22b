"""What is mended of inertias that no body can have, of inertials that say half, and of joints that move no mass."""

from collections import Counter
from xml.etree import ElementTree

import numpy as np

from symplectree.io.robots.reading import Reading, listed
from symplectree.lie import Array

TRIANGLE = np.array([[-1.0, 1, 1], [1, -1, 1], [1, 1, -1]])  # J₂ + J₃ − J₁ and so on, none below zero
ROUNDED = 1e-3  # changes below this share of the largest moment are those of few digits in the file


def nearest_inertia(inertia: Array) -> Array:
    """The inertia nearest to a symmetric matrix (Frobenius norm) among those of the same principal axes that a body has.

    Its moments J minimise |J − J₀|² with no moment above the sum of the other two, hence none below zero: the projection
    J = J₀ + Aᵀλ on a cone, λ ≥ 0 from a least-squares problem.
    """
    from scipy.optimize import nnls

    moments, axes = np.linalg.eigh(inertia)
    scale = float(np.abs(moments).max())
    lam, _ = nnls(TRIANGLE.T, -moments / scale)
    mended = moments + scale * TRIANGLE.T @ lam
    return axes @ np.diag(np.maximum(mended, 0.0)) @ axes.T


def mended_inertia(r: Reading, link: str, inertia: Array) -> Array:
    """`nearest_inertia`, with the name of the link in the warning unless the change is one of rounding."""
    mended = nearest_inertia(inertia)
    change = float(np.abs(mended - inertia).max() / np.abs(inertia).max())
    if change > ROUNDED:
        r.repairs.append(f"{link} by {100 * change:.2g} %")
    return mended


def mend_inertials(robot: ElementTree.Element) -> list[str]:
    """Make the inertials of a URDF whole, in place; returns what was done, by name of link.

    Of several the first counts, as everywhere; one without mass says nothing; one without inertia is a point mass.
    """
    done: list[str] = []
    for link in robot.findall("link"):
        name, inertials = repr(link.get("name")), link.findall("inertial")
        for further in inertials[1:]:
            link.remove(further)
            done.append(f"only the first inertial of link {name} counts")
        for inertial in inertials[:1]:
            if inertial.find("mass") is None:
                link.remove(inertial)
                done.append(f"link {name} has no mass, as its inertial says none")
            elif inertial.find("inertia") is None:
                moments = {key: "0" for key in ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")}
                ElementTree.SubElement(inertial, "inertia", moments)
                done.append(f"link {name} is a point mass, as its inertial says no inertia")
    return [what + (f" ({count} times)" if count > 1 else "") for what, count in Counter(done).items()]


def hold_massless(robot: ElementTree.Element) -> list[str]:
    """Make joints of a URDF that move no mass fixed, in place; returns what was done.

    A robot without any mass stays as it is; so do joints that mimic others which move mass, or are mimicked by such.
    """
    heavy = {link.get("name") for link in robot.findall("link") if _has_mass(link)}
    joints = {joint.get("name"): joint for joint in robot.findall("joint")}
    parent = {_end(joint, "child"): joint for joint in joints.values()}
    moving_mass: set[str | None] = set()
    for link in heavy:
        while link in parent and parent[link].get("name") not in moving_mass:
            moving_mass.add(parent[link].get("name"))
            link = _end(parent[link], "parent")
    held = {name for name, joint in joints.items() if name not in moving_mass and joint.get("type") != "fixed"}
    mimics = [(name, mimic.get("joint")) for name, joint in joints.items() for mimic in joint.findall("mimic")]
    mimics = [pair for pair in mimics if pair[1] in joints]
    while tied := {end for pair in mimics for end in pair if end in held and not held.issuperset(pair)}:
        held -= tied
    if not heavy or not held:
        return []
    for name in held:
        joints[name].set("type", "fixed")
        for mimic in joints[name].findall("mimic"):
            joints[name].remove(mimic)
    names = listed([repr(name) for name in joints if name in held])
    return [f"fixed: joints that move no mass ({names}), unless density=… gives their links that of their shapes"]


def _end(joint: ElementTree.Element, which: str) -> str | None:
    end = joint.find(which)
    return None if end is None else end.get("link")


def _has_mass(link: ElementTree.Element) -> bool:
    numbers = [link.find("inertial/mass"), link.find("inertial/inertia")]
    return any(float(text) != 0 for each in numbers if each is not None for text in each.attrib.values())
