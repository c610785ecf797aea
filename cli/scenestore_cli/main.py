"""The list of all commands.

Rule: nothing that is slow to import is imported here, so that ``--help`` stays fast; a
command's module is loaded when it is called.
"""

import io
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import TYPE_CHECKING, NoReturn

import click

from scenestore_cli.errors import ExitCode, guarded

if TYPE_CHECKING:
    from typing_extensions import override
else:  # Python 3.11 has none, and no dependency is worth a mark

    def override(function: object) -> object:
        """Return *function* as it is."""
        return function


COMMANDS = {
    "init": ("init", "Make an empty scene store in a profile."),
    "organize": ("organize", "Put the new L1 records into scenes, without a model."),
    "status": ("status", "Tell what state the store is in."),
    "scenes": ("scenes", "List the scenes, or read the ones named."),
    "records": ("records", "Read the L1 records that come after the cursor."),
    "commit": ("commit", "Commit a batch of scene writes, all of it or nothing."),
    "log": ("log", "List the revisions, newest first."),
    "show": ("show", "Show what one revision changed."),
    "rollback": ("rollback", "Go back to a revision, as a new one."),
    "guide": ("guide", "Show the facts for choosing what to archive."),
    "retention": ("retention", "Tell what a text keeps of its sources."),
    "policy": ("policy", "Show the limits in force and where each comes from."),
    "check": ("check", "Report everything that is wrong; change nothing."),
    "repair": ("repair", "Draw the files anew, moving foreign work aside."),
    "import": ("import_", "Add scenes from outside, as one revision."),
}
"""Name, module in `scenestore_cli.commands` and first line of the help."""


class Commands(click.Group):
    """Commands that are loaded when they are called."""

    @override
    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        """Return the names, in the order in which they are met."""
        return list(COMMANDS)

    @override
    def get_command(
        self,
        ctx: click.Context,  # noqa: ARG002
        cmd_name: str,
    ) -> click.Command | None:
        """Load the command of that name; None if there is none."""
        if cmd_name not in COMMANDS:
            return None
        name = COMMANDS[cmd_name][0]
        module = import_module(f"scenestore_cli.commands.{name}")
        command = getattr(module, name)
        return command if isinstance(command, click.Command) else None

    @override
    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command that *args* begin with, or say which one is near."""
        name = args[0]
        if name not in COMMANDS and not name.startswith("-"):
            import difflib  # noqa: PLC0415 - only for who mistyped

            near = difflib.get_close_matches(name, COMMANDS, n=1)
            hint = f" Did you mean {near[0]}?" if near else ""
            ctx.fail(f"There is no command {name!a}.{hint}")
        return super().resolve_command(ctx, args)

    @override
    def format_commands(
        self,
        ctx: click.Context,  # noqa: ARG002
        formatter: click.HelpFormatter,
    ) -> None:
        """Write the list of commands without loading one."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, text) in COMMANDS.items()])

    @override
    def format_epilog(
        self,
        ctx: click.Context,  # noqa: ARG002
        formatter: click.HelpFormatter,
    ) -> None:
        """Write what the exit codes mean."""
        with formatter.section("Exit codes"):
            formatter.write_dl([(str(int(c)), c.meaning) for c in ExitCode])


def _print_version(ctx: click.Context, _: click.Parameter, wanted: bool) -> None:  # noqa: FBT001 - a click callback
    if not wanted or ctx.resilient_parsing:
        return
    from importlib import metadata  # noqa: PLC0415 - slow, and asked for rarely

    try:
        number = metadata.version("scenestore")
    except metadata.PackageNotFoundError:
        number = "(not installed: run from a checkout)"
    click.echo(f"scenestore {number}")
    ctx.exit()


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_print_version,
    help="Show the version and exit.",
)
def commands() -> None:
    """Keep an agent's memory as scenes, every change a revision in git.

    A profile is a folder that holds memoryDB. Commands find it by -P, by
    SCENESTORE_PROFILE, or upwards from the current folder, as git does.
    """


def main(args: Sequence[str] | None = None) -> NoReturn:
    """Run the command that *args* (by default the process's) name, and exit."""
    given = list(sys.argv[1:] if args is None else args)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # any locale can print it
    options = given[: given.index("--")] if "--" in given else given
    code = guarded(
        lambda: commands.main(given, prog_name="scenestore", standalone_mode=False),
        as_json="--json" in options,
    )
    sys.exit(code)
