"""From a decision to a state: the files and sets that its events name, still unseen."""

import difflib
from collections.abc import Mapping

from msgspec.structs import replace

from scenestore import blockfile, layout
from scenestore.ledger import Ledger
from scenestore_engine.decide import Accepted
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


def unified_diff(before: State, after: State, ledger: Ledger) -> str:
    """Return what differs in the scene files of two states."""
    parts: list[str] = []
    for name in sorted(before.live.keys() | after.live.keys()):
        scenes = (before.live.get(name), after.live.get(name))
        blobs = [scene.blob if scene else None for scene in scenes]
        if blobs[0] == blobs[1]:
            continue
        texts = [
            ledger.objects.blob(blob).decode().splitlines(keepends=True) if blob else []
            for blob in blobs
        ]
        labels = [
            f"{side}/{layout.scene_path(name)}" if blob else "/dev/null"
            for side, blob in zip("ab", blobs, strict=True)
        ]
        parts += difflib.unified_diff(*texts, *labels)
    return "".join(parts)


def changed_scenes(before: State, after: State) -> Mapping[str, tuple[str, ...]]:
    """Return the live scenes that came, changed and went between two states."""
    return {
        "created": tuple(sorted(after.live.keys() - before.live.keys())),
        "updated": tuple(
            sorted(
                name
                for name in before.live.keys() & after.live.keys()
                if before.live[name].blob != after.live[name].blob
                or before.live[name].members != after.live[name].members
            )
        ),
        "deleted": tuple(sorted(before.live.keys() - after.live.keys())),
    }
