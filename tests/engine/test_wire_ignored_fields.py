import pytest

from scenestore_engine.commands import Batch, Delete, Write
from scenestore_engine.faults import FaultCode, NoticeCode
from scenestore_engine.wire import batch_from

UNUSED = {"content": "x", "meta": {"summary": "s"}, "members": ["m"], "addMembers": []}


def ignored(batch: Batch) -> list[tuple[str | None, object]]:
    return [
        (notice.filename, notice.facts["fields"])
        for notice in batch.notices
        if notice.code is NoticeCode.FIELD_IGNORED
    ]


@pytest.mark.parametrize("action", ["delete", "archive", "restore"])
def test_fields_that_an_action_does_not_use_are_named_in_one_notice(
    action: str,
) -> None:
    write = {"action": action, "filename": "a.md", "reason": "why"}

    batch = batch_from({"sceneWrites": [write | UNUSED]})

    assert ignored(batch) == [("a.md", ["content", "meta", "members", "addMembers"])]
    assert batch.faults == ()
    assert batch.writes == batch_from({"sceneWrites": [write]}).writes


@pytest.mark.parametrize("field", ["content", "meta", "members", "addMembers"])
@pytest.mark.parametrize("value", [5, [[]], {"x": 1}, "[oops", True])
def test_the_type_of_a_field_that_is_not_used_is_not_looked_at(
    field: str, value: object
) -> None:
    write = {"action": "delete", "filename": "a.md", field: value}

    batch = batch_from({"sceneWrites": [write]})

    command = Delete(filename="a.md")
    assert batch.writes == (Write(path="/sceneWrites/0", command=command),)
    assert batch.faults == ()
    assert ignored(batch) == [("a.md", [field])]


def test_null_in_a_field_that_is_not_used_is_not_even_noticed() -> None:
    write = {"action": "delete", "filename": "a.md", **dict.fromkeys(UNUSED)}

    batch = batch_from({"sceneWrites": [write]})

    assert batch.notices == ()


def test_bad_text_is_a_fault_even_in_a_field_that_is_not_used() -> None:
    write = {"action": "delete", "filename": "a.md", "meta": {"x": ["\0"]}}

    batch = batch_from({"sceneWrites": [write]})

    assert [(f.code, f.path) for f in batch.faults] == [
        (FaultCode.BAD_TEXT, "/sceneWrites/0/meta/x/0")
    ]


def test_each_write_gets_a_notice_of_its_own() -> None:
    names = ["a.md", "b.md"]
    writes = [{"action": "delete", "filename": n, "content": "x"} for n in names]

    batch = batch_from({"sceneWrites": writes})

    assert ignored(batch) == [("a.md", ["content"]), ("b.md", ["content"])]


@pytest.mark.parametrize(
    "request_",
    [
        {"personaReason": "why"},
        {"personaReason": "why", "personaSignal": False},
        {"personaReason": "why", "personaSignal": None},
        {"personaReason": 5},
    ],
)
def test_a_reason_without_a_persona_signal_is_ignored_with_a_notice(
    request_: object,
) -> None:
    batch = batch_from(request_)

    assert batch == Batch(notices=batch.notices)
    assert ignored(batch) == [(None, ["personaReason"])]


@pytest.mark.parametrize("dismiss", [None, []])
def test_a_reason_without_dismissals_is_ignored_with_a_notice(dismiss: object) -> None:
    batch = batch_from({"dismiss": dismiss, "dismissReason": "why"})

    assert batch == Batch(notices=batch.notices)
    assert ignored(batch) == [(None, ["dismissReason"])]


def test_a_reason_beside_a_faulty_signal_is_not_called_ignored() -> None:
    batch = batch_from({"personaSignal": "true", "personaReason": "why"})

    assert [fault.path for fault in batch.faults] == ["/personaSignal"]
    assert batch.notices == ()
