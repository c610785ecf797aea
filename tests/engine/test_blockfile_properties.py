"""Whatever the engine accepts is read as it was written."""

import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from scenestore.blockfile import Block, parse, render
from scenestore_engine.commands import (
    AdvisoryMeta,
    Batch,
    Create,
    Update,
    Write,
)
from scenestore_engine.decide import Accepted, decide
from scenestore_engine.events import SceneCreated, SceneUpdated
from scenestore_engine.policy import MAX_HEAT, Policy
from scenestore_engine.state import Known, Meta, Scene, State
from scenestore_engine.texts import normal_body
from scenestore_engine.times import iso

FREE = Policy(secrets="off", retention_update="off")
OTHER_TIME = "1999-01-01T00:00:00.000Z"
LIKE_META = [
    "created: 1",
    "updated: 2",
    "summary: 3",
    "heat: 4",
    "heat",
    "-----META-START----",
    "- -----META-END-----",
    "\ufeff-----META-START-----",
]
chars = st.one_of(
    st.sampled_from("\n\n \t:-#[]é场バ\u0301\u200d\ufeff\u2028\x0b\x0c\x85\u3000\r"),
    st.characters(exclude_categories=["Cs"], exclude_characters="\0"),
    st.sampled_from(["\U0001f3c3\u200d\u2640\ufe0f", *LIKE_META]),
)
texts = st.lists(chars, max_size=40).map("".join)
lines = st.lists(
    st.one_of(
        st.sampled_from(" :-#\u00a0\u3000\u200f\ufeffé场"),
        st.characters(exclude_categories=["Cs", "Cc", "Zl", "Zp"]),
        st.sampled_from([*LIKE_META, "-----META-END-----"]),
    ),
    min_size=1,
    max_size=30,
).map("".join)
instants = st.integers(0, 253_402_300_799_999).map(iso)
field_names = st.from_regex(r"[A-Za-z_][A-Za-z0-9_-]{0,9}", fullmatch=True)
extras = st.lists(
    st.builds("{}: {}".format, field_names, lines.map(str.strip)), max_size=3
).map(tuple)


def outcome(meta: AdvisoryMeta, body: str, now_ms: int) -> Accepted | None:
    """What the engine makes of a new scene; None: it refuses."""
    create = Create(filename="n.md", content=normal_body(body), meta=meta)
    batch = Batch(writes=(Write(path="/sceneWrites/0", command=create),))
    found = decide(batch, Known(), Policy(secrets="off"), now_ms=now_ms, actor="t")
    return found if isinstance(found, Accepted) else None


@given(lines, texts, st.integers(0, 253_402_300_799_999))
@example(" leading and trailing ", "- x", 0)
@example(": a: b :", "  - x", 0)
@example("-----META-END-----", "created: 1\n\nheat: 2", 0)
@example("-----META-START-----", "\ufeff- x \n\n\n- y\t", 0)
@example("\u3000x\u3000", "- x\n\u3000", 0)
@example("#", "a\x0b\x0c\x85\u2028b", 0)
def test_a_new_scene_that_the_engine_accepts_is_read_as_it_was_written(
    summary: str, body: str, now_ms: int
) -> None:
    found = outcome(AdvisoryMeta(summary=summary), body, now_ms)

    if found is not None:
        (event,) = found.events
        assert isinstance(event, SceneCreated)
        kept = found.bodies["n.md"]
        data = render(event.meta, kept)
        assert parse(data, file_time=OTHER_TIME) == Block(meta=event.meta, body=kept)
        assert data.count(b"\r") == 0
        assert data.endswith(b"\n")


metas = st.builds(
    Meta,
    created=instants,
    updated=instants,
    summary=st.just("old"),
    heat=st.integers(0, 10**9),
    extra=extras,
)


@given(metas, lines, texts)
def test_an_updated_scene_is_read_as_it_was_written(
    old: Meta, summary: str, body: str
) -> None:
    state = State(live={"a.md": Scene(blob="", first_seen=old.created, meta=old)})
    update = Update(
        filename="a.md",
        content=normal_body(body),
        meta=AdvisoryMeta(summary=summary),
    )
    batch = Batch(writes=(Write(path="/sceneWrites/0", command=update),))
    known = Known(state=state, bodies={"a.md": "- old"})

    found = decide(batch, known, FREE, now_ms=0, actor="t")

    if isinstance(found, Accepted):
        (event,) = found.events
        assert isinstance(event, SceneUpdated)
        kept = found.bodies["a.md"]
        data = render(event.meta, kept)
        read = parse(data, file_time=OTHER_TIME)
        # An extra line that is named like a field of ours stays, since ours come first.
        assert read == Block(meta=event.meta, body=kept)
        assert render(read.meta, read.body) == data


@given(st.binary(max_size=300), st.sampled_from(["", "\ufeff"]))
def test_whatever_is_read_is_written_in_a_form_that_reads_the_same(
    data: bytes, start: str
) -> None:
    text = start + data.decode("utf-8", "replace")

    once = parse(text.encode(), file_time=OTHER_TIME)

    assert parse(render(once.meta, once.body), file_time="2000") == once


@given(
    st.lists(
        st.sampled_from(
            [
                *LIKE_META,
                "-----META-START-----",
                "-----META-END-----",
                "",
                " ",
                "mood: blue",
                "- x",
                "\r",
            ]
        ),
        max_size=14,
    ),
    st.sampled_from(["\n", "\r\n", "\r"]),
)
def test_any_mixture_of_header_lines_is_written_in_a_form_that_reads_the_same(
    rows: list[str], end: str
) -> None:
    once = parse(end.join(rows).encode(), file_time=OTHER_TIME)

    assert parse(render(once.meta, once.body), file_time="2000") == once


@pytest.mark.parametrize("heat", [0, 1, 10**14, MAX_HEAT - 1, MAX_HEAT])
def test_a_heat_that_a_scene_may_have_is_read_as_it_was_written(heat: int) -> None:
    meta = Meta(created=OTHER_TIME, updated=OTHER_TIME, summary="s", heat=heat)

    assert parse(render(meta, "- x"), file_time="2000").meta == meta


@pytest.mark.parametrize("heat", [MAX_HEAT + 1, 10**18, 10**40])
def test_a_heat_that_no_scene_may_have_is_read_as_the_highest(heat: int) -> None:
    meta = Meta(created=OTHER_TIME, updated=OTHER_TIME, summary="s", heat=heat)

    read = parse(render(meta, "- x"), file_time="2000").meta

    assert read.heat == MAX_HEAT


@given(texts)
def test_a_normal_body_is_normal_already(body: str) -> None:
    once = normal_body(body)

    assert normal_body(once) == once
    assert "\r" not in once
    for outer in (once.split("\n")[0], once.split("\n")[-1]):
        assert outer.strip(" \t") or not once


@given(texts)
def test_a_normal_body_keeps_all_that_can_be_seen(body: str) -> None:
    seen = [char for char in body if not unicodedata.category(char).startswith("Z")]
    kept = [
        char
        for char in normal_body(body)
        if not unicodedata.category(char).startswith("Z")
    ]

    assert [c for c in kept if c not in "\n\t"] == [
        c for c in seen if c not in "\r\n\t"
    ]
