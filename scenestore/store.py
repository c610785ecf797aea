"""The shell around the engine: look up, decide, write, publish, draw. Once, in order.

Rule 1: this module holds no rule about scenes; the engine does. Rule 2: it touches
neither git nor files itself; `ledger`, `projection` and `durable` do. Rule 3: reading
takes no lock and is served from a commit; writing takes turns.

Source:
    CONTRACT sections 5, 7 and 9.
"""

import contextlib
import sys
import unicodedata
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from types import TracebackType
from typing import Self

from msgspec.structs import replace

from scenestore import (
    clock,
    codec,
    durable,
    layout,
    lookups,
    messages,
    policies,
    receipts,
    refusallog,
)
from scenestore.blocks import SceneBlocks, read_scenes, wrong_types
from scenestore.clock import Now
from scenestore.counting import Counting
from scenestore.errors import (
    BusyError,
    CallerError,
    DiskError,
    HeadMovedError,
    Refusal,
)
from scenestore.guide import Guide, archive_guide
from scenestore.homes import StateHomes
from scenestore.ledger import Ledger, Revision
from scenestore.projection import Drift, Projection
from scenestore.receipts import Receipt, Replayed
from scenestore.records import Increment, Records
from scenestore.recovery import recover
from scenestore.refusals import (
    busy,
    drifted_text,
    not_writable,
    refuse_newer,
    rejected,
)
from scenestore.replay import commit_hint, hinted, replayed
from scenestore.revisions import resolve
from scenestore.staging import difference, filled_in
from scenestore_engine.commands import Batch, body_hash
from scenestore_engine.decide import Accepted, Rejected, decide
from scenestore_engine.events import (
    Event,
    StoreBegun,
)
from scenestore_engine.evolve import fold
from scenestore_engine.faults import Fault
from scenestore_engine.names import complaints
from scenestore_engine.policy import Policy
from scenestore_engine.retention import Verdict
from scenestore_engine.rules import actor_is_good
from scenestore_engine.state import EMPTY, State
from scenestore_engine.times import iso
from scenestore_engine.wire import batch_from, parse_batch

WAIT_S = 10.0
"""How long a writer waits for its turn. Source: CONTRACT section 5, "Concurrency"."""


class Store:
    """The scenes of one profile, with every revision they ever had."""

    def __init__(
        self,
        profile: Path,
        *,
        actor: str = "python",
        say: Callable[[str], None] | None = None,
    ) -> None:
        """Open the store of *profile*; nothing is read or written yet.

        Args:
            profile: The folder that holds ``memoryDB``.
            actor: Who acts, unless a call says otherwise.
            say: Told, in a sentence, what was mended after a crash.

        Raises:
            CallerError: The names of files are not written in UTF-8.
        """
        if sys.getfilesystemencoding() != "utf-8":
            raise CallerError(
                "This Python writes file names in "
                f"{sys.getfilesystemencoding()}, and scenes have names in any script. "
                "Nothing was changed. Set PYTHONUTF8=1, or a UTF-8 locale."
            )
        self.profile = profile
        self.actor = actor
        self.ledger = Ledger(profile)
        self.records = Records(profile)
        self.projection = Projection(profile, self.ledger)
        self.counting = Counting(self.ledger.sets, self.records)
        self.say = say or _keep_quiet
        self._is_recovered = False
        self._commits = 0

    def __enter__(self) -> Self:
        """Return the store itself."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close it."""
        self.close()

    def close(self) -> None:
        """Let go of every open file; the store may be used again."""
        self.ledger.close()
        self.records.close()

    # Beginning

    def init(self, *, now: Now | None = None) -> bool:
        """Make the store and its root commit; False if it is there already.

        Raises:
            CallerError: ``l2`` is a repository that is not ours.
            BusyError: Another process is writing.
            DiskError: The disk failed; it may be tried again.
        """
        now = now or clock.now()
        try:
            self._begin()
        except OSError as error:
            raise DiskError(
                f"The store could not be made: {error}. See to {self.profile} (space, "
                "permissions, what stands there), then try again."
            ) from error
        with durable.locked(layout.lock_file(self.profile), wait_s=WAIT_S):
            if self.ledger.head() is not None:
                return False
            self.append(
                (StoreBegun(),),
                EMPTY,
                parent=None,
                batch=batch_id(None, "begin"),
                policy=policies.load(self.profile),
                now=now,
            )
            return True

    def _begin(self) -> None:
        """Make the repository, unless what is there is somebody else's."""
        where = layout.repo_dir(self.profile)
        if self.ledger.head() is not None:
            self.ledger.last_own(self._head())  # a clone of ours, or CorruptError
        elif lost := self.projection.drawn().revision:
            raise CallerError(
                f"The branch main of {where} is gone; its last revision was {lost}. "
                f"Nothing was changed. Run: git -C {where} branch main {lost}"
            )
        elif self.ledger.is_of_another_hand():
            raise CallerError(
                f"{where} is a git repository that scenestore did not make. Nothing "
                "was changed. Move it elsewhere, or choose another profile."
            )
        self.ledger.begin()

    # Reading

    def head(self) -> Revision:
        """Return the newest own revision: what reading is served from.

        Raises:
            CallerError: There is no store yet.
            CorruptError: The history is damaged.
        """
        return self.ledger.last_own(self._head())

    def state(self, revision: Revision | None = None) -> State:
        """Return the whole state of *revision*, the newest if None is given."""
        return self.ledger.state((revision or self.head()).tree)

    def read_l1_increment(
        self,
        *,
        l1_dir: str | None = None,
        cursor: str | None = None,
        max_records: int = 50,
        late: bool = False,
        late_cursor: str | None = None,
    ) -> Increment | Refusal:
        """Return the L1 records that come after a place; see CONTRACT section 2.

        Args:
            l1_dir: This profile's records folder, and no other; None: the same.
            cursor: A record id or ``id@shard:line``; None: the store's own cursor.
            max_records: 1 or more; above 200 it is clamped, with a warning.
            late: Whether to return, instead, what the cursor passed without its
                belonging to a scene.
            late_cursor: Where the last answer of *late* ended.
        """
        state = self.ledger.state(self.head().tree, ())
        return self.records.increment(
            own=state.cursor,
            homes=StateHomes(state, self.ledger.sets),
            l1_dir=l1_dir,
            cursor=cursor,
            max_records=max_records,
            late=late,
            late_cursor=late_cursor,
        )

    def read_scene_blocks(
        self, filenames: Sequence[str], revision: str | None = None
    ) -> SceneBlocks | Refusal:
        """Return the scenes called *filenames*; see CONTRACT section 3.

        Args:
            filenames: One or more; live scenes come before archived ones.
            revision: A seq, a commit id or prefix, or a ``backupDir``; None: the head.
        """
        wrong = wrong_types(filenames, revision)
        if wrong:
            return Refusal(errors=wrong)
        return read_scenes(self.ledger, self.head(), filenames, revision)

    def archive_guide(self, *, now: Now | None = None) -> Guide:
        """Return the facts for choosing what to archive; see CONTRACT section 4."""
        now = now or clock.now()
        return archive_guide(
            self.profile, self.ledger, self.head(), self.policy(), now_ms=now.at_ms
        )

    def l2_commit(
        self,
        request: bytes | str | Mapping[str, object],
        *,
        actor: str | None = None,
        now: Now | None = None,
    ) -> dict[str, object]:
        """Commit one batch as an agent sends it, and answer in the same form.

        Args:
            request: The arguments of one ``l2_commit``, as JSON or decoded.
            actor: Who asks; None: the store's actor.
            now: The time; None: the clock's.

        Returns:
            The receipt or the refusal of CONTRACT section 5, JSON values only.
        """
        batch = (
            parse_batch(request)
            if isinstance(request, bytes | str)
            else batch_from(request)
        )
        outcome = self.commit(batch, actor=actor, now=now)
        return receipts.answer(outcome, self.ledger.head())

    def policy(self) -> Policy:
        """Return the host's limits.

        Raises:
            CallerError: ``scenestore.toml`` cannot be used.
        """
        return policies.load(self.profile)

    def _head(self) -> str:
        head = self.ledger.head()
        if head is None:
            raise CallerError(
                f"There is no scene store in {self.profile}. Nothing was changed. "
                "Run scenestore init, or scenestore organize, on the profile."
            )
        return head

    # Writing

    def commit(
        self, batch: Batch, *, actor: str | None = None, now: Now | None = None
    ) -> Receipt | Replayed | Rejected:
        """Decide *batch* and keep what it caused, as one revision.

        Args:
            batch: One ``l2_commit``, parsed by `scenestore_engine.wire`.
            actor: Who asks; None: the store's actor.
            now: The time; None: the clock's.

        Returns:
            A `Receipt` once the revision is durable, `Replayed` if this very batch was
            accepted before, or `Rejected` with every fault.

        Raises:
            CallerError: There is no store, or its policy cannot be read.
            CorruptError: The history is damaged.
            DiskError: The disk failed; nothing was changed.
            OutcomeUnknownError: The disk failed in the last step; the batch is wholly
                there or not at all, and sending it again is safe.

        Stays true:
            Without a receipt, no byte that a reader sees has changed. What another
            hand wrote under scene-blocks/ is never overwritten.

        Source:
            CONTRACT section 5.
        """
        now = now or clock.now()
        actor = actor or self.actor
        self._head()
        try:
            # 1. Take turns, and mend what a dead writer left.
            with self.turn(), self.records.steady():
                return self._commit(batch, actor, now)
        except (BusyError, HeadMovedError) as error:
            return busy(error)

    def _commit(
        self, batch: Batch, actor: str, now: Now
    ) -> Receipt | Replayed | Rejected:
        # 2. Read the parent, once; the same batch again is answered as the first time.
        parent = self.ledger.revision(self._head())
        own = parent if parent.is_own else self.ledger.last_own(parent.id)
        again = replayed(self.ledger, own, batch)
        if isinstance(again, Replayed):
            return again
        # 3. Look up what the decision may know.
        stopped = [*self.not_writable(parent), *([] if again is None else [again])]
        base = self._base(batch)
        if isinstance(base, Fault):
            stopped.append(base)
        state = self.ledger.state(own.tree, lookups.named_scenes(batch))
        policy = self.policy()
        known = lookups.known_for(
            batch,
            state,
            ledger=self.ledger,
            records=self.records,
            homes=StateHomes(state, self.ledger.sets),
            base=base if isinstance(base, State) else None,
        )
        # 4. Decide, touching nothing.
        decision = decide(batch, known, policy, now_ms=now.at_ms, actor=actor)
        drifts = self.drifts(lookups.named_scenes(batch), own.tree)
        if isinstance(decision, Rejected) or stopped or drifts:
            texts = [drifted_text(d, known, self.projection) for d in drifts]
            is_based = batch.base_revision is not None
            refused = rejected(decision, stopped, texts, is_based=is_based)
            refused = hinted(self.ledger, own, batch, refused)
            if policy.keep_refusals:
                at = iso(now.at_ms)
                refusallog.keep(self.profile, batch, refused, own.id, actor, at)
            return refused
        # 5. Make the files and sets that the events name, still unseen.
        events = filled_in(decision, state, self.ledger)
        after = fold(events, state)
        hint = commit_hint(self.ledger, own, batch.run_id, self._commits)
        receipt = self._receipt(batch, decision, events, state, after, own, policy)
        if not events:
            return replace(receipt, revision=own.id, seq=own.seq)
        if batch.dry_run:
            diff = difference(state, after, self.ledger)
            return replace(receipt, diff=diff)
        # 6. Write and publish: the one step that can be seen. 7. Draw.
        revision = self.append(
            events,
            after,
            parent=own,
            batch=receipt.batch,
            policy=policy,
            now=now,
            actor=actor,
            before=state,
            batch_hash=body_hash(batch),
            run_id=batch.run_id,
            key=batch.idempotency_key,
            receipt=receipt,
            verdicts=decision.verdicts,
        )
        self._commits += 1
        return replace(receipt, revision=revision, commit_hint=hint)

    def _base(self, batch: Batch) -> State | Fault | None:
        """Return the state that the caller read, or why there is none."""
        if batch.base_revision is None:
            return None
        found = resolve(self.ledger, batch.base_revision)
        if isinstance(found, Fault):
            head = self.ledger.head()
            hint = f"The head is {head}: read the scenes again, and give that."
            return replace(found, path="/baseRevision", hint=hint)
        return self.ledger.state(found.tree, ())

    @contextlib.contextmanager
    def turn(self) -> Generator[None]:
        """Hold the profile's lock, over a store that is in order."""
        durable.make_dir(layout.own_dir(self.profile))
        with durable.locked(layout.lock_file(self.profile), wait_s=WAIT_S):
            head = self.ledger.head()
            if head is not None:  # a newer program's store is not touched at all
                refuse_newer(self.ledger.revision(head))
            try:
                for deed in recover(
                    self.profile,
                    self.ledger,
                    self.projection,
                    thorough=not self._is_recovered,
                ):
                    self.say(deed)
                self._is_recovered = True
            except OSError as error:
                self.say(f"the files were not drawn ({error}); a later commit does it")
            try:
                yield
            finally:
                self.ledger.objects.discard()

    def not_writable(self, head: Revision) -> Iterator[Fault]:
        """Yield why nothing may be written on *head*; see `refusals.not_writable`."""
        return not_writable(self.ledger, self.projection, head)

    def drifts(self, names: Iterable[str], tree: str) -> list[Drift]:
        """Return the work of other hands at the live scenes *names* of *tree*.

        A name that cannot be a scene's is passed over: it is no path.
        """
        paths = {layout.scene_path(n) for n in names if not any(complaints(n))}
        return self.projection.drift(tree, paths) if paths else []

    def _receipt(  # noqa: PLR0917 - all that one batch led to
        self,
        batch: Batch,
        decision: Accepted,
        events: tuple[Event, ...],
        before: State,
        after: State,
        parent: Revision,
        policy: Policy,
    ) -> Receipt:
        counts = self.counting.members(after, events)
        lists = receipts.touched(events)
        return Receipt(
            revision=None,
            seq=parent.seq + 1,
            batch=batch_id(parent.id, body_hash(batch)),
            created=lists.created,
            updated=lists.updated,
            deleted=lists.deleted,
            archived=lists.archived,
            restored=lists.restored,
            consolidations=receipts.consolidations(events, parent.id, counts),
            members_missing=decision.members_missing,
            warnings=(
                *decision.notices,
                *self.counting.notices(events, before, after),
            ),
            cursor=receipts.cursor_move(before.cursor, after.cursor),
            coverage=self.counting.coverage(after),
            capacity=receipts.capacity(len(after.live), policy),
        )

    def append(
        self,
        events: tuple[Event, ...],
        after: State,
        *,
        parent: Revision | None,
        batch: str,
        policy: Policy,
        now: Now,
        actor: str | None = None,
        before: State = EMPTY,
        batch_hash: str | None = None,
        run_id: str | None = None,
        key: str | None = None,
        receipt: Receipt | None = None,
        verdicts: Sequence[Verdict] = (),
    ) -> str:
        """Write, publish and draw the revision that *events* lead to; return its id."""
        actor = actor or self.actor
        for fault in actor_is_good(actor):
            raise CallerError(f"{fault.message} Nothing was changed. {fault.hint}")
        seq = parent.seq + 1 if parent else 0
        record = codec.Record(
            format=codec.FORMAT,
            seq=seq,
            parent=parent.id if parent else None,
            batch=batch,
            actor=actor,
            at=iso(now.at_ms),
            time_overridden=now.is_overridden,
            policy=policies.values(policy),
            unicode=unicodedata.unidata_version,
            retention=tuple(
                codec.Retention(score=v.score, algorithm=v.algorithm) for v in verdicts
            ),
            idempotency_key=key,
            run_id=run_id,
            body_hash=batch_hash,
            receipt=receipts.kept(receipt) if receipt else None,
            events=events,
        )
        counts = self.counting.members(after, events)
        had = self.counting.members(before, events)
        text = messages.message(
            events,
            seq=seq,
            cursor=receipts.cursor_move(before.cursor, after.cursor),
            batch=batch,
            actor=actor,
            counts=counts,
            added={name: count - had[name] for name, count in counts.items()},
            overridden_at=record.at if now.is_overridden else None,
        )
        revision = self.ledger.write(after, record, text, at_ms=now.at_ms)
        self.ledger.publish(revision, parent=parent.id if parent else None)
        # Acknowledged from here on: what fails below, the next writer draws.
        tree = self.ledger.revision(revision).tree
        try:
            over = parent.tree if parent and not parent.is_own else None
            for moved in self.projection.draw(revision, tree, after, over=over):
                self.say(f"moved what another hand had written to {moved}")
        except OSError as error:
            self.say(f"the files were not drawn ({error}); the next commit draws them")
        return revision


def _keep_quiet(_: str) -> None:
    """Tell nobody."""


def batch_id(parent: str | None, wish: str) -> str:
    """Return the id of a batch: a hash of parent and canonical batch, 40 hex digits.

    Source:
        CONTRACT section 5, "Receipt".
    """
    return sha256(f"{parent}\n{wish}".encode()).hexdigest()[:40]
