"""``scenestore policy``."""

import json
from pathlib import Path

import click
import msgspec

from scenestore.policies import settings
from scenestore_cli.options import json_option, profile_option
from scenestore_cli.output import print_json, table


@click.command()
@profile_option
@json_option
def policy(profile: Path, *, as_json: bool) -> None:
    """Show the limits in force and where each comes from.

    They are set in memoryDB/scenestore.toml of the profile; all are optional.
    """
    found = settings(profile)
    if as_json:
        print_json({"settings": msgspec.to_builtins(found)})
        return
    rows = [(one.name, json.dumps(one.value), one.source) for one in found]
    table(("SETTING", "VALUE", "FROM"), rows)
