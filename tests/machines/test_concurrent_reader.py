"""A reader beside a writer: never blocked, never half a batch, never back in time."""

import re
import subprocess
import sys
from typing import Any

from scenestore import Refusal, Store

NAMES = ["a.md", "b.md", "c.md"]
STEPS = 40
WRITER = """
import sys
from pathlib import Path
from scenestore import Store

with Store(Path(sys.argv[1]), actor="writer") as store:
    for step in range(1, int(sys.argv[2]) + 1):
        writes = [
            {"action": "update", "filename": name, "content": f"- step {step}"}
            for name in ("a.md", "b.md", "c.md")
        ]
        answer = store.l2_commit({"sceneWrites": writes})
        assert answer["success"], answer
"""


def steps_of(store: Store) -> set[int]:
    """The steps that one read of all scenes shows."""
    read = store.read_scene_blocks(NAMES)
    assert not isinstance(read, Refusal)
    assert [block.filename for block in read.blocks] == NAMES
    said = [re.search(r"\d+", block.content) for block in read.blocks]
    return {int(found[0]) for found in said if found is not None}


def test_each_read_beside_a_writer_shows_one_whole_batch(empty: Any) -> None:
    for name in NAMES:
        empty.create(name, content="- step 0")
    command = [sys.executable, "-c", WRITER, str(empty.profile), str(STEPS)]
    seen = [0]

    with (
        subprocess.Popen(command) as writer,
        Store(empty.profile, actor="reader") as store,
    ):
        while writer.poll() is None:
            (step,) = steps_of(store)  # one step, or the read was torn
            assert step >= seen[-1]
            seen.append(step)

    assert writer.returncode == 0
    assert steps_of(empty.store) == {STEPS}
    assert len(set(seen)) > 1  # it did read while the writer wrote
