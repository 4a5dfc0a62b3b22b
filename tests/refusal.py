"""A proper small mechanism to spoil, and the check that `build()` refuses it by name."""

from __future__ import annotations

from typing import Any

import pytest

import symplectree as st

UNIT = (1.0, 1.0, 1.0)


def arm(joint=None, gravity=(0, 0, -9.81), **given) -> st.Mechanism:
    """One proper link "arm" on a joint "q", with whatever is to be wrong about it."""
    m = st.Mechanism(gravity=gravity)
    m.world.link("arm", joint or st.Revolute("q", "y"), **{"mass": 1.0, "com": (0, 0, -1), "inertia": UNIT} | given)
    return m


def assert_refused(mechanism: st.Mechanism, *words: str) -> None:
    """`build()` refuses, in one sentence that holds every one of the words."""
    assert_refuses(mechanism.build, *words)


def assert_refuses(action: Any, *words: str) -> None:
    """The call refuses, in one sentence that holds every one of the words."""
    with pytest.raises(st.ModelError) as raised:
        action()
    message = str(raised.value)
    assert "\n" not in message
    for word in words:
        assert word in message, f"{word!r} is missing in: {message}"
