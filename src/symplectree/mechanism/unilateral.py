"""What only pushes or rubs in a model: joint limits, dry friction and contact."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from symplectree.elements import Contact, JointFriction, JointLimit
from symplectree.errors import ModelError

if TYPE_CHECKING:
    from symplectree.elements.rows import Row
    from symplectree.mechanism.model import Model

KINDS = (JointLimit, JointFriction, Contact)


def unilateral_names(model: Model) -> list[str]:
    """Names of the elements that only push or rub."""
    return [str(element.name) for element in model.elements if isinstance(element, KINDS)]


def names_of_places(model: Model, places: Iterable[tuple[int, int]]) -> tuple[str, ...]:
    """Names of elements, of (table, row) with tables of joint limits, joint frictions and contact pairs."""
    full, tables = model.full, model.full.tables
    rows: tuple[Sequence[Row], ...] = (tables.joint_limits, tables.joint_frictions, tables.contact_pairs)
    return tuple(dict.fromkeys(str(full.elements[rows[table][k].owner].name) for table, k in places))


def refuse_unilateral(model: Model, what: str) -> None:
    """Raise ModelError where a model has elements that `what` does not know."""
    if names := unilateral_names(model):
        others = f" and {len(names) - 1} more" if len(names) > 1 else ""
        raise ModelError(
            f"{what} knows no joint limits, dry friction and contact, and the model has {names[0]!r}{others}; take "
            "st.Variational(), or leave them out: model.without_contact()"
        )


def without_contact(model: Model) -> Model:
    """The same model without elements that only push or rub."""
    if not unilateral_names(model):
        return model
    if model.description is None:
        raise ModelError("the model does not know what it was built from; build it again without contact")
    mechanism = model.description.copy()
    mechanism.elements = [element for element in mechanism.elements if not isinstance(element, KINDS)]
    return mechanism.build()
