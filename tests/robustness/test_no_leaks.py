"""Models with functions of Python are freed, though these know the names of what holds the model: of steppers,
linearizers and runs. nanobind prints what is left when Python ends."""

import subprocess
import sys
import textwrap

import pytest

BEGIN = """
    import gc, weakref
    import numpy as np
    import symplectree as st

    def main():
        m = st.Mechanism()
        m.world.link("a", st.Revolute("q", axis="y"), mass=1, com=(0, 0, -1))
        known = []
        potential = lambda q: float(q @ q) + 0 * len(known)
        m.add(st.UserPotential(potential, lambda q: 2 * q, hessian=lambda q: [[2.0]], coordinates=["q"]))
        model = m.build()
"""
USES = {
    "stepper": """
        known.append(st.Stepper(model, st.Variational(), 0.01))
        known[0].reset({"q": 1.0})
        known[0].step()
        known[0].step(np.zeros(1), n=3)
    """,
    "function of forces": """
        traj = st.simulate(model, {"q": 1.0}, duration=0.1, dt=0.01, forces=lambda t, q, v: -0.1 * v * len(known))
        known += [model, traj]
    """,
    "stepper with forces by name": """
        known.append(st.Stepper(model, st.Variational(), 0.01))
        known[0].reset({"q": 1.0})
        known[0].step({"q": 0.1})
    """,
    "collocation": """
        known.append(st.Stepper(model, st.Variational(order=4), 0.01))
        known[0].reset({"q": 1.0})
        known[0].step()
    """,
    "linearizer": """
        known.append(st.Linearizer(model, st.Variational(), 0.01))
        known.append(known[0].at(np.array([0.3]), np.array([0.1])))
    """,
    "trajectory": """
        known.append(st.simulate(model, {"q": 1.0}, duration=0.1, dt=0.01))
        known.append(known[0].energy)
    """,
    "failed run": """
        try:
            st.simulate(model, {"q": 1.0}, duration=0.1, dt=0.01, forces=lambda t, q, v: 1 / 0)
        except ZeroDivisionError as error:
            known.append(error)
    """,
}
END = """
        return weakref.ref(model)

    left = main()
    gc.collect()
    print("freed" if left() is None else "kept")
"""


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("place", ["function", "module"])
def test_nothing_is_left(use, place):
    script = textwrap.dedent(BEGIN) + textwrap.indent(textwrap.dedent(USES[use]), "    ") + textwrap.dedent(END)
    if place == "module":  # as most scripts are; then all lives until Python ends
        body = [line for line in script.splitlines() if not line.startswith("def main")]
        script = "\n".join(line.removeprefix("    ") for line in body).split("return weakref")[0] + "print('freed')"
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert (run.returncode, run.stdout, run.stderr) == (0, "freed\n", "")
