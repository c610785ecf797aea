"""Which records a batch may name, and which it must keep.

Source:
    CONTRACT section 5, "Members".
"""

from collections.abc import Callable, Iterable, Iterator

from scenestore_engine.commands import (
    Batch,
    BodyWrite,
    Consolidate,
    Create,
    Delete,
    Update,
)
from scenestore_engine.faults import SHOWN_IDS, Fault, FaultCode, MemberGap
from scenestore_engine.policy import (
    MAX_ID_BYTES,
    MAX_NEW_IDS,
    Policy,
)
from scenestore_engine.rules.text import has_control
from scenestore_engine.state import (
    NO_MEMBERSHIP,
    Known,
    Membership,
)


def ids_are_good(path: str, ids: Iterable[str]) -> Iterator[Fault]:
    """Yield a fault if *ids* holds what cannot be a record id."""
    wrong = sorted(record_id for record_id in ids if not is_record_id(record_id))
    if wrong:
        yield Fault(
            code=FaultCode.BAD_RECORD_ID,
            path=path,
            message=f"{len(wrong)} ids of {path.rpartition('/')[2]} cannot be record "
            f"ids: {_listed(wrong, ascii)}.",
            hint=f"An id has 1 to {MAX_ID_BYTES} bytes and no control characters.",
        )


def is_record_id(text: str) -> bool:
    """Say whether *text* can be a record id.

    Source:
        CONTRACT section 1, "An L1 record".
    """
    return 1 <= len(text.encode("utf-8", "surrogatepass")) <= MAX_ID_BYTES and (
        not has_control(text)
    )


def new_ids_fit(batch: Batch, known: Known) -> Iterator[Fault]:
    """Yield a fault if the batch brings more new ids than one batch may."""
    count = len(batch.dismiss - known.dismissed) + sum(
        len(new_members(write.command, known))
        for write in batch.writes
        if isinstance(write.command, BodyWrite)
    )
    if count > MAX_NEW_IDS:
        yield Fault(
            code=FaultCode.TOO_MANY_IDS,
            path="/sceneWrites" if batch.writes else "/dismiss",
            message=f"The batch brings {count} new members and dismissals; "
            f"{MAX_NEW_IDS} are allowed.",
            hint="Send them in several batches.",
        )


def named_members(command: BodyWrite) -> frozenset[str]:
    """Return the ids that *command* gives, by ``members`` and ``addMembers``."""
    return (command.members or frozenset()) | command.add_members


def new_members(command: BodyWrite, known: Known) -> frozenset[str]:
    """Return the ids that *command* gives and that none of its scenes has."""
    had = (m.has for _, m in touched_memberships(command, known))
    return named_members(command).difference(*had)


def touched_memberships(
    command: BodyWrite, known: Known
) -> Iterator[tuple[str, Membership]]:
    """Yield what the ids of *command* are to each scene whose members it must keep."""
    match command:
        case Create():
            return
        case Update(filename=filename):
            yield filename, known.memberships.get(filename, NO_MEMBERSHIP)
        case Consolidate(filename=filename, sources=sources):
            for name in (*sources, filename):
                yield name, known.memberships.get(name, NO_MEMBERSHIP)


def left_out(
    command: BodyWrite, known: Known
) -> tuple[tuple[MemberGap, ...], frozenset[str]]:
    """Return the members that a given set must not leave out, and those it may.

    Those it may are the ids that L1 says are deleted.
    """
    gaps: list[MemberGap] = []
    gone: set[str] = set()
    if command.members is None:
        return (), frozenset()
    for name, membership in touched_memberships(command, known):
        lacks = membership.lacks - command.add_members
        deleted = {i for i in lacks if i in known.records and known.records[i].deleted}
        gone |= deleted
        if lacks - deleted:
            gaps.append(MemberGap(filename=name, ids=tuple(sorted(lacks - deleted))))
    return tuple(gaps), frozenset(gone)


def members_are_kept(path: str, command: BodyWrite, known: Known) -> Iterator[Fault]:
    """Yield a fault if a given set leaves out members that L1 still has."""
    gaps, _ = left_out(command, known)
    if gaps:
        count = len({record_id for gap in gaps for record_id in gap.ids})
        yield Fault(
            code=FaultCode.MEMBER_GAP,
            path=f"{path}/members",
            filename=command.filename,
            message=f"The given members leave out {count} that the scenes have.",
            hint="Add the ids of consolidation.memberGaps, or leave members out: "
            "then the server keeps them all, and addMembers adds new ones.",
        )


def members_are_known(
    path: str, command: BodyWrite, known: Known, policy: Policy
) -> Iterator[Fault]:
    """Yield a fault, if policy is strict, for new members that L1 does not know."""
    unknown = unknown_members(command, known)
    if unknown and policy.strict_members:
        yield Fault(
            code=FaultCode.UNKNOWN_MEMBER,
            path=f"{path}/{_field_of(unknown, command)}",
            filename=command.filename,
            message=f"L1 knows no record {_listed(unknown)}.",
            hint="Name ids that read_l1_increment returned.",
        )


def unknown_members(command: BodyWrite, known: Known) -> list[str]:
    """Return the new members of *command* that L1 does not know, sorted."""
    return sorted(new_members(command, known) - known.records.keys())


def members_are_not_forgotten(
    path: str, command: BodyWrite, known: Known
) -> Iterator[Fault]:
    """Yield a fault if *command* names records that were purged."""
    purged = sorted(named_members(command) & known.forgotten)
    if purged:
        yield Fault(
            code=FaultCode.FORGOTTEN_MEMBER,
            path=f"{path}/{_field_of(purged, command)}",
            filename=command.filename,
            message=f"{_listed(purged)} belong to records that were forgotten.",
            hint="Leave them out, and what they said.",
        )


def dismissals_are_good(batch: Batch, known: Known) -> Iterator[Fault]:
    """Yield faults for dismissed ids that are members, or that L1 does not know."""
    path = "/dismiss"
    yield from ids_are_good(path, batch.dismiss)
    gone = {w.command.filename for w in batch.writes if isinstance(w.command, Delete)}
    joining = frozenset[str]().union(
        *(
            named_members(write.command)
            for write in batch.writes
            if isinstance(write.command, BodyWrite)
        )
    )
    held = sorted(
        record_id
        for record_id in batch.dismiss
        if record_id in joining or set(known.homes.get(record_id, ())) - gone
    )
    if held:
        yield Fault(
            code=FaultCode.DISMISSED_MEMBER,
            path=path,
            message=f"{_listed(held)} cannot be dismissed: "
            "a scene has it, or this batch gives it to one.",
            hint="Dismiss only records that belong to no scene.",
        )
    unknown = sorted(
        batch.dismiss - known.records.keys() | batch.dismiss & known.forgotten
    )
    if unknown:
        yield Fault(
            code=FaultCode.DISMISSED_UNKNOWN,
            path=path,
            message=f"L1 knows no record {_listed(unknown)}.",
            hint="Name ids that read_l1_increment returned.",
        )


def _field_of(ids: Iterable[str], command: BodyWrite) -> str:
    """Return the field of the request that names *ids*."""
    is_given = any(record_id in (command.members or ()) for record_id in ids)
    return "members" if is_given else "addMembers"


def _listed(ids: list[str], form: Callable[[str], str] = str) -> str:
    shown = ", ".join(form(record_id[:140]) for record_id in ids[:SHOWN_IDS])
    more = len(ids) - SHOWN_IDS
    return shown + (f" and {more} more" if more > 0 else "")
