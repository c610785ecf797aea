"""Scene files by their bytes: one table for writing and for reading."""

from pathlib import Path

import pytest

from scenestore.blockfile import Block, parse, render
from scenestore_engine.state import Meta

SCENES = Path(__file__).parent / "scenes"
FILE_TIME = "2026-02-02T02:02:02.020Z"
CREATED, UPDATED = "2026-03-01T08:00:00.000Z", "2026-03-05T09:30:00.125Z"


def meta(summary: str, heat: int = 1, extra: tuple[str, ...] = ()) -> Meta:
    return Meta(
        created=CREATED, updated=UPDATED, summary=summary, heat=heat, extra=extra
    )


KEPT = {
    "plain.md": (
        meta("Runs three times a week", 4),
        "# Running\n\n- runs three times a week\n- left knee hurts after 10 km",
    ),
    "cjk-and-emoji.md": (
        meta("东京マラソン\U0001f3c3\u200d♀\ufe0f 2027"),
        (
            "# 东京马拉松\n- 목표: 4시간 이하\n- ﾗﾝﾆﾝｸﾞ \U0001f3c3\U0001f3fd\n"
            "- \u05e9\u05dc\u05d5\u05dd e\u0301"
        ),
    ),
    "unknown-fields.md": (
        meta(
            "Odd",
            2,
            (
                "mood: blue",
                "tags: [a, b]",
                "no colon here",
                "heat: 99",
                "  indented: kept",
            ),
        ),
        "- odd",
    ),
    "looks-like-meta.md": (
        meta("a: b: c ; heat: 9"),
        (
            "created: 1999-01-01\nheat: 7\n- -----META-END-----\n----META-START----\n\n"
            "summary: not one"
        ),
    ),
    "empty-body.md": (meta("Nothing yet"), ""),
    "spaces.md": (
        meta(" two before and two after  ", 0),
        "    indented\n\n\n\ttab and trailing  \t\n\u3000wide\u3000",
    ),
    "strange-separators.md": (
        meta("#1\u00a0", 100_000),
        "a\u2028b\u2029c\x85d\x0be\x0cf\n\ufeffg",
    ),
}
HEAD = f"-----META-START-----\ncreated: {CREATED}\nupdated: {UPDATED}\n"
PLAIN = f"{HEAD}summary: S\nheat: 3\n-----META-END-----\n\n# H\n- x\n"
PLAIN_BLOCK = Block(meta=meta("S", 3), body="# H\n- x")


def foreign(summary: str, body: str, **fields: object) -> Block:
    """Return what is read where a file does not say all of its META."""
    said = Meta(created=FILE_TIME, updated=FILE_TIME, summary=summary, heat=1)
    known = {name: getattr(said, name) for name in said.__struct_fields__}
    return Block(meta=Meta(**(known | fields)), body=body)


FOREIGN: dict[str, tuple[str, Block]] = {
    "CRLF": (PLAIN.replace("\n", "\r\n"), PLAIN_BLOCK),
    "lone CR": (PLAIN.replace("\n", "\r"), PLAIN_BLOCK),
    "all kinds of line ends": (
        PLAIN.replace("\n# H\n", "\r\n\r# H\r\n"),
        PLAIN_BLOCK,
    ),
    "BOM": ("\ufeff" + PLAIN, PLAIN_BLOCK),
    "BOM and CRLF": ("\ufeff" + PLAIN.replace("\n", "\r\n"), PLAIN_BLOCK),
    "blank lines before": ("\n \n" + PLAIN, PLAIN_BLOCK),
    "blank lines after": (PLAIN + "\n \n\t\n", PLAIN_BLOCK),
    "no last newline": (PLAIN.rstrip("\n"), PLAIN_BLOCK),
    "no blank line after META": (
        PLAIN.replace("END-----\n\n", "END-----\n"),
        PLAIN_BLOCK,
    ),
    "spaces around the marks": (
        PLAIN.replace("-----META-START-----", " -----META-START----- ").replace(
            "-----META-END-----", "\t-----META-END-----"
        ),
        PLAIN_BLOCK,
    ),
    "no spaces after the colons": (PLAIN.replace(": ", ":"), PLAIN_BLOCK),
    "blank lines inside META": (PLAIN.replace("\nheat", "\n\nheat"), PLAIN_BLOCK),
    "no header": ("# A heading\n- x\n", foreign("A heading", "# A heading\n- x")),
    "no header, no heading": ("- x\n- y", foreign("- x", "- x\n- y")),
    "a heading further below": ("- x\n\n## Two\n", foreign("Two", "- x\n\n## Two")),
    "an empty heading": ("###\n- x", foreign("untitled", "###\n- x")),
    "an empty file": ("", foreign("untitled", "")),
    "a BOM alone": ("\ufeff", foreign("untitled", "")),
    "blank lines alone": (" \n\r\n\t", foreign("untitled", "")),
    "a header that never ends": (
        "-----META-START-----\ncreated: x\n- x\n",
        foreign("-----META-START-----", "-----META-START-----\ncreated: x\n- x"),
    ),
    "a header that is not first": (
        f"- x\n{PLAIN}",
        foreign("H", f"- x\n{PLAIN}".strip("\n")),
    ),
    "META alone": (
        f"{HEAD}summary: S\nheat: 3\n-----META-END-----",
        Block(meta=meta("S", 3), body=""),
    ),
    "an empty META": (
        "-----META-START-----\n-----META-END-----\n# H\n",
        foreign("H", "# H"),
    ),
    "only created": (
        f"-----META-START-----\ncreated: {CREATED}\n-----META-END-----\n\n# H\n- x",
        foreign("H", "# H\n- x", created=CREATED, updated=CREATED),
    ),
    "only updated": (
        f"-----META-START-----\nupdated: {UPDATED}\n-----META-END-----\n\n- x",
        foreign("- x", "- x", updated=UPDATED),
    ),
    "only heat": (
        "-----META-START-----\nheat: 12\n-----META-END-----\n\n- x",
        foreign("- x", "- x", heat=12),
    ),
    "only summary": (
        "-----META-START-----\nsummary: S\n-----META-END-----\n\n- x",
        foreign("S", "- x"),
    ),
    "an empty summary": (
        PLAIN.replace("summary: S", "summary:"),
        Block(meta=meta("H", 3), body="# H\n- x"),
    ),
    "a blank summary": (
        PLAIN.replace("summary: S", "summary:   "),
        Block(meta=meta("H", 3), body="# H\n- x"),
    ),
    "no summary and no body": (
        f"{HEAD}heat: 3\n-----META-END-----\n",
        Block(meta=meta("untitled", 3), body=""),
    ),
    "duplicated fields": (
        f"{HEAD}summary: S\nheat: 3\nsummary: T\nheat: 9\n-----META-END-----\n\n- x",
        Block(meta=meta("S", 3, ("summary: T", "heat: 9")), body="- x"),
    ),
    "fields in another order": (
        (
            "-----META-START-----\nheat: 3\nmood: blue\nsummary: S\n"
            f"updated: {UPDATED}\ncreated: {CREATED}\n-----META-END-----\n\n- x"
        ),
        Block(meta=meta("S", 3, ("mood: blue",)), body="- x"),
    ),
    "times in other forms": (
        (
            "-----META-START-----\ncreated: 2026-03-01\n"
            "updated: 2026-03-05T10:30:00+01:00\n-----META-END-----\n\n- x"
        ),
        foreign(
            "- x",
            "- x",
            created="2026-03-01T00:00:00.000Z",
            updated="2026-03-05T09:30:00.000Z",
        ),
    ),
    "times that are none": (
        (
            "-----META-START-----\ncreated: yesterday\nupdated: 99\n"
            "-----META-END-----\n- x"
        ),
        foreign("- x", "- x"),
    ),
    "a heat that is no number": (
        PLAIN.replace("heat: 3", "heat: hot"),
        Block(meta=meta("S"), body="# H\n- x"),
    ),
    "a heat below zero": (
        PLAIN.replace("heat: 3", "heat: -3"),
        Block(meta=meta("S"), body="# H\n- x"),
    ),
    "a heat in other digits": (
        PLAIN.replace("heat: 3", "heat: ٣"),
        Block(meta=meta("S"), body="# H\n- x"),
    ),
    "a long first line": ("x" * 300, foreign("x" * 120, "x" * 300)),
    "a first line with control characters": (
        "a\x1b[31mb\tc\n",
        foreign("a [31mb c", "a\x1b[31mb\tc"),
    ),
}


def test_every_golden_scene_file_has_a_row_here() -> None:
    assert {path.name for path in SCENES.iterdir()} == KEPT.keys()


@pytest.mark.parametrize("name", KEPT)
def test_a_scene_is_written_as_these_bytes(name: str) -> None:
    said, body = KEPT[name]

    assert render(said, body) == (SCENES / name).read_bytes()


@pytest.mark.parametrize("name", KEPT)
def test_these_bytes_are_read_as_this_scene(name: str) -> None:
    said, body = KEPT[name]

    data = (SCENES / name).read_bytes()

    assert parse(data, file_time=FILE_TIME) == Block(meta=said, body=body)


@pytest.mark.parametrize("form", FOREIGN)
def test_what_another_hand_wrote_is_read_as_this_scene(form: str) -> None:
    text, block = FOREIGN[form]

    assert parse(text.encode(), file_time=FILE_TIME) == block


@pytest.mark.parametrize("form", FOREIGN)
def test_what_another_hand_wrote_is_ours_once_it_is_written(form: str) -> None:
    block = parse(FOREIGN[form][0].encode(), file_time=FILE_TIME)

    assert parse(render(block.meta, block.body), file_time="2000") == block


@pytest.mark.parametrize("data", [b"\xff\xfe-\x00", b"- x\n\xc3", b"\xed\xa0\x80"])
def test_what_is_not_utf_8_is_no_scene(data: bytes) -> None:
    with pytest.raises(ValueError, match="utf-8"):
        parse(data, file_time=FILE_TIME)
