"""Where every L1 record stands: tables that follow the shards, and questions to them.

Objects are numbered in L1 order inside of a shard; a key is the shard's number and that
number. Blocks of keys and whole shards carry counts, so that counting up to a place
costs one block. Which scenes hold a record is `scenestore.coverage`'s; only its outcome
stands here, as each object's status.

Source:
    CONTRACT section 2; DURABILITY section 4, "L1".
"""

# ruff: noqa: S608 - what is put into SQL here are numbers and columns of this module

import sqlite3
from typing import NamedTuple

DEAD, HOMED, OPEN = 0, 1, 2
"""An object's status. Dead: rewritten later, deleted, or forgotten. Homed: live, and in
a scene or dismissed. Open: live, and neither."""

SCHEMA = """
CREATE TABLE shard (
    n INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE,
    size INTEGER, mtime_ns INTEGER, inode INTEGER,
    is_last INTEGER,
    offset INTEGER, lines INTEGER, objects INTEGER, tail BLOB,
    fresh_from INTEGER, fresh_sum INTEGER,
    live INTEGER NOT NULL DEFAULT 0, open INTEGER NOT NULL DEFAULT 0
);
CREATE TABLE object (
    key INTEGER PRIMARY KEY, id TEXT NOT NULL, line INTEGER NOT NULL,
    offset INTEGER NOT NULL, length INTEGER NOT NULL, deleted INTEGER NOT NULL,
    latest INTEGER NOT NULL, status INTEGER NOT NULL
);
CREATE INDEX object_id ON object (id);
CREATE TABLE block (
    b INTEGER PRIMARY KEY, live INTEGER NOT NULL, open INTEGER NOT NULL
);
CREATE TABLE damage (
    n INTEGER, line INTEGER, reason TEXT NOT NULL, PRIMARY KEY (n, line)
) WITHOUT ROWID;
CREATE TABLE home (id TEXT, bag INTEGER, PRIMARY KEY (id, bag)) WITHOUT ROWID
"""
"""``shard.offset``, ``lines`` and ``objects`` count what whole lines have; a last line
without LF is read again whenever the shard changes. ``fresh_sum`` is set while a shard
may have changed unseen, see `scenestore.shards`. ``home.bag`` is below 0 for forgotten
ids."""

SHARD_BITS = 40
"""Of a key, the bits that number objects; those above number the shard."""
BLOCK_BITS = 10
"""Of a key, the bits that number objects inside of a block."""


class Position(NamedTuple):
    """A place in L1, ordered as L1 is."""

    shard: str
    key: int
    """Of an object; -1: before all of the shard."""


START = Position("", -1)
END = Position("\U0010ffff", 1 << 62)
"""After every shard that can be: the last code point is no printable one."""


class Spot(NamedTuple):
    """Where one object's bytes are."""

    record_id: str
    shard: str
    line: int
    key: int
    offset: int
    length: int

    @property
    def position(self) -> Position:
        """What objects are ordered by."""
        return Position(self.shard, self.key)


def prepare_touched(db: sqlite3.Connection) -> None:
    """Make the temporary tables of ids and blocks to settle."""
    db.execute(
        "CREATE TEMP TABLE IF NOT EXISTS touched (id TEXT PRIMARY KEY) WITHOUT ROWID"
    )
    db.execute("CREATE TEMP TABLE IF NOT EXISTS dirty (b INTEGER PRIMARY KEY)")
    db.execute("DELETE FROM touched")
    db.execute("DELETE FROM dirty")


def settle_latest(db: sqlite3.Connection) -> None:
    """Mark, of each touched id's objects, the one that stands last in L1."""
    db.execute(
        "UPDATE object SET latest = 0 WHERE latest AND id IN (SELECT id FROM touched)"
    )
    db.execute(
        "UPDATE object SET latest = 1 WHERE key IN (SELECT ("
        f"SELECT o.key FROM object o JOIN shard s ON s.n = o.key >> {SHARD_BITS}"
        " WHERE o.id = touched.id ORDER BY s.name DESC, o.key DESC LIMIT 1"
        ") FROM touched)"
    )


def drop_shard(db: sqlite3.Connection, n: int) -> None:
    """Drop all that is known of a shard; its objects' ids are to be settled."""
    drop_objects(db, n, 0)
    db.execute("DELETE FROM damage WHERE n = ?", (n,))
    db.execute("DELETE FROM shard WHERE n = ?", (n,))


def drop_objects(db: sqlite3.Connection, n: int, first: int) -> None:
    """Drop a shard's objects from number *first* on; their ids are to be settled."""
    keys = (n << SHARD_BITS) + first, (n + 1) << SHARD_BITS
    db.execute(
        "INSERT OR IGNORE INTO touched SELECT id FROM object"
        " WHERE key >= ? AND key < ?",
        keys,
    )
    db.execute(
        f"INSERT OR IGNORE INTO dirty SELECT DISTINCT key >> {BLOCK_BITS} FROM object"
        " WHERE key >= ? AND key < ?",
        keys,
    )
    db.execute("DELETE FROM object WHERE key >= ? AND key < ?", keys)


def settle_status(db: sqlite3.Connection) -> None:
    """Set the status of every touched id's objects, and count their blocks again."""
    which = "id IN (SELECT id FROM touched) AND (latest OR status > 0)"
    db.execute(
        f"INSERT OR IGNORE INTO dirty SELECT key >> {BLOCK_BITS} FROM object"
        f" WHERE {which}"
    )
    db.execute(
        "UPDATE object SET status = CASE WHEN deleted OR NOT latest THEN 0 ELSE"
        " coalesce((SELECT CASE WHEN bag < 0 THEN 0 ELSE 1 END FROM home"
        f" WHERE home.id = object.id ORDER BY bag LIMIT 1), 2) END WHERE {which}"
    )
    db.execute("DELETE FROM block WHERE b IN (SELECT b FROM dirty)")
    db.execute(
        f"INSERT INTO block SELECT b, sum(status > 0), sum(status = 2) FROM dirty"
        f" CROSS JOIN object ON key BETWEEN b << {BLOCK_BITS}"
        f" AND (b << {BLOCK_BITS}) + {(1 << BLOCK_BITS) - 1} GROUP BY b"
    )
    blocks = SHARD_BITS - BLOCK_BITS
    db.execute(
        "UPDATE shard SET (live, open) = (SELECT coalesce(sum(live), 0),"
        f" coalesce(sum(open), 0) FROM block WHERE b >= shard.n << {blocks}"
        f" AND b < (shard.n + 1) << {blocks})"
        f" WHERE n IN (SELECT DISTINCT b >> {blocks} FROM dirty)"
    )


def count_up_to(db: sqlite3.Connection, upto: Position) -> tuple[int, int]:
    """Return how many objects up to and with *upto* are live, and how many open."""
    live, is_open = db.execute(
        "SELECT coalesce(sum(live), 0), coalesce(sum(open), 0) FROM shard"
        " WHERE name < ?",
        (upto.shard,),
    ).fetchone()
    if upto.key >= 0:
        block = upto.key >> BLOCK_BITS
        first = (upto.key >> SHARD_BITS) << (SHARD_BITS - BLOCK_BITS)
        more = db.execute(
            "SELECT coalesce(sum(live), 0), coalesce(sum(open), 0) FROM ("
            " SELECT live, open FROM block WHERE b >= ? AND b < ?"
            " UNION ALL SELECT status > 0, status = 2 FROM object"
            " WHERE key BETWEEN ? AND ?)",
            (first, block, block << BLOCK_BITS, upto.key),
        ).fetchone()
        live, is_open = live + more[0], is_open + more[1]
    return live, is_open


def count_live(db: sqlite3.Connection) -> int:
    """Return how many live records there are."""
    return int(db.execute("SELECT coalesce(sum(live), 0) FROM shard").fetchone()[0])


def live_after(db: sqlite3.Connection, after: Position, limit: int) -> list[Spot]:
    """Return the first *limit* live records after a place, in L1 order."""
    return _select(db, "live", after, END, limit)


def open_between(
    db: sqlite3.Connection, after: Position, upto: Position, limit: int
) -> list[Spot]:
    """Return the first *limit* open records in (after, upto], in L1 order."""
    return _select(db, "open", after, upto, limit)


def last_nameable(
    db: sqlite3.Connection, after: Position, before: Position
) -> Spot | None:
    """Return the last object between two places by which a cursor can be named.

    Not by a forgotten id, and by no id that stands again later on the same line, since
    a cursor means the last of these.
    """
    row = db.execute(
        "SELECT o.id, s.name, o.line, o.key, o.offset, o.length"
        " FROM shard s CROSS JOIN object o"
        f" ON o.key >= s.n << {SHARD_BITS} AND o.key < (s.n + 1) << {SHARD_BITS}"
        " WHERE s.name >= :shard AND (s.name > :shard OR o.key > :key)"
        " AND s.name <= :end AND (s.name < :end OR o.key < :end_key)"
        " AND NOT EXISTS (SELECT 1 FROM home h WHERE h.id = o.id AND h.bag < 0)"
        " AND NOT EXISTS (SELECT 1 FROM object p WHERE p.id = o.id AND p.key > o.key"
        f" AND p.line = o.line AND p.key >> {SHARD_BITS} = s.n)"
        " ORDER BY s.name DESC, o.key DESC LIMIT 1",
        {
            "shard": after.shard,
            "key": after.key,
            "end": before.shard,
            "end_key": before.key,
        },
    ).fetchone()
    return Spot(*row) if row else None


def spots_of(db: sqlite3.Connection, record_id: str) -> list[Spot]:
    """Return all objects with this id, in L1 order."""
    rows = db.execute(
        "SELECT o.id, s.name, o.line, o.key, o.offset, o.length FROM object o"
        f" JOIN shard s ON s.n = o.key >> {SHARD_BITS} WHERE o.id = ?"
        " ORDER BY s.name, o.key",
        (record_id,),
    ).fetchall()
    return [Spot(*row) for row in rows]


def latest_of(db: sqlite3.Connection, ids_json: str) -> list[Spot]:
    """Return where the live records among a JSON array of ids stand, in L1 order."""
    rows = db.execute(
        "SELECT o.id, s.name, o.line, o.key, o.offset, o.length FROM object o"
        f" JOIN shard s ON s.n = o.key >> {SHARD_BITS}"
        " WHERE o.latest AND NOT o.deleted"
        " AND o.id IN (SELECT value FROM json_each(?)) ORDER BY s.name, o.key",
        (ids_json,),
    ).fetchall()
    return [Spot(*row) for row in rows]


def has_shard(db: sqlite3.Connection, name: str) -> bool:
    """Say whether there is a shard of this name."""
    return bool(db.execute("SELECT 1 FROM shard WHERE name = ?", (name,)).fetchone())


def damage_between(
    db: sqlite3.Connection,
    after: tuple[str, int],
    upto: tuple[str, int],
    limit: int,
) -> list[tuple[str, int, str]]:
    """Return shard, line and reason of damaged lines in (after, upto], in L1 order.

    A place here is a shard and a line.
    """
    rows = db.execute(
        "SELECT s.name, d.line, d.reason FROM shard s CROSS JOIN damage d ON d.n = s.n"
        " WHERE s.name >= :shard AND (s.name, d.line) > (:shard, :line)"
        " AND s.name <= :end AND (s.name, d.line) <= (:end, :end_line)"
        " ORDER BY s.name, d.line LIMIT :limit",
        {
            "shard": after[0],
            "line": after[1],
            "end": upto[0],
            "end_line": upto[1],
            "limit": limit,
        },
    ).fetchall()
    return [(name, line, reason) for name, line, reason in rows]


def _select(
    db: sqlite3.Connection,
    counter: str,
    after: Position,
    upto: Position,
    limit: int,
) -> list[Spot]:
    """Return objects in (after, upto] that *counter*, ``live`` or ``open``, counts."""
    blocks = SHARD_BITS - BLOCK_BITS
    least = OPEN if counter == "open" else HOMED
    rows = db.execute(
        "SELECT o.id, s.name, o.line, o.key, o.offset, o.length"
        f" FROM shard s CROSS JOIN block b ON b.b >= s.n << {blocks}"
        f" AND b.b < (s.n + 1) << {blocks}"
        f" CROSS JOIN object o ON o.key >= b.b << {BLOCK_BITS}"
        f" AND o.key < (b.b + 1) << {BLOCK_BITS}"
        f" WHERE s.name >= :shard AND s.{counter} > 0 AND b.{counter} > 0"
        f" AND (s.name > :shard OR b.b >= :key >> {BLOCK_BITS})"
        f" AND o.status >= {least} AND (s.name > :shard OR o.key > :key)"
        " AND s.name <= :end AND (s.name < :end OR o.key <= :end_key)"
        " ORDER BY s.name, b.b, o.key LIMIT :limit",
        {
            "shard": after.shard,
            "key": after.key,
            "end": upto.shard,
            "end_key": upto.key,
            "limit": limit,
        },
    ).fetchall()
    return [Spot(*row) for row in rows]
