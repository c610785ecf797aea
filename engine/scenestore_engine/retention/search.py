"""Facts looked for in a target, each with a score and with what is missing of it."""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import cache, lru_cache
from itertools import chain
from typing import Final, NamedTuple

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
    Terms,
    chinese_run,
    latin_keys,
    prose,
    read,
    vague_signs,
    vague_words,
    word_pattern,
)
from scenestore_engine.retention.windows import (
    Window,
    Windows,
    every_window,
    line_ends,
    whole_windows,
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
_OTHER_NUMBER: Final = 0.1
"""What a fact scores at most when a line says its words with a number of its own."""
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

_UNIT: Final = 1_000_000
"""Weights are added as integers: a sum must not depend on the order of lines."""
_VAGUENESS: Final = 0.3
"""How much less a fact weighs for each word of small talk."""
_LANE_BYTES: Final = 4
"""Of a lane of `windows`, if the weights of each fact fit."""


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
    heavies: Sequence[tuple[str, float, tuple[str, ...]]]
    """Label, weight and keys of its quantities, and of its names behind them."""
    heavy: float
    """Weight of its quantities and names."""
    weight: float
    clauses: int


class Body(NamedTuple):
    """A source taken apart."""

    facts: Sequence[Sought]
    others: Sequence[Terms]
    """The terms of its lines that are no facts: their numbers are not new."""


class _Places(dict[tuple[str, ...], Collection[int]]):
    """The clauses that show any of some keys; found when first asked for."""

    def __init__(self, index: Mapping[str, Sequence[int]]) -> None:
        super().__init__()
        self._index = index

    def __missing__(self, keys: tuple[str, ...]) -> Collection[int]:
        places: Collection[int] = self._index.get(keys[0], ())
        if len(keys) > 1:
            found = [self._index[key] for key in keys if key in self._index]
            places = found[0] if len(found) == 1 else {*chain(*found)}
        self[keys] = places
        return places


class Search:
    """A target, ready to be asked for facts."""

    def __init__(self, body: str, most: float) -> None:
        """Take a target apart.

        Args:
            body: The target.
            most: A fact's terms weigh less than that together.
        """
        self._lines = body.split("\n")
        self.clauses: Sequence[Clause] = tuple(clauses_of(body))
        self.terms = read([clause.text for clause in self.clauses])
        self._index: dict[str, list[int]] = defaultdict(list)
        for place, terms in enumerate(self.terms):
            for key in terms.offers():
                self._index[key].append(place)
        self._lane_bytes = _LANE_BYTES
        if most * _UNIT >= 1 << 8 * _LANE_BYTES:
            self._lane_bytes = 2 * _LANE_BYTES
        self.places = _Places(self._index)
        self._ends = line_ends([clause.line for clause in self.clauses])
        self._spoilt: frozenset[int] = frozenset()
        self.spoilt_lines: list[tuple[frozenset[int], list[str]]] = []
        """Places of each line that holds numbers no source has, and these numbers."""
        self._whole: dict[tuple[int, bool], Sequence[Window]] = {}
        self._together: dict[tuple[int, int, bool], tuple[Windows, int]] = {}
        self._anywhere: dict[int, Windows] = {}

    def names(self, known: Iterable[str]) -> list[set[str]]:
        """Return, clause by clause, which of the *known* names it holds."""
        held: list[set[str]] = [set() for _ in self.clauses]
        for name in known:
            for place in self._index.get(f"~{name}", ()):
                held[place].add(name)
        return held

    def line_of(self, place: int, before: int, after: int) -> range:
        """Return the clauses around *place* that stand in its line."""
        line = self.clauses[place].line
        start, stop = place, place + 1
        while start > max(0, place - before) and self.clauses[start - 1].line == line:
            start -= 1
        last = min(place + after + 1, len(self.clauses))
        while stop < last and self.clauses[stop].line == line:
            stop += 1
        return range(start, stop)

    def quotes(self, place: int, texts: Iterable[str]) -> bool:
        """Tell whether the line of a clause holds one of *texts* letter by letter."""
        line = self._lines[self.clauses[place].line - 1]
        return any(_stands_in(text, line) for text in texts)

    def new_quantities(self, sources: Iterable[Terms]) -> list[list[Quantity]]:
        """Return, clause by clause, the quantities that no source has.

        Their places are kept for `together`, where they spoil clauses.
        """
        known = {
            key
            for terms in sources
            for quantity in terms.quantities
            for key in quantity.accepts
        }
        new = [
            [found for found in terms.quantities if known.isdisjoint(found.offers)]
            for terms in self.terms
        ]
        self._spoilt = frozenset(place for place, found in enumerate(new) if found)
        lines = {self.clauses[place].line for place in self._spoilt}
        for line in sorted(lines):
            places = frozenset(
                place for place, one in enumerate(self.clauses) if one.line == line
            )
            texts = [found.text for place in places for found in new[place]]
            self.spoilt_lines.append((places, texts))
        return new

    def together(self, narrow: int, wide: int, *, changed: bool) -> tuple[Windows, int]:
        """Return windows of two sizes, and how many of them are narrow.

        The narrow ones come first, the wide ones behind them.

        Args:
            narrow: How many clauses a narrow window has.
            wide: How many a wide one has.
            changed: A number is gone: clauses that hold a new one do not count, and a
                window with one of them does not either.
        """
        key = narrow, wide, changed and bool(self._spoilt)
        if key not in self._together:
            changed = key[2]
            windows = self._whole_windows(narrow, changed=changed)
            every = [*windows, *self._whole_windows(wide, changed=changed)]
            self._together[key] = self._with_lanes(every), len(windows)
        return self._together[key]

    def anywhere(self, size: int) -> Windows:
        """Return the windows of *size* clauses, one from each clause on."""
        if size not in self._anywhere:
            windows = every_window(self._ends, size)
            self._anywhere[size] = self._with_lanes(windows)
        return self._anywhere[size]

    def _whole_windows(self, size: int, *, changed: bool) -> Sequence[Window]:
        key = size, changed
        if key not in self._whole:
            spoilt = self._spoilt if changed else frozenset[int]()
            self._whole[key] = whole_windows(self._ends, size, spoilt)
        return self._whole[key]

    def _with_lanes(self, windows: Sequence[Window]) -> Windows:
        return Windows(windows, len(self.clauses), self._lane_bytes)


@lru_cache(maxsize=64)
def taken_apart(body: str) -> Body:
    """Return *body* taken apart; kept, as a refused batch soon comes again."""
    facts = tuple(facts_of(body))
    lines = {fact.line for fact in facts}
    others = [
        line for number, line in enumerate(body.split("\n"), 1) if number not in lines
    ]
    terms = read([*(fact.text for fact in facts), *others])
    signs = vague_signs(body)
    return Body(
        [
            _sought(fact, mine, signs)
            for fact, mine in zip(facts, terms[: len(facts)], strict=True)
        ],
        terms[len(facts) :],
    )


def _sought(fact: Fact, terms: Terms, signs: Sequence[str]) -> Sought:
    heavies = [(q.text, quantity_weight(q), q.accepts) for q in terms.quantities]
    # fsum: a sum must not depend on the order of lines.
    heavy = _NAME_WEIGHT * len(terms.names)
    heavy += math.fsum([weight for _, weight, _ in heavies])
    heavies += [(name, _NAME_WEIGHT, keys) for name, keys in terms.names.items()]
    weight = heavy + len(terms.words) / (len(terms.words) + _FEW_WORDS)
    weight /= 1 + _VAGUENESS * vague_words(fact.text, signs)
    if is_heading(fact.text):
        # A day without its lines is worth little: it may go with them.
        weight = min(weight, _HEADING_WEIGHT)
    return Sought(fact, terms, heavies, heavy, weight, clause_count(fact.text))


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
    sought: list[tuple[str, Sought]] = []
    every: list[Terms] = []
    for filename, content in sources:
        body = taken_apart(content)
        every += [one.terms for one in body.facts]
        every += body.others
        lines = content.split("\n") if is_exempt else []
        sought += [
            (filename, one)
            for one in body.facts
            if is_exempt is None or not is_exempt(lines[one.fact.line - 1])
        ]
    terms = [one.terms for _, one in sought]
    spread = Counter(chain.from_iterable([piece.words for piece in terms]))
    log = {often: math.log(1 + len(terms) / often) for often in set(spread.values())}
    rarity = {word: log[often] for word, often in spread.items()}
    rarest = max(log.values(), default=0.0)
    most = [one.heavy + 1 + rarest * len(one.terms.words) for _, one in sought]
    search = Search(target, max(most, default=0.0))
    new = search.new_quantities(every)
    latin, chinese = _untranslated(terms, search.terms, max_chars)
    known = {name for piece in terms for name in piece.names}
    names = search.names(known)
    texts = {one.fact.text.strip() for _, one in sought}
    quoted = {text for text in texts if _stands_in(text, target)}
    found: list[Finding] = []
    for filename, one in sought:
        score, missing = 1.0, dict[str, float]()
        if one.fact.text.strip() not in quoted:
            score, missing = _looked_for(one, rarity, search)
        if score < 1 and one.terms.names and len(known) > len(one.terms.names):
            places = _said_of_others(one, rarity, search, names)
            if places and not any(search.quotes(place, quoted) for place in places):
                score *= _OTHER_NAME
        if score > _OTHER_NUMBER and _has_other_number(one, rarity, search):
            score = _OTHER_NUMBER
        if min(latin, chinese) < 1 and score < 1:
            words = prose([one.terms])
            score *= latin if words[0] > words[1] else chinese
        found.append(Finding(filename, one.fact, score, one.weight, missing))
    labels = {one.text for quantities in new for one in quantities}
    return found, tuple(sorted(labels))


def _looked_for(
    one: Sought, rarity: dict[str, float], search: Search
) -> tuple[float, dict[str, float]]:
    """Return how well a fact is found, and its terms that are missing."""
    missing: dict[str, float] = {}
    if not one.heavy and not one.terms.words:
        return 1.0, missing
    places_of = search.places
    changed = False
    for quantity in one.terms.quantities:
        changed = changed or not places_of[quantity.accepts]
    wide = max(_WIDE, one.clauses)
    windows, narrow = search.together(max(_NARROW, one.clauses), wide, changed=changed)
    holding = windows.holding
    held = lost = 0
    for label, share, keys in _shares(one, rarity):
        if places := places_of[keys]:
            lanes = 0
            for place in places:
                lanes |= holding[place]
            held += int(share * _UNIT) * lanes
        else:
            lost += int(share * _UNIT)
            # The parts of a date have one label.
            missing[label] = missing.get(label, 0.0) + share
    weights = windows.weights(held)
    whole = weights[0]
    best = max(weights[1 + narrow :], default=0)
    best_narrow = max(weights[1 : 1 + narrow], default=0)
    score = (whole + best + best_narrow) / (3 * (whole + lost))
    score **= 1.0 if one.heavy else _BARE_POWER
    if not missing:
        # All is there, but not together: name what stands elsewhere.
        start, _ = windows.windows[weights.index(best, 1 + narrow) - 1]
        near = frozenset(range(start, start + wide))
        missing = {
            label: int(share * _UNIT) / _UNIT
            for label, share, keys in _shares(one, rarity)
            if near.isdisjoint(places_of[keys])
        }
    return score, missing


def _shares(
    one: Sought, rarity: dict[str, float]
) -> Iterable[tuple[str, float, tuple[str, ...]]]:
    """Return label, weight and keys of each term of a fact."""
    words = one.terms.words
    rarities = [rarity[word] for word in words]
    # fsum: a sum must not depend on the order of lines.
    total = math.fsum(rarities)
    shares = [rare / total for rare in rarities]
    return chain(one.heavies, zip(words, shares, words.values(), strict=True))


def _stands_in(text: str, body: str) -> bool:
    """Tell whether *body* holds *text* as it is, not as the part of a longer word."""
    place = body.find(text)
    while place >= 0:
        end = place + len(text)
        goes_on = text[-1:].isalnum() and _word_goes_on().match(body, end)
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
    size = max(_NARROW, one.clauses)
    windows = search.anywhere(size)
    full = held = 0
    for word, keys in one.terms.words.items():
        weight = int(rarity[word] * _UNIT)
        full += weight
        lanes = 0
        for place in search.places[keys]:
            lanes |= windows.holding[place]
        held += weight * lanes
    least = _SAME_WORDS * full
    whole, *weights = windows.weights(held)
    if not held or whole < least:
        return []
    own = one.terms.names.keys()
    said = [place for place, weight in enumerate(weights) if weight >= least]
    for place in said:
        if not any(names[near] - own for near in search.line_of(place, 0, size - 1)):
            return []
        near_by = chain.from_iterable(
            names[near] for near in search.line_of(place, 1, size)
        )
        if own <= set(near_by):
            return []
    return said


def _has_other_number(one: Sought, rarity: dict[str, float], search: Search) -> bool:
    """Say whether a line of the target says the fact with another number.

    One of the fact's numbers is gone, and a line with a number that no source has says
    the fact's words. A line by itself: text that is added elsewhere changes nothing.
    """
    places = search.places
    if all(places[quantity.accepts] for quantity in one.terms.quantities):
        return False
    words = one.terms.words.items()
    least = _SAME_WORDS * math.fsum(rarity[word] for word, _ in words)
    return bool(words) and any(
        math.fsum(rarity[w] for w, keys in words if not line.isdisjoint(places[keys]))
        >= least
        for line, numbers in search.spoilt_lines
        # A part of a date, said alone, is no other number.
        if any(number not in one.fact.text for number in numbers)
    )


def quantity_weight(quantity: Quantity) -> float:
    """Return what a quantity weighs: more digits are less likely there by chance."""
    weight = 1 + _DIGIT_WEIGHT * min(3, quantity.digits - 1)
    faint = quantity.accepts[0].startswith("y") or _small().fullmatch(quantity.text)
    return weight * _FAINT if faint else weight


def _labels(text: str, weights: dict[str, float]) -> tuple[str, ...]:
    """Return the terms as *text* spells them, most weighty first."""
    labels: dict[str, float] = {}
    spelled: set[str] = set()
    for token in word_pattern().findall(text):
        word = token.lower()
        for key in (word, latin_keys(word)[1]):
            if key in weights and key not in spelled:
                labels[token] = weights[key]
                spelled.add(key)
    is_chinese = chinese_run().match
    signs = {label for label in weights if len(label) == 1 and is_chinese(label)}
    if signs:
        pieces = "".join([sign if sign in signs else " " for sign in text]).split()
        for piece in pieces:
            labels[piece] = (
                weights[piece]
                if len(piece) == 1
                else math.fsum([weights[sign] for sign in set(piece)])
            )
    labels |= {
        label: weight
        for label, weight in weights.items()
        if label not in spelled and label not in signs and label[0] != "#"
    }
    return tuple(sorted(labels, key=lambda label: (-labels[label], label)))


@cache
def _word_goes_on() -> re.Pattern[str]:
    return re.compile(r"\w|[.,:]\d|%")


@cache
def _small() -> re.Pattern[str]:
    return re.compile(r"0*[123](?![\d.:]).*|周.|[A-Z][a-z]+")


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
