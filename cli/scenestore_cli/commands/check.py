"""``scenestore check``."""

from pathlib import Path

import click

from scenestore.check import Checked, Problem
from scenestore.check import check as check_of
from scenestore_cli.errors import ExitCode
from scenestore_cli.options import json_option, opened, profile_option
from scenestore_cli.output import counted, line, print_json, short


@click.command()
@profile_option
@click.option(
    "--replay",
    is_flag=True,
    help="Prove that the events of each revision give exactly its state.",
)
@json_option
def check(profile: Path, *, replay: bool, as_json: bool) -> ExitCode:
    """Report everything that is wrong; change nothing.

    Damage exits with 3. The work of another hand is told, too, but is no damage.
    """
    with opened(profile) as store:
        if store.ledger.head() is None:
            store.head()  # raises: there is no store
        found = check_of(store.ledger, store.projection, replay=replay)
    is_sound = not any(problem.is_damage for problem in found.problems)
    if as_json:
        print_json({"success": is_sound, **_document(found)})
    else:
        for problem in found.problems:
            line(_problem_text(problem), style="red" if problem.is_damage else "")
        line(_summary(found, replay=replay))
    return ExitCode.DONE if is_sound else ExitCode.DAMAGED


def _document(found: Checked) -> dict[str, object]:
    return {
        "revisions": found.revisions,
        "objects": found.objects,
        "problems": [
            {
                "revision": problem.revision,
                "message": problem.message,
                "isDamage": problem.is_damage,
            }
            for problem in found.problems
        ],
    }


def _problem_text(problem: Problem) -> str:
    kind = "damage" if problem.is_damage else "note"
    where = f"{short(problem.revision)}: " if problem.revision else ""
    return f"{kind}: {where}{problem.message}"


def _summary(found: Checked, *, replay: bool) -> str:
    damage = sum(problem.is_damage for problem in found.problems)
    looked = (
        f"Looked at {counted(found.revisions, 'revision')} "
        f"and {counted(found.objects, 'object')}"
    )
    proved = ", and replayed the events" if replay else ""
    verdict = f"{damage} damaged" if damage else "no damage"
    return f"{looked}{proved}: {verdict}."
