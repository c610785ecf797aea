"""Refusals that the shell adds to the engine's: what only the disk can tell.

Source:
    CONTRACT section 9.
"""

from collections.abc import Iterator

from msgspec.structs import replace

from scenestore import codec
from scenestore.errors import TooNewError
from scenestore.ledger import Ledger, Revision
from scenestore.projection import Drift, Projection
from scenestore_engine.decide import Decision, Rejected
from scenestore_engine.faults import Fault, FaultCode


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


def rejected(decision: Decision, stopped: tuple[Fault, ...]) -> Rejected:
    """Return the refusal that names what the engine and the shell found."""
    if not isinstance(decision, Rejected):
        return Rejected(faults=stopped, retry=False)
    return replace(decision, faults=(*decision.faults, *stopped), retry=not stopped)


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
