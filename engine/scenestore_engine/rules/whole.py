"""The cursor, and the batch as a whole.

Source:
    CONTRACT section 5, "Cursor" and "Batch rules".
"""

import unicodedata
from collections.abc import Iterator

from scenestore_engine.commands import Batch, targets
from scenestore_engine.diffs import unified_diff
from scenestore_engine.faults import Conflict, Fault, FaultCode
from scenestore_engine.policy import MAX_KEY_CHARS
from scenestore_engine.rules.text import line_complaint
from scenestore_engine.secret import kind_of_secret
from scenestore_engine.state import Base, Known, Scene

MAX_ACTOR_CHARS = 64
_SAME_BODY = "The body is the same; the summary, the members or the archive changed.\n"


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
    asks = (
        batch.writes,
        batch.cursor is not None,
        batch.persona_reason is not None,
        batch.dismiss,
    )
    if not any(asks):
        yield Fault(
            code=FaultCode.EMPTY_BATCH,
            path="",
            message="The batch asks for nothing.",
            hint="Give sceneWrites, a cursor, dismiss or personaSignal.",
        )


def keys_are_good(batch: Batch) -> Iterator[Fault]:
    """Yield a fault if ``idempotencyKey`` or ``runId`` cannot be kept."""
    for field, key in (
        ("idempotencyKey", batch.idempotency_key),
        ("runId", batch.run_id),
    ):
        if key is None:
            continue
        complaint = line_complaint(key)
        if complaint is None and len(key) > MAX_KEY_CHARS:
            complaint = f"has {len(key)} characters"
        if complaint is not None or kind_of_secret(key) is not None:
            yield Fault(
                code=FaultCode.BAD_KEY,
                path=f"/{field}",
                message=f"The {field} {complaint or 'holds a secret'}.",
                hint=f"Give one line of 1 to {MAX_KEY_CHARS} characters.",
            )


def base_is_fresh(batch: Batch, known: Known) -> Iterator[tuple[Fault, Conflict]]:
    """Yield a fault for each scene of *batch* that changed since its base.

    Other changes do no harm.
    """
    if known.base is None:
        return
    told: set[str] = set()
    for write in batch.writes:
        for name in targets(write.command):
            if name in told or not _has_changed(name, known, known.base):
                continue
            told.add(name)
            yield (
                Fault(
                    code=FaultCode.STALE_BASE,
                    path=write.path,
                    filename=name,
                    message=f"{name} changed since {batch.base_revision}, which is "
                    "what you read.",
                    hint="Read conflicts, take over what they add, and send the batch "
                    "again with baseRevision set to head.",
                ),
                Conflict(
                    filename=name,
                    diff=unified_diff(
                        known.base.bodies.get(name), known.bodies.get(name), name
                    )
                    or _SAME_BODY,
                ),
            )


def _has_changed(name: str, known: Known, base: Base) -> bool:
    now, then = known.state, base
    return _kept_as(now.live.get(name)) != _kept_as(then.live.get(name)) or (
        _kept_as(now.archived.get(name)) != _kept_as(then.archived.get(name))
    )


def _kept_as(scene: Scene | None) -> tuple[str, str | None] | None:
    return None if scene is None else (scene.blob, scene.members)


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
