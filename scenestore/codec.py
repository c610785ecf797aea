"""The record of one revision to bytes and back.

Old bytes are read for ever; only the newest form is written. A form on disk is never
edited: a new one gets the next number, an upcaster here and a golden file.

Source:
    CONTRACT section 7, "events.json".
"""

from collections.abc import Mapping
from typing import TypeVar

import msgspec

from scenestore.errors import CorruptError, TooNewError
from scenestore_engine.events import Event
from scenestore_engine.state import Cursor, PersonaRequest

FORMAT = 1
_T = TypeVar("_T")


class Retention(msgspec.Struct, frozen=True, kw_only=True):
    """How much a consolidation kept, and by which version of the rule."""

    score: float
    algorithm: str


class Record(
    msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True
):
    """What ``events.json`` says of the revision that it stands in."""

    format: int
    seq: int
    parent: str | None
    batch: str
    actor: str
    at: str
    policy: Mapping[str, bool | int | str]
    unicode: str
    """Version of the Unicode data that names were compared by."""
    events: tuple[Event, ...]
    time_overridden: bool = False
    retention: tuple[Retention, ...] = ()
    idempotency_key: str | None = None
    run_id: str | None = None
    body_hash: str | None = None
    """What two batches share that ask for the same."""
    receipt: Mapping[str, object] | None = None
    """Without revision, replayed, commitHint and diff."""


class _Format(msgspec.Struct):
    format: int


class _Places(msgspec.Struct, frozen=True, kw_only=True):
    live: "Mapping[str, Place]" = {}
    archived: "Mapping[str, Place]" = {}


class Place(
    msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True
):
    """What is known of a scene beside its file."""

    first_seen: str
    members_unknown: bool = False


NO_PLACES: tuple[Mapping[str, Place], Mapping[str, Place]] = ({}, {})


class _Persona(msgspec.Struct, frozen=True, kw_only=True):
    requests: tuple[PersonaRequest, ...] = ()


_ENCODER = msgspec.json.Encoder(order="deterministic")
_RECORDS = msgspec.json.Decoder(Record)
_FORMATS = msgspec.json.Decoder(_Format)
_PLACES = msgspec.json.Decoder(_Places)
_CURSORS = msgspec.json.Decoder(Cursor)
_PERSONAS = msgspec.json.Decoder(_Persona)


def encode_record(record: Record) -> bytes:
    """Return the bytes of ``events.json``; equal records give equal bytes."""
    return _lines(_ENCODER.encode(record))


def decode_record(data: bytes) -> Record:
    """Return the record that *data* holds, whichever version wrote it.

    Raises:
        TooNewError: A newer program wrote it.
        CorruptError: It is no record.
    """
    try:
        version = _FORMATS.decode(data).format
        if version > FORMAT:
            raise TooNewError(
                f"This store has format {version}; this program reads up to {FORMAT}. "
                "Nothing was changed. Use a newer scenestore."
            )
        return _RECORDS.decode(data)
    except msgspec.MsgspecError as error:
        raise CorruptError(
            f"events.json is no record of a revision: {error}"
        ) from error


def encode_places(live: Mapping[str, Place], archived: Mapping[str, Place]) -> bytes:
    """Return the bytes of ``scenes.json``."""
    return _lines(_ENCODER.encode(_Places(live=live, archived=archived)))


def decode_places(data: bytes) -> tuple[Mapping[str, Place], Mapping[str, Place]]:
    """Return what is known of the live and of the archived scenes."""
    places = _decoded(_PLACES, data, "scenes.json")
    return places.live, places.archived


def encode_cursor(cursor: Cursor) -> bytes:
    """Return the bytes of ``cursor.json``."""
    return _lines(_ENCODER.encode(cursor))


def decode_cursor(data: bytes) -> Cursor:
    """Return the place that ``cursor.json`` names."""
    return _decoded(_CURSORS, data, "cursor.json")


def encode_persona(requests: tuple[PersonaRequest, ...]) -> bytes:
    """Return the bytes of ``persona.json``."""
    return _lines(_ENCODER.encode(_Persona(requests=requests)))


def decode_persona(data: bytes) -> tuple[PersonaRequest, ...]:
    """Return the open requests that ``persona.json`` holds."""
    return _decoded(_PERSONAS, data, "persona.json").requests


def _decoded(decoder: msgspec.json.Decoder[_T], data: bytes, name: str) -> _T:
    try:
        return decoder.decode(data)
    except msgspec.MsgspecError as error:
        raise CorruptError(
            f"{name} of a revision is damaged ({error}). Nothing was changed. "
            "Run scenestore check."
        ) from error


def _lines(data: bytes) -> bytes:
    """Return JSON that a person can read, and that changes line by line."""
    return msgspec.json.format(data, indent=1) + b"\n"
