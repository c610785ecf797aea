"""Texts as weighted terms, and how alike two of them are.

Every sum runs in the order of the text, so that it is the same in every process.
"""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

import msgspec

from scenestore.organise.terms import terms

Vector = dict[str, float]

_COMMON_SHARE = 0.2
"""A term in more of the texts than this is a name or a habit: it counts half."""


class Space(msgspec.Struct, frozen=True, kw_only=True):
    """How rare each term is among some texts."""

    texts: int
    counts: Mapping[str, int]
    """In how many of the texts a term stands."""

    def rarity(self, term: str) -> float:
        """Return how much a term tells: 0 or more, the rarer the more."""
        return math.log((1 + self.texts) / self.counts.get(term, 1))

    def vector(self, text: str) -> Vector:
        """Return *text* as a vector of length 1; empty if it has no terms."""
        weights: Vector = {}
        for term, times in Counter(terms(text)).items():
            weight = (1 + math.log(times)) * self.rarity(term)
            is_common = self.counts.get(term, 0) > self.texts * _COMMON_SHARE
            weights[term] = weight * (0.5 if is_common else 1.0)
        return unit(weights)

    def density(self, text: str) -> float:
        """Return how much *text* tells for the room that it takes."""
        told = sum(self.rarity(term) for term in dict.fromkeys(terms(text)))
        return told / (len(text) + 4)


def space_of(texts: Iterable[str]) -> Space:
    """Return how rare each term is among *texts*."""
    counts: Counter[str] = Counter()
    total = 0
    for text in texts:
        total += 1
        counts.update(dict.fromkeys(terms(text), 1))
    return Space(texts=total, counts=counts)


def unit(vector: Vector) -> Vector:
    """Return *vector* with the length 1; one without length stays as it is."""
    length = math.sqrt(sum(x * x for x in vector.values()))
    return {t: x / length for t, x in vector.items()} if length else vector


def added(vectors: Iterable[Vector]) -> Vector:
    """Return the sum of *vectors*."""
    total: Vector = {}
    for vector in vectors:
        grow(total, vector)
    return total


def grow(total: Vector, more: Vector, share: float = 1.0) -> None:
    """Add a *share* of *more* to *total*, in place."""
    for term, x in more.items():
        total[term] = total.get(term, 0.0) + share * x


def alike(one: Vector, other: Vector) -> float:
    """Return the dot product."""
    if len(one) > len(other):
        one, other = other, one
    return sum(x * other[term] for term, x in one.items() if term in other)


def products(vectors: Sequence[Vector]) -> list[list[float]]:
    """Return the dot product of each pair."""
    table = [[0.0] * len(vectors) for _ in vectors]
    posted: dict[str, list[tuple[int, float]]] = {}
    for i, vector in enumerate(vectors):
        row = table[i]
        for term, x in vector.items():
            posts = posted.setdefault(term, [])
            for j, y in posts:
                row[j] += x * y
            posts.append((i, x))
    for i, row in enumerate(table):
        for j in range(i):
            table[j][i] = row[j]
    return table
