"""``scenestore rollback``."""

from pathlib import Path

import click

from scenestore import roll_back
from scenestore_cli.answers import tell_outcome
from scenestore_cli.errors import ExitCode
from scenestore_cli.options import (
    actor_option,
    json_option,
    opened,
    profile_option,
    utf8,
)


@click.command()
@click.argument("rev")
@profile_option
@actor_option
@click.option("--keep-cursor", is_flag=True, help="Leave the cursor where it is.")
@click.option(
    "--reason", type=utf8, metavar="TEXT", help="Why, for the history; one line."
)
@click.option("--dry-run", is_flag=True, help="Say what would happen; write nothing.")
@json_option
def rollback(
    rev: str,
    profile: Path,
    actor: str | None,
    reason: str | None,
    *,
    keep_cursor: bool,
    dry_run: bool,
    as_json: bool,
) -> ExitCode:
    """Go back to a revision, as a new one.

    Scenes, archive, members, dismissals and cursor become what they were at REV. What
    came after it stays in the history, so that a rollback can be rolled back.
    """
    with opened(profile, actor) as store:
        before = store.ledger.head()
        outcome = roll_back(
            store, rev, keep_cursor=keep_cursor, reason=reason, dry_run=dry_run
        )
        return tell_outcome(outcome, store, before=before, as_json=as_json)
