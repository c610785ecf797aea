"""L1 records, read only: what is new, what is late, what an id or a cursor means.

Rule 1: nothing under ``l1/`` is ever written. Rule 2: nothing may be skipped; reading
twice does no harm. Rule 3: a cursor is a place; the id in it only verifies it.

Source:
    CONTRACT section 2.
"""

import json
import os
import sqlite3
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TypeVar

import msgspec

from scenestore import coverage, layout, recordindex
from scenestore.coverage import Coverage, Following, Homes
from scenestore.errors import BusyError, Refusal
from scenestore.recordcache import RecordCache
from scenestore.recordindex import START, Position, Shards, Spot
from scenestore.shardlines import whole
from scenestore_engine.faults import Fault, FaultCode
from scenestore_engine.state import Cursor, RecordFacts

MAX_RECORDS = 200
"""Records of one answer. Source: CONTRACT section 2."""
MAX_DAMAGED = 50
"""Damaged lines that one answer names; more are only said to be there."""
_ATTEMPTS = 4
"""Times that a shard which changes while it is read is read again."""
_MAX_LINE_DIGITS = 12

_Answer = TypeVar("_Answer")


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


class Present(msgspec.Struct, frozen=True, kw_only=True):
    """Where the store's own cursor stands now."""

    cursor: Cursor | None
    """After it new records begin. Line 0: before the first line of its shard, which
    may be gone. None: before the first line of all."""
    warnings: tuple[ReadWarning, ...] = ()


class Records:
    """The L1 records of one profile.

    Every method looks at the folder first, and answers from what is there then. All
    raise `DiskError` when a shard cannot be read, and `BusyError` when one changes
    again and again while it is read.
    """

    def __init__(self, profile: Path) -> None:
        self._profile = profile
        self._folder = layout.records_dir(profile)
        schema = f"{recordindex.SCHEMA};{coverage.SCHEMA}"
        self._cache = RecordCache(layout.records_cache(profile), schema)

    def increment(
        self,
        *,
        own: Cursor | None,
        homes: Homes,
        l1_dir: str | None = None,
        cursor: str | None = None,
        max_records: int = 50,
        late: bool = False,
        late_cursor: str | None = None,
    ) -> Increment | Refusal:
        """Return the records after a cursor, or those late.

        Args:
            own: The store's own cursor.
            homes: The member runs of the state that *own* is of.
            l1_dir: Must be this profile's records folder, if given.
            cursor: An id or ``id@shard:line``; None: where *own* stands now.
            max_records: At least 1; above 200 is 200, with a warning.
            late: Return instead the live records up to *own* that belong nowhere.
            late_cursor: ``late_cursor`` of the page before.

        Stays true:
            Following ``next_cursor`` (and the late pages) returns each live record at
            least once, also when shards grow meanwhile.
        """
        faults = tuple(
            self._faults(l1_dir, max_records, late=late, late_cursor=late_cursor)
        )
        if faults:
            return Refusal(errors=faults)

        def question(db: sqlite3.Connection, look: _Look) -> Increment | Refusal:
            present, store_at = _present(db, own)
            start = _Found(present.cursor, store_at, present.warnings)
            late_at = START
            if cursor is not None:
                given = _resolved(db, cursor, own)
                if given is None:
                    return _unknown("/cursor", cursor)
                start = given
            if late_cursor is not None:
                page = _resolved(db, late_cursor, None)
                if page is None:
                    return _unknown("/lateCursor", late_cursor)
                late_at = page.position
            total = recordindex.count_live(db)
            page_of = _Page(
                db=db,
                look=look,
                own=own,
                start=start,
                store_at=store_at,
                given=cursor or (own.record_id if own else None),
                total_new=total - recordindex.count_up_to(db, start.position)[0],
                limit=min(max_records, MAX_RECORDS),
                warnings=(
                    *_clamped(max_records),
                    *_left_out(look.shards.left_out),
                    *start.warnings,
                ),
            )
            return page_of.late(late_at, late_cursor) if late else page_of.new()

        return self._ask(question, homes)

    def lookup(self, ids: Iterable[str]) -> dict[str, RecordFacts]:
        """Return what L1 says of *ids*; an id that no line carries is absent."""
        named = json.dumps(list(ids))

        def question(db: sqlite3.Connection, _: _Look) -> dict[str, RecordFacts]:
            rows = db.execute(
                "SELECT id, deleted FROM object WHERE latest"
                " AND id IN (SELECT value FROM json_each(?))",
                (named,),
            ).fetchall()
            return {
                record_id: RecordFacts(deleted=bool(deleted))
                for record_id, deleted in rows
            }

        return self._ask(question)

    def resolve(self, text: str, own: Cursor | None) -> Cursor | None:
        """Return the place that a cursor's text means; None: nowhere.

        Args:
            text: An id, or ``id@shard:line``, which must name a line that carries it.
            own: The store's own cursor. Its id means where it stands now, which may be
                line 0, see `Present`.
        """

        def question(db: sqlite3.Connection, _: _Look) -> Cursor | None:
            found = _resolved(db, text, own)
            return found.cursor if found else None

        return self._ask(question)

    def present(self, own: Cursor | None) -> Present:
        """Return where the store's own cursor stands now."""
        return self._ask(lambda db, _: _present(db, own)[0])

    def contents(self, ids: Iterable[str]) -> dict[str, dict[str, object]]:
        """Return the record object of each of *ids* that is live.

        Which ids are forgotten is not known here: the caller leaves them out.
        """
        named = json.dumps(list(ids))

        def question(
            db: sqlite3.Connection, look: _Look
        ) -> dict[str, dict[str, object]]:
            spots = recordindex.latest_of(db, named)
            return {str(one["id"]): one for one in look.read(spots)[0]}

        return self._ask(question)

    def coverage(self, homes: Homes, upto: Cursor | None) -> Coverage:
        """Return how far the live records up to and including *upto* are organised."""
        return self._ask(
            lambda db, _: coverage.coverage_up_to(db, _present(db, upto)[1]), homes
        )

    def passed(
        self, homes: Homes, after: Cursor | None, upto: Cursor | None
    ) -> tuple[int, tuple[str, ...]]:
        """Return how many records in (after, upto] belong nowhere, and the first ids."""
        return self._ask(
            lambda db, _: coverage.unassigned_between(
                db, _present(db, after)[1], _present(db, upto)[1]
            ),
            homes,
        )

    def orphaned(self, homes_after: Homes, ids: Iterable[str]) -> tuple[str, ...]:
        """Return, of *ids*, the live records that belong nowhere, sorted."""
        named = tuple(ids)
        return self._ask(lambda db, _: coverage.orphaned_among(db, named), homes_after)

    def homes_of(self, homes: Homes, ids: Iterable[str]) -> dict[str, tuple[str, ...]]:
        """Return the sets that hold each id, named as by `Homes.sets`, sorted.

        Dismissed and forgotten are sets too; an id that is in none is absent.
        """
        named = tuple(ids)
        return self._ask(lambda db, _: coverage.homes_among(db, named), homes)

    def _ask(
        self,
        question: Callable[[sqlite3.Connection, "_Look"], _Answer],
        homes: Homes | None = None,
    ) -> _Answer:
        distrusted: frozenset[str] = frozenset()
        for _ in range(_ATTEMPTS):
            shards = Shards(self._folder, distrusted)
            look = _Look(folder=self._folder, shards=shards, distrusted=distrusted)
            parts = (shards, Following(homes)) if homes else (shards,)
            try:
                return self._cache.ask(parts, lambda db, look=look: question(db, look))
            except _StaleError as stale:
                distrusted |= {stale.shard}
        raise BusyError(
            f"{', '.join(sorted(distrusted))} in {self._folder} changed again and again "
            "while it was read. Nothing was changed, and no record was passed over. "
            "Try again."
        )

    def _faults(
        self,
        l1_dir: object,
        max_records: object,
        *,
        late: object,
        late_cursor: object,
    ) -> Iterator[Fault]:
        if type(max_records) is not int or max_records < 1:
            yield _bad("/maxRecords", f"maxRecords must be 1 to {MAX_RECORDS}.")
        if l1_dir is not None and not self._is_ours(l1_dir):
            yield _bad("/l1Dir", "l1Dir is not this profile's records folder.")
        if not isinstance(late, bool):
            yield _bad("/late", "late must be true or false.")
        elif late_cursor is not None and not late:
            yield _bad("/lateCursor", "lateCursor is a page of late records.")

    def _is_ours(self, l1_dir: object) -> bool:
        if not isinstance(l1_dir, str):
            return False
        ours = os.path.realpath(self._folder)
        try:
            said = (os.path.realpath(l1_dir), os.path.realpath(self._profile / l1_dir))
        except (ValueError, OSError):
            return False
        return ours in said


class _StaleError(Exception):
    """A shard's bytes are not what the cache said."""

    def __init__(self, shard: str) -> None:
        super().__init__(shard)
        self.shard = shard


class _Look(msgspec.Struct, frozen=True, kw_only=True):
    """One look at the folder, whose bytes may have changed since the cache was made."""

    folder: Path
    shards: Shards
    distrusted: frozenset[str]
    """Shards that were read whole for this look."""

    def read(
        self, spots: list[Spot]
    ) -> tuple[tuple[dict[str, object], ...], tuple[ReadWarning, ...]]:
        """Return the record objects at *spots*, and a warning for each that is none."""
        records: list[dict[str, object]] = []
        warnings: list[ReadWarning] = []
        for spot, data in recordindex.read_spots(self.folder, spots):
            try:
                record = whole(data)
            except ValueError:
                if spot.shard not in self.distrusted:
                    raise _StaleError(spot.shard) from None
                warnings.append(_damaged(spot.shard, spot.line, "unreadable"))
                continue
            if record.get("id") != spot.record_id:
                raise _StaleError(spot.shard)
            records.append(record)
        return tuple(records), tuple(warnings)


class _Found(msgspec.Struct, frozen=True):
    """Where a cursor stands."""

    cursor: Cursor | None
    position: Position
    warnings: tuple[ReadWarning, ...] = ()


class _Page(msgspec.Struct, frozen=True, kw_only=True):
    """What every answer is made from."""

    db: sqlite3.Connection
    look: _Look
    own: Cursor | None
    start: _Found
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
            before = following[0].position if following else None
            dead = recordindex.last_nameable(self.db, end.position, before)
            end = dead or end
            next_cursor = _text_of(self.db, end, self.own)
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
            late_cursor=_place_text(spots[-1]) if spots else page,
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
            (end.shard, end.line) if end else None,
            MAX_DAMAGED + 1,
        )
        for shard, line, reason in lines[:MAX_DAMAGED]:
            yield _damaged(shard, line, reason)
        if len(lines) > MAX_DAMAGED:
            yield ReadWarning(
                reason="more_damaged_lines",
                message=f"More than {MAX_DAMAGED} lines are damaged.",
            )


def _present(db: sqlite3.Connection, own: Cursor | None) -> tuple[Present, Position]:
    """Return where *own* stands now, by the rules for shards that were rewritten."""
    if own is None:
        return Present(cursor=None), START
    spots = [
        spot
        for spot in recordindex.spots_of(db, own.record_id)
        if spot.shard == own.shard
    ]
    lines = [spot.line for spot in spots]
    if own.line in lines:
        line, reason, said = own.line, None, ""
    elif lines:
        line, reason = lines[0], "cursor_moved"
        said = f"{own.record_id} stood on line {own.line}; it is looked for from here."
    elif recordindex.has_shard(db, own.shard):
        line, reason = 0, "cursor_shard_rewritten"
        said = f"{own.record_id} is not there; the shard is read from its start."
    else:
        line, reason = 0, "cursor_shard_gone"
        said = "The shard is gone; what follows it by name is read."
    warning = ReadWarning(
        reason=reason or "",
        file=f"{own.shard}{layout.SHARD_SUFFIX}",
        line=line or None,
        message=said,
    )
    key = max((spot.key for spot in spots if spot.line == line), default=-1)
    cursor = Cursor(record_id=own.record_id, shard=own.shard, line=line)
    warnings = (warning,) if reason else ()
    return Present(cursor=cursor, warnings=warnings), Position(own.shard, key)


def _resolved(
    db: sqlite3.Connection, text: object, own: Cursor | None
) -> _Found | None:
    """Return what a cursor's text means; None: nowhere.

    The store's own place comes first, by its id or in full; then a place in full; then
    an id's first place after the store's; then its latest.
    """
    if not isinstance(text, str):
        return None
    if own and text in (own.record_id, _full(own.record_id, own.shard, own.line)):
        present, position = _present(db, own)
        return _Found(present.cursor, position, present.warnings)
    try:
        text.encode()
    except UnicodeEncodeError:
        return None
    spot = _named_in_full(db, text)
    if spot is None:
        store_at = _present(db, own)[1]
        spots = recordindex.spots_of(db, text)
        later = [spot for spot in spots if spot.position > store_at]
        if not spots:
            return None
        chosen = later[0] if later else spots[-1]
        spot = _last_on_line(chosen, spots)
    cursor = Cursor(record_id=spot.record_id, shard=spot.shard, line=spot.line)
    return _Found(cursor, spot.position)


def _named_in_full(db: sqlite3.Connection, text: str) -> Spot | None:
    head, _, line = text.rpartition(":")
    record_id, _, shard = head.rpartition("@")
    if not (record_id and line.isdecimal() and len(line) <= _MAX_LINE_DIGITS):
        return None
    spots = recordindex.spots_of(db, record_id)
    here = [spot for spot in spots if (spot.shard, str(spot.line)) == (shard, line)]
    return here[-1] if here else None


def _last_on_line(spot: Spot, spots: list[Spot]) -> Spot:
    """Return the last of *spots* on the line of *spot*: new is what stands after it."""
    return [one for one in spots if (one.shard, one.line) == (spot.shard, spot.line)][
        -1
    ]


def _text_of(db: sqlite3.Connection, spot: Spot, own: Cursor | None) -> str:
    """Return the text that means this place: the id, unless it could mean another."""
    spots = recordindex.spots_of(db, spot.record_id)
    is_alone = all((one.shard, one.line) == (spot.shard, spot.line) for one in spots)
    found = _resolved(db, spot.record_id, own)
    if is_alone and found and found.position == spot.position:
        return spot.record_id
    return _place_text(spot)


def _place_text(spot: Spot) -> str:
    return _full(spot.record_id, spot.shard, spot.line)


def _full(record_id: str, shard: str, line: int) -> str:
    return f"{record_id}@{shard}:{line}"


def _unknown(path: str, text: object) -> Refusal:
    fault = Fault(
        code=FaultCode.UNKNOWN_CURSOR,
        path=path,
        message=f"No L1 record stands at the cursor {ascii(text)}.",
        hint="Take nextCursor of an answer, or leave it out to go on where the store is.",
    )
    return Refusal(errors=(fault,))


def _bad(path: str, message: str) -> Fault:
    return Fault(code=FaultCode.BAD_ARGUMENT, path=path, message=message)


def _damaged(shard: str, line: int, reason: str) -> ReadWarning:
    return ReadWarning(reason=reason, file=f"{shard}{layout.SHARD_SUFFIX}", line=line)


def _clamped(max_records: int) -> Iterator[ReadWarning]:
    if max_records > MAX_RECORDS:
        yield ReadWarning(
            reason="max_records_clamped",
            message=f"At most {MAX_RECORDS} records are returned at once.",
        )


def _left_out(names: list[str]) -> Iterator[ReadWarning]:
    for name in names[:MAX_DAMAGED]:
        yield ReadWarning(
            reason="file_left_out",
            file=name,
            message="It is no plain file, or has a name that no cursor can tell.",
        )
