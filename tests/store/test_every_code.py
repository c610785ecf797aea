"""Each code that a caller can meet is met here, on a real store.

The tables are whole: a code without a row, or a row without a code, fails.
"""

import os
from collections.abc import Callable
from typing import Any

import pytest

from scenestore import durable, import_state, layout, roll_back
from scenestore.errors import Refusal
from scenestore_engine.faults import FaultCode, NoticeCode
from scenestore_engine.state import State

Answer = dict[str, Any]
KEY = "AKIA" + "ABCDEFGHIJ234567"


def write(action: str, filename: str = "new.md", **fields: object) -> dict[str, object]:
    content = {"content": "- a fact", "meta": {"summary": "A summary"}}
    has_body = action in ("create", "update", "consolidate")
    return {"action": action, "filename": filename, **(content if has_body else {})} | (
        fields
    )


def batch(*writes: object, **fields: object) -> dict[str, object]:
    return {"sceneWrites": list(writes), **fields}


CONSOLIDATE = write("consolidate", "sport.md", sources=["running.md", "race.md"])

FAULTS: dict[FaultCode, Callable[[Any], object]] = {
    FaultCode.NOT_JSON: lambda _: b"{",
    FaultCode.NOT_AN_OBJECT: lambda _: b"[]",
    FaultCode.DUPLICATE_KEY: lambda _: b'{"cursor": "a", "cursor": "b"}',
    FaultCode.TOO_LARGE: lambda _: b" " * (4 * 1024 * 1024 + 1),
    FaultCode.TOO_DEEP: lambda _: b'{"x":' + b"[" * 40 + b"]" * 40 + b"}",
    FaultCode.BAD_TEXT: lambda _: b'{"cursor": "a\\u0000b"}',
    FaultCode.UNKNOWN_FIELD: lambda _: {"force": True},
    FaultCode.UNKNOWN_ACTION: lambda _: batch(write("merge")),
    FaultCode.MISSING_FIELD: lambda _: batch({"action": "create", "filename": "a.md"}),
    FaultCode.WRONG_TYPE: lambda _: {"cursor": 5},
    FaultCode.FIELD_NOT_ALLOWED: lambda _: batch(write("create", sources=["a.md"])),
    FaultCode.TOO_MANY_WRITES: lambda _: batch(*[write("delete")] * 65),
    FaultCode.BAD_KEY: lambda w: {"cursor": w.rid(12), "idempotencyKey": "a\nb"},
    FaultCode.BAD_FILENAME: lambda _: batch(write("create", "../evil.md")),
    FaultCode.SCENE_EXISTS: lambda _: batch(write("create", "RUNNING.md")),
    FaultCode.SCENE_MISSING: lambda _: batch(write("update", "ghost.md")),
    FaultCode.NOT_ARCHIVED: lambda _: batch(write("restore", "ghost.md")),
    FaultCode.TOUCHED_TWICE: lambda _: batch(
        write("delete", "race.md"), write("update", "Race.md")
    ),
    FaultCode.BAD_SOURCES: lambda _: batch(CONSOLIDATE | {"sources": ["race.md"]}),
    FaultCode.TOO_MANY_CREATES: lambda _: batch(
        write("create"), write("create", "other.md")
    ),
    FaultCode.TOO_MANY_ARCHIVES: lambda _: batch(
        write("archive", "race.md", reason="old"),
        write("archive", "deploy.md", reason="old"),
    ),
    FaultCode.TOO_MANY_DELETES: lambda _: batch(
        *(write("delete", name) for name in ("race.md", "deploy.md", "running.md"))
    ),
    FaultCode.BODY_BLANK: lambda _: batch(write("update", "race.md", content=" \n ")),
    FaultCode.BODY_TOO_LONG: lambda _: batch(write("create", content="x" * 1501)),
    FaultCode.BODY_HAS_META: lambda _: batch(
        write("create", content="-----META-END-----\n- x")
    ),
    FaultCode.BODY_MARKS_DELETION: lambda _: batch(
        write("create", content="- x\n [deleted] ")
    ),
    FaultCode.BAD_SUMMARY: lambda _: batch(
        write("create", meta={"summary": "one\ntwo"})
    ),
    FaultCode.BAD_REASON: lambda _: batch(write("archive", "race.md", reason=" ")),
    FaultCode.SECRET: lambda _: batch(write("create", content=f"- the key is {KEY}")),
    FaultCode.BAD_RECORD_ID: lambda _: batch(write("create", members=["x" * 129])),
    FaultCode.TOO_MANY_IDS: lambda _: batch(
        write("create", members=[f"r{i}" for i in range(10_001)])
    ),
    FaultCode.MEMBER_GAP: lambda w: batch(
        write("update", "race.md", members=[w.rid(4)])
    ),
    FaultCode.DISMISSED_MEMBER: lambda w: {
        "dismiss": [w.rid(0)],
        "dismissReason": "noise",
    },
    FaultCode.DISMISSED_UNKNOWN: lambda _: {"dismiss": ["x"], "dismissReason": "noise"},
    FaultCode.UNKNOWN_CURSOR: lambda _: {"cursor": "ghost"},
    FaultCode.CURSOR_GOES_BACK: lambda w: {"cursor": w.rid(3)},
    FaultCode.EMPTY_BATCH: lambda _: {},
}


def archive_name_taken(world: Any) -> Answer:
    world.must(batch(write("archive", "race.md", reason="old")))
    world.create("race.md", 4)
    world.wait(days=30)
    return world.commit(batch(write("archive", "race.md", reason="old")))


def no_room(world: Any) -> Answer:
    world.policy(max_scenes=3)
    return world.commit(batch(write("create")))


def too_young(world: Any) -> Answer:
    world.create("young.md", 9)
    world.wait(days=6.99)
    return world.commit(batch(write("archive", "young.md", reason="old")))


def unknown_member(world: Any) -> Answer:
    world.policy(strict_members=True)
    return world.commit(batch(write("create", members=["ghost"])))


def forgotten_member(world: Any) -> Answer:
    _forget(world, world.rid(13))
    return world.commit(batch(write("create", members=[world.rid(13)])))


def bad_actor(world: Any) -> Answer:
    request = {"cursor": world.rid(12)}
    return world.store.l2_commit(request, actor="a <b>", now=world.now)


def drift(world: Any) -> Answer:
    with (world.l2 / "scene-blocks" / "race.md").open("a") as file:
        file.write("- by hand\n")
    return world.commit(batch(write("update", "race.md")))


def foreign_commit(world: Any) -> Answer:
    world.git(
        "-c",
        "user.name=x",
        "-c",
        "user.email=x@x",
        "commit",
        "--allow-empty",
        "-m",
        "x",
    )
    return world.commit({"cursor": world.rid(12)})


def history_moved(world: Any) -> Answer:
    world.git("update-ref", "refs/heads/main", "HEAD~2")
    return world.commit({"cursor": world.rid(12)})


def store_busy(world: Any) -> Answer:
    lock = layout.git_dir(world.profile) / "refs" / "heads" / "main.lock"
    lock.write_bytes(b"")
    return world.commit({"cursor": world.rid(12)})


def key_reused(world: Any) -> Answer:
    world.must({"cursor": world.rid(12), "idempotencyKey": "k1"})
    return world.commit({"cursor": world.rid(13), "idempotencyKey": "k1"})


def stale_base(world: Any) -> Answer:
    read = world.store.head().id
    world.must(batch(write("update", "race.md", content="# Race\n- new shoes")))
    return world.commit(batch(write("update", "race.md"), baseRevision=read))


def facts_missing(world: Any) -> Answer:
    world.policy(retention="standard")
    return world.commit(batch(CONSOLIDATE | {"content": "# Sport\n- nothing of it"}))


def facts_lost(world: Any) -> Answer:
    world.policy(retention_update="floor")
    return world.commit(batch(write("update", "running.md", content="- other things")))


def unknown_revision(world: Any) -> Answer:
    refused = roll_back(world.store, "999", now=world.now)
    return {"success": False, "errors": [{"code": f.code} for f in refused.faults]}


def bad_argument(world: Any) -> Answer:
    refused = world.store.read_scene_blocks([])
    assert isinstance(refused, Refusal)
    return {"success": False, "errors": [{"code": f.code} for f in refused.errors]}


def _forget(world: Any, record_id: str) -> None:
    """Put an id among the forgotten ones, as a revision of ours would keep it."""
    ledger = world.store.ledger
    parent = world.store.head()
    handle = ledger.sets.make([], [record_id])
    state = ledger.state(parent.tree)
    after = State(
        live=state.live, archived=state.archived, forgotten=handle, cursor=state.cursor
    )
    world.store.append(
        (),
        after,
        parent=parent,
        batch="forget",
        policy=world.store.policy(),
        now=world.now,
        before=state,
    )


SITUATIONS: dict[FaultCode, Callable[[Any], Answer]] = {
    FaultCode.ARCHIVE_NAME_TAKEN: archive_name_taken,
    FaultCode.NO_ROOM: no_room,
    FaultCode.TOO_YOUNG: too_young,
    FaultCode.UNKNOWN_MEMBER: unknown_member,
    FaultCode.FORGOTTEN_MEMBER: forgotten_member,
    FaultCode.BAD_ACTOR: bad_actor,
    FaultCode.DRIFT: drift,
    FaultCode.FOREIGN_COMMIT: foreign_commit,
    FaultCode.HISTORY_MOVED: history_moved,
    FaultCode.STORE_BUSY: store_busy,
    FaultCode.KEY_REUSED: key_reused,
    FaultCode.STALE_BASE: stale_base,
    FaultCode.FACTS_MISSING: facts_missing,
    FaultCode.FACTS_LOST: facts_lost,
    FaultCode.UNKNOWN_REVISION: unknown_revision,
    FaultCode.BAD_ARGUMENT: bad_argument,
}

NOTICES: dict[NoticeCode, Callable[[Any], object]] = {
    NoticeCode.FIELD_IGNORED: lambda _: batch(write("delete", "race.md", content="x")),
    NoticeCode.META_ADVISORY: lambda _: batch(
        write("create", meta={"summary": "s", "heat": 9})
    ),
    NoticeCode.TEXT_TAKEN_AS_JSON: lambda w: batch(
        write("create", members=f'["{w.rid(9)}"]')
    ),
    NoticeCode.SOURCE_WITHOUT_MEMBERS: lambda _: batch(
        write("consolidate", "sport.md", sources=["race.md", "bare.md"])
    ),
    NoticeCode.UNKNOWN_MEMBER: lambda _: batch(write("create", members=["ghost"])),
    NoticeCode.UNCHANGED: lambda _: batch(
        {"action": "update", "filename": "race.md", "content": "# Race\n- shoes"}
    ),
    NoticeCode.UNASSIGNED_RECORDS: lambda w: {"cursor": w.rid(14)},
    NoticeCode.MEMBERS_ORPHANED: lambda _: batch(write("delete", "race.md")),
}


def unknown_meta_dropped(world: Any) -> Answer:
    payload = (
        b'{"scenes": {"odd.md": {"meta": {"summary": "s", "mood": "blue"}, '
        b'"content": "- odd", "members": []}}}'
    )
    import_state(world.store, payload, now=world.now)
    sources = ["odd.md", "race.md"]
    return world.must(batch(write("consolidate", "sport.md", sources=sources)))


def archived_namesake(world: Any) -> Answer:
    world.must(batch(write("archive", "race.md", reason="old")))
    return world.must(batch(write("create", "Race.md")))


def deleted_member_dropped(world: Any) -> Answer:
    rows = [world.record(n) for n in range(24)]
    rows.append({"id": world.rid(4), "deleted": True})
    world.shard("2026-03-03", rows)
    kept = [world.rid(5), world.rid(6)]
    return world.must(batch(write("update", "race.md", members=kept)))


def undismissed(world: Any) -> Answer:
    world.must({"dismiss": [world.rid(9)], "dismissReason": "noise"})
    return world.must(batch(write("create", members=[world.rid(9)])))


def facts_dropped(world: Any) -> Answer:
    world.policy(retention_update="notice")
    return world.must(batch(write("delete", "running.md")))


def facts_doubtful(world: Any) -> Answer:
    rows = ["Ilka keeps bees behind the old mill", "She reads novels on the tram"]
    rows += ["Her brother repairs violins in Graz", "They meet on rainy Sundays"]
    rows += ["She wants to learn to swim", "The garden gate squeaks and nobody minds"]
    world.create("long.md", content="\n".join(f"- {row}." for row in rows))
    world.policy(retention="standard")
    reworded = [*rows[:-1], "The garden gate is old", "shoes"]
    body = "\n".join(f"- {row}." for row in reworded)
    sources = ["long.md", "race.md"]
    return world.must(
        batch(write("consolidate", "s.md", sources=sources, content=body))
    )


def secret_notice(world: Any) -> Answer:
    world.policy(secrets="notice")
    return world.must(batch(write("create", content=f"- the key is {KEY}")))


NOTICED: dict[NoticeCode, Callable[[Any], Answer]] = {
    NoticeCode.UNKNOWN_META_DROPPED: unknown_meta_dropped,
    NoticeCode.ARCHIVED_NAMESAKE: archived_namesake,
    NoticeCode.DELETED_MEMBER_DROPPED: deleted_member_dropped,
    NoticeCode.UNDISMISSED: undismissed,
    NoticeCode.SECRET: secret_notice,
    NoticeCode.FACTS_DROPPED: facts_dropped,
    NoticeCode.FACTS_DOUBTFUL: facts_doubtful,
}


def codes(answer: Answer, field: str) -> set[str]:
    return {entry["code"] for entry in answer[field]}


def test_every_fault_code_has_a_row_here() -> None:
    assert FAULTS.keys() | SITUATIONS.keys() == set(FaultCode)


def test_every_notice_code_has_a_row_here() -> None:
    assert NOTICES.keys() | NOTICED.keys() == set(NoticeCode)


@pytest.mark.parametrize("code", FAULTS)
def test_a_batch_with_this_fault_is_refused_and_no_byte_changes(
    code: FaultCode, world: Any
) -> None:
    request = FAULTS[code](world)
    before = world.bytes_under()

    answer = world.commit(request)

    assert answer["success"] is False
    assert code in codes(answer, "errors")
    assert world.bytes_under() == before


@pytest.mark.parametrize("code", SITUATIONS)
def test_this_situation_is_refused(code: FaultCode, world: Any) -> None:
    answer = SITUATIONS[code](world)

    assert answer["success"] is False
    assert code in codes(answer, "errors")


@pytest.mark.parametrize("code", NOTICES)
def test_a_batch_with_this_notice_is_accepted_and_says_so(
    code: NoticeCode, world: Any
) -> None:
    world.create("bare.md", content="- bare")

    answer = world.must(NOTICES[code](world))

    assert code in codes(answer, "warnings")


@pytest.mark.parametrize("code", NOTICED)
def test_this_situation_is_noticed(code: NoticeCode, world: Any) -> None:
    assert code in codes(NOTICED[code](world), "warnings")


def test_a_secret_is_never_repeated_in_the_refusal(world: Any) -> None:
    answer = world.commit(FAULTS[FaultCode.SECRET](world))

    assert KEY not in str(answer)


def test_every_fault_of_a_batch_is_reported_at_once(world: Any) -> None:
    faulty = [FAULTS[code](world) for code in FAULTS if code != "too_many_writes"]
    writes = [
        w for f in faulty if isinstance(f, dict) for w in f.get("sceneWrites", [])
    ]

    answer = world.commit(batch(*writes, cursor="ghost", force=True))

    assert {
        "unknown_field",
        "unknown_action",
        "unknown_cursor",
        "bad_filename",
        "body_too_long",
        "bad_summary",
        "too_many_creates",
    } <= codes(answer, "errors")


def test_waiting_for_another_writer_ends(world: Any, monkeypatch: Any) -> None:
    monkeypatch.setattr("scenestore.store.WAIT_S", 0.05)
    with durable.locked(layout.lock_file(world.profile), wait_s=1):
        answer = world.commit({"cursor": world.rid(12)})

    assert codes(answer, "errors") == {"store_busy"}
    assert answer["retry"] is True
    assert os.path.lexists(layout.lock_file(world.profile))
