"""The same batch again: answered with the first receipt, and decided no second time.

Source:
    CONTRACT section 5, "Concurrency".
"""

from msgspec.structs import replace

from scenestore.ledger import Ledger, Revision
from scenestore.receipts import Replayed
from scenestore_engine.commands import Batch, body_hash
from scenestore_engine.decide import Rejected
from scenestore_engine.faults import Fault, FaultCode

KEPT_KEYS = 1_000
"""Revisions that a key is remembered for. Source: CONTRACT section 5."""
HINTED = 100
"""Revisions that a refused batch is looked for in. Source: CONTRACT section 5."""


def replayed(ledger: Ledger, head: Revision, batch: Batch) -> Replayed | Fault | None:
    """Return the receipt of *batch* if it was accepted before; None: it is new.

    With an ``idempotencyKey`` by that key, else only if the head came from it. A key
    that another batch came under is a fault.
    """
    if batch.faults:
        return None
    wanted = body_hash(batch)
    key = batch.idempotency_key
    for wish in ledger.wishes(head.id, 1 if key is None else KEPT_KEYS):
        if key is not None and wish.idempotency_key != key:
            continue
        if wish.body_hash == wanted:
            receipt = ledger.record(ledger.revision(wish.revision)).receipt
            if receipt is not None:
                return Replayed(revision=wish.revision, receipt=receipt)
        elif key is not None:
            return Fault(
                code=FaultCode.KEY_REUSED,
                path="/idempotencyKey",
                message=f"Another batch came under this key: revision {wish.seq} "
                f"({wish.revision[:10]}).",
                hint="Make a new key for each batch; repeat a key only to send the "
                "same batch again.",
            )
    return None


def hinted(ledger: Ledger, head: Revision, batch: Batch, refused: Rejected) -> Rejected:
    """Return *refused*, and say so if this very batch is in the recent history."""
    if batch.faults:
        return refused
    wanted = body_hash(batch)
    for wish in ledger.wishes(head.id, HINTED):
        if wish.body_hash == wanted:
            first = refused.faults[0]
            told = (
                f"This very batch is revision {wish.seq} ({wish.revision[:10]}) "
                "already; it need not be sent again."
            )
            hint = f"{told} {first.hint}" if first.hint else told
            return replace(
                refused, faults=(replace(first, hint=hint), *refused.faults[1:])
            )
    return refused


def commit_hint(
    ledger: Ledger, head: Revision, run_id: str | None, made: int
) -> str | None:
    """Return a request to send one batch a run, when a run has sent more.

    Args:
        ledger: The history.
        head: The newest own revision, before the batch.
        run_id: Of the batch; None: the process counts as the run.
        made: Commits of this process so far.
    """
    count = made
    if run_id is not None:
        count = sum(w.run_id == run_id for w in ledger.wishes(head.id, HINTED))
    if not count:
        return None
    return (
        f"This is commit {count + 1} of this run. Send all writes of a run in one "
        "batch where the limits let you: a reader sees one change, and a rollback "
        "undoes it."
    )
