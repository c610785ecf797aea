"""``init``, ``rollback``, ``repair``, ``check`` and ``import``."""

import json
from pathlib import Path
from typing import Any

from scenestore_cli.errors import ExitCode

HAND = "the work of a hand"


def test_init_tells_where_the_store_is(call: Any, tmp_path: Path) -> None:
    document = call("init", "-P", tmp_path / "new" / "one", "--json").document

    assert document["created"] is True
    assert document["seq"] == 0
    assert document["profile"] == str(tmp_path / "new" / "one")


def test_a_rollback_is_a_new_revision(call: Any, world: Any) -> None:
    ran = call("rollback", "1", "-P", world.profile, "--reason", "too much", "--json")

    assert ran.document["seq"] == 5
    assert ran.document["deleted"] == ["deploy.md", "race.md"]
    assert ran.document["cursor"] == {"from": world.rid(11), "to": None}
    assert "too much" in world.git("log", "-1", "--format=%B")
    assert set(world.live()) == {"running.md"}


def test_a_rollback_can_leave_the_cursor(call: Any, world: Any) -> None:
    ran = call("rollback", "1", "-P", world.profile, "--keep-cursor", "--json")

    assert ran.document["cursor"] == {"from": world.rid(11), "to": world.rid(11)}


def test_a_rollback_can_be_tried_dry(call: Any, world: Any) -> None:
    before = world.bytes_under()

    ran = call("rollback", "1", "-P", world.profile, "--dry-run")

    assert ran.code == ExitCode.DONE
    assert "This would become revision 5. Nothing was written." in ran.out
    assert "+++ /dev/null" in ran.out
    assert world.bytes_under() == before


def test_a_rollback_to_where_it_stands_says_that_nothing_changed(
    call: Any, world: Any
) -> None:
    ran = call("rollback", "4", "-P", world.profile)

    assert "nothing to change" in ran.out
    assert world.store.head().seq == 4


def test_a_reason_of_two_lines_is_refused(call: Any, world: Any) -> None:
    ran = call("rollback", "1", "-P", world.profile, "--reason", "a\nb")

    assert ran.code == ExitCode.REJECTED
    assert "bad_reason" in ran.err


def test_a_repair_moves_the_work_of_another_hand_aside(call: Any, world: Any) -> None:
    path = world.l2 / "scene-blocks" / "race.md"
    path.write_text(HAND)

    ran = call("repair", "-P", world.profile, "--json")

    (rescued,) = ran.document["rescued"]
    assert ran.code == ExitCode.DONE
    assert ran.document["success"] is True
    assert "- shoes" in path.read_text()
    assert Path(rescued).is_relative_to(world.profile)
    assert Path(rescued).read_text() == HAND


def test_a_repair_says_where_the_work_is(call: Any, world: Any) -> None:
    (world.l2 / "scene-blocks" / "race.md").write_text(HAND)

    out = call("repair", "-P", world.profile).out

    assert "Moved what another hand had written to" in out
    assert "rescued" in out


def test_a_head_that_moved_is_repaired_only_by_somebody_who_accepts_it(
    call: Any, world: Any
) -> None:
    world.git("reset", "-q", "--hard", "HEAD~1")

    refused = call("repair", "-P", world.profile)
    accepted = call("repair", "-P", world.profile, "--accept-head", "--json")

    assert refused.code == ExitCode.REJECTED
    assert "history_moved" in refused.err
    assert "--accept-head" in refused.err
    assert accepted.code == ExitCode.DONE
    assert accepted.document["blocked"] == []


def test_a_sound_store_is_called_so(call: Any, world: Any) -> None:
    ran = call("check", "-P", world.profile, "--replay")

    assert ran.code == ExitCode.DONE
    assert "5 revisions" in ran.out
    assert "replayed the events: no damage" in ran.out


def test_the_work_of_another_hand_is_no_damage(call: Any, world: Any) -> None:
    (world.l2 / "scene-blocks" / "race.md").write_text(HAND)

    ran = call("check", "-P", world.profile)

    assert ran.code == ExitCode.DONE
    assert "note: scene-blocks/race.md" in ran.out


def test_check_changes_nothing(call: Any, world: Any) -> None:
    before = world.bytes_under()

    call("check", "-P", world.profile, "--replay")

    assert world.bytes_under() == before


def test_an_import_brings_scenes_archive_and_cursor(
    call: Any, world: Any, tmp_path: Path
) -> None:
    scene = {"content": "- x", "meta": {"summary": "X", "heat": 3}, "members": []}
    path = tmp_path / "state.json"
    path.write_text(
        json.dumps(
            {
                "scenes": {"茶.md": scene},
                "archived": {"old.md": scene},
                "cursor": world.rid(20),
            }
        )
    )

    ran = call("import", "-P", world.profile, "--state", path, "--json")

    assert ran.document["created"] == ["茶.md"]
    assert ran.document["cursor"]["to"] == world.rid(20)
    assert world.live()["茶.md"]["heat"] == 3
    assert set(world.store.state().archived) == {"old.md"}


def test_an_import_without_a_state_is_wrong_usage(call: Any, world: Any) -> None:
    ran = call("import", "-P", world.profile, "--json")

    assert ran.code == ExitCode.REJECTED
    assert "--state" in ran.document["errors"][0]["message"]
