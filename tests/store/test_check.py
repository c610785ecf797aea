"""Check finds every kind of damage, and changes nothing."""

import json
import os
import zlib
from collections.abc import Callable
from hashlib import sha1
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from scenestore import blockfile, codec, import_state, roll_back
from scenestore.check import Checked
from scenestore.check import check as check_of
from scenestore.ledger.objects import FILE, Entry
from scenestore.store import batch_id
from scenestore_engine.events import (
    CursorMoved,
    SceneCreated,
    ScenesConsolidated,
    SceneUpdated,
    StoreRolledBack,
)
from scenestore_engine.evolve import fold
from scenestore_engine.state import Cursor, State
from scenestore_engine.times import iso

RACE = {
    "sceneWrites": [
        {"action": "update", "filename": "race.md", "content": "# Race\n- shoes\n- May"}
    ]
}


def check(world: Any, *, replay: bool = True) -> Checked:
    """What a new process finds."""
    world.reopen()
    return check_of(world.store.ledger, world.store.projection, replay=replay)


def damage(world: Any, *, replay: bool = True) -> list[str]:
    return [p.message for p in check(world, replay=replay).problems if p.is_damage]


def packs(world: Any) -> list[Path]:
    """The packs, oldest first."""
    folder = world.l2 / ".git" / "objects" / "pack"
    return sorted(folder.glob("*.pack"), key=lambda path: path.stat().st_mtime_ns)


def flip(path: Path, place: int) -> None:
    data = bytearray(path.read_bytes())
    data[place] ^= 0x01
    path.write_bytes(bytes(data))


def objects_of(world: Any, revision: str = "main") -> dict[str, str]:
    """Every object of one revision: path to id."""
    lines = world.git("ls-tree", "-r", "-t", revision).splitlines()
    return {line.split("\t")[1]: line.split()[2] for line in lines}


def loosen(world: Any) -> None:
    """Keep every object in a file of its own."""
    for pack in packs(world):
        away = world.profile / pack.name
        pack.rename(away)
        pack.with_suffix(".idx").unlink()
        take = f"alias.take=!git unpack-objects -q < '{away}'"
        world.git("-c", take, "take")
    assert packs(world) == []


def loose(world: Any, object_id: str) -> Path:
    path: Path = world.l2 / ".git" / "objects" / object_id[:2] / object_id[2:]
    return path


# What is sound


def test_a_store_of_all_actions_has_no_problem(world: Any) -> None:
    consolidate = {
        "action": "consolidate",
        "filename": "sport.md",
        "sources": ["running.md", "race.md"],
        "content": "# Running\n- runs\n- knee\n# Race\n- shoes\n- May",
        "meta": {"summary": "s"},
    }
    world.must(RACE)
    world.must({"sceneWrites": [consolidate]})
    world.must(
        {"sceneWrites": [{"action": "archive", "filename": "deploy.md", "reason": "x"}]}
    )
    world.must(
        {"sceneWrites": [{"action": "restore", "filename": "deploy.md", "as": "d.md"}]}
    )
    world.must({"dismiss": [world.rid(9)], "dismissReason": "noise"})
    world.must({"personaSignal": True, "personaReason": "x", "cursor": world.rid(12)})
    import_state(
        world.store,
        b'{"scenes": {"odd.md": {"meta": {"mood": "x"}, "content": "- odd"}}}',
        now=world.now,
    )
    roll_back(world.store, "2", now=world.now)
    world.must({"sceneWrites": [{"action": "delete", "filename": "running.md"}]})

    found = check(world)

    assert found.problems == ()
    assert found.revisions == 14


def test_check_counts_revisions_and_objects(world: Any) -> None:
    found = check(world)

    lines = world.git("rev-list", "--objects", "main").splitlines()
    assert found.revisions == 5
    assert found.objects == len(lines)


@pytest.mark.parametrize("replay", [False, True])
def test_check_changes_nothing(replay: bool, world: Any) -> None:  # noqa: FBT001
    (world.l2 / "scene-blocks" / "race.md").write_text("a person's")
    flip(packs(world)[1], 200)
    before = world.bytes_under()

    check(world, replay=replay)

    assert world.bytes_under() == before


def test_drift_is_told_and_is_no_damage(world: Any) -> None:
    (world.l2 / "scene-blocks" / "race.md").write_text("a person's")

    (problem,) = check(world).problems

    assert problem.is_damage is False
    assert "scene-blocks/race.md" in problem.message


def test_a_store_without_a_revision_is_damage(world: Any) -> None:
    (world.l2 / ".git" / "refs" / "heads" / "main").unlink()

    assert damage(world) != []


# Objects that are damaged


@pytest.mark.parametrize("which", range(5))
def test_a_missing_pack_is_found(which: int, world: Any) -> None:
    pack = packs(world)[which]
    pack.rename(world.profile / pack.name)

    assert damage(world) != []


@pytest.mark.parametrize("which", range(5))
def test_a_missing_index_of_a_pack_is_found(which: int, world: Any) -> None:
    packs(world)[which].with_suffix(".idx").unlink()

    assert damage(world) != []


@pytest.mark.parametrize("which", range(5))
@pytest.mark.parametrize("length", [0, 8, 0.5, -1])
def test_a_torn_pack_is_found(which: int, length: float, world: Any) -> None:
    pack = packs(world)[which]
    size = pack.stat().st_size
    os.truncate(
        pack, int(size * length) if isinstance(length, float) else length % size
    )

    assert damage(world) != []


@pytest.mark.parametrize("step", range(13))
def test_a_flipped_byte_of_a_pack_is_found(step: int, world: Any) -> None:
    pack = packs(world)[-1]
    data = pack.read_bytes()
    for place in range(step, len(data), 13):
        if place == 7:  # the version: 2 becomes 3, which git reads alike
            continue
        pack.write_bytes(data)
        flip(pack, place)

        assert damage(world) != [], place


@pytest.mark.parametrize("place", [9, 100, 700, 1_031, 1_040, 1_200, -30, -5])
def test_a_flipped_byte_of_a_packs_index_is_found(place: int, world: Any) -> None:
    flip(packs(world)[-1].with_suffix(".idx"), place)

    assert damage(world) != []


@pytest.mark.parametrize(
    "path",
    [
        None,
        "events.json",
        "scenes.json",
        "cursor.json",
        "scene-blocks",
        "scene-blocks/race.md",
        "members/race.md",
        "members/race.md/2026-03.ids",
    ],
)
@pytest.mark.parametrize("how", ["torn", "emptied", "missing", "another's", "garbage"])
def test_a_damaged_loose_object_is_found(
    path: str | None, how: str, world: Any
) -> None:
    objects = objects_of(world)
    loosen(world)
    assert damage(world) == []
    head = world.git("rev-parse", "main").strip()
    file = loose(world, head if path is None else objects[path])
    data = file.read_bytes()
    file.chmod(0o600)
    if how == "torn":
        file.write_bytes(data[: len(data) // 2])
    elif how == "emptied":
        file.write_bytes(b"")
    elif how == "missing":
        file.unlink()
    elif how == "another's":
        file.write_bytes(zlib.compress(b"blob 5\0other"))
    else:
        file.write_bytes(b"garbage")

    assert damage(world) != []


def test_all_damage_of_several_revisions_is_told_at_once(world: Any) -> None:
    one = objects_of(world, "main~1")["scene-blocks/deploy.md"]
    two = objects_of(world, "main~3")["scene-blocks/running.md"]
    loosen(world)
    for object_id in (one, two):
        loose(world, object_id).unlink()

    told = " ".join(damage(world))

    assert one in told
    assert two in told


def test_a_torn_copy_beside_a_good_one_does_no_harm(world: Any) -> None:
    head = world.store.head().id
    loose(world, head).parent.mkdir(exist_ok=True)
    loose(world, head).write_bytes(b"x\x9cgarbage")

    world.reopen()

    world.must(RACE)


def test_a_damaged_pack_beside_a_good_one_does_no_harm(world: Any) -> None:
    world.git("repack", "-a", "-q")
    old = min(packs(world), key=lambda path: path.stat().st_size)
    os.truncate(old, 20)

    world.reopen()

    world.must(RACE)


def test_check_looks_at_the_disk_and_not_at_what_it_remembers(world: Any) -> None:
    world.live()
    for pack in packs(world):
        pack.unlink()

    found = check_of(world.store.ledger, world.store.projection, replay=True)

    assert any(problem.is_damage for problem in found.problems)


@pytest.mark.parametrize("content", [b"", b"garbage\n", b"0" * 40 + b"\n"])
def test_a_main_ref_that_names_nothing_is_found(content: bytes, world: Any) -> None:
    (world.l2 / ".git" / "refs" / "heads" / "main").write_bytes(content)

    assert damage(world) != []


# Revisions that do not prove


def forge(
    world: Any,
    *events: Any,
    after: State | None = None,
    **changes: Any,
) -> str:
    """Publish a revision of *events* that says something else than it holds."""
    ledger, own = world.store.ledger, world.store.head()
    before = world.store.state()
    record = codec.Record(
        format=codec.FORMAT,
        seq=own.seq + 1,
        parent=own.id,
        batch=batch_id(own.id, "forged"),
        actor="test",
        at=iso(world.now_ms),
        policy={},
        unicode="15.0.0",
        events=events,
    )
    state = fold(events, before) if after is None else after
    revision: str = ledger.write(
        state, replace(record, **changes), "forged\n", at_ms=world.now_ms
    )
    ledger.publish(revision, parent=own.id)
    return revision


def blob(world: Any, name: str, body: str, **meta: Any) -> tuple[Any, str]:
    """A scene file of *body*: its META and its staged blob."""
    scene = world.store.state().live[name]
    made = replace(scene.meta, **meta)
    return made, world.store.ledger.objects.put_blob(blockfile.render(made, body))


def updated(world: Any, name: str = "race.md", **changes: Any) -> SceneUpdated:
    meta, handle = blob(world, name, "- new", heat=2)
    scene = world.store.state().live[name]
    event = SceneUpdated(filename=name, meta=meta, blob=handle, members=scene.members)
    return replace(event, **changes)


def forge_wrong_seq(world: Any) -> None:
    forge(world, updated(world), seq=99)


def forge_seq_again(world: Any) -> None:
    forge(world, updated(world), seq=world.store.head().seq)


def forge_meta(world: Any) -> None:
    event = updated(world)
    forge(world, replace(event, meta=replace(event.meta, heat=77)))


def forge_another_body(world: Any) -> None:
    event = updated(world)
    state = fold((event,), world.store.state())
    _, other = blob(world, "race.md", "- other")
    race = replace(state.live["race.md"], blob=other)
    forge(world, event, after=replace(state, live={**state.live, "race.md": race}))


def forge_a_scene_more(world: Any) -> None:
    state = world.store.state()
    live = {**state.live, "extra.md": state.live["race.md"]}
    forge(world, after=replace(state, live=live))


def forge_a_scene_less(world: Any) -> None:
    state = world.store.state()
    live = {name: s for name, s in state.live.items() if name != "race.md"}
    forge(world, after=replace(state, live=live))


def forge_another_cursor(world: Any) -> None:
    place = Cursor(record_id=world.rid(12), shard="2026-03-03", line=13)
    other = replace(place, line=14)
    state = world.store.state()
    forge(world, CursorMoved(to=place), after=replace(state, cursor=other))


def forge_another_birth(world: Any) -> None:
    state = world.store.state()
    race = replace(state.live["race.md"], first_seen="2020-01-01T00:00:00.000Z")
    forge(world, after=replace(state, live={**state.live, "race.md": race}))


def forge_lost_members(world: Any) -> None:
    few = world.store.ledger.sets.make([], [world.rid(4)])
    forge(world, updated(world, members=few))


def forge_lost_members_of_a_consolidation(world: Any) -> None:
    meta, handle = blob(world, "race.md", "- both")
    few = world.store.ledger.sets.make([], [world.rid(n) for n in (0, 1, 2, 4, 5, 6)])
    event = ScenesConsolidated(
        filename="sport.md",
        sources=("running.md", "race.md"),
        meta=meta,
        first_seen="2026-03-03T00:00:00.001Z",
        blob=handle,
        members=few,
    )
    forge(world, event)


def forge_all_members_lost(world: Any) -> None:
    forge(world, updated(world, members=None))


def forge_runs(files: Callable[[Any], dict[str, bytes]]) -> Callable[[Any], None]:
    def act(world: Any) -> None:
        objects = world.store.ledger.objects
        entries = {
            name: Entry(FILE, objects.put_blob(data))
            for name, data in files(world).items()
        }
        forge(world, updated(world, members=objects.put_tree(entries)))

    return act


def _ids(world: Any, *numbers: int) -> list[str]:
    return sorted(world.rid(n) for n in numbers)


def _run(ids: list[str]) -> bytes:
    return "".join(f"{i}\n" for i in ids).encode()


def forge_a_form(change: Callable[[bytes], bytes]) -> Callable[[Any], None]:
    """An update whose scene file is not as we write it."""

    def act(world: Any) -> None:
        event = updated(world)
        objects = world.store.ledger.objects
        handle = objects.put_blob(change(objects.blob(event.blob)))
        forge(world, replace(event, blob=handle))

    return act


def forge_a_rollback_elsewhere(world: Any) -> None:
    ledger = world.store.ledger
    one = ledger.revision(world.git("rev-parse", "main~3").strip())
    other = ledger.revision(world.git("rev-parse", "main~2").strip())
    handles = ledger.handles(other.tree)
    event = StoreRolledBack(revision=one.id, seq=one.seq, state=handles)
    state = fold((event,), world.store.state(), {handles: ledger.state(other.tree)})
    forge(world, event, after=state)


def forge_a_known_scene(world: Any) -> None:
    """A creation over a scene that is live: its members would be lost."""
    meta, handle = blob(world, "race.md", "- new")
    event = SceneCreated(
        filename="race.md", meta=meta, first_seen=iso(world.now_ms), blob=handle
    )
    forge(world, event)


FORGED: dict[str, Callable[[Any], object]] = {
    "a wrong seq": forge_wrong_seq,
    "a seq again": forge_seq_again,
    "another META": forge_meta,
    "another body": forge_another_body,
    "a scene more": forge_a_scene_more,
    "a scene less": forge_a_scene_less,
    "another cursor": forge_another_cursor,
    "another birth": forge_another_birth,
    "members lost": forge_lost_members,
    "a member lost in a consolidation": forge_lost_members_of_a_consolidation,
    "all members lost": forge_all_members_lost,
    "runs in the wrong month": forge_runs(
        lambda w: {"2026-04.ids": _run(_ids(w, 4, 5, 6))}
    ),
    "runs that are split for nothing": forge_runs(
        lambda w: {"2026-03-03.ids": _run(_ids(w, 4, 5, 6))}
    ),
    "runs out of order": forge_runs(
        lambda w: {"2026-03.ids": _run(_ids(w, 4, 5, 6)[::-1])}
    ),
    "an id twice": forge_runs(
        lambda w: {"2026-03.ids": _run(_ids(w, 4, 5, 6) + _ids(w, 6))}
    ),
    "no last newline": forge_runs(
        lambda w: {"2026-03.ids": _run(_ids(w, 4, 5, 6, 7))[:-1]}
    ),
    "an empty run": forge_runs(
        lambda w: {"2026-03.ids": _run(_ids(w, 4, 5, 6)), "2026-04.ids": b""}
    ),
    "a run that is not utf-8": forge_runs(
        lambda w: {"2026-03.ids": _run(_ids(w, 4, 5, 6)), "other.ids": b"\xff\n"}
    ),
    "a file with CRLF": forge_a_form(lambda data: data.replace(b"\n", b"\r\n")),
    "a file with a BOM": forge_a_form(lambda data: b"\xef\xbb\xbf" + data),
    "a file without a header": forge_a_form(lambda data: data.split(b"\n\n")[1]),
    "a file with blank lines": forge_a_form(lambda data: data + b"\n\n"),
    "a file that is not utf-8": forge_a_form(lambda data: data + b"\xff"),
    "a rollback to another revision": forge_a_rollback_elsewhere,
    "a creation over a live scene": forge_a_known_scene,
}


@pytest.mark.parametrize("what", FORGED)
def test_a_revision_that_does_not_prove_is_found(what: str, world: Any) -> None:
    FORGED[what](world)

    assert damage(world) != []


def test_a_forged_revision_that_is_right_proves(world: Any) -> None:
    forge(world, updated(world))

    assert damage(world) == []


def test_a_commit_whose_tree_was_changed_with_git_is_found(world: Any) -> None:
    head = world.git("rev-parse", "main").strip()
    record = json.loads(world.git("show", "main:events.json"))
    record |= {"parent": head, "seq": 5, "events": []}
    (world.l2 / "events.json").write_text(json.dumps(record))
    race = world.l2 / "scene-blocks" / "race.md"
    race.write_text(race.read_text() + "- slipped in\n")
    world.git("add", "--all")
    tree = world.git("write-tree").strip()
    forged = world.git(
        *("-c", "user.name=x", "-c", "user.email=x@x"),
        *("commit-tree", tree, "-p", head, "-m", "slipped in"),
    ).strip()
    world.git("update-ref", "refs/heads/main", forged)

    (told,) = damage(world)

    assert "do not lead to this tree: live" in told


def test_a_tree_with_a_file_too_many_is_found(world: Any) -> None:
    head = world.git("rev-parse", "main").strip()
    record = json.loads(world.git("show", "main:events.json"))
    record |= {"parent": head, "seq": 5, "events": []}
    (world.l2 / "events.json").write_text(json.dumps(record))
    (world.l2 / "README.md").write_text("slipped in")
    world.git("add", "--all")
    tree = world.git("write-tree").strip()
    forged = world.git(
        *("-c", "user.name=x", "-c", "user.email=x@x"),
        *("commit-tree", tree, "-p", head, "-m", "slipped in"),
    ).strip()
    world.git("update-ref", "refs/heads/main", forged)

    assert damage(world) != []


def test_damage_in_the_middle_of_the_history_is_found(world: Any) -> None:
    forge_another_birth(world)
    world.reopen()
    world.must(RACE)
    world.must({"cursor": world.rid(12)})

    assert damage(world) != []


def test_the_object_that_is_damaged_is_named(world: Any) -> None:
    object_id = objects_of(world)["scene-blocks/race.md"]
    loosen(world)
    loose(world, object_id).unlink()

    assert any(object_id in message for message in damage(world))


def test_an_object_of_another_content_than_its_name_is_found(world: Any) -> None:
    object_id = objects_of(world)["scene-blocks/race.md"]
    loosen(world)
    raw = zlib.decompress(loose(world, object_id).read_bytes())
    other = raw.replace(b"shoes", b"boots")
    assert sha1(other, usedforsecurity=False).hexdigest() != object_id
    loose(world, object_id).chmod(0o600)
    loose(world, object_id).write_bytes(zlib.compress(other))

    assert damage(world) != []
