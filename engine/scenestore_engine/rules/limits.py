"""How much a batch may do, and how many scenes there may be.

Source:
    CONTRACT section 5, "Batch rules".
"""

from collections.abc import Iterator

from scenestore_engine.commands import (
    Archive,
    Batch,
    Consolidate,
    Create,
    Delete,
    Restore,
    Update,
)
from scenestore_engine.faults import Fault, FaultCode
from scenestore_engine.policy import (
    Policy,
)
from scenestore_engine.state import (
    State,
)


def counts_fit(batch: Batch, policy: Policy) -> Iterator[Fault]:
    """Yield a fault for each kind of write that the batch has too many of."""
    limits = (
        (Create, "create", FaultCode.TOO_MANY_CREATES, policy.max_creates_per_batch),
        (
            Archive,
            "archive",
            FaultCode.TOO_MANY_ARCHIVES,
            policy.max_archives_per_batch,
        ),
        (Delete, "delete", FaultCode.TOO_MANY_DELETES, policy.max_deletes_per_batch),
    )
    for kind, word, code, limit in limits:
        ours = [write for write in batch.writes if isinstance(write.command, kind)]
        if len(ours) > limit:
            yield Fault(
                code=code,
                path=ours[limit].path,
                filename=ours[limit].command.filename,
                message=f"{len(ours)} writes {word} a scene; "
                f"a batch may hold {limit} of that kind.",
                hint=f"Send the other {word} in a batch of its own.",
            )


def shelf_has_room(batch: Batch, state: State, policy: Policy) -> Iterator[Fault]:
    """Yield a fault if a batch that adds scenes leaves more than there is room for."""
    adds = [w for w in batch.writes if isinstance(w.command, Create | Restore)]
    live_after = len(names_after(batch, state))
    if adds and live_after > policy.max_scenes:
        yield Fault(
            code=FaultCode.NO_ROOM,
            path=f"{adds[0].path}/filename",
            filename=adds[0].command.filename,
            message=f"The batch would leave {live_after} live scenes; "
            f"maxScenes is {policy.max_scenes}.",
            hint="Consolidate, archive or delete scenes in the same batch, "
            "or update one that is there.",
        )


def names_after(batch: Batch, state: State) -> frozenset[str]:
    """Return the names of the scenes that are live if *batch* is accepted."""
    gone: set[str] = set()
    come: set[str] = set()
    for write in batch.writes:
        match write.command:
            case Consolidate(filename=filename, sources=sources):
                gone.update(sources)
                come.add(filename)
            case Delete(filename=filename) | Archive(filename=filename):
                gone.add(filename)
            case Create(filename=filename):
                come.add(filename)
            case Restore(filename=filename, restore_as=restore_as):
                come.add(restore_as or filename)
            case Update():
                pass
    return frozenset((state.live.keys() - gone) | come)
