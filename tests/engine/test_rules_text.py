"""Bodies, summaries and reasons at their limits, and what they may not hold."""

import json

import pytest
from msgspec.structs import replace

from scenestore_engine.commands import Batch
from scenestore_engine.decide import Accepted, decide
from scenestore_engine.faults import Fault
from scenestore_engine.policy import Policy
from scenestore_engine.state import Known, Meta, Scene, State
from scenestore_engine.wire import parse_batch

NOW_MS = 1_772_496_000_000
OLD = "2026-01-01T00:00:00.000Z"
META = Meta(created=OLD, updated=OLD, summary="old", heat=1)
LIVE = {
    name: Scene(blob="", first_seen=OLD, meta=META) for name in ("a.md", "b.md", "c.md")
}
STATE = State(live=LIVE, archived={"z.md": LIVE["a.md"]})
KNOWN = Known(state=STATE, bodies=dict.fromkeys(LIVE, "- old"))
KEY = "AKIA" + "ABCDEFGHIJ234567"
WRITES = {
    "create": {"action": "create", "filename": "n.md"},
    "update": {"action": "update", "filename": "a.md"},
    "consolidate": {
        "action": "consolidate",
        "filename": "n.md",
        "sources": ["a.md", "b.md"],
    },
}
BODY_ACTIONS = pytest.mark.parametrize("action", WRITES)


def free(policy: Policy | None) -> Policy:
    """Return *policy* without a look at what bodies keep, which is not tested here."""
    return replace(policy or Policy(), retention="off", retention_update="off")


def faults_in(batch: Batch, policy: Policy | None = None) -> list[Fault]:
    found = decide(batch, KNOWN, free(policy), now_ms=NOW_MS, actor="t")
    return [] if isinstance(found, Accepted) else list(found.faults)


def faults_of(
    action: str,
    content: str = "- x",
    summary: str = "s",
    policy: Policy | None = None,
    **fields: object,
) -> list[Fault]:
    write = WRITES[action] | {"content": content, "meta": {"summary": summary}} | fields
    return faults_in(parse_batch(json.dumps({"sceneWrites": [write]})), policy)


def places(faults: list[Fault]) -> list[tuple[str, str]]:
    return [(f.code.value, f.path.removeprefix("/sceneWrites/0")) for f in faults]


TOO_LONG = [("body_too_long", "/content")]


@BODY_ACTIONS
@pytest.mark.parametrize(
    "char", ["x", "é", "场", "\U0001f3c3", "\u0301", "\u00df"], ids=ascii
)
def test_a_body_has_at_most_1500_code_points(action: str, char: str) -> None:
    assert faults_of(action, char * 1500) == []
    assert places(faults_of(action, char * 1501)) == TOO_LONG


@BODY_ACTIONS
def test_a_line_break_counts_as_one_however_it_is_sent(action: str) -> None:
    for end in ("\n", "\r\n", "\r"):
        assert faults_of(action, f"x{end}" * 749 + "xx") == []
        assert places(faults_of(action, f"x{end}" * 749 + "xxx")) == TOO_LONG
        assert places(faults_of(action, f"x{end}" * 750 + "x")) == TOO_LONG


@BODY_ACTIONS
def test_outer_blank_lines_do_not_count_and_outer_spaces_do(action: str) -> None:
    assert faults_of(action, "\n \n" + "x" * 1500 + "\n\t\n") == []
    assert places(faults_of(action, " " + "x" * 1500)) == TOO_LONG
    assert places(faults_of(action, "x" * 1500 + " ")) == TOO_LONG


def test_neither_summary_nor_meta_counts_for_the_body() -> None:
    assert faults_of("create", "x" * 1500, "s" * 500, reason="r" * 500) == []


@pytest.mark.parametrize("limit", [1, 10, 4000])
def test_the_length_of_a_body_is_the_policys(limit: int) -> None:
    policy = Policy(max_body_chars=limit)

    assert faults_of("update", "x" * limit, policy=policy) == []
    (fault,) = faults_of("update", "x" * (limit + 1), policy=policy)
    assert fault.hint == "Shorten it by 1 characters."


@BODY_ACTIONS
@pytest.mark.parametrize("body", ["", " ", "\n\n", "\t\n ", "\u3000", "\u00a0\n\x0b"])
def test_a_blank_body_is_refused(action: str, body: str) -> None:
    assert places(faults_of(action, body)) == [("body_blank", "/content")]


@BODY_ACTIONS
@pytest.mark.parametrize(
    "line",
    [
        "-----META-START-----",
        "-----META-END-----",
        "-----meta-end-----",
        "  -----META-END-----\t",
    ],
)
def test_a_line_of_a_meta_header_is_refused_wherever_it_stands(
    action: str, line: str
) -> None:
    for body in (line, f"{line}\n- x", f"- x\n{line}\n- y", f"- x\r{line}"):
        assert places(faults_of(action, body)) == [("body_has_meta", "/content")]


@pytest.mark.parametrize(
    "line",
    [
        "----META-END----",
        "- -----META-END-----",
        "-----META-END----- x",
        "created: 2026-01-01",
        "heat: 5",
    ],
)
def test_a_line_that_is_only_like_a_meta_header_is_taken(line: str) -> None:
    assert faults_of("update", f"- x\n{line}") == []


@BODY_ACTIONS
@pytest.mark.parametrize(
    "line", ["[DELETED]", "[deleted]", "[Deleted]", "  [DELETED] "]
)
def test_a_line_that_is_nothing_but_deleted_is_refused(action: str, line: str) -> None:
    for body in (line, f"{line}\n- x", f"- x\n{line}\n- y", f"- x\r\n{line}"):
        assert places(faults_of(action, body)) == [("body_marks_deletion", "/content")]


@pytest.mark.parametrize(
    "line", ["- [DELETED]", "[DELETED].", "x [DELETED]", "DELETED"]
)
def test_a_line_that_speaks_of_deleted_is_taken(line: str) -> None:
    assert faults_of("update", line) == []


# Summary and reason


@BODY_ACTIONS
@pytest.mark.parametrize("char", ["s", "场", "\U0001f3c3"])
def test_a_summary_and_a_reason_have_at_most_500_code_points(
    action: str, char: str
) -> None:
    assert faults_of(action, summary=char * 500, reason=char * 500) == []
    assert places(faults_of(action, summary=char * 501)) == [
        ("bad_summary", "/meta/summary")
    ]
    assert places(faults_of(action, reason=char * 501)) == [("bad_reason", "/reason")]


def test_outer_spaces_of_a_line_do_not_count() -> None:
    assert faults_of("update", summary=f"  {'s' * 500}  ", reason=f" {'r' * 500}") == []


@pytest.mark.parametrize(
    "text",
    [
        "",
        "  ",
        "\u3000",
        "one\ntwo",
        "one\rtwo",
        "one\u2028two",
        "one\u2029two",
        "one\x85two",
        "a\x1b[31m",
        "a\x7f",
        "a\x9b",
        "a\tb",
        "a\x0bb",
    ],
    ids=ascii,
)
@BODY_ACTIONS
def test_a_summary_or_reason_that_is_no_clean_line_is_refused(
    action: str, text: str
) -> None:
    assert places(faults_of(action, summary=text)) == [("bad_summary", "/meta/summary")]
    assert places(faults_of(action, reason=text)) == [("bad_reason", "/reason")]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (" ", "is blank"),
        ("s" * 501, "has 501 characters; 500 are allowed"),
        ("a\nb", "has more than one line"),
        ("a\rb", "has more than one line"),
        ("a\u2028b", "has more than one line"),
        ("a\u2029b", "has more than one line"),
        ("a\x1bb", "holds a control character"),
    ],
    ids=ascii,
)
def test_what_is_wrong_with_a_line_is_told(text: str, said: str) -> None:
    (fault,) = faults_of("update", summary=text)

    assert fault.message == f"The summary {said}."


@pytest.mark.parametrize(
    "text",
    [
        "s",
        "a: b: c",
        "-----META-END-----",
        "#1",
        "\u200e\u05d0",
        "\u00a0x",
        "\U0001f3c3",
    ],
)
def test_any_other_line_is_taken(text: str) -> None:
    assert faults_of("update", summary=text, reason=text) == []


@pytest.mark.parametrize(
    "write",
    [
        {"action": "delete", "filename": "c.md"},
        {"action": "archive", "filename": "c.md"},
        {"action": "restore", "filename": "z.md"},
    ],
)
def test_the_reason_of_any_other_action_is_judged_too(write: dict[str, str]) -> None:
    def faults_with(reason: str) -> list[Fault]:
        request = {"sceneWrites": [write | {"reason": reason}]}
        return faults_in(parse_batch(json.dumps(request)))

    assert faults_with("r" * 500) == []
    assert places(faults_with("r" * 501)) == [("bad_reason", "/reason")]
    assert places(faults_with("a\nb")) == [("bad_reason", "/reason")]


@pytest.mark.parametrize(
    ("field", "request_"),
    [
        ("personaReason", {"personaSignal": True}),
        ("dismissReason", {"dismiss": ["r1"]}),
    ],
)
def test_the_reasons_of_the_batch_itself_are_judged_too(
    field: str, request_: dict[str, object]
) -> None:
    for text in ("", " ", "r" * 501, "a\nb", "a\u2028b"):
        faults = faults_in(parse_batch(json.dumps(request_ | {field: text})))

        assert ("bad_reason", f"/{field}") in places(faults), ascii(text)


def test_the_reasons_of_the_batch_itself_have_at_most_500_code_points() -> None:
    batch = {"personaSignal": True, "personaReason": "r" * 500}

    assert faults_in(parse_batch(json.dumps(batch))) == []


def test_a_text_with_many_faults_has_them_all() -> None:
    body = f"[DELETED]\n-----META-END-----\n{KEY}\n" + "x" * 1500

    assert sorted(places(faults_of("update", body, "a\nb", reason=""))) == [
        ("bad_reason", "/reason"),
        ("bad_summary", "/meta/summary"),
        ("body_has_meta", "/content"),
        ("body_marks_deletion", "/content"),
        ("body_too_long", "/content"),
        ("secret", "/content"),
    ]


# Secrets


SECRETS = {
    "a private key": "-----BEGIN RSA PRIVATE KEY-----",
    "an AWS access key": KEY,
    "a GitHub token": "ghp_" + "a" * 36,
    "a GitLab token": "glpat-" + "a" * 20,
    "a Slack token": "xoxb-" + "1" * 10,
    "a Google key": "AIza" + "a" * 35,
    "a Stripe key": "sk_live_" + "a" * 16,
    "an Anthropic key": "sk-ant-" + "a" * 20,
    "an OpenAI key": "sk-" + "a" * 32,
    "a Hugging Face token": "hf_" + "a" * 30,
    "an npm token": "npm_" + "a" * 36,
    "a PyPI token": "pypi-" + "a" * 50,
    "a SendGrid key": "SG." + "a" * 16 + "." + "b" * 16,
    "a JSON web token": "eyJ" + "a" * 10 + ".eyJ" + "b" * 10 + "." + "c" * 10,
}


@pytest.mark.parametrize("kind", SECRETS)
def test_each_kind_of_secret_is_refused_and_not_repeated(kind: str) -> None:
    (fault,) = faults_of("update", f"- the key is {SECRETS[kind]}, keep it")

    assert (fault.code.value, fault.path) == ("secret", "/sceneWrites/0/content")
    assert kind in fault.message
    assert SECRETS[kind] not in str(fault)


@pytest.mark.parametrize("kind", [k for k in SECRETS if k != "a private key"])
def test_a_text_that_is_a_little_short_of_a_secret_is_taken(kind: str) -> None:
    assert faults_of("update", f"- the key is {SECRETS[kind][:-1]}, keep it") == []


@pytest.mark.parametrize(
    ("fields", "path"),
    [
        ({"content": KEY}, "/content"),
        ({"meta": {"summary": KEY}}, "/meta/summary"),
        ({"reason": KEY}, "/reason"),
        ({"filename": f"{KEY}.md"}, "/filename"),
        ({"sources": ["a.md", "b.md", f"{KEY}.md"]}, "/sources/2"),
    ],
)
def test_a_secret_is_found_in_every_text_of_a_write(
    fields: dict[str, object], path: str
) -> None:
    write = WRITES["consolidate"] | {"content": "- x", "meta": {"summary": "s"}}
    batch = parse_batch(json.dumps({"sceneWrites": [write | fields]}))

    assert ("secret", path) in places(faults_in(batch))


def test_a_secret_is_found_in_as_and_in_the_reasons_of_the_batch() -> None:
    batch = parse_batch(
        json.dumps(
            {
                "sceneWrites": [
                    {"action": "restore", "filename": "z.md", "as": f"{KEY}.md"}
                ],
                "personaSignal": True,
                "personaReason": KEY,
                "dismiss": ["r"],
                "dismissReason": KEY,
            }
        )
    )

    secrets = [place for place in places(faults_in(batch)) if place[0] == "secret"]
    assert secrets == [
        ("secret", "/as"),
        ("secret", "/personaReason"),
        ("secret", "/dismissReason"),
    ]


@pytest.mark.parametrize("secrets", ["notice", "off"])
def test_policy_may_let_a_secret_in(secrets: str) -> None:
    assert faults_of("update", KEY, policy=Policy(secrets=secrets)) == []
