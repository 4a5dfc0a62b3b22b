"""Springs, dampers and loads: one file per kind. `contract.py` says what an element must give."""

from symplectree.elements.contract import Element, ElementTables, Lowering
from symplectree.elements.damper import Damper
from symplectree.elements.joint_damper import JointDamper
from symplectree.elements.joint_force import JointForce
from symplectree.elements.joint_spring import JointSpring
from symplectree.elements.nonlinear_spring import NonlinearSpring
from symplectree.elements.spring import Spring
from symplectree.elements.wrench import BodyWrench, SpatialWrench

__all__ = [
    "BodyWrench", "Damper", "Element", "ElementTables", "JointDamper", "JointForce", "JointSpring", "Lowering",
    "NonlinearSpring", "SpatialWrench", "Spring",
]  # fmt: skip
