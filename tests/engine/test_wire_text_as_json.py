import json

import pytest

from scenestore_engine.commands import Batch
from scenestore_engine.faults import FaultCode, NoticeCode
from scenestore_engine.policy import MAX_DEPTH
from scenestore_engine.wire import batch_from, parse_batch

WRITE = {
    "action": "consolidate",
    "filename": "c.md",
    "sources": ["a.md", "b.md"],
    "content": "x",
    "meta": {"summary": "s"},
    "members": ["m_1"],
    "addMembers": ["m_2"],
}
REQUEST = {"sceneWrites": [WRITE], "dismiss": ["m_3"], "dismissReason": "why"}
PLAIN = batch_from(REQUEST)


def taken(batch: Batch) -> list[object]:
    """Return the paths of what was taken as JSON."""
    return [
        notice.facts["path"]
        for notice in batch.notices
        if notice.code is NoticeCode.TEXT_TAKEN_AS_JSON
    ]


def wish(batch: Batch) -> object:
    return (batch.writes, batch.dismiss, batch.dismiss_reason, batch.faults)


@pytest.mark.parametrize("field", ["sceneWrites", "dismiss"])
def test_an_array_beside_the_writes_sent_as_text_is_taken_with_a_notice(
    field: str,
) -> None:
    batch = batch_from(REQUEST | {field: json.dumps(REQUEST[field])})

    assert wish(batch) == wish(PLAIN)
    assert taken(batch) == [f"/{field}"]


@pytest.mark.parametrize("field", ["meta", "members", "addMembers", "sources"])
def test_a_field_of_a_write_sent_as_text_is_taken_with_a_notice(field: str) -> None:
    write = WRITE | {field: json.dumps(WRITE[field])}

    batch = batch_from(REQUEST | {"sceneWrites": [write]})

    assert wish(batch) == wish(PLAIN)
    assert taken(batch) == [f"/sceneWrites/0/{field}"]
    assert [notice.filename for notice in batch.notices] == ["c.md"]


def test_a_single_write_sent_as_text_is_taken_with_a_notice_that_names_it() -> None:
    batch = batch_from(REQUEST | {"sceneWrites": [json.dumps(WRITE)]})

    assert wish(batch) == wish(PLAIN)
    assert taken(batch) == ["/sceneWrites/0"]
    assert [notice.filename for notice in batch.notices] == ["c.md"]


def test_a_whole_request_sent_as_text_is_taken_with_a_notice() -> None:
    text = json.dumps(REQUEST)

    batch = batch_from(text)

    assert wish(batch) == wish(PLAIN)
    assert taken(batch) == [""]
    assert batch == parse_batch(json.dumps(text))


def test_text_within_text_is_taken_and_each_gets_a_notice() -> None:
    write = json.dumps(WRITE | {"meta": json.dumps(WRITE["meta"])})

    batch = batch_from(REQUEST | {"sceneWrites": json.dumps([write])})

    assert wish(batch) == wish(PLAIN)
    assert taken(batch) == ["/sceneWrites", "/sceneWrites/0", "/sceneWrites/0/meta"]


def test_white_space_and_a_byte_order_mark_around_the_text_do_no_harm() -> None:
    batch = batch_from(REQUEST | {"dismiss": '\ufeff\n ["m_3"] '})

    assert wish(batch) == wish(PLAIN)


@pytest.mark.parametrize(
    ("field", "text"),
    [
        ("members", '{"id": "m_1"}'),
        ("members", "5"),
        ("members", "null"),
        ("members", '"m_1"'),
        ("members", ""),
        ("sources", "a.md, b.md"),
        ("meta", '["summary"]'),
        ("meta", "summary: s"),
        ("meta", '{"summary": "s"'),
        ("members", '["m_1"'),
        ("members", "['m_1']"),
    ],
)
def test_text_that_does_not_say_the_right_kind_is_of_the_wrong_type(
    field: str, text: str
) -> None:
    batch = batch_from({"sceneWrites": [WRITE | {field: text}]})

    (fault,) = batch.faults
    assert fault.code is FaultCode.WRONG_TYPE
    assert fault.path == f"/sceneWrites/0/{field}"
    assert taken(batch) == []


def test_text_that_looks_like_json_is_told_where_it_is_not() -> None:
    (fault,) = batch_from({"sceneWrites": '[{"action": "delete",}]'}).faults

    assert "JSON" in fault.message
    assert "line 1, column 22" in fault.message


@pytest.mark.parametrize("text", ["{}", "[1]", '{"a": "b"}'])
@pytest.mark.parametrize("field", ["content", "reason", "filename"])
def test_text_that_is_to_be_text_is_never_read_as_json(field: str, text: str) -> None:
    batch = batch_from({"sceneWrites": [WRITE | {field: text}]})

    assert batch.faults == ()
    assert batch.notices == ()


@pytest.mark.parametrize(
    ("text", "code", "path"),
    [
        ('{"heat": 1, "heat": 2}', FaultCode.DUPLICATE_KEY, "/heat"),
        ('{"created": "\\u0000"}', FaultCode.BAD_TEXT, "/created"),
        ('{"created": "\\ud800"}', FaultCode.BAD_TEXT, "/created"),
        ('{"heat": NaN}', FaultCode.NOT_JSON, "/heat"),
        ('{"heat": 1e999}', FaultCode.WRONG_TYPE, "/heat"),
        ('{"heat": "1"}', FaultCode.WRONG_TYPE, "/heat"),
        ('{"mood": 1}', FaultCode.UNKNOWN_FIELD, "/mood"),
        ('{"x": ' + "[" * 99 + "]" * 99 + "}", FaultCode.TOO_DEEP, ""),
    ],
)
def test_what_stands_in_text_gets_past_no_check(
    text: str, code: FaultCode, path: str
) -> None:
    write = {"action": "update", "filename": "a.md", "content": "x", "meta": text}

    batch = batch_from({"sceneWrites": [write]})

    assert [(f.code, f.path) for f in batch.faults] == [
        (code, f"/sceneWrites/0/meta{path}")
    ]


@pytest.mark.parametrize(("more", "is_refused"), [(0, False), (1, True)])
def test_the_levels_around_a_text_count_as_its_own(
    more: int, *, is_refused: bool
) -> None:
    inner = MAX_DEPTH - 3 - 1 + more
    meta = '{"x": ' + "[" * inner + "]" * inner + "}"

    batch = batch_from({"sceneWrites": [{"action": "update", "meta": meta}]})

    assert is_refused == any(f.code is FaultCode.TOO_DEEP for f in batch.faults)


def test_a_request_in_text_in_text_is_not_taken() -> None:
    (fault,) = batch_from(json.dumps(json.dumps(REQUEST))).faults

    assert fault.code is FaultCode.NOT_AN_OBJECT
