"""What state a store is in, and putting its files in order.

Source:
    CONTRACT sections 1, 7 and 9.
"""

import msgspec

from scenestore import codec, layout
from scenestore.projection import Drift
from scenestore.receipts import Capacity, CoverageFacts, capacity
from scenestore.store import Store
from scenestore_engine.faults import Fault
from scenestore_engine.state import Cursor, PersonaRequest


class Status(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """What a person or a program asks first."""

    profile: str
    revision: str
    seq: int
    at: str
    """When the newest own revision was made."""
    format: int
    archived: int
    capacity: Capacity
    cursor: Cursor | None
    new_records: int
    """Live records after the cursor."""
    coverage: CoverageFacts
    persona: tuple[PersonaRequest, ...]
    drift: tuple[Drift, ...]
    blocked: tuple[Fault, ...]
    """Why nothing can be written, if so: a foreign commit, a head that moved."""
    files_behind: bool
    """Whether the files lag behind the history; the next commit draws them."""
    rescued: int
    """Files of other hands that were moved aside."""
    read_only: bool
    """Whether a newer program wrote the store."""


def status(store: Store) -> Status:
    """Return what state *store* is in; nothing is changed and no lock is taken."""
    own = store.head()
    state = store.ledger.state(own.tree, ())
    head = store.ledger.revision(store.ledger.head() or own.id)
    increment = store.read_l1_increment(max_records=1)
    rescued = layout.rescued_dir(store.profile)
    is_too_new = own.format > codec.FORMAT
    return Status(
        profile=str(store.profile),
        revision=own.id,
        seq=own.seq,
        at=own.at,
        format=own.format,
        archived=len(state.archived),
        capacity=capacity(len(state.live), store.policy()),
        cursor=state.cursor,
        new_records=getattr(increment, "total_new", 0),
        coverage=store.counting.coverage(state),
        persona=state.persona,
        drift=tuple(store.projection.drift(own.tree)),
        blocked=() if is_too_new else tuple(store.not_writable(head)),
        files_behind=store.projection.drawn().revision != own.id,
        rescued=len(list(rescued.iterdir())) if rescued.is_dir() else 0,
        read_only=is_too_new,
    )


class Repaired(msgspec.Struct, frozen=True, kw_only=True):
    """What a repair did."""

    rescued: tuple[str, ...]
    """Where the work of other hands is now."""
    blocked: tuple[Fault, ...]
    """What a repair alone cannot mend."""


def repair(store: Store, *, accept_head: bool = False) -> Repaired:
    """Draw every file anew, moving the work of other hands aside into ``rescued/``.

    Args:
        store: Whose files.
        accept_head: Whether a head that does not descend from what was drawn last is
            taken as it is.

    Raises:
        BusyError: Another process is writing.

    Stays true:
        The history is not changed, and nothing that another hand wrote is lost.
    """
    store.head()
    with store.turn():
        own = store.head()
        head = store.ledger.revision(store.ledger.head() or own.id)
        blocked = tuple(store.not_writable(head))
        if not head.is_own:
            # The files are to be that commit's, until a rollback sets it aside.
            aside = store.projection.set_aside(head.tree)
            return Repaired(rescued=tuple(map(str, aside)), blocked=blocked)
        if blocked and not accept_head:
            return Repaired(rescued=(), blocked=blocked)
        state = store.ledger.state(own.tree)
        moved = store.projection.redraw(own.id, own.tree, state, drift=True)
        left = tuple(store.not_writable(head))
        return Repaired(rescued=tuple(map(str, moved)), blocked=left)
