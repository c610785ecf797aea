"""Refused batches are kept, a line each: masked, capped, and never in the way."""

import json
import stat
from pathlib import Path
from typing import Any

import pytest

from scenestore import durable, layout
from scenestore.refusallog import MAX_BYTES

KEY = "AKIA" + "ABCDEFGHIJ234567"
SAID = {"content": "- a fact", "meta": {"summary": "A summary"}}


def write(action: str, filename: str, **fields: object) -> dict[str, object]:
    return {"action": action, "filename": filename, **fields}


def batch(*writes: object, **fields: object) -> dict[str, object]:
    return {"sceneWrites": list(writes), **fields}


def log(world: Any) -> Path:
    return layout.refusals_file(world.profile)


def logged(world: Any) -> list[dict[str, Any]]:
    if not log(world).exists():
        return []
    text = log(world).read_text(encoding="utf-8")
    assert text.endswith("\n")
    return [json.loads(line) for line in text.splitlines()]


def refused(world: Any, request: Any, **options: Any) -> dict[str, Any]:
    answer: dict[str, Any] = world.store.l2_commit(request, now=world.now, **options)
    assert answer["success"] is False
    return answer


GHOST = batch(write("delete", "ghost.md"))


def test_each_refusal_is_one_line(world: Any) -> None:
    refused(world, GHOST)
    refused(world, b"{")
    refused(world, GHOST)

    codes = [[error["code"] for error in line["errors"]] for line in logged(world)]
    assert codes == [["scene_missing"], ["not_json"], ["scene_missing"]]


def test_a_line_says_who_asked_for_what_when_on_which_state(world: Any) -> None:
    head = world.store.head().id
    request = batch(
        write("update", "race.md", **SAID, members=[world.rid(4)], reason="told"),
        write("delete", "ghost.md"),
        runId="run 7",
    )

    answer = refused(world, request, actor="mei")

    (line,) = logged(world)
    assert line["at"] == "2026-04-02T00:00:00.004Z"
    assert line["actor"] == "mei"
    assert line["head"] == head
    assert line["runId"] == "run 7"
    assert line["errors"] == answer["errors"]
    gaps = answer["consolidation"]["memberGaps"]
    assert line["memberGaps"] == gaps != []
    assert line["writes"] == [
        {
            "path": "/sceneWrites/0",
            "action": "update",
            "filename": "race.md",
            "reason": "told",
            "content": "- a fact",
            "summary": "A summary",
            "members": [world.rid(4)],
            "addMembers": [],
            "sources": [],
        },
        {"path": "/sceneWrites/1", "action": "delete", "filename": "ghost.md"},
    ]


def test_the_facts_that_a_body_would_lose_are_kept(world: Any) -> None:
    world.policy(retention="standard")
    merge = write("consolidate", "s.md", sources=["running.md", "race.md"], **SAID)

    answer = refused(world, batch(merge))

    (line,) = logged(world)
    told = [(fact["source"], fact["text"]) for fact in line["lines"]]
    lines = answer["consolidation"]["lines"]
    assert told == [(fact["source"], fact["text"]) for fact in lines]
    assert line["writes"][0]["sources"] == ["running.md", "race.md"]


@pytest.mark.parametrize(
    "request_",
    [
        batch(write("create", "a.md", **SAID | {"content": f"- it is {KEY}"})),
        batch(write("create", "a.md", **SAID | {"meta": {"summary": f"s {KEY}"}})),
        batch(write("create", "a.md", **SAID, reason=f"for {KEY}")),
        batch(write("create", f"{KEY}.md", **SAID)),
        batch(write("delete", f"{KEY}.md")),
        batch(write("restore", "x.md", **{"as": f"{KEY}.md"})),
        batch(write("consolidate", "s.md", sources=["race.md", f"{KEY}.md"], **SAID)),
        batch(write("archive", "race.md", reason=f"for {KEY}")),
        {"personaSignal": True, "personaReason": f"{KEY}"},
        {"dismiss": ["x"], "dismissReason": KEY},
        {"cursor": KEY},
        {"runId": KEY},
        {"idempotencyKey": KEY},
        {KEY: True},
        batch(write("create", "a.md", **SAID, **{KEY: 1})),
        batch(write(KEY, "a.md")),
        batch(write("delete", "ghost.md"), baseRevision=KEY),
        {"sceneWrites": KEY},
        b'{"' + KEY.encode() + b'": 1, "' + KEY.encode() + b'": 1}',
    ],
    ids=lambda request: str(request).replace(KEY, "KEY"),
)
def test_no_place_of_a_batch_brings_a_secret_into_the_log(
    world: Any, request_: Any
) -> None:
    refused(world, request_)

    assert len(logged(world)) == 1
    assert KEY not in log(world).read_text(encoding="utf-8")


def test_an_actors_name_is_masked_too(world: Any) -> None:
    refused(world, GHOST, actor=KEY)

    assert logged(world)[0]["actor"] == "[secret]"


def test_a_secret_that_stands_where_the_text_is_cut_is_masked_whole(
    world: Any,
) -> None:
    content = "x" * 1_990 + f" {KEY}"
    refused(world, batch(write("create", "a.md", **SAID | {"content": content})))

    assert KEY[:8] not in log(world).read_text(encoding="utf-8")


def test_long_bodies_and_many_members_are_cut(world: Any) -> None:
    ids = [f"r{n:04}" for n in range(500)]
    fields = SAID | {"content": "y" * 100_000, "members": ids, "addMembers": ids}
    refused(world, batch(write("create", "a.md", **fields)))

    (written,) = logged(world)[0]["writes"]
    assert written["content"] == "y" * 2_000
    assert written["members"] == written["addMembers"] == ids[:20]


def test_the_log_is_capped_and_keeps_the_newest(world: Any) -> None:
    log(world).parent.mkdir(exist_ok=True)
    filler = json.dumps({"old": "z" * 1_000}) + "\n"
    log(world).write_text(filler * (MAX_BYTES // len(filler)))

    refused(world, GHOST)

    size = log(world).stat().st_size
    assert MAX_BYTES // 4 < size <= MAX_BYTES
    rows = logged(world)
    assert rows[-1]["errors"][0]["code"] == "scene_missing"
    assert all("old" in row for row in rows[:-1])


def test_one_line_above_the_cap_leaves_no_older_ones(world: Any) -> None:
    refused(world, GHOST)
    log(world).write_text("x" * (MAX_BYTES + 1) + "\n")

    refused(world, GHOST)

    assert [row["errors"][0]["code"] for row in logged(world)] == ["scene_missing"]


def test_only_its_owner_may_read_the_log(world: Any) -> None:
    refused(world, GHOST)

    assert stat.S_IMODE(log(world).stat().st_mode) == 0o600


def test_the_policy_can_turn_it_off(world: Any) -> None:
    world.policy(keep_refusals=False)

    refused(world, GHOST)

    assert logged(world) == []


def test_a_folder_in_its_place_breaks_no_commit(world: Any) -> None:
    log(world).mkdir(parents=True)

    refused(world, GHOST)

    world.must({"cursor": world.rid(13)})


def test_a_file_in_place_of_its_folder_breaks_no_commit(empty: Any) -> None:
    folder = layout.cache_dir(empty.profile)
    assert not folder.exists()
    folder.write_text("in the way")

    refused(empty, GHOST)

    assert folder.read_text() == "in the way"


def test_a_link_in_its_place_is_not_followed(world: Any, tmp_path: Path) -> None:
    other = tmp_path / "other.txt"
    other.write_text("theirs")
    log(world).parent.mkdir(exist_ok=True)
    log(world).symlink_to(other)

    refused(world, GHOST)

    assert other.read_text() == "theirs"


def test_a_line_that_a_crash_left_half_does_no_harm(world: Any) -> None:
    log(world).parent.mkdir(exist_ok=True)
    log(world).write_text('{"half')

    refused(world, GHOST)

    assert "scene_missing" in log(world).read_text()


def test_what_is_accepted_or_replayed_is_not_logged(world: Any) -> None:
    world.must({"cursor": world.rid(13), "idempotencyKey": "k1"})
    world.must({"cursor": world.rid(13), "idempotencyKey": "k1"})
    world.must({"cursor": world.rid(14), "dryRun": True})

    assert logged(world) == []


def test_what_the_disk_alone_refuses_is_logged(world: Any) -> None:
    (world.l2 / "scene-blocks" / "race.md").write_text("by hand")

    refused(world, batch(write("update", "race.md", content="- mine")))

    assert [error["code"] for error in logged(world)[0]["errors"]] == ["drift"]


def test_a_refused_dry_run_is_logged(world: Any) -> None:
    refused(world, GHOST | {"dryRun": True})

    assert len(logged(world)) == 1


def test_waiting_in_vain_for_a_turn_is_not_logged(
    world: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("scenestore.store.WAIT_S", 0.05)
    with durable.locked(layout.lock_file(world.profile), wait_s=1):
        answer = refused(world, GHOST)

    assert answer["errors"][0]["code"] == "store_busy"
    assert logged(world) == []


def test_the_log_may_go_at_any_time(world: Any) -> None:
    refused(world, GHOST)
    log(world).unlink()

    refused(world, GHOST)

    assert len(logged(world)) == 1
