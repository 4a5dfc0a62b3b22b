"""Joints: one file each. `contract.py` says what a joint must give, and checks it."""

from symplectree.joints.ball import Ball
from symplectree.joints.contract import Joint, Step, check_joint
from symplectree.joints.curve import CurveJoint
from symplectree.joints.cylindrical import Cylindrical
from symplectree.joints.fixed import Fixed
from symplectree.joints.formula import FormulaJoint, SymbolicJoint
from symplectree.joints.free import Free
from symplectree.joints.limits import JointLimits
from symplectree.joints.linkage import LinkageJoint
from symplectree.joints.planar import Planar
from symplectree.joints.prismatic import Prismatic
from symplectree.joints.revolute import Revolute
from symplectree.joints.rolling import RollingJoint
from symplectree.joints.screw import Screw
from symplectree.joints.surface import SurfaceJoint
from symplectree.joints.surface_contact import SurfaceContactJoint
from symplectree.joints.universal import Universal

__all__ = [
    "Ball", "CurveJoint", "Cylindrical", "Fixed", "FormulaJoint", "Free", "Joint", "JointLimits", "LinkageJoint", "Planar",
    "Prismatic", "Revolute", "RollingJoint", "Screw", "Step", "SurfaceContactJoint", "SurfaceJoint", "SymbolicJoint",
    "Universal", "check_joint",
]  # fmt: skip
