"""The rule of the compression check, by properties and by small examples."""
# ruff: noqa: SIM905 - words read best as words.

import json
import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scenestore_engine.retention import (
    FOUND,
    REQUIRED,
    UPDATE_FLOOR,
    Source,
    Verdict,
    judge,
    kept,
)
from scenestore_engine.retention.windows import (
    Windows,
    every_window,
    line_ends,
    whole_windows,
)

FULL_SCENES = Path(__file__).parent / "data" / "full_scenes.jsonl"

LINES = [
    "- Marta bought a Lindgren Duo on 2026-01-17 for 420 euros.",
    "- Last coffee before 13:00; a cappuccino at 16:30 kept her awake until 3 am.",
    "- Her doctor, Dr. Okpara, said: under 200 mg of caffeine a day.",
    "- Never deploy on Fridays, not even with `kiln ship --force`.",
    "| Hive | 12 frames | moved on 5 May |",
    "- 每周二、四下午2点上课，学费380元，老师是顾砚秋。",
    "- 对青霉素过敏，1987年休克过一次。",
    "- 合同总价13.8万元，三个月无异味再付尾款5%。",
    "- Evan 的 GPA 3.52/4，托福第一次 98，10 月 17 日二刷。",
    "She does not speak with Livio since Easter, because he wants a nursing home.",
    "老爷子说到死也不会原谅他，因为分家时他烧掉了奶奶的曲谱。",
    "## 2023-05-08",
    "",
    "1. First `egretctl snapshot orders`, kept for 21 days.",
]
WORDS = [
    *"the a cup of tea on Monday Ilka 7 12:30 5 kg two thirds half past four".split(),
    *"三 万 年 月 日 点 半 周四 个 的 「戏单」 8月 ９ 第 ，。；".split(" "),
    *"# | - : ; . , ( ) ` * — \t １２３ 2026-02-30 99:99 1,000,000 ½ 万一".split(" "),
]
bodies = st.lists(
    st.one_of(st.sampled_from(LINES), st.lists(st.sampled_from(WORDS)).map(" ".join)),
    max_size=8,
)
any_body = st.one_of(bodies.map("\n".join), st.text(max_size=80))


def verdict(sources: list[str], target: str, **options: Any) -> Verdict:
    return judge(
        [Source(f"s{place}.md", body) for place, body in enumerate(sources)],
        Source("t.md", target),
        **options,
    )


@given(bodies, bodies, bodies, st.data())
@settings(max_examples=300, deadline=None)
def test_adding_lines_of_a_source_never_lowers_the_score(
    first: list[str], second: list[str], target: list[str], data: st.DataObject
) -> None:
    sources = ["\n".join(first), "\n".join(second)]
    lines = [line for source in sources for line in source.split("\n")]
    added = data.draw(st.lists(st.sampled_from(lines), min_size=1, max_size=4))
    place = data.draw(st.integers(0, len(target)))

    before = verdict(sources, "\n".join(target), max_chars=300)
    after = verdict(
        sources, "\n".join([*target[:place], *added, *target[place:]]), max_chars=300
    )

    assert after.score >= before.score


@given(any_body, any_body, st.sampled_from([60, 300, 1500]), st.randoms())
@settings(max_examples=300, deadline=None)
def test_a_target_that_holds_every_source_line_passes(
    first: str, second: str, max_chars: int, chance: random.Random
) -> None:
    lines = [*first.split("\n"), *second.split("\n"), "- Anything else: 7,391 x."]
    chance.shuffle(lines)

    found = verdict(
        [first, second], "\n".join(lines), strength="strict", max_chars=max_chars
    )

    assert found.accepted
    assert found.score == 1.0
    assert found.lines == found.dropped == ()


@given(any_body, any_body, st.sampled_from(["", " ", "\n\n", "# \n---", "…"]))
@settings(deadline=None)
def test_an_empty_target_never_passes(first: str, second: str, empty: str) -> None:
    found = verdict([first, second], empty)

    assert not found.accepted
    assert found.score == 0.0


@given(bodies, bodies, bodies, st.sampled_from([80, 1500]), st.randoms())
@settings(max_examples=200, deadline=None)
def test_the_order_of_lines_and_of_sources_changes_nothing(
    first: list[str],
    second: list[str],
    target: list[str],
    max_chars: int,
    chance: random.Random,
) -> None:
    before = verdict(
        ["\n".join(first), "\n".join(second)], "\n".join(target), max_chars=max_chars
    )
    for lines in (first, second, target):
        chance.shuffle(lines)
    after = verdict(
        ["\n".join(second), "\n".join(first)], "\n".join(target), max_chars=max_chars
    )

    assert after.score == before.score
    assert after.new_numbers == before.new_numbers
    assert sorted(one.text for one in after.lines) == sorted(
        one.text for one in before.lines
    )
    assert sorted(one.text for one in after.dropped) == sorted(
        one.text for one in before.dropped
    )


@given(bodies, st.integers(10_000, 999_999))
@settings(deadline=None)
def test_a_number_that_no_source_has_is_noticed(lines: list[str], number: int) -> None:
    source = "\n".join(lines)

    found = verdict([source], f"{source}\n- There were {number} of them.")

    expected = () if str(number) in source else (str(number),)
    assert found.new_numbers == expected


@given(any_body, any_body)
@settings(max_examples=300, deadline=None)
def test_any_text_gets_a_score_between_0_and_1(source: str, target: str) -> None:
    found = verdict([source], target)

    assert 0.0 <= found.score <= 1.0
    assert found.accepted == (found.score >= found.required)


@pytest.mark.parametrize(
    ("source", "target"),
    [
        ("Last coffee at 13:00.", "Coffee: 1 pm at the latest, that is the last."),
        ("Bought on 2026-01-17.", "January 17, 2026: bought."),
        ("Bought on 17.01.2026.", "Bought 2026年1月17日."),
        ("二〇二六年五月三日开工。", "开工：2026-05-03。"),
        ("Kept for 14 days.", "Kept for a fortnight."),
        ("批间休眠 200 毫秒。", "批间休眠 0.2 秒。"),
        ("Takes 6 h 10 min.", "Takes 6小时10分."),
        ("合同总价13.8万元。", "合同总价 138,000 元。"),
        ("Costs 12k.", "Costs 12,000."),
        ("Room 2 500 seats.".replace(" 5", "\u202f5"), "Room: 2500 seats."),
        ("Aged twenty-five.", "Aged 25."),
        ("三个半小时的车程。", "车程3.5小时。"),
        ("预收四成定金。", "定金预收40%。"),
        ("Pays 5 percent.", "Pays ５％."),
        ("每周二凌晨1点。", "每周二 1:00。"),
        ("Half past four on Tuesday.", "Tuesday, 16:30."),
        ("| Frames | 12 | Dr. Roth |", "- Frames: 12 (Dr. Roth)"),
        ("体重七十六公斤。", "体重76kg。"),
        ("重两斤。", "重 1 公斤。"),
    ],
)
def test_two_spellings_of_a_quantity_count_as_the_same(
    source: str, target: str
) -> None:
    found = verdict([source], target)

    assert found.new_numbers == ()
    assert found.score >= FOUND


@pytest.mark.parametrize(
    ("source", "target", "new"),
    [
        ("Kept for 5 days.", "Kept for 5 weeks.", "5 weeks"),
        ("Opens at 3 am.", "Opens at 3 pm.", "3 pm"),
        ("五月三日开工。", "五月四日开工。", "5月4日"),
        ("Pays 80 euros on 12 June.", "Pays 90 euros on 12 June.", "90"),
    ],
)
def test_a_changed_quantity_is_new_and_its_fact_is_lost(
    source: str, target: str, new: str
) -> None:
    found = verdict([source], target)

    assert found.new_numbers == (new,)
    assert [one.text for one in found.lines] == [source]


def test_a_lost_fact_names_place_text_and_missing_terms_most_weighty_first() -> None:
    lost = "- Knee surgery on 14 March 2021 by Dr. Adeyemi"
    source = f"# Running\n\n- Target time is 3 h 55 min\n{lost}"

    found = judge(
        [Source("running.md", source)],
        Source("sport.md", "# Sport\n\n- Target time: 3:55 h"),
    )

    assert not found.accepted
    (one,) = found.lines
    assert (one.filename, one.source, one.line) == ("sport.md", "running.md", 4)
    assert one.text == lost
    assert one.missing[0] == "14 March 2021"
    assert {"Adeyemi", "Knee", "surgery"} <= set(one.missing)


def test_two_names_that_change_places_are_lost() -> None:
    source = (
        "- The garden at Quince Hall is run by Achim since the spring.\n"
        "- The laundry room is run by Bertil with an iron hand."
    )
    swapped = (
        source.replace("Achim", "?").replace("Bertil", "Achim").replace("?", "Bertil")
    )

    found = verdict([source], swapped)

    assert len(found.lines) == 2
    assert not found.accepted


def test_one_translated_line_passes_and_a_whole_translation_does_not() -> None:
    english = [
        "- Grandmother gave the silver ring to her daughter Ilka in May 2019.",
        "- The house has 5 rooms and a garden with old trees near the river.",
        "- Every morning at 6:30 he walks the dog and drinks tea with the neighbour.",
        "- The doctor said that he must not eat salt or drink beer.",
    ]
    chinese = [
        "- 2019年5月奶奶把银戒指送给了女儿 Ilka。",
        "- 房子有5个房间和一个花园，园里有老树，靠近河。",
        "- 他每天早上6:30遛狗，和邻居喝茶。",
        "- 医生说他不能吃盐，也不能喝啤酒。",
    ]

    one = verdict(["\n".join(english)], "\n".join([*english[:3], chinese[3]]))
    whole = verdict(["\n".join(english)], "\n".join(chinese))
    back = verdict(["\n".join(chinese)], "\n".join(english))

    assert one.accepted
    assert not whole.accepted
    assert not back.accepted


def test_exempt_lines_are_not_looked_for() -> None:
    source = "- The key is sk-1234567890.\n- Tea at 16:30 with Ilka."

    found = verdict(
        [source], "Tea with Ilka at 16:30.", is_exempt=lambda line: "sk-" in line
    )

    assert found.score >= REQUIRED["strict"]
    assert found.lines == ()


def test_off_measures_and_accepts() -> None:
    found = verdict([LINES[0]], "Nothing of it.", strength="off")

    assert found.accepted
    assert found.score < REQUIRED["standard"]
    assert found.required == 0.0


def test_strict_asks_for_more_than_standard() -> None:
    assert REQUIRED["strict"] > REQUIRED["standard"] > REQUIRED["off"]


def test_an_update_that_keeps_a_quarter_is_told_from_one_that_keeps_less() -> None:
    old = Source("a.md", "\n".join(LINES[:4]))

    whole = kept(old, [Source("a.md", "\n".join(LINES[:4]) + "\n- And 5 more.")])
    some = kept(old, [Source("a.md", "\n".join(LINES[:2]))])
    none = kept(old, [Source("a.md", "Something else.")])

    assert whole.share == 1.0
    assert some.share > UPDATE_FLOOR > none.share
    assert {one.line for one in some.lost} == {3, 4}


def test_the_facts_of_a_deleted_scene_may_stand_in_several_others() -> None:
    old = Source("a.md", "\n".join(LINES[:2]))

    spread = kept(old, [Source("b.md", LINES[0]), Source("c.md", LINES[1])])

    assert spread.share == 1.0
    assert spread.lost == ()


def test_sources_that_fit_may_drop_nothing() -> None:
    found = verdict(LINES[:4], "\n".join(LINES[:3]))

    assert found.dropped == ()
    assert [one.text for one in found.lines] == [LINES[3]]


def cases() -> list[dict[str, Any]]:
    lines = FULL_SCENES.read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def judged(case: dict[str, Any]) -> Verdict:
    return judge(
        [Source(**source) for source in case["sources"]], Source(**case["target"])
    )


def test_a_shelf_of_full_scenes_stays_mergeable() -> None:
    good = [judged(case) for case in cases() if case["label"] == "faithful"]
    bad = [judged(case) for case in cases() if case["label"] == "lossy"]

    assert len({case["group"] for case in cases()}) >= 20
    # Measured: 23 of 25 and 52 of 60; `retention.md` lists the ones that err.
    assert sum(one.accepted for one in good) >= 23
    assert sum(not one.accepted for one in bad) >= 52


def test_what_goes_from_full_scenes_is_named() -> None:
    for case in cases():
        if case["label"] == "faithful" and case["target"]["content"].startswith("#"):
            found = judged(case)
            if found.accepted:
                assert found.dropped


def test_a_line_that_merely_begins_alike_is_no_quotation() -> None:
    found = verdict(["- Rent is 58"], "- Rent is 580\n- Rent is 58.50")

    assert [one.text for one in found.lines] == ["- Rent is 58"]


def test_a_day_in_a_heading_is_a_fact_and_another_heading_is_none() -> None:
    source = "# Week\n\n## 2023-05-08\n\n- Ilka moved to Dorn.\n\n## Preferences"

    undated = verdict([source], "Ilka moved to Dorn.")
    dated = verdict([source], "On May 8, 2023, Ilka moved to Dorn.")

    assert [one.text for one in undated.lines] == ["## 2023-05-08"]
    assert dated.lines == ()


def test_a_name_that_begins_a_sentence_is_the_same_name() -> None:
    found = verdict(
        ["- She avoids Ludmila."], "There is a list. Ludmila: she avoids her."
    )

    assert found.lines == ()


@given(
    st.lists(st.integers(1, 3), max_size=12).map(sorted),
    st.integers(1, 5),
    st.lists(st.tuples(st.integers(1, 10**6), st.sets(st.integers(0, 11)))),
    st.sets(st.integers(0, 11), max_size=2),
    st.sampled_from([4, 8]),
)
@settings(max_examples=300, deadline=None)
def test_lanes_add_up_what_each_window_holds(
    lines: list[int],
    size: int,
    terms: list[tuple[int, set[int]]],
    spoilt: set[int],
    lane_bytes: int,
) -> None:
    count = len(lines)
    every = every_window(line_ends(lines), size)
    whole = whole_windows(line_ends(lines), size, spoilt)
    terms = [(weight, {at for at in places if at < count}) for weight, places in terms]

    def held_in(places: range) -> int:
        return sum(weight for weight, held in terms if not held.isdisjoint(places))

    windows = Windows(every, count, lane_bytes)
    held = 0
    for weight, places in terms:
        lanes = 0
        for place in places:
            lanes |= windows.holding[place]
        held += weight * lanes
    total, *weights = windows.weights(held)

    assert every == [
        (at, max(end for end in range(at + 1, count + 1) if lines[end - 1] == line))
        if lines[min(at + size, count) - 1] != line
        else (at, min(at + size, count))
        for at, line in enumerate(lines)
    ]
    assert total == held_in(range(count))
    assert weights == [held_in(range(*window)) for window in every]
    # Nothing is lost by leaving out windows that are part of another.
    assert max((held_in(range(*window)) for window in whole), default=0) == max(
        (held_in(range(*one)) for one in every if spoilt.isdisjoint(range(*one))),
        default=0,
    )


def test_a_fact_of_thousands_of_numbers_is_weighed_like_any_other() -> None:
    numbers = [str(number) for number in range(12_345, 15_345)]
    source = f"Listed: {' '.join(numbers)}"

    half = verdict([source], " ".join(numbers[:1500]))
    whole = verdict([source], f"{' '.join(numbers)} were listed")

    assert len(half.lines[0].missing) == 1501
    assert whole.score == 1.0


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("8831", "8813"),
        ("42 kil", "24 kil"),
        ("14 March", "15 March"),
        ("380元", "830元"),
    ],
)
def test_one_number_changed_in_a_verbatim_copy_is_refused(
    right: str, wrong: str
) -> None:
    one = "- Mei runs 42 kilometres every week\n- She entered the race under 8831"
    two = "- Her operation was on 14 March 2021\n- 每周二上午上课，学费380元"
    copy = f"{one}\n{two}"

    changed = verdict([one, two], copy.replace(right, wrong))

    assert verdict([one, two], copy).accepted
    assert not changed.accepted
    assert any(right.split(maxsplit=1)[0] in fact.text for fact in changed.lines)


def test_a_year_said_once_for_several_dates_is_no_changed_number() -> None:
    one = "- 2026年1月，春节礼盒卖出76份，利润首次超过工资8200元\n- 她住在青藤路"
    merged = "- 2026年的节点：1月春节礼盒卖出76份，利润首次超过8200元的工资。"

    said_once = verdict([one], f"{merged}\n- 她住在青藤路")

    assert said_once.accepted
