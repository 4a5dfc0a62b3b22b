"""Formulas as tapes: expressions, their exact derivatives, and how they are executed without a compiler."""
