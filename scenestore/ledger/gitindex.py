"""Git's own index, so that ``git status`` of the scene repo is clean.

It is a projection like any other: nothing is ever decided by it.
"""

import os
from collections.abc import Container, Mapping
from io import BytesIO
from pathlib import Path

from dulwich.index import (
    ConflictedIndexEntry,
    IndexChecksumReader,
    IndexChecksumWriter,
    IndexEntry,
    index_entry_from_stat,
    read_index_dict,
    write_index_dict,
)
from dulwich.objects import ObjectID

from scenestore import durable
from scenestore.ledger.objects import FILE

_Entries = dict[bytes, IndexEntry | ConflictedIndexEntry]
_NEVER = os.stat_result((FILE, 0, 0, 1, 0, 0, 0, 0, 0, 0))


def update(
    git_dir: Path,
    work_tree: Path,
    changes: Mapping[str, str | None],
    doubtful: Container[str],
) -> bool:
    """Enter changed paths; False if it could not be done now, and all must be later.

    Args:
        git_dir: The repository.
        work_tree: Where the paths lie.
        changes: Path to blob id; None: it is tracked no more.
        doubtful: Paths whose files may not hold their blob: git is to look itself.
    """
    data = durable.read_plain(git_dir / "index")
    if data is None:
        return False
    try:
        entries = _read(data)
    except Exception:  # noqa: BLE001 - whatever is wrong with it, it is made anew
        return False
    return _write(git_dir, work_tree, entries, changes, doubtful)


def rebuild(
    git_dir: Path,
    work_tree: Path,
    files: Mapping[str, str],
    doubtful: Container[str],
) -> bool:
    """Make the whole index anew from path to blob id; False if it is locked."""
    return _write(git_dir, work_tree, {}, files, doubtful)


def _read(data: bytes) -> _Entries:
    return read_index_dict(IndexChecksumReader(BytesIO(data)))


def _write(
    git_dir: Path,
    work_tree: Path,
    entries: _Entries,
    changes: Mapping[str, str | None],
    doubtful: Container[str],
) -> bool:
    if (git_dir / "index.lock").exists():
        return False  # an editor is open in `git commit`; it stops nothing of ours
    for path, blob in changes.items():
        name = path.encode("utf-8", "surrogateescape")
        if blob is None:
            entries.pop(name, None)
            continue
        seen = _NEVER if path in doubtful else _stat(work_tree / path)
        entries[name] = index_entry_from_stat(seen, ObjectID(blob.encode()), mode=FILE)
    buffer = BytesIO()
    writer = IndexChecksumWriter(buffer)
    write_index_dict(writer, entries)
    writer.write_checksum()
    durable.replace_file(git_dir / "index", buffer.getvalue())
    return True


def _stat(path: Path) -> os.stat_result:
    try:
        return path.lstat()
    except OSError:
        return _NEVER
