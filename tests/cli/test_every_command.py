"""What holds for each command, so that a new one cannot be forgotten."""

import json
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import click
import pytest

import scenestore_cli
from scenestore_cli.errors import ExitCode
from scenestore_cli.main import COMMANDS, commands

SCENES = {
    "scenes": {
        "tea.md": {"content": "- green", "meta": {"summary": "Tea"}, "members": []}
    }
}
BATCH = {
    "sceneWrites": [
        {
            "action": "create",
            "filename": "coffee.md",
            "content": "- black",
            "meta": {"summary": "Coffee"},
            "members": [],
        }
    ]
}
QUESTION = {
    "sources": [{"filename": "tea.md", "content": "- green tea at 7:30"}],
    "target": {"filename": "drinks.md", "content": "- green tea at half past seven"},
}
RUNS = {
    "init": ([], None),
    "organize": ([], None),
    "status": ([], None),
    "scenes": ([], None),
    "records": (["--max", "5"], None),
    "commit": (["-"], BATCH),
    "log": ([], None),
    "show": (["HEAD"], None),
    "rollback": (["1"], None),
    "guide": ([], None),
    "retention": (["-"], QUESTION),
    "policy": ([], None),
    "check": (["--replay"], None),
    "repair": ([], None),
    "import": (["--state", "-"], SCENES),
}


def test_each_module_of_a_command_is_in_the_list_and_the_other_way_round() -> None:
    folder = Path(str(scenestore_cli.__file__)).parent / "commands"
    modules = {path.stem for path in folder.glob("*.py")} - {"__init__"}

    listed = {module for module, _ in COMMANDS.values()}

    assert listed == modules


@pytest.mark.parametrize("name", COMMANDS)
def test_the_list_says_what_the_help_of_the_command_says(name: str) -> None:
    module, text = COMMANDS[name]

    command = getattr(import_module(f"scenestore_cli.commands.{module}"), module)

    assert command.name == name
    assert command.get_short_help_str(limit=200) == text


@pytest.mark.parametrize("name", COMMANDS)
def test_each_command_takes_json_and_a_profile(name: str) -> None:
    with click.Context(commands) as context:
        command = commands.get_command(context, name)

    assert command is not None
    options = {text for param in command.params for text in param.opts}
    assert {"--json", "--profile", "-P"} <= options


@pytest.mark.parametrize("name", COMMANDS)
def test_each_option_of_a_command_has_its_help(name: str) -> None:
    with click.Context(commands) as context:
        command = commands.get_command(context, name)

    assert command is not None
    silent = [
        param.name
        for param in command.params
        if isinstance(param, click.Option) and not param.help
    ]
    assert silent == []


@pytest.mark.parametrize("name", COMMANDS)
def test_each_command_prints_its_help(call: Any, name: str) -> None:
    ran = call(name, "--help")

    assert ran.code == 0
    assert COMMANDS[name][1] in ran.out


@pytest.mark.parametrize("name", COMMANDS)
def test_with_json_stdout_is_one_document_and_nothing_else(
    run: Any, world: Any, name: str
) -> None:
    args, request = RUNS[name]

    ran = run(name, "-P", world.profile, "--json", *args, data=json.dumps(request))

    assert ran.code == 0, ran.out + ran.err
    assert ran.out.count("\n") == 1
    assert ran.document


@pytest.mark.parametrize("name", COMMANDS)
def test_without_json_something_is_said(call: Any, world: Any, name: str) -> None:
    args, request = RUNS[name]

    ran = call(name, "-P", world.profile, *args, data=json.dumps(request))

    assert ran.code == 0, ran.out + ran.err
    assert ran.out.strip()
    assert "!" not in ran.out
    assert all(text == text.rstrip(" ") for text in ran.out.splitlines())


@pytest.mark.parametrize("name", COMMANDS)
def test_with_json_an_error_is_one_document_too(
    call: Any, tmp_path: Path, name: str
) -> None:
    ran = call(name, "-P", tmp_path / "nowhere" / "x", "--json", "--nonsense")

    assert ran.code == ExitCode.REJECTED
    assert ran.document["success"] is False
    assert ran.document["retry"] is False
    (error,) = ran.document["errors"]
    assert error["code"] == "usage"
    assert error["path"] == ""
    assert "--nonsense" in error["message"]
    assert ran.err == ""


def test_the_help_says_what_each_exit_code_means(run: Any) -> None:
    out = " ".join(run("--help").out.split())

    for code in ExitCode:
        assert f"{int(code)} {code.meaning}" in out


def test_the_help_loads_nothing_slow() -> None:
    slow = ("dulwich", "rich", "sqlite3", "scenestore", "scenestore_engine", "msgspec")
    program = (
        "import sys\n"
        "from scenestore_cli.main import main\n"
        "try:\n"
        "    main(['--help'])\n"
        "except SystemExit:\n"
        f"    print([name for name in {slow!r} if name in sys.modules])\n"
    )

    done = subprocess.run(
        [sys.executable, "-c", program], check=True, capture_output=True, text=True
    )

    assert done.stdout.splitlines()[-1] == "[]"


def test_the_version_is_told(run: Any) -> None:
    ran = run("--version")

    assert ran.code == 0
    assert ran.out.startswith("scenestore ")


def test_a_command_that_there_is_not_is_met_with_the_nearest_one(run: Any) -> None:
    ran = run("organise")

    assert ran.code == ExitCode.REJECTED
    assert "Did you mean organize?" in ran.err
