"""Formulas: expressions, their exact derivatives, and the instruction tapes that the core executes."""
