"""What a caller is told: the receipt of an accepted batch, or all that is wrong.

Source:
    CONTRACT section 5, "Receipt".
"""

from collections.abc import Iterable, Mapping

import msgspec

from scenestore_engine.decide import Rejected
from scenestore_engine.events import (
    Event,
    SceneArchived,
    SceneCreated,
    SceneDeleted,
    SceneRestored,
    ScenesConsolidated,
    SceneUpdated,
)
from scenestore_engine.faults import Notice
from scenestore_engine.policy import Policy
from scenestore_engine.retention import LostFact
from scenestore_engine.secret import masked_all
from scenestore_engine.state import Cursor

_YELLOW_FROM = 3
"""Places left from which a warning is given. Source: CONTRACT section 5."""


class Consolidation(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """One consolidation that was accepted."""

    filename: str
    sources: tuple[str, ...]
    backup_dir: str
    """``<commit>:scene-blocks``: the state before the batch, as plain git opens it."""
    members: int
    heat: int
    created: str


class CursorMove(msgspec.Struct, frozen=True, kw_only=True):
    """From which record to which the cursor moved; None: before the first."""

    before: str | None = msgspec.field(name="from")
    after: str | None = msgspec.field(name="to")


class CoverageFacts(msgspec.Struct, frozen=True, kw_only=True):
    """How many live records up to the cursor are in no scene, and the first of them."""

    unassigned: int
    dismissed: int
    ids: tuple[str, ...]


class Capacity(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """How full the shelf is."""

    live: int
    max_scenes: int
    warning: str
    """``none``, ``yellow``, ``orange`` or ``red``."""


class Receipt(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Proof that a batch holds: it is on disk, and stays so through a power cut."""

    revision: str | None
    """None for a dry run, which has none."""
    seq: int
    batch: str
    created: tuple[str, ...] = ()
    updated: tuple[str, ...] = ()
    deleted: tuple[str, ...] = ()
    archived: tuple[str, ...] = ()
    restored: tuple[str, ...] = ()
    consolidations: tuple[Consolidation, ...] = ()
    members_missing: tuple[str, ...] = ()
    warnings: tuple[Notice, ...] = ()
    cursor: CursorMove
    coverage: CoverageFacts
    capacity: Capacity
    commit_hint: str | None = None
    diff: str | None = None


class Replayed(msgspec.Struct, frozen=True, kw_only=True):
    """The receipt that a batch got when it was sent the first time."""

    revision: str
    receipt: Mapping[str, object]
    """As its revision keeps it."""


def capacity(live: int, policy: Policy) -> Capacity:
    """Return how full a shelf of *live* scenes is."""
    left = policy.max_scenes - live
    warning = "none"
    if live and left <= 0:
        warning = "red"
    elif live and left == 1:
        warning = "orange"
    elif live and left <= _YELLOW_FROM:
        warning = "yellow"
    return Capacity(live=live, max_scenes=policy.max_scenes, warning=warning)


def cursor_move(before: Cursor | None, after: Cursor | None) -> CursorMove:
    """Return the move from one place to another."""
    return CursorMove(
        before=before.record_id if before else None,
        after=after.record_id if after else None,
    )


class Touched(msgspec.Struct, frozen=True, kw_only=True):
    """The live scenes that came, changed and went, by how."""

    created: tuple[str, ...] = ()
    updated: tuple[str, ...] = ()
    deleted: tuple[str, ...] = ()
    archived: tuple[str, ...] = ()
    restored: tuple[str, ...] = ()


def touched(events: Iterable[Event]) -> Touched:
    """Return which scenes *events* touched, consolidations apart."""
    events = tuple(events)
    return Touched(
        created=tuple(e.filename for e in events if isinstance(e, SceneCreated)),
        updated=tuple(e.filename for e in events if isinstance(e, SceneUpdated)),
        deleted=tuple(e.filename for e in events if isinstance(e, SceneDeleted)),
        archived=tuple(e.filename for e in events if isinstance(e, SceneArchived)),
        restored=tuple(e.restored_as for e in events if isinstance(e, SceneRestored)),
    )


def consolidations(
    events: Iterable[Event], parent: str, counts: Mapping[str, int]
) -> tuple[Consolidation, ...]:
    """Return a receipt's consolidations.

    Args:
        events: Of the batch.
        parent: The revision that was decided on.
        counts: Members of each scene, by filename.
    """
    return tuple(
        Consolidation(
            filename=event.filename,
            sources=event.sources,
            backup_dir=f"{parent}:scene-blocks",
            members=counts[event.filename],
            heat=event.meta.heat,
            created=event.meta.created,
        )
        for event in events
        if isinstance(event, ScenesConsolidated)
    )


def answer(
    outcome: Receipt | Replayed | Rejected, head: str | None
) -> dict[str, object]:
    """Return what goes over the wire for *outcome*: JSON values only.

    Args:
        outcome: Of a batch.
        head: The revision that is the head now.
    """
    if isinstance(outcome, Receipt):
        built = _receipt(outcome)
        if built["diff"] is None:
            del built["diff"]
        return {"success": True, **built}
    if isinstance(outcome, Replayed):
        kept_as_it_was = {**outcome.receipt, "commitHint": None, "replayed": True}
        return {"success": True, "revision": outcome.revision, **kept_as_it_was}
    refusal: dict[str, object] = {
        "success": False,
        # What was sent may hold a secret in any text that a refusal quotes.
        "errors": masked_all(msgspec.to_builtins(outcome.faults)),
        "retry": outcome.retry,
        "head": head,
    }
    if outcome.member_gaps or outcome.lines:
        refusal["consolidation"] = {
            "memberGaps": _plain(outcome.member_gaps),
            "lines": [_line(fact) for fact in outcome.lines],
        }
    if outcome.conflicts:
        refusal["conflicts"] = _plain(outcome.conflicts)
    return refusal


def _line(fact: LostFact) -> dict[str, object]:
    return {
        "filename": fact.filename,
        "source": fact.source,
        "line": fact.line,
        "text": fact.text,
        "missing": list(fact.missing),
    }


def kept(receipt: Receipt) -> dict[str, object]:
    """Return what a revision keeps of its receipt, for who asks again.

    Source:
        CONTRACT section 7, "events.json".
    """
    built = _receipt(receipt)
    for name in ("revision", "commitHint", "diff"):
        del built[name]
    return built


def _receipt(receipt: Receipt) -> dict[str, object]:
    built = _plain(receipt)
    warnings = [_warning(notice) for notice in receipt.warnings]
    return {**msgspec.convert(built, dict[str, object]), "warnings": _plain(warnings)}


def _plain(value: object) -> object:
    """Return *value* as it is once it has gone over the wire: lists, not tuples."""
    return msgspec.json.decode(msgspec.json.encode(value))


def _warning(notice: Notice) -> dict[str, object]:
    entry: dict[str, object] = {"code": str(notice.code)}
    if notice.filename is not None:
        entry["filename"] = notice.filename
    return {**entry, "message": notice.message, **notice.facts}
