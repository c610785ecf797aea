"""What may come in from outside: whole scenes, by import.

An import may bring more scenes than there is room for and longer bodies than a batch
may write, since what is there is there; it may not bring what could not be kept.

Source:
    CONTRACT section 5, as far as it says what a scene is.
"""

from collections.abc import Iterator, Mapping

import msgspec

from scenestore_engine import rules
from scenestore_engine.faults import Fault, FaultCode
from scenestore_engine.names import folded
from scenestore_engine.policy import Policy
from scenestore_engine.secret import kind_of_secret
from scenestore_engine.state import Known, Meta, State


class ImportedScene(msgspec.Struct, frozen=True, kw_only=True):
    """A scene as it comes in."""

    path: str
    """Where the request says it: a JSON Pointer."""
    filename: str
    archived: bool
    meta: Meta
    body: str
    members: frozenset[str] | None
    """None: nobody knows; the scene is marked so."""


class Import(msgspec.Struct, frozen=True, kw_only=True):
    """All that comes in at once."""

    scenes: tuple[ImportedScene, ...] = ()
    cursor: str | None = None
    faults: tuple[Fault, ...] = ()
    """What its form alone shows to be wrong."""


def refusals(request: Import, known: Known, policy: Policy) -> Iterator[Fault]:
    """Yield every reason why *request* cannot come in.

    Args:
        request: What is to come in.
        known: The state it comes into, and where its cursor stands in L1.
        policy: The host's limits.
    """
    yield from request.faults
    taken = _taken(known.state)
    for scene in request.scenes:
        yield from rules.filename_is_good(scene.path, scene.filename)
        key = (scene.archived, folded(scene.filename))
        if key in taken:
            yield Fault(
                code=FaultCode.SCENE_EXISTS,
                path=scene.path,
                filename=scene.filename,
                message=f"{taken[key]} is there already.",
                hint="Import it under another name.",
            )
        taken[key] = scene.filename
        yield from _text_faults(scene, policy)
        yield from rules.ids_are_good(f"{scene.path}/members", scene.members or ())
        purged = (scene.members or frozenset()) & known.forgotten
        if purged:
            yield Fault(
                code=FaultCode.FORGOTTEN_MEMBER,
                path=f"{scene.path}/members",
                filename=scene.filename,
                message=f"{len(purged)} of the ids belong to forgotten records.",
                hint="Leave them out, and what they said.",
            )
    if request.cursor is not None and known.cursor is None:
        yield Fault(
            code=FaultCode.UNKNOWN_CURSOR,
            path="/cursor",
            message=f"No record in L1 is called {request.cursor[:140]!a}.",
            hint="Leave the cursor out, or name a record that L1 has.",
        )


def _taken(state: State) -> dict[tuple[bool, str], str]:
    groups: tuple[tuple[bool, Mapping[str, object]], ...] = (
        (False, state.live),
        (True, state.archived),
    )
    return {
        (archived, folded(name)): name for archived, names in groups for name in names
    }


def _text_faults(scene: ImportedScene, policy: Policy) -> Iterator[Fault]:
    complaint = rules.line_complaint(scene.meta.summary)
    if complaint is not None:
        yield Fault(
            code=FaultCode.BAD_SUMMARY,
            path=f"{scene.path}/meta/summary",
            filename=scene.filename,
            message=f"The summary {complaint}.",
            hint="Give one line.",
        )
    lines = [line.strip().casefold() for line in scene.body.split("\n")]
    if not scene.body.strip():
        yield Fault(
            code=FaultCode.BODY_BLANK,
            path=f"{scene.path}/content",
            filename=scene.filename,
            message="The content is blank.",
            hint="Leave the scene out.",
        )
    if rules.META_LINES.intersection(lines):
        yield Fault(
            code=FaultCode.BODY_HAS_META,
            path=f"{scene.path}/content",
            filename=scene.filename,
            message="The content holds a line of a META header.",
            hint="Give the body alone, and the header as meta.",
        )
    texts = (scene.filename, scene.body, scene.meta.summary, *scene.meta.extra)
    kind = next(filter(None, map(kind_of_secret, texts)), None)
    if kind is not None and policy.secrets == "reject":
        yield Fault(
            code=FaultCode.SECRET,
            path=f"{scene.path}/content",
            filename=scene.filename,
            message=f"The text holds {kind}; history would keep it for ever.",
            hint="Leave it out, and say where it is kept instead.",
        )
