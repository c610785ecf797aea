"""Pages of new records: their order, their limits, and what is refused."""

import json
import os
from collections.abc import Mapping
from pathlib import Path

import msgspec
import pytest

from scenestore import layout
from scenestore.errors import DiskError, Refusal
from scenestore.records import Increment, Records
from scenestore_engine.faults import FaultCode


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


def put(profile: Path, shard: str, *records: dict[str, object]) -> Path:
    path = layout.records_dir(profile) / f"{shard}.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


def record(record_id: str, **fields: object) -> dict[str, object]:
    return {"id": record_id, "content": f"about {record_id}", **fields}


def gone(record_id: str) -> dict[str, object]:
    return {"id": record_id, "deleted": True}


def read(profile: Path, **asked: object) -> Increment:
    answer = Records(profile).increment(own=None, homes=Nowhere(), **asked)  # type: ignore[arg-type]
    assert isinstance(answer, Increment)
    return answer


def refused(profile: Path, **asked: object) -> list[tuple[str, str]]:
    answer = Records(profile).increment(own=None, homes=Nowhere(), **asked)  # type: ignore[arg-type]
    assert isinstance(answer, Refusal)
    return [(fault.code, fault.path) for fault in answer.errors]


def ids(answer: Increment) -> list[object]:
    return [one["id"] for one in answer.records]


def test_records_come_by_shard_name_and_then_by_line(profile: Path) -> None:
    put(profile, "2026-03-02", record("a"), record("c"))
    put(profile, "2026-03-01", record("z"), record("b"))

    answer = read(profile)

    assert ids(answer) == ["z", "b", "a", "c"]
    assert (answer.total_new, answer.returned, answer.truncated) == (4, 4, False)


def test_a_record_keeps_fields_that_nobody_knows(profile: Path) -> None:
    whole = record("a", mood={"valence": [1, 2.5, None]}, weight=10**30)
    put(profile, "2026-03-01", whole)

    assert read(profile).records == (whole,)


def test_fifty_records_come_unless_asked_otherwise(profile: Path) -> None:
    put(profile, "2026-03-01", *(record(f"r{n}") for n in range(60)))

    answer = read(profile)

    assert (answer.returned, answer.total_new, answer.truncated) == (50, 60, True)
    assert answer.next_cursor == "r49"


def test_more_than_two_hundred_are_clamped_with_a_warning(profile: Path) -> None:
    put(profile, "2026-03-01", *(record(f"r{n}") for n in range(205)))

    answer = read(profile, max_records=201)

    assert answer.returned == 200
    assert [warning.reason for warning in answer.warnings] == ["max_records_clamped"]


@pytest.mark.parametrize("max_records", [0, -1, True, 2.0, "5", None])
def test_a_limit_that_is_no_number_from_one_up_is_refused(
    profile: Path, max_records: object
) -> None:
    assert refused(profile, max_records=max_records) == [
        (FaultCode.BAD_ARGUMENT, "/maxRecords")
    ]


def test_all_faults_of_a_request_come_at_once(profile: Path) -> None:
    assert refused(profile, max_records=0, l1_dir="/etc", late_cursor="a") == [
        (FaultCode.BAD_ARGUMENT, "/maxRecords"),
        (FaultCode.BAD_ARGUMENT, "/l1Dir"),
        (FaultCode.BAD_ARGUMENT, "/lateCursor"),
    ]


def test_the_records_folder_may_be_named_in_any_way(
    profile: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(profile, "2026-03-01", record("a"))
    folder = layout.records_dir(profile)
    monkeypatch.chdir(folder.parent)

    for name in (
        str(folder),
        f"{folder}/../records/",
        "records",
        "memoryDB/l1/records",
    ):
        assert ids(read(profile, l1_dir=name)) == ["a"]


@pytest.mark.parametrize("l1_dir", ["../../etc", "/", "", "\0", "a" * 5000, 7])
def test_another_folder_is_refused(profile: Path, l1_dir: object) -> None:
    assert refused(profile, l1_dir=l1_dir) == [(FaultCode.BAD_ARGUMENT, "/l1Dir")]


def test_an_unknown_cursor_is_refused_by_its_name(profile: Path) -> None:
    put(profile, "2026-03-01", record("a"))

    answer = Records(profile).increment(own=None, homes=Nowhere(), cursor="m_0_x")

    assert isinstance(answer, Refusal)
    assert [(fault.code, fault.path) for fault in answer.errors] == [
        (FaultCode.UNKNOWN_CURSOR, "/cursor")
    ]
    assert "m_0_x" in answer.errors[0].message


@pytest.mark.parametrize("cursor", ["", "\ud800", "a\n", "@:", "a@x:1", "a" * 9999])
def test_a_cursor_that_is_no_id_is_refused(profile: Path, cursor: str) -> None:
    put(profile, "2026-03-01", record("a"))

    assert refused(profile, cursor=cursor) == [(FaultCode.UNKNOWN_CURSOR, "/cursor")]


def test_with_nothing_new_the_cursor_is_the_one_given(profile: Path) -> None:
    put(profile, "2026-03-01", record("a"), record("b"), gone("c"))

    answer = read(profile, cursor="b@2026-03-01:2")

    assert (answer.total_new, answer.next_cursor) == (0, "b@2026-03-01:2")


def test_without_any_record_there_is_no_cursor(profile: Path) -> None:
    answer = read(profile)

    assert (answer.total_new, answer.next_cursor) == (0, None)


def test_a_missing_folder_has_no_records(tmp_path: Path) -> None:
    assert read(tmp_path).total_new == 0


def test_deleted_records_are_skipped_and_not_counted(profile: Path) -> None:
    put(profile, "2026-03-01", record("a"), record("b"), gone("a"), record("c"))

    answer = read(profile)

    assert ids(answer) == ["b", "c"]
    assert answer.total_new == 2


def test_the_cursor_moves_past_what_is_deleted(profile: Path) -> None:
    put(
        profile, "2026-03-01", record("a"), gone("b"), gone("x"), record("c"), gone("d")
    )

    first = read(profile, max_records=1)
    second = read(profile, cursor=first.next_cursor)

    assert (ids(first), first.next_cursor) == (["a"], "x")
    assert (ids(second), second.next_cursor) == (["c"], "d")


def test_only_true_deletes(profile: Path) -> None:
    put(profile, "2026-03-01", record("a", deleted="true"), record("b", deleted=1))

    assert ids(read(profile)) == ["a", "b"]


def test_a_record_written_again_comes_once_with_its_later_text(profile: Path) -> None:
    put(profile, "2026-03-01", record("a"), record("b"))
    put(profile, "2026-03-02", record("a", content="later"))

    answer = read(profile)

    assert [(one["id"], one["content"]) for one in answer.records] == [
        ("b", "about b"),
        ("a", "later"),
    ]


def test_a_record_written_again_is_new_again(profile: Path) -> None:
    path = put(profile, "2026-03-01", record("a"), record("b"))
    assert read(profile, cursor="b").total_new == 0

    with path.open("a") as file:
        file.write(json.dumps(record("a", content="later")) + "\n")

    assert [one["content"] for one in read(profile, cursor="b").records] == ["later"]


def test_a_record_written_after_its_tombstone_lives(profile: Path) -> None:
    put(profile, "2026-03-01", record("a"), gone("a"), record("a", content="again"))

    assert [one["content"] for one in read(profile).records] == ["again"]


def test_only_plain_files_called_jsonl_are_read(profile: Path) -> None:
    folder = layout.records_dir(profile)
    put(profile, "2026-03-01", record("a"))
    for name in ("notes.txt", ".2026-03-02.jsonl.swp", ".hidden.jsonl", "x.JSONL"):
        (folder / name).write_text(json.dumps(record("no")) + "\n")

    answer = read(profile)

    assert ids(answer) == ["a"]
    assert answer.warnings == ()


def test_what_only_looks_like_a_shard_is_told_and_never_opened(
    profile: Path, tmp_path: Path
) -> None:
    folder = layout.records_dir(profile)
    outside = tmp_path / "outside.jsonl"
    outside.write_text(json.dumps(record("secret")) + "\n")
    os.mkfifo(folder / "fifo.jsonl")
    (folder / "folder.jsonl").mkdir()
    (folder / "link.jsonl").symlink_to(outside)
    (folder / "a@b.jsonl").write_text(json.dumps(record("no")) + "\n")

    answer = read(profile)

    assert answer.total_new == 0
    assert [(warning.reason, warning.file) for warning in answer.warnings] == [
        ("file_left_out", name)
        for name in ("a@b.jsonl", "fifo.jsonl", "folder.jsonl", "link.jsonl")
    ]


def test_a_name_that_is_no_text_is_told_in_text(profile: Path) -> None:
    folder = os.fsencode(layout.records_dir(profile))
    try:
        with open(folder + b"/\xff\n.jsonl", "wb"):  # noqa: PTH123
            pass
    except OSError:
        pytest.skip("file names are text here")

    [warning] = read(profile).warnings

    assert warning.file == r"\udcff\n.jsonl"


def test_a_folder_that_cannot_be_read_is_an_error_and_not_empty(tmp_path: Path) -> None:
    layout.records_dir(tmp_path).parent.mkdir(parents=True)
    layout.records_dir(tmp_path).write_text("")

    with pytest.raises(DiskError, match=r"cannot be read.*Nothing was changed"):
        read(tmp_path)


def test_reading_changes_nothing_under_l1(profile: Path) -> None:
    path = put(profile, "2026-03-01", record("a"))
    path.write_bytes(path.read_bytes() + b"\0\0\0torn")
    before = [(one, one.stat().st_mtime_ns) for one in path.parents[1].rglob("*")]
    data = path.read_bytes()

    read(profile)

    after = [(one, one.stat().st_mtime_ns) for one in path.parents[1].rglob("*")]
    assert (after, path.read_bytes()) == (before, data)


def test_an_answer_is_the_json_of_the_contract(profile: Path) -> None:
    put(profile, "2026-03-01", record("a"))

    assert msgspec.to_builtins(read(profile)) == {
        "records": (record("a"),),
        "nextCursor": "a",
        "totalNew": 1,
        "returned": 1,
        "truncated": False,
        "lateCount": 0,
        "warnings": (),
    }


def test_lookup_tells_the_deleted_from_the_unknown(profile: Path) -> None:
    put(profile, "2026-03-01", record("a"), record("b"), gone("b"))

    facts = Records(profile).lookup(["a", "b", "c", "\ud800", "\0"])

    assert {name: fact.deleted for name, fact in facts.items()} == {
        "a": False,
        "b": True,
    }


def test_contents_are_of_the_latest_line_and_only_of_the_living(profile: Path) -> None:
    put(profile, "2026-03-01", record("a"), record("b"), gone("b"))
    put(profile, "2026-03-02", record("a", content="later"))

    assert Records(profile).contents(["a", "b", "c"]) == {
        "a": record("a", content="later")
    }
