"""A store that a newer program wrote: it is read, never written, and says so."""

from typing import Any

import pytest
from msgspec.structs import replace

from scenestore import Store, TooNewError, import_state, roll_back
from scenestore.check import check
from scenestore.codec import FORMAT

UPDATE = {"action": "update", "filename": "race.md", "content": "- new"}
IMPORT = b'{"scenes": {"n.md": {"content": "- n", "members": []}}}'


def written_by_a_newer_program(world: Any, *, draws: bool) -> None:
    """Add a revision of format 2 that creates nothing and moves no cursor."""
    ledger = world.store.ledger
    head = world.store.head()
    state = ledger.state(head.tree)
    record = replace(
        ledger.record(head),
        format=FORMAT + 1,
        seq=head.seq + 1,
        parent=head.id,
        events=(),
        receipt=None,
    )
    live = {**state.live, "new.md": state.live["race.md"]}
    after = replace(state, live=live)
    message = "from the future\n"
    revision = ledger.write(after, record, message, at_ms=world.now_ms)
    ledger.publish(revision, parent=head.id)
    if draws:
        world.store.projection.draw(revision, ledger.revision(revision).tree, after)
    world.reopen()


@pytest.fixture
def newer(world: Any) -> Any:
    written_by_a_newer_program(world, draws=True)
    return world


def test_its_head_and_scenes_are_read(newer: Any) -> None:
    answer = newer.store.read_scene_blocks(["new.md", "running.md"])

    assert newer.store.head().format == FORMAT + 1
    assert [block.filename for block in answer.blocks] == ["new.md", "running.md"]
    assert answer.blocks[0].content == "# Race\n- shoes"
    assert answer.blocks[0].member_count == 3


def test_its_records_are_read_from_its_cursor(newer: Any) -> None:
    increment = newer.store.read_l1_increment()

    assert increment.total_new == 12


def test_its_earlier_revisions_are_read(newer: Any) -> None:
    answer = newer.store.read_scene_blocks(["running.md"], "1")

    assert [block.filename for block in answer.blocks] == ["running.md"]


@pytest.mark.parametrize("draws", [True, False])
@pytest.mark.parametrize(
    "write",
    [
        lambda w: w.commit({"sceneWrites": [UPDATE]}),
        lambda w: w.commit({"sceneWrites": [UPDATE], "dryRun": True}),
        lambda w: w.commit({}),
        lambda w: roll_back(w.store, "1", now=w.now),
        lambda w: import_state(w.store, IMPORT, now=w.now),
    ],
    ids=["commit", "dry run", "wrong batch", "rollback", "import"],
)
def test_writing_is_refused_with_both_formats_and_no_byte_changes(
    write: Any, world: Any, *, draws: bool
) -> None:
    written_by_a_newer_program(world, draws=draws)
    before = world.bytes_under()

    with pytest.raises(TooNewError) as caught:
        write(world)

    said = str(caught.value)
    assert f"format {FORMAT + 1}" in said
    assert f" {FORMAT}. Nothing was changed." in said
    assert world.bytes_under() == before


def test_a_newer_store_is_not_begun_again(newer: Any) -> None:
    before = newer.bytes_under(".git", "objects")

    assert Store(newer.profile).init(now=newer.now) is False
    assert newer.bytes_under(".git", "objects") == before


def test_check_says_so_and_finds_no_damage(newer: Any) -> None:
    found = check(newer.store.ledger, newer.store.projection, replay=True)

    assert [problem.is_damage for problem in found.problems] == [False]
    assert f"format {FORMAT + 1}" in found.problems[0].message


def test_to_move_the_branch_back_before_it_is_not_enough_to_write(newer: Any) -> None:
    head = newer.store.head()
    newer.store.close()
    newer.git("update-ref", "refs/heads/main", head.parent)
    newer.reopen()

    answer = newer.commit({"sceneWrites": [UPDATE]})

    assert [error["code"] for error in answer["errors"]] == ["history_moved"]
