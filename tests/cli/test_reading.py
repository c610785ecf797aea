"""``status``, ``scenes``, ``records``, ``log``, ``show`` and ``policy``."""

import json
import subprocess
import sys
from typing import Any

import msgspec
import pytest

from scenestore.upkeep import status
from scenestore_cli.errors import ExitCode


def _foreign_commit(world: Any) -> None:
    (world.l2 / "note.txt").write_text("by hand")
    world.git("add", "note.txt")
    who = ("-c", "user.name=Mei", "-c", "user.email=mei@example.org")
    world.git(*who, "commit", "-qm", "a note")


def test_the_status_is_that_of_the_library(call: Any, world: Any) -> None:
    ran = call("status", "-P", world.profile, "--json")

    assert ran.document == _plain(status(world.store))


def test_the_status_of_a_store_in_order_names_its_facts(call: Any, world: Any) -> None:
    world.must({"personaSignal": True, "personaReason": "moved to Rome"})

    out = call("status", "-P", world.profile).out

    assert "3 of 15 live" in out
    assert f"{world.rid(11)} (2026-03-03, line 12)" in out
    assert "12 records after the cursor" in out
    assert "3 records up to the cursor" in out
    assert "moved to Rome" in out
    assert "as the history has them" in out


def test_the_status_names_the_work_of_another_hand(call: Any, world: Any) -> None:
    (world.l2 / "scene-blocks" / "race.md").write_text("mine")

    out = call("status", "-P", world.profile).out

    assert "scene-blocks/race.md (edited by another hand)" in out
    assert "scenestore repair" in out


def test_the_status_says_why_nothing_can_be_written(call: Any, world: Any) -> None:
    _foreign_commit(world)

    ran = call("status", "-P", world.profile)

    assert ran.code == ExitCode.DONE
    assert "foreign_commit" in ran.err
    assert "scenestore rollback 4" in ran.err


def test_the_scenes_are_listed_by_name(call: Any, world: Any) -> None:
    document = call("scenes", "-P", world.profile, "--json").document

    assert document["seq"] == 4
    assert document["scenes"][2] == {
        "filename": "running.md",
        "archived": False,
        "summary": "About running.md",
        "heat": 1,
        "members": 4,
        "membersUnknown": False,
        "created": "2026-03-03T00:00:00.001Z",
        "updated": "2026-03-03T00:00:00.001Z",
        "firstSeen": "2026-03-03T00:00:00.001Z",
    }


def test_the_archive_is_listed_by_itself(call: Any, world: Any) -> None:
    world.must(
        {
            "sceneWrites": [
                {"action": "archive", "filename": "race.md", "reason": "over"}
            ]
        }
    )

    live = call("scenes", "-P", world.profile, "--json").document["scenes"]
    archived = call("scenes", "-P", world.profile, "--archived").out

    assert [scene["filename"] for scene in live] == ["deploy.md", "running.md"]
    assert "race.md" in archived
    assert "1 archived scene." in archived


def test_the_scenes_of_an_earlier_revision_can_be_read(call: Any, world: Any) -> None:
    listed = call("scenes", "-P", world.profile, "--at", "1", "--json").document
    read = call("scenes", "race.md", "-P", world.profile, "--at", "1", "--json")

    assert [scene["filename"] for scene in listed["scenes"]] == ["running.md"]
    assert read.document["missing"] == ["race.md"]


def test_a_scene_that_there_is_not_exits_with_2_and_the_others_are_read(
    call: Any, world: Any
) -> None:
    ran = call("scenes", "none.md", "race.md", "-P", world.profile)

    assert ran.code == ExitCode.REJECTED
    assert "- shoes" in ran.out
    assert "There is no scene none.md" in ran.err


def test_records_are_those_of_the_library(call: Any, world: Any) -> None:
    ran = call("records", "-P", world.profile, "--max", "3", "--json")

    increment = world.store.read_l1_increment(max_records=3)
    assert ran.document == _plain(increment)


def test_records_say_how_to_go_on(call: Any, world: Any) -> None:
    first = call("records", "-P", world.profile, "--max", "5").out
    late = call("records", "-P", world.profile, "--late", "--max", "2").out

    assert "5 of 12 new records." in first
    assert f"--cursor {world.rid(16)}" in first
    assert "2 of 3 late records" in late
    assert f"--late-cursor {world.rid(10)}@2026-03-03:11" in late


def test_a_damaged_line_is_told_on_stderr(call: Any, world: Any) -> None:
    path = world.profile / "memoryDB" / "l1" / "records" / "2026-03-03.jsonl"
    path.write_text(path.read_text() + "rubbish\n")

    ran = call("records", "-P", world.profile)

    assert "2026-03-03.jsonl:25: not_json" in ran.err


def test_records_of_any_form_can_be_shown(call: Any, empty: Any) -> None:
    row = empty.record(0, content={"a": [1]}, type=None, createdAt=7)
    empty.shard("2026-03-03", [row, {"id": "bare"}])

    ran = call("records", "-P", empty.profile)

    assert ran.code == ExitCode.DONE
    assert "{'a': [1]}" in ran.out


def test_the_log_has_the_newest_revision_first(call: Any, world: Any) -> None:
    lines = call("log", "-P", world.profile).out.splitlines()

    assert len(lines) == 5
    assert lines[0].startswith("4  ")
    assert lines[0].endswith(f"test      move the cursor to {world.rid(11)}")
    assert lines[4].endswith("begin the scene store")


def test_the_log_can_be_cut_short(call: Any, world: Any) -> None:
    ran = call("log", "-P", world.profile, "-n", "2", "--json")

    assert [one["seq"] for one in ran.document["revisions"]] == [4, 3]


def test_the_log_for_programs_says_what_each_revision_is(call: Any, world: Any) -> None:
    first, second = call("log", "-P", world.profile, "-n", "2", "--json").document[
        "revisions"
    ]

    assert first["revision"] == world.store.ledger.head()
    assert first["parent"] == second["revision"]
    assert first["events"] == ["cursor_moved"]
    assert second == {
        "seq": 3,
        "revision": second["revision"],
        "parent": second["parent"],
        "at": "2026-03-03T00:00:00.003Z",
        "actor": "test",
        "subject": "create deploy.md",
        "batch": world.store.ledger.record(
            world.store.ledger.revision(second["revision"])
        ).batch,
        "events": ["scene_created"],
        "foreign": False,
    }


def test_the_log_marks_the_commit_of_another_program(call: Any, world: Any) -> None:
    _foreign_commit(world)

    told = call("log", "-P", world.profile).out.splitlines()[0]
    entry = call("log", "-P", world.profile, "--json").document["revisions"][0]

    assert told.startswith("-  ")
    assert told.endswith("Mei       a note")
    assert entry["foreign"] is True
    assert entry["seq"] is None
    assert entry["actor"] == "Mei"
    assert entry["events"] == []


def test_a_log_of_which_one_line_is_read_ends_in_silence(world: Any) -> None:
    for number in range(12, 24):
        world.must({"cursor": world.rid(number)})
    command = 'exec "$0" -m scenestore_cli log -P "$1" | head -n 1'

    done = subprocess.run(
        ["/bin/sh", "-c", command, sys.executable, world.profile],
        check=False,
        capture_output=True,
        text=True,
        timeout=60,
    )

    assert done.stdout.count("\n") == 1
    assert done.stderr == ""


@pytest.mark.parametrize(
    "form", ["2", "HEAD~2", "{id}", "g{id:.12}", "{id}:scene-blocks"]
)
def test_a_revision_is_shown_by_each_of_its_names(
    call: Any, world: Any, form: str
) -> None:
    name = form.format(id=world.store.ledger.revision(_id(world, 2)).id)

    ran = call("show", name, "-P", world.profile, "--json")

    assert ran.document["seq"] == 2
    assert ran.document["subject"] == "create race.md"


def test_a_revision_is_shown_with_its_diff(call: Any, world: Any) -> None:
    write = {"action": "update", "filename": "race.md", "content": "# Race\n- boots"}
    more = {"addMembers": [world.rid(9)], "reason": "they wore out"}
    world.must({"sceneWrites": [{**write, **more}], "cursor": world.rid(12)})

    out = call("show", "HEAD", "-P", world.profile).out

    assert out.startswith("update race.md\nRevision  5 (")
    assert f"Cursor    {world.rid(11)} -> {world.rid(12)}" in out
    assert "they wore out" in out
    assert "--- a/scene-blocks/race.md\n+++ b/scene-blocks/race.md\n" in out
    assert "\n-- shoes\n+- boots\n" in out
    assert "members +1 -0" in out
    assert "Scene-Seq" not in out


def test_a_revision_for_programs_has_events_and_changes(call: Any, world: Any) -> None:
    document = call("show", "1", "-P", world.profile, "--json").document

    (event,) = document["events"]
    (change,) = document["changes"]
    assert event["type"] == "scene_created"
    assert change["filename"] == "running.md"
    assert change["before"] is None
    assert change["membersAdded"] == 4
    assert "+- knee" in change["diff"]
    assert document["cursor"] == {"from": None, "to": None}
    assert "Scene-Seq: 1" in document["message"]


def test_a_scene_that_was_archived_is_shown_as_a_move(call: Any, world: Any) -> None:
    world.must(
        {
            "sceneWrites": [
                {"action": "archive", "filename": "race.md", "reason": "over"}
            ]
        }
    )

    out = call("show", "HEAD", "-P", world.profile).out

    assert (
        "--- a/scene-blocks/race.md\n+++ b/archive/scene-blocks/race.md\nmoved whole\n"
    ) in out
    assert "- shoes" not in out


def test_the_root_can_be_shown(call: Any, world: Any) -> None:
    ran = call("show", "0", "-P", world.profile)

    assert ran.code == ExitCode.DONE
    assert ran.out.startswith("begin the scene store\n")


def test_a_dictated_time_is_said_to_be_one(call: Any, empty: Any) -> None:
    env = {"SCENESTORE_NOW": "2020-02-02T02:02:02.000Z"}
    state = {"scenes": {"tea.md": {"content": "- x", "members": []}}}
    call("import", "-P", empty.profile, "--state", "-", data=json.dumps(state), env=env)

    out = call("show", "HEAD", "-P", empty.profile).out

    assert "2020-02-02 02:02 UTC by cli, as SCENESTORE_NOW said" in out


def test_the_policy_says_where_each_value_comes_from(call: Any, world: Any) -> None:
    world.policy(max_scenes=9)

    document = call("policy", "-P", world.profile, "--json").document
    out = call("policy", "-P", world.profile).out

    settings = {one["name"]: one for one in document["settings"]}
    assert settings["max_scenes"]["value"] == 9
    assert settings["max_scenes"]["source"] == "scenestore.toml"
    assert settings["secrets"]["source"] == "default"
    assert ["max_scenes", "9", "scenestore.toml"] in [
        r.split() for r in out.split("\n")
    ]


def _plain(answer: msgspec.Struct) -> object:
    return json.loads(msgspec.json.encode(answer))


def _id(world: Any, seq: int) -> str:
    revisions = world.store.ledger.back_from(world.store.ledger.head())
    return next(one.id for one in revisions if one.seq == seq)
