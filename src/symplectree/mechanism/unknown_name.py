"""A sentence about a name that means nothing."""


def unknown(what: str, name: object, known: tuple[str, ...] | list[str]) -> str:
    """A sentence that says that there is no such thing, with the nearest names."""
    import difflib

    known = list(dict.fromkeys(known))  # a joint of one coordinate has its name
    near = difflib.get_close_matches(str(name), known, n=3)
    hint = f"did you mean {' or '.join(repr(n) for n in near)}?" if near else f"there are {_listed(known)}"
    return f"no {what} is named {name!r}; {hint}"


def _listed(names: tuple[str, ...] | list[str]) -> str:
    shown = ", ".join(repr(n) for n in names[:8]) or "none"
    return shown + (f" and {len(names) - 8} more" if len(names) > 8 else "")
