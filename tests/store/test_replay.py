"""The same batch again is answered as the first time; another one is not."""

from typing import Any

import pytest
from msgspec.structs import replace

from scenestore import import_state, roll_back

Batch = dict[str, Any]


def update(content: str = "# Race\n- new shoes", **fields: object) -> Batch:
    write = {"action": "update", "filename": "race.md", "content": content}
    return {"sceneWrites": [write], **fields}


def sent(world: Any, batch: Batch) -> dict[str, Any]:
    """Send *batch*, and say whether a revision was made."""
    before = world.store.ledger.head()
    answer = world.commit(batch)
    return answer | {"is_new": world.store.ledger.head() != before}


def codes(answer: dict[str, Any]) -> list[str]:
    return [error["code"] for error in answer["errors"]]


def is_replay_of(again: dict[str, Any], first: dict[str, Any]) -> bool:
    """Say whether *again* is the receipt *first*, marked, and nothing else is new."""
    kept = {**first, "commitHint": None, "replayed": True, "is_new": False}
    return again == kept


# With a key


def test_the_same_batch_under_its_key_gets_its_first_receipt(world: Any) -> None:
    first = world.must(update(idempotencyKey="k1"))
    before = world.bytes_under()

    again = sent(world, update(idempotencyKey="k1"))

    assert is_replay_of(again, first)
    assert again["revision"] == world.store.head().id
    assert world.bytes_under() == before


def test_a_receipt_is_replayed_whole(world: Any) -> None:
    writes = [
        {
            "action": "consolidate",
            "filename": "sport.md",
            "sources": ["running.md", "race.md"],
            "content": "# Sport\n- both",
            "meta": {"summary": "Sport", "heat": 99},
        }
    ]
    batch = {
        "sceneWrites": writes,
        "cursor": world.rid(14),
        "dismiss": [world.rid(9)],
        "dismissReason": "noise",
        "personaSignal": True,
        "personaReason": "moved",
        "idempotencyKey": "k1",
    }
    first = world.must(batch)
    assert first["consolidations"]
    assert first["warnings"]

    assert is_replay_of(sent(world, batch), first)


def test_another_batch_under_the_key_is_refused_and_names_the_first(
    world: Any,
) -> None:
    first = world.must(update(idempotencyKey="k1"))

    answer = sent(world, update("# Race\n- other", idempotencyKey="k1"))

    assert codes(answer) == ["key_reused"]
    (error,) = answer["errors"]
    assert error["path"] == "/idempotencyKey"
    assert first["revision"][:10] in error["message"]
    assert f"revision {first['seq']} " in error["message"]
    assert answer["is_new"] is False


def test_another_batch_under_the_key_is_told_beside_its_other_faults(
    world: Any,
) -> None:
    world.must(update(idempotencyKey="k1"))

    answer = sent(world, update(" ", idempotencyKey="k1"))

    assert sorted(codes(answer)) == ["body_blank", "key_reused"]


def test_the_key_of_a_refused_batch_is_still_free(world: Any) -> None:
    world.commit(update(" ", idempotencyKey="k1"))

    assert world.commit(update(idempotencyKey="k1"))["success"] is True


def test_the_key_of_a_dry_run_is_still_free(world: Any) -> None:
    world.must(update("- dry", idempotencyKey="k1", dryRun=True))

    assert sent(world, update(idempotencyKey="k1"))["is_new"] is True


def test_a_key_is_remembered_over_other_commits(world: Any) -> None:
    first = world.must(update(idempotencyKey="k1"))
    world.must(update("# Race\n- other", idempotencyKey="k2"))
    world.must({"cursor": world.rid(13)})

    assert is_replay_of(sent(world, update(idempotencyKey="k1")), first)
    assert world.live()["race.md"]["body"] == "# Race\n- other"


def test_a_key_is_remembered_over_a_rollback(world: Any) -> None:
    first = world.must(update(idempotencyKey="k1"))
    roll_back(world.store, "4", now=world.now)

    assert is_replay_of(sent(world, update(idempotencyKey="k1")), first)


def test_a_key_is_remembered_over_an_import(world: Any) -> None:
    first = world.must(update(idempotencyKey="k1"))
    payload = b'{"scenes": {"in.md": {"meta": {"summary": "s"}, "content": "- x"}}}'
    import_state(world.store, payload, now=world.now)
    assert "in.md" in world.live()

    assert is_replay_of(sent(world, update(idempotencyKey="k1")), first)


def test_a_key_is_remembered_by_another_process(world: Any) -> None:
    first = world.must(update(idempotencyKey="k1"))
    world.reopen()

    assert is_replay_of(sent(world, update(idempotencyKey="k1")), first)


def test_replay_comes_before_every_rule(world: Any) -> None:
    """What was accepted once may be against the rules by now."""
    batch = {
        "sceneWrites": [
            {"action": "archive", "filename": "race.md", "reason": "over"},
            {
                "action": "create",
                "filename": "new.md",
                "content": "- x",
                "meta": {"summary": "s"},
            },
        ],
        "idempotencyKey": "k1",
    }
    first = world.must(batch)
    world.policy(max_scenes=1, max_body_chars=1, max_creates_per_batch=0)

    assert is_replay_of(sent(world, batch), first)


def test_a_replay_meets_no_drift(world: Any) -> None:
    first = world.must(update(idempotencyKey="k1"))
    (world.l2 / "scene-blocks" / "race.md").write_text("by hand")

    assert is_replay_of(sent(world, update(idempotencyKey="k1")), first)
    assert (world.l2 / "scene-blocks" / "race.md").read_text() == "by hand"


# What makes two batches the same


def test_a_body_that_differs_in_line_ends_and_outer_blank_lines_is_the_same(
    world: Any,
) -> None:
    first = world.must(update("# Race\n- new shoes", idempotencyKey="k1"))

    again = sent(
        world, update("\r\n\r\n# Race\r\n- new shoes\r\n", idempotencyKey="k1")
    )

    assert is_replay_of(again, first)


@pytest.mark.parametrize("field", ["members", "addMembers"])
def test_the_order_of_members_does_not_count(world: Any, field: str) -> None:
    ids = [world.rid(n) for n in (4, 5, 6, 9, 10)]

    def batch(given: list[str]) -> Batch:
        made = update(idempotencyKey="k1")
        made["sceneWrites"][0][field] = given
        return made

    first = world.must(batch(ids))

    assert is_replay_of(sent(world, batch([*ids[::-1], ids[0]])), first)


def test_the_order_of_dismissals_does_not_count(world: Any) -> None:
    ids = [world.rid(9), world.rid(10)]
    batch = {"dismiss": ids, "dismissReason": "noise"}
    first = world.must(batch)

    assert is_replay_of(sent(world, {**batch, "dismiss": ids[::-1]}), first)


def test_an_optional_field_that_is_null_does_not_count(world: Any) -> None:
    first = world.must(update(idempotencyKey="k1"))

    again = sent(world, update(idempotencyKey="k1", cursor=None, dismiss=None))

    assert is_replay_of(again, first)


def test_base_revision_and_run_do_not_count(world: Any) -> None:
    base = world.store.head().id
    first = world.must(update(idempotencyKey="k1", baseRevision=base, runId="r1"))

    assert is_replay_of(sent(world, update(idempotencyKey="k1", runId="r2")), first)
    assert is_replay_of(sent(world, update(baseRevision="999")), first)


def test_a_dry_run_of_what_was_accepted_is_a_replay(world: Any) -> None:
    first = world.must(update(idempotencyKey="k1"))

    assert is_replay_of(sent(world, update(idempotencyKey="k1", dryRun=True)), first)


@pytest.mark.parametrize(
    "change",
    [
        {"filename": "running.md"},
        {"content": "# Race\n- new shoes."},
        {"reason": "told"},
        {"meta": {"summary": "another"}},
        {"meta": {"summary": "About race.md", "heat": 3}},
        {"addMembers": ["m_1"]},
        {"action": "delete"},
    ],
    ids=str,
)
def test_every_part_of_a_write_counts(world: Any, change: dict[str, object]) -> None:
    world.must(update(idempotencyKey="k1"))
    other = update(idempotencyKey="k1")
    other["sceneWrites"][0] |= change

    assert "key_reused" in codes(sent(world, other))


@pytest.mark.parametrize(
    "more",
    [
        {"cursor": 13},
        {"personaSignal": True, "personaReason": "moved"},
        {"dismiss": 9, "dismissReason": "noise"},
    ],
    ids=str,
)
def test_every_part_of_a_batch_counts(world: Any, more: dict[str, Any]) -> None:
    world.must(update(idempotencyKey="k1"))
    given = dict(more)
    if "cursor" in given:
        given["cursor"] = world.rid(given["cursor"])
    if "dismiss" in given:
        given["dismiss"] = [world.rid(given["dismiss"])]

    answer = sent(world, update(idempotencyKey="k1", **given))

    assert codes(answer) == ["key_reused"]


def test_the_reason_of_a_dismissal_counts(world: Any) -> None:
    batch = {"dismiss": [world.rid(9)], "idempotencyKey": "k1"}
    world.must({**batch, "dismissReason": "noise"})

    assert codes(sent(world, {**batch, "dismissReason": "other"})) == ["key_reused"]


# Without a key


def test_the_batch_that_the_head_came_from_is_a_replay_without_a_key(
    world: Any,
) -> None:
    first = world.must(update())

    assert is_replay_of(sent(world, update()), first)
    assert is_replay_of(sent(world, update()), first)


def test_a_batch_that_came_under_a_key_is_known_without_it(world: Any) -> None:
    first = world.must(update(idempotencyKey="k1"))

    assert is_replay_of(sent(world, update()), first)


def test_a_batch_under_a_new_key_is_a_new_wish(world: Any) -> None:
    """The caller says that it is another; the scene has that body already."""
    world.must(update())

    answer = sent(world, update(idempotencyKey="k1"))

    assert "replayed" not in answer
    assert [w["code"] for w in answer["warnings"]] == ["unchanged"]


def test_an_older_batch_is_decided_anew_without_a_key(world: Any) -> None:
    world.must(update("# Race\n- one"))
    world.must(update("# Race\n- two"))

    answer = sent(world, update("# Race\n- one"))

    assert answer["is_new"] is True
    assert "replayed" not in answer
    assert world.live()["race.md"]["body"] == "# Race\n- one"


def test_a_rollback_is_not_the_batch_that_it_set_aside(world: Any) -> None:
    world.must(update())
    roll_back(world.store, "4", now=world.now)

    assert sent(world, update())["is_new"] is True
    assert world.live()["race.md"]["body"] == "# Race\n- new shoes"


def test_an_unchanged_batch_leaves_nothing_to_replay(world: Any) -> None:
    same = update("# Race\n- shoes", idempotencyKey="k1")
    head = world.store.head()

    for answer in (sent(world, same), sent(world, same)):
        assert answer["success"] is True
        assert answer["is_new"] is False
        assert (answer["revision"], answer["seq"]) == (head.id, head.seq)
        assert "replayed" not in answer
    assert sent(world, update(idempotencyKey="k1"))["is_new"] is True


# A refused batch that is in the history already


def test_a_refused_batch_that_is_in_the_history_names_the_revision(
    world: Any,
) -> None:
    gone = {"sceneWrites": [{"action": "delete", "filename": "race.md"}]}
    first = world.must(gone)
    world.must({"cursor": world.rid(13)})

    answer = sent(world, gone)

    assert codes(answer) == ["scene_missing"]
    hint = answer["errors"][0]["hint"]
    assert f"revision {first['seq']} ({first['revision'][:10]})" in hint


def test_a_refused_batch_that_never_was_accepted_names_none(world: Any) -> None:
    answer = sent(world, {"sceneWrites": [{"action": "delete", "filename": "x.md"}]})

    assert "very batch" not in str(answer)


def test_a_request_with_faults_of_form_is_never_a_replay(world: Any) -> None:
    world.must({"cursor": world.rid(13)})

    answer = sent(world, {"cursor": world.rid(13), "force": True})

    assert codes(answer) == ["unknown_field"]
    assert "very batch" not in str(answer)


# How long


def grown(world: Any, count: int) -> None:
    """Add *count* revisions that change nothing, as fast as the history takes them."""
    ledger = world.store.ledger
    head = world.store.head()
    state, record = ledger.state(head.tree), ledger.record(head)
    parent = head.id
    for number in range(1, count + 1):
        seq = record.seq + number
        plain = replace(
            record, seq=seq, parent=parent, idempotency_key=None, body_hash=str(seq)
        )
        revision = ledger.write(state, plain, f"step {number}", at_ms=world.now_ms)
        ledger.publish(revision, parent=parent)
        parent = revision


def test_a_key_is_remembered_for_a_thousand_revisions_and_no_more(world: Any) -> None:
    first = world.must(update(idempotencyKey="k1"))
    grown(world, 999)

    assert is_replay_of(sent(world, update(idempotencyKey="k1")), first)

    world.must({"personaSignal": True, "personaReason": "one more"})
    answer = sent(world, update("# Race\n- other", idempotencyKey="k1"))

    assert answer["success"] is True
    assert answer["is_new"] is True
    assert world.live()["race.md"]["body"] == "# Race\n- other"


def test_a_refused_batch_is_looked_for_in_a_hundred_revisions(world: Any) -> None:
    gone = {"sceneWrites": [{"action": "delete", "filename": "race.md"}]}
    world.must(gone)
    for number in range(99):
        world.must({"personaSignal": True, "personaReason": f"reason {number}"})

    assert "very batch" in str(sent(world, gone))

    world.must({"personaSignal": True, "personaReason": "one more"})

    assert "very batch" not in str(sent(world, gone))
