"""Environments for reinforcement learning, after Gymnasium's interface (the extra `gym`).

env = st.gym.Environment(model, dt=0.02, duration=10.0, start="hanging", noise=0.1, reward={"pole": (np.pi, 1.0)})
envs = st.gym.VectorEnvironment(model, 16, dt=0.02, duration=10.0, reward=lambda q, v, u: -u[:, 0] ** 2)
"""

try:
    import gymnasium as _gymnasium  # noqa: F401
except ImportError:
    raise ImportError("st.gym needs gymnasium; install it with: pip install 'symplectree[gym]'") from None

from symplectree.gym.batch import Batch, StepperBatch
from symplectree.gym.environment import Environment
from symplectree.gym.vector import VectorEnvironment

__all__ = ["Batch", "Environment", "StepperBatch", "VectorEnvironment"]
