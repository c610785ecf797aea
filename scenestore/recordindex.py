"""Where every L1 record stands: tables that follow the shards, and questions to them.

Objects are numbered in L1 order inside of a shard; a key is the shard's number and that
number. Blocks of keys and whole shards carry counts, so that counting up to a place
costs one block. Which scenes hold a record is `scenestore.coverage`'s; only its outcome
stands here, as each object's status.

Source:
    CONTRACT section 2; DURABILITY section 4, "L1".
"""

# ruff: noqa: S608 - what is put into SQL here are numbers and columns of this module

import os
import sqlite3
import stat
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import blake2b
from pathlib import Path
from typing import NamedTuple

import msgspec

from scenestore.errors import DiskError
from scenestore.layout import SHARD_SUFFIX
from scenestore.recordcache import written_ns
from scenestore.shardlines import Objects, parse, parse_tail

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
CREATE TABLE block (b INTEGER PRIMARY KEY, live INTEGER NOT NULL, open INTEGER NOT NULL);
CREATE TABLE damage (
    n INTEGER, line INTEGER, reason TEXT NOT NULL, PRIMARY KEY (n, line)
) WITHOUT ROWID;
CREATE TABLE home (id TEXT, bag INTEGER, PRIMARY KEY (id, bag)) WITHOUT ROWID
"""
"""``shard.offset``, ``lines`` and ``objects`` count what whole lines have; a last line
without LF is read again whenever the shard changes. ``fresh_sum`` is set while a shard
may have changed unseen, see `_may_change_unseen`. ``home.bag`` is below 0 for forgotten
ids."""

_CHUNK_BYTES = 1 << 20
_TAIL_BYTES = 4_096
_SHARD_BITS = 40
_BLOCK_BITS = 10
_STAMP_STEP_NS = 100_000_000
"""What file times may be coarse by; ten times the slowest clock tick of a kernel."""
_MAX_FRESH_BYTES = 4 << 20
"""A longer read takes longer than a step of file times, so it needs no second look."""


class Position(NamedTuple):
    """A place in L1, ordered as L1 is."""

    shard: str
    key: int
    """Of an object; -1: before all of the shard."""


START = Position("", -1)


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


class Stamp(NamedTuple):
    """What tells that a file is as it was."""

    size: int
    mtime_ns: int
    inode: int


class Shards:
    """The part of the cache that follows the shards of one folder.

    Args:
        distrusted: Shards to read whole, since their bytes were not what the cache said.
    """

    def __init__(self, folder: Path, distrusted: frozenset[str] = frozenset()) -> None:
        self._folder = folder
        self._distrusted = distrusted
        self.left_out: list[str] = []
        """Names of files that look like shards and are not read."""

    def is_current(self, db: sqlite3.Connection) -> bool:
        """Say whether every shard is as the cache has it."""
        shards, self.left_out = shards_in(self._folder)
        seen = [(name, *stamp, None) for name, stamp in sorted(shards.items())]
        rows = db.execute(
            "SELECT name, size, mtime_ns, inode, fresh_sum FROM shard ORDER BY name"
        ).fetchall()
        return rows == seen and not self._distrusted

    def catch_up(self, db: sqlite3.Connection) -> None:
        """Read what is new in the folder, and drop what is gone.

        Raises:
            DiskError: A shard cannot be read.
        """
        known = _known_shards(db)
        seen = sorted(shards_in(self._folder)[0].items())
        prepare_touched(db)
        is_first = not (
            db.execute("SELECT 1 FROM object LIMIT 1").fetchone()
            or db.execute("SELECT 1 FROM home LIMIT 1").fetchone()
        )
        if is_first:
            db.execute("DROP INDEX object_id")
        for name in known.keys() - dict(seen).keys():
            _drop_shard(db, known[name].n)
        for name, stamp in seen:
            one = known.get(name)
            is_last = name == seen[-1][0]
            is_distrusted = name in self._distrusted
            if one and one.is_as_it_was(stamp, is_last=is_last) and not is_distrusted:
                continue
            reading = _Reading(
                db=db,
                path=self._folder / f"{name}{SHARD_SUFFIX}",
                name=name,
                is_last=is_last,
                is_first=is_first,
            )
            reading.catch_up(one, is_distrusted=is_distrusted)
        if is_first:
            db.execute("CREATE INDEX object_id ON object (id)")
            db.execute(
                "INSERT INTO touched"
                " SELECT id FROM object GROUP BY id HAVING count(*) > 1"
            )
        _settle_latest(db)
        settle_status(db)


def shards_in(folder: Path) -> tuple[dict[str, Stamp], list[str]]:
    """Return the shards of *folder* by name without suffix, and file names left out.

    Left out is what ends like a shard but is no plain file, or has a name that a cursor
    could not tell. A missing folder has no shards.

    Raises:
        DiskError: The folder cannot be read.
    """
    shards: dict[str, Stamp] = {}
    left_out: list[str] = []
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                name = entry.name
                if not name.endswith(SHARD_SUFFIX) or name[0] == ".":
                    continue
                try:
                    found = entry.stat(follow_symlinks=False)
                except FileNotFoundError:
                    continue
                stem = name.removesuffix(SHARD_SUFFIX)
                if (
                    stat.S_ISREG(found.st_mode)
                    and stem.isprintable()
                    and "@" not in stem
                ):
                    shards[stem] = Stamp(found.st_size, found.st_mtime_ns, found.st_ino)
                else:
                    left_out.append(ascii(name)[1:-1])
    except FileNotFoundError:
        return {}, []
    except OSError as error:
        raise DiskError(_unreadable(folder, error)) from error
    return shards, sorted(left_out)


def prepare_touched(db: sqlite3.Connection) -> None:
    """Make the temporary tables of ids and blocks to settle."""
    db.execute(
        "CREATE TEMP TABLE IF NOT EXISTS touched (id TEXT PRIMARY KEY) WITHOUT ROWID"
    )
    db.execute("CREATE TEMP TABLE IF NOT EXISTS dirty (b INTEGER PRIMARY KEY)")
    db.execute("DELETE FROM touched")
    db.execute("DELETE FROM dirty")


def settle_status(db: sqlite3.Connection) -> None:
    """Set the status of every touched id's objects, and count their blocks again."""
    db.execute(
        "UPDATE object SET status = CASE WHEN deleted OR NOT latest THEN 0 ELSE"
        " coalesce((SELECT CASE WHEN bag < 0 THEN 0 ELSE 1 END FROM home"
        " WHERE home.id = object.id ORDER BY bag LIMIT 1), 2) END"
        " WHERE id IN (SELECT id FROM touched)"
    )
    db.execute(
        f"INSERT OR IGNORE INTO dirty SELECT key >> {_BLOCK_BITS} FROM object"
        " WHERE id IN (SELECT id FROM touched)"
    )
    db.execute("DELETE FROM block WHERE b IN (SELECT b FROM dirty)")
    db.execute(
        f"INSERT INTO block SELECT b, sum(status > 0), sum(status = 2) FROM dirty"
        f" CROSS JOIN object ON key BETWEEN b << {_BLOCK_BITS}"
        f" AND (b << {_BLOCK_BITS}) + {(1 << _BLOCK_BITS) - 1} GROUP BY b"
    )
    blocks = _SHARD_BITS - _BLOCK_BITS
    db.execute(
        "UPDATE shard SET (live, open) = (SELECT coalesce(sum(live), 0),"
        f" coalesce(sum(open), 0) FROM block WHERE b >= shard.n << {blocks}"
        f" AND b < (shard.n + 1) << {blocks})"
        f" WHERE n IN (SELECT DISTINCT b >> {blocks} FROM dirty)"
    )


def count_up_to(db: sqlite3.Connection, upto: Position) -> tuple[int, int]:
    """Return how many objects up to and including *upto* are live, and how many open."""
    live, is_open = db.execute(
        "SELECT coalesce(sum(live), 0), coalesce(sum(open), 0) FROM shard WHERE name < ?",
        (upto.shard,),
    ).fetchone()
    if upto.key >= 0:
        block = upto.key >> _BLOCK_BITS
        first = (upto.key >> _SHARD_BITS) << (_SHARD_BITS - _BLOCK_BITS)
        more = db.execute(
            "SELECT coalesce(sum(live), 0), coalesce(sum(open), 0) FROM ("
            " SELECT live, open FROM block WHERE b >= ? AND b < ?"
            " UNION ALL SELECT status > 0, status = 2 FROM object"
            " WHERE key BETWEEN ? AND ?)",
            (first, block, block << _BLOCK_BITS, upto.key),
        ).fetchone()
        live, is_open = live + more[0], is_open + more[1]
    return live, is_open


def count_live(db: sqlite3.Connection) -> int:
    """Return how many live records there are."""
    return int(db.execute("SELECT coalesce(sum(live), 0) FROM shard").fetchone()[0])


def live_after(db: sqlite3.Connection, after: Position, limit: int) -> list[Spot]:
    """Return the first *limit* live records after a place, in L1 order."""
    return _select(db, "live", HOMED, after, None, limit)


def open_between(
    db: sqlite3.Connection, after: Position, upto: Position, limit: int
) -> list[Spot]:
    """Return the first *limit* open records in (after, upto], in L1 order."""
    return _select(db, "open", OPEN, after, upto, limit)


def last_nameable(
    db: sqlite3.Connection, after: Position, before: Position | None
) -> Spot | None:
    """Return the last object between two places by which a cursor can be named.

    Not by a forgotten id, and by no id that stands again later on the same line, since
    a cursor means the last of these. *before* None: up to the end.
    """
    row = db.execute(
        "SELECT o.id, s.name, o.line, o.key, o.offset, o.length"
        " FROM shard s CROSS JOIN object o"
        f" ON o.key >= s.n << {_SHARD_BITS} AND o.key < (s.n + 1) << {_SHARD_BITS}"
        " WHERE s.name >= :shard AND (s.name > :shard OR o.key > :key)"
        " AND (:end IS NULL OR s.name < :end OR (s.name = :end AND o.key < :end_key))"
        " AND NOT EXISTS (SELECT 1 FROM home h WHERE h.id = o.id AND h.bag < 0)"
        " AND NOT EXISTS (SELECT 1 FROM object p WHERE p.id = o.id AND p.key > o.key"
        f" AND p.line = o.line AND p.key >> {_SHARD_BITS} = s.n)"
        " ORDER BY s.name DESC, o.key DESC LIMIT 1",
        {
            "shard": after.shard,
            "key": after.key,
            "end": before.shard if before else None,
            "end_key": before.key if before else None,
        },
    ).fetchone()
    return Spot(*row) if row else None


def spots_of(db: sqlite3.Connection, record_id: str) -> list[Spot]:
    """Return all objects with this id, in L1 order."""
    rows = db.execute(
        "SELECT o.id, s.name, o.line, o.key, o.offset, o.length FROM object o"
        f" JOIN shard s ON s.n = o.key >> {_SHARD_BITS} WHERE o.id = ?"
        " ORDER BY s.name, o.key",
        (record_id,),
    ).fetchall()
    return [Spot(*row) for row in rows]


def latest_of(db: sqlite3.Connection, ids_json: str) -> list[Spot]:
    """Return where the live records among a JSON array of ids stand, in L1 order."""
    rows = db.execute(
        "SELECT o.id, s.name, o.line, o.key, o.offset, o.length FROM object o"
        f" JOIN shard s ON s.n = o.key >> {_SHARD_BITS} WHERE o.latest AND NOT o.deleted"
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
    upto: tuple[str, int] | None,
    limit: int,
) -> list[tuple[str, int, str]]:
    """Return shard, line and reason of damaged lines in (after, upto], in L1 order.

    Args:
        after: Shard and line; likewise *upto*, where None is the end.
    """
    rows = db.execute(
        "SELECT s.name, d.line, d.reason FROM shard s CROSS JOIN damage d ON d.n = s.n"
        " WHERE s.name >= :shard AND (s.name, d.line) > (:shard, :line)"
        " AND (:end IS NULL OR (s.name, d.line) <= (:end, :end_line))"
        " ORDER BY s.name, d.line LIMIT :limit",
        {
            "shard": after[0],
            "line": after[1],
            "end": upto[0] if upto else None,
            "end_line": upto[1] if upto else None,
            "limit": limit,
        },
    ).fetchall()
    return [(name, line, reason) for name, line, reason in rows]


def _select(
    db: sqlite3.Connection,
    counter: str,
    least: int,
    after: Position,
    upto: Position | None,
    limit: int,
) -> list[Spot]:
    blocks = _SHARD_BITS - _BLOCK_BITS
    rows = db.execute(
        "SELECT o.id, s.name, o.line, o.key, o.offset, o.length"
        f" FROM shard s CROSS JOIN block b ON b.b >= s.n << {blocks}"
        f" AND b.b < (s.n + 1) << {blocks}"
        f" CROSS JOIN object o ON o.key >= b.b << {_BLOCK_BITS}"
        f" AND o.key < (b.b + 1) << {_BLOCK_BITS}"
        f" WHERE s.name >= :shard AND s.{counter} > 0 AND b.{counter} > 0"
        f" AND (s.name > :shard OR b.b >= :key >> {_BLOCK_BITS})"
        f" AND o.status >= {least} AND (s.name > :shard OR o.key > :key)"
        " AND (:end IS NULL OR s.name < :end OR (s.name = :end AND o.key <= :end_key))"
        " ORDER BY s.name, b.b, o.key LIMIT :limit",
        {
            "shard": after.shard,
            "key": after.key,
            "end": upto.shard if upto else None,
            "end_key": upto.key if upto else None,
            "limit": limit,
        },
    ).fetchall()
    return [Spot(*row) for row in rows]


def _settle_latest(db: sqlite3.Connection) -> None:
    """Mark, of each touched id's objects, the one that stands last in L1."""
    db.execute(
        "UPDATE object SET latest = NOT EXISTS (SELECT 1 FROM object p"
        " WHERE p.id = object.id AND p.key <> object.key"
        f" AND CASE WHEN p.key >> {_SHARD_BITS} = object.key >> {_SHARD_BITS}"
        " THEN p.key > object.key ELSE"
        f" (SELECT name FROM shard WHERE n = p.key >> {_SHARD_BITS}) >"
        f" (SELECT name FROM shard WHERE n = object.key >> {_SHARD_BITS}) END)"
        " WHERE id IN (SELECT id FROM touched)"
    )


def _drop_shard(db: sqlite3.Connection, n: int) -> None:
    _drop_objects(db, n, 0)
    db.execute("DELETE FROM damage WHERE n = ?", (n,))
    db.execute("DELETE FROM shard WHERE n = ?", (n,))


def _drop_objects(db: sqlite3.Connection, n: int, first: int) -> None:
    """Drop a shard's objects from number *first* on; their ids are to be settled."""
    keys = (n << _SHARD_BITS) + first, (n + 1) << _SHARD_BITS
    db.execute(
        "INSERT OR IGNORE INTO touched SELECT id FROM object WHERE key >= ? AND key < ?",
        keys,
    )
    db.execute(
        f"INSERT OR IGNORE INTO dirty SELECT DISTINCT key >> {_BLOCK_BITS} FROM object"
        " WHERE key >= ? AND key < ?",
        keys,
    )
    db.execute("DELETE FROM object WHERE key >= ? AND key < ?", keys)


class _Known(NamedTuple):
    """What the cache has of one shard."""

    n: int
    size: int
    mtime_ns: int
    inode: int
    is_last: int
    offset: int
    lines: int
    objects: int
    tail: bytes
    fresh_from: int
    fresh_sum: int | None

    @property
    def stamp(self) -> Stamp:
        """The file as it was read."""
        return Stamp(self.size, self.mtime_ns, self.inode)

    def is_as_it_was(
        self, stamp: Stamp, *, is_last: bool, is_settled: bool = False
    ) -> bool:
        """Say whether there is nothing to read.

        Args:
            is_last: Whether it is the newest shard now; a last line without LF is read
                in another way once it is not.
            is_settled: Bytes that may have changed unseen were looked at.
        """
        return (
            self.stamp == stamp
            and (is_settled or self.fresh_sum is None)
            and (self.size == self.offset or bool(self.is_last) == is_last)
        )

    def unread(self) -> "_Known":
        """Return the same with nothing read."""
        return self._replace(offset=0, lines=0, objects=0)


def _known_shards(db: sqlite3.Connection) -> dict[str, _Known]:
    rows = db.execute(
        "SELECT name, n, size, mtime_ns, inode, is_last, offset, lines, objects, tail,"
        " fresh_from, fresh_sum FROM shard"
    ).fetchall()
    return {row[0]: _Known(*row[1:]) for row in rows}


class _Reading(msgspec.Struct, frozen=True, kw_only=True):
    """One shard being brought up to date."""

    db: sqlite3.Connection
    path: Path
    name: str
    is_last: bool
    """No newer shard exists, so that a last line without LF may be a writer's."""
    is_first: bool
    """The tables were empty: ids are settled by one look at all."""

    def catch_up(self, known: _Known | None, *, is_distrusted: bool) -> None:
        """Read what is not known of the shard; a shard that is gone is dropped."""
        with _opened(self.path) as opened:
            if opened is None:
                if known:
                    _drop_shard(self.db, known.n)
                return
            file, stamp = opened
            known = known or self._begun()
            is_same = stamp == known.stamp and not is_distrusted
            if is_same and _sum_of(file, known, stamp) == known.fresh_sum:
                if known.is_as_it_was(stamp, is_last=self.is_last, is_settled=True):
                    self._trust(known)
                    return
            elif is_same or is_distrusted or not _has_grown(file, known, stamp):
                known = known.unread()
            self._read_on(file, stamp, known)

    def _begun(self) -> _Known:
        cursor = self.db.execute("INSERT INTO shard (name) VALUES (?)", (self.name,))
        return _Known(cursor.lastrowid or 0, 0, 0, 0, 0, 0, 0, 0, b"", 0, None)

    def _trust(self, known: _Known) -> None:
        """Take the shard for settled, once the cache was written well after it.

        Writing this makes the cache younger: the next look will know more.
        """
        fresh_sum = known.fresh_sum
        if fresh_sum is not None and not _may_change_unseen(self.db, known.mtime_ns):
            fresh_sum = None
        self.db.execute(
            "UPDATE shard SET fresh_sum = ? WHERE n = ?", (fresh_sum, known.n)
        )

    def _read_on(self, file: int, stamp: Stamp, known: _Known) -> None:
        db, n = self.db, known.n
        is_fresh = stamp.size - known.offset <= _MAX_FRESH_BYTES and _may_change_unseen(
            db, stamp.mtime_ns
        )
        _drop_objects(db, n, known.objects)
        db.execute("DELETE FROM damage WHERE n = ? AND line > ?", (n, known.lines))
        offset, lines, objects = known.offset, known.lines, known.objects
        fresh_sum = 0
        for chunk in _chunks(file, offset, stamp.size):
            if is_fresh:
                fresh_sum = zlib.crc32(chunk, fresh_sum)
            if chunk.endswith(b"\n"):
                found = parse(chunk, line=lines + 1, offset=offset)
                self._keep(n, objects, found)
                offset += len(chunk)
                lines += chunk.count(b"\n")
                objects += len(found.ids)
            else:
                found = parse_tail(
                    chunk, line=lines + 1, offset=offset, is_at_work=self.is_last
                )
                self._keep(n, objects, found)
        db.execute(
            "UPDATE shard SET size = ?, mtime_ns = ?, inode = ?, is_last = ?,"
            " offset = ?, lines = ?, objects = ?, tail = ?, fresh_from = ?,"
            " fresh_sum = ? WHERE n = ?",
            (
                *stamp,
                self.is_last,
                offset,
                lines,
                objects,
                _tail_of(file, offset),
                known.offset,
                fresh_sum if is_fresh else None,
                n,
            ),
        )

    def _keep(self, n: int, objects: int, found: Objects) -> None:
        first = (n << _SHARD_BITS) + objects
        after = first + len(found.ids)
        self.db.executemany(
            "INSERT INTO object VALUES (?1, ?2, ?3, ?4, ?5, ?6, 1,"
            " CASE WHEN ?6 THEN 0 ELSE 2 END)",
            zip(
                range(first, after),
                found.ids,
                found.lines,
                found.offsets,
                found.lengths,
                found.deleted,
                strict=True,
            ),
        )
        self.db.executemany(
            "INSERT OR REPLACE INTO damage VALUES (?, ?, ?)",
            [(n, line, reason) for line, reason in found.damaged],
        )
        self.db.executemany(
            "INSERT OR IGNORE INTO dirty VALUES (?)",
            [(b,) for b in range(first >> _BLOCK_BITS, (after >> _BLOCK_BITS) + 1)],
        )
        if not self.is_first:
            self.db.executemany(
                "INSERT OR IGNORE INTO touched VALUES (?)", zip(found.ids, strict=True)
            )


@contextmanager
def _opened(path: Path) -> Iterator[tuple[int, Stamp] | None]:
    """Open a shard to read; None: it is gone, or no plain file.

    Raises:
        DiskError: It is there and cannot be read.
    """
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    try:
        file = os.open(path, flags)
    except FileNotFoundError:
        yield None
        return
    except OSError as error:
        if path.is_symlink():
            yield None
            return
        raise DiskError(_unreadable(path, error)) from error
    try:
        found = os.fstat(file)
        stamp = Stamp(found.st_size, found.st_mtime_ns, found.st_ino)
        yield (file, stamp) if stat.S_ISREG(found.st_mode) else None
    except OSError as error:
        raise DiskError(_unreadable(path, error)) from error
    finally:
        os.close(file)


def read_spots(folder: Path, spots: list[Spot]) -> Iterator[tuple[Spot, bytes]]:
    """Yield each spot with the bytes that stand there now, in the order given.

    A shard that is gone or shorter gives fewer bytes, down to none.

    Raises:
        DiskError: A shard is there and cannot be read.
    """
    place = 0
    while place < len(spots):
        shard = spots[place].shard
        with _opened(folder / f"{shard}{SHARD_SUFFIX}") as opened:
            while place < len(spots) and spots[place].shard == shard:
                spot = spots[place]
                data = os.pread(opened[0], spot.length, spot.offset) if opened else b""
                yield spot, data
                place += 1


def _chunks(file: int, offset: int, size: int) -> Iterator[bytes]:
    """Yield the bytes from *offset* to *size* as whole lines, then a line without LF."""
    rest: list[bytes] = []
    while offset < size:
        data = os.pread(file, min(_CHUNK_BYTES, size - offset), offset)
        if not data:
            break
        offset += len(data)
        cut = data.rfind(b"\n") + 1
        if cut:
            yield b"".join((*rest, data[:cut]))
            rest = []
        rest.append(data[cut:])
    tail = b"".join(rest)
    if tail:
        yield tail


def _has_grown(file: int, known: _Known, stamp: Stamp) -> bool:
    """Say whether bytes were only added to the shard since it was read."""
    return (
        stamp.inode == known.inode
        and stamp.size > known.size
        and _tail_of(file, known.offset) == known.tail
    )


def _tail_of(file: int, offset: int) -> bytes:
    """Return what the bytes before *offset* are known by."""
    start = max(0, offset - _TAIL_BYTES)
    return blake2b(os.pread(file, offset - start, start), digest_size=16).digest()


def _sum_of(file: int, known: _Known, stamp: Stamp) -> int | None:
    """Return the sum of the bytes that were new at the last look, if it is asked for."""
    if known.fresh_sum is None:
        return None
    length = stamp.size - known.fresh_from
    return zlib.crc32(os.pread(file, length, known.fresh_from))


def _may_change_unseen(db: sqlite3.Connection, mtime_ns: int) -> bool:
    """Say whether a shard could be written again without its time showing it.

    That is so while its time may be that of the present step of file times. The cache
    file, written by the same clock, is what tells; in memory nothing does.
    """
    written = written_ns(db)
    return written is not None and mtime_ns + _STAMP_STEP_NS > written


def _unreadable(path: Path, error: OSError) -> str:
    return (
        f"{path} cannot be read: {error.strerror}. Nothing was changed, and no record "
        "was passed over. Make it readable, then try again."
    )
