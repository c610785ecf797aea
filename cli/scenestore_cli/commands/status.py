"""``scenestore status``."""

from collections.abc import Iterator
from pathlib import Path

import click
import msgspec

from scenestore.upkeep import Status
from scenestore.upkeep import status as status_of
from scenestore_cli.answers import coverage_text, tell_faults
from scenestore_cli.options import json_option, opened, profile_option
from scenestore_cli.output import counted, facts, minute, print_json, say, short
from scenestore_engine.state import Cursor


@click.command()
@profile_option
@json_option
def status(profile: Path, *, as_json: bool) -> None:
    """Tell what state the store is in.

    Nothing is changed, and no turn is waited for.
    """
    with opened(profile) as store:
        found = status_of(store)
    if as_json:
        print_json(msgspec.to_builtins(found))
        return
    facts(_facts(found))
    if found.blocked:
        say("Nothing can be written for now:")
        tell_faults(found.blocked)


def _facts(found: Status) -> Iterator[tuple[str, str]]:
    yield "Profile", found.profile
    yield (
        "Revision",
        f"{found.seq} ({short(found.revision)}), {minute(found.at)} UTC",
    )
    shelf = found.capacity
    kept = f", {found.archived} archived" if found.archived else ""
    full = f" ({shelf.warning})" if shelf.warning != "none" else ""
    yield "Scenes", f"{shelf.live} of {shelf.max_scenes} live{full}{kept}"
    yield "Cursor", _cursor_text(found.cursor)
    yield "New", f"{counted(found.new_records, 'record')} after the cursor"
    yield "In no scene", coverage_text(found.coverage)
    for request in found.persona:
        yield "Persona", f"{request.reason} (asked {minute(request.at)})"
    yield from _file_facts(found)


def _cursor_text(cursor: Cursor | None) -> str:
    if cursor is None:
        return "at the start"
    return f"{cursor.record_id} ({cursor.shard}, line {cursor.line})"


def _file_facts(found: Status) -> Iterator[tuple[str, str]]:
    name = "Files"
    for drift in found.drift:
        yield name, f"{drift.path} ({drift.kind} by another hand)"
        name = ""
    if found.drift:
        yield "", "scenestore repair moves that work aside and draws the files anew"
    elif found.files_behind:
        yield name, "behind the history; the next commit draws them"
    else:
        yield name, "as the history has them"
    if found.rescued:
        yield "Rescued", f"{counted(found.rescued, 'file')} of other hands"
    if found.read_only:
        yield "Format", f"{found.format}: a newer scenestore wrote it; read only"
