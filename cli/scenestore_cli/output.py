"""What is printed, and where: results to stdout, words about them to stderr.

Rule 1: with ``--json``, stdout holds one JSON document and nothing else. Rule 2: what
comes out of the store is escaped before a terminal sees it. Rule 3: what is piped is
plain and never cut; only a terminal gets colours and its own width.
"""

import contextlib
import json
import os
import re
import sys
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from typing import TYPE_CHECKING, TextIO

import click

if TYPE_CHECKING:
    from rich.console import Console

SHORT_ID_CHARS = 8
"""Digits by which a person tells a revision from another."""
LEAST_TEXT_CELLS = 28
"""A last column that is narrower on a terminal moves to a line of its own."""
_LEAST_WRAPPED_CELLS = 8
"""Text is not wrapped more narrowly than this, however narrow the terminal is."""
_BULLET = re.compile(r" *[-*] ")
_UNSEEN = re.compile(
    "[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)


class OutputError(Exception):
    """Stdout cannot be written; what the command did before holds."""


# Programs


def print_json(document: object) -> None:
    """Print *document*, JSON values only, as one line of UTF-8 that a terminal bears.

    Stays true:
        What a terminal would obey or hide is escaped as JSON has it, so that the
        values are the same; a lone surrogate is, too.
    """
    text = json.dumps(document, ensure_ascii=False)
    text = _UNSEEN.sub(lambda match: f"\\u{ord(match[0]):04x}", text)
    _written(lambda: click.echo(text.encode()))


# People


def line(
    text: str = "", *, before: str = "", style: str = "", err: bool = False
) -> None:
    """Print *text* as one line; a terminal wraps it under its own beginning.

    Args:
        text: May come from the store: it is escaped.
        before: Stands before it, escaped by the caller.
        style: Of both, as `rich` names it; for terminals only.
        err: Whether it goes to stderr.
    """
    stream = sys.stderr if err else sys.stdout
    shown = escaped(text)
    _written(
        lambda: (
            _wrapped(stream, before, shown, style)
            if _is_terminal(stream)
            else click.echo((before + shown).rstrip(" "), file=stream)
        )
    )


def lines(text: str, *, before: str = "") -> None:
    """Print a *text* of several lines, such as a body; what follows a bullet hangs."""
    for part in text.split("\n"):
        _hanging(part, before)


def diff(text: str) -> None:
    """Print a unified diff."""
    styles = {"+": "green", "-": "red", "@": "cyan"}
    for part in text.rstrip("\n").split("\n"):
        is_heading = part.startswith(("+++ ", "--- "))
        style = "bold" if is_heading else styles.get(part[:1], "")
        if part[:1] in {"+", "-", " "} and not is_heading:
            _hanging(part[1:], part[0], style)
        else:
            line(part, style=style)


def say(text: str) -> None:
    """Tell *text* on stderr; who closed it does not want to be told."""
    with contextlib.suppress(OSError):
        line(text, err=True)


def facts(pairs: Iterable[tuple[str, str]], *, before: str = "") -> None:
    """Print names and what they are, one under the other; an empty name goes on."""
    told = list(pairs)
    columns = max((len(name) for name, _ in told), default=0) + 2
    for name, text in told:
        line(text, before=before + name.ljust(columns))


def table(
    titles: Sequence[str], rows: Iterable[Sequence[str]], *, right: str = ""
) -> None:
    """Print *rows* in columns; the last one may be long.

    Args:
        titles: Of the columns.
        rows: A text a column; they are escaped.
        right: Titles of columns that are numbers, separated by spaces.
    """
    shown = [[escaped(text) for text in row] for row in rows]
    is_right = [title in right.split() for title in titles]
    if not _is_terminal(sys.stdout):
        _written(lambda: _plain_table(titles, shown, is_right))
        return
    widths = [max(map(cells, column)) for column in zip(titles, *shown, strict=True)]
    room = width() - sum(widths[:-1]) - 2 * len(widths[:-1])
    if room < min(widths[-1], LEAST_TEXT_CELLS):
        _stacked(titles, shown, is_right)
        return
    _rich_table(titles, shown, is_right)


def is_narrow(needed_cells: int) -> bool:
    """Say whether stdout is a terminal that has not *needed_cells* columns."""
    return _is_terminal(sys.stdout) and width() < needed_cells


def width() -> int:
    """Return the columns of the terminal that stdout is."""
    return _console(sys.stdout).width


def escaped(text: str) -> str:
    """Return *text* as one line, with what a terminal would obey spelled out."""
    if text.isprintable():
        return text
    from scenestore.messages import visible  # noqa: PLC0415 - the store is slow to load

    return visible(text).replace("\n", "\\n")


def cells(text: str) -> int:
    """Return how many columns *text* takes; most CJK characters take two."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len  # noqa: PLC0415 - only where it is needed

    return cell_len(text)


def padded(text: str, columns: int, *, right: bool = False) -> str:
    """Return *text* with spaces up to *columns* of a terminal."""
    space = " " * (columns - cells(text))
    return space + text if right else text + space


def short(revision: str) -> str:
    """Return the beginning of a revision's id."""
    return revision[:SHORT_ID_CHARS]


def minute(time: str) -> str:
    """Return an ISO time (UTC) to the minute, as a person reads it."""
    return time[:16].replace("T", " ")


def counted(count: int, one: str, many: str | None = None) -> str:
    """Return *count* with its noun."""
    return f"{count} {one if count == 1 else many or one + 's'}"


def _hanging(text: str, before: str, style: str = "") -> None:
    bullet = _BULLET.match(text)
    mark = bullet[0] if bullet else ""
    line(text[len(mark) :], before=before + mark, style=style)


def _is_terminal(stream: TextIO | None) -> bool:
    return stream is not None and stream.isatty()


@cache
def _console(stream: TextIO) -> "Console":
    from rich.console import Console  # noqa: PLC0415 - for people's eyes only

    return Console(file=stream, highlight=False, markup=False, emoji=False)


def _wrapped(stream: TextIO, before: str, text: str, style: str) -> None:
    from rich.text import Text  # noqa: PLC0415 - for people's eyes only

    console = _console(stream)
    margin = cells(before)
    room = max(console.width - margin, _LEAST_WRAPPED_CELLS)
    for part in Text(text, style).wrap(console, room) or [Text()]:
        part.rstrip()
        console.print(Text(before, style) + part, soft_wrap=True)
        before = " " * margin


def _plain_table(
    titles: Sequence[str], rows: list[list[str]], is_right: list[bool]
) -> None:
    table_rows = [list(titles), *rows]
    widths = [max(map(cells, column)) for column in zip(*table_rows, strict=True)]
    widths[-1] = 0  # nothing follows it
    for row in table_rows:
        parts = map(_padded, row, widths, is_right)
        click.echo("  ".join(parts).rstrip(" "))


def _padded(text: str, columns: int, is_right: bool) -> str:  # noqa: FBT001 - for map
    return padded(text, columns, right=is_right)


def _rich_table(
    titles: Sequence[str], rows: list[list[str]], is_right: list[bool]
) -> None:
    from rich.table import Table  # noqa: PLC0415 - for people's eyes only
    from rich.text import Text  # noqa: PLC0415

    built = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for index, title in enumerate(titles):
        built.add_column(
            title,
            justify="right" if is_right[index] else "left",
            no_wrap=index < len(titles) - 1,
            overflow="fold",
        )
    for row in rows:
        built.add_row(*map(Text, row))
    _written(lambda: _console(sys.stdout).print(built))


def _stacked(
    titles: Sequence[str], rows: list[list[str]], is_right: list[bool]
) -> None:
    """Print the last column of each row below the others."""
    heads = [list(titles[:-1]), *(row[:-1] for row in rows)]
    widths = [max(map(cells, column)) for column in zip(*heads, strict=True)]
    texts = ["", *(row[-1] for row in rows)]
    for head, text in zip(heads, texts, strict=True):
        parts = map(_padded, head, widths, is_right)
        line("  ".join(parts).rstrip(" "), style="bold")
        if text:
            line(text, before="  ")


def _written(write: Callable[[], None]) -> None:
    try:
        write()
    except BrokenPipeError:
        raise
    except OSError as error:
        # What is still in the buffer would fail again when the interpreter ends.
        with contextlib.suppress(OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise OutputError(
            f"The answer could not be written ({error}). What the command did holds. "
            "Run scenestore log to see it."
        ) from error
