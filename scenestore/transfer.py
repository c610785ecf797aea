"""Scenes from outside, as one revision.

Source:
    CONTRACT section 7 (import moves the cursor) and section 5 (what a scene is).
"""

import json
from collections.abc import Iterator, Mapping
from hashlib import sha256

import msgspec
from msgspec.structs import replace

from scenestore import blockfile, clock
from scenestore.clock import Now
from scenestore.errors import BusyError, HeadMovedError
from scenestore.receipts import Receipt
from scenestore.refusals import busy, drift_fault
from scenestore.store import Store, batch_id
from scenestore_engine import strictjson
from scenestore_engine.admit import Import, ImportedScene, refusals
from scenestore_engine.decide import Rejected
from scenestore_engine.events import StateImported
from scenestore_engine.evolve import fold
from scenestore_engine.faults import Fault, FaultCode
from scenestore_engine.policy import MAX_HEAT
from scenestore_engine.rules import line_complaint
from scenestore_engine.secret import masked
from scenestore_engine.state import Known, Meta, Scene, State
from scenestore_engine.strictjson import Flaw, Json, step
from scenestore_engine.times import iso, ms

_FIELDS = ("scenes", "archived", "cursor")
_SCENE_FIELDS = ("meta", "content", "members")


def parse_import(payload: bytes, *, now: str) -> Import:
    """Return what *payload* asks to import, with all that is wrong in its form.

    Args:
        payload: ``{"scenes": {NAME: {meta, content, members}}, "archived": {…},
            "cursor": id}`` as JSON.
        now: What stands for times that are not given.
    """
    request, flaws = strictjson.read(payload)
    if flaws:
        return Import(faults=tuple(map(_fault, flaws)))
    if not isinstance(request, dict):
        return Import(faults=(_wrong("", "an object", request),))
    found = [
        _unknown(f"/{field}", field, _FIELDS)
        for field in request
        if field not in _FIELDS
    ]
    scenes: list[ImportedScene] = []
    for field, archived in (("scenes", False), ("archived", True)):
        named = request.get(field)
        if named is None:
            continue
        if not isinstance(named, dict):
            found.append(_wrong(f"/{field}", "an object", named))
            continue
        for name, given in named.items():
            path = f"/{field}/{step(name)}"
            if not isinstance(given, dict):
                found.append(_wrong(path, "an object", given))
                continue
            wrong = list(_form_faults(path, given))
            found += wrong
            if not wrong:
                scenes.append(_scene(path, name, given, archived=archived, now=now))
    cursor = request.get("cursor")
    if cursor is not None and not isinstance(cursor, str):
        found.append(_wrong("/cursor", "a text", cursor))
        cursor = None
    return Import(scenes=tuple(scenes), cursor=cursor, faults=tuple(found))


def import_state(
    store: Store, payload: bytes, *, actor: str | None = None, now: Now | None = None
) -> Receipt | Rejected:
    """Add the scenes that *payload* describes, as one revision.

    Args:
        store: Which has them afterwards.
        payload: As `parse_import` takes it.
        actor: Who asks; None: the store's actor.
        now: The time; None: the clock's.

    Returns:
        A `Receipt`, or `Rejected` with all that is wrong: then nothing came in.
    """
    now = now or clock.now()
    request = parse_import(payload, now=iso(now.at_ms))
    store.head()
    try:
        with store.turn():
            return _import(store, request, sha256(payload).hexdigest(), actor, now)
    except (BusyError, HeadMovedError) as error:
        return busy(error)


def _import(
    store: Store, request: Import, wish: str, actor: str | None, now: Now
) -> Receipt | Rejected:
    ledger = store.ledger
    parent = store.head()
    before = ledger.state(parent.tree)
    stopped = tuple(store.not_writable(ledger.revision(ledger.head() or parent.id)))
    named = frozenset[str]().union(*(s.members or () for s in request.scenes))
    known = Known(
        state=before,
        forgotten=ledger.sets.holds(before.forgotten, named),
        cursor=store.records.resolve(request.cursor, before.cursor)
        if request.cursor is not None
        else None,
    )
    policy = store.policy()
    names = {scene.filename for scene in request.scenes if not scene.archived}
    stopped += tuple(map(drift_fault, store.drifts(names, parent.tree)))
    faults = (*stopped, *refusals(request, known, policy))
    if faults:
        return Rejected(faults=faults, retry=not stopped)
    after, event = _staged(store, request, before, known, iso(now.at_ms))
    batch = batch_id(parent.id, wish)
    receipt = store.counting.receipt(
        before,
        after,
        seq=parent.seq + 1,
        batch=batch,
        policy=policy,
        members_missing=tuple(
            s.filename for s in request.scenes if s.members is None and not s.archived
        ),
    )
    if after == before:
        return replace(receipt, revision=parent.id, seq=parent.seq)
    revision = store.append(
        (event,),
        after,
        parent=parent,
        batch=batch,
        policy=policy,
        now=now,
        actor=actor,
        before=before,
        receipt=receipt,
    )
    return replace(receipt, revision=revision)


def _staged(
    store: Store, request: Import, before: State, known: Known, now: str
) -> tuple[State, StateImported]:
    """Stage the state that follows, and the event that names it."""
    live, archived = dict(before.live), dict(before.archived)
    arrived = frozenset[str]().union(*(s.members or () for s in request.scenes))
    # A dismissed record that is given as a member stops being dismissed.
    dismissed = store.ledger.sets.make([before.dismissed], drop=arrived)
    for scene in request.scenes:
        made = Scene(
            blob=store.ledger.objects.put_blob(
                blockfile.render(scene.meta, scene.body)
            ),
            first_seen=now,
            members=store.ledger.sets.make([], scene.members or ()),
            members_unknown=scene.members is None,
            meta=scene.meta,
        )
        (archived if scene.archived else live)[scene.filename] = made
    opened = replace(before, live=live, archived=archived, dismissed=dismissed)
    handles = store.ledger.handles(store.ledger.tree_of(opened, None))
    event = StateImported(
        scenes=tuple(s.filename for s in request.scenes if not s.archived),
        archived=tuple(s.filename for s in request.scenes if s.archived),
        cursor=known.cursor or before.cursor,
        state=handles,
    )
    return fold((event,), before, {handles: opened}), event


def _form_faults(path: str, given: Mapping[str, Json]) -> Iterator[Fault]:
    for field in given:
        if field not in _SCENE_FIELDS:
            yield _unknown(f"{path}/{field}", field, _SCENE_FIELDS)
    if not isinstance(given.get("content"), str):
        yield _wrong(f"{path}/content", "a text", given.get("content"))
    members = given.get("members")
    is_list = isinstance(members, list) and all(isinstance(i, str) for i in members)
    if members is not None and not is_list:
        yield _wrong(f"{path}/members", "an array of texts", members)
    if given.get("meta") is not None:
        yield from _meta_faults(f"{path}/meta", given["meta"])


def _meta_faults(path: str, meta: Json) -> Iterator[Fault]:
    if not isinstance(meta, dict):
        yield _wrong(path, "an object", meta)
        return
    for field, value in meta.items():
        if field == "heat":
            is_whole = isinstance(value, int) and not isinstance(value, bool)
            number = value if isinstance(value, int) and is_whole else -1
            if not 0 <= number <= MAX_HEAT:
                wanted = f"a whole number from 0 to {MAX_HEAT}"
                yield _wrong(f"{path}/heat", wanted, value)
        elif field in ("created", "updated"):
            if _instant(value) is None:
                yield _wrong(f"{path}/{field}", "an ISO 8601 time", value)
        elif (
            not isinstance(value, str)
            or line_complaint(value) is not None
            or line_complaint(field) is not None
            or field != field.strip()
            or ":" in field
        ):
            # An unknown field is kept as a line of META, so it must be one.
            yield _wrong(f"{path}/{field}", "a text of one line", value)


def _scene(
    path: str, name: str, given: Mapping[str, Json], *, archived: bool, now: str
) -> ImportedScene:
    content, members = str(given["content"]), given.get("members")
    meta = msgspec.convert(given.get("meta") or {}, dict[str, object])
    file = "\n".join(
        [
            blockfile.START,
            *(f"{field}: {value}" for field, value in meta.items()),
            blockfile.END,
            "",
            content,
        ]
    )
    # Read as any scene file is: one rule for missing times, heat and summary.
    block = blockfile.parse(file.encode(), file_time=now)
    return ImportedScene(
        path=path,
        filename=name,
        archived=archived,
        meta=Meta(
            created=block.meta.created,
            updated=block.meta.updated,
            summary=block.meta.summary,
            heat=block.meta.heat,
            extra=block.meta.extra,
        ),
        body=block.body,
        members=None
        if members is None
        else frozenset(msgspec.convert(members, list[str])),
    )


def _instant(value: object) -> int | None:
    try:
        if not isinstance(value, str):
            return None
        at_ms = ms(value)
        iso(at_ms)
    except (ValueError, OverflowError):
        return None
    return at_ms


def _fault(flaw: Flaw) -> Fault:
    return Fault(code=flaw.code, path=flaw.path, message=flaw.message, hint=flaw.hint)


def _wrong(path: str, wanted: str, got: object) -> Fault:
    return Fault(
        code=FaultCode.WRONG_TYPE,
        path=path,
        message=f"{path or 'The request'} must be {wanted}, not {_shown(got)}.",
    )


def _unknown(path: str, field: str, fields: tuple[str, ...]) -> Fault:
    return Fault(
        code=FaultCode.UNKNOWN_FIELD,
        path=path,
        message=f"{field} is no field here.",
        hint=f"The fields are {', '.join(fields)}.",
    )


def _shown(value: object) -> str:
    return masked(json.dumps(value, ensure_ascii=True))[:60]
