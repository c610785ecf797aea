"""The decision: a batch and what is known in, events or faults out.

A rule is never applied here, only called; a number never stands here.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import assert_never

import msgspec
from msgspec.structs import replace

from scenestore_engine import rules
from scenestore_engine.commands import (
    AdvisoryMeta,
    Archive,
    Batch,
    BodyWrite,
    Consolidate,
    Create,
    Delete,
    Restore,
    Update,
    Write,
)
from scenestore_engine.events import (
    CursorMoved,
    DismissalsChanged,
    Event,
    PersonaRequested,
    SceneArchived,
    SceneCreated,
    SceneDeleted,
    SceneRestored,
    ScenesConsolidated,
    SceneUpdated,
)
from scenestore_engine.faults import (
    SHOWN_IDS,
    Conflict,
    Fault,
    MemberGap,
    Notice,
    NoticeCode,
    about_ids,
)
from scenestore_engine.policy import MAX_HEAT, Policy
from scenestore_engine.retention import LostFact, Verdict
from scenestore_engine.secret import masked
from scenestore_engine.state import Known, Meta, Scene, State
from scenestore_engine.times import iso

_SHOWN_CHARS = 40


class SetChange(msgspec.Struct, frozen=True, kw_only=True):
    """How a member set comes to be: the union of some, more ids, less some."""

    union: tuple[str, ...] = ()
    """Scenes of the parent state whose members it takes over."""
    add: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()


class Accepted(msgspec.Struct, frozen=True, kw_only=True):
    """The batch holds: these events happened.

    The events' handles are empty: the shell makes the files and sets that *bodies*,
    *members* and *dismissed* describe, and fills the handles in.
    """

    events: tuple[Event, ...]
    """In the order of the writes; none if nothing was left to change."""
    notices: tuple[Notice, ...]
    bodies: Mapping[str, str]
    """The body of each scene that was created, updated or consolidated."""
    members: Mapping[str, SetChange]
    """The member set of each of these scenes."""
    dismissed: SetChange
    members_missing: tuple[str, ...]
    """Scenes that were created without saying which members they have."""
    verdicts: tuple[Verdict, ...] = ()
    """How much each consolidation keeps, in the order of the writes."""


class Rejected(msgspec.Struct, frozen=True, kw_only=True):
    """The batch does not hold: nothing happened, and here is all that is wrong."""

    faults: tuple[Fault, ...]
    member_gaps: tuple[MemberGap, ...] = ()
    lines: tuple[LostFact, ...] = ()
    """Facts that the new bodies would lose."""
    conflicts: tuple[Conflict, ...] = ()
    """What changed since the caller read it."""
    retry: bool = True
    """Whether the caller can mend the batch, or wait, and send it again."""


Decision = Accepted | Rejected


def decide(
    batch: Batch, known: Known, policy: Policy, *, now_ms: int, actor: str
) -> Decision:
    """Decide *batch* as a whole.

    Args:
        batch: One ``l2_commit``; names play one role, so the order of its writes does
            not matter.
        known: The state at the parent, and what the ids and names in the batch are.
        policy: The host's limits.
        now_ms: Milliseconds since the Unix epoch, UTC; stamps META.
        actor: Who asks.

    Returns:
        `Accepted` with every event, or `Rejected` with *every* fault found, since
        the agent may retry only once.

    Stays true:
        Equal arguments give an equal decision. The state that follows obeys *policy*,
        save where an import left more scenes than it allows.

    Source:
        CONTRACT section 5.
    """
    found = rules.measured(batch, known, policy)
    lost = tuple(rules.facts_are_kept(batch, found, policy))
    stale = tuple(rules.base_is_fresh(batch, known))
    faults = (
        *_found(batch, known, policy, now_ms, actor),
        *(fault for fault, _ in lost),
        *(fault for fault, _ in stale),
    )
    if faults:
        return Rejected(
            faults=faults,
            member_gaps=tuple(_gaps(batch, known)),
            lines=tuple(fact for _, facts in lost for fact in facts),
            conflicts=tuple(conflict for _, conflict in stale),
        )
    now = iso(now_ms)
    kept = tuple(w for w in batch.writes if not _is_unchanged(w, known))
    undismissed = _undismissed(batch, known)
    dismissed = SetChange(
        add=tuple(sorted(batch.dismiss - known.dismissed)), drop=undismissed
    )
    return Accepted(
        events=tuple(_caused(kept, batch, known, dismissed, now)),
        notices=(
            *_noticed(batch, known, policy, now, undismissed),
            *_facts_noticed(batch, found),
        ),
        verdicts=tuple(found.consolidations.values()),
        bodies={
            w.command.filename: w.command.content
            for w in kept
            if isinstance(w.command, BodyWrite)
        },
        members={
            w.command.filename: _set_change(w.command, known)
            for w in kept
            if isinstance(w.command, BodyWrite)
        },
        dismissed=dismissed,
        members_missing=tuple(
            w.command.filename
            for w in kept
            if isinstance(w.command, Create)
            and w.command.members is None
            and not w.command.add_members
        ),
    )


# Faults


def _found(
    batch: Batch, known: Known, policy: Policy, now_ms: int, actor: str
) -> Iterator[Fault]:
    yield from batch.faults
    for write in batch.writes:
        yield from _found_in_write(write, known, policy, now_ms)
    yield from rules.names_play_one_role(batch.writes)
    yield from rules.counts_fit(batch, policy)
    yield from rules.batch_lines_are_good(batch)
    if policy.secrets == "reject":
        yield from rules.secrets_in(batch)
    yield from rules.new_ids_fit(batch, known)
    yield from rules.dismissals_are_good(batch, known)
    yield from rules.cursor_is_good(batch, known)
    yield from rules.keys_are_good(batch)
    yield from rules.actor_is_good(actor)
    # What is missing because its form was wrong would mislead these two.
    if not batch.unread:
        yield from rules.shelf_has_room(batch, known.state, policy)
    if not batch.faults:
        yield from rules.batch_is_not_empty(batch)


def _found_in_write(
    write: Write, known: Known, policy: Policy, now_ms: int
) -> Iterator[Fault]:
    path, command, state = write.path, write.command, known.state
    yield from rules.filenames_are_good(path, command)
    yield from rules.lines_are_good(path, command)
    match command:
        case Create():
            yield from rules.name_is_free(f"{path}/filename", command.filename, state)
        case Update() | Delete():
            yield from rules.scene_is_live(f"{path}/filename", command.filename, state)
        case Consolidate():
            yield from rules.sources_are_good(path, command, state)
            yield from rules.target_is_new_or_live(path, command, state)
        case Archive():
            yield from rules.scene_can_go(path, command, state, policy, now_ms)
        case Restore():
            yield from rules.scene_can_come_back(path, command, state)
        case _:
            assert_never(command)
    if isinstance(command, BodyWrite):
        yield from rules.body_is_good(path, command, policy)
        yield from rules.ids_are_good(f"{path}/members", command.members or ())
        yield from rules.ids_are_good(f"{path}/addMembers", command.add_members)
        yield from rules.members_are_kept(path, command, known)
        yield from rules.members_are_known(path, command, known, policy)
        yield from rules.members_are_not_forgotten(path, command, known)


def _gaps(batch: Batch, known: Known) -> Iterator[MemberGap]:
    for write in batch.writes:
        if isinstance(write.command, BodyWrite):
            yield from rules.left_out(write.command, known)[0]


# Events


def _caused(
    writes: Iterable[Write],
    batch: Batch,
    known: Known,
    dismissed: SetChange,
    now: str,
) -> Iterator[Event]:
    for write in writes:
        yield _event(write, known, now)
    if dismissed.add or dismissed.drop:
        yield DismissalsChanged(
            added=len(dismissed.add),
            removed=len(dismissed.drop),
            reason=batch.dismiss_reason,
        )
    to = known.cursor
    # Line 0 is the store's own cursor in a shard that is read again from its start.
    if to is not None and to.line > 0 and to != known.state.cursor:
        yield CursorMoved(to=to)
    if batch.persona_reason is not None:
        yield PersonaRequested(reason=batch.persona_reason, at=now)


def _event(write: Write, known: Known, now: str) -> Event:
    command = write.command
    match command:
        case Create(filename=filename):
            return SceneCreated(
                filename=filename,
                meta=Meta(
                    created=now, updated=now, summary=command.meta.summary or "", heat=1
                ),
                first_seen=now,
                reason=command.reason,
            )
        case Update(filename=filename):
            scene = known.state.live[filename]
            return SceneUpdated(
                filename=filename,
                meta=_updated_meta(command, _opened(scene), now),
                dropped=_set_change(command, known).drop,
                members_unknown=scene.members_unknown and command.members is None,
                reason=command.reason,
            )
        case Consolidate(filename=filename, sources=sources):
            scenes = _consolidated(command, known.state)
            return ScenesConsolidated(
                filename=filename,
                sources=sources,
                meta=_consolidated_meta(command, known.state, now),
                first_seen=min(scene.first_seen for scene in scenes),
                dropped=_set_change(command, known).drop,
                members_unknown=command.members is None
                and any(scene.members_unknown for scene in scenes),
                reason=command.reason,
            )
        case Delete(filename=filename):
            return SceneDeleted(filename=filename, reason=command.reason)
        case Archive(filename=filename):
            return SceneArchived(filename=filename, reason=command.reason)
        case Restore(filename=filename):
            return SceneRestored(
                filename=filename,
                restored_as=command.restore_as or filename,
                reason=command.reason,
            )
        case _:
            assert_never(command)


def _updated_meta(command: Update, old: Meta, now: str) -> Meta:
    return replace(
        old,
        updated=max(old.updated, now),  # a clock that goes back moves nothing back
        summary=old.summary if command.meta.summary is None else command.meta.summary,
        heat=min(old.heat + 1, MAX_HEAT),
    )


def _consolidated(command: Consolidate, state: State) -> list[Scene]:
    """Return the scenes that go into the target, a live target among them."""
    names = (*command.sources, command.filename)
    return [state.live[name] for name in names if name in state.live]


def _consolidated_meta(command: Consolidate, state: State, now: str) -> Meta:
    metas = [_opened(scene) for scene in _consolidated(command, state)]
    target = state.live.get(command.filename)
    return Meta(
        created=_opened(target).created if target else min(m.created for m in metas),
        updated=max(now, *(m.updated for m in metas)),
        summary=command.meta.summary or "",
        heat=max(m.heat for m in metas),
    )


def _opened(scene: Scene) -> Meta:
    if scene.meta is None:
        raise ValueError("the shell must open the scenes that a batch names")
    return scene.meta


def _set_change(command: BodyWrite, known: Known) -> SetChange:
    union: tuple[str, ...] = ()
    if isinstance(command, Update):
        union = (command.filename,)
    elif isinstance(command, Consolidate):
        names = (*command.sources, command.filename)
        union = tuple(name for name in names if name in known.state.live)
    return SetChange(
        union=union,
        add=tuple(sorted(rules.new_members(command, known))),
        drop=tuple(sorted(rules.left_out(command, known)[1])),
    )


def _is_unchanged(write: Write, known: Known) -> bool:
    command = write.command
    if not isinstance(command, Update):
        return False
    scene = known.state.live[command.filename]
    change = _set_change(command, known)
    return (
        command.content == known.bodies[command.filename]
        and command.meta.summary in (None, _opened(scene).summary)
        and not (change.add or change.drop)
        and not (scene.members_unknown and command.members is not None)
    )


def _undismissed(batch: Batch, known: Known) -> tuple[str, ...]:
    named = frozenset[str]().union(
        *(
            rules.named_members(write.command)
            for write in batch.writes
            if isinstance(write.command, BodyWrite)
        )
    )
    return tuple(sorted(named & known.dismissed))


# Notices


def _noticed(
    batch: Batch,
    known: Known,
    policy: Policy,
    now: str,
    undismissed: tuple[str, ...],
) -> Iterator[Notice]:
    yield from batch.notices
    for write in batch.writes:
        if isinstance(write.command, BodyWrite):
            yield from _noticed_in_write(write, known, now)
    if undismissed:
        yield about_ids(
            NoticeCode.UNDISMISSED,
            None,
            f"{len(undismissed)} dismissed records are members now.",
            undismissed,
        )
    if policy.secrets == "notice":
        for fault in rules.secrets_in(batch):
            yield Notice(
                code=NoticeCode.SECRET,
                filename=fault.filename,
                message=fault.message,
                facts={"path": fault.path},
            )


def _noticed_in_write(write: Write, known: Known, now: str) -> Iterator[Notice]:
    command, state = write.command, known.state
    if not isinstance(command, BodyWrite):
        return
    filename = command.filename
    if _is_unchanged(write, known):
        yield Notice(
            code=NoticeCode.UNCHANGED,
            filename=filename,
            message=f"{filename} has this body, summary and members already; "
            "the update was dropped.",
        )
    else:
        yield from _meta_advice(filename, command.meta, _event(write, known, now))
    is_new = filename not in state.live
    holder = rules.namesake(filename, state.archived)
    if is_new and holder is not None:
        yield Notice(
            code=NoticeCode.ARCHIVED_NAMESAKE,
            filename=filename,
            message=f"The archive has a scene of this name, {holder}.",
        )
    unknown = rules.unknown_members(command, known)
    if unknown:
        yield about_ids(
            NoticeCode.UNKNOWN_MEMBER,
            filename,
            f"L1 knows no record of {len(unknown)} of the new members.",
            unknown,
        )
    dropped = _set_change(command, known).drop
    if dropped:
        yield about_ids(
            NoticeCode.DELETED_MEMBER_DROPPED,
            filename,
            f"{len(dropped)} members that L1 says are deleted are members no more.",
            dropped,
        )
    if isinstance(command, Consolidate):
        yield from _consolidation_notices(command, known)


def _consolidation_notices(command: Consolidate, known: Known) -> Iterator[Notice]:
    state = known.state
    for source in command.sources:
        if state.live[source].members is None:
            yield Notice(
                code=NoticeCode.SOURCE_WITHOUT_MEMBERS,
                filename=source,
                message=f"{source} had no members to hand on.",
            )
    lost = [
        line for scene in _consolidated(command, state) for line in _opened(scene).extra
    ]
    if lost:
        yield Notice(
            code=NoticeCode.UNKNOWN_META_DROPPED,
            filename=command.filename,
            message=f"{len(lost)} unknown META fields were dropped.",
            facts={"lines": lost},
        )


def _meta_advice(filename: str, given: AdvisoryMeta, event: Event) -> Iterator[Notice]:
    if not isinstance(event, SceneCreated | SceneUpdated | ScenesConsolidated):
        return
    meta = event.meta
    pairs = (
        ("created", given.created, meta.created),
        ("updated", given.updated, meta.updated),
        ("heat", given.heat, meta.heat),
    )
    differing = {
        field: {"given": _clean(theirs), "kept": ours}
        for field, theirs, ours in pairs
        if theirs is not None and theirs != ours
    }
    if differing:
        yield Notice(
            code=NoticeCode.META_ADVISORY,
            filename=filename,
            message=f"The server sets {', '.join(differing)} itself.",
            facts={"fields": differing},
        )


def _facts_noticed(batch: Batch, found: rules.Measured) -> Iterator[Notice]:
    for write in batch.writes:
        filename = write.command.filename
        verdict = found.consolidations.get(write.path)
        rest = found.updates.get(write.path) or found.deletes.get(write.path)
        if verdict is not None:
            yield from _about_facts(
                NoticeCode.FACTS_DROPPED,
                filename,
                "The sources do not fit together; these facts were let go.",
                verdict.dropped,
            )
            yield from _about_facts(
                NoticeCode.FACTS_DOUBTFUL,
                filename,
                "These facts of the sources may not be in the new body.",
                verdict.lines,
            )
        elif rest is not None:
            yield from _about_facts(
                NoticeCode.FACTS_DROPPED,
                filename,
                f"These facts of {filename} are in none of the batch's bodies.",
                rest.lost,
            )


def _about_facts(
    code: NoticeCode, filename: str, message: str, facts: Sequence[LostFact]
) -> Iterator[Notice]:
    if facts:
        listed: list[dict[str, object]] = [
            {
                "source": fact.source,
                "line": fact.line,
                "text": masked(fact.text),
                "missing": [masked(term) for term in fact.missing],
            }
            for fact in facts[:SHOWN_IDS]
        ]
        yield Notice(
            code=code,
            filename=filename,
            message=message,
            facts={"count": len(facts), "lines": listed},
        )


def _clean(given: str | int) -> str | int:
    """Return *given* as it may be repeated in a history that keeps for ever."""
    return masked(given)[:_SHOWN_CHARS] if isinstance(given, str) else given
