"""Going back: a new revision that holds what an earlier one held."""

import json
from typing import Any

import pytest
from msgspec.structs import replace

from scenestore import CallerError, Receipt, TooNewError, durable, layout, roll_back
from scenestore.check import check
from scenestore_engine.decide import Rejected

RACE = {
    "sceneWrites": [
        {"action": "update", "filename": "race.md", "content": "# Race\n- shoes\n- May"}
    ]
}


def back(world: Any, to: str, **fields: Any) -> Any:
    world.wait(ms=1)
    return roll_back(world.store, to, now=world.now, **fields)


def codes(outcome: Any) -> set[str]:
    assert isinstance(outcome, Rejected), outcome
    return {str(fault.code) for fault in outcome.faults}


def parts(world: Any, revision: str) -> dict[str, str]:
    """The object id of each part of a revision's tree, apart from its events."""
    lines = world.git("ls-tree", revision).splitlines()
    found = {line.split("\t")[1]: line.split()[2] for line in lines}
    del found["events.json"]
    return found


def assert_sound(world: Any) -> None:
    assert world.git("status", "--porcelain", "--untracked-files=all") == ""
    assert check(world.store.ledger, world.store.projection, replay=True).problems == ()


def much(world: Any) -> None:
    """Change every part of the state after revision 4."""
    world.must(RACE)
    world.must(
        {"sceneWrites": [{"action": "archive", "filename": "deploy.md", "reason": "x"}]}
    )
    world.must({"sceneWrites": [{"action": "delete", "filename": "running.md"}]})
    world.create("tea.md", 9)
    world.must(
        {"cursor": world.rid(12), "dismiss": [world.rid(10)], "dismissReason": "noise"}
    )


def test_scenes_archive_members_places_dismissals_and_cursor_are_that_revisions(
    world: Any,
) -> None:
    then = parts(world, "main")
    much(world)

    outcome = back(world, "4")

    assert isinstance(outcome, Receipt)
    assert parts(world, "main") == then
    assert_sound(world)


def test_a_rollback_of_a_rollback_brings_everything_back(world: Any) -> None:
    much(world)
    then = parts(world, "main")
    back(world, "1")

    back(world, "9")

    assert parts(world, "main") == then
    assert_sound(world)


def test_history_is_only_added_to(world: Any) -> None:
    much(world)
    before = world.git("rev-list", "main").split()

    back(world, "2")

    assert world.git("rev-list", "main").split()[1:] == before


def test_the_cursor_stays_when_it_is_kept(world: Any) -> None:
    much(world)

    outcome = back(world, "4", keep_cursor=True)

    said = json.loads((world.l2 / "cursor.json").read_text())
    assert said["lastRecordId"] == world.rid(12)
    assert (outcome.cursor.before, outcome.cursor.after) == (
        world.rid(12),
        world.rid(12),
    )
    assert_sound(world)


def test_a_rollback_to_before_the_first_cursor_has_none(world: Any) -> None:
    outcome = back(world, "3")

    assert outcome.cursor.after is None
    assert not (world.l2 / "cursor.json").exists()
    assert_sound(world)


def test_persona_requests_stay(world: Any) -> None:
    world.must({"personaSignal": True, "personaReason": "a new job"})
    kept = (world.l2 / "persona.json").read_bytes()

    back(world, "4")

    assert (world.l2 / "persona.json").read_bytes() == kept
    assert_sound(world)


def test_the_receipt_names_what_came_changed_and_went(world: Any) -> None:
    much(world)

    outcome = back(world, "4", reason="a bad run")

    assert outcome.seq == 10
    assert outcome.revision == world.store.head().id
    assert outcome.created == ("deploy.md", "running.md")
    assert outcome.updated == ("race.md",)
    assert outcome.deleted == ("tea.md",)
    assert outcome.capacity.live == 3
    assert outcome.coverage.unassigned == 3


def test_the_message_says_to_which_revision_and_why(world: Any) -> None:
    target = world.store.head().id
    world.must(RACE)

    back(world, "4", reason="a bad run")

    message = world.git("log", "-1", "--format=%B")
    assert message.startswith(f"roll back to 4 ({target[:10]})\n")
    assert "a bad run" in message


def test_a_rollback_to_what_there_is_makes_no_commit(world: Any) -> None:
    head = world.store.head()

    outcome = back(world, str(head.seq))

    assert (outcome.revision, outcome.seq) == (head.id, head.seq)
    assert world.store.head() == head


def test_a_dry_run_shows_the_diff_and_writes_nothing(world: Any) -> None:
    world.must(RACE)
    before = world.bytes_under()

    outcome = back(world, "4", dry_run=True)

    assert outcome.revision is None
    assert "\n-- May\n" in outcome.diff
    assert world.bytes_under() == before


@pytest.mark.parametrize("form", ["{seq}", "{id}", "g{id:.10}", "{id}:scene-blocks"])
def test_a_revision_is_named_by_seq_id_prefix_or_backup(form: str, world: Any) -> None:
    head = world.store.head()
    world.must(RACE)

    outcome = back(world, form.format(seq=head.seq, id=head.id))

    assert isinstance(outcome, Receipt)
    assert world.live()["race.md"]["heat"] == 1


@pytest.mark.parametrize("to", ["999", "", "HEAD~99", "gffffff", "main", "../..", "-1"])
def test_an_unknown_revision_is_refused_and_nothing_changes(
    to: str, world: Any
) -> None:
    before = world.bytes_under()

    assert codes(back(world, to)) == {"unknown_revision"}
    assert world.bytes_under() == before


def test_the_id_of_a_tree_names_no_revision(world: Any) -> None:
    tree = world.git("rev-parse", "HEAD~1^{tree}").strip()

    assert codes(back(world, tree)) == {"unknown_revision"}


@pytest.mark.parametrize("reason", ["", " ", "a\nb", "x" * 501, "a\u2028b", "a\x1bb"])
def test_a_reason_that_is_not_one_line_is_refused(reason: str, world: Any) -> None:
    world.must(RACE)

    assert codes(back(world, "4", reason=reason)) == {"bad_reason"}


def test_a_bad_reason_and_an_unknown_revision_are_told_at_once(world: Any) -> None:
    assert codes(back(world, "999", reason=" ")) == {"bad_reason", "unknown_revision"}


@pytest.mark.parametrize("actor", ["a <b>", "a\nb", "", "\udcff", "x" * 65])
def test_a_rollback_by_an_actor_that_cannot_be_named_is_refused(
    actor: str, world: Any
) -> None:
    world.must(RACE)
    head = world.store.head()
    world.reopen().actor = actor

    with pytest.raises(CallerError):
        back(world, "4")

    assert world.store.head() == head


def test_drift_of_a_scene_that_would_change_is_refused_and_stays(world: Any) -> None:
    world.must(RACE)
    path = world.l2 / "scene-blocks" / "race.md"
    path.write_text("a person's")

    assert codes(back(world, "4")) == {"drift"}
    assert path.read_text() == "a person's"


def test_drift_of_a_scene_that_stays_as_it_is_does_not_hinder(world: Any) -> None:
    world.must(RACE)
    path = world.l2 / "scene-blocks" / "deploy.md"
    path.write_text("a person's")

    outcome = back(world, "4")

    assert isinstance(outcome, Receipt)
    assert path.read_text() == "a person's"


def test_a_file_of_a_hand_where_a_scene_would_come_back_is_drift(world: Any) -> None:
    world.must({"sceneWrites": [{"action": "delete", "filename": "race.md"}]})
    path = world.l2 / "scene-blocks" / "race.md"
    path.write_text("a person's")

    assert codes(back(world, "4")) == {"drift"}
    assert path.read_text() == "a person's"


def test_a_store_of_a_newer_format_is_not_rolled_back(world: Any) -> None:
    own, state = world.store.head(), world.store.state()
    record = replace(
        world.store.ledger.record(own),
        format=99,
        seq=own.seq + 1,
        parent=own.id,
        events=(),
    )
    newer = world.store.ledger.write(state, record, "newer\n", at_ms=world.now_ms)
    world.store.ledger.publish(newer, parent=own.id)
    world.reopen()

    with pytest.raises(TooNewError):
        back(world, "1")

    assert world.store.ledger.head() == newer


def test_a_rollback_while_another_writer_is_at_work_is_busy(
    world: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("scenestore.store.WAIT_S", 0.01)
    with durable.locked(layout.lock_file(world.profile), wait_s=1):
        outcome = back(world, "1")

    assert codes(outcome) == {"store_busy"}
    assert outcome.retry is True


def test_an_archived_scene_of_then_is_archived_again(world: Any) -> None:
    world.must(
        {"sceneWrites": [{"action": "archive", "filename": "race.md", "reason": "x"}]}
    )
    world.must({"sceneWrites": [{"action": "restore", "filename": "race.md"}]})

    back(world, "5")

    assert set(world.store.state().archived) == {"race.md"}
    assert_sound(world)


def test_a_scene_file_that_a_hand_removed_is_drift_for_a_rollback(world: Any) -> None:
    world.must(RACE)
    (world.l2 / "scene-blocks" / "race.md").unlink()

    assert codes(back(world, "4")) == {"drift"}
    assert not (world.l2 / "scene-blocks" / "race.md").exists()


def test_a_revision_that_the_branch_lost_can_still_be_gone_back_to(world: Any) -> None:
    world.must(RACE)
    lost = world.store.head().id
    world.git("update-ref", "refs/heads/main", "HEAD~1")

    outcome = back(world, lost[:10])

    assert isinstance(outcome, Receipt)
    assert world.live()["race.md"]["heat"] == 2
