"""Reading scenes: exactly as much as is promised, from exactly the revision named."""

import json
from typing import Any

import pytest

from scenestore import Refusal, Store, durable, import_state, layout
from scenestore.blocks import SceneBlocks


def bring(world: Any, **bodies: str) -> None:
    scenes = {f"{name}.md": {"content": body} for name, body in bodies.items()}
    import_state(world.store, json.dumps({"scenes": scenes}).encode(), now=world.now)


def read(world: Any, *names: str, revision: str | None = None) -> SceneBlocks:
    found = world.store.read_scene_blocks(list(names), revision)
    assert isinstance(found, SceneBlocks), found
    return found


def refused(world: Any, *names: str, revision: str | None = None) -> list[Any]:
    found = world.store.read_scene_blocks(list(names), revision)
    assert isinstance(found, Refusal), found
    return [(str(fault.code), fault.path) for fault in found.errors]


def update(name: str, content: str) -> dict[str, object]:
    write = {"action": "update", "filename": name, "content": content}
    return {"sceneWrites": [write]}


# One scene


def test_a_scene_is_told_whole(world: Any) -> None:
    (block,) = read(world, "race.md").blocks

    assert (block.filename, block.archived) == ("race.md", False)
    assert block.content == "# Race\n- shoes"
    assert (block.chars, block.truncated) == (14, False)
    assert (block.member_count, block.members_truncated) == (3, False)
    assert block.members == tuple(sorted(world.rid(n) for n in (4, 5, 6)))
    assert block.meta.summary == "About race.md"
    assert block.meta.heat == 1
    assert block.meta.created == "2026-03-03T00:00:00.002Z"


@pytest.mark.parametrize(
    ("chars", "told", "truncated"),
    [
        (23_999, 23_999, False),
        (24_000, 24_000, False),
        (24_001, 24_000, True),
        (50_000, 24_000, True),
    ],
)
def test_a_body_is_cut_after_24000_characters(
    chars: int,
    told: int,
    truncated: bool,  # noqa: FBT001 - a row of the table
    world: Any,
) -> None:
    bring(world, long="中" * chars)

    (block,) = read(world, "long.md").blocks

    assert block.content == "中" * told
    assert (block.chars, block.truncated) == (chars, truncated)


def test_a_character_outside_of_the_first_plane_counts_once(world: Any) -> None:
    bring(world, long="😀" * 24_001)

    (block,) = read(world, "long.md").blocks

    assert block.content == "😀" * 24_000


@pytest.mark.parametrize(
    ("count", "told", "truncated"),
    [(1_999, 1_999, False), (2_000, 2_000, False), (2_001, 2_000, True)],
)
def test_members_are_cut_after_2000_ids(
    count: int,
    told: int,
    truncated: bool,  # noqa: FBT001 - a row of the table
    world: Any,
) -> None:
    many = [f"note-{n:05}" for n in range(count)]
    payload = {"scenes": {"long.md": {"content": "- x", "members": many}}}
    import_state(world.store, json.dumps(payload).encode(), now=world.now)

    (block,) = read(world, "long.md").blocks

    assert block.members == tuple(many[:told])
    assert (block.member_count, block.members_truncated) == (count, truncated)


def test_unknown_meta_fields_are_told(world: Any) -> None:
    payload = {"scenes": {"odd.md": {"content": "- x", "meta": {"mood": "blue"}}}}
    import_state(world.store, json.dumps(payload).encode(), now=world.now)

    assert read(world, "odd.md").blocks[0].meta.extra == ("mood: blue",)


# Several scenes


def test_96000_characters_in_all_are_told_and_the_rest_is_omitted(world: Any) -> None:
    bring(world, **{name: name * 24_000 for name in "abcdef"})

    found = read(world, *(f"{name}.md" for name in "abcdef"))

    assert [block.filename for block in found.blocks] == [f"{n}.md" for n in "abcd"]
    assert not any(block.truncated for block in found.blocks)
    assert found.omitted == ("e.md", "f.md")


def test_the_block_that_reaches_96000_is_cut_there(world: Any) -> None:
    bring(world, **{name: name * 20_000 for name in "abcdef"})

    found = read(world, *(f"{name}.md" for name in "abcdef"))

    last = found.blocks[-1]
    assert (last.filename, len(last.content)) == ("e.md", 16_000)
    assert (last.chars, last.truncated) == (20_000, True)
    assert found.omitted == ("f.md",)


def test_a_body_that_was_cut_counts_as_much_as_it_was_told(world: Any) -> None:
    bring(world, **{name: name * 90_000 for name in "abcde"})

    found = read(world, *(f"{name}.md" for name in "abcde"))

    assert [len(block.content) for block in found.blocks] == [24_000] * 4
    assert found.omitted == ("e.md",)


def test_scenes_are_told_in_the_order_asked(world: Any) -> None:
    found = read(world, "race.md", "deploy.md", "running.md")

    names = [block.filename for block in found.blocks]
    assert names == ["race.md", "deploy.md", "running.md"]


def test_a_name_asked_twice_is_told_once(world: Any) -> None:
    found = read(world, "race.md", "ghost.md", "race.md", "ghost.md")

    assert [block.filename for block in found.blocks] == ["race.md"]
    assert found.missing == ("ghost.md",)


def test_a_missing_scene_is_missing_and_never_omitted(world: Any) -> None:
    bring(world, **{name: name * 24_000 for name in "abcd"})

    found = read(world, "a.md", "b.md", "c.md", "d.md", "ghost.md", "race.md")

    assert found.missing == ("ghost.md",)
    assert found.omitted == ("race.md",)


def test_names_are_told_apart_to_the_letter(world: Any) -> None:
    assert read(world, "RACE.md").missing == ("RACE.md",)


# The archive


def test_an_archived_scene_is_told_as_archived(world: Any) -> None:
    world.must(
        {"sceneWrites": [{"action": "archive", "filename": "race.md", "reason": "x"}]}
    )

    (block,) = read(world, "race.md").blocks

    assert (block.archived, block.content) == (True, "# Race\n- shoes")
    assert block.member_count == 3


def test_a_live_scene_comes_before_an_archived_one_of_its_name(world: Any) -> None:
    world.must(
        {"sceneWrites": [{"action": "archive", "filename": "race.md", "reason": "x"}]}
    )
    world.create("race.md", content="- another")

    (block,) = read(world, "race.md").blocks

    assert (block.archived, block.content) == (False, "- another")


# Another revision


@pytest.mark.parametrize(
    "form",
    [
        "{seq}",
        "0{seq}",
        "{id}",
        "g{id}",
        "{id:.7}",
        "g{id:.7}",
        "g{id:.4}",
        "{id}:scene-blocks",
        "HEAD~1",
        " {seq} ",
    ],
)
def test_an_earlier_state_is_read_by_any_name_of_its_revision(
    form: str, world: Any
) -> None:
    then = world.store.head()
    world.must(update("race.md", "# Race\n- shoes\n- in May"))

    found = read(world, "race.md", revision=form.format(seq=then.seq, id=then.id))

    assert found.revision == then.id
    assert found.blocks[0].content == "# Race\n- shoes"


def test_every_seq_reads_its_own_state(world: Any) -> None:
    world.policy(retention_update="off")
    for number in range(5, 12):
        world.must(update("race.md", f"# Race\n- shoes\n- number {number}"))

    for number in range(5, 12):
        found = read(world, "race.md", revision=str(number))
        assert found.blocks[0].content.endswith(f"number {number}")


def test_a_scene_that_came_later_is_missing_then(world: Any) -> None:
    found = read(world, "race.md", "running.md", revision="1")

    assert found.missing == ("race.md",)
    assert [block.filename for block in found.blocks] == ["running.md"]


def test_the_root_has_no_scenes(world: Any) -> None:
    assert read(world, "race.md", revision="0").missing == ("race.md",)


@pytest.mark.parametrize(
    "revision",
    [
        "99",
        "",
        " ",
        "gffff",
        "f" * 40,
        "HEAD~99",
        "HEAD^",
        "main",
        "5\n",
        "١",
        "-1",
        "1e3",
        "abc",
        ":scene-blocks",
        "4:members",
        "\0",
        "x" * 5_000,
    ],
)
def test_an_unknown_revision_is_a_refusal(revision: str, world: Any) -> None:
    assert refused(world, "race.md", revision=revision) == [
        ("unknown_revision", "/revision")
    ]


@pytest.mark.parametrize("what", ["HEAD^{tree}", "HEAD:scene-blocks/race.md"])
def test_the_id_of_another_object_names_no_revision(what: str, world: Any) -> None:
    object_id = world.git("rev-parse", what).strip()

    assert refused(world, "race.md", revision=object_id) == [
        ("unknown_revision", "/revision")
    ]


def test_a_foreign_commit_names_no_revision(world: Any) -> None:
    world.git(
        *("-c", "user.name=x", "-c", "user.email=x@x"),
        *("commit", "--quiet", "--allow-empty", "-m", "x"),
    )
    foreign = world.git("rev-parse", "main").strip()

    assert refused(world, "race.md", revision=foreign) == [
        ("unknown_revision", "/revision")
    ]


# What is refused


def test_no_name_at_all_is_refused(world: Any) -> None:
    assert refused(world) == [("bad_argument", "/filenames")]


@pytest.mark.parametrize(
    "name",
    [
        "../cursor.json",
        "race",
        "a/b.md",
        "",
        ".md",
        "con.md",
        "x" * 300 + ".md",
        "\0.md",
        "\udcff.md",
    ],
)
def test_a_name_that_cannot_be_a_scenes_is_refused_with_its_place(
    name: str, world: Any
) -> None:
    assert refused(world, "race.md", name) == [("bad_filename", "/filenames/1")]


def test_all_that_is_wrong_is_told_at_once(world: Any) -> None:
    told = refused(world, "../a", "b", revision="ghost")

    assert told == [
        ("bad_filename", "/filenames/0"),
        ("bad_filename", "/filenames/1"),
        ("unknown_revision", "/revision"),
    ]


# What reading does not do


def test_reading_writes_nothing(world: Any) -> None:
    before = world.bytes_under()

    read(world, "race.md", "ghost.md", revision="3")

    assert world.bytes_under() == before


def test_reading_waits_for_no_writer(world: Any) -> None:
    with durable.locked(layout.lock_file(world.profile), wait_s=1):
        assert len(read(world, "race.md").blocks) == 1


def test_drift_is_not_read(world: Any) -> None:
    (world.l2 / "scene-blocks" / "race.md").write_text("a person's")

    assert read(world, "race.md").blocks[0].content == "# Race\n- shoes"


def test_a_reader_sees_what_another_process_has_committed(world: Any) -> None:
    with Store(world.profile) as other:
        before = other.read_scene_blocks(["race.md"])
        world.must(update("race.md", "# Race\n- shoes\n- in May"))
        after = other.read_scene_blocks(["race.md"])

    assert isinstance(before, SceneBlocks)
    assert isinstance(after, SceneBlocks)
    assert (before.blocks[0].meta.heat, after.blocks[0].meta.heat) == (1, 2)


@pytest.mark.parametrize(
    ("filenames", "revision"),
    [
        ("race.md", None),
        (None, None),
        (5, None),
        ([5], None),
        ([None], None),
        (["race.md"], 5),
        (["race.md"], b"4"),
        (["race.md"], ["4"]),
    ],
)
def test_wrong_types_are_refused(
    filenames: object, revision: object, world: Any
) -> None:
    found = world.store.read_scene_blocks(filenames, revision)

    assert isinstance(found, Refusal)
