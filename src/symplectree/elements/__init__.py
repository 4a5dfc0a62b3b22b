"""Springs, dampers, loads and constraints: one file per kind. `contract.py` says what an element must give."""

from symplectree.elements.actuator import Actuator, Motor, PositionServo, VelocityServo
from symplectree.elements.cable import Cable
from symplectree.elements.cam_constraint import CamConstraint
from symplectree.elements.constraint import Constraint
from symplectree.elements.contact import Contact
from symplectree.elements.contract import Element, ElementTables, Lowering
from symplectree.elements.damper import Damper
from symplectree.elements.distance_constraint import DistanceConstraint
from symplectree.elements.fluid_drag import FluidDrag
from symplectree.elements.force_limit import ForceLimit
from symplectree.elements.formula import FormulaConstraint, FormulaForce, FormulaPotential
from symplectree.elements.gear_constraint import GearConstraint
from symplectree.elements.joint_damper import JointDamper
from symplectree.elements.joint_force import JointForce
from symplectree.elements.joint_friction import JointFriction
from symplectree.elements.joint_limit import JointLimit
from symplectree.elements.joint_spring import JointSpring
from symplectree.elements.nonlinear_spring import NonlinearSpring
from symplectree.elements.plane_constraint import PlaneConstraint
from symplectree.elements.point_constraint import PointConstraint
from symplectree.elements.rolling_constraint import RollingConstraint
from symplectree.elements.rotary_spring import RotarySpring
from symplectree.elements.screw_constraint import ScrewConstraint
from symplectree.elements.spring import Spring
from symplectree.elements.tendon import Tendon
from symplectree.elements.thruster import Thruster
from symplectree.elements.user import UserConstraint, UserForce, UserPotential
from symplectree.elements.weld_constraint import HingeConstraint, JointConstraint, WeldConstraint
from symplectree.elements.wrench import BodyWrench, SpatialWrench

__all__ = [
    "Actuator", "BodyWrench", "Cable", "CamConstraint", "Constraint", "Contact", "Damper", "DistanceConstraint", "Element",
    "ElementTables", "FluidDrag", "ForceLimit", "FormulaConstraint", "FormulaForce", "FormulaPotential", "GearConstraint",
    "HingeConstraint", "JointConstraint", "JointDamper", "JointForce", "JointFriction", "JointLimit", "JointSpring",
    "Lowering", "Motor", "NonlinearSpring", "PlaneConstraint", "PointConstraint", "PositionServo", "RollingConstraint",
    "RotarySpring", "ScrewConstraint", "SpatialWrench", "Spring", "Tendon", "Thruster", "UserConstraint", "UserForce",
    "UserPotential", "VelocityServo", "WeldConstraint",
]  # fmt: skip
