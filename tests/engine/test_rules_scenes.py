"""Which scenes a write may take as sources, archive or bring back."""

import pytest
from msgspec.structs import replace

from scenestore_engine.commands import (
    AdvisoryMeta,
    Archive,
    Batch,
    Command,
    Consolidate,
    Restore,
    Write,
)
from scenestore_engine.decide import Accepted, decide
from scenestore_engine.faults import Fault
from scenestore_engine.policy import Policy
from scenestore_engine.state import Known, Meta, Scene, State
from scenestore_engine.times import DAY_MS, iso

NOW_MS = 1_772_496_000_000
OLD = "2026-01-01T00:00:00.000Z"


def free(policy: Policy | None) -> Policy:
    """Return *policy* without a look at what bodies keep, which is not tested here."""
    return replace(policy or Policy(), retention="off", retention_update="off")


def scene(first_seen: str = OLD, created: str = OLD) -> Scene:
    meta = Meta(created=created, updated=created, summary="old", heat=1)
    return Scene(blob="", first_seen=first_seen, meta=meta)


def faults_of(
    command: Command,
    *,
    live: tuple[str, ...] = (),
    archived: tuple[str, ...] = (),
    policy: Policy | None = None,
    state: State | None = None,
) -> list[Fault]:
    state = state or State(
        live=dict.fromkeys(live, scene()), archived=dict.fromkeys(archived, scene())
    )
    known = Known(state=state, bodies=dict.fromkeys(state.live, "- old"))
    batch = Batch(writes=(Write(path="/sceneWrites/0", command=command),))
    found = decide(batch, known, free(policy), now_ms=NOW_MS, actor="t")
    return [] if isinstance(found, Accepted) else list(found.faults)


def places(faults: list[Fault]) -> list[tuple[str, str]]:
    return [
        (fault.code.value, fault.path.removeprefix("/sceneWrites/0/"))
        for fault in faults
    ]


def consolidate(filename: str, *sources: str) -> Consolidate:
    return Consolidate(
        filename=filename,
        sources=sources,
        content="- x",
        meta=AdvisoryMeta(summary="s"),
    )


# Sources


@pytest.mark.parametrize("count", [2, 3, 14])
def test_two_or_more_live_sources_go_into_a_new_scene(count: int) -> None:
    names = tuple(f"s{i}.md" for i in range(count))

    assert faults_of(consolidate("x.md", *names), live=names) == []


def test_a_live_target_that_is_no_source_is_taken() -> None:
    live = ("a.md", "b.md", "c.md")

    assert faults_of(consolidate("c.md", "a.md", "b.md"), live=live) == []


def test_no_source_at_all_is_refused() -> None:
    faults = faults_of(consolidate("x.md"))

    assert places(faults) == [("bad_sources", "sources")]
    assert "0 scenes" in faults[0].message


def test_one_source_is_refused_also_into_a_live_target() -> None:
    faults = faults_of(consolidate("b.md", "a.md"), live=("a.md", "b.md"))

    assert places(faults) == [("bad_sources", "sources")]


@pytest.mark.parametrize("twin", ["a.md", "A.md"])
def test_a_source_named_twice_is_refused_however_it_is_written(twin: str) -> None:
    faults = faults_of(
        consolidate("x.md", "a.md", "b.md", twin), live=("a.md", "b.md", twin)
    )

    assert places(faults) == [("bad_sources", "sources")]
    assert "a.md 2 times" in faults[0].message


def test_the_same_source_twice_counts_as_one() -> None:
    faults = faults_of(consolidate("x.md", "a.md", "a.md"), live=("a.md",))

    assert "1 scenes" in faults[0].message


@pytest.mark.parametrize("target", ["a.md", "A.md"])
def test_a_target_among_its_sources_is_refused_however_it_is_written(
    target: str,
) -> None:
    faults = faults_of(consolidate(target, "a.md", "b.md"), live=("a.md", "b.md"))

    assert places(faults) == [("bad_sources", "sources")]


def test_each_source_that_is_not_live_is_named_at_its_place() -> None:
    faults = faults_of(
        consolidate("x.md", "ghost.md", "a.md", "gone.md"),
        live=("a.md",),
        archived=("gone.md",),
    )

    assert places(faults) == [
        ("scene_missing", "sources/0"),
        ("scene_missing", "sources/2"),
    ]


def test_a_target_that_nearly_has_the_name_of_another_scene_is_refused() -> None:
    faults = faults_of(
        consolidate("C.md", "a.md", "b.md"), live=("a.md", "b.md", "c.md")
    )

    assert places(faults) == [("scene_exists", "filename")]


def test_a_new_target_with_the_name_of_an_archived_scene_is_taken() -> None:
    faults = faults_of(
        consolidate("c.md", "a.md", "b.md"), live=("a.md", "b.md"), archived=("c.md",)
    )

    assert faults == []


# Archive


@pytest.mark.parametrize(
    ("age_ms", "is_old_enough"),
    [
        (7 * DAY_MS, True),
        (7 * DAY_MS + 1, True),
        (7 * DAY_MS - 1, False),
        (0, False),
        (-DAY_MS, False),
    ],
)
def test_a_scene_is_archived_from_the_age_of_seven_days_to_the_millisecond(
    age_ms: int, *, is_old_enough: bool
) -> None:
    state = State(live={"a.md": scene(iso(NOW_MS - age_ms))})

    faults = faults_of(Archive(filename="a.md", reason="r"), state=state)

    assert places(faults) == ([] if is_old_enough else [("too_young", "filename")])


@pytest.mark.parametrize(
    ("days", "age_ms", "is_old_enough"),
    [(0, 0, True), (1, DAY_MS - 1, False), (1, DAY_MS, True), (30, 29 * DAY_MS, False)],
)
def test_the_least_age_is_the_policys(
    days: int, age_ms: int, *, is_old_enough: bool
) -> None:
    state = State(live={"a.md": scene(iso(NOW_MS - age_ms))})
    policy = Policy(min_archive_age_days=days)

    faults = faults_of(Archive(filename="a.md", reason="r"), state=state, policy=policy)

    assert (faults == []) is is_old_enough


def test_age_counts_from_when_the_store_saw_the_scene_and_not_from_its_meta() -> None:
    young = State(live={"a.md": scene(iso(NOW_MS - DAY_MS), created=OLD)})
    old = State(live={"a.md": scene(OLD, created=iso(NOW_MS))})

    archive = Archive(filename="a.md", reason="r")

    assert places(faults_of(archive, state=young)) == [("too_young", "filename")]
    assert faults_of(archive, state=old) == []


def test_the_age_of_a_young_scene_is_told_to_a_tenth_of_a_day_not_rounded_up() -> None:
    state = State(live={"a.md": scene(iso(NOW_MS - int(2.59 * DAY_MS)))})

    fault = faults_of(Archive(filename="a.md", reason="r"), state=state)[0]

    assert "is 2.5 days old; " in fault.message


def test_the_age_of_a_scene_from_the_future_is_told_as_none() -> None:
    state = State(live={"a.md": scene(iso(NOW_MS + DAY_MS))})

    fault = faults_of(Archive(filename="a.md", reason="r"), state=state)[0]

    assert "is 0.0 days old" in fault.message


def test_a_scene_of_almost_seven_days_is_not_told_to_be_seven_days_old() -> None:
    state = State(live={"a.md": scene(iso(NOW_MS - 7 * DAY_MS + 1))})

    fault = faults_of(Archive(filename="a.md", reason="r"), state=state)[0]

    assert "is 7.0 days old" not in fault.message


@pytest.mark.parametrize("twin", ["a.md", "A.md", "ａ.md"])
def test_an_archive_that_has_the_name_already_refuses(twin: str) -> None:
    archive = Archive(filename="a.md", reason="r")

    faults = faults_of(archive, live=("a.md",), archived=(twin,))

    assert places(faults) == [("archive_name_taken", "filename")]
    assert twin in faults[0].message


def test_to_archive_what_is_archived_is_only_told_to_be_missing() -> None:
    faults = faults_of(Archive(filename="a.md", reason="r"), archived=("a.md",))

    assert places(faults) == [("scene_missing", "filename")]


# Restore


def test_an_archived_scene_comes_back_under_its_name_or_another() -> None:
    for restore_as in (None, "a.md", "b.md", "A.md"):
        restore = Restore(filename="a.md", restore_as=restore_as)

        assert faults_of(restore, archived=("a.md",)) == []


def test_a_restore_under_a_live_name_is_refused_and_offers_another() -> None:
    faults = faults_of(Restore(filename="a.md"), live=("a.md",), archived=("a.md",))

    assert places(faults) == [("scene_exists", "filename")]
    assert '"as"' in (faults[0].hint or "")


def test_a_restore_under_another_spelling_of_a_live_name_is_refused() -> None:
    faults = faults_of(Restore(filename="a.md"), live=("A.md",), archived=("a.md",))

    assert places(faults) == [("scene_exists", "filename")]


@pytest.mark.parametrize("taken", ["b.md", "B.md"])
def test_a_restore_as_a_live_name_is_refused_at_as(taken: str) -> None:
    restore = Restore(filename="a.md", restore_as="b.md")

    faults = faults_of(restore, live=(taken,), archived=("a.md",))

    assert places(faults) == [("scene_exists", "as")]


def test_a_restore_as_another_name_passes_by_a_live_namesake() -> None:
    restore = Restore(filename="a.md", restore_as="b.md")

    assert faults_of(restore, live=("a.md",), archived=("a.md",)) == []


def test_a_restore_as_the_name_of_another_archived_scene_is_taken() -> None:
    restore = Restore(filename="a.md", restore_as="b.md")

    assert faults_of(restore, archived=("a.md", "b.md")) == []


def test_to_restore_what_is_live_and_not_archived_is_one_fault() -> None:
    faults = faults_of(Restore(filename="a.md"), live=("a.md",))

    assert places(faults) == [("not_archived", "filename")]
    assert faults[0].hint == "It need not be restored."


def test_to_restore_what_nobody_knows_is_one_fault() -> None:
    faults = faults_of(Restore(filename="ghost.md"))

    assert places(faults) == [("not_archived", "filename")]
    assert faults[0].message == "No archived scene is called ghost.md."


def test_who_misspells_an_archived_name_is_told_how_it_is_written() -> None:
    fault = faults_of(Restore(filename="A.md"), archived=("a.md",))[0]

    assert fault.hint == "The archived scene is written a.md."


def test_a_restore_that_is_wrong_in_both_names_has_both_faults() -> None:
    restore = Restore(filename="ghost.md", restore_as="b.md")

    assert places(faults_of(restore, live=("b.md",))) == [
        ("not_archived", "filename"),
        ("scene_exists", "as"),
    ]
