"""The command `symplectree`."""

from __future__ import annotations

from importlib.metadata import version

from cyclopts import App

app = App(
    name="symplectree",
    version=version("symplectree"),
    help="Simulate and optimise mechanisms of rigid bodies with variational integrators.",
)


def main() -> None:
    """Entry point of the command."""
    app()
