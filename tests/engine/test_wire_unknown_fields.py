import pytest

from scenestore_engine.commands import Batch
from scenestore_engine.faults import FaultCode
from scenestore_engine.wire import batch_from

UPDATE = {"action": "update", "filename": "a.md", "content": "x"}


def hint_of(batch: Batch) -> str | None:
    (fault,) = [f for f in batch.faults if f.code is FaultCode.UNKNOWN_FIELD]
    return fault.hint


@pytest.mark.parametrize("name", ["force", "scenes", "__proto__", "", "Cursor", "场"])
@pytest.mark.parametrize("value", [None, 1, [], {}])
def test_an_unknown_field_beside_the_writes_is_a_fault_whatever_its_value(
    name: str, value: object
) -> None:
    batch = batch_from({name: value})

    (fault,) = batch.faults
    assert fault.code is FaultCode.UNKNOWN_FIELD
    assert fault.path == f"/{name}"
    assert f'"{name}"' in fault.message


@pytest.mark.parametrize("action", ["update", "delete"])
def test_an_unknown_field_of_a_write_is_a_fault_for_every_action(action: str) -> None:
    batch = batch_from({"sceneWrites": [UPDATE | {"action": action, "backup": False}]})

    (fault,) = batch.faults
    assert fault.path == "/sceneWrites/0/backup"


def test_an_unknown_field_of_meta_is_a_fault() -> None:
    batch = batch_from({"sceneWrites": [UPDATE | {"meta": {"mood": "x"}}]})

    (fault,) = batch.faults
    assert fault.code is FaultCode.UNKNOWN_FIELD
    assert fault.path == "/sceneWrites/0/meta/mood"


def test_a_slash_and_a_tilde_in_a_name_are_escaped_in_its_path() -> None:
    (fault,) = batch_from({"a/b~c": 1}).faults

    assert fault.path == "/a~1b~0c"


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        ("body", "content"),
        ("text", "content"),
        ("Content", "content"),
        ("contents", "content"),
        ("file", "filename"),
        ("path", "filename"),
        ("file_name", "filename"),
        ("source", "sources"),
        ("memberIds", "members"),
        ("add_members", "addMembers"),
        ("add-members", "addMembers"),
        ("metadata", "meta"),
        ("type", "action"),
        ("reasons", "reason"),
        ("restore_as", "as"),
    ],
)
def test_a_misspelt_field_of_a_write_is_answered_with_the_right_one(
    wrong: str, right: str
) -> None:
    batch = batch_from({"sceneWrites": [UPDATE | {wrong: "x"}]})

    assert hint_of(batch) == f"Did you mean `{right}`?"


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        ("scenes", "sceneWrites"),
        ("scene_writes", "sceneWrites"),
        ("nextCursor", "cursor"),
        ("base_revision", "baseRevision"),
        ("dryrun", "dryRun"),
        ("idempotency-key", "idempotencyKey"),
        ("personaSignals", "personaSignal"),
        ("dismissed", "dismiss"),
    ],
)
def test_a_misspelt_field_beside_the_writes_is_answered_with_the_right_one(
    wrong: str, right: str
) -> None:
    assert hint_of(batch_from({wrong: "x"})) == f"Did you mean `{right}`?"


@pytest.mark.parametrize("name", ["heat", "summary", "created", "updated", "Heat"])
def test_a_field_of_meta_beside_it_is_answered_with_its_place(name: str) -> None:
    batch = batch_from({"sceneWrites": [UPDATE | {name: "x"}]})

    assert hint_of(batch) == f"`{name.lower()}` stands in the `meta` of a write."


@pytest.mark.parametrize("name", ["members", "filename", "content"])
def test_a_field_of_a_write_within_meta_is_answered_with_its_place(name: str) -> None:
    batch = batch_from({"sceneWrites": [UPDATE | {"meta": {name: "x"}}]})

    assert hint_of(batch) == f"`{name}` stands in a write, beside `action`."


def test_a_field_of_the_request_within_a_write_is_answered_with_its_place() -> None:
    batch = batch_from({"sceneWrites": [UPDATE | {"cursor": "m_1"}]})

    assert hint_of(batch) == "`cursor` stands beside `sceneWrites`."


def test_an_action_used_as_a_field_is_answered_with_its_place() -> None:
    assert (
        hint_of(batch_from({"merge": []})) == "`consolidate` is an `action` of a write."
    )


@pytest.mark.parametrize("name", ["force", "xyz", "", "!!", "k" * 10_000])
def test_a_name_that_is_near_to_none_is_to_be_left_out(name: str) -> None:
    assert hint_of(batch_from({name: 1})) == "Leave it out."
