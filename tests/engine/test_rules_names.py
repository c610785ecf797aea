"""Names: what may be one, which count as the same, and one role a batch."""

import pytest

from scenestore_engine.commands import (
    AdvisoryMeta,
    Archive,
    Batch,
    Command,
    Consolidate,
    Create,
    Delete,
    Restore,
    Update,
    Write,
)
from scenestore_engine.decide import Accepted, decide
from scenestore_engine.faults import Fault, FaultCode
from scenestore_engine.names import complaints, folded, proposal
from scenestore_engine.policy import Policy
from scenestore_engine.state import Known, Meta, Scene, State

NOW_MS = 1_772_496_000_000
OLD = "2026-01-01T00:00:00.000Z"
META = Meta(created=OLD, updated=OLD, summary="old", heat=1)
SCENE = Scene(blob="", first_seen=OLD, meta=META)
ROOMY = Policy(
    max_creates_per_batch=9,
    max_archives_per_batch=9,
    retention="off",
    retention_update="off",
)
SAID = AdvisoryMeta(summary="s")

TWINS = [
    ("Race.md", "race.md"),
    ("straße.md", "STRASSE.md"),
    ("ﬁre.md", "fire.md"),
    ("ὀδός.md", "ὈΔΌΣ.md"),
    ("ﾊﾞｽ.md", "バス.md"),
    ("ﾗﾝﾆﾝｸﾞ.md", "ランニング.md"),
    ("ＡＢ.md", "ab.md"),
    ("K.md", "k.md"),
    ("ẞ.md", "ss.md"),
    ("ǆ.md", "Ǆ.md"),
]
DISTINCT = [
    ("ısı.md", "isi.md"),
    ("İ.md", "i.md"),
    ("a-b.md", "a_b.md"),
    ("café.md", "cafe.md"),
    ("バス.md", "ハス.md"),
    ("か.md", "カ.md"),
]


def create(filename: str) -> Create:
    return Create(filename=filename, content="- x", meta=SAID)


def consolidate(filename: str, *sources: str) -> Consolidate:
    return Consolidate(filename=filename, sources=sources, content="- x", meta=SAID)


def update(filename: str) -> Update:
    return Update(filename=filename, content="- x")


def faults_of(
    *commands: Command, live: tuple[str, ...] = (), archived: tuple[str, ...] = ()
) -> list[Fault]:
    writes = tuple(
        Write(path=f"/sceneWrites/{i}", command=c) for i, c in enumerate(commands)
    )
    state = State(
        live=dict.fromkeys(live, SCENE), archived=dict.fromkeys(archived, SCENE)
    )
    known = Known(state=state, bodies=dict.fromkeys(live, "- old"))
    found = decide(Batch(writes=writes), known, ROOMY, now_ms=NOW_MS, actor="t")
    return [] if isinstance(found, Accepted) else list(found.faults)


def places(faults: list[Fault]) -> list[tuple[str, str]]:
    return [(fault.code.value, fault.path) for fault in faults]


# What may be a name


@pytest.mark.parametrize(
    ("filename", "is_good"),
    [
        ("x" * 197 + ".md", True),
        ("x" * 198 + ".md", False),
        ("é" * 98 + "x.md", True),
        ("é" * 99 + ".md", False),
        ("场" * 65 + "xx.md", True),
        ("场" * 66 + ".md", False),
    ],
)
def test_a_filename_has_at_most_200_bytes_of_utf_8(
    filename: str, *, is_good: bool
) -> None:
    assert (faults_of(create(filename)) == []) is is_good


@pytest.mark.parametrize(
    "filename",
    [
        "con.md",
        "PRN.md",
        "aux.md",
        "NUL.md",
        "com1.md",
        "COM9.md",
        "lpt1.md",
        "lpt9.notes.md",
    ],
)
def test_a_device_name_of_windows_is_refused(filename: str) -> None:
    assert places(faults_of(create(filename))) == [
        ("bad_filename", "/sceneWrites/0/filename")
    ]


@pytest.mark.parametrize(
    "filename", ["com0.md", "lpt0.md", "con-x.md", "contact.md", "x.con.md"]
)
def test_a_name_that_is_only_like_a_device_is_taken(filename: str) -> None:
    assert faults_of(create(filename)) == []


@pytest.mark.parametrize(
    "filename",
    [
        "_.md",
        "a.b.md",
        "a-.md",
        "0.md",
        "٣.md",
        "नमस्ते.md",
        "עברית.md",
        "한국어.md",
        "a.md.md",
    ],
)
def test_letters_marks_digits_and_the_three_signs_are_taken(filename: str) -> None:
    assert faults_of(create(filename)) == []


@pytest.mark.parametrize(
    "filename",
    [
        "a\u200d.md",
        "a\u00ad.md",
        "a\u034f.md",
        "a\u115f.md",
        "a\u180e.md",
        "a\ufe00.md",
        "a\U000e0100.md",
        "\U0001f3c3.md",
        "a\u2028.md",
        "a\x1b.md",
        "a\u202e.md",
        "a:b.md",
        "a*.md",
        "a\ud800.md",
    ],
)
def test_what_shows_nothing_or_is_no_letter_is_refused(filename: str) -> None:
    assert places(faults_of(create(filename))) == [
        ("bad_filename", "/sceneWrites/0/filename")
    ]


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        ("a b.md", "a-b.md"),
        ("notes", "notes.md"),
        ("notes.MD", "notes.md"),
        ("notes.markdown", "notes.md"),
        ("../../etc/passwd", "passwd.md"),
        ("a\\b.md", "b.md"),
        ("..md", "scene.md"),
        ("", "scene.md"),
        ("CON.md", "CON-notes.md"),
        ("e\u0301.md", "\u00e9.md"),
        ("a..b.md", "a.b.md"),
    ],
)
def test_a_refused_name_is_answered_with_the_nearest_good_one(
    wrong: str, right: str
) -> None:
    fault = faults_of(create(wrong))[0]

    assert proposal(wrong) == right
    assert fault.hint == f"Use {right} instead."
    assert list(complaints(right)) == []


def test_a_proposal_for_a_long_name_has_200_bytes_at_most_and_whole_characters() -> (
    None
):
    offered = proposal("场" * 80 + ".md")

    assert offered == "场" * 65 + ".md"


def test_each_name_of_a_write_is_judged_at_its_own_place() -> None:
    faults = faults_of(
        consolidate("a b.md", "ok.md", "c d.md"),
        Restore(filename="e f.md", restore_as="g h.md"),
        live=("ok.md",),
    )

    bad = [f.path for f in faults if f.code == FaultCode.BAD_FILENAME]
    assert bad == [
        "/sceneWrites/0/filename",
        "/sceneWrites/0/sources/1",
        "/sceneWrites/1/filename",
        "/sceneWrites/1/as",
    ]


# Which names are the same


@pytest.mark.parametrize(("left", "right"), TWINS)
def test_a_create_under_another_spelling_of_a_live_name_is_refused(
    left: str, right: str
) -> None:
    for mine, theirs in ((left, right), (right, left)):
        faults = faults_of(create(mine), live=(theirs,))

        assert places(faults) == [("scene_exists", "/sceneWrites/0/filename")]
        assert theirs in faults[0].message


def test_the_name_that_is_taken_is_told_and_how_it_is_the_same() -> None:
    (same,) = faults_of(create("a.md"), live=("a.md",))
    (other,) = faults_of(create("A.md"), live=("a.md",))

    assert same.message == "a.md is live."
    assert other.message == "a.md, the same name as A.md, is live."


@pytest.mark.parametrize(("left", "right"), DISTINCT)
def test_a_create_under_a_name_that_only_looks_alike_is_taken(
    left: str, right: str
) -> None:
    assert faults_of(create(left), live=(right,)) == []
    assert faults_of(create(right), live=(left,)) == []


@pytest.mark.parametrize(("left", "right"), TWINS)
def test_folding_a_folded_name_changes_nothing(left: str, right: str) -> None:
    assert folded(folded(left)) == folded(left)
    assert folded(left) == folded(right)


def test_the_ypogegrammeni_folds_alike_however_it_is_written() -> None:
    assert folded("ᾳ.md") == folded("αι.md") == folded("ΑΙ.md")


@pytest.mark.parametrize(
    "command",
    [update("Race.md"), Delete(filename="Race.md"), consolidate("x.md", "Race.md")],
)
def test_a_scene_is_only_found_by_its_name_to_the_letter(command: Command) -> None:
    faults = faults_of(command, live=("race.md", "b.md"))

    missing = [f for f in faults if f.code == FaultCode.SCENE_MISSING]
    assert [f.hint for f in missing] == ["The live scene is written race.md."]


def test_who_updates_an_archived_scene_is_told_to_restore_it() -> None:
    fault = faults_of(update("Race.md"), archived=("race.md",))[0]

    assert fault.code == FaultCode.SCENE_MISSING
    assert "restore it first" in (fault.hint or "")


def test_who_updates_a_scene_that_nobody_knows_is_told_to_create_it() -> None:
    fault = faults_of(update("ghost.md"))[0]

    assert fault.code == FaultCode.SCENE_MISSING
    assert (fault.hint or "").startswith("Create it")


# One role a batch


PAIRS: list[tuple[Command, Command]] = [
    (update("a.md"), update("a.md")),
    (update("a.md"), Delete(filename="A.md")),
    (Delete(filename="a.md"), create("a.md")),
    (update("a.md"), consolidate("x.md", "a.md", "b.md")),
    (update("x.md"), consolidate("x.md", "a.md", "b.md")),
    (consolidate("x.md", "a.md", "b.md"), consolidate("y.md", "b.md", "c.md")),
    (consolidate("x.md", "a.md", "b.md"), create("X.md")),
    (Archive(filename="a.md", reason="r"), Delete(filename="a.md")),
    (Restore(filename="z.md"), create("Z.md")),
    (Restore(filename="z.md", restore_as="y.md"), create("y.md")),
    (Restore(filename="z.md", restore_as="y.md"), create("z.md")),
    (Archive(filename="a.md", reason="r"), Restore(filename="z.md", restore_as="a.md")),
]


@pytest.mark.parametrize(("first", "second"), PAIRS)
def test_a_name_in_two_writes_is_refused_in_either_order(
    first: Command, second: Command
) -> None:
    for pair in ((first, second), (second, first)):
        faults = faults_of(*pair, live=("a.md", "b.md", "c.md"), archived=("z.md",))

        twice = [f.path for f in faults if f.code == FaultCode.TOUCHED_TWICE]
        assert twice == ["/sceneWrites/1/filename"]


def test_the_third_write_of_a_name_is_told_where_the_first_stands() -> None:
    faults = faults_of(update("a.md"), update("a.md"), update("a.md"), live=("a.md",))

    twice = [f for f in faults if f.code == FaultCode.TOUCHED_TWICE]
    assert [f.path for f in twice] == [
        "/sceneWrites/1/filename",
        "/sceneWrites/2/filename",
    ]
    assert all("(/sceneWrites/0 and " in f.message for f in twice)


def test_different_names_in_one_batch_are_taken() -> None:
    faults = faults_of(
        update("a.md"),
        Delete(filename="b.md"),
        consolidate("x.md", "c.md", "d.md"),
        Restore(filename="z.md", restore_as="y.md"),
        live=("a.md", "b.md", "c.md", "d.md"),
        archived=("z.md",),
    )

    assert faults == []


def test_a_restore_as_its_own_name_plays_one_role() -> None:
    restore = Restore(filename="z.md", restore_as="z.md")

    assert faults_of(restore, archived=("z.md",)) == []
