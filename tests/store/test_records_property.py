"""Random shards, read in any split of calls, against a reader that knows no cache."""

import json
from collections.abc import Iterator, Mapping
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from scenestore.coverage import Coverage
from scenestore.records import Increment, Records
from scenestore_engine.state import Cursor, RecordFacts

IDS = [f"r{n}" for n in range(8)]
NAMES = ["2026-03-01", "2026-03-02", "2026-03-03", "b"]
JUNK = [
    b"oops",
    b"\0\0\0",
    b'{"id":"t","content":"to',
    b'{"id":"t","content":"cut \xe2\x81',
    b'{"id":"t","metadata":{"id":"inner","content":"x"},"con',
    b"  ",
    b"\t",
]
BLANKS = (b"  ", b"\t")

# A part is a record (id, text), a tombstone (id, None), or junk (bytes).
Part = tuple[str, str | None] | bytes
Shards = dict[str, list[list[Part]]]
"""Lines of parts by name; the last line has no LF, and may be empty."""
Entry = tuple[str, int, str, str | None]
"""Shard, line, id and text."""


class Homes:
    """Member sets as plain dictionaries; a handle is a hash of what it names."""

    def __init__(self, sets: Mapping[str, Mapping[str, frozenset[str]]]) -> None:
        self._runs: dict[str, frozenset[str]] = {}
        self._sets: dict[str, dict[str, str]] = {}
        self._names: dict[str, str] = {}
        for name, runs in sets.items():
            handles = {run: handle_of(sorted(ids)) for run, ids in runs.items() if ids}
            if handles:
                self._names[name] = handle_of(sorted(handles.items()))
                self._sets[self._names[name]] = handles
                self._runs |= {handles[run]: runs[run] for run in handles}

    def sets(self) -> Mapping[str, str]:
        return self._names

    def runs(self, handle: str) -> Mapping[str, str]:
        return self._sets[handle]

    def ids(self, run: str) -> frozenset[str]:
        return self._runs[run]


def handle_of(value: object) -> str:
    return sha256(repr(value).encode()).hexdigest()


NO_HOMES = Homes({})


def shown(part: Part) -> bytes:
    if isinstance(part, bytes):
        return part
    record_id, text = part
    if text is None:
        return json.dumps({"id": record_id, "deleted": True}).encode()
    return json.dumps({"id": record_id, "content": text}).encode()


def is_junk(part: Part) -> bool:
    return isinstance(part, bytes) and part not in BLANKS


def reference(shards: Shards) -> tuple[list[Entry], set[tuple[str, int]]]:
    """What stands where, and which lines are damaged."""
    entries: list[Entry] = []
    damaged: set[tuple[str, int]] = set()
    for name in sorted(shards):
        for line, parts in enumerate(shards[name], 1):
            is_at_work = line == len(shards[name]) and name == max(shards)
            objects = 0
            for part in parts:
                if is_junk(part):
                    if is_at_work:
                        break
                    damaged.add((name, line))
                elif not isinstance(part, bytes):
                    entries.append((name, line, *part))
                    objects += 1
            if objects > 1 and not is_at_work:
                damaged.add((name, line))
    return entries, damaged


def live_in(entries: list[Entry]) -> list[int]:
    """The numbers of the entries that are live records."""
    latest = {entry[2]: n for n, entry in enumerate(entries)}
    return sorted(n for n in latest.values() if entries[n][3] is not None)


def write(folder: Path, shards: Shards, name: str) -> None:
    path = folder / f"{name}.jsonl"
    text = b"\n".join(b"".join(map(shown, parts)) for parts in shards[name])
    if path.exists() and text.startswith(path.read_bytes()):
        with path.open("ab") as file:
            file.write(text[path.stat().st_size :])
    else:
        path.write_bytes(text)


def pages(
    records: Records, own: Cursor | None, homes: Homes, size: int
) -> Iterator[Increment]:
    cursor = None
    while True:
        page = records.increment(own=own, homes=homes, cursor=cursor, max_records=size)
        assert isinstance(page, Increment)
        yield page
        if not page.truncated:
            return
        assert page.next_cursor != cursor
        cursor = page.next_cursor


def late_ids(records: Records, own: Cursor | None, homes: Homes) -> list[str]:
    found: list[str] = []
    page = None
    while True:
        answer = records.increment(
            own=own, homes=homes, late=True, late_cursor=page, max_records=2
        )
        assert isinstance(answer, Increment)
        found += [str(record["id"]) for record in answer.records]
        if not answer.truncated:
            assert answer.late_count == len(found)
            return found
        page = answer.late_cursor


texts = st.integers(0, 99).map(str)
parts = st.one_of(
    st.tuples(st.sampled_from(IDS), texts),
    st.tuples(st.sampled_from(IDS), texts),
    st.tuples(st.sampled_from(IDS), st.none()),
    st.sampled_from(JUNK),
)
lines = st.lists(st.lists(parts, max_size=3), min_size=1, max_size=5)
names = st.sampled_from(NAMES)
id_sets = st.frozensets(st.sampled_from([*IDS, "unknown"]), max_size=5)
homes_of_all = st.fixed_dictionaries(
    {},
    optional={
        "members/a.md": st.fixed_dictionaries({"x": id_sets, "y": id_sets}),
        "members/b.md": st.fixed_dictionaries({"x": id_sets}),
        "archive/members/a.md": st.fixed_dictionaries({"x": id_sets, "y": id_sets}),
        "dismissed": st.fixed_dictionaries({"x": id_sets}),
        "forgotten": st.fixed_dictionaries({"x": id_sets}),
    },
)
steps = st.lists(
    st.one_of(
        st.tuples(st.just("append"), names, lines),
        st.tuples(st.just("append"), names, lines),
        st.tuples(st.just("rewrite"), names, lines),
        st.tuples(st.just("drop"), names, st.just([])),
    ),
    min_size=1,
    max_size=5,
)


def take(folder: Path, shards: Shards, step: tuple[str, str, list[list[Part]]]) -> None:
    kind, name, more = step
    if kind == "drop":
        shards.pop(name, None)
        (folder / f"{name}.jsonl").unlink(missing_ok=True)
        return
    had = shards.get(name, [[]]) if kind == "append" else [[]]
    shards[name] = [*had[:-1], had[-1] + more[0], *more[1:]]
    write(folder, shards, name)


def profile_in(folder: str) -> tuple[Path, Path]:
    profile = Path(folder)
    shards = profile / "memoryDB" / "l1" / "records"
    shards.mkdir(parents=True)
    return profile, shards


@settings(max_examples=100)
@given(steps, st.lists(homes_of_all, min_size=5, max_size=5), st.data())
def test_records_are_what_a_reader_without_a_cache_finds(
    steps: list[tuple[str, str, list[list[Part]]]],
    states: list[Mapping[str, Mapping[str, frozenset[str]]]],
    data: st.DataObject,
) -> None:
    with TemporaryDirectory() as folder:
        profile, l1 = profile_in(folder)
        records = Records(profile)
        shards: Shards = {}
        for step, state in zip(steps, states, strict=False):
            take(l1, shards, step)
            what = data.draw(st.sampled_from(["keep", "reopen", "delete"]))
            if what != "keep":
                records = Records(profile)
            if what == "delete":
                for file in profile.glob("memoryDB/scenestore/*"):
                    file.unlink()
            check(records, shards, state, data)


def check(
    records: Records,
    shards: Shards,
    state: Mapping[str, Mapping[str, frozenset[str]]],
    data: st.DataObject,
) -> None:
    homes = Homes(state)
    held = {
        name: frozenset[str]().union(*runs.values()) for name, runs in state.items()
    }
    forgotten = held.get("forgotten", frozenset())
    homed = frozenset[str]().union(*held.values())
    entries, damaged = reference(shards)
    live = live_in(entries)
    shown_live = [n for n in live if entries[n][2] not in forgotten]

    found = list(pages(records, None, homes, data.draw(st.integers(1, 4))))

    assert [
        (record["id"], record["content"]) for page in found for record in page.records
    ] == [entries[n][2:] for n in shown_live]
    assert found[0].total_new == len(shown_live)
    assert {
        (str(warning.file).removesuffix(".jsonl"), warning.line)
        for page in found
        for warning in page.warnings
    } == damaged
    assert records.lookup([*IDS, "inner", "t"]) == {
        record_id: RecordFacts(deleted=text is None)
        for _, _, record_id, text in entries
    }
    assert records.contents(IDS) == {
        entries[n][2]: {"id": entries[n][2], "content": entries[n][3]} for n in live
    }
    assert records.orphaned(homes, IDS) == tuple(
        sorted(entries[n][2] for n in live if entries[n][2] not in homed)
    )
    scenes = sorted(name for name in held if "members/" in name)
    assert records.homes_of(homes, [*IDS, "unknown"]) == {
        one: tuple(name for name in scenes if one in held[name])
        for one in [*IDS, "unknown"]
        if any(one in held[name] for name in scenes)
    }
    if not entries:
        return
    places = st.integers(0, len(entries) - 1)
    # A cursor stands after the last place of its id on its line.
    first, last = sorted(
        max(n for n, entry in enumerate(entries) if entry[:3] == entries[place][:3])
        for place in (data.draw(places), data.draw(places))
    )
    before, after = cursor_at(entries, first), cursor_at(entries, last)
    is_open = [n for n in live if entries[n][2] not in homed]
    up_to_last = tuple(entries[n][2] for n in is_open if n <= last)
    between = tuple(entries[n][2] for n in is_open if first < n <= last)
    assert records.coverage(homes, after) == Coverage(
        unassigned=len(up_to_last),
        dismissed=len(held.get("dismissed", ())),
        ids=up_to_last,
    )
    assert records.passed(homes, before, after) == (len(between), between)
    assert tuple(late_ids(records, after, homes)) == up_to_last


def cursor_at(entries: list[Entry], place: int) -> Cursor:
    shard, line, record_id, _ = entries[place]
    return Cursor(record_id=record_id, shard=shard, line=line)


@settings(max_examples=100)
@given(steps, st.data())
def test_no_live_record_is_skipped_however_shards_change_between_calls(
    steps: list[tuple[str, str, list[list[Part]]]], data: st.DataObject
) -> None:
    with TemporaryDirectory() as folder:
        profile, l1 = profile_in(folder)
        records = Records(profile)
        shards: Shards = {}
        own: Cursor | None = None
        seen: frozenset[str] = frozenset()
        for step in [*steps, None]:
            if step is not None:
                take(l1, shards, step)
            for _ in range(data.draw(st.integers(1, 3)) if step else 100):
                page = records.increment(own=own, homes=NO_HOMES, max_records=2)
                assert isinstance(page, Increment)
                seen |= {str(record["id"]) for record in page.records}
                if page.next_cursor is not None:
                    own = records.resolve(page.next_cursor, own)
                    assert own is not None
                if not page.truncated:
                    break

        homes = Homes({"members/a.md": {"x": seen}})
        late = late_ids(records, own, homes)
        entries = reference(shards)[0]
        live = {entries[n][2] for n in live_in(entries)}

        assert live <= seen | set(late)


@settings(max_examples=100)
@given(st.lists(lines, min_size=1, max_size=4), st.data())
def test_following_the_cursor_through_a_growing_shard_returns_each_latest_text(
    growth: list[list[list[Part]]], data: st.DataObject
) -> None:
    with TemporaryDirectory() as folder:
        profile, l1 = profile_in(folder)
        records = Records(profile)
        shards: Shards = {}
        seen: dict[str, object] = {}
        cursor = None
        for more in [*growth, []]:
            if more:
                take(l1, shards, ("append", "2026-03-01", more))
                named = [entry[:3] for entry in reference(shards)[0]]
                # What an id means that comes again on its own line is told elsewhere.
                assume(len(named) == len(set(named)))
            for _ in range(data.draw(st.integers(0, 2)) if more else 100):
                page = records.increment(
                    own=None, homes=NO_HOMES, cursor=cursor, max_records=2
                )
                assert isinstance(page, Increment)
                seen |= {str(one["id"]): one["content"] for one in page.records}
                cursor = page.next_cursor
                if not page.truncated:
                    break

        entries = reference(shards)[0]
        live = {entries[n][2]: entries[n][3] for n in live_in(entries)}

        assert live == {one: text for one, text in seen.items() if one in live}
