"""Optimal control: regulators, whole-trajectory Newton, direct optimisation, and what motions cost.

import symplectree as st

held = st.control.balance(model, upright, dt=0.01)
traj = st.simulate(model, near, duration=5, dt=0.01, forces=held)
"""

from symplectree.control.balance import balance, follow
from symplectree.control.conditions import Condition, CoordinateBounds, FrameBounds, VelocityBounds
from symplectree.control.costs import Cost, EffortCost, FormulaCost, PoseCost, QuadraticCost
from symplectree.control.direct import DirectProblem, DirectResult
from symplectree.control.feedback import Feedback
from symplectree.control.lqr import Regulator, lqr, tvlqr
from symplectree.control.motion import WarmStart
from symplectree.control.shape_motion import ShapeMotion, ShapeMotionResult
from symplectree.control.stagewise import StagewiseNewton, StagewiseResult

__all__ = [
    "Condition", "CoordinateBounds", "Cost", "DirectProblem", "DirectResult", "EffortCost", "Feedback", "FormulaCost",
    "FrameBounds", "PoseCost", "QuadraticCost", "Regulator", "ShapeMotion", "ShapeMotionResult", "StagewiseNewton",
    "StagewiseResult", "VelocityBounds", "WarmStart", "balance", "follow", "lqr", "tvlqr",
]  # fmt: skip
