"""The real command: as a program of its own, or called where that adds nothing."""

import io
import json
import os
import pty
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

import pytest

from scenestore_cli.main import main

COMMAND = (sys.executable, "-m", "scenestore_cli")


class Ran(NamedTuple):
    """What one run came to."""

    code: int
    out: str
    err: str

    @property
    def document(self) -> dict[str, object]:
        """Stdout, which must be one JSON object and nothing else."""
        found = json.loads(self.out)
        assert isinstance(found, dict), self.out
        return found


Run = Callable[..., Ran]


def environment(more: Mapping[str, str] | None = None) -> dict[str, str]:
    return {**os.environ, "NO_COLOR": "", "COLUMNS": "", **(more or {})}


@pytest.fixture
def run() -> Run:
    def run_it(
        *args: str | Path,
        data: bytes | str = b"",
        cwd: Path | None = None,
        env: Mapping[str, str] | None = None,
    ) -> Ran:
        """Run the command; whatever happens, no traceback is seen."""
        done = subprocess.run(
            [*COMMAND, *map(str, args)],
            check=False,
            capture_output=True,
            input=data.encode() if isinstance(data, str) else data,
            cwd=cwd,
            env=environment(env),
            timeout=60,
        )
        out, err = done.stdout.decode(), done.stderr.decode()
        assert "Traceback" not in out + err, out + err
        return Ran(done.returncode, out, err)

    return run_it


@pytest.fixture
def call(monkeypatch: pytest.MonkeyPatch) -> Run:
    def call_it(
        *args: str | Path,
        data: bytes | str = b"",
        env: Mapping[str, str] | None = None,
    ) -> Ran:
        """Run the command inside of this process, which is a good deal faster."""
        given = io.BytesIO(data.encode() if isinstance(data, str) else data)
        out, err = io.BytesIO(), io.BytesIO()
        with monkeypatch.context() as patch:
            for name, stream in (("stdin", given), ("stdout", out), ("stderr", err)):
                text = io.TextIOWrapper(stream, encoding="utf-8", write_through=True)
                patch.setattr(sys, name, text)
            for name, value in environment(env).items():
                patch.setenv(name, value)
            with pytest.raises(SystemExit) as ended:
                main(list(map(str, args)))
            # A stream that is replaced is closed, so that they are read before.
            told = (out.getvalue().decode(), err.getvalue().decode())
        return Ran(int(str(ended.value.code)), *told)

    return call_it


@pytest.fixture
def on_terminal() -> Callable[..., str]:
    def run_it(*args: str | Path, columns: int, env: Mapping[str, str]) -> str:
        """What a terminal of that width is sent."""
        ours, theirs = pty.openpty()
        size = {"COLUMNS": str(columns), "TERM": "xterm-256color"}
        with subprocess.Popen(
            [*COMMAND, *map(str, args)],
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            env=environment({**size, **env}),
        ) as process:
            os.close(theirs)
            parts = []
            while part := _read(ours):
                parts.append(part)
            os.close(ours)
            assert process.wait(timeout=60) == 0
        return b"".join(parts).decode().replace("\r\n", "\n")

    return run_it


def _read(handle: int) -> bytes:
    try:
        return os.read(handle, 65_536)
    except OSError:
        return b""  # how Linux says that the other side is closed
