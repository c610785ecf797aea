"""State after an event. Total: a fact is never refused here."""

from collections.abc import Iterable, Mapping
from typing import assert_never

from msgspec.structs import replace

from scenestore_engine.events import (
    CursorMoved,
    DismissalsChanged,
    Event,
    Handles,
    PersonaRequested,
    SceneArchived,
    SceneCreated,
    SceneDeleted,
    SceneRestored,
    ScenesConsolidated,
    SceneUpdated,
    StateImported,
    StoreBegun,
    StoreRolledBack,
)
from scenestore_engine.state import EMPTY, PersonaRequest, Scene, State

Opened = Mapping[Handles, State]
"""States that events name by their handles: an argument, since reading is I/O."""
NOTHING_OPENED: Opened = {}


def evolve(  # noqa: C901, PLR0912 - one case an event
    state: State, event: Event, opened: Opened = NOTHING_OPENED
) -> State:
    """Return the state after *event*.

    Args:
        state: Before the event.
        event: With its handles filled in.
        opened: The states that an import or a rollback names; empty for all others.
    """
    match event:
        case StoreBegun():
            return state
        case SceneCreated():
            scene = Scene(
                blob=event.blob,
                members=event.members,
                first_seen=event.first_seen,
                meta=event.meta,
            )
            return _with_live(state, event.filename, scene)
        case SceneUpdated():
            scene = replace(
                state.live[event.filename],
                blob=event.blob,
                members=event.members,
                members_unknown=event.members_unknown,
                meta=event.meta,
            )
            return _with_live(state, event.filename, scene)
        case ScenesConsolidated():
            scene = Scene(
                blob=event.blob,
                members=event.members,
                first_seen=event.first_seen,
                members_unknown=event.members_unknown,
                meta=event.meta,
            )
            left = _without(state.live, event.sources)
            return replace(state, live={**left, event.filename: scene})
        case SceneDeleted():
            return replace(state, live=_without(state.live, (event.filename,)))
        case SceneArchived():
            scene = state.live[event.filename]
            return replace(
                state,
                live=_without(state.live, (event.filename,)),
                archived={**state.archived, event.filename: scene},
            )
        case SceneRestored():
            scene = state.archived[event.filename]
            return replace(
                state,
                live={**state.live, event.restored_as: scene},
                archived=_without(state.archived, (event.filename,)),
            )
        case DismissalsChanged():
            return replace(state, dismissed=event.dismissed)
        case CursorMoved():
            return replace(state, cursor=event.to)
        case PersonaRequested():
            request = PersonaRequest(reason=event.reason, at=event.at)
            return replace(state, persona=(*state.persona, request))
        case StateImported():
            now = opened[event.state]
            return replace(
                state,
                live=now.live,
                archived=now.archived,
                dismissed=now.dismissed,
                cursor=event.cursor,
            )
        case StoreRolledBack():
            then = opened[event.state]
            return replace(
                state,
                live=then.live,
                archived=then.archived,
                dismissed=then.dismissed,
                cursor=event.cursor,
            )
        case _:
            assert_never(event)


def fold(
    events: Iterable[Event], state: State = EMPTY, opened: Opened = NOTHING_OPENED
) -> State:
    """Return the state after all *events*, oldest first."""
    for event in events:
        state = evolve(state, event, opened)
    return state


def _with_live(state: State, filename: str, scene: Scene) -> State:
    return replace(state, live={**state.live, filename: scene})


def _without(
    scenes: Mapping[str, Scene], filenames: tuple[str, ...]
) -> dict[str, Scene]:
    return {name: scene for name, scene in scenes.items() if name not in filenames}
