"""What `git log` says of a revision: subject, a line a write, trailers."""

import shutil
import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scenestore.messages import MAX_SUBJECT_CHARS, message, visible
from scenestore.receipts import CursorMove
from scenestore_engine.events import (
    CursorMoved,
    DismissalsChanged,
    Event,
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
from scenestore_engine.state import Cursor, Meta

T = "2026-03-03T00:00:00.000Z"
BATCH = "b" * 40
MOVE = CursorMove(before=None, after="m_2")


def meta(summary: str = "S", heat: int = 3) -> Meta:
    return Meta(created=T, updated=T, summary=summary, heat=heat)


def create(name: str = "a.md", summary: str = "S", reason: str | None = None) -> Event:
    return SceneCreated(filename=name, meta=meta(summary), first_seen=T, reason=reason)


def consolidate(name: str, *sources: str) -> Event:
    return ScenesConsolidated(filename=name, sources=sources, meta=meta(), first_seen=T)


def written(
    *events: Event,
    cursor: CursorMove = MOVE,
    actor: str = "cli",
    counts: dict[str, int] | None = None,
    added: dict[str, int] | None = None,
    overridden_at: str | None = None,
) -> str:
    return message(
        events,
        seq=7,
        cursor=cursor,
        batch=BATCH,
        actor=actor,
        counts=counts or {},
        added=added or {},
        overridden_at=overridden_at,
    )


def subject(*events: Event) -> str:
    return written(*events).partition("\n")[0]


def lines(*events: Event, **fields: object) -> list[str]:
    parts = written(*events, **fields).split("\n\n")
    return parts[1].split("\n") if len(parts) == 3 else []


def trailers(text: str) -> list[str]:
    """What git finds, by `git interpret-trailers --parse`."""
    if shutil.which("git") is None:
        pytest.skip("there is no git program here")
    done = subprocess.run(
        ["git", "interpret-trailers", "--parse"],  # noqa: S607
        input=text.encode(),
        capture_output=True,
        check=True,
    )
    return done.stdout.decode().splitlines()


# The form


def test_a_message_is_a_subject_a_line_a_write_and_trailers() -> None:
    text = written(
        create(),
        SceneUpdated(filename="b.md", meta=meta("T", 9), reason="why"),
        counts={"a.md": 1, "b.md": 12},
        added={"a.md": 1, "b.md": 2},
    )

    assert text == (
        "create a.md, update b.md\n"
        "\n"
        "create a.md: S (1 member, heat 3)\n"
        "update b.md: T (+2 members, heat 9): why\n"
        "\n"
        "Scene-Seq: 7\n"
        "Scene-Cursor: start -> m_2\n"
        f"Scene-Batch: {BATCH}\n"
        "Scene-Actor: cli\n"
    )


EACH: list[tuple[Event, str, list[str]]] = [
    (StoreBegun(), "begin the scene store", []),
    (create(), "create a.md", ["create a.md: S (0 members, heat 3)"]),
    (
        create(reason="new"),
        "create a.md",
        ["create a.md: S (0 members, heat 3): new"],
    ),
    (
        SceneUpdated(filename="a.md", meta=meta()),
        "update a.md",
        ["update a.md: S (+0 members, heat 3)"],
    ),
    (
        consolidate("c.md", "a.md", "b.md"),
        "consolidate a.md and b.md into c.md",
        ["consolidate c.md: S (0 members, heat 3)"],
    ),
    (
        consolidate("d.md", "a.md", "b.md", "c.md"),
        "consolidate 3 scenes into d.md",
        ["consolidate d.md: S (0 members, heat 3)"],
    ),
    (SceneDeleted(filename="a.md"), "delete a.md", ["delete a.md"]),
    (
        SceneDeleted(filename="a.md", reason="wrong"),
        "delete a.md",
        ["delete a.md: wrong"],
    ),
    (
        SceneArchived(filename="a.md", reason="old"),
        "archive a.md",
        ["archive a.md: old"],
    ),
    (
        SceneRestored(filename="a.md", restored_as="a.md"),
        "restore a.md",
        ["restore a.md"],
    ),
    (
        SceneRestored(filename="a.md", restored_as="b.md", reason="back"),
        "restore a.md as b.md",
        ["restore a.md as b.md: back"],
    ),
    (
        DismissalsChanged(added=2, reason="noise"),
        "dismiss 2 records",
        ["dismiss +2 -0 records: noise"],
    ),
    (
        DismissalsChanged(removed=3),
        "take back 3 records",
        ["dismiss +0 -3 records"],
    ),
    (
        CursorMoved(to=Cursor(record_id="m_2", shard="s", line=2)),
        "move the cursor to m_2",
        [],
    ),
    (
        PersonaRequested(reason="moved", at=T),
        "ask for a new persona",
        ["persona: moved"],
    ),
    (
        StateImported(scenes=("a.md", "b.md"), archived=("z.md",)),
        "import 3 scenes",
        ["import a.md", "import b.md", "import z.md (archived)"],
    ),
    (
        StoreRolledBack(revision="0123456789abcdef", seq=4, reason="oops"),
        "roll back to 4 (0123456789)",
        ["scenes, archive and members as they were then: oops"],
    ),
    (
        StoreRolledBack(revision="0123456789abcdef", seq=4, cursor_kept=True),
        "roll back to 4 (0123456789)",
        ["scenes, archive and members as they were then; the cursor stays"],
    ),
]


@pytest.mark.parametrize(("event", "said", "line"), EACH)
def test_each_kind_of_event_is_told_so(
    event: Event, said: str, line: list[str]
) -> None:
    assert subject(event) == said
    assert lines(event) == line


@pytest.mark.parametrize(
    ("event", "said"),
    [
        (DismissalsChanged(added=1), "dismiss 1 record"),
        (DismissalsChanged(removed=1), "take back 1 record"),
        (StateImported(scenes=("a.md",)), "import 1 scene"),
        (StateImported(archived=("a.md",)), "import 1 scene"),
    ],
)
def test_one_thing_is_told_in_the_singular(event: Event, said: str) -> None:
    assert subject(event) == said


def test_one_member_is_told_in_the_singular() -> None:
    update = SceneUpdated(filename="a.md", meta=meta())

    assert lines(create(), counts={"a.md": 1}) == ["create a.md: S (1 member, heat 3)"]
    assert lines(update, counts={"a.md": 9}, added={"a.md": 1}) == [
        "update a.md: S (+1 member, heat 3)"
    ]


def test_members_that_an_update_lost_are_told_with_one_sign() -> None:
    update = SceneUpdated(filename="a.md", meta=meta(), dropped=("m_1", "m_2"))

    said = lines(update, counts={"a.md": 1}, added={"a.md": -2})

    assert said == ["update a.md: S (-2 members, heat 3)"]


def test_a_line_stands_for_each_write_and_each_imported_scene() -> None:
    events = [create("a.md"), consolidate("b.md", "c.md", "d.md")]
    imported = StateImported(scenes=("e.md", "f.md"))

    assert len(lines(*events)) == 2
    assert len(lines(*events, imported)) == 4


def test_the_cursor_is_a_subject_only_when_it_moved_alone() -> None:
    moved = CursorMoved(to=Cursor(record_id="m_2", shard="s", line=2))

    assert subject(create(), moved) == "create a.md"
    assert subject(moved) == "move the cursor to m_2"


def test_an_import_of_a_cursor_alone_does_not_speak_of_scenes() -> None:
    assert "scene" not in subject(StateImported())


# The subject's length


def test_a_subject_of_72_characters_is_whole_and_one_more_is_cut_short() -> None:
    fits = [create(f"{'x' * 24}.md"), create(f"{'y' * 26}.md")]
    over = [create(f"{'x' * 25}.md"), create(f"{'y' * 26}.md")]

    assert len(subject(*fits)) == 72 == MAX_SUBJECT_CHARS
    assert subject(*fits) == f"create {'x' * 24}.md, create {'y' * 26}.md"
    assert subject(*over) == f"create {'x' * 25}.md and 1 more"


def test_a_long_batch_names_as_many_writes_as_fit() -> None:
    events = [create(f"{n:02}.md") for n in range(20)]

    assert subject(*events) == (
        "create 00.md, create 01.md, create 02.md, create 03.md and 16 more"
    )


def test_two_long_sources_are_counted_and_not_named() -> None:
    short = ("a" * 12 + ".md", "b" * 13 + ".md")
    long = ("a" * 13 + ".md", "b" * 13 + ".md")

    assert len(" and ".join(short)) == 36
    assert subject(consolidate("c.md", *short)).startswith("consolidate aaa")
    assert subject(consolidate("c.md", *long)) == "consolidate 2 scenes into c.md"


NAMES = st.text("ab场é", min_size=1, max_size=40).map(lambda stem: f"{stem}.md")
EVENTS = st.one_of(
    st.builds(create, NAMES),
    st.builds(consolidate, NAMES, NAMES, NAMES),
    st.builds(SceneDeleted, filename=NAMES),
    st.builds(SceneRestored, filename=NAMES, restored_as=NAMES),
    st.builds(DismissalsChanged, added=st.integers(0, 9), removed=st.integers(0, 9)),
)


@given(st.lists(EVENTS, min_size=1, max_size=64))
def test_a_subject_has_at_most_72_characters_if_its_first_phrase_leaves_room(
    events: list[Event],
) -> None:
    first = subject(events[0])
    room = MAX_SUBJECT_CHARS - len(" and 63 more")

    assert len(subject(*events)) <= MAX_SUBJECT_CHARS or len(first) > room
    assert subject(*events).startswith(first)


# Trailers


def test_git_finds_exactly_our_trailers() -> None:
    text = written(create(), SceneDeleted(filename="b.md", reason="wrong"))

    assert trailers(text) == [
        "Scene-Seq: 7",
        "Scene-Cursor: start -> m_2",
        f"Scene-Batch: {BATCH}",
        "Scene-Actor: cli",
    ]


def test_a_batch_without_lines_has_its_trailers_too() -> None:
    assert len(trailers(written(StoreBegun()))) == 4


def test_a_time_that_was_dictated_is_a_trailer() -> None:
    assert trailers(written(create(), overridden_at=T))[-1] == (
        f"Scene-Time: {T} (dictated)"
    )
    assert "Scene-Time" not in written(create(), overridden_at="x\nSigned-off-by: y")


@pytest.mark.parametrize(
    "trap",
    [
        "Signed-off-by: x <x@x>",
        "Scene-Seq: 1",
        "---",
        "# comment",
        "(cherry picked from commit 0)",
        "Co-authored-by: x",
        "x\u2028Scene-Seq: 1",
        "x\x85Scene-Seq: 1",
    ],
    ids=ascii,
)
def test_what_a_caller_says_is_never_a_trailer(trap: str) -> None:
    events = (
        create(summary=trap, reason=trap),
        SceneDeleted(filename="b.md", reason=trap),
        SceneArchived(filename="c.md", reason=trap),
        DismissalsChanged(added=1, reason=trap),
        PersonaRequested(reason=trap, at=T),
        StoreRolledBack(revision="0" * 40, seq=1, reason=trap),
    )

    assert trailers(written(*events)) == trailers(written(create()))


@pytest.mark.parametrize("record_id", ["a b", "Signed-off-by: x", "x\u2028y", "-> x"])
def test_an_odd_record_id_stays_inside_the_cursors_trailer(record_id: str) -> None:
    move = CursorMove(before=record_id, after=record_id)

    found = trailers(written(create(), cursor=move))

    assert [line.partition(":")[0] for line in found] == [
        "Scene-Seq",
        "Scene-Cursor",
        "Scene-Batch",
        "Scene-Actor",
    ]
    shown = visible(record_id)
    assert found[1] == f"Scene-Cursor: {shown} -> {shown}"


# What a terminal would obey


@pytest.mark.parametrize(
    ("char", "spelled"),
    [
        ("\x1b", r"\x1b"),
        ("\x07", r"\x07"),
        ("\r", r"\x0d"),
        ("\t", r"\x09"),
        ("\x7f", r"\x7f"),
        ("\x80", r"\x80"),
        ("\x9f", r"\x9f"),
        ("\u202e", r"\u202e"),
        ("\u2066", r"\u2066"),
        ("\u200f", r"\u200f"),
        ("\u061c", r"\u061c"),
        ("\u2028", r"\u2028"),
        ("\u2029", r"\u2029"),
        ("\ud800", r"\ud800"),
    ],
)
def test_what_a_terminal_would_obey_is_spelled_out(char: str, spelled: str) -> None:
    assert visible(f"a{char}b") == f"a{spelled}b"
    assert f"a{spelled}b" in written(create(summary=f"a{char}b"))
    assert f"Scene-Actor: a{spelled}b" in written(create(), actor=f"a{char}b")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "plain",
        "东京 ﾊﾞｽ é",
        "שלום",
        "\U0001f3c3\u200d\u2640\ufe0f",
        "a\u00a0b",
        "\xa0",
        "~",
        "two\nlines",
    ],
    ids=ascii,
)
def test_text_that_can_be_seen_stays_as_it_is(text: str) -> None:
    assert visible(text) == text


@given(st.text())
def test_a_message_can_always_be_encoded_and_holds_no_control_characters(
    text: str,
) -> None:
    said = written(create(summary=text.replace("\n", " ")))

    assert said.encode()
    assert not any(ord(char) < 0x20 and char != "\n" for char in said)
    assert said.count("\n") == 8
