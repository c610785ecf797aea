"""``scenestore guide``."""

from pathlib import Path

import click
import msgspec

from scenestore_cli.options import json_option, opened, profile_option
from scenestore_cli.output import line, print_json, table


@click.command()
@profile_option
@json_option
def guide(profile: Path, *, as_json: bool) -> None:
    """Show the facts for choosing what to archive.

    Recalls are read from memoryDB/l1/recall/, where the host notes them.
    """
    with opened(profile) as store:
        found = store.archive_guide()
    if as_json:
        print_json(msgspec.to_builtins(found))
        return
    for rule in found.rules:
        line(rule)
    line()
    rows = [
        (
            block.filename,
            str(block.age_days),
            str(block.active_days_since_write),
            f"{block.members_with_hits}/{block.members}",
            block.last_recall_day or "never",
            "yes" if block.archivable else ", ".join(block.blocked_by),
        )
        for block in found.blocks
    ]
    table(("SCENE", "AGE", "ACTIVE", "RECALLED", "LAST RECALL", "ARCHIVABLE"), rows)
