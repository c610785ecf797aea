"""``scenestore retention``."""

import sys
from pathlib import Path
from typing import get_args

import click
import msgspec

from scenestore.errors import Refusal
from scenestore.policies import load
from scenestore.verdicts import judged
from scenestore_cli.answers import tell_faults
from scenestore_cli.errors import ExitCode
from scenestore_cli.options import json_option, read_input
from scenestore_cli.output import counted, line, print_json
from scenestore_engine.policy import Policy
from scenestore_engine.retention import Strength, Verdict


@click.command()
@click.argument("file", default="-")
@click.option(
    "-P",
    "--profile",
    type=click.Path(path_type=Path),
    metavar="PATH",
    help="A profile whose limits count.  [default: the built-in ones]",
)
@click.option(
    "--strength",
    type=click.Choice(get_args(Strength)),
    help="How strict to be.  [default: what the limits say]",
)
@click.option(
    "--max-chars",
    type=click.IntRange(min=1),
    metavar="N",
    help="How long a body may be.  [default: what the limits say]",
)
@click.option("--jsonl", is_flag=True, help="One question a line, one answer a line.")
@json_option
def retention(
    file: str,
    profile: Path | None,
    strength: Strength | None,
    max_chars: int | None,
    *,
    jsonl: bool,
    as_json: bool,
) -> ExitCode:
    """Tell what a text keeps of its sources.

    FILE holds {"sources": [{"filename", "content"}], "target": {"filename",
    "content"}}; without it, or with -, stdin is read. Facts that are not found are
    named, most weighty first. A target that loses too much exits with 2.
    """
    limits = Policy() if profile is None else load(profile)
    strength = strength or limits.retention
    max_chars = max_chars or limits.max_body_chars
    data = read_input(file)
    if jsonl:
        worst = ExitCode.DONE
        for row in filter(bytes.strip, data.split(b"\n")):
            found = judged(row, strength=strength, max_chars=max_chars)
            print_json(_answer(found))
            if isinstance(found, Refusal):
                worst = ExitCode.REJECTED
        return worst
    found = judged(data, strength=strength, max_chars=max_chars)
    if as_json:
        print_json(_answer(found))
    elif isinstance(found, Refusal):
        tell_faults(found.errors)
    else:
        _tell(found)
    is_good = isinstance(found, Verdict) and found.accepted
    return ExitCode.DONE if is_good else ExitCode.REJECTED


def _answer(found: Verdict | Refusal) -> object:
    if isinstance(found, Refusal):
        return {
            "success": False,
            "errors": msgspec.to_builtins(found.errors),
            "retry": found.retry,
        }
    return msgspec.to_builtins(found)


def _tell(verdict: Verdict) -> None:
    word = "Accepted" if verdict.accepted else "Refused"
    line(f"{word}: it keeps {verdict.score:.2f}; {verdict.required:.2f} is asked for.")
    for facts, title in (
        (verdict.lines, "not found"),
        (verdict.dropped, "let go, since the sources do not fit"),
    ):
        if facts:
            line(f"{counted(len(facts), 'fact')} {title}:")
        for fact in facts:
            line(f"{fact.source}, line {fact.line}: {fact.text}", before="  ")
            if fact.missing:
                line(f"missing: {', '.join(fact.missing)}", before="    ")
    if verdict.new_numbers:
        line(f"Numbers that no source has: {', '.join(verdict.new_numbers)}")
    sys.stdout.flush()
