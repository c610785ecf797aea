"""What stays true of every consolidation, on the real store.

`docs/invariants.md` lists the invariants; each names its test here.
"""

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from scenestore import import_state, roll_back
from scenestore.check import check
from scenestore.receipts import Receipt
from scenestore_engine.times import DAY_MS, iso, ms

SOURCES = ("a.md", "b.md", "c.md", "d.md")
LINES = (
    "- Ilka keeps 9 goats",
    "- 周四 16:30 小提琴",
    "- Dorn, 14 March 2021",
    "- tea",
)
bodies = st.lists(st.sampled_from(LINES), min_size=1, max_size=3, unique=True)
ids = st.sets(st.integers(0, 23), max_size=6)


@dataclass
class Shelf:
    """Scenes as they come to be, and what is asked of them."""

    members: list[set[int]]
    heats: list[int]
    days: list[int]
    late: list[bool]
    bodies: list[list[str]]
    target: str = "new.md"
    asked: list[str] = field(default_factory=list)
    more: set[int] = field(default_factory=set)

    @property
    def names(self) -> list[str]:
        return list(SOURCES[: len(self.members)])

    @property
    def sources(self) -> list[str]:
        return [name for name in self.asked if name != self.target]


@st.composite
def shelves(draw: st.DrawFn) -> Shelf:
    count = draw(st.integers(2, 4))

    def each(values: st.SearchStrategy[Any]) -> list[Any]:
        return draw(st.lists(values, min_size=count, max_size=count))

    names = SOURCES[:count]
    choices = ("new.md", *(names if count > 2 else ()))
    target = draw(st.sampled_from(choices))
    others = [name for name in names if name != target]
    asked = draw(st.permutations(others))[: draw(st.integers(2, len(others)))]
    return Shelf(
        members=each(ids),
        heats=each(st.integers(1, 9)),
        days=each(st.integers(0, 9)),
        late=each(st.booleans()),
        bodies=each(bodies),
        target=target,
        asked=list(asked),
        more=draw(ids),
    )


def batch(shelf: Shelf, world: Any, **more: object) -> dict[str, Any]:
    """Ask for the consolidation; META claims what a caller must not decide."""
    lines = dict.fromkeys(line for rows in shelf.bodies for line in rows)
    write = {
        "action": "consolidate",
        "filename": shelf.target,
        "sources": shelf.sources,
        "content": "\n".join(lines),
        "meta": {"summary": "All", "heat": 999, "created": "2001-01-01T00:00:00.000Z"},
        "addMembers": [world.rid(n) for n in sorted(shelf.more)],
    }
    return {"sceneWrites": [write], **more}


def filled(world: Any, shelf: Shelf) -> None:
    """Bring the scenes in, some of them some days later."""
    for late in (False, True):
        brought = {
            name: {
                "meta": {
                    "summary": f"About {name}",
                    "heat": shelf.heats[place],
                    "created": iso(world.now_ms - shelf.days[place] * DAY_MS),
                },
                "content": "\n".join(shelf.bodies[place]),
                "members": [world.rid(n) for n in sorted(shelf.members[place])],
            }
            for place, name in enumerate(shelf.names)
            if shelf.late[place] == late
        }
        world.wait(days=3)
        if brought:
            payload = json.dumps({"scenes": brought}).encode()
            receipt = import_state(world.store, payload, now=world.now)
            assert isinstance(receipt, Receipt), receipt


@contextmanager
def a_store(kind: Any) -> Iterator[Any]:
    """Yield a new world: an example must not see the one before it."""
    with TemporaryDirectory() as folder:
        world = kind(Path(folder) / "profile")
        world.shard("2026-03-03", [world.record(n) for n in range(24)])
        world.policy()
        world.store.init(now=world.now)
        try:
            yield world
        finally:
            world.close()


@pytest.fixture
def kind(empty: Any) -> Any:
    """Return the class of a world, which no test module can import."""
    return type(empty)


def scenes(world: Any) -> dict[str, bytes]:
    """Return every byte that is kept of scenes, places, members and dismissals."""
    parts = ("scene-blocks", "members", "archive", "dismissed", "scenes.json")
    return {
        path: data
        for path, (data, _) in world.bytes_under().items()
        if path.partition("/")[0] in parts
    }


examples = settings(
    max_examples=settings.default.max_examples // 16,
    suppress_health_check=list(HealthCheck),
)


@given(shelf=shelves())
@examples
def test_the_members_are_the_union_of_the_sources_and_a_live_targets(
    kind: Any, shelf: Shelf
) -> None:
    with a_store(kind) as world:
        filled(world, shelf)
        before = world.live()
        taken = [name for name in (*shelf.sources, shelf.target) if name in before]

        receipt = world.must(batch(shelf, world))

        union = set().union(*(before[name]["members"] for name in taken))
        union |= {world.rid(n) for n in shelf.more}
        assert set(world.live()[shelf.target]["members"]) == union
        assert receipt["consolidations"][0]["members"] == len(union)


@given(shelf=shelves(), data=st.data())
@examples
def test_no_member_of_a_source_can_be_left_out(
    kind: Any, shelf: Shelf, data: st.DataObject
) -> None:
    shelf.more = set()
    with a_store(kind) as world:
        filled(world, shelf)
        before = world.live()
        taken = [name for name in (*shelf.sources, shelf.target) if name in before]
        union = set().union(*(before[name]["members"] for name in taken))
        left_out = data.draw(st.sets(st.sampled_from(sorted(union | {"x"}))))
        request = batch(shelf, world)
        request["sceneWrites"][0]["members"] = sorted(union - left_out)
        state = scenes(world)

        answer = world.commit(request)

        missing = union & left_out
        assert answer["success"] == (not missing)
        if missing:
            gaps = answer["consolidation"]["memberGaps"]
            assert set().union(*(gap["ids"] for gap in gaps)) == missing
            assert scenes(world) == state


@given(shelf=shelves())
@examples
def test_no_source_is_left_and_nothing_else_goes(kind: Any, shelf: Shelf) -> None:
    with a_store(kind) as world:
        filled(world, shelf)
        before = world.live()

        world.must(batch(shelf, world))

        after = world.live()
        assert after.keys() == (before.keys() - set(shelf.sources)) | {shelf.target}
        for name in after.keys() - {shelf.target}:
            assert after[name] == before[name]
        assert {path.name for path in (world.l2 / "scene-blocks").iterdir()} == set(
            after
        )


@given(shelf=shelves())
@examples
def test_created_is_the_live_targets_or_the_earliest_of_the_sources(
    kind: Any, shelf: Shelf
) -> None:
    with a_store(kind) as world:
        filled(world, shelf)
        before = world.live()
        sources = [before[name] for name in shelf.sources]
        target = before.get(shelf.target)
        all_of_them = sources + ([target] if target else [])

        receipt = world.must(batch(shelf, world))

        after = world.live()[shelf.target]
        earliest = min(source["created"] for source in sources)
        assert after["created"] == (target["created"] if target else earliest)
        assert after["first_seen"] == min(one["first_seen"] for one in all_of_them)
        assert ms(after["updated"]) == world.now_ms
        assert receipt["consolidations"][0]["created"] == after["created"]


@given(shelf=shelves())
@examples
def test_heat_is_the_highest_of_the_sources_and_a_live_targets(
    kind: Any, shelf: Shelf
) -> None:
    with a_store(kind) as world:
        filled(world, shelf)
        before = world.live()
        taken = [name for name in (*shelf.sources, shelf.target) if name in before]

        receipt = world.must(batch(shelf, world))

        highest = max(before[name]["heat"] for name in taken)
        assert world.live()[shelf.target]["heat"] == highest
        assert receipt["consolidations"][0]["heat"] == highest


WRONG: list[dict[str, Any]] = [
    {"sceneWrites": [{"action": "delete", "filename": "ghost.md"}]},
    {"cursor": "ghost"},
    {"dismiss": ["ghost"], "dismissReason": "noise"},
    {"force": True},
]


@given(shelf=shelves(), wrong=st.sampled_from(WRONG), is_first=st.booleans())
@examples
def test_a_batch_with_any_fault_consolidates_nothing(
    kind: Any, shelf: Shelf, wrong: dict[str, Any], *, is_first: bool
) -> None:
    with a_store(kind) as world:
        filled(world, shelf)
        before = world.bytes_under()
        request = batch(shelf, world)
        extra = wrong.get("sceneWrites", [])
        writes = request["sceneWrites"]
        request |= wrong
        request["sceneWrites"] = [*extra, *writes] if is_first else [*writes, *extra]

        answer = world.commit(request)

        assert answer["success"] is False
        assert world.bytes_under() == before


@given(shelf=shelves())
@examples
def test_a_rollback_gives_back_the_exact_bytes(kind: Any, shelf: Shelf) -> None:
    with a_store(kind) as world:
        filled(world, shelf)
        before = scenes(world)
        receipt = world.must(batch(shelf, world))
        after = scenes(world)
        assert after != before

        roll_back(world.store, receipt["consolidations"][0]["backupDir"], now=world.now)
        assert scenes(world) == before

        roll_back(world.store, receipt["revision"], now=world.now)
        assert scenes(world) == after


@given(shelf=shelves())
@examples
def test_the_history_replays_to_the_same_trees(kind: Any, shelf: Shelf) -> None:
    with a_store(kind) as world:
        filled(world, shelf)
        first = world.must(batch(shelf, world, idempotencyKey="k1"))

        report = check(world.store.ledger, world.store.projection, replay=True)
        again = world.must(batch(shelf, world, idempotencyKey="k1"))

        assert report.problems == ()
        assert again == {**first, "commitHint": None, "replayed": True}


@given(shelf=shelves())
@examples
def test_the_same_consolidation_of_the_same_store_is_the_same_revision(
    kind: Any, shelf: Shelf
) -> None:
    with a_store(kind) as world:
        filled(world, shelf)
        world.close()
        twin_folder = world.profile.with_name("twin")
        shutil.copytree(world.profile, twin_folder)
        twin = kind(twin_folder)
        twin.now_ms = world.now_ms
        # Sources, members and fields in another order of keys ask for the same.
        request = batch(shelf, world)
        (write,) = request["sceneWrites"]
        turned = dict(reversed(write.items()))
        turned["addMembers"] = turned["addMembers"][::-1]

        first = world.must(request)
        second = twin.must({"sceneWrites": [turned]})

        assert second["revision"] == first["revision"]
        assert second["batch"] == first["batch"]
        assert scenes(twin) == scenes(world)
        twin.close()
