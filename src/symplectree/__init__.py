"""Symplectree: mechanisms of rigid bodies, simulated and optimised with variational integrators.

import symplectree as st
"""

from typing import TYPE_CHECKING

from symplectree.constraints import (
    assemble,
    check_element,
    constrained_dynamics,
    constraint_jacobian,
    constraint_values,
    independent_rows,
    project_velocity,
    reach,
)
from symplectree.cores import core_folder
from symplectree.dynamics import (
    bias_forces,
    body_velocity,
    body_velocity_derivatives,
    difference,
    element_terms,
    forward_dynamics,
    inverse_dynamics,
    inverse_mass_product,
    jacobian,
    kinetic_energy,
    lagrangian,
    lagrangian_derivatives,
    locked_inertia,
    mass_matrix,
    mechanical_connection,
    momenta,
    pose,
    pose_derivatives,
    potential_energy,
    retract,
    shape_derivatives,
    shape_metric,
    spatial_momentum,
)
from symplectree.elements import (
    Actuator,
    BodyWrench,
    Cable,
    CamConstraint,
    Contact,
    Damper,
    DistanceConstraint,
    FluidDrag,
    ForceLimit,
    FormulaConstraint,
    FormulaForce,
    FormulaPotential,
    GearConstraint,
    HingeConstraint,
    JointConstraint,
    JointDamper,
    JointForce,
    JointFriction,
    JointLimit,
    JointSpring,
    Motor,
    NonlinearSpring,
    PlaneConstraint,
    PointConstraint,
    PositionServo,
    RollingConstraint,
    RotarySpring,
    ScrewConstraint,
    SpatialWrench,
    Spring,
    Tendon,
    Thruster,
    UserConstraint,
    UserForce,
    UserPotential,
    VelocityServo,
    WeldConstraint,
)
from symplectree.ensemble import Parameters, Rollout, Sweep, rollout, sweep
from symplectree.errors import (
    AssemblyError,
    ConvergenceError,
    CoreError,
    MissingPackageError,
    ModelError,
    ModelSyntaxError,
    ResultError,
    SymplectreeError,
)
from symplectree.integrators import RK4, Adaptive, Reduced, SemiImplicitEuler, Variational
from symplectree.integrators.controllers import PD, PID, StateFeedback, Table
from symplectree.io import load, load_trajectory, loads
from symplectree.joints import (
    Ball,
    CurveJoint,
    Cylindrical,
    Fixed,
    FormulaJoint,
    Free,
    JointLimits,
    LinkageJoint,
    Planar,
    Prismatic,
    Revolute,
    RollingJoint,
    Screw,
    SurfaceContactJoint,
    SurfaceJoint,
    Universal,
    check_joint,
)
from symplectree.linearization.linearization import Linearization
from symplectree.linearization.linearize import Linearizer, linearize
from symplectree.mechanism import Keyframe, Mechanism, Model, Shape, rx, ry, rz, tx, ty, tz
from symplectree.sensors import (
    Accelerometer,
    ActuatorForce,
    ActuatorPower,
    CenterOfMass,
    FrameAcceleration,
    FramePose,
    FrameVelocity,
    Gyro,
    JointPosition,
    JointReaction,
    JointVelocity,
    measure,
)
from symplectree.simulation.simulate import resume, simulate
from symplectree.simulation.stepper import Stepper
from symplectree.simulation.trajectory import Trajectory

__path__[:0] = core_folder(__path__[0])

if TYPE_CHECKING:
    from symplectree import control as control
    from symplectree import gym as gym
    from symplectree import interop as interop
    from symplectree import symbolic as symbolic

    __version__: str

_SUBPACKAGES = ("control", "gym", "interop", "symbolic")


def __dir__() -> list[str]:
    return sorted({*globals(), *_SUBPACKAGES, "__version__"} - {"TYPE_CHECKING"})


def __getattr__(name: str) -> object:
    """Subpackages, and the version, which are looked up when they are first used."""
    if name in _SUBPACKAGES:
        import importlib

        return importlib.import_module(f"symplectree.{name}")
    if name == "__version__":
        from symplectree.version import version

        return version()
    raise AttributeError(f"module 'symplectree' has no attribute {name!r}")


__all__ = [
    # building
    "Mechanism", "Model", "tx", "ty", "tz", "rx", "ry", "rz", "load", "loads", "Keyframe", "Shape",
    # joints
    "Fixed", "Revolute", "Prismatic", "Screw", "Cylindrical", "Universal", "Planar", "Ball", "Free", "JointLimits",
    "check_joint",
    "FormulaJoint", "CurveJoint", "SurfaceJoint", "SurfaceContactJoint", "RollingJoint", "LinkageJoint",
    # elements
    "Spring", "NonlinearSpring", "JointSpring", "RotarySpring", "Damper", "JointDamper", "JointForce",
    "JointFriction", "JointLimit", "Contact", "FluidDrag", "BodyWrench",
    "SpatialWrench", "UserPotential", "UserForce", "FormulaPotential", "FormulaForce", "element_terms", "check_element",
    # actuators
    "Motor", "PositionServo", "VelocityServo", "Actuator", "Thruster", "Tendon", "Cable", "ForceLimit",
    # constraints
    "PointConstraint", "DistanceConstraint", "PlaneConstraint", "ScrewConstraint", "GearConstraint", "CamConstraint",
    "WeldConstraint", "HingeConstraint", "JointConstraint", "UserConstraint", "FormulaConstraint", "RollingConstraint",
    "constraint_values", "constraint_jacobian", "constrained_dynamics", "project_velocity",
    # sensors
    "Accelerometer", "Gyro", "FramePose", "FrameVelocity", "FrameAcceleration", "JointPosition", "JointVelocity",
    "JointReaction", "ActuatorForce", "ActuatorPower", "CenterOfMass", "measure",
    # continuous mechanics
    "pose", "jacobian", "body_velocity", "pose_derivatives", "body_velocity_derivatives", "retract", "difference",
    "mass_matrix", "inverse_mass_product", "momenta", "bias_forces", "inverse_dynamics", "forward_dynamics",
    "kinetic_energy", "potential_energy", "lagrangian", "lagrangian_derivatives", "spatial_momentum",
    "locked_inertia", "mechanical_connection", "shape_metric", "shape_derivatives",
    # runs
    "simulate", "resume", "load_trajectory", "assemble", "reach", "independent_rows", "Stepper", "Trajectory", "rollout",
    "Rollout", "sweep", "Sweep", "Parameters", "linearize",
    "Linearizer", "Linearization", "PD", "PID", "Table", "StateFeedback",
    "Variational", "Reduced", "SemiImplicitEuler", "RK4", "Adaptive",
    # errors
    "ModelError", "ModelSyntaxError", "MissingPackageError", "AssemblyError", "ConvergenceError", "ResultError",
    "CoreError", "SymplectreeError",
]  # fmt: skip
