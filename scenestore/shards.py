"""The shards of one folder as tables: what was appended is read, the rest is believed.

Rule 1: nothing is written here. Rule 2: a shard is believed as long as its size, time
and inode are as they were, and read on from where whole lines ended as long as it only
grew; else it is read again. Rule 3: no link is followed, and what is no plain file is
not opened, since a FIFO would hang.

Source:
    CONTRACT section 2; DURABILITY section 4, "L1".
"""

import os
import sqlite3
import stat
import zlib
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from hashlib import blake2b
from pathlib import Path
from typing import NamedTuple

import msgspec

from scenestore.errors import DiskError
from scenestore.layout import SHARD_SUFFIX
from scenestore.recordcache import made, written_ns
from scenestore.recordindex import (
    BLOCK_BITS,
    SHARD_BITS,
    Spot,
    drop_objects,
    drop_shard,
    prepare_touched,
    settle_latest,
    settle_status,
)
from scenestore.shardlines import Objects, parse, parse_line

_CHUNK_BYTES = 1 << 20
_TAIL_BYTES = 4_096
_STAMP_STEP_NS = 100_000_000
"""Nanoseconds that file times may be coarse by: ten ticks of the slowest kernel."""
_MAX_FRESH_BYTES = 4 << 20
"""A longer read takes longer than a step of file times, so it needs no second look."""


class Stamp(NamedTuple):
    """What tells that a file is as it was."""

    size: int
    mtime_ns: int
    inode: int


class Shards:
    """The part of the cache that follows the shards of one folder.

    Args:
        folder: Where the shards lie; it may be missing.
        distrusted: Shards to read whole, since their bytes were not what was said.
        is_steady: Look at the folder once, and go by that from then on.
    """

    def __init__(
        self,
        folder: Path,
        distrusted: frozenset[str] = frozenset(),
        *,
        is_steady: bool = False,
    ) -> None:
        self._folder = folder
        self._is_steady = is_steady
        self._current_in: bytes | None = None
        self._seen: dict[str, Stamp] = {}
        self.distrusted = distrusted
        self.left_out: list[str] = []
        """Names of files that look like shards and are not read."""

    def is_current(self, db: sqlite3.Connection) -> bool:
        """Say whether every shard is as the cache has it."""
        if self._is_steady and self._current_in == made(db):
            return True
        self._seen, self.left_out = shards_in(self._folder)
        seen = [(name, *stamp, None) for name, stamp in sorted(self._seen.items())]
        rows = db.execute(
            "SELECT name, size, mtime_ns, inode, fresh_sum FROM shard ORDER BY name"
        ).fetchall()
        if rows != seen or self.distrusted:
            return False
        self._current_in = made(db)
        return True

    def catch_up(self, db: sqlite3.Connection) -> None:
        """Read what `is_current` found new in the folder, and drop what is gone.

        Raises:
            DiskError: A shard cannot be read.
        """
        known = _known_shards(db)
        seen = sorted(self._seen.items())
        prepare_touched(db)
        is_first = not (
            db.execute("SELECT 1 FROM object LIMIT 1").fetchone()
            or db.execute("SELECT 1 FROM home LIMIT 1").fetchone()
        )
        if is_first:
            db.execute("DROP INDEX object_id")
        for name in known.keys() - dict(seen).keys():
            drop_shard(db, known[name].n)
        for name, stamp in seen:
            one = known.get(name)
            is_last = name == seen[-1][0]
            is_distrusted = name in self.distrusted
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
        settle_latest(db)
        settle_status(db)
        self._current_in = made(db)


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
            stamp: The file as it is now.
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
                    drop_shard(self.db, known.n)
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
        drop_objects(db, n, known.objects)
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
                found = parse_line(
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
        first = (n << SHARD_BITS) + objects
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
            [(b,) for b in range(first >> BLOCK_BITS, (after >> BLOCK_BITS) + 1)],
        )
        if not self.is_first:
            self.db.executemany(
                "INSERT OR IGNORE INTO touched VALUES (?)", zip(found.ids, strict=True)
            )


@contextmanager
def _opened(path: Path) -> Generator[tuple[int, Stamp] | None]:
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


def _chunks(file: int, offset: int, size: int) -> Iterator[bytes]:
    """Yield the bytes from *offset* to *size*: whole lines, then a line without LF."""
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
    """Return the sum of the bytes that were new at the last look, if one was kept."""
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
