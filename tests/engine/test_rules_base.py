"""What the caller had read, and the keys by which it knows its batches."""

import pytest
from msgspec.structs import replace

from scenestore_engine.commands import (
    AdvisoryMeta,
    Archive,
    Batch,
    Command,
    Consolidate,
    Create,
    Delete,
    Restore,
    Update,
    Write,
)
from scenestore_engine.decide import Accepted, Decision, Rejected, decide
from scenestore_engine.policy import MAX_KEY_CHARS, Policy
from scenestore_engine.state import Base, Known, Meta, Scene, State

NOW_MS = 1_772_496_000_000
OLD = "2026-01-01T00:00:00.000Z"
META = Meta(created=OLD, updated=OLD, summary="old", heat=1)
SAID = AdvisoryMeta(summary="s")
FREE = Policy(retention="off", retention_update="off")
KEY = "AKIA" + "ABCDEFGHIJ234567"


def scene(blob: str = "b", members: str | None = "m") -> Scene:
    return Scene(blob=blob, first_seen=OLD, members=members, meta=META)


LIVE = {"a.md": scene("a"), "b.md": scene("b"), "c.md": scene("c")}
ARCHIVED = {"z.md": scene("z")}
BODIES = dict.fromkeys(LIVE, "- now")
SAME = Base(live=LIVE, archived=ARCHIVED, bodies=BODIES)


def decided(*commands: Command, base: Base | None, **fields: object) -> Decision:
    writes = tuple(
        Write(path=f"/sceneWrites/{i}", command=c) for i, c in enumerate(commands)
    )
    batch = Batch(writes=writes, base_revision="5", **fields)
    known = Known(state=State(live=LIVE, archived=ARCHIVED), bodies=BODIES, base=base)
    return decide(batch, known, FREE, now_ms=NOW_MS, actor="t")


def stale(found: Decision) -> list[tuple[str, str | None]]:
    if isinstance(found, Accepted):
        return []
    return [(f.path, f.filename) for f in found.faults if f.code == "stale_base"]


def update(filename: str = "a.md") -> Update:
    return Update(filename=filename, content="- new")


def consolidate(filename: str, *sources: str) -> Consolidate:
    return Consolidate(filename=filename, sources=sources, content="- x", meta=SAID)


EVERY_ROLE: list[tuple[Command, str]] = [
    (update("a.md"), "a.md"),
    (Delete(filename="a.md"), "a.md"),
    (Archive(filename="a.md", reason="r"), "a.md"),
    (consolidate("n.md", "a.md", "b.md"), "a.md"),
    (consolidate("n.md", "b.md", "a.md"), "a.md"),
    (consolidate("a.md", "b.md", "c.md"), "a.md"),
    (Restore(filename="z.md"), "z.md"),
    (Restore(filename="z.md", restore_as="y.md"), "z.md"),
]


@pytest.mark.parametrize(("command", "name"), EVERY_ROLE)
def test_a_scene_that_stands_as_it_was_read_is_no_conflict(
    command: Command, name: str
) -> None:
    del name

    assert isinstance(decided(command, base=SAME), Accepted)


@pytest.mark.parametrize(("command", "name"), EVERY_ROLE)
@pytest.mark.parametrize("then", [scene("older"), scene("a", "fewer"), None])
def test_a_scene_that_changed_since_is_a_conflict_in_every_role(
    command: Command, name: str, then: Scene | None
) -> None:
    field = "live" if name in LIVE else "archived"
    scenes = {n: s for n, s in getattr(SAME, field).items() if n != name}
    scenes |= {} if then is None else {name: then}
    base = replace(SAME, **{field: scenes})

    assert stale(decided(command, base=base)) == [("/sceneWrites/0", name)]


@pytest.mark.parametrize(
    "command",
    [
        Create(filename="n.md", content="- x", meta=SAID),
        consolidate("n.md", "a.md", "b.md"),
        Restore(filename="z.md", restore_as="n.md"),
    ],
)
def test_a_target_that_went_since_is_a_conflict(command: Command) -> None:
    base = replace(SAME, live=LIVE | {"n.md": scene("n")})

    assert stale(decided(command, base=base)) == [("/sceneWrites/0", "n.md")]


def test_a_change_of_a_scene_that_the_batch_does_not_touch_does_no_harm() -> None:
    base = replace(SAME, live={"a.md": LIVE["a.md"]}, archived={})

    assert isinstance(decided(update("a.md"), base=base), Accepted)
    assert isinstance(decided(base=base, persona_reason="r"), Accepted)


def test_the_state_of_meta_alone_is_no_conflict() -> None:
    unopened = {name: replace(one, meta=None) for name, one in LIVE.items()}

    assert isinstance(decided(update(), base=replace(SAME, live=unopened)), Accepted)


def test_each_conflict_is_told_once_with_what_changed() -> None:
    older = {name: scene("older") for name in LIVE}
    base = Base(
        live=older,
        archived=ARCHIVED,
        bodies={"a.md": "- then", "b.md": "- now", "c.md": "- now"},
    )

    found = decided(update("a.md"), update("a.md"), update("b.md"), base=base)

    assert isinstance(found, Rejected)
    assert stale(found) == [("/sceneWrites/0", "a.md"), ("/sceneWrites/2", "b.md")]
    assert [conflict.filename for conflict in found.conflicts] == ["a.md", "b.md"]
    diff = found.conflicts[0].diff.splitlines()
    assert diff[:2] == ["--- a/a.md", "+++ b/a.md"]
    assert diff[-2:] == ["-- then", "+- now"]


def test_a_scene_that_came_or_went_since_is_diffed_against_nothing() -> None:
    came = decided(update("a.md"), base=replace(SAME, live={}, bodies={}))
    there = {"n.md": scene("n")}
    went = decided(
        Create(filename="n.md", content="- x", meta=SAID),
        base=replace(SAME, live=LIVE | there, bodies={"n.md": "- was"}),
    )

    assert isinstance(came, Rejected)
    assert came.conflicts[0].diff.startswith("--- /dev/null\n+++ b/a.md\n")
    assert isinstance(went, Rejected)
    assert went.conflicts[0].diff.startswith("--- a/n.md\n+++ /dev/null\n")


def test_without_a_base_nothing_is_stale() -> None:
    assert isinstance(decided(update(), base=None), Accepted)


# Keys


@pytest.mark.parametrize("field", ["idempotency_key", "run_id"])
@pytest.mark.parametrize(
    ("key", "is_good"),
    [
        ("k", True),
        ("x" * MAX_KEY_CHARS, True),
        ("场" * MAX_KEY_CHARS, True),
        ("x" * (MAX_KEY_CHARS + 1), False),
        ("", False),
        (" ", False),
        ("a\nb", False),
        ("a\x1bb", False),
        ("a\u2028b", False),
        (KEY, False),
    ],
    ids=ascii,
)
def test_a_key_is_one_line_without_a_secret(
    field: str, key: str, *, is_good: bool
) -> None:
    found = decided(base=None, persona_reason="r", **{field: key})

    path = "/idempotencyKey" if field == "idempotency_key" else "/runId"
    if is_good:
        assert isinstance(found, Accepted)
    else:
        assert isinstance(found, Rejected)
        assert [(f.code.value, f.path) for f in found.faults] == [("bad_key", path)]
        assert KEY not in str(found)
