"""Errors that users see: each says what is wrong, where by name, and what to do."""


class SymplectreeError(Exception):
    """Base of all errors raised on purpose by this package."""


class ModelError(SymplectreeError, ValueError):
    """The mechanism, or an array given for it, cannot be what it says; the message names the culprit."""
