"""How much one batch may bring, and how many scenes there is room for."""

import itertools
from collections.abc import Callable

import pytest
from msgspec.structs import replace

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
from scenestore_engine.faults import Fault, FaultCode
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
MANY = 99


def free(policy: Policy | None) -> Policy:
    """Return *policy* without a look at what bodies keep, which is not tested here."""
    return replace(policy or Policy(), retention="off", retention_update="off")


def create(filename: str, *ids: str) -> Create:
    return Create(
        filename=filename, content="- x", meta=SAID, add_members=frozenset(ids)
    )


def update(filename: str, *ids: str) -> Update:
    return Update(filename=filename, content="- x", add_members=frozenset(ids))


def consolidate(filename: str, *sources: str) -> Consolidate:
    return Consolidate(filename=filename, sources=sources, content="- x", meta=SAID)


def archive(filename: str) -> Archive:
    return Archive(filename=filename, reason="r")


def delete(filename: str) -> Delete:
    return Delete(filename=filename)


def restore(filename: str) -> Restore:
    return Restore(filename=filename)


def faults_of(
    *commands: Command,
    live: tuple[str, ...] = (),
    archived: tuple[str, ...] = (),
    policy: Policy | None = None,
    batch: Batch | None = None,
    **known: object,
) -> list[Fault]:
    writes = tuple(
        Write(path=f"/sceneWrites/{i}", command=c) for i, c in enumerate(commands)
    )
    state = State(
        live=dict.fromkeys(live, SCENE), archived=dict.fromkeys(archived, SCENE)
    )
    given = Known(state=state, bodies=dict.fromkeys(live, "- old"), **known)
    found = decide(
        batch or Batch(writes=writes),
        given,
        free(policy),
        now_ms=NOW_MS,
        actor="t",
    )
    return [] if isinstance(found, Accepted) else list(found.faults)


def codes(faults: list[Fault]) -> list[str]:
    return [fault.code.value for fault in faults]


# Kinds of writes


@pytest.mark.parametrize(
    ("kind", "code", "field"),
    [
        (create, FaultCode.TOO_MANY_CREATES, "max_creates_per_batch"),
        (archive, FaultCode.TOO_MANY_ARCHIVES, "max_archives_per_batch"),
        (delete, FaultCode.TOO_MANY_DELETES, "max_deletes_per_batch"),
    ],
)
@pytest.mark.parametrize("limit", [0, 1, 2, 5])
def test_a_batch_holds_as_many_writes_of_a_kind_as_policy_says(
    kind: Callable[[str], Command], code: FaultCode, field: str, limit: int
) -> None:
    names = tuple(f"{i}.md" for i in range(limit + 1))
    live = () if kind is create else names
    policy = Policy(**{field: limit})
    writes = [kind(name) for name in names]

    assert (
        faults_of(*writes[:limit], update("u.md"), live=(*live, "u.md"), policy=policy)
        == []
    )
    (fault,) = faults_of(*writes, live=live, policy=policy)
    assert fault.code == code
    assert fault.path == f"/sceneWrites/{limit}"
    assert fault.filename == names[limit]
    assert fault.message.startswith(f"{limit + 1} writes ")


def test_by_default_a_batch_has_one_create_one_archive_and_two_deletes() -> None:
    live = ("a.md", "b.md", "c.md")

    full = [create("n.md"), archive("a.md"), delete("b.md"), delete("c.md")]
    assert faults_of(*full, live=live) == []
    assert codes(faults_of(create("m.md"), *full, live=live)) == ["too_many_creates"]
    assert codes(faults_of(*full, archive("d.md"), live=(*live, "d.md"))) == [
        "too_many_archives"
    ]
    assert codes(faults_of(*full, delete("d.md"), live=(*live, "d.md"))) == [
        "too_many_deletes"
    ]


def test_updates_restores_and_consolidations_have_no_limit_of_their_own() -> None:
    live = tuple(f"{i}.md" for i in range(8))
    archived = ("y.md", "z.md")

    faults = faults_of(
        consolidate("m.md", "0.md", "1.md"),
        consolidate("n.md", "2.md", "3.md"),
        *(update(name) for name in live[4:]),
        *(restore(name) for name in archived),
        live=live,
        archived=archived,
    )

    assert faults == []


# Room


@pytest.mark.parametrize("adding", [create, restore])
@pytest.mark.parametrize(
    ("live_before", "fits"), [(14, True), (15, False), (16, False)]
)
def test_a_create_or_restore_leaves_at_most_fifteen_scenes(
    adding: Callable[[str], Command], live_before: int, *, fits: bool
) -> None:
    live = tuple(f"{i}.md" for i in range(live_before))

    faults = faults_of(adding("n.md"), live=live, archived=("n.md",))

    assert codes(faults) == ([] if fits else ["no_room"])
    if not fits:
        assert faults[0].path == "/sceneWrites/0/filename"
        assert f"leave {live_before + 1} live scenes" in faults[0].message


def changes() -> list[tuple[tuple[str, ...], int]]:
    """Every set of kinds of writes, and by how many scenes it changes their number."""
    net = {"c": 1, "r": 1, "k": -1, "K": -2, "d": -1, "a": -1, "u": 0}
    return [
        (kinds, sum(net[kind] for kind in kinds))
        for size in range(1, len(net) + 1)
        for kinds in itertools.combinations(net, size)
    ]


def writes_for(kinds: tuple[str, ...]) -> list[Command]:
    made: dict[str, Command] = {
        "c": create("new.md"),
        "r": Restore(filename="old.md", restore_as="back.md"),
        "k": consolidate("k.md", "0.md", "1.md"),
        "K": consolidate("2.md", "3.md", "4.md"),
        "d": delete("5.md"),
        "a": archive("6.md"),
        "u": update("7.md"),
    }
    return [made[kind] for kind in kinds]


@pytest.mark.parametrize("live_before", [8, 9, 10, 11])
def test_room_is_counted_after_the_whole_batch_whatever_it_is_made_of(
    live_before: int,
) -> None:
    live = tuple(f"{i}.md" for i in range(live_before))
    policy = Policy(max_scenes=9)

    for kinds, net in changes():
        adds = "c" in kinds or "r" in kinds
        fits = not adds or live_before + net <= 9

        faults = faults_of(
            *writes_for(kinds), live=live, archived=("old.md",), policy=policy
        )

        assert codes(faults) == ([] if fits else ["no_room"]), (kinds, live_before)


def test_a_restore_under_another_name_takes_a_place_of_its_own() -> None:
    restored = Restore(filename="z.md", restore_as="y.md")

    for most, fits in ((2, True), (1, False)):
        faults = faults_of(
            restored,
            live=("z.md",),
            archived=("z.md",),
            policy=Policy(max_scenes=most),
        )

        assert codes(faults) == ([] if fits else ["no_room"])


def test_without_room_the_first_write_that_adds_a_scene_is_named() -> None:
    live = ("0.md", "1.md", "2.md", "7.md")

    (fault,) = faults_of(
        update("7.md"),
        restore("z.md"),
        create("n.md"),
        live=live,
        archived=("z.md",),
        policy=Policy(max_scenes=5),
    )

    assert fault.path == "/sceneWrites/1/filename"
    assert fault.filename == "z.md"


def test_a_store_over_its_capacity_may_still_be_updated_and_tidied() -> None:
    live = tuple(f"{i}.md" for i in range(20))
    policy = Policy(max_scenes=9)

    for kinds in ("u", "k", "K", "d", "a", "ukKda"):
        assert faults_of(*writes_for(tuple(kinds)), live=live, policy=policy) == []


def test_room_is_not_judged_where_a_write_could_not_be_read() -> None:
    live = tuple(f"{i}.md" for i in range(15))
    fault = Fault(code=FaultCode.WRONG_TYPE, path="/sceneWrites/1", message="m")
    write = Write(path="/sceneWrites/0", command=create("n.md"))

    faults = faults_of(
        live=live, batch=Batch(writes=(write,), faults=(fault,), unread=1)
    )

    assert codes(faults) == ["wrong_type"]


# New ids


def ids(count: int, prefix: str = "r") -> tuple[str, ...]:
    return tuple(f"{prefix}{i}" for i in range(count))


@pytest.mark.parametrize(("count", "fits"), [(10_000, True), (10_001, False)])
def test_a_batch_brings_at_most_10_000_new_ids(count: int, *, fits: bool) -> None:
    faults = faults_of(create("n.md", *ids(count)))

    assert codes(faults) == ([] if fits else ["too_many_ids"])


def test_new_ids_are_counted_over_all_writes_and_dismissals() -> None:
    half = ids(5_000)
    other = ids(5_001, "s")
    records = dict.fromkeys(other, RecordFacts())
    write = Write(path="/sceneWrites/0", command=create("n.md", *half))

    over = Batch(writes=(write,), dismiss=frozenset(other), dismiss_reason="r")
    just = Batch(writes=(write,), dismiss=frozenset(other[1:]), dismiss_reason="r")

    assert codes(faults_of(batch=over, records=records)) == ["too_many_ids"]
    assert faults_of(batch=just, records=records) == []
    assert codes(
        faults_of(create("n.md", *half), update("a.md", *other), live=("a.md",))
    ) == ["too_many_ids"]


def test_members_that_a_scene_has_already_do_not_count_as_new() -> None:
    given = frozenset(ids(12_000))
    had = Membership(has=frozenset(ids(2_000)))
    command = Update(filename="a.md", content="- x", members=given)

    faults = faults_of(command, live=("a.md",), memberships={"a.md": had})

    assert faults == []


def test_members_that_a_source_has_already_do_not_count_as_new() -> None:
    had = {
        "a.md": Membership(has=frozenset(ids(1_500))),
        "b.md": Membership(has=frozenset(ids(500, "s"))),
    }
    new = frozenset(ids(10_000, "t"))
    command = Consolidate(
        filename="x.md",
        sources=("a.md", "b.md"),
        content="- x",
        meta=SAID,
        members=frozenset(ids(1_500)) | frozenset(ids(500, "s")) | new,
    )

    assert faults_of(command, live=("a.md", "b.md"), memberships=had) == []


def test_dismissed_ids_that_are_dismissed_already_do_not_count_as_new() -> None:
    named = frozenset(ids(10_050))
    batch = Batch(dismiss=named, dismiss_reason="r")
    records = dict.fromkeys(named, RecordFacts())

    few = faults_of(batch=batch, records=records, dismissed=frozenset(ids(49)))
    enough = faults_of(batch=batch, records=records, dismissed=frozenset(ids(50)))

    assert codes(few) == ["too_many_ids"]
    assert enough == []


def test_too_many_dismissals_are_blamed_on_dismiss() -> None:
    named = frozenset(ids(10_001))
    records = dict.fromkeys(named, RecordFacts())

    (fault,) = faults_of(
        batch=Batch(dismiss=named, dismiss_reason="r"), records=records
    )

    assert fault.path == "/dismiss"
