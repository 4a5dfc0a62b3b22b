"""Symplectree: mechanisms of rigid bodies, simulated and optimised with variational integrators.

    import symplectree as st
"""

from symplectree.dynamics import (
    bias_forces,
    body_velocity,
    body_velocity_derivatives,
    check_element,
    element_terms,
    forward_dynamics,
    inverse_dynamics,
    inverse_mass_product,
    jacobian,
    kinetic_energy,
    lagrangian,
    lagrangian_derivatives,
    mass_matrix,
    momenta,
    pose,
    pose_derivatives,
    potential_energy,
    retract,
    spatial_momentum,
)
from symplectree.elements import (
    BodyWrench,
    Damper,
    JointDamper,
    JointForce,
    JointSpring,
    NonlinearSpring,
    SpatialWrench,
    Spring,
)
from symplectree.errors import ModelError
from symplectree.joints import (
    Ball,
    Cylindrical,
    Fixed,
    Free,
    Planar,
    Prismatic,
    Revolute,
    Screw,
    Universal,
    check_joint,
)
from symplectree.mechanism import Mechanism, Model, rx, ry, rz, tx, ty, tz
