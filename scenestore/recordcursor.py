"""What a cursor means: a place in L1, which an id verifies, and its text.

Rule 1: a place is never taken for a later one, so that nothing is skipped. Rule 2: the
text made for a place means that place.

Source:
    CONTRACT section 2, "The cursor is a place".
"""

import sqlite3

import msgspec

from scenestore.layout import SHARD_SUFFIX
from scenestore.recordindex import START, Position, Spot, has_shard, spots_of
from scenestore_engine.state import Cursor

_MAX_LINE_DIGITS = 12


class ReadWarning(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One entry of an answer's ``warnings``: a damaged line, or something else."""

    reason: str
    """A word that programs may rely on.

    Of a damaged line: not_json, not_utf8, nul_bytes, bad_id, several_objects (all of
    them count), unreadable. Else: max_records_clamped, file_left_out,
    more_damaged_lines, cursor_moved, cursor_shard_rewritten, cursor_shard_gone.
    """
    file: str | None = None
    """Name of the shard's file."""
    line: int | None = None
    """Counted from 1."""
    message: str | None = None


class Present(msgspec.Struct, frozen=True, kw_only=True):
    """Where the store's own cursor stands now."""

    cursor: Cursor | None
    """After it new records begin. Line 0: before the first line of its shard, which
    may be gone. None: before the first line of all."""
    warnings: tuple[ReadWarning, ...] = ()


class Found(msgspec.Struct, frozen=True):
    """Where a cursor stands."""

    cursor: Cursor | None
    position: Position
    warnings: tuple[ReadWarning, ...] = ()


def present_of(db: sqlite3.Connection, own: Cursor | None) -> tuple[Present, Position]:
    """Return where *own* stands now, by the rules for shards that were rewritten."""
    if own is None:
        return Present(cursor=None), START
    spots = [spot for spot in spots_of(db, own.record_id) if spot.shard == own.shard]
    lines = [spot.line for spot in spots]
    if own.line in lines:
        line, reason, said = own.line, None, ""
    elif lines:
        line, reason = lines[0], "cursor_moved"
        said = f"{own.record_id} stood on line {own.line}; it is looked for from here."
    elif has_shard(db, own.shard):
        line, reason = 0, "cursor_shard_rewritten"
        said = f"{own.record_id} is not there; the shard is read from its start."
    else:
        line, reason = 0, "cursor_shard_gone"
        said = "The shard is gone; what follows it by name is read."
    warning = ReadWarning(
        reason=reason or "",
        file=f"{own.shard}{SHARD_SUFFIX}",
        line=line or None,
        message=said,
    )
    key = max((spot.key for spot in spots if spot.line == line), default=-1)
    cursor = Cursor(record_id=own.record_id, shard=own.shard, line=line)
    warnings = (warning,) if reason else ()
    return Present(cursor=cursor, warnings=warnings), Position(own.shard, key)


def resolved(db: sqlite3.Connection, text: object, own: Cursor | None) -> Found | None:
    """Return what a cursor's text means; None: nowhere.

    The store's own place comes first, by its id or in full; then a place in full; then
    an id's first place after the store's; then its latest.
    """
    if not isinstance(text, str):
        return None
    if own and text in (own.record_id, _full(own.record_id, own.shard, own.line)):
        present, position = present_of(db, own)
        return Found(present.cursor, position, present.warnings)
    try:
        text.encode()
    except UnicodeEncodeError:
        return None
    spot = _named_in_full(db, text)
    if spot is None:
        store_at = present_of(db, own)[1]
        spots = spots_of(db, text)
        later = [spot for spot in spots if spot.position > store_at]
        if not spots:
            return None
        chosen = later[0] if later else spots[-1]
        spot = _last_on_line(chosen, spots)
    cursor = Cursor(record_id=spot.record_id, shard=spot.shard, line=spot.line)
    return Found(cursor, spot.position)


def _named_in_full(db: sqlite3.Connection, text: str) -> Spot | None:
    head, _, line = text.rpartition(":")
    record_id, _, shard = head.rpartition("@")
    if not (record_id and line.isdecimal() and len(line) <= _MAX_LINE_DIGITS):
        return None
    spots = spots_of(db, record_id)
    here = [spot for spot in spots if (spot.shard, str(spot.line)) == (shard, line)]
    return here[-1] if here else None


def _last_on_line(spot: Spot, spots: list[Spot]) -> Spot:
    """Return the last of *spots* on the line of *spot*: new is what stands after it."""
    return [one for one in spots if (one.shard, one.line) == (spot.shard, spot.line)][
        -1
    ]


def text_of(db: sqlite3.Connection, spot: Spot, own: Cursor | None) -> str:
    """Return the text that means this place: the id, unless it could mean another."""
    spots = spots_of(db, spot.record_id)
    is_alone = all((one.shard, one.line) == (spot.shard, spot.line) for one in spots)
    found = resolved(db, spot.record_id, own)
    if is_alone and found and found.position == spot.position:
        return spot.record_id
    return place_text(spot)


def place_text(spot: Spot) -> str:
    """Return the text that means this place whatever else carries the id."""
    return _full(spot.record_id, spot.shard, spot.line)


def _full(record_id: str, shard: str, line: int) -> str:
    return f"{record_id}@{shard}:{line}"
