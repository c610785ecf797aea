"""``scenestore organize``."""

import json
from pathlib import Path
from typing import Any

import pytest

from scenestore_cli.errors import ExitCode


@pytest.fixture
def talk(tmp_path: Path) -> Any:
    """A profile with three days of records and no store."""
    folder = tmp_path / "memoryDB" / "l1" / "records"
    folder.mkdir(parents=True)
    topics = ("running a marathon in spring", "cooking pasta", "the cat at the vet")
    for day in range(1, 4):
        rows = [
            {
                "id": f"m_{1_772_496_000_000 + day * 86_400_000 + n * 1000}_{n:08x}",
                "content": f"Mei talks about {topics[n % 3]}, part {day}.{n}.",
                "type": "episodic",
                "priority": 60,
                "scene_name": topics[n % 3],
                "createdAt": f"2026-03-0{day + 3}T08:00:{n:02d}.000Z",
            }
            for n in range(9)
        ]
        text = "".join(json.dumps(row) + "\n" for row in rows)
        (folder / f"2026-03-0{day + 3}.jsonl").write_text(text)
    return tmp_path


def test_records_are_organised_and_the_next_steps_are_named(
    run: Any, talk: Any
) -> None:
    ran = run("organize", cwd=talk)

    assert ran.code == ExitCode.DONE, ran.err
    assert "Organised 27 records (2026-03-04 to 2026-03-06) into " in ran.out
    assert "in no scene. Shelf: " in ran.out
    assert "Next: scenestore log · scenestore scenes · git -C " in ran.out
    assert "memoryDB/l2 log\n" in ran.out
    assert "27 new records" in ran.err


def test_a_second_run_finds_nothing_new_and_changes_nothing(
    run: Any, talk: Any
) -> None:
    first = run("organize", "-P", talk, "--json").document
    before = run("log", "-P", talk, "--json").document

    again = run("organize", "-P", talk, "--json")
    told = run("organize", "-P", talk)

    assert first["nothingNew"] is False
    assert first["records"] == 27
    assert again.code == told.code == ExitCode.DONE
    assert again.document["nothingNew"] is True
    assert "no new records" in told.out
    assert run("log", "-P", talk, "--json").document == before


def test_what_is_organised_can_be_proved(run: Any, talk: Any) -> None:
    run("organize", "-P", talk)

    ran = run("check", "-P", talk, "--replay")

    assert ran.code == ExitCode.DONE


def test_the_actor_is_organise_unless_somebody_is_named(run: Any, talk: Any) -> None:
    run("organize", "-P", talk)

    revisions = run("log", "-P", talk, "--json").document["revisions"]

    assert {one["actor"] for one in revisions} == {"organise"}


def test_the_progress_is_a_bar_on_a_terminal_and_gone_afterwards(
    on_terminal: Any, talk: Any
) -> None:
    told = on_terminal("organize", "-P", talk, columns=100, env={})

    assert "Organising records" in told
    assert "Organised 27 records" in told


def test_a_store_that_may_not_be_written_stops_it_with_2(run: Any, world: Any) -> None:
    who = ("-c", "user.name=Mei", "-c", "user.email=mei@example.org")
    world.git(*who, "commit", "-q", "--allow-empty", "-m", "a note")

    ran = run("organize", "-P", world.profile, "--json")
    told = run("organize", "-P", world.profile)

    assert ran.code == told.code == ExitCode.REJECTED
    assert ran.document["errors"][0]["code"] == "foreign_commit"
    assert "foreign_commit" in told.err
