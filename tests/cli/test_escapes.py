"""What is in the store reaches a terminal escaped, and a program as it is."""

import json
from typing import Any

import pytest

EVIL = "red\x1b[31m \u202etxt.exe \x9b2J \u2066x"
ARGS = (
    ["scenes"],
    ["scenes", "evil.md"],
    ["show", "HEAD"],
    ["log"],
    ["records", "--late"],
    ["records", "--cursor", "m_1772496000000_5feceb66"],
)


@pytest.fixture
def evil(empty: Any) -> Any:
    """A store whose records and scene hold what a terminal would obey."""
    rows = [empty.record(0), empty.record(1, content=EVIL, type=EVIL)]
    empty.shard("2026-03-03", rows)
    scene = {"content": f"- {EVIL}\n\tx", "meta": {"heat": 1}, "members": []}
    state = {"scenes": {"evil.md": scene}, "cursor": empty.rid(1)}
    return empty, json.dumps(state)


@pytest.mark.parametrize("args", ARGS, ids=" ".join)
def test_nothing_that_a_terminal_obeys_is_printed(
    call: Any, evil: Any, args: list[str]
) -> None:
    world, state = evil
    call("import", "-P", world.profile, "--state", "-", data=state)

    ran = call(*args, "-P", world.profile)

    assert ran.code == 0, ran.err
    assert _unseen(ran.out + ran.err) == set()


def test_the_escaped_text_can_be_read(call: Any, evil: Any) -> None:
    world, state = evil
    call("import", "-P", world.profile, "--state", "-", data=state)

    ran = call("scenes", "evil.md", "-P", world.profile)

    assert r"red\x1b[31m \u202etxt.exe \x9b2J \u2066x" in ran.out


def test_a_refusal_that_quotes_the_request_is_escaped(call: Any, world: Any) -> None:
    write = {"action": EVIL, "filename": f"{EVIL}.md", EVIL: 1}

    ran = call("commit", "-P", world.profile, data=json.dumps({"sceneWrites": [write]}))

    assert _unseen(ran.err) == set()


@pytest.mark.parametrize("args", ARGS, ids=" ".join)
def test_json_is_safe_on_a_terminal_and_means_the_same(
    call: Any, evil: Any, args: list[str]
) -> None:
    world, state = evil
    call("import", "-P", world.profile, "--state", "-", data=state)

    ran = call(*args, "-P", world.profile, "--json")

    assert _unseen(ran.out) == set()
    if args == ["scenes", "evil.md"]:
        assert ran.document["blocks"][0]["content"] == f"- {EVIL}\n\tx"


def test_markup_of_the_terminal_library_is_plain_text(
    on_terminal: Any, world: Any
) -> None:
    write = {"action": "update", "filename": "race.md", "content": "[bold]x[/] :smile:"}
    world.must({"sceneWrites": [{**write, "meta": {"summary": "[red]y[/red]"}}]})

    told = on_terminal("scenes", "-P", world.profile, columns=100, env={})
    read = on_terminal("scenes", "race.md", "-P", world.profile, columns=100, env={})

    assert "[red]y[/red]" in told
    assert "[bold]x[/] :smile:" in read


def _unseen(text: str) -> set[str]:
    return {char for char in text if not char.isprintable() and char != "\n"}
