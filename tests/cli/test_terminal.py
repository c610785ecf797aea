"""How it looks: widths, colours, languages."""

import re
from typing import Any

import pytest

from scenestore_cli.output import cells

NAME = "绘画与钢琴.md"
SUMMARY = "张曼婷的爱好：绘画、钢琴、品茶，喜欢充满情调的文艺作品，周末去公园散步"
COLOURS = re.compile("\x1b\\[[0-9;]*m")
COMMANDS = (
    ["status"],
    ["scenes"],
    ["scenes", NAME],
    ["log"],
    ["show", "HEAD"],
    ["records", "--late"],
    ["policy"],
    ["check"],
)


@pytest.fixture
def cjk(world: Any) -> Any:
    world.must(
        {
            "sceneWrites": [
                {
                    "action": "create",
                    "filename": NAME,
                    "content": f"- {SUMMARY}\n- short",
                    "meta": {"summary": SUMMARY},
                    "members": [world.rid(9)],
                }
            ]
        }
    )
    return world


@pytest.mark.parametrize("columns", [40, 80])
@pytest.mark.parametrize("args", COMMANDS, ids=" ".join)
def test_no_line_is_longer_than_the_terminal_is_wide(
    on_terminal: Any, cjk: Any, args: list[str], columns: int
) -> None:
    told = on_terminal(*args, "-P", cjk.profile, columns=columns, env={})

    widths = [cells(COLOURS.sub("", text).rstrip(" ")) for text in told.split("\n")]
    assert max(widths) <= columns


@pytest.mark.parametrize("columns", [60, 80, 200])
def test_nothing_is_cut_on_a_narrow_terminal(
    on_terminal: Any, cjk: Any, columns: int
) -> None:
    told = on_terminal("scenes", "-P", cjk.profile, columns=columns, env={})

    assert SUMMARY in re.sub(r"\s", "", COLOURS.sub("", told))


def test_columns_stand_under_each_other_whatever_the_script(run: Any, cjk: Any) -> None:
    told = run("scenes", "-P", cjk.profile).out.split("\n\n")[0].splitlines()

    heats = {cells(re.match(r"\S+ +\S+", text)[0]) for text in told}
    assert len(told) == 5
    assert len(heats) == 1


def test_colours_are_for_terminals(on_terminal: Any, run: Any, cjk: Any) -> None:
    piped = run("show", "HEAD", "-P", cjk.profile)
    shown = on_terminal("show", "HEAD", "-P", cjk.profile, columns=80, env={})

    assert "\x1b" not in piped.out
    assert "\x1b[32m" in shown


@pytest.mark.parametrize("env", [{"NO_COLOR": "1"}, {"TERM": "dumb"}], ids=str)
@pytest.mark.parametrize("args", COMMANDS, ids=" ".join)
def test_who_wants_no_colours_gets_none(
    on_terminal: Any, cjk: Any, args: list[str], env: dict[str, str]
) -> None:
    told = on_terminal(*args, "-P", cjk.profile, columns=80, env=env)

    assert not re.search("\x1b\\[[0-9;]*3[0-9]", told)


@pytest.mark.parametrize(
    "env",
    [
        {"LC_ALL": "C"},
        {"PYTHONIOENCODING": "ascii"},
        {"PYTHONIOENCODING": "latin-1"},
    ],
    ids=str,
)
@pytest.mark.parametrize("args", COMMANDS, ids=" ".join)
def test_any_locale_can_print_it(
    run: Any, cjk: Any, args: list[str], env: dict[str, str]
) -> None:
    env = {"LANG": "", "LC_CTYPE": "", **env}

    told = run(*args, "-P", cjk.profile, env=env)
    document = run(*args, "-P", cjk.profile, "--json", env=env)

    assert told.code == document.code == 0, told.err + document.err
    assert told.out
    if args == ["scenes"]:
        assert SUMMARY in document.out


def test_a_name_with_accents_in_two_parts_is_found(run: Any, world: Any) -> None:
    world.create("café.md")

    ran = run("scenes", "cafe\u0301.md", "-P", world.profile)

    assert ran.code == 0
    assert ran.out.startswith("café.md\n")
