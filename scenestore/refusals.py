"""Refusals that the shell adds to the engine's: what only the disk can tell.

Source:
    CONTRACT section 9.
"""

import contextlib
from collections.abc import Iterable, Iterator

import msgspec
from msgspec.structs import replace

from scenestore import blockfile, codec
from scenestore.errors import TooNewError
from scenestore.ledger import Ledger, Revision
from scenestore.projection import Drift, Projection
from scenestore_engine.decide import Decision, Rejected
from scenestore_engine.diffs import unified_diff
from scenestore_engine.faults import Conflict, Fault, FaultCode
from scenestore_engine.state import Known
from scenestore_engine.times import iso

_NOT_THE_CALLERS = frozenset(
    {FaultCode.FOREIGN_COMMIT, FaultCode.HISTORY_MOVED, FaultCode.DRIFT}
)
"""What the one who sent the batch cannot mend."""


class DriftedText(msgspec.Struct, frozen=True):
    """The work of another hand, and how it differs from what the history has."""

    drift: Drift
    conflict: Conflict


def refuse_newer(head: Revision) -> None:
    """Return if this program may write on *head*.

    Raises:
        TooNewError: A newer program wrote it.

    Source:
        CONTRACT section 1: such a store is read-only.
    """
    if head.format > codec.FORMAT:
        raise TooNewError(
            f"This store has format {head.format}; this program writes "
            f"{codec.FORMAT}. Nothing was changed. Use a newer scenestore."
        )


def not_writable(
    ledger: Ledger, projection: Projection, head: Revision
) -> Iterator[Fault]:
    """Yield why nothing may be written on *head*: it is another hand's."""
    if not head.is_own:
        own = ledger.last_own(head.id)
        yield Fault(
            code=FaultCode.FOREIGN_COMMIT,
            path="",
            message=f"The head {head.id[:10]} is a commit of another program "
            f"({head.author}: {head.subject[:60]}). "
            f"The scenes are those of revision {own.seq}.",
            hint=f"scenestore rollback {own.seq} sets it aside; history keeps it.",
        )
    drawn = projection.drawn().revision
    if drawn is not None and not ledger.descends(head.id, drawn):
        yield Fault(
            code=FaultCode.HISTORY_MOVED,
            path="",
            message=f"The head {head.id[:10]} does not descend from {drawn[:10]}, "
            "which was the head before: somebody moved the branch.",
            hint=f"scenestore rollback {drawn[:10]} goes back to the lost revision; "
            "scenestore repair --accept-head takes the head as it is.",
        )


def drift_fault(drift: Drift) -> Fault:
    """Return why a batch that touches *drift* is refused."""
    filename = drift.path.rpartition("/")[2]
    what = {
        "edited": "was edited",
        "added": "was put there",
        "removed": "was removed",
        "emptied": "was emptied",
        "not_a_file": "is no plain file",
    }[drift.kind]
    return Fault(
        code=FaultCode.DRIFT,
        path="/sceneWrites",
        filename=filename,
        message=f"{drift.path} {what} by another hand, and is not in the history.",
        hint="scenestore repair moves that work into rescued/ and draws the file anew; "
        "then send the batch again.",
    )


def drifted_text(drift: Drift, known: Known, projection: Projection) -> DriftedText:
    """Return what another hand made of a scene, against what the head has."""
    name = drift.path.rpartition("/")[2]
    data = projection.text_at(drift.path)
    theirs = None
    if data is not None:
        with contextlib.suppress(ValueError):
            theirs = blockfile.parse(data, file_time=iso(0)).body
    diff = unified_diff(known.bodies.get(name), theirs, name)
    return DriftedText(drift, Conflict(filename=name, diff=diff))


def rejected(
    decision: Decision,
    stopped: Iterable[Fault],
    drifts: Iterable[DriftedText],
    *,
    is_based: bool,
) -> Rejected:
    """Return the refusal that names what the engine and the shell found.

    Args:
        decision: The engine's.
        stopped: Why nothing at all may be written, or the request is wrong.
        drifts: The work of other hands in the way of the batch.
        is_based: Whether the caller said what it had read: then a drifted scene is one
            that changed since.
    """
    drifts = tuple(drifts)
    refused = decision if isinstance(decision, Rejected) else Rejected(faults=())
    stale = [
        Fault(
            code=FaultCode.STALE_BASE,
            path="/baseRevision",
            filename=text.conflict.filename,
            message=f"{text.conflict.filename} was changed by another hand since you "
            "read it.",
            hint="Wait until that work is a revision, read it, and send it again.",
        )
        for text in drifts
        if is_based
    ]
    found = (*stopped, *(drift_fault(text.drift) for text in drifts), *stale)
    return replace(
        refused,
        faults=(*refused.faults, *found),
        conflicts=(
            *refused.conflicts,
            *(text.conflict for text in drifts if is_based),
        ),
        retry=refused.retry and not any(f.code in _NOT_THE_CALLERS for f in found),
    )


def busy(error: Exception) -> Rejected:
    """Return the refusal of a batch whose turn did not come."""
    return Rejected(
        faults=(
            Fault(
                code=FaultCode.STORE_BUSY,
                path="",
                message=str(error),
                hint="Send the batch again in a moment.",
            ),
        )
    )
