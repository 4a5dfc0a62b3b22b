"""Methods of integration: one file each, with its order and what it is good for."""

from symplectree.integrators.adaptive import Adaptive
from symplectree.integrators.classical import RK4, SemiImplicitEuler
from symplectree.integrators.contract import Method, Run
from symplectree.integrators.reduced import Reduced
from symplectree.integrators.variational import Variational

__all__ = ["RK4", "Adaptive", "Method", "Reduced", "Run", "SemiImplicitEuler", "Variational"]
