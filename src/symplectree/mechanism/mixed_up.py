"""A Model where a Mechanism is needed, and the other way round: what to say."""

from typing import Any

from symplectree.errors import ModelError
from symplectree.validation import shown


def check_model(given: Any) -> None:
    """Raise ModelError unless it is a Model."""
    from symplectree.mechanism.mechanism import Mechanism
    from symplectree.mechanism.model import Model

    if isinstance(given, Mechanism):
        raise ModelError("a Mechanism was given where a Model is needed; call build() first")
    if isinstance(given, str):
        raise ModelError(f"{shown(given)} was given where a Model is needed; load it: st.load({shown(given)}).build()")
    if not isinstance(given, Model):
        raise ModelError(f"{shown(given)} was given where a Model is needed, which a Mechanism's build() makes")


def no_attribute_of_a_model(name: str) -> str:
    """What to say of a name that a Model has not, and a Mechanism perhaps has."""
    from symplectree.mechanism.mechanism import Mechanism

    if not name.startswith("_") and (hasattr(Mechanism, name) or name in ("world", "link", "frame", "initial")):
        return f"a Model has no {name!r}, as it cannot be changed: use the Mechanism, and build() it again"
    return f"a Model has no attribute {name!r}"
