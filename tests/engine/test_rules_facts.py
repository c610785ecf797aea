"""What follows when a body keeps too little of what stood there before."""

import pytest

from scenestore_engine.commands import (
    AdvisoryMeta,
    Batch,
    Command,
    Consolidate,
    Create,
    Delete,
    Update,
    Write,
)
from scenestore_engine.decide import Accepted, Decision, Rejected, decide
from scenestore_engine.policy import Policy
from scenestore_engine.rules import is_exempt
from scenestore_engine.state import Known, Meta, Scene, State

NOW_MS = 1_772_496_000_000
OLD = "2026-01-01T00:00:00.000Z"
META = Meta(created=OLD, updated=OLD, summary="old", heat=1)
SCENE = Scene(blob="b", first_seen=OLD, members="m", meta=META)
SAID = AdvisoryMeta(summary="s")
FACTS = ("- runs on Monday", "- swims on Tuesday", "- climbs on Friday", "- 5 km")
BODIES = {"a.md": "\n".join(FACTS[:3]) + "\n- cycles on Sunday", "b.md": "- 5 km"}
KEY = "AKIA" + "ABCDEFGHIJ234567"


def decided(
    *commands: Command, bodies: dict[str, str] | None = None, **policy: str
) -> Decision:
    writes = tuple(
        Write(path=f"/sceneWrites/{i}", command=c) for i, c in enumerate(commands)
    )
    bodies = BODIES | (bodies or {})
    known = Known(state=State(live=dict.fromkeys(bodies, SCENE)), bodies=bodies)
    limits = Policy(**policy)
    return decide(Batch(writes=writes), known, limits, now_ms=NOW_MS, actor="t")


def keeping(count: int) -> Update:
    """An update of a.md that keeps *count* of its four facts."""
    lines = BODIES["a.md"].split("\n")[:count] or ["- something else"]
    return Update(filename="a.md", content="\n".join(lines))


def codes(found: Decision) -> list[str]:
    if isinstance(found, Rejected):
        return [fault.code.value for fault in found.faults]
    return [notice.code.value for notice in found.notices]


@pytest.mark.parametrize(
    ("mode", "refused"),
    [
        ("floor", [True, False, False, False, False]),
        ("reject", [True, True, True, True, False]),
        ("notice", [False] * 5),
        ("off", [False] * 5),
    ],
)
def test_an_update_is_refused_by_how_many_of_four_facts_it_keeps(
    mode: str, refused: list[bool]
) -> None:
    found = [decided(keeping(n), retention_update=mode) for n in range(5)]

    assert [isinstance(one, Rejected) for one in found] == refused
    assert all(
        codes(one) == ["facts_lost"] for one in found if isinstance(one, Rejected)
    )


def test_the_facts_that_a_refused_update_loses_are_listed() -> None:
    found = decided(keeping(0))

    assert isinstance(found, Rejected)
    assert found.faults[0].path == "/sceneWrites/0/content"
    assert "keeps 0% of what a.md said and loses 4 facts" in found.faults[0].message
    assert [(fact.source, fact.line) for fact in found.lines] == [
        ("a.md", line) for line in range(1, 5)
    ]


@pytest.mark.parametrize("mode", ["floor", "notice"])
def test_facts_that_an_accepted_update_drops_are_noticed(mode: str) -> None:
    found = decided(keeping(3), retention_update=mode)

    assert isinstance(found, Accepted)
    assert codes(found) == ["facts_dropped"]
    assert found.notices[0].filename == "a.md"
    assert found.notices[0].facts["count"] == 1


def test_facts_that_another_body_of_the_batch_has_are_not_dropped() -> None:
    rest = Create(filename="n.md", content="- cycles on Sunday", meta=SAID)

    assert codes(decided(keeping(3), rest)) == []
    assert codes(decided(Delete(filename="b.md"), rest)) == ["facts_dropped"]
    kept = Create(filename="n.md", content="- x\n- 5 km", meta=SAID)
    assert codes(decided(Delete(filename="b.md"), kept)) == []


def test_a_delete_is_never_refused_for_its_facts() -> None:
    for mode in ("floor", "reject", "notice", "off"):
        found = decided(Delete(filename="a.md"), retention_update=mode)

        assert isinstance(found, Accepted)
        assert codes(found) == ([] if mode == "off" else ["facts_dropped"])


def test_an_update_of_the_summary_alone_is_not_measured() -> None:
    update = Update(
        filename="a.md", content=BODIES["a.md"], meta=AdvisoryMeta(summary="new")
    )

    assert codes(decided(update, retention_update="reject")) == []


# Consolidation


def consolidate(content: str, *sources: str, filename: str = "n.md") -> Consolidate:
    return Consolidate(filename=filename, sources=sources, content=content, meta=SAID)


WHOLE = f"{BODIES['a.md']}\n{BODIES['b.md']}"


@pytest.mark.parametrize("mode", ["strict", "standard", "off"])
def test_a_consolidation_that_keeps_every_line_is_taken(mode: str) -> None:
    found = decided(consolidate(WHOLE, "a.md", "b.md"), retention=mode)

    assert isinstance(found, Accepted)
    assert codes(found) == []
    assert len(found.verdicts) == (mode != "off")


@pytest.mark.parametrize(
    ("mode", "refused"), [("strict", True), ("standard", True), ("off", False)]
)
def test_a_consolidation_that_loses_a_source_is_refused(
    mode: str, *, refused: bool
) -> None:
    found = decided(consolidate(BODIES["a.md"], "a.md", "b.md"), retention=mode)

    assert codes(found) == (["facts_missing"] if refused else [])
    if isinstance(found, Rejected):
        assert [(fact.source, fact.text) for fact in found.lines] == [
            ("b.md", "- 5 km")
        ]


def test_the_facts_of_a_live_target_have_to_be_kept_too() -> None:
    target = {"t.md": "- plays the cello in Lund"}
    lost = consolidate(WHOLE, "a.md", "b.md", filename="t.md")
    kept = consolidate(f"{WHOLE}\n{target['t.md']}", "a.md", "b.md", filename="t.md")

    assert codes(decided(lost, bodies=target)) == ["facts_missing"]
    assert codes(decided(kept, bodies=target)) == []


@pytest.mark.parametrize(
    "line",
    ["-----META-END-----", "-----meta-start-----", "[DELETED]", " [deleted] ", KEY],
)
def test_a_line_that_no_body_may_hold_need_not_be_kept(line: str) -> None:
    old = {"c.md": f"- 7 apples\n{line}"}

    found = decided(
        consolidate(f"{BODIES['b.md']}\n- 7 apples", "b.md", "c.md"), bodies=old
    )

    assert is_exempt(line)
    assert codes(found) == []


def test_a_plain_line_is_not_exempt() -> None:
    assert not is_exempt("- 7 apples")
    assert not is_exempt("- [deleted] 7 apples")
