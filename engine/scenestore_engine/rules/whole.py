"""The cursor, and the batch as a whole.

Source:
    CONTRACT section 5, "Cursor" and "Batch rules".
"""

import unicodedata
from collections.abc import Iterator

from scenestore_engine.commands import (
    Batch,
)
from scenestore_engine.faults import Fault, FaultCode
from scenestore_engine.rules.text import line_complaint
from scenestore_engine.state import (
    Known,
)

MAX_ACTOR_CHARS = 64


def cursor_is_good(batch: Batch, known: Known) -> Iterator[Fault]:
    """Yield a fault if the cursor stands nowhere in L1, or before the present one."""
    if batch.cursor is None:
        return
    if known.cursor is None:
        yield Fault(
            code=FaultCode.UNKNOWN_CURSOR,
            path="/cursor",
            message=f"No record in L1 is called {batch.cursor[:140]!a}.",
            hint="Use the nextCursor that read_l1_increment returned, to the letter.",
        )
    elif known.present is not None and known.cursor.place < known.present.place:
        yield Fault(
            code=FaultCode.CURSOR_GOES_BACK,
            path="/cursor",
            message=f"The cursor {batch.cursor} stands before the present one, "
            f"{known.present.record_id}.",
            hint="Leave the cursor out, or give one that stands later in L1.",
        )


def batch_is_not_empty(batch: Batch) -> Iterator[Fault]:
    """Yield a fault if the batch asks for nothing at all."""
    asks = (batch.writes, batch.cursor is not None, batch.persona_reason, batch.dismiss)
    if not any(asks):
        yield Fault(
            code=FaultCode.EMPTY_BATCH,
            path="",
            message="The batch asks for nothing.",
            hint="Give sceneWrites, a cursor, dismiss or personaSignal.",
        )


def only_what_is_checked(batch: Batch) -> Iterator[Fault]:
    """Yield a fault for a wish that this version cannot honour: no yes unchecked."""
    wishes = (
        ("baseRevision", batch.base_revision),
        ("idempotencyKey", batch.idempotency_key),
    )
    for field, wish in wishes:
        if wish is not None:
            yield Fault(
                code=FaultCode.NOT_SUPPORTED,
                path=f"/{field}",
                message=f"This version does not check {field} yet.",
                hint=f"Send the batch without {field}.",
            )


def actor_is_good(actor: str) -> Iterator[Fault]:
    """Yield a fault if *actor* cannot stand as the author of a commit."""
    is_good = (
        actor.strip() == actor
        and 1 <= len(actor) <= MAX_ACTOR_CHARS
        and line_complaint(actor) is None
        and not set(actor) & set("<>")
        and not any(unicodedata.category(char) == "Cs" for char in actor)
    )
    if not is_good:
        yield Fault(
            code=FaultCode.BAD_ACTOR,
            path="",
            message=f"{actor[:80]!a} cannot be the name of an actor.",
            hint=f"Use one line of 1 to {MAX_ACTOR_CHARS} characters without < and >.",
        )
