"""The small files of a revision by their bytes: places, cursor, persona, runs."""

from collections.abc import Callable
from pathlib import Path

import pytest

from scenestore import codec, runs
from scenestore.codec import Place
from scenestore.errors import CorruptError
from scenestore_engine.state import Cursor, PersonaRequest

GOLDEN = Path(__file__).parent / "state"
OLD = "2026-03-01T08:00:00.000Z"
NOW = "2026-03-05T09:30:00.125Z"
PLACES = (
    {
        "东京.md": Place(first_seen=NOW),
        "a.md": Place(first_seen=OLD, members_unknown=True),
    },
    {"z.md": Place(first_seen=OLD)},
)
CURSOR = Cursor(record_id='m_1 "odd" 记录', shard="2026-03-05", line=12)
PERSONA = (
    PersonaRequest(reason="she moved to 东京", at=OLD),
    PersonaRequest(reason='said "never again"', at=NOW),
)
IDS = frozenset(
    [
        "m_1772323200000_ab",
        "m_1772323199999_AB",
        "m_1769904000000_cd",
        "m_946684799999_ab",
        "other id",
        "记录",
    ]
)


@pytest.mark.parametrize(
    ("name", "encoded"),
    [
        ("scenes.json", codec.encode_places(*PLACES)),
        ("scenes-empty.json", codec.encode_places({}, {})),
        ("cursor.json", codec.encode_cursor(CURSOR)),
        ("persona.json", codec.encode_persona(PERSONA)),
    ],
)
def test_a_part_of_the_state_is_written_as_these_bytes(
    name: str, encoded: bytes
) -> None:
    assert encoded == (GOLDEN / name).read_bytes()


@pytest.mark.parametrize(
    ("name", "decode", "said"),
    [
        ("scenes.json", codec.decode_places, PLACES),
        ("scenes-empty.json", codec.decode_places, ({}, {})),
        ("cursor.json", codec.decode_cursor, CURSOR),
        ("persona.json", codec.decode_persona, PERSONA),
    ],
)
def test_these_bytes_are_read_as_this_part_of_the_state(
    name: str, decode: Callable[[bytes], object], said: object
) -> None:
    assert decode((GOLDEN / name).read_bytes()) == said


def test_places_are_written_sorted_by_name() -> None:
    live, archived = PLACES
    turned = dict(reversed(live.items()))

    assert codec.encode_places(turned, archived) == codec.encode_places(*PLACES)


@pytest.mark.parametrize(
    ("decode", "name"),
    [
        (codec.decode_places, "scenes.json"),
        (codec.decode_cursor, "cursor.json"),
        (codec.decode_persona, "persona.json"),
    ],
)
@pytest.mark.parametrize("data", [b"", b"[]", b"{", b'{"live": 1, "requests": 1}'])
def test_a_damaged_part_is_named(
    decode: Callable[[bytes], object], name: str, data: bytes
) -> None:
    with pytest.raises(CorruptError, match=name):
        decode(data)


def test_a_set_of_ids_is_written_as_these_runs() -> None:
    assert runs.split(IDS) == {
        "2026-03.ids": b"m_1772323200000_ab\n",
        "2026-02.ids": b"m_1769904000000_cd\nm_1772323199999_AB\n",
        "other.ids": "m_946684799999_ab\nother id\n记录\n".encode(),
    }
