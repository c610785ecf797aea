"""``scenestore organize``."""

import contextlib
import sys
from collections.abc import Callable, Generator, Iterator
from pathlib import Path

import click

from scenestore.organise import OrganiseError, Progress, Summary, organise
from scenestore.receipts import answer
from scenestore_cli.errors import ExitCode, FaceError
from scenestore_cli.options import (
    actor_option,
    json_option,
    opened,
    profile_option,
    tell_next,
)
from scenestore_cli.output import counted, line, print_json, say
from scenestore_engine.decide import Rejected

ACTOR = "organise"
"""Who acts if nobody is named. Source: CONTRACT section 7."""
_TENTHS_FROM = 500
"""Records from which a log is told each tenth, so that it does not look dead."""


@click.command()
@profile_option
@actor_option
@json_option
def organize(profile: Path, actor: str | None, *, as_json: bool) -> ExitCode:
    """Put the new L1 records into scenes, without a model.

    Makes the store if there is none. What it does is committed batch by batch; an
    interrupted run is taken up by the next one.
    """
    with opened(profile, actor or ACTOR) as store:
        try:
            with _progress_told() as progress:
                summary = organise(store, actor=actor or ACTOR, progress=progress)
        except OrganiseError as error:
            if as_json and error.faults:
                rejected = Rejected(faults=error.faults, retry=False)
                print_json(answer(rejected, store.ledger.head()))
                return ExitCode.REJECTED
            raise FaceError("organise_stopped", str(error)) from error
    if as_json:
        print_json({"success": True, **_document(summary)})
        return ExitCode.DONE
    for sentence in _sentences(summary):
        line(sentence)
    if not summary.nothing_new:
        tell_next(
            profile,
            "scenestore log",
            "scenestore scenes",
            "git -C {profile}/memoryDB/l2 log",
        )
    return ExitCode.DONE


def _document(summary: Summary) -> dict[str, object]:
    return {
        "records": summary.records,
        "firstDay": summary.first_day,
        "lastDay": summary.last_day,
        "commits": summary.commits,
        "scenesLive": summary.scenes_live,
        "maxScenes": summary.max_scenes,
        "unassigned": summary.unassigned,
        "nothingNew": summary.nothing_new,
    }


def _sentences(summary: Summary) -> Iterator[str]:
    shelf = f"{summary.scenes_live} of {summary.max_scenes}"
    if summary.nothing_new:
        yield f"There are no new records; nothing was changed. Shelf: {shelf}."
        return
    days = ""
    if summary.first_day and summary.last_day:
        days = f" ({summary.first_day} to {summary.last_day})"
    yield (
        f"Organised {counted(summary.records, 'record')}{days} into "
        f"{counted(summary.scenes_live, 'scene')} in "
        f"{counted(summary.commits, 'commit')}."
    )
    are = "record is" if summary.unassigned == 1 else "records are"
    yield f"{summary.unassigned} {are} in no scene. Shelf: {shelf}."


@contextlib.contextmanager
def _progress_told() -> Generator[Callable[[Progress], None]]:
    if sys.stderr.isatty():
        with _bar() as progress:
            yield progress
        return
    told = -1

    def tell(progress: Progress) -> None:
        nonlocal told
        if told < 0:
            say(f"Reading {counted(progress.total, 'new record')} ...")
        tenth = 10 * progress.done // max(progress.total, 1)
        if progress.total >= _TENTHS_FROM and tenth > max(told, 0):
            say(f"{progress.done} of {progress.total}")
        told = tenth

    yield tell


@contextlib.contextmanager
def _bar() -> Generator[Callable[[Progress], None]]:
    from rich.console import Console  # noqa: PLC0415 - for people's eyes only
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn  # noqa: PLC0415
    from rich.progress import Progress as Bar  # noqa: PLC0415

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Bar(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("Organising records", total=None)

        def move(progress: Progress) -> None:
            bar.update(task, completed=progress.done, total=progress.total)

        yield move
