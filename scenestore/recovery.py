"""What an open does after a crash: the ledger is right, the files follow.

Everything here runs under the profile's lock, may be cut off at any point, and may be
done again.
"""

import contextlib
import os
import re
from collections.abc import Iterator
from pathlib import Path

from scenestore import clock, durable, layout
from scenestore.ledger import Ledger
from scenestore.projection import Projection, blob_id

_OURS = re.compile(
    rf"(?:{re.escape(durable.TEMPORARY)}|{durable.PACK_TEMPORARY}"
    rf"|{durable.INDEX_TEMPORARY}|{durable.REF_TEMPORARY})\d+(?:_(?:\d+_)?|$)"
)
_OLD_LOCK_S = 600
"""Age from which a lock that nobody holds is another program's that died.
Source: CONTRACT section 9."""


def recover(
    profile: Path, ledger: Ledger, projection: Projection, *, thorough: bool
) -> list[str]:
    """Finish or undo what a writer left that died; return a sentence a deed.

    Args:
        profile: Whose lock the caller holds, so that no writer of ours is alive.
        ledger: Of the profile.
        projection: Of the profile.
        thorough: Whether temporaries are looked for, too: once an open is enough.
    """
    done = [*_locks(profile)]
    if thorough:
        done += _temporaries(profile, ledger)
    head = ledger.head()
    if head is None:
        return done
    own = ledger.last_own(head)
    drawn = projection.drawn()
    if drawn.revision == own.id:
        return done
    if drawn.revision is None:
        moved = projection.redraw(own.id, own.tree, ledger.state(own.tree), drift=False)
        return [*done, "drew the files anew", *map(_rescued, moved)]
    if ledger.descends(own.id, drawn.revision):
        drift = {drift.path for drift in projection.drift(own.tree)}
        moved = projection.draw(own.id, own.tree, ledger.state(own.tree), spared=drift)
        return [*done, f"drew the files of revision {own.seq}", *map(_rescued, moved)]
    return done  # the head moved away from what was drawn; see `Store`


def _rescued(path: Path) -> str:
    return f"moved what another hand had written to {path}"


def _temporaries(profile: Path, ledger: Ledger) -> Iterator[str]:
    """Remove what a dead writer left half-made; keep what may be another hand's."""
    git, root = layout.git_dir(profile), layout.repo_dir(profile)
    count = 0
    for folder in (
        git / "objects" / "pack",
        layout.own_dir(profile),
        git,
        git / "info",
    ):
        for path in _ours_in(folder):
            path.unlink(missing_ok=True)
            count += 1
    for name, folders, _ in os.walk(root, followlinks=False):
        folder = Path(name)
        if folder == root and git.name in folders:
            folders.remove(git.name)
        for path in _ours_in(folder):
            data = durable.read_plain(path)
            # Nothing is lost with an empty one, or with what the history holds.
            if data is not None and (not data or ledger.objects.has(blob_id(data))):
                path.unlink(missing_ok=True)
                count += 1
            else:
                rescued = layout.rescued_dir(profile)
                stem = _OURS.sub("", path.name)
                yield _rescued(durable.move_into(path, rescued, stem or path.name))
    if count:
        yield f"removed {count} temporaries of a writer that died"


def _ours_in(folder: Path) -> list[Path]:
    """Return the temporaries in *folder*; a folder of such a name is none of ours."""
    try:
        with os.scandir(folder) as entries:
            return [
                Path(entry.path)
                for entry in entries
                if _OURS.match(entry.name) and not entry.is_dir(follow_symlinks=False)
            ]
    except (FileNotFoundError, NotADirectoryError):
        return []


def _locks(profile: Path) -> Iterator[str]:
    """Remove the ref's lock if its writer is dead: ours at once, others' when old."""
    lock = layout.git_dir(profile) / f"{layout.MAIN_REF}.lock"
    try:
        seen = lock.lstat()
    except FileNotFoundError:
        return
    ours = layout.own_dir(profile).glob(f"{durable.REF_TEMPORARY}*")
    if any(path.lstat().st_ino == seen.st_ino for path in ours):
        lock.unlink(missing_ok=True)
        yield "removed the lock of a writer of ours that died"
    elif clock.age_s(seen.st_mtime) > _OLD_LOCK_S and not _is_open(lock):
        lock.unlink(missing_ok=True)
        yield f"removed {lock}, which another program left more than ten minutes ago"


def _is_open(path: Path) -> bool:
    """Say whether a process has *path* open, as far as the system tells."""
    try:
        wanted = path.stat()
    except FileNotFoundError:
        return False
    for handle in Path("/proc").glob("[0-9]*/fd/*"):
        with contextlib.suppress(OSError):
            seen = os.stat(handle)  # noqa: PTH116 - follows the link of /proc
            if (seen.st_dev, seen.st_ino) == (wanted.st_dev, wanted.st_ino):
                return True
    return False
