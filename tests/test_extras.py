"""Without the packages of the extras: everything else works, and what needs one says what to type."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from symplectree.extras import EXTRAS

ROOT = Path(__file__).parents[1]
LEFT_OUT = (*EXTRAS, "h5netcdf", "llvmlite", "xacro", "xacrodoc", "jax", "torch")
BLOCK = """
import sys

class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in LEFT_OUT:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Missing())
import symplectree as st
"""
ARM = """
m = st.Mechanism()
arm = m.world.link("arm", st.Revolute("shoulder", axis="y"), mass=1.0, com=(0, 0, -0.5))
arm.link("hand", st.Revolute("elbow", axis="y"), at=(0, 0, -1), mass=1.0, com=(0, 0, -0.5))
"""
RUN = ARM + "traj = st.simulate(m.build(), {'shoulder': 0.5}, duration=0.1, dt=0.01)\n"
URDF = '<robot name="r"><link name="base"/></robot>'

# What needs a package, and the extra that its sentence names.
NEEDS = {
    "a potential as a formula": ("symbolic", ARM + "m.add(st.FormulaPotential(lambda q: q[0] ** 2)); m.build()"),
    "a spring with a formula": (
        "symbolic",
        ARM + "m.add(st.NonlinearSpring('hand', 'world', potential=lambda x: x**4)); m.build()",
    ),
    "a tendon": (
        "symbolic",
        ARM + "m.add(st.Tendon(('shoulder', 'elbow'), coefficients=(1, 2), stiffness=1)); m.build()",
    ),
    "a joint as a formula": (
        "symbolic",
        ARM + "m.world.link('bead', st.CurveJoint('s', lambda s: [s, 0, s**2]), mass=1.0); m.build()",
    ),
    "equations": ("symbolic", ARM + "st.symbolic.Equations(m.build()).mass_matrix()"),
    "URDF": ("robots", f"st.loads('{URDF}', 'urdf')"),
    "MJCF": ("robots", "st.loads('<mujoco/>', 'mjcf')"),
    "an FMU": ("fmi", ARM + "m.to_fmu('arm.fmu', dt=0.01)"),
    "a film": ("video", RUN + "traj.to_video('run.mp4', size=(64, 64))"),
    "a dataset": ("xarray", RUN + "traj.to_dataset()"),
    "a data frame": ("xarray", RUN + "traj.to_dataframe()"),
}


def run_without(code: str, folder: Path, *, but: tuple[str, ...] = ()) -> subprocess.CompletedProcess[str]:
    """Run code where the packages are missing, `but` some."""
    missing = f"LEFT_OUT = {[name for name in LEFT_OUT if name not in but]}"
    return subprocess.run([sys.executable, "-c", missing + BLOCK + code], cwd=folder, capture_output=True, text=True)


@pytest.mark.parametrize("what", NEEDS)
def test_what_needs_a_package_says_what_to_type(what, tmp_path):
    extra, code = NEEDS[what]
    body = "".join(f"    {line}\n" for line in code.splitlines())
    done = run_without(f"try:\n{body}except st.ModelError as error:\n    print(error)", tmp_path)
    assert done.stderr == "" and f"pip install 'symplectree[{extra}]'" in done.stdout
    assert "which is not installed" in done.stdout and len(done.stdout.splitlines()) == 1


def test_the_lines_of_the_readme_work(tmp_path):
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    code = re.search(r"```python\n(import symplectree.*?)```", text, re.S)
    assert code
    done = run_without(code[1], tmp_path)
    assert done.stderr == "" and "-17.235" in done.stdout
    assert (tmp_path / "run.png").stat().st_size > 10_000


def test_results_are_saved_and_loaded(tmp_path):
    names = ("run.nc", "run.npz", "run.mat", "run.csv")
    code = (
        RUN + f"for name in {names}:\n    traj.save(name)\n    print(len(st.load_trajectory(name, model=traj.model)))"
    )
    done = run_without(code, tmp_path)
    assert done.stderr == "" and done.stdout.split() == ["11"] * len(names)


def test_demonstration_and_page(tmp_path):
    done = run_without("from symplectree.cli import main; main(['demo'])", tmp_path)
    assert done.returncode == 0 and "energy" in done.stdout
    done = run_without(RUN + "traj.to_html('run.html')", tmp_path)
    assert done.stderr == "" and (tmp_path / "run.html").stat().st_size > 100_000


def test_robots_need_no_more_than_their_extra(tmp_path):
    pytest.importorskip("gymnasium")
    code = """
import gymnasium, pathlib
m = st.load(pathlib.Path(gymnasium.__file__).parent / "envs/mujoco/assets/inverted_double_pendulum.xml", contact=False)
print(len(st.simulate(m.build(), {"hinge": 0.1}, duration=0.1, dt=0.01)))
"""
    assert run_without(code, tmp_path, but=("mujoco",)).stdout.split() == ["11"]


def test_the_command_says_what_to_type(tmp_path):
    (tmp_path / "robot.urdf").write_text(URDF)
    done = run_without("from symplectree.cli import main; main(['info', 'robot.urdf'])", tmp_path)
    assert done.returncode != 0 and "pip install 'symplectree[robots]'" in " ".join(done.stderr.split())
    assert "Traceback" not in done.stderr


def test_extras_are_those_that_the_project_declares():
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    hard = {re.split(r"[<>=\[]", line)[0] for line in declared["dependencies"]}
    for package, (_, _, extra) in EXTRAS.items():
        brought = {re.split(r"[<>=\[]", line)[0] for line in declared["optional-dependencies"][extra]}
        assert package.replace("_", "-") in brought and package.replace("_", "-") not in hard
