"""Which live records belong to no scene.

The member runs of a state are followed in tables, by handle: from one state to the next
only sets whose handle changed are opened, of these only runs whose handle changed, and
of these only the ids that differ are settled. What a table holds is kept as ids and not
looked up by old handles, so that any state can follow any other.

Source:
    CONTRACT section 2, "lateCount"; section 5, "The receipt's coverage".
"""

import json
import sqlite3
from collections.abc import Iterable, Mapping
from itertools import chain
from typing import NamedTuple, Protocol

import msgspec

from scenestore.layout import DISMISSED, FORGOTTEN
from scenestore.recordindex import (
    START,
    Position,
    count_up_to,
    open_between,
    prepare_touched,
    settle_status,
)

MAX_LISTED = 50
"""Ids of a count that are named. Source: CONTRACT section 5, "the first 50 ids"."""

SCHEMA = """
CREATE TABLE source (name TEXT PRIMARY KEY, handle TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE run (
    source TEXT, name TEXT, bag INTEGER NOT NULL, PRIMARY KEY (source, name)
) WITHOUT ROWID;
CREATE INDEX run_bag ON run (bag);
CREATE TABLE bag (
    bag INTEGER PRIMARY KEY, handle TEXT NOT NULL, count INTEGER NOT NULL,
    ids TEXT NOT NULL
);
CREATE INDEX bag_handle ON bag (handle)
"""
"""A bag is what one run holds; several runs of one handle share it, so that a scene
that moves touches no ids. Bags of forgotten ids are numbered below 0."""


class Homes(Protocol):
    """The member runs of one state (ids live in runs: git blobs named by handles)."""

    def sets(self) -> Mapping[str, str]:
        """Return the handle of each set.

        By ``members/NAME.md``, ``archive/members/NAME.md``, ``dismissed`` and
        ``forgotten``; an empty set is absent.
        """
        ...

    def runs(self, handle: str) -> Mapping[str, str]:
        """Return, for the handle of a set, the handles of its runs by run name."""
        ...

    def ids(self, run: str) -> frozenset[str]:
        """Return, for the handle of a run, the ids in it."""
        ...


class Coverage(msgspec.Struct, frozen=True, kw_only=True):
    """How far the live records up to a place are organised.

    Source:
        CONTRACT section 5, the receipt's ``coverage``.
    """

    unassigned: int
    """Live records in no scene, live or archived, not dismissed, not forgotten."""
    dismissed: int
    """Ids in the set of the dismissed, wherever they stand."""
    ids: tuple[str, ...]
    """Of the unassigned, the first in L1 order; at most `MAX_LISTED`."""


class Following:
    """The part of the cache that follows the member runs of one state."""

    def __init__(self, homes: Homes) -> None:
        self._homes = homes

    def is_current(self, db: sqlite3.Connection) -> bool:
        """Say whether the tables are those of the state."""
        return _sources(db) == dict(self._homes.sets())

    def catch_up(self, db: sqlite3.Connection) -> None:
        """Make the tables those of the state, whatever state they are of."""
        old, new = _sources(db), dict(self._homes.sets())
        prepare_touched(db)
        arriving: list[_Run] = []
        left: list[_Bag] = []
        for source in sorted(old.keys() | new.keys()):
            if old.get(source) != new.get(source):
                came, went = self._differing(db, source, new.get(source))
                arriving += came
                left += went
        spare = _Spare(db, left)
        waiting = [run for run in arriving if not spare.take_same(run)]
        for run in waiting:
            if not spare.take_same(run):
                spare.fill(run, self._homes.ids(run.handle))
        spare.drop_the_rest()
        settle_status(db)

    def _differing(
        self, db: sqlite3.Connection, source: str, handle: str | None
    ) -> tuple[list["_Run"], list["_Bag"]]:
        """Unhook the runs that a set lost; return the runs that it got, and those."""
        rows = db.execute(
            "SELECT r.name, r.bag, b.handle FROM run r JOIN bag b USING (bag)"
            " WHERE r.source = ?",
            (source,),
        ).fetchall()
        had = {name: (bag, was) for name, bag, was in rows}
        has = dict(self._homes.runs(handle)) if handle else {}
        went = [
            _Bag(bag, name, was)
            for name, (bag, was) in had.items()
            if has.get(name) != was
        ]
        came = [
            _Run(source, name, run)
            for name, run in sorted(has.items())
            if name not in had or had[name][1] != run
        ]
        db.executemany(
            "DELETE FROM run WHERE source = ? AND name = ?",
            [(source, bag.name) for bag in went],
        )
        if handle:
            db.execute("INSERT OR REPLACE INTO source VALUES (?, ?)", (source, handle))
        else:
            db.execute("DELETE FROM source WHERE name = ?", (source,))
        return came, went


def coverage_up_to(db: sqlite3.Connection, upto: Position) -> Coverage:
    """Return how far the live records up to and including *upto* are organised."""
    dismissed = db.execute(
        "SELECT coalesce(sum(count), 0) FROM run JOIN bag USING (bag) WHERE source = ?",
        (DISMISSED,),
    ).fetchone()[0]
    spots = open_between(db, START, upto, MAX_LISTED)
    return Coverage(
        unassigned=count_up_to(db, upto)[1],
        dismissed=dismissed,
        ids=tuple(spot.record_id for spot in spots),
    )


def unassigned_between(
    db: sqlite3.Connection, after: Position, upto: Position
) -> tuple[int, tuple[str, ...]]:
    """Return how many records in (after, upto] belong nowhere, and the first ids."""
    count = count_up_to(db, upto)[1] - count_up_to(db, after)[1]
    spots = open_between(db, after, upto, MAX_LISTED)
    return max(0, count), tuple(spot.record_id for spot in spots)


def orphaned_among(db: sqlite3.Connection, ids: Iterable[str]) -> tuple[str, ...]:
    """Return, of *ids*, the live records that belong nowhere, sorted."""
    rows = db.execute(
        "SELECT id FROM object WHERE status = 2"
        " AND id IN (SELECT value FROM json_each(?))",
        (json.dumps(list(ids)),),
    ).fetchall()
    return tuple(sorted(record_id for (record_id,) in rows))


def homes_among(
    db: sqlite3.Connection, ids: Iterable[str]
) -> dict[str, tuple[str, ...]]:
    """Return the scenes that hold each id, sorted; ids in no scene are absent."""
    rows = db.execute(
        "SELECT DISTINCT h.id, r.source FROM home h JOIN run r USING (bag)"
        " WHERE h.id IN (SELECT value FROM json_each(?))"
        " AND r.source NOT IN (?, ?) ORDER BY h.id, r.source",
        (json.dumps(list(ids)), DISMISSED, FORGOTTEN),
    ).fetchall()
    found: dict[str, tuple[str, ...]] = {}
    for record_id, source in rows:
        found[record_id] = (*found.get(record_id, ()), source)
    return found


class _Run(NamedTuple):
    """A run that a set has, and that is not in the tables yet."""

    source: str
    name: str
    handle: str

    @property
    def sign(self) -> int:
        """What bags that hold its ids are numbered by."""
        return -1 if self.source == FORGOTTEN else 1


class _Bag(NamedTuple):
    """What a run held that was unhooked."""

    bag: int
    name: str
    """Of the run."""
    handle: str


class _Spare:
    """Bags that no run holds any more, and what is made of them.

    A new run takes the bag of its own handle, else becomes the next content of a spare
    bag of its name, so that only ids that differ are touched.
    """

    def __init__(self, db: sqlite3.Connection, left: list[_Bag]) -> None:
        self._db = db
        self._bags = {
            bag.bag: bag
            for bag in left
            if not db.execute(
                "SELECT 1 FROM run WHERE bag = ? LIMIT 1", (bag.bag,)
            ).fetchone()
        }

    def take_same(self, run: _Run) -> bool:
        """Hook *run* to the bag of its handle; say whether there is one."""
        row = self._db.execute(
            "SELECT bag FROM bag WHERE handle = ? AND bag * ? > 0",
            (run.handle, run.sign),
        ).fetchone()
        if row:
            self._hook(run, row[0])
        return row is not None

    def fill(self, run: _Run, ids: frozenset[str]) -> None:
        """Hook *run* to a bag made to hold *ids*."""
        bag = next(
            (
                bag.bag
                for bag in self._bags.values()
                if bag.name == run.name and bag.bag * run.sign > 0
            ),
            None,
        )
        had = _ids_in(self._db, bag) if bag is not None else frozenset[str]()
        if bag is None:
            bag = self._unused(run.sign)
        self._db.execute(
            "INSERT OR REPLACE INTO bag VALUES (?, ?, ?, ?)",
            (bag, run.handle, len(ids), "\n".join(sorted(ids))),
        )
        self._change(bag, gone=had - ids, came=ids - had)
        self._hook(run, bag)

    def drop_the_rest(self) -> None:
        """Drop every spare bag that was not made into another."""
        for bag in self._bags:
            self._change(bag, gone=_ids_in(self._db, bag), came=frozenset())
            self._db.execute("DELETE FROM bag WHERE bag = ?", (bag,))
        self._bags = {}

    def _unused(self, sign: int) -> int:
        ends = "SELECT max(0, coalesce(max(bag), 0)) FROM bag"
        if sign < 0:
            ends = "SELECT min(0, coalesce(min(bag), 0)) FROM bag"
        return int(self._db.execute(ends).fetchone()[0]) + sign

    def _hook(self, run: _Run, bag: int) -> None:
        self._db.execute(
            "INSERT OR REPLACE INTO run VALUES (?, ?, ?)", (run.source, run.name, bag)
        )
        self._bags.pop(bag, None)

    def _change(self, bag: int, *, gone: frozenset[str], came: frozenset[str]) -> None:
        self._db.executemany(
            "DELETE FROM home WHERE id = ? AND bag = ?",
            [(record_id, bag) for record_id in sorted(gone)],
        )
        self._db.executemany(
            "INSERT OR IGNORE INTO home VALUES (?, ?)",
            [(record_id, bag) for record_id in sorted(came)],
        )
        self._db.executemany(
            "INSERT OR IGNORE INTO touched VALUES (?)",
            [(record_id,) for record_id in chain(gone, came)],
        )


def _ids_in(db: sqlite3.Connection, bag: int) -> frozenset[str]:
    row = db.execute("SELECT ids FROM bag WHERE bag = ?", (bag,)).fetchone()
    return frozenset(row[0].split("\n")) if row and row[0] else frozenset()


def _sources(db: sqlite3.Connection) -> dict[str, str]:
    return dict(db.execute("SELECT name, handle FROM source").fetchall())
