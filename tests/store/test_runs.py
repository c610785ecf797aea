"""Member runs: the same set, the same bytes, however it came to be."""

import random
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from scenestore import layout, runs
from scenestore.ledger.objects import Objects
from scenestore.ledger.sets import Sets

MONTH_MS = 1_772_323_200_000  # 2026-03-01
IDS = st.one_of(
    st.builds(
        lambda day, n: f"m_{MONTH_MS + day * 86_400_000 + n}_{n:x}",
        st.integers(0, 60),
        st.integers(0, 50),
    ),
    st.sampled_from(["x", "record 7", "m_12_zz", "m_99999999999999999_ab", "记录"]),
)


def many(count: int, seed: int = 1) -> list[str]:
    """Ids of one month, most of them of one day."""
    dice = random.Random(seed)  # noqa: S311
    days = [0] * 9 + [5]
    return [
        f"m_{MONTH_MS + dice.choice(days) * 86_400_000 + n}_{dice.randrange(2**32):08x}"
        for n in range(count)
    ]


def test_an_id_stands_in_the_run_of_the_month_that_it_names() -> None:
    ids = ["m_1772323200000_ab", "m_1769904000000_cd", "other id"]

    assert sorted(runs.split(ids)) == ["2026-02.ids", "2026-03.ids", "other.ids"]


def test_years_outside_2000_to_2199_count_as_no_date() -> None:
    assert runs.group_of("m_946684799999_ab") == "other"
    assert runs.group_of("m_946684800000_ab") == "2000-01"
    assert runs.group_of("m_7258118400000_ab") == "other"


def test_a_run_of_1024_stays_whole_and_one_more_splits_it_by_day() -> None:
    ids = many(1025)

    assert list(runs.split(ids[:1024])) == ["2026-03.ids"]
    assert "2026-03.ids" not in runs.split(ids)


def test_a_full_day_splits_by_hex_digits_of_the_hash() -> None:
    files = runs.split(many(5_000))

    assert all(data.count(b"\n") <= runs.MAX_RUN for data in files.values())
    assert any(name.startswith("2026-03-01-") for name in files)


def test_no_id_is_lost_and_each_is_found_in_its_run() -> None:
    ids = many(5_000) + [f"x{n}" for n in range(3_000)]

    files = runs.split(ids)

    assert frozenset().union(*map(runs.from_bytes, files.values())) == set(ids)
    for record_id in ids[::97]:
        run = runs.run_of(record_id, files)
        assert run is not None
        assert record_id in runs.from_bytes(files[run])


def sets_in_memory() -> Sets:
    return Sets(Objects(layout.git_dir(Path("/nowhere"))))


@given(one=st.frozensets(IDS), two=st.frozensets(IDS), drop=st.frozensets(IDS))
def test_a_set_made_by_union_has_the_handle_of_the_same_set_made_at_once(
    one: frozenset[str], two: frozenset[str], drop: frozenset[str]
) -> None:
    sets = sets_in_memory()
    left, right = sets.make([], one), sets.make([], two)

    made = sets.make([left, right], add=drop | {"new"}, drop=drop)

    assert sets.ids(made) == (one | two | {"new"}) - drop
    assert made == sets.make([], (one | two | {"new"}) - drop)
    assert sets.count(made) == len((one | two | {"new"}) - drop)
    assert (
        sets.holds(made, one | drop) == (one | {"new"} if "new" in one else one) - drop
    )


def test_growing_and_shrinking_across_the_limit_gives_the_same_bytes() -> None:
    sets = sets_in_memory()
    ids = many(3_000)
    handle = sets.make([], ids[:1_000])

    grown = sets.make([sets.make([handle], ids[1_000:1_030])], ids[1_030:])
    shrunk = sets.make([grown], drop=ids[1_000:])

    assert grown == sets.make([], ids)
    assert shrunk == handle


def test_adding_to_a_split_month_opens_one_run() -> None:
    sets = sets_in_memory()
    ids = many(3_000)
    before = sets.make([], ids[1:])

    after = sets.make([before], ids[:1])

    one, two = sets.runs(before), sets.runs(after)
    assert sum(one.get(name) != two[name] for name in two) == 1
