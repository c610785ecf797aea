"""``l2_archive_guide``: facts of age, activity and recall, and never a score."""

import json
from typing import Any

import msgspec
import pytest

from scenestore import import_state, layout
from scenestore_engine.times import iso

Block = dict[str, Any]


def guide(world: Any) -> dict[str, Any]:
    encoded = msgspec.json.encode(world.store.archive_guide(now=world.now))
    found: dict[str, Any] = json.loads(encoded)
    return found


def block(world: Any, name: str = "race.md") -> Block:
    (found,) = (one for one in guide(world)["blocks"] if one["filename"] == name)
    return found


def recall(world: Any, *rows: object, day: str = "2026-03-10") -> None:
    """Write a file of recalls; a row that is text or bytes is a line as it stands."""
    folder = layout.recall_dir(world.profile)
    folder.mkdir(parents=True, exist_ok=True)
    lines = [
        row
        if isinstance(row, bytes)
        else (row if isinstance(row, str) else json.dumps(row)).encode()
        for row in rows
    ]
    (folder / f"{day}.jsonl").write_bytes(b"\n".join(lines) + b"\n")


def hit(world: Any, number: int, at: str) -> dict[str, str]:
    return {"recordId": world.rid(number), "at": at}


def write(action: str, filename: str, **fields: object) -> dict[str, object]:
    return {"action": action, "filename": filename, **fields}


def made(world: Any, first: int, *times: str) -> list[dict[str, object]]:
    return [world.record(first + n, createdAt=time) for n, time in enumerate(times)]


# The whole


def test_a_block_has_the_facts_of_the_contract_and_no_score(world: Any) -> None:
    assert block(world) == {
        "filename": "race.md",
        "summary": "About race.md",
        "heat": 1,
        "members": 3,
        "membersWithHits": 0,
        "lastRecallDay": None,
        "activeDaysSinceWrite": 0,
        "ageDays": 30,
        "archivable": True,
        "blockedBy": [],
    }


def test_the_guide_lists_every_live_scene_by_name_and_no_archived_one(
    world: Any,
) -> None:
    world.must({"sceneWrites": [write("archive", "race.md", reason="over")]})

    found = guide(world)

    assert set(found) == {"rules", "capacity", "blocks"}
    names = [one["filename"] for one in found["blocks"]]
    assert names == ["deploy.md", "running.md"]


def test_an_empty_store_has_a_guide_without_blocks(empty: Any) -> None:
    found = guide(empty)

    assert found["blocks"] == []
    assert found["capacity"] == {"live": 0, "maxScenes": 15, "warning": "none"}
    assert found["rules"]


@pytest.mark.parametrize(
    ("max_scenes", "warning"),
    [
        (15, "none"),
        (7, "none"),
        (6, "yellow"),
        (5, "yellow"),
        (4, "orange"),
        (3, "red"),
        (2, "red"),
    ],
)
def test_the_capacity_is_told_as_in_receipts(
    world: Any, max_scenes: int, warning: str
) -> None:
    world.policy(max_scenes=max_scenes)

    found = guide(world)["capacity"]

    assert found == {"live": 3, "maxScenes": max_scenes, "warning": warning}


def test_the_rules_name_the_limits_of_this_host(world: Any) -> None:
    world.policy(max_archives_per_batch=4, min_archive_age_days=23)

    rules = " ".join(guide(world)["rules"])

    assert " 4 " in rules
    assert " 23 days" in rules


def test_the_guide_changes_nothing(world: Any) -> None:
    before = world.bytes_under()

    guide(world)

    assert world.bytes_under() == before


# Age


def test_a_day_is_whole_before_it_counts(world: Any) -> None:
    world.create("young.md", 9)

    ages = []
    for _ in range(3):
        ages.append(block(world, "young.md")["ageDays"])
        world.wait(days=0.5)

    assert ages == [0, 0, 1]


def test_age_is_that_of_the_oldest_source_after_a_consolidation(world: Any) -> None:
    world.create("young.md", 9)
    world.wait(days=2)
    merge = write(
        "consolidate",
        "both.md",
        sources=["young.md", "race.md"],
        content="- both",
        meta={"summary": "s"},
    )
    world.must({"sceneWrites": [merge]})

    assert block(world, "both.md")["ageDays"] == 32
    assert block(world, "both.md")["archivable"] is True


def test_a_live_target_keeps_its_age_and_takes_an_older_one(world: Any) -> None:
    world.create("young.md", 9)
    world.create("other.md", 10)
    merge = write(
        "consolidate",
        "young.md",
        sources=["other.md", "race.md"],
        content="- all",
        meta={"summary": "s"},
    )
    world.must({"sceneWrites": [merge]})

    assert block(world, "young.md")["ageDays"] == 30


def test_age_is_never_what_a_caller_writes(world: Any) -> None:
    old = {"summary": "s", "created": "2001-01-01T00:00:00.000Z"}
    made_old = write("create", "claims.md", content="- x", meta=old, members=[])
    world.must({"sceneWrites": [made_old]})
    payload = (
        b'{"scenes": {"brought.md": {"meta": {"summary": "s", '
        b'"created": "2001-01-01T00:00:00.000Z"}, "content": "- x"}}}'
    )
    import_state(world.store, payload, now=world.now)

    assert block(world, "claims.md")["ageDays"] == 0
    assert block(world, "claims.md")["blockedBy"] == ["too_young"]
    assert block(world, "brought.md")["ageDays"] == 0


def test_an_update_makes_a_scene_no_younger(world: Any) -> None:
    world.must({"sceneWrites": [write("update", "race.md", content="- new")]})

    assert block(world)["ageDays"] == 30


def test_a_clock_that_went_back_makes_no_negative_age(world: Any) -> None:
    world.wait(days=-400)

    assert block(world)["ageDays"] == 0


# Activity


def test_active_days_are_distinct_days_after_the_last_write(world: Any) -> None:
    days = ("2026-03-02", "2026-03-05", "2026-03-05", "2026-03-09", "2026-03-20")
    rows = made(world, 100, *(f"{day}T10:00:00.000Z" for day in days))
    world.shard("2026-03-20", rows)

    assert block(world)["activeDaysSinceWrite"] == 3


def test_a_record_of_the_day_of_the_write_counts_when_it_came_later(world: Any) -> None:
    updated = world.live()["race.md"]["updated"]
    world.shard("2026-03-04", made(world, 100, updated))
    assert block(world)["activeDaysSinceWrite"] == 0

    world.shard("2026-03-04", made(world, 100, "2026-03-03T23:59:59.999Z"))
    assert block(world)["activeDaysSinceWrite"] == 1


def test_a_write_begins_the_count_anew(world: Any) -> None:
    world.shard("2026-03-20", made(world, 100, "2026-03-20T10:00:00.000Z"))
    assert block(world)["activeDaysSinceWrite"] == 1

    world.must({"sceneWrites": [write("update", "race.md", content="- new")]})

    assert block(world)["activeDaysSinceWrite"] == 0
    assert block(world, "running.md")["activeDaysSinceWrite"] == 1


def test_days_are_those_of_utc(world: Any) -> None:
    rows = made(world, 100, "2026-03-05T23:30:00-02:00", "2026-03-06T08:00:00+08:00")
    world.shard("2026-03-06", rows)

    assert block(world)["activeDaysSinceWrite"] == 1


def test_deleted_records_are_no_activity(world: Any) -> None:
    rows = made(world, 100, "2026-03-05T10:00:00.000Z", "2026-03-06T10:00:00.000Z")
    world.shard("2026-03-06", rows)
    world.shard("2026-03-07", [{"id": world.rid(101), "deleted": True}])

    assert block(world)["activeDaysSinceWrite"] == 1


def test_a_record_that_is_written_anew_counts_once_as_it_is_now(world: Any) -> None:
    world.shard("2026-03-05", made(world, 100, "2026-03-05T10:00:00.000Z"))
    world.shard("2026-03-08", made(world, 100, "2026-03-08T10:00:00.000Z"))

    assert block(world)["activeDaysSinceWrite"] == 1


@pytest.mark.parametrize("odd", [None, 5, "", "soon", "9999-12-31T23:59:59-20:00"])
def test_a_record_without_a_time_is_no_activity(world: Any, odd: object) -> None:
    world.shard("2026-03-06", [world.record(100, createdAt=odd)])

    assert block(world)["activeDaysSinceWrite"] == 0


def test_damaged_lines_and_an_unfinished_one_do_no_harm(world: Any) -> None:
    path = world.shard("2026-03-06", made(world, 100, "2026-03-06T10:00:00.000Z"))
    whole = json.dumps(made(world, 101, "2026-03-07T10:00:00.000Z")[0])
    with path.open("ab") as file:
        file.write(b"{broken\n\xff\n\n[]\n" + whole.encode())

    assert block(world)["activeDaysSinceWrite"] == 2


# Recalls


def test_members_with_a_recall_are_counted_once_and_the_last_day_is_told(
    world: Any,
) -> None:
    recall(world, hit(world, 4, "2026-03-10T08:00:00Z"), hit(world, 0, "2026-03-12"))
    more = [hit(world, 4, "2026-03-11T23:00:00Z"), hit(world, 5, "2026-03-05T00:00Z")]
    recall(world, *more, day="2026-03-11")

    race, running = block(world), block(world, "running.md")

    assert (race["members"], race["membersWithHits"]) == (3, 2)
    assert race["lastRecallDay"] == "2026-03-11"
    assert (running["membersWithHits"], running["lastRecallDay"]) == (1, "2026-03-12")
    assert block(world, "deploy.md")["lastRecallDay"] is None


def test_an_earlier_recall_on_a_later_line_takes_no_day_back(world: Any) -> None:
    days = ("2026-03-12T00:00:00Z", "2026-03-10T00:00:00Z")
    recall(world, *(hit(world, 4, day) for day in days))

    assert block(world)["lastRecallDay"] == "2026-03-12"


def test_the_day_of_a_recall_is_that_of_utc(world: Any) -> None:
    recall(world, hit(world, 4, "2026-03-10T23:30:00-02:00"))

    assert block(world)["lastRecallDay"] == "2026-03-11"


@pytest.mark.parametrize(
    "odd",
    [
        "",
        "{",
        "[]",
        "null",
        "5",
        b"\xff\xfe",
        b"\x00",
        {"recordId": 5, "at": "2026-03-10"},
        {"recordId": "m_1"},
        {"at": "2026-03-10"},
        {"recordId": "m_1", "at": "soon"},
        {"recordId": "m_1", "at": 5},
        {"recordId": "m_1", "at": "0001-01-01T00:00:00+23:00"},
        '{"recordId": "\\ud800", "at": "2026-03-10"}',
    ],
    ids=ascii,
)
def test_an_odd_line_is_passed_over_and_those_about_it_count(
    world: Any, odd: object
) -> None:
    good = [hit(world, 4, "2026-03-10T08:00:00Z"), hit(world, 5, "2026-03-11")]
    recall(world, good[0], odd, good[1])

    race = block(world)

    assert (race["membersWithHits"], race["lastRecallDay"]) == (2, "2026-03-11")


def test_further_fields_of_a_recall_are_no_matter(world: Any) -> None:
    recall(world, hit(world, 4, "2026-03-10") | {"query": "shoes", "score": 0.9})

    assert block(world)["membersWithHits"] == 1


def test_what_is_no_file_of_recalls_is_left_alone(world: Any) -> None:
    folder = layout.recall_dir(world.profile)
    (folder / "2026-03-10.jsonl").mkdir(parents=True)
    (folder / "notes.txt").write_text(json.dumps(hit(world, 4, "2026-03-10")))
    (folder / "2026-03-11.jsonl").symlink_to(folder / "notes.txt")

    assert block(world)["membersWithHits"] == 0


def test_a_recall_of_a_record_that_moved_goes_with_it(world: Any) -> None:
    recall(world, hit(world, 4, "2026-03-10"))
    merge = write(
        "consolidate",
        "sport.md",
        sources=["running.md", "race.md"],
        content="- both",
        meta={"summary": "s"},
    )
    world.must({"sceneWrites": [merge]})

    assert block(world, "sport.md")["membersWithHits"] == 1


# What may go


def blocked(world: Any, name: str) -> list[str]:
    found = block(world, name)
    assert found["archivable"] == (not found["blockedBy"])
    return [str(code) for code in found["blockedBy"]]


def archived(world: Any, name: str) -> list[str]:
    """Try it, and say why it was refused."""
    batch = {"sceneWrites": [write("archive", name, reason="over")], "dryRun": True}
    return [error["code"] for error in world.commit(batch).get("errors", ())]


def test_a_scene_is_archivable_when_an_archive_would_be_accepted(world: Any) -> None:
    world.must({"sceneWrites": [write("archive", "race.md", reason="over")]})
    world.create("Race.md", 4)

    assert blocked(world, "Race.md") == ["too_young", "archive_name_taken"]
    assert blocked(world, "running.md") == archived(world, "running.md") == []
    world.wait(days=6.99)
    assert sorted(blocked(world, "Race.md")) == sorted(archived(world, "Race.md"))
    world.wait(days=0.01)
    assert blocked(world, "Race.md") == archived(world, "Race.md")
    assert blocked(world, "Race.md") == ["archive_name_taken"]


def test_the_age_from_which_a_scene_may_go_is_the_hosts(world: Any) -> None:
    world.policy(min_archive_age_days=31)
    assert blocked(world, "race.md") == ["too_young"]

    world.policy(min_archive_age_days=0)
    world.create("young.md", 9)
    assert blocked(world, "young.md") == []


def test_the_first_time_that_a_scene_was_seen_is_kept_in_the_archive(
    world: Any,
) -> None:
    first = world.live()["race.md"]["first_seen"]
    world.must({"sceneWrites": [write("archive", "race.md", reason="over")]})
    world.wait(days=5)
    world.must({"sceneWrites": [write("restore", "race.md")]})

    assert world.live()["race.md"]["first_seen"] == first
    assert block(world)["ageDays"] == 35
    assert iso(world.now_ms) > first
