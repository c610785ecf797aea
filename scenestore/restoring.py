"""Going back to an earlier revision, as a new one: history is never rewritten.

Source:
    CONTRACT section 7, "Rollback".
"""

import json

from msgspec.structs import replace

from scenestore import clock, layout
from scenestore.clock import Now
from scenestore.errors import BusyError, HeadMovedError
from scenestore.ledger import Revision
from scenestore.receipts import Receipt
from scenestore.refusals import busy, drift_fault
from scenestore.revisions import resolve
from scenestore.staging import changed_scenes, difference
from scenestore.store import Store, batch_id
from scenestore_engine.decide import Rejected
from scenestore_engine.events import StoreRolledBack
from scenestore_engine.evolve import fold
from scenestore_engine.faults import Fault, FaultCode
from scenestore_engine.rules import line_complaint
from scenestore_engine.state import State


def roll_back(
    store: Store,
    to: str,
    *,
    keep_cursor: bool = False,
    reason: str | None = None,
    dry_run: bool = False,
    actor: str | None = None,
    now: Now | None = None,
) -> Receipt | Rejected:
    """Make scenes, archive, members, dismissals and cursor what *to* kept.

    It is also the way out where the head is another program's commit, or does not
    descend from what was drawn last: then the new revision stands on that head.

    Args:
        store: Whose.
        to: A revision, as `revisions.resolve` takes it.
        keep_cursor: Whether the cursor stays where it is.
        reason: For the history; one line.
        dry_run: Whether only to say what would change.
        actor: Who asks; None: the store's actor.
        now: The time; None: the clock's.

    Returns:
        A `Receipt`, or `Rejected` where the revision is unknown or another hand's work
        is in the way.

    Stays true:
        Persona requests and forgotten records stay as they are.
    """
    now = now or clock.now()
    store.head()
    try:
        with store.turn():
            target = resolve(store.ledger, to)
            faults = list(_reason_faults(reason))
            if isinstance(target, Fault):
                return Rejected(faults=(*faults, target))
            if faults:
                return Rejected(faults=tuple(faults))
            return _roll_back(
                store,
                target,
                keep_cursor=keep_cursor,
                reason=reason,
                dry_run=dry_run,
                actor=actor,
                now=now,
            )
    except (BusyError, HeadMovedError) as error:
        return busy(error)


def _reason_faults(reason: str | None) -> list[Fault]:
    complaint = None if reason is None else line_complaint(reason)
    if complaint is None:
        return []
    message = f"The reason {complaint}."
    return [Fault(code=FaultCode.BAD_REASON, path="/reason", message=message)]


def _roll_back(
    store: Store,
    target: Revision,
    *,
    keep_cursor: bool,
    reason: str | None,
    dry_run: bool,
    actor: str | None,
    now: Now,
) -> Receipt | Rejected:
    ledger = store.ledger
    head_id = ledger.head()
    head = ledger.revision(head_id or store.head().id)
    own = store.head()
    before, then = ledger.state(own.tree), ledger.state(target.tree)
    handles = ledger.handles(target.tree)
    event = StoreRolledBack(
        revision=target.id,
        seq=target.seq,
        cursor=before.cursor if keep_cursor else then.cursor,
        cursor_kept=keep_cursor,
        state=handles,
        reason=reason,
    )
    after = fold((event,), before, {handles: then})
    wish = json.dumps(["rollback", target.id, keep_cursor])
    policy = store.policy()
    batch = batch_id(head.id, wish)
    receipt = store.counting.receipt(
        before, after, seq=own.seq + 1, batch=batch, policy=policy
    )
    stopped = [*store.not_writable(head)]  # a newer format stops all, these do not
    in_way = _in_the_way(store, head, before, after)
    if in_way:
        return Rejected(faults=tuple(in_way), retry=False)
    if after == before and not stopped:
        return replace(receipt, revision=own.id, seq=own.seq)
    if dry_run:
        return replace(receipt, diff=difference(before, after, store.ledger))
    # A foreign head carries the seq of the own revision that it stands on.
    parent = replace(head, seq=own.seq)
    revision = store.append(
        (event,),
        after,
        parent=parent,
        batch=batch,
        policy=policy,
        now=now,
        actor=actor,
        before=before,
        receipt=receipt,
    )
    return replace(receipt, revision=revision)


def _in_the_way(
    store: Store, head: Revision, before: State, after: State
) -> list[Fault]:
    lists = changed_scenes(before, after)
    names = {*lists.created, *lists.updated, *lists.deleted}
    if not head.is_own:
        files = store.ledger.folder(head.tree, layout.SCENES)
        names |= {
            name
            for name in files.keys() | after.live.keys()
            if name not in after.live or files.get(name) != after.live[name].blob
        }
    return [drift_fault(drift) for drift in store.drifts(names, head.tree)]
