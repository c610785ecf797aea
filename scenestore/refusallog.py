"""Refused batches, kept so that the next prompt can learn from them.

A cache like any other: it may be deleted at any time, and it is never read to decide.

Source:
    CONTRACT section 5, "Refusals are kept".
"""

import contextlib
from collections.abc import Iterator
from pathlib import Path

import msgspec

from scenestore import durable, layout
from scenestore.errors import DiskError
from scenestore_engine.commands import Batch, BodyWrite
from scenestore_engine.decide import Rejected
from scenestore_engine.secret import masked, masked_all

MAX_BYTES = 512 * 1024
"""Above it, the older half goes."""
_MAX_TEXT_CHARS = 2_000
_MAX_IDS = 20


def keep(  # noqa: PLR0917 - one line of the log
    profile: Path, batch: Batch, refused: Rejected, head: str, actor: str, at: str
) -> None:
    """Add a refusal to the log of *profile*; a disk that fails is no matter here."""
    line = {
        "at": at,
        "actor": masked_all(actor),
        "head": head,
        "runId": masked_all(batch.run_id),
        "errors": masked_all(msgspec.to_builtins(refused.faults)),
        "memberGaps": masked_all(msgspec.to_builtins(refused.member_gaps)),
        "lines": masked_all(msgspec.to_builtins(refused.lines)),
        "writes": [masked_all(write) for write in _writes(batch)],
    }
    path = layout.refusals_file(profile)
    with contextlib.suppress(OSError, DiskError):
        durable.make_dir(path.parent)
        durable.append_line(path, msgspec.json.encode(line) + b"\n")
        data = durable.read_plain(path) or b""
        if len(data) > MAX_BYTES:
            lines = data.splitlines(keepends=True)
            durable.replace_file(path, b"".join(lines[len(lines) // 2 :]))


def _writes(batch: Batch) -> Iterator[dict[str, object]]:
    for write in batch.writes:
        command = write.command
        told: dict[str, object] = {
            "path": write.path,
            "action": command.__struct_config__.tag,
            "filename": command.filename,
        }
        if command.reason is not None:
            told["reason"] = command.reason
        if isinstance(command, BodyWrite):
            told["content"] = masked(command.content)[:_MAX_TEXT_CHARS]
            told["summary"] = command.meta.summary or ""
            told["members"] = sorted(command.members or ())[:_MAX_IDS]
            told["addMembers"] = sorted(command.add_members)[:_MAX_IDS]
            told["sources"] = getattr(command, "sources", ())
        yield told
