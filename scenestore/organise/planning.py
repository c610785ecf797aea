"""Which record goes to which scene, and which scenes become one; nothing is written.

Source:
    The numbers were chosen by measuring on LoCoMo and MemoryBank profiles, whose
    questions name the records that answer them; none is exact.
"""

from collections import Counter
from collections.abc import Container, Sequence
from math import ceil, sqrt

import msgspec

from scenestore.organise.bodies import MAX_FACT_CHARS, facts_of, title_of
from scenestore.organise.grouping import Group, Node, group
from scenestore.organise.naming import Namer, Occasion, names_in
from scenestore.organise.shelf import OpenScene, Shelf
from scenestore.organise.vectors import Space, Vector, added, grow, space_of, unit
from scenestore.organise.waiting import Waiting
from scenestore_engine.policy import Policy

_LINE_COST = 3
"""Characters that a fact takes beside its text."""
_CAP = 1.15
"""How much more text than it shows a scene may stand for, while others have room."""
_BORROWED = 0.2
"""Share of its neighbours' terms that a record counts as its own, of one occasion."""
_NAMED = 1.0
"""How much a scene name that recurs weighs beside all the terms of a record."""
_HABIT_SHARE = 0.2
"""A scene name that more of the records have than this tells nothing."""
_MIN_TOPIC_RECORDS = 3
_TOPIC_PLACES = 0.75
"""Share of the shelf that topics may fill by being many; text may fill it all."""
_INSTRUCTION = 1_000.0
"""Put before everything else that a body shows."""


class Placed(msgspec.Struct, frozen=True, kw_only=True):
    """A record, and how much it deserves to be shown."""

    record: Waiting
    worth: float


class Portion(msgspec.Struct, frozen=True, kw_only=True):
    """What one scene is to get."""

    filename: str | None
    """A live scene; None: a new one."""
    title: str
    """Of the new one."""
    placed: tuple[Placed, ...]
    """In L1 order."""


class Joining(msgspec.Struct, frozen=True, kw_only=True):
    """Scenes that become one, so that a new one has room."""

    sources: tuple[str, ...]
    title: str


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """What is to be done; if scenes are to join, then that first, and a new plan."""

    portions: tuple[Portion, ...]
    joinings: tuple[Joining, ...]
    left_over: tuple[Waiting, ...]
    """Records for which there is no scene at all."""


def planned(
    records: Sequence[Waiting], shelf: Shelf, policy: Policy, *, may_join: bool
) -> Plan:
    """Return which scene each of *records* goes to.

    Args:
        records: Late ones first, then in L1 order.
        shelf: As it is now.
        policy: How many scenes there may be, and how long.
        may_join: Whether scenes of the organiser's own may become one if the shelf is
            full.
    """
    scenes = list(shelf.scenes.values())
    facts = [[text for _, text in facts_of(scene.body)] for scene in scenes]
    space = space_of([*(r.fact for r in records), *(t for ts in facts for t in ts)])
    is_full = shelf.live >= policy.max_scenes
    limit = policy.max_body_chars
    topics = _topics(records, scenes)
    old = [
        _scene_node(
            scene, texts, space, topics, limit if is_full and may_join else None
        )
        for scene, texts in zip(scenes, facts, strict=True)
    ]
    new = _record_nodes(records, space, topics, limit)
    chars = sum(node.chars for node in (*old, *new))
    texts = sum(node.texts for node in (*old, *new))
    max_new = max(0, policy.max_scenes - shelf.live)
    if policy.max_creates_per_batch == 0:
        max_new = 0
    target = _target(chars, texts, limit, is_first=not scenes)
    large = sum(count >= _MIN_TOPIC_RECORDS for count in topics.values())
    target = max(target, min(large, int(_TOPIC_PLACES * policy.max_scenes)))
    wanted = max(1, len(old) + min(max_new, max(0, target - len(old))))
    room_chars = _CAP * max(limit, chars / wanted)
    groups, left = group(
        old, new, wanted=wanted, max_new=max_new, room_chars=room_chars
    )
    names = _Names(records, scenes, facts)
    return Plan(
        portions=_portions(groups, records, scenes, space, names),
        joinings=tuple(
            Joining(
                sources=tuple(scenes[i].filename for i in g.scenes),
                title=names.joined(g.scenes),
            )
            for g in groups
            if len(g.scenes) > 1
        ),
        left_over=tuple(records[i] for i in left),
    )


def _target(chars: int, texts: int, limit: int, *, is_first: bool) -> int:
    """Return how many scenes would be good to have.

    A first run that has everything before it makes as many as its text fills; later
    ones are quicker to begin a scene, since scenes can join and never part.
    """
    per_scene, breadth = (0.73, 0.9) if is_first else (0.47, 1.5)
    return max(1, ceil(chars / (per_scene * limit)), round(breadth * sqrt(texts)))


def _topics(records: Sequence[Waiting], scenes: Sequence[OpenScene]) -> dict[str, int]:
    """Return the scene names that are topics, in small letters, and their records.

    A name that is met on several days, or that a scene has for its title, is a topic;
    one that is met on one day may be a mere description of that day.
    """
    counts = Counter(record.scene_name.lower() for record in records)
    days: dict[str, set[str | None]] = {}
    for record in records:
        days.setdefault(record.scene_name.lower(), set()).add(record.day)
    titles = {name for scene in scenes for name in names_in(title_of(scene.body))}
    most = max(_HABIT_SHARE * len(records), _MIN_TOPIC_RECORDS)
    return {
        name: count
        for name, count in counts.items()
        if name and (name in titles or (len(days[name]) > 1 and count <= most))
    }


def _scene_node(
    scene: OpenScene,
    texts: Sequence[str],
    space: Space,
    topics: Container[str],
    joins_within: int | None,
) -> Node:
    names = [n for n in names_in(title_of(scene.body)) if n in topics]
    share = _NAMED * sqrt(0.5) * len(texts)
    vector = added(map(space.vector, texts))
    grow(vector, {f"={name}": share for name in dict.fromkeys(names)})
    return Node(
        vector=vector,
        texts=max(1, len(texts)),
        chars=len(scene.body),
        joins_within_chars=joins_within if scene.is_ours else None,
    )


def _record_nodes(
    records: Sequence[Waiting], space: Space, topics: Container[str], limit: int
) -> list[Node]:
    own = [space.vector(record.fact) for record in records]
    longest = min(MAX_FACT_CHARS, limit)
    return [
        Node(
            vector=_with_neighbours(i, own, records, topics),
            texts=1,
            chars=min(len(record.fact), longest) + _LINE_COST,
            stands_apart=record.is_instruction,
        )
        for i, record in enumerate(records)
    ]


def _with_neighbours(
    index: int,
    own: Sequence[Vector],
    records: Sequence[Waiting],
    topics: Container[str],
) -> Vector:
    """Return a record's vector with its topic, and some of those beside it."""
    total = dict(own[index])
    name = records[index].scene_name
    for near in (index - 1, index + 1):
        if 0 <= near < len(own) and records[near].scene_name == name:
            grow(total, own[near], _BORROWED)
    if name.lower() in topics:
        total = {**unit(total), f"={name.lower()}": _NAMED}
    return unit(total)


def _portions(
    groups: Sequence[Group],
    records: Sequence[Waiting],
    scenes: Sequence[OpenScene],
    space: Space,
    names: "_Names",
) -> tuple[Portion, ...]:
    filled = sorted((g for g in groups if g.records), key=lambda g: g.records)
    return tuple(
        Portion(
            filename=scenes[g.scenes[0]].filename if g.scenes else None,
            title="" if g.scenes else names.new(g.records),
            placed=tuple(
                Placed(record=records[i], worth=_worth(records[i], space))
                for i in g.records
            ),
        )
        for g in filled
    )


def _worth(record: Waiting, space: Space) -> float:
    worth = space.density(record.fact) * record.weight
    return worth + (_INSTRUCTION if record.is_instruction else 0.0)


class _Names:
    """Titles for groups of what is being planned; counted only if one is asked for."""

    def __init__(
        self,
        records: Sequence[Waiting],
        scenes: Sequence[OpenScene],
        facts: Sequence[Sequence[str]],
    ) -> None:
        self._records = [
            Occasion(text=record.fact, scene_name=record.scene_name)
            for record in records
        ]
        self._scenes = [
            [Occasion(text=t, scene_name=title_of(scene.body)) for t in texts]
            for scene, texts in zip(scenes, facts, strict=True)
        ]
        self._namer: Namer | None = None

    def new(self, records: Sequence[int]) -> str:
        return self._made().title([self._records[i] for i in records])

    def joined(self, scenes: Sequence[int]) -> str:
        return self._made().title([o for i in scenes for o in self._scenes[i]])

    def _made(self) -> Namer:
        if self._namer is None:
            flat = (o for occasions in self._scenes for o in occasions)
            self._namer = Namer([*self._records, *flat])
        return self._namer
