"""Each exit code, produced for real."""

import fcntl
import json
import os
import pty
import signal
import subprocess
import sys
from pathlib import Path
from typing import IO, Any

import pytest

from scenestore.errors import (
    BusyError,
    CallerError,
    CorruptError,
    DiskError,
    HeadMovedError,
    OutcomeUnknownError,
    StoreError,
    TooNewError,
)
from scenestore_cli.errors import ExitCode, failure_of, guarded

COMMAND = (sys.executable, "-m", "scenestore_cli")

CREATE = json.dumps(
    {
        "sceneWrites": [
            {
                "action": "create",
                "filename": "tea.md",
                "content": "- green",
                "meta": {"summary": "Tea"},
                "members": [],
            }
        ]
    }
)


def test_an_accepted_batch_exits_with_0(run: Any, empty: Any) -> None:
    ran = run("commit", "-P", empty.profile, "--json", data=CREATE)

    assert ran.code == ExitCode.DONE
    assert ran.document["success"] is True


def test_a_refused_batch_exits_with_2(run: Any, world: Any) -> None:
    ran = run("commit", "-P", world.profile, "--json", data="{}")

    assert ran.code == ExitCode.REJECTED
    assert ran.document["success"] is False
    assert ran.document["head"] == world.store.ledger.head()


def test_a_busy_store_exits_with_1_and_says_that_it_may_be_tried_again(
    run: Any, world: Any
) -> None:
    lock = world.l2 / ".git" / "scenestore" / "lock"

    with lock.open("rb") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        ran = run("commit", "-P", world.profile, "--json", data=CREATE)

    assert ran.code == ExitCode.FAILED
    assert ran.document["retry"] is True
    assert ran.document["errors"][0]["code"] == "store_busy"


@pytest.mark.parametrize(
    ("kind", "exit_code", "is_worth_a_retry"),
    [
        (CallerError, ExitCode.REJECTED, False),
        (CorruptError, ExitCode.DAMAGED, False),
        (BusyError, ExitCode.FAILED, True),
        (HeadMovedError, ExitCode.FAILED, True),
        (OutcomeUnknownError, ExitCode.FAILED, True),
        (DiskError, ExitCode.FAILED, False),
        (TooNewError, ExitCode.FAILED, False),
        (OSError, ExitCode.FAILED, False),
        (MemoryError, ExitCode.FAILED, False),
        (LookupError, ExitCode.FAILED, False),
    ],
)
def test_who_must_act_decides_the_exit_code(
    kind: type[Exception],
    exit_code: ExitCode,
    is_worth_a_retry: bool,  # noqa: FBT001
) -> None:
    failure = failure_of(kind("It fell. It stands. Lift it."))

    assert failure.exit_code is exit_code
    assert failure.retry is is_worth_a_retry


def test_each_error_of_the_store_has_its_own_code() -> None:
    kinds = [
        kind
        for kind in StoreError.__subclasses__()
        if kind.__module__ == StoreError.__module__
    ]

    codes = {failure_of(kind()).code for kind in kinds}

    assert "store_failed" not in codes


def test_damage_that_check_finds_exits_with_3(run: Any, world: Any) -> None:
    _damage(world)

    ran = run("check", "-P", world.profile, "--json")

    assert ran.code == ExitCode.DAMAGED
    assert ran.document["success"] is False
    assert any(problem["isDamage"] for problem in ran.document["problems"])


def test_damage_that_another_command_meets_exits_with_3(run: Any, world: Any) -> None:
    (world.l2 / ".git" / "refs" / "heads" / "main").write_text("rubbish\n")

    ran = run("status", "-P", world.profile, "--json")

    assert ran.code == ExitCode.DAMAGED
    assert ran.document["errors"][0]["code"] == "store_damaged"


def test_a_profile_without_a_store_exits_with_2(run: Any, tmp_path: Path) -> None:
    (tmp_path / "memoryDB").mkdir()

    ran = run("log", "-P", tmp_path)

    assert ran.code == ExitCode.REJECTED
    assert "scenestore init" in ran.err


def test_a_store_of_a_newer_program_exits_with_1_when_it_is_written(
    run: Any, empty: Any
) -> None:
    _make_newer(empty)

    ran = run("commit", "-P", empty.profile, "--json", data=CREATE)

    assert ran.code == ExitCode.FAILED
    assert ran.document["errors"][0]["code"] == "store_too_new"


def test_a_store_of_a_newer_program_can_be_listed(run: Any, empty: Any) -> None:
    _make_newer(empty)

    ran = run("log", "-P", empty.profile, "--json")

    assert ran.code == ExitCode.DONE
    assert len(ran.document["revisions"]) == 2


@pytest.mark.skipif(os.getuid() == 0, reason="root may write anywhere")
def test_a_folder_that_may_not_be_written_exits_with_1(
    run: Any, tmp_path: Path
) -> None:
    tmp_path.chmod(0o500)

    ran = run("init", "-P", tmp_path, "--json")

    tmp_path.chmod(0o700)
    assert ran.code == ExitCode.FAILED
    assert ran.document["errors"][0]["code"] == "system_error"


def test_a_full_disk_under_stdout_exits_with_1_and_says_that_the_work_holds(
    empty: Any,
) -> None:
    full = Path("/dev/full")
    if not full.exists():
        pytest.skip("there is no /dev/full here")

    with full.open("wb") as out:
        code, err = _run_into(out, "commit", "-P", empty.profile, "--json")

    assert code == ExitCode.FAILED
    assert "What the command did holds" in err
    assert "Traceback" not in err
    assert "ignored" not in err
    assert "tea.md" in empty.store.state().live


def test_a_reader_that_goes_away_is_met_in_silence(world: Any) -> None:
    read, write = os.pipe()
    os.close(read)

    with os.fdopen(write, "wb") as out:
        code, err = _run_into(out, "log", "-P", world.profile)

    assert code == ExitCode.FAILED
    assert err == ""


def test_an_interrupted_command_exits_with_130_and_says_nothing(world: Any) -> None:
    ours, theirs = pty.openpty()
    command = [*COMMAND, "commit", "-P", str(world.profile)]
    with subprocess.Popen(
        command, stdin=theirs, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stderr is not None
        said = process.stderr.readline()  # it waits for a batch that never comes

        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    os.close(ours)
    os.close(theirs)

    assert said.startswith(b"Reading from the terminal")
    assert process.returncode == ExitCode.INTERRUPTED
    assert out.strip() == err.strip() == b""


def test_a_bug_is_called_one_and_its_traceback_is_shown_on_demand(
    capsys: Any, monkeypatch: Any
) -> None:
    def stumble() -> None:
        raise LookupError("a stone")

    code = guarded(stumble, as_json=True)
    told = capsys.readouterr()
    monkeypatch.setenv("SCENESTORE_DEBUG", "1")
    guarded(stumble, as_json=True)
    told_all = capsys.readouterr()

    assert code == ExitCode.FAILED
    assert json.loads(told.out)["errors"][0]["code"] == "bug"
    assert told.err == ""
    assert json.loads(told_all.out) == json.loads(told.out)
    assert "Traceback" in told_all.err


def _run_into(out: IO[bytes], *args: object) -> tuple[int, str]:
    done = subprocess.run(
        [*COMMAND, *map(str, args)],
        check=False,
        input=CREATE.encode(),
        stdout=out,
        stderr=subprocess.PIPE,
        timeout=60,
    )
    return done.returncode, done.stderr.decode()


def _damage(world: Any) -> None:
    """Write rubbish into the middle of the newest pack."""
    packs = (world.l2 / ".git" / "objects" / "pack").glob("*.pack")
    pack = max(packs, key=lambda path: path.stat().st_mtime_ns)
    pack.chmod(0o600)
    data = bytearray(pack.read_bytes())
    data[len(data) // 2 : len(data) // 2 + 8] = b"\xff" * 8
    pack.write_bytes(bytes(data))


def _make_newer(world: Any) -> None:
    """Let a commit on top say that a newer program made it."""
    path = world.l2 / "events.json"
    record = json.loads(path.read_text())
    record |= {"format": 99, "seq": 1, "parent": world.store.ledger.head()}
    path.write_text(json.dumps(record))
    world.git(
        "-c", "user.name=x", "-c", "user.email=x@y", "commit", "-qam", "from the future"
    )
