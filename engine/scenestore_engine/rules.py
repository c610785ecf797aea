"""The rules, one function each: a rule looks, and yields faults or nothing.

No rule stops at its first fault, and none depends on another having passed.

Source:
    CONTRACT section 5, unless a rule names another.
"""

import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

from scenestore_engine import names
from scenestore_engine.commands import (
    Archive,
    Batch,
    BodyWrite,
    Command,
    Consolidate,
    Create,
    Delete,
    Restore,
    Update,
    Write,
    targets,
)
from scenestore_engine.faults import Fault, FaultCode, MemberGap
from scenestore_engine.names import folded
from scenestore_engine.policy import (
    MAX_ID_BYTES,
    MAX_LINE_CHARS,
    MAX_NEW_IDS,
    Policy,
)
from scenestore_engine.secret import kind_of_secret
from scenestore_engine.state import (
    NO_MEMBERSHIP,
    Known,
    Membership,
    Scene,
    State,
)
from scenestore_engine.times import DAY_MS, ms

META_LINES = frozenset({"-----meta-start-----", "-----meta-end-----"})
DELETED_MARK = "[deleted]"
MAX_ACTOR_CHARS = 64
_LINE_BREAKS = "\u2028\u2029"


# Names


def filenames_are_good(path: str, command: Command) -> Iterator[Fault]:
    """Yield a fault for each name in *command* that cannot name a scene."""
    yield from filename_is_good(f"{path}/filename", command.filename)
    if isinstance(command, Consolidate):
        for index, source in enumerate(command.sources):
            yield from filename_is_good(f"{path}/sources/{index}", source)
    if isinstance(command, Restore) and command.restore_as is not None:
        yield from filename_is_good(f"{path}/as", command.restore_as)


def filename_is_good(path: str, filename: str) -> Iterator[Fault]:
    """Yield a fault if *filename* cannot name a scene, with one that could."""
    reasons = list(names.complaints(filename))
    if reasons:
        yield Fault(
            code=FaultCode.BAD_FILENAME,
            path=path,
            filename=filename,
            message=f"The filename {'; it '.join(reasons)}.",
            hint=f"Use {names.proposal(filename)} instead.",
        )


def names_play_one_role(writes: Iterable[Write]) -> Iterator[Fault]:
    """Yield a fault for each write that names what an earlier write names."""
    taken: dict[str, str] = {}
    for write in writes:
        mine = {folded(name): name for name in targets(write.command)}
        for fold, name in mine.items():
            if fold in taken:
                yield Fault(
                    code=FaultCode.TOUCHED_TWICE,
                    path=f"{write.path}/filename",
                    filename=name,
                    message=f"{name} stands in two writes of this batch "
                    f"({taken[fold]} and {write.path}).",
                    hint="Name each scene once a batch; say the rest in another batch.",
                )
        taken |= {fold: write.path for fold in mine if fold not in taken}


def name_is_free(path: str, filename: str, state: State) -> Iterator[Fault]:
    """Yield a fault if a live scene has *filename*, however it is written."""
    holder = namesake(filename, state.live)
    if holder is not None:
        as_what = "" if holder == filename else f", the same name as {filename},"
        yield Fault(
            code=FaultCode.SCENE_EXISTS,
            path=path,
            filename=filename,
            message=f"{holder}{as_what} is live.",
            hint=f"Update {holder}, or choose another name.",
        )


def scene_is_live(path: str, filename: str, state: State) -> Iterator[Fault]:
    """Yield a fault if no live scene is called *filename*, to the letter."""
    if filename in state.live:
        return
    holder = namesake(filename, state.live)
    if holder is not None:
        hint = f"The live scene is written {holder}."
    elif namesake(filename, state.archived) is not None:
        hint = "It is in the archive: restore it first, in a batch of its own."
    else:
        hint = "Create it, or name a scene that is live."
    yield Fault(
        code=FaultCode.SCENE_MISSING,
        path=path,
        filename=filename,
        message=f"No live scene is called {filename}.",
        hint=hint,
    )


def sources_are_good(path: str, command: Consolidate, state: State) -> Iterator[Fault]:
    """Yield faults unless two or more distinct live scenes go into another."""
    folds = [folded(source) for source in command.sources]
    wrong: list[str] = []
    if len(set(folds)) < 2:  # noqa: PLR2004 - two is what "several" begins with
        wrong.append(f"sources names {len(set(folds))} scenes; it takes 2 or more")
    wrong += [
        f"sources names {command.sources[folds.index(fold)]} {count} times"
        for fold, count in Counter(folds).items()
        if count > 1
    ]
    if folded(command.filename) in folds:
        wrong.append(
            f"{command.filename} is the target and among the sources; "
            "leave it out of sources (a live target is kept and counted)"
        )
    if wrong:
        yield Fault(
            code=FaultCode.BAD_SOURCES,
            path=f"{path}/sources",
            filename=command.filename,
            message=f"{'; '.join(wrong)}.",
            hint="Name two or more different live scenes that go into the target.",
        )
    for index, source in enumerate(command.sources):
        yield from scene_is_live(f"{path}/sources/{index}", source, state)


def target_is_new_or_live(
    path: str, command: Consolidate, state: State
) -> Iterator[Fault]:
    """Yield a fault if the target is nearly, but not exactly, the name of a scene."""
    is_source = folded(command.filename) in map(folded, command.sources)
    if command.filename not in state.live and not is_source:
        yield from name_is_free(f"{path}/filename", command.filename, state)


def scene_can_come_back(path: str, command: Restore, state: State) -> Iterator[Fault]:
    """Yield faults unless the scene is archived and its name is free."""
    if command.filename not in state.archived:
        holder = namesake(command.filename, state.archived)
        is_live = command.filename in state.live
        yield Fault(
            code=FaultCode.NOT_ARCHIVED,
            path=f"{path}/filename",
            filename=command.filename,
            message=f"{command.filename} is live, not archived."
            if is_live
            else f"No archived scene is called {command.filename}.",
            hint=f"The archived scene is written {holder}."
            if holder is not None
            else "Nothing is to be restored; an earlier revision may still hold it."
            if not is_live
            else "It need not be restored.",
        )
    place = "filename" if command.restore_as is None else "as"
    name = command.restore_as or command.filename
    if not (place == "filename" and name in state.live):
        for fault in name_is_free(f"{path}/{place}", name, state):
            yield Fault(
                code=fault.code,
                path=fault.path,
                filename=fault.filename,
                message=fault.message,
                hint='Restore it under another name, with "as".',
            )
    elif command.filename in state.archived:
        yield Fault(
            code=FaultCode.SCENE_EXISTS,
            path=f"{path}/filename",
            filename=name,
            message=f"{name} is live, too.",
            hint='Restore it under another name, with "as".',
        )


def scene_can_go(
    path: str, command: Archive, state: State, policy: Policy, now_ms: int
) -> Iterator[Fault]:
    """Yield faults unless the scene may be archived: live, old enough, name free."""
    yield from scene_is_live(f"{path}/filename", command.filename, state)
    scene = state.live.get(command.filename)
    if scene is not None and not is_archivable(scene, policy, now_ms):
        age_days = (now_ms - ms(scene.first_seen)) / DAY_MS
        yield Fault(
            code=FaultCode.TOO_YOUNG,
            path=f"{path}/filename",
            filename=command.filename,
            message=f"{command.filename} is {max(age_days, 0):.1f} days old; "
            f"a scene is archived at the age of {policy.min_archive_age_days} or more.",
            hint="Its age counts from when the store first saw it. Leave it live.",
        )
    holder = namesake(command.filename, state.archived)
    if holder is not None and scene is not None:
        yield Fault(
            code=FaultCode.ARCHIVE_NAME_TAKEN,
            path=f"{path}/filename",
            filename=command.filename,
            message=f"The archive has a {holder} already.",
            hint="Restore that one under another name first, or leave this one live.",
        )


def is_archivable(scene: Scene, policy: Policy, now_ms: int) -> bool:
    """Say whether *scene* is old enough for the archive."""
    return now_ms - ms(scene.first_seen) >= policy.min_archive_age_days * DAY_MS


# Limits


def counts_fit(batch: Batch, policy: Policy) -> Iterator[Fault]:
    """Yield a fault for each kind of write that the batch has too many of."""
    limits = (
        (Create, "create", FaultCode.TOO_MANY_CREATES, policy.max_creates_per_batch),
        (
            Archive,
            "archive",
            FaultCode.TOO_MANY_ARCHIVES,
            policy.max_archives_per_batch,
        ),
        (Delete, "delete", FaultCode.TOO_MANY_DELETES, policy.max_deletes_per_batch),
    )
    for kind, word, code, limit in limits:
        ours = [write for write in batch.writes if isinstance(write.command, kind)]
        if len(ours) > limit:
            yield Fault(
                code=code,
                path=ours[limit].path,
                filename=ours[limit].command.filename,
                message=f"{len(ours)} writes {word} a scene; "
                f"a batch may hold {limit} of that kind.",
                hint=f"Send the other {word} in a batch of its own.",
            )


def shelf_has_room(batch: Batch, state: State, policy: Policy) -> Iterator[Fault]:
    """Yield a fault if a batch that adds scenes leaves more than there is room for."""
    adds = [w for w in batch.writes if isinstance(w.command, Create | Restore)]
    live_after = len(names_after(batch, state))
    if adds and live_after > policy.max_scenes:
        yield Fault(
            code=FaultCode.NO_ROOM,
            path=f"{adds[0].path}/filename",
            filename=adds[0].command.filename,
            message=f"The batch would leave {live_after} live scenes; "
            f"maxScenes is {policy.max_scenes}.",
            hint="Consolidate, archive or delete scenes in the same batch, "
            "or update one that is there.",
        )


def names_after(batch: Batch, state: State) -> frozenset[str]:
    """Return the names of the scenes that are live if *batch* is accepted."""
    gone: set[str] = set()
    come: set[str] = set()
    for write in batch.writes:
        match write.command:
            case Consolidate(filename=filename, sources=sources):
                gone.update(sources)
                come.add(filename)
            case Delete(filename=filename) | Archive(filename=filename):
                gone.add(filename)
            case Create(filename=filename):
                come.add(filename)
            case Restore(filename=filename, restore_as=restore_as):
                come.add(restore_as or filename)
            case Update():
                pass
    return frozenset((state.live.keys() - gone) | come)


# Text


def body_is_good(path: str, command: BodyWrite, policy: Policy) -> Iterator[Fault]:
    """Yield a fault for each reason why the body cannot be one."""
    place, filename, body = f"{path}/content", command.filename, command.content
    lines = [line.strip().casefold() for line in body.split("\n")]
    if not body.strip():
        yield Fault(
            code=FaultCode.BODY_BLANK,
            path=place,
            filename=filename,
            message="The content is blank.",
            hint="Give the body, or delete the scene with the action delete.",
        )
    if len(body) > policy.max_body_chars:
        yield Fault(
            code=FaultCode.BODY_TOO_LONG,
            path=place,
            filename=filename,
            message=f"The content has {len(body)} characters; "
            f"{policy.max_body_chars} are allowed.",
            hint=f"Shorten it by {len(body) - policy.max_body_chars} characters.",
        )
    if META_LINES.intersection(lines):
        yield Fault(
            code=FaultCode.BODY_HAS_META,
            path=place,
            filename=filename,
            message="The content holds a line of a META header.",
            hint="Send the body alone; the META header is the server's.",
        )
    if DELETED_MARK in lines:
        yield Fault(
            code=FaultCode.BODY_MARKS_DELETION,
            path=place,
            filename=filename,
            message="The content has a line that is nothing but [DELETED].",
            hint="Use the action delete, or leave that line out.",
        )


def line_complaint(text: str) -> str | None:
    """Return why *text* is not one clean line of 1 to 500 characters, or None."""
    if not text.strip():
        return "is blank"
    if len(text) > MAX_LINE_CHARS:
        return f"has {len(text)} characters; {MAX_LINE_CHARS} are allowed"
    if "\n" in text or "\r" in text or any(char in text for char in _LINE_BREAKS):
        return "has more than one line"
    if has_control(text):
        return "holds a control character"
    return None


def has_control(text: str) -> bool:
    """Say whether *text* holds a control character of C0 or C1, or DEL."""
    return any(unicodedata.category(char) == "Cc" for char in text)


def lines_are_good(path: str, command: Command) -> Iterator[Fault]:
    """Yield a fault if the summary or the reason is not one clean line."""
    if isinstance(command, BodyWrite) and command.meta.summary is not None:
        yield from _line_is_good(
            FaultCode.BAD_SUMMARY,
            f"{path}/meta/summary",
            "summary",
            command.meta.summary,
        )
    if command.reason is not None:
        yield from _line_is_good(
            FaultCode.BAD_REASON, f"{path}/reason", "reason", command.reason
        )


def batch_lines_are_good(batch: Batch) -> Iterator[Fault]:
    """Yield a fault for each reason of the batch itself that is not one clean line."""
    given = (
        ("personaReason", batch.persona_reason),
        ("dismissReason", batch.dismiss_reason),
    )
    for field, text in given:
        if text is not None:
            yield from _line_is_good(FaultCode.BAD_REASON, f"/{field}", field, text)


def _line_is_good(code: FaultCode, path: str, word: str, text: str) -> Iterator[Fault]:
    complaint = line_complaint(text)
    if complaint is not None:
        yield Fault(
            code=code,
            path=path,
            message=f"The {word} {complaint}.",
            hint=f"Give one line of 1 to {MAX_LINE_CHARS} characters.",
        )


def secrets_in(batch: Batch) -> Iterator[Fault]:
    """Yield a fault for each text that holds a key or a token, never naming it."""
    for path, filename, text in _texts(batch):
        kind = kind_of_secret(text)
        if kind is not None:
            yield Fault(
                code=FaultCode.SECRET,
                path=path,
                filename=filename,
                message=f"The text holds {kind}; history would keep it for ever.",
                hint="Leave it out, and say where it is kept instead.",
            )


def _texts(batch: Batch) -> Iterator[tuple[str, str | None, str]]:
    for write in batch.writes:
        command = write.command
        for index, name in enumerate(targets(command)):
            place = "filename" if index == 0 else "as"
            if index and isinstance(command, Consolidate):
                place = f"sources/{index - 1}"
            yield f"{write.path}/{place}", None, name
        if isinstance(command, BodyWrite):
            yield f"{write.path}/content", command.filename, command.content
            if command.meta.summary is not None:
                yield (
                    f"{write.path}/meta/summary",
                    command.filename,
                    command.meta.summary,
                )
        if command.reason is not None:
            yield f"{write.path}/reason", command.filename, command.reason
    if batch.persona_reason is not None:
        yield "/personaReason", None, batch.persona_reason
    if batch.dismiss_reason is not None:
        yield "/dismissReason", None, batch.dismiss_reason


# Records


def ids_are_good(path: str, ids: Iterable[str]) -> Iterator[Fault]:
    """Yield a fault if *ids* holds what cannot be a record id."""
    wrong = sorted(record_id for record_id in ids if not is_record_id(record_id))
    if wrong:
        yield Fault(
            code=FaultCode.BAD_RECORD_ID,
            path=path,
            message=f"{len(wrong)} ids of {path.rpartition('/')[2]} cannot be record "
            f"ids, first {wrong[0][:40]!a}.",
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
            path="/sceneWrites",
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
            path=f"{path}/members",
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
            path=f"{path}/members",
            filename=command.filename,
            message=f"{len(purged)} of the ids belong to records that were forgotten.",
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


# The cursor and the batch as a whole


def cursor_is_good(batch: Batch, known: Known) -> Iterator[Fault]:
    """Yield a fault if the cursor stands nowhere in L1, or before the present one."""
    if batch.cursor is None:
        return
    if known.cursor is None:
        yield Fault(
            code=FaultCode.UNKNOWN_CURSOR,
            path="/cursor",
            message=f"No record in L1 is called {batch.cursor[:140]!a}.",
            hint="Use the nextCursor that read_l1_increment returned, to the letter.",
        )
    elif known.present is not None and known.cursor.place < known.present.place:
        yield Fault(
            code=FaultCode.CURSOR_GOES_BACK,
            path="/cursor",
            message=f"The cursor {batch.cursor} stands before the present one, "
            f"{known.present.record_id}.",
            hint="Leave the cursor out, or give one that stands later in L1.",
        )


def batch_is_not_empty(batch: Batch) -> Iterator[Fault]:
    """Yield a fault if the batch asks for nothing at all."""
    asks = (batch.writes, batch.cursor is not None, batch.persona_reason, batch.dismiss)
    if not any(asks):
        yield Fault(
            code=FaultCode.EMPTY_BATCH,
            path="",
            message="The batch asks for nothing.",
            hint="Give sceneWrites, a cursor, dismiss or personaSignal.",
        )


def only_what_is_checked(batch: Batch) -> Iterator[Fault]:
    """Yield a fault for a wish that this version cannot honour: no yes unchecked."""
    wishes = (
        ("baseRevision", batch.base_revision),
        ("idempotencyKey", batch.idempotency_key),
    )
    for field, wish in wishes:
        if wish is not None:
            yield Fault(
                code=FaultCode.NOT_SUPPORTED,
                path=f"/{field}",
                message=f"This version does not check {field} yet.",
                hint=f"Send the batch without {field}.",
            )


def actor_is_good(actor: str) -> Iterator[Fault]:
    """Yield a fault if *actor* cannot stand as the author of a commit."""
    is_good = (
        actor.strip() == actor
        and 1 <= len(actor) <= MAX_ACTOR_CHARS
        and line_complaint(actor) is None
        and not set(actor) & set("<>")
    )
    if not is_good:
        yield Fault(
            code=FaultCode.BAD_ACTOR,
            path="",
            message=f"{actor[:80]!a} cannot be the name of an actor.",
            hint=f"Use one line of 1 to {MAX_ACTOR_CHARS} characters without < and >.",
        )


def namesake(filename: str, scenes: Mapping[str, Scene]) -> str | None:
    """Return the scene among *scenes* whose name counts as *filename*, or None."""
    if filename in scenes:
        return filename
    fold = folded(filename)
    return next((name for name in scenes if folded(name) == fold), None)


def _listed(ids: list[str], limit: int = 5) -> str:
    shown = ", ".join(record_id[:140] for record_id in ids[:limit])
    return shown + (f" and {len(ids) - limit} more" if len(ids) > limit else "")
