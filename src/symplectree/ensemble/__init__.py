"""Many runs at once."""

from symplectree.ensemble.rollout import rollout
from symplectree.ensemble.rollout_result import Failure, Rollout
from symplectree.ensemble.sweep import sweep
from symplectree.ensemble.sweep_parameters import Parameters
from symplectree.ensemble.sweep_result import Sweep

__all__ = ["Failure", "Parameters", "Rollout", "Sweep", "rollout", "sweep"]
