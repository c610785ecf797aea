"""What a cursor means, and where the store's own stands when shards are rewritten."""

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from scenestore import layout
from scenestore.errors import Refusal
from scenestore.records import Increment, Records
from scenestore_engine.state import Cursor


class Nowhere:
    """A state in which no record has a home."""

    def sets(self) -> Mapping[str, str]:
        return {}

    def runs(self, handle: str) -> Mapping[str, str]:
        raise KeyError(handle)

    def ids(self, run: str) -> frozenset[str]:
        raise KeyError(run)


@pytest.fixture
def profile(tmp_path: Path) -> Path:
    layout.records_dir(tmp_path).mkdir(parents=True)
    return tmp_path


def put(profile: Path, shard: str, ids: str) -> None:
    """Write a shard of one-letter ids; a capital is a tombstone."""
    lines = [
        json.dumps(
            {"id": one.lower(), "deleted": True} if one.isupper() else {"id": one}
        )
        for one in ids
    ]
    path = layout.records_dir(profile) / f"{shard}.jsonl"
    path.write_text("".join(line + "\n" for line in lines))


def at(record_id: str, shard: str, line: int) -> Cursor:
    return Cursor(record_id=record_id, shard=shard, line=line)


def read(
    profile: Path, own: Cursor | None = None, cursor: str | None = None, limit: int = 50
) -> Increment:
    answer = Records(profile).increment(
        own=own, homes=Nowhere(), cursor=cursor, max_records=limit
    )
    assert isinstance(answer, Increment)
    return answer


def ids(answer: Increment) -> str:
    return "".join(str(one["id"]) for one in answer.records)


def reasons(answer: Increment) -> list[str]:
    return [warning.reason for warning in answer.warnings]


def test_without_a_cursor_reading_begins_after_the_stores_own(profile: Path) -> None:
    put(profile, "s1", "abc")

    assert ids(read(profile, own=at("b", "s1", 2))) == "c"


def test_with_nothing_new_and_no_cursor_the_stores_own_id_comes_back(
    profile: Path,
) -> None:
    put(profile, "s1", "ab")

    answer = read(profile, own=at("b", "s1", 2))

    assert (answer.total_new, answer.next_cursor) == (0, "b")


def test_the_stores_id_means_the_stores_place(profile: Path) -> None:
    put(profile, "s1", "abca")
    put(profile, "s2", "ad")

    assert Records(profile).resolve("a", at("a", "s1", 4)) == at("a", "s1", 4)
    assert ids(read(profile, own=at("a", "s1", 4), cursor="a")) == "ad"


def test_another_id_means_its_first_place_after_the_stores(profile: Path) -> None:
    put(profile, "s1", "abca")
    put(profile, "s2", "ad")

    records = Records(profile)

    assert records.resolve("a", None) == at("a", "s1", 1)
    assert records.resolve("a", at("b", "s1", 2)) == at("a", "s1", 4)
    assert records.resolve("a", at("c", "s1", 3)) == at("a", "s1", 4)


def test_an_id_that_stands_only_before_the_stores_means_its_latest_place(
    profile: Path,
) -> None:
    put(profile, "s1", "abacd")

    assert Records(profile).resolve("a", at("d", "s1", 5)) == at("a", "s1", 3)


def test_an_id_with_its_place_means_that_place(profile: Path) -> None:
    put(profile, "s1", "abaca")

    assert Records(profile).resolve("a@s1:3", None) == at("a", "s1", 3)


@pytest.mark.parametrize(
    "text", ["a@s1:2", "a@s1:9", "a@s2:1", "a@s1:01", "a@s1:", "@s1:1", "a@s1:0", "x"]
)
def test_a_place_that_does_not_carry_the_id_is_nowhere(
    profile: Path, text: str
) -> None:
    put(profile, "s1", "ab")

    assert Records(profile).resolve(text, None) is None


def test_an_id_that_looks_like_a_place_is_found(profile: Path) -> None:
    path = layout.records_dir(profile) / "s1.jsonl"
    path.write_text('{"id":"a"}\n{"id":"a@s1:9"}\n{"id":"a@s1:1"}\n{"id":"b"}\n')

    first = read(profile, limit=2)
    second = read(profile, cursor=first.next_cursor, limit=1)

    assert first.next_cursor == "a@s1:9"
    assert second.next_cursor == "a@s1:1@s1:3"
    assert ids(read(profile, cursor=second.next_cursor)) == "b"


def test_a_cursor_is_written_with_its_place_where_the_id_is_ambiguous(
    profile: Path,
) -> None:
    put(profile, "s1", "abac")

    answer = read(profile, limit=2)

    assert (ids(answer), answer.next_cursor) == ("ba", "a@s1:3")
    assert ids(read(profile, cursor="a@s1:3")) == "c"


def test_a_cursor_is_written_with_its_place_on_a_tombstone_of_a_known_record(
    profile: Path,
) -> None:
    put(profile, "s1", "abA")

    assert read(profile).next_cursor == "a@s1:3"


def test_the_stores_cursor_is_looked_for_in_its_rewritten_shard(profile: Path) -> None:
    put(profile, "s1", "xabcd")
    put(profile, "s2", "e")

    answer = read(profile, own=at("b", "s1", 2))

    assert (ids(answer), reasons(answer)) == ("cde", ["cursor_moved"])
    assert (answer.warnings[0].file, answer.warnings[0].line) == ("s1.jsonl", 3)


def test_the_first_of_several_places_in_a_rewritten_shard_is_taken(
    profile: Path,
) -> None:
    put(profile, "s1", "xacad")

    assert ids(read(profile, own=at("a", "s1", 1))) == "cad"


def test_a_rewritten_shard_without_the_id_is_read_again_from_its_start(
    profile: Path,
) -> None:
    put(profile, "s0", "o")
    put(profile, "s1", "xyz")
    put(profile, "s2", "b")

    answer = read(profile, own=at("b", "s1", 2))

    assert (ids(answer), reasons(answer)) == ("xyzb", ["cursor_shard_rewritten"])


def test_after_a_shard_that_is_gone_the_next_by_name_is_read(profile: Path) -> None:
    put(profile, "s0", "ob")
    put(profile, "s2", "b")

    answer = read(profile, own=at("b", "s1", 2))

    assert (ids(answer), reasons(answer)) == ("b", ["cursor_shard_gone"])


def test_before_a_shard_is_said_by_line_0(profile: Path) -> None:
    put(profile, "s1", "x")

    records = Records(profile)
    present = records.present(at("b", "s1", 2))

    assert present.cursor == at("b", "s1", 0)
    assert records.present(present.cursor).cursor == at("b", "s1", 0)
    assert records.present(at("b", "s9", 2)).cursor == at("b", "s9", 0)
    assert records.present(None).cursor is None


def test_a_lost_cursor_of_the_store_is_no_unknown_one(profile: Path) -> None:
    put(profile, "s1", "xy")
    own = at("b", "s1", 2)

    for text in ("b", "b@s1:2"):
        assert Records(profile).resolve(text, own) == at("b", "s1", 0)
        answer = read(profile, own=own, cursor=text)
        assert (ids(answer), reasons(answer)) == ("xy", ["cursor_shard_rewritten"])


def test_where_the_cursor_stands_is_told_with_a_warning(profile: Path) -> None:
    put(profile, "s1", "xb")

    present = Records(profile).present(at("b", "s1", 1))

    assert present.cursor == at("b", "s1", 2)
    assert [warning.reason for warning in present.warnings] == ["cursor_moved"]


def test_a_cursor_that_holds_good_has_no_warning(profile: Path) -> None:
    put(profile, "s1", "ab")

    present = Records(profile).present(at("b", "s1", 2))

    assert (present.cursor, present.warnings) == (at("b", "s1", 2), ())


def test_another_cursor_of_a_rewritten_shard_is_refused_and_not_guessed(
    profile: Path,
) -> None:
    put(profile, "s1", "xyz")

    answer = Records(profile).increment(own=None, homes=Nowhere(), cursor="b@s1:2")

    assert isinstance(answer, Refusal)


def test_a_bare_shard_name_orders_before_longer_ones(profile: Path) -> None:
    put(profile, "2026-03-05", "a")
    put(profile, "2026-03-05-b", "b")
    put(profile, "2026-03-05.1", "c")

    assert ids(read(profile)) == "abc"
    assert at("a", "2026-03-05", 1).place < at("b", "2026-03-05-b", 1).place


def test_records_in_an_older_shard_that_come_late_are_not_new(profile: Path) -> None:
    put(profile, "s2", "b")
    own = at("b", "s2", 1)
    put(profile, "s1", "a")

    answer = read(profile, own=own)

    assert (answer.total_new, answer.late_count) == (0, 2)
