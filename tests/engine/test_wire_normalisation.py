import pytest

from scenestore_engine.commands import Archive, Batch, Create
from scenestore_engine.wire import batch_from, parse_batch


def created(content: str, summary: str = "s") -> Create:
    write = {"action": "create", "filename": "a.md", "content": content}
    batch = batch_from({"sceneWrites": [write | {"meta": {"summary": summary}}]})
    assert batch.faults == ()
    command = batch.writes[0].command
    assert isinstance(command, Create)
    return command


@pytest.mark.parametrize(
    ("sent", "kept"),
    [
        ("a\r\nb\rc\nd", "a\nb\nc\nd"),
        ("a\r\r\nb", "a\n\nb"),
        ("\n\n a\n", " a"),
        (" \t\n\r\n\ta \n \t \n", "\ta "),
        ("a", "a"),
        ("  a  ", "  a  "),
        ("a\n\n\n b \n\nc", "a\n\n\n b \n\nc"),
        ("", ""),
        (" \n\t\n ", ""),
        ("   ", ""),
        ("\r\n", ""),
        ("\u3000\na\n\u00a0", "\u3000\na\n\u00a0"),
        ("a\u2028b\x0bc\x85", "a\u2028b\x0bc\x85"),
    ],
)
def test_a_body_has_lf_and_no_outer_blank_lines_and_is_else_as_sent(
    sent: str, kept: str
) -> None:
    assert created(sent).content == kept


@pytest.mark.parametrize(
    ("sent", "kept"),
    [
        ("  one line ", "one line"),
        ("a  b", "a  b"),
        ("   ", ""),
        (" one\n", "one\n"),
        ("\ttab", "\ttab"),
        ("\u3000wide\u3000", "\u3000wide\u3000"),
        ("one\r\ntwo", "one\r\ntwo"),
        ("\u2028", "\u2028"),
    ],
)
def test_a_line_loses_outer_spaces_and_hides_nothing_from_the_rules(
    sent: str, kept: str
) -> None:
    archive = {"action": "archive", "filename": "a.md", "reason": sent}
    request = {"personaSignal": True, "personaReason": sent, "dismiss": ["m"]}

    batch = batch_from({"sceneWrites": [archive], **request, "dismissReason": sent})

    assert created("x", sent).meta.summary == kept
    assert batch.writes[0].command == Archive(filename="a.md", reason=kept)
    assert batch.persona_reason == kept
    assert batch.dismiss_reason == kept


@pytest.mark.parametrize("text", [" m_1 ", "m_1\n", "", "M_1", "x" * 1_000])
def test_an_id_a_name_and_a_revision_are_kept_exactly_as_sent(text: str) -> None:
    names = {
        "cursor": text,
        "baseRevision": text,
        "idempotencyKey": text,
        "runId": text,
    }
    write = {"action": "delete", "filename": text}
    dismissal = {"dismiss": [text], "dismissReason": "x"}

    batch = batch_from({"sceneWrites": [write], **names, **dismissal})

    assert batch == Batch(
        writes=batch.writes,
        cursor=text,
        base_revision=text,
        idempotency_key=text,
        run_id=text,
        dismiss=frozenset({text}),
        dismiss_reason="x",
    )
    assert batch.writes[0].command.filename == text


def test_every_field_beside_the_writes_is_read() -> None:
    batch = parse_batch(
        """{"cursor": "m_1@2026-03-05:12", "personaSignal": true, "personaReason": "p",
        "dismiss": ["m_2", "m_2"], "dismissReason": "d", "baseRevision": "7",
        "idempotencyKey": "k", "runId": "r", "dryRun": true}"""
    )

    assert batch == Batch(
        cursor="m_1@2026-03-05:12",
        persona_reason="p",
        dismiss=frozenset({"m_2"}),
        dismiss_reason="d",
        base_revision="7",
        idempotency_key="k",
        run_id="r",
        dry_run=True,
    )


@pytest.mark.parametrize(
    "text", ["\n" * 1_000_000 + "x", "x" + " \n" * 1_000_000 + "x"]
)
def test_a_million_blank_lines_take_no_longer_than_reading_them(text: str) -> None:
    assert created(text).content == text.lstrip("\n")
