"""Another program's git commits, moved branches, and what git does to its own store."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from scenestore import (
    CallerError,
    CorruptError,
    Receipt,
    Store,
    import_state,
    layout,
    roll_back,
)
from scenestore.check import check
from scenestore.upkeep import repair, status
from scenestore_engine.decide import Rejected

PERSON = ("-c", "user.name=A Person", "-c", "user.email=a@example.org")


def update(name: str, content: str) -> dict[str, object]:
    write = {"action": "update", "filename": name, "content": content}
    return {"sceneWrites": [write]}


RACE = update("race.md", "# Race\n- shoes\n- in May")
DEPLOY = update("deploy.md", "# Deploy\n- on Tuesday\n- at noon")


def commit_by_hand(world: Any, subject: str = "by hand") -> str:
    world.git("add", "--all")
    world.git(*PERSON, "commit", "--quiet", "--allow-empty", "-m", subject)
    head: str = world.git("rev-parse", "main").strip()
    return head


def race(world: Any) -> Path:
    path: Path = world.l2 / "scene-blocks" / "race.md"
    return path


def edit(world: Any) -> None:
    with race(world).open("a") as file:
        file.write("- by hand\n")


def back(world: Any, to: str) -> Any:
    world.wait(ms=1)
    return roll_back(world.store, to, now=world.now)


def codes(answer: Any) -> set[str]:
    if isinstance(answer, Rejected):
        return {str(fault.code) for fault in answer.faults}
    return {error["code"] for error in answer.get("errors", ())}


def status_of_git(world: Any) -> str:
    said: str = world.git("status", "--porcelain", "--untracked-files=all")
    return said


def problems(world: Any) -> list[str]:
    found = check(world.store.ledger, world.store.projection, replay=True).problems
    return [problem.message for problem in found if problem.is_damage]


def replace_by_a_link(world: Any) -> None:
    race(world).unlink()
    race(world).symlink_to("deploy.md")


def replace_folder_by_a_file(name: str) -> Callable[[Any], None]:
    def act(world: Any) -> None:
        shutil.rmtree(world.l2 / name)
        (world.l2 / name).write_text("a person's")

    return act


def replace_file_by_a_folder(world: Any) -> None:
    (world.l2 / "cursor.json").unlink()
    (world.l2 / "cursor.json").mkdir()
    (world.l2 / "cursor.json" / "x").write_text("a person's")


def add_files(world: Any) -> None:
    (world.l2 / "README.md").write_text("a person's")
    (world.l2 / "notes" / "deep").mkdir(parents=True)
    (world.l2 / "notes" / "deep" / "a.txt").write_text("a person's")
    (world.l2 / "scene-blocks" / "mine.md").write_text("a person's")
    (world.l2 / "scene-blocks" / "no scene").write_text("a person's")
    (world.l2 / "members" / "race.md" / "extra.ids").write_text("mine\n")


FOREIGN: dict[str, Callable[[Any], object]] = {
    "nothing": lambda _: None,
    "an edit": edit,
    "a removal": lambda world: race(world).unlink(),
    "new files": add_files,
    "a link": replace_by_a_link,
    "an executable": lambda world: race(world).chmod(0o755),
    "garbage events": lambda world: (world.l2 / "events.json").write_text("{"),
    "no events": lambda world: (world.l2 / "events.json").unlink(),
    "garbage places": lambda world: (world.l2 / "scenes.json").write_text("[]"),
    "no scenes": lambda world: shutil.rmtree(world.l2 / "scene-blocks"),
    "scenes as a file": replace_folder_by_a_file("scene-blocks"),
    "members as a file": replace_folder_by_a_file("members"),
    "the cursor as a folder": replace_file_by_a_folder,
    "not utf-8": lambda world: race(world).write_bytes(b"\xff\xfe"),
}


# A commit by a person


@pytest.mark.parametrize("what", FOREIGN)
def test_reading_goes_on_with_the_last_own_state(what: str, world: Any) -> None:
    before, own = world.live(), world.store.head()
    FOREIGN[what](world)
    commit_by_hand(world)
    world.reopen()

    assert world.store.head() == own
    assert world.live() == before
    found = world.store.read_scene_blocks(["race.md"])
    assert found.revision == own.id
    assert found.blocks[0].content == "# Race\n- shoes"


@pytest.mark.parametrize("what", FOREIGN)
def test_writing_is_refused_and_changes_nothing(what: str, world: Any) -> None:
    FOREIGN[what](world)
    head = commit_by_hand(world)
    world.reopen()

    answer = world.commit(DEPLOY)

    assert "foreign_commit" in codes(answer)
    assert answer["retry"] is False
    assert answer["head"] == head
    assert world.git("rev-parse", "main").strip() == head
    assert status_of_git(world) == ""


@pytest.mark.parametrize("what", FOREIGN)
def test_a_rollback_sets_it_aside_and_leaves_a_clean_work_tree(
    what: str, world: Any
) -> None:
    before = world.live()
    FOREIGN[what](world)
    head = commit_by_hand(world)
    world.reopen()

    outcome = back(world, "4")

    assert isinstance(outcome, Receipt), outcome
    assert world.git("rev-parse", "main~1").strip() == head
    assert world.live() == before
    assert status_of_git(world) == ""
    assert not list(world.l2.glob("tmp_*"))
    assert problems(world) == []


@pytest.mark.parametrize("what", FOREIGN)
def test_after_a_rollback_the_store_goes_on(what: str, world: Any) -> None:
    FOREIGN[what](world)
    commit_by_hand(world)
    back(world, "4")
    world.reopen()

    answer = world.must(RACE)

    assert answer["seq"] == 6
    assert status_of_git(world) == ""
    assert problems(world) == []


def test_the_refusal_says_whose_commit_it_is_and_the_way_out(world: Any) -> None:
    head = commit_by_hand(world, "mend a typo")

    (error,) = world.commit(RACE)["errors"]

    assert head[:10] in error["message"]
    assert "A Person" in error["message"]
    assert "mend a typo" in error["message"]
    assert "rollback 4" in error["hint"]


def test_several_foreign_commits_are_set_aside_at_once(world: Any) -> None:
    edit(world)
    commit_by_hand(world, "one")
    edit(world)
    commit_by_hand(world, "two")

    assert isinstance(back(world, "4"), Receipt)
    assert status_of_git(world) == ""
    assert world.live()["race.md"]["body"] == "# Race\n- shoes"


def test_a_merge_by_a_person_is_a_foreign_commit(world: Any) -> None:
    world.git("checkout", "--quiet", "-b", "side")
    commit_by_hand(world, "side")
    side = world.git("rev-parse", "side").strip()
    world.git("checkout", "--quiet", "main")
    world.must(RACE)
    world.git(*PERSON, "merge", "--quiet", side)

    assert codes(world.commit(DEPLOY)) == {"foreign_commit"}
    assert isinstance(back(world, "5"), Receipt)
    assert status_of_git(world) == ""


def test_an_import_is_refused_over_a_foreign_commit(world: Any) -> None:
    head = commit_by_hand(world)

    outcome = import_state(
        world.store, b'{"scenes": {"a.md": {"content": "- x"}}}', now=world.now
    )

    assert codes(outcome) == {"foreign_commit"}
    assert world.git("rev-parse", "main").strip() == head


def test_check_tells_of_a_foreign_commit_as_no_damage(world: Any) -> None:
    commit_by_hand(world)

    found = check(world.store.ledger, world.store.projection, replay=True)

    assert [problem.is_damage for problem in found.problems] == [False]


def test_status_tells_why_nothing_can_be_written(world: Any) -> None:
    commit_by_hand(world)

    told = status(world.store)

    assert [str(fault.code) for fault in told.blocked] == ["foreign_commit"]
    assert told.seq == 4


def test_an_edit_after_a_foreign_commit_leaves_a_way_out(world: Any) -> None:
    edit(world)
    commit_by_hand(world)
    edit(world)
    work = race(world).read_bytes()

    if codes(back(world, "4")) == {"drift"}:
        repair(world.store)
        outcome = back(world, "4")
        assert isinstance(outcome, Receipt), outcome

    kept = [path.read_bytes() for path in layout.rescued_dir(world.profile).glob("*")]
    assert work in kept
    assert status_of_git(world) == ""


def test_a_reword_of_our_commit_is_a_head_that_moved(world: Any) -> None:
    world.git(*PERSON, "commit", "--quiet", "--amend", "-m", "other words")

    assert codes(world.commit(RACE)) == {"history_moved"}


# A head that moved


def test_reading_goes_on_where_the_head_was_moved_to(world: Any) -> None:
    world.must(RACE)
    world.git("update-ref", "refs/heads/main", "HEAD~1")

    assert world.store.head().seq == 4
    assert world.live()["race.md"]["heat"] == 1


def test_writing_names_the_lost_revision_and_both_exits(world: Any) -> None:
    world.must(RACE)
    lost = world.store.head().id
    world.git("update-ref", "refs/heads/main", "HEAD~1")

    (error,) = world.commit(DEPLOY)["errors"]

    assert error["code"] == "history_moved"
    assert lost[:10] in error["message"]
    assert f"rollback {lost[:10]}" in error["hint"]
    assert "repair --accept-head" in error["hint"]


def test_a_head_that_moved_is_gone_back_from(world: Any) -> None:
    world.must(RACE)
    lost = world.store.head().id
    world.git("update-ref", "refs/heads/main", "HEAD~1")

    outcome = back(world, lost[:10])

    assert isinstance(outcome, Receipt)
    assert world.live()["race.md"]["heat"] == 2
    assert status_of_git(world) == ""
    world.must(DEPLOY)
    assert problems(world) == []


def test_a_head_that_moved_is_taken_as_it_is(world: Any) -> None:
    world.must(RACE)
    world.git("update-ref", "refs/heads/main", "HEAD~1")

    done = repair(world.store, accept_head=True)

    assert (done.blocked, done.rescued) == ((), ())
    assert race(world).read_text().endswith("- shoes\n")
    assert status_of_git(world) == ""
    world.must(DEPLOY)
    assert problems(world) == []


def test_repair_alone_does_not_take_a_head_that_moved(world: Any) -> None:
    world.must(RACE)
    world.git("update-ref", "refs/heads/main", "HEAD~1")

    done = repair(world.store)

    assert [str(fault.code) for fault in done.blocked] == ["history_moved"]
    assert race(world).read_text().endswith("- in May\n")


def test_a_hard_reset_by_a_person_is_a_head_that_moved(world: Any) -> None:
    world.must(RACE)
    world.git("reset", "--quiet", "--hard", "HEAD~2")

    assert codes(world.commit(DEPLOY)) >= {"history_moved"}
    repair(world.store, accept_head=True)
    world.must({"cursor": world.rid(12)})
    assert status_of_git(world) == ""


def test_a_head_on_another_root_is_a_head_that_moved(world: Any, tmp_path: Any) -> None:
    other = Store(tmp_path / "other")
    other.init(now=world.now)
    other.close()
    world.git("fetch", "--quiet", str(tmp_path / "other/memoryDB/l2"), "main:other")
    world.git("update-ref", "refs/heads/main", "other")
    world.reopen()

    assert "history_moved" in codes(world.commit(DEPLOY))


def test_a_branch_that_was_deleted_is_not_begun_anew(world: Any) -> None:
    head = world.store.head().id
    world.git("update-ref", "-d", "refs/heads/main")
    world.reopen()

    with pytest.raises(CallerError, match=head[:10]):
        world.store.init(now=world.now)

    assert race(world).exists()


def test_a_main_branch_that_is_a_link_is_not_begun_anew(world: Any) -> None:
    ref = world.l2 / ".git" / "refs" / "heads" / "main"
    target = ref.with_name("other")
    ref.rename(target)
    ref.symlink_to("other")
    world.reopen()

    with pytest.raises(CorruptError, match="no plain file"):
        world.store.init(now=world.now)

    assert race(world).exists()


# A repository that is not ours


def test_init_in_a_persons_repository_is_refused(world: Any, tmp_path: Path) -> None:
    profile = tmp_path / "theirs"
    l2 = layout.repo_dir(profile)
    shutil.copytree(world.l2, l2)
    shutil.rmtree(l2 / ".git")
    (l2 / "scenes.json").write_text("a person's")
    world.git("init", "--quiet", "--initial-branch=master", str(l2))
    world.git("-C", str(l2), "add", "--all")
    world.git("-C", str(l2), *PERSON, "commit", "--quiet", "-m", "mine")

    with pytest.raises(CallerError):
        Store(profile).init(now=world.now)

    assert (l2 / "scenes.json").read_text() == "a person's"
    assert world.git("-C", str(l2), "status", "--porcelain") == ""


def test_init_in_an_empty_git_repository_is_refused_or_works_in_git(
    world: Any, tmp_path: Path
) -> None:
    profile = tmp_path / "theirs"
    l2 = layout.repo_dir(profile)
    l2.mkdir(parents=True)
    world.git("init", "--quiet", "--initial-branch=master", str(l2))

    try:
        Store(profile).init(now=world.now)
    except CallerError:
        return

    assert world.git("-C", str(l2), "status", "--porcelain") == ""
    assert "begin" in world.git("-C", str(l2), "log", "--oneline")


def test_a_clone_works_and_its_status_is_clean(world: Any, tmp_path: Path) -> None:
    profile = tmp_path / "clone"
    layout.memory_dir(profile).mkdir(parents=True)
    shutil.copytree(layout.records_dir(world.profile), layout.records_dir(profile))
    world.git("clone", "--quiet", str(world.l2), str(layout.repo_dir(profile)))
    world.close()
    world.profile = profile
    world.reopen()

    made = world.store.init(now=world.now)
    world.must(RACE)

    assert made is False
    assert status_of_git(world) == ""
    assert problems(world) == []


def test_a_copy_of_the_profile_is_a_store(world: Any, tmp_path: Path) -> None:
    shutil.copytree(world.profile, tmp_path / "a copy 档案")
    world.close()
    world.profile = tmp_path / "a copy 档案"
    world.reopen()

    world.must(RACE)

    assert status_of_git(world) == ""
    assert problems(world) == []


# What git does to its own store


GIT: dict[str, tuple[tuple[str, ...], ...]] = {
    "gc": (("gc", "--quiet"),),
    "gc now": (("gc", "--quiet", "--prune=now", "--aggressive"),),
    "repack": (("repack", "-a", "-d", "-f", "--quiet"),),
    "loose": (("repack", "-A", "-d", "-q"), ("prune-packed",)),
    "pack-refs": (("pack-refs", "--all"),),
    "midx and graph": (
        ("multi-pack-index", "write"),
        ("commit-graph", "write", "--reachable"),
    ),
    "bitmaps": (("repack", "-a", "-d", "-b", "--quiet"),),
    "maintenance": (("maintenance", "run", "--quiet"),),
    "checkout and back": (
        ("checkout", "--quiet", "HEAD~2"),
        ("checkout", "--quiet", "main"),
    ),
    "another branch and back": (
        ("checkout", "--quiet", "-b", "side", "HEAD~1"),
        ("checkout", "--quiet", "main"),
    ),
    "stash": (("stash", "--quiet"),),
    "clean": (("clean", "-ffdq"),),
    "read-tree": (("read-tree", "HEAD"),),
    "index version 4": (("update-index", "--index-version", "4"),),
    "tag": (("tag", "v1"), (*PERSON, "tag", "-a", "-m", "x", "v2")),
}


@pytest.mark.parametrize("deed", GIT)
def test_after_git_did_this_an_open_store_goes_on(deed: str, world: Any) -> None:
    before = world.live()
    for args in GIT[deed]:
        world.git(*args)

    assert world.live() == before
    world.must(RACE)
    world.must(DEPLOY)

    assert status_of_git(world) == ""
    assert problems(world) == []
    world.git("fsck", "--strict", "--full")


@pytest.mark.parametrize("deed", GIT)
def test_after_git_did_this_a_store_is_opened_and_goes_on(
    deed: str, world: Any
) -> None:
    before = world.live()
    world.must(RACE)
    world.must({"sceneWrites": [{"action": "delete", "filename": "running.md"}]})
    for args in GIT[deed]:
        world.git(*args)
    world.reopen()

    world.must(DEPLOY)

    assert world.live()["deploy.md"]["members"] == before["deploy.md"]["members"]
    assert status_of_git(world) == ""
    assert problems(world) == []
    world.git("fsck", "--strict", "--full")


def test_an_old_revision_is_read_after_a_repack(world: Any) -> None:
    world.policy(retention_update="off")
    for number in range(30):
        world.must(update("race.md", f"# Race\n- shoes\n- number {number}"))
    world.git("repack", "-a", "-d", "-f", "--depth=50", "--quiet")
    world.reopen()

    found = world.store.read_scene_blocks(["race.md"], revision="20")

    assert found.blocks[0].content == "# Race\n- shoes\n- number 15"


def test_while_an_old_commit_is_checked_out_main_goes_on(world: Any) -> None:
    world.git("checkout", "--quiet", "HEAD~1")

    world.must({"cursor": world.rid(12)})
    world.git("checkout", "--quiet", "--force", "main")

    assert world.store.head().seq == 5
    assert status_of_git(world) == ""


def test_scenes_of_an_old_commit_that_is_checked_out_are_not_overwritten(
    world: Any,
) -> None:
    old = race(world).read_bytes()
    world.must(RACE)
    world.git("checkout", "--quiet", "HEAD~1")

    answer = world.commit(update("race.md", "# Race\n- shoes\n- in May\n- more"))

    assert codes(answer) == {"drift"}
    assert race(world).read_bytes() == old


def test_a_packed_ref_beside_a_newer_loose_one_does_not_count(world: Any) -> None:
    world.git("pack-refs", "--all", "--no-prune")
    world.must(RACE)

    assert world.reopen().head().seq == 5


def test_a_packed_ref_is_moved_by_a_loose_one(world: Any) -> None:
    world.git("pack-refs", "--all")

    answer = world.must(RACE)

    ref = world.l2 / ".git" / "refs" / "heads" / "main"
    assert ref.read_text() == answer["revision"] + "\n"
    assert world.git("rev-parse", "main").strip() == answer["revision"]


@pytest.mark.parametrize(
    "content", [b"", b"garbage\n", b"ref: refs/heads/x\n", b"\0" * 41]
)
def test_a_main_ref_that_names_no_commit_is_an_error_with_advice(
    content: bytes, world: Any
) -> None:
    (world.l2 / ".git" / "refs" / "heads" / "main").write_bytes(content)
    world.reopen()

    with pytest.raises(CorruptError, match="check"):
        world.commit(RACE)

    assert race(world).exists()
