"""Numbers, dates, clock times and durations, brought to one form.

A mention *offers* keys, and a mention of a source *accepts* keys: "14 days" accepts
what "a fortnight" offers. Nothing here knows what a fact is, or weighs it.

A bare number and one with a unit may mean the same ("age 9", "9 years"), two different
units may not ("5 days", "5 weeks"). Hence three keys for the value 5: `=5` is offered
by every 5, `5?` only by a 5 without a unit, and `s432000` by five days.
"""

import re
from collections.abc import Callable, Iterator
from functools import cache, lru_cache
from typing import Final, NamedTuple

from scenestore_engine.retention import number_words as words
from scenestore_engine.retention.number_grammar import candidate, mention

NOON: Final = 12
HALF_DAY: Final = 60 * NOON
"""Minutes after which a clock with hands shows the same."""


class Quantity(NamedTuple):
    """One number, date or time as it stands in a text."""

    start: int
    text: str
    offers: tuple[str, ...]
    accepts: tuple[str, ...]
    digits: int
    """How many significant digits it has: the more, the less likely by chance."""


def digits_for_words(text: str) -> str:
    """Return *text* with its number words written in digits, line breaks untouched."""
    for trigger, pattern, replacement in _phrases():
        if trigger in text.lower():
            text = _replaced(text, trigger, pattern, replacement)
    text = _english_numbers(text)
    if text.isascii():
        return text
    halves = "半" in text or "块" in text
    text = _chinese_run().sub(_chinese, text)
    if halves:
        for pattern, form in _halves():
            text = pattern.sub(form, text)
    return text


def quantities(text: str) -> Iterator[Quantity]:
    """Yield the quantities of *text*, which `digits_for_words` has returned."""
    begins, found_at = candidate().search, mention().match
    place = 0
    while begun := begins(text, place):
        found = found_at(text, begun.start())
        if found is None:
            place = begun.end()
        else:
            place = found.end()
            yield from _READERS[found.lastgroup or ""](found)


# --- words into digits ---------------------------------------------------------------


# "每周四" is a day, "每周四次" is a number.
_WEEK = frozenset("周期拜")
_OFTEN = frozenset("次回遍场节趟天")
_NUMERAL = "".join(words.CHINESE_DIGITS) + "".join(words.CHINESE_SCALES) + "万亿"
_ENGLISH_STARTS = frozenset({*words.ENGLISH, *words.ENGLISH_SCALES, "half", "quarter"})


@cache
def _chinese_run() -> re.Pattern[str]:
    """Return a pattern of Chinese numerals, and of idioms that hold some.

    It begins with one set of characters, over which `re` hurries. A lone "一" that
    `_chinese` would leave as it is does not match: every other line has one.
    """
    idioms = "|".join(f"(?<={idiom[0]}){idiom[1:]}" for idiom in words.CHINESE_IDIOMS)
    first = "".join({idiom[0] for idiom in words.CHINESE_IDIOMS} - {*_NUMERAL})
    article = f"(?<=[^{words.CHINESE_BEFORE}]一)(?![{_NUMERAL}点])"
    return re.compile(
        rf"[{_NUMERAL}{first}](?:{idioms}|(?<![{first}])(?!{article})"
        rf"[{_NUMERAL}]*(?:点[{_NUMERAL}]+(?=[万倍亿]))?)"
    )


@cache
def _halves() -> tuple[tuple[re.Pattern[str], str], ...]:
    # `re` hurries to a digit, but not to several.
    return (
        (re.compile(r"(\d\d*)[ \t]*个半(?=小时|钟头|月|星期)"), r"\1.5个"),
        (
            re.compile(r"(\d\d*)[ \t]*(年|岁|码|斤|公斤|米|公里|块|天|周|度)半"),
            r"\1.5\2",
        ),
        (re.compile(r"(\d\d*)块(\d)(?!\d)"), r"\1.\2块"),
    )


@cache
def _latin() -> re.Pattern[str]:
    return re.compile(r"[A-Za-z]+")


@cache
def _english_run() -> re.Pattern[str]:
    word = "|".join(
        sorted([*words.ENGLISH, *words.ENGLISH_SCALES], key=len, reverse=True)
    )
    return re.compile(
        rf"(?:{word})(?:(?:[ -]|,? and )(?:{word}))*\b(?:[ -]and a half)?"
        r"|half past \w+|quarter (?:past|to) \w+",
        re.IGNORECASE,
    )


@cache
def _phrases() -> tuple[tuple[str, re.Pattern[str], str], ...]:
    return tuple(
        (trigger, re.compile(pattern, re.IGNORECASE), replacement)
        for trigger, pattern, replacement in words.PHRASES
    )


def _replaced(
    text: str, trigger: str, pattern: re.Pattern[str], replacement: str
) -> str:
    """Replace *pattern* in the lines that hold *trigger*: the search is slow."""
    if not trigger.isascii():
        # It begins the pattern, and `re` hurries to it.
        return pattern.sub(replacement, text)
    return "\n".join(
        [
            pattern.sub(replacement, line) if trigger in small else line
            for line, small in zip(
                text.split("\n"), text.lower().split("\n"), strict=True
            )
        ]
    )


def _english_numbers(text: str) -> str:
    """Write runs of English number words in digits, where a line has a number word."""
    words_of = _latin().findall
    return "\n".join(
        [
            line
            if _ENGLISH_STARTS.isdisjoint(map(str.lower, words_of(line)))
            else _english_line(line)
            for line in text.split("\n")
        ]
    )


def _english_line(text: str) -> str:
    """Write runs of English number words in digits, found word by word for speed."""
    pieces: list[str] = []
    done = 0
    for word in _latin().finditer(text):
        if word[0].lower() not in _ENGLISH_STARTS or word.start() < done:
            continue
        found = _english_run().match(text, word.start())
        if found is not None:
            pieces += (text[done : found.start()], _english(found))
            done = found.end()
    return "".join([*pieces, text[done:]]) if pieces else text


def _english(found: re.Match[str]) -> str:
    """Write a run of English number words in digits; a lone "one" is a pronoun."""
    text = found[0].lower()
    if text.startswith(("half ", "quarter ")):
        return _past(text)
    half = text.endswith("and a half")
    tokens = re.findall(r"\b\b(?!and\b)[a-z]+", text.removesuffix("and a half"))
    if tokens == ["one"]:
        return "1.5" if half else found[0]
    numbers: list[str] = []
    total = part = 0
    previous = ""
    for token in tokens:
        scale = words.ENGLISH_SCALES.get(token, 0)
        value = words.ENGLISH.get(token, 0)
        if token.startswith("hundred"):
            part = (part or 1) * scale
        elif scale:
            total += (part or 1) * scale
            part = 0
        elif (
            not previous
            or previous in words.ENGLISH_SCALES
            or (previous in words.ENGLISH_TENS and len(str(value)) == 1)
        ):
            part += value
        else:
            # "two, three": one number ends, another begins.
            numbers.append(str(total + part))
            total, part = 0, value
        previous = token
    numbers.append(f"{total + part}{'.5' if half else ''}")
    return " ".join(numbers)


def _past(text: str) -> str:
    part, side, word = text.split(" ")
    hour = words.ENGLISH.get(word, int(word) if word.isdecimal() else None)
    if hour is None:
        return text
    shift = (30 if part == "half" else 15) * (-1 if side == "to" else 1)
    hours, minutes = divmod(60 * hour + shift, 60)
    return f"{hours}:{minutes:02d}"


def _chinese(found: re.Match[str]) -> str:
    """Write a run of Chinese numerals in digits where it counts or orders something."""
    text, (start, end) = found.string, found.span()
    before, after = text[max(0, start - 1) : start], text[end : end + 1]
    return _in_digits(before, found[0], after)


@lru_cache(maxsize=4096)
def _in_digits(before: str, run: str, after: str) -> str:
    if run in words.CHINESE_IDIOMS:
        return run
    whole, _, fraction = run.partition("点")
    counted = after != "" and after in words.CHINESE_MEASURES
    ordered = before != "" and before in words.CHINESE_BEFORE
    if before.isdigit() or (after.isdigit() and len(run) == 1):
        return run
    if before in _WEEK and len(run) == 1 and after not in _OFTEN:
        # A weekday; `quantities` reads it as it is.
        return run
    if run == "一":
        # "一" is mostly an article; as a number of its own it counts in an order only.
        return "1" if ordered and before != "初" else run
    if len(run) == 1 and not (counted or ordered):
        return run
    if not any(digit in words.CHINESE_DIGITS for digit in run) and "十" not in run:
        return run
    if set(whole) <= words.CHINESE_DIGITS.keys():
        values = [words.CHINESE_DIGITS[digit] for digit in whole]
        if len(values) == len("三四") and values[1] == values[0] + 1 and not fraction:
            return f"{values[0]}-{values[1]}"
        integer = int("".join(map(str, values)))
    else:
        integer = _chinese_integer(whole)
    if not fraction:
        return str(integer)
    return f"{integer}." + "".join(
        str(words.CHINESE_DIGITS.get(digit, "")) for digit in fraction
    )


def _chinese_integer(run: str) -> int:
    total = section = digit = 0
    for sign in run:
        if sign in words.CHINESE_BIG_SCALES:
            total = (total + section + digit) * words.CHINESE_BIG_SCALES[sign]
            section = digit = 0
        elif sign in words.CHINESE_SCALES:
            section += (digit or 1) * words.CHINESE_SCALES[sign]
            digit = 0
        else:
            digit = words.CHINESE_DIGITS[sign]
    return total + section + digit


# --- digits into quantities ----------------------------------------------------------


def _parts(found: re.Match[str], **parts: int) -> Iterator[Quantity]:
    """Yield a date's parts one by one: a body may name the month once for two days."""
    for letter, value in parts.items():
        yield Quantity(
            found.start(),
            found[0].strip(),
            (f"{letter}{value}", f"={value}"),
            (f"{letter}{value}", f"{value}?"),
            2 if letter == "m" else len(str(value)),
        )


def _year(digits: str) -> int:
    return int(digits) if len(digits) == len("2026") else 2000 + int(digits)


def _ymd(found: re.Match[str]) -> Iterator[Quantity]:
    yield from _parts(found, y=int(found["ymd_y"]), m=int(found["ymd_m"]))
    if found["ymd_d"]:
        yield from _parts(found, d=int(found["ymd_d"]))


def _dmy(found: re.Match[str]) -> Iterator[Quantity]:
    day, month, year = (int(found[f"dmy_{part}"]) for part in "dmy")
    yield from _parts(found, d=day, m=month, y=year)


def _md(found: re.Match[str]) -> Iterator[Quantity]:
    yield from _parts(found, m=int(found["md_m"]))
    if found["md_d"]:
        yield from _parts(found, d=int(found["md_d"]))
    if found["md_y"]:
        yield from _parts(found, y=_year(found["md_y"]))


def _word(found: re.Match[str]) -> Iterator[Quantity]:
    """Read a date with the month in letters; a lone "may" or "march" is a verb."""
    day = found["word_d"] or found["word_e"]
    name = found["word_m"].rstrip(".")
    lone = not day and not found["word_y"]
    if lone and (name[0].islower() or name.lower() in {"jan", "mar", "march", "may"}):
        before = found.string[max(0, found.start() - 8) : found.start()]
        prefix = before.rpartition("\n")[2]  # lines may change their places
        if name[0].islower() or not re.search(
            r"\b(?:in|of|since|until|till?|by|from|to|every|last|next|early|late|mid|and)"
            r"[ -]$|[-\u2013(]$",
            prefix,
        ):
            return
    yield from _parts(found, m=words.MONTHS[name[:3].lower()])
    if day:
        yield from _parts(found, d=int(re.sub(r"\D", "", day)))
    if found["word_y"]:
        yield from _parts(found, y=int(found["word_y"]))


_LATE: Final = frozenset(
    {"下午", "傍晚", "晚上", "晚", "p", "in the afternoon", "in the evening"}
)
_EARLY: Final = frozenset(
    {"凌晨", "清晨", "早上", "早晨", "上午", "早", "a", "in the morning"}
)


def _clock(found: re.Match[str]) -> Iterator[Quantity]:
    """Read a time of day; without am or pm a small hour may be either half."""
    group = found.group
    hour = int(
        next(filter(None, group("clock_h", "clock_i", "clock_j", "clock_o", "clock_z")))
    )
    quarter = {None: 0, "半": 30, "一刻": 15, "3刻": 45}
    part = found["clock_n"]
    minute = quarter[part] if part in quarter else int(part)
    minute = int(found["clock_m"] or minute)
    half = next(
        filter(None, group("clock_a", "clock_b", "clock_w", "clock_p")), ""
    ).lower()
    minutes = 60 * hour + minute
    if half in _LATE and hour < NOON:
        minutes += HALF_DAY
    elif half in _EARLY and hour == NOON:
        minutes -= HALF_DAY
    known = half in _LATE or half in _EARLY or hour > NOON or hour == 0
    shown = f"t{minutes % HALF_DAY}"
    offers = [shown, f"T{minutes}" if known else f"{shown}?"]
    accepts = [f"T{minutes}", f"{shown}?"] if known else [shown]
    if found["clock_h"] and not half:
        # "3:30" may be three and a half hours.
        offers.append(f"h{hour}:{minute}")
        accepts.append(f"h{hour}:{minute}")
    if minute == 0:
        # "Tuesdays at 8" may stand for 20:00.
        offers += [f"={hour}", f"={minutes // 60 % 24}"]
        accepts += [
            f"{hour}?",
            f"{minutes // 60 % 24}?",
            f"{minutes % HALF_DAY // 60}?",
        ]
    yield Quantity(
        found.start(),
        found[0].strip(),
        tuple(offers),
        tuple(accepts),
        3 if minute else 2,
    )


def _span(found: re.Match[str]) -> Iterator[Quantity]:
    hours, minutes = int(found["span_h"]), int(found["span_m"])
    keys = (f"s{_plain(3600 * hours + 60 * minutes)}", f"h{hours}:{minutes}")
    yield Quantity(found.start(), found[0], keys, keys, 3)


def _per(found: re.Match[str]) -> Iterator[Quantity]:
    """Read a share as a percentage; "8折" is both 80 % and 20 % off."""
    group = found.group
    if found["per_p"]:
        values = [float(found["per_p"])]
    elif found["per_z"]:
        values = [10 * float(found["per_z"])]
        if found["per_s"] == "折":
            values.append(100 - values[0])
    elif found["per_w"]:
        count = 1.0 if found["per_n"] == "一" else float(found["per_n"])
        values = [count * {"百": 1, "千": 0.1, "万": 0.01}[found["per_w"]]]
    else:
        upper = 1 if group("per_e") == "一" else int(group("per_e"))
        values = [100 * upper / max(1, int(group("per_d")))]
    shown = [_plain(value) for value in values]
    offers = [f"{form}{value}" for value in shown for form in ("p", "=")]
    accepts = [key for value in shown for key in (f"p{value}", f"{value}?")]
    yield Quantity(
        found.start(),
        found[0].strip(),
        (*offers, *(f"{value}?" for value in shown)),
        tuple(accepts),
        len(shown[0].replace(".", "")),
    )


def _weekday(found: re.Match[str]) -> Iterator[Quantity]:
    """Read one weekday or several ("周二、四"); "sun" and "wed" alone are words."""
    english, chinese = found["weekday_e"], found["weekday_z"]
    if english:
        short = found[0].rstrip(".").lower() in {"sun", "sat", "wed", "mons", "suns"}
        if short or found[0][0].islower():
            return
        days = {words.WEEKDAYS[english.lower()]}
    elif chinese:
        days = {words.WEEKDAYS[sign] for sign in chinese if sign in words.WEEKDAYS}
    else:
        days = {words.WEEKDAYS["末"]}
    for day in sorted(days):
        yield Quantity(found.start(), found[0].strip(), (f"w{day}",), (f"w{day}",), 1)


def _number(found: re.Match[str]) -> Iterator[Quantity]:
    offers, accepts, digits = _read_number(
        *found.group("number_v", "number_k", "number_u", "number_x")
    )
    yield Quantity(found.start(), found[0].strip(), offers, accepts, digits)


@lru_cache(maxsize=4096)
def _read_number(
    spelled: str, spelled_scale: str | None, spelled_unit: str | None, year: str | None
) -> tuple[tuple[str, ...], tuple[str, ...], int]:
    """Return what a number offers and accepts, and how many digits it has.

    A letter with two meanings has both.
    """
    digits = re.sub(r"[,'_]", "", spelled)
    scale = (spelled_scale or "").lower()
    unit = (spelled_unit or year or "").lower()
    if digits.count(".") > 1:
        # A version or an address.
        offers = accepts = [f"={digits}", f"{digits}?"]
    else:
        value = float(digits)
        values = [value * words.SCALES[scale]] if scale else [value]
        if scale == "w":
            values.append(value)
        meant = _meanings(value, values, unit)
        if unit == "年" and len(digits) == len("26"):
            meant.append(f"y20{digits}")
        bare = [f"{_plain(one)}?" for one in values]
        offers = [*(f"={_plain(one)}" for one in values), *meant]
        accepts = list(meant)
        if not unit or unit in words.AMBIGUOUS:
            offers += bare
        accepts += bare if unit else [f"={_plain(one)}" for one in values]
    return (
        tuple(offers),
        tuple(accepts),
        len(digits.replace(".", "").strip("0")) or 1,
    )


def _meanings(value: float, values: list[float], unit: str) -> list[str]:
    """Return the keys of *values* in the bases of their unit."""
    readings = words.AMBIGUOUS.get(unit) or ((words.UNITS[unit],) if unit else ())
    keys = [
        f"{dimension or '='}{_plain(base * factor)}"
        for dimension, factor in readings
        for base in values
    ]
    if unit in {"个月", "month", "months"}:
        # Thirty days are a month, too.
        keys.append(f"s{_plain(value * 30 * 86_400)}")
    if 0 < value < 1 and not unit:
        keys.append(f"p{_plain(100 * value)}")
    return keys


def _plain(value: float) -> str:
    return f"{value:.9g}"


_READERS: Final[dict[str, Callable[[re.Match[str]], Iterator[Quantity]]]] = {
    "ymd": _ymd,
    "dmy": _dmy,
    "md": _md,
    "word": _word,
    "clock": _clock,
    "span": _span,
    "per": _per,
    "weekday": _weekday,
    "number": _number,
}
