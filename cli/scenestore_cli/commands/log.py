"""``scenestore log``."""

from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import click

from scenestore import Store, TooNewError
from scenestore.codec import Record
from scenestore.ledger import Revision
from scenestore_cli.options import json_option, opened, profile_option
from scenestore_cli.output import (
    LEAST_TEXT_CELLS,
    cells,
    escaped,
    is_narrow,
    line,
    minute,
    padded,
    print_json,
    short,
)
from scenestore_engine.events import Event

_ACTOR_CELLS = 8


@click.command()
@profile_option
@click.option(
    "-n",
    "--max",
    "most",
    type=click.IntRange(min=1),
    metavar="N",
    help="At most N revisions.",
)
@json_option
def log(profile: Path, most: int | None, *, as_json: bool) -> None:
    """List the revisions, newest first.

    Each has its number, the beginning of its commit id, when it was made (UTC), who
    acted, and what it did. A dash stands where another program's commit has no number.
    """
    with opened(profile) as store:
        newest = store.head()
        found = islice(store.ledger.back_from(store.ledger.head()), most)
        if as_json:
            print_json({"revisions": [_entry(store, one) for one in found]})
            return
        digits = len(str(newest.seq))
        for revision in found:
            _tell(revision, digits)


def _tell(revision: Revision, digits: int) -> None:
    actor = escaped(revision.author)
    number = _number(revision).rjust(digits)
    made = f"{short(revision.id)}  {minute(revision.at)}"
    columns = f"{number}  {made}  {padded(actor, _ACTOR_CELLS)}  "
    if is_narrow(cells(columns) + LEAST_TEXT_CELLS):
        # What was done comes first: it is what people look for.
        line(revision.subject, before=f"{number}  ")
        line(f"{made}  {actor}", before=" " * (digits + 2), style="dim")
    else:
        line(revision.subject, before=columns)


def _number(revision: Revision) -> str:
    return str(revision.seq) if revision.is_own else "-"


def _entry(store: Store, revision: Revision) -> dict[str, object]:
    record = _record(store, revision)
    return {
        "seq": revision.seq if revision.is_own else None,
        "revision": revision.id,
        "parent": revision.parent,
        "at": record.at if record else revision.at,
        "actor": record.actor if record else revision.author,
        "subject": revision.subject,
        "batch": record.batch if record else None,
        "events": list(_kinds(record.events)) if record else [],
        "foreign": not revision.is_own,
    }


def _record(store: Store, revision: Revision) -> Record | None:
    """Return what an own revision says; None if it is foreign, or a newer program's."""
    if not revision.is_own:
        return None
    try:
        return store.ledger.record(revision)
    except TooNewError:
        return None  # it can be listed, as it can be read


def _kinds(events: tuple[Event, ...]) -> Iterator[str]:
    for event in events:
        yield str(event.__struct_config__.tag)
