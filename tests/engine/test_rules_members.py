"""Member ids: what may be one, what may not be left out, what may be dismissed."""

import pytest
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
    Update,
    Write,
)
from scenestore_engine.decide import Accepted, Decision, Rejected, SetChange, decide
from scenestore_engine.faults import Fault
from scenestore_engine.policy import Policy
from scenestore_engine.state import (
    Known,
    Membership,
    Meta,
    RecordFacts,
    Scene,
    State,
)

NOW_MS = 1_772_496_000_000
OLD = "2026-01-01T00:00:00.000Z"
META = Meta(created=OLD, updated=OLD, summary="old", heat=1)
SCENE = Scene(blob="", first_seen=OLD, meta=META)
SAID = AdvisoryMeta(summary="s")
LIVE = ("a.md", "b.md", "c.md")
THERE = RecordFacts()
GONE = RecordFacts(deleted=True)
STRICT = Policy(strict_members=True)


def free(policy: Policy | None) -> Policy:
    """Return *policy* without a look at what bodies keep, which is not tested here."""
    return replace(policy or Policy(), retention="off", retention_update="off")


def f(*ids: str) -> frozenset[str]:
    return frozenset(ids)


def decided(
    *commands: Command, policy: Policy | None = None, **known: object
) -> Decision:
    writes = tuple(
        Write(path=f"/sceneWrites/{i}", command=c) for i, c in enumerate(commands)
    )
    state = State(live=dict.fromkeys(LIVE, SCENE))
    given = Known(state=state, bodies=dict.fromkeys(LIVE, "- old"), **known)
    batch = Batch(writes=writes)
    return decide(batch, given, free(policy), now_ms=NOW_MS, actor="t")


def dismissed(
    *ids: str, commands: tuple[Command, ...] = (), **known: object
) -> Decision:
    writes = tuple(
        Write(path=f"/sceneWrites/{i}", command=c) for i, c in enumerate(commands)
    )
    state = State(live=dict.fromkeys(LIVE, SCENE))
    given = Known(state=state, bodies=dict.fromkeys(LIVE, "- old"), **known)
    batch = Batch(writes=writes, dismiss=frozenset(ids), dismiss_reason="noise")
    return decide(batch, given, free(None), now_ms=NOW_MS, actor="t")


def faults_of(found: Decision) -> list[Fault]:
    return list(found.faults) if isinstance(found, Rejected) else []


def places(found: Decision) -> list[tuple[str, str]]:
    return [
        (fault.code.value, fault.path.removeprefix("/sceneWrites/0"))
        for fault in faults_of(found)
    ]


def gaps(found: Decision) -> list[tuple[str, tuple[str, ...]]]:
    assert isinstance(found, Rejected)
    return [(gap.filename, gap.ids) for gap in found.member_gaps]


def change(found: Decision, filename: str) -> SetChange:
    assert isinstance(found, Accepted), found
    return found.members[filename]


def create(**fields: object) -> Create:
    return Create(filename="n.md", content="- x", meta=SAID, **fields)


def update(**fields: object) -> Update:
    return Update(filename="a.md", content="- x", **fields)


def consolidate(filename: str = "n.md", **fields: object) -> Consolidate:
    return Consolidate(
        filename=filename, sources=("a.md", "b.md"), content="- x", meta=SAID, **fields
    )


ANY_WRITE = pytest.mark.parametrize("write", [create, update, consolidate])


# What can be an id


@ANY_WRITE
@pytest.mark.parametrize("field", ["members", "add_members"])
@pytest.mark.parametrize(
    ("record_id", "is_good"),
    [
        ("x", True),
        ("x" * 128, True),
        ("x" * 129, False),
        ("é" * 64, True),
        ("é" * 64 + "x", False),
        ("场" * 42 + "xx", True),
        ("场" * 43, False),
        ("", False),
        ("a\nb", False),
        ("a\x7f", False),
        ("a\x85", False),
        ("a\x1b", False),
        ("a b", True),
        ("../a", True),
        ("a\u2028b", True),
    ],
    ids=ascii,
)
def test_an_id_has_1_to_128_bytes_and_no_control_characters(
    write: type[BodyWrite], field: str, record_id: str, *, is_good: bool
) -> None:
    found = decided(write(**{field: f(record_id)}))

    place = "/members" if field == "members" else "/addMembers"
    assert places(found) == ([] if is_good else [("bad_record_id", place)])


def test_ids_that_cannot_be_ids_are_counted_and_the_first_is_shown_escaped() -> None:
    (fault,) = faults_of(decided(create(members=f("ok", "b\x1b", "a\x1b" + "x" * 99))))

    assert fault.message.startswith("2 ids of members")
    assert "'a\\x1b" in fault.message
    assert "\x1b" not in fault.message


# What may not be left out


def test_a_set_that_holds_all_members_of_the_scene_is_taken() -> None:
    has = {"a.md": Membership(has=f("r1", "r2"))}

    found = decided(update(members=f("r1", "r2", "r3")), memberships=has)

    assert change(found, "a.md") == SetChange(union=("a.md",), add=("r3",))


def test_members_that_are_left_out_are_listed_sorted_for_the_scene() -> None:
    lacks = Membership(has=f("r1"), lacks=f("r3", "r2"))
    known = {"memberships": {"a.md": lacks}, "records": {"r2": THERE, "r3": THERE}}

    found = decided(update(members=f("r1")), **known)

    assert places(found) == [("member_gap", "/members")]
    assert "leave out 2 that" in faults_of(found)[0].message
    assert gaps(found) == [("a.md", ("r2", "r3"))]


def test_members_that_a_consolidation_leaves_out_are_listed_for_each_scene() -> None:
    memberships = {
        "a.md": Membership(has=f("r1"), lacks=f("r2")),
        "b.md": Membership(has=f("r1")),
        "c.md": Membership(lacks=f("r2", "r3")),
    }

    found = decided(consolidate("c.md", members=f("r1")), memberships=memberships)

    assert places(found) == [("member_gap", "/members")]
    assert "leave out 2 that" in faults_of(found)[0].message
    assert gaps(found) == [("a.md", ("r2",)), ("c.md", ("r2", "r3"))]


def test_the_gaps_of_every_write_are_listed() -> None:
    memberships = {
        "a.md": Membership(lacks=f("r1")),
        "c.md": Membership(lacks=f("r2")),
    }
    other = Update(filename="c.md", content="- x", members=f("r9"))

    found = decided(update(members=f("r9")), other, memberships=memberships)

    assert gaps(found) == [("a.md", ("r1",)), ("c.md", ("r2",))]


def test_a_refusal_for_another_reason_lists_the_gaps_too() -> None:
    lacks = {"a.md": Membership(lacks=f("r1"))}

    found = decided(
        update(members=f("r9")), Delete(filename="ghost.md"), memberships=lacks
    )

    assert {fault.code.value for fault in faults_of(found)} == {
        "member_gap",
        "scene_missing",
    }
    assert gaps(found) == [("a.md", ("r1",))]


def test_what_is_left_out_of_members_may_stand_in_addmembers() -> None:
    lacks = {"a.md": Membership(has=f("r1", "r2"), lacks=f("r2"))}

    found = decided(
        update(members=f("r1"), add_members=f("r2", "r3")), memberships=lacks
    )

    assert change(found, "a.md") == SetChange(union=("a.md",), add=("r3",))


def test_an_empty_given_set_leaves_everything_out() -> None:
    lacks = {"a.md": Membership(lacks=f("r1"))}

    assert places(decided(update(members=f()), memberships=lacks)) == [
        ("member_gap", "/members")
    ]


def test_without_a_given_set_nothing_is_left_out() -> None:
    has = {"a.md": Membership(has=f("r1"))}

    found = decided(update(add_members=f("r1", "r2")), memberships=has)

    assert change(found, "a.md") == SetChange(union=("a.md",), add=("r2",))


def test_a_member_that_l1_says_is_deleted_may_be_left_out_and_is_dropped() -> None:
    lacks = {"a.md": Membership(has=f("r1"), lacks=f("r3", "r2"))}

    found = decided(
        update(members=f("r1")), memberships=lacks, records={"r2": GONE, "r3": GONE}
    )

    assert change(found, "a.md") == SetChange(union=("a.md",), drop=("r2", "r3"))
    assert isinstance(found, Accepted)
    assert found.events[0].dropped == ("r2", "r3")


def test_a_deleted_member_that_is_given_again_stays() -> None:
    has = {"a.md": Membership(has=f("r1", "r2"))}

    found = decided(
        update(members=f("r1", "r2")), memberships=has, records={"r2": GONE}
    )

    assert change(found, "a.md").drop == ()


def test_deleted_members_are_dropped_only_where_a_set_is_given() -> None:
    has = {"a.md": Membership(has=f("r1"))}

    found = decided(
        update(add_members=f("r1", "r9")), memberships=has, records={"r1": GONE}
    )

    assert change(found, "a.md") == SetChange(union=("a.md",), add=("r9",))


def test_deleted_and_live_members_left_out_together_are_still_refused() -> None:
    lacks = {"a.md": Membership(lacks=f("r1", "r2", "r3"))}

    found = decided(
        update(members=f("r9")), memberships=lacks, records={"r1": GONE, "r2": THERE}
    )

    assert gaps(found) == [("a.md", ("r2", "r3"))]


def test_what_is_dropped_from_a_consolidation_is_dropped_from_the_union() -> None:
    memberships = {
        "a.md": Membership(has=f("r1"), lacks=f("r2")),
        "b.md": Membership(lacks=f("r2", "r3")),
    }

    found = decided(
        consolidate(members=f("r1", "r4")),
        memberships=memberships,
        records={"r2": GONE, "r3": GONE},
    )

    assert change(found, "n.md") == SetChange(
        union=("a.md", "b.md"), add=("r4",), drop=("r2", "r3")
    )


def test_the_union_of_a_consolidation_has_a_live_target_too() -> None:
    assert change(decided(consolidate("c.md")), "c.md") == SetChange(
        union=("a.md", "b.md", "c.md")
    )
    assert change(decided(consolidate("n.md")), "n.md") == SetChange(
        union=("a.md", "b.md")
    )


def test_a_created_scene_has_what_both_fields_give() -> None:
    found = decided(create(members=f("r2"), add_members=f("r1", "r2")))

    assert change(found, "n.md") == SetChange(add=("r1", "r2"))


# Unknown and forgotten ids


@ANY_WRITE
@pytest.mark.parametrize("field", ["members", "add_members"])
def test_under_strict_members_a_new_id_that_l1_does_not_know_is_refused(
    write: type[BodyWrite], field: str
) -> None:
    found = decided(
        write(**{field: f("r1", "r2")}), policy=STRICT, records={"r1": THERE}
    )

    assert [code for code, _ in places(found)] == ["unknown_member"]
    assert "r2" in faults_of(found)[0].message
    assert "r1" not in faults_of(found)[0].message


def test_an_unknown_new_id_is_blamed_on_the_field_that_gave_it() -> None:
    found = decided(create(add_members=f("ghost")), policy=STRICT)

    assert places(found) == [("unknown_member", "/addMembers")]


def test_unknown_ids_in_both_fields_are_blamed_on_the_first() -> None:
    write = create(members=f("ghost"), add_members=f("other ghost"))

    assert places(decided(write, policy=STRICT)) == [("unknown_member", "/members")]


def test_a_forgotten_new_id_is_blamed_on_the_field_that_gave_it() -> None:
    found = decided(create(add_members=f("r1")), forgotten=f("r1"))

    assert places(found) == [("forgotten_member", "/addMembers")]


def test_a_deleted_record_is_known_to_l1() -> None:
    found = decided(create(members=f("r1")), policy=STRICT, records={"r1": GONE})

    assert isinstance(found, Accepted)


def test_under_strict_members_an_old_member_that_l1_has_lost_may_be_repeated() -> None:
    has = {
        "a.md": Membership(has=f("lost")),
        "b.md": Membership(has=f("lost too")),
    }

    for write in (
        update(members=f("lost")),
        update(add_members=f("lost")),
        consolidate(members=f("lost", "lost too")),
    ):
        found = decided(write, policy=STRICT, memberships=has)

        assert isinstance(found, Accepted), write


def test_an_old_member_of_another_scene_is_new_here() -> None:
    has = {"b.md": Membership(has=f("lost"))}

    found = decided(update(members=f("lost")), policy=STRICT, memberships=has)

    assert [code for code, _ in places(found)] == ["unknown_member"]


def test_fifty_one_unknown_ids_are_told_as_fifty_and_one_more() -> None:
    ids = [f"r{i:02}" for i in range(51)]

    fifty = faults_of(decided(create(members=f(*ids[:50])), policy=STRICT))[0]
    more = faults_of(decided(create(members=f(*ids)), policy=STRICT))[0]

    assert "r48, r49." in fifty.message
    assert "r48, r49 and 1 more." in more.message


@ANY_WRITE
@pytest.mark.parametrize("field", ["members", "add_members"])
def test_a_forgotten_id_is_refused_as_a_member(
    write: type[BodyWrite], field: str
) -> None:
    found = decided(
        write(**{field: f("r1", "r2")}),
        records={"r1": THERE, "r2": THERE},
        forgotten=f("r2"),
    )

    assert [code for code, _ in places(found)] == ["forgotten_member"]
    assert faults_of(found)[0].message.startswith("r2 belong")


# Dismissals


def test_a_known_record_of_no_scene_is_dismissed() -> None:
    found = dismissed("r2", "r1", records={"r1": THERE, "r2": GONE})

    assert isinstance(found, Accepted)
    assert found.dismissed == SetChange(add=("r1", "r2"))


@pytest.mark.parametrize("home", ["a.md", "archive/z.md"])
def test_a_member_of_a_live_or_archived_scene_is_not_dismissed(home: str) -> None:
    found = dismissed("r1", records={"r1": THERE}, homes={"r1": (home,)})

    assert places(found) == [("dismissed_member", "/dismiss")]


def test_a_member_of_a_scene_that_the_batch_deletes_is_dismissed() -> None:
    known = {"records": {"r1": THERE}, "homes": {"r1": ("a.md",)}}

    found = dismissed("r1", commands=(Delete(filename="a.md"),), **known)

    assert isinstance(found, Accepted)


@pytest.mark.parametrize("other", ["b.md", "archive/a.md"])
def test_a_member_that_another_scene_holds_as_well_is_not_dismissed(
    other: str,
) -> None:
    known = {"records": {"r1": THERE}, "homes": {"r1": ("a.md", other)}}

    found = dismissed("r1", commands=(Delete(filename="a.md"),), **known)

    assert places(found) == [("dismissed_member", "/dismiss")]


@pytest.mark.parametrize(
    "command", [Archive(filename="a.md", reason="r"), update(), consolidate()]
)
def test_a_member_of_a_scene_that_lives_on_in_some_form_is_not_dismissed(
    command: Command,
) -> None:
    known = {"records": {"r1": THERE}, "homes": {"r1": ("a.md",)}}

    found = dismissed("r1", commands=(command,), **known)

    assert places(found) == [("dismissed_member", "/dismiss")]


@ANY_WRITE
@pytest.mark.parametrize("field", ["members", "add_members"])
def test_a_record_that_the_same_batch_makes_a_member_is_not_dismissed(
    write: type[BodyWrite], field: str
) -> None:
    command = write(**{field: f("r1")})

    found = dismissed("r1", commands=(command,), records={"r1": THERE})

    assert places(found) == [("dismissed_member", "/dismiss")]


def test_a_record_that_l1_does_not_know_is_not_dismissed() -> None:
    found = dismissed("ghost", "r1", records={"r1": THERE})

    assert places(found) == [("dismissed_unknown", "/dismiss")]
    assert "ghost" in faults_of(found)[0].message
    assert "r1" not in faults_of(found)[0].message


def test_a_forgotten_record_is_not_dismissed() -> None:
    found = dismissed("r1", records={"r1": THERE}, forgotten=f("r1"))

    assert places(found) == [("dismissed_unknown", "/dismiss")]


@pytest.mark.parametrize(("size", "is_good"), [(128, True), (129, False)])
def test_a_dismissed_id_has_at_most_128_bytes(size: int, *, is_good: bool) -> None:
    record_id = "x" * size

    found = dismissed(record_id, records={record_id: THERE})

    assert places(found) == ([] if is_good else [("bad_record_id", "/dismiss")])


def test_to_dismiss_what_is_dismissed_changes_nothing() -> None:
    found = dismissed("r1", records={"r1": THERE}, dismissed=f("r1"))

    assert isinstance(found, Accepted)
    assert found.events == ()
    assert found.dismissed == SetChange()


# Order


MANY = [f"r{number:02}" for number in range(40)]


def test_ids_are_sorted_wherever_their_order_can_be_seen() -> None:
    memberships = {"a.md": Membership(lacks=frozenset(MANY))}
    deleted = dict.fromkeys(MANY, GONE)

    added = decided(create(members=frozenset(MANY)))
    dropped = decided(update(members=f()), memberships=memberships, records=deleted)
    left_out = decided(update(members=f()), memberships=memberships)
    away = dismissed(*MANY, records=deleted)
    back = decided(create(members=frozenset(MANY)), dismissed=frozenset(MANY))

    assert change(added, "n.md").add == tuple(MANY)
    assert change(dropped, "a.md").drop == tuple(MANY)
    assert gaps(left_out) == [("a.md", tuple(MANY))]
    assert isinstance(away, Accepted)
    assert away.dismissed.add == tuple(MANY)
    assert isinstance(back, Accepted)
    assert back.dismissed.drop == tuple(MANY)


def test_the_first_ids_of_a_message_are_those_that_come_first() -> None:
    bad = frozenset(f"{record_id}\n" for record_id in MANY)
    found = [
        decided(create(members=frozenset(MANY)), policy=STRICT),
        dismissed(*MANY),
        dismissed(*MANY, commands=(create(members=frozenset(MANY)),)),
        decided(create(members=bad)),
    ]

    firsts = [*["r00, r01, r02, r03, r04, "] * 3, "'r00\\n'"]
    for outcome, first in zip(found, firsts, strict=True):
        assert first in faults_of(outcome)[0].message, outcome
