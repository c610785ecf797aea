import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from scenestore import Store, layout
from scenestore.check import check
from scenestore.organise import OrganiseError, organise

SUBJECTS = "garden bicycle piano server kitchen tax insurance holiday chess dentist"
DEEDS = (
    "was planned on a Monday with a list of seven points",
    "took 42 minutes longer than it had taken the week before",
    "cost 118 euros, which the landlord is going to pay back",
    "went wrong at first because a part was missing from the box",
    "is done, and a photo of it was sent to the whole family",
)


def tales() -> list[str]:
    """Return fifty contents on ten subjects, in turns."""
    return [
        f"{subject}: the {subject} matter {deed}"
        for deed in DEEDS
        for subject in SUBJECTS.split()
    ]


@pytest.mark.parametrize("max_scenes", [1, 2, 5, 15])
def test_there_are_never_more_scenes_than_allowed(
    tmp_path: Path, max_scenes: int
) -> None:
    ids = wrote(tmp_path, tales())
    allow(tmp_path, max_scenes=max_scenes)

    summary = organise(Store(tmp_path))

    assert summary.scenes_live <= max_scenes
    assert members(tmp_path) == set(ids)


@pytest.mark.parametrize("max_scenes", [1, 2, 5])
def test_a_full_shelf_takes_in_what_comes_later(
    tmp_path: Path, max_scenes: int
) -> None:
    allow(tmp_path, max_scenes=max_scenes)
    ids: set[str] = set()
    for number, start in enumerate(range(0, 50, 5)):
        ids |= set(wrote(tmp_path, tales()[start : start + 5], f"2026-03-{number:02d}"))

        organise(Store(tmp_path))

    assert len(Store(tmp_path).state().live) <= max_scenes
    assert members(tmp_path) == ids


@pytest.mark.parametrize("max_body_chars", [1, 2, 20, 60, 300, 100_000])
def test_no_body_is_longer_than_allowed(tmp_path: Path, max_body_chars: int) -> None:
    ids = wrote(tmp_path, tales())
    allow(tmp_path, max_scenes=4, max_body_chars=max_body_chars)

    organise(Store(tmp_path))

    assert all(0 < len(body) <= max_body_chars for body in bodies(tmp_path))
    assert members(tmp_path) == set(ids)


def test_no_batch_creates_more_scenes_than_allowed(tmp_path: Path) -> None:
    wrote(tmp_path, tales())
    allow(tmp_path, max_creates_per_batch=3)

    summary = organise(Store(tmp_path))

    assert summary.commits == -(-summary.scenes_live // 3)


def test_scenes_are_made_one_a_batch_by_default(tmp_path: Path) -> None:
    wrote(tmp_path, tales())

    summary = organise(Store(tmp_path))

    assert summary.commits == summary.scenes_live > 1


def test_a_policy_without_creates_and_a_bare_shelf_is_an_error(tmp_path: Path) -> None:
    wrote(tmp_path, tales())
    allow(tmp_path, max_creates_per_batch=0)

    with pytest.raises(OrganiseError, match="max_creates_per_batch"):
        organise(Store(tmp_path))


def test_a_policy_without_creates_fills_the_scenes_that_are_there(
    tmp_path: Path,
) -> None:
    wrote(tmp_path, tales()[:10])
    organise(Store(tmp_path))
    before = set(Store(tmp_path).state().live)
    ids = wrote(tmp_path, tales()[10:], "2026-03-08")
    allow(tmp_path, max_creates_per_batch=0)

    organise(Store(tmp_path))

    assert set(Store(tmp_path).state().live) == before
    assert set(ids) <= members(tmp_path)


def test_a_shelf_over_a_lowered_limit_does_not_grow(tmp_path: Path) -> None:
    wrote(tmp_path, tales())
    organise(Store(tmp_path))
    live = len(Store(tmp_path).state().live)
    allow(tmp_path, max_scenes=2)
    ids = wrote(tmp_path, ["opera: tickets for the opera in May"], "2026-03-08")

    summary = organise(Store(tmp_path))

    assert summary.scenes_live <= live
    assert set(ids) <= members(tmp_path)


def test_small_scenes_of_a_full_shelf_join_and_keep_every_line(tmp_path: Path) -> None:
    allow(tmp_path, max_scenes=2)
    chess = ["chess: the chess opening e4", "chess: the chess opening e4 e5"]
    for number, tale in enumerate(chess):
        wrote(tmp_path, [tale], f"2026-03-0{number + 1}")
        store = Store(tmp_path)
        commit_plain_scene(store, f"chess-{number}", f"2026-03-0{number + 1}", tale)
    wrote(tmp_path, ["tax: the tax form for 2025 went out"] * 3, "2026-03-05")

    organise(Store(tmp_path))

    text = "\n".join(bodies(tmp_path))
    assert not {"chess-0.md", "chess-1.md"} & Store(tmp_path).state().live.keys()
    assert all(f"- {tale}" in text for tale in chess)


def test_a_history_of_instalments_replays_cleanly(tmp_path: Path) -> None:
    allow(tmp_path, max_scenes=5)
    for number, start in enumerate(range(0, 50, 10)):
        wrote(tmp_path, tales()[start : start + 10], f"2026-03-{number:02d}")
        organise(Store(tmp_path))

    store = Store(tmp_path)
    assert check(store.ledger, store.projection, replay=True).problems == ()


def test_more_records_than_a_window_holds_are_all_placed(tmp_path: Path) -> None:
    contents = [f"{tale}, time {n}" for n in range(90) for tale in tales()]
    ids = wrote(tmp_path, contents)

    summary = organise(Store(tmp_path))

    assert (summary.records, summary.unassigned) == (len(ids), 0)


def commit_plain_scene(store: Store, name: str, day: str, tale: str) -> None:
    """Make a scene as the organiser would write it."""
    from scenestore.organise.naming import summary_of  # noqa: PLC0415

    store.init()
    body = f"# {name}\n## {day}\n- {tale}"
    answer = store.l2_commit(
        {
            "sceneWrites": [
                {
                    "action": "create",
                    "filename": f"{name}.md",
                    "content": body,
                    "meta": {"summary": summary_of(body)},
                    "members": [id_of(day, 0)],
                }
            ],
            "cursor": id_of(day, 0),
        }
    )
    assert answer["success"], answer


def allow(profile: Path, **limits: int) -> None:
    lines = [f"{name} = {value}\n" for name, value in limits.items()]
    layout.policy_file(profile).parent.mkdir(parents=True, exist_ok=True)
    layout.policy_file(profile).write_text("".join(lines))


def bodies(profile: Path) -> list[str]:
    store = Store(profile)
    return [store.ledger.block(s.blob).body for s in store.state().live.values()]


def members(profile: Path) -> set[str]:
    store = Store(profile)
    sets = (store.ledger.sets.ids(s.members) for s in store.state().live.values())
    return set().union(*sets)


def wrote(profile: Path, contents: Sequence[str], day: str = "2026-03-05") -> list[str]:
    """Append one record a content to the shard of *day*; return their ids."""
    folder = layout.records_dir(profile)
    folder.mkdir(parents=True, exist_ok=True)
    ids = [id_of(day, n) for n in range(len(contents))]
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


def id_of(day: str, number: int) -> str:
    return f"m_17727{day[-2:]}{number:06d}_{number:08x}"
