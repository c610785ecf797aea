"""Each fault says which place of the request has it, and which scene it is about.

The codes are words that programs rely on, and the limits are those of the contract.
"""

import re

import msgspec
import pytest

from scenestore_engine.admit import Import, ImportedScene, refusals
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
from scenestore_engine.decide import Rejected, decide
from scenestore_engine.faults import Fault, FaultCode, NoticeCode
from scenestore_engine.names import complaints
from scenestore_engine.policy import Policy
from scenestore_engine.state import Known, Membership, Meta, Scene, State
from scenestore_engine.wire import parse_batch

NOW_MS = 1_772_496_000_000
OLD = "2026-01-01T00:00:00.000Z"
NEW = "2026-03-02T23:59:59.999Z"
META = Meta(created=OLD, updated=OLD, summary="old", heat=1)
SAID = AdvisoryMeta(summary="s")
LIVE = {
    name: Scene(blob=name, first_seen=OLD, members="m", meta=META)
    for name in ("a.md", "b.md", "both.md")
} | {"young.md": Scene(blob="y", first_seen=NEW, meta=META)}
ARCHIVED = {
    name: Scene(blob=name, first_seen=OLD) for name in ("z.md", "both.md", "B.md")
}
KEY = "AKIA" + "ABCDEFGHIJ234567"
Place = tuple[str, str, str | None]


def faults(*commands: Command, policy: Policy | None = None) -> tuple[Fault, ...]:
    writes = tuple(
        Write(path=f"/sceneWrites/{i}", command=c) for i, c in enumerate(commands)
    )
    known = Known(
        state=State(live=LIVE, archived=ARCHIVED),
        bodies=dict.fromkeys(LIVE, "- now"),
        memberships={"a.md": Membership(lacks=frozenset({"r1"}))},
        forgotten=frozenset({"gone"}),
    )
    limits = policy or Policy(retention="off", retention_update="off")
    batch = Batch(writes=writes)
    found = decide(batch, known, limits, now_ms=NOW_MS, actor="t")
    assert isinstance(found, Rejected)
    return found.faults


def places(*commands: Command, policy: Policy | None = None) -> list[Place]:
    found = faults(*commands, policy=policy)
    return [(fault.code.value, fault.path, fault.filename) for fault in found]


def create(filename: str = "n.md", content: str = "- x", **more: object) -> Create:
    return msgspec.structs.replace(
        Create(filename=filename, content=content, meta=SAID), **more
    )


def merge(filename: str, *sources: str) -> Consolidate:
    return Consolidate(filename=filename, sources=sources, content="- x", meta=SAID)


def update(filename: str, **more: object) -> Update:
    return msgspec.structs.replace(Update(filename=filename, content="- x"), **more)


ONE_FAULT: list[tuple[Command, Place]] = [
    (create("a b.md"), ("bad_filename", "/filename", "a b.md")),
    (create("A.md"), ("scene_exists", "/filename", "A.md")),
    (update("x.md"), ("scene_missing", "/filename", "x.md")),
    (Delete(filename="x.md"), ("scene_missing", "/filename", "x.md")),
    (merge("n.md", "a.md", "x.md"), ("scene_missing", "/sources/1", "x.md")),
    (merge("n.md", "a.md"), ("bad_sources", "/sources", "n.md")),
    (merge("A.md", "b.md", "young.md"), ("scene_exists", "/filename", "A.md")),
    (Restore(filename="x.md"), ("not_archived", "/filename", "x.md")),
    (Restore(filename="a.md"), ("not_archived", "/filename", "a.md")),
    (Restore(filename="both.md"), ("scene_exists", "/filename", "both.md")),
    (
        Restore(filename="z.md", restore_as="a.md"),
        ("scene_exists", "/as", "a.md"),
    ),
    (Archive(filename="x.md", reason="r"), ("scene_missing", "/filename", "x.md")),
    (
        Archive(filename="young.md", reason="r"),
        ("too_young", "/filename", "young.md"),
    ),
    (
        Archive(filename="b.md", reason="r"),
        ("archive_name_taken", "/filename", "b.md"),
    ),
    (create(content=" "), ("body_blank", "/content", "n.md")),
    (create(content="x" * 1_501), ("body_too_long", "/content", "n.md")),
    (create(content="-----META-END-----\nx"), ("body_has_meta", "/content", "n.md")),
    (create(content="x\n[Deleted]"), ("body_marks_deletion", "/content", "n.md")),
    (create(content=KEY), ("secret", "/content", "n.md")),
    (create(meta=AdvisoryMeta(summary="")), ("bad_summary", "/meta/summary", None)),
    (create(meta=AdvisoryMeta(summary=KEY)), ("secret", "/meta/summary", "n.md")),
    (create(reason="\n"), ("bad_reason", "/reason", None)),
    (create(reason=KEY), ("secret", "/reason", "n.md")),
    (Delete(filename="a.md", reason=""), ("bad_reason", "/reason", None)),
    (Archive(filename="a.md", reason=KEY), ("secret", "/reason", "a.md")),
    (create(f"{KEY}.md"), ("secret", "/filename", None)),
    (create(members=frozenset({""})), ("bad_record_id", "/members", None)),
    (create(add_members=frozenset({""})), ("bad_record_id", "/addMembers", None)),
    (create(members=frozenset({"gone"})), ("forgotten_member", "/members", "n.md")),
    (update("a.md", members=frozenset()), ("member_gap", "/members", "a.md")),
]


@pytest.mark.parametrize(("command", "place"), ONE_FAULT, ids=str)
def test_a_fault_of_a_write_names_its_place_and_scene(
    command: Command, place: Place
) -> None:
    code, path, filename = place

    assert places(command) == [(code, f"/sceneWrites/0{path}", filename)]


def test_an_unknown_member_under_strict_limits_names_its_place() -> None:
    strict = Policy(strict_members=True)

    found = places(create(members=frozenset({"r9"})), policy=strict)

    assert found == [("unknown_member", "/sceneWrites/0/members", "n.md")]


def test_writes_beyond_a_limit_are_named_each_with_its_place() -> None:
    none = Policy(
        max_creates_per_batch=0, max_archives_per_batch=0, max_deletes_per_batch=0
    )
    writes = (create(), Archive(filename="a.md", reason="r"), Delete(filename="b.md"))

    assert places(*writes, policy=none) == [
        ("too_many_creates", "/sceneWrites/0", "n.md"),
        ("too_many_archives", "/sceneWrites/1", "a.md"),
        ("too_many_deletes", "/sceneWrites/2", "b.md"),
    ]


def test_the_message_says_what_is_wrong_in_the_words_of_the_request() -> None:
    none = Policy(
        max_creates_per_batch=0, max_archives_per_batch=0, max_deletes_per_batch=0
    )
    writes = (
        create(meta=AdvisoryMeta(summary="a\nb")),
        Archive(filename="a.md", reason="a\nb"),
        Delete(filename="b.md"),
    )

    said = " ".join(fault.message for fault in faults(*writes, policy=none))

    for word in ("create", "archive", "delete", "summary", "reason"):
        assert re.search(rf"\b{word}s?\b", said), said


# Imports


def imported(filename: str = "n.md", body: str = "- x", **more: object) -> list[Place]:
    scene = msgspec.structs.replace(
        ImportedScene(
            path=f"/scenes/{filename}",
            filename=filename,
            archived=False,
            meta=META,
            body=body,
            members=None,
        ),
        **more,
    )
    known = Known(
        state=State(live=LIVE, archived=ARCHIVED), forgotten=frozenset({"gone"})
    )
    found = refusals(Import(scenes=(scene,)), known, Policy())
    return [(fault.code.value, fault.path, fault.filename) for fault in found]


def test_a_fault_of_an_import_names_its_place_and_scene() -> None:
    path = "/scenes/n.md"

    assert imported() == []
    assert imported("A.md") == [("scene_exists", "/scenes/A.md", "A.md")]
    assert imported(body=" ") == [("body_blank", f"{path}/content", "n.md")]
    assert imported(body="-----META-START-----") == [
        ("body_has_meta", f"{path}/content", "n.md")
    ]
    assert imported(body=KEY) == [("secret", f"{path}/content", "n.md")]
    assert imported(meta=msgspec.structs.replace(META, summary="")) == [
        ("bad_summary", f"{path}/meta/summary", "n.md")
    ]
    assert imported(members=frozenset({"gone"})) == [
        ("forgotten_member", f"{path}/members", "n.md")
    ]
    assert [code for code, *_ in imported(members=frozenset({""}))] == ["bad_record_id"]


def test_a_cursor_of_an_import_that_is_nowhere_names_its_place() -> None:
    (fault,) = refusals(Import(cursor="ghost"), Known(), Policy())

    assert (fault.code.value, fault.path) == ("unknown_cursor", "/cursor")


# The form of a request


@pytest.mark.parametrize("count", [1, 2, 3, 4])
def test_a_bad_text_is_found_at_every_place_of_an_array(count: int) -> None:
    for place in range(count):
        ids = ["r1"] * count
        ids[place] = "r\\u0000"
        quoted = ", ".join(f'"{one}"' for one in ids)

        batch = parse_batch(f'{{"dismiss": [{quoted}], "dismissReason": "r"}}')

        found = [(fault.code.value, fault.path) for fault in batch.faults]
        assert ("bad_text", f"/dismiss/{place}") in found


def test_a_field_of_another_action_is_told_with_where_it_belongs() -> None:
    write = '{"action": "delete", "filename": "a.md", "sources": ["b.md"]}'

    (fault,) = parse_batch(f'{{"sceneWrites": [{write}]}}').faults

    assert fault.code is FaultCode.FIELD_NOT_ALLOWED
    assert fault.path == "/sceneWrites/0/sources"
    assert fault.hint is not None
    assert "consolidate" in fault.hint


@pytest.mark.parametrize("name", ["", ".md"])
def test_a_name_without_a_name_is_told_so(name: str) -> None:
    assert "has no name before its ending" in set(complaints(name))
    assert "has no name before its ending" not in set(complaints("a.md"))


def test_the_signs_that_a_name_may_not_hold_are_told_in_order() -> None:
    (said,) = complaints("e?d!c*b+a,.md")

    assert said.startswith("holds U+0021, U+002A, U+002B, U+002C, U+003F;")


# Words and numbers that others rely on


@pytest.mark.parametrize("code", [*FaultCode, *NoticeCode], ids=str)
def test_a_code_is_its_own_name_in_small_letters(code: FaultCode | NoticeCode) -> None:
    assert code.value == code.name.lower()


@pytest.mark.parametrize(
    ("field", "least"),
    [
        ("max_scenes", 1),
        ("max_body_chars", 1),
        ("max_creates_per_batch", 0),
        ("max_archives_per_batch", 0),
        ("max_deletes_per_batch", 0),
        ("min_archive_age_days", 0),
    ],
)
def test_a_limit_has_a_least_and_a_greatest_value(field: str, least: int) -> None:
    for good in (least, 1_000_000):
        policy = msgspec.convert({field: good}, Policy)
        assert getattr(policy, field) == good
    for bad in (least - 1, 1_000_001):
        with pytest.raises(msgspec.ValidationError):
            msgspec.convert({field: bad}, Policy)


def test_the_limits_are_those_of_the_contract() -> None:
    assert msgspec.to_builtins(Policy()) == {
        "max_scenes": 15,
        "max_body_chars": 1_500,
        "max_creates_per_batch": 1,
        "max_archives_per_batch": 1,
        "max_deletes_per_batch": 2,
        "min_archive_age_days": 7,
        "strict_members": False,
        "retention": "standard",
        "retention_update": "floor",
        "on_drift": "refuse",
        "secrets": "reject",
        "mode": "chat",
        "keep_refusals": True,
    }
