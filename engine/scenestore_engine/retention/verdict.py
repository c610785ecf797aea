"""Whether a new body may stand in place of its sources, and what it lost.

The rule in one breath: each fact of the sources is looked for in the target, as a
whole and within a few neighbouring clauses, and the worst facts decide. `retention.md`
has it in full.

Stays true:
    Adding lines of the sources to the target never lowers the score. A target that
    holds every source line passes, an empty one never does. The order of lines and of
    sources does not matter. No clock, no disk, no model.
"""

import math
import re
from collections.abc import Callable, Iterable, Sequence
from typing import Final, Literal, TypeAlias

import msgspec

from scenestore_engine.retention.search import Finding, find

ALGORITHM: Final = "retention-1"
"""Stands in each revision; changes when any body could get another score."""
Strength: TypeAlias = Literal["strict", "standard", "off"]
REQUIRED: Final[dict[Strength, float]] = {"strict": 0.46, "standard": 0.4, "off": 0.0}
"""Score from which a target is accepted. Source: the table in `retention.md`."""
FOUND: Final = 0.58
"""Score from which one fact counts as found. Source: the same table."""
UPDATE_FLOOR: Final = 0.25
"""Share of the old facts that an update must keep. Source: CONTRACT section 5."""

_DECAY: Final = 0.5
"""The worst fact counts half, the next a quarter, and so on."""
_LEAST: Final = 0.02
"""What a fact counts at least: a logarithm of nothing would hide all the others."""
_CORE: Final = 0.35
"""Part of a full body that the weightiest facts fill, however long the sources are."""
_HELD: Final = 0.85
"""Share of the weight of the best selection of source lines that a body must hold."""
_UNRELATED: Final = 0.3
"""What a fact scores in a text that does not hold it."""


class Source(msgspec.Struct, frozen=True):
    """A scene's name and body, without META."""

    filename: str
    content: str


class LostFact(msgspec.Struct, frozen=True, kw_only=True):
    """A fact of a source that the new body does not hold."""

    filename: str
    """The target's filename."""
    source: str
    """The source's filename."""
    line: int
    """The line of the source's body; the first is 1."""
    text: str
    missing: tuple[str, ...]
    """Its terms that are not found near the rest of it, most weighty first."""
    weight: float


class Verdict(msgspec.Struct, frozen=True, kw_only=True):
    """What `judge` found."""

    score: float
    required: float
    accepted: bool
    lines: tuple[LostFact, ...]
    """Facts that are not found, most weighty first; accepted targets may have some."""
    dropped: tuple[LostFact, ...]
    """Facts that are not found and may go, because the sources do not fit."""
    new_numbers: tuple[str, ...]
    """Numbers of the target that no source has."""
    algorithm: str


class Kept(msgspec.Struct, frozen=True, kw_only=True):
    """How much of an old body the new ones keep."""

    share: float
    """Weight of the facts that are found, of the weight of all; 1 if there are none."""
    lost: tuple[LostFact, ...]


def judge(
    sources: Sequence[Source],
    target: Source,
    *,
    strength: Strength = "standard",
    max_chars: int = 1500,
    is_exempt: Callable[[str], bool] | None = None,
) -> Verdict:
    """Return whether *target* may stand in place of *sources*.

    Args:
        sources: The scenes that go, and the live one that *target* replaces.
        target: The new body.
        strength: "off" measures, and accepts everything.
        max_chars: How long a body may be; facts may go where the sources exceed it.
        is_exempt: Tells of a source's line that no body may hold it.
    """
    found, new_numbers = find(
        [(source.filename, source.content) for source in sources],
        target.content,
        max_chars=max_chars,
        is_exempt=is_exempt,
    )
    asked, share_held = _asked(found, max_chars)
    score = _score([found[place].score for place in asked]) * share_held**3
    if re.search(r"\w", target.content) is None:
        score = 0.0
    lost = [one for one in found if one.score < FOUND]
    needed = {id(found[place]) for place in asked}
    if share_held < 1:
        # Whatever is lost would help, so the weightiest come first.
        needed |= {id(one) for one in lost}
    required = REQUIRED[strength]
    return Verdict(
        score=round(score, 4),
        required=required,
        accepted=strength == "off" or round(score, 4) >= required,
        lines=_named((one for one in lost if id(one) in needed), target.filename),
        dropped=_named((one for one in lost if id(one) not in needed), target.filename),
        new_numbers=new_numbers,
        algorithm=ALGORITHM,
    )


def kept(
    old: Source,
    new: Sequence[Source],
    *,
    is_exempt: Callable[[str], bool] | None = None,
) -> Kept:
    """Return how much of *old* stands in *new*.

    For an update *new* is its new body, for a delete the bodies that stay. An update
    whose share is below `UPDATE_FLOOR` drops a scene's facts without saying so.
    """
    body = "\n".join(source.content for source in new)
    found, _ = find(
        [(old.filename, old.content)],
        body,
        max_chars=max(len(body), 1),
        is_exempt=is_exempt,
    )
    whole = math.fsum(one.weight for one in found)
    share = math.fsum(one.weight for one in found if one.score >= FOUND)
    return Kept(
        share=share / whole if whole else 1.0,
        lost=_named((one for one in found if one.score < FOUND), old.filename),
    )


def _asked(found: Sequence[Finding], max_chars: int) -> tuple[list[int], float]:
    """Return the places of the facts that may not go, and how much is held in all.

    The second is 1 unless the sources are too long and the body holds less weight than
    a plain selection of their lines would. The first depends on the sources alone, the
    second grows with what is found: more text never makes a target worse.
    """
    chars = sum(len(one.fact.text) + 1 for one in found)
    if chars <= max_chars:
        return list(range(len(found))), 1.0
    # At the limit all facts are asked for; the further beyond it, the fewer.
    room = max_chars * max(_CORE, 2 - chars / max_chars)
    weightiest = sorted(
        range(len(found)),
        key=lambda place: (-_rank(found[place]), found[place].fact.text),
    )
    asked: list[int] = []
    for place in weightiest:
        room -= len(found[place].fact.text) + 1
        if room < 0:
            break
        asked.append(place)
    best = _best_selection(found, max_chars)
    held = math.fsum(
        one.weight * min(1.0, max(0.0, one.score - _UNRELATED) / (FOUND - _UNRELATED))
        for one in found
    )
    return asked, min(1.0, held / (_HELD * best)) if best else 1.0


def _rank(one: Finding) -> float:
    """Return how early a fact is asked for: weight, lowered for many words."""
    return one.weight / math.sqrt(len(one.fact.text.encode(errors="replace")))


def _best_selection(found: Sequence[Finding], max_chars: int) -> float:
    """Return the weight of the source lines that fit, densest first."""
    room, weight = max_chars, 0.0
    dense = sorted(
        (-one.weight / (len(one.fact.text) + 1), len(one.fact.text) + 1)
        for one in found
    )
    for density, chars in dense:
        taken = min(chars, room)
        weight -= density * taken
        room -= taken
    return weight


def _score(scores: Sequence[float]) -> float:
    """Return the geometric mean of *scores* in which the worst weighs half, and so on.

    Geometric, so that one fact that is gone counts for more than three reworded ones.
    """
    weights = [_DECAY**place for place in range(len(scores))]
    logs = math.fsum(
        weight * math.log(max(score, _LEAST))
        for score, weight in zip(sorted(scores), weights, strict=True)
    )
    return math.exp(logs / math.fsum(weights)) if weights else 1.0


def _named(lost: Iterable[Finding], filename: str) -> tuple[LostFact, ...]:
    facts = [
        LostFact(
            filename=filename,
            source=one.filename,
            line=one.fact.line,
            text=one.fact.text,
            missing=one.labels(),
            weight=round(one.weight, 3),
        )
        for one in lost
    ]
    return tuple(
        sorted(facts, key=lambda one: (-one.weight, one.source, one.line, one.text))
    )
