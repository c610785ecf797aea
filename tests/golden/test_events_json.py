"""``events.json`` by its bytes, for ever.

A golden file is never edited. A new format adds its own file and an upcaster.
"""

import typing
from pathlib import Path

import msgspec
import pytest

from scenestore.codec import FORMAT, Record, Retention, decode_record, encode_record
from scenestore.errors import CorruptError, TooNewError
from scenestore_engine.events import (
    CursorMoved,
    DismissalsChanged,
    Event,
    Handles,
    PersonaRequested,
    SceneArchived,
    SceneCreated,
    SceneDeleted,
    SceneRestored,
    ScenesConsolidated,
    SceneUpdated,
    StateImported,
    StoreBegun,
    StoreRolledBack,
)
from scenestore_engine.state import Cursor, Meta

GOLDEN = Path(__file__).parent / "events"
NOW = "2026-03-05T09:30:00.125Z"
OLD = "2026-03-01T08:00:00.000Z"
PLACE = Cursor(record_id="m_1772496011000_4fc82b26", shard="2026-03-03", line=12)
HANDLES = Handles(
    scenes="1" * 40,
    members="2" * 40,
    archive="3" * 40,
    dismissed="4" * 40,
    places="5" * 40,
)
FULL_META = Meta(
    created=OLD,
    updated=NOW,
    summary='ランニング "10 km" \\ 🏃',
    heat=7,
    extra=("mood: blue", "heat: 99"),
)
BARE_META = Meta(created=OLD, updated=OLD, summary="s", heat=1)

BARE: tuple[Event, ...] = (
    StoreBegun(),
    SceneCreated(filename="a.md", meta=BARE_META, first_seen=OLD),
    SceneUpdated(filename="a.md", meta=BARE_META),
    ScenesConsolidated(
        filename="c.md", sources=("a.md", "b.md"), meta=BARE_META, first_seen=OLD
    ),
    SceneDeleted(filename="a.md"),
    SceneArchived(filename="a.md", reason="old"),
    SceneRestored(filename="a.md", restored_as="a.md"),
    DismissalsChanged(),
    CursorMoved(to=PLACE),
    PersonaRequested(reason="she moved", at=NOW),
    StateImported(),
    StoreRolledBack(revision="a" * 40, seq=3),
)
FULL: tuple[Event, ...] = (
    SceneCreated(
        filename="东京.md",
        meta=FULL_META,
        first_seen=OLD,
        blob="b" * 40,
        members="c" * 40,
        reason="new theme",
    ),
    SceneUpdated(
        filename="东京.md",
        meta=FULL_META,
        blob="b" * 40,
        members="c" * 40,
        dropped=("m_1", "m_2"),
        members_unknown=True,
        reason="new facts",
    ),
    ScenesConsolidated(
        filename="sport.md",
        sources=("a.md", "b.md"),
        meta=FULL_META,
        first_seen=OLD,
        blob="b" * 40,
        members="c" * 40,
        dropped=("m_1",),
        members_unknown=True,
        reason="one theme",
    ),
    SceneDeleted(filename="a.md", reason="wrong"),
    SceneArchived(filename="a.md", reason="old"),
    SceneRestored(filename="a.md", restored_as="b.md", reason="back"),
    DismissalsChanged(dismissed="d" * 40, added=2, removed=1, reason="noise"),
    StateImported(scenes=("a.md",), archived=("z.md",), cursor=PLACE, state=HANDLES),
    StoreRolledBack(
        revision="a" * 40,
        seq=3,
        cursor=PLACE,
        cursor_kept=True,
        state=HANDLES,
        reason="wrong turn",
    ),
)
RECORDS = {
    "v1.json": Record(
        format=1,
        seq=42,
        parent="e" * 40,
        batch="f" * 40,
        actor="cli",
        at=NOW,
        time_overridden=True,
        policy={"max_scenes": 15, "strict_members": False, "secrets": "reject"},
        unicode="14.0.0",
        events=(*BARE, *FULL),
        retention=(Retention(score=0.75, algorithm="1"),),
        idempotency_key="key-1",
        run_id="run-1",
        body_hash="0" * 64,
        receipt={
            "seq": 42,
            "warnings": [{"code": "unchanged", "message": "m", "filename": "a.md"}],
            "cursor": {"from": None, "to": "m_1772496011000_4fc82b26"},
        },
    ),
    "v1-root.json": Record(
        format=1,
        seq=0,
        parent=None,
        batch="f" * 40,
        actor="python",
        at=NOW,
        policy={},
        unicode="14.0.0",
        events=(StoreBegun(),),
    ),
}


def test_the_golden_record_has_every_kind_of_event_with_every_field() -> None:
    record = RECORDS["v1.json"]

    for kind in typing.get_args(Event):
        of_kind = [event for event in record.events if type(event) is kind]
        for field in msgspec.structs.fields(kind):
            values = [getattr(event, field.name) for event in of_kind]
            assert of_kind, kind
            assert field.required or any(
                value not in (field.default, field.default_factory) for value in values
            ), (kind, field.name)
    for field in msgspec.structs.fields(Record):
        assert getattr(record, field.name) != field.default, field.name


def test_every_golden_record_has_a_row_here() -> None:
    assert {path.name for path in GOLDEN.iterdir()} == RECORDS.keys()


@pytest.mark.parametrize("name", RECORDS)
def test_a_record_is_written_as_these_bytes(name: str) -> None:
    assert encode_record(RECORDS[name]) == (GOLDEN / name).read_bytes()


@pytest.mark.parametrize("name", RECORDS)
def test_these_bytes_are_read_as_this_record(name: str) -> None:
    assert decode_record((GOLDEN / name).read_bytes()) == RECORDS[name]


def test_a_format_that_is_written_has_a_golden_file() -> None:
    assert (GOLDEN / f"v{FORMAT}.json").is_file()


def test_equal_policies_and_receipts_give_equal_bytes_whatever_their_order() -> None:
    record = RECORDS["v1.json"]
    turned = msgspec.structs.replace(
        record,
        policy=dict(reversed(record.policy.items())),
        receipt=dict(reversed((record.receipt or {}).items())),
    )

    assert encode_record(turned) == encode_record(record)


def test_a_newer_format_is_told_apart_from_damage() -> None:
    data = (GOLDEN / "v1.json").read_bytes().replace(b'"format": 1', b'"format": 2')

    with pytest.raises(TooNewError, match="format 2; this program reads up to 1"):
        decode_record(data)


def test_a_newer_format_is_recognised_by_its_number_alone() -> None:
    with pytest.raises(TooNewError):
        decode_record(b'{"format": 7, "events": {"all": "different"}}')


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"{}",
        b"[]",
        b"\0" * 100,
        b'{"format": 1}',
        b'{"format": "1"}',
        b'{"format": 1.5}',
    ],
)
def test_bytes_that_are_no_record_are_damage(data: bytes) -> None:
    with pytest.raises(CorruptError):
        decode_record(data)


def test_an_event_of_an_unknown_kind_is_damage() -> None:
    data = (GOLDEN / "v1.json").read_bytes().replace(b"scene_deleted", b"scene_eaten")

    with pytest.raises(CorruptError):
        decode_record(data)
