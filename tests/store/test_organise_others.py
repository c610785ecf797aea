import contextlib
import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from scenestore import BusyError, Store, StoreError, durable, layout
from scenestore.organise import OrganiseError, Progress, organise

GARDEN = [f"garden: the garden bed number {n} was dug over" for n in range(8)]
SERVER = [f"server: the backup server had outage number {n}" for n in range(8)]
HUMAN = """# The garden

A place for *everything* that grows.

## Beds
| bed | crop |
|-----|------|
| 1   | kale |

- the garden gate squeaks

Ask Rosa before digging."""


class CutOffError(Exception):
    """Stands for a process that ends between two batches."""


def test_a_scene_by_another_hand_keeps_every_line_in_order(tmp_path: Path) -> None:
    written_by_hand(tmp_path, HUMAN)
    wrote(tmp_path, GARDEN)

    organise(Store(tmp_path))

    lines = iter(body(tmp_path, "garden.md").split("\n"))
    assert all(line in lines for line in HUMAN.split("\n"))


def test_a_scene_by_another_hand_keeps_its_summary(tmp_path: Path) -> None:
    written_by_hand(tmp_path, HUMAN)
    wrote(tmp_path, GARDEN)

    organise(Store(tmp_path))

    store = Store(tmp_path)
    block = store.ledger.block(store.state().live["garden.md"].blob)
    assert block.meta.summary == "By hand"


def test_a_full_scene_by_another_hand_is_not_changed(tmp_path: Path) -> None:
    full = "# The garden\n" + "\n".join(["- the garden bed is dug over"] * 51)
    written_by_hand(tmp_path, full)
    allow(tmp_path, max_scenes=1)
    ids = wrote(tmp_path, GARDEN)

    organise(Store(tmp_path))

    assert body(tmp_path, "garden.md") == full
    assert members(tmp_path, "garden.md") == set(ids)


def test_a_body_beyond_the_limit_is_left_alone(tmp_path: Path) -> None:
    written_by_hand(tmp_path, HUMAN)
    allow(tmp_path, max_body_chars=80)
    ids = wrote(tmp_path, GARDEN)

    summary = organise(Store(tmp_path))

    assert body(tmp_path, "garden.md") == HUMAN
    assert summary.unassigned == 0
    assert not members(tmp_path, "garden.md") & set(ids)


def test_a_name_in_the_archive_is_not_taken_again(tmp_path: Path) -> None:
    wrote(tmp_path, SERVER, scene_name="server")
    allow(tmp_path, max_scenes=1)
    organise(Store(tmp_path))
    (name,) = Store(tmp_path).state().live
    archived(tmp_path, name)
    with (layout.records_dir(tmp_path) / "2026-03-05.jsonl").open("a") as file:
        for n, tale in enumerate(SERVER):
            again = record(f"m_1772800000000_{n:08x}", f"{tale} again", "2026-03-06")
            file.write(json.dumps({**again, "scene_name": "server"}) + "\n")

    organise(Store(tmp_path))

    assert name in Store(tmp_path).state().archived
    assert name not in Store(tmp_path).state().live


def test_a_record_of_an_archived_scene_stays_there_when_read_again(
    tmp_path: Path,
) -> None:
    ids = wrote(tmp_path, SERVER)
    organise(Store(tmp_path))
    (name, *_) = Store(tmp_path).state().live
    held = members(tmp_path, name)
    archived(tmp_path, name)
    read_again(tmp_path)

    organise(Store(tmp_path))

    live = [members(tmp_path, n) for n in Store(tmp_path).state().live]
    assert held <= set(ids)
    assert not held & set().union(*live)


def test_a_dismissed_record_stays_dismissed(tmp_path: Path) -> None:
    ids = wrote(tmp_path, SERVER)
    store = Store(tmp_path)
    store.init()
    store.l2_commit({"dismiss": [ids[0]], "dismissReason": "small talk"})

    summary = organise(Store(tmp_path))

    live = [members(tmp_path, n) for n in Store(tmp_path).state().live]
    assert ids[0] not in set().union(*live)
    assert summary.unassigned == 0


@pytest.mark.parametrize("commits", [0, 1, 2])
def test_a_run_that_was_cut_off_is_taken_up_by_the_next(
    tmp_path: Path, commits: int
) -> None:
    ids = wrote(tmp_path, [*GARDEN, *SERVER])
    told: list[Progress] = []

    def cut(progress: Progress) -> None:
        told.append(progress)
        if len(told) > commits:
            raise CutOffError

    with pytest.raises(CutOffError):
        organise(Store(tmp_path), progress=cut)

    summary = organise(Store(tmp_path))

    store = Store(tmp_path)
    held = [i for n in store.state().live for i in members(tmp_path, n)]
    lines = [s for n in store.state().live for s in body(tmp_path, n).split("\n")]
    facts = [line for line in lines if line.startswith("- ")]
    assert sorted(held) == sorted(ids)
    assert sorted(facts) == sorted(f"- {tale}" for tale in (*GARDEN, *SERVER))
    assert organise(Store(tmp_path)).nothing_new
    assert summary.unassigned == 0


def test_a_scene_that_drifted_is_passed_by(tmp_path: Path) -> None:
    written_by_hand(tmp_path, HUMAN)
    file = layout.repo_dir(tmp_path) / layout.scene_path("garden.md")
    file.write_text("edited by a person, and not adopted yet\n")
    ids = wrote(tmp_path, GARDEN)

    summary = organise(Store(tmp_path))

    assert file.read_text() == "edited by a person, and not adopted yet\n"
    assert summary.unassigned == 0
    assert not members(tmp_path, "garden.md") & set(ids)


def test_records_without_any_scene_to_go_to_are_told_and_stay_late(
    tmp_path: Path,
) -> None:
    written_by_hand(tmp_path, HUMAN)
    allow(tmp_path, max_scenes=1)
    file = layout.repo_dir(tmp_path) / layout.scene_path("garden.md")
    file.write_text("edited by a person, and not adopted yet\n")
    ids = wrote(tmp_path, GARDEN)

    summary = organise(Store(tmp_path))

    assert summary.unassigned == len(ids)
    assert organise(Store(tmp_path)).commits == 0


def test_a_file_that_lies_where_a_scene_would_go_is_not_overwritten(
    tmp_path: Path,
) -> None:
    wrote(tmp_path, GARDEN, scene_name="garden")
    Store(tmp_path).init()
    file = layout.repo_dir(tmp_path) / layout.scene_path("garden.md")
    file.parent.mkdir(exist_ok=True)
    file.write_text("a note by another hand\n")

    summary = organise(Store(tmp_path))

    assert file.read_text() == "a note by another hand\n"
    assert summary.unassigned == 0


def test_a_foreign_commit_stops_the_run_and_names_the_way_out(tmp_path: Path) -> None:
    wrote(tmp_path, GARDEN)
    store = Store(tmp_path)
    store.init()
    store.close()
    committed_by_git(tmp_path)

    with pytest.raises(OrganiseError, match=r"foreign_commit.*rollback") as caught:
        organise(Store(tmp_path))

    assert isinstance(caught.value, StoreError)
    assert caught.value.faults[0].code == "foreign_commit"


def test_a_scene_that_another_deletes_meanwhile_is_passed_by(tmp_path: Path) -> None:
    written_by_hand(tmp_path, HUMAN)
    ids = wrote(tmp_path, GARDEN)

    def delete(progress: Progress) -> None:
        if progress.done == 0:
            commit(tmp_path, {"action": "delete", "filename": "garden.md"})

    summary = organise(Store(tmp_path), progress=delete)

    assert (summary.records, summary.unassigned) == (len(ids), 0)


def test_what_another_writes_meanwhile_is_built_upon(tmp_path: Path) -> None:
    written_by_hand(tmp_path, HUMAN)
    wrote(tmp_path, GARDEN)

    def edit(progress: Progress) -> None:
        if progress.done == 0:
            line = "- Rosa is away until May"
            write = {"action": "update", "filename": "garden.md"}
            commit(tmp_path, {**write, "content": f"{HUMAN}\n{line}"})

    organise(Store(tmp_path), progress=edit)

    assert "- Rosa is away until May" in body(tmp_path, "garden.md")


def test_room_that_another_takes_meanwhile_is_done_without(tmp_path: Path) -> None:
    allow(tmp_path, max_scenes=2)
    ids = wrote(tmp_path, [*GARDEN, *SERVER])

    def fill(progress: Progress) -> None:
        if progress.done and len(Store(tmp_path).state().live) == 1:
            write = {"action": "create", "filename": "opera.md", "content": "# Opera"}
            commit(tmp_path, {**write, "meta": {"summary": "Opera"}})

    summary = organise(Store(tmp_path), progress=fill)

    assert (summary.records, summary.unassigned) == (len(ids), 0)
    assert summary.scenes_live == 2


def test_a_store_that_another_program_holds_is_told_as_busy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wrote(tmp_path, GARDEN)
    Store(tmp_path).init()
    monkeypatch.setattr("scenestore.store.WAIT_S", 0.01)

    def hold(_: Progress) -> None:
        holding.enter_context(durable.locked(layout.lock_file(tmp_path), wait_s=0.01))

    with contextlib.ExitStack() as holding, pytest.raises(BusyError, match="stands"):
        organise(Store(tmp_path), progress=hold)


def commit(profile: Path, write: dict[str, object]) -> None:
    answer = Store(profile).l2_commit({"sceneWrites": [write]})
    assert answer["success"], answer


def written_by_hand(profile: Path, text: str) -> None:
    store = Store(profile)
    store.init()
    write = {
        "action": "create",
        "filename": "garden.md",
        "content": text,
        "meta": {"summary": "By hand"},
        "members": [],
    }
    commit(profile, write)


def archived(profile: Path, name: str) -> None:
    allow(profile, min_archive_age_days=0)
    write = {"action": "archive", "filename": name, "reason": "over"}
    commit(profile, write)


def read_again(profile: Path) -> None:
    """Rewrite the first shard, so that it is read from its start again."""
    shard = layout.records_dir(profile) / "2026-03-05.jsonl"
    lines = shard.read_text().splitlines(keepends=True)
    cursor = Store(profile).state().cursor
    assert cursor is not None
    kept = [line for line in lines if cursor.record_id not in line]
    shard.write_text("".join(kept))


def committed_by_git(profile: Path) -> None:
    import subprocess  # noqa: PLC0415

    repo = layout.repo_dir(profile)
    (repo / "note.txt").write_text("mine\n")
    me = ("-c", "user.name=a", "-c", "user.email=a@b.c")
    for arguments in (("add", "note.txt"), (*me, "commit", "-qm", "mine")):
        subprocess.run(["git", "-C", str(repo), *arguments], check=True)  # noqa: S607


def allow(profile: Path, **limits: int) -> None:
    lines = [f"{name} = {value}\n" for name, value in limits.items()]
    layout.policy_file(profile).parent.mkdir(parents=True, exist_ok=True)
    layout.policy_file(profile).write_text("".join(lines))


def body(profile: Path, name: str) -> str:
    store = Store(profile)
    return store.ledger.block(store.state().live[name].blob).body


def members(profile: Path, name: str) -> set[str]:
    store = Store(profile)
    return set(store.ledger.sets.ids(store.state().live[name].members))


def wrote(
    profile: Path,
    contents: Sequence[str],
    day: str = "2026-03-05",
    *,
    scene_name: str | None = None,
) -> list[str]:
    """Append one record a content to the shard of *day*; return their ids."""
    folder = layout.records_dir(profile)
    folder.mkdir(parents=True, exist_ok=True)
    ids = [f"m_17727{day[-2:]}{n:06d}_{n:08x}" for n in range(len(contents))]
    with (folder / f"{day}.jsonl").open("a") as file:
        for record_id, content in zip(ids, contents, strict=True):
            at = f"{day}T09:00:00.000Z"
            one = record(record_id, content, at)
            if scene_name is not None:
                one["scene_name"] = scene_name
            file.write(json.dumps(one) + "\n")
    return ids


def record(record_id: str, content: str, at: str) -> dict[str, object]:
    return {
        "id": record_id,
        "content": content,
        "type": "episodic",
        "priority": 50,
        "scene_name": content.partition(" ")[0],
        "createdAt": at,
        "updatedAt": at,
    }
