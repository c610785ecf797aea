"""``scenestore init``."""

from pathlib import Path

import click

from scenestore_cli.options import (
    actor_option,
    json_option,
    new_profile_option,
    opened,
    tell_next,
)
from scenestore_cli.output import line, print_json


@click.command()
@new_profile_option
@actor_option
@json_option
def init(profile: Path, actor: str | None, *, as_json: bool) -> None:
    """Make an empty scene store in a profile.

    Without -P or SCENESTORE_PROFILE it is the nearest folder upwards that holds
    memoryDB, else the current folder. A store that is there stays as it is.
    """
    with opened(profile, actor) as store:
        is_new = store.init()
        head = store.head()
    if as_json:
        made = {"created": is_new, "profile": str(profile)}
        where = {"revision": head.id, "seq": head.seq}
        print_json({"success": True, **made, **where})
    elif is_new:
        line(f"Made an empty scene store in {profile}.")
        tell_next(profile, "scenestore organize", "scenestore status")
    else:
        line(f"There is a scene store in {profile} already. Nothing was changed.")
