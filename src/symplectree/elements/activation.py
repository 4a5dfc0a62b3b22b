"""What an actuator's force follows: its control at once, or an activation that follows the control.

| options | activation a under the control u |
| --- | --- |
| `filter=τ` | ȧ = (u − a)/τ, a first-order filter with the time constant τ [s] |
| `integrator=True` | ȧ = u |
| `activation_range` | lower and upper limits of a, at which it stays; None for none |
"""

from typing import Any

import numpy as np

from symplectree.elements.contract import Lowering
from symplectree.elements.rows import DIRECT, FILTER, INTEGRATOR
from symplectree.errors import ModelError
from symplectree.validation import is_positive, shown


def activation(into: Lowering, element: Any) -> dict[str, Any]:
    """The fields of an ActuatorRow that say it; raises ModelError where options are wrong."""
    from symplectree.elements.actuator import limits

    span = limits(into, element.activation_range, "activation_range")
    if not isinstance(element.integrator, bool | np.bool_):
        raise ModelError(f"{into.what}: integrator is {shown(element.integrator)}; give True or False")
    if element.filter is not None and element.integrator:
        raise ModelError(f"{into.what} has a filter and an integrator; give one of them")
    if element.filter is None and not element.integrator:
        if element.activation_range is not None:
            raise ModelError(
                f"{into.what} has an activation_range but no activation; give filter or integrator, or control_range"
            )
        return {"dynamics": DIRECT}
    if element.filter is not None and not is_positive(element.filter):
        raise ModelError(f"{into.what}: filter is {shown(element.filter)}; give its time constant [s], above zero")
    if element.integrator:
        return {"dynamics": INTEGRATOR, "activation_range": span}
    return {"dynamics": FILTER, "time_constant": float(element.filter), "activation_range": span}
