"""What a body must keep: what follows from how much it keeps, write by write."""

import pytest

from scenestore_engine.commands import (
    AdvisoryMeta,
    Batch,
    Command,
    Consolidate,
    Create,
    Delete,
    Update,
    Write,
)
from scenestore_engine.decide import Accepted, Decision, Rejected, decide
from scenestore_engine.faults import Notice, NoticeCode
from scenestore_engine.policy import Policy
from scenestore_engine.retention import REQUIRED
from scenestore_engine.rules import is_exempt, measured
from scenestore_engine.state import Known, Meta, Scene, State

NOW_MS = 1_772_496_000_000
OLD = "2026-01-01T00:00:00.000Z"
SAID = AdvisoryMeta(summary="s")
KEY = "AKIA" + "ABCDEFGHIJ234567"
LINES = (
    "- Marta bought a Lindgren Duo in Graz for 420 euros.",
    "- Ilka keeps nine goats behind Quince Hall near Dorn.",
    "- Bertil repairs violins at 16:30 every Tuesday.",
    "- Achim was born on 14 March 2021 in Okpara.",
)
EQUAL = ("- apple", "- bridge", "- candle", "- dragon")
"""Four facts of one weight: each is a quarter of the body, exactly."""


def lines(*chosen: str) -> str:
    return "\n".join(chosen)


def update(content: str, filename: str = "a.md") -> Update:
    return Update(filename=filename, content=content)


def consolidate(content: str, filename: str = "new.md") -> Consolidate:
    sources = ("a.md", "b.md")
    return Consolidate(filename=filename, sources=sources, content=content, meta=SAID)


def create(content: str) -> Create:
    return Create(filename="c.md", content=content, meta=SAID)


def decided(
    *commands: Command,
    bodies: dict[str, str] | None = None,
    policy: Policy | None = None,
) -> Decision:
    """Decide over scenes a.md and b.md, and whatever else *bodies* has."""
    kept = {"a.md": lines(*LINES[:2]), "b.md": lines(*LINES[2:]), **(bodies or {})}
    meta = Meta(created=OLD, updated=OLD, summary="old", heat=1)
    live = {
        name: Scene(blob=name, first_seen=OLD, members="m", meta=meta) for name in kept
    }
    writes = tuple(
        Write(path=f"/sceneWrites/{i}", command=c) for i, c in enumerate(commands)
    )
    known = Known(state=State(live=live), bodies=kept)
    batch = Batch(writes=writes)
    return decide(batch, known, policy or Policy(), now_ms=NOW_MS, actor="t")


def places(found: Decision) -> list[tuple[str, str, str | None]]:
    faults = found.faults if isinstance(found, Rejected) else ()
    return [(fault.code.value, fault.path, fault.filename) for fault in faults]


def lost(found: Decision) -> list[tuple[str, str, int, str]]:
    named = found.lines if isinstance(found, Rejected) else ()
    return sorted((one.filename, one.source, one.line, one.text) for one in named)


def notices(found: Decision, code: NoticeCode) -> list[Notice]:
    assert isinstance(found, Accepted), found
    return [notice for notice in found.notices if notice.code == code]


# Consolidations


def test_a_consolidation_that_keeps_every_fact_says_nothing() -> None:
    found = decided(consolidate(lines(*LINES)))

    assert isinstance(found, Accepted)
    assert found.notices == ()
    (verdict,) = found.verdicts
    assert verdict.score == 1.0


def test_a_consolidation_that_loses_a_fact_is_refused_and_names_it() -> None:
    found = decided(consolidate(lines(*LINES[:3])))

    assert places(found) == [("facts_missing", "/sceneWrites/0/content", "new.md")]
    assert lost(found) == [("new.md", "b.md", 2, LINES[3])]
    assert isinstance(found, Rejected)
    assert "Achim" in found.lines[0].missing
    assert found.faults[0].message.startswith("1 fact of the sources is not in")
    assert found.faults[0].hint is not None


def test_a_consolidation_that_loses_several_facts_names_each() -> None:
    found = decided(consolidate(lines(*LINES[1:3])))

    assert [text for *_, text in lost(found)] == [LINES[0], LINES[3]]
    assert isinstance(found, Rejected)
    assert found.faults[0].message.startswith("2 facts of the sources are not in")


def test_the_facts_of_a_live_target_count_and_those_of_a_new_one_do_not() -> None:
    bodies = {"t.md": "- Livio sold 12 harps in Brno."}
    live = decided(consolidate(lines(*LINES), "t.md"), bodies=bodies)
    whole = lines(*LINES, bodies["t.md"])

    assert lost(live) == [("t.md", "t.md", 1, bodies["t.md"])]
    assert isinstance(decided(consolidate(whole, "t.md"), bodies=bodies), Accepted)
    assert isinstance(decided(consolidate(lines(*LINES)), bodies=bodies), Accepted)


def test_facts_of_a_source_do_not_count_as_kept_by_another_write() -> None:
    body = lines(*LINES[:3])

    assert lost(decided(consolidate(body), create(LINES[3]))) == [
        ("new.md", "b.md", 2, LINES[3])
    ]


@pytest.mark.parametrize(
    ("strength", "is_accepted"), [("off", True), ("standard", True), ("strict", False)]
)
def test_the_policy_says_how_much_is_asked_for(
    strength: str, *, is_accepted: bool
) -> None:
    body = lines(*LINES[:3], "- Achim was born in Okpara.")
    policy = Policy(retention=strength)  # type: ignore[arg-type]

    found = decided(consolidate(body), policy=policy)

    assert isinstance(found, Accepted) == is_accepted


def test_off_asks_for_nothing_and_measures_nothing() -> None:
    found = decided(consolidate("- nothing of it"), policy=Policy(retention="off"))

    assert isinstance(found, Accepted)
    assert found.verdicts == ()
    assert found.notices == ()


def test_facts_of_sources_that_do_not_fit_may_go_and_are_named() -> None:
    words = ("anvil", "basket", "cellar", "drawer", "engine", "funnel", "gutter")
    facts = [f"- Item {n}: {word} {n * 7 + 100}." for n, word in enumerate(words)]
    small = ["- clouds drifted lazily", "- a sparrow chirped outside"]
    bodies = {"a.md": lines(*facts), "b.md": lines(*small)}
    policy = Policy(max_body_chars=len(lines(*facts)))

    found = decided(consolidate(lines(*facts)), bodies=bodies, policy=policy)

    (dropped,) = notices(found, NoticeCode.FACTS_DROPPED)
    assert dropped.filename == "new.md"
    assert dropped.facts["count"] == 2
    told = dropped.facts["lines"]
    assert isinstance(told, list)
    places_told = sorted((one["source"], one["line"], one["text"]) for one in told)
    assert places_told == [("b.md", 1, small[0]), ("b.md", 2, small[1])]
    assert notices(found, NoticeCode.FACTS_DOUBTFUL) == []


def test_a_fact_that_may_be_there_is_named_in_a_notice() -> None:
    rows = ["Ilka keeps bees behind the old mill", "She reads novels on the tram"]
    rows += ["Her brother repairs violins in Graz", "They meet on rainy Sundays"]
    rows += ["She wants to learn to swim", "The garden gate squeaks and nobody minds"]
    old = [f"- {row}." for row in rows]
    body = lines(*old[:-1], "- The garden gate is old.")
    bodies = {"a.md": lines(*old[:3]), "b.md": lines(*old[3:])}

    found = decided(consolidate(body), bodies=bodies)

    (doubtful,) = notices(found, NoticeCode.FACTS_DOUBTFUL)
    assert doubtful.filename == "new.md"
    assert doubtful.facts["count"] == 1
    (line,) = doubtful.facts["lines"]  # type: ignore[misc]
    assert line["source"] == "b.md"
    assert line["line"] == 3
    assert line["text"] == old[-1]
    assert "squeaks" in line["missing"]


def test_each_consolidation_of_a_batch_is_judged_by_itself() -> None:
    bodies = {"d.md": LINES[0], "e.md": LINES[3]}
    other = Consolidate(
        filename="f.md", sources=("d.md", "e.md"), content=LINES[0], meta=SAID
    )

    found = decided(consolidate(lines(*LINES)), other, bodies=bodies)

    assert places(found) == [("facts_missing", "/sceneWrites/1/content", "f.md")]
    assert lost(found) == [("f.md", "e.md", 1, LINES[3])]


def test_a_source_that_is_not_there_is_another_rules_matter() -> None:
    gone = Consolidate(
        filename="n.md", sources=("x.md", "y.md"), content="- x", meta=SAID
    )

    assert {code for code, *_ in places(decided(gone))} == {"scene_missing"}


# Updates


@pytest.mark.parametrize(
    ("kept", "is_accepted"), [(0, False), (1, True), (2, True), (4, True)]
)
def test_an_update_keeps_a_quarter_of_the_facts_or_is_refused(
    kept: int, *, is_accepted: bool
) -> None:
    bodies = {"a.md": lines(*EQUAL)}

    found = decided(update(lines("- Other.", *EQUAL[:kept])), bodies=bodies)

    assert isinstance(found, Accepted) == is_accepted
    if not is_accepted:
        assert places(found) == [("facts_lost", "/sceneWrites/0/content", "a.md")]
        assert [text for *_, text in lost(found)] == list(EQUAL)


def test_a_hair_less_than_a_quarter_is_too_little() -> None:
    bodies = {"a.md": lines(*EQUAL, "- eagle")}

    found = decided(update(lines("- Other.", EQUAL[0])), bodies=bodies)

    assert places(found) == [("facts_lost", "/sceneWrites/0/content", "a.md")]
    assert isinstance(found, Rejected)
    assert "keeps 20% of what a.md said and loses 4 facts" in found.faults[0].message


def test_an_update_that_drops_facts_above_the_floor_names_them() -> None:
    found = decided(update(LINES[0]))

    (dropped,) = notices(found, NoticeCode.FACTS_DROPPED)
    assert dropped.filename == "a.md"
    assert dropped.facts["count"] == 1
    (line,) = dropped.facts["lines"]  # type: ignore[misc]
    assert line | {"missing": None} == {
        "source": "a.md",
        "line": 2,
        "text": LINES[1],
        "missing": None,
    }
    assert {"Ilka", "Quince"} <= set(" ".join(line["missing"]).split())


@pytest.mark.parametrize(
    ("mode", "content", "outcome"),
    [
        ("floor", LINES[0], "noticed"),
        ("floor", "- other", "refused"),
        ("reject", LINES[0], "refused"),
        ("reject", lines(*LINES[:2], "- more"), "silent"),
        ("notice", LINES[0], "noticed"),
        ("notice", "- other", "noticed"),
        ("off", LINES[0], "silent"),
        ("off", "- other", "silent"),
    ],
)
def test_the_policy_says_what_an_update_that_drops_facts_gets(
    mode: str, content: str, outcome: str
) -> None:
    policy = Policy(retention_update=mode)  # type: ignore[arg-type]

    found = decided(update(content), policy=policy)

    if isinstance(found, Rejected):
        assert outcome == "refused"
        assert {code for code, *_ in places(found)} == {"facts_lost"}
        assert found.lines
    else:
        is_noticed = bool(notices(found, NoticeCode.FACTS_DROPPED))
        assert outcome == ("noticed" if is_noticed else "silent")


def test_whether_consolidations_are_judged_says_nothing_of_updates() -> None:
    no_merge = Policy(retention="off")
    no_update = Policy(retention_update="off")

    assert isinstance(decided(update("- other"), policy=no_merge), Rejected)
    assert isinstance(decided(consolidate("- x"), policy=no_update), Rejected)


def test_one_fact_is_told_as_one() -> None:
    found = decided(update("- other"), bodies={"a.md": LINES[0]})

    assert isinstance(found, Rejected)
    assert found.faults[0].message.endswith("loses 1 fact.")


def test_facts_that_move_to_another_body_of_the_batch_are_kept() -> None:
    moved = lines(*LINES[:2])

    for other in (create(moved), update(lines(*LINES), "b.md")):
        found = decided(update("- Moved."), other)
        assert isinstance(found, Accepted)
        assert notices(found, NoticeCode.FACTS_DROPPED) == []


def test_facts_that_move_into_a_consolidation_of_the_batch_are_kept() -> None:
    bodies = {"d.md": "- Livio sold 12 harps in Brno."}
    whole = lines(*LINES, bodies["d.md"])

    found = decided(consolidate(whole), update("- Moved.", "d.md"), bodies=bodies)

    assert isinstance(found, Accepted)
    assert found.notices == ()


def test_a_body_without_facts_loses_none() -> None:
    found = decided(update("- Something."), bodies={"a.md": "# Heading\n\n---"})

    assert isinstance(found, Accepted)
    assert found.notices == ()


def test_a_body_that_stays_is_not_judged() -> None:
    batch = Batch(writes=(Write(path="/w", command=update(lines(*LINES[:2]))),))

    assert (
        measured(batch, Known(bodies={"a.md": lines(*LINES[:2])}), Policy()).updates
        == {}
    )


def test_a_create_loses_nothing() -> None:
    found = decided(create("- x"))

    assert isinstance(found, Accepted)
    assert found.notices == ()


# Deletes


@pytest.mark.parametrize("mode", ["floor", "reject", "notice"])
def test_a_delete_names_the_facts_that_stand_nowhere_else(mode: str) -> None:
    policy = Policy(retention_update=mode)  # type: ignore[arg-type]

    found = decided(Delete(filename="a.md"), create(LINES[1]), policy=policy)

    (dropped,) = notices(found, NoticeCode.FACTS_DROPPED)
    assert dropped.filename == "a.md"
    (line,) = dropped.facts["lines"]  # type: ignore[misc]
    assert line["text"] == LINES[0]


def test_a_delete_whose_facts_stand_in_the_batchs_bodies_says_nothing() -> None:
    bodies = {"d.md": "- old"}
    writes = (update(lines("- old", LINES[0]), "d.md"), create(LINES[1]))

    found = decided(Delete(filename="a.md"), *writes, bodies=bodies)

    assert notices(found, NoticeCode.FACTS_DROPPED) == []


def test_off_lets_a_delete_go_without_a_word() -> None:
    policy = Policy(retention_update="off")

    assert (
        notices(
            decided(Delete(filename="a.md"), policy=policy), NoticeCode.FACTS_DROPPED
        )
        == []
    )


# What is not looked at


@pytest.mark.parametrize(
    "line",
    [
        f"- the key is {KEY}",
        "-----META-START-----",
        "  -----meta-end-----  ",
        "[DELETED]",
        " [deleted] ",
    ],
)
def test_a_line_that_no_body_may_hold_need_not_be_kept(line: str) -> None:
    bodies = {"a.md": lines(*LINES[:2], line)}

    assert is_exempt(line)
    assert isinstance(decided(consolidate(lines(*LINES)), bodies=bodies), Accepted)
    found = decided(
        update(lines("- New.", *LINES[:2])),
        bodies=bodies,
        policy=Policy(retention_update="reject"),
    )
    assert isinstance(found, Accepted)
    assert found.notices == ()


@pytest.mark.parametrize(
    "line", ["- Tea", "", "[DELETED] by Ilka", "META-END", "# [deleted]"]
)
def test_any_other_line_is_looked_for(line: str) -> None:
    assert not is_exempt(line)


@pytest.mark.parametrize("content", ["", " ", "\n\n"])
def test_a_blank_body_is_told_once(content: str) -> None:
    update_only = decided(update(content))
    merge = decided(consolidate(content))

    assert [code for code, *_ in places(update_only)] == ["body_blank"]
    assert "body_blank" in {code for code, *_ in places(merge)}


def test_a_body_far_too_long_is_not_read_for_facts() -> None:
    limit = Policy().max_body_chars
    for command in (update, consolidate):
        short = decided(command("x" * (4 * limit)))
        long = decided(command("x" * (4 * limit + 1)))

        assert len(places(short)) == 2
        assert [code for code, *_ in places(long)] == ["body_too_long"]


def test_a_body_far_too_long_keeps_no_facts_of_other_scenes() -> None:
    moved = lines(*LINES[:2], "")
    just = moved + "x" * (4 * Policy().max_body_chars - len(moved))

    for body, told in (
        (just, {"body_too_long"}),
        (just + "x", {"body_too_long", "facts_lost"}),
    ):
        found = decided(update("- Moved."), create(body))
        assert {code for code, *_ in places(found)} == told


# What is told


def test_a_secret_that_a_fact_holds_is_never_told() -> None:
    block = "-----BEGIN RSA PRIVATE KEY-----"
    long = " ".join(["- The gate was painted green by Ilka in Dorn."] * 12)
    bodies = {"a.md": lines(*LINES[:2], f"{long} {block}. And {KEY} is hers.")}
    policy = Policy(retention_update="notice", secrets="notice")

    found = decided(Delete(filename="a.md"), bodies=bodies, policy=policy)

    assert KEY not in str(found)
    assert block not in str(found)


def test_a_notice_lists_fifty_facts_and_counts_all() -> None:
    many = [f"- Parcel {n} weighs {n * 13 + 1000} grams" for n in range(60)]
    bodies = {"a.md": lines(*many)}

    found = decided(Delete(filename="a.md"), bodies=bodies)

    (dropped,) = notices(found, NoticeCode.FACTS_DROPPED)
    assert dropped.facts["count"] == 60
    assert len(dropped.facts["lines"]) == 50  # type: ignore[arg-type]


def test_all_faults_and_facts_of_a_batch_are_told_at_once() -> None:
    bodies = {"d.md": "- Livio sold 12 harps in Brno."}

    found = decided(
        consolidate(lines(*LINES[:3])), update("- other", "d.md"), bodies=bodies
    )

    assert places(found) == [
        ("facts_missing", "/sceneWrites/0/content", "new.md"),
        ("facts_lost", "/sceneWrites/1/content", "d.md"),
    ]
    assert {filename for filename, *_ in lost(found)} == {"new.md", "d.md"}


def test_the_score_that_is_asked_for_stands_in_the_refusal() -> None:
    found = decided(consolidate("- nothing"))

    assert isinstance(found, Rejected)
    assert f"{REQUIRED['standard']:.2f} is asked for" in found.faults[0].message
