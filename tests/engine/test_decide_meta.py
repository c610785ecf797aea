"""What META, first seen and unknown members become: the server's arithmetic."""

import pytest

from scenestore_engine.commands import (
    AdvisoryMeta,
    Archive,
    Batch,
    Command,
    Consolidate,
    Create,
    Delete,
    Restore,
    Update,
    Write,
)
from scenestore_engine.decide import Accepted, decide
from scenestore_engine.events import (
    Event,
    SceneArchived,
    SceneCreated,
    SceneDeleted,
    SceneRestored,
    ScenesConsolidated,
    SceneUpdated,
)
from scenestore_engine.policy import MAX_HEAT, Policy
from scenestore_engine.state import Known, Membership, Meta, Scene, State
from scenestore_engine.times import ms

BEFORE = "2026-02-01T00:00:00.000Z"
NOW = "2026-03-03T00:00:00.000Z"
AFTER = "2026-04-01T00:00:00.000Z"
FREE = Policy(retention="off", retention_update="off")


def scene(
    *,
    created: str = BEFORE,
    updated: str = BEFORE,
    heat: int = 1,
    first_seen: str = BEFORE,
    extra: tuple[str, ...] = (),
    unknown: bool = False,
    summary: str = "old",
) -> Scene:
    meta = Meta(
        created=created, updated=updated, summary=summary, heat=heat, extra=extra
    )
    return Scene(
        blob="b", first_seen=first_seen, meta=meta, members_unknown=unknown, members="m"
    )


def event_of(command: Command, now: str = NOW, **live: Scene) -> Event:
    (event,) = accepted(command, now, **live).events
    return event


def accepted(command: Command, now: str = NOW, **live: Scene) -> Accepted:
    scenes = {f"{name}.md": one for name, one in live.items()}
    state = State(live=scenes, archived={"z.md": scene(heat=7)})
    known = Known(
        state=state,
        bodies=dict.fromkeys(scenes, "- old"),
        memberships={name: Membership(has=frozenset({"r1"})) for name in scenes},
    )
    batch = Batch(writes=(Write(path="/sceneWrites/0", command=command),))
    found = decide(batch, known, FREE, now_ms=ms(now), actor="t")
    assert isinstance(found, Accepted), found
    return found


def update(**fields: object) -> Update:
    return Update(filename="a.md", content="- new", **fields)


def consolidate(filename: str, *sources: str, **fields: object) -> Consolidate:
    meta = AdvisoryMeta(summary="both")
    return Consolidate(
        filename=filename, sources=sources, content="- x", meta=meta, **fields
    )


# Create


def test_a_created_scene_begins_now_with_heat_1() -> None:
    said = AdvisoryMeta(summary="s", created=BEFORE, updated=AFTER, heat=99)
    create = Create(filename="n.md", content="- x", meta=said, reason="why")

    assert event_of(create) == SceneCreated(
        filename="n.md",
        meta=Meta(created=NOW, updated=NOW, summary="s", heat=1),
        first_seen=NOW,
        reason="why",
    )


# Update


@pytest.mark.parametrize("heat", [0, 1, 41])
def test_an_update_adds_one_to_the_heat_and_keeps_the_rest(heat: int) -> None:
    old = scene(heat=heat, extra=("mood: blue",), first_seen="2026-01-01T00:00:00.000Z")

    assert event_of(update(reason="why"), a=old) == SceneUpdated(
        filename="a.md",
        meta=Meta(
            created=BEFORE,
            updated=NOW,
            summary="old",
            heat=heat + 1,
            extra=("mood: blue",),
        ),
        reason="why",
    )


@pytest.mark.parametrize("heat", [MAX_HEAT - 1, MAX_HEAT])
def test_the_heat_of_an_update_ends_at_the_highest_there_is(heat: int) -> None:
    event = event_of(update(), a=scene(heat=heat))

    assert isinstance(event, SceneUpdated)
    assert event.meta.heat == MAX_HEAT


def test_what_a_caller_says_of_heat_and_times_is_not_taken_in_an_update() -> None:
    said = AdvisoryMeta(created=AFTER, updated=AFTER, heat=99)

    event = event_of(update(meta=said), a=scene(heat=3))

    assert isinstance(event, SceneUpdated)
    assert event.meta == Meta(created=BEFORE, updated=NOW, summary="old", heat=4)


def test_an_update_takes_a_summary_that_is_given_and_else_keeps_it() -> None:
    given = event_of(update(meta=AdvisoryMeta(summary="new")), a=scene())
    kept = event_of(update(), a=scene())

    assert isinstance(given, SceneUpdated)
    assert isinstance(kept, SceneUpdated)
    assert (given.meta.summary, kept.meta.summary) == ("new", "old")


def test_updated_does_not_go_back_when_the_clock_does() -> None:
    event = event_of(update(), a=scene(updated=AFTER))

    assert isinstance(event, SceneUpdated)
    assert event.meta.updated == AFTER


def test_updated_is_never_before_created() -> None:
    event = event_of(update(), a=scene(created=AFTER, updated=AFTER))

    assert isinstance(event, SceneUpdated)
    assert event.meta.created <= event.meta.updated


@pytest.mark.parametrize(
    ("unknown", "given", "follows"),
    [
        (True, None, True),
        (True, frozenset({"r1"}), False),
        (True, frozenset(), False),
        (False, None, False),
        (False, frozenset({"r1"}), False),
    ],
)
def test_members_are_known_once_an_update_gives_them(
    given: frozenset[str] | None, *, unknown: bool, follows: bool
) -> None:
    event = event_of(update(members=given), a=scene(unknown=unknown))

    assert isinstance(event, SceneUpdated)
    assert event.members_unknown is follows


def test_members_that_are_only_added_to_stay_unknown() -> None:
    event = event_of(update(add_members=frozenset({"r2"})), a=scene(unknown=True))

    assert isinstance(event, SceneUpdated)
    assert event.members_unknown is True


# Consolidate


def consolidated(
    command: Consolidate, now: str = NOW, **live: Scene
) -> ScenesConsolidated:
    event = event_of(command, now, **live)
    assert isinstance(event, ScenesConsolidated)
    return event


def test_a_new_scene_of_two_has_the_highest_heat_and_the_earliest_created() -> None:
    event = consolidated(
        consolidate("n.md", "a.md", "b.md", reason="why"),
        a=scene(heat=3, created="2026-02-02T00:00:00.000Z"),
        b=scene(heat=8, created="2026-01-02T00:00:00.000Z"),
    )

    assert event == ScenesConsolidated(
        filename="n.md",
        sources=("a.md", "b.md"),
        meta=Meta(
            created="2026-01-02T00:00:00.000Z", updated=NOW, summary="both", heat=8
        ),
        first_seen=BEFORE,
        reason="why",
    )


@pytest.mark.parametrize("target_created", [AFTER, "2026-01-01T00:00:00.000Z"])
def test_a_live_target_keeps_its_created_whatever_the_sources_say(
    target_created: str,
) -> None:
    event = consolidated(
        consolidate("t.md", "a.md", "b.md"),
        a=scene(),
        b=scene(),
        t=scene(created=target_created),
    )

    assert event.meta.created == target_created


@pytest.mark.parametrize(("a", "b", "t"), [(5, 1, 1), (1, 5, 1), (1, 1, 5)])
def test_the_heat_is_the_highest_among_sources_and_live_target(
    a: int, b: int, t: int
) -> None:
    event = consolidated(
        consolidate("t.md", "a.md", "b.md"),
        a=scene(heat=a),
        b=scene(heat=b),
        t=scene(heat=t),
    )

    assert event.meta.heat == 5


@pytest.mark.parametrize("oldest", ["a", "b", "t"])
def test_first_seen_is_the_oldest_of_sources_and_live_target(oldest: str) -> None:
    long_ago = "2020-01-01T00:00:00.000Z"
    live = {name: scene(first_seen=NOW) for name in "abt"}
    live[oldest] = scene(first_seen=long_ago)

    event = consolidated(consolidate("t.md", "a.md", "b.md"), **live)

    assert event.first_seen == long_ago


@pytest.mark.parametrize("latest", ["a", "b", "t"])
def test_updated_of_a_consolidation_does_not_go_back_when_the_clock_does(
    latest: str,
) -> None:
    live = {name: scene() for name in "abt"}
    live[latest] = scene(updated=AFTER)

    event = consolidated(consolidate("t.md", "a.md", "b.md"), **live)

    assert event.meta.updated == AFTER


def test_a_scene_that_is_no_part_of_a_consolidation_does_not_count() -> None:
    other = scene(heat=99, created="2020-01-01T00:00:00.000Z", updated=AFTER)

    event = consolidated(
        consolidate("n.md", "a.md", "b.md"), a=scene(), b=scene(), other=other
    )

    assert event.meta == Meta(created=BEFORE, updated=NOW, summary="both", heat=1)


def test_a_consolidation_drops_unknown_meta_of_sources_and_target() -> None:
    odd = scene(extra=("mood: blue",))

    event = consolidated(consolidate("t.md", "a.md", "b.md"), a=odd, b=odd, t=odd)

    assert event.meta.extra == ()


@pytest.mark.parametrize("holder", ["a", "b", "t"])
def test_members_of_a_consolidation_are_unknown_if_those_of_one_part_are(
    holder: str,
) -> None:
    live = {name: scene() for name in "abt"}
    live[holder] = scene(unknown=True)
    given = frozenset({"r1"})

    silent = consolidated(consolidate("t.md", "a.md", "b.md"), **live)
    told = consolidated(consolidate("t.md", "a.md", "b.md", members=given), **live)

    assert silent.members_unknown is True
    assert told.members_unknown is False


def test_members_of_a_consolidation_are_known_if_those_of_all_parts_are() -> None:
    live = {name: scene() for name in "abt"}

    assert not consolidated(consolidate("t.md", "a.md", "b.md"), **live).members_unknown


# The rest


def test_delete_archive_and_restore_carry_their_reasons_and_no_meta() -> None:
    assert event_of(Delete(filename="a.md", reason="r"), a=scene()) == SceneDeleted(
        filename="a.md", reason="r"
    )
    assert event_of(Archive(filename="a.md", reason="r"), a=scene()) == SceneArchived(
        filename="a.md", reason="r"
    )
    assert event_of(Restore(filename="z.md", reason="r")) == SceneRestored(
        filename="z.md", restored_as="z.md", reason="r"
    )
    assert event_of(Restore(filename="z.md", restore_as="y.md")) == SceneRestored(
        filename="z.md", restored_as="y.md"
    )


def test_bodies_and_member_sets_are_named_for_written_scenes_only() -> None:
    written = accepted(update(), a=scene())
    moved = accepted(Delete(filename="a.md"), a=scene())

    assert (written.bodies, [*written.members]) == ({"a.md": "- new"}, ["a.md"])
    assert (moved.bodies, moved.members) == ({}, {})
