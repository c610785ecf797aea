"""``scenestore retention``, the real command."""

import json
from pathlib import Path
from typing import Any

import pytest

from scenestore_cli.errors import ExitCode

LINES = (
    "- Marta bought a Lindgren Duo in Graz for 420 euros.",
    "- Ilka keeps nine goats behind Quince Hall near Dorn.",
    "- Bertil repairs violins at 16:30 every Tuesday.",
    "- Achim was born on 14 March 2021 in Okpara.",
)
KEY = "AKIA" + "ABCDEFGHIJ234567"


def asked(*target: str, sources: tuple[str, ...] = LINES, **more: object) -> str:
    half = len(sources) // 2
    question = {
        "sources": [
            {"filename": "a.md", "content": "\n".join(sources[:half])},
            {"filename": "b.md", "content": "\n".join(sources[half:])},
        ],
        "target": {"filename": "new.md", "content": "\n".join(target)},
    }
    return json.dumps(question | more)


def test_a_text_that_keeps_everything_is_accepted(run: Any) -> None:
    ran = run("retention", data=asked(*LINES))

    assert ran.code == ExitCode.DONE
    assert ran.out == "Accepted: it keeps 1.00; 0.40 is asked for.\n"
    assert ran.err == ""


def test_a_text_that_loses_a_fact_is_refused_and_names_it(run: Any) -> None:
    ran = run("retention", data=asked(*LINES[:3]))

    assert ran.code == ExitCode.REJECTED
    told = ran.out.splitlines()
    assert told[0].startswith("Refused: it keeps 0.")
    assert told[1] == "1 fact not found:"
    assert told[2] == f"  b.md, line 2: {LINES[3]}"
    assert told[3].startswith("    missing: 14 March 2021")


def test_the_document_has_the_verdict(call: Any) -> None:
    good = call("retention", "--json", data=asked(*LINES))
    bad = call("retention", "--json", data=asked(*LINES[:3]))

    assert good.code == ExitCode.DONE
    assert good.document == {
        "score": 1.0,
        "required": 0.4,
        "accepted": True,
        "lines": [],
        "dropped": [],
        "new_numbers": [],
        "algorithm": "retention-1",
    }
    assert bad.code == ExitCode.REJECTED
    assert bad.document["accepted"] is False
    (line,) = bad.document["lines"]
    assert (line["filename"], line["source"], line["line"]) == ("new.md", "b.md", 2)
    assert line["text"] == LINES[3]


def test_a_number_that_no_source_has_is_told(call: Any) -> None:
    ran = call("retention", data=asked(*LINES, "- And 7,391 more."))

    assert ran.code == ExitCode.DONE
    assert "Numbers that no source has: 7,391" in ran.out


def test_facts_that_do_not_fit_are_told_apart(call: Any) -> None:
    small = ("- clouds drifted lazily", "- a sparrow chirped outside")
    data = asked(*LINES, sources=(*LINES, *small))
    limit = str(len("\n".join(LINES)) + 2)

    ran = call("retention", "--max-chars", limit, data=data)

    assert "2 facts let go, since the sources do not fit:" in ran.out
    assert small[0] in ran.out


@pytest.mark.parametrize(
    ("strength", "code"),
    [
        ("off", ExitCode.DONE),
        ("standard", ExitCode.DONE),
        ("strict", ExitCode.REJECTED),
    ],
)
def test_it_can_be_asked_how_strict_to_be(
    call: Any, strength: str, code: ExitCode
) -> None:
    data = asked(*LINES[:3], "- Achim was born in Okpara.")

    assert call("retention", "--strength", strength, data=data).code == code


def test_the_limits_of_a_profile_count_unless_an_option_says_more(
    call: Any, world: Any
) -> None:
    world.policy(retention="strict")
    data = asked(*LINES[:3], "- Achim was born in Okpara.")

    strict = call("retention", "-P", world.profile, data=data)
    told = call("retention", "-P", world.profile, "--strength", "off", data=data)

    assert strict.code == ExitCode.REJECTED
    assert "0.46 is asked for" in strict.out
    assert told.code == ExitCode.DONE


def test_a_question_may_stand_in_a_file(call: Any, tmp_path: Path) -> None:
    file = tmp_path / "question.json"
    file.write_text(asked(*LINES), encoding="utf-8")

    assert call("retention", file).code == ExitCode.DONE


def test_line_ends_and_outer_blank_lines_do_not_count(call: Any) -> None:
    question = json.loads(asked(*LINES[:3]))
    question["sources"][1]["content"] = f"\r\n\r\n{LINES[2]}\r\n{LINES[3]}\r\n"

    ran = call("retention", data=json.dumps(question))

    assert "b.md, line 2: - Achim" in ran.out


def test_lines_that_no_body_may_hold_are_not_asked_for(call: Any) -> None:
    sources = (*LINES, f"- the key is {KEY}", "[DELETED]")

    ran = call("retention", data=asked(*LINES, sources=sources))

    assert ran.out == "Accepted: it keeps 1.00; 0.40 is asked for.\n"


# Many at once


def test_one_question_a_line_gets_one_answer_a_line(run: Any) -> None:
    data = "\n".join((asked(*LINES), "", asked(*LINES[:3])))

    ran = run("retention", "--jsonl", data=data)

    answers = [json.loads(line) for line in ran.out.splitlines()]
    assert [answer["accepted"] for answer in answers] == [True, False]
    assert ran.code == ExitCode.DONE


def test_a_line_that_is_no_question_stops_no_other(call: Any) -> None:
    data = "\n".join((asked(*LINES), "{", '{"sources": []}', asked(*LINES)))

    ran = call("retention", "--jsonl", data=data)

    answers = [json.loads(line) for line in ran.out.splitlines()]
    assert [answer.get("success", True) for answer in answers] == [
        True,
        False,
        False,
        True,
    ]
    assert ran.code == ExitCode.REJECTED


# What is no question


@pytest.mark.parametrize(
    ("data", "code", "path"),
    [
        (b"", "not_json", ""),
        (b"{", "not_json", ""),
        (b"\xff", "not_json", ""),
        (b"[]", "wrong_type", ""),
        (b"{}", "wrong_type", ""),
        (b'{"sources": [], "sources": []}', "duplicate_key", "/sources"),
        (asked(more=1).encode(), "wrong_type", ""),
        (
            b'{"sources": [{"filename": "a"}], "target": {}}',
            "wrong_type",
            "/sources/0",
        ),
        (b'{"sources": [], "target": 5}', "wrong_type", "/target"),
        (
            b'{"sources": [{"filename": 5, "content": ""}], "target": 5}',
            "wrong_type",
            "/sources/0/filename",
        ),
    ],
)
def test_what_is_no_question_is_refused_with_its_place(
    call: Any, data: bytes, code: str, path: str
) -> None:
    ran = call("retention", "--json", data=data)

    assert ran.code == ExitCode.REJECTED
    assert ran.document["success"] is False
    errors = ran.document["errors"]
    assert [(error["code"], error["path"]) for error in errors] == [(code, path)]
    assert errors[0]["message"]


def test_a_refusal_in_words_goes_to_a_person(run: Any) -> None:
    ran = run("retention", data=b"{")

    assert ran.code == ExitCode.REJECTED
    assert "not_json" in ran.out + ran.err


def test_a_file_that_is_not_there_is_told(run: Any, tmp_path: Path) -> None:
    ran = run("retention", tmp_path / "none.json")

    assert ran.code == ExitCode.FAILED
    assert "none.json" in ran.err


def test_no_sources_and_an_empty_target_are_no_crash(call: Any) -> None:
    empty = '{"sources": [], "target": {"filename": "n.md", "content": ""}}'

    assert call("retention", data=empty).code == ExitCode.REJECTED
