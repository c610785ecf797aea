"""The bytes of an L1 shard as the record objects that stand in them. Pure: no files.

Rule 1: only LF ends a line. Rule 2: every whole object on a line counts, whatever else
stands there. Rule 3: what stands inside of a torn object is no record of its own.

Source:
    CONTRACT section 1, "An L1 record", and section 2, "A damaged line".
"""

import json
import math
import re
from collections.abc import Iterator
from itertools import accumulate
from operator import attrgetter
from typing import NoReturn, cast

import msgspec

from scenestore_engine.policy import MAX_ID_BYTES
from scenestore_engine.rules import is_record_id

BOM = "\ufeff"
_MAX_STARTS = 1_000
"""Braces of a damaged line that are tried as the start of an object, so that a line of
garbage costs what a line may cost."""


class Objects(msgspec.Struct, frozen=True, kw_only=True):
    """Record objects in their order, as columns of one length, and damaged lines."""

    ids: list[str]
    deleted: list[bool]
    lines: list[int]
    """Counted from 1."""
    offsets: list[int]
    """Bytes from the shard's start."""
    lengths: list[int]
    """Bytes."""
    damaged: list[tuple[int, str]]
    """Line and reason."""


class _Named(msgspec.Struct):
    id: str
    deleted: object = None


_decode_named = msgspec.json.Decoder(_Named).decode
_decode_any = msgspec.json.Decoder().decode
_two_fields = attrgetter("id", "deleted")


def parse(chunk: bytes, *, line: int, offset: int) -> Objects:
    """Return the objects of whole lines.

    Args:
        chunk: Whole lines, with their ends.
        line: Number of the first of them, counted from 1.
        offset: Bytes from the shard's start to the chunk.
    """
    texts = chunk.split(b"\n")
    texts.pop()
    try:
        chunk.decode()
        pairs = list(map(_two_fields, map(_decode_named, texts)))
    except (UnicodeDecodeError, msgspec.MsgspecError, RecursionError):
        return _parse_slowly(texts, line=line, offset=offset)
    ids = [record_id for record_id, _ in pairs]
    if not _are_record_ids(ids):
        return _parse_slowly(texts, line=line, offset=offset)
    lengths = list(map(len, texts))
    offsets = list(accumulate(map((1).__add__, lengths), initial=offset))
    offsets.pop()
    return Objects(
        ids=ids,
        deleted=[deleted is True for _, deleted in pairs],
        lines=list(range(line, line + len(ids))),
        offsets=offsets,
        lengths=lengths,
        damaged=[],
    )


def parse_line(text: bytes, *, line: int, offset: int, is_at_work: bool) -> Objects:
    """Return the objects of one line, without its LF.

    Args:
        text: The line.
        line: Its number, counted from 1.
        offset: Bytes from the shard's start to it.
        is_at_work: A writer may still be at it: whole objects at its start count, the
            rest is no damage yet.
    """
    found, damage = _read_line(text, is_at_work=is_at_work)
    return Objects(
        ids=[one.record_id for one in found],
        deleted=[one.is_deleted for one in found],
        lines=[line] * len(found),
        offsets=[offset + one.start for one in found],
        lengths=[one.length for one in found],
        damaged=[(line, damage)] if damage else [],
    )


def whole(data: bytes) -> dict[str, object]:
    """Return the record object that *data* is, with all its fields.

    Half of a surrogate pair becomes U+FFFD, and a number beyond all range its text,
    since neither can be written in an answer.

    Raises:
        ValueError: *data* is no such object, or nested too deeply.
    """
    try:
        value = _decode_any(data)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        value = _decode_leniently(data)
    if not isinstance(value, dict):
        raise ValueError("not an object")  # noqa: TRY004 - data, not a wrong argument
    return cast("dict[str, object]", value)


def _decode_leniently(data: bytes) -> object:
    try:
        value: object = _json.decode(data.decode())
        text = json.dumps(value, ensure_ascii=False, allow_nan=False)
        return json.loads(_SURROGATE.sub("\ufffd", text))
    except RecursionError as error:
        raise ValueError("nested too deeply") from error


def _are_record_ids(ids: list[str]) -> bool:
    """Say whether all are, at the price of one look at their common text."""
    joined = "".join(ids)
    if joined.isascii():
        return (
            joined.isprintable()
            and all(map(MAX_ID_BYTES.__ge__, map(len, ids)))
            and all(ids)
        )
    return all(map(is_record_id, ids))


def _parse_slowly(texts: list[bytes], *, line: int, offset: int) -> Objects:
    found = Objects(ids=[], deleted=[], lines=[], offsets=[], lengths=[], damaged=[])
    for number, text in enumerate(texts, line):
        one = parse_line(text, line=number, offset=offset, is_at_work=False)
        found.ids.extend(one.ids)
        found.deleted.extend(one.deleted)
        found.lines.extend(one.lines)
        found.offsets.extend(one.offsets)
        found.lengths.extend(one.lengths)
        found.damaged.extend(one.damaged)
        offset += len(text) + 1
    return found


class _Found(msgspec.Struct, frozen=True, kw_only=True):
    """One record object inside of a line."""

    record_id: str
    is_deleted: bool
    start: int
    """Bytes from the line's start."""
    length: int


def _read_line(raw: bytes, *, is_at_work: bool) -> tuple[list[_Found], str | None]:
    """Return the record objects of one line, and what is wrong with it, if anything."""
    text = raw.decode("utf-8", "surrogateescape")
    found: list[_Found] = []
    damage: str | None = None
    objects = 0
    for start, end, value in _objects(text, is_at_work=is_at_work):
        if value is None:
            damage = damage or _what_is_wrong(text, start)
            continue
        objects += 1
        part = text[start:end]
        record_id = value.get("id")
        if _SURROGATE.search(part):
            damage = damage or "not_utf8"
        elif not isinstance(record_id, str) or not _is_usable(record_id):
            damage = damage or "bad_id"
        else:
            one = _Found(
                record_id=record_id,
                is_deleted=value.get("deleted") is True,
                start=len(text[:start].encode("utf-8", "surrogateescape")),
                length=len(part.encode()),
            )
            found.append(one)
    if objects > 1:
        damage = damage or "several_objects"
    return found, None if is_at_work else damage


def _objects(
    text: str, *, is_at_work: bool
) -> Iterator[tuple[int, int, dict[str, object] | None]]:
    """Yield each whole object as start, end and value, and damage as value None."""
    place = _after_blanks(text, 0)
    is_clean = True
    starts = 0
    while place < len(text) and starts < _MAX_STARTS:
        value, end = _object_at(text, place)
        if value is not None and (is_clean or _stands_alone(text, place, end, value)):
            yield place, end, value
            place = _after_blanks(text, end)
            is_clean = True
            continue
        if is_at_work:
            return
        if is_clean:
            yield place, place, None
        is_clean = False
        starts += 1
        place = text.find("{", place + 1)
        if place < 0:
            return


def _object_at(text: str, start: int) -> tuple[dict[str, object] | None, int]:
    if text[start] != "{":
        return None, start
    try:
        value, end = _json.raw_decode(text, start)
    except (ValueError, RecursionError):
        return None, start
    return value, end


def _stands_alone(text: str, start: int, end: int, value: dict[str, object]) -> bool:
    """Say whether an object after damage was written as a line of its own.

    A part of a torn object is followed by more of it, or stands where a value is due;
    in the latter place only what looks like a record is taken for one.
    """
    following = _after_blanks(text, end)
    if text[following : following + 1] in (",", "}", "]"):
        return False
    before = text[:start].rstrip(" \t\r")[-1:]
    looks_like_a_record = isinstance(value.get("content"), str) or (
        value.get("deleted") is True
    )
    return isinstance(value.get("id"), str) and (
        looks_like_a_record or before not in (":", ",", "[")
    )


def _what_is_wrong(text: str, start: int) -> str:
    if text[start] == "\0":
        return "nul_bytes"
    return "not_utf8" if _SURROGATE.search(text) else "not_json"


def _is_usable(record_id: str) -> bool:
    return is_record_id(record_id) and not _SURROGATE.search(record_id)


def _after_blanks(text: str, place: int) -> int:
    blanks = _BLANKS.match(text, place)
    return blanks.end() if blanks else place


def _integer(digits: str) -> int | str:
    try:
        return int(digits)
    except ValueError:
        return digits


def _number(digits: str) -> float | str:
    value = float(digits)
    return value if math.isfinite(value) else digits


def _refuse(word: str) -> NoReturn:
    raise ValueError(f"{word} is no JSON")


_BLANKS = re.compile(rf"[ \t\r{BOM}]*")
_SURROGATE = re.compile("[\ud800-\udfff]")
_json = json.JSONDecoder(
    parse_int=_integer, parse_float=_number, parse_constant=_refuse
)
