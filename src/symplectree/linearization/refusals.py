"""Steps that have no derivatives of the kind that is asked for, refused by name."""

from collections.abc import Sequence

from symplectree.errors import ModelError
from symplectree.linearization.parameters import Quantity
from symplectree.mechanism.model import Model


def refuse_acting(names: tuple[str, ...], order: int, parameters: Sequence[Quantity]) -> None:
    """Raise ModelError where elements that only push or rub act, by name, and more than first derivatives in the state and
    the forces are asked for."""
    if names and order == 2:
        raise ModelError(
            f"{names[0]!r} acts in this step, which then has no second derivatives here; give order=1, or leave it out: "
            "model.without_contact()"
        )
    if names and parameters:
        raise ModelError(
            f"{names[0]!r} acts in this step, which then has no derivatives in parameters such as "
            f"{parameters[0].name!r}; leave parameters out, or the element: model.without_contact()"
        )


def refuse_couplings(model: Model, chosen: Sequence[Quantity]) -> None:
    """Raise ModelError for a parameter of a constraint that is eliminated."""
    if model.followers is None:
        return
    owners = {follower.element: name for name, follower in model.followers.by_name.items()}
    for quantity in chosen:
        if (name := owners.get(quantity.name.rpartition(".")[0])) is not None:
            raise ModelError(
                f"parameter {quantity.name!r} belongs to the constraint by which {name!r} follows another coordinate, and "
                "has no derivatives; leave its eliminate=True out"
            )
