import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from scenestore import Store, layout
from scenestore.organise import Progress, Summary, organise

TALES = (
    "Garden: the tomatoes on the balcony got blight and were cut back",
    "Garden: new tomatoes were sown in eight pots with compost",
    "Garden: the compost needs more leaves and less lemon peel",
    "Bicycle: the rear brake squeaks, so the brake pads were replaced",
    "Bicycle: the chain of the bicycle was cleaned and oiled",
    "Bicycle: the commute by bicycle takes 23 minutes along the river",
    "钢琴: 今天练了半小时肖邦的夜曲, 左手还是太重",
    "钢琴: 老师说夜曲的踏板要换得更勤",
    "钢琴: 六月的钢琴演奏会报了名, 弹肖邦夜曲",
    "Server: the backup server ran out of disk at 03:12",
    "Server: 400 GB of old snapshots were deleted from the backup server",
    "Server: the backup now alerts at 85 percent of the disk",
)


@pytest.fixture
def profile(tmp_path: Path) -> Path:
    return tmp_path / "ada"


def test_every_live_record_ends_up_a_member_of_a_scene(profile: Path) -> None:
    ids = wrote(profile, TALES)

    summary = organise(Store(profile))

    assert members(profile) == set(ids)
    assert (summary.records, summary.unassigned) == (len(TALES), 0)


def test_records_on_one_topic_share_a_scene(profile: Path) -> None:
    ids = wrote(profile, TALES)

    organise(Store(profile))

    pianos = [scene for scene, held in by_scene(profile).items() if ids[6] in held]
    assert {ids[7], ids[8]} <= by_scene(profile)[pianos[0]]


def test_a_scene_is_named_in_the_language_of_its_records(profile: Path) -> None:
    wrote(profile, TALES[6:9])

    organise(Store(profile))

    assert all("\u4e00" <= name[0] <= "\u9fff" for name in by_scene(profile))


def test_the_cursor_ends_on_the_last_record(profile: Path) -> None:
    ids = wrote(profile, TALES)

    organise(Store(profile))

    cursor = Store(profile).state().cursor
    assert cursor is not None
    assert (cursor.record_id, cursor.line) == (ids[-1], len(TALES))


def test_the_summary_tells_what_was_done(profile: Path) -> None:
    wrote(profile, TALES[:6], "2026-03-05")
    wrote(profile, TALES[6:], "2026-03-07")

    summary = organise(Store(profile))

    assert summary == Summary(
        records=12,
        scenes_live=len(by_scene(profile)),
        max_scenes=15,
        commits=Store(profile).head().seq,
        unassigned=0,
        first_day="2026-03-05",
        last_day="2026-03-07",
        nothing_new=False,
    )


def test_a_second_run_finds_nothing_new_and_makes_no_commit(profile: Path) -> None:
    wrote(profile, TALES)
    organise(Store(profile))
    head = Store(profile).head()

    summary = organise(Store(profile))

    assert summary.nothing_new
    assert Store(profile).head() == head


def test_a_profile_without_records_gets_an_empty_store(profile: Path) -> None:
    layout.memory_dir(profile).mkdir(parents=True)

    summary = organise(Store(profile))

    assert summary.nothing_new
    assert Store(profile).head().seq == 0


def test_records_that_arrive_one_by_one_are_all_placed(profile: Path) -> None:
    ids: set[str] = set()
    for number, tale in enumerate(TALES):
        ids |= set(wrote(profile, [tale], f"2026-03-{number + 1:02d}"))

        summary = organise(Store(profile))

        assert summary.records == 1
        assert members(profile) == ids


def test_late_records_are_placed_too(profile: Path) -> None:
    wrote(profile, TALES[:4], "2026-03-09")
    organise(Store(profile))
    late = wrote(profile, TALES[4:5], "2026-03-02")

    summary = organise(Store(profile))

    assert summary.unassigned == 0
    assert set(late) <= members(profile)


def test_more_late_records_than_an_answer_holds_are_placed(profile: Path) -> None:
    wrote(profile, TALES[:1], "2026-03-09")
    organise(Store(profile))
    late = wrote(profile, [f"{TALES[n % 12]}, {n}" for n in range(450)], "2026-03-02")

    summary = organise(Store(profile))

    assert (summary.records, summary.unassigned) == (450, 0)
    assert set(late) <= members(profile)


def test_a_late_record_stands_before_those_of_later_days(profile: Path) -> None:
    wrote(profile, TALES[9:11], "2026-03-09")
    layout.policy_file(profile).write_text("max_scenes = 1\n")
    organise(Store(profile))
    wrote(profile, TALES[11:], "2026-03-02")

    organise(Store(profile))

    text = all_text(profile)
    assert text.index("## 2026-03-02") < text.index(TALES[11])
    assert text.index(TALES[11]) < text.index("## 2026-03-09") < text.index(TALES[9])


def test_days_stand_in_order_whenever_their_records_came(profile: Path) -> None:
    profile.mkdir()
    for tale, day in zip(TALES, ("09", "02", "12", "05"), strict=False):
        wrote(profile, [tale], f"2026-03-{day}")
        layout.policy_file(profile).write_text("max_scenes = 1\n")
        organise(Store(profile))

    lines = all_text(profile).split("\n")
    days = [line for line in lines if line.startswith("## ")]
    assert days == [f"## 2026-03-{day}" for day in ("02", "05", "09", "12")]


def test_what_two_records_say_alike_is_said_once(profile: Path) -> None:
    wrote(profile, [TALES[0], TALES[0]])

    organise(Store(profile))

    assert all_text(profile).count(TALES[0]) == 1


def test_the_cursor_moves_with_the_last_batch_alone(profile: Path) -> None:
    wrote(profile, TALES)
    cursors: list[object] = []

    organise(
        Store(profile),
        progress=lambda _: cursors.append(Store(profile).state().cursor),
    )

    assert len(cursors) > 2
    assert cursors[:-1] == [None] * (len(cursors) - 1)
    assert cursors[-1] is not None


def test_a_deleted_record_is_no_fact_and_no_member(profile: Path) -> None:
    ids = wrote(profile, TALES)
    with (layout.records_dir(profile) / "2026-03-06.jsonl").open("w") as file:
        file.write(json.dumps({"id": ids[0], "deleted": True}) + "\n")

    organise(Store(profile))

    assert ids[0] not in members(profile)
    assert "blight" not in all_text(profile)


def test_a_rewritten_record_says_its_later_text_alone(profile: Path) -> None:
    ids = wrote(profile, TALES)
    later = record(ids[5], "Bicycle: the commute takes 19 minutes now", "2026-03-05")
    with (layout.records_dir(profile) / "2026-03-06.jsonl").open("w") as file:
        file.write(json.dumps(later) + "\n")

    organise(Store(profile))

    assert "19 minutes" in all_text(profile)
    assert "23 minutes" not in all_text(profile)


def test_a_record_rewritten_after_it_was_placed_is_said_anew(profile: Path) -> None:
    ids = wrote(profile, TALES)
    organise(Store(profile))
    scenes = by_scene(profile)
    later = record(ids[5], "Bicycle: the commute takes 19 minutes now", "2026-03-05")
    later["updatedAt"] = "2999-01-01T00:00:00.000Z"
    with (layout.records_dir(profile) / "2026-03-06.jsonl").open("w") as file:
        file.write(json.dumps(later) + "\n")

    organise(Store(profile))

    assert "19 minutes" in all_text(profile)
    assert by_scene(profile) == scenes


def test_progress_rises_from_nothing_to_all(profile: Path) -> None:
    wrote(profile, TALES)
    told: list[Progress] = []

    organise(Store(profile), progress=told.append)

    done = [progress.done for progress in told]
    assert (done[0], done[-1]) == (0, len(TALES))
    assert done == sorted(done)
    assert {progress.total for progress in told} == {len(TALES)}


def test_every_commit_is_by_the_actor(profile: Path) -> None:
    wrote(profile, TALES)

    organise(Store(profile), actor="night-shift")

    store = Store(profile)
    assert store.ledger.record(store.head()).actor == "night-shift"


def test_two_hash_seeds_lead_to_the_same_commits(tmp_path: Path) -> None:
    heads = set()
    for seed in ("1", "4242"):
        profile = tmp_path / seed
        wrote(profile, TALES[:8])
        for _ in range(2):
            subprocess.run(
                [sys.executable, "-c", RUN, str(profile)],
                env={**os.environ, "PYTHONHASHSEED": seed, "SCENESTORE_NOW": NOON},
                check=True,
            )
            wrote(profile, TALES[8:], "2026-03-08")
        heads.add(Store(profile).head().id)

    assert len(heads) == 1


NOON = "2026-03-20T12:00:00.000Z"
RUN = """
import pathlib, sys
from scenestore import Store
from scenestore.organise import organise
organise(Store(pathlib.Path(sys.argv[1])))
"""


def by_scene(profile: Path) -> dict[str, set[str]]:
    store = Store(profile)
    live = store.state().live
    return {name: set(store.ledger.sets.ids(live[name].members)) for name in live}


def members(profile: Path) -> set[str]:
    return set().union(*by_scene(profile).values())


def all_text(profile: Path) -> str:
    store = Store(profile)
    return "\n".join(
        store.ledger.block(scene.blob).body for scene in store.state().live.values()
    )


def wrote(profile: Path, contents: Sequence[str], day: str = "2026-03-05") -> list[str]:
    """Append one record a content to the shard of *day*; return their ids."""
    folder = layout.records_dir(profile)
    folder.mkdir(parents=True, exist_ok=True)
    ids = [f"m_17727{day[-2:]}{n:06d}_{n:08x}" for n in range(len(contents))]
    with (folder / f"{day}.jsonl").open("a") as file:
        for record_id, content in zip(ids, contents, strict=True):
            at = f"{day}T09:00:00.000Z"
            file.write(json.dumps(record(record_id, content, at)) + "\n")
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
