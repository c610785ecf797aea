"""What is said about a batch that is accepted, and what is dropped from it."""

import pytest
from msgspec.structs import replace

from scenestore_engine.commands import (
    AdvisoryMeta,
    Batch,
    Command,
    Consolidate,
    Create,
    Delete,
    Restore,
    Update,
    Write,
)
from scenestore_engine.decide import Accepted, SetChange, decide
from scenestore_engine.events import (
    CursorMoved,
    DismissalsChanged,
    PersonaRequested,
    SceneDeleted,
    SceneUpdated,
)
from scenestore_engine.faults import Notice, NoticeCode
from scenestore_engine.policy import Policy
from scenestore_engine.state import (
    Cursor,
    Known,
    Membership,
    Meta,
    RecordFacts,
    Scene,
    State,
)
from scenestore_engine.times import ms

OLD = "2026-01-01T00:00:00.000Z"
NOW = "2026-03-03T00:00:00.000Z"
LATER = "2026-05-01T00:00:00.000Z"
META = Meta(created=OLD, updated=OLD, summary="old", heat=4)
SCENE = Scene(blob="b", first_seen=OLD, meta=META, members="m")
BARE = Scene(blob="b", first_seen=OLD, meta=META)
ODD = Scene(
    blob="b",
    first_seen=OLD,
    members="m",
    meta=Meta(created=OLD, updated=OLD, summary="o", heat=1, extra=("x: 1", "y: 2")),
)
LIVE = {"a.md": SCENE, "b.md": SCENE, "bare.md": BARE, "odd.md": ODD}
THERE = RecordFacts()
KEY = "AKIA" + "ABCDEFGHIJ234567"


def free(policy: Policy | None) -> Policy:
    """Return *policy* without a look at what bodies keep, which is not tested here."""
    return replace(policy or Policy(), retention="off", retention_update="off")


def accepted(
    *commands: Command,
    live: dict[str, Scene] | None = None,
    archived: tuple[str, ...] = (),
    batch: Batch | None = None,
    policy: Policy | None = None,
    cursor: Cursor | None = None,
    **known: object,
) -> Accepted:
    writes = tuple(
        Write(path=f"/sceneWrites/{i}", command=c) for i, c in enumerate(commands)
    )
    scenes = LIVE if live is None else live
    state = State(live=scenes, archived=dict.fromkeys(archived, SCENE))
    bodies = dict.fromkeys(scenes, "- old")
    given = Known(state=state, bodies=bodies, cursor=cursor, **known)
    found = decide(
        batch or Batch(writes=writes),
        given,
        free(policy),
        now_ms=ms(NOW),
        actor="t",
    )
    assert isinstance(found, Accepted), found
    return found


def notices(*commands: Command, **known: object) -> list[Notice]:
    return list(accepted(*commands, **known).notices)


def codes(found: list[Notice]) -> list[str]:
    return [notice.code.value for notice in found]


def f(*ids: str) -> frozenset[str]:
    return frozenset(ids)


def create(filename: str = "n.md", **fields: object) -> Create:
    fields.setdefault("meta", AdvisoryMeta(summary="s"))
    return Create(filename=filename, content="- x", **fields)


def update(filename: str = "a.md", content: str = "- new", **fields: object) -> Update:
    return Update(filename=filename, content=content, **fields)


def consolidate(filename: str, *sources: str, **fields: object) -> Consolidate:
    fields.setdefault("meta", AdvisoryMeta(summary="s"))
    return Consolidate(filename=filename, sources=sources, content="- x", **fields)


def test_a_plain_batch_has_no_notices() -> None:
    assert notices(create(), update()) == []


def test_what_the_form_showed_comes_first() -> None:
    noted = Notice(code=NoticeCode.FIELD_IGNORED, message="m")
    write = Write(path="/sceneWrites/0", command=create(members=f("ghost")))

    found = notices(batch=Batch(writes=(write,), notices=(noted,)))

    assert codes(found) == ["field_ignored", "unknown_member"]


# Unchanged


def test_an_update_with_the_body_that_is_there_is_dropped() -> None:
    found = accepted(update(content="- old"))

    assert codes(list(found.notices)) == ["unchanged"]
    assert found.notices[0].filename == "a.md"
    assert (found.events, found.bodies, found.members) == ((), {}, {})


@pytest.mark.parametrize(
    "fields",
    [
        {"meta": AdvisoryMeta(summary="old")},
        {"members": f("r1", "r2")},
        {"add_members": f("r1")},
        {"add_members": f("r2"), "members": f("r1")},
        {"meta": AdvisoryMeta(heat=9, updated=LATER, created=LATER)},
        {"reason": "again"},
    ],
)
def test_an_update_that_says_what_is_there_is_dropped(
    fields: dict[str, object],
) -> None:
    has = {"a.md": Membership(has=f("r1", "r2"))}

    found = accepted(update(content="- old", **fields), memberships=has)

    assert found.events == ()
    assert codes(list(found.notices)) == ["unchanged"]


@pytest.mark.parametrize(
    ("fields", "known"),
    [
        ({"content": "- old "}, {}),
        ({"meta": AdvisoryMeta(summary="new")}, {}),
        ({"add_members": f("r3")}, {"records": {"r3": THERE}}),
        (
            {"members": f("r1")},
            {
                "memberships": {"a.md": Membership(has=f("r1"), lacks=f("r2"))},
                "records": {"r2": RecordFacts(deleted=True)},
            },
        ),
    ],
)
def test_an_update_that_changes_anything_is_kept(
    fields: dict[str, object], known: dict[str, object]
) -> None:
    found = accepted(update(**({"content": "- old"} | fields)), **known)

    assert [type(event) for event in found.events] == [SceneUpdated]
    assert "unchanged" not in codes(list(found.notices))


def test_an_update_that_makes_unknown_members_known_is_kept() -> None:
    live = {
        "a.md": Scene(blob="b", first_seen=OLD, meta=META, members_unknown=True),
    }

    kept = accepted(update(content="- old", members=f()), live=live)
    dropped = accepted(update(content="- old"), live=live)

    assert len(kept.events) == 1
    assert dropped.events == ()


def test_what_is_unchanged_does_not_take_the_rest_of_the_batch_along() -> None:
    found = accepted(update(content="- old"), Delete(filename="b.md"))

    assert [type(event) for event in found.events] == [SceneDeleted]


# META


def test_advice_that_differs_is_named_with_what_was_kept() -> None:
    said = AdvisoryMeta(summary="s", created=OLD, updated=LATER, heat=9)

    (notice,) = notices(create(meta=said))

    assert (notice.code.value, notice.filename) == ("meta_advisory", "n.md")
    assert notice.facts == {
        "fields": {
            "created": {"given": OLD, "kept": NOW},
            "updated": {"given": LATER, "kept": NOW},
            "heat": {"given": 9, "kept": 1},
        }
    }


def test_advice_that_does_not_differ_is_not_named() -> None:
    right = AdvisoryMeta(created=OLD, updated=NOW, heat=5)
    nearly = AdvisoryMeta(created=OLD, updated=NOW, heat=4)

    assert notices(update(meta=right)) == []
    (notice,) = notices(update(meta=nearly))
    assert notice.facts == {"fields": {"heat": {"given": 4, "kept": 5}}}


def test_a_heat_of_zero_is_advice_as_well() -> None:
    (notice,) = notices(update(meta=AdvisoryMeta(heat=0)))

    assert notice.facts == {"fields": {"heat": {"given": 0, "kept": 5}}}


def test_created_and_heat_of_a_consolidation_are_the_servers() -> None:
    said = AdvisoryMeta(summary="s", created=LATER, heat=99)

    (notice,) = notices(consolidate("n.md", "a.md", "b.md", meta=said))

    assert notice.facts == {
        "fields": {
            "created": {"given": LATER, "kept": OLD},
            "heat": {"given": 99, "kept": 4},
        }
    }


def test_unknown_meta_that_a_consolidation_drops_is_told_line_by_line() -> None:
    (notice,) = notices(consolidate("odd.md", "a.md", "b.md"))

    assert (notice.code.value, notice.filename) == ("unknown_meta_dropped", "odd.md")
    assert notice.facts == {"lines": ["x: 1", "y: 2"]}
    (notice,) = notices(consolidate("n.md", "a.md", "odd.md"))
    assert notice.facts == {"lines": ["x: 1", "y: 2"]}


def test_an_update_keeps_unknown_meta_without_a_word() -> None:
    assert notices(update("odd.md")) == []


# Names


@pytest.mark.parametrize("holder", ["n.md", "N.md"])
def test_a_new_scene_with_the_name_of_an_archived_one_is_noticed(holder: str) -> None:
    for command in (create(), consolidate("n.md", "a.md", "b.md")):
        (notice,) = notices(command, archived=(holder,))

        assert (notice.code.value, notice.filename) == ("archived_namesake", "n.md")
        assert holder in notice.message


def test_an_old_scene_with_the_name_of_an_archived_one_is_not_noticed() -> None:
    for command in (update(), consolidate("a.md", "b.md", "odd.md")):
        found = notices(command, archived=("a.md",))

        assert "archived_namesake" not in codes(found)


# Ids


def test_new_members_that_l1_does_not_know_are_counted_and_listed() -> None:
    ids = [f"g{i:03}" for i in range(51)]

    (notice,) = notices(create(members=f(*ids, "r1")), records={"r1": THERE})

    assert (notice.code.value, notice.filename) == ("unknown_member", "n.md")
    assert notice.facts == {"count": 51, "ids": ids[:50]}


def test_old_members_that_l1_does_not_know_are_not_noticed() -> None:
    has = {"a.md": Membership(has=f("lost"))}

    assert notices(update(members=f("lost")), memberships=has) == []


def test_members_that_were_dropped_are_counted_and_listed() -> None:
    ids = [f"r{i:03}" for i in range(51)]
    lacks = {"a.md": Membership(lacks=f(*ids))}
    records = dict.fromkeys(ids, RecordFacts(deleted=True))

    (notice,) = notices(update(members=f()), memberships=lacks, records=records)

    assert (notice.code.value, notice.filename) == ("deleted_member_dropped", "a.md")
    assert notice.facts == {"count": 51, "ids": ids[:50]}


def test_each_source_without_members_is_noticed_and_no_other() -> None:
    live = LIVE | {"empty.md": BARE}

    found = notices(consolidate("n.md", "bare.md", "a.md", "empty.md"), live=live)

    assert [(n.code.value, n.filename) for n in found] == [
        ("source_without_members", "bare.md"),
        ("source_without_members", "empty.md"),
    ]


def test_a_live_target_without_members_is_no_source_without_members() -> None:
    assert notices(consolidate("bare.md", "a.md", "b.md")) == []


def test_a_dismissed_record_that_becomes_a_member_is_dismissed_no_more() -> None:
    for command in (
        create(members=f("r2", "r1")),
        update(add_members=f("r2", "r1")),
        consolidate("n.md", "a.md", "b.md", add_members=f("r2", "r1")),
    ):
        found = accepted(
            command, dismissed=f("r1", "r2"), records={"r1": THERE, "r2": THERE}
        )

        assert codes(list(found.notices)) == ["undismissed"]
        assert found.notices[0].filename is None
        assert found.notices[0].facts == {"count": 2, "ids": ["r1", "r2"]}
        assert found.dismissed == SetChange(drop=("r1", "r2"))
        assert found.events[1:] == (DismissalsChanged(removed=2),)


def test_other_dismissed_records_stay_dismissed() -> None:
    found = accepted(create(members=f("r1")), records={"r1": THERE}, dismissed=f("r9"))

    assert found.dismissed == SetChange()
    assert len(found.events) == 1


def test_members_that_were_not_given_are_missing() -> None:
    assert accepted(create()).members_missing == ("n.md",)
    assert accepted(create(members=f())).members_missing == ()
    assert accepted(create(add_members=f("r1"))).members_missing == ()
    assert accepted(update()).members_missing == ()


def test_a_secret_that_policy_lets_in_is_noticed_without_being_repeated() -> None:
    write = update(content=f"- {KEY}")

    (notice,) = notices(write, policy=Policy(secrets="notice"))

    assert (notice.code.value, notice.filename) == ("secret", "a.md")
    assert notice.facts == {"path": "/sceneWrites/0/content"}
    assert KEY not in str(notice)
    assert notices(write, policy=Policy(secrets="off")) == []


# The order of events


def test_events_follow_the_writes_then_dismissals_cursor_and_persona() -> None:
    to = Cursor(record_id="r9", shard="2026-03-03", line=9)
    commands = [
        Restore(filename="z.md"),
        update(add_members=f("r1")),
        create(),
        Delete(filename="b.md"),
    ]
    batch = Batch(
        writes=tuple(
            Write(path=f"/sceneWrites/{i}", command=c) for i, c in enumerate(commands)
        ),
        cursor="r9",
        persona_reason="she moved",
        dismiss=f("r2", "r3", "r4"),
        dismiss_reason="noise",
    )
    records = dict.fromkeys(("r1", "r2", "r3", "r4"), THERE)

    found = accepted(
        batch=batch,
        archived=("z.md",),
        cursor=to,
        records=records,
        dismissed=f("r1", "r4"),
    )

    assert [type(event).__name__ for event in found.events] == [
        "SceneRestored",
        "SceneUpdated",
        "SceneCreated",
        "SceneDeleted",
        "DismissalsChanged",
        "CursorMoved",
        "PersonaRequested",
    ]
    assert found.events[4:] == (
        DismissalsChanged(added=2, removed=1, reason="noise"),
        CursorMoved(to=to),
        PersonaRequested(reason="she moved", at=NOW),
    )
    assert found.dismissed == SetChange(add=("r2", "r3"), drop=("r1",))


def test_the_shell_is_told_when_it_did_not_open_what_a_batch_names() -> None:
    live = {"a.md": Scene(blob="b", first_seen=OLD)}

    with pytest.raises(ValueError, match="must open the scenes"):
        accepted(update(), live=live)
