"""What the agent asks for. A command is a wish: it may still be refused."""

import json
from hashlib import sha256

import msgspec

from scenestore_engine.faults import Fault, Notice


class AdvisoryMeta(msgspec.Struct, frozen=True, kw_only=True):
    """META as a caller sent it; all but the summary is advice that is weighed."""

    summary: str | None = None
    created: str | None = None
    updated: str | None = None
    heat: int | None = None


NO_META = AdvisoryMeta()


class Create(
    msgspec.Struct, frozen=True, kw_only=True, tag_field="action", tag="create"
):
    """Begin a scene."""

    filename: str
    content: str
    """The body: LF, without outer blank lines."""
    meta: AdvisoryMeta
    members: frozenset[str] | None = None
    """None: not given."""
    add_members: frozenset[str] = frozenset()
    reason: str | None = None


class Update(
    msgspec.Struct, frozen=True, kw_only=True, tag_field="action", tag="update"
):
    """Rewrite the body of a live scene."""

    filename: str
    content: str
    meta: AdvisoryMeta = NO_META
    members: frozenset[str] | None = None
    add_members: frozenset[str] = frozenset()
    reason: str | None = None


class Delete(
    msgspec.Struct, frozen=True, kw_only=True, tag_field="action", tag="delete"
):
    """End a live scene; history keeps it."""

    filename: str
    reason: str | None = None


class Consolidate(
    msgspec.Struct, frozen=True, kw_only=True, tag_field="action", tag="consolidate"
):
    """Make several live scenes one, which has the union of their members."""

    filename: str
    sources: tuple[str, ...]
    content: str
    meta: AdvisoryMeta
    members: frozenset[str] | None = None
    add_members: frozenset[str] = frozenset()
    reason: str | None = None


class Archive(
    msgspec.Struct, frozen=True, kw_only=True, tag_field="action", tag="archive"
):
    """Move a live scene out of sight, whole."""

    filename: str
    reason: str


class Restore(
    msgspec.Struct, frozen=True, kw_only=True, tag_field="action", tag="restore"
):
    """Bring an archived scene back, byte for byte."""

    filename: str
    restore_as: str | None = None
    """The name that it is to have among the live ones; None: its own."""
    reason: str | None = None


BodyWrite = Create | Update | Consolidate
Command = BodyWrite | Delete | Archive | Restore


class Write(msgspec.Struct, frozen=True, kw_only=True):
    """A command, and where in the request it stands."""

    path: str
    """A JSON Pointer, such as ``/sceneWrites/2``."""
    command: Command


class Batch(msgspec.Struct, frozen=True, kw_only=True):
    """One ``l2_commit``: all of its writes hold, or none does."""

    writes: tuple[Write, ...] = ()
    cursor: str | None = None
    """A record id, or ``id@shard:line``."""
    persona_reason: str | None = None
    """Why the persona should be renewed; None: no signal."""
    dismiss: frozenset[str] = frozenset()
    dismiss_reason: str | None = None
    base_revision: str | None = None
    idempotency_key: str | None = None
    run_id: str | None = None
    dry_run: bool = False
    faults: tuple[Fault, ...] = ()
    """What the form of the request alone shows to be wrong. Writes that lack what they
    need are left out; no batch that has any fault is accepted."""
    notices: tuple[Notice, ...] = ()
    """What had to be read with good will."""
    unread: int = 0
    """Writes that were left out, since they lack what they need."""


def targets(command: Command) -> tuple[str, ...]:
    """Return every name that *command* gives a role: target, sources, ``as``."""
    match command:
        case Consolidate(filename=filename, sources=sources):
            return (filename, *sources)
        case Restore(filename=filename, restore_as=str() as other) if other != filename:
            return (filename, other)
        case _:
            return (command.filename,)


def body_hash(batch: Batch) -> str:
    """Return what two batches share exactly when they ask for the same: 64 hex digits.

    Counted are writes, cursor, persona and dismissals; not ``baseRevision``, the key,
    ``runId`` and ``dryRun``.

    Source:
        CONTRACT section 5, "Concurrency".
    """
    wish = [
        [msgspec.to_builtins(w.command, order="deterministic") for w in batch.writes],
        batch.cursor,
        batch.persona_reason,
        sorted(batch.dismiss),
        batch.dismiss_reason,
    ]
    canonical = json.dumps(
        _sorted_sets(wish), ensure_ascii=False, sort_keys=True, separators=(",", ":")
    )
    return sha256(canonical.encode()).hexdigest()


def _sorted_sets(value: object) -> object:
    """Return *value* with each set as a sorted list: sets have no order."""
    if isinstance(value, dict):
        pairs = msgspec.convert(value, dict[str, object]).items()
        return {key: _sorted_sets(item) for key, item in pairs}
    if isinstance(value, frozenset | set):
        return sorted(msgspec.convert(value, list[str]))
    if isinstance(value, list | tuple):
        return [_sorted_sets(item) for item in msgspec.convert(value, list[object])]
    return value
