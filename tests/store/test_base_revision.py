"""``baseRevision``: what the caller had read, and what changed since."""

from pathlib import Path
from typing import Any

import pytest

from scenestore import roll_back
from scenestore.upkeep import repair

Batch = dict[str, Any]


def write(action: str, filename: str, **fields: object) -> dict[str, object]:
    return {"action": action, "filename": filename, **fields}


def update(filename: str, content: str, **fields: object) -> Batch:
    return {"sceneWrites": [write("update", filename, content=content)], **fields}


def consolidate(**fields: object) -> Batch:
    merge = write(
        "consolidate",
        "sport.md",
        sources=["running.md", "race.md"],
        content="# Sport\n- both",
        meta={"summary": "Sport"},
    )
    return {"sceneWrites": [merge], **fields}


def read(world: Any) -> str:
    return str(world.store.head().id)


def stale(answer: dict[str, Any]) -> list[tuple[str, str]]:
    errors = [e for e in answer.get("errors", ()) if e["code"] == "stale_base"]
    return [(e["path"], e["filename"]) for e in errors]


def by_hand(world: Any, name: str = "race.md") -> Path:
    file: Path = world.l2 / "scene-blocks" / name
    file.write_text(file.read_text().replace("- shoes", "- sandals"))
    return file


# What is fresh, and what is stale


def test_a_batch_on_what_was_read_is_accepted(world: Any) -> None:
    base = read(world)

    world.must(update("race.md", "# Race\n- new", baseRevision=base))


def test_changes_of_other_scenes_the_cursor_and_persona_do_no_harm(world: Any) -> None:
    base = read(world)
    world.must(update("deploy.md", "# Deploy\n- on Friday"))
    world.must({"cursor": world.rid(14), "personaSignal": True, "personaReason": "r"})

    world.must(update("race.md", "# Race\n- new", baseRevision=base))


def test_a_scene_that_was_changed_since_is_refused_with_what_changed(
    world: Any,
) -> None:
    base = read(world)
    world.must(update("race.md", "# Race\n- shoes\n- a new start number"))
    before = world.bytes_under()

    answer = world.commit(update("race.md", "# Race\n- mine", baseRevision=base))

    assert stale(answer) == [("/sceneWrites/0", "race.md")]
    assert answer["retry"] is True
    assert answer["head"] == read(world)
    (conflict,) = answer["conflicts"]
    assert conflict["filename"] == "race.md"
    assert conflict["diff"].splitlines() == [
        "--- a/race.md",
        "+++ b/race.md",
        "@@ -1,2 +1,3 @@",
        " # Race",
        " - shoes",
        "+- a new start number",
    ]
    assert world.bytes_under() == before


def test_members_alone_are_a_change(world: Any) -> None:
    base = read(world)
    grown = write("update", "race.md", content="# Race\n- shoes")
    world.must({"sceneWrites": [grown | {"addMembers": [world.rid(9)]}]})

    answer = world.commit(update("race.md", "# Race\n- mine", baseRevision=base))

    assert stale(answer) == [("/sceneWrites/0", "race.md")]
    assert "+- " not in answer["conflicts"][0]["diff"]


def test_every_scene_of_a_consolidation_counts(world: Any) -> None:
    base = read(world)
    world.must(update("running.md", "# Running\n- rests"))
    world.must(update("race.md", "# Race\n- new shoes"))

    answer = world.commit(consolidate(baseRevision=base))

    assert stale(answer) == [
        ("/sceneWrites/0", "running.md"),
        ("/sceneWrites/0", "race.md"),
    ]
    assert [c["filename"] for c in answer["conflicts"]] == ["running.md", "race.md"]


def test_a_scene_that_was_deleted_since_is_a_conflict_and_missing(world: Any) -> None:
    base = read(world)
    world.must({"sceneWrites": [write("delete", "race.md")]})

    answer = world.commit(update("race.md", "# Race\n- mine", baseRevision=base))

    assert {e["code"] for e in answer["errors"]} == {"scene_missing", "stale_base"}
    assert answer["conflicts"][0]["diff"].startswith("--- a/race.md\n+++ /dev/null\n")


def test_a_scene_that_was_archived_since_is_a_conflict(world: Any) -> None:
    base = read(world)
    world.must({"sceneWrites": [write("archive", "race.md", reason="over")]})

    answer = world.commit(
        {"sceneWrites": [write("restore", "race.md")], "baseRevision": base}
    )

    assert stale(answer) == [("/sceneWrites/0", "race.md")]


def test_a_scene_that_somebody_created_since_is_a_conflict(world: Any) -> None:
    base = read(world)
    world.create("sport.md", 9, content="# Sport\n- theirs")

    answer = world.commit(consolidate(baseRevision=base))

    assert stale(answer) == [("/sceneWrites/0", "sport.md")]
    assert answer["conflicts"][0]["diff"].endswith("+# Sport\n+- theirs\n")


def test_a_scene_that_changed_and_changed_back_is_as_it_was_read(world: Any) -> None:
    base = read(world)
    world.must(update("race.md", "# Race\n- other"))
    roll_back(world.store, base, now=world.now)

    world.must(update("race.md", "# Race\n- mine", baseRevision=base))


def test_the_faults_of_a_stale_batch_are_told_too(world: Any) -> None:
    base = read(world)
    world.must(update("race.md", "# Race\n- other"))

    answer = world.commit(update("race.md", " ", baseRevision=base))

    assert {e["code"] for e in answer["errors"]} == {"body_blank", "stale_base"}


def test_a_conflict_that_was_read_and_taken_over_is_accepted(world: Any) -> None:
    base = read(world)
    world.must(update("race.md", "# Race\n- shoes\n- theirs"))
    refused = world.commit(update("race.md", "# Race\n- mine", baseRevision=base))

    theirs = [
        line[1:]
        for line in refused["conflicts"][0]["diff"].splitlines()
        if line.startswith("+") and not line.startswith("+++")
    ]
    body = "\n".join(["# Race", "- mine", *theirs])
    world.must(update("race.md", body, baseRevision=refused["head"]))

    assert world.live()["race.md"]["body"] == "# Race\n- mine\n- theirs"


def test_a_dry_run_is_told_of_conflicts(world: Any) -> None:
    base = read(world)
    world.must(update("race.md", "# Race\n- other"))

    answer = world.commit(
        update("race.md", "# Race\n- mine", baseRevision=base, dryRun=True)
    )

    assert stale(answer) == [("/sceneWrites/0", "race.md")]


# The forms of a revision


def _seq(world: Any) -> str:
    return str(world.store.head().seq)


def _prefix(world: Any) -> str:
    return read(world)[:12]


def _described(world: Any) -> str:
    return f"g{read(world)[:12]}"


def _backup(world: Any) -> str:
    answer = world.must(consolidate())
    said = str(answer["consolidations"][0]["backupDir"])
    roll_back(world.store, said, now=world.now)
    return said


@pytest.mark.parametrize("form", [read, _seq, _prefix, _described, _backup])
def test_a_base_may_be_named_in_every_form(world: Any, form: Any) -> None:
    base = form(world)
    world.must(update("deploy.md", "# Deploy\n- other"))
    world.must(update("race.md", "# Race\n- theirs"))

    stale_one = world.commit(update("race.md", "# Race\n- mine", baseRevision=base))

    assert stale(stale_one) == [("/sceneWrites/0", "race.md")]
    world.must(update("running.md", "# Running\n- mine", baseRevision=base))


@pytest.mark.parametrize("base", ["999", "feedfeedfeed", "f" * 40, "nonsense", ""])
def test_a_base_that_no_history_knows_is_a_fault(world: Any, base: str) -> None:
    answer = world.commit(update("race.md", "# Race\n- mine", baseRevision=base))

    (error,) = answer["errors"]
    assert error["code"] == "unknown_revision"
    assert error["path"] == "/baseRevision"
    assert error["hint"]


def test_the_root_is_a_base_that_had_no_scenes(world: Any) -> None:
    answer = world.commit(update("race.md", "# Race\n- mine", baseRevision="0"))

    assert stale(answer) == [("/sceneWrites/0", "race.md")]


# The work of another hand


def test_drift_of_a_scene_that_was_read_is_a_conflict_with_the_hands_diff(
    world: Any,
) -> None:
    base = read(world)
    file = by_hand(world)

    answer = world.commit(update("race.md", "# Race\n- mine", baseRevision=base))

    assert [e["code"] for e in answer["errors"]] == ["drift", "stale_base"]
    assert stale(answer) == [("/baseRevision", "race.md")]
    (conflict,) = answer["conflicts"]
    assert "-- shoes" in conflict["diff"].splitlines()
    assert "+- sandals" in conflict["diff"].splitlines()
    assert answer["retry"] is False
    assert "sandals" in file.read_text()


def test_drift_without_a_base_is_drift_alone(world: Any) -> None:
    by_hand(world)

    answer = world.commit(update("race.md", "# Race\n- mine"))

    assert [e["code"] for e in answer["errors"]] == ["drift"]
    assert "conflicts" not in answer


def test_drift_of_a_scene_that_the_batch_leaves_alone_does_no_harm(world: Any) -> None:
    base = read(world)
    file = by_hand(world)

    world.must(update("running.md", "# Running\n- mine", baseRevision=base))

    assert "sandals" in file.read_text()


def test_a_scene_that_a_hand_removed_is_diffed_against_nothing(world: Any) -> None:
    base = read(world)
    (world.l2 / "scene-blocks" / "race.md").unlink()

    answer = world.commit(update("race.md", "# Race\n- mine", baseRevision=base))

    (conflict,) = answer["conflicts"]
    assert conflict["diff"].startswith("--- a/race.md\n+++ /dev/null\n")


def test_a_scene_that_a_hand_made_unreadable_is_a_conflict_all_the_same(
    world: Any,
) -> None:
    base = read(world)
    (world.l2 / "scene-blocks" / "race.md").write_bytes(b"\xff\xfe broken")

    answer = world.commit(update("race.md", "# Race\n- mine", baseRevision=base))

    assert stale(answer) == [("/baseRevision", "race.md")]


def test_a_batch_whose_drift_was_put_aside_is_accepted(world: Any) -> None:
    base = read(world)
    by_hand(world)
    batch = update("race.md", "# Race\n- mine", baseRevision=base)
    assert world.commit(batch)["success"] is False

    repair(world.store)

    world.must(batch)
    rescued = world.l2 / ".git" / "scenestore" / "rescued"
    texts = [file.read_text() for file in rescued.rglob("*") if file.is_file()]
    assert any("sandals" in text for text in texts)
