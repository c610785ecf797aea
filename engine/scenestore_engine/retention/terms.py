"""The terms of a text: words, names and quantities, and the keys they are found by.

Words survive a paraphrase: a Latin word is its stem, a Chinese one its characters, and
both their concept, where `vocabulary` has one. Names must come back letter by letter,
quantities as `numbers` has it. How rare a term is, the caller counts.
"""

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import accumulate
from typing import Final, NamedTuple

from scenestore_engine.retention import vocabulary
from scenestore_engine.retention.numbers import (
    Quantity,
    digits_for_words,
    quantities,
)

CJK: Final = "\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff"
_LETTER: Final = "A-Za-z\u00c0-\u024f\u0370-\u03ff\u0400-\u052f\uac00-\ud7af"
WORD = re.compile(rf"[{_LETTER}][{_LETTER}0-9_]*")
_TOKEN = re.compile(
    rf"(?P<code>`[^`\n]+`)|(?P<latin>[{_LETTER}][{_LETTER}0-9_]*)|(?P<cjk>[{CJK}]+)"
)
_SPACED_THOUSANDS = re.compile("(?<=\\d)[\u00a0\u2009\u202f](?=\\d{3}(?!\\d))")
_LIST_NUMBER = re.compile(r"^[ \t]*\d{1,2}(?:[.)](?=\s)|、)[ \t]*(?=\D)", re.MULTILINE)
_SENTENCE_ENDS: Final = frozenset(".!?:\n;—")
_SUFFIXES: Final = ("ings", "ing", "ies", "ied", "ed", "es", "ly", "s", "y", "e")
_STEM_CHARS: Final = 6
_LEAST_STEM: Final = 3
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
        keys: set[str] = set()
        for word, shown in self.words.items():
            keys.add(word)
            keys.update(shown)
        for name in self.names:
            keys.update(latin_keys(name))
        for quantity in self.quantities:
            keys.update(quantity.offers)
        return keys


def read(pieces: Sequence[str]) -> list[Terms]:
    """Return the terms of each of *pieces*; no piece may hold a line break."""
    if not pieces:
        return []
    text = _SPACED_THOUSANDS.sub(",", "\n".join(pieces))
    text = unicodedata.normalize("NFKC", text).replace("\u2019", "'")
    text = digits_for_words(_LIST_NUMBER.sub("", text))
    lines = text.split("\n")
    starts = list(accumulate((len(line) + 1 for line in lines), initial=0))
    found = [Terms({}, {}, []) for _ in pieces]
    for quantity in quantities(text):
        mine = found[bisect_right(starts, quantity.start) - 1].quantities
        if all(quantity.accepts != one.accepts for one in mine):
            mine.append(quantity)
    for line, terms in zip(lines, found, strict=True):
        _read_words(line, terms)
    return found


def prose(terms: Iterable[Terms]) -> tuple[int, int]:
    """Return how many Latin words and Chinese characters of prose there are."""
    latin = chinese = 0
    for piece in terms:
        first = [word[0] for word in piece.words]
        mine = len([sign for sign in first if sign >= "\u2e80"])
        chinese += mine
        latin += len(first) - mine - first.count("#")
    return latin, chinese


def vague_words(text: str) -> int:
    """Return how many words of *text* are those of small talk."""
    english = sum(word in vocabulary.VAGUE_ENGLISH for word in WORD.findall(text))
    if text.isascii():
        return english
    return english + sum([word in text for word in vocabulary.VAGUE_CHINESE])


def _read_words(line: str, terms: Terms) -> None:
    tokens = list(_TOKEN.finditer(line))
    chinese = sum(len(token[0]) for token in tokens if token.lastgroup == "cjk")
    # In a Chinese sentence a Latin word is mostly a name or a term of art.
    mostly_chinese = chinese > _MOSTLY * sum(
        token.lastgroup == "latin" for token in tokens
    )
    for token in tokens:
        text = token[0]
        if token.lastgroup == "cjk":
            _read_chinese(text, terms.words)
        elif token.lastgroup == "code":
            for part in WORD.findall(text):
                terms.names[part.lower()] = latin_keys(part.lower())[:1]
        else:
            word = text.lower()
            if len(word) == 1 or word in vocabulary.STOP or word in vocabulary.CALENDAR:
                continue
            keys = latin_keys(word)
            if _is_name(line, token) or (mostly_chinese and not keys[2:]):
                terms.names[word] = (keys[0], *keys[2:])
            else:
                # The spelling too: a name that begins a sentence looks like a word.
                spellings = terms.words.get(keys[1], ())
                terms.words[keys[1]] = (*spellings, *keys)


def _is_name(line: str, token: re.Match[str]) -> bool:
    """Tell whether a Latin word is spelled as names and identifiers are."""
    text = token[0]
    if text[1:] != text[1:].lower() or not text.isalpha():
        return True
    if not text[0].isupper() or len(text) < _LEAST_STEM:
        return False
    before = line[max(0, token.start() - 8) : token.start()].rstrip(" *\"'(|-#>“")
    return before != "" and before[-1] not in _SENTENCE_ENDS


def _read_chinese(run: str, words: dict[str, tuple[str, ...]]) -> None:
    """Add the characters of *run*, each with the concept of the word it stands in."""
    sizes = vocabulary.chinese_sizes()
    concepts = vocabulary.concepts()
    covered = 0
    meaning: tuple[str, ...] = ()
    for place, sign in enumerate(run):
        if place >= covered:
            meaning = ()
            for size in sizes.get(sign, ()):
                if (word := run[place : place + size]) in concepts:
                    meaning = concepts[word]
                    covered = place + size
                    break
        if sign not in vocabulary.FUNCTION:
            words[sign] = (sign, *meaning) if meaning else (sign,)
        elif meaning:
            words.setdefault(meaning[0], meaning)


@lru_cache(maxsize=8192)
def latin_keys(word: str) -> tuple[str, ...]:
    """Return the keys of a word in small letters: spelling, stem, concepts."""
    stem = word
    for suffix in _SUFFIXES:
        if word.endswith(suffix) and len(word) - len(suffix) >= _LEAST_STEM:
            stem = word[: -len(suffix)]
            break
    return f"~{word}", stem[:_STEM_CHARS], *vocabulary.concepts().get(word, ())
