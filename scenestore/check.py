"""Everything that is wrong with a store, all at once; it changes nothing.

Source:
    CONTRACT section 7, "check --replay".
"""

from collections.abc import Iterator
from hashlib import sha1

import msgspec

from scenestore import blockfile, layout, runs
from scenestore.codec import Record
from scenestore.errors import CorruptError, DiskError, TooNewError
from scenestore.ledger import Ledger, Revision
from scenestore.projection import Projection
from scenestore_engine.events import (
    Event,
    Handles,
    SceneArchived,
    SceneCreated,
    SceneDeleted,
    SceneRestored,
    ScenesConsolidated,
    SceneUpdated,
    StateImported,
    StoreRolledBack,
)
from scenestore_engine.evolve import evolve
from scenestore_engine.state import EMPTY, Scene, State


class Problem(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that is wrong."""

    revision: str | None
    """Of which revision; None: of the files."""
    message: str
    is_damage: bool
    """False: another hand's work, or a projection that lags; nothing is lost."""


class Checked(msgspec.Struct, frozen=True, kw_only=True):
    """What a walk over everything found."""

    revisions: int
    objects: int
    problems: tuple[Problem, ...]


def check(ledger: Ledger, projection: Projection, *, replay: bool) -> Checked:
    """Walk over the history and the files; report every problem.

    Args:
        ledger: The history.
        projection: The files drawn from it.
        replay: Whether to prove, for every own revision, that `evolve` over the
            parent's state and the revision's events gives exactly its tree.
    """
    walk = _Walk(ledger, projection)
    ledger.objects.look_afresh()  # what this process remembers proves nothing
    try:
        problems = tuple(walk.problems(replay=replay))
    finally:
        ledger.objects.discard()
    return Checked(revisions=walk.revisions, objects=len(walk.seen), problems=problems)


class _Walk:
    def __init__(self, ledger: Ledger, projection: Projection) -> None:
        self._ledger = ledger
        self._projection = projection
        self.revisions = 0
        self.seen: set[str] = set()
        self._proved: set[tuple[str, str]] = set()

    def problems(self, *, replay: bool) -> Iterator[Problem]:
        for message in self._ledger.objects.pack_problems():
            yield _damage(None, message)
        try:
            head = self._ledger.head()
        except CorruptError as error:
            yield _damage(None, str(error))
            return
        if head is None:
            yield _damage(None, "there is no revision")
            return
        commit_id: str | None = head
        while commit_id is not None:
            try:
                revision = self._ledger.revision(commit_id)
            except CorruptError as error:
                yield _damage(commit_id, str(error))
                return
            self.revisions += 1
            yield from self._of_revision(revision, replay=replay)
            commit_id = revision.parent
        yield from self._of_files(head)

    def _of_revision(self, revision: Revision, *, replay: bool) -> Iterator[Problem]:
        broken = list(self._objects_of(revision))
        yield from broken
        if broken:
            return
        if not revision.is_own:
            yield Problem(
                revision=revision.id,
                message=f"{revision.id[:10]} is a commit of another program.",
                is_damage=False,
            )
            return
        try:
            record = self._ledger.record(revision)
            state = self._ledger.state(revision.tree)
            yield from self._of_state(revision, state)
            if replay:
                yield from self._of_replay(revision, record, state)
        except TooNewError as error:
            yield Problem(revision=revision.id, message=str(error), is_damage=False)
        except (CorruptError, msgspec.MsgspecError) as error:
            yield _damage(revision.id, str(error))

    def _objects_of(self, revision: Revision) -> Iterator[Problem]:
        """Read each object that no earlier look has read, and check its hash."""
        pending = [("commit", revision.id), ("tree", revision.tree)]
        while pending:
            kind, object_id = pending.pop()
            if object_id in self.seen:
                continue
            self.seen.add(object_id)
            try:
                raw, entries = self._ledger.raw(kind, object_id)
            except CorruptError as error:
                yield _damage(revision.id, str(error))
                continue
            header = f"{kind} {len(raw)}\0".encode()
            if sha1(header + raw, usedforsecurity=False).hexdigest() != object_id:
                yield _damage(revision.id, f"{kind} {object_id} is not what it was")
            pending += entries

    def _of_state(self, revision: Revision, state: State) -> Iterator[Problem]:
        for scenes in (state.live, state.archived):
            for name, scene in scenes.items():
                yield from self._of_scene(revision, name, scene)
        for handle in (state.dismissed, state.forgotten):
            yield from self._of_set(revision, "dismissed or forgotten", handle)

    def _of_scene(
        self, revision: Revision, name: str, scene: Scene
    ) -> Iterator[Problem]:
        if ("scene", scene.blob) not in self._proved:
            self._proved.add(("scene", scene.blob))
            block = self._ledger.block(scene.blob)
            data = blockfile.render(block.meta, block.body)
            if data != self._ledger.objects.blob(scene.blob):
                yield _damage(revision.id, f"{name} is not in the form of a scene file")
        yield from self._of_set(revision, name, scene.members)

    def _of_set(
        self, revision: Revision, name: str, handle: str | None
    ) -> Iterator[Problem]:
        if handle is None or ("set", handle) in self._proved:
            return
        self._proved.add(("set", handle))
        sets = self._ledger.sets
        files = {
            run: self._ledger.objects.blob(b) for run, b in sets.runs(handle).items()
        }
        if files != runs.split(sets.ids(handle)):
            yield _damage(revision.id, f"the members of {name} are not in their runs")

    def _of_replay(
        self, revision: Revision, record: Record, state: State
    ) -> Iterator[Problem]:
        before = EMPTY
        if revision.parent is not None:
            parent = self._ledger.last_own(revision.parent)
            before = self._ledger.state(parent.tree)
            if record.seq != parent.seq + 1:
                yield _damage(revision.id, f"seq is {record.seq}, after {parent.seq}")
        elif record.seq != 0:
            yield _damage(revision.id, f"the root's seq is {record.seq}")
        after = before
        for event in record.events:
            try:
                yield from self._of_event(revision, event, after)
                after = evolve(after, event, self._opened(event))
            except (KeyError, LookupError) as error:
                yield _damage(revision.id, f"{type(event).__name__} needs {error}")
                return
        events_blob = self._ledger.folder(revision.tree, "").get(layout.EVENTS_FILE)
        if self._ledger.tree_of(after, events_blob) != revision.tree:
            yield _damage(revision.id, _difference(after, state))

    def _opened(self, event: Event) -> dict[Handles, State]:
        if isinstance(event, StateImported | StoreRolledBack):
            return {event.state: self._ledger.opened(event.state)}
        return {}

    def _of_event(
        self, revision: Revision, event: Event, before: State
    ) -> Iterator[Problem]:
        """Prove what an event says of META, members and states by what it names."""
        yield from self._of_restored(revision, event, before)
        wrong = _out_of_place(event, before)
        if wrong is not None:
            yield _damage(revision.id, wrong)
        if not isinstance(event, SceneCreated | SceneUpdated | ScenesConsolidated):
            return
        name = event.filename
        if self._ledger.block(event.blob).meta != event.meta:
            yield _damage(revision.id, f"the META of {name} is not what its event says")
        union: list[str | None] = []
        dropped: tuple[str, ...] = ()
        if not isinstance(event, SceneCreated):
            names = (*getattr(event, "sources", ()), name)
            union = [before.live[n].members for n in names if n in before.live]
            dropped = event.dropped
        if union and union != [event.members]:
            had = frozenset[str]().union(*map(self._ledger.sets.ids, union))
            lost = had - self._ledger.sets.ids(event.members) - set(dropped)
            if lost:
                yield _damage(revision.id, f"{name} lost {len(lost)} members")

    def _of_restored(
        self, revision: Revision, event: Event, before: State
    ) -> Iterator[Problem]:
        if isinstance(event, StoreRolledBack):
            named = self._ledger.revision(event.revision)
            if self._ledger.handles(named.tree) != event.state:
                yield _damage(revision.id, f"it is not what revision {named.seq} kept")
        elif isinstance(event, StateImported):
            after = self._ledger.opened(event.state)
            lost = [
                name
                for old, new in (
                    (before.live, after.live),
                    (before.archived, after.archived),
                )
                for name, scene in old.items()
                if new.get(name) != scene
            ]
            if lost:
                yield _damage(revision.id, f"the import lost {', '.join(lost[:5])}")

    def _of_files(self, head: str) -> Iterator[Problem]:
        try:
            drifts = self._projection.drift(self._ledger.revision(head).tree)
        except (CorruptError, DiskError) as error:
            yield _damage(None, str(error))
            return
        for drift in drifts:
            yield Problem(
                revision=None,
                message=f"{drift.path} is another hand's work ({drift.kind}).",
                is_damage=False,
            )


def _out_of_place(event: Event, before: State) -> str | None:
    """Return why *event* could not have happened to *before*, by names alone."""
    coming: tuple[str, ...] = ()
    going: tuple[str, ...] = ()
    match event:
        case SceneCreated(filename=name):
            coming = (name,)
        case SceneUpdated(filename=name) | SceneDeleted(filename=name):
            going = (name,)
        case ScenesConsolidated(sources=sources):
            going = sources
        case SceneArchived(filename=name):
            going = (name,)
            if name in before.archived:
                return f"{name} was in the archive already"
        case SceneRestored(filename=name, restored_as=other):
            coming = (other,)
            if name not in before.archived:
                return f"{name} was not in the archive"
        case _:
            pass
    taken = [name for name in coming if name in before.live]
    absent = [name for name in going if name not in before.live]
    if taken:
        return f"{', '.join(taken)} was live already"
    return f"{', '.join(absent)} was not live" if absent else None


def _difference(computed: State, kept: State) -> str:
    parts = [
        part
        for part in State.__struct_fields__
        if getattr(computed, part) != getattr(kept, part)
    ]
    what = ", ".join(parts) or "the form of the tree"
    return f"the events do not lead to this tree: {what}"


def _damage(revision: str | None, message: str) -> Problem:
    return Problem(revision=revision, message=message, is_damage=True)
