"""``scenestore commit``, and what a batch came to."""

import json
from pathlib import Path
from typing import Any

from scenestore.receipts import answer
from scenestore_cli.errors import ExitCode
from scenestore_engine.wire import parse_batch


def _create(name: str, summary: str = "About it", **more: object) -> dict[str, object]:
    write = {"action": "create", "filename": name, "content": "- a fact"}
    return {"sceneWrites": [{**write, "meta": {"summary": summary}, **more}]}


def test_the_answer_has_the_form_of_the_receipt(call: Any, world: Any) -> None:
    ran = call(
        "commit", "-P", world.profile, "--json", data=json.dumps(_create("x.md"))
    )

    head = world.store.head()
    record = world.store.ledger.record(head)
    assert ran.document == {
        "success": True,
        "revision": head.id,
        "commitHint": None,
        **record.receipt,
    }


def test_the_answer_to_a_refused_batch_is_exactly_that_of_the_library(
    call: Any, world: Any
) -> None:
    request = json.dumps(_create("race.md", summary="", members=["m_1\u0007"]))

    ran = call("commit", "-P", world.profile, "--json", data=request)

    outcome = world.store.commit(parse_batch(request), actor="cli")
    assert ran.document == answer(outcome, world.store.ledger.head())
    assert len(ran.document["errors"]) > 1


def test_a_batch_is_read_from_a_file_as_from_stdin(
    call: Any, world: Any, tmp_path: Path
) -> None:
    path = tmp_path / "batch.json"
    path.write_text(json.dumps(_create("跑步.md")), encoding="utf-8")

    ran = call("commit", path, "-P", world.profile, "--json")

    assert ran.document["created"] == ["跑步.md"]


def test_all_faults_are_told_with_code_place_message_and_hint(
    call: Any, world: Any
) -> None:
    request = {
        "sceneWrites": [
            {"action": "merge", "filename": "a b.md"},
            {"action": "update", "filename": "race.md", "content": " "},
            {
                "action": "update",
                "filename": "running.md",
                "content": "x",
                "members": [],
            },
        ]
    }

    ran = call("commit", "-P", world.profile, data=json.dumps(request))

    assert ran.code == ExitCode.REJECTED
    assert ran.out == ""
    assert "unknown_action  /sceneWrites/0/action" in ran.err
    assert "Hint: Did you mean `consolidate`?" in ran.err
    assert "body_blank  /sceneWrites/1/content (race.md)" in ran.err
    assert "running.md would lose 4 members: m_" in ran.err


def test_a_receipt_names_what_changed(call: Any, world: Any) -> None:
    request = {
        "sceneWrites": [
            {
                "action": "consolidate",
                "filename": "sport.md",
                "sources": ["running.md", "race.md"],
                "content": "- runs\n- knee\n- shoes",
                "meta": {"summary": "Sport"},
            },
            {"action": "delete", "filename": "deploy.md"},
        ],
        "cursor": world.rid(13),
    }

    ran = call("commit", "-P", world.profile, data=json.dumps(request))

    assert ran.code == ExitCode.DONE
    assert "Revision 5 (" in ran.out
    assert "running.md, race.md into sport.md (7 members, heat 1)" in ran.out
    assert "deleted       deploy.md" in ran.out
    assert f"{world.rid(11)} -> {world.rid(13)}" in ran.out
    assert "Notice: members_orphaned (deploy.md): 2 records" in ran.err


def test_a_dry_run_tells_the_diff_and_writes_nothing(call: Any, world: Any) -> None:
    before = world.bytes_under()
    request = json.dumps(_create("x.md"))

    ran = call("commit", "-P", world.profile, "--dry-run", data=request)
    document = call(
        "commit", "-P", world.profile, "--dry-run", "--json", data=request
    ).document

    assert "Nothing was written" in ran.out
    assert "+- a fact" in ran.out
    assert document["revision"] is None
    assert "+- a fact" in document["diff"]
    assert world.bytes_under() == before


def test_a_batch_that_changes_nothing_says_so(call: Any, world: Any) -> None:
    body = world.live()["race.md"]["body"]
    write = {"action": "update", "filename": "race.md", "content": body}

    ran = call("commit", "-P", world.profile, data=json.dumps({"sceneWrites": [write]}))

    assert ran.code == ExitCode.DONE
    assert "nothing to change" in ran.out
    assert "unchanged" in ran.err
    assert world.store.head().seq == 4


def test_the_actor_is_cli_unless_somebody_is_named(call: Any, world: Any) -> None:
    env = {"SCENESTORE_ACTOR": "env"}
    for name, args, variables in (
        ("a.md", [], {}),
        ("b.md", ["--actor", "mei"], env),
        ("c.md", [], env),
    ):
        request = json.dumps(_create(name))
        call("commit", "-P", world.profile, *args, data=request, env=variables)

    revisions = world.store.ledger.back_from(world.store.ledger.head())

    assert [next(revisions).author for _ in range(3)] == ["env", "mei", "cli"]


def test_what_is_mended_after_a_crash_is_told_on_stderr_only(
    call: Any, world: Any
) -> None:
    (world.l2 / ".git" / "scenestore" / "drawn").unlink()

    ran = call(
        "commit", "-P", world.profile, "--json", data=json.dumps(_create("x.md"))
    )

    assert ran.document["success"] is True
    assert "drew the files anew" in ran.err
