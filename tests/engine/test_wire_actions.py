import pytest

from scenestore_engine.commands import (
    AdvisoryMeta,
    Archive,
    Command,
    Consolidate,
    Create,
    Delete,
    Restore,
    Update,
    Write,
)
from scenestore_engine.faults import FaultCode
from scenestore_engine.wire import batch_from

META = {"summary": "s", "created": "c", "updated": "u", "heat": 3}
ADVICE = AdvisoryMeta(summary="s", created="c", updated="u", heat=3)
FULL = {
    "filename": "a.md",
    "content": "x",
    "meta": META,
    "members": ["m_1", "m_2", "m_1"],
    "addMembers": ["m_3"],
    "reason": "why",
}


@pytest.mark.parametrize(
    ("write", "command"),
    [
        (
            {"action": "create", **FULL},
            Create(
                filename="a.md",
                content="x",
                meta=ADVICE,
                members=frozenset({"m_1", "m_2"}),
                add_members=frozenset({"m_3"}),
                reason="why",
            ),
        ),
        (
            {"action": "update", **FULL},
            Update(
                filename="a.md",
                content="x",
                meta=ADVICE,
                members=frozenset({"m_1", "m_2"}),
                add_members=frozenset({"m_3"}),
                reason="why",
            ),
        ),
        (
            {"action": "consolidate", "sources": ["c.md", "b.md", "c.md"], **FULL},
            Consolidate(
                filename="a.md",
                sources=("c.md", "b.md", "c.md"),
                content="x",
                meta=ADVICE,
                members=frozenset({"m_1", "m_2"}),
                add_members=frozenset({"m_3"}),
                reason="why",
            ),
        ),
        (
            {"action": "update", "filename": "a.md", "content": "x"},
            Update(filename="a.md", content="x"),
        ),
        (
            {
                "action": "create",
                "filename": "",
                "content": "",
                "meta": {"summary": ""},
            },
            Create(filename="", content="", meta=AdvisoryMeta(summary="")),
        ),
        (
            {"action": "update", "filename": "a.md", "content": "x", "members": []},
            Update(filename="a.md", content="x", members=frozenset()),
        ),
        ({"action": "delete", "filename": "a.md"}, Delete(filename="a.md")),
        (
            {"action": "delete", "filename": "a.md", "reason": "why"},
            Delete(filename="a.md", reason="why"),
        ),
        (
            {"action": "archive", "filename": "a.md", "reason": "why"},
            Archive(filename="a.md", reason="why"),
        ),
        ({"action": "restore", "filename": "a.md"}, Restore(filename="a.md")),
        (
            {"action": "restore", "filename": "a.md", "as": "b.md", "reason": "why"},
            Restore(filename="a.md", restore_as="b.md", reason="why"),
        ),
    ],
)
def test_a_write_becomes_the_command_that_it_asks_for(
    write: dict[str, object], command: Command
) -> None:
    batch = batch_from({"sceneWrites": [write]})

    assert batch.writes == (Write(path="/sceneWrites/0", command=command),)
    assert batch.faults == ()
    assert batch.notices == ()


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        ("merge", "consolidate"),
        ("combine", "consolidate"),
        ("join", "consolidate"),
        ("write", "update"),
        ("edit", "update"),
        ("modify", "update"),
        ("remove", "delete"),
        ("new", "create"),
        ("add", "create"),
        ("unarchive", "restore"),
        ("Update", "update"),
        ("UPDATE", "update"),
        ("update ", "update"),
        (" de_lete\n", "delete"),
        ("creat", "create"),
        ("archived", "archive"),
    ],
)
def test_a_wrong_action_is_answered_with_the_right_one(wrong: str, right: str) -> None:
    write = FULL | {"action": wrong, "sources": ["b.md", "c.md"], "as": "d.md"}

    faults = batch_from({"sceneWrites": [write]}).faults

    (fault,) = [f for f in faults if f.code is FaultCode.UNKNOWN_ACTION]
    assert fault.path == "/sceneWrites/0/action"
    assert fault.hint == f"Did you mean `{right}`?"


@pytest.mark.parametrize(
    "action", ["", "zzz", "type", 1, True, ["update"], {"update": 1}]
)
def test_an_action_that_is_near_to_none_is_a_fault_that_lists_them_all(
    action: object,
) -> None:
    (fault,) = batch_from({"sceneWrites": [FULL | {"action": action}]}).faults

    assert fault.code is FaultCode.UNKNOWN_ACTION
    assert fault.path == "/sceneWrites/0/action"
    assert fault.hint is not None
    for right in ("create", "update", "delete", "consolidate", "archive", "restore"):
        assert right in fault.message
        assert right in fault.hint


def test_a_write_with_a_wrong_action_is_judged_as_the_action_it_means() -> None:
    faults = batch_from(
        {"sceneWrites": [{"action": "merge", "filename": "a.md"}]}
    ).faults

    assert [(f.code, f.path) for f in faults[1:]] == [
        (FaultCode.MISSING_FIELD, "/sceneWrites/0/sources"),
        (FaultCode.MISSING_FIELD, "/sceneWrites/0/content"),
        (FaultCode.MISSING_FIELD, "/sceneWrites/0/meta/summary"),
    ]


def test_a_write_with_a_wrong_action_stays_to_be_judged_by_the_rules() -> None:
    batch = batch_from({"sceneWrites": [FULL | {"action": "edit"}]})

    assert [fault.code for fault in batch.faults] == [FaultCode.UNKNOWN_ACTION]
    assert [type(write.command) for write in batch.writes] == [Update]


@pytest.mark.parametrize("action", ["create", "update", "delete", "archive", "restore"])
@pytest.mark.parametrize("value", [["b.md", "c.md"], [], 5])
def test_sources_outside_a_consolidation_are_a_fault(
    action: str, value: object
) -> None:
    batch = batch_from({"sceneWrites": [FULL | {"action": action, "sources": value}]})

    (fault,) = batch.faults
    assert fault.code is FaultCode.FIELD_NOT_ALLOWED
    assert fault.path == "/sceneWrites/0/sources"
    assert "consolidate" in fault.message


@pytest.mark.parametrize("action", ["create", "update", "delete", "archive"])
def test_as_outside_a_restore_is_a_fault(action: str) -> None:
    batch = batch_from({"sceneWrites": [FULL | {"action": action, "as": "b.md"}]})

    (fault,) = batch.faults
    assert fault.code is FaultCode.FIELD_NOT_ALLOWED
    assert fault.path == "/sceneWrites/0/as"
    assert "restore" in fault.message
