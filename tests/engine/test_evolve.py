"""State after events: one case an event, and whole lives against plain dictionaries."""

import random
import typing
from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from scenestore_engine.commands import (
    AdvisoryMeta,
    Archive,
    Batch,
    BodyWrite,
    Command,
    Consolidate,
    Create,
    Delete,
    Restore,
    Update,
    Write,
    targets,
)
from scenestore_engine.decide import Accepted, SetChange, decide
from scenestore_engine.events import (
    CursorMoved,
    DismissalsChanged,
    Event,
    Handles,
    PersonaRequested,
    SceneArchived,
    SceneCreated,
    SceneDeleted,
    SceneRestored,
    ScenesConsolidated,
    SceneUpdated,
    StateImported,
    StoreBegun,
    StoreRolledBack,
)
from scenestore_engine.evolve import evolve, fold
from scenestore_engine.policy import Policy
from scenestore_engine.state import (
    EMPTY,
    Cursor,
    Known,
    Membership,
    Meta,
    PersonaRequest,
    RecordFacts,
    Scene,
    State,
)
from scenestore_engine.times import iso

T = "2026-03-03T00:00:00.000Z"
META = Meta(created=T, updated=T, summary="s", heat=1)
HERE = Cursor(record_id="r1", shard="2026-03-03", line=1)
THERE = Cursor(record_id="r2", shard="2026-03-03", line=2)


def scene(mark: str = "blob", *, unknown: bool = False) -> Scene:
    return Scene(
        blob=mark, first_seen=T, members="m" + mark, meta=META, members_unknown=unknown
    )


BEFORE = State(
    live={"a.md": scene("a", unknown=True), "b.md": scene("b"), "c.md": scene("c")},
    archived={"z.md": scene("z", unknown=True)},
    dismissed="d",
    forgotten="f",
    cursor=HERE,
    persona=(PersonaRequest(reason="r", at=T),),
)
HANDLES = Handles(scenes="s", places="p")
THEN = State(
    live={"old.md": scene("old")},
    archived={"gone.md": scene("gone")},
    dismissed="d then",
    forgotten="f then",
    cursor=THERE,
    persona=(),
)
OTHER_META = Meta(created=T, updated=T, summary="other", heat=2, extra=("x: 1",))


EVENTS: list[tuple[Event, Mapping[str, object]]] = [
    (StoreBegun(), {}),
    (
        SceneCreated(
            filename="n.md", meta=META, first_seen="2020", blob="x", members="y"
        ),
        {
            "live": {
                **BEFORE.live,
                "n.md": Scene(blob="x", members="y", first_seen="2020", meta=META),
            }
        },
    ),
    (
        SceneUpdated(filename="a.md", meta=OTHER_META, blob="x", members="y"),
        {
            "live": {
                **BEFORE.live,
                "a.md": Scene(blob="x", members="y", first_seen=T, meta=OTHER_META),
            }
        },
    ),
    (
        SceneUpdated(filename="b.md", meta=META, blob="x", members_unknown=True),
        {
            "live": {
                **BEFORE.live,
                "b.md": Scene(blob="x", first_seen=T, meta=META, members_unknown=True),
            }
        },
    ),
    (
        ScenesConsolidated(
            filename="n.md",
            sources=("a.md", "b.md"),
            meta=OTHER_META,
            first_seen="2020",
            blob="x",
            members="y",
            members_unknown=True,
        ),
        {
            "live": {
                "c.md": BEFORE.live["c.md"],
                "n.md": Scene(
                    blob="x",
                    members="y",
                    first_seen="2020",
                    meta=OTHER_META,
                    members_unknown=True,
                ),
            }
        },
    ),
    (
        ScenesConsolidated(
            filename="c.md", sources=("a.md", "b.md"), meta=META, first_seen="2020"
        ),
        {"live": {"c.md": Scene(blob="", first_seen="2020", meta=META)}},
    ),
    (
        SceneDeleted(filename="b.md"),
        {"live": {"a.md": BEFORE.live["a.md"], "c.md": BEFORE.live["c.md"]}},
    ),
    (
        SceneArchived(filename="b.md", reason="r"),
        {
            "live": {"a.md": BEFORE.live["a.md"], "c.md": BEFORE.live["c.md"]},
            "archived": {**BEFORE.archived, "b.md": BEFORE.live["b.md"]},
        },
    ),
    (
        SceneRestored(filename="z.md", restored_as="y.md"),
        {"live": {**BEFORE.live, "y.md": BEFORE.archived["z.md"]}, "archived": {}},
    ),
    (DismissalsChanged(dismissed="d2", added=1), {"dismissed": "d2"}),
    (DismissalsChanged(dismissed=None, removed=1), {"dismissed": None}),
    (CursorMoved(to=THERE), {"cursor": THERE}),
    (
        PersonaRequested(reason="again", at="2027"),
        {"persona": (*BEFORE.persona, PersonaRequest(reason="again", at="2027"))},
    ),
    (
        StateImported(scenes=("old.md",), cursor=HERE, state=HANDLES),
        {
            "live": THEN.live,
            "archived": THEN.archived,
            "dismissed": "d then",
            "cursor": HERE,
        },
    ),
    (
        StoreRolledBack(revision="0" * 40, seq=1, cursor=THERE, state=HANDLES),
        {
            "live": THEN.live,
            "archived": THEN.archived,
            "dismissed": "d then",
            "cursor": THERE,
        },
    ),
    (
        StoreRolledBack(revision="0" * 40, seq=0, cursor=None, state=HANDLES),
        {
            "live": THEN.live,
            "archived": THEN.archived,
            "dismissed": "d then",
            "cursor": None,
        },
    ),
]


def test_every_kind_of_event_has_a_row_here() -> None:
    kinds = {type(event) for event, _ in EVENTS}

    assert kinds == set(typing.get_args(Event))


@pytest.mark.parametrize(
    ("event", "changed"), EVENTS, ids=[type(event).__name__ for event, _ in EVENTS]
)
def test_an_event_changes_what_it_says_and_leaves_the_rest(
    event: Event, changed: Mapping[str, object]
) -> None:
    before = replace(BEFORE)

    after = evolve(BEFORE, event, {HANDLES: THEN})

    assert after == replace(BEFORE, **changed)
    assert before == BEFORE


def test_an_import_or_rollback_needs_the_state_that_it_names() -> None:
    with pytest.raises(KeyError):
        evolve(BEFORE, StateImported(state=Handles(scenes="other")), {HANDLES: THEN})


def test_a_rollback_does_not_bring_purged_records_back() -> None:
    event = StoreRolledBack(revision="0" * 40, seq=1, cursor=None, state=HANDLES)

    after = evolve(BEFORE, event, {HANDLES: THEN})

    assert (after.forgotten, after.persona) == (BEFORE.forgotten, BEFORE.persona)


def test_an_archive_then_a_restore_gives_the_same_scene() -> None:
    events = (
        SceneArchived(filename="a.md", reason="r"),
        SceneRestored(filename="a.md", restored_as="a.md"),
    )

    assert fold(events, BEFORE) == BEFORE


def test_events_are_folded_oldest_first() -> None:
    events = (CursorMoved(to=HERE), CursorMoved(to=THERE))

    assert fold(events).cursor == THERE
    assert fold(()) == EMPTY


# Whole lives


NAMES = ("a.md", "b.md", "c.md", "d.md")
IDS = tuple(f"r{i}" for i in range(6))
POLICY = Policy(
    max_scenes=4, min_archive_age_days=0, retention="off", retention_update="off"
)


def ids_of(handle: str | None) -> frozenset[str]:
    return frozenset(handle.split()) if handle else frozenset()


def handle_of(ids: frozenset[str]) -> str | None:
    return " ".join(sorted(ids)) or None


def known_for(batch: Batch, state: State) -> Known:
    """Look up what the shell would, where a handle spells out its set."""
    held = {name: ids_of(one.members) for name, one in state.live.items()}
    away = {f"archive/{n}": ids_of(s.members) for n, s in state.archived.items()}
    memberships = {
        name: Membership(has=held[name])
        for write in batch.writes
        for name in targets(write.command)
        if name in held
    }
    return Known(
        state=state,
        bodies={name: one.blob for name, one in state.live.items()},
        memberships=memberships,
        records=dict.fromkeys(IDS, RecordFacts()),
        homes={
            i: tuple(name for name, ids in (held | away).items() if i in ids)
            for i in batch.dismiss
        },
        dismissed=ids_of(state.dismissed),
    )


def filled_in(found: Accepted, state: State) -> list[Event]:
    def members(change: SetChange, bases: list[str | None]) -> str | None:
        union = frozenset[str]().union(*map(ids_of, bases))
        return handle_of((union | set(change.add)) - set(change.drop))

    events: list[Event] = []
    for event in found.events:
        if isinstance(event, SceneCreated | SceneUpdated | ScenesConsolidated):
            change = found.members[event.filename]
            bases = [state.live[name].members for name in change.union]
            blob = found.bodies[event.filename]
            events.append(replace(event, blob=blob, members=members(change, bases)))
        elif isinstance(event, DismissalsChanged):
            made = members(found.dismissed, [state.dismissed])
            events.append(replace(event, dismissed=made))
        else:
            events.append(event)
    return events


Model = dict[str, dict[str, tuple[str, int, frozenset[str]]]]


def wish(dice: random.Random, model: Model) -> Command:
    """Return a command that has a good chance of being granted."""
    live, archived = [*model["live"]] or ["ghost.md"], [*model["archived"]]
    ids = frozenset(dice.sample(IDS, dice.randrange(3)))
    body, said = dice.choice(["- one", "- two"]), AdvisoryMeta(summary="s")
    anywhere = dice.choice(NAMES)
    match dice.randrange(6) if len(live) > 1 else 0:
        case 0:
            return Create(filename=anywhere, content=body, meta=said, members=ids)
        case 1:
            return Update(filename=dice.choice(live), content=body, add_members=ids)
        case 2:
            return Consolidate(
                filename=anywhere,
                sources=tuple(dice.sample(live, min(2, len(live)))),
                content=body,
                meta=said,
                add_members=ids,
            )
        case 3:
            return Archive(filename=dice.choice(live), reason="r")
        case 4:
            return Restore(
                filename=dice.choice(archived or NAMES),
                restore_as=dice.choice([None, anywhere]),
            )
        case _:
            return Delete(filename=dice.choice(live))


def done(model: Model, command: Command) -> None:
    """Do the same to plain dictionaries: name to body, heat and members."""
    live, archived = model["live"], model["archived"]
    added = getattr(command, "add_members", frozenset())
    match command:
        case Create(filename=name, content=body):
            live[name] = (body, 1, (command.members or frozenset()) | added)
        case Update(filename=name, content=body):
            old, heat, ids = live[name]
            if (old, ids) != (body, ids | added):
                live[name] = (body, heat + 1, ids | added)
        case Consolidate(filename=name, content=body, sources=sources):
            parts = [live[n] for n in {*sources, name} if n in live]
            for source in sources:
                del live[source]
            union = frozenset[str]().union(*(part[2] for part in parts))
            live[name] = (body, max(part[1] for part in parts), union | added)
        case Delete(filename=name):
            del live[name]
        case Archive(filename=name):
            archived[name] = live.pop(name)
        case Restore(filename=name, restore_as=other):
            live[other or name] = archived.pop(name)


@given(st.integers(0, 2**32))
def test_accepted_decisions_do_to_the_state_what_they_do_to_plain_dictionaries(
    seed: int,
) -> None:
    dice = random.Random(seed)  # noqa: S311 - must repeat itself
    state = EMPTY
    model: Model = {"live": {}, "archived": {}}
    dismissed: frozenset[str] = frozenset()
    for number in range(20):
        wishes = [wish(dice, model) for _ in range(dice.choice([1, 1, 2]))]
        away = frozenset(dice.sample(IDS, dice.choice([0, 0, 0, 1])))
        writes = tuple(
            Write(path=f"/sceneWrites/{i}", command=c) for i, c in enumerate(wishes)
        )
        batch = Batch(writes=writes, dismiss=away, dismiss_reason="r")
        now_ms = 1_772_496_000_000 + number
        known = known_for(batch, state)
        found = decide(batch, known, POLICY, now_ms=now_ms, actor="t")
        if not isinstance(found, Accepted):
            continue
        state = fold(filled_in(found, state), state)
        joining = frozenset[str]().union(
            *(
                (c.members or frozenset()) | c.add_members
                for c in wishes
                if isinstance(c, BodyWrite)
            )
        )
        dismissed = (dismissed | away) - joining
        for command in wishes:
            done(model, command)

        assert shown(state.live) == model["live"]
        assert shown(state.archived) == model["archived"]
        assert ids_of(state.dismissed) == dismissed
        assert len(state.live) <= POLICY.max_scenes
        assert all(s.first_seen <= iso(now_ms) for s in state.live.values())


def shown(
    scenes: Mapping[str, Scene],
) -> dict[str, tuple[str, int, frozenset[str]]]:
    out = {}
    for name, one in scenes.items():
        assert one.meta is not None
        out[name] = (one.blob, one.meta.heat, ids_of(one.members))
    return out
