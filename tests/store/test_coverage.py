"""Which live records belong to no scene, and that counting them costs what changed."""

import json
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path

import pytest

from scenestore import layout
from scenestore.coverage import Coverage
from scenestore.errors import Refusal
from scenestore.records import Increment, Records
from scenestore_engine.state import Cursor


class Homes:
    """Member sets as plain dictionaries, which count what of them is opened."""

    def __init__(self, **sets: Mapping[str, str]) -> None:
        self._runs: dict[str, frozenset[str]] = {}
        self._sets: dict[str, dict[str, str]] = {}
        self._names: dict[str, str] = {}
        self.opened: list[frozenset[str]] = []
        for short, runs in sets.items():
            handles = {run: handle_of(sorted(ids)) for run, ids in runs.items()}
            name = NAMES[short]
            self._names[name] = handle_of(sorted(handles.items()))
            self._sets[self._names[name]] = handles
            self._runs |= {handles[run]: frozenset(runs[run]) for run in runs}

    def sets(self) -> Mapping[str, str]:
        return self._names

    def runs(self, handle: str) -> Mapping[str, str]:
        return self._sets[handle]

    def ids(self, run: str) -> frozenset[str]:
        self.opened.append(self._runs[run])
        return self._runs[run]


NAMES = {
    "a": "members/a.md",
    "b": "members/b.md",
    "archived": "archive/members/c.md",
    "dismissed": "dismissed",
    "forgotten": "forgotten",
}


def handle_of(value: object) -> str:
    return sha256(repr(value).encode()).hexdigest()


@pytest.fixture
def profile(tmp_path: Path) -> Path:
    layout.records_dir(tmp_path).mkdir(parents=True)
    put(tmp_path, "s1", "abcd")
    put(tmp_path, "s2", "efgh")
    return tmp_path


@pytest.fixture
def records(profile: Path) -> Records:
    return Records(profile)


def put(profile: Path, shard: str, ids: str) -> None:
    """Write a shard of one-letter ids; a capital is a tombstone."""
    lines = [
        json.dumps(
            {"id": one.lower(), "deleted": True} if one.isupper() else {"id": one}
        )
        for one in ids
    ]
    path = layout.records_dir(profile) / f"{shard}.jsonl"
    path.write_text("".join(line + "\n" for line in lines))


def at(record_id: str) -> Cursor:
    """The cursor on a record of the fixture."""
    number = "abcdefgh".index(record_id)
    return Cursor(record_id=record_id, shard=f"s{number // 4 + 1}", line=number % 4 + 1)


def open_ids(records: Records, homes: Homes, upto: Cursor | None) -> str:
    found = records.coverage(homes, upto)
    assert found.unassigned == len(found.ids)
    return "".join(found.ids)


def late(
    records: Records, homes: Homes, own: Cursor | None, **asked: object
) -> Increment:
    answer = records.increment(own=own, homes=homes, late=True, **asked)  # type: ignore[arg-type]
    assert isinstance(answer, Increment)
    return answer


def ids(answer: Increment) -> str:
    return "".join(str(one["id"]) for one in answer.records)


def test_what_no_scene_holds_is_unassigned_up_to_the_cursor(records: Records) -> None:
    homes = Homes(a={"x": "ae"})

    assert open_ids(records, homes, at("f")) == "bcdf"


def test_before_the_first_cursor_nothing_is_unassigned(records: Records) -> None:
    assert records.coverage(Homes(), None) == Coverage(
        unassigned=0, dismissed=0, ids=()
    )


def test_archived_dismissed_and_forgotten_records_are_not_unassigned(
    records: Records,
) -> None:
    homes = Homes(
        a={"x": "a"},
        archived={"x": "b"},
        dismissed={"x": "c", "y": "z"},
        forgotten={"x": "e"},
    )

    assert records.coverage(homes, at("h")) == Coverage(
        unassigned=4, dismissed=2, ids=("d", "f", "g", "h")
    )


def test_the_first_fifty_ids_are_named(profile: Path) -> None:
    path = layout.records_dir(profile) / "s0.jsonl"
    path.write_text("".join(f'{{"id":"r{n}"}}\n' for n in range(60)))

    found = Records(profile).coverage(Homes(), at("b"))

    assert found.unassigned == 62
    assert found.ids == tuple(f"r{n}" for n in range(50))


def test_passed_are_the_records_between_two_cursors(records: Records) -> None:
    homes = Homes(a={"x": "cf"})

    assert records.passed(homes, at("b"), at("g")) == (3, ("d", "e", "g"))
    assert records.passed(homes, None, at("b")) == (2, ("a", "b"))
    assert records.passed(homes, at("g"), at("g")) == (0, ())


def test_going_back_passes_nothing(records: Records) -> None:
    assert records.passed(Homes(), at("g"), at("b")) == (0, ())


def test_orphans_are_the_living_that_nobody_holds(
    profile: Path, records: Records
) -> None:
    put(profile, "s3", "B")
    homes = Homes(archived={"x": "c"}, dismissed={"x": "d"}, forgotten={"x": "e"})

    assert records.orphaned(homes, ["unknown", "h", *"abcde"]) == ("a", "h")


def test_homes_are_the_scenes_live_and_archived(records: Records) -> None:
    homes = Homes(
        a={"x": "ab"}, b={"x": "b"}, archived={"x": "bc"}, dismissed={"x": "d"}
    )

    assert records.homes_of(homes, "abcde") == {
        "a": ("members/a.md",),
        "b": ("archive/members/c.md", "members/a.md", "members/b.md"),
        "c": ("archive/members/c.md",),
    }


def test_coverage_follows_any_state_after_any_other(records: Records) -> None:
    states = [
        (Homes(a={"x": "ab"}), "cd"),
        (Homes(b={"x": "ab"}), "cd"),
        (Homes(a={"x": "abc"}, b={"x": "d"}), ""),
        (Homes(), "abcd"),
        (Homes(a={"x": "ab"}, b={"x": "ab"}), "cd"),
        (Homes(b={"x": "ab"}), "cd"),
        (Homes(dismissed={"x": "ab"}), "cd"),
        (Homes(forgotten={"x": "ab"}), "cd"),
        (Homes(a={"x": "ab"}, forgotten={"x": "ab"}), "cd"),
        (Homes(a={"x": "ab"}), "cd"),
        (Homes(a={"x": "a", "y": "b"}), "cd"),
        (Homes(a={"y": "bc"}), "ad"),
    ]

    assert [open_ids(records, homes, at("d")) for homes, _ in states] == [
        expected for _, expected in states
    ]


def test_a_record_in_two_scenes_stays_when_one_lets_it_go(records: Records) -> None:
    both = Homes(a={"x": "ab"}, b={"x": "bc"})
    one = Homes(a={"x": "ab"})

    assert open_ids(records, both, at("d")) == "d"
    assert open_ids(records, one, at("d")) == "cd"


def test_only_runs_that_changed_are_opened(records: Records) -> None:
    before = Homes(a={"x": "a", "y": "b"}, b={"x": "c"})
    after = Homes(a={"x": "a", "y": "bd"}, b={"x": "c"})
    records.coverage(before, None)

    assert open_ids(records, after, at("d")) == ""

    assert after.opened == [frozenset("bd")]


def test_a_scene_that_moves_opens_nothing(records: Records) -> None:
    records.coverage(Homes(a={"x": "ab", "y": "c"}), None)
    moved = Homes(archived={"x": "ab", "y": "c"})

    assert open_ids(records, moved, at("d")) == "d"

    assert moved.opened == []
    assert records.homes_of(moved, "a") == {"a": ("archive/members/c.md",)}


def test_an_older_state_needs_no_blobs_of_the_newer_one(records: Records) -> None:
    before = Homes(a={"x": "ab"})
    records.coverage(before, None)
    records.coverage(Homes(a={"x": "abc"}), None)

    # Its handles are unknown to *before*: asking for one would raise.
    assert open_ids(records, before, at("d")) == "cd"


def test_coverage_follows_the_shards_too(profile: Path, records: Records) -> None:
    homes = Homes(a={"x": "ax"})
    assert open_ids(records, homes, at("d")) == "bcd"

    put(profile, "s0", "xyB")

    # The tombstone in an older shard ends nothing: b stands later.
    assert open_ids(records, homes, at("d")) == "ybcd"

    put(profile, "s1", "abcdB")

    assert open_ids(records, homes, at("d")) == "ycd"


def test_a_member_that_comes_to_l1_later_is_assigned_at_once(
    profile: Path, records: Records
) -> None:
    homes = Homes(a={"x": "abcdy"})
    assert open_ids(records, homes, at("d")) == ""

    put(profile, "s0", "yz")

    assert open_ids(records, homes, at("d")) == "z"


def test_a_member_that_is_written_again_stays_assigned(
    profile: Path, records: Records
) -> None:
    homes = Homes(a={"x": "ab"})
    records.coverage(homes, None)

    put(profile, "s3", "ac")

    end = Cursor(record_id="c", shard="s3", line=2)
    assert open_ids(records, homes, end) == "defghc"


def test_late_records_are_those_up_to_the_stores_cursor(records: Records) -> None:
    homes = Homes(a={"x": "be"})

    answer = late(records, homes, at("f"))

    assert ids(answer) == "acdf"
    assert (answer.late_count, answer.total_new, answer.truncated) == (4, 2, False)
    assert answer.next_cursor == "f"


def test_late_records_come_in_pages_of_their_own(records: Records) -> None:
    homes = Homes(a={"x": "be"})

    first = late(records, homes, at("f"), max_records=3)
    second = late(records, homes, at("f"), late_cursor=first.late_cursor)
    third = late(records, homes, at("f"), late_cursor=second.late_cursor)

    assert [ids(page) for page in (first, second, third)] == ["acd", "f", ""]
    assert [page.truncated for page in (first, second, third)] == [True, False, False]
    assert first.late_cursor == "d@s1:4"
    assert third.late_cursor == second.late_cursor
    assert {page.next_cursor for page in (first, second, third)} == {"f"}


def test_late_records_are_counted_whatever_is_read(records: Records) -> None:
    answer = records.increment(own=at("c"), homes=Homes(a={"x": "b"}), cursor="g")

    assert isinstance(answer, Increment)
    assert (ids(answer), answer.late_count, answer.late_cursor) == ("h", 2, None)


def test_without_a_cursor_of_the_store_nothing_is_late(records: Records) -> None:
    answer = late(records, Homes(), None)

    assert (answer.late_count, answer.records, answer.late_cursor) == (0, (), None)


def test_an_unknown_late_cursor_is_refused(records: Records) -> None:
    answer = records.increment(
        own=at("c"), homes=Homes(), late=True, late_cursor="a@s1:2"
    )

    assert isinstance(answer, Refusal)
    assert [fault.path for fault in answer.errors] == ["/lateCursor"]


def test_late_must_be_true_or_false(records: Records) -> None:
    answer = records.increment(own=None, homes=Homes(), late="yes")  # type: ignore[arg-type]

    assert isinstance(answer, Refusal)
    assert [fault.path for fault in answer.errors] == ["/late"]


def test_forgotten_records_are_neither_new_nor_late_nor_counted(
    records: Records,
) -> None:
    homes = Homes(forgotten={"x": "bgh"})

    answer = records.increment(own=at("c"), homes=homes)

    assert isinstance(answer, Increment)
    assert (ids(answer), answer.total_new, answer.late_count) == ("def", 3, 2)


def test_no_cursor_is_named_by_a_forgotten_id(records: Records) -> None:
    answer = records.increment(own=None, homes=Homes(forgotten={"x": "gh"}))

    assert isinstance(answer, Increment)
    assert answer.next_cursor == "f"


def test_a_forgotten_record_may_become_an_ordinary_one_again(records: Records) -> None:
    assert open_ids(records, Homes(forgotten={"x": "a"}), at("b")) == "b"

    assert open_ids(records, Homes(a={"x": "b"}), at("b")) == "a"


def test_when_the_cursor_is_lost_its_shard_is_no_longer_counted(
    profile: Path, records: Records
) -> None:
    put(profile, "s2", "xyz")

    assert open_ids(records, Homes(), at("f")) == "abcd"
