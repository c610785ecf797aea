import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from scenestore import Store, layout
from scenestore.organise import organise

HOSTILE = {
    "a META header": "-----META-START-----\nheat: 99\n-----META-END-----\nthe rest",
    "a META line alone": "-----META-START-----",
    "a deletion mark": "[DELETED]",
    "a deletion mark inside": "one\n[Deleted]\ntwo",
    "control characters": "bell \x07 escape \x1b[31m red \x00 nul \x9b csi",
    "odd line ends": "a\r\nb\rc\u2028d\u2029e\x85f\x0bg\x0ch",
    "what looks binary": "".join(chr(1 + n % 255) for n in range(600)),
    "10,000 characters": "the moon rose over the harbour " * 323,
    "10,000 characters without a space": "潮" * 10_000,
    "nothing": "",
    "blanks": " \t\n ",
    "emoji": "👩‍👩‍👧‍👦 went to 🏖️ with 🐕‍🦺, it was 💯",
    "text from the right": "קניתי לחם וחלב בשוק \u202eabc\u202c",
    "a heading": "# not a heading\n## 2026-03-05\n- not a fact",
    "a code fence": "```\nrm -rf /\n```",
    "a path": "../../etc/passwd",
    "a lone surrogate": "half \ud83d of a pair",
}


@pytest.mark.parametrize("content", HOSTILE.values(), ids=HOSTILE.keys())
def test_whatever_a_record_holds_it_is_placed(tmp_path: Path, content: str) -> None:
    ids = wrote(tmp_path, [content, "Bread: the bread was baked for 45 minutes"])

    summary = organise(Store(tmp_path))

    assert summary.unassigned == 0
    assert members(tmp_path) == set(ids)


def test_all_that_is_hostile_can_come_at_once(tmp_path: Path) -> None:
    ids = wrote(tmp_path, list(HOSTILE.values()))

    organise(Store(tmp_path))

    assert members(tmp_path) == set(ids)


def test_lines_that_mean_something_to_the_store_are_left_out(tmp_path: Path) -> None:
    wrote(tmp_path, list(HOSTILE.values()))

    organise(Store(tmp_path))

    assert "META" not in all_text(tmp_path)
    assert "[deleted]" not in all_text(tmp_path).casefold()


def test_newlines_are_folded_into_one_line(tmp_path: Path) -> None:
    wrote(tmp_path, ["odd line ends: a\r\nb\rc\u2028d\u2029e\x85f\x0bg"])

    organise(Store(tmp_path))

    assert "- odd line ends: a b c d e f g" in all_text(tmp_path).split("\n")


def test_no_body_holds_a_control_or_a_turning_character(tmp_path: Path) -> None:
    wrote(tmp_path, list(HOSTILE.values()))

    organise(Store(tmp_path))

    text = all_text(tmp_path).replace("\n", "")
    assert not set(text) & {*map(chr, range(32)), *map(chr, range(127, 160))}
    assert not set(text) & set("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


def test_a_long_fact_is_cut_with_a_mark(tmp_path: Path) -> None:
    wrote(tmp_path, ["Moon: " + "the moon rose over the harbour. " * 300])

    organise(Store(tmp_path))

    line = next(s for s in all_text(tmp_path).split("\n") if "moon rose" in s)
    assert line.endswith("harbour. …")


@pytest.mark.parametrize(
    "scene_name",
    [
        "x" * 5_000,
        "a\nb\x07c",
        "../..",
        "CON",
        "🎉🎉🎉",
        "",
        " ",
        "-----META-START-----",
    ],
)
def test_whatever_the_occasion_is_called_a_scene_is_made(
    tmp_path: Path, scene_name: str
) -> None:
    ids = wrote(tmp_path, ["bread rose", "bread sank"], scene_name=scene_name)

    organise(Store(tmp_path))

    assert members(tmp_path) == set(ids)
    assert all(len(name) <= 60 for name in Store(tmp_path).state().live)


def test_fields_of_wrong_types_are_borne(tmp_path: Path) -> None:
    (ids,) = [wrote(tmp_path, ["bread"])]
    line = {"id": "m_1772701200009_00000009", "content": 7, "priority": "high"}
    with (layout.records_dir(tmp_path) / "2026-03-06.jsonl").open("w") as file:
        file.write(json.dumps({**line, "scene_name": ["x"], "createdAt": None}) + "\n")

    organise(Store(tmp_path))

    assert members(tmp_path) == {*ids, str(line["id"])}


def test_an_access_token_is_masked_and_its_record_a_member(tmp_path: Path) -> None:
    token = "ghp_" + "a1B2" * 10
    ids = wrote(tmp_path, [f"Deploy: the token {token} is in the vault"])

    organise(Store(tmp_path))

    assert members(tmp_path) == set(ids)
    assert token not in all_text(tmp_path)
    assert "Deploy: the token [secret] is in the vault" in all_text(tmp_path)


def test_of_a_private_key_nothing_is_kept(tmp_path: Path) -> None:
    head = "-----BEGIN RSA PRIVATE KEY-----"
    ids = wrote(tmp_path, [f"Deploy key:\n{head}\nMIIEpAIBAAKCAQEA7", "Deploy went on"])

    organise(Store(tmp_path))

    assert members(tmp_path) == set(ids)
    assert "MIIEpAIBAAKCAQEA7" not in all_text(tmp_path)


def test_a_secret_in_an_occasion_reaches_no_name_and_no_summary(tmp_path: Path) -> None:
    token = "ghp_" + "a1B2" * 10
    wrote(tmp_path, ["bread rose", "bread sank"], scene_name=f"Token {token}")

    organise(Store(tmp_path))

    (scene,) = Store(tmp_path).state().live.values()
    assert token not in Store(tmp_path).ledger.objects.blob(scene.blob).decode()


def members(profile: Path) -> set[str]:
    store = Store(profile)
    sets = (store.ledger.sets.ids(s.members) for s in store.state().live.values())
    return set().union(*sets)


def all_text(profile: Path) -> str:
    store = Store(profile)
    return "\n".join(
        store.ledger.block(scene.blob).body for scene in store.state().live.values()
    )


def wrote(
    profile: Path,
    contents: Sequence[str],
    day: str = "2026-03-05",
    *,
    scene_name: str | None = None,
) -> list[str]:
    """Append one record a content to the shard of *day*; return their ids."""
    folder = layout.records_dir(profile)
    folder.mkdir(parents=True, exist_ok=True)
    ids = [f"m_17727{day[-2:]}{n:06d}_{n:08x}" for n in range(len(contents))]
    with (folder / f"{day}.jsonl").open("a") as file:
        for record_id, content in zip(ids, contents, strict=True):
            at = f"{day}T09:00:00.000Z"
            one = record(record_id, content, at)
            if scene_name is not None:
                one["scene_name"] = scene_name
            file.write(json.dumps(one) + "\n")
    return ids


def record(record_id: str, content: str, at: str) -> dict[str, object]:
    return {
        "id": record_id,
        "content": content,
        "type": "episodic",
        "priority": 50,
        "scene_name": content.partition(" ")[0],
        "createdAt": at,
        "updatedAt": at,
    }
