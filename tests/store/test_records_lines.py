"""What stands on a line, and what is wrong with it."""

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from scenestore import layout
from scenestore.records import Increment, Records


class Nowhere:
    """A state in which no record has a home."""

    def sets(self) -> Mapping[str, str]:
        return {}

    def runs(self, handle: str) -> Mapping[str, str]:
        raise KeyError(handle)

    def ids(self, run: str) -> frozenset[str]:
        raise KeyError(run)


A = b'{"id":"a","content":"x"}'
B = b'{"id":"b","content":"y"}'
C = b'{"id":"c","content":"z"}'


@pytest.fixture
def profile(tmp_path: Path) -> Path:
    layout.records_dir(tmp_path).mkdir(parents=True)
    return tmp_path


def put(profile: Path, data: bytes, shard: str = "2026-03-01") -> None:
    (layout.records_dir(profile) / f"{shard}.jsonl").write_bytes(data)


def read(profile: Path, cursor: str | None = None, limit: int = 50) -> Increment:
    answer = Records(profile).increment(
        own=None, homes=Nowhere(), cursor=cursor, max_records=limit
    )
    assert isinstance(answer, Increment)
    return answer


def ids(answer: Increment) -> list[object]:
    return [one["id"] for one in answer.records]


def damage(answer: Increment) -> list[tuple[int | None, str]]:
    return [(warning.line, warning.reason) for warning in answer.warnings]


@pytest.mark.parametrize(
    "data",
    [
        A + b"\n" + B + b"\n",
        A + b"\r\n" + B + b"\r\n",
        A + b"\n" + B,
        b"\xef\xbb\xbf" + A + b"\n" + B + b"\n",
        A + b"\n\xef\xbb\xbf" + B + b"\n",
        b"\n\n" + A + b"\n \t\r\n" + B + b"\n\n",
        b"  " + A + b"\t\n" + B + b"  \n",
    ],
    ids=["lf", "crlf", "no-lf", "bom", "bom-inside", "blank-lines", "blanks"],
)
def test_lines_are_read_however_they_are_dressed(profile: Path, data: bytes) -> None:
    put(profile, data)

    answer = read(profile)

    assert ids(answer) == ["a", "b"]
    assert answer.warnings == ()


@pytest.mark.parametrize(
    "mark", ["\u2028", "\u2029", "\x85", "\x0b", "\x0c", "\x1c", "\r"]
)
def test_only_lf_ends_a_line(profile: Path, mark: str) -> None:
    text = json.dumps({"id": "a", "content": "x"}, ensure_ascii=False)
    put(profile, text.replace("x", mark).encode() + b"\n" + B + b"\n")
    is_json = mark > "\x1f"

    answer = read(profile)

    assert ids(answer) == (["a", "b"] if is_json else ["b"])
    assert damage(answer) == ([] if is_json else [(1, "not_json")])


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b"{oops", "not_json"),
        (b"null", "not_json"),
        (b"[" + A + b"]", "not_json"),
        (A[:-1], "not_json"),
        (b'{"id":"a","content":NaN}', "not_json"),
        (b'{"content":"no id"}', "bad_id"),
        (b'{"id":7}', "bad_id"),
        (b'{"id":""}', "bad_id"),
        (b'{"id":"a\\n"}', "bad_id"),
        (b'{"id":"\\u0085"}', "bad_id"),
        (b'{"id":"\\ud800"}', "bad_id"),
        (b'{"id":"' + b"a" * 129 + b'"}', "bad_id"),
        (b'{"id":"' + "é".encode() * 65 + b'"}', "bad_id"),
        (b'{"id":"a","content":"\xe2\x81"}', "not_utf8"),
        (b'{"id":"a","content":"cut \xe2\x81', "not_utf8"),
        (b"\0" * 300, "nul_bytes"),
        (b'{"id":"a","x":' + b"[" * 100_000, "not_json"),
        (b"{" * 100_000, "not_json"),
    ],
)
def test_a_damaged_line_is_told_and_passed_over(
    profile: Path, line: bytes, reason: str
) -> None:
    put(profile, C + b"\n" + line + b"\n" + B + b"\n")

    answer = read(profile)

    assert ids(answer) == ["c", "b"]
    assert damage(answer) == [(2, reason)]
    assert answer.warnings[0].file == "2026-03-01.jsonl"


def test_an_id_of_128_bytes_is_one(profile: Path) -> None:
    name = "é" * 64
    put(profile, json.dumps({"id": name}).encode() + b"\n")

    assert ids(read(profile)) == [name]


@pytest.mark.parametrize(
    ("line", "found"),
    [
        (A + B, ["a", "b"]),
        (A + b" " + B, ["a", "b"]),
        (A + b"oops" + B, ["a", "b"]),
        (A + B[:-3], ["a"]),
        (A[:-3] + B, ["b"]),
        (b"\0\0\0" + B, ["b"]),
        (A[:-3] + B + C[:-3] + A, ["b", "a"]),
        (b'{"id":"t","content":"caf\xc3' + B, ["b"]),
        (b'{"id":"t","priority":' + B, ["b"]),
        (b'{"id":"t",' + b'{"id":"b","deleted":true}' + C, ["c"]),
    ],
)
def test_every_whole_object_on_a_damaged_line_counts(
    profile: Path, line: bytes, found: list[str]
) -> None:
    put(profile, line + b"\n")

    answer = read(profile)

    assert ids(answer) == found
    assert len(answer.warnings) == 1


@pytest.mark.parametrize(
    "line",
    [
        b'{"id":"t","metadata":{"id":"inner","content":"x"},"con',
        b'{"id":"t","metadata":{"id":"inner"}',
        b'{"id":"t","list":[{"id":"inner"},{"id":"inner2"}',
        b'{"id":"t",oops,"metadata":{"id":"inner"}}',
    ],
)
def test_a_part_of_a_torn_object_is_no_record(profile: Path, line: bytes) -> None:
    put(profile, line + b"\n")

    answer = read(profile)

    assert ids(answer) == []
    assert damage(answer) == [(1, "not_json")]


def test_the_records_of_one_line_are_split_by_the_id_of_the_cursor(
    profile: Path,
) -> None:
    put(profile, A + B + C + b"\n")

    assert ids(read(profile, limit=1)) == ["a"]
    assert ids(read(profile, "a", limit=1)) == ["b"]
    assert ids(read(profile, "b@2026-03-01:1")) == ["c"]
    assert read(profile, "c").total_new == 0


def test_an_id_twice_on_a_line_is_read_once_and_ends(profile: Path) -> None:
    put(profile, A + B + b'{"id":"a","content":"later"}\n')

    first = read(profile, limit=1)
    second = read(profile, first.next_cursor, limit=1)

    assert (ids(first), ids(second)) == (["b"], ["a"])
    assert read(profile, second.next_cursor).total_new == 0


def test_a_torn_tail_is_a_writer_at_work_and_no_damage(profile: Path) -> None:
    put(profile, A + b"\n" + B[:-3])

    answer = read(profile)

    assert (ids(answer), answer.next_cursor) == (["a"], "a")
    assert answer.warnings == ()


def test_a_torn_tail_is_damage_once_a_newer_shard_exists(profile: Path) -> None:
    put(profile, A + b"\n" + B[:-3])
    put(profile, C + b"\n", "2026-03-02")

    answer = read(profile)

    assert ids(answer) == ["a", "c"]
    assert damage(answer) == [(2, "not_json")]


def test_the_tail_is_judged_again_when_a_newer_shard_comes_and_goes(
    profile: Path,
) -> None:
    put(profile, A + b"\n" + B[:-3])
    seen = [read(profile)]
    put(profile, b"", "2026-03-02")
    seen.append(read(profile))
    (layout.records_dir(profile) / "2026-03-02.jsonl").unlink()
    seen.append(read(profile))

    assert [len(answer.warnings) for answer in seen] == [0, 1, 0]


def test_a_torn_tail_is_read_when_it_is_whole(profile: Path) -> None:
    put(profile, A + b"\n" + B[:-3])
    assert ids(read(profile)) == ["a"]
    put(profile, A + b"\n" + B)
    assert ids(read(profile, "a")) == ["b"]
    put(profile, A + b"\n" + B + C + b"\n")

    assert ids(read(profile, "b")) == ["c"]


def test_lines_are_numbered_by_their_lf_alone(profile: Path) -> None:
    put(profile, b"\n\r\n" + A + b"\n\noops\n" + B)

    answer = read(profile)

    assert damage(answer) == [(5, "not_json")]
    assert ids(read(profile, "a@2026-03-01:3")) == ["b"]


def test_half_of_a_surrogate_pair_is_read_as_a_replacement(profile: Path) -> None:
    put(profile, b'{"id":"a","content":"cut \\ud83d","more":{"\\udc00":["\\ud83d"]}}\n')

    answer = read(profile)

    assert answer.records == (
        {"id": "a", "content": "cut \ufffd", "more": {"\ufffd": ["\ufffd"]}},
    )
    assert answer.warnings == ()


def test_a_number_beyond_all_range_is_read_as_its_text(profile: Path) -> None:
    digits = "9" * 5000
    put(profile, f'{{"id":"a","n":1e999,"m":{digits}}}\n'.encode())

    assert read(profile).records == ({"id": "a", "n": "1e999", "m": digits},)


def test_damage_is_told_by_the_page_that_passes_it(profile: Path) -> None:
    put(profile, A + b"\noops\n" + B + b"\noops\n" + C + b"\n")

    first = read(profile, limit=1)
    second = read(profile, first.next_cursor, limit=1)
    third = read(profile, second.next_cursor, limit=1)

    assert list(map(damage, (first, second, third))) == [
        [],
        [(2, "not_json")],
        [(4, "not_json")],
    ]


def test_a_shard_of_garbage_does_not_flood_the_answer(profile: Path) -> None:
    put(profile, b"oops\n" * 1_000 + A + b"\n")

    answer = read(profile)

    assert ids(answer) == ["a"]
    assert len(answer.warnings) == 51
    assert answer.warnings[-1].reason == "more_damaged_lines"


def test_a_public_report_of_a_torn_shard_is_read_to_its_last_good_line(
    profile: Path,
) -> None:
    # Source: cases/bug_cases.jsonl, B15.
    put(profile, A + b"\n" + b"\0" * 300 + b"\n" + B + C + b'\n{"id":"d","con\xe2\x81')

    answer = read(profile)

    assert ids(answer) == ["a", "b", "c"]
    assert damage(answer) == [(2, "nul_bytes"), (3, "several_objects")]
    assert answer.next_cursor == "c"
