import json

import pytest

from scenestore_engine.commands import Batch, body_hash
from scenestore_engine.faults import Fault, FaultCode
from scenestore_engine.policy import MAX_BATCH_BYTES, MAX_DEPTH
from scenestore_engine.strictjson import read
from scenestore_engine.wire import MAX_FAULTS, batch_from, parse_batch

CURSOR = b'{"cursor": "m_1"}'


def only_fault(batch: Batch) -> Fault:
    (fault,) = batch.faults
    return fault


def nested(levels: int) -> bytes:
    """Return a request of so many levels, its outer object counted."""
    return b'{"x": ' + b"[" * (levels - 1) + b"]" * (levels - 1) + b"}"


@pytest.mark.parametrize(
    "payload",
    [
        b"",
        b"   ",
        b"{",
        b'{"cursor": "m_1",}',
        b"{'cursor': 'm_1'}",
        b'{"cursor": "m_1"} x',
        b'{"cursor": "m_1"}{"cursor": "m_1"}',
        b'{"cursor": "m\x01"}',
        b'{"cursor": True}',
        b'```json\n{"cursor": "m_1"}\n```',
        b'"',
        b"[" * MAX_DEPTH,
    ],
)
def test_what_is_no_json_is_refused_with_line_and_column(payload: bytes) -> None:
    batch = parse_batch(payload)

    fault = only_fault(batch)
    assert fault.code is FaultCode.NOT_JSON
    assert "JSON" in fault.message
    assert "line" in fault.message
    assert "column" in fault.message


def test_the_place_of_a_syntax_error_is_where_it_is() -> None:
    fault = only_fault(parse_batch(b'{\n  "cursor": oops\n}'))

    assert "line 2, column 13" in fault.message


@pytest.mark.parametrize(
    "payload", [b"[]", b"1", b"null", b"true", b'"text"', b'[{"cursor": "m_1"}]']
)
def test_json_that_is_no_object_is_refused(payload: bytes) -> None:
    fault = only_fault(parse_batch(payload))

    assert fault.code is FaultCode.NOT_AN_OBJECT
    assert fault.path == ""


@pytest.mark.parametrize(
    "payload",
    [
        b'{"cursor": "\xe9"}',
        b'{"cursor": "\xc0\xaf"}',
        b'{"cursor": "\xed\xa0\xbd"}',
        '{"cursor": "m_1"}'.encode("utf-16"),
    ],
)
def test_what_is_no_utf8_is_refused_and_the_message_says_so(payload: bytes) -> None:
    fault = only_fault(parse_batch(payload))

    assert fault.code is FaultCode.NOT_JSON
    assert "UTF-8" in fault.message


@pytest.mark.parametrize(
    "payload", [b"\xef\xbb\xbf" + CURSOR, "\ufeff" + CURSOR.decode()]
)
def test_a_leading_byte_order_mark_changes_nothing(payload: bytes | str) -> None:
    batch = parse_batch(payload)

    assert batch == parse_batch(CURSOR)
    assert batch.cursor == "m_1"


def test_a_request_of_exactly_4_mib_is_read() -> None:
    batch = parse_batch(CURSOR + b" " * (MAX_BATCH_BYTES - len(CURSOR)))

    assert batch == Batch(cursor="m_1")


def test_a_request_of_one_byte_more_than_4_mib_is_refused() -> None:
    fault = only_fault(parse_batch(CURSOR.ljust(MAX_BATCH_BYTES + 1)))

    assert fault.code is FaultCode.TOO_LARGE
    assert "4 MiB" in fault.message
    assert str(MAX_BATCH_BYTES + 1) in fault.message


def test_the_size_of_a_text_is_counted_in_bytes_and_not_in_characters() -> None:
    text = json.dumps({"cursor": "场" * (MAX_BATCH_BYTES // 3)}, ensure_ascii=False)

    fault = only_fault(parse_batch(text))

    assert fault.code is FaultCode.TOO_LARGE


def test_the_deepest_nesting_allowed_is_not_called_too_deep() -> None:
    codes = {fault.code for fault in parse_batch(nested(MAX_DEPTH)).faults}

    assert codes == {FaultCode.UNKNOWN_FIELD}


@pytest.mark.parametrize("levels", [MAX_DEPTH + 1, 1_000, 100_000])
def test_nesting_below_the_deepest_level_is_refused(levels: int) -> None:
    fault = only_fault(parse_batch(nested(levels)))

    assert fault.code is FaultCode.TOO_DEEP


@pytest.mark.parametrize("text", ["\\\\", '\\"', '\\\\\\"', "\\\\\\\\"])
def test_nesting_after_a_text_with_escapes_is_counted(text: str) -> None:
    payload = f'{{"runId": "{text}", "x": {"[" * 100_000}{"]" * 100_000}}}'

    fault = only_fault(parse_batch(payload))

    assert fault.code is FaultCode.TOO_DEEP


def test_a_hundred_thousand_brackets_that_never_close_are_too_deep() -> None:
    fault = only_fault(parse_batch(b"[" * 100_000))

    assert fault.code is FaultCode.TOO_DEEP


@pytest.mark.parametrize(
    "text", ["[" * 99, '\\"' + "[" * 99, "\\" * 2 + "{" * 99, '"' * 9]
)
def test_brackets_within_a_text_are_no_nesting(text: str) -> None:
    batch = parse_batch(json.dumps({"cursor": text}))

    assert batch == Batch(cursor=text)


def test_many_objects_beside_each_other_are_no_nesting() -> None:
    codes = {f.code for f in parse_batch('{"x": [' + "[{}]," * 99 + "[]]}").faults}

    assert codes == {FaultCode.UNKNOWN_FIELD}


@pytest.mark.parametrize(
    ("payload", "path"),
    [
        ('{"cursor": "a", "cursor": "b"}', "/cursor"),
        ('{"cursor": "a", "\\u0063ursor": "a"}', "/cursor"),
        (
            '{"sceneWrites": [{}, {"action": "x", "action": "x"}]}',
            "/sceneWrites/1/action",
        ),
        ('{"x": {"a/b~": 1, "a/b~": 1}}', "/x/a~1b~0"),
    ],
)
def test_a_key_that_stands_twice_is_a_fault_at_its_path(
    payload: str, path: str
) -> None:
    faults = parse_batch(payload).faults

    assert path in [f.path for f in faults if f.code is FaultCode.DUPLICATE_KEY]


def test_neither_value_of_a_key_that_stands_twice_is_taken() -> None:
    batch = parse_batch('{"cursor": "a", "cursor": "b", "runId": "r"}')

    assert batch.cursor is None
    assert batch.run_id == "r"


def test_a_key_that_stands_twice_is_named_once_and_counted() -> None:
    fault = only_fault(parse_batch('{"runId": "a", "runId": 1, "runId": null}'))

    assert '"runId" stands 3 times' in fault.message


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity"])
def test_a_number_that_json_does_not_have_is_refused_at_its_path(number: str) -> None:
    faults = parse_batch(f'{{"cursor": "m", "sceneWrites": [{number}]}}').faults

    assert [(f.code, f.path) for f in faults] == [
        (FaultCode.NOT_JSON, "/sceneWrites/0")
    ]
    assert number in faults[0].message


@pytest.mark.parametrize("number", ["9" * 5_000, "-" + "9" * 19, "1e999", "-1e999"])
def test_a_number_that_is_too_large_is_one_fault_at_its_path(number: str) -> None:
    write = (
        '{"action": "update", "filename": "a.md", "content": "x", "meta": {"heat": %s}}'
    )
    payload = f'{{"sceneWrites": [{write % number}]}}'

    fault = only_fault(parse_batch(payload))

    assert fault.code is FaultCode.WRONG_TYPE
    assert fault.path == "/sceneWrites/0/meta/heat"
    assert "number" in fault.message


@pytest.mark.parametrize("number", ["9" * 19, "1e999", "NaN"])
def test_a_number_that_is_refused_is_refused_even_where_it_is_not_used(
    number: str,
) -> None:
    write = f'{{"action": "delete", "filename": "a.md", "meta": {number}}}'

    fault = only_fault(parse_batch(f'{{"sceneWrites": [{write}]}}'))

    assert fault.path == "/sceneWrites/0/meta"


@pytest.mark.parametrize("number", ["9" * 18, "-" + "9" * 18])
def test_a_whole_number_of_eighteen_digits_is_read(number: str) -> None:
    write = (
        '{"action": "update", "filename": "a.md", "content": "x", "meta": {"heat": %s}}'
    )

    batch = parse_batch(f'{{"sceneWrites": [{write % number}]}}')

    assert batch.faults == ()


@pytest.mark.parametrize(
    ("escape", "name"),
    [
        ("\\u0000", "NUL"),
        ("\\ud800", "surrogate"),
        ("\\uDFFF", "surrogate"),
        ("\\ude00\\ud83d", "surrogate"),
        ("\ud800", "surrogate"),
    ],
)
@pytest.mark.parametrize(
    ("form", "path"),
    [
        ('{"cursor": "a%sb"}', "/cursor"),
        ('{"dismiss": ["a", "%s"], "dismissReason": "x"}', "/dismiss/1"),
        ('{"dryRun": "%s"}', "/dryRun"),
        ('{"dismiss": "%s"}', "/dismiss"),
        ('{"sceneWrites": "%s"}', "/sceneWrites"),
        ('{"sceneWrites": ["%s"]}', "/sceneWrites/0"),
        ('"%s"', ""),
        ('{"sceneWrites": [{"action": "%s"}]}', "/sceneWrites/0/action"),
        (
            '{"sceneWrites": [{"meta": {"summary": "%s"}}]}',
            "/sceneWrites/0/meta/summary",
        ),
        ('{"sceneWrites": [{"action": "delete", "x": "%s"}]}', "/sceneWrites/0/x"),
        (
            '{"sceneWrites": [{"action": "delete", "meta": "%s"}]}',
            "/sceneWrites/0/meta",
        ),
    ],
)
def test_text_that_no_file_keeps_is_a_fault_wherever_it_stands(
    form: str, path: str, escape: str, name: str
) -> None:
    faults = parse_batch(form % escape).faults

    (fault,) = [f for f in faults if f.code is FaultCode.BAD_TEXT]
    assert fault.path == path
    assert name in fault.message


@pytest.mark.parametrize("escape", ["\\u0000", "\\ud800"])
def test_a_key_with_such_text_is_a_fault_that_can_be_printed(escape: str) -> None:
    faults = parse_batch(f'{{"a{escape}": 1}}').faults

    assert {f.code for f in faults} == {FaultCode.BAD_TEXT, FaultCode.UNKNOWN_FIELD}
    assert {f.path for f in faults} == {"/a\ufffd"}
    assert "\0" not in "".join(f.message for f in faults)
    "".join(f.message + f.path for f in faults).encode()


def test_no_text_that_no_file_keeps_is_left_in_the_batch() -> None:
    bad = '"\\ud800"'
    names = "cursor personaReason dismissReason baseRevision idempotencyKey runId"
    fields = ", ".join(f'"{name}": {bad}' for name in names.split())
    request = f'{{"personaSignal": true, "dismiss": [{bad}], {fields}}}'

    batch = parse_batch(request)

    assert batch == Batch(faults=batch.faults)
    assert body_hash(batch) == body_hash(Batch())


@pytest.mark.parametrize(
    "text", ["\U0001f3c3", "\\ud83c\\udfc3", "\\\\u0000", "\\\\ud800"]
)
def test_a_whole_pair_and_a_mere_mention_of_an_escape_are_no_bad_text(
    text: str,
) -> None:
    batch = parse_batch(f'{{"cursor": "{text}"}}')

    assert batch.faults == ()


def test_white_space_and_escapes_of_json_are_taken() -> None:
    batch = parse_batch('\n\t {\r\n "\\u0063ursor" : "a\\/b" } \r\n')

    assert batch == Batch(cursor="a/b")


def test_more_faults_than_are_listed_are_not_listed() -> None:
    request = {f"x{number}": 0 for number in range(MAX_FAULTS + 1)}

    batch = batch_from(request)

    assert len(batch.faults) == MAX_FAULTS


def test_a_long_key_does_not_make_the_answer_long() -> None:
    (fault,) = batch_from({"k" * 100_000: 1}).faults

    assert len(fault.path) + len(fault.message) < 1_000


def test_a_list_that_holds_itself_is_too_deep() -> None:
    endless: list[object] = []
    endless.append(endless)

    fault = only_fault(batch_from({"sceneWrites": endless}))

    assert fault.code is FaultCode.TOO_DEEP


@pytest.mark.parametrize("value", [{1, 2}, b"x", object(), {(1, 2): 3}])
def test_a_value_that_json_does_not_have_is_refused(value: object) -> None:
    fault = only_fault(batch_from({"cursor": value}))

    assert fault.code is FaultCode.WRONG_TYPE
    assert "JSON" in fault.message


def test_a_number_too_long_to_be_written_down_is_refused() -> None:
    fault = only_fault(batch_from({"cursor": 10**5_000}))

    assert fault.code is FaultCode.WRONG_TYPE


def test_a_tuple_is_as_good_as_a_list() -> None:
    batch = batch_from({"dismiss": ("m_1",), "dismissReason": "x"})

    assert batch.dismiss == {"m_1"}


def test_a_decoded_request_gets_past_no_check() -> None:
    request = {"cursor": "\0", "runId": "\ud800", "dryRun": float("nan"), 1: 0}

    codes = [fault.code for fault in batch_from(request).faults]

    assert codes == [
        FaultCode.BAD_TEXT,
        FaultCode.BAD_TEXT,
        FaultCode.NOT_JSON,
        FaultCode.UNKNOWN_FIELD,
    ]


def test_json_that_is_no_batch_is_read_as_it_stands() -> None:
    assert read(b'{"scenes": {"a.md": [1, 2.5, null]}}') == (
        {"scenes": {"a.md": [1, 2.5, None]}},
        [],
    )


@pytest.mark.parametrize(
    ("payload", "code"),
    [
        (b"{", FaultCode.NOT_JSON),
        (b"\xff", FaultCode.NOT_JSON),
        (b'{"x": NaN}', FaultCode.NOT_JSON),
        (b'{"x": 1, "x": 1}', FaultCode.DUPLICATE_KEY),
        (b'["\\u0000"]', FaultCode.BAD_TEXT),
        (nested(MAX_DEPTH + 1), FaultCode.TOO_DEEP),
        (b" " * (MAX_BATCH_BYTES + 1), FaultCode.TOO_LARGE),
    ],
)
def test_what_is_wrong_with_json_that_is_no_batch_is_told(
    payload: bytes, code: FaultCode
) -> None:
    _, flaws = read(payload)

    assert [flaw.code for flaw in flaws] == [code]
