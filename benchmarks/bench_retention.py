"""Measure candidates of the compression check side by side on labelled pairs.

usage: bench_retention.py PAIRS.jsonl [--subtle SUBTLE.jsonl] [--json] [--resamples N]

A pair is a line {group, label, lossy_kind, facts, sources, target, dropped}. Nothing
but sources and target is shown to a candidate. A threshold refuses at most 5 % of the
faithful; under cross-validation it comes from the other groups. Intervals are 95 %, by
drawing groups with replacement. Candidates that need scikit-learn, rapidfuzz, jieba or
snowballstemmer are left out where the library is missing.
"""
# ruff: noqa: RUF001 - Chinese signs are meant.

from __future__ import annotations

import argparse
import importlib
import importlib.util
import json
import math
import random
import re
import statistics
import sys
import time
from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

from scenestore_engine.retention import (
    Source,
    judge,
    search,
    terms,
    verdict,
    vocabulary,
    windows,
)

Pair = dict[str, Any]
Lines = dict[tuple[str, int], float]
"""Score of each source line, where a candidate has one."""
Candidate = Callable[[Pair], tuple[float, Lines]]
REFUSED_FAITHFUL = 0.05
KEPT_LINES_NAMED = 0.10
FOLDS = 5


# --- candidates ----------------------------------------------------------------------


def source_lines(pair: Pair) -> list[tuple[str, int, str]]:
    return [
        (source["filename"], number, line)
        for source in pair["sources"]
        for number, line in enumerate(source["content"].split("\n"), 1)
        if re.search(r"\w", line) and not line.lstrip().startswith("#")
    ]


def worst(lines: Lines, count: int = 2) -> float:
    return statistics.fmean(sorted(lines.values())[:count] or [1.0])


def length_ratio(pair: Pair) -> tuple[float, Lines]:
    sources = sum(len(source["content"]) for source in pair["sources"])
    return len(pair["target"]["content"]) / max(1, sources), {}


def by_terms(cut: Callable[[str], set[str]]) -> Candidate:
    """Share of a line's rarity-weighted terms that the target has; two worst lines."""

    def score(pair: Pair) -> tuple[float, Lines]:
        have = cut(pair["target"]["content"])
        lines = {(file, no): cut(line) for file, no, line in source_lines(pair)}
        spread = Counter(term for line in lines.values() for term in line)
        weight = {term: math.log(1 + len(lines) / n) for term, n in spread.items()}
        shares = {
            place: math.fsum(weight[term] for term in line & have)
            / math.fsum(weight[term] for term in line)
            for place, line in lines.items()
            if line
        }
        return worst(shares), shares

    return score


def bigrams(text: str) -> set[str]:
    found = set(re.findall(r"[a-z]{2,}|\d+(?:[.,:]\d+)*", text.lower()))
    for run in re.findall("[\u3400-\u9fff]+", text):
        found |= {run[place : place + 2] for place in range(max(1, len(run) - 1))}
    return found


def trigrams(text: str) -> set[str]:
    text = re.sub(r"\s+", " ", text.lower())
    return {text[place : place + 3] for place in range(len(text) - 2)}


def with_rapidfuzz() -> Candidate:
    fuzz = importlib.import_module("rapidfuzz.fuzz")

    def score(pair: Pair) -> tuple[float, Lines]:
        target = pair["target"]["content"].lower()
        lines = {
            (file, no): fuzz.partial_token_set_ratio(line.lower(), target) / 200
            + fuzz.partial_ratio(line.lower(), target) / 200
            for file, no, line in source_lines(pair)
        }
        return worst(lines), lines

    return score


def with_sklearn() -> Candidate:
    text = importlib.import_module("sklearn.feature_extraction.text")

    def score(pair: Pair) -> tuple[float, Lines]:
        rows = source_lines(pair)
        target = [
            piece
            for piece in re.split(r"(?<=[.。！？!?;；\n])", pair["target"]["content"])
            if re.search(r"\w", piece)
        ]
        every = [line for *_, line in rows] + target
        matrix = text.TfidfVectorizer(
            analyzer="char_wb", ngram_range=(1, 3), sublinear_tf=True
        ).fit_transform(every)
        near = (matrix[: len(rows)] @ matrix[len(rows) :].T).max(axis=1).toarray()
        lines = {row[:2]: float(near[place, 0]) for place, row in enumerate(rows)}
        return worst(lines), lines

    return score


def with_jieba() -> Candidate:
    jieba = importlib.import_module("jieba")
    jieba.setLogLevel(60)
    return by_terms(
        lambda text: {
            word for word in jieba.lcut(text.lower()) if word.strip(" ,.，。：-")
        }
    )


def with_snowball() -> Candidate:
    stem = importlib.import_module("snowballstemmer").stemmer("english").stemWord

    def cut(text: str) -> set[str]:
        return {stem(word) for word in re.findall(r"[a-z]+|\d+", text.lower())} | {
            sign
            for run in re.findall("[\u3400-\u9fff]+", text)
            for sign in run
            if sign not in vocabulary.FUNCTION
        }

    return by_terms(cut)


def ours(**changed: object) -> Candidate:
    """Return the shipped rule, with constants of its modules *changed* meanwhile."""
    homes = {name: home for home in (search, verdict) for name in vars(home)}

    def score(pair: Pair) -> tuple[float, Lines]:
        before = {name: getattr(homes[name], name) for name in changed}
        for name, value in changed.items():
            setattr(homes[name], name, value)
        try:
            return scored(pair)
        finally:
            for name, value in before.items():
                setattr(homes[name], name, value)

    return score


def scored(pair: Pair) -> tuple[float, Lines]:
    sources = [Source(**source) for source in pair["sources"]]
    found, _ = search.find(
        [(source.filename, source.content) for source in sources],
        pair["target"]["content"],
        max_chars=1500,
        is_exempt=None,
    )
    lines: Lines = {}
    for one in found:
        place = (one.filename, one.fact.line)
        lines[place] = min(one.score, lines.get(place, 1.0))
    return judge(sources, Source(**pair["target"])).score, lines


def without_concepts(pair: Pair) -> tuple[float, Lines]:
    judge([Source("", "茶")], Source("", "水"))  # a pattern is made of the concepts
    concepts, beginnings = vocabulary.concepts, vocabulary.chinese_beginnings
    vocabulary.concepts = dict  # type: ignore[assignment]
    vocabulary.chinese_beginnings = dict  # type: ignore[assignment]
    forget()
    try:
        return scored(pair)
    finally:
        vocabulary.concepts, vocabulary.chinese_beginnings = concepts, beginnings
        forget()


def forget() -> None:
    for cached in (terms.latin_keys, terms.spelling, terms.signs, search.taken_apart):
        cached.cache_clear()


def baseline(path: Path) -> Candidate:
    """Return e5 of `retention_baselines.py`, if its path is given."""
    spec = importlib.util.spec_from_file_location("retention_baselines", path)
    if spec is None or spec.loader is None:
        raise ModuleNotFoundError(name=str(path))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)

    def score(pair: Pair) -> tuple[float, Lines]:
        places = defaultdict(list)
        for file, no, line in source_lines(pair):
            places[line].append((file, no))
        lines = {
            place: module.line_score(row)
            for row in module.View(pair).rows
            for place in places[row["line"]]
        }
        return module.score_e5(pair), lines

    return score


def candidates(baselines: Path | None) -> dict[str, Candidate]:
    known: dict[str, Callable[[], Candidate]] = {
        "length ratio": lambda: length_ratio,
        "words and bigrams": lambda: by_terms(bigrams),
        "character trigrams": lambda: by_terms(trigrams),
        "rapidfuzz partial ratios": with_rapidfuzz,
        "scikit-learn tf-idf 1-3 grams": with_sklearn,
        "jieba words": with_jieba,
        "snowball stems and characters": with_snowball,
    }
    if baselines is not None:
        known["e5 of RETENTION.md"] = lambda: baseline(baselines)
    known |= {
        "retention-1": ours,
        "  without synonyms and translations": lambda: without_concepts,
        "  without neighbouring clauses": lambda: ours(_NARROW=99, _WIDE=99),
        "  a new number spoils nothing": lambda: ours(Search=Unspoilt),
        "  names weigh 1": lambda: ours(_NAME_WEIGHT=1.0),
        "  no lift for facts without numbers": lambda: ours(_BARE_POWER=1.0),
        "  other names forgiven": lambda: ours(_OTHER_NAME=1.0),
        "  worst fact alone": lambda: ours(_DECAY=1e-9),
        "  worst fact weighs 0.3": lambda: ours(_DECAY=0.7),
        "  arithmetic mean": lambda: ours(_score=arithmetic),
    }
    chosen: dict[str, Candidate] = {}
    for name, make in known.items():
        try:
            chosen[name] = make()
        except ModuleNotFoundError as missing:
            print(f"left out: {name}: no {missing.name}", file=sys.stderr)
    return chosen


class Unspoilt(search.Search):
    def together(
        self, narrow: int, wide: int, *, changed: bool
    ) -> tuple[windows.Windows, int]:
        del changed
        return super().together(narrow, wide, changed=False)


def arithmetic(scores: list[float]) -> float:
    weights = [0.5**place for place in range(len(scores))]
    whole = sum(score * w for score, w in zip(sorted(scores), weights, strict=True))
    return whole / sum(weights) if weights else 1.0


# --- measures ------------------------------------------------------------------------


def auc(high: list[float], low: list[float]) -> float:
    if not high or not low:
        return math.nan
    low = sorted(low)
    wins = sum(bisect_left(low, score) + bisect_right(low, score) for score in high)
    return wins / (2 * len(high) * len(low))


def threshold(faithful: list[float]) -> float:
    """Return the highest threshold that refuses at most 5 % of *faithful*."""
    return sorted(faithful)[int(REFUSED_FAITHFUL * len(faithful))]


def share_below(scores: list[float], cut: float) -> float:
    return sum(score < cut for score in scores) / len(scores) if scores else math.nan


def measures(rows: list[dict[str, Any]]) -> dict[str, float]:
    """Return the figures of scored pairs; `rows` may hold a group twice."""

    def scores(label: str, **wanted: object) -> list[float]:
        return [
            row["score"]
            for row in rows
            if row["label"] == label
            and all(row["pair"].get(key) == value for key, value in wanted.items())
        ]

    faithful, lossy, subtle = scores("faithful"), scores("lossy"), scores("subtle")
    cut = threshold(faithful)
    kept = [score for row in rows for score in row["kept"]]
    lost = [score for row in rows for score in row["lost"]]
    figures = {
        "auc": auc(faithful, lossy),
        "auc_without_numbers": auc(
            scores("faithful", facts="non_numeric"),
            scores("lossy", facts="non_numeric"),
        ),
        "lossy_refused": share_below(lossy, cut),
        "subtle_refused": share_below(subtle, cut),
        "auc_subtle": auc(faithful, subtle),
        "threshold": cut,
    }
    if kept and lost:
        line_cut = sorted(kept)[int(KEPT_LINES_NAMED * len(kept))]
        figures |= {
            "auc_lines": auc(kept, lost),
            "lost_lines_named": share_below(lost, line_cut),
            "line_threshold": line_cut,
        }
    return figures


def cross_validated(rows: list[dict[str, Any]]) -> dict[str, float]:
    """Return what the threshold of the other groups does to each group."""
    groups = sorted({row["pair"]["group"] for row in rows})
    refused: dict[str, list[bool]] = defaultdict(list)
    for fold in range(FOLDS):
        held = set(groups[fold::FOLDS])
        cut = threshold(
            [
                row["score"]
                for row in rows
                if row["label"] == "faithful" and row["pair"]["group"] not in held
            ]
        )
        for row in rows:
            if row["pair"]["group"] in held:
                refused[row["label"]].append(row["score"] < cut)
    return {f"cv_{label}_refused": statistics.fmean(x) for label, x in refused.items()}


def bootstrap(rows: list[dict[str, Any]], resamples: int) -> dict[str, list[float]]:
    by_group: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in rows:
        by_group[row["pair"]["group"]].append(row)
    groups = sorted(by_group)
    chance = random.Random(0)  # noqa: S311 - a fixed seed, no secret
    drawn: dict[str, list[float]] = defaultdict(list)
    for _ in range(resamples):
        sample = [row for _ in groups for row in by_group[chance.choice(groups)]]
        for name, value in measures(sample).items():
            if not math.isnan(value):
                drawn[name].append(value)
    return {
        name: [
            sorted(values)[int(0.025 * len(values))],
            sorted(values)[int(0.975 * len(values))],
        ]
        for name, values in drawn.items()
        if values
    }


def run(
    candidate: Candidate, pairs: list[tuple[str, Pair]], resamples: int
) -> dict[str, Any]:
    rows: list[dict[str, Any]] = []
    started = time.process_time()
    for label, pair in pairs:
        search.taken_apart.cache_clear()
        score, lines = candidate(pair)
        dropped = set(pair.get("dropped", ()))
        texts = {(file, no): line for file, no, line in source_lines(pair)}
        rows.append(
            {
                "pair": pair,
                "label": label,
                "score": score,
                "kept": []
                if label == "subtle"
                else [s for at, s in lines.items() if texts.get(at) not in dropped],
                "lost": []
                if label == "subtle"
                else [s for at, s in lines.items() if texts.get(at) in dropped],
            }
        )
    seconds = time.process_time() - started
    return {
        **measures(rows),
        **cross_validated(rows),
        "ms_a_pair": 1000 * seconds / len(pairs),
        "intervals": bootstrap(rows, resamples) if resamples else {},
    }


COLUMNS = (
    ("auc", "AUC"),
    ("auc_without_numbers", "no numbers"),
    ("lossy_refused", "lossy refused"),
    ("subtle_refused", "subtle refused"),
    ("cv_faithful_refused", "cv faithful refused"),
    ("cv_lossy_refused", "cv lossy refused"),
    ("cv_subtle_refused", "cv subtle refused"),
    ("lost_lines_named", "lost lines named"),
    ("auc_lines", "AUC of lines"),
    ("threshold", "threshold"),
    ("ms_a_pair", "ms a pair"),
)


def cell(figures: dict[str, Any], name: str) -> str:
    value = figures.get(name, math.nan)
    if math.isnan(value):
        return "-"
    text = f"{value:.3f}" if name != "ms_a_pair" else f"{value:.1f}"
    low_high = figures["intervals"].get(name)
    if low_high and name != "threshold":
        return f"{text} [{low_high[0]:.2f}, {low_high[1]:.2f}]"
    return text


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("pairs", type=Path)
    parser.add_argument("--subtle", type=Path)
    parser.add_argument("--baselines", type=Path, help="retention_baselines.py")
    parser.add_argument("--resamples", type=int, default=300)
    parser.add_argument("--only", help="a regular expression that a candidate matches")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    pairs: list[tuple[str, Pair]] = []
    for path, label in ((given.pairs, ""), (given.subtle, "subtle")):
        if path is not None:
            for line in path.read_text(encoding="utf-8").splitlines():
                pair = json.loads(line)
                pairs.append((label or pair["label"], pair))
    results = {
        name: run(candidate, pairs, given.resamples)
        for name, candidate in candidates(given.baselines).items()
        if not given.only or re.search(given.only, name)
    }
    if given.json:
        print(json.dumps(results, indent=1))
        return
    print("| candidate | " + " | ".join(title for _, title in COLUMNS) + " |")
    print("|---|" + "---|" * len(COLUMNS))
    for name, figures in results.items():
        row = " | ".join(cell(figures, key) for key, _ in COLUMNS)
        print(f"| {name.replace('  ', '· ')} | {row} |")


if __name__ == "__main__":
    main()
