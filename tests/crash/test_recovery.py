"""What a writer leaves that dies: the next commit simply works, and nothing is lost."""

import json
import os
import random
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from scenestore import durable, layout
from scenestore.check import check
from scenestore.projection import blob_id

pytestmark = pytest.mark.crash
DEAD_PID = 4_194_304
"""Above what Linux gives by default, so that no process has it."""


def update(name: str, content: str) -> dict[str, object]:
    write = {"action": "update", "filename": name, "content": content}
    return {"sceneWrites": [write]}


RACE = update("race.md", "# Race\n- shoes\n- in May")

PRELUDE = """
    import os, signal, sys
    from pathlib import Path
    from msgspec.structs import replace
    from scenestore import Store, blockfile, codec, durable, layout
    from scenestore_engine.events import SceneUpdated, SceneDeleted
    from scenestore_engine.evolve import fold

    store = Store(Path(sys.argv[1]))
    ledger, own, before = store.ledger, store.head(), store.state()
    race = before.live["race.md"]
    meta = replace(race.meta, heat=2)
    blob = ledger.objects.put_blob(blockfile.render(meta, "- by the dead"))
    event = SceneUpdated(
        filename="race.md", meta=meta, blob=blob, members=race.members
    )
    events = (event, SceneDeleted(filename="deploy.md"))
    after = fold(events, before)
    record = codec.Record(
        format=codec.FORMAT, seq=own.seq + 1, parent=own.id, batch="b" * 40,
        actor="dead", at="2026-04-02T00:00:00.000Z", policy={}, unicode="15.0.0",
        events=events,
    )
    def write():
        return ledger.write(after, record, "by the dead\\n", at_ms=1_775_088_000_000)
"""


def dies(world: Any, script: str, *, code: int = 9) -> None:
    """Run *script* after the prelude in a child, which dies of it."""
    text = textwrap.dedent(PRELUDE) + textwrap.dedent(script)
    done = subprocess.run(
        [sys.executable, "-c", text, str(world.profile)],
        check=False,
        capture_output=True,
        text=True,
    )
    assert done.returncode == code, done.stderr


def race(world: Any) -> Path:
    path: Path = world.l2 / "scene-blocks" / "race.md"
    return path


def rescued(world: Any) -> list[bytes]:
    folder = layout.rescued_dir(world.profile)
    return sorted(path.read_bytes() for path in folder.glob("*"))


def temporaries(world: Any) -> list[str]:
    found = [
        path.relative_to(world.l2).as_posix()
        for path in world.l2.rglob("*")
        if "tmp_" in path.name
    ]
    return sorted(found)


def assert_in_order(world: Any) -> None:
    """Nothing is left over, and everything proves."""
    assert temporaries(world) == []
    assert not (world.l2 / ".git/refs/heads/main.lock").exists()
    assert world.git("status", "--porcelain", "--untracked-files=all") == ""
    world.git("fsck", "--strict", "--full")
    world.reopen()
    found = check(world.store.ledger, world.store.projection, replay=True)
    assert found.problems == ()


# Dead at a step of a commit


def test_dead_before_the_pack_is_whole_the_batch_is_not_there(world: Any) -> None:
    dies(
        world,
        f"""
        with store.turn():
            pack = layout.git_dir(store.profile) / "objects" / "pack"
            name = f"{durable.PACK_TEMPORARY}{{os.getpid()}}_pack-x"
            durable.write_new(pack / name, b"PACK half", sync=False)
            os._exit(9)
        """,
    )

    assert world.store.head().seq == 4
    world.reopen()
    world.must(RACE)
    assert_in_order(world)


def test_dead_between_pack_and_index_the_batch_is_not_there(world: Any) -> None:
    before = set((world.l2 / ".git/objects/pack").iterdir())
    dies(world, "with store.turn():\n    write()\n    os._exit(9)\n")
    (index,) = [
        path
        for path in set((world.l2 / ".git/objects/pack").iterdir()) - before
        if path.suffix == ".idx"
    ]
    index.unlink()
    world.reopen()

    assert world.store.head().seq == 4
    world.must(RACE)

    assert world.store.head().seq == 5
    index.with_suffix(".pack").unlink()  # git tells of it, and does not mind
    assert_in_order(world)


def test_dead_between_write_and_publish_the_batch_is_not_there(world: Any) -> None:
    dies(world, "with store.turn():\n    write()\n    os._exit(9)\n")
    world.reopen()

    assert world.store.head().seq == 4
    world.must(RACE)

    assert world.live()["race.md"]["body"] == "# Race\n- shoes\n- in May"
    assert_in_order(world)


PUBLISH = """
with store.turn():
    ledger.publish(write(), parent=own.id)
    os._exit(9)
"""


def test_dead_between_publish_and_draw_the_batch_is_there(world: Any) -> None:
    dies(world, PUBLISH)
    world.reopen()

    assert world.store.head().seq == 5
    assert world.live()["race.md"]["body"] == "- by the dead"
    assert "deploy.md" not in world.live()


def test_dead_between_publish_and_draw_the_next_commit_draws(world: Any) -> None:
    dies(world, PUBLISH)
    world.reopen()

    world.must({"cursor": world.rid(12)})

    assert race(world).read_text().endswith("\n- by the dead\n")
    assert not (world.l2 / "scene-blocks" / "deploy.md").exists()
    assert rescued(world) == []
    assert_in_order(world)


def test_dead_between_publish_and_draw_the_lag_is_no_drift(world: Any) -> None:
    dies(world, PUBLISH)
    world.reopen()

    assert world.store.projection.drift(world.store.head().tree) == []
    answer = world.must(update("race.md", "- by the dead\n- by the living"))

    assert answer["seq"] == 6
    assert_in_order(world)


def test_dead_between_publish_and_draw_a_hands_work_is_still_drift(world: Any) -> None:
    dies(world, PUBLISH)
    race(world).write_text("a person's")
    world.reopen()

    answer = world.commit(update("race.md", "- by the dead\n- and more"))

    assert {error["code"] for error in answer["errors"]} == {"drift"}
    kept = [race(world).read_bytes(), *rescued(world)]
    assert b"a person's" in kept


def test_dead_between_publish_and_draw_an_open_store_goes_on(world: Any) -> None:
    dies(world, PUBLISH)

    answer = world.must({"cursor": world.rid(12)})

    assert answer["seq"] == 6
    assert any("drew the files" in said for said in world.said)
    assert_in_order(world)


@pytest.mark.parametrize("drawn", ["race.md", "deploy.md", "events.json"])
def test_dead_in_the_middle_of_drawing_the_rest_is_drawn(
    drawn: str, world: Any
) -> None:
    dies(world, PUBLISH)
    if drawn == "race.md":
        race(world).write_text(world.git("show", "main:scene-blocks/race.md"))
    elif drawn == "deploy.md":
        (world.l2 / "scene-blocks" / "deploy.md").unlink()
    else:
        text = world.git("show", "main:events.json")
        (world.l2 / "events.json").write_text(text)
    world.reopen()

    world.must({"cursor": world.rid(12)})

    assert rescued(world) == []
    assert_in_order(world)


def test_dead_after_drawing_and_before_noting_it_nothing_is_rescued(
    world: Any,
) -> None:
    noted = layout.drawn_file(world.profile).read_bytes()
    world.must(RACE)
    layout.drawn_file(world.profile).write_bytes(noted)
    world.reopen()

    world.must({"cursor": world.rid(12)})

    assert rescued(world) == []
    assert_in_order(world)


def test_dead_in_the_first_init_the_next_one_finishes(empty: Any) -> None:
    (empty.l2 / ".git/refs/heads/main").unlink()
    layout.drawn_file(empty.profile).unlink()
    (empty.l2 / ".git/config").unlink()
    empty.reopen()

    made = empty.store.init(now=empty.now)

    assert made is True
    empty.must({"cursor": empty.rid(0)})
    assert empty.git("status", "--porcelain") == ""


# Temporaries of the dead


OURS: dict[str, Callable[[Any], Path]] = {
    "a pack": lambda w: (
        w.l2 / f".git/objects/pack/{durable.PACK_TEMPORARY}{DEAD_PID}_pack-x"
    ),
    "an index of a pack": lambda w: (
        w.l2 / f".git/objects/pack/{durable.INDEX_TEMPORARY}{DEAD_PID}_pack-x"
    ),
    "a ref": lambda w: layout.own_dir(w.profile) / f"{durable.REF_TEMPORARY}{DEAD_PID}",
    "drawn": lambda w: (
        layout.own_dir(w.profile) / f"{durable.TEMPORARY}{DEAD_PID}_0_drawn"
    ),
    "git's index": lambda w: w.l2 / f".git/{durable.TEMPORARY}{DEAD_PID}_0_index",
    "git's config": lambda w: w.l2 / f".git/{durable.TEMPORARY}{DEAD_PID}_0_config",
    "git's exclude": lambda w: (
        w.l2 / f".git/info/{durable.TEMPORARY}{DEAD_PID}_0_exclude"
    ),
}


@pytest.mark.parametrize("what", OURS)
@pytest.mark.parametrize("content", [b"", b"half"])
def test_a_temporary_in_gits_folder_is_removed(
    what: str, content: bytes, world: Any
) -> None:
    OURS[what](world).write_bytes(content)
    world.reopen()

    world.must(RACE)

    assert_in_order(world)


def in_the_work_tree(world: Any, name: str = "race.md") -> Path:
    path: Path = world.l2 / "scene-blocks" / f"{durable.TEMPORARY}{DEAD_PID}_0_{name}"
    return path


def test_a_temporary_that_holds_a_drawn_file_is_removed(world: Any) -> None:
    in_the_work_tree(world).write_bytes(race(world).read_bytes())
    world.reopen()

    world.must(RACE)

    assert rescued(world) == []
    assert_in_order(world)


def test_a_temporary_that_holds_a_persons_bytes_is_rescued(world: Any) -> None:
    in_the_work_tree(world).write_text("a person's")
    world.reopen()

    world.must(RACE)

    assert rescued(world) == [b"a person's"]
    assert any("rescued" in said for said in world.said)
    assert_in_order(world)


def test_a_temporary_that_is_a_link_of_a_person_is_rescued_as_a_link(
    world: Any, tmp_path: Path
) -> None:
    (tmp_path / "precious").write_text("a person's")
    in_the_work_tree(world).symlink_to(tmp_path / "precious")
    world.reopen()

    world.must(RACE)

    (link,) = layout.rescued_dir(world.profile).iterdir()
    assert link.is_symlink()
    assert (tmp_path / "precious").read_text() == "a person's"


@pytest.mark.parametrize(
    "folder", ["members/race.md", "index", "archive/scene-blocks", "dismissed", "."]
)
def test_temporaries_anywhere_in_the_work_tree_are_seen_to(
    folder: str, world: Any
) -> None:
    path = world.l2 / folder / f"{durable.TEMPORARY}{DEAD_PID}_0_x"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("a person's")
    world.reopen()

    world.must(RACE)

    assert rescued(world) == [b"a person's"]
    assert temporaries(world) == []


def test_temporaries_of_git_and_of_people_are_let_be(world: Any) -> None:
    theirs = [
        world.l2 / ".git/objects/pack/tmp_pack_AbCdEf",
        world.l2 / ".git/objects/pack/tmp_idx_XyZ123",
        world.l2 / "notes" / "tmp_2024_report.txt",
        world.l2 / "tmp_123_x",
        world.l2 / ".git" / "tmp_notes",
    ]
    (world.l2 / "notes").mkdir()
    for path in theirs:
        path.write_text("theirs")
    world.reopen()

    world.must(RACE)

    assert [path.read_text() for path in theirs] == ["theirs"] * len(theirs)


@pytest.mark.parametrize("place", [".git/scenestore", ".git", ".git/objects/pack", "."])
def test_a_folder_that_is_called_like_a_temporary_stops_nothing(
    place: str, world: Any
) -> None:
    folder = world.l2 / place / f"{durable.TEMPORARY}{DEAD_PID}_0_x"
    folder.mkdir()
    (folder / "inside").write_text("a person's")
    world.reopen()

    world.must(RACE)

    assert world.store.head().seq == 5


def test_a_temporary_is_removed_after_a_person_died_in_an_exchange(world: Any) -> None:
    """The new file is in its place, the old one beside it, and nothing was noted."""
    dies(world, PUBLISH)
    old = race(world).read_bytes()
    race(world).write_text(world.git("show", "main:scene-blocks/race.md"))
    in_the_work_tree(world).write_bytes(old)
    assert blob_id(old) in world.git("ls-tree", "main~1", "scene-blocks/race.md")
    world.reopen()

    world.must({"cursor": world.rid(12)})

    assert rescued(world) == []
    assert_in_order(world)


# The lock of the ref


def lock_of(world: Any) -> Path:
    path: Path = world.l2 / ".git" / "refs" / "heads" / "main.lock"
    return path


def test_the_lock_of_a_dead_writer_of_ours_is_removed_at_once(world: Any) -> None:
    own = layout.own_dir(world.profile) / f"{durable.REF_TEMPORARY}{DEAD_PID}"
    own.write_text("f" * 40 + "\n")
    lock_of(world).hardlink_to(own)
    world.reopen()

    world.must(RACE)

    assert any("lock" in said for said in world.said)
    assert_in_order(world)


def test_an_open_store_removes_it_too(world: Any) -> None:
    world.must({"cursor": world.rid(12)})
    own = layout.own_dir(world.profile) / f"{durable.REF_TEMPORARY}{DEAD_PID}"
    own.write_text("f" * 40 + "\n")
    lock_of(world).hardlink_to(own)

    world.must(RACE)

    assert not lock_of(world).exists()


def test_a_writer_of_ours_that_dies_holding_the_ref_stops_nobody(world: Any) -> None:
    dies(
        world,
        """
        with store.turn():
            own_dir = layout.own_dir(store.profile)
            temporary = own_dir / f"{durable.REF_TEMPORARY}{os.getpid()}"
            durable.write_new(temporary, write().encode() + b"\\n", sync=True)
            ref = layout.git_dir(store.profile) / "refs/heads/main.lock"
            ref.hardlink_to(temporary)
            os.kill(os.getpid(), signal.SIGKILL)
        """,
        code=-signal.SIGKILL,
    )
    world.reopen()

    world.must(RACE)

    assert_in_order(world)


def test_a_young_lock_of_another_program_is_busy_and_left(world: Any) -> None:
    lock_of(world).write_bytes(b"")

    answer = world.commit(RACE)

    assert {error["code"] for error in answer["errors"]} == {"store_busy"}
    assert answer["retry"] is True
    assert lock_of(world).exists()
    assert world.store.head().seq == 4
    lock_of(world).unlink()
    world.must(RACE)
    assert_in_order(world)


def test_an_old_lock_of_another_program_is_removed_with_a_word(world: Any) -> None:
    lock_of(world).write_bytes(b"")
    long_ago = time.time() - 601  # noqa: TID251 - a file's age is the system's
    os.utime(lock_of(world), (long_ago, long_ago))

    world.must(RACE)

    assert any("ten minutes" in said for said in world.said)
    assert_in_order(world)


def test_an_old_lock_that_a_process_has_open_is_left(world: Any) -> None:
    if not Path("/proc/self/fd").exists():
        pytest.skip("this system does not tell who has a file open")
    lock_of(world).write_bytes(b"")
    long_ago = time.time() - 601  # noqa: TID251 - a file's age is the system's
    os.utime(lock_of(world), (long_ago, long_ago))

    with lock_of(world).open("rb"):
        answer = world.commit(RACE)

    assert {error["code"] for error in answer["errors"]} == {"store_busy"}
    assert lock_of(world).exists()


def test_a_lock_of_another_ref_stops_nothing(world: Any) -> None:
    for name in ("HEAD.lock", "config.lock", "packed-refs.lock", "index.lock"):
        (world.l2 / ".git" / name).write_bytes(b"")

    world.must(RACE)

    assert world.store.head().seq == 5


def test_the_lock_of_a_killed_writer_is_free(world: Any) -> None:
    dies(
        world,
        "with store.turn():\n    os.kill(os.getpid(), signal.SIGKILL)\n",
        code=-signal.SIGKILL,
    )

    world.must(RACE)

    assert_in_order(world)


# Packs


def test_a_pack_without_its_index_is_passed_by(world: Any) -> None:
    pack = world.l2 / ".git/objects/pack" / f"pack-{'a' * 40}.pack"
    pack.write_bytes(b"PACK half")
    world.reopen()

    world.must(RACE)

    assert world.store.head().seq == 5


def test_an_index_without_its_pack_is_passed_by(world: Any) -> None:
    index = world.l2 / ".git/objects/pack" / f"pack-{'a' * 40}.idx"
    index.write_bytes(b"half")
    world.reopen()

    world.must(RACE)

    assert world.store.head().seq == 5


@pytest.mark.parametrize("content", [b"", b"half", b"\0" * 2_000])
def test_a_pack_and_index_of_garbage_do_not_stop_a_commit(
    content: bytes, world: Any
) -> None:
    for suffix in ("pack", "idx"):
        path = world.l2 / ".git/objects/pack" / f"pack-{'a' * 40}.{suffix}"
        path.write_bytes(content)
    world.reopen()

    world.must(RACE)

    assert world.store.head().seq == 5


# Killed at any time


WRITER = """
    import sys
    from pathlib import Path
    from scenestore import Store
    with Store(Path(sys.argv[1])) as store:
        for number in range(int(sys.argv[2]), 10_000):
            body = f"# Race\\n- shoes\\n- number {number}"
            answer = store.l2_commit({
                "sceneWrites": [{
                    "action": "update", "filename": "race.md", "content": body,
                    "addMembers": [f"note-{number}"],
                }],
            })
            print(answer.get("seq"), answer.get("revision"), flush=True)
"""


@pytest.mark.parametrize("seed", range(6))
def test_what_a_killed_writer_was_told_is_kept_and_the_rest_is_whole(
    seed: int, world: Any
) -> None:
    world.policy(retention_update="off")
    dice = random.Random(seed)  # noqa: S311 - only when to kill
    told: list[tuple[int, str]] = []
    for turn in range(4):
        child = subprocess.Popen(
            [
                sys.executable,
                "-c",
                textwrap.dedent(WRITER),
                str(world.profile),
                str(turn * 1_000),
            ],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        assert child.stdout is not None
        first = child.stdout.readline()
        time.sleep(dice.random() / 20)
        child.kill()
        lines = [first, *child.stdout]
        child.wait()
        child.stdout.close()
        told += [
            (int(line.split()[0]), line.split()[1])
            for line in lines
            if line.endswith("\n") and line.strip()
        ]

    world.reopen()
    history = {r.seq: r.id for r in world.store.ledger.back_from(world.store.head().id)}
    assert told
    assert [(seq, history.get(seq)) for seq, _ in told] == told
    world.must({"cursor": world.rid(12)})
    assert_in_order(world)


def test_four_writers_at_once_lose_nothing(world: Any) -> None:
    script = """
        import sys
        from pathlib import Path
        from scenestore import Store
        with Store(Path(sys.argv[1])) as store:
            for number in range(10):
                answer = store.l2_commit({
                    "personaSignal": True,
                    "personaReason": f"writer {sys.argv[2]}, number {number}",
                })
                assert answer["success"], answer
    """
    children = [
        subprocess.Popen(
            [sys.executable, "-c", textwrap.dedent(script), str(world.profile), str(n)]
        )
        for n in range(4)
    ]

    codes = [child.wait() for child in children]

    world.reopen()
    requests = json.loads((world.l2 / "persona.json").read_text())["requests"]
    assert codes == [0] * 4
    assert world.store.head().seq == 44
    assert len({request["reason"] for request in requests}) == 40
    assert_in_order(world)


# Where a process runs


JOURNAL = """
    import sys
    from pathlib import Path
    from scenestore import Store, StoreError
    try:
        with Store(Path(sys.argv[1])) as store:
            answer = store.l2_commit({"sceneWrites": [{
                "action": "create", "filename": "日记é.md", "content": "- 中文 😀",
                "meta": {"summary": "摘要"}, "members": ["ñandú"],
            }]})
            assert answer["success"], answer
    except StoreError:
        sys.exit(5)
"""


def write_a_journal(
    world: Any, tmp_path: Path, environment: dict[str, str]
) -> subprocess.CompletedProcess[str]:
    script = tmp_path / "writer.py"
    script.write_text(textwrap.dedent(JOURNAL), encoding="utf-8")
    kept = {name: os.environ[name] for name in ("PATH", "PYTHONPATH")}
    return subprocess.run(
        [sys.executable, str(script), str(world.profile)],
        check=False,
        capture_output=True,
        text=True,
        env=kept | environment,
    )


@pytest.mark.parametrize(
    "environment",
    [
        {"LC_ALL": "C"},
        {"LC_ALL": "C", "TZ": "Asia/Kathmandu"},
        {"LC_ALL": "C", "GIT_DIR": "/nowhere", "GIT_WORK_TREE": "/nowhere"},
        {"LC_ALL": "C", "GIT_INDEX_FILE": "/nowhere", "GIT_OBJECT_DIRECTORY": "/no"},
    ],
)
def test_a_writer_in_any_environment_writes_the_same(
    environment: dict[str, str], world: Any, tmp_path: Path
) -> None:
    done = write_a_journal(world, tmp_path, environment)

    assert (done.returncode, done.stderr) == (0, "")
    world.reopen()
    assert world.live()["日记é.md"]["members"] == frozenset({"ñandú"})
    assert (
        (world.l2 / "scene-blocks" / "日记é.md").read_text().endswith("\n- 中文 😀\n")
    )
    world.must({"cursor": world.rid(12)})
    assert rescued(world) == []
    assert_in_order(world)


def test_a_writer_that_cannot_write_names_of_all_scripts_says_so(
    world: Any, tmp_path: Path
) -> None:
    environment = {"LC_ALL": "POSIX", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}

    done = write_a_journal(world, tmp_path, environment)

    assert done.returncode in (0, 5), done.stderr
    world.reopen()
    world.must(RACE)
    assert_in_order(world)


# A disk that is full


FULL = """
    import resource, sys
    from pathlib import Path
    from scenestore import Store, StoreError
    limit = int(sys.argv[2])
    said = []
    with Store(Path(sys.argv[1]), say=said.append) as store:
        store.read_scene_blocks(["race.md"])
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
        for number in range(3):
            text = f"reason {limit} {number} " + "x" * 400
            request = {"personaSignal": True, "personaReason": text}
            try:
                print(store.l2_commit(request)["success"], flush=True)
            except StoreError as error:
                print(type(error).__name__, flush=True)
"""


@pytest.mark.parametrize(
    "limit", [0, 20, 60, 200, 600, 1_000, 1_400, 1_600, 1_800, 2_000, 2_400, 3_000]
)
def test_on_a_disk_that_is_full_a_batch_is_there_or_not_and_says_so(
    limit: int, world: Any
) -> None:
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            textwrap.dedent(FULL),
            str(world.profile),
            str(limit),
        ],
        check=False,
        capture_output=True,
        text=True,
    )

    assert done.returncode == 0, done.stderr
    outcomes = done.stdout.split()
    assert len(outcomes) == 3
    assert set(outcomes) <= {"True", "DiskError", "OutcomeUnknownError"}
    world.reopen()
    assert world.store.head().seq == 4 + outcomes.count("True")
    world.must(RACE)
    assert rescued(world) == []
    assert_in_order(world)
