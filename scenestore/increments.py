"""One answer of ``read_l1_increment``: a page of new records, or of late ones.

Source:
    CONTRACT section 2.
"""

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import msgspec

from scenestore import recordindex
from scenestore.layout import SHARD_SUFFIX
from scenestore.recordcursor import Found, ReadWarning, place_text, text_of
from scenestore.recordindex import END, Position, Spot
from scenestore.shardlines import whole
from scenestore.shards import Shards, read_spots
from scenestore_engine.state import Cursor

MAX_DAMAGED = 50
"""Damaged lines that one answer names; more are only said to be there."""


class Increment(
    msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True
):
    """The answer of ``read_l1_increment``."""

    records: tuple[dict[str, object], ...]
    """Whole record objects, with fields that we do not know."""
    next_cursor: str | None
    """None: no cursor was given, the store has none, and nothing is new."""
    total_new: int
    returned: int
    truncated: bool
    late_count: int
    warnings: tuple[ReadWarning, ...]
    late_cursor: str | None = None


class Look(msgspec.Struct, frozen=True, kw_only=True):
    """One look at the folder, whose bytes may have changed since the cache was made."""

    folder: Path
    shards: Shards

    def read(
        self, spots: list[Spot]
    ) -> tuple[tuple[dict[str, object], ...], tuple[ReadWarning, ...]]:
        """Return the record objects at *spots*, and a warning for each that is none."""
        records: list[dict[str, object]] = []
        warnings: list[ReadWarning] = []
        for spot, data in read_spots(self.folder, spots):
            try:
                record = whole(data)
            except ValueError:
                if spot.shard not in self.shards.distrusted:
                    raise StaleError(spot.shard) from None
                warnings.append(_damaged(spot.shard, spot.line, "unreadable"))
                continue
            if record.get("id") != spot.record_id:
                raise StaleError(spot.shard)
            records.append(record)
        return tuple(records), tuple(warnings)


class Page(msgspec.Struct, frozen=True, kw_only=True):
    """What every answer is made from."""

    db: sqlite3.Connection
    look: Look
    own: Cursor | None
    start: Found
    store_at: Position
    given: str | None
    """The cursor given, or the store's own."""
    total_new: int
    limit: int
    warnings: tuple[ReadWarning, ...]

    def new(self) -> Increment:
        """Return what stands after the start."""
        after = self.start.position
        spots = recordindex.live_after(self.db, after, self.limit + 1)
        following = spots[self.limit :]
        spots = spots[: self.limit]
        records, unreadable = self.look.read(spots)
        end = spots[-1] if spots else None
        next_cursor = self.given
        if end is not None:
            # What is dead has been seen too: the cursor moves past it.
            before = following[0].position if following else END
            dead = recordindex.last_nameable(self.db, end.position, before)
            end = dead or end
            next_cursor = text_of(self.db, end, self.own)
        return self._answer(
            records,
            next_cursor=next_cursor,
            truncated=bool(following),
            warnings=(*unreadable, *self._damaged_up_to(end if following else None)),
        )

    def late(self, after: Position, page: str | None) -> Increment:
        """Return what stands up to the store's cursor and belongs nowhere."""
        spots = recordindex.open_between(self.db, after, self.store_at, self.limit + 1)
        is_truncated = len(spots) > self.limit
        spots = spots[: self.limit]
        records, unreadable = self.look.read(spots)
        return self._answer(
            records,
            next_cursor=self.given,
            truncated=is_truncated,
            warnings=unreadable,
            late_cursor=place_text(spots[-1]) if spots else page,
        )

    def _answer(
        self,
        records: tuple[dict[str, object], ...],
        *,
        next_cursor: str | None,
        truncated: bool,
        warnings: tuple[ReadWarning, ...],
        late_cursor: str | None = None,
    ) -> Increment:
        return Increment(
            records=records,
            next_cursor=next_cursor,
            total_new=self.total_new,
            returned=len(records),
            truncated=truncated,
            late_count=recordindex.count_up_to(self.db, self.store_at)[1],
            warnings=(*self.warnings, *warnings),
            late_cursor=late_cursor,
        )

    def _damaged_up_to(self, end: Spot | None) -> Iterator[ReadWarning]:
        cursor = self.start.cursor
        lines = recordindex.damage_between(
            self.db,
            cursor.place if cursor else ("", 0),
            (end.shard, end.line) if end else END,
            MAX_DAMAGED + 1,
        )
        for shard, line, reason in lines[:MAX_DAMAGED]:
            yield _damaged(shard, line, reason)
        if len(lines) > MAX_DAMAGED:
            yield ReadWarning(
                reason="more_damaged_lines",
                message=f"More than {MAX_DAMAGED} lines are damaged.",
            )


class StaleError(Exception):
    """A shard's bytes are not what the cache said."""

    def __init__(self, shard: str) -> None:
        super().__init__(shard)
        self.shard = shard


def _damaged(shard: str, line: int, reason: str) -> ReadWarning:
    return ReadWarning(reason=reason, file=f"{shard}{SHARD_SUFFIX}", line=line)
