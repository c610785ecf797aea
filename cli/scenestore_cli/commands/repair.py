"""``scenestore repair``."""

from pathlib import Path

import click
import msgspec

from scenestore.upkeep import repair as repair_of
from scenestore_cli.answers import tell_faults
from scenestore_cli.errors import ExitCode
from scenestore_cli.options import json_option, opened, profile_option
from scenestore_cli.output import line, print_json, say


@click.command()
@profile_option
@click.option(
    "--accept-head",
    is_flag=True,
    help="Take the head as it is, though somebody moved the branch.",
)
@json_option
def repair(profile: Path, *, accept_head: bool, as_json: bool) -> ExitCode:
    """Draw the files anew, moving foreign work aside.

    What another hand wrote goes to memoryDB/l2/.git/scenestore/rescued; the history
    is not changed. What a repair cannot mend exits with 2.
    """
    with opened(profile) as store:
        done = repair_of(store, accept_head=accept_head)
    if as_json:
        print_json({"success": not done.blocked, **msgspec.to_builtins(done)})
    else:
        for path in done.rescued:
            line(f"Moved what another hand had written to {path}.")
        if done.blocked:
            say("A repair alone does not mend this:")
            tell_faults(done.blocked)
        else:
            line("The files are as the history has them.")
    return ExitCode.REJECTED if done.blocked else ExitCode.DONE
