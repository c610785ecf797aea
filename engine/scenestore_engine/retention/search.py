"""Facts looked for in a target, each with a score and with what is missing of it."""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from itertools import accumulate, chain, compress
from typing import Final, NamedTuple, TypeAlias

from scenestore_engine.retention.facts import (
    Clause,
    Fact,
    clause_count,
    clauses_of,
    facts_of,
    is_heading,
)
from scenestore_engine.retention.numbers import Quantity
from scenestore_engine.retention.terms import (
    CJK,
    WORD,
    Terms,
    latin_keys,
    prose,
    read,
    vague_words,
)

_NAME_WEIGHT: Final = 0.4
"""Of a name, where all words of a fact weigh 1 together."""
_DIGIT_WEIGHT: Final = 0.5
"""Of each digit of a quantity after the first, up to three."""
_FAINT: Final = 0.5
"""Of a year, which a merge often says once, and of 1, 2 and 3."""
_NARROW, _WIDE = 2, 5
"""Clauses in which the terms of a fact must stand together; more if it has more."""
_BARE_POWER: Final = 0.7
"""Lifts facts without any number or name: they are paraphrased most freely."""
_SAME_WORDS: Final = 0.8
"""Share of a fact's words from which a clause is about that fact and nothing else."""
_OTHER_NAME: Final = 0.35
"""What is left of a fact's score when such clauses name somebody else in its stead."""
_TRANSLATED: Final = 0.12
"""Share of the sources' prose in its script below which a target is a translation."""
_CHARS_A_WORD: Final = 6
"""With the space behind it; how much prose a full body can show at most."""
_SIGNS_A_WORD: Final = 2
"""Chinese characters that say about what a Latin word says."""
_HEADING_WEIGHT: Final = 0.5
_FEW_WORDS: Final = 4
"""Words from which a fact's words weigh half of what they can: 1 in all."""


_WORD_GOES_ON = re.compile(r"\w|[.,:]\d|%")
_CHINESE_RUN = re.compile(f"[{CJK}]+")
_Shown: TypeAlias = tuple[int, Sequence[int]]
"""Weight of a term, in millionths, and the target's clauses that hold it, in order."""
_UNIT: Final = 1_000_000
"""Weights are added as integers: a sum must not depend on the order of lines."""
_VAGUENESS: Final = 0.3
"""How much less a fact weighs for each word of small talk."""
_SMALL: Final = re.compile(r"0*[123](?![\d.:]).*|周.|[A-Z][a-z]+")


class Finding(NamedTuple):
    """One fact, how well the target holds it (0 to 1), and what it weighs."""

    filename: str
    fact: Fact
    score: float
    weight: float
    missing: dict[str, float]
    """Labels of terms that are not found, as `terms` has them, and their weights."""

    def labels(self) -> tuple[str, ...]:
        """Return the missing terms as the fact spells them, most weighty first."""
        return _labels(self.fact.text, self.missing)


class Sought(NamedTuple):
    """A fact, and all of it that does not depend on a target."""

    fact: Fact
    terms: Terms
    quantities: Sequence[tuple[str, float, Sequence[str]]]
    """Label, weight and keys."""
    heavy: float
    """Weight of its quantities and names."""
    weight: float
    clauses: int


class Body(NamedTuple):
    """A source taken apart."""

    facts: Sequence[Sought]
    others: Sequence[Terms]
    """The terms of its lines that are no facts: their numbers are not new."""


class Search:
    """A target, ready to be asked for facts."""

    def __init__(self, body: str) -> None:
        self.body = body
        self._lines = body.split("\n")
        self._lowest: dict[int, list[int]] = {}
        self.clauses: Sequence[Clause] = tuple(clauses_of(body))
        self.terms = read([clause.text for clause in self.clauses])
        self._index: dict[str, list[int]] = defaultdict(list)
        for place, terms in enumerate(self.terms):
            for key in terms.offers():
                self._index[key].append(place)
        # Of each clause the first of its line: what stands in another line may be moved
        # away, and must not count as near.
        self._first: list[int] = []
        for place, clause in enumerate(self.clauses):
            same = place > 0 and self.clauses[place - 1].line == clause.line
            self._first.append(self._first[-1] if same else place)

    def names(self, known: Iterable[str]) -> list[set[str]]:
        """Return, clause by clause, which of the *known* names it holds."""
        held: list[set[str]] = [set() for _ in self.clauses]
        for name in known:
            for place in self._index.get(f"~{name}", ()):
                held[place].add(name)
        return held

    def line_of(self, place: int, before: int, after: int) -> range:
        """Return the clauses around *place* that stand in its line."""
        first = self._first[place]
        start, stop = max(first, place - before), place + 1
        last = min(place + after + 1, len(self._first))
        while stop < last and self._first[stop] == first:
            stop += 1
        return range(start, stop)

    def quotes(self, place: int, facts: Iterable[Fact]) -> bool:
        """Tell whether the line of a clause holds one of *facts* letter by letter."""
        line = self._lines[self.clauses[place].line - 1]
        return any(_stands_in(fact.text.strip(), line) for fact in facts)

    def new_quantities(self, sources: Iterable[Terms]) -> list[list[Quantity]]:
        """Return, clause by clause, the quantities that no source has."""
        known = {
            key
            for terms in sources
            for quantity in terms.quantities
            for key in quantity.accepts
        }
        return [
            [found for found in terms.quantities if known.isdisjoint(found.offers)]
            for terms in self.terms
        ]

    def places(self, keys: Sequence[str]) -> Sequence[int]:
        """Return the clauses that show any of *keys*, in order."""
        index = self._index
        if len(keys) == 1:
            return index.get(keys[0], ())
        found = [index[key] for key in keys if key in index]
        if not found:
            return ()
        return found[0] if len(found) == 1 else sorted(set(chain(*found)))

    def held(self, shown: Sequence[_Shown], size: int) -> list[int]:
        """Return the weight that stands within *size* clauses from each clause on."""
        lowest = self._lowest.get(size)
        if lowest is None:
            # Not beyond the line's first clause.
            lowest = [
                max(first, place - size + 1) for place, first in enumerate(self._first)
            ]
            self._lowest[size] = lowest
        change = [0] * (len(self.clauses) + 1)
        for weight, places in shown:
            before = -1
            for place in places:
                start = lowest[place]
                # No window twice.
                change[start if start > before else before + 1] += weight
                change[place + 1] -= weight
                before = place
        return list(accumulate(change[:-1]))

    def together(
        self, shown: Sequence[_Shown], size: int, spoilt: Sequence[bool] | None
    ) -> tuple[int, int]:
        """Return the most weight that stands within *size* clauses, and where.

        Clauses that are *spoilt* hold a new number in place of one that is gone: a
        window with one of them does not count.
        """
        held = self.held(shown, size)
        if spoilt is not None:
            for place in compress(range(len(held)), spoilt):
                start = max(self._first[place], place - size + 1)
                held[start : place + 1] = [0] * (place + 1 - start)
        best = max(held, default=0)
        return best, held.index(best) if best else -1


@lru_cache(maxsize=64)
def taken_apart(body: str) -> Body:
    """Return *body* taken apart; kept, as a refused batch soon comes again."""
    facts = tuple(facts_of(body))
    lines = {fact.line for fact in facts}
    others = [
        line for number, line in enumerate(body.split("\n"), 1) if number not in lines
    ]
    terms = read([*(fact.text for fact in facts), *others])
    return Body(tuple(map(_sought, facts, terms[: len(facts)])), terms[len(facts) :])


def _sought(fact: Fact, terms: Terms) -> Sought:
    quantities = [(q.text, quantity_weight(q), q.accepts) for q in terms.quantities]
    heavy = _NAME_WEIGHT * len(terms.names)
    heavy += math.fsum(weight for _, weight, _ in quantities)
    weight = heavy + len(terms.words) / (len(terms.words) + _FEW_WORDS)
    weight /= 1 + _VAGUENESS * vague_words(fact.text)
    if is_heading(fact.text):
        # A day without its lines is worth little: it may go with them.
        weight = min(weight, _HEADING_WEIGHT)
    return Sought(fact, terms, quantities, heavy, weight, clause_count(fact.text))


def find(
    sources: Sequence[tuple[str, str]],
    target: str,
    *,
    max_chars: int,
    is_exempt: Callable[[str], bool] | None,
) -> tuple[list[Finding], tuple[str, ...]]:
    """Return a finding for each fact, and the target's numbers that no source has.

    Args:
        sources: Filenames and bodies.
        target: The body in which the facts are looked for.
        max_chars: How long a body may be.
        is_exempt: Tells of a line that its facts are not looked for.
    """
    search = Search(target)
    sought: list[tuple[str, Sought]] = []
    every: list[Terms] = []
    for filename, content in sources:
        body = taken_apart(content)
        lines = content.split("\n")
        for one in body.facts:
            every.append(one.terms)
            if is_exempt is None or not is_exempt(lines[one.fact.line - 1]):
                sought.append((filename, one))
        every += body.others
    terms = [one.terms for _, one in sought]
    new = search.new_quantities(every)
    spoilt = [bool(quantities) for quantities in new]
    spread = Counter(chain.from_iterable(piece.words for piece in terms))
    rarity = {word: math.log(1 + len(terms) / spread[word]) for word in spread}
    latin, chinese = _untranslated(terms, search.terms, max_chars)
    known = {name for piece in terms for name in piece.names}
    names = search.names(known)
    facts = [one.fact for _, one in sought]
    found: list[Finding] = []
    for filename, one in sought:
        score, missing = _looked_for(one, rarity, search, spoilt)
        if score < 1 and one.terms.names and len(known) > len(one.terms.names):
            places = _said_of_others(one, rarity, search, names)
            if places and not any(search.quotes(place, facts) for place in places):
                score *= _OTHER_NAME
        if min(latin, chinese) < 1 and score < 1:
            words = prose([one.terms])
            score *= latin if words[0] > words[1] else chinese
        found.append(Finding(filename, one.fact, score, one.weight, missing))
    labels = {one.text for quantities in new for one in quantities}
    return found, tuple(sorted(labels))


def _looked_for(
    one: Sought, rarity: dict[str, float], search: Search, spoilt: Sequence[bool]
) -> tuple[float, dict[str, float]]:
    """Return how well a fact is found, and its terms that are missing."""
    terms = one.terms
    missing: dict[str, float] = {}
    nothing = not one.heavy and not terms.words
    if nothing or _stands_in(one.fact.text.strip(), search.body):
        return 1.0, missing
    shown: list[_Shown] = []
    labels: list[str] = []
    lost: list[int] = []

    def look_for(label: str, weight: float, keys: Sequence[str]) -> None:
        if places := search.places(keys):
            shown.append((int(weight * _UNIT), places))
            labels.append(label)
        else:
            lost.append(int(weight * _UNIT))
            # The parts of a date have one label.
            missing[label] = missing.get(label, 0.0) + weight

    for label, weight, keys in one.quantities:
        look_for(label, weight, keys)
    changed = bool(missing)
    for name, keys in terms.names.items():
        look_for(name, _NAME_WEIGHT, keys)
    # fsum: a sum must not depend on the order of lines.
    total = math.fsum([rarity[word] for word in terms.words])
    for word, keys in terms.words.items():
        look_for(word, rarity[word] / total, keys)
    bad = spoilt if changed else None
    narrow, _ = search.together(shown, max(_NARROW, one.clauses), bad)
    wide, where = search.together(shown, max(_WIDE, one.clauses), bad)
    whole = sum([weight for weight, _ in shown])
    full = whole + sum(lost)
    score = (whole + wide + narrow) / (3 * full)
    score **= 1.0 if one.heavy else _BARE_POWER
    if not missing:
        # All is there, but not together: name what stands elsewhere.
        near = set(range(where, where + max(_WIDE, one.clauses)))
        missing = {
            label: weight / _UNIT
            for label, (weight, places) in zip(labels, shown, strict=True)
            if near.isdisjoint(places)
        }
    return score, missing


def _stands_in(text: str, body: str) -> bool:
    """Tell whether *body* holds *text* as it is, not as the part of a longer word."""
    place = body.find(text)
    while place >= 0:
        end = place + len(text)
        goes_on = text[-1:].isalnum() and _WORD_GOES_ON.match(body, end)
        has_begun = text[:1].isalnum() and body[place - 1 : place].isalnum()
        if not goes_on and not has_begun:
            return True
        place = body.find(text, place + 1)
    return False


def _said_of_others(
    one: Sought,
    rarity: dict[str, float],
    search: Search,
    names: Sequence[set[str]],
) -> list[int]:
    """Return where a fact is said if each time somebody else is named in its stead.

    A line that quotes a source says what it says of the right one, whoever that is; the
    caller looks after that.
    """
    words = [
        (int(rarity[word] * _UNIT), places)
        for word, keys in one.terms.words.items()
        if (places := search.places(keys))
    ]
    least = _SAME_WORDS * sum([int(rarity[word] * _UNIT) for word in one.terms.words])
    if not words or sum([weight for weight, _ in words]) < least:
        return []
    size = max(_NARROW, one.clauses)
    own = one.terms.names.keys()
    said = [
        place
        for place, weight in enumerate(search.held(words, size))
        if weight >= least
    ]
    for place in said:
        if not any(names[near] - own for near in search.line_of(place, 0, size - 1)):
            return []
        near_by = chain.from_iterable(
            names[near] for near in search.line_of(place, 1, size)
        )
        if own <= set(near_by):
            return []
    return said


def quantity_weight(quantity: Quantity) -> float:
    """Return what a quantity weighs: more digits are less likely there by chance."""
    weight = 1 + _DIGIT_WEIGHT * min(3, quantity.digits - 1)
    faint = quantity.accepts[0].startswith("y") or _SMALL.fullmatch(quantity.text)
    return weight * _FAINT if faint else weight


def _labels(text: str, weights: dict[str, float]) -> tuple[str, ...]:
    """Return the terms as *text* spells them, most weighty first."""
    labels: dict[str, float] = {}
    spelled: set[str] = set()
    for token in WORD.findall(text):
        word = token.lower()
        for key in (word, latin_keys(word)[1]):
            if key in weights and key not in spelled:
                labels[token] = weights[key]
                spelled.add(key)
    for run in _CHINESE_RUN.findall(text):
        piece = ""
        for sign in f"{run}\n":
            if sign in weights:
                piece += sign
            elif piece:
                labels[piece] = math.fsum(weights[one] for one in sorted(set(piece)))
                piece = ""
    for label, weight in weights.items():
        chinese = len(label) == 1 and _CHINESE_RUN.match(label)
        if label not in spelled and not chinese and label[0] != "#":
            labels[label] = weight
    return tuple(sorted(labels, key=lambda label: (-labels[label], label)))


def _untranslated(
    sources: Sequence[Terms], target: Sequence[Terms], max_chars: int
) -> tuple[float, float]:
    """Return how far Latin and Chinese facts are believed: below 1 after a translation.

    A line may be translated; when the main script of the sources has all but gone, then
    nobody can tell without a model what was kept.
    """
    latin, chinese = prose(sources)
    latin_shown, chinese_shown = prose(target)
    beliefs = [1.0, 1.0]
    if latin * _SIGNS_A_WORD > chinese:
        expected = _TRANSLATED * min(latin, max_chars / _CHARS_A_WORD)
        beliefs[0] = min(1.0, latin_shown / expected)
    elif chinese:
        expected = _TRANSLATED * min(chinese, max_chars / 2)
        beliefs[1] = min(1.0, chinese_shown / expected)
    return beliefs[0], beliefs[1]
