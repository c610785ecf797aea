"""Differences between two texts, as people and models read them."""

import difflib


def unified_diff(before: str | None, after: str | None, name: str) -> str:
    """Return what turns *before* into *after*, as a unified diff.

    Args:
        before: A text; None: there was none.
        after: Likewise.
        name: What stands in the diff's header.
    """
    return "".join(
        difflib.unified_diff(
            _lines(before),
            _lines(after),
            fromfile="/dev/null" if before is None else f"a/{name}",
            tofile="/dev/null" if after is None else f"b/{name}",
        )
    )


def _lines(text: str | None) -> list[str]:
    """Return the lines of *text*, each with its end: only LF ends one."""
    if not text:
        return []
    return [f"{line}\n" for line in text.removesuffix("\n").split("\n")]
