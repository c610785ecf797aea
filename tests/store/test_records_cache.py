"""The cache of where records stand: it is never truth, and never in the way."""

import json
import os
import shutil
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from scenestore import layout, recordcache
from scenestore.records import Records
from scenestore_engine.state import RecordFacts

KNOWN = RecordFacts()


@pytest.fixture
def profile(tmp_path: Path) -> Path:
    layout.records_dir(tmp_path).mkdir(parents=True)
    put(tmp_path, "s1", "a", "b")
    return tmp_path


def put(profile: Path, shard: str, *ids: str) -> Path:
    path = layout.records_dir(profile) / f"{shard}.jsonl"
    path.write_text("".join(json.dumps({"id": one}) + "\n" for one in ids))
    return path


def known(records: Records) -> str:
    return "".join(sorted(records.lookup("abcdefgh")))


@contextmanager
def table(profile: Path) -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(layout.records_cache(profile))) as db:
        yield db


def offsets(profile: Path) -> dict[str, int]:
    """How far each shard is indexed, in bytes."""
    with table(profile) as db:
        return dict(db.execute("SELECT name, offset FROM shard").fetchall())


def test_the_cache_is_private(profile: Path) -> None:
    known(Records(profile))

    assert layout.cache_dir(profile).stat().st_mode & 0o777 == 0o700
    assert layout.records_cache(profile).stat().st_mode & 0o777 == 0o600


def test_reading_a_profile_that_is_not_there_makes_nothing(tmp_path: Path) -> None:
    assert known(Records(tmp_path / "typo")) == ""
    assert list(tmp_path.iterdir()) == []


def test_an_appended_shard_is_read_from_where_it_ended(profile: Path) -> None:
    records = Records(profile)
    path = put(profile, "s1", *(f"r{n}" for n in range(1_000)), "a")
    assert known(records) == "a"
    with table(profile) as db:
        db.execute("UPDATE object SET id = 'b' WHERE id = 'r0'")
        db.commit()

    with path.open("a") as file:
        file.write('{"id":"c"}\n')

    # That the change to the table is still seen proves that no line was read twice.
    assert known(records) == "abc"
    assert offsets(profile) == {"s1": path.stat().st_size}


@pytest.mark.parametrize("ids", ["ac", "xb", "abc", "a", ""])
def test_a_rewritten_shard_is_read_again(profile: Path, ids: str) -> None:
    records = Records(profile)
    known(records)

    path = put(profile, "s1", *ids)
    os.utime(path, ns=(1, 1))

    assert known(records) == ids.replace("x", "")


def test_a_shard_that_was_rewritten_and_grew_is_read_again(profile: Path) -> None:
    records = Records(profile)
    known(records)

    put(profile, "s1", "c", "d", "e")

    assert known(records) == "cde"


def test_a_shard_that_was_swapped_for_a_longer_one_is_read_again(profile: Path) -> None:
    records = Records(profile)
    path = put(profile, "s1", *(f"r{n}" for n in range(1_000)), "a")
    assert known(records) == "a"

    # All that differs lies far before the bytes that a look back would compare.
    new = path.with_name("new")
    new.write_text(path.read_text().replace('"r0"', '"h" ') + '{"id":"c"}\n')
    new.replace(path)

    assert known(records) == "ach"


def test_a_shard_rewritten_in_the_same_instant_is_read_again(profile: Path) -> None:
    path = layout.records_dir(profile) / "s1.jsonl"
    stamp = path.stat()
    records = Records(profile)
    assert known(records) == "ab"

    path.write_text(path.read_text().replace('"a"', '"c"'))
    os.utime(path, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))

    assert known(records) == "bc"


def test_a_shard_that_changed_unseen_is_read_again_when_its_bytes_differ(
    profile: Path,
) -> None:
    path = layout.records_dir(profile) / "s1.jsonl"
    os.utime(path, ns=(1, 1))
    records = Records(profile)
    assert known(records) == "ab"

    path.write_text(path.read_text().replace('"a"', '"c"'))
    os.utime(path, ns=(1, 1))

    assert records.contents("abc") == {"b": {"id": "b"}, "c": {"id": "c"}}
    assert known(records) == "bc"


def test_a_shard_that_is_gone_is_forgotten(profile: Path) -> None:
    records = Records(profile)
    path = put(profile, "s2", "a", "c")
    assert known(records) == "abc"

    path.unlink()

    assert known(records) == "ab"


def test_a_record_of_which_the_later_line_is_gone_is_what_it_was(profile: Path) -> None:
    records = Records(profile)
    path = layout.records_dir(profile) / "s2.jsonl"
    path.write_text('{"id":"a","deleted":true}\n')
    assert records.lookup("a") == {"a": RecordFacts(deleted=True)}

    path.unlink()

    assert records.lookup("a") == {"a": KNOWN}


def test_the_cache_may_be_deleted_between_any_two_calls(profile: Path) -> None:
    records = Records(profile)
    assert known(records) == "ab"

    shutil.rmtree(layout.cache_dir(profile))

    assert known(records) == "ab"
    assert layout.records_cache(profile).exists()


@pytest.mark.parametrize(
    "data", [b"", b"not a database", b"SQLite format 3\0" + b"\xff" * 9_000, b"\0" * 50]
)
def test_a_damaged_cache_is_made_again(profile: Path, data: bytes) -> None:
    known(Records(profile))
    layout.records_cache(profile).write_bytes(data)

    assert known(Records(profile)) == "ab"
    assert offsets(profile) == {"s1": 24}


@pytest.mark.parametrize("place", [100, 4_096, 5_000, 9_000, 20_000, 40_000])
def test_a_cache_with_damaged_pages_gives_right_answers(
    profile: Path, place: int
) -> None:
    put(profile, "s1", *(f"r{n}" for n in range(2_000)), "a", "b")
    known(Records(profile))
    cache = layout.records_cache(profile)
    data = bytearray(cache.read_bytes())
    data[place : place + 3_000] = b"\xff" * 3_000
    cache.write_bytes(data)

    assert known(Records(profile)) == "ab"


def test_a_cache_of_other_tables_is_made_again(profile: Path) -> None:
    layout.cache_dir(profile).mkdir()
    with table(profile) as db:
        db.execute("CREATE TABLE about (something TEXT)")

    assert known(Records(profile)) == "ab"
    assert offsets(profile) == {"s1": 24}


@pytest.mark.parametrize("change", ["version = version + 1", "boot = 'before'"])
def test_a_cache_of_another_version_or_boot_is_made_again(
    profile: Path, change: str
) -> None:
    known(Records(profile))
    with table(profile) as db:
        db.execute(f"UPDATE about SET {change}")  # noqa: S608
        db.execute("DELETE FROM object")
        db.commit()

    assert known(Records(profile)) == "ab"


@pytest.mark.parametrize("obstacle", ["file", "folder", "link", "fifo"])
def test_without_a_place_for_it_the_cache_is_in_memory(
    profile: Path, obstacle: str
) -> None:
    cache = layout.records_cache(profile)
    if obstacle == "file":
        cache.parent.write_text("")
    else:
        cache.parent.mkdir()
    if obstacle == "folder":
        cache.mkdir()
    if obstacle == "link":
        cache.symlink_to("/dev/null")
    if obstacle == "fifo":
        os.mkfifo(cache)
    records = Records(profile)

    assert known(records) == "ab"
    put(profile, "s2", "c")
    assert known(records) == "abc"
    records.close()
    assert known(records) == "abc"


def test_a_cache_that_another_process_holds_is_not_waited_for_long(
    profile: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recordcache, "_BUSY_S", 0.05)
    records = Records(profile)
    known(records)
    put(profile, "s2", "c")

    with table(profile) as db:
        db.execute("BEGIN EXCLUSIVE")
        held = known(records)
    put(profile, "s3", "d")

    assert (held, known(records)) == ("abc", "abcd")
    assert set(offsets(profile)) == {"s1", "s2", "s3"}


def test_threads_may_ask_at_once(profile: Path) -> None:
    records = Records(profile)
    answers: list[str] = []

    def ask() -> None:
        for _ in range(20):
            answers.append(known(records))
            answers.append(known(Records(profile)))

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert answers == ["ab"] * 160


def test_processes_may_index_at_once(profile: Path) -> None:
    put(profile, "s1", *(f"r{n}" for n in range(20_000)), "a", "b")
    code = (
        "import sys, pathlib; from scenestore.records import Records;"
        "print(''.join(sorted(Records(pathlib.Path(sys.argv[1])).lookup('abc'))))"
    )

    children = [
        subprocess.Popen(
            [sys.executable, "-c", code, str(profile)],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        for _ in range(4)
    ]

    assert [child.communicate()[0] for child in children] == ["ab\n"] * 4


def test_inside_of_steady_the_folder_is_looked_at_once(profile: Path) -> None:
    records = Records(profile)
    with records.steady():
        before = known(records)
        put(profile, "s2", "c")
        inside = known(records)

    assert (before, inside, known(records)) == ("ab", "ab", "abc")


def test_steadiness_does_not_outlive_the_cache_it_was_found_in(profile: Path) -> None:
    records = Records(profile)
    with records.steady():
        assert known(records) == "ab"
        shutil.rmtree(layout.cache_dir(profile))

        assert known(records) == "ab"


def test_a_line_longer_than_any_chunk_is_read(profile: Path) -> None:
    content = "x" * 3_000_000
    path = layout.records_dir(profile) / "s1.jsonl"
    path.write_text(f'{{"id":"a"}}\n{{"id":"b","content":"{content}"}}\n{{"id":"c"}}')

    records = Records(profile)

    assert known(records) == "abc"
    assert records.contents("b")["b"]["content"] == content


def test_an_id_of_very_many_lines_has_one_place(profile: Path) -> None:
    path = put(profile, "s1", *("a" for _ in range(20_000)))
    records = Records(profile)
    assert known(records) == "a"

    with path.open("a") as file:
        file.write('{"id":"b"}\n{"id":"a","deleted":true}\n')

    assert records.lookup("ab") == {"a": RecordFacts(deleted=True), "b": KNOWN}
