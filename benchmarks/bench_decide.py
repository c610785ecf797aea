"""What a decision costs: the compression check, and `decide` as a whole.

    python benchmarks/bench_decide.py [--rounds 15] [--json]

Medians in milliseconds. *Cold*: nothing of the texts or of the word tables is
remembered, as in a new process; *warm*: the same texts again, as when an agent mends a
batch. Ratios are over the *unit*: `json.dumps` and `json.loads` of the same batch. The
kinds of text take turns, so that a noisy neighbour hits all.
"""
# ruff: noqa: RUF001 - Chinese signs are meant.

import argparse
import json
import random
import statistics
import time
from collections.abc import Callable, Iterable
from functools import partial
from hashlib import sha256
from typing import Any

from scenestore_engine.commands import Batch
from scenestore_engine.decide import Accepted, decide
from scenestore_engine.policy import Policy
from scenestore_engine.retention import (
    Source,
    judge,
    number_grammar,
    numbers,
    search,
    terms,
    vocabulary,
)
from scenestore_engine.state import Known, Membership, Meta, RecordFacts, Scene, State
from scenestore_engine.wire import batch_from, parse_batch

SCENES, MEMBERS, ADDED = 15, 20_000, 50
SOURCES, CHARS = 5, 1_500
NOW_MS = 1_772_496_000_000
OLD = "2026-01-01T00:00:00.000Z"
PEOPLE = ("Ilka", "Bertil", "Achim", "Marta", "Dr. Okpara", "Livio", "Rosa Wendt")
TOWNS = ("Graz", "Dorn", "Quince Hall", "Brno", "Okpara Street")
VERBS = ("bought", "repaired", "lost", "painted", "carried", "sold", "measured")
THINGS = ("goats", "violins", "kettles", "ladders", "lanterns", "maps", "apple trees")
NAMES = ("顾砚秋", "林晓", "老陈", "沈师傅", "阿宝")
DEEDS = ("买了", "修好了", "弄丢了", "搬走了", "量了", "卖掉了")
GOODS = ("盆兰花", "把小提琴", "张地图", "盏灯笼", "只山羊", "本曲谱")
PLACES = ("在老磨坊后面", "在院子里", "在戏院门口", "在河边的铺子里")


def english(chance: random.Random) -> str:
    when = f"{chance.randint(1, 28)} March {chance.randint(1990, 2026)}"
    return (
        f"- {chance.choice(PEOPLE)} {chance.choice(VERBS)} {chance.randint(4, 900)} "
        f"{chance.choice(THINGS)} in {chance.choice(TOWNS)} on {when} "
        f"at {chance.randint(6, 22)}:{chance.choice(('05', '30', '45'))}."
    )


def chinese(chance: random.Random) -> str:
    when = f"{chance.randint(1990, 2026)}年{chance.randint(1, 12)}月"
    return (
        f"- {when}{chance.randint(1, 28)}日，{chance.choice(NAMES)}"
        f"{chance.choice(PLACES)}{chance.choice(DEEDS)}{chance.randint(4, 900)}"
        f"{chance.choice(GOODS)}，花了{chance.randint(3, 99)}.5元。"
    )


def mixed(chance: random.Random) -> str:
    return chance.choice((english, chinese))(chance)


def bodies(kind: Callable[[random.Random], str], seed: int) -> list[Source]:
    """Return sources of one kind, filled with whole lines up to the limit."""
    chance = random.Random(seed)  # noqa: S311 - a fixed seed, no secret
    made = []
    for number in range(SOURCES):
        body = "# Notes"
        while len(body) + len(line := kind(chance)) < CHARS:
            body += f"\n{line}"
        made.append(Source(f"s{number}.md", body))
    return made


def merged(sources: Iterable[Source]) -> Source:
    """Return a body that takes lines of every source, as many as fit."""
    lines = [source.content.split("\n")[1:] for source in sources]
    body = "# All"
    for row in zip(*lines, strict=False):
        for line in row:
            if len(body) + len(line) < CHARS:
                body += f"\n{line}"
    return Source("all.md", body)


def forget() -> None:
    """Forget every text and every table, as a new process has none."""
    for module in (number_grammar, numbers, search, terms, vocabulary):
        for value in vars(module).values():
            if hasattr(value, "cache_clear"):
                value.cache_clear()


def rid(number: int) -> str:
    digest = sha256(str(number).encode()).hexdigest()[:8]
    return f"m_{NOW_MS + number * 1000}_{digest}"


def shelf() -> tuple[dict[str, str], dict[str, frozenset[str]]]:
    """Return the bodies and the members of a full store."""
    each = MEMBERS // SCENES
    texts: dict[str, str] = {}
    sets: dict[str, frozenset[str]] = {}
    for number in range(SCENES):
        name = f"scene-{number:02}.md"
        texts[name] = bodies(mixed, number)[0].content
        sets[name] = frozenset(map(rid, range(number * each, (number + 1) * each)))
    return texts, sets


def request(texts: dict[str, str]) -> dict[str, Any]:
    """Return a batch that rewrites one scene, and makes two of the others one."""
    names = sorted(texts)
    added = [rid(MEMBERS + number) for number in range(ADDED)]
    both = merged([Source(name, texts[name]) for name in names[1:3]])
    return {
        "sceneWrites": [
            {
                "action": "update",
                "filename": names[0],
                "content": texts[names[0]].replace("# Notes", "# Notes, again"),
                "addMembers": added,
            },
            {
                "action": "consolidate",
                "filename": "both.md",
                "sources": names[1:3],
                "content": both.content,
                "meta": {"summary": "Both"},
                "addMembers": added,
            },
        ]
    }


def known(
    asked: dict[str, Any], texts: dict[str, str], sets: dict[str, frozenset[str]]
) -> Known:
    """Return what the shell would look up for *asked*."""
    live = {}
    for name in texts:
        meta = Meta(created=OLD, updated=OLD, summary="Notes", heat=3)
        live[name] = Scene(blob=name, first_seen=OLD, members=name, meta=meta)
    touched = sorted(texts)[:3]
    memberships = {}
    named: set[str] = set()
    for write in asked["sceneWrites"]:
        ids = frozenset(write.get("members", ())) | frozenset(write["addMembers"])
        named |= ids
        for name in (write["filename"], *write.get("sources", ())):
            if name in sets:
                lacks = sets[name] - ids if "members" in write else frozenset()
                memberships[name] = Membership(has=sets[name] & ids, lacks=lacks)
    return Known(
        state=State(live=live),
        bodies={name: texts[name] for name in touched},
        memberships=memberships,
        records=dict.fromkeys(named, RecordFacts()),
    )


def spelled_out(
    asked: dict[str, Any], sets: dict[str, frozenset[str]]
) -> dict[str, Any]:
    """Return the same batch with every member named, as an agent may send it."""
    twin: dict[str, Any] = json.loads(json.dumps(asked))
    for write in twin["sceneWrites"]:
        of = (write["filename"], *write.get("sources", ()))
        write["members"] = sorted(set().union(*(sets.get(name, ()) for name in of)))
    return twin


def must(batch: Batch, looked_up: Known, policy: Policy) -> None:
    decision = decide(batch, looked_up, policy, now_ms=NOW_MS, actor="bench")
    if not isinstance(decision, Accepted):
        raise SystemExit(f"The batch was refused: {decision.faults}")


def round_trip(value: object) -> None:
    json.loads(json.dumps(value))


def measured(tasks: dict[str, Callable[[], object]], rounds: int) -> dict[str, float]:
    """Return the median time of each task; those called cold forget beforehand."""
    times: dict[str, list[float]] = {name: [] for name in tasks}
    for _ in range(rounds):
        for name, task in tasks.items():
            if name.endswith("_cold"):
                forget()
            started = time.perf_counter()
            task()
            times[name].append((time.perf_counter() - started) * 1000)
    return {f"{name}_ms": round(statistics.median(t), 4) for name, t in times.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    tasks: dict[str, Callable[[], object]] = {}
    for kind in (english, chinese, mixed):
        sources = bodies(kind, 1)
        check = partial(judge, sources, merged(sources), max_chars=CHARS)
        tasks |= {f"check_{kind.__name__}_{heat}": check for heat in ("cold", "warm")}
    texts, sets = shelf()
    off = Policy(retention="off", retention_update="off")
    short = request(texts)
    units: dict[str, Callable[[], object]] = {}
    for name, asked in (("added", short), ("named", spelled_out(short, sets))):
        looked_up, batch = known(asked, texts, sets), batch_from(asked)
        standard = Policy(retention="standard")
        tasks |= {
            f"decide_{name}_cold": partial(must, batch, looked_up, standard),
            f"decide_{name}_warm": partial(must, batch, looked_up, standard),
            f"decide_{name}_without_check": partial(must, batch, looked_up, off),
            f"parse_{name}": partial(parse_batch, json.dumps(asked)),
        }
        units[f"unit_{name}"] = partial(round_trip, asked)
    figures = measured(tasks | units, given.rounds)
    for name in [n for n in figures if not n.startswith("unit_")]:
        unit = "named" if "_named" in name else "added"
        ratio = figures[name] / figures[f"unit_{unit}_ms"]
        figures[name.removesuffix("_ms") + "_ratio"] = round(ratio, 2)
    if given.json:
        print(json.dumps(figures))
        return
    print(f"{'':32}{'ms':>10}{'ratio':>10}")
    for name, value in figures.items():
        if name.endswith("_ms"):
            bare = name.removesuffix("_ms")
            ratio = figures.get(f"{bare}_ratio", 1.0)
            print(f"{bare:32}{value:10.3f}{ratio:10.1f}")


if __name__ == "__main__":
    main()
