"""The cache file of L1: opened, guarded, and thrown away when it is not good.

Rule 1: nothing in it is truth, so nothing that befalls it reaches a caller. Rule 2: an
answer and all that it is read from are one SQLite transaction. Rule 3: when the file
cannot be used, the same tables are made in memory.

Source:
    CONTRACT section 2, "each rebuilt when missing"; section 1, ``scenestore/``.
"""

import contextlib
import os
import sqlite3
import stat
import threading
import weakref
from collections.abc import Callable, Generator, Sequence
from pathlib import Path
from typing import Protocol, TypeVar

Answer = TypeVar("Answer")

VERSION = 1
"""Of the tables; raised when they change. A cache of another version is made anew."""
_BUSY_S = 2.0
"""Seconds to wait for another process, before going without the file."""
_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")
_NOT_THE_FILES_FAULT = frozenset(
    {
        sqlite3.SQLITE_PERM,
        sqlite3.SQLITE_BUSY,
        sqlite3.SQLITE_LOCKED,
        sqlite3.SQLITE_NOMEM,
        sqlite3.SQLITE_READONLY,
        sqlite3.SQLITE_IOERR,
        sqlite3.SQLITE_FULL,
        sqlite3.SQLITE_CANTOPEN,
        sqlite3.SQLITE_AUTH,
    }
)
_PRIMARY_CODE = 0xFF


class Part(Protocol):
    """One part of the cache, which follows something outside of it."""

    def is_current(self, db: sqlite3.Connection) -> bool:
        """Say whether there is nothing to catch up with; write nothing."""
        ...

    def catch_up(self, db: sqlite3.Connection) -> None:
        """Make the part current; a transaction for writing is open."""
        ...


class RecordCache:
    """The cache of one profile; usable from several threads and processes.

    Args:
        path: Of the file. Its folder is made when that of the folder exists.
        schema: Statements that make the tables.
    """

    def __init__(self, path: Path, schema: str) -> None:
        self._path = path
        self._schema = schema
        self._turn = threading.Lock()
        self._memory: sqlite3.Connection | None = None

    def ask(
        self, parts: Sequence[Part], question: Callable[[sqlite3.Connection], Answer]
    ) -> Answer:
        """Make *parts* current in their order, then return what *question* answers.

        Stays true:
            A question sees one state of the cache. It may be asked again, when the
            file turns out to be damaged on the way.

        Raises:
            Exception: What a part or the question raises, but no error of SQLite.
        """
        with self._turn:
            for _ in range(2):
                try:
                    with self._opened() as db:
                        return _answer(db, parts, question)
                except _UnusableError:
                    break
                except sqlite3.Error as error:
                    code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR)
                    if code & _PRIMARY_CODE in _NOT_THE_FILES_FAULT:
                        break
                    if not self._discard():
                        break
            return _answer(self._in_memory(), parts, question)

    @contextlib.contextmanager
    def _opened(self) -> Generator[sqlite3.Connection]:
        """Give a connection for one answer, so that no thread or deletion meets it."""
        self._make_file()
        db = self._connected()
        try:
            if not _is_ours(db, self._schema):
                db.close()
                if not self._discard():
                    raise _UnusableError
                self._make_file()
                db = self._connected()
                if not _is_ours(db, self._schema):
                    raise _UnusableError
            yield db
        finally:
            db.close()

    def _make_file(self) -> None:
        """Make the file, private, unless it is there; never open one that is.

        Closing a second handle of a file would drop the locks that SQLite holds on it.
        """
        try:
            with contextlib.suppress(FileExistsError):
                self._path.parent.mkdir(mode=0o700)
            with contextlib.suppress(FileExistsError):
                flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
                os.close(os.open(self._path, flags, 0o600))
            if not stat.S_ISREG(self._path.lstat().st_mode):
                raise _UnusableError
        except OSError as error:
            raise _UnusableError from error

    def _connected(self) -> sqlite3.Connection:
        uri = f"{self._path.absolute().as_uri()}?mode=rw"
        db = sqlite3.connect(uri, uri=True, timeout=_BUSY_S, isolation_level=None)
        try:
            _set_up(db)
        except BaseException:
            db.close()
            raise
        return db

    def close(self) -> None:
        """Let go of what is in memory; the cache may be asked again."""
        with self._turn:
            if self._memory is not None:
                self._memory.close()
                self._memory = None

    def _discard(self) -> bool:
        """Delete the file; say whether it is gone."""
        journal = self._path.with_name(f"{self._path.name}-journal")
        try:
            self._path.unlink(missing_ok=True)
            journal.unlink(missing_ok=True)
        except OSError:
            return False
        return True

    def _in_memory(self) -> sqlite3.Connection:
        if self._memory is None:
            # Guarded by the lock, not by being used in one thread only.
            db = sqlite3.connect(
                ":memory:", isolation_level=None, check_same_thread=False
            )
            weakref.finalize(self, db.close)
            _is_ours(db, self._schema)
            self._memory = db
        return self._memory


def written_ns(db: sqlite3.Connection) -> int | None:
    """Return when the cache file was last written, in ns as files have it.

    None: it is in memory. Compared with other files' times only: this is no clock.
    """
    path = db.execute("PRAGMA database_list").fetchone()[2]
    try:
        return os.stat(path).st_mtime_ns if path else None  # noqa: PTH116
    except OSError:
        return None


def made(db: sqlite3.Connection) -> bytes:
    """Return what tells these tables from any that were made before or after them."""
    return bytes(db.execute("SELECT made FROM about").fetchone()[0])


class _UnusableError(Exception):
    """There can be no cache file here."""


def _answer(
    db: sqlite3.Connection,
    parts: Sequence[Part],
    question: Callable[[sqlite3.Connection], Answer],
) -> Answer:
    db.execute("BEGIN")
    try:
        behind = [part for part in parts if not part.is_current(db)]
        if behind:
            # To write later on in a transaction that began to read could fail at once.
            version = _version(db)
            db.execute("ROLLBACK")
            db.execute("BEGIN IMMEDIATE")
            if _version(db) != version:
                behind = [part for part in parts if not part.is_current(db)]
            for part in behind:
                part.catch_up(db)
        answer = question(db)
        db.execute("COMMIT")
    except BaseException:
        if db.in_transaction:
            db.execute("ROLLBACK")
        raise
    return answer


def _version(db: sqlite3.Connection) -> int:
    """Return a number that is another one after any other connection has written."""
    return int(db.execute("PRAGMA data_version").fetchone()[0])


def _set_up(db: sqlite3.Connection) -> None:
    db.execute("PRAGMA synchronous = OFF")
    db.execute("PRAGMA journal_mode = TRUNCATE")
    db.execute("PRAGMA temp_store = MEMORY")
    db.execute("PRAGMA cache_size = -65536")


def _is_ours(db: sqlite3.Connection, schema: str) -> bool:
    """Say whether the tables are ours and of this boot; make them in an empty file.

    Nothing is synced, so a power cut may leave any mixture of old and new pages, which
    SQLite need not notice. After a boot the cache is made anew.
    """
    if not _has_tables(db):
        db.execute("BEGIN IMMEDIATE")
        # Another process may have made them since.
        if not _has_tables(db):
            for statement in schema.split(";"):
                db.execute(statement)
            db.execute("CREATE TABLE about (version INTEGER, boot TEXT, made BLOB)")
            db.execute(
                "INSERT INTO about VALUES (?, ?, randomblob(16))", (VERSION, _boot_id())
            )
        db.execute("COMMIT")
    about = db.execute("SELECT version, boot FROM about").fetchall()
    return bool(about == [(VERSION, _boot_id())])


def _has_tables(db: sqlite3.Connection) -> bool:
    return bool(db.execute("SELECT count(*) FROM sqlite_master").fetchone()[0])


def _boot_id() -> str:
    try:
        return _BOOT_ID.read_text("ascii").strip()
    except OSError:
        return ""  # not Linux
