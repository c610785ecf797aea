"""From a decision to a state: the files and sets that its events name, still unseen."""

from msgspec.structs import replace

from scenestore import blockfile, layout
from scenestore.ledger import Ledger
from scenestore.receipts import Touched
from scenestore_engine.decide import Accepted
from scenestore_engine.diffs import unified_diff
from scenestore_engine.events import (
    DismissalsChanged,
    Event,
    SceneCreated,
    ScenesConsolidated,
    SceneUpdated,
)
from scenestore_engine.state import State


def filled_in(decision: Accepted, before: State, ledger: Ledger) -> tuple[Event, ...]:
    """Return the decision's events with their handles, and what they name staged."""
    filled: list[Event] = []
    for event in decision.events:
        match event:
            case SceneCreated() | SceneUpdated() | ScenesConsolidated():
                name = event.filename
                change = decision.members[name]
                bases = [before.live[source].members for source in change.union]
                data = blockfile.render(event.meta, decision.bodies[name])
                filled.append(
                    replace(
                        event,
                        blob=ledger.objects.put_blob(data),
                        members=ledger.sets.make(bases, change.add, change.drop),
                    )
                )
            case DismissalsChanged():
                change = decision.dismissed
                handle = ledger.sets.make([before.dismissed], change.add, change.drop)
                filled.append(replace(event, dismissed=handle))
            case _:
                filled.append(event)
    return tuple(filled)


def difference(before: State, after: State, ledger: Ledger) -> str:
    """Return what differs in the scene files of two states, as a unified diff."""
    parts: list[str] = []
    for name in sorted(before.live.keys() | after.live.keys()):
        scenes = (before.live.get(name), after.live.get(name))
        blobs = [scene.blob if scene else None for scene in scenes]
        if blobs[0] != blobs[1]:
            old, new = (
                ledger.objects.blob(blob).decode() if blob else None for blob in blobs
            )
            parts.append(unified_diff(old, new, layout.scene_path(name)))
    return "".join(parts)


def changed_scenes(before: State, after: State) -> Touched:
    """Return the live scenes that came, changed and went between two states."""
    both = before.live.keys() & after.live.keys()
    return Touched(
        created=tuple(sorted(after.live.keys() - before.live.keys())),
        updated=tuple(sorted(n for n in both if before.live[n] != after.live[n])),
        deleted=tuple(sorted(before.live.keys() - after.live.keys())),
    )
