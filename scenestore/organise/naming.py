"""What a scene is called: its title, its filename and its summary.

A title is the occasion that most of its records share, or else the words that are
frequent inside and rare outside. Of CJK, whose words have no spaces, those runs of two
to four characters are taken that are no mere part of a longer one.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Sequence
from math import log, sqrt

import msgspec

from scenestore.organise.bodies import days_of, facts_of, title_of
from scenestore.organise.terms import (
    COMMON_RUNS,
    GRAMMAR,
    MEASURES,
    is_cjk,
    is_telling,
    stem,
    words,
)
from scenestore_engine.names import SUFFIX, complaints, folded, proposal
from scenestore_engine.policy import MAX_LINE_CHARS
from scenestore_engine.secret import kind_of_secret, masked

MAX_FILENAME_CHARS = 60
UNNAMED = "Notes"
CJK_COMMA = "\u3001"
_MAX_OCCASION_CHARS = 40
_TITLE_WORDS = 3
_SUMMARY_WORDS = 5
_MIN_WORD_CHARS = 3
_FEW_WORDS = 2
"""Words that a title has at least, if its texts have as many."""
_FEW = "\u4e00\u4e24\u51e0"
"""One, two, some: what stands before a measure."""
_PAIR = 2
_LONGEST_RUN = 4
_MOST = 0.7
"""Share of a scene's records whose name alone is enough of a title."""
_EVERYWHERE = 0.4
"""A word in more of a scene's lines than this is who speaks, not what of."""
_SMALL = 3
"""Texts of which even a word that stands in one may name them all."""
_DATE = re.compile(r"\d{4}-\d\d|\d{4}\u5e74")
_PIECES = re.compile(f"[{''.join(sorted(GRAMMAR))}]+")


class Occasion(msgspec.Struct, frozen=True, kw_only=True):
    """A text that helps to name a scene."""

    text: str
    scene_name: str


class Namer:
    """Names groups of texts by what sets them apart from all others."""

    def __init__(self, occasions: Sequence[Occasion]) -> None:
        """Count in how many of all *occasions* each phrase and each name stands."""
        self._total = len(occasions)
        self._names = Counter(o.scene_name for o in occasions)
        self._counts: Counter[str] = Counter()
        for occasion in occasions:
            self._counts.update(_Phrases([_both(occasion)]).counts.keys())

    def title(self, occasions: Sequence[Occasion]) -> str:
        """Return the title of a scene made from *occasions*; one short line."""
        shared = self._shared(occasions)
        if shared:
            return shared
        phrases = _Phrases(_texts(occasions))
        most = max(self._total / 4, _SMALL)

        def tells(key: str) -> float:
            rarity = log((1 + self._total) / max(self._counts[key], 1))
            return phrases.counts[key] * rarity * _length_factor(key)

        ranked: list[str] = []
        for need in phrases.needs:
            apt = (k for k in phrases.candidates(need) if self._counts[k] <= most)
            ranked += sorted(apt, key=lambda k: (-tells(k), k))
            if len(_distinct(ranked, _FEW_WORDS)) == _FEW_WORDS:
                break
        best = _distinct(ranked or sorted(phrases.candidates(1)), _TITLE_WORDS)
        return _title(phrases.face(key) for key in best)

    def _shared(self, occasions: Sequence[Occasion]) -> str:
        """Return the name or two names that most share, if what has it is here."""
        names = Counter(o.scene_name for o in occasions).most_common(2)
        apt = [
            name
            for name, here in names
            if _can_be_title(name)
            and 2 * here >= self._names[name]
            and 4 * here >= len(occasions)
        ]
        shares = dict(names)
        if not apt or 2 * sum(shares[name] for name in apt) < len(occasions):
            return ""
        is_enough = _MOST * len(occasions) <= shares[apt[0]]
        return _title(apt[:1] if is_enough else apt)


def summary_of(body: str) -> str:
    """Return the summary of a scene that the organiser wrote.

    It is a function of the body alone: a scene whose summary is another is not the
    organiser's own, or not any more.
    """
    title = title_of(body) or UNNAMED
    phrases = _Phrases([text for _, text in facts_of(body)])
    inside = title.casefold()
    most = max(_EVERYWHERE * phrases.texts, _SMALL)
    keys = [
        key
        for key in phrases.candidates(phrases.needs[0])
        if key not in inside and phrases.counts[key] <= most
    ]
    keys.sort(key=lambda k: (-phrases.counts[k] * _length_factor(k), k))
    about = ", ".join(phrases.face(key) for key in _distinct(keys, _SUMMARY_WORDS))
    days = days_of(body)
    period = f" ({' to '.join(dict.fromkeys((days[0], days[-1])))})" if days else ""
    summary = masked(title + (f": {about}" if about else ""))
    return summary[: MAX_LINE_CHARS - len(period)].strip() + period


def names_in(title: str) -> tuple[str, ...]:
    """Return the names that *title* may be made of, in small letters, itself first."""
    return (title.lower(), *title.lower().replace(CJK_COMMA, ", ").split(", "))


def filename_for(title: str, taken: Container[str]) -> str:
    """Return a filename for *title* whose folded form is not among the *taken*."""
    stem_of = title.lower().replace(", ", "-").replace(CJK_COMMA, "-")
    name = proposal(unicodedata.normalize("NFKC", stem_of) + SUFFIX)
    base = _short(name.removesuffix(SUFFIX), MAX_FILENAME_CHARS - len(SUFFIX))
    if any(complaints(base + SUFFIX)) or kind_of_secret(base + SUFFIX):
        base = UNNAMED.lower()
    name, count = base + SUFFIX, 1
    while folded(name) in taken:
        count += 1
        ending = f"-{count}{SUFFIX}"
        name = _short(base, MAX_FILENAME_CHARS - len(ending)) + ending
    return name


def _short(text: str, most: int) -> str:
    """Return *text* cut to *most* characters, between words if it has any."""
    if len(text) <= most:
        return text
    start = text[:most]
    at = start.rfind("-")
    return (start[:at] if at > most // 2 else start).rstrip("-.")


class _Phrases:
    """What may name some texts: words by their stem, and runs of CJK characters."""

    def __init__(self, texts: Iterable[str]) -> None:
        self.texts = 0
        self.counts: Counter[str] = Counter()
        """In how many of the texts a phrase stands."""
        self._faces: dict[str, Counter[str]] = {}
        self._whole: set[str] = set()
        self._fit: list[str] | None = None
        for text in texts:
            self.texts += 1
            self.counts.update(dict.fromkeys(self._read(text), 1))

    def face(self, key: str) -> str:
        """Return the form in which a stem is seen most."""
        faces = self._faces.get(key)
        return max(sorted(faces), key=faces.__getitem__) if faces else key

    @property
    def needs(self) -> tuple[int, ...]:
        """Return in how many texts a telling phrase stands, the best answer first."""
        if self.texts <= _SMALL:
            return (1,)
        return (max(2, -(-self.texts // 5)), 2, 1)

    def candidates(self, need: int) -> list[str]:
        """Return the phrases that stand in at least *need* texts, and are whole."""
        if self._fit is None:
            parts = self._parts()
            self._fit = [k for k in self.counts if self._is_whole(k, parts)]
        return [key for key in self._fit if self.counts[key] >= need]

    def _is_whole(self, key: str, parts: Container[str]) -> bool:
        return not is_cjk(key) or (
            key not in parts
            and len(key) <= _LONGEST_RUN
            and (self.counts[key] > 1 or key in self._whole)
            and not (key[0] in _FEW and key[1] in MEASURES)
            and key[-1] not in _FEW
            and not any(common in key for common in COMMON_RUNS)
        )

    def _parts(self) -> set[str]:
        """Return the runs that stand only inside of one longer run, or are no words."""
        runs = [key for key in self.counts if is_cjk(key) and len(key) > _PAIR]
        parts = {
            part
            for key in runs
            for part in (key[:-1], key[1:])
            if self.counts[part] == self.counts[key]
        }
        counted = (key for key in runs if key[0] in MEASURES)
        return parts.union(k for k in counted if self.counts[k[1:]] > self.counts[k])

    def _read(self, text: str) -> Iterator[str]:
        for word in words(text):
            if is_cjk(word):
                yield from self._runs(word)
            elif is_telling(word) and len(word) >= _MIN_WORD_CHARS and word.isalpha():
                key = stem(word)
                self._faces.setdefault(key, Counter())[word] += 1
                yield key

    def _runs(self, word: str) -> Iterator[str]:
        for piece in _PIECES.split(word):
            if 1 < len(piece) <= _LONGEST_RUN:
                self._whole.add(piece)
            for size in range(2, _LONGEST_RUN + 2):
                for start in range(len(piece) - size + 1):
                    yield piece[start : start + size]


def _texts(occasions: Iterable[Occasion]) -> list[str]:
    """Return what names are made of: each text, and each scene name once."""
    told = list(occasions)
    return [*dict.fromkeys(o.scene_name for o in told), *(o.text for o in told)]


def _can_be_title(name: str) -> bool:
    return (
        1 < len(name) <= _MAX_OCCASION_CHARS
        and not _DATE.search(name)
        and any(char.isalpha() for char in name)
    )


def _both(occasion: Occasion) -> str:
    return f"{occasion.scene_name}\n{occasion.text}"


def _length_factor(key: str) -> float:
    return sqrt(len(key) - 1) if is_cjk(key) else 1.0


def _distinct(keys: Iterable[str], most: int) -> list[str]:
    """Return the first of *keys*, without any that overlaps one before."""
    chosen: list[str] = []
    for key in keys:
        if not any(_overlap(key, other) for other in chosen):
            chosen.append(key)
        if len(chosen) == most:
            break
    return chosen


def _overlap(one: str, other: str) -> bool:
    if one in other or other in one:
        return True
    return (
        is_cjk(one) and is_cjk(other) and (one[-1] == other[0] or one[0] == other[-1])
    )


def _title(faces: Iterable[str]) -> str:
    parts = [_clean(face) for face in faces] or [UNNAMED]
    marks = CJK_COMMA if all(map(is_cjk, parts)) else ", "
    small = (p if p.isupper() else p[:1].lower() + p[1:] for p in parts[1:])
    return marks.join((parts[0], *small))


def _clean(title: str) -> str:
    clean = masked(title.strip(" .-#\u3002"))
    return clean[:1].upper() + clean[1:] if clean else UNNAMED
