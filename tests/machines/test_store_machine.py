"""The real store against plain dictionaries, through whatever may befall it.

The model knows the contract and nothing of the engine: it says of every batch, right or
wrong, exactly which faults it has, and what the store holds afterwards.
"""

import copy
import json
import random
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    precondition,
    rule,
    run_state_machine_as_test,
)

from scenestore import roll_back
from scenestore.check import check
from scenestore.upkeep import repair
from scenestore_engine.times import DAY_MS, iso, ms

KEY = "AKIA" + "ABCDEFGHIJ234567"
FOLDS = {
    "a.md": "a",
    "A.md": "a",
    "b.md": "b",
    "c.md": "c",
    "straße.md": "strasse",
    "STRASSE.md": "strasse",
    "東京.md": "東京",
    "ﬁre.md": "fire",
    "a b.md": "a b",
    "CON.md": "con",
}
BAD_NAMES = ("a b.md", "CON.md")
NAMES = tuple(name for name in FOLDS if name not in BAD_NAMES)
BODIES = ("- one", "# Two\n- b\n\n- c", "  indented\nheat: 9", "場" * 1500, "x\n" * 5)
BAD_BODIES = {
    " \n": "body_blank",
    "x" * 1501: "body_too_long",
    "-----META-END-----": "body_has_meta",
    "- x\n [deleted]": "body_marks_deletion",
    f"- {KEY}": "secret",
}
LINES = ("S", "a: b", "東京 🏃")
BAD_LINES = ("", "a\nb", "x" * 501)
SHARDS = ("2026-03-03", "2026-03-04", "2026-03-05")
PAST = {
    "create": "created",
    "update": "updated",
    "delete": "deleted",
    "consolidate": "consolidated",
    "archive": "archived",
    "restore": "restored",
}
WITH_BODY = ("create", "update", "consolidate")
SHARDS_END = ("9999", 0)
PARTS = ("scene-blocks", "members", "archive", "dismissed", "scenes.json")

Batch = dict[str, Any]
Place = tuple[str, int]


@dataclass
class Scene:
    """What a scene is, whatever keeps it."""

    body: str
    summary: str
    heat: int
    created: str
    updated: str
    first_seen: str
    members: frozenset[str]


@dataclass
class Model:
    """What the store should hold."""

    live: dict[str, Scene] = field(default_factory=dict)
    archived: dict[str, Scene] = field(default_factory=dict)
    dismissed: frozenset[str] = frozenset()
    cursor: tuple[str, Place] | None = None
    persona: list[tuple[str, str]] = field(default_factory=list)
    seq: int = 0


@dataclass
class L1:
    """The records: by shard, each line's id and whether it is a tombstone."""

    shards: dict[str, list[tuple[str, bool]]] = field(default_factory=dict)

    def lines(self) -> list[tuple[str, Place, bool]]:
        return [
            (record_id, (shard, number), deleted)
            for shard in sorted(self.shards)
            for number, (record_id, deleted) in enumerate(self.shards[shard], 1)
        ]

    def latest(self) -> dict[str, tuple[Place, bool]]:
        return {record_id: (at, gone) for record_id, at, gone in self.lines()}

    def live(self) -> list[tuple[str, Place]]:
        """The live records in order."""
        places = [(i, at) for i, (at, gone) in self.latest().items() if not gone]
        return sorted(places, key=lambda pair: pair[1])

    def resolve(self, text: str, own: tuple[str, Place] | None) -> Place | None:
        if own and text == own[0]:
            return own[1]
        record_id, _, said = text.partition("@")
        places = [at for one, at, _ in self.lines() if one == record_id]
        if said:
            return next((at for at in places if f"{at[0]}:{at[1]}" == said), None)
        later = [at for at in places if own is None or at > own[1]]
        return (later or places[-1:] or [None])[0]


def normal(body: str) -> str:
    lines = body.split("\n")
    while lines and not lines[0].strip():
        del lines[0]
    while lines and not lines[-1].strip():
        del lines[-1]
    return "\n".join(lines)


def wish(batch: Batch) -> Batch:
    """What a batch asks for: two that ask for the same are one batch sent twice."""
    asked = {f: batch[f] for f in ("cursor", "personaReason") if f in batch}
    if batch.get("dismiss"):
        asked["dismiss"] = (set(batch["dismiss"]), batch["dismissReason"])
    asked["sceneWrites"] = [
        {
            "action": write["action"],
            "roles": roles(write),
            "reason": write.get("reason"),
            "content": normal(write.get("content", "")),
            "summary": write.get("meta", {}).get("summary"),
            "members": write.get("members") and {*write["members"]},
            "given": write.get("members") is not None,
            "addMembers": {*write.get("addMembers", ())},
        }
        for write in batch.get("sceneWrites", [])
    ]
    return asked


def roles(write: Batch) -> list[str]:
    return [
        write["filename"],
        *write.get("sources", ()),
        *filter(None, [write.get("as")]),
    ]


def named(write: Batch) -> frozenset[str]:
    if write["action"] not in WITH_BODY:
        return frozenset()
    return frozenset(write.get("members") or ()) | frozenset(
        write.get("addMembers") or ()
    )


def kept_as(scene: Scene | None) -> Scene | None:
    """What a caller may read of a scene: all but when the store first saw it."""
    return scene and replace(scene, first_seen="")


def twin(name: str, names: dict[str, Scene]) -> bool:
    return FOLDS[name] in {FOLDS[other] for other in names}


class Oracle:
    """Which faults a batch has, by the contract."""

    def __init__(
        self, model: Model, l1: L1, policy: dict[str, Any], now_ms: int
    ) -> None:
        self.model = model
        self.l1 = l1
        self.latest = l1.latest()
        self.policy = policy
        self.now_ms = now_ms

    def faults(self, batch: Batch) -> set[str]:
        writes = batch.get("sceneWrites", [])
        found = set[str]().union(*(self._of_write(write) for write in writes))
        folds = [fold for w in writes for fold in {FOLDS[n] for n in roles(w)}]
        if len(folds) > len(set(folds)):
            found.add("touched_twice")
        actions = Counter(write["action"] for write in writes)
        for action, limit in (("create", 1), ("archive", 1), ("delete", 2)):
            if actions[action] > limit:
                found.add(f"too_many_{action}s")
        if (actions["create"] or actions["restore"]) and (
            len(self._names_after(writes)) > self.policy["max_scenes"]
        ):
            found.add("no_room")
        if any(batch.get(f) in BAD_LINES for f in ("personaReason", "dismissReason")):
            found.add("bad_reason")
        found |= self._of_dismiss(batch, writes)
        if "cursor" in batch:
            at = self.l1.resolve(batch["cursor"], self.model.cursor)
            if at is None:
                found.add("unknown_cursor")
            elif self.model.cursor and at < self.model.cursor[1]:
                found.add("cursor_goes_back")
        if not (writes or "cursor" in batch or batch.get("dismiss")) and not batch.get(
            "personaSignal"
        ):
            found.add("empty_batch")
        return found

    def _of_write(self, write: Batch) -> set[str]:
        found = set()
        if any(name in BAD_NAMES for name in roles(write)):
            found.add("bad_filename")
        if write.get("reason") in BAD_LINES:
            found.add("bad_reason")
        if write.get("meta", {}).get("summary") in BAD_LINES:
            found.add("bad_summary")
        found |= self._of_action(write)
        if write["action"] in WITH_BODY:
            found |= {BAD_BODIES[b] for b in [write["content"]] if b in BAD_BODIES}
            found |= self._of_members(write)
        return found

    def _of_action(self, write: Batch) -> set[str]:
        live, name = self.model.live, write["filename"]
        match write["action"]:
            case "create":
                return {"scene_exists"} if twin(name, live) else set()
            case "consolidate":
                return self._of_sources(name, write["sources"])
            case "restore":
                return self._of_restore(name, write.get("as"))
            case _ if name not in live:
                return {"scene_missing"}
            case "archive":
                age_ms = self.now_ms - ms(live[name].first_seen)
                is_taken = twin(name, self.model.archived)
                return ({"too_young"} if age_ms < DAY_MS else set()) | (
                    {"archive_name_taken"} if is_taken else set()
                )
            case _:
                return set()

    def _of_sources(self, name: str, sources: list[str]) -> set[str]:
        live = self.model.live
        distinct = {FOLDS[source] for source in sources}
        found = set()
        if len(distinct) < max(2, len(sources)) or FOLDS[name] in distinct:
            found.add("bad_sources")
        if any(source not in live for source in sources):
            found.add("scene_missing")
        if name not in live and FOLDS[name] not in distinct and twin(name, live):
            found.add("scene_exists")
        return found

    def _of_restore(self, name: str, other: str | None) -> set[str]:
        live = self.model.live
        is_archived = name in self.model.archived
        found = set() if is_archived else {"not_archived"}
        is_itself = other is None and name in live and not is_archived
        if twin(other or name, live) and not is_itself:
            found.add("scene_exists")
        return found

    def _of_members(self, write: Batch) -> set[str]:
        ids = named(write)
        had = self.had(write)
        found = set()
        if any(not 1 <= len(i) <= 128 for i in ids):
            found.add("bad_record_id")
        if write.get("members") is not None and any(
            not self.is_gone(i) for i in had - ids
        ):
            found.add("member_gap")
        if self.policy["strict_members"] and not ids - had <= self.latest.keys():
            found.add("unknown_member")
        return found

    def _of_dismiss(self, batch: Batch, writes: list[Batch]) -> set[str]:
        wished = set(batch.get("dismiss", ()))
        joining = set[str]().union(*map(named, writes))
        deleted = {w["filename"] for w in writes if w["action"] == "delete"}
        held = set[str]().union(
            *(s.members for s in self.model.archived.values()),
            *(s.members for n, s in self.model.live.items() if n not in deleted),
        )
        found = set()
        if any(not 1 <= len(i) <= 128 for i in wished):
            found.add("bad_record_id")
        if wished & (held | joining):
            found.add("dismissed_member")
        if not wished <= self.latest.keys():
            found.add("dismissed_unknown")
        return found

    def had(self, write: Batch) -> frozenset[str]:
        """The members that a write has to keep."""
        names = [] if write["action"] == "create" else roles(write)
        live = self.model.live
        return frozenset[str]().union(*(live[n].members for n in names if n in live))

    def is_gone(self, record_id: str) -> bool:
        return self.latest.get(record_id, (None, False))[1]

    def _names_after(self, writes: list[Batch]) -> set[str]:
        gone = set[str]().union(
            *(w.get("sources", ()) for w in writes),
            {w["filename"] for w in writes if w["action"] in ("delete", "archive")},
        )
        come = {
            w.get("as") or w["filename"]
            for w in writes
            if w["action"] in ("create", "consolidate", "restore")
        }
        return (self.model.live.keys() - gone) | come

    # What follows

    def apply(self, batch: Batch) -> None:
        """Change the model as an accepted *batch* says."""
        model, now = self.model, iso(self.now_ms)
        before = copy.deepcopy(model)
        writes = batch.get("sceneWrites", [])
        for write in writes:
            self._write(write, now)
        joining = frozenset[str]().union(*map(named, writes))
        model.dismissed = (model.dismissed | set(batch.get("dismiss", ()))) - joining
        if "cursor" in batch:
            at = self.l1.resolve(batch["cursor"], model.cursor)
            assert at is not None
            model.cursor = (batch["cursor"].partition("@")[0], at)
        if batch.get("personaSignal"):
            model.persona.append((batch["personaReason"], now))
        if model != before:
            model.seq += 1

    def _write(self, write: Batch, now: str) -> None:
        live, archived = self.model.live, self.model.archived
        name, action = write["filename"], write["action"]
        if action == "delete":
            del live[name]
        elif action == "archive":
            archived[name] = live.pop(name)
        elif action == "restore":
            live[write.get("as") or name] = archived.pop(name)
        else:
            live[name] = self._written(write, now)

    def _written(self, write: Batch, now: str) -> Scene:
        """Return what a write makes of a scene, having taken its sources away."""
        live, name = self.model.live, write["filename"]
        ids, body = named(write), normal(write["content"])
        summary = write.get("meta", {}).get("summary")
        if write["action"] == "create":
            return Scene(body, summary, 1, now, now, now, ids)
        had = self.had(write)
        dropped = had - ids if write.get("members") is not None else frozenset[str]()
        members = (had | ids) - dropped
        old = live.get(name)
        parts = [live.pop(n) for n in roles(write) if n in live]
        if write["action"] == "update":
            assert old is not None
            if (body, members) == (old.body, old.members) and summary in (
                None,
                old.summary,
            ):
                return old
            return Scene(
                body,
                old.summary if summary is None else summary,
                old.heat + 1,
                old.created,
                max(old.updated, now),
                old.first_seen,
                members,
            )
        return Scene(
            body,
            summary,
            max(part.heat for part in parts),
            old.created if old else min(part.created for part in parts),
            max(now, *(part.updated for part in parts)),
            min(part.first_seen for part in parts),
            members,
        )

    def open_records(self, upto: Place | None, after: Place | None = None) -> list[str]:
        """The live records in (after, upto] that belong nowhere, in order."""
        scenes = (*self.model.live.values(), *self.model.archived.values())
        homes = self.model.dismissed.union(*(scene.members for scene in scenes))
        return [
            record_id
            for record_id, at in self.l1.live()
            if upto and (after is None or at > after) and at <= upto
            if record_id not in homes
        ]


class Asking:
    """Makes batches: most of them right, some with one thing wrong."""

    def __init__(self, dice: random.Random, oracle: Oracle) -> None:
        self.dice = dice
        self.oracle = oracle
        self.model = oracle.model
        self.l1 = oracle.l1

    def batch(self) -> Batch:
        dice = self.dice
        batch: Batch = {}
        for _ in range(dice.choice([0, 1, 2, 3])):
            batch = self._with_another_write(batch)
        if dice.random() < 0.3 or not batch:
            here = self.model.cursor[1] if self.model.cursor else ("", 0)
            ahead = [line for line in self.l1.lines() if line[1] >= here]
            record_id, (shard, line), _ = dice.choice(ahead[:6] or self.l1.lines())
            exact = f"{record_id}@{shard}:{line}"
            batch["cursor"] = dice.choice([record_id, record_id, exact])
        if dice.random() < 0.2:
            batch |= {"personaSignal": True, "personaReason": dice.choice(LINES)}
        if dice.random() < 0.2:
            free = self.oracle.open_records(SHARDS_END) or ["ghost"]
            batch["dismiss"] = [*free[:1], *self._ids(1)]
            batch["dismissReason"] = dice.choice(LINES)
        if dice.random() < 0.25:
            self._spoil(batch)
        return batch

    def _with_another_write(self, batch: Batch) -> Batch:
        """Return *batch* with one more write, if it is no worse for it."""
        more = {"sceneWrites": [*batch.get("sceneWrites", ()), self._write()]}
        is_good = not self.oracle.faults(more) or self.dice.random() < 0.1
        return more if is_good else batch

    def _ids(self, most: int = 4) -> list[str]:
        lines = self.l1.lines()
        return [
            self.dice.choice(lines)[0] for _ in range(self.dice.randrange(most + 1))
        ]

    def _write(self) -> Batch:
        dice = self.dice
        live, archived = [*self.model.live], [*self.model.archived]
        free = [n for n in NAMES if not twin(n, self.model.live)] or [*NAMES]
        actions = ["create"]
        actions += ["update", "archive"] * bool(live)
        actions += ["consolidate", "consolidate", "delete"] * (len(live) > 1)
        actions += ["restore", "restore"] * bool(archived)
        write: Batch = {"action": dice.choice(actions)}
        meta = {"summary": dice.choice(LINES)}
        match write["action"]:
            case "create":
                write |= {"filename": dice.choice(free), "meta": meta}
            case "update":
                write |= {
                    "filename": dice.choice(live),
                    "meta": dice.choice([meta, {}]),
                }
            case "consolidate":
                dice.shuffle(live)
                sources = live[: dice.choice([2, 2, 3])]
                others = [n for n in live if n not in sources] + [dice.choice(NAMES)]
                target = dice.choice(others)
                write |= {"filename": target, "sources": sources, "meta": meta}
            case "archive":
                write |= {"filename": dice.choice(live), "reason": "old"}
            case "delete":
                write |= {"filename": dice.choice(live)}
            case "restore":
                write |= {"filename": dice.choice(archived)}
                write |= {"as": dice.choice(free)} if dice.random() < 0.5 else {}
        if write["action"] in WITH_BODY:
            write["content"] = dice.choice(BODIES)
            self._give_members(write)
        if dice.random() < 0.2:
            write["reason"] = dice.choice(LINES)
        return write

    def _give_members(self, write: Batch) -> None:
        dice = self.dice
        if dice.random() < 0.5:
            write["addMembers"] = self._ids()
        if dice.random() < 0.3:
            had = sorted(self.oracle.had(write))
            kept = {i for i in had if not self.oracle.is_gone(i)}
            had = [record_id for record_id in had if dice.random() < 0.5]
            write["members"] = sorted({*had, *kept, *self._ids(2)})

    def _spoil(self, batch: Batch) -> None:
        dice = self.dice
        wrongs: list[Callable[[], Any]] = [
            lambda: batch.update(cursor="ghost"),
            lambda: batch.update(cursor=self.l1.lines()[0][0]),
            lambda: batch.update(dismiss=["ghost", *self._ids()], dismissReason="r"),
            lambda: batch.setdefault("sceneWrites", []).append(self._write()),
            lambda: batch.update(dismiss=["x" * 129], dismissReason="a\nb"),
            batch.clear,
        ]
        for write in batch.get("sceneWrites", []):
            name = dice.choice([*NAMES, *BAD_NAMES])
            wrongs += [
                lambda w=write, n=name: w.update(filename=n),
                lambda w=write: w.update(reason=dice.choice(BAD_LINES)),
            ]
            if write["action"] in WITH_BODY:
                wrongs += [
                    lambda w=write: w.update(content=dice.choice([*BAD_BODIES])),
                    lambda w=write: w.update(meta={"summary": dice.choice(BAD_LINES)}),
                    lambda w=write: w.update(members=self._ids()),
                    lambda w=write: w.update(addMembers=["ghost"]),
                    lambda w=write: w.update(addMembers=["x" * 129]),
                ]
            if "sources" in write:
                wrongs += [
                    lambda w=write, n=name: w["sources"].append(n),
                    lambda w=write: w["sources"].append(w["filename"]),
                    lambda w=write: w["sources"].pop(),
                ]
        dice.choice(wrongs)()


class StoreMachine(RuleBasedStateMachine):
    """A profile and its model, side by side."""

    def __init__(self, make_world: Callable[[], Any], seen: Counter[str]) -> None:
        super().__init__()
        self.world = make_world()
        self.seen = seen
        self.model = Model()
        self.l1 = L1()
        self.history: list[tuple[Model, dict[str, str]]] = []
        self.policy: dict[str, Any] = {}
        self.head_wish: Batch | None = None
        self.keys: dict[str, tuple[Batch, int]] = {}
        self.number = 0
        self.seed = 0
        self.sent = 0

    # Helpers

    def _now(self) -> Oracle:
        return Oracle(self.model, self.l1, self.policy, self.world.now_ms)

    def _parts(self) -> dict[str, str]:
        """The objects that keep scenes, members, archive, dismissals and cursor."""
        store = self.world.store
        entries = store.ledger.folder(store.head().tree, "")
        return {
            name: i for name, i in entries.items() if name in (*PARTS, "cursor.json")
        }

    def _append(self, shard: str, record_id: str, *, deleted: bool = False) -> None:
        row = {"id": record_id, "content": f"about {record_id}"}
        row |= {"deleted": True} if deleted else {}
        folder = self.world.profile / "memoryDB" / "l1" / "records"
        folder.mkdir(parents=True, exist_ok=True)
        with (folder / f"{shard}.jsonl").open("a") as file:
            file.write(json.dumps(row) + "\n")
        self.l1.shards.setdefault(shard, []).append((record_id, deleted))

    def _dice(self) -> random.Random:
        """Dice that never fall twice alike in one life, and always alike in another."""
        self.sent += 1
        return random.Random(f"{self.seed} {self.sent}")  # noqa: S311 - no secrets

    def _send_any(self) -> None:
        self.world.wait(days=0.3)
        self._send(Asking(self._dice(), self._now()).batch())

    def _seq_of(self, batch: Batch) -> int | None:
        """The revision that came of this very batch, if it would be answered by it."""
        key = batch.get("idempotencyKey")
        if key is not None:
            asked, seq = self.keys.get(key, (None, 0))
            return seq if asked == wish(batch) else None
        return self.model.seq if self.head_wish == wish(batch) else None

    def _faults(self, batch: Batch) -> set[str]:
        """All that is wrong with a batch, its base and its key included."""
        faults = self._now().faults(batch)
        if batch.get("idempotencyKey") in self.keys:
            faults.add("key_reused")
        if "baseRevision" in batch:
            then, now = self.history[int(batch["baseRevision"])][0], self.model
            named_here = {n for w in batch.get("sceneWrites", []) for n in roles(w)}
            if any(
                kept_as(before.get(name)) != kept_as(after.get(name))
                for before, after in (
                    (then.live, now.live),
                    (then.archived, now.archived),
                )
                for name in named_here
            ):
                faults.add("stale_base")
        return faults

    def _send(self, batch: Batch, also: set[str] | None = None) -> None:
        """Send *batch*, which has the faults of the model and *also*."""
        self.world.wait(ms=1)
        faults = self._faults(batch) | (also or set())
        first_seq = self._seq_of(batch)
        before = self.world.bytes_under()

        answer = self.world.store.l2_commit(copy.deepcopy(batch), now=self.world.now)

        if first_seq is not None:
            assert (answer["replayed"], answer["seq"]) == (True, first_seq)
            assert self.world.bytes_under() == before
            self.seen["replayed"] += 1
            return
        assert "replayed" not in answer
        if faults:
            codes = {error["code"] for error in answer.get("errors", ())}
            assert (answer["success"], codes) == (False, faults), (batch, answer)
            assert self.world.bytes_under() == before
            self.seen.update(codes)
            return
        assert answer["success"] is True, (batch, answer)
        old = copy.deepcopy(self.model)
        self._now().apply(batch)
        if self.model.seq > old.seq:
            self.head_wish = wish(batch)
            if "idempotencyKey" in batch:
                self.keys[batch["idempotencyKey"]] = (wish(batch), self.model.seq)
        self._compare(batch, old)
        self._compare_receipt(answer, batch, old)
        self.seen.update(PAST[w["action"]] for w in batch.get("sceneWrites", []))

    def _compare(self, batch: Batch, old: Model) -> None:
        """The store holds what the model holds, and nothing went down on the way."""
        store, model = self.world.store, self.model
        state, sets = store.state(), store.ledger.sets

        def kept(scenes: Any) -> dict[str, Scene]:
            return {
                name: Scene(
                    store.ledger.block(one.blob).body,
                    one.meta.summary,
                    one.meta.heat,
                    one.meta.created,
                    one.meta.updated,
                    one.first_seen,
                    sets.ids(one.members),
                )
                for name, one in scenes.items()
            }

        live, archived = kept(state.live), kept(state.archived)
        assert live == model.live
        assert archived == model.archived
        assert sets.ids(state.dismissed) == model.dismissed
        cursor = state.cursor and (state.cursor.record_id, state.cursor.place)
        assert cursor == model.cursor
        assert [(p.reason, p.at) for p in state.persona] == model.persona
        assert store.head().seq == model.seq
        for write in batch.get("sceneWrites", []):
            name = write["filename"]
            if name in old.live and name in live:
                was, now = old.live[name], live[name]
                assert (now.heat, now.updated) >= (was.heat, was.updated)
                assert (now.created, now.first_seen) <= (was.created, was.first_seen)
        if model.seq > old.seq:
            self.history.append((copy.deepcopy(model), self._parts()))

    def _compare_receipt(self, answer: Any, batch: Batch, old: Model) -> None:
        oracle, model = self._now(), self.model
        assert answer["seq"] == model.seq
        assert answer["revision"] == self.world.store.head().id
        assert answer["capacity"]["live"] == len(model.live)
        upto = model.cursor[1] if model.cursor else None
        open_ids = oracle.open_records(upto)
        assert answer["coverage"] == {
            "unassigned": len(open_ids),
            "dismissed": len(model.dismissed),
            "ids": open_ids[:50],
        }
        said = {w["code"]: w for w in answer["warnings"]}
        passed = oracle.open_records(upto, old.cursor[1] if old.cursor else None)
        if model.cursor != old.cursor and passed:
            assert said["unassigned_records"]["count"] == len(passed)
        else:
            assert "unassigned_records" not in said
        orphans = set(oracle.open_records(SHARDS_END)).intersection(
            *[
                set[str]().union(
                    *(
                        old.live[w["filename"]].members
                        for w in batch.get("sceneWrites", [])
                        if w["action"] == "delete"
                    )
                )
            ]
        )
        told = {
            record_id
            for w in answer["warnings"]
            if w["code"] == "members_orphaned"
            for record_id in w["ids"]
        }
        assert told == orphans

    # Rules

    @initialize(seed=st.integers(0, 2**32))
    def begin(self, seed: int) -> None:
        self.seed = seed
        for number in range(8):
            self._append(SHARDS[0], self.world.rid(number))
        self.number = 8
        self._limit(4, strict=False)
        assert self.world.store.init(now=self.world.now) is True
        self.history.append((copy.deepcopy(self.model), self._parts()))
        for _ in range(4):
            self._send_any()

    @rule(count=st.integers(1, 4))
    def commit(self, count: int) -> None:
        for _ in range(count):
            self._send_any()

    @rule(key=st.sampled_from(["k1", "k2", "k3", None]))
    def send_twice(self, key: str | None) -> None:
        batch = Asking(self._dice(), self._now()).batch()
        batch |= {} if key is None else {"idempotencyKey": key}
        self._send(batch)
        self._send(batch)

    @rule(back=st.integers(0, 4))
    def commit_on_a_base(self, back: int) -> None:
        batch = Asking(self._dice(), self._now()).batch()
        self._send(batch | {"baseRevision": str(max(0, self.model.seq - back))})

    @rule()
    def dry_run(self) -> None:
        batch = Asking(self._dice(), self._now()).batch()
        before = self.world.bytes_under()

        answer = self.world.store.l2_commit(
            batch | {"dryRun": True}, now=self.world.now
        )

        is_replay = self._seq_of(batch) is not None
        assert answer["success"] is (is_replay or not self._faults(batch))
        assert self.world.bytes_under() == before

    @rule(shard=st.sampled_from(SHARDS), count=st.integers(1, 4))
    def append_records(self, shard: str, count: int) -> None:
        for _ in range(count):
            self._append(shard, self.world.rid(self.number))
            self.number += 1
        self._send_any()

    @rule(
        shard=st.sampled_from(SHARDS),
        pick=st.integers(0, 99),
        deleted=st.booleans(),
    )
    def delete_or_rewrite_a_record(
        self, shard: str, pick: int, *, deleted: bool
    ) -> None:
        lines = self.l1.lines()
        self._append(shard, lines[pick % len(lines)][0], deleted=deleted)
        self._send_any()

    @rule(days=st.sampled_from([-10, 30, 1, -1]))
    def turn_the_clock(self, days: float) -> None:
        self.world.wait(days=days)
        for _ in range(3):
            self._send_any()

    @rule()
    def reopen(self) -> None:
        self.world.reopen()
        self._send_any()

    @rule(most=st.integers(2, 6), strict=st.booleans())
    def limit(self, most: int, *, strict: bool) -> None:
        self._limit(most, strict=strict)
        self._send_any()

    def _limit(self, most: int, *, strict: bool) -> None:
        self.policy = {
            "max_scenes": most,
            "min_archive_age_days": 1,
            "strict_members": strict,
            "retention": "off",
            "retention_update": "off",
        }
        self.world.policy(**self.policy)

    @rule()
    def read(self) -> None:
        model, oracle = self.model, self._now()
        here = model.cursor[1] if model.cursor else ("", 0)

        increment = self.world.store.read_l1_increment(max_records=3)
        late = self.world.store.read_l1_increment(late=True)

        new = [record_id for record_id, at in self.l1.live() if at > here]
        assert increment.total_new == len(new)
        assert [record["id"] for record in increment.records] == new[:3]
        open_ids = oracle.open_records(model.cursor and here)
        assert increment.late_count == len(open_ids)
        assert [record["id"] for record in late.records] == open_ids[:50]

    @precondition(lambda self: len(self.history) > 4)
    @rule(pick=st.integers(0, 999), keep_cursor=st.booleans())
    def roll_back(self, pick: int, *, keep_cursor: bool) -> None:
        then, parts = self.history[pick % len(self.history)]
        old = self.model
        before = self._parts()
        self.world.wait(ms=1)

        roll_back(
            self.world.store, str(then.seq), keep_cursor=keep_cursor, now=self.world.now
        )

        self.model = copy.deepcopy(then)
        self.model.persona, self.model.seq = old.persona, old.seq
        if keep_cursor:
            self.model.cursor = old.cursor
            parts = {n: i for n, i in parts.items() if n != "cursor.json"}
            parts |= {n: i for n, i in before.items() if n == "cursor.json"}
        if self.model != old:
            self.model.seq += 1
            self.head_wish = None
            self.seen["rolled back"] += 1
        assert self._parts() == parts
        self._compare({}, old)

    @precondition(lambda self: self.model.live)
    @rule(pick=st.integers(0, 99), mends=st.booleans(), adds=st.booleans())
    def drift(self, pick: int, *, mends: bool, adds: bool) -> None:
        name = sorted(self.model.live)[pick % len(self.model.live)]
        path = self.world.l2 / "scene-blocks" / name
        ours = path.read_bytes()
        if adds:
            path.write_bytes(ours + b"- by hand\n")
        else:
            path.unlink()
        touch = {"action": "update", "filename": name, "content": "- touched"}

        self._send({"sceneWrites": [touch]}, also={"drift"})
        self._send({"personaSignal": True, "personaReason": f"n {self.sent}"})
        self.sent += 1

        assert path.exists() is adds
        if mends:
            path.write_bytes(ours)
        else:
            rescued = repair(self.world.store).rescued
            assert len(rescued) == adds
            assert all(Path(p).read_bytes() == ours + b"- by hand\n" for p in rescued)
        assert path.read_bytes() == ours
        self.seen["drifted"] += 1

    def teardown(self) -> None:
        if not self.history:
            return
        store = self.world.store
        found = check(store.ledger, store.projection, replay=True)
        index = json.loads((self.world.l2 / "index" / "scene_index.json").read_text())
        self.world.close()
        assert found.problems == ()
        assert found.revisions == self.model.seq + 1
        assert {entry["filename"]: set(entry["members"]) for entry in index} == {
            name: scene.members for name, scene in self.model.live.items()
        }


def test_the_store_does_what_the_contract_says_whatever_befalls_it(
    empty: Any, tmp_path_factory: Any
) -> None:
    seen: Counter[str] = Counter()

    def machine() -> StoreMachine:
        profile = tmp_path_factory.mktemp("machine") / "profile"
        return StoreMachine(lambda: type(empty)(profile), seen)

    # ci: 25 lives; deep: 500.
    examples = settings.default.max_examples // 4
    run_state_machine_as_test(
        machine, settings=settings(max_examples=examples, stateful_step_count=20)
    )

    # A store that refuses everything, or a model that asks for little, is found here.
    assert seen.keys() >= {*PAST.values(), "rolled back", "drifted"}
    assert len(seen.keys() - set(PAST.values())) > 12
