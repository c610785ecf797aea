"""What several commands take alike: the profile, the actor, the form of the answer."""

import contextlib
import os
import shlex
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from scenestore_cli.errors import FaceError
from scenestore_cli.output import cells, is_narrow, line, say

if TYPE_CHECKING:
    from scenestore import Store

PROFILE_VARIABLE = "SCENESTORE_PROFILE"
ACTOR_VARIABLE = "SCENESTORE_ACTOR"
ACTOR = "cli"
"""Who acts if nobody is named. Source: CONTRACT section 7."""
MAX_READ_BYTES = 64 * 1024 * 1024
"""More is not read of a request: 4 MiB are taken, and its size shall be told."""
_MEMORY = "memoryDB"
_Function = TypeVar("_Function", bound=Callable[..., Any])


def utf8(text: str) -> str:
    """Return *text*, an argument that is to be stored or quoted.

    Raises:
        click.BadParameter: It holds bytes that are no text.
    """
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise click.BadParameter(f"{text!a} is no UTF-8.") from error
    return text


def json_option(function: _Function) -> _Function:
    """Add ``--json``."""
    return click.option(
        "--json", "as_json", is_flag=True, help="Print one JSON document on stdout."
    )(function)


def actor_option(function: _Function) -> _Function:
    """Add ``--actor``; None where nobody is named."""
    return click.option(
        "--actor",
        type=utf8,
        metavar="NAME",
        envvar=ACTOR_VARIABLE,
        show_envvar=True,
        callback=_good_actor,
        help="Who acts: the author in the history.",
    )(function)


def profile_option(function: _Function) -> _Function:
    """Add ``--profile``: an existing one, named or found as git finds its own."""
    return _profile(_existing)(function)


def new_profile_option(function: _Function) -> _Function:
    """Add ``--profile``: one that need not be there yet."""
    return _profile(_any)(function)


def opened(profile: Path, actor: str | None = None) -> "Store":
    """Return the store of *profile*, to be closed; it tells on stderr what it mends.

    Args:
        profile: An existing one, or one to be made.
        actor: Who acts; None: this face.
    """
    from scenestore import Store  # noqa: PLC0415 - a policy is read without a store

    return Store(profile, actor=actor or ACTOR, say=say)


def read_input(name: str) -> bytes:
    """Return what the file *name* holds, or stdin if it is ``-``."""
    if name != "-":
        with Path(name).open("rb") as file:
            return file.read(MAX_READ_BYTES)
    if sys.stdin.isatty():
        click.echo("Reading from the terminal; end it with Ctrl-D.", err=True)
    return sys.stdin.buffer.read(MAX_READ_BYTES)


def tell_next(profile: Path, *steps: str) -> None:
    """Print which commands to run next, as they can be typed here.

    Args:
        profile: Which they are about.
        steps: Commands; ``{profile}`` in one stands for the path.
    """
    path = _typed(profile)
    named = "" if _is_found_here(profile) else f" -P {path}"
    told = [
        step.format(profile=path) if "{" in step else f"{step}{named}" for step in steps
    ]
    text = f"Next: {' · '.join(told)}"
    if not is_narrow(cells(text)):
        line(text)
        return
    line("Next:")
    for step in told:
        line(step, before="  ")


def _profile(
    callback: Callable[[click.Context, click.Parameter, Path | None], Path],
) -> Callable[[_Function], _Function]:
    return click.option(
        "-P",
        "--profile",
        type=click.Path(path_type=Path),
        metavar="PATH",
        envvar=PROFILE_VARIABLE,
        show_envvar=True,
        callback=callback,
        help="The folder that holds memoryDB.  [default: the nearest one upwards]",
    )


def _existing(_: click.Context, __: click.Parameter, given: Path | None) -> Path:
    profile = given or _nearest()
    if profile is None:
        raise FaceError(
            "no_profile",
            f"There is no profile here: no folder from {Path.cwd()} upwards holds "
            f"{_MEMORY}. Nothing was changed. Go to one, name it with -P, or set "
            f"{PROFILE_VARIABLE}.",
        )
    _look_at(profile)
    if not (profile / _MEMORY).exists():
        owner = next((p for p in _upwards(profile) if (p / _MEMORY).is_dir()), None)
        hint = f"Did you mean {owner}?" if owner else "Name the folder that holds it."
        what = f"holds no {_MEMORY}" if profile.exists() else "does not exist"
        raise FaceError("no_profile", f"{profile} {what}. Nothing was changed. {hint}")
    return profile


def _any(_: click.Context, __: click.Parameter, given: Path | None) -> Path:
    profile = given or _nearest() or Path.cwd()
    _look_at(profile)
    return profile


def _look_at(profile: Path) -> None:
    """Refuse a file where a folder must be."""
    for path in (profile, profile / _MEMORY):
        if (path.exists() or path.is_symlink()) and not path.is_dir():
            raise FaceError(
                "no_profile",
                f"{path} is no folder. Nothing was changed. "
                f"Name the folder that holds {_MEMORY}.",
            )


def _nearest() -> Path | None:
    return next((p for p in _upwards(Path.cwd()) if (p / _MEMORY).is_dir()), None)


def _upwards(path: Path) -> tuple[Path, ...]:
    start = path.absolute()
    return (start, *start.parents)


def _is_found_here(profile: Path) -> bool:
    if os.environ.get(PROFILE_VARIABLE):
        return True
    nearest = _nearest()
    return nearest is not None and nearest.resolve() == profile.resolve()


def _typed(path: Path) -> str:
    """Return *path* as a shell takes it, short where it can be."""
    with contextlib.suppress(RuntimeError, ValueError):
        below_home = str(path.relative_to(Path.home()))
        if shlex.quote(below_home) == below_home:
            return f"~/{below_home}"
    return shlex.quote(str(path))


def _good_actor(_: click.Context, __: click.Parameter, actor: str | None) -> str | None:
    if actor is None:
        return None
    from scenestore_engine.rules import actor_is_good  # noqa: PLC0415 - writers only

    for fault in actor_is_good(actor):
        raise FaceError(fault.code, f"{fault.message} {fault.hint}")
    return actor
