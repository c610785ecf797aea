"""The batches: what a plan asks for, in requests that every rule accepts.

Source:
    CONTRACT section 5.
"""

from collections.abc import Iterable, Sequence

import msgspec

from scenestore.organise.bodies import Fact, heading, joined, with_facts
from scenestore.organise.naming import UNNAMED, filename_for, summary_of
from scenestore.organise.planning import Joining, Placed, Portion
from scenestore.organise.shelf import Shelf
from scenestore_engine.names import folded
from scenestore_engine.policy import MAX_NEW_IDS, MAX_WRITES, Policy

MAX_OWN_CHARS = 10_000
"""A body that the organiser makes is no longer, whatever the policy allows: 64 of them
must fit into one request."""

Request = dict[str, object]


class Writes(msgspec.Struct, frozen=True, kw_only=True):
    """The writes of one batch, each with what it is for."""

    requests: tuple[Request, ...]
    portions: dict[str, Portion]
    """By the filename that each is written to."""


def next_portions(
    portions: Sequence[Portion], policy: Policy
) -> tuple[list[Portion], list[Portion]]:
    """Return what one batch may hold of *portions*, and the rest."""
    batch: list[Portion] = []
    rest: list[Portion] = []
    creates, ids = 0, 0
    for portion in portions:
        is_new = portion.filename is None
        creates_then = creates + is_new
        ids_then = ids + len(portion.placed)
        if (
            len(batch) < MAX_WRITES
            and creates_then <= policy.max_creates_per_batch
            and ids_then <= MAX_NEW_IDS
        ):
            batch.append(portion)
            creates, ids = creates_then, ids_then
        else:
            rest.append(portion)
    return batch, rest


def writes_for(
    portions: Iterable[Portion], shelf: Shelf, policy: Policy, refused: Iterable[str]
) -> Writes:
    """Return the writes that give each of *portions* to its scene.

    Args:
        portions: As many as one batch may hold; the scenes they name are open.
        shelf: As it is now.
        policy: How long a body may be.
        refused: Filenames that another hand has taken.
    """
    limit = min(policy.max_body_chars, MAX_OWN_CHARS)
    taken = {*shelf.taken, *map(folded, refused)}
    requests: list[Request] = []
    named: dict[str, Portion] = {}
    for portion in portions:
        ids = sorted(placed.record.record_id for placed in portion.placed)
        facts = [_fact(placed) for placed in portion.placed]
        if portion.filename is None:
            filename = filename_for(portion.title, taken)
            taken.add(folded(filename))
            body = with_facts(heading(portion.title, limit), facts, limit)
            request: Request = {
                "action": "create",
                "meta": {"summary": summary_of(body)},
                "members": ids,
            }
        else:
            filename = portion.filename
            scene = shelf.scenes[filename]
            body = with_facts(scene.body, facts, limit)
            request = {"action": "update", "addMembers": ids}
            if scene.is_ours:
                request["meta"] = {"summary": summary_of(body)}
        requests.append({**request, "filename": filename, "content": body})
        named[filename] = portion
    return Writes(requests=tuple(requests), portions=named)


def joining_requests(
    joinings: Iterable[Joining], shelf: Shelf, policy: Policy, refused: Iterable[str]
) -> list[Request]:
    """Return the writes that make scenes one: every line of each is kept."""
    taken = {*shelf.taken, *map(folded, refused)}
    requests: list[Request] = []
    for joining in joinings:
        filename = filename_for(joining.title or UNNAMED, taken)
        taken.add(folded(filename))
        body = joined(
            joining.title,
            [shelf.scenes[name].body for name in joining.sources],
            policy.max_body_chars,
        )
        if len(body) <= policy.max_body_chars:
            requests.append(
                {
                    "action": "consolidate",
                    "filename": filename,
                    "sources": list(joining.sources),
                    "content": body,
                    "meta": {"summary": summary_of(body)},
                    "reason": "the shelf is full",
                }
            )
    return requests[:MAX_WRITES]


def _fact(placed: Placed) -> Fact:
    record = placed.record
    return Fact(text=record.fact, day=record.day, worth=placed.worth)
