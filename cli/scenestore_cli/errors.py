"""Exit codes, by who must act, and what is said when something went wrong.

Rule 1: an exception becomes an exit code here and nowhere else. Rule 2: no traceback
reaches a person, save one who asks for it by ``SCENESTORE_DEBUG``.
"""

import contextlib
import os
import sys
from collections.abc import Callable
from enum import IntEnum
from typing import NamedTuple, Self

import click

from scenestore_cli.output import OutputError, print_json, say

DEBUG_VARIABLE = "SCENESTORE_DEBUG"


class ExitCode(IntEnum):
    """What a script may rely on."""

    meaning: str

    def __new__(cls, value: int, meaning: str) -> Self:
        """Return the code *value*, which says its *meaning* in the help."""
        code = int.__new__(cls, value)
        code._value_ = value
        code.meaning = meaning
        return code

    DONE = 0, "done"
    FAILED = 1, "the disk, its permissions or another writer is in the way"
    REJECTED = 2, "the batch or the command line is wrong; nothing was changed"
    DAMAGED = 3, "what is on disk is damaged; scenestore check tells what"
    INTERRUPTED = 130, "interrupted"


class FaceError(click.ClickException):
    """What was typed cannot be done; the person who typed mends it."""

    exit_code = ExitCode.REJECTED

    def __init__(self, code: str, message: str) -> None:
        """Say *message*, under a *code* that programs may rely on."""
        super().__init__(message)
        self.code = code


class Failure(NamedTuple):
    """An exception, as it is told."""

    code: str
    message: str
    exit_code: int
    retry: bool = False


def guarded(run: Callable[[], object], *, as_json: bool) -> int:
    """Return the exit code of *run*, having told what went wrong, if anything did.

    Args:
        run: The whole command; it returns its exit code, None for done.
        as_json: Whether what went wrong is told as JSON on stdout.
    """
    try:
        code = run()
    except click.Abort:
        return ExitCode.INTERRUPTED
    except click.UsageError as error:
        if as_json:
            _tell(failure_of(error), as_json=True)
        else:
            error.show()
        return error.exit_code
    except OutputError as error:
        # Stdout is what failed, so that the words go to stderr in any case.
        _tell(failure_of(error), as_json=False)
        return ExitCode.FAILED
    except Exception as error:  # noqa: BLE001 - the outer border of the face
        failure = failure_of(error)
        if failure.code == "bug" and os.environ.get(DEBUG_VARIABLE):
            import traceback  # noqa: PLC0415 - on demand

            traceback.print_exception(error)
        with contextlib.suppress(OutputError, BrokenPipeError):
            _tell(failure, as_json=as_json)
        return failure.exit_code
    return code if isinstance(code, int) else ExitCode.DONE


def failure_of(error: Exception) -> Failure:
    """Return how *error* is told and which exit code it has."""
    if isinstance(error, FaceError):
        return Failure(error.code, error.message, error.exit_code)
    if isinstance(error, click.ClickException):
        return Failure("usage", error.format_message(), error.exit_code)
    if isinstance(error, OSError | MemoryError):
        return Failure(
            "system_error",
            f"{_system_text(error)}. What was committed before is kept, and nothing is "
            "half done. See to the disk, its permissions or the memory, then run it "
            "again: that is safe.",
            ExitCode.FAILED,
        )
    return _of_store(error) or Failure(
        "bug",
        f"This is a bug of scenestore ({type(error).__name__}: {error}). What was "
        "committed before is kept, and nothing is half done. Run it again with "
        f"{DEBUG_VARIABLE}=1 to see the traceback, and report it.",
        ExitCode.FAILED,
    )


def _system_text(error: OSError | MemoryError) -> str:
    if isinstance(error, MemoryError):
        return "The memory is used up"
    if error.strerror is None or error.filename is None:
        return str(error)
    return f"{error.strerror}: {error.filename}"


def _of_store(error: Exception) -> Failure | None:
    if "scenestore.errors" not in sys.modules:
        return None  # nothing of the store ran, so that it cannot have failed
    from scenestore.errors import (  # noqa: PLC0415 - slow, and here only when needed
        BusyError,
        CallerError,
        CorruptError,
        DiskError,
        HeadMovedError,
        OutcomeUnknownError,
        StoreError,
        TooNewError,
    )

    kinds = (
        (CallerError, "bad_call", ExitCode.REJECTED, False),
        (CorruptError, "store_damaged", ExitCode.DAMAGED, False),
        (BusyError, "store_busy", ExitCode.FAILED, True),
        (HeadMovedError, "store_busy", ExitCode.FAILED, True),
        (OutcomeUnknownError, "outcome_unknown", ExitCode.FAILED, True),
        (DiskError, "disk_failed", ExitCode.FAILED, False),
        (TooNewError, "store_too_new", ExitCode.FAILED, False),
        (StoreError, "store_failed", ExitCode.FAILED, False),
    )
    for kind, code, exit_code, retry in kinds:
        if isinstance(error, kind):
            return Failure(code, str(error), exit_code, retry)
    return None


def _tell(failure: Failure, *, as_json: bool) -> None:
    if not as_json:
        say(f"Error: {failure.message}")
        return
    entry = {"code": failure.code, "path": "", "message": failure.message}
    print_json({"success": False, "errors": [entry], "retry": failure.retry})
