"""The files that others read, drawn from the head. Never a source of truth.

Rule 1: what is read here is read only to find the work of another hand (*drift*).
Rule 2: nothing that another hand wrote is ever overwritten or removed: what does not
hold what we drew is moved into ``rescued/`` before its place is drawn.

Source:
    CONTRACT section 1, "Truth".
"""

import os
from collections.abc import Collection, Iterable, Iterator, Mapping
from enum import StrEnum
from hashlib import sha1
from pathlib import Path

import msgspec

from scenestore import durable, layout
from scenestore.errors import DiskError
from scenestore.ledger import Change, Ledger
from scenestore_engine.state import Scene, State

_MAX_LINES = 200
"""Lines of ``drawn`` before it is written anew as one."""


class DriftKind(StrEnum):
    """What another hand did to a scene file."""

    EDITED = "edited"
    ADDED = "added"
    REMOVED = "removed"
    NOT_A_FILE = "not_a_file"
    EMPTIED = "emptied"


class Drift(msgspec.Struct, frozen=True, kw_only=True):
    """The work of another hand at one path."""

    path: str
    """Below the scene repo, such as ``scene-blocks/travel.md``."""
    kind: DriftKind


class Drawn(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What the projection was drawn from: a line of ``drawn``, or all of them."""

    revision: str | None = None
    paths: Mapping[str, str | None] = {}
    """Path to the blob that was drawn there; None: nothing."""
    scene_index: str | None = None
    """sha1 of the scene index's bytes."""
    git_index: bool = True
    """Whether git's own index was drawn, too."""


_LINES = msgspec.json.Decoder(Drawn)


class Projection:
    """The work tree of one profile, git's index and the scene index."""

    def __init__(self, profile: Path, ledger: Ledger) -> None:
        """Draw the work tree of *profile* from *ledger*."""
        self._profile = profile
        self._root = layout.repo_dir(profile)
        self._ledger = ledger

    # What was drawn

    def drawn(self) -> Drawn:
        """Return what the projection was drawn from; a torn last line is passed by."""
        data = durable.read_plain(layout.drawn_file(self._profile)) or b""
        paths: dict[str, str | None] = {}
        last = Drawn()
        for line in data.split(b"\n")[:-1]:
            try:
                last = _LINES.decode(line)
            except (msgspec.MsgspecError, UnicodeDecodeError):
                return Drawn()
            paths |= last.paths
        if data and not data.endswith(b"\n"):
            last = msgspec.structs.replace(last, scene_index=None)  # a later one was
        return msgspec.structs.replace(last, paths=paths)

    def _note(self, drawn: Drawn, before: Drawn, *, whole: bool) -> None:
        path = layout.drawn_file(self._profile)
        there = durable.read_plain(path) or b""
        can_grow = there.endswith(b"\n") and there.count(b"\n") < _MAX_LINES
        if not whole and before.revision is not None and can_grow:
            durable.append_line(path, msgspec.json.encode(drawn) + b"\n")
            return
        if not whole:
            drawn = msgspec.structs.replace(
                drawn, paths={**before.paths, **drawn.paths}
            )
        kept = {p: blob for p, blob in drawn.paths.items() if blob is not None}
        all_in_one = msgspec.structs.replace(drawn, paths=kept)
        durable.replace_file(path, msgspec.json.encode(all_in_one) + b"\n")

    # Drift

    def drift(self, tree: str, only: Iterable[str] | None = None) -> list[Drift]:
        """Return the work of other hands under scene-blocks/, by path.

        Args:
            tree: The tree of the revision that counts.
            only: Paths to look at; None: all.

        Stays true:
            Nothing is changed, and no link is followed.
        """
        drawn = self.drawn()
        files = {
            path: blob
            for path, blob in self._ledger.files(tree).items()
            if path.startswith(f"{layout.SCENES}/")
        }
        if only is None:
            only = {
                *files,
                *(p for p in drawn.paths if p.startswith(f"{layout.SCENES}/")),
                *self._present(),
            }
        is_behind = self._tree_of(drawn) != tree
        found = (self._drift_at(path, files, drawn, is_behind) for path in sorted(only))
        return [drift for drift in found if drift is not None]

    def _present(self) -> Iterator[str]:
        folder = self._root / layout.SCENES
        if self._is_behind_link(f"{layout.SCENES}/"):
            return
        try:
            with os.scandir(folder) as entries:
                for entry in entries:
                    if not entry.name.startswith(durable.TEMPORARY):
                        yield f"{layout.SCENES}/{entry.name}"
        except (FileNotFoundError, NotADirectoryError):
            return

    def text_at(self, path: str) -> bytes | None:
        """Return what stands at *path*, if it is a plain file behind no link."""
        return (
            None
            if self._is_behind_link(path)
            else durable.read_plain(self._root / path)
        )

    def _is_behind_link(self, path: str) -> bool:
        """Say whether a folder on the way to *path* is a link: none is followed."""
        parts = path.split("/")[:-1]
        ways = ("/".join(parts[: count + 1]) for count in range(len(parts)))
        return any((self._root / way).is_symlink() for way in ways)

    def _drift_at(
        self,
        path: str,
        files: Mapping[str, str],
        drawn: Drawn,
        is_behind: bool,  # noqa: FBT001 - one of four facts about a path
    ) -> Drift | None:
        ours = {files.get(path), drawn.paths.get(path)} - {None}
        full = self._root / path
        if self._is_behind_link(path):
            return Drift(path=path, kind=DriftKind.NOT_A_FILE)
        try:
            data = durable.read_plain(full)
        except DiskError:  # there, and nobody may read it: not what we drew
            return Drift(path=path, kind=DriftKind.NOT_A_FILE)
        if data is None:
            if full.is_symlink() and blob_id(os.fsencode(full.readlink())) in ours:
                return None  # a commit of another hand holds just this link
            if os.path.lexists(full):
                return Drift(path=path, kind=DriftKind.NOT_A_FILE)
            # Drawn, and gone; what was never drawn is merely behind.
            was_drawn = drawn.paths.get(path) is not None
            is_wanted = path in files
            if was_drawn and is_wanted and not is_behind:
                return Drift(path=path, kind=DriftKind.REMOVED)
            return None
        blob = blob_id(data)
        if blob in ours:
            return None
        if is_behind and (not data.strip(b"\0") or self._was_ours(path, blob)):
            return None
        if not data.strip(b"\0 \t\r\n"):
            return Drift(path=path, kind=DriftKind.EMPTIED)
        kind = DriftKind.EDITED if ours else DriftKind.ADDED
        return Drift(path=path, kind=kind)

    def _was_ours(self, path: str, blob: str) -> bool:
        """Say whether *blob* stood at *path* in some revision: then it is no drift."""
        folder, _, name = path.rpartition("/")
        return any(
            self._ledger.folder(revision.tree, folder).get(name) == blob
            for revision in self._ledger.back_from(self._ledger.head())
        )

    # Drawing

    def draw(
        self,
        revision: str,
        tree: str,
        state: State,
        *,
        over: str | None = None,
        spared: Collection[str] = (),
    ) -> list[Path]:
        """Bring the files from what was drawn last to *tree*; equal ones are let be.

        Args:
            revision: The revision whose tree it is.
            tree: What is to be drawn.
            state: Of that revision, META opened for the scenes that changed.
            over: A tree of another hand that is in the history, and that gives way.
            spared: Paths that are let be, since another hand has been there.

        Returns:
            Where things went that another hand had put in a place that was drawn.
        """
        known = self.drawn()
        before = self._tree_of(known)
        whole = before is None
        changes = self._ledger.changed(before, tree)
        if over is not None:
            changes = {**self._ledger.changed(over, tree), **changes}
        changes = {path: c for path, c in changes.items() if path not in spared}
        # What goes, goes first: a file may stand where a folder is to be.
        in_order = sorted(changes.items(), key=lambda item: item[1].after is not None)
        rescued = [
            moved
            for path, change in in_order
            if (moved := self._draw_file(path, change, known)) is not None
        ]
        index_sum, aside = self._draw_scene_index(known, before, tree, state, changes)
        rescued += aside
        after = {path: change.after for path, change in changes.items()}
        git_index = (
            not whole
            and known.git_index
            and not spared
            and self._ledger.enter_in_index(after, (), whole=False)
        ) or self._ledger.enter_in_index(
            self._ledger.files(tree), self._doubtful(tree), whole=True
        )
        drawn = Drawn(
            revision=revision, paths=after, scene_index=index_sum, git_index=git_index
        )
        self._note(drawn, known, whole=whole)
        return rescued

    def _tree_of(self, drawn: Drawn) -> str | None:
        """Return the tree that *drawn* was drawn from, if it is still here."""
        if drawn.revision is None or not self._ledger.objects.has(drawn.revision):
            return None
        return self._ledger.revision(drawn.revision).tree

    def redraw(
        self, revision: str, tree: str, state: State, *, drift: bool
    ) -> list[Path]:
        """Draw every file that does not hold what *tree* says, wherever it stands.

        Args:
            revision: The revision whose tree it is.
            tree: What is to be drawn.
            state: Of that revision, all META opened.
            drift: Whether the work of other hands is moved aside; else it is let be.

        Returns:
            Where things went that stood in the way.
        """
        known = self.drawn()
        wanted = self._ledger.files(tree)
        spared: set[str] = set() if drift else {d.path for d in self.drift(tree)}
        rescued: list[Path] = []
        for path in sorted({*wanted, *known.paths, *self._strangers()} - spared):
            blob = wanted.get(path)
            data = durable.read_plain(self._root / path)
            is_there = data is not None and not self._is_behind_link(path)
            if blob is not None and is_there and blob_id(data or b"") == blob:
                continue
            moved = self._draw_file(path, Change(known.paths.get(path), blob), known)
            rescued += [] if moved is None else [moved]
        index = _index_bytes(
            self._entry(name, s) for name, s in sorted(state.live.items())
        )
        rescued += self._put_scene_index(index, known)
        drawn = Drawn(
            revision=revision,
            paths={p: b for p, b in wanted.items() if p not in spared}
            | {p: known.paths.get(p) for p in spared},
            scene_index=sha1(index, usedforsecurity=False).hexdigest(),
            git_index=self._ledger.enter_in_index(wanted, spared, whole=True),
        )
        self._note(drawn, known, whole=True)
        return rescued

    def set_aside(self, tree: str) -> list[Path]:
        """Move the work of other hands aside and draw what *tree* has in its place.

        For a tree of another hand, that is never noted as drawn.
        """
        known, wanted = self.drawn(), self._ledger.files(tree)
        moved = (
            self._draw_file(drift.path, Change(None, wanted.get(drift.path)), known)
            for drift in self.drift(tree)
        )
        return [path for path in moved if path is not None]

    def _doubtful(self, tree: str) -> set[str]:
        wanted = self._ledger.files(tree)
        return {
            path
            for path, blob in wanted.items()
            if (data := durable.read_plain(self._root / path)) is None
            or blob_id(data) != blob
        }

    def _strangers(self) -> Iterator[str]:
        """Yield what lies in the folders that are wholly ours."""
        yield from self._present()
        for folder in (
            layout.MEMBERS,
            layout.ARCHIVE,
            layout.DISMISSED,
            layout.FORGOTTEN,
        ):
            if self._is_behind_link(f"{folder}/"):
                continue
            for place, folders, files in os.walk(self._root / folder):
                links = [name for name in folders if (Path(place) / name).is_symlink()]
                for name in (*files, *links):
                    yield (Path(place) / name).relative_to(self._root).as_posix()

    def _draw_file(self, path: str, change: Change, known: Drawn) -> Path | None:
        """Draw one file; return where what another hand had put there went."""
        full = self._root / path
        if change.after is None:
            if self._is_behind_link(path):
                return None  # what stands there is not ours, and not in our folder
            old = durable.take_away(full)
        else:
            self._clear_way(full.parent)
            old = durable.swap_in(full, self._ledger.objects.blob(change.after))
        moved = None if old is None else self._let_go(path, old, change, known)
        if change.after is None:
            durable.remove_empty_dirs(full.parent, self._root)
        return moved

    def _let_go(
        self, path: str, old: Path, change: Change, known: Drawn
    ) -> Path | None:
        """Remove what stood at *path* if it was ours, else move it aside."""
        ours = {change.before, change.after, known.paths.get(path)} - {None}
        data = durable.read_plain(old)
        if data is not None:
            blob = blob_id(data)
            was_lost = known.revision is None  # what was drawn is not known any more
            if blob in ours or (was_lost and self._was_ours(path, blob)):
                old.unlink()
                return None
        name = path.replace("/", "-")
        return durable.move_into(old, layout.rescued_dir(self._profile), name)

    def _clear_way(self, folder: Path) -> None:
        """Make *folder*, moving aside what stands in its place and is none."""
        inside = folder.relative_to(self._root)
        if inside == Path():
            return  # the root may be a link itself: the host put it there
        for part in (*list(reversed(inside.parents))[1:], inside):
            place = self._root / part
            if place.is_symlink() or (place.exists() and not place.is_dir()):
                durable.move_into(place, layout.rescued_dir(self._profile), place.name)
        durable.make_dir(folder)

    # The scene index

    def _draw_scene_index(
        self,
        known: Drawn,
        before: str | None,
        tree: str,
        state: State,
        changes: Mapping[str, Change],
    ) -> tuple[str, list[Path]]:
        lines = self._kept_lines(known, before)
        if lines is None:
            full = self._ledger.state(tree)
            lines = {n: self._entry(n, s) for n, s in full.live.items()}
        else:
            for name in {n for path in changes if (n := _scene_of(path)) is not None}:
                lines.pop(name, None)
                if name in state.live:
                    lines[name] = self._entry(name, state.live[name])
        index = _index_bytes(lines[name] for name in sorted(lines))
        moved = self._put_scene_index(index, known)
        return sha1(index, usedforsecurity=False).hexdigest(), moved

    def _kept_lines(self, known: Drawn, before: str | None) -> dict[str, bytes] | None:
        """Return the index's entries by filename, if they are what we drew last."""
        data = durable.read_plain(self._root / layout.INDEX_FILE)
        if data is None or before is None or known.revision is None:
            return None
        if sha1(data, usedforsecurity=False).hexdigest() != known.scene_index:
            return None
        rows = [row.removesuffix(b",") for row in data.split(b"\n")[1:-2]]
        return {msgspec.json.decode(row, type=_Entry).filename: row for row in rows}

    def _entry(self, filename: str, scene: Scene) -> bytes:
        meta = scene.meta or self._ledger.block(scene.blob).meta
        entry = _Entry(
            filename=filename,
            summary=meta.summary,
            heat=meta.heat,
            created=meta.created,
            updated=meta.updated,
            members=tuple(sorted(self._ledger.sets.ids(scene.members))),
        )
        return msgspec.json.encode(entry)

    def _put_scene_index(self, data: bytes, known: Drawn) -> list[Path]:
        """Draw the scene index; return where went what another hand had made of it."""
        path = self._root / layout.INDEX_FILE
        self._clear_way(path.parent)
        old = durable.swap_in(path, data)
        if old is None:
            return []
        there = durable.read_plain(old)
        if there is not None and (there == data or _is_our_index(there, known)):
            old.unlink()
            return []
        name = layout.INDEX_FILE.replace("/", "-")
        return [durable.move_into(old, layout.rescued_dir(self._profile), name)]


class _Entry(msgspec.Struct, frozen=True, kw_only=True):
    filename: str
    summary: str
    heat: int
    created: str
    updated: str
    members: tuple[str, ...]


def blob_id(data: bytes) -> str:
    """Return the id that git gives to a blob of *data*."""
    header = f"blob {len(data)}\0".encode()
    return sha1(header + data, usedforsecurity=False).hexdigest()


def _is_our_index(data: bytes, known: Drawn) -> bool:
    if known.scene_index is not None:
        return sha1(data, usedforsecurity=False).hexdigest() == known.scene_index
    try:  # what was drawn is not known any more: its form must do
        msgspec.json.decode(data, type=list[_Entry])
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return False
    return True


def _index_bytes(rows: Iterable[bytes]) -> bytes:
    """Return the scene index: one entry a line, so that one can be changed alone."""
    body = b",\n".join(rows)
    return b"[\n" + body + b"\n]\n" if body else b"[\n]\n"


def _scene_of(path: str) -> str | None:
    """Return the live scene that a path in the repo belongs to, or None."""
    parts = path.split("/")
    is_of_scene = parts[0] in (layout.SCENES, layout.MEMBERS) and len(parts) > 1
    return parts[1] if is_of_scene else None
