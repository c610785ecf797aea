"""What a body must keep of what stood there before.

The measuring is `scenestore_engine.retention`'s; what follows from it stands here.

Source:
    CONTRACT section 5, "Compression".
"""

from collections.abc import Iterator, Mapping

import msgspec

from scenestore_engine.commands import Batch, BodyWrite, Consolidate, Delete, Update
from scenestore_engine.faults import Fault, FaultCode
from scenestore_engine.policy import Policy
from scenestore_engine.retention import (
    UPDATE_FLOOR,
    Kept,
    LostFact,
    Source,
    Verdict,
    judge,
    kept,
)
from scenestore_engine.rules.text import DELETED_MARK, META_LINES
from scenestore_engine.secret import kind_of_secret
from scenestore_engine.state import Known

_JUDGED_LENGTHS = 4
"""Times the limit from which a body is too long to be worth a look."""


class Measured(msgspec.Struct, frozen=True, kw_only=True):
    """What the writes of a batch keep, by the path of the write."""

    consolidations: Mapping[str, Verdict] = {}
    updates: Mapping[str, Kept] = {}
    deletes: Mapping[str, Kept] = {}


def measured(batch: Batch, known: Known, policy: Policy) -> Measured:
    """Return how much each write of *batch* keeps, as far as policy asks.

    Facts that an update or a delete drops count as kept where another body of the same
    batch has them.
    """
    limit = policy.max_body_chars * _JUDGED_LENGTHS
    bodies = [
        Source(w.command.filename, w.command.content)
        for w in batch.writes
        if isinstance(w.command, BodyWrite) and len(w.command.content) <= limit
    ]
    consolidations: dict[str, Verdict] = {}
    updates: dict[str, Kept] = {}
    deletes: dict[str, Kept] = {}
    for write in batch.writes:
        command = write.command
        if isinstance(command, Consolidate) and policy.retention != "off":
            sources = _sources(command, known)
            if sources and len(command.content) <= limit:
                consolidations[write.path] = judge(
                    sources,
                    Source(command.filename, command.content),
                    strength=policy.retention,
                    max_chars=policy.max_body_chars,
                    is_exempt=is_exempt,
                )
        elif policy.retention_update == "off" or command.filename not in known.bodies:
            continue
        elif isinstance(command, Update) and len(command.content) <= limit:
            is_same = command.content == known.bodies[command.filename]
            is_blank = not command.content.strip()  # which another rule tells
            if not is_same and not is_blank:
                updates[write.path] = _kept(command.filename, known, bodies)
        elif isinstance(command, Delete):
            deletes[write.path] = _kept(command.filename, known, bodies)
    return Measured(consolidations=consolidations, updates=updates, deletes=deletes)


def _sources(command: Consolidate, known: Known) -> list[Source]:
    names = dict.fromkeys((*command.sources, command.filename))
    return [Source(n, known.bodies[n]) for n in names if n in known.bodies]


def _kept(name: str, known: Known, bodies: list[Source]) -> Kept:
    lines = _lines(known.bodies[name])
    if lines <= frozenset[str]().union(*(_lines(body.content) for body in bodies)):
        return Kept(share=1.0, lost=())  # as it is with most updates: text was added
    return kept(Source(name, known.bodies[name]), bodies, is_exempt=is_exempt)


def _lines(body: str) -> frozenset[str]:
    return frozenset(line for line in map(str.strip, body.split("\n")) if line)


def is_exempt(line: str) -> bool:
    """Say whether *line* is one that no body may hold, so that none must keep it."""
    bare = line.strip().casefold()
    return (
        bare == DELETED_MARK or bare in META_LINES or kind_of_secret(line) is not None
    )


def facts_are_kept(
    batch: Batch, found: Measured, policy: Policy
) -> Iterator[tuple[Fault, tuple[LostFact, ...]]]:
    """Yield a fault for each write that loses too much, and the facts that it loses."""
    for write in batch.writes:
        filename, path = write.command.filename, f"{write.path}/content"
        verdict = found.consolidations.get(write.path)
        if verdict is not None and not verdict.accepted:
            yield (
                Fault(
                    code=FaultCode.FACTS_MISSING,
                    path=path,
                    filename=filename,
                    message=f"{_facts(len(verdict.lines))} of the sources "
                    f"{'is' if len(verdict.lines) == 1 else 'are'} not in the new "
                    f"body (it keeps {verdict.score:.2f}; {verdict.required:.2f} is "
                    "asked for).",
                    hint="Put back what consolidation.lines names, word for word if in "
                    "doubt, then send the batch again.",
                ),
                verdict.lines,
            )
        rest = found.updates.get(write.path)
        if rest is not None and _loses_too_much(rest, policy):
            yield (
                Fault(
                    code=FaultCode.FACTS_LOST,
                    path=path,
                    filename=filename,
                    message=f"The update keeps {rest.share:.0%} of what {filename} "
                    f"said and loses {_facts(len(rest.lost))}.",
                    hint="Put back what consolidation.lines names. To let the facts "
                    "go, say so: delete the scene, and create another.",
                ),
                rest.lost,
            )


def _loses_too_much(rest: Kept, policy: Policy) -> bool:
    if policy.retention_update == "reject":
        return bool(rest.lost)
    return policy.retention_update == "floor" and rest.share < UPDATE_FLOOR


def _facts(count: int) -> str:
    return "1 fact" if count == 1 else f"{count} facts"
