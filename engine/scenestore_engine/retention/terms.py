"""The terms of a text: words, names and quantities, and the keys they are found by.

Words survive a paraphrase: a Latin word is its stem, a Chinese one its characters, and
both their concept, where `vocabulary` has one. Names must come back letter by letter,
quantities as `numbers` has it. How rare a term is, the caller counts.
"""

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from functools import cache, lru_cache
from itertools import accumulate
from typing import Final, NamedTuple

from scenestore_engine.retention import vocabulary
from scenestore_engine.retention.numbers import (
    Quantity,
    digits_for_words,
    quantities,
)

_CJK: Final = "\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff"
_LETTER: Final = "A-Za-z\u00c0-\u024f\u0370-\u03ff\u0400-\u052f\uac00-\ud7af"
_WORD: Final = f"[{_LETTER}][{_LETTER}0-9_]*"
_WIDE_SIGNS: Final = (
    *((chr(sign + 0xFEE0), chr(sign)) for sign in b",:;!?()"),
    ("\u2026", "..."),
)
"""What makes most Chinese lines differ from their normal form."""
_SENTENCE_ENDS: Final = frozenset(".!?:\n;—")
_SUFFIXES: Final = ("ings", "ing", "ies", "ied", "ed", "es", "ly", "s", "y", "e")
_STEM_CHARS: Final = 6
_LEAST_STEM: Final = 3
_BEFORE_A_NAME: Final = 8
"""Characters before a word in which the sentence must have begun."""
_MOSTLY: Final = 3
"""Chinese characters a Latin word from which a line is Chinese."""


class Terms(NamedTuple):
    """The terms of one piece of text; a term that occurs twice stands here once."""

    words: dict[str, tuple[str, ...]]
    """Each word and the keys by which a body may show it."""
    names: dict[str, tuple[str, ...]]
    """Each name, in small letters, and the keys by which a body may show it."""
    quantities: list[Quantity]

    def offers(self) -> set[str]:
        """Return every key that this piece shows."""
        return set[str]().union(
            *self.words.values(),
            *map(latin_keys, self.names),
            *[quantity.offers for quantity in self.quantities],
        )


class Spelling(NamedTuple):
    """What a Latin word is, as it is spelled."""

    word: str
    """In small letters."""
    keys: tuple[str, ...]
    name_keys: tuple[str, ...]
    """The keys by which a body may show it if it is a name."""
    is_name: bool | None
    """None where that depends on whether it begins a sentence."""


@cache
def word_pattern() -> re.Pattern[str]:
    """Return a pattern of Latin words and identifiers."""
    return re.compile(_WORD)


def read(pieces: Sequence[str]) -> list[Terms]:
    """Return the terms of each of *pieces*; no piece may hold a line break."""
    if not pieces:
        return []
    text = digits_for_words(_without_list_numbers(_normal("\n".join(pieces))))
    lines = text.split("\n")
    found = [Terms({}, {}, []) for _ in pieces]
    starts: list[int] = []
    for quantity in quantities(text):
        starts = starts or [*accumulate([len(line) + 1 for line in lines], initial=0)]
        mine = found[bisect_right(starts, quantity.start) - 1].quantities
        if quantity.accepts not in [one.accepts for one in mine]:
            mine.append(quantity)
    for line, terms in zip(lines, found, strict=True):
        _read_words(line, terms)
    return found


def prose(terms: Iterable[Terms]) -> tuple[int, int]:
    """Return how many Latin words and Chinese characters of prose there are."""
    latin = chinese = 0
    for piece in terms:
        # Of two strings the one whose first character comes first is the lesser.
        mine = sum(map("\u2e80".__le__, piece.words))
        concepts = sum(map("$".__gt__, piece.words))
        chinese += mine
        latin += len(piece.words) - mine - concepts
    return latin, chinese


def vague_words(text: str, signs: Iterable[str]) -> int:
    """Return how many words of *text* are those of small talk.

    Args:
        text: One fact.
        signs: What `vague_signs` found in the whole body.
    """
    vague = vocabulary.VAGUE_ENGLISH
    english = sum(map(vague.__contains__, word_pattern().findall(text)))
    return english + len([word for word in signs if word in text])


def vague_signs(body: str) -> list[str]:
    """Return the Chinese words of small talk that *body* holds."""
    if body.isascii():
        return []
    return [word for word in vocabulary.VAGUE_CHINESE if word in body]


def _normal(text: str) -> str:
    """Return *text* in normal form, with plain thousands and apostrophes."""
    if text.isascii():
        return text
    text = _spaced_thousands().sub(",", text)
    for wide, plain in _WIDE_SIGNS:
        # `normalize` hurries over a text in which it has nothing to do.
        text = text.replace(wide, plain)
    return unicodedata.normalize("NFKC", text).replace("\u2019", "'")


def _without_list_numbers(text: str) -> str:
    if _list_number_mark().search(text) is None:
        return text
    return _list_number().sub("", text)


@cache
def _spaced_thousands() -> re.Pattern[str]:
    return re.compile("[\u00a0\u2009\u202f](?<=\\d.)(?=\\d{3}(?!\\d))")


@cache
def _list_number_mark() -> re.Pattern[str]:
    """Return what every list number holds, which is found faster."""
    return re.compile(r"\d(?:[.)]\s|、)")


@cache
def _list_number() -> re.Pattern[str]:
    return re.compile(r"^[ \t]*\d{1,2}(?:[.)](?=\s)|、)[ \t]*(?=\D)", re.MULTILINE)


@cache
def _code_or_word() -> re.Pattern[str]:
    return re.compile(rf"(`[^`\n]+`|{_WORD})")


@cache
def chinese_run() -> re.Pattern[str]:
    """Return a pattern of neighbouring Chinese characters."""
    return re.compile(f"[{_CJK}]+")


def _read_words(line: str, terms: Terms) -> None:
    # What stands between the tokens, and each second one a token.
    parts = _code_or_word().split(line)
    mostly_chinese = False
    if not line.isascii():
        text = "\n".join(parts[::2])
        _read_chinese(text, terms.words)
        if len(parts) > 1:
            latin = sum([token[0] != "`" for token in parts[1::2]])
            chinese = sum(map(len, chinese_run().findall(text)))
            # In a Chinese sentence a Latin word is mostly a name or a term of art.
            mostly_chinese = chinese > _MOSTLY * latin
    words, names = terms.words, terms.names
    for place in range(1, len(parts), 2):
        token = parts[place]
        if token[0] == "`":
            for part in word_pattern().findall(token):
                names[part.lower()] = latin_keys(part.lower())[:1]
            continue
        spelled = spelling(token)
        if spelled is None:
            continue
        word, keys, name_keys, is_name = spelled
        if is_name is None:
            is_name = _is_in_a_sentence(parts[place - 1], is_first=place == 1)
        if is_name or (mostly_chinese and len(name_keys) == 1):
            names[word] = name_keys
        else:
            # The spelling too: a name that begins a sentence looks like a word.
            known = words.get(keys[1], keys)
            words[keys[1]] = keys if known == keys else (*known, *keys)


@lru_cache(maxsize=8192)
def spelling(text: str) -> Spelling | None:
    """Return what a Latin word is; None if it says nothing."""
    word = text.lower()
    if len(word) == 1 or word in vocabulary.STOP or word in vocabulary.CALENDAR:
        return None
    is_name: bool | None = False
    if text[1:] != text[1:].lower() or not text.isalpha():
        # As identifiers are spelled.
        is_name = True
    elif text[0].isupper() and len(text) >= _LEAST_STEM:
        is_name = None
    keys = latin_keys(word)
    return Spelling(word, keys, (keys[0], *keys[2:]), is_name)


def _is_in_a_sentence(between: str, *, is_first: bool) -> bool:
    """Tell whether a sentence has begun before a word.

    Args:
        between: What stands between the word and the one before it.
        is_first: There is no word before it.
    """
    before = between[-_BEFORE_A_NAME:].rstrip(" *\"'(|-#>“")
    if before:
        return before[-1] not in _SENTENCE_ENDS
    return not is_first and len(between) < _BEFORE_A_NAME


class _Signs(dict[str, tuple[str, tuple[str, ...]] | None]):
    """The term that each Chinese character is, and its keys; None if it is none."""

    def __missing__(self, sign: str) -> tuple[str, tuple[str, ...]] | None:
        meaning = vocabulary.concepts().get(sign, ())
        term: tuple[str, tuple[str, ...]] | None = None
        if chinese_run().match(sign):
            if sign not in vocabulary.FUNCTION:
                term = sign, (sign, *meaning)
            elif meaning:
                term = meaning[0], meaning
        self[sign] = term
        return term


@cache
def signs() -> _Signs:
    """Return the table of the characters that have been met."""
    return _Signs()


@cache
def _pair() -> re.Pattern[str]:
    """Return a pattern that begins most pairs of characters which begin no word."""
    firsts, seconds = zip(*vocabulary.chinese_beginnings(), strict=True)
    return re.compile(f"[{''.join({*firsts})}](?=[{''.join({*seconds})}])")


def _read_chinese(text: str, words: dict[str, tuple[str, ...]]) -> None:
    """Add the characters of *text*, each with the concept of the word it stands in."""
    found = _words_with_a_meaning(text)
    alone = text
    for place, word in reversed(found):
        alone = alone[:place] + alone[place + len(word) :]
    terms = signs()
    words.update(filter(None, map(terms.__getitem__, dict.fromkeys(alone))))
    concepts = vocabulary.concepts()
    for place, word in found:
        meaning = concepts[word]
        for at, sign in enumerate(word, place):
            if sign in vocabulary.FUNCTION:
                words.setdefault(meaning[0], meaning)
            elif text.rfind(sign) == at:
                # The last time that it stands there counts.
                words[sign] = (sign, *meaning)


def _words_with_a_meaning(text: str) -> list[tuple[int, str]]:
    """Return the Chinese words of two characters or more, each with its place."""
    sizes = vocabulary.chinese_beginnings()
    concepts = vocabulary.concepts()
    found: list[tuple[int, str]] = []
    covered = 0
    for first in _pair().finditer(text):
        place = first.start()
        pair = text[place : place + 2]
        if place < covered or pair not in sizes:
            continue
        for size in sizes[pair]:
            if (word := text[place : place + size]) in concepts:
                found.append((place, word))
                covered = place + size
                break
    return found


@lru_cache(maxsize=8192)
def latin_keys(word: str) -> tuple[str, ...]:
    """Return the keys of a word in small letters: spelling, stem, concepts."""
    stem = word
    for suffix in _SUFFIXES:
        if word.endswith(suffix) and len(word) - len(suffix) >= _LEAST_STEM:
            stem = word[: -len(suffix)]
            break
    return f"~{word}", stem[:_STEM_CHARS], *vocabulary.concepts().get(word, ())
