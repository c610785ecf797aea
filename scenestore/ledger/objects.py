"""Git's objects: immutable, named by their hash, so that writing them needs no lock.

Rule 1: nothing that git can be told is obeyed here: no config, alternates, grafts,
replace refs, commit-graph or multi-pack-index. Rule 2: packs are looked up newest
first, since what is asked for is mostly what was written last.
"""

import contextlib
import os
import struct
import traceback
import weakref
import zlib
from collections.abc import Iterator, Mapping
from io import BytesIO
from pathlib import Path
from typing import NamedTuple

from dulwich.errors import ApplyDeltaError, ChecksumMismatch, ObjectFormatException
from dulwich.object_format import SHA1
from dulwich.objects import (
    Blob,
    Commit,
    ObjectID,
    RawObjectID,
    ShaFile,
    Tree,
    hex_to_sha,
    parse_tree,
    serialize_tree,
    sorted_tree_items,
)
from dulwich.pack import (
    Pack,
    PackFileDisappeared,
    write_pack_index_v2,
    write_pack_objects,
)

from scenestore import durable
from scenestore.errors import CorruptError

FILE = 0o100644
FOLDER = 0o040000
_MAX_OPEN_PACKS = 100
_MAX_KEPT_BYTES = 16 * 1024 * 1024
_FAST = 1  # zlib's level on the commit path
_DAMAGE = (
    ApplyDeltaError,
    AssertionError,
    ChecksumMismatch,
    EOFError,
    IndexError,
    ObjectFormatException,
    OverflowError,
    PermissionError,
    TypeError,
    struct.error,
    ValueError,
    zlib.error,
)


class _DamagedError(Exception):
    """An object is there, and no copy of it is whole."""


class Entry(NamedTuple):
    """One name in a tree."""

    mode: int
    id: str

    @property
    def is_folder(self) -> bool:
        """Say whether it is a tree itself."""
        return self.mode == FOLDER


class Change(NamedTuple):
    """What one path held before and after, as blob ids; None: nothing."""

    before: str | None
    after: str | None


class Objects:
    """The objects of one repository: those on disk, and those about to be."""

    def __init__(self, git_dir: Path) -> None:
        """Read the objects below *git_dir*; nothing is opened before it is needed."""
        self._folder = git_dir / "objects"
        self._packs: dict[str, Pack | None] = {}  # newest first; None: not open
        weakref.finalize(self, _close_all, self._packs)
        self._staged: dict[str, ShaFile] = {}
        self._kept: dict[str, tuple[int, bytes]] = {}
        self._kept_bytes = 0

    def close(self) -> None:
        """Close every pack; the next look-up opens what it needs."""
        _close_all(self._packs)
        self._packs.clear()

    # Reading

    def blob(self, blob_id: str) -> bytes:
        """Return a blob's bytes.

        Raises:
            CorruptError: It is missing, damaged or no blob.
        """
        return self._get(blob_id, Blob.type_num)

    def tree(self, tree_id: str | None) -> dict[str, Entry]:
        """Return a tree's names in git's order; None is the empty tree.

        Raises:
            CorruptError: It is missing, damaged or no tree.
        """
        if tree_id is None:
            return {}
        raw = self._get(tree_id, Tree.type_num)
        return {
            name.decode("utf-8", "surrogateescape"): Entry(mode, sha.decode("ascii"))
            for name, mode, sha in parse_tree(raw, sha_len=20)
        }

    def raw_tree(self, tree_id: str) -> bytes:
        """Return a tree's own bytes."""
        return self._get(tree_id, Tree.type_num)

    def commit(self, commit_id: str) -> Commit:
        """Return a commit.

        Raises:
            CorruptError: It is missing, damaged or no commit.
        """
        raw = self._get(commit_id, Commit.type_num)
        found = ShaFile.from_raw_string(Commit.type_num, raw)
        if not isinstance(found, Commit):
            raise CorruptError(f"{commit_id} is no commit")
        return found

    def has(self, object_id: str) -> bool:
        """Say whether there is an object of this id, damaged or not."""
        try:
            self._raw(object_id)
        except KeyError:
            return False
        except _DamagedError:
            return True
        return True

    def kind(self, object_id: str) -> str:
        """Return ``commit``, ``tree``, ``blob``, ``missing`` or ``damaged``."""
        try:
            number, _ = self._raw(object_id)
        except KeyError:
            return "missing"
        except _DamagedError:
            return "damaged"
        return {1: "commit", 2: "tree", 3: "blob"}.get(number, "other")

    def starting_with(self, prefix: str) -> Iterator[str]:
        """Yield the stored objects whose ids begin with *prefix*, 4 digits or more."""
        self._look_for_packs()
        seen: set[str] = set()
        for name in list(self._packs):
            index = self._opened(name).index
            even = prefix[: len(prefix) // 2 * 2]
            for sha in index.iter_prefix(RawObjectID(bytes.fromhex(even))):
                text = bytes(sha).hex()
                if text.startswith(prefix) and text not in seen:
                    seen.add(text)
                    yield text
        for path in self._folder.glob(f"{prefix[:2]}/{prefix[2:]}*"):
            text = path.parent.name + path.name
            if len(text) == 40 and text not in seen:  # noqa: PLR2004 - a sha1 in hex
                yield text

    def changed(
        self, before: str | None, after: str | None, within: str = ""
    ) -> Iterator[tuple[str, Change]]:
        """Yield every file that differs between two trees, by its whole path.

        What is equal by id is never opened.
        """
        if before == after:
            return
        old, new = self.tree(before), self.tree(after)
        for name in sorted(old.keys() | new.keys()):
            one, two = old.get(name), new.get(name)
            if one == two:
                continue
            path = within + name
            folders = [e.id if e and e.is_folder else None for e in (one, two)]
            files = [e.id if e and not e.is_folder else None for e in (one, two)]
            if any(folders):
                yield from self.changed(folders[0], folders[1], f"{path}/")
            if any(files):
                yield path, Change(files[0], files[1])

    def _get(self, object_id: str, kind: int) -> bytes:
        try:
            number, raw = self._raw(object_id)
        except KeyError:
            raise CorruptError(
                f"The object {object_id} is missing from the history. Nothing was "
                "changed. Run scenestore check."
            ) from None
        except _DamagedError as error:
            raise CorruptError(
                f"The object {object_id} is damaged ({error}). Nothing was changed. "
                "Run scenestore check."
            ) from error
        if number != kind:
            raise CorruptError(f"The object {object_id} is of another kind.")
        return raw

    def _raw(self, object_id: str) -> tuple[int, bytes]:
        """Return an object, from whichever copy of it is whole.

        Raises:
            KeyError: There is none.
            _DamagedError: There are copies, and each is damaged.
        """
        if object_id in self._staged:
            staged = self._staged[object_id]
            return staged.type_num, staged.as_raw_string()
        if object_id in self._kept:
            return self._kept[object_id]
        damage: _DamagedError | None = None
        for look in (self._from_packs, self._from_new_packs, self._loose):
            try:
                found = look(object_id)
            except _DamagedError as error:
                damage = error
                continue
            if found is not None:
                self._keep(object_id, found)
                return found
        raise damage or KeyError(object_id)

    def _keep(self, object_id: str, found: tuple[int, bytes]) -> None:
        if object_id in self._kept:
            return
        self._kept[object_id] = found
        self._kept_bytes += len(found[1])
        while self._kept_bytes > _MAX_KEPT_BYTES:
            oldest = next(iter(self._kept))
            self._kept_bytes -= len(self._kept.pop(oldest)[1])

    def _from_packs(self, object_id: str) -> tuple[int, bytes] | None:
        sha = hex_to_sha(ObjectID(object_id.encode()))
        damage: str | None = None
        for name in list(self._packs):
            try:
                return self._opened(name).get_raw(sha)
            except KeyError:
                continue
            except (PackFileDisappeared, FileNotFoundError):
                self._forget(name)
            except _DAMAGE as error:
                damage = _told(error)  # another pack may have a whole copy
        if damage is not None:
            raise _DamagedError(damage)
        return None

    def _forget(self, name: str) -> None:
        self._close(name)
        del self._packs[name]

    def _from_new_packs(self, object_id: str) -> tuple[int, bytes] | None:
        """Look again: another process may have added a pack."""
        self._look_for_packs()
        return self._from_packs(object_id)

    def _opened(self, name: str) -> Pack:
        pack = self._packs[name]
        if pack is None:
            is_open = [n for n, p in self._packs.items() if p is not None]
            for other in is_open[_MAX_OPEN_PACKS - 1 :]:
                self._close(other)
            pack = Pack(str(self._folder / "pack" / name), object_format=SHA1)
            self._packs[name] = pack
        return pack

    def _close(self, name: str) -> None:
        pack = self._packs[name]
        if pack is not None:
            _close(pack)
        self._packs[name] = None

    def _look_for_packs(self) -> None:
        folder = self._folder / "pack"
        found: list[tuple[int, str]] = []
        try:
            with os.scandir(folder) as entries:
                files = {entry.name: entry for entry in entries}
        except FileNotFoundError:
            files = {}
        for name, entry in files.items():
            stem, dot, suffix = name.rpartition(".")
            is_ours = dot and suffix == "idx" and f"{stem}.pack" in files
            if is_ours and entry.is_file(follow_symlinks=False):
                found.append((-entry.stat(follow_symlinks=False).st_mtime_ns, stem))
        for gone in self._packs.keys() - {stem for _, stem in found}:
            self._close(gone)
        self._order({stem: self._packs.get(stem) for _, stem in sorted(found)})

    def _order(self, packs: dict[str, Pack | None]) -> None:
        """Let the packs be just *packs*, in this order; the dict stays the same one."""
        self._packs.clear()
        self._packs.update(packs)

    def _loose(self, object_id: str) -> tuple[int, bytes] | None:
        path = self._folder / object_id[:2] / object_id[2:]
        data = durable.read_plain(path)
        if not data:
            return None  # a file of no length is what a power cut leaves
        damage: str | None = None
        try:
            found = ShaFile.from_file(BytesIO(data))
            raw = found.type_num, found.as_raw_string()
            if found.id.decode("ascii") == object_id:
                return raw
            damage = f"it holds {found.id.decode('ascii')}"
        except _DAMAGE as error:
            damage = _told(error)
        raise _DamagedError(damage)

    def look_afresh(self) -> None:
        """Forget what was read; the next look goes to the disk."""
        self._kept, self._kept_bytes = {}, 0
        self.close()

    def pack_problems(self) -> Iterator[str]:
        """Yield what is wrong with packs as files, which no object's hash tells."""
        self._look_for_packs()
        for name in list(self._packs):
            damage: str | None = None
            try:
                pack = self._opened(name)
                pack.index.check()
                pack.check()
            except (*_DAMAGE, KeyError, OSError) as error:
                damage = _told(error)
            if damage is not None:
                yield f"the pack {name} is damaged ({damage})"

    # Writing

    def put_blob(self, data: bytes) -> str:
        """Stage a blob; return its id."""
        return self._put(ShaFile.from_raw_string(Blob.type_num, data))

    def put_tree(self, entries: Mapping[str, Entry]) -> str | None:
        """Stage a tree; return its id, or None for an empty one, which git omits."""
        if not entries:
            return None
        items = {
            name.encode("utf-8", "surrogateescape"): (
                entry.mode,
                ObjectID(entry.id.encode()),
            )
            for name, entry in entries.items()
        }
        raw = b"".join(serialize_tree(sorted_tree_items(items, name_order=False)))
        return self._put(ShaFile.from_raw_string(Tree.type_num, raw))

    def put_commit(self, commit: Commit) -> str:
        """Stage a commit; return its id."""
        return self._put(commit)

    def _put(self, made: ShaFile) -> str:
        object_id = made.id.decode("ascii")
        self._staged[object_id] = made
        return object_id

    def discard(self) -> None:
        """Forget what was staged."""
        self._staged = {}

    def seal(self) -> None:
        """Write what was staged as one pack, durably; nothing refers to it yet.

        Raises:
            DiskError: The disk failed; what was staged is forgotten.
        """
        staged, self._staged = list(self._staged.values()), {}
        data, index = BytesIO(), BytesIO()
        entries, checksum = write_pack_objects(
            data, staged, SHA1, deltify=False, compression_level=_FAST
        )
        rows = sorted((sha, offset, crc) for sha, (offset, crc) in entries.items())
        write_pack_index_v2(index, rows, checksum)
        name = f"pack-{checksum.hex()}"
        folder = self._folder / "pack"
        durable.add_pack(folder, name, data.getvalue(), index.getvalue())
        self._order({name: None, **self._packs})
        for made in staged:
            self._keep(made.id.decode("ascii"), (made.type_num, made.as_raw_string()))


def _close_all(packs: Mapping[str, Pack | None]) -> None:
    for pack in packs.values():
        if pack is not None:
            _close(pack)


def _close(pack: Pack) -> None:
    with contextlib.suppress(BufferError):
        pack.close()


def _told(error: BaseException) -> str:
    """Return what *error* says, and let go of the views into packs that it holds."""
    traceback.clear_frames(error.__traceback__)
    error.__traceback__ = None
    return f"{type(error).__name__}: {error}"
