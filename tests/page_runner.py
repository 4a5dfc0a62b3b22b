"""Run the script of a page and note what each line prints: `python page_runner.py SCRIPT OUTPUT [accurate]`.

With `accurate`, runs of the default method up to 20 s are those of an adaptive method at 1e-11, or where something touches
or rubs, which that one does not know, of ten times shorter steps, and a Stepper takes every step as ten of order 8, so that
what is printed is free of the error of the steps on the page.
"""

import json
import sys
from pathlib import Path

import symplectree as st

printed: list[tuple[int, str]] = []


def note(*values, **_):
    """What `print` would show, and the line that called it."""
    printed.append((sys._getframe(1).f_lineno, " ".join(map(str, values))))


def make_accurate():
    simulate, stepper = st.simulate, st.Stepper

    def accurate(model, q0, *, method=None, **given):
        touching = any(isinstance(e, st.Contact | st.JointLimit | st.JointFriction) for e in model.elements)
        if touching and isinstance(method, st.Variational | None):
            given["dt"], given["save_every"] = given["dt"] / 10, 10 * given.get("save_every", 1)
        elif isinstance(method, st.Variational | None) and given["duration"] <= 20:
            method = st.Adaptive(rtol=1e-11, atol=1e-11)
        return simulate(model, q0, method=method, **given)

    class Fine(stepper):
        def __init__(self, model, method=None, dt=None, **given):
            super().__init__(model, st.Variational(order=8), dt / 10, **given)

        def step(self, forces=None, **given):
            super().step(forces, **given)
            self.run(9)

    st.simulate, st.Stepper = accurate, Fine


if __name__ == "__main__":
    script, output, *how = sys.argv[1:]
    if how:
        make_accurate()
    code = compile(Path(script).read_text(encoding="utf-8"), script, "exec")
    exec(code, {"__name__": "__main__", "print": note})
    Path(output).write_text(json.dumps(printed), encoding="utf-8")
