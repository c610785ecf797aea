"""``commitHint``: one batch a run, said when a run has sent more."""

from typing import Any

from scenestore import Store


def moved(world: Any, number: int, **fields: object) -> dict[str, Any]:
    answer: dict[str, Any] = world.must({"cursor": world.rid(number), **fields})
    return answer


def test_the_first_commit_of_a_process_gets_no_hint(world: Any) -> None:
    world.reopen()

    assert moved(world, 12)["commitHint"] is None


def test_later_commits_of_a_process_are_counted(world: Any) -> None:
    world.reopen()

    hints = [moved(world, number)["commitHint"] for number in (12, 13, 14)]

    assert hints[0] is None
    assert hints[1].startswith("This is commit 2 of this run.")
    assert hints[2].startswith("This is commit 3 of this run.")
    assert "one batch" in hints[1]


def test_a_run_is_counted_over_processes(world: Any) -> None:
    moved(world, 12, runId="r1")
    world.reopen()

    assert "commit 2 " in moved(world, 13, runId="r1")["commitHint"]


def test_runs_are_counted_each_by_itself(world: Any) -> None:
    moved(world, 12, runId="r1")
    moved(world, 13, runId="r2")

    assert moved(world, 14, runId="r3")["commitHint"] is None
    assert "commit 2 " in moved(world, 15, runId="r1")["commitHint"]
    assert "commit 2 " in moved(world, 16, runId="r2")["commitHint"]


def test_what_another_store_commits_is_not_this_process(world: Any) -> None:
    world.reopen()
    with Store(world.profile, actor="other") as other:
        other.l2_commit({"cursor": world.rid(12)}, now=world.now)

    assert moved(world, 13)["commitHint"] is None


def test_what_made_no_commit_is_not_counted(world: Any) -> None:
    world.reopen()
    for request in (
        {"cursor": "ghost"},
        {"cursor": world.rid(12), "dryRun": True},
        {"cursor": world.rid(11)},
    ):
        assert world.commit(request).get("commitHint") is None

    assert moved(world, 12)["commitHint"] is None


def test_what_makes_no_commit_gets_no_hint(world: Any) -> None:
    moved(world, 12)
    moved(world, 13)
    head = world.store.head().id

    for request in (
        {"cursor": world.rid(14), "dryRun": True},
        {"cursor": world.rid(13)},
    ):
        assert world.must(request)["commitHint"] is None
    assert world.store.head().id == head


def test_a_replay_gets_no_hint_and_is_not_counted(world: Any) -> None:
    moved(world, 12, runId="r1", idempotencyKey="k1")

    again = moved(world, 12, runId="r1", idempotencyKey="k1")

    assert again["replayed"] is True
    assert again["commitHint"] is None
    assert "commit 2 " in moved(world, 13, runId="r1")["commitHint"]
