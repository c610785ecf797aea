"""``scenestore commit``."""

from pathlib import Path

import click
from msgspec.structs import replace

from scenestore_cli.answers import tell_outcome
from scenestore_cli.errors import ExitCode
from scenestore_cli.options import (
    actor_option,
    json_option,
    opened,
    profile_option,
    read_input,
)
from scenestore_engine.wire import parse_batch


@click.command()
@click.argument(
    "file", default="-", type=click.Path(exists=True, dir_okay=False, allow_dash=True)
)
@profile_option
@actor_option
@click.option("--dry-run", is_flag=True, help="Say what would happen; write nothing.")
@json_option
def commit(
    file: str, profile: Path, actor: str | None, *, dry_run: bool, as_json: bool
) -> ExitCode:
    """Commit a batch of scene writes, all of it or nothing.

    FILE holds the JSON of one l2_commit; without it, or with -, stdin is read. A
    batch that is refused exits with 2, and every fault is told at once; with 1 if
    another writer is in the way and the same batch can be sent again.
    """
    batch = parse_batch(read_input(file))
    if dry_run:
        batch = replace(batch, dry_run=True)
    with opened(profile, actor) as store:
        before = store.ledger.head()
        outcome = store.commit(batch)
        return tell_outcome(outcome, store, before=before, as_json=as_json)
