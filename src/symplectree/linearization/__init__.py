"""Exact derivatives of one step, in its state, the forces on it and the model's parameters."""
