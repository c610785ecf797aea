import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from scenestore import Store, layout
from scenestore.check import check
from scenestore.organise import organise

EXAMPLE = Path(__file__).parents[2] / "examples" / "lin-dev"


@pytest.fixture
def lin(tmp_path: Path) -> Path:
    return shutil.copytree(EXAMPLE, tmp_path / "lin")


def test_the_example_has_no_damaged_line(lin: Path) -> None:
    Store(lin).init()

    answer = Store(lin).read_l1_increment(max_records=200)

    assert not getattr(answer, "warnings", ["refused"])


def test_the_example_is_organised_whole_and_leaves_room_on_the_shelf(lin: Path) -> None:
    summary = organise(Store(lin))

    assert summary.unassigned == 0
    assert summary.first_day == "2026-03-02"
    assert summary.last_day == "2026-03-15"
    assert 8 <= summary.scenes_live < summary.max_scenes - 3


def test_the_example_has_scenes_in_both_languages(lin: Path) -> None:
    organise(Store(lin))

    names = set(Store(lin).state().live)
    assert any(name.isascii() for name in names)
    assert any(not name.isascii() for name in names)


def test_the_example_replays_cleanly(lin: Path) -> None:
    organise(Store(lin))

    store = Store(lin)
    assert check(store.ledger, store.projection, replay=True).problems == ()


def test_two_hash_seeds_organise_the_example_alike(tmp_path: Path) -> None:
    heads = set()
    for seed in ("1", "4242"):
        profile = shutil.copytree(EXAMPLE, tmp_path / seed)
        environment = {"PYTHONHASHSEED": seed, "SCENESTORE_NOW": NOON}
        subprocess.run(
            [sys.executable, "-c", RUN, str(profile)],
            env={**os.environ, **environment},
            check=True,
        )
        heads.add(Store(profile).head().id)

    assert len(heads) == 1


NOON = "2026-03-20T12:00:00.000Z"
RUN = """
import pathlib, sys
from scenestore import Store
from scenestore.organise import organise
organise(Store(pathlib.Path(sys.argv[1])))
"""


def test_each_id_of_the_example_tells_when_its_record_was_made() -> None:
    shards = sorted(layout.records_dir(EXAMPLE).glob("*.jsonl"))
    lines = [json.loads(x) for s in shards for x in s.read_text("utf-8").splitlines()]
    full = [line for line in lines if "createdAt" in line]

    assert len(full) > 130
    assert all(f".{one['id'].split('_')[1][-3:]}Z" in one["createdAt"] for one in full)
