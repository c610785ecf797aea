"""The cursor, the batch as a whole, and who asks."""

import pytest

from scenestore_engine.commands import (
    AdvisoryMeta,
    Batch,
    Create,
    Delete,
    Update,
    Write,
)
from scenestore_engine.decide import Accepted, Decision, Rejected, decide
from scenestore_engine.events import CursorMoved
from scenestore_engine.faults import Fault, FaultCode
from scenestore_engine.policy import Policy
from scenestore_engine.state import Cursor, Known, RecordFacts, State

NOW_MS = 1_772_496_000_000


def decided(batch: Batch, known: Known | None = None, actor: str = "t") -> Decision:
    return decide(batch, known or Known(), Policy(), now_ms=NOW_MS, actor=actor)


def places(found: Decision) -> list[tuple[str, str]]:
    assert isinstance(found, Rejected), found
    return [(fault.code.value, fault.path) for fault in found.faults]


def at(shard: str, line: int, record_id: str = "r") -> Cursor:
    return Cursor(record_id=record_id, shard=shard, line=line)


HERE = at("2026-03-05", 12)


def moved(to: Cursor | None, *, kept: Cursor | None, now_at: Cursor | None) -> Decision:
    known = Known(state=State(cursor=kept), cursor=to, present=now_at)
    return decided(Batch(cursor="r"), known)


# The cursor


@pytest.mark.parametrize(
    "to", [at("2026-03-05", 13), at("2026-03-06", 1), at("2027-01-01", 1)]
)
def test_the_cursor_moves_to_a_later_place(to: Cursor) -> None:
    found = moved(to, kept=HERE, now_at=HERE)

    assert isinstance(found, Accepted)
    assert found.events == (CursorMoved(to=to),)


@pytest.mark.parametrize(
    "to",
    [at("2026-03-05", 11), at("2026-03-04", 99), at("2026-03-05", 0), at("2025", 13)],
)
def test_the_cursor_does_not_move_to_an_earlier_place(to: Cursor) -> None:
    assert places(moved(to, kept=HERE, now_at=HERE)) == [
        ("cursor_goes_back", "/cursor")
    ]


def test_a_cursor_at_the_present_place_is_taken_and_changes_nothing() -> None:
    found = moved(HERE, kept=HERE, now_at=HERE)

    assert isinstance(found, Accepted)
    assert found.events == ()


def test_a_cursor_at_the_present_place_under_another_id_is_kept() -> None:
    other = at("2026-03-05", 12, "other")

    found = moved(other, kept=HERE, now_at=HERE)

    assert isinstance(found, Accepted)
    assert found.events == (CursorMoved(to=other),)


def test_lines_are_compared_as_numbers_and_not_as_text() -> None:
    found = moved(at("2026-03-05", 100), kept=HERE, now_at=HERE)

    assert isinstance(found, Accepted)


def test_the_first_cursor_may_stand_anywhere() -> None:
    found = moved(at("1970-01-01", 1), kept=None, now_at=None)

    assert isinstance(found, Accepted)
    assert found.events == (CursorMoved(to=at("1970-01-01", 1)),)


def test_before_is_judged_by_where_the_cursor_stands_now_in_l1() -> None:
    rewritten = at("2026-03-05", 3)

    found = moved(at("2026-03-05", 4), kept=HERE, now_at=rewritten)

    assert isinstance(found, Accepted)
    assert places(moved(at("2026-03-05", 2), kept=HERE, now_at=rewritten)) == [
        ("cursor_goes_back", "/cursor")
    ]


def test_the_stores_own_cursor_in_a_shard_that_was_rewritten_does_not_move() -> None:
    start = at("2026-03-05", 0)

    found = moved(start, kept=HERE, now_at=start)

    assert isinstance(found, Accepted)
    assert found.events == ()


def test_a_cursor_that_no_record_carries_is_refused_and_named_escaped() -> None:
    known = Known(state=State(cursor=HERE), present=HERE)

    found = decided(Batch(cursor="gh\x1bost" + "x" * 200), known)

    assert places(found) == [("unknown_cursor", "/cursor")]
    assert isinstance(found, Rejected)
    assert "gh\\x1bost" in found.faults[0].message
    assert len(found.faults[0].message) < 250


def test_without_a_cursor_the_cursor_stays() -> None:
    known = Known(state=State(cursor=HERE), cursor=None, present=HERE)

    found = decided(Batch(persona_reason="r"), known)

    assert isinstance(found, Accepted)
    assert [type(event).__name__ for event in found.events] == ["PersonaRequested"]


# The batch as a whole


def test_a_batch_that_asks_for_nothing_is_refused() -> None:
    assert places(decided(Batch())) == [("empty_batch", "")]
    assert places(decided(Batch(dry_run=True, run_id="x"))) == [("empty_batch", "")]
    assert places(decided(Batch(dismiss_reason="r"))) == [("empty_batch", "")]


def test_a_batch_whose_form_is_wrong_is_not_called_empty() -> None:
    fault = Fault(code=FaultCode.WRONG_TYPE, path="/sceneWrites", message="m")

    assert places(decided(Batch(faults=(fault,)))) == [("wrong_type", "/sceneWrites")]


def test_a_persona_signal_alone_and_a_dismissal_alone_are_a_batch() -> None:
    known = Known(records={"r1": RecordFacts()})

    assert isinstance(decided(Batch(persona_reason="r")), Accepted)
    assert isinstance(
        decided(Batch(dismiss=frozenset({"r1"}), dismiss_reason="r"), known), Accepted
    )


def test_a_cursor_alone_is_a_batch_even_if_it_is_an_empty_text() -> None:
    assert places(decided(Batch(cursor=""))) == [("unknown_cursor", "/cursor")]


def test_a_refused_batch_may_be_mended_and_sent_again() -> None:
    found = decided(Batch())

    assert isinstance(found, Rejected)
    assert found.retry is True


def test_every_rule_is_asked_even_if_others_failed() -> None:
    writes = (
        Write(
            path="/sceneWrites/0",
            command=Update(
                filename="ghost .md", content=" ", meta=AdvisoryMeta(summary="")
            ),
        ),
        Write(path="/sceneWrites/1", command=Delete(filename="ghost .md", reason="")),
        Write(
            path="/sceneWrites/2",
            command=Create(
                filename="n.md",
                content="x" * 1501,
                meta=AdvisoryMeta(summary="s"),
                members=frozenset({"", "r1"}),
            ),
        ),
        Write(
            path="/sceneWrites/3",
            command=Create(
                filename="m.md", content="x", meta=AdvisoryMeta(summary="s")
            ),
        ),
    )
    batch = Batch(
        writes=writes,
        cursor="ghost",
        persona_reason="",
        dismiss=frozenset({"r1"}),
        dismiss_reason="a\nb",
        idempotency_key="a\nb",
    )

    found = places(decided(batch, actor=""))

    assert sorted({code for code, _ in found}) == [
        "bad_actor",
        "bad_filename",
        "bad_key",
        "bad_reason",
        "bad_record_id",
        "bad_summary",
        "body_blank",
        "body_too_long",
        "dismissed_member",
        "dismissed_unknown",
        "scene_missing",
        "too_many_creates",
        "touched_twice",
        "unknown_cursor",
    ]


def test_the_same_arguments_give_the_same_decision() -> None:
    ids = frozenset(f"r{i}" for i in range(40))
    create = Create(
        filename="n.md", content="- x", meta=AdvisoryMeta(summary="s"), members=ids
    )
    batch = Batch(writes=(Write(path="/sceneWrites/0", command=create),))

    assert decided(batch) == decided(batch)


# Who asks


@pytest.mark.parametrize("actor", ["a", "x" * 64, "场" * 64, "cli", "a b", "o'neil"])
def test_a_good_actor_is_taken(actor: str) -> None:
    assert isinstance(decided(Batch(persona_reason="r"), actor=actor), Accepted)


@pytest.mark.parametrize(
    "actor",
    [
        "",
        " ",
        "x" * 65,
        "a<b",
        "a>b",
        "a\nb",
        "a\x1b",
        " a",
        "a ",
        "a\u2028b",
        "a\tb",
        "a\ud800",
    ],
    ids=ascii,
)
def test_an_actor_that_cannot_sign_a_commit_is_refused(actor: str) -> None:
    assert places(decided(Batch(persona_reason="r"), actor=actor)) == [
        ("bad_actor", "")
    ]
