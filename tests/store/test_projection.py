"""The files that others read: drawn from the head, never over another hand's work."""

import json
import os
import shutil
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from scenestore import layout, roll_back
from scenestore.check import check
from scenestore.upkeep import repair, status

Hand = Callable[[Path], object]


def update(name: str, content: str) -> dict[str, object]:
    write = {"action": "update", "filename": name, "content": content}
    return {"sceneWrites": [write]}


RACE = update("race.md", "# Race\n- shoes\n- in May")
DEPLOY = update("deploy.md", "# Deploy\n- on Tuesday\n- at noon")


def make_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()
    (path / "inside.txt").write_text("a person's")


def make_fifo(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def make_link(path: Path) -> None:
    aside = path.parents[3] / "aside.md"
    aside.write_text("a person's")
    path.unlink()
    path.symlink_to(aside)


def make_dangling_link(path: Path) -> None:
    path.unlink()
    path.symlink_to("nowhere.md")


HANDS: dict[str, tuple[Hand, str]] = {
    "edited": (lambda path: path.write_text("a person's"), "edited"),
    "appended": (lambda path: path.open("a").close() or _append(path), "edited"),
    "emptied": (lambda path: path.write_bytes(b""), "emptied"),
    "nul-filled": (lambda path: path.write_bytes(b"\0" * 300), "emptied"),
    "blank": (lambda path: path.write_text("\n \n"), "emptied"),
    "removed": (lambda path: path.unlink(), "removed"),
    "link": (make_link, "not_a_file"),
    "dangling link": (make_dangling_link, "not_a_file"),
    "fifo": (make_fifo, "not_a_file"),
    "folder": (make_folder, "not_a_file"),
    "crlf": (lambda path: path.write_text(path.read_text(), newline="\r\n"), "edited"),
    "not utf-8": (lambda path: path.write_bytes(b"\xff\xfe"), "edited"),
}


def _append(path: Path) -> None:
    with path.open("a") as file:
        file.write("- by hand\n")


def looks(path: Path) -> object:
    """What stands at *path*, followed nowhere."""
    try:
        seen = path.lstat()
    except FileNotFoundError:
        return None
    if stat.S_ISREG(seen.st_mode):
        return path.read_bytes()
    if stat.S_ISLNK(seen.st_mode):
        return path.readlink()
    return stat.S_IFMT(seen.st_mode)


def drift(world: Any) -> list[tuple[str, str]]:
    found = world.store.projection.drift(world.store.head().tree)
    return [(one.path, str(one.kind)) for one in found]


def race(world: Any) -> Path:
    path: Path = world.l2 / "scene-blocks" / "race.md"
    return path


def rescued(world: Any) -> dict[str, bytes]:
    folder = layout.rescued_dir(world.profile)
    return {p.name: p.read_bytes() for p in folder.glob("*") if p.is_file()}


def codes(answer: Any) -> set[str]:
    return {error["code"] for error in answer.get("errors", ())}


def status_of_git(world: Any) -> str:
    said: str = world.git("status", "--porcelain", "--untracked-files=all")
    return said


# Drift is noticed, and never overwritten


@pytest.mark.parametrize("hand", HANDS)
def test_the_work_of_another_hand_is_drift_of_its_kind(hand: str, world: Any) -> None:
    act, kind = HANDS[hand]

    act(race(world))

    assert drift(world) == [("scene-blocks/race.md", kind)]


@pytest.mark.parametrize("hand", HANDS)
def test_a_commit_that_touches_drift_is_refused_and_leaves_it(
    hand: str, world: Any
) -> None:
    HANDS[hand][0](race(world))
    before = looks(race(world))

    answer = world.commit(RACE)

    assert codes(answer) == {"drift"}
    assert answer["retry"] is False
    assert looks(race(world)) == before
    assert world.store.head().seq == 4


@pytest.mark.parametrize("hand", HANDS)
def test_a_commit_that_does_not_touch_drift_leaves_it(hand: str, world: Any) -> None:
    HANDS[hand][0](race(world))
    before = looks(race(world))

    world.must(DEPLOY)

    assert looks(race(world)) == before
    assert drift(world) == [("scene-blocks/race.md", HANDS[hand][1])]


@pytest.mark.parametrize("hand", HANDS)
def test_drift_is_still_drift_for_the_next_process(hand: str, world: Any) -> None:
    HANDS[hand][0](race(world))
    before = looks(race(world))
    world.reopen()

    answer = world.commit(RACE)

    assert codes(answer) == {"drift"}
    assert looks(race(world)) == before


@pytest.mark.parametrize("hand", HANDS)
def test_repair_draws_the_scene_again(hand: str, world: Any) -> None:
    drawn = race(world).read_bytes()
    HANDS[hand][0](race(world))

    repair(world.store)

    assert looks(race(world)) == drawn
    assert drift(world) == []
    assert status_of_git(world) == ""
    world.must(RACE)


@pytest.mark.parametrize("hand", HANDS.keys() - {"removed"})
def test_repair_moves_the_work_of_another_hand_into_rescued(
    hand: str, world: Any
) -> None:
    HANDS[hand][0](race(world))
    before = looks(race(world))

    done = repair(world.store)

    assert len(done.rescued) == 1
    assert looks(Path(done.rescued[0])) == before
    assert Path(done.rescued[0]).parent == layout.rescued_dir(world.profile)


def test_a_file_that_a_hand_added_is_drift(world: Any) -> None:
    (world.l2 / "scene-blocks" / "mine.md").write_text("mine")

    assert drift(world) == [("scene-blocks/mine.md", "added")]


def test_a_create_at_an_added_file_is_refused_and_leaves_it(world: Any) -> None:
    path = world.l2 / "scene-blocks" / "mine.md"
    path.write_text("mine")

    write = {"action": "create", "filename": "mine.md", "content": "- x"}
    answer = world.commit({"sceneWrites": [write | {"meta": {"summary": "s"}}]})

    assert codes(answer) == {"drift"}
    assert path.read_text() == "mine"


def test_repair_moves_an_added_file_aside(world: Any) -> None:
    (world.l2 / "scene-blocks" / "mine.md").write_text("mine")

    repair(world.store)

    assert rescued(world) == {"scene-blocks-mine.md": b"mine"}
    assert status_of_git(world) == ""


@pytest.mark.parametrize(
    "name", ["notes.txt", ".hidden", "a b.md", "x" * 250, "中" * 85, "tmp_notes.md"]
)
def test_a_file_of_any_name_under_scene_blocks_is_drift_and_is_rescued(
    name: str, world: Any
) -> None:
    (world.l2 / "scene-blocks" / name).write_text("mine")

    found = drift(world)
    repair(world.store)

    assert found == [(f"scene-blocks/{name}", "added")]
    assert list(rescued(world).values()) == [b"mine"]
    assert not (world.l2 / "scene-blocks" / name).exists()


def test_a_name_that_is_not_utf_8_is_drift_and_is_rescued(world: Any) -> None:
    folder = os.fsencode(world.l2 / "scene-blocks")
    Path(os.fsdecode(folder + b"/caf\xe9.md")).write_text("mine")

    found = drift(world)
    repair(world.store)

    assert [kind for _, kind in found] == ["added"]
    assert list(rescued(world).values()) == [b"mine"]


def test_two_rescues_of_one_path_keep_both(world: Any) -> None:
    race(world).write_text("one")
    repair(world.store)
    race(world).write_text("two")
    repair(world.store)

    assert sorted(rescued(world).values()) == [b"one", b"two"]


@pytest.mark.parametrize("action", ["delete", "archive", "consolidate"])
def test_an_action_that_takes_a_drifted_scene_away_is_refused(
    action: str, world: Any
) -> None:
    race(world).write_text("a person's")
    extra: dict[str, object] = {
        "delete": {"filename": "race.md"},
        "archive": {"filename": "race.md", "reason": "over"},
        "consolidate": {
            "filename": "all.md",
            "sources": ["race.md", "deploy.md"],
            "content": "# Race\n- shoes\n# Deploy\n- on Tuesday",
            "meta": {"summary": "s"},
        },
    }[action]  # type: ignore[assignment]

    answer = world.commit({"sceneWrites": [{"action": action, **extra}]})

    assert codes(answer) == {"drift"}
    assert race(world).read_text() == "a person's"


def test_drift_and_faults_of_a_batch_are_told_at_once(world: Any) -> None:
    race(world).write_text("a person's")

    answer = world.commit(update("race.md", " "))

    assert codes(answer) >= {"drift", "body_blank"}


def test_a_file_that_was_edited_and_put_back_is_no_drift(world: Any) -> None:
    drawn = race(world).read_bytes()
    race(world).write_text("a person's")
    race(world).write_bytes(drawn)

    assert drift(world) == []


def test_a_scene_whose_name_looks_like_a_temporary_is_a_scene(world: Any) -> None:
    world.create("tmp_2024_trip.md", 9)
    drawn = (world.l2 / "scene-blocks" / "tmp_2024_trip.md").read_bytes()
    world.reopen()

    world.must(RACE)

    assert (world.l2 / "scene-blocks" / "tmp_2024_trip.md").read_bytes() == drawn
    assert status_of_git(world) == ""


# Links in place of folders


@pytest.mark.parametrize("folder", ["scene-blocks", "members"])
def test_repair_takes_nothing_out_of_a_folder_that_a_link_leads_to(
    folder: str, world: Any, tmp_path: Path
) -> None:
    elsewhere = tmp_path / "elsewhere"
    shutil.copytree(world.l2 / folder, elsewhere)
    (elsewhere / "AAA.md").write_text("a person's")
    before = sorted(path.relative_to(elsewhere) for path in elsewhere.rglob("*"))
    shutil.rmtree(world.l2 / folder)
    (world.l2 / folder).symlink_to(elsewhere)

    repair(world.store)

    assert sorted(p.relative_to(elsewhere) for p in elsewhere.rglob("*")) == before
    assert not (world.l2 / folder).is_symlink()
    assert status_of_git(world) == ""


@pytest.mark.parametrize("action", ["delete", "update"])
def test_a_commit_writes_nothing_through_a_link(
    action: str, world: Any, tmp_path: Path
) -> None:
    elsewhere = tmp_path / "elsewhere"
    shutil.copytree(world.l2 / "scene-blocks", elsewhere)
    before = {path.name: path.read_bytes() for path in elsewhere.iterdir()}
    shutil.rmtree(world.l2 / "scene-blocks")
    (world.l2 / "scene-blocks").symlink_to(elsewhere)
    fields = {"content": "# Race\n- shoes\n- x"} if action == "update" else {}

    world.commit({"sceneWrites": [{"action": action, "filename": "race.md", **fields}]})

    assert {path.name: path.read_bytes() for path in elsewhere.iterdir()} == before


@pytest.mark.parametrize("part", ["l2", "memoryDB", "profile"])
def test_a_store_that_a_link_leads_to_stays_where_it_is(
    part: str, world: Any, tmp_path: Path
) -> None:
    path = {
        "l2": world.l2,
        "memoryDB": world.profile / "memoryDB",
        "profile": world.profile,
    }[part]
    world.close()
    path.rename(tmp_path / "moved")
    path.symlink_to(tmp_path / "moved")
    world.reopen()

    world.must(RACE)
    repair(world.store)

    assert path.is_symlink()
    assert world.reopen().head().seq == 5
    assert status_of_git(world) == ""


@pytest.mark.parametrize("folder", ["scene-blocks", "members", "index", "archive"])
def test_a_file_in_place_of_a_folder_is_moved_aside_by_repair(
    folder: str, world: Any
) -> None:
    world.must(
        {"sceneWrites": [{"action": "archive", "filename": "race.md", "reason": "x"}]}
    )
    shutil.rmtree(world.l2 / folder)
    (world.l2 / folder).write_text("a person's")

    repair(world.store)

    assert b"a person's" in rescued(world).values()
    assert status_of_git(world) == ""


# The rest of the projection


@pytest.mark.parametrize(
    "path",
    [
        "events.json",
        "scenes.json",
        "cursor.json",
        "index/scene_index.json",
        "members/race.md/2026-03.ids",
        ".git/index",
    ],
)
@pytest.mark.parametrize("how", ["removed", "garbage", "emptied", "folder"])
def test_repair_draws_again_what_differs_elsewhere(
    path: str, how: str, world: Any
) -> None:
    if (path, how) == (".git/index", "folder"):
        pytest.skip("git itself makes no folder there")
    file = world.l2 / path
    before = file.read_bytes()
    file.unlink()
    if how == "garbage":
        file.write_bytes(b"garbage")
    elif how == "emptied":
        file.write_bytes(b"")
    elif how == "folder":
        file.mkdir()

    repair(world.store)

    assert status_of_git(world) == ""
    if path != ".git/index":
        assert file.read_bytes() == before


def test_whole_folders_that_were_removed_are_drawn_again(world: Any) -> None:
    for name in ("members", "index", "scene-blocks"):
        shutil.rmtree(world.l2 / name)
    for name in ("events.json", "scenes.json", "cursor.json", ".git/index"):
        (world.l2 / name).unlink()

    repair(world.store)

    assert status_of_git(world) == ""
    assert len(json.loads((world.l2 / "index/scene_index.json").read_text())) == 3


def test_what_a_hand_put_among_the_members_is_rescued_by_repair(world: Any) -> None:
    (world.l2 / "members" / "race.md" / "mine.ids").write_text("mine")

    repair(world.store)

    assert b"mine" in rescued(world).values()
    assert status_of_git(world) == ""


def test_a_member_run_that_a_hand_edited_is_rescued_when_its_place_is_drawn(
    world: Any,
) -> None:
    run = world.l2 / "members" / "race.md" / "2026-03.ids"
    run.write_text("mine\n")
    write = {
        "action": "update",
        "filename": "race.md",
        "content": "# Race\n- shoes\n- x",
    }

    world.must({"sceneWrites": [write | {"addMembers": [world.rid(9)]}]})

    assert b"mine\n" in rescued(world).values()
    assert run.read_text().splitlines() == sorted(world.rid(n) for n in (4, 5, 6, 9))


def test_files_of_a_person_outside_of_our_folders_are_let_be(world: Any) -> None:
    (world.l2 / "README.md").write_text("mine")
    (world.l2 / "notes").mkdir()
    (world.l2 / "notes" / "a.txt").write_text("mine")

    repair(world.store)
    world.must(RACE)

    assert (world.l2 / "README.md").read_text() == "mine"
    assert (world.l2 / "notes" / "a.txt").read_text() == "mine"


def test_repair_of_files_in_order_changes_and_rescues_nothing(world: Any) -> None:
    before = world.bytes_under("scene-blocks") | world.bytes_under("members")

    done = repair(world.store)

    assert (done.rescued, done.blocked) == ((), ())
    assert world.bytes_under("scene-blocks") | world.bytes_under("members") == before


# git


BATCHES: dict[str, dict[str, object]] = {
    "create": {
        "action": "create",
        "filename": "tea.md",
        "content": "- tea",
        "meta": {"summary": "s"},
    },
    "update": {
        "action": "update",
        "filename": "race.md",
        "content": "# Race\n- shoes\n- x",
    },
    "delete": {"action": "delete", "filename": "race.md"},
    "archive": {"action": "archive", "filename": "race.md", "reason": "over"},
    "consolidate": {
        "action": "consolidate",
        "filename": "all.md",
        "sources": ["race.md", "deploy.md"],
        "content": "# Race\n- shoes\n# Deploy\n- on Tuesday",
        "meta": {"summary": "s"},
    },
}


@pytest.mark.parametrize("action", BATCHES)
def test_git_status_is_clean_after_each_action(action: str, world: Any) -> None:
    world.must({"sceneWrites": [BATCHES[action]]})

    assert status_of_git(world) == ""
    world.git("fsck", "--strict", "--full")


@pytest.mark.parametrize("action", BATCHES)
def test_git_status_is_clean_after_a_rollback(action: str, world: Any) -> None:
    world.must({"sceneWrites": [BATCHES[action]]})

    roll_back(world.store, "4", now=world.now)

    assert status_of_git(world) == ""


def test_git_status_names_a_drifted_scene_alone(world: Any) -> None:
    _append(race(world))

    world.must(DEPLOY)

    assert status_of_git(world) == " M scene-blocks/race.md\n"


def test_git_status_is_clean_with_letters_of_all_kinds(world: Any) -> None:
    world.create("日记-é-ß.md", 9)

    assert status_of_git(world) == ""
    assert "日记-é-ß.md" in world.git("ls-files")


def test_a_lock_on_gits_index_stops_nothing(world: Any) -> None:
    (world.l2 / ".git" / "index.lock").write_bytes(b"")

    world.must(RACE)

    assert (world.l2 / ".git" / "index.lock").exists()
    assert race(world).read_text().endswith("- in May\n")


def test_the_next_commit_draws_the_index_that_was_locked(world: Any) -> None:
    lock = world.l2 / ".git" / "index.lock"
    lock.write_bytes(b"")
    world.must(RACE)
    lock.unlink()

    world.must(DEPLOY)

    assert status_of_git(world) == ""


def test_repair_draws_the_index_that_was_locked(world: Any) -> None:
    lock = world.l2 / ".git" / "index.lock"
    lock.write_bytes(b"")
    world.must(RACE)
    lock.unlink()

    repair(world.store)

    assert status_of_git(world) == ""


def test_hooks_filters_and_a_work_tree_of_gits_config_are_not_obeyed(
    world: Any, tmp_path: Path
) -> None:
    marker = tmp_path / "obeyed"
    hook = f"#!/bin/sh\ntouch '{marker}'\n"
    for name in ("pre-commit", "post-commit", "reference-transaction", "post-index"):
        path = world.l2 / ".git" / "hooks" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(hook)
        path.chmod(0o755)
    with (world.l2 / ".git" / "config").open("a") as config:
        config.write(
            f"[core]\n\tworktree = {tmp_path / 'away'}\n\thooksPath = .git/hooks\n"
            f"\tfsmonitor = touch {marker}\n\tautocrlf = true\n"
            f'[filter "x"]\n\tclean = touch {marker}\n\tsmudge = touch {marker}\n'
            "[commit]\n\tgpgSign = true\n"
        )
    (world.l2 / ".gitattributes").write_text("*.md filter=x text eol=crlf\n")

    world.reopen()
    world.must(RACE)

    assert not marker.exists()
    assert not (tmp_path / "away").exists()
    assert b"\r" not in race(world).read_bytes()


def test_alternates_grafts_and_replaced_objects_are_not_obeyed(world: Any) -> None:
    git = world.l2 / ".git"
    head, first = world.store.head(), world.git("rev-parse", "HEAD~4").strip()
    (git / "info" / "grafts").write_text(f"{head.id}\n")
    (git / "objects" / "info" / "alternates").write_text("/nowhere/objects\n")
    (git / "refs" / "replace").mkdir()
    (git / "refs" / "replace" / head.id).write_text(f"{first}\n")
    (git / "shallow").write_text(f"{head.id}\n")

    world.reopen()
    world.must(RACE)

    assert world.store.ledger.revision(head.id) == head
    assert check(world.store.ledger, world.store.projection, replay=True).problems == ()


# What was drawn is lost


def lose_by_removal(path: Path) -> None:
    path.unlink()


def lose_the_last_line(path: Path) -> None:
    data = path.read_bytes()
    path.write_bytes(data[:-40])


LOSSES: dict[str, Hand] = {
    "removed": lose_by_removal,
    "garbage": lambda path: path.write_bytes(b"\xff garbage\n"),
    "emptied": lambda path: path.write_bytes(b""),
    "nul-filled": lambda path: path.write_bytes(b"\0" * 500),
    "torn last line": lose_the_last_line,
    "whole folder": lambda path: shutil.rmtree(path.parent),
}


@pytest.mark.parametrize("loss", LOSSES)
def test_without_drawn_the_next_commit_works_and_rescues_nothing(
    loss: str, world: Any
) -> None:
    LOSSES[loss](layout.drawn_file(world.profile))
    world.reopen()

    world.must(RACE)

    assert rescued(world) == {}
    assert status_of_git(world) == ""


@pytest.mark.parametrize("loss", LOSSES)
def test_without_drawn_the_edit_of_another_hand_is_still_drift(
    loss: str, world: Any
) -> None:
    race(world).write_text("a person's")
    LOSSES[loss](layout.drawn_file(world.profile))
    world.reopen()

    answer = world.commit(RACE)

    assert codes(answer) == {"drift"}
    assert race(world).read_text() == "a person's"


@pytest.mark.parametrize("loss", LOSSES)
def test_without_drawn_a_file_of_that_paths_own_history_is_ours(
    loss: str, world: Any
) -> None:
    old = race(world).read_bytes()
    world.must(RACE)
    race(world).write_bytes(old)
    LOSSES[loss](layout.drawn_file(world.profile))
    world.reopen()

    world.must(DEPLOY)

    assert race(world).read_text().endswith("- in May\n")
    assert status_of_git(world) == ""
    assert rescued(world) == {}


@pytest.mark.parametrize("loss", LOSSES)
def test_without_drawn_a_file_of_another_paths_history_is_drift(
    loss: str, world: Any
) -> None:
    race(world).write_bytes((world.l2 / "scene-blocks" / "deploy.md").read_bytes())
    LOSSES[loss](layout.drawn_file(world.profile))
    world.reopen()

    answer = world.commit(RACE)

    assert codes(answer) == {"drift"}


@pytest.mark.parametrize("what", [b"", b"\0" * 200])
def test_without_drawn_an_empty_or_nul_filled_scene_is_rescued_and_drawn(
    what: bytes, world: Any
) -> None:
    drawn = race(world).read_bytes()
    race(world).write_bytes(what)
    layout.drawn_file(world.profile).unlink()
    world.reopen()

    world.must(DEPLOY)

    assert race(world).read_bytes() == drawn
    assert list(rescued(world).values()) == [what]
    assert status_of_git(world) == ""


def test_without_drawn_a_missing_scene_is_drawn(world: Any) -> None:
    drawn = race(world).read_bytes()
    race(world).unlink()
    layout.drawn_file(world.profile).unlink()
    world.reopen()

    world.must(DEPLOY)

    assert race(world).read_bytes() == drawn


def test_without_drawn_a_file_that_a_hand_added_stays(world: Any) -> None:
    path = world.l2 / "scene-blocks" / "mine.md"
    path.write_text("mine")
    layout.drawn_file(world.profile).unlink()
    world.reopen()

    world.must(DEPLOY)

    assert path.read_text() == "mine"
    assert drift(world) == [("scene-blocks/mine.md", "added")]


def test_without_drawn_a_file_of_a_deleted_scene_goes(world: Any) -> None:
    old = race(world).read_bytes()
    world.must({"sceneWrites": [{"action": "delete", "filename": "race.md"}]})
    race(world).write_bytes(old)
    layout.drawn_file(world.profile).unlink()
    world.reopen()

    world.must(DEPLOY)

    assert not race(world).exists()
    assert status_of_git(world) == ""


def test_three_hundred_commits_keep_drawn_short_and_right(world: Any) -> None:
    for number in range(300):
        world.must({"personaSignal": True, "personaReason": f"reason {number}"})
    race(world).write_text("a person's")

    lines = layout.drawn_file(world.profile).read_bytes().count(b"\n")
    assert lines <= 201
    assert drift(world) == [("scene-blocks/race.md", "edited")]


# Modes, and the scene index


def test_every_file_and_folder_is_private(world: Any) -> None:
    world.must(
        {"sceneWrites": [{"action": "archive", "filename": "race.md", "reason": "x"}]}
    )

    for path in (world.l2, *world.l2.rglob("*")):
        mode = stat.S_IMODE(path.stat().st_mode)
        assert mode == (0o700 if path.is_dir() else 0o600), path


def test_modes_do_not_depend_on_the_umask(world: Any) -> None:
    old = os.umask(0)
    try:
        world.create("tea.md", 9)
    finally:
        os.umask(old)

    made = world.l2 / "scene-blocks" / "tea.md"
    assert stat.S_IMODE(made.stat().st_mode) == 0o600
    assert stat.S_IMODE((world.l2 / "members" / "tea.md").stat().st_mode) == 0o700


def test_the_scene_index_has_one_entry_a_line_and_equals_the_state(world: Any) -> None:
    world.must(RACE)

    lines = (world.l2 / "index" / "scene_index.json").read_text().splitlines()
    entries = [json.loads(line.removesuffix(",")) for line in lines[1:-1]]
    assert (lines[0], lines[-1]) == ("[", "]")
    assert [entry["filename"] for entry in entries] == sorted(world.live())
    for entry in entries:
        scene = world.live()[entry["filename"]]
        fields = ("summary", "heat", "created", "updated")
        assert {f: entry[f] for f in fields} == {f: scene[f] for f in fields}
        assert entry["members"] == sorted(scene["members"])
        assert set(entry) == {"filename", "members", *fields}


def test_the_scene_index_of_an_empty_store_is_an_empty_list(empty: Any) -> None:
    assert json.loads((empty.l2 / "index" / "scene_index.json").read_text()) == []


@pytest.mark.parametrize("what", [None, b"[]", b"garbage", b'[\n{"filename": 5}\n]\n'])
def test_a_scene_index_that_is_not_ours_is_drawn_by_the_next_commit(
    what: bytes | None, world: Any
) -> None:
    index = world.l2 / "index" / "scene_index.json"
    index.unlink()
    if what is not None:
        index.write_bytes(what)

    world.must(RACE)

    entries = json.loads(index.read_text())
    assert [entry["filename"] for entry in entries] == sorted(world.live())


@pytest.mark.parametrize("by", ["repair", "commit"])
def test_what_a_hand_wrote_over_the_scene_index_is_rescued(by: str, world: Any) -> None:
    (world.l2 / "index" / "scene_index.json").write_text("a person's")

    repair(world.store) if by == "repair" else world.must(RACE)

    assert list(rescued(world).values()) == [b"a person's"]


def test_status_tells_of_drift_and_changes_nothing(world: Any) -> None:
    _append(race(world))
    before = world.bytes_under()

    told = status(world.store)

    assert [one.path for one in told.drift] == ["scene-blocks/race.md"]
    assert world.bytes_under() == before
