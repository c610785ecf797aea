"""A caller that knows only its own batch and the refusal mends the batch in one retry.

Each batch is right at first, then spoiled as models spoil theirs, then mended by the
table below and sent once more. What the caller needs to know must stand in the refusal:
a code whose batches stay broken has a hint that does not say what to do.
"""

import copy
import json
import math
import os
import random
import re
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from scenestore import Store
from scenestore.clock import Now
from scenestore_engine.times import DAY_MS

Batch = dict[str, Any]
Error = dict[str, Any]
COUNT = 2_000 if os.environ.get("HYPOTHESIS_PROFILE") == "deep" else 200
ASKED = 0.95
T0_MS = 1_772_496_000_000  # 2026-03-03T00:00:00Z
KEY = "AKIA" + "ABCDEFGHIJ234567"
FACTS = {
    "running.md": [
        "Mei runs 42 kilometres every week before breakfast",
        "Her knee surgery was on 14 March 2021 at Riverside clinic",
        "She avoids peanuts because of a severe allergy",
        "Her coach is called Tobias",
    ],
    "race.md": [
        "Mei prefers trail shoes with a wide toe box",
        "She entered the Lakeside marathon under number 8831",
        "Her target time is 3 hours 55 minutes",
    ],
    "deploy.md": [
        "The backend team deploys on Tuesday",
        "A rollback needs the approval of Priya or Olaf",
        "Migrations must finish within 90 seconds",
    ],
    "garden.md": [
        "The garden holds 14 rose bushes from Lyon",
        "Water comes from a well of 22 metres",
        "Aphids are fought with ladybirds, never with poison",
    ],
    "chess.md": [
        "Mei plays the Caro-Kann against Bruno on Fridays",
        "Her rating reached 1874 in May",
        "She keeps her games in a green notebook",
    ],
    "林晓.md": [
        "林晓每天早上六点半去江边慢跑五公里",
        "她对花生严重过敏，外出就餐必须提前说明",
        "2021年3月14日她在仁济医院做了膝盖手术",
    ],
    "travel.md": [
        "Ines booked a sleeper to Porto for 12 June",
        "The hostel asks for 18 euros a night",
        "She needs a visa for Angola, not for Portugal",
    ],
}
OLD = {"hens.md": ["Mei once kept 7 hens"], "straße.md": ["The street has 5 lamps"]}
LATE = "She bought gaiters for 40 euros"
NEW_FACTS = ("She owns 2 watches", "Olaf moved to Graz", "They meet at 7 on Sundays")
LIVE = (*FACTS, "young.md")
MEMBERS = {name: range(4 * at, 4 * at + 3) for at, name in enumerate(FACTS)}


# The world


def rid(number: int) -> str:
    return f"m_{T0_MS + number * 1000}_{number:04x}"


def body(lines: list[str], title: str = "") -> str:
    return "\n".join([f"# {title}"] * bool(title) + [f"- {line}" for line in lines])


class Shop:
    """A store with a history, and the way to send it something without effect."""

    def __init__(self, profile: Path) -> None:
        self.now_ms = T0_MS
        self.store = Store(profile, actor="repair")
        folder = profile / "memoryDB" / "l1" / "records"
        folder.mkdir(parents=True)
        for shard, ids in (("2026-03-03", range(32)), ("2026-03-04", range(32, 64))):
            rows = (json.dumps({"id": rid(n), "content": "a fact"}) for n in ids)
            (folder / f"{shard}.jsonl").write_text("\n".join(rows) + "\n")
        policy = "max_scenes = 9\nstrict_members = true\nkeep_refusals = false\n"
        (profile / "memoryDB" / "scenestore.toml").write_text(policy)
        self.store.init(now=Now(T0_MS, is_overridden=True))
        for at, (name, lines) in enumerate(OLD.items()):
            self.must(create(name, lines, members=[rid(40 + at)]))
        self.now_ms += 30 * DAY_MS
        for name in OLD:
            self.must({"action": "archive", "filename": name, "reason": "Cold"})
        for name, lines in FACTS.items():
            members = [rid(n) for n in MEMBERS[name]]
            self.must(create(name, lines, members=members))
        self.now_ms += 30 * DAY_MS
        self.must(create("young.md", ["Ines drinks 3 cups of oolong"], members=[]))
        self.must(cursor=rid(35), dismiss=[rid(36)], dismissReason="Small talk")
        self.base = self.store.head().id
        late = {"action": "update", "content": body([*FACTS["race.md"], LATE], "race")}
        self.must(late | {"filename": "race.md"})
        self.head = self.store.head().id
        self.must({"action": "update", "filename": "young.md", "content": TEA}, **KEYED)
        self.head = self.store.head().id

    def must(self, *writes: Batch, **fields: object) -> None:
        self.now_ms += 1
        request = {"sceneWrites": list(writes), **fields}
        now = Now(self.now_ms, is_overridden=True)
        answer = self.store.l2_commit(request, now=now)
        assert answer["success"], answer

    def send(self, batch: Batch | str) -> Any:
        """What the batch would be answered: the store stays as it is."""
        if isinstance(batch, dict):
            batch = {**batch, "dryRun": True}
        now = Now(self.now_ms + 1, is_overridden=True)
        return self.store.l2_commit(batch, now=now)


TEA = "- Ines drinks 3 cups of oolong\n- Never after 5"
KEYED = {"idempotencyKey": "used"}


def create(name: str, lines: list[str], **fields: object) -> Batch:
    title = name.removesuffix(".md")
    write = {"action": "create", "filename": name, "content": body(lines, title)}
    return {**write, "meta": {"summary": f"About {title}"}, **fields}


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shop]:
    shop = Shop(tmp_path_factory.mktemp("repair") / "profile")
    yield shop
    shop.store.close()


# Batches that are right


def lines_of(name: str) -> list[str]:
    return [*FACTS[name], *([LATE] if name == "race.md" else [])]


def right(rng: random.Random, shop: Shop) -> Batch:
    """A batch that the store would take."""
    names = rng.sample(list(FACTS), len(FACTS))
    kinds = rng.sample(["update", "update", "delete", "archive", "merge", "create"], 3)
    writes = []
    for kind in kinds[: rng.randint(1, 3)]:
        name = names.pop()
        given = {"filename": name}
        match kind:
            case "update":
                more = rng.sample(NEW_FACTS, rng.randint(1, 2))
                given["content"] = body([*lines_of(name), *more], name)
                if rng.random() < 0.5:
                    given["members"] = [rid(n) for n in (*MEMBERS[name], 37)]
                elif rng.random() < 0.5:
                    given["addMembers"] = [rid(37), rid(38)]
            case "delete":
                given["reason"] = "Nobody asks for it"
            case "archive":
                given["reason"] = "Not recalled for two months"
            case "create":
                given = create("bees.md", list(NEW_FACTS), members=[rid(39)])
            case _:
                given = merged(rng, name, names.pop())
        writes.append({"action": kind, **given})
    batch: Batch = {"sceneWrites": writes}
    extra = {
        "cursor": rid(rng.randint(36, 60)),
        "dismiss": [rid(n) for n in rng.sample(range(50, 60), 3)],
        "baseRevision": shop.head,
        "idempotencyKey": f"k{rng.random()}",
        "personaSignal": True,
    }
    batch |= {name: extra[name] for name in extra if rng.random() < 0.3}
    if "dismiss" in batch:
        batch["dismissReason"] = "Small talk"
    if "personaSignal" in batch:
        batch["personaReason"] = "A new job"
    return batch


def merged(rng: random.Random, one: str, other: str) -> Batch:
    sources = [one, other]
    lines = [line for name in sources for line in lines_of(name)]
    write = {"action": "consolidate", "filename": "both.md", "sources": sources}
    if rng.random() < 0.4:
        write["members"] = [rid(n) for name in sources for n in MEMBERS[name]]
    rng.shuffle(lines)
    summary = {"summary": "Both in one"}
    return {**write, "content": body(lines, "Both"), "meta": summary}


# How models spoil them: each returns whether there was something to spoil


Spoil = Callable[[random.Random, Batch, Shop], bool]
SPOILS: list[Spoil] = []
WORDS = {
    "create": ["add", "new", "create_scene"],
    "update": ["write", "edit", "append", "modify", "replace"],
    "delete": ["remove", "erase", "drop"],
    "consolidate": ["merge", "combine", "Consolidate"],
    "archive": ["archieve", "archived"],
}
FIELDS = {
    "content": ["body", "text", "markdown"],
    "filename": ["file", "name", "path", "file_name"],
    "members": ["memberIds", "member_ids", "ids"],
    "addMembers": ["add_members", "newMembers"],
    "sources": ["from", "source_files"],
    "reason": ["why", "note"],
    "cursor": ["nextCursor", "lastRecordId"],
    "dismiss": ["dismissed"],
    "sceneWrites": ["writes", "scene_writes"],
}
PADDING = [f"Some say it is good to think of this {n} times a day" for n in range(40)]


def spoils(spoil: Spoil) -> Spoil:
    SPOILS.append(spoil)
    return spoil


def pick(rng: random.Random, batch: Batch, *fields: str) -> Batch | None:
    """A write that has all *fields*."""
    found = [w for w in batch.get("sceneWrites", []) if w.keys() >= set(fields)]
    return rng.choice(found) if found else None


@spoils
def wrong_action(rng: random.Random, batch: Batch, _: Shop) -> bool:
    write = pick(rng, batch, "action")
    if write is None or write["action"] not in WORDS:
        return False
    write["action"] = rng.choice(WORDS[write["action"]])
    return True


@spoils
def wrong_field(rng: random.Random, batch: Batch, _: Shop) -> bool:
    places = [batch, *batch.get("sceneWrites", [])]
    found = [(p, field) for p in places for field in FIELDS if field in p]
    if not found:
        return False
    place, field = rng.choice(found)
    place[rng.choice(FIELDS[field])] = place.pop(field)
    return True


@spoils
def field_of_ones_own(rng: random.Random, batch: Batch, _: Shop) -> bool:
    place = rng.choice([batch, *batch["sceneWrites"]])
    place[rng.choice(["force", "overwrite", "priority", "confidence"])] = True
    return True


@spoils
def meta_beside_meta(rng: random.Random, batch: Batch, _: Shop) -> bool:
    write = pick(rng, batch, "meta")
    if write is None or not isinstance(write["meta"], dict):
        return False
    if rng.random() < 0.5:
        write |= write.pop("meta")
    else:
        write["meta"] = {"title": write["meta"].get("summary", "x"), "heat": 2}
    return True


@spoils
def meta_as_text(rng: random.Random, batch: Batch, _: Shop) -> bool:
    write = pick(rng, batch, "meta")
    if write is not None:
        write["meta"] = rng.choice(["A summary", {}, {"summary": "S", "heat": "2"}])
    return write is not None


@spoils
def bad_name(rng: random.Random, batch: Batch, _: Shop) -> bool:
    write = pick(rng, batch, "filename", "content")
    if write is None or write["filename"] in LIVE:
        return False
    names = ["two words.md", "bees", "bees.MD", "bées🐝.md", "a/b.md", "CON.md", "a:b"]
    write["filename"] = rng.choice(names)
    return True


@spoils
def name_in_capitals(rng: random.Random, batch: Batch, _: Shop) -> bool:
    write = pick(rng, batch, "filename")
    if write is None or write["filename"] not in LIVE:
        return False
    write["filename"] = write["filename"].capitalize()
    return True


@spoils
def path_for_name(rng: random.Random, batch: Batch, _: Shop) -> bool:
    write = pick(rng, batch, "filename")
    if write is not None:
        write["filename"] = f"scene-blocks/{write['filename']}"
    return write is not None


@spoils
def name_that_is_not_there(rng: random.Random, batch: Batch, _: Shop) -> bool:
    write = pick(rng, batch, "filename")
    if write is not None:
        write["filename"] = rng.choice(["ghost.md", "hens.md", "runing.md", "young.md"])
    return write is not None


@spoils
def create_of_what_is_there(rng: random.Random, batch: Batch, _: Shop) -> bool:
    name = rng.choice(["garden.md", "Chess.md", "RUNNING.md"])
    batch["sceneWrites"].append(create(name, list(NEW_FACTS), members=[]))
    return True


@spoils
def too_many_of_a_kind(rng: random.Random, batch: Batch, _: Shop) -> bool:
    new = [create(f"new-{n}.md", [NEW_FACTS[n]], members=[]) for n in range(2)]
    gone = [{"action": "delete", "filename": n} for n in list(FACTS)[:3]]
    cold = [
        {"action": "archive", "filename": n, "reason": "x"} for n in list(FACTS)[:2]
    ]
    batch["sceneWrites"] += rng.choice([new, gone, cold])
    return True


@spoils
def touched_again(rng: random.Random, batch: Batch, _: Shop) -> bool:
    write = pick(rng, batch, "filename")
    if write is None:
        return False
    name = rng.choice([write["filename"], *write.get("sources", [])[:1]])
    batch["sceneWrites"].insert(
        rng.randint(0, 2),
        rng.choice(
            [
                {"action": "delete", "filename": name},
                create(name, list(NEW_FACTS), members=[]),
                {"action": "update", "filename": name, "content": write.get("content")},
            ]
        ),
    )
    return True


@spoils
def archived_or_young(rng: random.Random, batch: Batch, _: Shop) -> bool:
    young = {"action": "archive", "filename": "young.md", "reason": "Cold"}
    old = {"action": "update", "filename": "hens.md", "content": "- Mei keeps 8 hens"}
    live = {"action": "restore", "filename": "garden.md"}
    onto = {"action": "restore", "filename": "hens.md", "as": "chess.md"}
    batch["sceneWrites"].append(rng.choice([young, old, live, onto]))
    return True


@spoils
def no_room(_: random.Random, batch: Batch, __: Shop) -> bool:
    batch["sceneWrites"] += [{"action": "restore", "filename": name} for name in OLD]
    return True


@spoils
def sources_gone_wrong(rng: random.Random, batch: Batch, _: Shop) -> bool:
    write = pick(rng, batch, "sources")
    if write is None or not isinstance(write["sources"], list):
        return False
    sources = write["sources"]
    wrong = [["ghost.md", *sources], [*sources, sources[0]], ", ".join(sources)]
    if rng.random() < 0.25:
        write["filename"] = sources[0]
    else:
        write["sources"] = rng.choice(wrong)
    return True


@spoils
def sources_where_none_belong(rng: random.Random, batch: Batch, _: Shop) -> bool:
    write = pick(rng, batch, "action")
    if write is None or write["action"] not in ("update", "create"):
        return False
    write[rng.choice(["sources", "as"])] = write["filename"]
    return True


@spoils
def too_long(rng: random.Random, batch: Batch, _: Shop) -> bool:
    write = pick(rng, batch, "content")
    if write is None or not isinstance(write["content"], str):
        return False
    lines = write["content"].split("\n")
    at = rng.choice([len(lines), len(lines), rng.randint(0, len(lines))])
    lines[at:at] = [f"- {line}" for line in PADDING]
    write["content"] = "\n".join(lines)
    return True


@spoils
def no_body(rng: random.Random, batch: Batch, _: Shop) -> bool:
    write = pick(rng, batch, "content")
    if write is not None:
        write["content"] = rng.choice(["", " \n", None])
    return write is not None


@spoils
def header_in_the_body(rng: random.Random, batch: Batch, _: Shop) -> bool:
    write = pick(rng, batch, "content")
    if write is None or not isinstance(write["content"], str):
        return False
    header = "-----META-START-----\nsummary: x\nheat: 3\n-----META-END-----\n\n"
    write["content"] = header + write["content"]
    return True


@spoils
def mark_or_secret_in_the_body(rng: random.Random, batch: Batch, _: Shop) -> bool:
    write = pick(rng, batch, "content")
    if write is None or not isinstance(write["content"], str):
        return False
    lines = write["content"].split("\n")
    bad = rng.choice(["[DELETED]", f"- The key is {KEY}", f"- token: ghp_{'a1B2' * 9}"])
    lines.insert(rng.randint(0, len(lines)), bad)
    write["content"] = "\n".join(lines)
    return True


@spoils
def body_as_lines(rng: random.Random, batch: Batch, _: Shop) -> bool:
    write = pick(rng, batch, "content")
    if write is None or not isinstance(write["content"], str):
        return False
    write["content"] = write["content"].split("\n")
    return True


@spoils
def bad_line(rng: random.Random, batch: Batch, _: Shop) -> bool:
    line = rng.choice(["", "  ", "one\ntwo", "x" * 600, f"see {KEY}"])
    write = pick(rng, batch, rng.choice(["meta", "reason"]))
    if write is None:
        batch |= {"personaSignal": True, "personaReason": line}
    elif isinstance(write.get("meta"), dict):
        write["meta"]["summary"] = line
    else:
        write["reason"] = line
    return True


@spoils
def no_reason(rng: random.Random, batch: Batch, _: Shop) -> bool:
    write = pick(rng, batch, "reason")
    fields = [f for f in ("dismissReason", "personaReason") if f in batch]
    if write is not None and write["action"] == "archive":
        del write["reason"]
    elif fields:
        del batch[rng.choice(fields)]
    else:
        return False
    return True


@spoils
def facts_dropped(rng: random.Random, batch: Batch, _: Shop) -> bool:
    write = pick(rng, batch, "content")
    if write is None or not isinstance(write["content"], str):
        return False
    lines = write["content"].split("\n")
    for _ in range(rng.randint(1, max(1, len(lines) - 2))):
        del lines[rng.randrange(len(lines))]
    write["content"] = "\n".join(lines)
    return True


@spoils
def numbers_changed(rng: random.Random, batch: Batch, _: Shop) -> bool:
    write = pick(rng, batch, "content")
    if write is None or not isinstance(write["content"], str):
        return False
    write["content"] = re.sub(
        r"\d+", lambda found: str(int(found[0]) + rng.randint(1, 9)), write["content"]
    )
    return True


@spoils
def whole_body_replaced(rng: random.Random, batch: Batch, _: Shop) -> bool:
    write = pick(rng, batch, "content")
    if write is not None:
        texts = [
            "- She owns 2 watches",
            "- 她每周跑很多公里，教练很严格",
            "# Sport\n- A lot",
        ]
        write["content"] = rng.choice(texts)
    return write is not None


@spoils
def members_left_out(rng: random.Random, batch: Batch, _: Shop) -> bool:
    write = pick(rng, batch, "content")
    if write is None:
        return False
    had = write.get("members") or []
    few = had[: len(had) // 2] if isinstance(had, list) else []
    write["members"] = rng.choice([[rid(37)], few, []])
    return True


@spoils
def ids_gone_wrong(rng: random.Random, batch: Batch, _: Shop) -> bool:
    write = pick(rng, batch, "content")
    if write is None:
        return False
    made_up = [f"m_{T0_MS + n * 977}_beef" for n in range(rng.randint(1, 8))]
    bad = [made_up, [""], [rid(38) + "\n" + rid(39)], ", ".join([rid(38), rid(39)])]
    write["addMembers"] = rng.choice([*bad, [{"id": rid(38)}], [rid(38), None]])
    return True


@spoils
def dismissals_gone_wrong(rng: random.Random, batch: Batch, _: Shop) -> bool:
    wrong = [[rid(0)], ["ghost"], [rid(40), rid(55)], rid(55), [rid(0), "x", rid(56)]]
    batch["dismiss"] = rng.choice([*wrong, [rid(n) for n in range(8)]])
    batch["dismissReason"] = "Small talk"
    return True


@spoils
def dismissed_and_made_a_member(rng: random.Random, batch: Batch, _: Shop) -> bool:
    write = pick(rng, batch, "content")
    if write is None:
        return False
    write["addMembers"] = [rid(57)]
    batch |= {"dismiss": [rid(57), rid(58)], "dismissReason": "Small talk"}
    return True


@spoils
def cursor_gone_wrong(rng: random.Random, batch: Batch, _: Shop) -> bool:
    batch["cursor"] = rng.choice([rid(12), rid(0), "ghost", "13", "", 40])
    return True


@spoils
def base_gone_wrong(rng: random.Random, batch: Batch, shop: Shop) -> bool:
    batch["baseRevision"] = rng.choice([shop.base, "deadbeef", "99", "", 3])
    for write in batch["sceneWrites"]:
        content = write.get("content")
        if batch["baseRevision"] == shop.base and isinstance(content, str):
            write["content"] = content.replace(f"\n- {LATE}", "")
    return True


@spoils
def key_gone_wrong(rng: random.Random, batch: Batch, _: Shop) -> bool:
    batch["idempotencyKey"] = rng.choice(["used", "a\nb", "", "k" * 300])
    return True


@spoils
def flag_as_text(rng: random.Random, batch: Batch, _: Shop) -> bool:
    batch |= {"personaSignal": rng.choice(["true", "yes"]), "personaReason": "A job"}
    return True


@spoils
def one_write_for_all(_: random.Random, batch: Batch, __: Shop) -> bool:
    if len(batch.get("sceneWrites", [])) != 1:
        return False
    batch["sceneWrites"] = batch["sceneWrites"][0]
    return True


def as_text(rng: random.Random, batch: Batch) -> Batch | str:
    """The batch as a model prints it when it forgets what JSON is."""
    text = json.dumps(batch | {"dryRun": True}, ensure_ascii=False)
    wrong = [f"```json\n{text}\n```", f"Here it is:\n{text}", text[:-1] + ",}"]
    return rng.choice([*wrong, text.replace('"', "'"), text[: len(text) // 2]])


def spoiled(rng: random.Random, shop: Shop) -> tuple[Batch, Batch | str, list[str]]:
    """A batch with one to three mistakes, as it is meant and as it is sent."""
    batch = right(rng, shop)
    done: list[str] = []
    if rng.random() < 0.03:
        return batch, as_text(rng, batch), ["as_text"]
    for spoil in rng.sample(SPOILS, len(SPOILS)):
        if isinstance(batch.get("sceneWrites"), list) and spoil(rng, batch, shop):
            done.append(spoil.__name__)
        if len(done) == 3 or (done and rng.random() < 0.4):
            break
    return batch, batch, done


# The caller


class Repair:
    """A batch, and what a refusal says of it; the store is out of sight.

    Each repair is told the error, what holds the value it is about, and the key in it.
    """

    def __init__(self, batch: Batch, refusal: Any) -> None:
        self.batch = copy.deepcopy(batch)
        self.refusal = refusal
        for error in sorted(refusal["errors"], key=in_turn):
            repair = REPAIRS[error["code"]]
            if repair in OF_ALL_WRITES or self.write(error) is not None:
                repair(self, error, *self.place(error["path"].split("/")[1:]))
        if isinstance(self.batch.get("sceneWrites"), list):
            self.batch["sceneWrites"] = [w for w in self.batch["sceneWrites"] if w]

    def place(self, steps: list[str]) -> tuple[Any, Any]:
        at: Any = self.batch
        for step in steps[:-1]:
            at = at[int(step)] if isinstance(at, list) else at.setdefault(step, {})
            if at is None:  # a write that another repair has dropped
                break
        last = steps[-1] if steps else ""
        return at, int(last) if isinstance(at, list) else last

    def write(self, error: Error) -> Any:
        """The write that the error is about, else the batch; None once dropped."""
        if not error["path"].startswith("/sceneWrites/"):
            return self.batch
        return self.batch["sceneWrites"][int(error["path"].split("/")[2])]

    def drop_write(self, error: Error, *_: Any) -> None:
        self.batch["sceneWrites"][int(error["path"].split("/")[2])] = None

    def drop(self, _: Error, at: Any, key: Any) -> None:
        at[key] = None

    def again(self, error: Error, *_: Any) -> None:
        """Send it as it is: a proper encoder writes it this time."""

    def rename_field(self, error: Error, at: Any, key: Any) -> None:
        value, hint = at.pop(key), error.get("hint") or ""
        named = re.search(r"`(\w+)`", hint)
        if not named:
            return
        if "Did you mean" in hint:
            at.setdefault(named[1], value)
        elif "in the `meta`" in hint:
            self.write(error).setdefault("meta", {})[named[1]] = value
        elif "stands in a write" in hint and at is self.batch:
            writes = at.setdefault("sceneWrites", [])
            writes[0:1] = [{**(writes[0] if writes else {}), named[1]: value}]
        elif "stands in a write" in hint:
            self.write(error)[named[1]] = value

    def rename_action(self, error: Error, at: Any, key: Any) -> None:
        named = re.search(r"`(\w+)`", error.get("hint") or "")
        if named:
            at[key] = named[1]
        else:
            self.drop_write(error)

    def retype(self, error: Error, at: Any, key: Any) -> None:
        value, wanted = at[key], error["message"].partition(", got ")[0]
        match value:
            case str() if wanted.endswith("an array of texts"):
                at[key] = re.findall(r"[^\s,\[\]\"']+", value)
            case str() if wanted.endswith("an object"):
                at[key] = {"summary": value}
            case str() if wanted.endswith("true or false"):
                at[key] = value.lower() in ("true", "yes")
            case list() if key == "content":
                at[key] = "\n".join(value)
            case dict() if wanted.endswith("an array of writes"):
                at[key] = [value]
            case {"id": record_id}:
                at[key] = record_id
            case _:
                at[key] = None
        if isinstance(at, list):
            at[:] = [item for item in at if item is not None]

    def supply(self, error: Error, at: Any, key: Any) -> None:
        if "eason" in key or key == "summary":
            at[key] = at.get(key) or "As was asked"
        elif at.get(key) is None:
            self.drop_write(error)

    def one_line(self, _: Error, at: Any, key: Any) -> None:
        at[key] = " ".join(str(at[key]).split())[:500] or "As was asked"

    def take_name(self, error: Error, at: Any, key: Any) -> None:
        named = re.search(r"Use (.+) instead", error["hint"])
        at[key] = named[1] if named else at[key]

    def find_scene(self, error: Error, at: Any, key: Any) -> None:
        named = re.search(r"is written (.+)\.$", error["hint"])
        if at[key] != error["filename"]:
            return  # another repair has changed the name
        if named:
            at[key] = named[1]
        elif isinstance(at, list) and len(at) > 2:
            self.write(error)["sources"] = at[:key] + at[key + 1 :]
        else:
            self.drop_write(error)

    def other_name(self, error: Error, at: Any, key: Any) -> None:
        if at[key] == error["filename"]:
            place = "as" if '"as"' in error["hint"] else key
            at[place] = f"{error['filename'].removesuffix('.md')}-2.md"

    def touch_once(self, error: Error, *_: Any) -> None:
        """Drop the later write, unless the earlier one is gone by now."""
        found = re.search(r"\(/sceneWrites/(\d+) ", error["message"])
        if found is None or self.batch["sceneWrites"][int(found[1])] is not None:
            self.drop_write(error)

    def mend_sources(self, error: Error, write: Any, _: Any) -> None:
        target = write["filename"].casefold()
        once = {source.casefold(): source for source in reversed(write["sources"])}
        write["sources"] = [once[fold] for fold in reversed(once) if fold != target]
        if target in once and len(write["sources"]) == 1:
            write["sources"].append(once[target])
            write["filename"] = f"{write['filename'].removesuffix('.md')}-all.md"
        elif len(write["sources"]) < 2:
            self.drop_write(error)

    def keep_few(self, error: Error, *_: Any) -> None:
        found = re.search(r"(\w+) a scene; a batch may hold (\d+)", error["message"])
        assert found is not None
        self.keep_only(int(found[2]), found[1])

    def make_room(self, error: Error, *_: Any) -> None:
        left, most = map(int, re.findall(r"\d+", error["message"]))
        kinds = ("create", "restore")
        adds = [w for w in self.batch["sceneWrites"] if w and w["action"] in kinds]
        self.keep_only(len(adds) - (left - most), *kinds)

    def keep_only(self, count: int, *actions: str) -> None:
        for at, write in enumerate(self.batch["sceneWrites"]):
            if write and write["action"] in actions:
                count -= 1
                if count < 0:
                    self.batch["sceneWrites"][at] = None

    def give_body(self, error: Error, at: Any, key: Any) -> None:
        if at["action"] == "create":
            at[key] = "- As was asked"
        else:
            self.drop_write(error)

    def cut(self, error: Error, at: Any, key: Any) -> None:
        """Cut at a line's end, with room for what is to be put back."""
        found = re.search(r"by (\d+)", error["hint"])
        assert found is not None
        more = sum(len(fact) + 1 for fact in self.facts_for(error))
        at[key] = at[key][: len(at[key]) - int(found[1]) - more + 1]
        at[key] = at[key].rpartition("\n")[0]

    def without_header(self, _: Error, at: Any, key: Any) -> None:
        rest = re.split(r"(?im)^\s*-----META-END-----\s*$", at[key])[-1]
        at[key] = re.sub(r"(?im)^\s*-----META-START-----\s*$", "", rest)

    def without_mark(self, _: Error, at: Any, key: Any) -> None:
        at[key] = re.sub(r"(?im)^\s*\[deleted\]\s*$\n?", "", at[key])

    def without_secret(self, error: Error, at: Any, key: Any) -> None:
        told = error["message"].partition(" of the text")[0]
        gone = {int(number) for number in re.findall(r"\d+", told)}
        lines = enumerate(at[key].split("\n"), start=1)
        rest = "\n".join(line for number, line in lines if number not in gone)
        at[key] = rest or "As was asked"

    def facts_for(self, error: Error) -> list[str]:
        lines = self.refusal.get("consolidation", {}).get("lines", [])
        return [fact["text"] for fact in lines if fact["filename"] == error["filename"]]

    def put_back(self, error: Error, at: Any, key: Any) -> None:
        at[key] = "\n".join([at[key], *self.facts_for(error)])

    def fill_gaps(self, _: Error, at: Any, key: Any) -> None:
        names = [at["filename"], *(at.get("sources") or [])]
        for gap in self.refusal["consolidation"]["memberGaps"]:
            at[key] += gap["ids"] if gap["filename"] in names else []

    def drop_ids(self, error: Error, at: Any, key: Any) -> None:
        """Drop the ids that the message names."""
        told = re.split(r"[\s,']+", error["message"].rstrip("."))
        ids = [one for one in at[key] or [] if one and ascii(one)[1:-1] not in told]
        at[key] = ids or (None if key != "members" else [])

    def on_head(self, error: Error, *_: Any) -> None:
        """Take the head for the base, and over what it added."""
        self.batch["baseRevision"] = self.refusal["head"]
        write = self.write(error)
        for conflict in self.refusal.get("conflicts", []):
            if conflict["filename"] == error.get("filename") and write.get("content"):
                diff = conflict["diff"].split("\n")[2:]
                lines = write["content"].split("\n")
                new = (line[1:] for line in diff if line.startswith("+"))
                lines += [line for line in new if line not in lines]
                write["content"] = "\n".join(lines)

    def new_key(self, _: Error, at: Any, key: Any) -> None:
        at[key] = f"another-{len(str(at[key]))}"


REPAIRS: dict[str, Callable[[Repair, Error, Any, Any], None]] = {
    "not_json": Repair.again,
    "unknown_field": Repair.rename_field,
    "unknown_action": Repair.rename_action,
    "field_not_allowed": Repair.drop,
    "wrong_type": Repair.retype,
    "missing_field": Repair.supply,
    "bad_filename": Repair.take_name,
    "too_many_creates": Repair.keep_few,
    "too_many_archives": Repair.keep_few,
    "too_many_deletes": Repair.keep_few,
    "touched_twice": Repair.touch_once,
    "bad_sources": Repair.mend_sources,
    "scene_missing": Repair.find_scene,
    "not_archived": Repair.drop_write,
    "scene_exists": Repair.other_name,
    "archive_name_taken": Repair.drop_write,
    "too_young": Repair.drop_write,
    "body_blank": Repair.give_body,
    "secret": Repair.without_secret,  # by the line's number: before lines go
    "body_has_meta": Repair.without_header,
    "body_marks_deletion": Repair.without_mark,
    "body_too_long": Repair.cut,
    "no_room": Repair.make_room,
    "bad_summary": Repair.one_line,
    "bad_reason": Repair.one_line,
    "unknown_revision": Repair.on_head,
    "stale_base": Repair.on_head,
    "facts_missing": Repair.put_back,
    "facts_lost": Repair.put_back,
    "bad_record_id": Repair.drop_ids,
    "member_gap": Repair.fill_gaps,
    "unknown_member": Repair.drop_ids,
    "forgotten_member": Repair.drop_ids,
    "dismissed_member": Repair.drop_ids,
    "dismissed_unknown": Repair.drop_ids,
    "unknown_cursor": Repair.drop,
    "cursor_goes_back": Repair.drop,
    "bad_key": Repair.new_key,
    "key_reused": Repair.new_key,
    "empty_batch": Repair.again,
}
ORDER = list(REPAIRS)
OF_ALL_WRITES = (Repair.keep_few, Repair.make_room)


def in_turn(error: Error) -> tuple[bool, int]:
    """The batch's own fields first, as paths lead through them; then as the table."""
    return (error["path"].count("/") > 1, ORDER.index(error["code"]))


# The share


def test_the_batches_are_right_before_they_are_spoiled(shop: Shop) -> None:
    for seed in range(COUNT // 4):
        dice = random.Random(seed)  # noqa: S311 - must repeat itself
        batch = right(dice, shop)

        assert shop.send(batch)["success"], (seed, batch)


def test_one_retry_mends_nearly_every_batch(
    shop: Shop, capsys: pytest.CaptureFixture[str]
) -> None:
    refused, broken, seed, writes = 0, [], 0, Counter[str]()
    while refused < COUNT:
        seed += 1
        dice = random.Random(seed)  # noqa: S311 - must repeat itself
        meant, sent, mistakes = spoiled(dice, shop)
        refusal = shop.send(sent)
        if refusal["success"]:
            continue
        refused += 1

        mended = Repair(meant, refusal).batch
        retried = shop.send(mended)

        writes.update(sent=write_count(meant), kept=write_count(mended))
        if not retried["success"]:
            broken.append((seed, mistakes, codes(refusal), codes(retried)))

    share = 1 - len(broken) / refused
    low, high = interval(refused - len(broken), refused)
    told = f"{refused} refused batches, {share:.3f} mended [{low:.3f}, {high:.3f}]"
    worst = Counter(code for one in broken for code in one[3]).most_common(8)
    kept = f"{writes['kept'] / writes['sent']:.3f} of their writes kept"
    with capsys.disabled():
        print(f"\n{told}, {kept}; still there: {worst}")  # noqa: T201
    assert share >= ASKED, "\n".join(map(str, [told, *worst, *broken[:40]]))


def write_count(batch: Batch) -> int:
    writes = batch.get("sceneWrites")
    return len(writes) if isinstance(writes, list) else 1


def codes(answer: Any) -> list[str]:
    return sorted({error["code"] for error in answer["errors"]})


def interval(hits: int, of: int) -> tuple[float, float]:
    """Wilson's interval of 95 %."""
    z, share = 1.96, hits / of
    middle = share + z * z / (2 * of)
    half = z * math.sqrt(share * (1 - share) / of + z * z / (4 * of * of))
    return (middle - half) / (1 + z * z / of), (middle + half) / (1 + z * z / of)
