"""The host's limits: where each comes from, and what cannot be one."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from scenestore import CallerError, layout, policies
from scenestore_engine.policy import Policy

CURSOR_AND_ALL = {
    "max_scenes": 20,
    "max_body_chars": 2_000,
    "max_creates_per_batch": 2,
    "max_archives_per_batch": 3,
    "max_deletes_per_batch": 4,
    "min_archive_age_days": 0,
    "strict_members": True,
    "retention": "strict",
    "retention_update": "reject",
    "on_drift": "refuse",
    "secrets": "notice",
    "mode": "code",
    "keep_refusals": False,
}
DEFAULTS = {
    "max_scenes": 15,
    "max_body_chars": 1_500,
    "max_creates_per_batch": 1,
    "max_archives_per_batch": 1,
    "max_deletes_per_batch": 2,
    "min_archive_age_days": 7,
    "strict_members": False,
    "retention": "standard",
    "retention_update": "floor",
    "on_drift": "refuse",
    "secrets": "reject",
    "mode": "chat",
    "keep_refusals": True,
}


WRITTEN = DEFAULTS | {"retention": "off", "retention_update": "off"}
"""What the fixtures begin with: they write what is off."""


def say(world: Any, text: str | bytes) -> None:
    data = text if isinstance(text, bytes) else text.encode()
    layout.policy_file(world.profile).write_bytes(data)


def message(world: Any) -> str:
    with pytest.raises(CallerError) as caught:
        world.store.policy()
    return str(caught.value)


def test_without_a_file_the_defaults_of_the_contract_hold(world: Any) -> None:
    layout.policy_file(world.profile).unlink(missing_ok=True)

    assert policies.values(world.store.policy()) == DEFAULTS


def test_every_setting_can_be_written(world: Any) -> None:
    world.policy(**CURSOR_AND_ALL)

    assert policies.values(world.store.policy()) == CURSOR_AND_ALL


@pytest.mark.parametrize("text", ["", "# nothing\n", "\ufeffmax_scenes = 15\r\n"])
def test_an_empty_file_changes_nothing(text: str, world: Any) -> None:
    say(world, text)

    assert world.store.policy() == Policy()


def test_each_value_is_told_with_its_source(world: Any) -> None:
    world.policy(max_scenes=20, mode="chat")

    told = {s.name: (s.value, s.source) for s in policies.settings(world.profile)}

    assert list(told) == list(DEFAULTS)
    assert told["max_scenes"] == (20, "scenestore.toml")
    assert told["mode"] == ("chat", "scenestore.toml")
    assert told["max_body_chars"] == (1_500, "default")


def test_an_unknown_key_is_an_error_that_names_the_nearest(world: Any) -> None:
    say(world, "max_scene = 5\n")

    told = message(world)

    assert "max_scene is no setting" in told
    assert "did you mean max_scenes?" in told


def test_an_unknown_table_is_an_error(world: Any) -> None:
    say(world, "[limits]\nmax_scenes = 5\n")

    assert "limits is no setting" in message(world)


def test_all_that_is_wrong_is_named_at_once(world: Any) -> None:
    say(
        world,
        'max_scenes = "many"\nmax_body_chars = 0\nsecrets = "maybe"\n'
        "strict_members = 1\nghost = true\n",
    )

    told = message(world)

    for name in ("max_scenes", "max_body_chars", "secrets", "strict_members", "ghost"):
        assert name in told


@pytest.mark.parametrize(
    "line",
    [
        "max_scenes = 0",
        "max_scenes = -1",
        "max_scenes = 1.5",
        "max_scenes = true",
        "max_scenes = 10000000",
        "max_body_chars = []",
        "max_creates_per_batch = -1",
        "min_archive_age_days = 0.5",
        'retention = "none"',
        "retention = false",
        'on_drift = "overwrite"',
        'mode = ""',
        "keep_refusals = 0",
        "max_scenes = 2026-03-03",
        "max_scenes = nan",
    ],
)
def test_a_value_that_cannot_hold_is_an_error_that_names_its_key(
    line: str, world: Any
) -> None:
    say(world, line + "\n")

    assert line.split(" = ", maxsplit=1)[0] in message(world)


@pytest.mark.parametrize(
    "data",
    [b"max_scenes", b"\xff\xfe", b"max_scenes = 5\nmax_scenes = 6\n", b"\0", b"= 5\n"],
)
def test_a_file_that_is_no_toml_is_an_error_that_names_it(
    data: bytes, world: Any
) -> None:
    say(world, data)

    assert "scenestore.toml" in message(world)


def test_a_commit_under_a_broken_policy_changes_nothing(world: Any) -> None:
    say(world, "ghost = 1\n")
    before = world.bytes_under()

    with pytest.raises(CallerError):
        world.commit({"cursor": world.rid(12)})

    assert world.bytes_under() == before


def test_reading_does_not_need_the_policy(world: Any) -> None:
    say(world, "ghost = 1\n")

    assert len(world.store.read_scene_blocks(["race.md"]).blocks) == 1


@pytest.mark.parametrize("kind", ["link", "folder", "fifo", "dangling link"])
def test_a_policy_that_is_no_plain_file_is_obeyed_or_an_error_and_never_passed_by(
    kind: str, world: Any, tmp_path: Any
) -> None:
    path = layout.policy_file(world.profile)
    path.unlink(missing_ok=True)
    if kind == "link":
        (tmp_path / "host.toml").write_text("max_scenes = 3\n")
        path.symlink_to(tmp_path / "host.toml")
    elif kind == "dangling link":
        path.symlink_to(tmp_path / "nowhere.toml")
    elif kind == "folder":
        path.mkdir()
    else:
        os.mkfifo(path)

    try:
        policy = world.store.policy()
    except CallerError:
        return

    assert policy.max_scenes == 3


# The values used stand in each revision


def test_the_values_used_stand_in_the_revision(world: Any) -> None:
    world.policy(**CURSOR_AND_ALL)

    world.must({"cursor": world.rid(12)})

    kept = json.loads(world.git("show", "main:events.json"))["policy"]
    assert kept == CURSOR_AND_ALL


def test_a_policy_that_changed_leaves_earlier_revisions_as_they_were(
    world: Any,
) -> None:
    world.policy(max_scenes=99)
    world.must({"cursor": world.rid(12)})

    kept = json.loads(world.git("show", "main~1:events.json"))["policy"]
    assert kept == WRITTEN


def test_the_root_has_the_values_it_was_begun_with(empty: Any) -> None:
    assert json.loads(empty.git("show", "main:events.json"))["policy"] == WRITTEN


def test_a_change_of_policy_holds_for_the_next_batch_of_an_open_store(
    world: Any,
) -> None:
    create = {
        "action": "create",
        "filename": "tea.md",
        "content": "- tea",
        "meta": {"summary": "s"},
    }
    world.policy(max_scenes=3)
    refused = world.commit({"sceneWrites": [create]})
    world.policy(max_scenes=4)

    accepted = world.commit({"sceneWrites": [create]})

    assert (refused["success"], accepted["success"]) == (False, True)


# What each limit does


def test_a_body_of_as_many_characters_as_allowed_is_accepted(world: Any) -> None:
    world.policy(max_body_chars=50)
    create = {"action": "create", "filename": "tea.md", "meta": {"summary": "s"}}

    refused = world.commit({"sceneWrites": [create | {"content": "x" * 51}]})

    assert {e["code"] for e in refused["errors"]} == {"body_too_long"}
    world.must({"sceneWrites": [create | {"content": "x" * 50}]})


def test_no_creates_at_all_may_be_allowed(world: Any) -> None:
    world.policy(max_creates_per_batch=0)
    create = {
        "action": "create",
        "filename": "tea.md",
        "content": "- tea",
        "meta": {"summary": "s"},
    }

    refused = world.commit({"sceneWrites": [create]})

    assert {e["code"] for e in refused["errors"]} == {"too_many_creates"}


def test_an_age_of_zero_days_lets_a_new_scene_be_archived(world: Any) -> None:
    world.policy(min_archive_age_days=0)
    world.create("tea.md", 9)

    world.must(
        {"sceneWrites": [{"action": "archive", "filename": "tea.md", "reason": "x"}]}
    )


def test_secrets_may_be_let_in_without_a_word(world: Any) -> None:
    world.policy(secrets="off")
    key = "AKIA" + "ABCDEFGHIJ234567"
    create = {"action": "create", "filename": "tea.md", "meta": {"summary": "s"}}

    answer = world.must({"sceneWrites": [create | {"content": key, "members": []}]})

    assert answer["warnings"] == []


# keep_refusals


def refusals(world: Any) -> Path:
    path: Path = layout.refusals_file(world.profile)
    return path


def test_a_refusal_is_kept_unless_the_policy_says_no(world: Any) -> None:
    world.policy(keep_refusals=False)
    world.commit({"cursor": "ghost"})
    before = refusals(world).exists()
    world.policy(keep_refusals=True)

    world.commit({"cursor": "ghost"})

    assert before is False
    assert refusals(world).read_text().count("\n") == 1


def test_no_part_of_a_private_key_is_kept(world: Any) -> None:
    key = "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADAN\n-----END PRIVATE KEY-----"
    create = {"action": "create", "filename": "tea.md", "meta": {"summary": "s"}}

    answer = world.commit({"sceneWrites": [create | {"content": f"- key\n{key}"}]})

    assert {error["code"] for error in answer["errors"]} == {"secret"}
    assert "MIIEvQIBADAN" not in refusals(world).read_text()


def test_a_source_that_is_a_secret_is_not_kept(world: Any) -> None:
    key = "AKIA" + "ABCDEFGHIJ234567"
    write = {
        "action": "consolidate",
        "filename": "all.md",
        "sources": [f"{key}.md", "race.md"],
        "content": "# Race\n- shoes",
        "meta": {"summary": "s"},
    }

    world.commit({"sceneWrites": [write]})

    assert key not in refusals(world).read_text()


def test_a_refusal_of_an_actor_that_is_no_text_is_told_and_not_raised(
    world: Any,
) -> None:
    answer = world.store.l2_commit(
        {"cursor": world.rid(12)}, actor="\udcff", now=world.now
    )

    assert {error["code"] for error in answer["errors"]} == {"bad_actor"}


@pytest.mark.parametrize("kind", ["folder", "link", "fifo", "garbage", "no cache"])
def test_a_log_of_refusals_that_cannot_be_written_stops_nothing(
    kind: str, world: Any, tmp_path: Path
) -> None:
    victim = tmp_path / "victim"
    victim.write_text("a person's")
    path = refusals(world)
    path.parent.mkdir(exist_ok=True)
    if kind == "folder":
        path.mkdir()
    elif kind == "link":
        path.symlink_to(victim)
    elif kind == "fifo":
        os.mkfifo(path)
    elif kind == "garbage":
        path.write_bytes(b"\xff\0\n\n{")
    else:
        shutil.rmtree(path.parent)
        path.parent.write_text("a file")
    script = (
        "import sys; from pathlib import Path; from scenestore import Store\n"
        "with Store(Path(sys.argv[1])) as s:\n"
        "    assert s.l2_commit({'cursor': 'ghost'})['success'] is False\n"
    )

    done = subprocess.run(
        [sys.executable, "-c", script, str(world.profile)],
        check=False,
        capture_output=True,
        text=True,
        timeout=60,  # a FIFO must not make it wait for ever
    )

    assert (done.returncode, done.stderr) == (0, "")
    assert victim.read_text() == "a person's"
