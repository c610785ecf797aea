"""``scenestore scenes``."""

import unicodedata
from collections.abc import Iterator
from pathlib import Path

import click
import msgspec

from scenestore import Refusal, Store
from scenestore.blocks import SceneBlock, SceneBlocks
from scenestore.ledger import Revision
from scenestore.revisions import resolve
from scenestore_cli.answers import tell_refusal
from scenestore_cli.errors import ExitCode
from scenestore_cli.options import json_option, opened, profile_option, utf8
from scenestore_cli.output import (
    counted,
    line,
    lines,
    minute,
    print_json,
    say,
    short,
    table,
)
from scenestore_engine.faults import Fault
from scenestore_engine.state import Scene


class Entry(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """One scene of the list."""

    filename: str
    archived: bool
    summary: str
    heat: int
    members: int
    members_unknown: bool
    created: str
    updated: str
    first_seen: str


@click.command()
@click.argument("names", nargs=-1, type=utf8, metavar="[NAME]...")
@profile_option
@click.option("--archived", is_flag=True, help="List the archive instead.")
@click.option("--at", metavar="REV", help="As they were at a revision.")
@json_option
def scenes(
    names: tuple[str, ...],
    profile: Path,
    at: str | None,
    *,
    archived: bool,
    as_json: bool,
) -> ExitCode:
    """List the scenes, or read the ones named.

    A NAME is a filename such as travel.md; live scenes come before archived ones of
    the same name. A name that there is not exits with 2. REV is a number of the log,
    a commit id or a beginning of one, HEAD~n, or a receipt's backupDir.
    """
    with opened(profile) as store:
        if names:
            return _read(store, names, at, as_json=as_json)
        revision = resolve(store.ledger, at) if at is not None else store.head()
        if isinstance(revision, Fault):
            return tell_refusal(revision, store, as_json=as_json)
        entries = list(_entries(store, revision, archived=archived))
        if as_json:
            where = {"revision": revision.id, "seq": revision.seq}
            print_json({**where, "scenes": msgspec.to_builtins(entries)})
        else:
            _tell_list(entries, revision, archived=archived, is_past=at is not None)
    return ExitCode.DONE


def _entries(store: Store, revision: Revision, *, archived: bool) -> Iterator[Entry]:
    state = store.state(revision)
    kept = state.archived if archived else state.live
    for name, scene in sorted(kept.items()):
        yield _entry(store, name, scene, archived=archived)


def _entry(store: Store, name: str, scene: Scene, *, archived: bool) -> Entry:
    meta = scene.meta or store.ledger.block(scene.blob).meta
    return Entry(
        filename=name,
        archived=archived,
        summary=meta.summary,
        heat=meta.heat,
        members=store.ledger.sets.count(scene.members),
        members_unknown=scene.members_unknown,
        created=meta.created,
        updated=meta.updated,
        first_seen=scene.first_seen,
    )


def _tell_list(
    entries: list[Entry], revision: Revision, *, archived: bool, is_past: bool
) -> None:
    kind = "archived" if archived else "live"
    if entries:
        titles = ("SCENE", "HEAT", "MEMBERS", "UPDATED", "SUMMARY")
        table(titles, map(_row, entries), right="HEAT MEMBERS")
        line()
    place = f" at revision {revision.seq} ({short(revision.id)})" if is_past else ""
    line(f"{counted(len(entries), f'{kind} scene')}{place}.")


def _row(entry: Entry) -> tuple[str, ...]:
    members = "?" if entry.members_unknown else str(entry.members)
    day = entry.updated[:10]
    return entry.filename, str(entry.heat), members, day, entry.summary


def _read(
    store: Store, names: tuple[str, ...], at: str | None, *, as_json: bool
) -> ExitCode:
    asked = [unicodedata.normalize("NFC", name) for name in names]  # as macOS types not
    found = store.read_scene_blocks(asked, at)
    if isinstance(found, Refusal):
        return tell_refusal(found, store, as_json=as_json)
    if as_json:
        print_json(msgspec.to_builtins(found))
    else:
        _tell_scenes(found)
    return ExitCode.REJECTED if found.missing else ExitCode.DONE


def _tell_scenes(found: SceneBlocks) -> None:
    for index, block in enumerate(found.blocks):
        if index:
            line()
        _tell_scene(block)
    for name in found.omitted:
        say(f"{name} was left out: the answer is full. Read it by itself.")
    for name in found.missing:
        say(f"There is no scene {name}, live or archived.")


def _tell_scene(block: SceneBlock) -> None:
    place = "  (archived)" if block.archived else ""
    line(f"{block.filename}{place}", style="bold")
    line(block.meta.summary)
    members = counted(block.member_count, "member")
    updated = f"updated {minute(block.meta.updated)}"
    line(f"heat {block.meta.heat}, {members}, {updated}", style="dim")
    line()
    lines(block.content)
    if block.truncated:
        left = block.chars - len(block.content)
        line(f"({left} more characters are not shown)", style="dim")
