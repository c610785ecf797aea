"""The run: read what waits, plan, commit batch by batch; the cursor moves last.

Of each window of records every batch makes at most as many scenes as policy allows, and
the window's last batch moves the cursor. A run that is cut off between two batches
leaves records that are in scenes and yet after the cursor: the next run sees that they
have a home, and goes on with the others.

Source:
    CONTRACT sections 2, 5 and 6.
"""

from collections.abc import Callable, Iterable, Sequence

import msgspec

from scenestore.clock import Now
from scenestore.errors import BusyError, Refusal
from scenestore.organise.planning import Placed, Portion, planned
from scenestore.organise.refusing import OrganiseError, refused
from scenestore.organise.shelf import Shelf, homes, shelf_of
from scenestore.organise.waiting import Waiting, Window, windows
from scenestore.organise.writing import (
    Request,
    joining_requests,
    next_portions,
    writes_for,
)
from scenestore.receipts import Receipt, Replayed
from scenestore.store import Store
from scenestore_engine.decide import Rejected
from scenestore_engine.faults import FaultCode
from scenestore_engine.rules import is_record_id
from scenestore_engine.wire import batch_from

_OTHERS = {FaultCode.DRIFT, FaultCode.SCENE_EXISTS, FaultCode.NO_ROOM}
"""Why a new scene is refused though it is right: another hand was there first."""

__all__ = ["OrganiseError", "Progress", "Summary", "organise"]


class Progress(msgspec.Struct, frozen=True):
    """How far a run has come."""

    done: int
    total: int
    """Records that waited when the run began, or more if some came since."""


class Summary(msgspec.Struct, frozen=True, kw_only=True):
    """What a run did."""

    records: int
    """That were put into scenes."""
    scenes_live: int
    max_scenes: int
    commits: int
    unassigned: int
    """Live records that belong to no scene, after the run."""
    first_day: str | None
    last_day: str | None
    """Of the records; None if none has a day."""
    nothing_new: bool
    """Whether nothing waited, so that nothing was done."""


def organise(
    store: Store,
    *,
    actor: str = "organise",
    progress: Callable[[Progress], None] | None = None,
    now: Now | None = None,
) -> Summary:
    """Put every record that waits into a scene, and return what was done.

    Makes the store if there is none. What others wrote is built upon: no line of a
    scene is dropped, and a scene that cannot be written (it drifted, it is too long) is
    passed by.

    Args:
        store: Of the profile.
        actor: Who acts, as the commits say.
        progress: Told at the start and after each commit.
        now: The time of all commits; None: the clock's.

    Raises:
        OrganiseError: The store refuses what cannot be gone round; it has the faults.
        BusyError: Another program is writing; the run may be started again.
        CallerError: The policy cannot be read.
        CorruptError: The history is damaged.
        DiskError: The disk failed.

    Stays true:
        Each commit holds by itself: a run that is cut off anywhere is taken up by the
        next one, without a record lost or said twice. The same records over the same
        scenes lead to the same commits, save for the times.
    """
    store.init(now=now)
    run = _Run(store, actor, now, progress or (lambda _: None))
    for window in windows(store):
        run.take(window)
    return run.summary()


class _Run:
    def __init__(
        self,
        store: Store,
        actor: str,
        now: Now | None,
        progress: Callable[[Progress], None],
    ) -> None:
        self._store = store
        self._actor = actor
        self._now = now
        self._tell = progress
        self._policy = store.policy()
        self._closed: set[str] = set()
        """Scenes that a write was refused for; and names that are not to be had."""
        self._read = 0
        self._done = 0
        self._placed = 0
        self._commits = 0
        self._days: set[str] = set()

    def take(self, window: Window) -> None:
        """Place the records of *window*, then move the cursor past them."""
        if not self._read:
            self._told(len(window.records) + window.remaining)
        self._read += len(window.records)
        total = self._read + window.remaining
        portions = self._portions(window.records)
        is_moved = window.cursor is None
        while portions or not is_moved:
            batch, portions = next_portions(portions, self._policy)
            cursor = None if portions else window.cursor
            again = self._sent(batch, cursor)
            is_moved = is_moved or (cursor is not None and again is None)
            portions = _joined([*portions, *self._planned(again or ())])
            self._done = total - window.remaining - _count(portions)
            self._told(total)

    def summary(self) -> Summary:
        """Return what was done so far."""
        waiting = self._store.read_l1_increment(max_records=1)
        if isinstance(waiting, Refusal):
            raise refused(waiting.errors)
        return Summary(
            records=self._placed,
            scenes_live=len(self._store.state().live),
            max_scenes=self._policy.max_scenes,
            commits=self._commits,
            unassigned=waiting.late_count,
            first_day=min(self._days, default=None),
            last_day=max(self._days, default=None),
            nothing_new=self._read == 0,
        )

    def _told(self, total: int) -> None:
        self._tell(Progress(self._done, total))

    # Planning

    def _shelf(self) -> Shelf:
        return shelf_of(self._store, self._policy, self._closed)

    def _portions(self, records: Sequence[Waiting]) -> list[Portion]:
        """Return who gets what of *records*; scenes may have been joined for it."""
        shelf = self._shelf()
        held, elsewhere = homes(self._store, (r.record_id for r in records))
        new = [
            record
            for record in records
            if record.record_id not in held
            and record.record_id not in elsewhere
            and is_record_id(record.record_id)
        ]
        rewritten: dict[str, list[Placed]] = {}
        for record in records:
            scenes = (shelf.scenes.get(n) for n in held.get(record.record_id, ()))
            home = next((scene for scene in scenes if scene), None)
            if home and record.rewritten_at and record.rewritten_at > home.updated:
                placed = Placed(record=record, worth=record.weight)
                rewritten.setdefault(home.filename, []).append(placed)
        given = [
            Portion(filename=name, title="", placed=tuple(placed))
            for name, placed in rewritten.items()
        ]
        planned_new = self._planned(new, may_join=True)
        return _joined([*given, *planned_new])

    def _planned(
        self, records: Sequence[Waiting], *, may_join: bool = False
    ) -> list[Portion]:
        if not records:
            return []
        shelf = self._shelf()
        plan = planned(records, shelf, self._policy, may_join=may_join)
        if plan.joinings:
            requests = joining_requests(
                plan.joinings, shelf, self._policy, self._closed
            )
            self._blamed(self._committed(requests, None), requests)
            plan = planned(records, self._shelf(), self._policy, may_join=False)
        if plan.left_over and self._policy.max_creates_per_batch == 0:
            raise OrganiseError(
                f"There is no scene for {len(plan.left_over)} records, and the policy "
                "allows no new ones (max_creates_per_batch is 0). Nothing was changed. "
                "Allow 1 in scenestore.toml, or make a scene by hand first."
            )
        return list(plan.portions)

    # Writing

    def _sent(
        self, batch: Sequence[Portion], cursor: str | None
    ) -> Sequence[Waiting] | None:
        """Commit *batch*; return the records of what must be planned anew, or None.

        None: the batch holds. Else nothing of it does, and those scenes that could not
        be written are closed from here on.
        """
        shelf = self._shelf()
        gone = [p for p in batch if p.filename and p.filename not in shelf.scenes]
        if gone:
            return _records(batch)
        writes = writes_for(batch, shelf, self._policy, self._closed)
        outcome = self._committed(writes.requests, cursor)
        blamed = self._blamed(outcome, writes.requests)
        if blamed:
            return _records(batch)
        for record in _records(batch):
            self._placed += 1
            self._days |= {record.day} if record.day else set()
        return None

    def _committed(
        self, requests: Sequence[Request], cursor: str | None
    ) -> Receipt | Replayed | Rejected | None:
        if not requests and cursor is None:
            return None
        request: Request = {"sceneWrites": list(requests)}
        if cursor is not None:
            request["cursor"] = cursor
        before = self._store.head().id
        outcome = self._store.commit(
            batch_from(request), actor=self._actor, now=self._now
        )
        if isinstance(outcome, Receipt):
            self._commits += outcome.revision != before
        return outcome

    def _blamed(
        self, outcome: Receipt | Replayed | Rejected | None, requests: Sequence[Request]
    ) -> set[str]:
        """Close and return the scenes that *outcome* was refused for.

        Raises:
            BusyError: Another program is writing.
            OrganiseError: It was refused for something else.
        """
        if not isinstance(outcome, Rejected):
            return set()
        faults = outcome.faults
        if any(fault.code == FaultCode.STORE_BUSY for fault in faults):
            raise BusyError(
                "Another program is writing to the store. What was committed before "
                "stands. Run scenestore organize again in a moment."
            )
        named = {str(request["filename"]) for request in requests}
        made = {str(r["filename"]) for r in requests if r["action"] != "update"}
        blamed = {str(fault.filename) for fault in faults}
        is_ours = any(f.filename in made and f.code not in _OTHERS for f in faults)
        if not blamed or not blamed <= named or is_ours:
            raise refused(faults)
        self._closed |= blamed
        return blamed


def _records(batch: Iterable[Portion]) -> list[Waiting]:
    return [placed.record for portion in batch for placed in portion.placed]


def _count(portions: Iterable[Portion]) -> int:
    return sum(len(portion.placed) for portion in portions)


def _joined(portions: Iterable[Portion]) -> list[Portion]:
    """Return *portions* with those for one scene made one: a batch names it once."""
    by_name: dict[str, Portion] = {}
    new: list[Portion] = []
    for portion in portions:
        if portion.filename is None:
            new.append(portion)
            continue
        before = by_name.get(portion.filename)
        placed = (*before.placed, *portion.placed) if before else portion.placed
        by_name[portion.filename] = msgspec.structs.replace(portion, placed=placed)
    return [*by_name.values(), *new]
