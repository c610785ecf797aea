"""Member sets as runs: a pure function of the set, so that equal sets are equal bytes.

An id that tells its month stands in the run of its month, any other in ``other``. A run
above the limit is split by day (not ``other``), then by the next hex digit of the id's
sha256, again and again. Young ids therefore touch one small file.

Source:
    CONTRACT section 1, "Member runs".
"""

import re
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from hashlib import sha256

from scenestore.layout import OTHER_RUN, RUN_SUFFIX

MAX_RUN = 1_024
_DATED = re.compile(r"m_(\d{1,15})_[0-9a-fA-F]+", re.ASCII)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_FIRST_YEAR, _LAST_YEAR = 2000, 2199


def split(ids: Iterable[str]) -> dict[str, bytes]:
    """Return the runs of a whole set: file name to bytes, one id a line, sorted."""
    groups: dict[str, list[str]] = {}
    for record_id in ids:
        groups.setdefault(group_of(record_id), []).append(record_id)
    return {
        name: data
        for group, members in groups.items()
        for name, data in split_group(group, members).items()
    }


def split_group(group: str, members: Iterable[str]) -> dict[str, bytes]:
    """Return the runs of all *members* of one group, a month or ``other``."""
    runs: dict[str, bytes] = {}
    pending = [(group, 0, sorted(set(members)))]
    while pending:
        stem, digits, ids = pending.pop()
        if len(ids) <= MAX_RUN:
            runs[stem + RUN_SUFFIX] = to_bytes(ids)
            continue
        parts: dict[str, list[str]] = {}
        by_day = stem == group != OTHER_RUN
        for record_id in ids:
            part = (
                _day_of(record_id)
                if by_day
                else f"{stem}{'' if digits else '-'}{_digest(record_id)[digits]}"
            )
            parts.setdefault(part, []).append(record_id)
        following = digits if by_day else digits + 1
        pending += [(part, following, members) for part, members in parts.items()]
    return runs


def group_of(record_id: str) -> str:
    """Return the month in which *record_id* says it was made, or ``other``."""
    day = _day(record_id)
    return OTHER_RUN if day is None else day[:7]


def group_of_run(run: str) -> str:
    """Return the group that the run file *run* belongs to."""
    stem = run.removesuffix(RUN_SUFFIX)
    return OTHER_RUN if stem.startswith(OTHER_RUN) else stem[:7]


def run_of(record_id: str, names: Iterable[str] | Mapping[str, object]) -> str | None:
    """Return which of the run files *names* would hold *record_id*, or None."""
    names = set(names)
    day = _day(record_id)
    stems = [OTHER_RUN] if day is None else [day[:7], day]
    stem = f"{stems[-1]}-"
    for digit in _digest(record_id):
        stem += digit
        stems.append(stem)
    return next((s + RUN_SUFFIX for s in stems if s + RUN_SUFFIX in names), None)


def to_bytes(ids: Iterable[str]) -> bytes:
    """Return a run file's bytes."""
    return "".join(f"{record_id}\n" for record_id in sorted(ids)).encode()


def from_bytes(data: bytes) -> frozenset[str]:
    """Return the ids of a run file."""
    return frozenset(data.decode().split("\n")[:-1])


def _digest(record_id: str) -> str:
    return sha256(record_id.encode()).hexdigest()


def _day_of(record_id: str) -> str:
    day = _day(record_id)
    return OTHER_RUN if day is None else day


def _day(record_id: str) -> str | None:
    match = _DATED.fullmatch(record_id)
    if match is None:
        return None
    try:
        day = _EPOCH + timedelta(milliseconds=int(match[1]))
    except OverflowError:
        return None
    if not _FIRST_YEAR <= day.year <= _LAST_YEAR:
        return None
    return f"{day:%Y-%m-%d}"
