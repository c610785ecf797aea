"""Reading scenes, as an agent asks for them: bounded, and served from a commit.

Source:
    CONTRACT section 3.
"""

from collections.abc import Sequence

import msgspec

from scenestore.errors import Refusal
from scenestore.ledger import Ledger, Revision
from scenestore.revisions import resolve
from scenestore_engine.faults import Fault, FaultCode
from scenestore_engine.rules import filename_is_good
from scenestore_engine.state import Scene

MAX_BLOCK_CHARS = 24_000
MAX_TOTAL_CHARS = 96_000
MAX_MEMBERS = 2_000


class BlockMeta(msgspec.Struct, frozen=True, kw_only=True):
    """The header of a scene as it is answered."""

    created: str
    updated: str
    summary: str
    heat: int
    extra: tuple[str, ...] = ()


class SceneBlock(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """One scene, cut where it would be too long."""

    filename: str
    archived: bool
    meta: BlockMeta
    member_count: int
    members: tuple[str, ...]
    members_truncated: bool
    content: str
    chars: int
    """Of the whole body."""
    truncated: bool


class SceneBlocks(msgspec.Struct, frozen=True, kw_only=True):
    """The scenes asked for, in that order, and the names that brought none."""

    revision: str
    blocks: tuple[SceneBlock, ...]
    omitted: tuple[str, ...]
    """Left out because the answer was full."""
    missing: tuple[str, ...]
    """Neither live nor archived at that revision."""


def read_scenes(
    ledger: Ledger,
    head: Revision,
    filenames: Sequence[str],
    revision: str | None = None,
) -> SceneBlocks | Refusal:
    """Return the scenes called *filenames*.

    Args:
        ledger: Whose scenes.
        head: The newest own revision.
        filenames: Live ones before archived ones of the same name; asked twice, sent
            once.
        revision: Any earlier state, as `revisions.resolve` takes it; None: the newest.
    """
    faults = list(_faults(filenames))
    found = head if revision is None else resolve(ledger, revision)
    if isinstance(found, Fault):
        faults.append(found)
    if faults or isinstance(found, Fault):
        return Refusal(errors=tuple(faults))
    state = ledger.state(found.tree, filenames)
    blocks: list[SceneBlock] = []
    omitted: list[str] = []
    missing: list[str] = []
    total_chars = 0
    for name in dict.fromkeys(filenames):
        scene = state.live.get(name) or state.archived.get(name)
        if scene is None:
            missing.append(name)
        elif total_chars >= MAX_TOTAL_CHARS:
            omitted.append(name)
        else:
            is_archived = name not in state.live
            block = _block(ledger, name, scene, archived=is_archived)
            room = MAX_TOTAL_CHARS - total_chars
            if len(block.content) > room:
                block = msgspec.structs.replace(
                    block, content=block.content[:room], truncated=True
                )
            blocks.append(block)
            total_chars += len(block.content)
    return SceneBlocks(
        revision=found.id,
        blocks=tuple(blocks),
        omitted=tuple(omitted),
        missing=tuple(missing),
    )


def wrong_types(filenames: object, revision: object) -> tuple[Fault, ...]:
    """Return a fault for each argument of `read_scenes` that is of another type."""
    is_list = isinstance(filenames, list | tuple) and all(
        isinstance(name, str) for name in msgspec.convert(filenames, list[object])
    )
    wrong = [] if is_list else [("/filenames", "an array of texts")]
    if not isinstance(revision, str | None):
        wrong.append(("/revision", "a text"))
    return tuple(
        Fault(
            code=FaultCode.WRONG_TYPE,
            path=path,
            message=f"{path[1:]} must be {wanted}.",
        )
        for path, wanted in wrong
    )


def _faults(filenames: Sequence[str]) -> list[Fault]:
    if not filenames:
        return [
            Fault(
                code=FaultCode.BAD_ARGUMENT,
                path="/filenames",
                message="filenames is empty.",
                hint="Name one scene or more.",
            )
        ]
    return [
        fault
        for index, name in enumerate(filenames)
        for fault in filename_is_good(f"/filenames/{index}", name)
    ]


def _block(ledger: Ledger, name: str, scene: Scene, *, archived: bool) -> SceneBlock:
    block = ledger.block(scene.blob)
    ids = sorted(ledger.sets.ids(scene.members))
    return SceneBlock(
        filename=name,
        archived=archived,
        meta=BlockMeta(
            created=block.meta.created,
            updated=block.meta.updated,
            summary=block.meta.summary,
            heat=block.meta.heat,
            extra=block.meta.extra,
        ),
        member_count=len(ids),
        members=tuple(ids[:MAX_MEMBERS]),
        members_truncated=len(ids) > MAX_MEMBERS,
        content=block.body[:MAX_BLOCK_CHARS],
        chars=len(block.body),
        truncated=len(block.body) > MAX_BLOCK_CHARS,
    )
