"""The records that wait for a scene, read window by window, each as one clean fact.

A record may hold anything: its text becomes one line that every reader can bear, or
nothing at all; the record is placed either way.

Source:
    CONTRACT section 2.
"""

import re
import unicodedata
from collections.abc import Iterator, Mapping

import msgspec

from scenestore.errors import Refusal
from scenestore.increments import Increment
from scenestore.organise.refusing import refused
from scenestore.store import Store
from scenestore_engine.rules import DELETED_MARK, META_LINES
from scenestore_engine.secret import kind_of_secret, masked

PAGE = 200
"""Records of one answer. Source: CONTRACT section 2."""
WINDOW = 4_000
"""Records that are planned together: what bounds the memory that a run needs."""
MAX_NAME_CHARS = 120
_DAY = re.compile(r"\d{4}-\d\d-\d\d")
_MAX_PRIORITY = 100.0


class Waiting(msgspec.Struct, frozen=True, kw_only=True):
    """A record that is to be placed."""

    record_id: str
    fact: str
    """Its content as one line; empty if it holds nothing that may be shown."""
    day: str | None
    """Of ``createdAt``, such as ``2026-03-05``."""
    scene_name: str
    """What the extractor called the occasion; one line, perhaps empty."""
    weight: float
    """How much its type and priority say that it matters; 1 is usual."""
    is_instruction: bool
    rewritten_at: str | None
    """``updatedAt`` if it was rewritten after it was made."""


class Window(msgspec.Struct, frozen=True, kw_only=True):
    """Records that are planned together, late ones first, then in L1 order."""

    records: tuple[Waiting, ...]
    cursor: str | None
    """Where the store's cursor stands once they are placed; None: it stays."""
    remaining: int
    """Records that wait still, after these."""


def windows(store: Store) -> Iterator[Window]:
    """Yield all that waits, in windows; nothing if nothing waits.

    Raises:
        OrganiseError: The store refuses to read on.
    """
    page = _page(store.read_l1_increment(max_records=PAGE))
    left = page.late_count + page.total_new
    records: list[Waiting] = []
    late_cursor: str | None = None
    is_late = page.late_count > 0
    while is_late:
        late = _page(
            store.read_l1_increment(
                max_records=PAGE, late=True, late_cursor=late_cursor
            )
        )
        late_cursor, is_late = late.late_cursor, late.truncated
        records += map(waiting, late.records)
        if len(records) >= WINDOW:
            left -= len(records)
            yield Window(records=tuple(records), cursor=None, remaining=max(left, 0))
            records = []
    while True:
        records += map(waiting, page.records)
        is_last = not page.truncated
        if records and (is_last or len(records) >= WINDOW):
            left -= len(records)
            yield Window(
                records=tuple(records),
                cursor=page.next_cursor if page.total_new else None,
                remaining=max(left, 0),
            )
            records = []
        if is_last:
            return
        page = _page(store.read_l1_increment(max_records=PAGE, cursor=page.next_cursor))


def waiting(record: Mapping[str, object]) -> Waiting:
    """Return what of an L1 record an organiser needs, whatever its fields hold."""
    kind, created = _text(record, "type"), _text(record, "createdAt")
    updated = _text(record, "updatedAt")
    day = _DAY.match(created)
    return Waiting(
        record_id=_text(record, "id"),
        fact=fact(_text(record, "content")),
        day=day.group() if day else None,
        scene_name=fact(_text(record, "scene_name"))[:MAX_NAME_CHARS],
        weight=_weight(kind, record.get("priority")),
        is_instruction=kind == "instruction",
        rewritten_at=updated if updated > created else None,
    )


def fact(text: str) -> str:
    """Return *text* as one line that a body may hold; empty if nothing is left.

    Lines that mean something to the store are left out, what cannot be printed is
    blank, a token is blotted out, and of a private key nothing is kept.
    """
    kept = (
        line
        for line in text.splitlines()
        if line.strip().casefold() not in {*META_LINES, DELETED_MARK}
    )
    line = " ".join("".join(map(_printable, " ".join(kept))).split())
    if "PRIVATE KEY" in line and kind_of_secret(line):
        return ""
    return masked(line)


def _printable(char: str) -> str:
    """Return *char*, or a blank for what is invisible or turns the text around it."""
    is_bad = unicodedata.category(char) in {"Cc", "Cs", "Zl", "Zp"}
    return " " if is_bad or unicodedata.bidirectional(char) in _TURNING else char


_TURNING = frozenset({"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"})


def _weight(kind: str, priority: object) -> float:
    level = priority if isinstance(priority, int | float) else 0
    level = min(max(0, level), _MAX_PRIORITY)  # of NaN, 0
    return (1 + level / (2 * _MAX_PRIORITY)) * (1.25 if kind == "persona" else 1.0)


def _text(record: Mapping[str, object], field: str) -> str:
    value = record.get(field)
    return value if isinstance(value, str) else ""


def _page(answer: Increment | Refusal) -> Increment:
    if isinstance(answer, Refusal):
        raise refused(answer.errors)
    return answer
