"""A scripted history by its bytes: trees, records, messages and commit ids.

What a commit id covers depends on the Unicode version of the Python that wrote it
(events.json names it) and on which settings a policy has. Where both are those of the
golden files, commit ids are pinned; everywhere, all that does not depend on them is.
"""

import re
import unicodedata
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from scenestore import codec, layout
from scenestore.clock import Now
from scenestore.ledger import Revision
from scenestore_engine.policy import Policy

GOLDEN = Path(__file__).parent
UNICODE = "14.0.0"
POLICY = {
    "max_scenes": 15,
    "max_body_chars": 1500,
    "max_creates_per_batch": 1,
    "max_archives_per_batch": 1,
    "max_deletes_per_batch": 2,
    "min_archive_age_days": 7,
    "strict_members": False,
    "retention": "off",
    "retention_update": "off",
    "on_drift": "refuse",
    "secrets": "reject",
    "mode": "chat",
    "keep_refusals": True,
}
IS_PINNED = unicodedata.unidata_version == UNICODE and (
    Policy.__struct_fields__ == tuple(POLICY)
)
LOG_FORMAT = "commit %H%nauthor %an <%ae>%nat %aI%n%n%B"


def body(action: str, filename: str, summary: str, content: str) -> dict[str, object]:
    return {
        "action": action,
        "filename": filename,
        "content": content,
        "meta": {"summary": summary},
    }


def begun(world: Any) -> Any:
    """Begin a store over known records, under a policy that is written down."""
    world.shard("2026-03-03", [world.record(n) for n in range(12)])
    world.shard("2026-03-04", [world.record(12, id="odd id")])
    known = Policy.__struct_fields__
    world.policy(**{name: v for name, v in POLICY.items() if name in known})
    world.store.init(now=world.now)
    return world


def script(world: Any) -> None:
    """Send six batches that cause no notices, at fixed times."""
    rid = world.rid
    running = body("create", "running.md", "Runs: 3x a week", "# Running\n- knee")
    members = [rid(n) for n in range(4)]
    world.must({"sceneWrites": [running | {"members": members}], "cursor": rid(3)})
    race = body("create", "东京马拉松.md", "東京マラソン 2027", "- 目標: 4時間 🏃")
    world.must(
        {
            "sceneWrites": [race | {"members": [rid(4), rid(5)], "reason": "new goal"}],
            "personaSignal": True,
            "personaReason": "she signed up for a race",
        }
    )
    update = body("update", "running.md", "Runs: 4x a week", "# Running\n- knee\n- 4x")
    world.must(
        {
            "sceneWrites": [update | {"addMembers": [rid(6), "odd id"]}],
            "dismiss": [rid(7), rid(8)],
            "dismissReason": "small talk",
            "cursor": rid(8),
        }
    )
    deploy = body("create", "deploy.md", "Deploys on Tuesday", "- on Tuesday")
    dictated = Now(world.now_ms + 60_000, is_overridden=True)
    answer = world.store.l2_commit(
        {"sceneWrites": [deploy | {"members": [rid(9)]}], "runId": "run-7"},
        actor="organise",
        now=dictated,
    )
    assert answer["success"] is True, answer
    world.wait(days=8)
    joined = body("consolidate", "sport.md", "Runs and races", "# Sport\n- knee\n- 4x")
    world.must(
        {
            "sceneWrites": [
                joined | {"sources": ["running.md", "东京马拉松.md"], "reason": "one"},
                {"action": "archive", "filename": "deploy.md", "reason": "job ended"},
            ]
        }
    )
    restore = {"action": "restore", "filename": "deploy.md", "as": "work.md"}
    updated = body("update", "sport.md", "Sport", "# Sport\n- knee\n- swims")
    world.must({"sceneWrites": [restore, updated]})


@pytest.fixture
def scripted(empty: Any, tmp_path: Path) -> Iterator[Any]:
    """A store after the script; *empty* only lends its class."""
    world = begun(type(empty)(tmp_path / "scripted"))
    script(world)
    yield world
    world.close()


def revisions(world: Any) -> list[Revision]:
    """Every revision, oldest first."""
    ledger = world.store.ledger
    return [*ledger.back_from(ledger.head())][::-1]


def trees(world: Any) -> str:
    """What each revision keeps, but for events.json."""
    lines = []
    for revision in revisions(world):
        entries = world.store.ledger.folder(revision.tree, "")
        lines += [
            f"{revision.seq} {name} {object_id}"
            for name, object_id in sorted(entries.items())
            if name != layout.EVENTS_FILE
        ]
    return "\n".join(lines) + "\n"


def neutral(world: Any, text: str) -> str:
    """Return *text* without what depends on the Unicode version."""
    for revision in revisions(world):
        record = world.store.ledger.record(revision)
        text = text.replace(revision.id, f"<revision {revision.seq}>")
        text = text.replace(record.batch, f"<batch {revision.seq}>")
        text = text.replace(f'"{record.unicode}"', "<unicode>")
    return text


def records(world: Any) -> str:
    """Each revision's record, under the policy's pinned settings."""
    ledger = world.store.ledger
    texts = []
    for revision in revisions(world):
        record = ledger.record(revision)
        record = replace(
            record, policy={n: v for n, v in record.policy.items() if n in POLICY}
        )
        texts.append(codec.encode_record(record).decode())
    return neutral(world, "".join(texts))


def log(world: Any) -> str:
    return world.git(
        "log",
        "--reverse",
        "--no-renames",
        "--name-status",
        f"--format={LOG_FORMAT}",
    )


def golden(name: str) -> str:
    return (GOLDEN / name).read_text(encoding="utf-8")


def test_the_trees_of_a_scripted_history_are_these(scripted: Any) -> None:
    assert trees(scripted) == golden("trees.txt")


def test_the_records_of_a_scripted_history_are_these(scripted: Any) -> None:
    assert records(scripted) == golden("records.txt")


def test_git_log_of_a_scripted_history_says_this(scripted: Any) -> None:
    said = neutral(scripted, log(scripted))

    assert said == re.sub(
        r"^commit [0-9a-f]{40} ", "commit ", golden("log.txt"), flags=re.MULTILINE
    )


def test_the_commit_ids_of_a_scripted_history_are_these(scripted: Any) -> None:
    pinned = re.findall(r"^commit ([0-9a-f]{40}) ", golden("log.txt"), re.MULTILINE)

    ids = [revision.id for revision in revisions(scripted)]

    assert (ids == pinned) is IS_PINNED


def test_the_same_script_gives_the_same_history_in_another_folder(
    scripted: Any, tmp_path: Path
) -> None:
    other = begun(type(scripted)(tmp_path / "another folder"))
    script(other)

    assert revisions(other) == revisions(scripted)
    other.close()
