"""Whatever is fed in: a refusal with a reason, and never a traceback."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from scenestore_cli.errors import ExitCode

BAD = {
    "nothing": (b"", "not_json"),
    "no json": (b"hello", "not_json"),
    "half": (b'{"sceneWrites": [', "not_json"),
    "binary": (bytes(range(256)), "not_json"),
    "utf16": ('{"cursor": "x"}'.encode("utf-16"), "not_json"),
    "an array": (b"[]", "not_an_object"),
    "a number": (b"1", "not_an_object"),
    "twice": (b'{"cursor": "a", "cursor": "b"}', "duplicate_key"),
    "deep": (b'{"x":' * 40 + b"1" + b"}" * 40, "too_deep"),
    "big": (b'{"x": "' + b"a" * (5 * 1024 * 1024) + b'"}', "too_large"),
    "nul": (b'{"cursor": "a\\u0000"}', "bad_text"),
    "surrogate": (b'{"cursor": "\\ud800"}', "bad_text"),
    "unknown": (b'{"sceneWrite": []}', "unknown_field"),
    "empty": (b"{}", "empty_batch"),
}


@pytest.mark.parametrize("kind", BAD)
def test_a_bad_batch_is_refused_with_its_code(call: Any, world: Any, kind: str) -> None:
    payload, code = BAD[kind]
    before = world.bytes_under()

    ran = call("commit", "-P", world.profile, "--json", data=payload)

    assert ran.code == ExitCode.REJECTED
    assert code in [error["code"] for error in ran.document["errors"]]
    assert world.bytes_under() == before


@pytest.mark.parametrize("kind", BAD)
def test_a_bad_batch_is_told_in_words_too(call: Any, world: Any, kind: str) -> None:
    payload, code = BAD[kind]

    ran = call("commit", "-P", world.profile, data=payload)

    assert ran.code == ExitCode.REJECTED
    assert "Nothing was changed" in ran.err
    assert code in ran.err
    assert ran.out == ""
    assert len(ran.err) < 2_000


OTHERWISE = {"an array": "wrong_type", "a number": "wrong_type"}


@pytest.mark.parametrize("kind", sorted(set(BAD) - {"empty"}))
def test_a_bad_import_is_refused_with_its_code(
    call: Any, world: Any, kind: str
) -> None:
    payload, code = BAD[kind]
    code = OTHERWISE.get(kind, code)

    ran = call("import", "-P", world.profile, "--state", "-", "--json", data=payload)

    assert ran.code == ExitCode.REJECTED
    assert code in [error["code"] for error in ran.document["errors"]]


def test_an_unknown_field_is_met_with_the_nearest_one(call: Any, world: Any) -> None:
    ran = call("commit", "-P", world.profile, data=b'{"sceneWrite": []}')

    assert "sceneWrites" in ran.err


def test_a_file_of_a_batch_that_is_not_there_is_named(
    call: Any, world: Any, tmp_path: Path
) -> None:
    ran = call("commit", "-P", world.profile, "--json", tmp_path / "none.json")

    assert ran.code == ExitCode.REJECTED
    assert "none.json" in ran.document["errors"][0]["message"]


def test_a_folder_is_no_batch(call: Any, world: Any, tmp_path: Path) -> None:
    ran = call("commit", "-P", world.profile, tmp_path)

    assert ran.code == ExitCode.REJECTED
    assert str(tmp_path) in ran.err


POLICIES = {
    "no toml": ("max_scenes = ", "no TOML"),
    "unknown": ("max_scene = 3\n", "did you mean max_scenes?"),
    "wrong type": ('max_scenes = "many"\n', "max_scenes"),
    "too small": ("max_scenes = 0\n", "max_scenes"),
}


@pytest.mark.parametrize("kind", POLICIES)
@pytest.mark.parametrize("name", ["policy", "status", "commit"])
def test_a_policy_that_cannot_be_used_is_told_with_its_reason(
    call: Any, world: Any, kind: str, name: str
) -> None:
    text, reason = POLICIES[kind]
    (world.profile / "memoryDB" / "scenestore.toml").write_text(text)

    ran = call(name, "-P", world.profile, "--json", data='{"dismiss": []}')

    assert ran.code == ExitCode.REJECTED
    (error,) = ran.document["errors"]
    assert reason in error["message"]
    assert "Nothing was changed" in error["message"]


def test_all_that_is_wrong_with_a_policy_is_told_at_once(call: Any, world: Any) -> None:
    world.policy(max_scene=3, max_bodychars=1, secrets="maybe")

    ran = call("policy", "-P", world.profile)

    assert all(word in ran.err for word in ("max_scene", "max_bodychars", "secrets"))


@pytest.mark.parametrize("actor", [" x", "a\nb", "<x>", "x" * 65, "\x1b[31m"])
def test_an_actor_that_cannot_be_an_author_is_refused(
    call: Any, world: Any, actor: str
) -> None:
    for name, *args in (["init"], ["rollback", "0"], ["commit"]):
        ran = call(name, *args, "-P", world.profile, "--actor", actor, "--json")

        assert ran.code == ExitCode.REJECTED
        assert ran.document["errors"][0]["code"] == "bad_actor"


@pytest.mark.parametrize("said", ["yesterday", "1969-01-01T00:00:00Z"])
def test_a_time_that_is_none_is_refused(call: Any, world: Any, said: str) -> None:
    ran = call(
        "rollback", "0", "-P", world.profile, "--json", env={"SCENESTORE_NOW": said}
    )

    assert ran.code == ExitCode.REJECTED
    assert "SCENESTORE_NOW" in ran.document["errors"][0]["message"]


@pytest.mark.parametrize(
    "args",
    [
        ["show", "77"],
        ["show", "deadbeef"],
        ["show", "HEAD~99"],
        ["show", "nothing like it"],
        ["rollback", "77"],
        ["scenes", "--at", "77"],
        ["scenes", "race.md", "--at", "77"],
    ],
)
def test_a_revision_that_there_is_not_is_refused(
    call: Any, world: Any, args: list[str]
) -> None:
    ran = call(*args, "-P", world.profile, "--json")

    assert ran.code == ExitCode.REJECTED
    assert ran.document["errors"][0]["code"] == "unknown_revision"
    assert "scenestore log" in json.dumps(ran.document["errors"])


@pytest.mark.parametrize("name", ["../x.md", "/etc/passwd", "a\nb.md", "", "x"])
def test_a_name_that_no_scene_can_have_is_refused(
    call: Any, world: Any, name: str
) -> None:
    ran = call("scenes", "-P", world.profile, "--json", name)

    assert ran.code == ExitCode.REJECTED
    assert ran.document["errors"][0]["code"] == "bad_filename"


@pytest.mark.parametrize("args", [["--max", "0"], ["--cursor", "m_1_x"]])
def test_a_question_for_records_that_has_no_answer_is_refused(
    call: Any, world: Any, args: list[str]
) -> None:
    ran = call("records", "-P", world.profile, "--json", *args)

    assert ran.code == ExitCode.REJECTED
    assert ran.document["success"] is False


@pytest.mark.parametrize(
    "args",
    [
        ["scenes", b"\xff.md"],
        ["scenes", "--at", b"\xff"],
        ["show", b"\xff"],
        ["rollback", b"\xff"],
        ["rollback", "0", "--reason", b"\xff"],
        ["init", "--actor", b"\xff"],
        ["records", "--cursor", b"\xff"],
        ["records", "--late", "--late-cursor", b"\xff"],
        ["commit", b"\xff"],
        ["import", "--state", b"\xff"],
        [b"\xff"],
    ],
    ids=str,
)
def test_an_argument_that_is_no_text_is_refused(
    call: Any, world: Any, args: list[str]
) -> None:
    named = [os.fsdecode(arg) for arg in args]

    ran = call(*named, "-P", world.profile, "--json")
    told = call(*named, "-P", world.profile)

    assert ran.code == told.code == ExitCode.REJECTED
    assert ran.document["success"] is False
    assert told.err
