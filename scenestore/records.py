"""L1 records, read only: what is new, what is late, what an id or a cursor means.

Rule 1: nothing under ``l1/`` is ever written. Rule 2: nothing may be skipped; reading
twice does no harm. Rule 3: a cursor is a place; the id in it only verifies it.

Source:
    CONTRACT section 2.
"""

import json
import os
import sqlite3
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TypeVar

from scenestore import coverage, layout, recordindex
from scenestore.coverage import Coverage, Following, Homes
from scenestore.errors import BusyError, Refusal
from scenestore.increments import Increment, Look, Page, StaleError
from scenestore.recordcache import RecordCache
from scenestore.recordcursor import Found, Present, ReadWarning, present_of, resolved
from scenestore.recordindex import START
from scenestore.shards import Shards
from scenestore_engine.faults import Fault, FaultCode
from scenestore_engine.state import Cursor, RecordFacts

__all__ = ["Increment", "Present", "ReadWarning", "Records"]

MAX_RECORDS = 200
"""Records of one answer. Source: CONTRACT section 2."""
_MAX_LEFT_OUT = 50
"""Files that one answer names as left out."""
_ATTEMPTS = 4
"""Times that a shard which changes while it is read is read again."""

_Answer = TypeVar("_Answer")


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
        self._steady: Shards | None = None

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

        def question(look: Look, db: sqlite3.Connection) -> Increment | Refusal:
            present, store_at = present_of(db, own)
            start = Found(present.cursor, store_at, present.warnings)
            late_at = START
            if cursor is not None:
                given = resolved(db, cursor, own)
                if given is None:
                    return _unknown("/cursor", cursor)
                start = given
            if late_cursor is not None:
                page = resolved(db, late_cursor, None)
                if page is None:
                    return _unknown("/lateCursor", late_cursor)
                late_at = page.position
            total = recordindex.count_live(db)
            page_of = Page(
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

        def question(_: Look, db: sqlite3.Connection) -> dict[str, RecordFacts]:
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

        def question(_: Look, db: sqlite3.Connection) -> Cursor | None:
            found = resolved(db, text, own)
            return found.cursor if found else None

        return self._ask(question)

    def present(self, own: Cursor | None) -> Present:
        """Return where the store's own cursor stands now."""
        return self._ask(lambda _, db: present_of(db, own)[0])

    def contents(self, ids: Iterable[str]) -> dict[str, dict[str, object]]:
        """Return the record object of each of *ids* that is live.

        Which ids are forgotten is not known here: the caller leaves them out.
        """
        named = json.dumps(list(ids))

        def question(
            look: Look, db: sqlite3.Connection
        ) -> dict[str, dict[str, object]]:
            spots = recordindex.latest_of(db, named)
            return {str(one["id"]): one for one in look.read(spots)[0]}

        return self._ask(question)

    def coverage(self, homes: Homes, upto: Cursor | None) -> Coverage:
        """Return how far the live records up to and including *upto* are organised."""
        return self._ask(
            lambda _, db: coverage.coverage_up_to(db, present_of(db, upto)[1]), homes
        )

    def passed(
        self, homes: Homes, after: Cursor | None, upto: Cursor | None
    ) -> tuple[int, tuple[str, ...]]:
        """Return how many records in (after, upto] belong nowhere, and first ids."""
        return self._ask(
            lambda _, db: coverage.unassigned_between(
                db, present_of(db, after)[1], present_of(db, upto)[1]
            ),
            homes,
        )

    def orphaned(self, homes_after: Homes, ids: Iterable[str]) -> tuple[str, ...]:
        """Return, of *ids*, the live records that belong nowhere, sorted."""
        named = tuple(ids)
        return self._ask(lambda _, db: coverage.orphaned_among(db, named), homes_after)

    def homes_of(self, homes: Homes, ids: Iterable[str]) -> dict[str, tuple[str, ...]]:
        """Return the scenes that hold each id, named as by `Homes.sets`, sorted.

        An id that is in no scene, live or archived, is absent.
        """
        named = tuple(ids)
        return self._ask(lambda _, db: coverage.homes_among(db, named), homes)

    @contextmanager
    def steady(self) -> Generator[None]:
        """Look at the folder once for all that is asked inside, by one thread.

        So that the answers that one decision is made from are of the same records, and
        cost one look.
        """
        self._steady = Shards(self._folder, is_steady=True)
        try:
            yield
        finally:
            self._steady = None

    def close(self) -> None:
        """Let go of what is held; the records may be read again."""
        self._cache.close()

    def _ask(
        self,
        question: Callable[[Look, sqlite3.Connection], _Answer],
        homes: Homes | None = None,
    ) -> _Answer:
        shards = self._steady or Shards(self._folder)
        for _ in range(_ATTEMPTS):
            look = Look(folder=self._folder, shards=shards)
            parts = (shards, Following(homes)) if homes is not None else (shards,)
            try:
                return self._cache.ask(parts, partial(question, look))
            except StaleError as stale:
                is_steady = self._steady is not None
                distrusted = shards.distrusted | {stale.shard}
                shards = Shards(self._folder, distrusted, is_steady=is_steady)
                self._steady = shards if is_steady else None
            except BaseException:
                # What was caught up with is undone, so it must be looked for again.
                if self._steady is not None:
                    self._steady = Shards(self._folder, is_steady=True)
                raise
        raise BusyError(
            f"{', '.join(sorted(shards.distrusted))} in {self._folder} changed while "
            "it was read, again and again. Nothing was written, and no record was "
            "passed over. Try again."
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


def _unknown(path: str, text: object) -> Refusal:
    fault = Fault(
        code=FaultCode.UNKNOWN_CURSOR,
        path=path,
        message=f"No L1 record stands at the cursor {text!a}.",
        hint="Take nextCursor of an answer; without one, the store's is taken.",
    )
    return Refusal(errors=(fault,))


def _bad(path: str, message: str) -> Fault:
    return Fault(code=FaultCode.BAD_ARGUMENT, path=path, message=message)


def _clamped(max_records: int) -> Iterator[ReadWarning]:
    if max_records > MAX_RECORDS:
        yield ReadWarning(
            reason="max_records_clamped",
            message=f"At most {MAX_RECORDS} records are returned at once.",
        )


def _left_out(names: list[str]) -> Iterator[ReadWarning]:
    for name in names[:_MAX_LEFT_OUT]:
        yield ReadWarning(
            reason="file_left_out",
            file=name,
            message="It is no plain file, or has a name that no cursor can tell.",
        )
