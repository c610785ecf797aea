"""What may be called what, and which scene is meant.

Source:
    CONTRACT section 5, "Filenames" and the table of actions.
"""

import difflib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

from scenestore_engine import names
from scenestore_engine.commands import (
    Archive,
    Command,
    Consolidate,
    Restore,
    Write,
    targets,
)
from scenestore_engine.faults import Fault, FaultCode
from scenestore_engine.names import folded
from scenestore_engine.policy import (
    Policy,
)
from scenestore_engine.state import (
    Scene,
    State,
)
from scenestore_engine.times import DAY_MS, ms

_SEVERAL = 2
"""Sources that a consolidation takes at least."""


def filenames_are_good(path: str, command: Command) -> Iterator[Fault]:
    """Yield a fault for each name in *command* that cannot name a scene."""
    yield from filename_is_good(f"{path}/filename", command.filename)
    if isinstance(command, Consolidate):
        for index, source in enumerate(command.sources):
            yield from filename_is_good(f"{path}/sources/{index}", source)
    if isinstance(command, Restore) and command.restore_as is not None:
        yield from filename_is_good(f"{path}/as", command.restore_as)


def filename_is_good(path: str, filename: str) -> Iterator[Fault]:
    """Yield a fault if *filename* cannot name a scene, with one that could."""
    reasons = list(names.complaints(filename))
    if reasons:
        yield Fault(
            code=FaultCode.BAD_FILENAME,
            path=path,
            # A lone surrogate cannot be written as JSON.
            filename=filename.encode("utf-8", "replace").decode(),
            message=f"The filename {'; it '.join(reasons)}.",
            hint=f"Use {names.proposal(filename)} instead.",
        )


def names_play_one_role(writes: Iterable[Write]) -> Iterator[Fault]:
    """Yield a fault for each write that names what an earlier write names."""
    taken: dict[str, str] = {}
    for write in writes:
        mine = {folded(name): name for name in targets(write.command)}
        for fold, name in mine.items():
            if fold in taken:
                yield Fault(
                    code=FaultCode.TOUCHED_TWICE,
                    path=f"{write.path}/filename",
                    filename=name,
                    message=f"{name} stands in two writes of this batch "
                    f"({taken[fold]} and {write.path}).",
                    hint="Name each scene once a batch; say the rest in another batch.",
                )
        taken |= {fold: write.path for fold in mine if fold not in taken}


def name_is_free(path: str, filename: str, state: State) -> Iterator[Fault]:
    """Yield a fault if a live scene has *filename*, however it is written."""
    holder = namesake(filename, state.live)
    if holder is not None:
        as_what = "" if holder == filename else f", the same name as {filename},"
        yield Fault(
            code=FaultCode.SCENE_EXISTS,
            path=path,
            filename=filename,
            message=f"{holder}{as_what} is live.",
            hint=f"Update {holder}, or choose another name.",
        )


def scene_is_live(path: str, filename: str, state: State) -> Iterator[Fault]:
    """Yield a fault if no live scene is called *filename*, to the letter."""
    if filename in state.live:
        return
    holder = namesake(filename, state.live)
    if holder is not None:
        hint = f"The live scene is written {holder}."
    elif namesake(filename, state.archived) is not None:
        hint = "It is in the archive: restore it first, in a batch of its own."
    else:
        near = difflib.get_close_matches(filename, state.live, n=1)
        meant = f" Did you mean {near[0]}?" if near else ""
        hint = f"Create it, or name a scene that is live.{meant}"
    yield Fault(
        code=FaultCode.SCENE_MISSING,
        path=path,
        filename=filename,
        message=f"No live scene is called {filename}.",
        hint=hint,
    )


def sources_are_good(path: str, command: Consolidate, state: State) -> Iterator[Fault]:
    """Yield faults unless two or more distinct live scenes go into another."""
    folds = [folded(source) for source in command.sources]
    wrong: list[str] = []
    if len(set(folds)) < _SEVERAL:
        wrong.append(f"sources names {len(set(folds))} scenes; it takes 2 or more")
    wrong += [
        f"sources names {command.sources[folds.index(fold)]} {count} times"
        for fold, count in Counter(folds).items()
        if count > 1
    ]
    if folded(command.filename) in folds:
        wrong.append(
            f"{command.filename} is the target and among the sources; "
            "leave it out of sources (a live target is kept and counted)"
        )
    if wrong:
        yield Fault(
            code=FaultCode.BAD_SOURCES,
            path=f"{path}/sources",
            filename=command.filename,
            message=f"{'; '.join(wrong)}.",
            hint="Give the target another name, or name a further source."
            if folded(command.filename) in folds and len(set(folds)) <= _SEVERAL
            else "Name two or more different live scenes that go into the target.",
        )
    for index, source in enumerate(command.sources):
        yield from scene_is_live(f"{path}/sources/{index}", source, state)


def target_is_new_or_live(
    path: str, command: Consolidate, state: State
) -> Iterator[Fault]:
    """Yield a fault if the target is nearly, but not exactly, the name of a scene."""
    is_source = folded(command.filename) in map(folded, command.sources)
    if command.filename not in state.live and not is_source:
        yield from name_is_free(f"{path}/filename", command.filename, state)


def scene_can_come_back(path: str, command: Restore, state: State) -> Iterator[Fault]:
    """Yield faults unless the scene is archived and its name is free."""
    if command.filename not in state.archived:
        holder = namesake(command.filename, state.archived)
        is_live = command.filename in state.live
        yield Fault(
            code=FaultCode.NOT_ARCHIVED,
            path=f"{path}/filename",
            filename=command.filename,
            message=f"{command.filename} is live, not archived."
            if is_live
            else f"No archived scene is called {command.filename}.",
            hint=f"The archived scene is written {holder}."
            if holder is not None
            else "Nothing is to be restored; an earlier revision may still hold it."
            if not is_live
            else "It need not be restored.",
        )
    place = "filename" if command.restore_as is None else "as"
    name = command.restore_as or command.filename
    if not (place == "filename" and name in state.live):
        for fault in name_is_free(f"{path}/{place}", name, state):
            yield Fault(
                code=fault.code,
                path=fault.path,
                filename=fault.filename,
                message=fault.message,
                hint='Restore it under another name, with "as".',
            )
    elif command.filename in state.archived:
        yield Fault(
            code=FaultCode.SCENE_EXISTS,
            path=f"{path}/filename",
            filename=name,
            message=f"{name} is live, too.",
            hint='Restore it under another name, with "as".',
        )


def scene_can_go(
    path: str, command: Archive, state: State, policy: Policy, now_ms: int
) -> Iterator[Fault]:
    """Yield faults unless the scene may be archived: live, old enough, name free."""
    yield from scene_is_live(f"{path}/filename", command.filename, state)
    scene = state.live.get(command.filename)
    if scene is not None and not is_archivable(scene, policy, now_ms):
        # Cut, not rounded: 6.99 days are not told to be 7.0.
        age_days = max(now_ms - ms(scene.first_seen), 0) * 10 // DAY_MS / 10
        yield Fault(
            code=FaultCode.TOO_YOUNG,
            path=f"{path}/filename",
            filename=command.filename,
            message=f"{command.filename} is {age_days:.1f} days old; "
            f"a scene is archived at the age of {policy.min_archive_age_days} or more.",
            hint="Its age counts from when the store first saw it. Leave it live.",
        )
    holder = namesake(command.filename, state.archived)
    if holder is not None and scene is not None:
        yield Fault(
            code=FaultCode.ARCHIVE_NAME_TAKEN,
            path=f"{path}/filename",
            filename=command.filename,
            message=f"The archive has a {holder} already.",
            hint="Restore that one under another name first, or leave this one live.",
        )


def is_archivable(scene: Scene, policy: Policy, now_ms: int) -> bool:
    """Say whether *scene* is old enough for the archive."""
    return now_ms - ms(scene.first_seen) >= policy.min_archive_age_days * DAY_MS


def namesake(filename: str, scenes: Mapping[str, Scene]) -> str | None:
    """Return the scene among *scenes* whose name counts as *filename*, or None."""
    if filename in scenes:
        return filename
    fold = folded(filename)
    return next((name for name in scenes if folded(name) == fold), None)
