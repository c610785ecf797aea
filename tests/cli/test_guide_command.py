"""``scenestore guide``, the real command."""

import json
from typing import Any

import msgspec

from scenestore import layout
from scenestore.clock import Now
from scenestore_cli.errors import ExitCode

NOW = {"SCENESTORE_NOW": "2026-04-02T00:00:00Z"}
NOW_MS = 1_775_088_000_000


def recall(world: Any, number: int, at: str) -> None:
    folder = layout.recall_dir(world.profile)
    folder.mkdir(parents=True, exist_ok=True)
    line = json.dumps({"recordId": world.rid(number), "at": at})
    (folder / f"{at[:10]}.jsonl").write_text(line + "\n")


def rows(out: str) -> dict[str, list[str]]:
    return {line.split()[0]: line.split() for line in out.splitlines() if ".md" in line}


def test_the_guide_is_that_of_the_library(run: Any, world: Any) -> None:
    recall(world, 4, "2026-03-10T00:00:00Z")

    ran = run("guide", "-P", world.profile, "--json", env=NOW)

    now = Now(NOW_MS, is_overridden=True)
    found = msgspec.json.encode(world.store.archive_guide(now=now))
    assert ran.code == ExitCode.DONE
    assert ran.document == json.loads(found)
    assert ran.err == ""


def test_the_table_has_a_row_a_scene(call: Any, world: Any) -> None:
    recall(world, 4, "2026-03-10T00:00:00Z")
    world.shard("2026-03-09", [world.record(90, createdAt="2026-03-09T08:00:00Z")])

    found = rows(call("guide", "-P", world.profile, env=NOW).out)

    assert found["race.md"] == ["race.md", "29", "1", "1/3", "2026-03-10", "yes"]
    assert found["deploy.md"] == ["deploy.md", "29", "1", "0/2", "never", "yes"]
    assert list(found) == ["deploy.md", "race.md", "running.md"]


def test_what_blocks_an_archive_is_named(call: Any, world: Any) -> None:
    archive = {"action": "archive", "filename": "race.md", "reason": "over"}
    world.must({"sceneWrites": [archive]})
    world.create("race.md", 4)

    found = rows(call("guide", "-P", world.profile, env=NOW).out)

    assert found["race.md"][-2:] == ["too_young,", "archive_name_taken"]


def test_the_rules_stand_above_the_table(call: Any, world: Any) -> None:
    out = call("guide", "-P", world.profile, env=NOW).out

    assert out.startswith("A batch may archive 1 of the scenes")
    assert out.index("Prefer consolidating") < out.index("race.md")


def test_a_store_without_scenes_has_a_guide(call: Any, empty: Any) -> None:
    ran = call("guide", "-P", empty.profile, env=NOW)

    assert ran.code == ExitCode.DONE
    assert "A batch may archive" in ran.out


def test_a_profile_without_a_store_is_told_so(run: Any, tmp_path: Any) -> None:
    (tmp_path / "memoryDB").mkdir()

    ran = run("guide", "-P", tmp_path)

    assert ran.code == ExitCode.REJECTED
    assert "There is no scene store" in ran.err
    assert ran.out == ""
