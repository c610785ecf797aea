"""The one module that makes bytes durable, moves files and takes locks.

Rule 1: what is not synced is not promised. Rule 2: a failed fsync is final; the same
file is never synced again and called safe. Rule 3: no link is followed and no file is
opened that is not a plain one, since a FIFO would hang and a link lead elsewhere.

Source:
    The commit protocol: pack, index, folder, ref, folder; five syncs (ARCHITECTURE.md).
"""

import contextlib
import errno
import fcntl
import os
import stat
import sys
import time
from collections.abc import Callable, Generator
from functools import cache
from pathlib import Path

from scenestore.errors import BusyError, DiskError, OutcomeUnknownError

FILE_MODE = 0o600
DIR_MODE = 0o700
_AT_FDCWD = -100
_RENAME_EXCHANGE = 2
_POLL_S = 0.02
TEMPORARY = ".tmp_"
"""What a temporary beside a file begins with, then comes the pid of its writer. It is
hidden, and no scene can be called so."""
PACK_TEMPORARY = "tmp_pack_"
INDEX_TEMPORARY = "tmp_idx_"
REF_TEMPORARY = "tmp_ref_"
_MAX_NAME_BYTES = 200


def make_dir(path: Path) -> None:
    """Make *path* and its parents, private ones; it may be there already."""
    for folder in (*reversed(path.parents), path):
        with contextlib.suppress(FileExistsError):
            folder.mkdir(mode=DIR_MODE)


def read_plain(path: Path) -> bytes | None:
    """Return the bytes of a plain file; None if *path* is missing or none such.

    Raises:
        DiskError: It is there and cannot be read.
    """
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError as error:
        if error.errno in (errno.ENOENT, errno.ENOTDIR, errno.ELOOP, errno.ENXIO):
            return None
        raise DiskError(_failed(f"{path} cannot be read", error)) from error
    try:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            return None
        with os.fdopen(handle, "rb", closefd=False) as file:
            return file.read()
    finally:
        os.close(handle)


def write_new(path: Path, data: bytes, *, sync: bool) -> None:
    """Write *data* to *path*, which must not be there yet."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
    with os.fdopen(os.open(path, flags, FILE_MODE), "wb") as file:
        file.write(data)
        file.flush()
        if sync:
            _sync(file.fileno())


def sync_dir(folder: Path) -> None:
    """Make the names in *folder* durable."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        _sync(handle)
    finally:
        os.close(handle)


def replace_file(path: Path, data: bytes, *, sync: bool = False) -> None:
    """Replace *path* by *data*; a reader sees the old bytes or the new ones.

    Stays true:
        With *sync*, also after a power cut at any point.
    """
    temporary = temporary_beside(path)
    write_new(temporary, data, sync=sync)
    temporary.rename(path)
    if sync:
        sync_dir(path.parent)


def append_line(path: Path, line: bytes) -> None:
    """Append *line* to a file of ours; not synced."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_NONBLOCK
    handle = os.open(path, flags, FILE_MODE)
    try:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise FileExistsError(errno.EEXIST, "it is no plain file", str(path))
        os.write(handle, line)
    finally:
        os.close(handle)


def temporary_beside(path: Path) -> Path:
    """Return a free name for a temporary of this process in the folder of *path*."""
    number = 0
    while True:
        name = f"{TEMPORARY}{os.getpid()}_{number}_{path.name}"
        temporary = path.with_name(_fitting(name))
        if not os.path.lexists(temporary):
            return temporary
        number += 1


def swap_in(path: Path, data: bytes) -> Path | None:
    """Put *data* at *path*, and return where what stood there is now, or None.

    The two change places in one step where the system has it, so that whatever
    another program wrote to *path* until this moment is in the file returned.
    """
    temporary = temporary_beside(path)
    write_new(temporary, data, sync=False)
    if _exchange(temporary, path):
        return temporary
    aside = take_away(path)
    temporary.rename(path)
    return aside


def take_away(path: Path) -> Path | None:
    """Move what stands at *path* aside, and return where; None if nothing does."""
    aside = temporary_beside(path)
    try:
        path.rename(aside)
    except FileNotFoundError:
        return None
    return aside


def move_into(path: Path, folder: Path, name: str) -> Path:
    """Move *path* into *folder* under a free name like *name*, and return where."""
    make_dir(folder)
    number = 0
    while True:
        target = folder / _fitting(name if not number else f"{number}-{name}")
        if not os.path.lexists(target):
            path.rename(target)
            return target
        number += 1


def _fitting(name: str) -> str:
    """Return *name*, cut to what any file system takes."""
    whole = os.fsencode(name)
    if len(whole) <= _MAX_NAME_BYTES:
        return name
    return whole[:_MAX_NAME_BYTES].decode("utf-8", "ignore")


def remove_empty_dirs(folder: Path, until: Path) -> None:
    """Remove *folder* and its parents, as far as they are empty, up to *until*."""
    while folder != until:
        try:
            folder.rmdir()
        except OSError:
            return
        folder = folder.parent


def add_pack(folder: Path, name: str, pack: bytes, index: bytes) -> None:
    """Add a pack of objects and its index to *folder*; three syncs.

    Raises:
        DiskError: The disk failed. Nothing can be seen of the pack.

    Stays true:
        A reader finds a pack by its index, and the index is named after the pack.
    """
    pid = os.getpid()
    parts = (
        (folder / f"{PACK_TEMPORARY}{pid}_{name}", folder / f"{name}.pack", pack),
        (folder / f"{INDEX_TEMPORARY}{pid}_{name}", folder / f"{name}.idx", index),
    )
    try:
        for temporary, _, data in parts:
            temporary.unlink(missing_ok=True)
            write_new(temporary, data, sync=True)
        for temporary, final, _ in parts:
            temporary.rename(final)
        sync_dir(folder)
    except OSError as error:
        for temporary, _, _ in parts:
            with contextlib.suppress(OSError):
                temporary.unlink(missing_ok=True)
        raise DiskError(_failed("The new revision was not written", error)) from error


def move_ref(ref: Path, own: Path, *, old: bytes | None, new: bytes) -> bool:
    """Let *ref* say *new*, if it says *old*; two syncs. Return whether it does.

    Args:
        ref: The file of the ref; its lock is ``<ref>.lock``, as git has it.
        own: A folder of ours on the same file system.
        old: What it must say now, None: it must not be there.
        new: What it is to say.

    Raises:
        BusyError: Another program holds the ref's lock. Nothing was changed.
        DiskError: The disk failed before the ref moved. Nothing was changed.
        OutcomeUnknownError: It failed after; the next open tells.
    """
    temporary = own / f"{REF_TEMPORARY}{os.getpid()}"
    lock = ref.with_name(ref.name + ".lock")
    try:
        temporary.unlink(missing_ok=True)
        write_new(temporary, new, sync=True)
        # Linked when it is whole and synced: a lock of ours is never empty, and a
        # dead writer's is told from another program's by the file that it shares.
        _link(temporary, lock, new)
    except FileExistsError as error:
        temporary.unlink(missing_ok=True)
        raise BusyError(
            f"Another program holds {lock}. Nothing was changed. Try again when it is "
            "done."
        ) from error
    except OSError as error:
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)
        raise DiskError(_failed("The new revision was not published", error)) from error
    try:
        is_as_expected = read_plain(ref) == old
        if is_as_expected:
            lock.rename(ref)
        else:
            lock.unlink()
        temporary.unlink()
    except OSError as error:
        with contextlib.suppress(OSError):
            lock.unlink(missing_ok=True)
        raise DiskError(_failed("The new revision was not published", error)) from error
    if is_as_expected:
        try:
            sync_dir(ref.parent)
        except OSError as error:
            raise OutcomeUnknownError(
                f"The disk failed in the last step ({error}). The batch is wholly "
                "there or not at all. Run scenestore status, then send it again: that "
                "is safe."
            ) from error
    return is_as_expected


def _link(temporary: Path, lock: Path, data: bytes) -> None:
    """Let *lock* be the file *temporary*, or one like it where links are unknown."""
    try:
        lock.hardlink_to(temporary)
    except FileExistsError:
        raise
    except OSError as error:
        if error.errno not in (errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP):
            raise
        write_new(lock, data, sync=True)


@contextlib.contextmanager
def locked(path: Path, *, wait_s: float) -> Generator[None]:
    """Hold the lock *path*, an empty file that stays, for as long as the block runs.

    Raises:
        BusyError: Another process held it for *wait_s* seconds.
        DiskError: It cannot be opened.
    """
    flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        handle = os.open(path, flags, FILE_MODE)
    except OSError as error:
        raise DiskError(_failed(f"{path} cannot be locked", error)) from error
    try:
        _take(handle, path, wait_s)
        yield
    finally:
        os.close(handle)  # and with it goes the lock


def _take(handle: int, path: Path, wait_s: float) -> None:
    deadline = time.monotonic() + wait_s
    while True:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            if time.monotonic() >= deadline:
                raise BusyError(
                    f"Another process has been writing for {wait_s:g} s and holds "
                    f"{path}. Nothing was changed. Try again."
                ) from error
            time.sleep(_POLL_S)
        else:
            return


def _sync(handle: int) -> None:
    if sys.platform == "darwin":
        fcntl.fcntl(handle, fcntl.F_FULLFSYNC)
    else:
        os.fsync(handle)


def _exchange(one: Path, other: Path) -> bool:
    """Let two files change places in one step; False where that cannot be done."""
    renameat2 = _renameat2()
    if renameat2 is None:
        return False
    names = (os.fsencode(one), os.fsencode(other))
    done = renameat2(_AT_FDCWD, names[0], _AT_FDCWD, names[1], _RENAME_EXCHANGE)
    return done == 0


@cache
def _renameat2() -> Callable[..., int] | None:
    """Return Linux's call for it; Python has none of its own."""
    if not sys.platform.startswith("linux"):
        return None
    import ctypes  # noqa: PLC0415 - slow to import, and only writers draw

    found: Callable[..., int] | None = getattr(ctypes.CDLL(None), "renameat2", None)
    return found


def _failed(what: str, error: OSError) -> str:
    return (
        f"{what}: {error}. Nothing was changed. "
        "See to the disk (space, permissions), then try again."
    )
