"""Fingerprints of tasks: the same in another process, others when what they compute has changed."""

import functools
import subprocess
import sys

import numpy as np

from sweep_tasks import arm, swing
from symplectree.ensemble.sweep_identity import task_digest, task_name


def task(code, **names):
    """A function `task` of a text, which finds these names in its module."""
    names["__name__"] = "study"
    exec(code, names)
    return names["task"]


def digest(code="def task(p): return {'x': a * p['x']}", **names):
    return task_digest(task(code, **names))


def test_code_and_values_count_and_comments_do_not():
    plain = digest(a=2.0)
    assert plain == digest(a=2.0)
    assert plain == digest("# more\n\ndef task(p):\n    return {'x': a * p['x']}  # times\n", a=2.0)
    others = [
        digest(a=3.0),
        digest("def task(p): return {'x': a + p['x']}", a=2.0),
        digest("def task(p): return {'y': a * p['x']}", a=2.0),
        digest("def task(p, b=1): return {'x': a * p['x']}", a=2.0),
        digest(a=np.array([2.0])),
        digest(a=arm()),
    ]
    assert len({plain, *others}) == 1 + len(others)


def test_helpers_closures_and_models_count():
    helper = "def scale(x): return {} * x\ndef task(p): return {{'x': scale(p['x'])}}"
    assert digest(helper.format(2)) != digest(helper.format(3))
    inner = "def make(k):\n    def task(p): return {{'x': k * p['x']}}\n    return task\ntask = make({})"
    assert digest(inner.format(2)) != digest(inner.format(3))
    assert digest(a=arm()) == digest(a=arm())
    assert digest(a=arm()) != digest(a=arm().with_parameters({"arm.mass": 2.0}))
    one, two = (functools.partial(swing, extra) for extra in (1, 2))
    assert task_digest(one) != task_digest(two)
    assert task_name(one) == "sweep_tasks.swing"


def test_recursive_functions_have_a_digest():
    code = "def task(p): return {'x': 1.0} if p['n'] == 0 else task({'n': p['n'] - 1})"
    assert digest(code) == digest(code)


def test_the_digest_is_that_of_another_process():
    code = "from symplectree.ensemble.sweep_identity import task_digest\nfrom sweep_tasks import swing\n"
    done = subprocess.run(
        [sys.executable, "-c", f"import sys; sys.path[:] = {sys.path}\n{code}print(task_digest(swing))"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout.strip() == task_digest(swing)
