"""How a number, a date or a time looks in a text; `numbers` says what it means.

One pattern a kind. `_?` stands for a space that may be missing, a name in braces for an
entry of `_SLOTS`; a group is named after its kind and what it holds.
"""

import re
from collections.abc import Collection
from functools import cache
from typing import Final

from scenestore_engine.retention import number_words as words

_MENTION_PARTS: Final[dict[str, tuple[str, ...]]] = {
    # Year first: 2026-01-17, 2026/1, 2026年1月17日.
    "ymd": (
        r"(?<!\d)(?P<ymd_y>{YYYY})_?(?:[-/.]|年)_?(?P<ymd_m>{MM})(?!\d)",
        r"(?:_?(?:[-/.]|月)_?(?P<ymd_d>{DD})(?!\d)_?[日号]?|月份?)?",
    ),
    # Year last: 17.01.2026, 17/1/2026.
    "dmy": (
        r"(?<![\d.])(?P<dmy_d>{DD})(?P<dmy_s>[./])(?P<dmy_m>{MM})",
        r"(?P=dmy_s)(?P<dmy_y>{YYYY})(?!\d)",
    ),
    # 5月, 5月18日, 26年5月; but 5月租 is five months' rent.
    "md": (
        r"(?:(?<!\d)(?P<md_y>{YYYY}|\d\d)年)?",
        r"(?<!\d)(?P<md_m>{MM})月(?![租薪费])份?",
        r"(?:_?(?P<md_d>{DD})(?:[日号]|(?![\d\w.])))?",
    ),
    # 17 January 2026, Jan. 17th, the month alone.
    "word": (
        r"\b(?:(?P<word_d>{DAY})[ ](?:of[ ])?)?(?P<word_m>{MONTH})",
        r"(?:[ ](?P<word_e>{DAY}))?(?:,?[ ](?P<word_y>{YYYY})\b)?",
    ),
    # 16:30, 4:30 pm, 4 in the afternoon, 4 o'clock, 下午4点半.
    "clock": (
        r"(?P<clock_p>{PERIOD})?(?<![\d.])(?<!\d:)(?:",
        r"(?P<clock_h>[01]?\d|2[0-4]):(?P<clock_m>[0-5]\d)(?![\d:])",
        r"(?:_?(?P<clock_a>[ap])\.?m\b)?",
        r"|(?P<clock_i>1[0-2]|0?\d)_?(?P<clock_b>[ap])\.?m\b",
        r"|(?P<clock_j>1[0-2]|0?\d)[ ](?:o'clock[ ])?",
        r"(?P<clock_w>in[ ]the[ ](?:morning|afternoon|evening)|at[ ]night)",
        r"|(?P<clock_o>1[0-2]|0?\d)[ ]o'clock",
        r"|(?P<clock_z>[01]?\d|2[0-4])_?[点时](?![击赞间候])",
        r"(?:_?(?P<clock_n>半|一刻|3刻|[0-5]?\d(?![\d:]))_?分?)?钟?)",
    ),
    # 3 h 30 min, 3小时30分.
    "span": (
        r"(?<![\d.])(?P<span_h>\d+)_?(?:h|hrs?|hours?|个?小时)_?(?:and[ ])?",
        r"(?P<span_m>\d+)_?(?:m|mins?|minutes?|分钟?)(?![a-z])",
    ),
    # 百分之5, 3分之2, 5 %, 4成, 8折.
    "per": (
        r"(?P<per_w>[百千万])分之(?P<per_n>\d+(?:\.\d+)?|一)",
        r"|(?P<per_d>\d\d?)分之(?P<per_e>\d|一)",
        r"|(?<![A-Za-z_\d.])(?P<per_p>\d+(?:\.\d+)?)",
        r"_?(?:%|percent\b|per[ ]cent\b|个百分点|percentage[ ]points?\b)",
        r"|(?<![A-Za-z_\d.])(?P<per_z>\d(?:\.\d)?)",
        r"(?P<per_s>[成折])(?!立|功|为|了|本|员|年|长)",
    ),
    # Tuesday, 周二, 周二、四; but 周4次 is a number.
    "weekday": (
        r"\b(?P<weekday_e>mon|tue|wed|thu|fri|sat|sun)",
        r"(?:(?:s|nes|rs|ur)?days?|s|r|rs)?\b\.?",
        r"|(?:周|星期|礼拜)",
        r"(?P<weekday_z>[1-7一二三四五六日天末](?!\d|[次回遍场节趟])",
        r"(?:[、/和及,至到-]?周?[一二三四五六日](?![\u4e00-\u9fff]))*)",
        r"|\bweekends?\b",
    ),
    "number": (
        r"(?<![A-Za-z_\d.])",
        r"(?P<number_v>\d{1,3}(?:[,'_]\d{3})+(?:\.\d+)?(?!\d)|\d+(?:\.\d+)*)",
        r"(?:_?(?P<number_k>{SCALE})(?![a-z]))?",
        r"(?:[ \t-]?(?P<number_u>{UNIT}|m)(?![a-z]))?(?P<number_x>年)?",
    ),
}


def _any_of(names: Collection[str]) -> str:
    """Return a pattern of the longest of *names*; it looks at the first sign first."""
    longest_first = sorted(names, key=len, reverse=True)
    first = "".join(sorted({name[0] for name in names}))
    return f"(?=[{first}])(?:{'|'.join(longest_first)})"


_PERIOD: Final = "凌晨|清晨|早上|早晨|上午|中午|下午|傍晚|晚上|夜里|半夜|深夜|早|晚"
_SLOTS: Final = {
    "{YYYY}": r"(?:19|20)\d\d",
    "{MM}": r"(?:1[0-2]|0?[1-9])",
    "{DD}": r"(?:3[01]|[12]\d|0?[1-9])",
    "{DAY}": r"(?:3[01]|[12]\d|0?[1-9])(?:st|nd|rd|th)?(?!\d|[.,:]\d)",
    "{MONTH}": (
        r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?"
        r"|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\b\.?"
    ),
    "{PERIOD}": _PERIOD,
    "{UNIT}": _any_of(words.UNITS),
    "{SCALE}": _any_of(words.SCALES),
    # Never a line break: a mention must not depend on the line that follows.
    "_?": r"[ \t]?",
}
_MAY_BEGIN: Final = (
    *(f"{place}分之" for place in "百千万"),
    *(rf"{period}(?=\d)" for period in _PERIOD.split("|")),
    *("周", "星期", "礼拜"),
)
_MAY_BEGIN_A_WORD: Final = (
    *words.MONTHS,
    *("mon", "tue", "wed", "thu", "fri", "sat", "sun", "weekend"),
)


@cache
def candidate() -> re.Pattern[str]:
    """Return a pattern of what a mention may begin with.

    It begins with one set of characters, over which `re` hurries; each alternative
    looks back at the character that was found. Few words come as far as that, as the
    sets of second and third letters are asked before.
    """
    signs = [rf"(?<={begin[0]}){begin[1:]}" for begin in _MAY_BEGIN]
    letters = [rf"(?<=\b{word[0]}){word[1:]}" for word in _MAY_BEGIN_A_WORD]
    first, second, third = (
        "".join(sorted({*letters, *map(str.upper, letters)}))
        for letters in list(zip(*_MAY_BEGIN_A_WORD, strict=False))[:3]
    )
    sign = "".join(sorted({begin[0] for begin in _MAY_BEGIN}))
    return re.compile(
        rf"[0-9{first}{sign}](?:(?<=[0-9])[0-9]*"
        rf"|(?=[{second}][{third}])(?i:{'|'.join(letters)})"
        rf"|(?<=[{sign}])(?:{'|'.join(signs)}))"
    )


@cache
def mention() -> re.Pattern[str]:
    """Return one pattern of all mentions; of two that begin alike the first wins."""
    kinds: list[str] = []
    for kind, parts in _MENTION_PARTS.items():
        pattern = "".join(parts)
        for slot, meaning in _SLOTS.items():
            pattern = pattern.replace(slot, meaning)
        kinds.append(f"(?P<{kind}>{pattern})")
    return re.compile("|".join(kinds), re.IGNORECASE)
