"""What is known: the state that a revision keeps, and what else a decision may know.

Member sets and scene files stand here as handles (see `scenestore_engine.events`), so
that a decision costs what it touches and not what there is.
"""

from collections.abc import Mapping

import msgspec


class Meta(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The header of a scene file.

    Source:
        CONTRACT section 1, "A scene file".
    """

    created: str
    """As `times.iso` writes it; likewise *updated*."""
    updated: str
    summary: str
    heat: int
    extra: tuple[str, ...] = ()
    """Lines of fields that we do not know, as they were."""


class Cursor(msgspec.Struct, frozen=True, kw_only=True):
    """A place in L1: everything up to and including it is organised."""

    record_id: str = msgspec.field(name="lastRecordId")
    shard: str
    """A shard's name without its suffix, such as ``2026-03-05``."""
    line: int
    """Counted from 1."""

    @property
    def place(self) -> tuple[str, int]:
        """What cursors are ordered by."""
        return (self.shard, self.line)


class PersonaRequest(msgspec.Struct, frozen=True, kw_only=True):
    """A wish to renew the persona, kept until it is acknowledged."""

    reason: str
    at: str


class Scene(msgspec.Struct, frozen=True, kw_only=True):
    """One scene, live or archived."""

    blob: str
    """Handle of its file."""
    first_seen: str
    """When the store first held it, or the oldest of what it was made from."""
    members: str | None = None
    """Handle of its member set; None: the empty set."""
    members_unknown: bool = False
    meta: Meta | None = None
    """None: not opened, since nothing in this decision asks for it."""


class State(msgspec.Struct, frozen=True, kw_only=True):
    """All that one revision keeps."""

    live: Mapping[str, Scene] = {}
    archived: Mapping[str, Scene] = {}
    dismissed: str | None = None
    """Handle of the records that belong to no scene on purpose."""
    forgotten: str | None = None
    """Handle of the records that were purged."""
    cursor: Cursor | None = None
    persona: tuple[PersonaRequest, ...] = ()


EMPTY = State()


class Membership(msgspec.Struct, frozen=True, kw_only=True):
    """What the ids that a write names are to one scene."""

    has: frozenset[str] = frozenset()
    """Of the ids named, those that are its members."""
    lacks: frozenset[str] = frozenset()
    """Its members that the given set leaves out; empty if no set was given."""


NO_MEMBERSHIP = Membership()


class RecordFacts(msgspec.Struct, frozen=True, kw_only=True):
    """What L1 says of an id that it knows."""

    deleted: bool = False


class Base(msgspec.Struct, frozen=True, kw_only=True):
    """What the caller of a batch had read: the state at its ``baseRevision``."""

    live: Mapping[str, Scene] = {}
    archived: Mapping[str, Scene] = {}
    bodies: Mapping[str, str] = {}
    """Bodies, then, of the live scenes that the batch names."""


class Known(msgspec.Struct, frozen=True, kw_only=True):
    """All that a decision may know; the shell looks it up by what the batch names.

    Source:
        CONTRACT section 5, "What a decision may know".
    """

    state: State = EMPTY
    """At the parent; META is opened for the live scenes that the batch names."""
    bodies: Mapping[str, str] = {}
    """Bodies of the live scenes that the batch names."""
    memberships: Mapping[str, Membership] = {}
    """By live scene, for every write that names ids and touches it."""
    records: Mapping[str, RecordFacts] = {}
    """The ids named, and those that a given set leaves out; absent: unknown to L1."""
    homes: Mapping[str, tuple[str, ...]] = {}
    """By dismissed id: the live scenes that have it, and ``archive/NAME``."""
    dismissed: frozenset[str] = frozenset()
    """Of the ids named, those that are dismissed at the parent."""
    forgotten: frozenset[str] = frozenset()
    """Of the ids named, those that were purged."""
    cursor: Cursor | None = None
    """Where the batch's cursor stands in L1; None: nowhere."""
    base: Base | None = None
    """None: the batch names no ``baseRevision``."""
    present: Cursor | None = None
    """Where the store's own cursor stands in L1 now; None: before the first line."""
