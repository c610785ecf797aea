"""What a decision may know, looked up by what the batch names and nothing else.

Source:
    CONTRACT section 5, "What a decision may know".
"""

from scenestore import layout
from scenestore.coverage import Homes
from scenestore.ledger import Ledger
from scenestore.records import Records
from scenestore_engine import rules
from scenestore_engine.commands import Batch, BodyWrite, Consolidate, Update, targets
from scenestore_engine.state import Base, Known, Membership, Scene, State


def named_scenes(batch: Batch) -> frozenset[str]:
    """Return every name that *batch* gives a role."""
    return frozenset(name for write in batch.writes for name in targets(write.command))


def known_for(
    batch: Batch,
    state: State,
    *,
    ledger: Ledger,
    records: Records,
    homes: Homes,
    base: State | None = None,
) -> Known:
    """Return all that the decision on *batch* may know.

    Args:
        batch: Parsed, right or wrong.
        state: At the parent, META opened for `named_scenes`.
        ledger: Where the parent stands.
        records: L1.
        homes: The member sets of *state*.
        base: What the caller had read; None: the batch does not say.
    """
    touched = named_scenes(batch) & state.live.keys()
    memberships = _memberships(batch, state, ledger)
    named = _named_ids(batch)
    left_out = frozenset[str]().union(*(m.lacks for m in memberships.values()))
    return Known(
        state=state,
        bodies={name: ledger.block(state.live[name].blob).body for name in touched},
        memberships=memberships,
        records=records.lookup(named | left_out),
        homes={
            record_id: tuple(_shown(path) for path in paths)
            for record_id, paths in records.homes_of(homes, batch.dismiss).items()
        },
        dismissed=ledger.sets.holds(state.dismissed, named),
        forgotten=ledger.sets.holds(state.forgotten, named),
        cursor=records.resolve(batch.cursor, state.cursor)
        if batch.cursor is not None
        else None,
        present=records.present(state.cursor).cursor,
        base=None if base is None else _base(batch, base, ledger),
    )


def _base(batch: Batch, then: State, ledger: Ledger) -> Base:
    named = named_scenes(batch) & then.live.keys()
    return Base(
        live=then.live,
        archived=then.archived,
        bodies={name: ledger.block(then.live[name].blob).body for name in named},
    )


def _named_ids(batch: Batch) -> frozenset[str]:
    commands = [w.command for w in batch.writes if isinstance(w.command, BodyWrite)]
    return batch.dismiss.union(*(rules.named_members(command) for command in commands))


def _memberships(batch: Batch, state: State, ledger: Ledger) -> dict[str, Membership]:
    """Return what the ids of each write are to the scenes that it touches.

    A name plays one role in a batch; where a wrong batch gives it two, the last one
    counts here, and the batch is refused anyway.
    """
    found: dict[str, Membership] = {}
    for write in batch.writes:
        command = write.command
        if not isinstance(command, Update | Consolidate):
            continue
        named = rules.named_members(command)
        for name in targets(command):
            scene = state.live.get(name)
            if scene is not None and (named or command.members is not None):
                found[name] = _membership(scene, command.members, named, ledger)
    return found


def _membership(
    scene: Scene, given: frozenset[str] | None, named: frozenset[str], ledger: Ledger
) -> Membership:
    if given is None:
        return Membership(has=ledger.sets.holds(scene.members, named))
    ids = ledger.sets.ids(scene.members)
    return Membership(has=ids & named, lacks=ids - given)


def _shown(path: str) -> str:
    """Return a set's path as a decision knows it: ``NAME`` or ``archive/NAME``."""
    name = path.rpartition("/")[2]
    return f"archive/{name}" if path.startswith(f"{layout.ARCHIVE}/") else name
