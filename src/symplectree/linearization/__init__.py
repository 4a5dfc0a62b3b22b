"""Exact derivatives of one step, in its state, its inputs and the model's parameters."""
