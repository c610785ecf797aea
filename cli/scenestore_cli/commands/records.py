"""``scenestore records``."""

from pathlib import Path

import click
import msgspec

from scenestore import Refusal
from scenestore.records import Increment, ReadWarning
from scenestore_cli.answers import tell_refusal
from scenestore_cli.errors import ExitCode
from scenestore_cli.options import json_option, opened, profile_option
from scenestore_cli.output import counted, line, print_json, say, table


@click.command()
@profile_option
@click.option(
    "--cursor", metavar="ID", help="Read after this record.  [default: the store's]"
)
@click.option(
    "--max",
    "max_records",
    type=int,
    default=50,
    show_default=True,
    metavar="N",
    help="At most N records; above 200 it is 200.",
)
@click.option(
    "--late",
    is_flag=True,
    help="Read what the cursor has passed and no scene holds.",
)
@click.option(
    "--late-cursor", metavar="ID", help="Where the last page of --late ended."
)
@json_option
def records(
    profile: Path,
    cursor: str | None,
    max_records: int,
    late_cursor: str | None,
    *,
    late: bool,
    as_json: bool,
) -> ExitCode:
    """Read the L1 records that come after the cursor.

    No cursor moves by reading: a batch moves it, see commit.
    """
    with opened(profile) as store:
        increment = store.read_l1_increment(
            cursor=cursor, max_records=max_records, late=late, late_cursor=late_cursor
        )
        if isinstance(increment, Refusal):
            return tell_refusal(increment, store, as_json=as_json)
    if as_json:
        print_json(msgspec.to_builtins(increment))
        return ExitCode.DONE
    for warning in increment.warnings:
        say(f"Warning: {_warning_text(warning)}")
    if increment.records:
        rows = [_row(record) for record in increment.records]
        table(("RECORD", "DAY", "TYPE", "CONTENT"), rows)
        line()
    line(_count_text(increment, late=late))
    return ExitCode.DONE


def _row(record: dict[str, object]) -> tuple[str, str, str, str]:
    day = str(record.get("createdAt") or "")[:10]
    return str(record["id"]), day, _text(record, "type"), _text(record, "content")


def _text(record: dict[str, object], field: str) -> str:
    value = record.get(field)
    return "" if value is None else str(value)


def _warning_text(warning: ReadWarning) -> str:
    place = f"{warning.file}:{warning.line}" if warning.line else warning.file
    parts = (place, warning.message or warning.reason)
    return ": ".join(part for part in parts if part)


def _count_text(increment: Increment, *, late: bool) -> str:
    late_count = f"{counted(increment.late_count, 'late record')} in no scene"
    if late:
        more = ""
        if increment.truncated:
            more = f" Go on with --late --late-cursor {increment.late_cursor}"
        return f"{increment.returned} of {late_count}.{more}"
    text = f"{increment.returned} of {counted(increment.total_new, 'new record')}."
    if increment.late_count:
        text += f" {late_count}: see --late."
    if increment.truncated:
        text += f" Go on with --cursor {increment.next_cursor}"
    return text
