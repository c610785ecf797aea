"""The append-only history: revisions, the head, and the state that each one keeps.

Two kinds of storage, never mixed: objects are immutable and named by their hash, so
writing one needs no lock; the main ref is the single mutable thing, and moving it is
what makes a revision exist for others. State is read from a revision's tree, never by
folding all history.

Source:
    CONTRACT sections 1 and 7.
"""

import os
import re
from collections.abc import Container, Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path

import msgspec
from dulwich.objects import Commit, ObjectID

from scenestore import codec, durable, layout
from scenestore.blockfile import Block, parse
from scenestore.codec import Place, Record
from scenestore.errors import CorruptError, HeadMovedError
from scenestore.ledger import gitindex
from scenestore.ledger.objects import FILE, FOLDER, Change, Entry, Objects
from scenestore.ledger.sets import Sets
from scenestore_engine.events import Handles
from scenestore_engine.state import Scene, State
from scenestore_engine.times import iso

_MAX_HEADERS = 4_096
_COMMIT_ID = re.compile(r"[0-9a-f]{40}")
_CONFIG = b"""[core]
\trepositoryformatversion = 0
\tfilemode = false
\tbare = false
\tlogallrefupdates = false
\tautocrlf = false
\tquotepath = false
[gc]
\tauto = 0
[maintenance]
\tauto = false
"""
_EXCLUDE = b"/index/\n"
_ATTRIBUTES = b"* -text\nevents.json -diff\n"


class Revision(msgspec.Struct, frozen=True, kw_only=True):
    """One commit of the history."""

    id: str
    parents: tuple[str, ...]
    tree: str
    author: str
    at: str
    """When it says it was made, to the second."""
    subject: str
    message: str
    seq: int
    """Its number, or that of the own revision whose file it carries."""
    format: int
    is_own: bool
    """Whether its ``events.json`` names its only parent."""

    @property
    def parent(self) -> str | None:
        """Its first parent; None for the root."""
        return self.parents[0] if self.parents else None


class Wish(msgspec.Struct, frozen=True, kw_only=True):
    """What the batch asked for that a revision came from."""

    revision: str
    seq: int
    body_hash: str | None
    idempotency_key: str | None
    run_id: str | None


class _Header(msgspec.Struct, rename="camel"):
    format: int
    seq: int
    parent: str | None
    body_hash: str | None = None
    idempotency_key: str | None = None
    run_id: str | None = None


_HEADERS = msgspec.json.Decoder(_Header)


class Ledger:
    """Revisions in the order in which they were published."""

    def __init__(self, profile: Path) -> None:
        """Open the ledger of *profile*; nothing is read yet."""
        self._profile = profile
        self._git = layout.git_dir(profile)
        self._ref = self._git / layout.MAIN_REF
        self.objects = Objects(self._git)
        self.sets = Sets(self.objects)
        self._headers: dict[str, _Header] = {}

    def close(self) -> None:
        """Let go of every open file."""
        self.objects.close()

    # Beginning

    def exists(self) -> bool:
        """Say whether there is a repository with a main branch."""
        return self.head() is not None

    def begin(self) -> None:
        """Make an empty repository, or what of one is missing; durable.

        Nothing that is there is changed, and it may be repeated after a crash.
        """
        for part in ("objects/info", "objects/pack", "refs/heads", "refs/tags", "info"):
            durable.make_dir(self._git / part)
        durable.make_dir(layout.own_dir(self._profile))
        files = {
            "HEAD": f"ref: {layout.MAIN_REF}\n".encode(),
            "config": _CONFIG,
            "info/exclude": _EXCLUDE,
            "info/attributes": _ATTRIBUTES,
        }
        for name, data in files.items():
            path = self._git / name
            there = durable.read_plain(path) or b""
            if name in ("info/exclude", "info/attributes"):
                missing = [x for x in data.splitlines(keepends=True) if x not in there]
                if missing:
                    gap = b"" if there.endswith(b"\n") or not there else b"\n"
                    data = there + gap + b"".join(missing)  # noqa: PLW2901
                    durable.replace_file(path, data, sync=True)
            elif not there or (name == "HEAD" and self.head() is None):
                durable.replace_file(path, data, sync=True)
        for part in (".", "objects", "refs", "scenestore", ".."):
            durable.sync_dir(self._git / part)

    def is_of_another_hand(self) -> bool:
        """Say whether a repository is there that has history, or a form, of its own."""
        heads = self._git / "refs" / "heads"
        has_branches = heads.is_dir() and any(heads.rglob("*"))
        config = durable.read_plain(self._git / "config") or b""
        is_other_format = b"[extensions" in config or b"bare = true" in config
        is_file = self._git.is_file()  # a worktree or a submodule of another one
        has_refs = has_branches or (self._git / "packed-refs").exists()
        return has_refs or is_other_format or is_file

    # The head

    def head(self) -> str | None:
        """Return the newest revision, or None before the first.

        Raises:
            CorruptError: The ref holds something else than a commit id.
        """
        said = durable.read_plain(self._ref)
        if said is None and os.path.lexists(self._ref):
            raise CorruptError(
                f"{self._ref} is no plain file. Nothing was changed. See what stands "
                "there; scenestore reads no link."
            )
        if said is None:
            return self._packed_head()
        text = said.decode("ascii", "replace").strip()
        if not _COMMIT_ID.fullmatch(text):
            raise CorruptError(
                f"{self._ref} names no commit ({text[:60]!a}). Nothing was changed. "
                "Run scenestore check."
            )
        return text

    def _packed_head(self) -> str | None:
        packed = durable.read_plain(self._git / "packed-refs") or b""
        for line in packed.decode("utf-8", "replace").splitlines():
            commit_id, _, name = line.partition(" ")
            if name == layout.MAIN_REF and _COMMIT_ID.fullmatch(commit_id):
                return commit_id
        return None

    def publish(self, revision: str, *, parent: str | None) -> None:
        """Move the head from *parent* to *revision*, by compare-and-swap.

        Args:
            revision: 40 hexadecimal digits, from `write`.
            parent: The head that was decided on; None if there was no revision yet.

        Raises:
            HeadMovedError: The head is not *parent*.
            BusyError: Another program holds the ref.
            DiskError: The disk failed before it moved.
            OutcomeUnknownError: The disk failed after it moved.

        Stays true:
            A reader sees the old head or the new one; what lost the race stays
            unreachable.
        """
        is_loose = durable.read_plain(self._ref) is not None
        moved = self.head() == parent and durable.move_ref(
            self._ref,
            layout.own_dir(self._profile),
            old=f"{parent}\n".encode() if parent and is_loose else None,
            new=f"{revision}\n".encode(),
        )
        if not moved:
            raise HeadMovedError(
                "Another program moved the head meanwhile. Nothing was changed. "
                "Send the batch again."
            )

    # Reading

    def revision(self, commit_id: str) -> Revision:
        """Return one revision.

        Raises:
            CorruptError: There is no such commit, or it lacks its tree.
        """
        commit = self.objects.commit(commit_id)
        parents = tuple(parent.decode("ascii") for parent in commit.parents)
        tree = commit.tree.decode("ascii")
        header = self._header(tree)
        message = commit.message.decode("utf-8", "replace")
        return Revision(
            id=commit_id,
            parents=parents,
            tree=tree,
            author=commit.author.decode("utf-8", "replace").partition(" <")[0],
            at=iso(commit.commit_time * 1000),
            subject=message.partition("\n")[0],
            message=message,
            seq=header.seq if header else -1,
            format=header.format if header else 0,
            is_own=header is not None
            and parents == ((header.parent,) if header.parent else ()),
        )

    def _header(self, tree: str) -> _Header | None:
        if tree in self._headers:
            return self._headers[tree]
        entry = self.objects.tree(tree).get(layout.EVENTS_FILE)
        if entry is None or entry.is_folder:
            return None
        try:
            header = _HEADERS.decode(self.objects.blob(entry.id))
        except msgspec.MsgspecError:
            return None
        while len(self._headers) >= _MAX_HEADERS:
            del self._headers[next(iter(self._headers))]
        self._headers[tree] = header
        return header

    def wishes(self, commit_id: str, limit: int) -> Iterator[Wish]:
        """Yield what the newest own revisions came from, *limit* of them at most."""
        own = (r for r in self.back_from(commit_id) if r.is_own)
        for revision in islice(own, limit):
            header = self._header(revision.tree)
            if header is not None:
                yield Wish(
                    revision=revision.id,
                    seq=header.seq,
                    body_hash=header.body_hash,
                    idempotency_key=header.idempotency_key,
                    run_id=header.run_id,
                )

    def record(self, revision: Revision) -> Record:
        """Return what ``events.json`` of an own revision says.

        Raises:
            CorruptError: It is no record.
            TooNewError: A newer program wrote it.
        """
        entry = self.objects.tree(revision.tree).get(layout.EVENTS_FILE)
        if entry is None:
            raise CorruptError(f"{revision.id} has no {layout.EVENTS_FILE}")
        return codec.decode_record(self.objects.blob(entry.id))

    def back_from(self, commit_id: str | None) -> Iterator[Revision]:
        """Yield *commit_id* and what came before it, along first parents."""
        while commit_id is not None:
            revision = self.revision(commit_id)
            yield revision
            commit_id = revision.parent

    def descends(self, commit_id: str, ancestor: str) -> bool:
        """Say whether *commit_id* is *ancestor* or came after it, by first parents.

        Costs a step a revision between the two, no more: seq tells when to stop.
        """
        if commit_id == ancestor:
            return True
        if not self.objects.has(ancestor):
            return False
        least = self.revision(ancestor).seq
        for revision in self.back_from(commit_id):
            if revision.id == ancestor:
                return True
            if revision.is_own and revision.seq < least:
                return False
        return False

    def last_own(self, commit_id: str) -> Revision:
        """Return *commit_id*, or the newest own revision that it stands on.

        Raises:
            CorruptError: There is none.
        """
        for revision in self.back_from(commit_id):
            if revision.is_own:
                return revision
        raise CorruptError(f"{commit_id} stands on no revision of scenestore")

    def state(self, tree: str, opened: Iterable[str] | None = None) -> State:
        """Return the state that a revision keeps.

        Args:
            tree: The revision's tree.
            opened: Live scenes whose META is wanted; None: of all, archived ones too.

        Raises:
            CorruptError: A part of it is missing or damaged.
        """
        wanted = None if opened is None else frozenset(opened)
        return self._state(self.objects.tree(tree), wanted)

    def _state(self, root: dict[str, Entry], wanted: frozenset[str] | None) -> State:
        archive = self.objects.tree(_folder(root, layout.ARCHIVE))
        places = root.get(layout.PLACES_FILE)
        live, archived = (
            codec.decode_places(self.objects.blob(places.id))
            if places
            else codec.NO_PLACES
        )
        cursor = root.get(layout.CURSOR_FILE)
        persona = root.get(layout.PERSONA_FILE)
        in_archive = None if wanted is None else frozenset[str]()
        return State(
            live=self._scenes(root, live, wanted),
            archived=self._scenes(archive, archived, in_archive),
            dismissed=_folder(root, layout.DISMISSED),
            forgotten=_folder(root, layout.FORGOTTEN),
            cursor=codec.decode_cursor(self.objects.blob(cursor.id))
            if cursor
            else None,
            persona=codec.decode_persona(self.objects.blob(persona.id))
            if persona
            else (),
        )

    def _scenes(
        self,
        root: dict[str, Entry],
        places: Mapping[str, Place],
        wanted: frozenset[str] | None,
    ) -> dict[str, Scene]:
        files = self.objects.tree(_folder(root, layout.SCENES))
        members = self.objects.tree(_folder(root, layout.MEMBERS))
        scenes: dict[str, Scene] = {}
        for name, entry in files.items():
            if name not in places:
                raise CorruptError(f"{layout.PLACES_FILE} does not know {name}")
            place = places[name]
            is_wanted = wanted is None or name in wanted
            scenes[name] = Scene(
                blob=entry.id,
                first_seen=place.first_seen,
                members=members[name].id if name in members else None,
                members_unknown=place.members_unknown,
                meta=self.block(entry.id).meta if is_wanted else None,
            )
        return scenes

    def block(self, blob: str) -> Block:
        """Return what a scene file of ours says."""
        try:
            return parse(self.objects.blob(blob), file_time="")
        except ValueError as error:
            raise CorruptError(f"the scene file {blob} is not UTF-8") from error

    def handles(self, tree: str) -> Handles:
        """Return the handles by which an event names the state that *tree* keeps."""
        root = self.objects.tree(tree)
        return Handles(
            scenes=_folder(root, layout.SCENES),
            members=_folder(root, layout.MEMBERS),
            archive=_folder(root, layout.ARCHIVE),
            dismissed=_folder(root, layout.DISMISSED),
            places=root[layout.PLACES_FILE].id if layout.PLACES_FILE in root else None,
        )

    def opened(self, handles: Handles) -> State:
        """Return the scenes, archive and dismissals that *handles* name."""
        parts = {
            layout.SCENES: handles.scenes,
            layout.MEMBERS: handles.members,
            layout.ARCHIVE: handles.archive,
            layout.DISMISSED: handles.dismissed,
        }
        root = {name: Entry(FOLDER, i) for name, i in parts.items() if i is not None}
        if handles.places is not None:
            root[layout.PLACES_FILE] = Entry(FILE, handles.places)
        return self._state(root, None)

    def changed(self, before: str | None, after: str | None) -> dict[str, Change]:
        """Return every file that differs between two trees, by path."""
        return dict(self.objects.changed(before, after))

    def files(self, tree: str | None) -> dict[str, str]:
        """Return every file of a tree: path to blob id."""
        return {p: c.after for p, c in self.changed(None, tree).items() if c.after}

    def enter_in_index(
        self,
        changes: Mapping[str, str | None],
        doubtful: Container[str],
        *,
        whole: bool,
    ) -> bool:
        """Let git's own index follow; False if it could not, and must later, whole.

        Args:
            changes: Path to blob id, None where nothing is tracked any more.
            doubtful: Paths whose files may not hold their blob.
            whole: Whether *changes* are all files that are tracked.
        """
        work_tree = layout.repo_dir(self._profile)
        if whole:
            files = {path: blob for path, blob in changes.items() if blob is not None}
            return gitindex.rebuild(self._git, work_tree, files, doubtful)
        return gitindex.update(self._git, work_tree, changes, doubtful)

    def raw(self, kind: str, object_id: str) -> tuple[bytes, list[tuple[str, str]]]:
        """Return an object's bytes, and the kind and id of what a tree names.

        Raises:
            CorruptError: It is missing, damaged or of another kind.
        """
        if kind == "commit":
            return self.objects.commit(object_id).as_raw_string(), []
        if kind == "blob":
            return self.objects.blob(object_id), []
        entries = self.objects.tree(object_id).values()
        named = [("tree" if e.is_folder else "blob", e.id) for e in entries]
        return self.objects.raw_tree(object_id), named

    def folder(self, tree: str | None, path: str) -> dict[str, str]:
        """Return the names in the folder *path* of a tree, each with its object id."""
        for part in filter(None, path.split("/")):
            entry = self.objects.tree(tree).get(part)
            if entry is None or not entry.is_folder:
                return {}
            tree = entry.id
        return {name: entry.id for name, entry in self.objects.tree(tree).items()}

    # Writing

    def tree_of(self, state: State, events_blob: str | None) -> str:
        """Stage the tree that keeps *state*, and return its id.

        One function for writing and for proving: equal states have equal trees.
        """
        archive = {
            layout.SCENES: self._files_of(state.archived),
            layout.MEMBERS: self._members_of(state.archived),
        }
        folders = {
            layout.SCENES: self._files_of(state.live),
            layout.MEMBERS: self._members_of(state.live),
            layout.ARCHIVE: self.objects.put_tree(
                {n: Entry(FOLDER, i) for n, i in archive.items() if i is not None}
            ),
            layout.DISMISSED: state.dismissed,
            layout.FORGOTTEN: state.forgotten,
        }
        places = codec.encode_places(_places(state.live), _places(state.archived))
        files = {
            layout.EVENTS_FILE: events_blob,
            layout.PLACES_FILE: self.objects.put_blob(places),
        }
        if state.cursor is not None:
            cursor = codec.encode_cursor(state.cursor)
            files[layout.CURSOR_FILE] = self.objects.put_blob(cursor)
        if state.persona:
            persona = codec.encode_persona(state.persona)
            files[layout.PERSONA_FILE] = self.objects.put_blob(persona)
        entries = {n: Entry(FOLDER, i) for n, i in folders.items() if i is not None}
        entries |= {n: Entry(FILE, i) for n, i in files.items() if i is not None}
        tree = self.objects.put_tree(entries)
        if tree is None:
            raise ValueError("a revision's tree holds scenes.json at least")
        return tree

    def _files_of(self, scenes: Mapping[str, Scene]) -> str | None:
        return self.objects.put_tree(
            {name: Entry(FILE, scene.blob) for name, scene in scenes.items()}
        )

    def _members_of(self, scenes: Mapping[str, Scene]) -> str | None:
        return self.objects.put_tree(
            {n: Entry(FOLDER, s.members) for n, s in scenes.items() if s.members}
        )

    def write(self, state: State, record: Record, message: str, *, at_ms: int) -> str:
        """Write the revision that keeps *state*; nobody can see it yet.

        Args:
            state: After the record's events, all handles staged or stored.
            record: What ``events.json`` will say; it names the parent.
            message: For people; LF, one final newline.
            at_ms: Milliseconds since the Unix epoch, UTC.

        Returns:
            The revision's id.

        Raises:
            DiskError: The disk failed; nothing can be seen of the revision.
        """
        events_blob = self.objects.put_blob(codec.encode_record(record))
        commit = Commit()
        commit.tree = ObjectID(self.tree_of(state, events_blob).encode())
        commit.parents = [ObjectID(record.parent.encode())] if record.parent else []
        commit.author = commit.committer = f"{record.actor} <scenestore>".encode()
        commit.author_time = commit.commit_time = at_ms // 1_000
        commit.author_timezone = commit.commit_timezone = 0
        commit.message = message.encode()
        revision = self.objects.put_commit(commit)
        self.objects.seal()
        return revision


def _folder(root: dict[str, Entry], name: str) -> str | None:
    entry = root.get(name)
    return entry.id if entry is not None and entry.is_folder else None


def _places(scenes: Mapping[str, Scene]) -> dict[str, Place]:
    return {
        name: Place(first_seen=scene.first_seen, members_unknown=scene.members_unknown)
        for name, scene in scenes.items()
    }
