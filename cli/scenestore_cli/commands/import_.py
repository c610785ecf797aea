"""``scenestore import``."""

from pathlib import Path

import click

from scenestore import import_state
from scenestore_cli.answers import tell_outcome
from scenestore_cli.errors import ExitCode
from scenestore_cli.options import (
    actor_option,
    json_option,
    opened,
    profile_option,
    read_input,
)


@click.command("import")
@click.option(
    "--state",
    required=True,
    metavar="FILE",
    type=click.Path(exists=True, dir_okay=False, allow_dash=True),
    help="The scenes as JSON; - is stdin.",
)
@profile_option
@actor_option
@json_option
def import_(state: str, profile: Path, actor: str | None, *, as_json: bool) -> ExitCode:
    """Add scenes from outside, as one revision.

    FILE holds {"scenes": {NAME: {"meta", "content", "members"}}, "archived": {...},
    "cursor": ID}; all parts are optional. Capacity does not stop it.
    """
    payload = read_input(state)
    with opened(profile, actor) as store:
        before = store.ledger.head()
        outcome = import_state(store, payload)
        return tell_outcome(outcome, store, before=before, as_json=as_json)
