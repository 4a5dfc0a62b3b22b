"""Text and back: what makes two models the same, and the check that writing and reading gives it."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

import symplectree as st
from symplectree.elements import Element, ElementTables
from symplectree.joints import Joint


def plain(value: Any) -> Any:
    """A value as nested tuples in which two are equal only if they agree in every bit."""
    if isinstance(value, np.ndarray):
        return value.dtype.str, value.shape, value.tobytes()
    if isinstance(value, float):
        return value.hex()
    if isinstance(value, ElementTables):
        return (
            {n: plain(a) for n, a in value.arrays().items()},
            plain(value.functions),
            value.inputs,
            (value.row_owners, value.eliminated),
        )
    if isinstance(value, Joint | Element):
        return type(value), {f.name: plain(_given(getattr(value, f.name))) for f in fields(value)}
    if is_dataclass(value):
        return type(value), {f.name: plain(getattr(value, f.name)) for f in fields(value)}
    if isinstance(value, dict):
        return {name: plain(v) for name, v in value.items()}
    if isinstance(value, tuple | list):
        return tuple(plain(v) for v in value)
    return value


def _given(value: Any) -> Any:
    """What counts is the number, not whether it was given as an array, a list, an int or a float."""
    if isinstance(value, int | np.number):
        return float(value)
    return tuple(_given(v) for v in value) if isinstance(value, list | tuple | np.ndarray) else value


def assert_same_models(one: st.Model, other: st.Model) -> None:
    assert (one.followers is None) == (other.followers is None)
    if one.followers is not None and other.followers is not None:
        assert plain(dict(one.followers.by_name)) == plain(dict(other.followers.by_name))
        assert_same_models(one.full, other.full)
    for f in fields(one):
        if f.name not in ("originals", "description", "followers"):
            assert plain(getattr(one, f.name)) == plain(getattr(other, f.name)), f.name


def assert_round_trip(m: st.Mechanism) -> st.Mechanism:
    """Text and back: the same model in every bit, and the same text again."""
    text = m.to_sexpr()
    again = st.loads(text)
    assert again.to_sexpr() == text
    assert_same_models(again.build(), m.build())
    assert plain(again.shapes) == plain(m.shapes)
    return again
