"""Which texts belong together: average linkage under a cap, the best pair first.

Scenes that are there are nodes that only grow; a waiting record is a node of one. A
scene takes no more text than it can show, as long as another has room: that cap is
what keeps one large scene from swallowing all.
"""

import heapq
from collections.abc import Sequence

import msgspec

from scenestore.organise.vectors import Vector, added, alike, products

SAMPLE = 400
"""Records that are compared pair by pair; of more, evenly spread ones stand for all."""
_APART = 0.12
"""How much more alike two scenes, or unlike kinds, must be than others to be one."""
_SIZE = 0.01
"""How much less alike two groups count for every mean size that they would have."""


class Node(msgspec.Struct, frozen=True, kw_only=True):
    """A scene that is there, or one record."""

    vector: Vector
    """The sum of its texts' vectors."""
    texts: int
    chars: int
    stands_apart: bool = False
    """Whether it is of a kind that goes with its own kind rather."""
    joins_within_chars: int | None = None
    """Of a scene: the characters that it and another may have together for the two to
    become one; None: it stays by itself."""


class Group(msgspec.Struct, frozen=True, kw_only=True):
    """What belongs together, by index."""

    scenes: tuple[int, ...]
    records: tuple[int, ...]


def group(
    scenes: Sequence[Node],
    records: Sequence[Node],
    *,
    wanted: int,
    max_new: int,
    room_chars: float,
) -> tuple[list[Group], list[int]]:
    """Return groups that hold every scene and record once, and the records left over.

    Args:
        scenes: They stay apart, save those that may join.
        records: In L1 order.
        wanted: Groups to end with, those with a scene counted.
        max_new: Groups without a scene, at most.
        room_chars: Characters of one group, as long as another has room.

    Stays true:
        Records are left over only if there is no group at all.
    """
    count = len(records)
    step = max(1.0, count / SAMPLE)
    sample = sorted({int(i * step) for i in range(min(count, SAMPLE))})
    clusters = _linked(scenes, records, sample, wanted, room_chars)
    kept = [c for c in clusters if c.scenes]
    new = sorted(
        (c for c in clusters if not c.scenes), key=lambda c: (-c.chars, c.records)
    )
    kept += sorted(
        new[: min(max_new, max(0, wanted - len(kept)))], key=lambda c: c.records
    )
    if not kept:
        return [], list(range(count))
    placed = {r for c in kept for r in c.records}
    left = [r for r in range(count) if r not in placed]
    _spread(kept, scenes, records, left, room_chars)
    return [
        Group(scenes=tuple(sorted(c.scenes)), records=tuple(sorted(c.records)))
        for c in kept
    ], []


class _Cluster:
    def __init__(self, node: Node, *, scene: int | None, record: int | None) -> None:
        self.scenes = [] if scene is None else [scene]
        self.records = [] if record is None else [record]
        self.texts, self.chars = max(node.texts, 1), node.chars
        self.scene_chars = 0 if scene is None else node.chars
        self.joins_within = node.joins_within_chars
        self.stands_apart = node.stands_apart
        self.changes = 0

    def can_take(self, other: "_Cluster", room_chars: float) -> bool:
        if self.scenes and other.scenes:
            if self.joins_within is None or other.joins_within is None:
                return False
            within = min(self.joins_within, other.joins_within)
            return self.scene_chars + other.scene_chars <= within
        return self.chars + other.chars <= room_chars

    def take(self, other: "_Cluster") -> None:
        if not self.scenes:
            self.joins_within = other.joins_within
        self.scenes += other.scenes
        self.records += other.records
        self.texts += other.texts
        self.chars += other.chars
        self.scene_chars += other.scene_chars
        self.stands_apart &= other.stands_apart
        self.changes += 1


def _linked(
    scenes: Sequence[Node],
    records: Sequence[Node],
    sample: Sequence[int],
    wanted: int,
    room_chars: float,
) -> list[_Cluster]:
    nodes = [*scenes, *(records[r] for r in sample)]
    clusters = [_Cluster(s, scene=i, record=None) for i, s in enumerate(scenes)]
    clusters += [_Cluster(records[r], scene=None, record=r) for r in sample]
    mean = products([node.vector for node in nodes])
    for i, row in enumerate(mean):
        for j in range(len(row)):
            row[j] /= clusters[i].texts * clusters[j].texts

    def pair(i: int, j: int) -> tuple[float, int, int, int, int]:
        i, j = min(i, j), max(i, j)
        one, other = clusters[i], clusters[j]
        are_scenes = one.scenes and other.scenes
        is_odd = one.stands_apart != other.stands_apart
        apart = _APART if are_scenes or is_odd else 0.0
        size = _SIZE * (one.texts + other.texts) / (len(nodes) / wanted)
        return apart + size - mean[i][j], i, j, one.changes, other.changes

    heap = [pair(i, j) for i in range(len(nodes)) for j in range(i)]
    heapq.heapify(heap)
    alive = dict.fromkeys(range(len(nodes)))
    while len(alive) > wanted and heap:
        _, i, j, changes_i, changes_j = heapq.heappop(heap)
        if i not in alive or j not in alive:
            continue
        one, other = clusters[i], clusters[j]
        is_stale = (one.changes, other.changes) != (changes_i, changes_j)
        if is_stale or not one.can_take(other, room_chars):
            continue
        del alive[j]
        share = one.texts / (one.texts + other.texts)
        one.take(other)
        for k in alive:
            if k != i:
                both = share * mean[i][k] + (1 - share) * mean[j][k]
                mean[i][k] = mean[k][i] = both
                heapq.heappush(heap, pair(i, k))
    return [clusters[i] for i in alive]


def _spread(
    clusters: Sequence[_Cluster],
    scenes: Sequence[Node],
    records: Sequence[Node],
    left: Sequence[int],
    room_chars: float,
) -> None:
    """Give each record that is left to the cluster most like it that has room."""
    if not left:
        return
    centres = [
        added(
            [
                *(scenes[s].vector for s in cluster.scenes),
                *(records[r].vector for r in cluster.records),
            ]
        )
        for cluster in clusters
    ]
    sizes = [cluster.texts for cluster in clusters]
    for r in left:
        node = records[r]
        score = [
            alike(node.vector, centre) / size
            for centre, size in zip(centres, sizes, strict=True)
        ]
        order = sorted(range(len(clusters)), key=lambda i: (-score[i], i))
        roomy = (i for i in order if clusters[i].chars + node.chars <= room_chars)
        best = next(roomy, min(order, key=lambda i: (clusters[i].chars, i)))
        clusters[best].records.append(r)
        clusters[best].chars += node.chars
