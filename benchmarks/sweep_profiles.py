"""The organiser over every profile of a folder, and every promise checked.

    python benchmarks/sweep_profiles.py DATA_DIR [--json]

Each profile is copied; the original is not touched. It is organised from nothing, with
five scenes at most, and with its records arriving in ten instalments. Exits with 1 if a
promise does not hold anywhere. Needs the program git.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from scenestore import Store, layout
from scenestore.check import check
from scenestore.organise import organise

INSTALMENTS = 10
FEW_SCENES = 5
WAYS = ("from nothing", "five scenes", "ten instalments")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("data_dir", type=Path)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    originals = sorted(
        path.parent for path in arguments.data_dir.glob("*/memoryDB") if path.is_dir()
    )
    if not originals:
        sys.exit(f"There is no profile in {arguments.data_dir}.")
    rows = []
    for original in originals:
        for way in WAYS:
            with tempfile.TemporaryDirectory() as folder:
                row = swept(original, Path(folder) / original.name, way)
            rows.append(row)
            if not arguments.json:
                print(line(row), flush=True)
    failed = sum(bool(row["failures"]) for row in rows)
    if arguments.json:
        print(json.dumps({"rows": rows, "failed": failed}, ensure_ascii=False))
    else:
        print(f"{len(rows)} runs over {len(originals)} profiles, {failed} failed.")
    sys.exit(1 if failed else 0)


def swept(original: Path, copy: Path, way: str) -> dict[str, object]:
    """Organise a copy of *original* in one *way*; return what came of it."""
    records = layout.records_dir(copy)
    records.mkdir(parents=True)
    shards = {
        path.name: path.read_bytes().splitlines(keepends=True)
        for path in sorted(layout.records_dir(original).glob("*.jsonl"))
    }
    if way == "five scenes":
        layout.policy_file(copy).write_text(f"max_scenes = {FEW_SCENES}\n")
    parts = instalments(shards) if way == "ten instalments" else [shards]
    commits, count = 0, 0
    started = time.perf_counter()
    with Store(copy) as store:
        for part in parts:
            for name, lines in part.items():
                with (records / name).open("ab") as file:
                    file.writelines(lines)
            summary = organise(store)
            commits += summary.commits
            count += summary.records
        seconds = time.perf_counter() - started
        consolidations = git(copy, "log", "--format=%s%n%b").count("\nconsolidate ")
        return {
            "profile": original.name,
            "way": way,
            "records": count,
            "scenes": summary.scenes_live,
            "commits": commits,
            "consolidations": consolidations,
            "longest": max(map(len, bodies(store)), default=0),
            "seconds": round(seconds, 2),
            "failures": list(failures(store, shards)),
        }


def instalments(shards: dict[str, list[bytes]]) -> Iterator[dict[str, list[bytes]]]:
    """Yield all lines in ten parts, in order."""
    lines = [(name, text) for name, texts in shards.items() for text in texts]
    size = -(-len(lines) // INSTALMENTS) or 1
    for start in range(0, len(lines), size):
        part: dict[str, list[bytes]] = {}
        for name, text in lines[start : start + size]:
            part.setdefault(name, []).append(text)
        yield part


def failures(store: Store, shards: dict[str, list[bytes]]) -> Iterator[str]:
    """Yield each promise that does not hold."""
    policy, state = store.policy(), store.state()
    refused = layout.refusals_file(store.profile)
    if refused.exists():
        yield f"batches were refused: {refused.read_text(encoding='utf-8')[:200]}"
    again = organise(store)
    if not again.nothing_new or again.commits:
        yield f"a second run made {again.commits} commits"
    if again.unassigned:
        yield f"{again.unassigned} records are unassigned"
    last = [(name, n) for name, texts in shards.items() for n in [len(texts)] if n]
    place = (f"{state.cursor.shard}.jsonl", state.cursor.line) if state.cursor else None
    if last and place != last[-1]:
        yield f"the cursor is at {place}, and the last record at {last[-1]}"
    if len(state.live) > policy.max_scenes:
        yield f"{len(state.live)} scenes are live"
    longest = max(map(len, bodies(store)), default=0)
    if longest > policy.max_body_chars:
        yield f"a body has {longest} characters"
    for problem in check(store.ledger, store.projection, replay=True).problems:
        yield f"check: {problem.message}"
    for command in (("fsck", "--strict"), ("status", "--porcelain")):
        said = git(store.profile, *command)
        if said.strip():
            yield f"git {command[0]}: {said.strip()[:200]}"


def bodies(store: Store) -> Iterator[str]:
    for scene in store.state().live.values():
        yield store.ledger.block(scene.blob).body


def git(profile: Path, *arguments: str) -> str:
    """Return what the program git says, and that it failed if it did."""
    done = subprocess.run(
        ["git", "-C", str(layout.repo_dir(profile)), *arguments],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        return f"exit {done.returncode}: {done.stderr}{done.stdout}"
    return done.stdout


def line(row: dict[str, object]) -> str:
    text = (
        f"{row['profile']:<18} {row['way']:<16} {row['records']:>4} records "
        f"{row['scenes']:>3} scenes {row['commits']:>3} commits "
        f"{row['consolidations']:>2} joined {row['longest']:>5} chars "
        f"{row['seconds']:>6} s  {'FAILED' if row['failures'] else 'ok'}"
    )
    return "\n".join([text, *(f"    {failure}" for failure in _list(row["failures"]))])


def _list(value: object) -> list[str]:
    return [str(item) for item in value] if isinstance(value, list) else []


if __name__ == "__main__":
    main()
