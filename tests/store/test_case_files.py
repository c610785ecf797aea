"""Each line of ``tests/cases`` on a real store: what is taken, what is refused, why.

``tests/cases/README.md`` has the form of a line.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from scenestore import Store, import_state
from scenestore.clock import Now
from scenestore.receipts import answer
from scenestore_engine.commands import targets
from scenestore_engine.times import DAY_MS, iso
from scenestore_engine.wire import parse_batch

Json = dict[str, Any]
FOLDER = Path(__file__).parent.parent / "cases"
STATES: Json = json.loads((FOLDER / "states.json").read_text("utf-8"))
CASES: list[Json] = [
    json.loads(line)
    for path in sorted(FOLDER.glob("*.jsonl"))
    for line in path.read_text("utf-8").splitlines()
]
SEEN = [case for case in CASES if case.get("cli")]
SECRET = "AKIA" + "ABCDEFGHIJ234567"
"""Stands in cases; no answer may repeat it."""
T0_MS = 1_772_496_000_000  # 2026-03-03T00:00:00Z


class Host:
    """A profile, and a clock that only the steps of a case turn."""

    def __init__(self, profile: Path, now_ms: int) -> None:
        self.profile = profile
        self.now_ms = now_ms
        self.l2 = profile / "memoryDB" / "l2"

    @property
    def now(self) -> Now:
        return Now(self.now_ms, is_overridden=True)

    def send(self, payload: bytes, *, is_import: bool = False) -> Json:
        """What the store answers a millisecond later."""
        self.now_ms += 1
        with Store(self.profile, actor="cases") as store:
            if not is_import:
                return store.l2_commit(payload, now=self.now)
            outcome = import_state(store, payload, now=self.now)
            return answer(outcome, store.ledger.head())

    def take(self, step: Json) -> None:
        """Do one step on the way to a state."""
        for what, value in spelled(step).items():
            match what:
                case "days":
                    self.now_ms += value * DAY_MS
                case "ms":
                    self.now_ms += value
                case "policy":
                    lines = [f"{key} = {json.dumps(v)}\n" for key, v in value.items()]
                    path = self.profile / "memoryDB" / "scenestore.toml"
                    path.write_text("".join(lines))
                case "records":
                    self.write_records(value)
                case "by hand":
                    for name, text in value.items():
                        (self.l2 / "scene-blocks" / name).write_text(text, "utf-8")
                case "forget":
                    self.forget(value)
                case "refused":
                    assert not self.send(payload(value))["success"], step
                case _:
                    told = self.send(payload(value), is_import=what == "import")
                    assert told["success"], (step, told)

    def write_records(self, shards: Json) -> None:
        folder = self.profile / "memoryDB" / "l1" / "records"
        folder.mkdir(parents=True, exist_ok=True)
        for shard, rows in shards.items():
            facts = {"content": "a fact", "createdAt": f"{shard}T00:00:00.000Z"}
            lines = [
                json.dumps(facts | (row if isinstance(row, dict) else {"id": row}))
                for row in rows
            ]
            (folder / f"{shard}.jsonl").write_text("\n".join(lines) + "\n")

    def forget(self, ids: list[str]) -> None:
        """Put ids among the forgotten ones, as a revision of ours would keep them."""
        with Store(self.profile, actor="cases") as store:
            parent = store.head()
            state = store.state()
            handle = store.ledger.sets.make([state.forgotten], ids)
            after = {f: getattr(state, f) for f in state.__struct_fields__}
            store.append(
                (),
                type(state)(**after | {"forgotten": handle}),
                parent=parent,
                batch="forget",
                policy=store.policy(),
                now=self.now,
                before=state,
            )

    def head(self) -> bytes:
        return (self.l2 / ".git" / "refs" / "heads" / "main").read_bytes()

    def bytes_under(self) -> dict[str, tuple[bytes, int]]:
        return {
            str(path): (path.read_bytes(), path.stat().st_mtime_ns)
            for path in self.l2.rglob("*")
            if path.is_file()
        }

    def scenes(self) -> dict[str, tuple[object, object]]:
        """What each scene is, live (``NAME``) or archived (``archive/NAME``)."""
        with Store(self.profile) as store:
            state = store.state()
        groups = {"": state.live, "archive/": state.archived}
        return {
            f"{place}{name}": (scene.blob, scene.members)
            for place, group in groups.items()
            for name, scene in group.items()
        }


def spelled(value: Any) -> Any:
    """*value* with what is written short in a case written out."""
    match value:
        case str():
            return re.sub(r"<(\d+)>", lambda found: record_id(int(found[1])), value)
        case list():
            return [spelled(item) for item in value]
        case {"$text": parts}:
            return "".join(
                p[0] * p[1] if isinstance(p, list) else spelled(p) for p in parts
            )
        case {"$each": [count, one]}:
            text = json.dumps(spelled(one))
            return [json.loads(text.replace("#", f"{n:02}")) for n in range(count)]
        case dict():
            return {key: spelled(item) for key, item in value.items()}
        case _:
            return value


def record_id(number: int) -> str:
    digest = sha256(str(number).encode()).hexdigest()[:8]
    return f"m_{T0_MS + number * 1000}_{digest}"


def payload(request: Any) -> bytes:
    match request:
        case {"raw": text}:
            return str(text).encode("utf-8", "surrogatepass")
        case {"rawHex": digits}:
            return bytes.fromhex(digits)
        case _:
            return json.dumps(request, ensure_ascii=False).encode()


@pytest.fixture(scope="module")
def ground() -> Iterator[Path]:
    """A folder in memory where there is one: rules are tried here, and no disks."""
    memory = Path("/dev/shm")  # noqa: S108 - as safe as the folder made in it
    where = memory if os.access(memory, os.W_OK) else None
    with tempfile.TemporaryDirectory(dir=where) as folder:
        yield Path(folder)


@pytest.fixture
def profile(ground: Path) -> Iterator[Path]:
    yield ground / "profile"
    shutil.rmtree(ground / "profile", ignore_errors=True)


@pytest.fixture(scope="module")
def state(ground: Path) -> Callable[[str], Host]:
    """A host in a named state: made once, unless a case that fails has changed it."""
    made: dict[str, Host] = {}
    heads: dict[str, bytes] = {}

    def state_called(name: str) -> Host:
        if name not in made or made[name].head() != heads[name]:
            profile = Path(tempfile.mkdtemp(dir=ground)) / "profile"
            made[name] = built(STATES[name], profile)
            heads[name] = made[name].head()
        return made[name]

    def built(wanted: Json, profile: Path) -> Host:
        if "from" in wanted:
            host = copied(state_called(wanted["from"]), profile)
        else:
            host = Host(profile, T0_MS)
            with Store(profile) as store:
                store.init(now=host.now)
        for step in wanted["steps"]:
            host.take(step)
        return host

    return state_called


def copied(host: Host, profile: Path) -> Host:
    shutil.copytree(host.profile, profile)
    return Host(profile, host.now_ms)


def given(case: Json, state: Callable[[str], Host], profile: Path) -> Host:
    wanted = case["given"]
    if isinstance(wanted, str):
        host = state(wanted)
        if case["expect"] == "reject":  # which changes nothing, so it needs no copy
            return Host(host.profile, host.now_ms)
        return copied(host, profile)
    host = copied(state(wanted["state"]), profile)
    for step in wanted["steps"]:
        host.take(step)
    return host


def test_the_cases_are_many_and_each_has_a_name_of_its_own() -> None:
    names = [case["id"] for case in CASES]

    assert len(names) >= 300
    assert len(names) == len(set(names))
    assert all(case["why"].endswith(".") for case in CASES)
    assert all({case["expect"]} <= {"accept", "reject"} for case in CASES)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_the_store_decides_as_the_case_says(
    case: Json, state: Callable[[str], Host], profile: Path
) -> None:
    host = given(case, state, profile)
    scenes, before = host.scenes(), host.bytes_under()
    is_import = "import" in case
    request = payload(spelled(case["import" if is_import else "batch"]))

    told = host.send(request, is_import=is_import)

    assert SECRET not in json.dumps(told)
    if case["expect"] == "reject":
        assert_refused(case, told)
        assert host.bytes_under() == before
    else:
        assert_taken(case, told)
        assert_after(case.get("after", {}), host)
        assert_untouched(request, scenes, host.scenes())
        if told["revision"] is None:  # a dry run
            assert host.bytes_under() == before


def assert_refused(case: Json, told: Json) -> None:
    assert told["success"] is False, told
    assert {error["code"] for error in told["errors"]} == set(case["codes"]), told
    hints = " ".join(error.get("hint", "") for error in told["errors"])
    for hint in spelled(case.get("hints", [])):
        assert hint in hints
    for words in case.get("says", []):
        assert any(words in error["message"] for error in told["errors"])
    if "paths" in case:
        assert {error["path"] for error in told["errors"]} == set(case["paths"])
    if "gaps" in case:
        gaps = told["consolidation"]["memberGaps"]
        ids = {gap["filename"]: sorted(gap["ids"]) for gap in gaps}
        assert ids == {n: sorted(i) for n, i in spelled(case["gaps"]).items()}
    if "lines" in case:
        lines = told["consolidation"]["lines"]
        assert {(one["source"], one["line"]) for one in lines} == {
            (source, line) for source, line in case["lines"]
        }
    for diff in case.get("diff", []):
        assert diff in "".join(one["diff"] for one in told["conflicts"])


def assert_taken(case: Json, told: Json) -> None:
    assert told["success"] is True, told
    warnings = {warning["code"] for warning in told["warnings"]}
    assert warnings == set(case.get("warnings", [])), told["warnings"]
    assert_part(spelled(case.get("receipt", {})), told)


def assert_part(wanted: Any, found: Any) -> None:
    """Fail unless *found* has all that *wanted* says."""
    if not isinstance(wanted, dict):
        assert found == wanted
        return
    for key, value in wanted.items():
        assert key in found
        assert_part(value, found[key])


def assert_after(after: Json, host: Host) -> None:
    after = spelled(after)
    names = host.scenes()
    live = {name for name in names if "/" not in name}
    drawn = {path.name for path in (host.l2 / "scene-blocks").glob("*")}
    assert drawn == live
    if "live" in after:
        assert live == set(after["live"])
    if "count" in after:
        assert len(live) == after["count"]
    if "archived" in after:
        assert names.keys() - live == {f"archive/{n}" for n in after["archived"]}
    with Store(host.profile) as store:
        kept = store.state()
        if "cursor" in after:
            assert kept.cursor is not None
            assert kept.cursor.record_id == after["cursor"]
        if "dismissed" in after:
            ids = store.ledger.sets.ids(kept.dismissed)
            assert ids == frozenset(after["dismissed"])
        if "persona" in after:
            assert [wish.reason for wish in kept.persona] == after["persona"]
        for name, facts in after.get("scenes", {}).items():
            place = kept.archived if facts.get("archived") else kept.live
            block = store.ledger.block(place[name].blob)
            found = {
                "archived": name not in kept.live,
                "content": block.body,
                "summary": block.meta.summary,
                "heat": block.meta.heat,
                "created": block.meta.created,
                "members": sorted(store.ledger.sets.ids(place[name].members)),
            }
            if "members" in facts:
                facts["members"].sort()
            assert {key: found[key] for key in facts} == facts


def assert_untouched(
    request: bytes, before: dict[str, object], after: dict[str, object]
) -> None:
    """Fail if a scene changed that the batch does not name."""
    writes = parse_batch(request).writes
    named = {name for write in writes for name in targets(write.command)}
    for name in before.keys() & after.keys():
        if name.removeprefix("archive/") not in named:
            assert after[name] == before[name], name


def test_some_cases_of_every_family_are_shown_to_the_real_command() -> None:
    families = {case["id"].partition("/")[0] for case in CASES if "batch" in case}

    assert {case["id"].partition("/")[0] for case in SEEN} == families


@pytest.mark.parametrize("case", SEEN, ids=lambda case: case["id"])
def test_the_command_decides_as_the_case_says(
    case: Json, state: Callable[[str], Host], profile: Path
) -> None:
    host = given(case, state, profile)
    before = host.bytes_under()
    command = (sys.executable, "-m", "scenestore_cli", "commit", "--json")

    ran = subprocess.run(
        [*command, "-P", str(host.profile)],
        check=False,
        capture_output=True,
        input=payload(spelled(case["batch"])),
        env={**os.environ, "SCENESTORE_NOW": iso(host.now_ms + 1)},
    )

    assert b"Traceback" not in ran.stderr
    told = json.loads(ran.stdout)
    if case["expect"] == "reject":
        assert ran.returncode == 2
        assert_refused(case, told)
        assert host.bytes_under() == before
    else:
        assert ran.returncode == 0
        assert_taken(case, told)
