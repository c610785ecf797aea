"""The scenes that are there, as the organiser may use them.

Every scene is read anew before it is written, so that what others wrote in between is
built upon and never lost.
"""

from collections.abc import Container, Iterable, Mapping

import msgspec

from scenestore.blocks import SceneBlock
from scenestore.errors import Refusal
from scenestore.homes import StateHomes
from scenestore.layout import members_path
from scenestore.organise.bodies import is_plain
from scenestore.organise.naming import summary_of
from scenestore.organise.refusing import refused
from scenestore.store import Store
from scenestore_engine.commands import Update
from scenestore_engine.names import folded
from scenestore_engine.policy import Policy
from scenestore_engine.rules import body_is_good
from scenestore_engine.secret import kind_of_secret


class OpenScene(msgspec.Struct, frozen=True, kw_only=True):
    """A live scene that records can be given to."""

    filename: str
    body: str
    updated: str
    is_ours: bool
    """Whether the organiser wrote it, and nobody has changed it since."""


class Shelf(msgspec.Struct, frozen=True, kw_only=True):
    """The shelf at one revision."""

    revision: str
    live: int
    """All live scenes, those that are not open counted."""
    scenes: Mapping[str, OpenScene]
    """By filename; in the order of their names."""
    taken: frozenset[str]
    """Folded names of all scenes, live and archived."""


def shelf_of(store: Store, policy: Policy, closed: Container[str]) -> Shelf:
    """Return the shelf as it is now.

    Args:
        store: Whose.
        policy: What a body must obey to be written again.
        closed: Filenames that are left alone.
    """
    head = store.head()
    state = store.state(head)
    scenes = {
        block.filename: OpenScene(
            filename=block.filename,
            body=block.content,
            updated=block.meta.updated,
            is_ours=is_plain(block.content)
            and summary_of(block.content) == block.meta.summary,
        )
        for block in _blocks(store, sorted(state.live), head.id)
        if block.filename not in closed and _can_be_written(block, policy)
    }
    return Shelf(
        revision=head.id,
        live=len(state.live),
        scenes=scenes,
        taken=frozenset(map(folded, (*state.live, *state.archived))),
    )


def homes(
    store: Store, ids: Iterable[str]
) -> tuple[dict[str, tuple[str, ...]], frozenset[str]]:
    """Return the live scenes that hold each of *ids*, and the ids that are elsewhere.

    Elsewhere is in the archive only, or dismissed. An id that is nowhere is in neither.
    """
    asked = tuple(ids)
    state = store.state()
    sets = store.ledger.sets
    held = store.records.homes_of(StateHomes(state, sets), asked)
    live = {members_path(name): name for name in state.live}
    found = {
        record_id: tuple(live[path] for path in paths if path in live)
        for record_id, paths in held.items()
    }
    elsewhere = {record_id for record_id, names in found.items() if not names}
    elsewhere |= sets.holds(state.dismissed, asked)
    return {i: names for i, names in found.items() if names}, frozenset(elsewhere)


def _blocks(store: Store, names: list[str], revision: str) -> list[SceneBlock]:
    blocks: list[SceneBlock] = []
    while names:
        answer = store.read_scene_blocks(names, revision)
        if isinstance(answer, Refusal):
            raise refused(answer.errors)
        blocks += (block for block in answer.blocks if not block.archived)
        # The last block of a full answer is cut: it is asked for again.
        names = [
            *(b.filename for b in answer.blocks[1:] if b.truncated),
            *answer.omitted,
        ]
    return blocks


def _can_be_written(block: SceneBlock, policy: Policy) -> bool:
    again = Update(filename=block.filename, content=block.content)
    is_secret = policy.secrets == "reject" and kind_of_secret(block.content)
    return not (block.truncated or is_secret or any(body_is_good("", again, policy)))
