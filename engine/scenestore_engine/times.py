"""Instants as text: UTC, ISO 8601 with milliseconds and Z. No clock is asked here.

The form has one width, so that for the years 1 to 9999 the order of the texts is the
order of the instants.

Source:
    CONTRACT section 1, "Times are UTC".
"""

import re
from datetime import UTC, datetime, timedelta

DAY_MS = 86_400_000
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_CANONICAL = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", re.ASCII)


def iso(at_ms: int) -> str:
    """Return *at_ms*, milliseconds since the Unix epoch, as text.

    Raises:
        OverflowError: The year is not one of 1 to 9999.
    """
    instant = _EPOCH + timedelta(milliseconds=at_ms)
    text = instant.strftime("%m-%dT%H:%M:%S")
    return f"{instant.year:04d}-{text}.{instant.microsecond // 1000:03d}Z"


def ms(text: str) -> int:
    """Return the instant that *text* names, in milliseconds since the Unix epoch.

    A date alone is its midnight; a time without an offset is UTC.

    Raises:
        ValueError: *text* is no ISO 8601 date or time.
    """
    instant = datetime.fromisoformat(text)
    if instant.tzinfo is None:
        instant = instant.replace(tzinfo=UTC)
    try:
        return (instant - _EPOCH) // timedelta(milliseconds=1)
    except OverflowError as error:
        raise ValueError(f"{text!r} is out of range") from error


def is_canonical(text: str) -> bool:
    """Say whether *text* is an instant exactly as `iso` would write it."""
    if not _CANONICAL.fullmatch(text):
        return False
    try:
        return iso(ms(text)) == text
    except ValueError:
        return False
