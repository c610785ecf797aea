import pytest

from scenestore_engine.commands import AdvisoryMeta, Batch, Update, Write
from scenestore_engine.faults import FaultCode
from scenestore_engine.policy import MAX_WRITES
from scenestore_engine.wire import batch_from

UPDATE = {"action": "update", "filename": "a.md", "content": "x"}
CONSOLIDATE = {
    "action": "consolidate",
    "filename": "c.md",
    "sources": ["a.md", "b.md"],
    "content": "x",
    "meta": {"summary": "s"},
}


def found(batch: Batch) -> list[tuple[FaultCode, str, str]]:
    return [(fault.code, fault.path, fault.message) for fault in batch.faults]


@pytest.mark.parametrize(
    ("field", "value", "step", "message"),
    [
        ("filename", 5, "", "Wanted a text, got a whole number."),
        ("filename", ["a.md"], "", "Wanted a text, got an array."),
        ("content", 7.5, "", "Wanted a text, got a number."),
        ("content", {"a": 1}, "", "Wanted a text, got an object."),
        ("reason", True, "", "Wanted a text, got true or false."),
        ("sources", {"a": 1}, "", "Wanted an array of texts, got an object."),
        ("sources", [1, 2], "/0", "Wanted a text, got a whole number."),
        ("members", "m_1", "", "Wanted an array of texts, got a text."),
        ("members", ["m_1", None], "/1", "Wanted a text, got null."),
        ("addMembers", [["m_1"]], "/0", "Wanted a text, got an array."),
        ("meta", ["x"], "", "Wanted an object, got an array."),
        ("meta", "summary: x", "", "Wanted an object, got a text."),
    ],
)
def test_a_field_of_the_wrong_type_is_a_fault_that_says_what_was_wanted_and_got(
    field: str, value: object, step: str, message: str
) -> None:
    batch = batch_from({"sceneWrites": [UPDATE, CONSOLIDATE | {field: value}]})

    path = f"/sceneWrites/1/{field}{step}"
    assert found(batch) == [(FaultCode.WRONG_TYPE, path, message)]


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("summary", 5),
        ("created", 1_700_000_000),
        ("updated", []),
        ("heat", "4"),
        ("heat", True),
        ("heat", 4.0),
        ("heat", 4.5),
    ],
)
def test_a_field_of_meta_of_the_wrong_type_is_a_fault(
    field: str, value: object
) -> None:
    meta = {"summary": "s", field: value}

    batch = batch_from({"sceneWrites": [CONSOLIDATE | {"meta": meta}]})

    (fault,) = batch.faults
    assert fault.code is FaultCode.WRONG_TYPE
    assert fault.path == f"/sceneWrites/0/meta/{field}"


@pytest.mark.parametrize(
    ("field", "value", "path"),
    [
        ("sceneWrites", {}, "/sceneWrites"),
        ("sceneWrites", "update a.md", "/sceneWrites"),
        ("sceneWrites", [[UPDATE]], "/sceneWrites/0"),
        ("sceneWrites", [None], "/sceneWrites/0"),
        ("cursor", ["m_1"], "/cursor"),
        ("cursor", {"id": "m_1"}, "/cursor"),
        ("personaSignal", "true", "/personaSignal"),
        ("personaSignal", 1, "/personaSignal"),
        ("dismiss", "m_1", "/dismiss"),
        ("dismiss", [1], "/dismiss/0"),
        ("baseRevision", 7, "/baseRevision"),
        ("idempotencyKey", 7, "/idempotencyKey"),
        ("runId", 7, "/runId"),
        ("dryRun", "yes", "/dryRun"),
        ("dryRun", 0, "/dryRun"),
    ],
)
def test_a_field_beside_the_writes_of_the_wrong_type_is_a_fault(
    field: str, value: object, path: str
) -> None:
    batch = batch_from({field: value})

    told = [(f.code, f.path) for f in batch.faults]
    assert told[0] == (FaultCode.WRONG_TYPE, path)
    # What is most likely meant is judged, too: a wish needs its reason, for one.
    assert all(code is FaultCode.MISSING_FIELD for code, _ in told[1:])


@pytest.mark.parametrize("reason", ["personaReason", "dismissReason"])
def test_a_reason_of_the_wrong_type_is_a_fault_where_it_is_used(reason: str) -> None:
    request = {"personaSignal": True, "personaReason": "x", "dismiss": ["m_1"]}

    batch = batch_from(request | {"dismissReason": "x"} | {reason: 5})

    assert [(f.code, f.path) for f in batch.faults] == [
        (FaultCode.WRONG_TYPE, f"/{reason}")
    ]


@pytest.mark.parametrize(
    ("action", "paths"),
    [
        ("create", ["filename", "content", "meta/summary"]),
        ("update", ["filename", "content"]),
        ("delete", ["filename"]),
        ("consolidate", ["filename", "sources", "content", "meta/summary"]),
        ("archive", ["filename", "reason"]),
        ("restore", ["filename"]),
    ],
)
@pytest.mark.parametrize(
    "absent", [{}, dict.fromkeys(["filename", "content", "reason"])]
)
def test_all_that_an_action_needs_is_asked_for_at_once(
    action: str, paths: list[str], absent: dict[str, None]
) -> None:
    batch = batch_from({"sceneWrites": [{"action": action, **absent}]})

    assert {fault.code for fault in batch.faults} == {FaultCode.MISSING_FIELD}
    assert [f.path for f in batch.faults] == [f"/sceneWrites/0/{p}" for p in paths]


@pytest.mark.parametrize("meta", [None, {}, {"summary": None}])
def test_a_summary_that_is_null_is_missing(meta: object) -> None:
    batch = batch_from({"sceneWrites": [CONSOLIDATE | {"meta": meta}]})

    assert [(f.code, f.path) for f in batch.faults] == [
        (FaultCode.MISSING_FIELD, "/sceneWrites/0/meta/summary")
    ]


def test_a_meta_of_the_wrong_type_is_not_also_said_to_lack_a_summary() -> None:
    batch = batch_from({"sceneWrites": [CONSOLIDATE | {"meta": 5}]})

    assert [fault.path for fault in batch.faults] == ["/sceneWrites/0/meta"]


@pytest.mark.parametrize("action", [None, {}])
def test_a_write_without_an_action_lacks_action_and_filename(action: object) -> None:
    write = {"action": None} if action is None else {}

    batch = batch_from({"sceneWrites": [write]})

    assert [(f.code, f.path) for f in batch.faults] == [
        (FaultCode.MISSING_FIELD, "/sceneWrites/0/action"),
        (FaultCode.MISSING_FIELD, "/sceneWrites/0/filename"),
    ]


@pytest.mark.parametrize(
    ("wish", "reason"),
    [({"personaSignal": True}, "personaReason"), ({"dismiss": ["m"]}, "dismissReason")],
)
@pytest.mark.parametrize("is_null", [False, True])
def test_a_wish_without_its_reason_is_a_fault(
    wish: dict[str, object], reason: str, *, is_null: bool
) -> None:
    batch = batch_from(wish | ({reason: None} if is_null else {}))

    assert [(f.code, f.path) for f in batch.faults] == [
        (FaultCode.MISSING_FIELD, f"/{reason}")
    ]


def test_null_for_an_optional_field_means_absent() -> None:
    names = "members addMembers reason meta sources as"
    write = UPDATE | dict.fromkeys(names.split())
    names = "cursor personaSignal personaReason dismiss dismissReason baseRevision"
    top = dict.fromkeys(f"{names} idempotencyKey runId dryRun".split())

    batch = batch_from({"sceneWrites": [write], **top})

    assert batch == batch_from({"sceneWrites": [UPDATE]})
    assert batch.faults == ()
    assert batch.notices == ()


def test_null_in_meta_means_absent() -> None:
    meta = dict.fromkeys(["summary", "created", "updated", "heat"])

    batch = batch_from({"sceneWrites": [UPDATE | {"meta": meta}]})

    (write,) = batch.writes
    assert isinstance(write.command, Update)
    assert write.command.meta == AdvisoryMeta()


@pytest.mark.parametrize("request_", [{}, {"sceneWrites": None}, {"sceneWrites": []}])
def test_a_request_for_nothing_has_no_fault_of_form(request_: object) -> None:
    assert batch_from(request_) == Batch()


def test_a_write_with_a_fault_is_left_out_and_the_others_keep_their_paths() -> None:
    faulty = UPDATE | {"content": 5}

    batch = batch_from({"sceneWrites": [faulty, UPDATE, faulty, UPDATE]})

    assert [write.path for write in batch.writes] == [
        "/sceneWrites/1",
        "/sceneWrites/3",
    ]
    assert len(batch.faults) == 2


def test_a_field_with_a_fault_is_left_out_and_the_others_stay() -> None:
    batch = batch_from({"cursor": 5, "runId": "r", "sceneWrites": [UPDATE]})

    command = Update(filename="a.md", content="x")
    assert batch == Batch(
        writes=(Write(path="/sceneWrites/0", command=command),),
        run_id="r",
        faults=batch.faults,
    )


def test_the_faults_of_all_writes_and_fields_come_at_once() -> None:
    writes = [
        {
            "action": "update",
            "filename": 1,
            "content": 2,
            "meta": {"heat": "3", "x": 4},
        },
        {"action": "merge", "filename": "c.md"},
        UPDATE,
    ]

    batch = batch_from({"sceneWrites": writes, "cursor": 5, "force": True})

    assert {(f.code, f.path) for f in batch.faults} == {
        (FaultCode.WRONG_TYPE, "/sceneWrites/0/filename"),
        (FaultCode.WRONG_TYPE, "/sceneWrites/0/content"),
        (FaultCode.WRONG_TYPE, "/sceneWrites/0/meta/heat"),
        (FaultCode.UNKNOWN_FIELD, "/sceneWrites/0/meta/x"),
        (FaultCode.UNKNOWN_ACTION, "/sceneWrites/1/action"),
        (FaultCode.MISSING_FIELD, "/sceneWrites/1/sources"),
        (FaultCode.MISSING_FIELD, "/sceneWrites/1/content"),
        (FaultCode.MISSING_FIELD, "/sceneWrites/1/meta/summary"),
        (FaultCode.WRONG_TYPE, "/cursor"),
        (FaultCode.UNKNOWN_FIELD, "/force"),
    }


def test_a_fault_of_a_write_carries_the_name_of_its_scene() -> None:
    batch = batch_from({"sceneWrites": [UPDATE | {"content": 5, "reason": "\0"}]})

    assert [fault.filename for fault in batch.faults] == ["a.md", "a.md"]


def test_the_longest_name_allowed_is_repeated_and_a_longer_one_is_not() -> None:
    writes = [UPDATE | {"filename": "x" * n, "content": 5} for n in (200, 201)]

    batch = batch_from({"sceneWrites": writes})

    assert [fault.filename for fault in batch.faults] == ["x" * 200, None]


def test_as_many_writes_as_are_allowed_are_read() -> None:
    batch = batch_from({"sceneWrites": [UPDATE] * MAX_WRITES})

    assert batch.faults == ()
    assert len(batch.writes) == MAX_WRITES


def test_one_write_more_than_is_allowed_is_a_fault() -> None:
    batch = batch_from({"sceneWrites": [UPDATE] * (MAX_WRITES + 1)})

    (fault,) = batch.faults
    assert fault.code is FaultCode.TOO_MANY_WRITES
    assert fault.path == "/sceneWrites"
    assert fault.message == "65 of at most 64 writes."


def test_a_write_beyond_those_allowed_is_not_read() -> None:
    batch = batch_from({"sceneWrites": [UPDATE] * MAX_WRITES + [UPDATE, {}]})

    assert [fault.code for fault in batch.faults] == [FaultCode.TOO_MANY_WRITES]
    assert len(batch.writes) == MAX_WRITES
