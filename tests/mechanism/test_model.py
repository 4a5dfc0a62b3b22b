"""What a model shows of itself: names and sizes for users; arrays and tables stay, but out of sight."""

import symplectree as st
from mechanisms import random_mechanism

FOR_USERS = {
    "coordinates", "velocities", "nq", "nv", "neutral", "frames", "joints", "inputs", "activations", "elements", "rows",
    "gravity", "full", "keyframes", "limits", "sensors", "text", "info", "compile", "compile_formulas", "with_parameters",
}  # fmt: skip


def test_dir_lists_what_users_need():
    model = random_mechanism(1, 5).build()
    st.mass_matrix(model, model.neutral)  # makes the core's own form
    assert {name for name in dir(model) if not name.startswith("__")} == FOR_USERS
    assert all(hasattr(model, name) for name in FOR_USERS)
