import json
from typing import Any

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from scenestore_engine.commands import (
    AdvisoryMeta,
    Archive,
    Batch,
    Consolidate,
    Create,
    Delete,
    Restore,
    Update,
    Write,
    body_hash,
)
from scenestore_engine.wire import MAX_FAULTS, batch_from, parse_batch

JSON_NAMES = {"add_members": "addMembers", "restore_as": "as"}

clean = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"))
lines = clean.map(lambda text: text.strip(" "))
bodies = st.builds(lambda a, b: f"- {a}{b}.", clean, clean).map(
    lambda text: text.replace("\r", "\n")
)
ids = st.frozensets(clean, max_size=4)
heats = st.integers(min_value=1 - 10**18, max_value=10**18 - 1)
metas = st.builds(
    AdvisoryMeta,
    summary=lines,
    created=st.none() | clean,
    updated=st.none() | clean,
    heat=st.none() | heats,
)
common = {
    "filename": clean,
    "content": bodies,
    "meta": metas,
    "members": st.none() | ids,
    "add_members": ids,
    "reason": st.none() | lines,
}
named = {"filename": clean, "reason": st.none() | lines}
commands = st.one_of(
    st.builds(Create, **common),
    st.builds(Update, **common),
    st.builds(Consolidate, sources=st.lists(clean, max_size=4).map(tuple), **common),
    st.builds(Delete, **named),
    st.builds(Archive, filename=clean, reason=lines),
    st.builds(Restore, restore_as=st.none() | clean, **named),
)


@st.composite
def batches(draw: st.DrawFn) -> Batch:
    asked = draw(st.lists(commands, max_size=4))
    dismiss = draw(ids)
    return Batch(
        writes=tuple(
            Write(path=f"/sceneWrites/{index}", command=command)
            for index, command in enumerate(asked)
        ),
        cursor=draw(st.none() | clean),
        persona_reason=draw(st.none() | lines),
        dismiss=dismiss,
        dismiss_reason=draw(lines) if dismiss else None,
        base_revision=draw(st.none() | clean),
        idempotency_key=draw(st.none() | clean),
        run_id=draw(st.none() | clean),
        dry_run=draw(st.booleans()),
    )


def request_of(batch: Batch) -> dict[str, Any]:
    """Return the request that should be read as *batch*."""
    wishes = [msgspec.to_builtins(write.command) for write in batch.writes]
    return {
        "sceneWrites": [
            {JSON_NAMES.get(name, name): value for name, value in wish.items()}
            for wish in wishes
        ],
        "cursor": batch.cursor,
        "personaSignal": batch.persona_reason is not None,
        "personaReason": batch.persona_reason,
        "dismiss": sorted(batch.dismiss),
        "dismissReason": batch.dismiss_reason,
        "baseRevision": batch.base_revision,
        "idempotencyKey": batch.idempotency_key,
        "runId": batch.run_id,
        "dryRun": batch.dry_run,
    }


FIELDS = [
    *("sceneWrites", "cursor", "personaSignal", "personaReason", "dismiss"),
    *("dismissReason", "baseRevision", "idempotencyKey", "runId", "dryRun"),
    *("action", "filename", "sources", "reason", "as", "meta", "content", "members"),
    *("addMembers", "summary", "created", "updated", "heat", "body", "update"),
]
names = st.sampled_from(FIELDS)
leaves = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(),
    names,
    st.sampled_from(["[]", "{}", "[", '{"action": "delete"}', "\0", "\ud800"]),
)
values = st.recursive(
    leaves,
    lambda inner: st.lists(inner) | st.dictionaries(names | st.text(), inner),
    max_leaves=20,
)


def assert_is_an_answer(batch: Batch) -> None:
    """Check what holds for every batch that was read: it can be hashed and sent."""
    assert len(batch.faults) <= MAX_FAULTS
    body_hash(batch)
    msgspec.json.encode(batch)


@given(st.binary())
def test_any_bytes_are_answered_with_a_batch(payload: bytes) -> None:
    assert_is_an_answer(parse_batch(payload))


@given(st.text(alphabet='{}[]",:\\ \n0e-u\ud800\0aN'))
def test_any_text_of_the_marks_of_json_is_answered_with_a_batch(payload: str) -> None:
    batch = parse_batch(payload)

    assert_is_an_answer(batch)
    assert batch.faults or isinstance(json.loads(payload), dict | str)


@given(values)
def test_any_value_is_answered_with_a_batch(request: object) -> None:
    assert_is_an_answer(batch_from(request))


@given(st.dictionaries(names, values))
def test_any_object_is_answered_with_a_batch(request: object) -> None:
    assert_is_an_answer(batch_from(request))


@given(st.lists(st.dictionaries(names, values), max_size=3))
def test_any_writes_are_answered_with_a_batch(writes: object) -> None:
    assert_is_an_answer(batch_from({"sceneWrites": writes}))


@given(batches())
def test_a_batch_is_read_back_from_the_request_that_asks_for_it(batch: Batch) -> None:
    assert batch_from(request_of(batch)) == batch


@given(batches())
def test_bytes_and_decoded_request_are_read_alike(batch: Batch) -> None:
    request = request_of(batch)

    assert parse_batch(json.dumps(request).encode()) == batch_from(request)


@given(batches(), st.data())
def test_a_request_with_one_field_changed_is_answered_with_a_batch(
    batch: Batch, data: st.DataObject
) -> None:
    request = request_of(batch)
    target = data.draw(st.sampled_from([request, *request["sceneWrites"]]))
    target[data.draw(names | st.text())] = data.draw(values)

    assert_is_an_answer(batch_from(request))


@given(batches(), st.data())
def test_a_request_with_some_bytes_changed_is_answered_with_a_batch(
    batch: Batch, data: st.DataObject
) -> None:
    payload = json.dumps(request_of(batch), ensure_ascii=False).encode()
    start = data.draw(st.integers(0, len(payload)))
    end = data.draw(st.integers(start, min(start + 8, len(payload))))

    changed = payload[:start] + data.draw(st.binary(max_size=8)) + payload[end:]

    assert_is_an_answer(parse_batch(changed))
