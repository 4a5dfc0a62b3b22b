"""Joints: one file each. `contract.py` says what a joint must give, and checks it."""

from symplectree.joints.ball import Ball
from symplectree.joints.contract import Joint, Step, check_joint
from symplectree.joints.cylindrical import Cylindrical
from symplectree.joints.fixed import Fixed
from symplectree.joints.formula import FormulaJoint, SymbolicJoint
from symplectree.joints.free import Free
from symplectree.joints.planar import Planar
from symplectree.joints.prismatic import Prismatic
from symplectree.joints.revolute import Revolute
from symplectree.joints.screw import Screw
from symplectree.joints.universal import Universal

__all__ = [
    "Ball", "Cylindrical", "Fixed", "FormulaJoint", "Free", "Joint", "Planar", "Prismatic", "Revolute", "Screw", "Step",
    "SymbolicJoint", "Universal", "check_joint",
]  # fmt: skip
