"""``scenestore show``."""

from collections.abc import Iterator
from pathlib import Path

import click
import msgspec

from scenestore import layout
from scenestore.codec import Record
from scenestore.ledger import Revision
from scenestore.revisions import SceneChange, changes, resolve
from scenestore_cli.answers import tell_refusal
from scenestore_cli.errors import ExitCode
from scenestore_cli.options import json_option, opened, profile_option
from scenestore_cli.output import diff, facts, line, lines, minute, print_json
from scenestore_engine.diffs import unified_diff
from scenestore_engine.faults import Fault

_TRAILER = "Scene-"


@click.command()
@click.argument("rev")
@profile_option
@json_option
def show(rev: str, profile: Path, *, as_json: bool) -> ExitCode:
    """Show what one revision changed.

    REV is a number of the log, a commit id or a beginning of one, HEAD, HEAD~n, or a
    receipt's backupDir.
    """
    with opened(profile) as store:
        store.head()
        revision = resolve(store.ledger, rev)
        if isinstance(revision, Fault):
            return tell_refusal(revision, store, as_json=as_json)
        record = store.ledger.record(revision)
        changed = changes(store.ledger, revision)
    if as_json:
        print_json(_document(revision, record, changed))
        return ExitCode.DONE
    line(revision.subject, style="bold")
    facts(_facts(revision, record))
    said = _said(revision)
    if said:
        line()
        lines(said, before="    ")
    for text in filter(None, _diffs(changed)):
        line()
        diff(text)
    return ExitCode.DONE


def _document(
    revision: Revision, record: Record, changed: list[SceneChange]
) -> dict[str, object]:
    texts = _diffs(changed)
    return {
        "revision": revision.id,
        "seq": record.seq,
        "parent": revision.parent,
        "at": record.at,
        "timeOverridden": record.time_overridden,
        "actor": record.actor,
        "runId": record.run_id,
        "batch": record.batch,
        "subject": revision.subject,
        "message": revision.message,
        "cursor": (record.receipt or {}).get("cursor"),
        "policy": dict(record.policy),
        "events": msgspec.to_builtins(record.events),
        "changes": [
            {**msgspec.to_builtins(change), "diff": text}
            for change, text in zip(changed, texts, strict=True)
        ],
    }


def _facts(revision: Revision, record: Record) -> Iterator[tuple[str, str]]:
    dictated = ", as SCENESTORE_NOW said" if record.time_overridden else ""
    yield "Revision", f"{record.seq} ({revision.id})"
    yield "Made", f"{minute(record.at)} UTC by {record.actor}{dictated}"
    cursor = (record.receipt or {}).get("cursor")
    if isinstance(cursor, dict) and cursor["from"] != cursor["to"]:
        yield "Cursor", f"{cursor['from'] or 'start'} -> {cursor['to'] or 'start'}"
    yield "Batch", record.batch


def _said(revision: Revision) -> str:
    """Return the message without its subject and its trailers, which stand above."""
    paragraphs = revision.message.strip("\n").split("\n\n")[1:]
    return "\n\n".join(p for p in paragraphs if not p.startswith(_TRAILER))


def _diffs(changed: list[SceneChange]) -> list[str]:
    """Return the diff of each change; a scene that moved whole is told as a move."""
    places = {(change.filename, change.archived): change for change in changed}
    return [
        _diff(change, places.get((change.filename, not change.archived)))
        for change in changed
    ]


def _diff(change: SceneChange, other: SceneChange | None) -> str:
    path = layout.scene_path(change.filename, archived=change.archived)
    if other is not None and (change.before, change.after) == (
        other.after,
        other.before,
    ):
        if change.before is not None:
            return ""  # told where it went
        old = layout.scene_path(change.filename, archived=not change.archived)
        return f"--- a/{old}\n+++ b/{path}\nmoved whole"
    text = unified_diff(change.before, change.after, path)
    parts = [text.removesuffix("\n") or f"--- a/{path}\n+++ b/{path}"]
    if change.members_added or change.members_removed:
        parts.append(f"members +{change.members_added} -{change.members_removed}")
    return "\n".join(parts)
