"""What an agent should know before it archives: facts, never a score of coldness.

Source:
    CONTRACT section 4.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path

import msgspec

from scenestore import durable, layout
from scenestore.ledger import Ledger, Revision
from scenestore.receipts import Capacity, capacity
from scenestore.shardlines import parse, whole
from scenestore.shards import shards_in
from scenestore_engine.faults import FaultCode
from scenestore_engine.policy import Policy
from scenestore_engine.rules import is_archivable, namesake
from scenestore_engine.state import Scene, State
from scenestore_engine.times import DAY_MS, iso, ms


class GuideBlock(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The facts of one live scene."""

    filename: str
    summary: str
    heat: int
    members: int
    members_with_hits: int
    """Members that were recalled at least once."""
    last_recall_day: str | None
    """UTC; None: no member was ever recalled."""
    active_days_since_write: int
    """Distinct UTC days on which records were made after the scene's last write."""
    age_days: int
    """Whole days since the store first saw it."""
    archivable: bool
    blocked_by: tuple[str, ...]
    """Codes of the faults that an archive would get."""


class Guide(msgspec.Struct, frozen=True, kw_only=True):
    """What `archive_guide` answers."""

    rules: tuple[str, ...]
    capacity: Capacity
    blocks: tuple[GuideBlock, ...]


def archive_guide(
    profile: Path, ledger: Ledger, head: Revision, policy: Policy, *, now_ms: int
) -> Guide:
    """Return the facts by which somebody may choose what to archive.

    Args:
        profile: Whose records and recalls are looked at.
        ledger: Its history.
        head: The newest own revision.
        policy: Its limits.
        now_ms: Milliseconds since the Unix epoch, UTC.
    """
    state = ledger.state(head.tree)
    recalled = recall_days(profile)
    latest = latest_by_day(profile)
    blocks = [
        _block(name, scene, state, ledger, recalled, latest, policy, now_ms)
        for name, scene in sorted(state.live.items())
    ]
    return Guide(
        rules=_rules(policy),
        capacity=capacity(len(state.live), policy),
        blocks=tuple(blocks),
    )


def _block(  # noqa: PLR0917 - the facts of one scene come from everywhere
    name: str,
    scene: Scene,
    state: State,
    ledger: Ledger,
    recalled: Mapping[str, str],
    latest: Mapping[str, str],
    policy: Policy,
    now_ms: int,
) -> GuideBlock:
    meta = scene.meta or ledger.block(scene.blob).meta
    ids = ledger.sets.ids(scene.members)
    hits = [recalled[record_id] for record_id in ids if record_id in recalled]
    blocked: list[str] = []
    if not is_archivable(scene, policy, now_ms):
        blocked.append(FaultCode.TOO_YOUNG)
    if namesake(name, state.archived) is not None:
        blocked.append(FaultCode.ARCHIVE_NAME_TAKEN)
    return GuideBlock(
        filename=name,
        summary=meta.summary,
        heat=meta.heat,
        members=len(ids),
        members_with_hits=len(hits),
        last_recall_day=max(hits, default=None),
        active_days_since_write=sum(last > meta.updated for last in latest.values()),
        age_days=max(now_ms - ms(scene.first_seen), 0) // DAY_MS,
        archivable=not blocked,
        blocked_by=tuple(blocked),
    )


def _rules(policy: Policy) -> tuple[str, ...]:
    archives, days = policy.max_archives_per_batch, policy.min_archive_age_days
    return (
        f"A batch may archive {archives} of the scenes, each with a one-line reason.",
        f"A scene may go at the age of {days} days, from when the store first saw it.",
        "An archived scene keeps body, META and members; its records stay assigned.",
        "Restore brings a scene back byte for byte, if there is room for it.",
        "Nothing here says that a scene is cold: nobody may have asked for it yet.",
        "Prefer consolidating scenes of one theme.",
    )


def recall_days(profile: Path) -> dict[str, str]:
    """Return the last UTC day on which each record was recalled.

    Lines that say no recall are passed over: they are the host's notes, not ours.
    """
    days: dict[str, str] = {}
    folder = layout.recall_dir(profile)
    for path in sorted(folder.glob(f"*{layout.SHARD_SUFFIX}")):
        for line in (durable.read_plain(path) or b"").split(b"\n"):
            try:
                hit = _RECALLS.decode(line)
                day = iso(ms(hit.at))[:10]
            except (
                msgspec.MsgspecError,
                UnicodeDecodeError,
                ValueError,
                OverflowError,
            ):
                continue
            days[hit.record_id] = max(day, days.get(hit.record_id, day))
    return days


def latest_by_day(profile: Path) -> dict[str, str]:
    """Return, for each UTC day on which live records were made, the latest time."""
    made: dict[str, str] = {}
    for record_id, created in _created(profile):
        if created is None:
            made.pop(record_id, None)
        else:
            made[record_id] = created
    latest: dict[str, str] = {}
    for created in made.values():
        day = created[:10]
        latest[day] = max(created, latest.get(day, created))
    return latest


def _created(profile: Path) -> Iterator[tuple[str, str | None]]:
    """Yield each record's id and when it was made; None: it was deleted."""
    folder = layout.records_dir(profile)
    names, _ = shards_in(folder)
    for name in sorted(names):
        data = durable.read_plain(folder / f"{name}{layout.SHARD_SUFFIX}") or b""
        found = parse(data if data.endswith(b"\n") else data + b"\n", line=1, offset=0)
        rows = zip(found.ids, found.deleted, found.offsets, found.lengths, strict=True)
        for record_id, is_deleted, offset, length in rows:
            if is_deleted:
                yield record_id, None
                continue
            said = whole(data[offset : offset + length]).get("createdAt")
            try:
                yield record_id, iso(ms(said)) if isinstance(said, str) else None
            except (ValueError, OverflowError):
                yield record_id, None


class _Recall(msgspec.Struct, rename="camel"):
    record_id: str
    at: str


_RECALLS = msgspec.json.Decoder(_Recall)
