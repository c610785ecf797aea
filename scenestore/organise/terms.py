"""Text as terms that can be counted, in English and in Chinese, Japanese and Korean.

Words are cut to a stem of five letters. CJK text, which has no spaces, becomes its
characters and pairs of characters, without those that only carry grammar.
"""

import re
import unicodedata
from collections.abc import Iterator

CJK = "\u3400-\u4dbf\u4e00-\u9fff\u3040-\u30ff\uac00-\ud7af"
GRAMMAR = frozenset(
    "的了是我你他她它们在有不这那就也都很和与吗呢吧啊呀哦嗯会要可以能说到去来得着过把被给对为从个些"
    "么什怎样没好谢觉还最想让更非常并且但而或及将已该应却则其之于由向往才又再只"
)
"""Characters that carry grammar, or that every talk is full of."""
_STEM_CHARS = 5
_MAX_CHARS = 2_000
"""Characters of one text that are looked at; more says little that is new."""
_WORD = re.compile(rf"[{CJK}]+|[^\W_{CJK}]+(?:['\u2019][a-z]+)?")
_POSSESSIVE = re.compile(r"['\u2019](?:s$)?")
STOP_WORDS = frozenset(
    """
    a about after again all also always am an and any are as at back be because been
    before being both but by can could did do does doing done down each even ever every
    few first for from get gets getting go goes going gone got had has have having he
    her here hers him his how i if in into is it its just keep kept last let like lot
    made make makes making many may me might more most much must my need needs never new
    next no not now of off often old on once one only onto or other our out over own
    per put really said same say says see she should since so some something still such
    than that the their them then there these they thing things think this those three
    through time to today told too took two under until up us use used using very want
    wanted wants was way we well went were what when where which while who whole why
    will with without would yesterday you your yours re ve ll don didn doesn isn wasn
    feel feels felt recently mentioned thank thanks yes okay hi hello please believes
    assistant user secret
    """.split()
)


def words(text: str) -> Iterator[str]:
    """Yield the words of *text* in small letters; a run of CJK counts as one."""
    folded = unicodedata.normalize("NFKC", text[:_MAX_CHARS]).lower()
    for found in _WORD.finditer(folded):
        yield _POSSESSIVE.sub("", found.group())


def is_cjk(word: str) -> bool:
    """Say whether *word*, as `words` yields it, is a run of CJK."""
    return bool(re.match(f"[{CJK}]", word))


def is_telling(word: str) -> bool:
    """Say whether a word that is not CJK says something."""
    return word not in STOP_WORDS and (len(word) > 1 or not word.isascii())


def stem(word: str) -> str:
    """Return what the forms of a word share."""
    return word if word.isdigit() else word[:_STEM_CHARS]


def terms(text: str) -> list[str]:
    """Return the terms of *text*, in order, as often as they stand there."""
    found: list[str] = []
    for word in words(text):
        if is_cjk(word):
            found += _cjk_terms(word)
        elif is_telling(word):
            found.append(stem(word))
    return found


def _cjk_terms(run: str) -> Iterator[str]:
    yield from (char for char in run if char not in GRAMMAR)
    for pair in zip(run, run[1:], strict=False):
        if not GRAMMAR.intersection(pair):
            yield "".join(pair)
