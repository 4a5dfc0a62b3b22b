"""`python -m symplectree` is the command `symplectree`."""

from symplectree.cli import main

main()
