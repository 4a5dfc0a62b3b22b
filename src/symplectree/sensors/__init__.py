"""Sensors: what can be measured of a model in motion, by name. `contract.py` says what a sensor must give."""

from symplectree.sensors.actuators import ActuatorForce, ActuatorPower
from symplectree.sensors.contract import Sensor, States
from symplectree.sensors.frames import Accelerometer, FrameAcceleration, FramePose, FrameVelocity, Gyro
from symplectree.sensors.joints import JointPosition, JointReaction, JointVelocity
from symplectree.sensors.masses import CenterOfMass
from symplectree.sensors.measure import measure

__all__ = [
    "Accelerometer", "ActuatorForce", "ActuatorPower", "CenterOfMass", "FrameAcceleration", "FramePose",
    "FrameVelocity", "Gyro", "JointPosition", "JointReaction", "JointVelocity", "Sensor", "States", "measure",
]  # fmt: skip
