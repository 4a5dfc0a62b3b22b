"""Runs: the loop, one step at a time, and their results."""
