"""What each accepted action leaves: the whole state, the files, and the receipt."""

import json
from typing import Any

import pytest

from scenestore import import_state
from scenestore_engine.times import DAY_MS

Answer = dict[str, Any]
RUNNING = {
    "body": "# Running\n- runs\n- knee",
    "summary": "About running.md",
    "heat": 1,
    "created": "2026-03-03T00:00:00.001Z",
    "updated": "2026-03-03T00:00:00.001Z",
    "first_seen": "2026-03-03T00:00:00.001Z",
}
RACE = {
    "body": "# Race\n- shoes",
    "summary": "About race.md",
    "heat": 1,
    "created": "2026-03-03T00:00:00.002Z",
    "updated": "2026-03-03T00:00:00.002Z",
    "first_seen": "2026-03-03T00:00:00.002Z",
}
DEPLOY = {
    "body": "# Deploy\n- on Tuesday",
    "summary": "About deploy.md",
    "heat": 1,
    "created": "2026-03-03T00:00:00.003Z",
    "updated": "2026-03-03T00:00:00.003Z",
    "first_seen": "2026-03-03T00:00:00.003Z",
}
NOW = "2026-04-02T00:00:00.005Z"
"""When the first batch of a test on `world` is committed."""
BOTH = "# Running\n- runs\n- knee\n# Race\n- shoes"


def ids(world: Any, *numbers: int) -> frozenset[str]:
    return frozenset(world.rid(number) for number in numbers)


def scenes(world: Any) -> dict[str, dict[str, object]]:
    """Every scene that `world` begins with, as `World.live` tells it."""
    return {
        "running.md": RUNNING | {"members": ids(world, 0, 1, 2, 3)},
        "race.md": RACE | {"members": ids(world, 4, 5, 6)},
        "deploy.md": DEPLOY | {"members": ids(world, 7, 8)},
    }


def archive(world: Any) -> dict[str, dict[str, object]]:
    """Every archived scene, told as `World.live` tells the live ones."""
    ledger = world.store.ledger
    out: dict[str, dict[str, object]] = {}
    for name, scene in world.store.state().archived.items():
        block = ledger.block(scene.blob)
        out[name] = {
            "body": block.body,
            "summary": block.meta.summary,
            "heat": block.meta.heat,
            "created": block.meta.created,
            "updated": block.meta.updated,
            "members": ledger.sets.ids(scene.members),
            "first_seen": scene.first_seen,
        }
    return out


def dismissed(world: Any) -> frozenset[str]:
    found: frozenset[str] = world.store.ledger.sets.ids(world.store.state().dismissed)
    return found


def drawn(world: Any, name: str) -> Any:
    """What a JSON file of the work tree says; None: it is not there."""
    path = world.l2 / name
    return json.loads(path.read_text()) if path.exists() else None


def places(world: Any) -> Any:
    said = drawn(world, "scenes.json")
    return {part: {n: p["firstSeen"] for n, p in said[part].items()} for part in said}


def cursor_11(world: Any) -> dict[str, object]:
    return {"lastRecordId": world.rid(11), "shard": "2026-03-03", "line": 12}


def index_of(live: dict[str, dict[str, Any]]) -> list[dict[str, object]]:
    fields = ("summary", "heat", "created", "updated")
    return [
        {"filename": name}
        | {field: scene[field] for field in fields}
        | {"members": sorted(scene["members"])}
        for name, scene in sorted(live.items())
    ]


def assert_files_follow(world: Any) -> None:
    """The work tree, git's index and the scene index say what the head says."""
    assert world.git("status", "--porcelain", "--untracked-files=all") == ""
    assert drawn(world, "index/scene_index.json") == index_of(world.live())
    kept = {name: scene["first_seen"] for name, scene in world.live().items()}
    assert places(world)["live"] == kept


def receipt(world: Any, answer: Answer, **fields: object) -> Answer:
    """The whole receipt that is expected, apart from what a hash decides."""
    return {
        "success": True,
        "revision": world.git("rev-parse", "main").strip(),
        "seq": 5,
        "batch": answer["batch"],
        "created": [],
        "updated": [],
        "deleted": [],
        "archived": [],
        "restored": [],
        "consolidations": [],
        "membersMissing": [],
        "warnings": [],
        "cursor": {"from": world.rid(11), "to": world.rid(11)},
        "coverage": {
            "unassigned": 3,
            "dismissed": 0,
            "ids": [world.rid(9), world.rid(10), world.rid(11)],
        },
        "capacity": {"live": 3, "maxScenes": 15, "warning": "none"},
        "commitHint": answer["commitHint"],
    } | fields


def write(action: str, filename: str, **fields: object) -> dict[str, object]:
    return {"sceneWrites": [{"action": action, "filename": filename, **fields}]}


def one(write_batch: dict[str, object]) -> object:
    writes = write_batch["sceneWrites"]
    assert isinstance(writes, list)
    return writes[0]


# Each action, whole


def test_create_adds_one_scene_of_heat_one_and_changes_nothing_else(world: Any) -> None:
    batch = write(
        "create",
        "tea.md",
        content="# Tea\n- green",
        meta={"summary": "Drinks green tea"},
        members=[world.rid(9)],
    )

    answer = world.must(batch)

    tea = {
        "body": "# Tea\n- green",
        "summary": "Drinks green tea",
        "heat": 1,
        "created": NOW,
        "updated": NOW,
        "first_seen": NOW,
        "members": ids(world, 9),
    }
    assert world.live() == scenes(world) | {"tea.md": tea}
    assert archive(world) == {}
    assert drawn(world, "cursor.json") == cursor_11(world)
    assert drawn(world, "persona.json") is None
    assert_files_follow(world)
    assert answer == receipt(
        world,
        answer,
        created=["tea.md"],
        coverage={
            "unassigned": 2,
            "dismissed": 0,
            "ids": [world.rid(10), world.rid(11)],
        },
        capacity={"live": 4, "maxScenes": 15, "warning": "none"},
    )


def test_update_rewrites_one_scene_and_adds_one_to_its_heat(world: Any) -> None:
    body = "# Race\n- shoes\n- in May"

    answer = world.must(
        write("update", "race.md", content=body, meta={"summary": "A race in May"})
    )

    race = RACE | {
        "body": body,
        "summary": "A race in May",
        "heat": 2,
        "updated": NOW,
        "members": ids(world, 4, 5, 6),
    }
    assert world.live() == scenes(world) | {"race.md": race}
    assert archive(world) == {}
    assert drawn(world, "cursor.json") == cursor_11(world)
    assert_files_follow(world)
    assert answer == receipt(world, answer, updated=["race.md"])


def test_delete_takes_one_scene_away_and_names_its_orphans(world: Any) -> None:
    answer = world.must(write("delete", "race.md", reason="it is over"))

    left = scenes(world)
    del left["race.md"]
    orphans = sorted(ids(world, 4, 5, 6))
    assert world.live() == left
    assert archive(world) == {}
    assert_files_follow(world)
    assert not (world.l2 / "members" / "race.md").exists()
    (notice,) = [w for w in answer["warnings"] if w["code"] == "members_orphaned"]
    assert (notice["filename"], notice["count"], notice["ids"]) == (
        "race.md",
        3,
        orphans,
    )
    assert answer == receipt(
        world,
        answer,
        deleted=["race.md"],
        warnings=answer["warnings"],
        coverage={
            "unassigned": 6,
            "dismissed": 0,
            "ids": [world.rid(n) for n in (4, 5, 6, 9, 10, 11)],
        },
        capacity={"live": 2, "maxScenes": 15, "warning": "none"},
    )


def test_consolidate_into_a_new_scene_has_all_members_and_the_oldest_birth(
    world: Any,
) -> None:
    world.must(write("update", "race.md", content="# Race\n- shoes\n- in May"))
    head = world.store.head().id
    body = BOTH + "\n- in May"

    answer = world.must(
        write(
            "consolidate",
            "sport.md",
            sources=["race.md", "running.md"],
            content=body,
            meta={"summary": "All sport"},
        )
    )

    now = "2026-04-02T00:00:00.006Z"
    sport = {
        "body": body,
        "summary": "All sport",
        "heat": 2,
        "created": RUNNING["created"],
        "updated": now,
        "first_seen": RUNNING["first_seen"],
        "members": ids(world, 0, 1, 2, 3, 4, 5, 6),
    }
    assert world.live() == {
        "deploy.md": DEPLOY | {"members": ids(world, 7, 8)},
        "sport.md": sport,
    }
    assert archive(world) == {}
    assert_files_follow(world)
    assert answer == receipt(
        world,
        answer,
        seq=6,
        consolidations=[
            {
                "filename": "sport.md",
                "sources": ["race.md", "running.md"],
                "backupDir": f"{head}:scene-blocks",
                "members": 7,
                "heat": 2,
                "created": RUNNING["created"],
            }
        ],
        capacity={"live": 2, "maxScenes": 15, "warning": "none"},
    )


def test_consolidate_into_a_live_scene_keeps_its_birth_and_the_highest_heat(
    world: Any,
) -> None:
    world.must(write("update", "running.md", content="# Running\n- runs\n- knee\n- x"))
    head = world.store.head().id
    body = "# Deploy\n- on Tuesday\n- x\n" + BOTH

    answer = world.must(
        write(
            "consolidate",
            "deploy.md",
            sources=["running.md", "race.md"],
            content=body,
            meta={"summary": "All"},
        )
    )

    everything = {
        "body": body,
        "summary": "All",
        "heat": 2,
        "created": DEPLOY["created"],
        "updated": "2026-04-02T00:00:00.006Z",
        "first_seen": RUNNING["first_seen"],
        "members": ids(world, *range(9)),
    }
    assert world.live() == {"deploy.md": everything}
    assert_files_follow(world)
    assert answer == receipt(
        world,
        answer,
        seq=6,
        consolidations=[
            {
                "filename": "deploy.md",
                "sources": ["running.md", "race.md"],
                "backupDir": f"{head}:scene-blocks",
                "members": 9,
                "heat": 2,
                "created": DEPLOY["created"],
            }
        ],
        capacity={"live": 1, "maxScenes": 15, "warning": "none"},
    )


def test_archive_moves_a_scene_whole(world: Any) -> None:
    file = world.git("show", "main:scene-blocks/race.md")

    answer = world.must(write("archive", "race.md", reason="over"))

    left = scenes(world)
    race = left.pop("race.md")
    assert world.live() == left
    assert archive(world) == {"race.md": race}
    assert (world.l2 / "archive" / "scene-blocks" / "race.md").read_text() == file
    assert not (world.l2 / "scene-blocks" / "race.md").exists()
    assert places(world)["archived"] == {"race.md": RACE["first_seen"]}
    assert_files_follow(world)
    assert answer == receipt(
        world,
        answer,
        archived=["race.md"],
        capacity={"live": 2, "maxScenes": 15, "warning": "none"},
    )


def test_restore_brings_a_scene_back_byte_for_byte(world: Any) -> None:
    file = (world.l2 / "scene-blocks" / "race.md").read_bytes()
    world.must(write("archive", "race.md", reason="over"))
    world.wait(days=3)

    answer = world.must(write("restore", "race.md"))

    assert world.live() == scenes(world)
    assert archive(world) == {}
    assert (world.l2 / "scene-blocks" / "race.md").read_bytes() == file
    assert not (world.l2 / "archive").exists()
    assert places(world).get("archived", {}) == {}
    assert_files_follow(world)
    assert answer == receipt(world, answer, seq=6, restored=["race.md"])


def test_restore_as_changes_the_name_alone(world: Any) -> None:
    world.must(write("archive", "race.md", reason="over"))

    answer = world.must(write("restore", "race.md", **{"as": "old-race.md"}))

    expected = scenes(world)
    expected["old-race.md"] = expected.pop("race.md")
    assert world.live() == expected
    assert archive(world) == {}
    assert_files_follow(world)
    assert answer == receipt(world, answer, seq=6, restored=["old-race.md"])


def test_dismiss_keeps_records_out_of_the_coverage(world: Any) -> None:
    answer = world.must(
        {"dismiss": [world.rid(9), world.rid(10)], "dismissReason": "noise"}
    )

    assert world.live() == scenes(world)
    assert dismissed(world) == ids(world, 9, 10)
    assert_files_follow(world)
    assert answer == receipt(
        world,
        answer,
        coverage={"unassigned": 1, "dismissed": 2, "ids": [world.rid(11)]},
    )


def test_a_dismissed_record_that_becomes_a_member_is_dismissed_no_more(
    world: Any,
) -> None:
    world.must({"dismiss": [world.rid(9), world.rid(10)], "dismissReason": "noise"})

    answer = world.must(
        write(
            "update",
            "race.md",
            content="# Race\n- shoes\n- tea",
            addMembers=[world.rid(9)],
        )
    )

    assert dismissed(world) == ids(world, 10)
    assert world.live()["race.md"]["members"] == ids(world, 4, 5, 6, 9)
    (notice,) = [w for w in answer["warnings"] if w["code"] == "undismissed"]
    assert notice["ids"] == [world.rid(9)]
    assert answer["coverage"] == {
        "unassigned": 1,
        "dismissed": 1,
        "ids": [world.rid(11)],
    }
    assert_files_follow(world)


def test_a_cursor_alone_moves_the_cursor_and_nothing_else(world: Any) -> None:
    answer = world.must({"cursor": world.rid(12)})

    place = {"lastRecordId": world.rid(12), "shard": "2026-03-03", "line": 13}
    assert world.live() == scenes(world)
    assert drawn(world, "cursor.json") == place
    assert_files_follow(world)
    (notice,) = answer["warnings"]
    assert (notice["code"], notice["ids"]) == ("unassigned_records", [world.rid(12)])
    assert answer == receipt(
        world,
        answer,
        warnings=[notice],
        cursor={"from": world.rid(11), "to": world.rid(12)},
        coverage={
            "unassigned": 4,
            "dismissed": 0,
            "ids": [world.rid(n) for n in (9, 10, 11, 12)],
        },
    )


def test_a_persona_signal_alone_is_kept_with_its_time(world: Any) -> None:
    answer = world.must({"personaSignal": True, "personaReason": "a new job"})

    assert world.live() == scenes(world)
    assert drawn(world, "persona.json") == {
        "requests": [{"reason": "a new job", "at": NOW}]
    }
    assert_files_follow(world)
    assert answer == receipt(world, answer)


def test_a_batch_of_all_kinds_is_one_commit(world: Any) -> None:
    world.must(write("archive", "deploy.md", reason="over"))
    commits = world.git("rev-list", "--count", "main").strip()
    writes = [
        one(write("create", "tea.md", content="- tea", meta={"summary": "Tea"})),
        one(write("update", "race.md", content="# Race\n- shoes\n- in May")),
        one(write("delete", "running.md")),
        one(write("restore", "deploy.md")),
    ]

    answer = world.must(
        {
            "sceneWrites": writes,
            "cursor": world.rid(12),
            "dismiss": [world.rid(13)],
            "dismissReason": "noise",
            "personaSignal": True,
            "personaReason": "a new job",
        }
    )

    assert world.git("rev-list", "--count", "main").strip() == str(int(commits) + 1)
    assert sorted(world.live()) == ["deploy.md", "race.md", "tea.md"]
    assert (answer["created"], answer["updated"]) == (["tea.md"], ["race.md"])
    assert (answer["deleted"], answer["restored"]) == (["running.md"], ["deploy.md"])
    assert answer["membersMissing"] == ["tea.md"]
    assert_files_follow(world)


# The receipt


@pytest.mark.parametrize(
    ("max_scenes", "warning"),
    [
        (2, "red"),
        (3, "red"),
        (4, "orange"),
        (5, "yellow"),
        (6, "yellow"),
        (7, "none"),
    ],
)
def test_a_shelf_of_three_scenes_is_warned_of_by_the_places_left(
    max_scenes: int, warning: str, world: Any
) -> None:
    world.policy(max_scenes=max_scenes)

    answer = world.must({"cursor": world.rid(12)})

    assert answer["capacity"] == {
        "live": 3,
        "maxScenes": max_scenes,
        "warning": warning,
    }


def test_an_empty_shelf_is_warned_of_by_nothing(empty: Any) -> None:
    empty.policy(max_scenes=1)

    answer = empty.must({"cursor": empty.rid(0)})

    assert answer["capacity"] == {"live": 0, "maxScenes": 1, "warning": "none"}


def test_the_backup_of_a_consolidation_is_opened_by_a_read(world: Any) -> None:
    answer = world.must(
        write(
            "consolidate",
            "sport.md",
            sources=["running.md", "race.md"],
            content=BOTH,
            meta={"summary": "All sport"},
        )
    )
    backup = answer["consolidations"][0]["backupDir"]

    found = world.store.read_scene_blocks(["race.md", "sport.md"], revision=backup)

    assert [block.content for block in found.blocks] == [RACE["body"]]
    assert found.missing == ("sport.md",)


def test_the_backup_of_a_consolidation_is_opened_by_git(world: Any) -> None:
    file = (world.l2 / "scene-blocks" / "race.md").read_text()
    answer = world.must(
        write(
            "consolidate",
            "sport.md",
            sources=["running.md", "race.md"],
            content=BOTH,
            meta={"summary": "All sport"},
        )
    )

    shown = world.git("show", answer["consolidations"][0]["backupDir"] + "/race.md")

    assert shown == file


def test_the_coverage_names_fifty_ids_and_counts_all(empty: Any) -> None:
    empty.shard("2026-03-03", [empty.record(n) for n in range(60)])

    answer = empty.must({"cursor": empty.rid(59)})

    assert answer["coverage"] == {
        "unassigned": 60,
        "dismissed": 0,
        "ids": [empty.rid(n) for n in range(50)],
    }


def test_the_coverage_ends_at_the_cursor(empty: Any) -> None:
    answer = empty.must({"cursor": empty.rid(1)})

    assert answer["coverage"]["ids"] == [empty.rid(0), empty.rid(1)]


def test_a_record_of_an_archived_scene_is_not_unassigned(world: Any) -> None:
    answer = world.must(write("archive", "race.md", reason="over"))

    assert answer["coverage"]["unassigned"] == 3


# Times and heat


def test_updated_does_not_go_back_when_the_clock_does(world: Any) -> None:
    world.must(write("update", "race.md", content="# Race\n- shoes\n- in May"))
    updated = world.live()["race.md"]["updated"]
    world.now_ms -= 20 * DAY_MS

    world.must(write("update", "race.md", content="# Race\n- shoes\n- in May\n- x"))

    assert world.live()["race.md"]["updated"] == updated


def test_updated_of_a_consolidation_does_not_go_back_when_the_clock_does(
    world: Any,
) -> None:
    world.must(write("update", "race.md", content="# Race\n- shoes\n- in May"))
    updated = world.live()["race.md"]["updated"]
    world.now_ms -= 20 * DAY_MS

    world.must(
        write(
            "consolidate",
            "sport.md",
            sources=["running.md", "race.md"],
            content=BOTH + "\n- in May",
            meta={"summary": "All sport"},
        )
    )

    assert world.live()["sport.md"]["updated"] == updated


def test_a_clock_that_goes_back_leaves_the_history_in_order(world: Any) -> None:
    world.now_ms -= 20 * DAY_MS

    answer = world.must({"cursor": world.rid(12)})

    assert world.store.head().id == answer["revision"]
    assert answer["seq"] == 5


def test_a_caller_cannot_set_created_updated_or_heat(world: Any) -> None:
    meta = {
        "summary": "s",
        "created": "2001-01-01T00:00:00.000Z",
        "updated": "2099-01-01T00:00:00.000Z",
        "heat": 99,
    }

    answer = world.must(write("create", "tea.md", content="- tea", meta=meta))

    tea = world.live()["tea.md"]
    assert (tea["created"], tea["updated"], tea["heat"]) == (NOW, NOW, 1)
    assert [w["code"] for w in answer["warnings"]] == ["meta_advisory"]


def test_a_restore_keeps_heat_and_times(world: Any) -> None:
    world.must(write("update", "race.md", content="# Race\n- shoes\n- in May"))
    before = world.live()["race.md"]
    world.must(write("archive", "race.md", reason="over"))
    world.wait(days=1)

    world.must(write("restore", "race.md"))

    assert world.live()["race.md"] == before


def test_unknown_meta_fields_stay_on_update(world: Any) -> None:
    payload = {
        "scenes": {
            "odd.md": {
                "meta": {"summary": "s", "mood": "blue", "weather": "mild"},
                "content": "- odd",
                "members": [],
            }
        }
    }
    import_state(world.store, json.dumps(payload).encode(), now=world.now)

    world.must(write("update", "odd.md", content="- odd\n- more"))

    header = (world.l2 / "scene-blocks" / "odd.md").read_text().split("\n\n")[0]
    assert header.split("\n")[5:7] == ["mood: blue", "weather: mild"]


def test_a_body_is_kept_without_outer_blank_lines_and_with_line_feeds(
    world: Any,
) -> None:
    world.must(
        write("create", "tea.md", content="\r\n \r\n- a\r\n- b\r- c\n\n", meta=_S)
    )

    data = (world.l2 / "scene-blocks" / "tea.md").read_bytes()
    assert data.endswith(b"-----META-END-----\n\n- a\n- b\n- c\n")


_S = {"summary": "s"}


# Members


@pytest.mark.parametrize("members", [None, "omitted"])
def test_an_update_without_members_keeps_the_set(members: object, world: Any) -> None:
    fields = {} if members == "omitted" else {"members": members}

    world.must(write("update", "race.md", content="# Race\n- shoes\n- x", **fields))

    assert world.live()["race.md"]["members"] == ids(world, 4, 5, 6)


@pytest.mark.parametrize(
    ("members", "add", "expected"),
    [
        ((4, 5, 6, 9), None, (4, 5, 6, 9)),
        (None, (9, 4), (4, 5, 6, 9)),
        ((4, 5, 6, 9), (10,), (4, 5, 6, 9, 10)),
        ((4, 5), (6, 9), (4, 5, 6, 9)),
        ((4, 5, 6), None, (4, 5, 6)),
    ],
)
def test_an_update_has_the_given_members_and_the_added_ones(
    members: tuple[int, ...] | None,
    add: tuple[int, ...] | None,
    expected: tuple[int, ...],
    world: Any,
) -> None:
    given = None if members is None else [world.rid(n) for n in members]
    added = None if add is None else [world.rid(n) for n in add]

    world.must(
        write(
            "update",
            "race.md",
            content="# Race\n- shoes\n- x",
            members=given,
            addMembers=added,
        )
    )

    assert world.live()["race.md"]["members"] == ids(world, *expected)


def test_a_consolidation_has_the_union_and_the_added_members(world: Any) -> None:
    world.must(
        write(
            "consolidate",
            "sport.md",
            sources=["running.md", "race.md"],
            content=BOTH,
            meta={"summary": "All sport"},
            addMembers=[world.rid(9)],
        )
    )

    assert world.live()["sport.md"]["members"] == ids(world, 0, 1, 2, 3, 4, 5, 6, 9)


def test_a_create_without_members_says_that_they_are_missing(world: Any) -> None:
    answer = world.must(write("create", "tea.md", content="- tea", meta=_S))

    assert answer["membersMissing"] == ["tea.md"]
    assert world.live()["tea.md"]["members"] == frozenset()


def test_a_create_with_an_empty_set_of_members_says_nothing(world: Any) -> None:
    answer = world.must(write("create", "tea.md", content="- tea", meta=_S, members=[]))

    assert answer["membersMissing"] == []


def test_one_record_may_belong_to_several_scenes(world: Any) -> None:
    world.must(
        write("create", "tea.md", content="- tea", meta=_S, members=[world.rid(4)])
    )

    live = world.live()
    assert world.rid(4) in live["tea.md"]["members"]
    assert world.rid(4) in live["race.md"]["members"]


def test_a_record_of_another_scene_is_no_orphan_of_a_deleted_one(world: Any) -> None:
    world.must(
        write("create", "tea.md", content="- tea", meta=_S, members=[world.rid(4)])
    )

    answer = world.must(write("delete", "race.md"))

    (notice,) = [w for w in answer["warnings"] if w["code"] == "members_orphaned"]
    assert notice["ids"] == sorted(ids(world, 5, 6))


def test_two_thousand_members_are_kept_and_counted(world: Any) -> None:
    many = [f"note-{n:05}" for n in range(2_000)]

    world.must(write("create", "tea.md", content="- tea", meta=_S, members=many))

    assert world.live()["tea.md"]["members"] == frozenset(many)
    assert_files_follow(world)


# Nothing to change


def test_an_update_that_says_what_is_there_makes_no_commit(world: Any) -> None:
    before = world.bytes_under()
    head = world.store.head()

    answer = world.must(write("update", "race.md", content="# Race\n- shoes"))

    assert [w["code"] for w in answer["warnings"]] == ["unchanged"]
    assert (answer["revision"], answer["seq"]) == (head.id, head.seq)
    assert answer["updated"] == []
    assert world.bytes_under() == before


def test_the_unchanged_update_of_a_batch_is_dropped_and_the_rest_holds(
    world: Any,
) -> None:
    same = one(write("update", "race.md", content="# Race\n- shoes\n"))

    answer = world.must({"sceneWrites": [same], "cursor": world.rid(12)})

    assert world.live() == scenes(world)
    assert answer["seq"] == 5
    assert answer["updated"] == []


@pytest.mark.parametrize(
    "batch",
    [
        lambda w: {"cursor": w.rid(11)},
        lambda w: {"dismiss": [w.rid(9)], "dismissReason": "noise"},
    ],
)
def test_what_holds_already_makes_no_commit(batch: Any, world: Any) -> None:
    world.must({"dismiss": [world.rid(9)], "dismissReason": "noise"})
    head = world.store.head()

    answer = world.must(batch(world))

    assert (answer["revision"], answer["seq"]) == (head.id, head.seq)
    assert world.store.head() == head


def test_new_members_alone_are_a_change(world: Any) -> None:
    answer = world.must(
        write("update", "race.md", content="# Race\n- shoes", addMembers=[world.rid(9)])
    )

    assert answer["updated"] == ["race.md"]
    assert world.live()["race.md"]["heat"] == 2


def test_a_new_summary_alone_is_a_change(world: Any) -> None:
    answer = world.must(
        write("update", "race.md", content="# Race\n- shoes", meta={"summary": "New"})
    )

    assert answer["updated"] == ["race.md"]


# Dry runs


def test_a_dry_run_writes_nothing(world: Any) -> None:
    before = world.bytes_under()
    batch = write("update", "race.md", content="# Race\n- shoes\n- in May")

    answer = world.must({**batch, "dryRun": True})

    assert answer["revision"] is None
    assert world.bytes_under() == before
    assert world.live() == scenes(world)


def test_a_dry_run_answers_as_the_batch_would(world: Any) -> None:
    batch = write(
        "consolidate",
        "sport.md",
        sources=["running.md", "race.md"],
        content=BOTH,
        meta={"summary": "All sport"},
    )
    dry = world.must({**batch, "cursor": world.rid(12), "dryRun": True})
    world.now_ms -= 1

    real = world.must({**batch, "cursor": world.rid(12)})

    only = {"revision", "diff", "commitHint"}
    assert {k: v for k, v in dry.items() if k not in only} == {
        k: v for k, v in real.items() if k not in only
    }


def test_the_diff_of_a_dry_run_is_what_git_says_after_the_commit(world: Any) -> None:
    batch = write("update", "race.md", content="# Race\n- shoes\n- in May")
    dry = world.must({**batch, "dryRun": True})
    world.now_ms -= 1

    world.must(batch)

    shown = world.git("diff", "HEAD~1", "HEAD", "--", "scene-blocks")
    assert dry["diff"] == shown[shown.index("---") :]


@pytest.mark.parametrize("odd", ["\u2028", "\x0b", "\x0c", "\x1c", "\u0085"])
def test_the_diff_of_a_dry_run_can_be_applied_whatever_the_body_holds(
    odd: str, world: Any, tmp_path: Any
) -> None:
    body = f"# Race\n- shoes\n- one{odd}two"
    dry = world.must({**write("update", "race.md", content=body), "dryRun": True})
    patch = tmp_path / "dry.diff"
    patch.write_bytes(dry["diff"].encode())

    world.git("apply", str(patch))

    text = (world.l2 / "scene-blocks" / "race.md").read_bytes().decode()
    assert text.endswith(f"\n\n{body}\n")


def test_a_dry_run_of_a_faulty_batch_is_refused(world: Any) -> None:
    answer = world.commit({**write("delete", "ghost.md"), "dryRun": True})

    assert answer["success"] is False


def test_what_is_remembered_is_counted_right_however_long_a_process_runs(
    world: Any,
) -> None:
    for number in range(10):
        world.must({"personaSignal": True, "personaReason": f"reason {number}"})

    objects = world.store.ledger.objects
    kept = sum(len(raw) for _, raw in objects._kept.values())
    assert objects._kept_bytes == kept
