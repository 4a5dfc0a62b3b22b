"""Iterations of IPOPT, told to those who wait."""

from typing import Any

from symplectree.simulation.progress import Progress


def told(nlp: dict[str, Any], progress: Progress) -> Any:
    """The callback of `casadi.nlpsol` that counts a problem's iterations; to be kept as long as the solver runs."""
    import casadi as ca

    shapes = {"x": nlp["x"].sparsity(), "f": nlp["f"].sparsity(), "g": nlp["g"].sparsity()}
    shapes |= {"lam_x": shapes["x"], "lam_g": shapes["g"]}

    class Told(ca.Callback):
        def __init__(self) -> None:
            super().__init__()
            self.count = 0
            self.construct("told", {})

        def get_n_in(self) -> int:
            return int(ca.nlpsol_n_out())

        def get_n_out(self) -> int:
            return 1

        def get_sparsity_in(self, i: int) -> Any:
            return shapes.get(ca.nlpsol_out(i), ca.Sparsity(0, 0))

        def eval(self, _: Any) -> list[int]:
            self.count += 1
            progress.update(min(self.count, progress.steps))
            return [0]

    return Told()
