"""The one module that asks for the time."""

import os
import time

import msgspec

from scenestore.errors import CallerError
from scenestore_engine.times import ms

VARIABLE = "SCENESTORE_NOW"


class Now(msgspec.Struct, frozen=True):
    """An instant, and whether it was dictated."""

    at_ms: int
    """Milliseconds since the Unix epoch, UTC."""
    is_overridden: bool


def now() -> Now:
    """Return the system's time, or what ``SCENESTORE_NOW`` (ISO 8601) says.

    Raises:
        CallerError: The variable holds no time, or one before 1970.

    Source:
        CONTRACT section 6.
    """
    said = os.environ.get(VARIABLE)
    if not said:
        return Now(time.time_ns() // 1_000_000, is_overridden=False)
    try:
        at_ms = ms(said)
    except ValueError:
        at_ms = -1
    if at_ms < 0:
        raise CallerError(
            f"{VARIABLE} is {said!r}, which is no time since 1970. Nothing was "
            "changed. Unset it, or set it to a time such as 2026-03-05T12:00:00.000Z."
        )
    return Now(at_ms, is_overridden=True)


def age_s(mtime_s: float) -> float:
    """Return how many seconds ago a file's time was, by the system's clock alone."""
    return time.time() - mtime_s
