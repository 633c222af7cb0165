"""A name that does not exist: the nearest one that does, and all that are accepted."""

from collections.abc import Iterable


def unknown(word: object, known: Iterable[str], what: str = "unknown") -> str:
    """unknown key, did you mean seeds? (expected one of ...)"""
    import difflib

    names = list(known)
    near = difflib.get_close_matches(str(word).lower(), names, n=1)
    hint = f", did you mean {near[0]}?" if near else ""
    return f"{what}{hint} (expected {'one of ' + ', '.join(names) if names else 'none'})"
