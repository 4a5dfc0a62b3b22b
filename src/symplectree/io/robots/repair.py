"""What is mended of inertias that no body can have, and of inertials that say half."""

from collections import Counter
from xml.etree import ElementTree

import numpy as np

from symplectree.io.robots.reading import Reading
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
