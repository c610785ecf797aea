"""Bodies: a heading, then days, then one fact a line.

Rule 1: a line that stands in a body stays, in its order; facts are only put between.
Rule 2: no body grows beyond its limit: of more facts than fit, the best are taken.
"""

import re
from collections.abc import Iterable, Sequence

import msgspec

MAX_FACT_CHARS = 400
"""A longer fact is cut: a scene of three long lines shows less than one of ten."""
CUT_MARK = "\u2026"
_DAY_HEADING = re.compile(r"## (\d{4}-\d\d-\d\d)")
_SENTENCE_END = re.compile("[.!?;](?= )|[\u3002\uff01\uff1f\uff1b]")


class Fact(msgspec.Struct, frozen=True, kw_only=True):
    """What a line of a body is made from."""

    text: str
    """One line that a body may hold."""
    day: str | None
    worth: float
    """What decides who stays when not all fit: the more, the better."""


def heading(title: str, limit: int) -> str:
    """Return a body that has only its heading, of at most *limit* characters."""
    return f"# {title}"[:limit].rstrip()


def title_of(body: str) -> str:
    """Return what the first line of *body* calls it."""
    return body.partition("\n")[0].lstrip("#").strip()


def facts_of(body: str) -> list[tuple[str | None, str]]:
    """Return the lines of *body* that are no headings, each with the day above it."""
    found: list[tuple[str | None, str]] = []
    day: str | None = None
    for line in body.split("\n"):
        if line.startswith("#"):
            match = _DAY_HEADING.fullmatch(line)
            day = match.group(1) if match else None
        elif line.strip():
            found.append((day, line.strip().removeprefix("- ")))
    return found


def days_of(body: str) -> list[str]:
    """Return the days that have a heading, sorted."""
    return sorted(
        match.group(1)
        for line in body.split("\n")
        if (match := _DAY_HEADING.fullmatch(line))
    )


def with_facts(body: str, facts: Sequence[Fact], limit: int) -> str:
    """Return *body* with as many of the *facts* as fit, each under its day.

    Args:
        body: Without outer blank lines.
        facts: In L1 order; what the body says already is not said again.
        limit: Characters that the answer may have.

    Stays true:
        Every line of *body* is a line of the answer, in the same order.
    """
    lines = body.split("\n")
    for fact in _that_fit(lines, facts, limit):
        _put(lines, fact)
    return "\n".join(lines)


def _that_fit(lines: Sequence[str], facts: Sequence[Fact], limit: int) -> list[Fact]:
    """Return the worthiest of *facts* that fit beside *lines*, in their own order."""
    used = sum(len(line) + 1 for line in lines) - 1
    there = {line.strip() for line in lines}
    longest = min(MAX_FACT_CHARS, max(limit // 2, 20))
    chosen: dict[int, Fact] = {}
    for index in sorted(range(len(facts)), key=lambda i: (-facts[i].worth, i)):
        fact = facts[index]
        text = _cut(fact.text, longest)
        line = f"- {text}"
        if not text or line in there:
            continue
        cost = len(line) + 1
        day_line = f"## {fact.day}" if fact.day else ""
        if day_line and day_line not in there:
            cost += len(day_line) + 1
        if used + cost <= limit:
            used += cost
            there |= {line, day_line}
            chosen[index] = msgspec.structs.replace(fact, text=text)
    return [chosen[index] for index in sorted(chosen)]


def _cut(text: str, longest: int) -> str:
    """Return *text*, or its first whole sentences, or else words, and a mark."""
    if len(text) <= longest:
        return text
    start = text[: longest - 2]
    ends = [match.end() for match in _SENTENCE_END.finditer(start)]
    end = ends[-1] if ends else 0
    if end < len(start) // 2:
        end = max(start.rfind(" "), 0)
    if end < len(start) // 2:
        end = len(start)
    return f"{start[:end].rstrip()} {CUT_MARK}"


def _put(lines: list[str], fact: Fact) -> None:
    """Put *fact* into *lines*: after the others of its day, or under a new heading."""
    line = f"- {fact.text}"
    day_lines = [i for i, text in enumerate(lines) if _DAY_HEADING.fullmatch(text)]
    if fact.day is None:
        lines.insert(day_lines[0] if day_lines else len(lines), line)
        return
    own = f"## {fact.day}"
    later = (i for i in day_lines if lines[i] > own)
    if own in lines:
        lines.insert(_end_of_list(lines, lines.index(own)), line)
    else:
        at = next(later, len(lines))
        lines[at:at] = [own, line]


def _end_of_list(lines: Sequence[str], start: int) -> int:
    """Return where the list under the heading at *start* ends."""
    end = start + 1
    for index in range(start + 1, len(lines)):
        if lines[index].startswith("#"):
            break
        if lines[index].startswith("- "):
            end = index + 1
    return end


def is_plain(body: str) -> bool:
    """Say whether *body* has only a heading, days and facts, as this module writes."""
    first, *rest = body.split("\n")
    return first.startswith("# ") and all(
        line.startswith("- ") or _DAY_HEADING.fullmatch(line) for line in rest
    )


def joined(title: str, bodies: Iterable[str], limit: int) -> str:
    """Return one body with every fact of several plain *bodies*."""
    facts = [
        Fact(text=text, day=day, worth=0.0)
        for body in bodies
        for day, text in facts_of(body)
    ]
    lines = heading(title, limit).split("\n")
    for fact in facts:
        if f"- {fact.text}" not in lines:
            _put(lines, fact)
    return "\n".join(lines)
