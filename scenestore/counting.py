"""What is counted over all scenes, for receipts and messages.

A decision may not know these: they depend on more than a batch names.

Source:
    CONTRACT section 5, "What a decision may know".
"""

from collections.abc import Iterable, Iterator

from scenestore.homes import StateHomes
from scenestore.ledger import Sets
from scenestore.receipts import CoverageFacts, Receipt, capacity, cursor_move
from scenestore.records import Records
from scenestore.staging import changed_scenes
from scenestore_engine.events import (
    Event,
    SceneCreated,
    SceneDeleted,
    ScenesConsolidated,
    SceneUpdated,
)
from scenestore_engine.faults import Notice, NoticeCode, about_ids
from scenestore_engine.policy import Policy
from scenestore_engine.state import State


class Counting:
    """Counts over the sets of a ledger and the records of L1."""

    def __init__(self, sets: Sets, records: Records) -> None:
        """Count over *sets* and *records*."""
        self._sets = sets
        self._records = records

    def members(self, state: State, events: Iterable[Event]) -> dict[str, int]:
        """Return how many members the scenes have in *state* that *events* wrote."""
        names = {
            event.filename
            for event in events
            if isinstance(event, SceneCreated | SceneUpdated | ScenesConsolidated)
        }
        return {
            name: self._sets.count(state.live[name].members)
            if name in state.live
            else 0
            for name in names
        }

    def receipt(
        self,
        before: State,
        after: State,
        *,
        seq: int,
        batch: str,
        policy: Policy,
        members_missing: tuple[str, ...] = (),
    ) -> Receipt:
        """Return the receipt of a change that is told by the states around it."""
        lists = changed_scenes(before, after)
        return Receipt(
            revision=None,
            seq=seq,
            batch=batch,
            created=lists.created,
            updated=lists.updated,
            deleted=lists.deleted,
            members_missing=members_missing,
            cursor=cursor_move(before.cursor, after.cursor),
            coverage=self.coverage(after),
            capacity=capacity(len(after.live), policy),
        )

    def coverage(self, state: State) -> CoverageFacts:
        """Return how many live records up to the cursor are in no scene."""
        homes = StateHomes(state, self._sets)
        found = self._records.coverage(homes, state.cursor)
        return CoverageFacts(
            unassigned=found.unassigned, dismissed=found.dismissed, ids=found.ids
        )

    def notices(
        self, events: Iterable[Event], before: State, after: State
    ) -> Iterator[Notice]:
        """Yield the notices that take a look at all scenes, not only the batch's."""
        homes = StateHomes(after, self._sets)
        for event in events:
            if not isinstance(event, SceneDeleted):
                continue
            had = self._sets.ids(before.live[event.filename].members)
            orphans = self._records.orphaned(homes, had)
            if orphans:
                yield about_ids(
                    NoticeCode.MEMBERS_ORPHANED,
                    event.filename,
                    f"{len(orphans)} records of {event.filename} are in no scene now; "
                    "they can be read as late ones.",
                    orphans,
                )
        if after.cursor is not None and after.cursor != before.cursor:
            count, ids = self._records.passed(homes, before.cursor, after.cursor)
            if count:
                yield about_ids(
                    NoticeCode.UNASSIGNED_RECORDS,
                    None,
                    f"The cursor passes {count} records that are unassigned; "
                    "they can be read as late ones.",
                    ids,
                    count,
                )
