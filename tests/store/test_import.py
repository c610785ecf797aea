"""Scenes from outside: what may come in, and what they are afterwards."""

import json
from typing import Any

import pytest

from scenestore import CallerError, Receipt, import_state
from scenestore.check import check
from scenestore_engine.decide import Rejected

KEY = "AKIA" + "ABCDEFGHIJ234567"
NOW = "2026-04-02T00:00:00.005Z"


def bring(world: Any, payload: object, **fields: Any) -> Any:
    world.wait(ms=1)
    data = payload if isinstance(payload, bytes) else json.dumps(payload).encode()
    return import_state(world.store, data, now=world.now, **fields)


def scene(content: object = "- tea", **fields: object) -> dict[str, object]:
    return {"content": content, **fields}


def codes(outcome: Any) -> set[str]:
    assert isinstance(outcome, Rejected), outcome
    return {str(fault.code) for fault in outcome.faults}


def accepted(outcome: Any) -> Receipt:
    assert isinstance(outcome, Receipt), outcome
    return outcome


def file_of(world: Any, name: str) -> str:
    text: str = (world.l2 / "scene-blocks" / name).read_text()
    return text


def assert_sound(world: Any) -> None:
    assert world.git("status", "--porcelain", "--untracked-files=all") == ""
    assert check(world.store.ledger, world.store.projection, replay=True).problems == ()


# What comes in


def test_a_scene_comes_in_as_it_is_said(world: Any) -> None:
    meta = {
        "created": "2024-01-02T03:04:05.678Z",
        "updated": "2025-01-02T03:04:05.678Z",
        "summary": "Tea",
        "heat": 7,
    }

    outcome = accepted(
        bring(
            world,
            {"scenes": {"tea.md": scene(meta=meta, members=[world.rid(9), "old"])}},
        )
    )

    assert world.live()["tea.md"] == meta | {
        "body": "- tea",
        "members": frozenset({world.rid(9), "old"}),
        "first_seen": NOW,
    }
    assert (outcome.created, outcome.members_missing) == (("tea.md",), ())
    assert outcome.seq == 5
    assert outcome.capacity.live == 4
    assert outcome.coverage.unassigned == 2
    assert_sound(world)


def test_what_is_there_stays(world: Any) -> None:
    before = world.live()

    accepted(bring(world, {"scenes": {"tea.md": scene()}}))

    after = world.live()
    del after["tea.md"]
    assert after == before


def test_what_is_not_said_is_made_up_as_for_any_scene_file(world: Any) -> None:
    accepted(bring(world, {"scenes": {"tea.md": scene("# Green tea\n- x")}}))

    tea = world.live()["tea.md"]
    assert (tea["created"], tea["updated"], tea["heat"], tea["summary"]) == (
        NOW,
        NOW,
        1,
        "Green tea",
    )


@pytest.mark.parametrize("fields", [{}, {"members": None}])
def test_a_scene_without_members_is_marked_so(
    fields: dict[str, object], world: Any
) -> None:
    outcome = accepted(bring(world, {"scenes": {"tea.md": scene(**fields)}}))

    places = json.loads((world.l2 / "scenes.json").read_text())
    assert places["live"]["tea.md"] == {"firstSeen": NOW, "membersUnknown": True}
    assert outcome.members_missing == ("tea.md",)


def test_a_scene_with_an_empty_set_of_members_is_not_marked(world: Any) -> None:
    outcome = accepted(bring(world, {"scenes": {"tea.md": scene(members=[])}}))

    places = json.loads((world.l2 / "scenes.json").read_text())
    assert places["live"]["tea.md"] == {"firstSeen": NOW}
    assert outcome.members_missing == ()


def test_the_mark_stays_until_members_are_said(world: Any) -> None:
    accepted(bring(world, {"scenes": {"tea.md": scene()}}))
    write = {"action": "update", "filename": "tea.md", "content": "- tea\n- x"}
    world.must({"sceneWrites": [write]})
    assert world.store.state().live["tea.md"].members_unknown is True

    world.must({"sceneWrites": [write | {"members": [world.rid(9)]}]})

    assert world.store.state().live["tea.md"].members_unknown is False
    assert_sound(world)


def test_an_archived_scene_comes_into_the_archive(world: Any) -> None:
    accepted(bring(world, {"archived": {"old.md": scene(members=[world.rid(9)])}}))

    state = world.store.state()
    assert (set(state.archived), len(state.live)) == ({"old.md"}, 3)
    assert (world.l2 / "archive" / "scene-blocks" / "old.md").exists()
    assert_sound(world)


def test_one_name_may_be_live_and_archived(world: Any) -> None:
    payload = {"scenes": {"tea.md": scene()}, "archived": {"tea.md": scene("- old")}}

    accepted(bring(world, payload))

    assert_sound(world)


def test_unknown_meta_fields_come_in_as_lines(world: Any) -> None:
    meta = {"summary": "s", "mood": "blue", "last-seen": "in May: twice"}

    accepted(bring(world, {"scenes": {"tea.md": scene(meta=meta)}}))

    header = file_of(world, "tea.md").split("\n")
    assert header[5:7] == ["mood: blue", "last-seen: in May: twice"]


def test_an_unknown_meta_field_may_have_a_name_in_any_script(world: Any) -> None:
    accepted(bring(world, {"scenes": {"tea.md": scene(meta={"天气": "晴"})}}))

    assert file_of(world, "tea.md").split("\n")[5] == "天气: 晴"


def test_an_import_of_nothing_makes_no_commit(world: Any) -> None:
    head = world.store.head()

    outcome = accepted(bring(world, {}))

    assert (outcome.revision, world.store.head()) == (head.id, head)


def test_more_scenes_than_there_is_room_for_come_in(world: Any) -> None:
    many = {f"s{n}.md": scene() for n in range(20)}

    outcome = accepted(bring(world, {"scenes": many}))

    assert (outcome.capacity.live, outcome.capacity.warning) == (23, "red")
    assert_sound(world)


def test_over_capacity_a_create_is_refused_and_an_update_is_not(world: Any) -> None:
    bring(world, {"scenes": {f"s{n}.md": scene() for n in range(20)}})
    create = {"action": "create", "filename": "n.md", "content": "x"}
    update = {
        "action": "update",
        "filename": "race.md",
        "content": "# Race\n- shoes\nx",
    }

    refused = world.commit({"sceneWrites": [create | {"meta": {"summary": "s"}}]})

    assert {error["code"] for error in refused["errors"]} == {"no_room"}
    world.must({"sceneWrites": [update]})


def test_a_body_longer_than_a_batch_may_write_comes_in(world: Any) -> None:
    accepted(bring(world, {"scenes": {"tea.md": scene("x" * 30_000)}}))

    assert world.live()["tea.md"]["body"] == "x" * 30_000


def test_the_cursor_comes_in_and_may_go_back(world: Any) -> None:
    outcome = accepted(bring(world, {"cursor": world.rid(2)}))

    assert (outcome.cursor.before, outcome.cursor.after) == (
        world.rid(11),
        world.rid(2),
    )
    assert json.loads((world.l2 / "cursor.json").read_text())["line"] == 3
    assert_sound(world)


def test_a_dismissed_record_that_comes_in_as_a_member_is_dismissed_no_more(
    world: Any,
) -> None:
    world.must({"dismiss": [world.rid(9), world.rid(10)], "dismissReason": "noise"})

    accepted(bring(world, {"scenes": {"tea.md": scene(members=[world.rid(9)])}}))

    kept = world.store.ledger.sets.ids(world.store.state().dismissed)
    assert kept == frozenset({world.rid(10)})
    assert_sound(world)


def test_windows_lines_and_a_byte_order_mark_are_read(world: Any) -> None:
    data = (
        b'\xef\xbb\xbf{"scenes": {"tea.md": {"content": "\\r\\n- a\\r\\n- b\\r\\n"}}}'
    )

    accepted(bring(world, data))

    assert file_of(world, "tea.md").endswith("\n\n- a\n- b\n")


def test_an_import_is_one_revision_that_says_what_came(world: Any) -> None:
    accepted(bring(world, {"scenes": {"a.md": scene(), "b.md": scene()}}))

    message = world.git("log", "-1", "--format=%B")
    assert message.startswith("import 2 scenes\n\nimport a.md\nimport b.md\n")


# What is refused


REFUSED: dict[str, tuple[object, str]] = {
    "no json": (b"{", "not_json"),
    "a list": ([], "wrong_type"),
    "a key twice": (b'{"cursor": "a", "cursor": "b"}', "duplicate_key"),
    "an unknown field": ({"scene": {}}, "unknown_field"),
    "scenes as a list": ({"scenes": [{"filename": "a.md"}]}, "wrong_type"),
    "scenes as an empty list": ({"scenes": []}, "wrong_type"),
    "scenes as a text": ({"scenes": ""}, "wrong_type"),
    "scenes as a number": ({"archived": 0}, "wrong_type"),
    "scenes as false": ({"archived": False}, "wrong_type"),
    "a cursor of another type": ({"cursor": 5}, "wrong_type"),
    "an unknown cursor": ({"cursor": "ghost"}, "unknown_cursor"),
    "a scene as a text": ({"scenes": {"a.md": "- x"}}, "wrong_type"),
    "a scene as null": ({"scenes": {"a.md": None}}, "wrong_type"),
    "no content": ({"scenes": {"a.md": {}}}, "wrong_type"),
    "content of another type": ({"scenes": {"a.md": scene(5)}}, "wrong_type"),
    "a blank body": ({"scenes": {"a.md": scene(" \n")}}, "body_blank"),
    "a header in the body": (
        {"scenes": {"a.md": scene("-----META-START-----\nx")}},
        "body_has_meta",
    ),
    "an unknown scene field": ({"scenes": {"a.md": scene(x=1)}}, "unknown_field"),
    "meta as a list": ({"scenes": {"a.md": scene(meta=[])}}, "wrong_type"),
    "meta as a text": ({"scenes": {"a.md": scene(meta="")}}, "wrong_type"),
    "heat as a text": ({"scenes": {"a.md": scene(meta={"heat": "1"})}}, "wrong_type"),
    "heat as a truth": ({"scenes": {"a.md": scene(meta={"heat": True})}}, "wrong_type"),
    "heat below zero": ({"scenes": {"a.md": scene(meta={"heat": -1})}}, "wrong_type"),
    "a broken time": (
        {"scenes": {"a.md": scene(meta={"created": "soon"})}},
        "wrong_type",
    ),
    "a time as a number": (
        {"scenes": {"a.md": scene(meta={"updated": 5})}},
        "wrong_type",
    ),
    "a long summary": (
        {"scenes": {"a.md": scene(meta={"summary": "x" * 501})}},
        "wrong_type",
    ),
    "members as a text": ({"scenes": {"a.md": scene(members="x")}}, "wrong_type"),
    "members of numbers": ({"scenes": {"a.md": scene(members=[5])}}, "wrong_type"),
    "a bad record id": (
        {"scenes": {"a.md": scene(members=["x" * 129])}},
        "bad_record_id",
    ),
    "a bad filename": ({"scenes": {"../a.md": scene()}}, "bad_filename"),
    "a live name": ({"scenes": {"RACE.md": scene()}}, "scene_exists"),
    "one name twice": ({"scenes": {"a.md": scene(), "A.md": scene()}}, "scene_exists"),
    "a secret body": ({"scenes": {"a.md": scene(f"- {KEY}")}}, "secret"),
    "a secret summary": ({"scenes": {"a.md": scene(meta={"summary": KEY})}}, "secret"),
    "a secret field": (
        {"scenes": {"a.md": scene(meta={"summary": "s", "mood": KEY})}},
        "secret",
    ),
    "a secret name": ({"scenes": {f"{KEY}.md": scene()}}, "secret"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_this_is_refused_and_no_byte_changes(what: str, world: Any) -> None:
    payload, code = REFUSED[what]
    before = world.bytes_under()

    assert code in codes(bring(world, payload))
    assert world.bytes_under() == before


@pytest.mark.parametrize(
    "meta",
    [
        {"mood\nheat": "9"},
        {"mood": "blue\nheat: 9"},
        {"mood": "blue\rheat: 9"},
        {"mood": "blue\r-----META-END-----\r\r- injected"},
        {"mood": "a\x1b[31m"},
        {"mood": "a\u2028b"},
        {"mo:od": "x"},
        {"mood": 5},
        {"mood": None},
        {"-----META-END-----": "x"},
        {"": "x"},
        {" heat": "9"},
        {"summary": "one\rheat: 9"},
        {"summary": "one\ntwo"},
    ],
)
def test_a_meta_field_that_is_not_one_clean_line_cannot_get_into_the_header(
    meta: dict[str, object], world: Any
) -> None:
    outcome = bring(world, {"scenes": {"tea.md": scene(meta=meta)}})

    if isinstance(outcome, Receipt):  # then it must be there to the letter
        header = file_of(world, "tea.md").split("\n\n")[0].splitlines()
        ((field, value),) = meta.items()
        assert f"{field}: {value}" in header
        assert header[4] == "heat: 1"
        assert_sound(world)
    else:
        assert codes(outcome) <= {"wrong_type", "bad_summary", "bad_text"}


@pytest.mark.parametrize("heat", [999_999_999_999_999, 10**15, 10**17])
def test_a_large_heat_is_kept_or_refused_and_never_changed(
    heat: int, world: Any
) -> None:
    outcome = bring(world, {"scenes": {"tea.md": scene(meta={"heat": heat})}})

    if isinstance(outcome, Receipt):
        assert world.live()["tea.md"]["heat"] == heat


@pytest.mark.parametrize(
    "time",
    [
        "2026-03-03",
        "2026-03-03T01:02:03+02:00",
        "0001-01-01T00:00:00+14:00",
        "9999-12-31T23:59:59-14:00",
    ],
)
def test_a_time_is_kept_as_an_instant_or_refused(time: str, world: Any) -> None:
    outcome = bring(world, {"scenes": {"tea.md": scene(meta={"created": time})}})

    if isinstance(outcome, Receipt):
        assert world.live()["tea.md"]["created"] in (
            "2026-03-03T00:00:00.000Z",
            "2026-03-02T23:02:03.000Z",
        )


def test_a_secret_is_never_repeated_in_a_refusal(world: Any) -> None:
    outcome = bring(world, {"scenes": {"a.md": scene(f"- {KEY}", meta={"x": [KEY]})}})

    assert KEY not in str([fault.message for fault in outcome.faults])


def test_all_that_is_wrong_is_told_at_once_with_its_place(world: Any) -> None:
    payload = {
        "scenes": {
            "a/b.md": scene(" "),
            "race.md": scene(f"- {KEY}", members=["x" * 129]),
            "c.md": scene(meta={"summary": "x" * 501}),
            "d.md": 5,
        },
        "archived": {"e.md": scene(oops=1)},
        "cursor": "ghost",
        "more": 1,
    }

    outcome = bring(world, payload)

    assert {(str(f.code), f.path) for f in outcome.faults} >= {
        ("bad_filename", "/scenes/a~1b.md"),
        ("body_blank", "/scenes/a~1b.md/content"),
        ("scene_exists", "/scenes/race.md"),
        ("secret", "/scenes/race.md/content"),
        ("bad_record_id", "/scenes/race.md/members"),
        ("wrong_type", "/scenes/c.md/meta/summary"),
        ("wrong_type", "/scenes/d.md"),
        ("unknown_field", "/archived/e.md/oops"),
        ("unknown_cursor", "/cursor"),
        ("unknown_field", "/more"),
    }


def test_a_refused_import_is_refused_alike_again_and_then_accepted_when_mended(
    world: Any,
) -> None:
    payload: dict[str, Any] = {"scenes": {"tea.md": scene(" "), "b.md": scene()}}

    first, second = bring(world, payload), bring(world, payload)
    payload["scenes"]["tea.md"] = scene()

    assert first.faults == second.faults
    accepted(bring(world, payload))


def test_an_import_that_is_sent_again_is_refused_and_changes_nothing(
    world: Any,
) -> None:
    payload = {"scenes": {"tea.md": scene()}}
    accepted(bring(world, payload))
    head = world.store.head()

    assert codes(bring(world, payload)) == {"scene_exists"}
    assert world.store.head() == head


def test_the_cursor_that_there_is_makes_no_commit(world: Any) -> None:
    head = world.store.head()

    outcome = accepted(bring(world, {"cursor": world.rid(11)}))

    assert (outcome.revision, world.store.head()) == (head.id, head)


@pytest.mark.parametrize("actor", ["a <b>", "a\nb", "\udcff", " "])
def test_an_import_by_an_actor_that_cannot_be_named_is_refused(
    actor: str, world: Any
) -> None:
    head = world.store.head()

    with pytest.raises(CallerError):
        bring(world, {"scenes": {"tea.md": scene()}}, actor=actor)

    assert world.store.head() == head


def test_an_import_over_a_file_that_a_hand_added_does_not_overwrite_it(
    world: Any,
) -> None:
    path = world.l2 / "scene-blocks" / "tea.md"
    path.write_text("a person's")

    outcome = bring(world, {"scenes": {"tea.md": scene()}})

    assert codes(outcome) == {"drift"}
    assert path.read_text() == "a person's"


def test_a_policy_of_no_secrets_check_lets_all_text_in(world: Any) -> None:
    world.policy(secrets="off")

    accepted(bring(world, {"scenes": {"tea.md": scene(f"- {KEY}")}}))


def test_ten_thousand_members_come_in(world: Any) -> None:
    many = [f"m_{1_772_496_000_000 + n}_{n:08x}" for n in range(10_000)]

    accepted(bring(world, {"scenes": {"tea.md": scene(members=many)}}))

    assert world.live()["tea.md"]["members"] == frozenset(many)
    assert_sound(world)
