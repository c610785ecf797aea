"""Commit messages: what `git log` tells a person who audits a memory.

Source:
    CONTRACT section 7.
"""

from collections.abc import Iterable, Mapping
from typing import assert_never

from scenestore.receipts import CursorMove
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
    StateImported,
    StoreBegun,
    StoreRolledBack,
)
from scenestore_engine.times import is_canonical

MAX_SUBJECT_CHARS = 72
_NAMED_SOURCES = 2


def message(
    events: Iterable[Event],
    *,
    seq: int,
    cursor: CursorMove,
    batch: str,
    actor: str,
    counts: Mapping[str, int],
    added: Mapping[str, int],
    overridden_at: str | None = None,
) -> str:
    """Return the message of a revision: subject, a line per write, trailers.

    Args:
        events: Of the revision, in order.
        seq: Its number.
        cursor: How the cursor moved.
        batch: The batch's id.
        actor: Who asked.
        counts: Members of each scene after the batch, by filename.
        added: How many of them are new.
        overridden_at: The time, if it was dictated.
    """
    events = tuple(events)
    lines = [line for event in events if (line := _line(event, counts, added))]
    trailers = [
        f"Scene-Seq: {seq}",
        f"Scene-Cursor: {cursor.before or 'start'} -> {cursor.after or 'start'}",
        f"Scene-Batch: {batch}",
        f"Scene-Actor: {actor}",
    ]
    if overridden_at is not None and is_canonical(overridden_at):
        trailers.append(f"Scene-Time: {overridden_at} (dictated)")
    parts = [_subject(events), "\n".join(lines), "\n".join(trailers)]
    return visible("\n\n".join(part for part in parts if part)) + "\n"


def visible(text: str) -> str:
    """Return *text* with what a terminal would obey or hide spelled out.

    Control characters other than the line feed, and characters that turn the
    direction of text. Printable text stays as it is.

    Source:
        CONTRACT section 9, "What it prints of stored text is escaped".
    """
    if text.isprintable():
        return text
    return "".join(
        char if char == "\n" or not _is_unseen(char) else _spelled(char)
        for char in text
    )


_DIRECTIONS = frozenset(
    "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
)
_SEPARATORS = frozenset("\u2028\u2029")


def _is_unseen(char: str) -> bool:
    code = ord(char)
    is_control = code < 0x20 or 0x7F <= code < 0xA0  # noqa: PLR2004 - C0, DEL, C1
    is_surrogate = 0xD800 <= code < 0xE000  # noqa: PLR2004
    return is_control or is_surrogate or char in _DIRECTIONS or char in _SEPARATORS


def _spelled(char: str) -> str:
    code = ord(char)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"  # noqa: PLR2004


def _subject(events: tuple[Event, ...]) -> str:
    # The cursor's move stands in a trailer; it is a subject only when it is alone.
    told = [event for event in events if not isinstance(event, CursorMoved)] or events
    phrases = [_phrase(event) for event in told]
    subject = ", ".join(phrases)
    if len(subject) <= MAX_SUBJECT_CHARS:
        return subject
    for count in range(len(phrases) - 1, 0, -1):
        subject = f"{', '.join(phrases[:count])} and {len(phrases) - count} more"
        if len(subject) <= MAX_SUBJECT_CHARS:
            return subject
    return subject


def _phrase(event: Event) -> str:  # noqa: C901, PLR0912 - one case an event
    match event:
        case StoreBegun():
            return "begin the scene store"
        case SceneCreated(filename=name):
            return f"create {name}"
        case SceneUpdated(filename=name):
            return f"update {name}"
        case ScenesConsolidated(filename=name, sources=sources):
            named = " and ".join(sources)
            if len(sources) > _NAMED_SOURCES or len(named) > MAX_SUBJECT_CHARS // 2:
                named = f"{len(sources)} scenes"
            return f"consolidate {named} into {name}"
        case SceneDeleted(filename=name):
            return f"delete {name}"
        case SceneArchived(filename=name):
            return f"archive {name}"
        case SceneRestored(filename=name, restored_as=other):
            return f"restore {name}" + (f" as {other}" if other != name else "")
        case DismissalsChanged(added=added, removed=removed):
            if added:
                return f"dismiss {_counted(added, 'record')}"
            return f"take back {_counted(removed, 'record')}"
        case CursorMoved(to=to):
            return f"move the cursor to {to.record_id}"
        case PersonaRequested():
            return "ask for a new persona"
        case StateImported(scenes=scenes, archived=archived):
            count = len(scenes) + len(archived)
            return f"import {_counted(count, 'scene') if count else 'a cursor'}"
        case StoreRolledBack(revision=revision, seq=seq):
            return f"roll back to {seq} ({revision[:10]})"
        case _:
            assert_never(event)


def _line(
    event: Event, counts: Mapping[str, int], added: Mapping[str, int]
) -> str | None:
    match event:
        case SceneCreated() | SceneUpdated() | ScenesConsolidated():
            return _body_line(event, counts, added)
        case SceneDeleted(filename=name, reason=reason):
            return f"delete {name}" + _because(reason)
        case SceneArchived(filename=name, reason=reason):
            return f"archive {name}" + _because(reason)
        case SceneRestored(filename=name, restored_as=other, reason=reason):
            new_name = f" as {other}" if other != name else ""
            return f"restore {name}{new_name}" + _because(reason)
        case DismissalsChanged(added=new, removed=removed, reason=reason):
            return f"dismiss +{new} -{removed} records" + _because(reason)
        case PersonaRequested(reason=reason):
            return "persona" + _because(reason)
        case StateImported(scenes=scenes, archived=archived):
            names = [f"import {name}" for name in scenes]
            return "\n".join([*names, *(f"import {n} (archived)" for n in archived)])
        case StoreRolledBack(cursor_kept=cursor_kept, reason=reason):
            kept = "; the cursor stays" if cursor_kept else ""
            return f"scenes, archive and members as they were then{kept}" + _because(
                reason
            )
        case StoreBegun() | CursorMoved():
            return None
        case _:
            assert_never(event)


def _body_line(
    event: SceneCreated | SceneUpdated | ScenesConsolidated,
    counts: Mapping[str, int],
    added: Mapping[str, int],
) -> str:
    name, heat = event.filename, event.meta.heat
    verb = "consolidate" if isinstance(event, ScenesConsolidated) else "update"
    members = _counted(counts.get(name, 0), "member")
    if isinstance(event, SceneUpdated):
        members = _signed(added.get(name, 0))
    elif isinstance(event, SceneCreated):
        verb = "create"
    return f"{verb} {name}: {event.meta.summary} ({members}, heat {heat})" + (
        _because(event.reason)
    )


def _counted(count: int, word: str) -> str:
    return f"{count} {word}" if count in (1, -1) else f"{count} {word}s"


def _signed(count: int) -> str:
    return ("+" if count >= 0 else "") + _counted(count, "member")


def _because(reason: str | None) -> str:
    return f": {reason}" if reason else ""
