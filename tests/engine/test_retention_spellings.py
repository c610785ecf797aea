"""Numbers and dates in the forms that people write, one form a line."""

import pytest

from scenestore_engine.retention import FOUND, Source, Verdict, judge, kept
from scenestore_engine.retention.terms import read


def verdict(source: str, target: str) -> Verdict:
    return judge([Source("s.md", source)], Source("t.md", target))


@pytest.mark.parametrize(
    ("source", "target"),
    [
        ("失败的概率是千分之三。", "失败的概率是0.3%。"),
        ("失败的概率是千分之一。", "失败的概率是0.1%。"),
        ("失败的概率是万分之二。", "失败的概率是0.02%。"),
        ("失败的概率是万分之一。", "失败的概率是0.01%。"),
        ("失败的概率是百分之一。", "失败的概率是1%。"),
        ("失败的概率是四分之一。", "失败的概率是25%。"),
        ("失败的概率是四分之三。", "失败的概率是75%。"),
        ("她学了三年半琴。", "她学了3.5年琴。"),
        ("买了两斤半茶叶。", "买了2.5斤茶叶。"),
        ("等了三个半星期。", "等了3.5个星期。"),
        ("一张票3块5。", "一张票3.5元。"),
        ("The tour takes 3:30.", "The tour takes 3 h 30 min."),
        ("The pool closes in September.", "The pool closes: September."),
        ("Born on 14 March 2021.", "Born on March 14, 2021."),
        ("Pays 0.25 of it.", "Pays 25% of it."),
        ("晚上八点上课。", "20:00上课。"),
        ("The lamp takes 60w at night.", "The lamp takes 60 watts at night."),
        ("他花了60w买车。", "他花了60万买车。"),
        ("傍晚六点上课。", "18:00上课。"),
        ("凌晨三点上课。", "3:00 a.m.上课。"),
    ],
)
def test_two_spellings_of_a_quantity_are_one(source: str, target: str) -> None:
    found = verdict(source, target)

    assert found.new_numbers == ()
    assert found.score >= FOUND


@pytest.mark.parametrize(
    ("source", "target", "new"),
    [
        ("Born 14 March 2021.", "Born 15 March 2021.", "15 March 2021"),
        ("September: the roof leaked.", "October: the roof leaked.", "October"),
        ("It closes in May, I think.", "It closes in March, I think.", "March"),
        ("晚上八点上课。", "早上八点上课。", "早上8点"),
        ("The factor is 1.5 here.", "The factor is 150% here.", "150%"),
        ("她学了三年半琴。", "她学了4.5年琴。", "4.5年"),
        ("失败的概率是千分之三。", "失败的概率是3%。", "3%"),
    ],
)
def test_another_quantity_is_new(source: str, target: str, new: str) -> None:
    assert verdict(source, target).new_numbers == (new,)


@pytest.mark.parametrize(
    ("source", "target"),
    [
        ("An old man sat there.", "An august old man sat there."),
        ("They may leave.", "They may march and leave."),
        ("叔叔来了。", "三叔来了。"),
        ("她来了。", "她三心二意地来了。"),
    ],
)
def test_a_word_that_looks_like_a_number_is_none(source: str, target: str) -> None:
    assert verdict(source, target).new_numbers == ()


@pytest.mark.parametrize("end", ["0", ".50", ",000"])
def test_a_number_that_goes_on_is_another_number(end: str) -> None:
    found = kept(Source("a.md", "Rent is 58"), [Source("a.md", f"Rent is 58{end}")])

    assert [one.text for one in found.lost] == ["Rent is 58"]


@pytest.mark.parametrize("end", ["", ".", " euros", ", she said", "\n", ")", "。"])
def test_a_line_that_is_quoted_within_another_is_kept(end: str) -> None:
    found = kept(Source("a.md", "Rent is 58"), [Source("a.md", f"So: Rent is 58{end}")])

    assert found.lost == ()


def test_of_a_long_line_the_sentence_that_is_lost_is_named_alone() -> None:
    sentences = [
        f"Parcel {number} went from Dorn to Graz with {number * 13 + 100} letters."
        for number in range(12)
    ]
    left = " ".join(sentences[:5] + sentences[6:])

    found = kept(Source("a.md", " ".join(sentences)), [Source("a.md", left)])

    assert [(one.line, one.text) for one in found.lost] == [(1, sentences[5])]


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 0, 2)])
def test_a_quantity_that_stands_in_several_places_is_found_near_its_words(
    order: tuple[int, ...],
) -> None:
    lines = (
        "- Tea with Ilka at 16:30 in the garden.",
        "- The train to Graz goes at 4:30 from platform two, after the mail.",
        "- Bertil waters the ferns at half past four, as ever.",
    )
    body = "\n".join(lines[place] for place in order)

    found = verdict("- At 16:30 she has tea with Ilka in the garden", body)

    assert found.score >= 0.9
    assert found.lines == ()


def test_a_time_that_is_meant_near_its_words_counts_as_one_that_is_spelled_out() -> (
    None
):
    found = verdict(
        "- At 16:30 she has tea with Ilka in the garden",
        "- The train to Graz leaves at 16:30 from platform two.\n"
        "- Bertil waters the ferns before noon, whatever the weather is.\n"
        "- Tea with Ilka is at 4:30 in the garden.",
    )

    assert found.score >= 0.9
    assert found.lines == ()


def test_each_sign_of_a_chinese_word_has_the_meaning_of_the_word() -> None:
    words = read(["她找医生。"])[0].words

    assert words["生"][1:] == words["医"][1:] != ()
    assert words["找"][1:] != words["医"][1:]
