"""The benchmarks that compare with other packages: what each one measures, beside whom, and with which options."""

from collections.abc import Sequence
from dataclasses import dataclass
from importlib import resources
from importlib.util import find_spec
from pathlib import Path

# By name: the module that is imported, and the package that pip installs.
PEERS = {
    "MuJoCo": ("mujoco", "mujoco"),
    "Pinocchio": ("pinocchio", "pin"),
    "DART": ("dartpy", "dartpy"),
    "Exudyn": ("exudyn", "exudyn"),
    "crocoddyl": ("crocoddyl", "crocoddyl"),
    "SciPy": ("scipy", "scipy"),
    "CasADi": ("casadi", "casadi"),
}


@dataclass(frozen=True)
class Benchmark:
    """A script of `benchmarks/`.

    | name | meaning |
    | --- | --- |
    | name, about | of its file without .py; what it measures, in a few words |
    | peers | beside whom; those that are not installed are left out of it |
    | needed | those without which it does not run |
    | quick, full | its options, for a few seconds and for good figures |
    """

    name: str
    about: str
    peers: tuple[str, ...]
    quick: tuple[str, ...]
    full: tuple[str, ...] = ()
    needed: tuple[str, ...] = ()

    @property
    def script(self) -> Path:
        return folder() / f"{self.name}.py"

    @property
    def why_not(self) -> str:
        """Why it does not run here; empty when it does."""
        if lacking := missing(self.needed):
            return f"it needs {' and '.join(lacking)}, not installed here: pip install {_packages(lacking)}"
        if len(missing(self.peers)) == len(self.peers):
            return f"none of its peers ({', '.join(self.peers)}) is installed: pip install {_packages(self.peers)}"
        return ""


def folder() -> Path:
    """Where the scripts are: in the installed package, else in the repository that this is run from."""
    installed = Path(str(resources.files("symplectree"))) / "benchmarks"
    return installed if installed.is_dir() else Path(__file__).parents[3] / "benchmarks"


def missing(peers: Sequence[str]) -> list[str]:
    """Those that are not installed."""
    return [peer for peer in peers if find_spec(PEERS[peer][0]) is None]


def _packages(peers: Sequence[str]) -> str:
    return " ".join(PEERS[peer][1] for peer in peers)


BENCHMARKS = {
    one.name: one
    for one in (
        Benchmark(
            "step_cost", "a step of spatial chains of 1 to 500 links", ("MuJoCo", "Pinocchio", "DART"),
            quick=("--sizes", "1", "10", "100", "--budget", "1"),
        ),
        Benchmark(
            "work_precision", "CPU time against error of energy and position, open chains", ("MuJoCo", "Pinocchio"),
            quick=("--sizes", "5", "--durations", "10"), needed=("MuJoCo", "Pinocchio"),
        ),
        Benchmark(
            "long_runs", "CPU time against energy error over long times, whipping chains", ("MuJoCo", "SciPy"),
            quick=("--sizes", "5", "--durations", "30"), full=("--durations", "10", "100"), needed=("MuJoCo",),
        ),
        Benchmark(
            "closed_chains", "a step with closed loops, its energy error and the gaps", ("MuJoCo", "Pinocchio", "Exudyn"),
            quick=("--quick", "--patience", "5"), full=("--patience", "10"),
        ),
        Benchmark(
            "contact", "a step of stacks of boxes and of a quadruped", ("MuJoCo",),
            quick=("--steps", "200", "--rounds", "3"), needed=("MuJoCo",),
        ),
        Benchmark(
            "collision", "which features of shapes touch: pairs and scenes", ("MuJoCo",),
            quick=("--poses", "200", "--rounds", "3"), needed=("MuJoCo",),
        ),
        Benchmark(
            "dynamics", "inverse and forward dynamics, mass matrix", ("Pinocchio",),
            quick=("--budget", "0.3"), needed=("Pinocchio",),
        ),
        Benchmark(
            "calls", "steps, forces and derivatives called from Python", ("MuJoCo", "Pinocchio"),
            quick=("--links", "10", "--robots", "UR5", "anymal", "--budget", "1"),
        ),
        Benchmark(
            "batch", "many runs at once", ("MuJoCo",), quick=("--sizes", "2", "10", "--runs", "64", "--budget", "1"),
        ),
        Benchmark(
            "optimal_control", "a step and iteration of optimal control", ("crocoddyl", "CasADi"),
            quick=("--steps", "100", "--links", "1", "4"), needed=("CasADi",),
        ),
        Benchmark(
            "robots", "MJCF files read, and moved for half a second", ("MuJoCo",),
            quick=("gymnasium", "--limit", "5", "--seconds", "5"),
            full=("gymnasium", "dm_control", "--seconds", "20"), needed=("MuJoCo",),
        ),
    )
}  # fmt: skip
