"""What reading L1 costs: ratios within one run, so that machines can be compared.

    python benchmarks/bench_records.py [--records 1000000] [--per-shard 1000] [--json]

Units: full index over a plain ``json.loads`` scan of the same bytes; 50 new records of
many over 50 of 10,000, both warm; what follows a commit of 10 ids, many over few.
"""

import argparse
import json
import statistics
import tempfile
import time
from collections.abc import Callable, Mapping
from hashlib import sha256
from pathlib import Path

from scenestore import layout
from scenestore.records import Increment, Records
from scenestore.runs import split
from scenestore_engine.state import Cursor

FIRST_MS = 1_735_700_000_137
STEP_MS = 60_000
NEW = 50
SCENES = 15
ROUNDS = 9


class Homes:
    """Member sets in memory, in the runs that the store would make."""

    def __init__(
        self, sets: Mapping[str, list[str]], old: "Homes | None" = None
    ) -> None:
        self.ids_of = {name: frozenset(ids) for name, ids in sets.items()}
        self._names: dict[str, str] = {}
        self._sets: dict[str, dict[str, str]] = {}
        self._runs: dict[str, bytes] = {}
        for name, ids in sets.items():
            if old is not None and old.ids_of.get(name) == self.ids_of[name]:
                handle = old.sets()[name]
                runs = dict(old.runs(handle))
                self._runs |= {run: old.bytes_of(run) for run in runs.values()}
            else:
                texts = split(ids)
                runs = {run: sha256(text).hexdigest() for run, text in texts.items()}
                self._runs |= {runs[run]: text for run, text in texts.items()}
                handle = sha256(repr(sorted(runs.items())).encode()).hexdigest()
            self._names[name] = handle
            self._sets[handle] = runs

    def sets(self) -> Mapping[str, str]:
        return self._names

    def runs(self, handle: str) -> Mapping[str, str]:
        return self._sets[handle]

    def bytes_of(self, run: str) -> bytes:
        return self._runs[run]

    def ids(self, run: str) -> frozenset[str]:
        return frozenset(self._runs[run].decode().split())


def record_id(number: int) -> str:
    digest = sha256(str(number).encode()).hexdigest()[:8]
    return f"m_{FIRST_MS + number * STEP_MS}_{digest}"


def line_of(number: int) -> str:
    record = {
        "id": record_id(number),
        "content": f"fact {number} about one of the things that happen in a life",
        "type": "episodic",
        "priority": 50,
        "scene_name": "life",
        "source_message_ids": [f"a{number}", f"b{number}"],
        "metadata": {},
        "timestamps": ["2025-01-01T00:00:00.000Z"],
        "createdAt": "2025-01-01T00:00:00.000Z",
        "updatedAt": "2025-01-01T00:00:00.000Z",
        "sessionKey": "s",
        "sessionId": "t",
    }
    return json.dumps(record) + "\n"


def shard_name(number: int) -> str:
    return f"shard-{number:06d}"


def seconds(action: Callable[[], object], rounds: int = ROUNDS) -> float:
    taken = []
    for _ in range(rounds):
        begun = time.perf_counter()
        action()
        taken.append(time.perf_counter() - begun)
    return statistics.median(taken)


def scan(folder: Path) -> int:
    count = 0
    for path in sorted(folder.iterdir()):
        with path.open("rb") as file:
            for line in file:
                count += len(json.loads(line)["id"]) > 0
    return count


def measured(root: Path, records: int, per_shard: int) -> dict[str, float]:
    """Seconds of each thing, for a profile of so many records."""
    profile = root / f"of-{records}"
    folder = layout.records_dir(profile)
    folder.mkdir(parents=True)
    for first in range(0, records, per_shard):
        path = folder / f"{shard_name(first // per_shard)}.jsonl"
        numbers = range(first, min(first + per_shard, records))
        path.write_text("".join(map(line_of, numbers)))
    reader = Records(profile)
    place = records - NEW - 1
    own = Cursor(
        record_id=record_id(place),
        shard=shard_name(place // per_shard),
        line=place % per_shard + 1,
    )
    members: dict[str, list[str]] = {f"members/s{n}.md": [] for n in range(SCENES)}
    for number in range(place - 100):
        members[f"members/s{number % SCENES}.md"].append(record_id(number))
    before = Homes(members)
    more = members | {
        "members/s0.md": members["members/s0.md"]
        + [record_id(place - n) for n in range(10)]
    }
    after = Homes(more, before)
    taken: dict[str, float] = {}
    taken["scan"] = seconds(lambda: scan(folder), 1)
    taken["index"] = seconds(lambda: reader.lookup([]), 1)
    taken["members"] = seconds(lambda: reader.coverage(before, own), 1)
    time.sleep(0.3)
    reader.lookup([])
    reader.lookup([])

    def fifty() -> None:
        answer = reader.increment(own=own, homes=before)
        assert isinstance(answer, Increment)  # noqa: S101
        assert (answer.returned, answer.late_count) == (NEW, 101)  # noqa: S101

    taken["fifty"] = seconds(fifty)
    taken["look"] = seconds(lambda: reader.present(own))

    def there_and_back() -> None:
        reader.coverage(after, own)
        reader.coverage(before, own)

    taken["commit"] = seconds(there_and_back) / 2
    last = folder / f"{shard_name((records - 1) // per_shard)}.jsonl"
    grown = iter(range(records, records + 10 * ROUNDS))

    def append() -> None:
        with last.open("a") as file:
            file.write(line_of(next(grown)))
        reader.lookup([])

    taken["append"] = seconds(append)
    taken["first_page"] = seconds(lambda: reader.increment(own=None, homes=before))
    return taken


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--records", type=int, default=1_000_000)
    parser.add_argument("--few", type=int, default=10_000)
    parser.add_argument("--per-shard", type=int, default=1_000)
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as root:
        few = measured(Path(root), asked.few, asked.per_shard)
        many = measured(Path(root), asked.records, asked.per_shard)
    ratios = {
        "records": asked.records,
        "index_over_json_scan": many["index"] / many["scan"],
        "members_over_json_scan": many["members"] / many["scan"],
        "fifty_new_of_many_over_few": many["fifty"] / few["fifty"],
        "first_page_of_many_over_few": many["first_page"] / few["first_page"],
        "commit_of_many_over_few": many["commit"] / few["commit"],
        "append_to_many_over_few": many["append"] / few["append"],
        "json_scan_over_fifty_new": many["scan"] / many["fifty"],
    }
    if asked.json:
        print(json.dumps({name: round(ratio, 4) for name, ratio in ratios.items()}))
        return
    for name, ratio in ratios.items():
        print(f"{name:32} {ratio:12.3f}")
    for name in many:
        print(f"{name:12} {few[name] * 1e3:12.2f} ms {many[name] * 1e3:12.2f} ms")


if __name__ == "__main__":
    main()
