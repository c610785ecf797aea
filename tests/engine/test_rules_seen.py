"""What a reader of a scene file sees counts, not what its bytes are called."""

import pytest

from scenestore_engine.commands import AdvisoryMeta, Create
from scenestore_engine.faults import FaultCode
from scenestore_engine.policy import Policy
from scenestore_engine.rules import body_is_good, line_complaint


def codes(body: str) -> list[FaultCode]:
    command = Create(
        filename="a.md", content=body, meta=AdvisoryMeta(summary="s"), members=None
    )
    return [fault.code for fault in body_is_good("/0", command, Policy())]


@pytest.mark.parametrize("text", ["\u200b", "\ufeff \u2060", " \t", "\u00ad"])
def test_text_that_shows_nothing_is_blank(text: str) -> None:
    assert codes(text) == [FaultCode.BODY_BLANK]
    assert line_complaint(text) == "is blank"


@pytest.mark.parametrize("end", ["\n", "\v", "\f", "\x1c", "\x85", "\u2028", "\u2029"])
def test_a_header_line_counts_after_whatever_some_reader_ends_a_line_at(
    end: str,
) -> None:
    assert codes(f"- x{end}-----META-END-----") == [FaultCode.BODY_HAS_META]
    assert codes(f"- x{end}[deleted]") == [FaultCode.BODY_MARKS_DELETION]


@pytest.mark.parametrize("hidden", ["\ufeff", "\u200b"])
def test_a_header_line_counts_behind_what_nobody_sees(hidden: str) -> None:
    assert codes(f"- x\n{hidden}-----META-START-----") == [FaultCode.BODY_HAS_META]


def test_a_format_character_within_a_text_changes_nothing() -> None:
    assert codes("- a\u200bb") == []
    assert line_complaint("a\u200db") is None
