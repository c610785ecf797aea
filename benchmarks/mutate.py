"""How many small mistakes in the engine its tests notice.

    python benchmarks/mutate.py --count 300 --seed 1 [--jobs 2] [--list] [--json FILE]

A mutant is the engine with one expression or statement changed. Each is run in a copy
of the tree: first the tests of its module, then all others of the engine. One that no
test notices "survives": either nobody can tell it from the original, or a test is
missing. ``--only N,N`` runs some of the sample again.

Docstrings, annotations, messages, hints and the tables of words are left alone; the
compression check, which is judged by labelled pairs, makes up a fifth of the sample.
"""

import argparse
import ast
import copy
import json
import math
import os
import queue
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parent.parent
ENGINE = Path("engine/scenestore_engine")
TREES = ("engine", "scenestore", "cli", "tests", "pyproject.toml")
TABLES = ("vocabulary.py", "number_words.py")
RETENTION_SHARE = 0.2
TIMEOUT_S = 180
ALL_TESTS = (
    *("tests/engine/test_*.py", "tests/store/test_every_code.py"),
    *("tests/golden/test_*.py", "tests/store/test_case_files.py"),
    "tests/machines/test_repair.py",
)
FIRST = {
    "admit": ("tests/store/test_import.py",),
    "evolve": ("tests/engine/test_evolve.py",),
    "events": ("tests/engine/test_evolve.py", "tests/golden/test_*.py"),
    "names": ("tests/engine/test_names.py",),
    "decide": ("tests/engine/test_decide_*.py", "tests/engine/test_rules_*.py"),
    "commands": ("tests/engine/test_wire_*.py", "tests/store/test_replay.py"),
    "wire": ("tests/engine/test_wire_*.py",),
    "strictjson": ("tests/engine/test_wire_*.py",),
    "retention": ("tests/engine/test_retention_*.py",),
    "whole": ("tests/engine/test_rules_b*.py",),
    "diffs": ("tests/engine/test_rules_base.py",),
}
"""Tests that come first, by module or folder; else those that have its name."""
SWAPS: dict[type[ast.AST], type[Any]] = {
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.And: ast.Or,
    ast.Or: ast.And,
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.BitOr: ast.BitAnd,
    ast.BitAnd: ast.BitOr,
}
CALLS = {"min": "max", "max": "min", "any": "all", "all": "any", "sorted": "list"}
TOLD = {"message", "hint"}
DECLARED = {"frozen", "kw_only"}
PROSE = re.compile(r"\w \w")


class Mutant(NamedTuple):
    """One change of one file."""

    path: Path
    line: int
    what: str
    before: str
    after: str
    start: int
    end: int

    def applied(self, source: bytes) -> bytes:
        return source[: self.start] + self.after.encode() + source[self.end :]


def mutants(path: Path) -> Iterator[Mutant]:
    """Yield every mutant of the module at *path*, in the order of its source."""
    source = (ROOT / path).read_bytes()
    starts = [0]
    for row in source.splitlines(keepends=True):
        starts.append(starts[-1] + len(row))
    for node in judged(ast.parse(source)):
        is_test = isinstance(node, ast.If | ast.While | ast.IfExp)
        part = node.test if is_test else node
        start = starts[part.lineno - 1] + part.col_offset
        end = starts[part.end_lineno - 1] + part.end_col_offset
        before = source[start:end].decode()
        turned = [("condition", f"(not ({before}))")] if is_test else changes(node)
        for what, after in turned:
            if after != before:
                yield Mutant(path, part.lineno, what, before, after, start, end)


def judged(node: ast.AST) -> Iterator[Any]:
    """Yield *node* and what is below, save what no test should look at."""
    if isinstance(node, ast.expr | ast.stmt):
        yield node
    for name, value in ast.iter_fields(node):
        if name in {"annotation", "returns", "decorator_list", "type_params"}:
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST) and not is_left_alone(child):
                yield from judged(child)


def is_left_alone(node: ast.AST) -> bool:
    match node:
        case ast.JoinedStr() | ast.Import() | ast.ImportFrom() | ast.Raise():
            return True
        case ast.Expr(value=ast.Constant()):
            return True  # a docstring
        case ast.keyword(arg=str() as name) if name in TOLD | DECLARED:
            return True
        case ast.Assign(targets=[ast.Name(id=str() as name)]):
            return name.startswith("__") or name in TOLD
        case ast.AnnAssign(annotation=ast.Name(id="TypeAlias")):
            return True
        case ast.Subscript(value=ast.Name(id="Literal")):
            return True
        case ast.Call(func=ast.Name(id="assert_never")):
            return True
    return False


def changes(  # noqa: C901, PLR0912 - one kind of change a case
    node: ast.AST,
) -> Iterator[tuple[str, str]]:
    """Yield what may stand in *node*'s place: the kind of change, and the text."""
    match node:
        case ast.Compare(ops=[op]) if type(op) in SWAPS:
            yield "comparison", changed(node, swap_first)
        case ast.BoolOp(values=values):
            yield "boolean", f"({changed(node, swap)})"
            for value in values:
                yield "operand alone", f"({ast.unparse(value)})"
        case ast.BinOp(op=op) if type(op) in SWAPS:
            yield "operator", f"({changed(node, swap)})"
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            yield "not", f"({ast.unparse(operand)})"
        case ast.Constant(value=bool() as value):
            yield "constant", str(not value)
        case ast.Constant(value=int() | float() as value):
            yield "constant", repr(value + 1)
        case ast.Constant(value=str() as value) if not PROSE.search(value):
            yield "constant", repr(f"{value}X")
        case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
            if any(part.ifs for part in node.generators):
                yield "condition dropped", changed(node, without_conditions)
        case ast.Return(value=ast.expr() as value) if not is_none(value):
            yield "return", "return None"
        case ast.Expr(value=ast.Yield() | ast.YieldFrom()):
            yield "yield", "yield from ()"
        case ast.Expr(value=ast.Call()) | ast.AugAssign() | ast.Continue():
            yield "statement", "pass"
        case ast.Call():
            yield from changed_calls(node)


def changed_calls(node: ast.Call) -> Iterator[tuple[str, str]]:
    if isinstance(node.func, ast.Name) and node.func.id in CALLS:
        other = ast.Name(CALLS[node.func.id])
        yield "function", changed(node, lambda n: setattr(n, "func", other))
    for place, keyword in enumerate(node.keywords):
        if keyword.arg is not None and keyword.arg not in TOLD:
            yield (
                f"argument {keyword.arg} dropped",
                changed(node, lambda n, at=place: n.keywords.pop(at)),
            )
    if len(node.args) > 1:
        yield "last argument dropped", changed(node, lambda n: n.args.pop())


def changed(node: ast.AST, change: Callable[[Any], object]) -> str:
    twin = copy.deepcopy(node)
    change(twin)
    return ast.unparse(twin)


def swap_first(node: ast.Compare) -> None:
    node.ops = [SWAPS[type(node.ops[0])]()]


def swap(node: ast.BoolOp | ast.BinOp) -> None:
    node.op = SWAPS[type(node.op)]()


def without_conditions(
    node: ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp,
) -> None:
    for part in node.generators:
        part.ifs = []


def is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def sample(count: int, seed: int) -> list[Mutant]:
    chance = random.Random(seed)  # noqa: S311 - a fixed seed, no secret
    heads: list[Mutant] = []
    retention: list[Mutant] = []
    for path in sorted((ROOT / ENGINE).rglob("*.py")):
        found = list(mutants(path.relative_to(ROOT)))
        if path.name in TABLES:
            found = [m for m in found if m.what != "constant"]
        (retention if path.parent.name == "retention" else heads).extend(found)
    few = round(count * RETENTION_SHARE)
    drawn = chance.sample(heads, min(count - few, len(heads)))
    drawn += chance.sample(retention, min(few, len(retention)))
    print(f"{len(heads) + len(retention)} mutants, {len(drawn)} drawn", flush=True)
    return drawn


def tests_of(path: Path, tree: Path) -> list[list[str]]:
    """Return the tests to run, in rounds: those of the module, then the others."""
    key = "retention" if path.parent.name == "retention" else path.stem
    patterns = FIRST.get(key, (f"tests/engine/test*_{key}*.py",))
    first = [file for pattern in patterns for file in found(tree, pattern)]
    every = [file for pattern in ALL_TESTS for file in found(tree, pattern)]
    rest = [file for file in every if file not in first]
    return [part for part in (first, rest) if part]


def found(tree: Path, pattern: str) -> list[str]:
    return [str(file.relative_to(tree)) for file in sorted(tree.glob(pattern))]


def passes(tree: Path, tests: list[str]) -> bool:
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider"]
    env = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1", "PYTHONPATH": ""}
    base = tree / "tmp"
    try:
        done = subprocess.run(
            [*command, f"--basetemp={base}", *tests],
            check=False,
            cwd=tree,
            env=env,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=TIMEOUT_S,
        )
    except subprocess.TimeoutExpired:
        return False
    return done.returncode == 0


def survives(mutant: Mutant, tree: Path) -> bool:
    file = tree / mutant.path
    source, stat = file.read_bytes(), file.stat()
    try:
        file.write_bytes(mutant.applied(source))
        return all(passes(tree, tests) for tests in tests_of(mutant.path, tree))
    finally:
        file.write_bytes(source)
        os.utime(file, ns=(stat.st_atime_ns, stat.st_mtime_ns))


def copied(where: Path) -> Path:
    """Copy the tree, and compile it: a mutant must not find another's bytecode."""
    for name in TREES:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, where / name)
        else:
            where.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, where / name)
    subprocess.run([sys.executable, "-m", "compileall", "-q", where], check=False)
    return where


def interval(killed: int, count: int) -> tuple[float, float]:
    """Return the 95 % interval of a share, after Wilson."""
    z = 1.96
    share, spread = killed / count, 1 + z * z / count
    middle = share + z * z / (2 * count)
    half = z * math.sqrt(share * (1 - share) / count + (z / (2 * count)) ** 2)
    return (middle - half) / spread, (middle + half) / spread


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--only", help="numbers of the sample, with commas")
    parser.add_argument("--list", action="store_true", help="show them, run nothing")
    parser.add_argument("--json", type=Path, help="where each outcome is appended")
    given = parser.parse_args()
    drawn = list(enumerate(sample(given.count, given.seed)))
    if given.only:
        wanted = set(map(int, given.only.split(",")))
        drawn = [pair for pair in drawn if pair[0] in wanted]
    if given.list:
        for number, mutant in drawn:
            print(number, described(mutant))
        return
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        run(drawn, Path(folder), given.jobs, given.json)


def run(
    drawn: list[tuple[int, Mutant]], folder: Path, jobs: int, log: Path | None
) -> None:
    trees: queue.SimpleQueue[Path] = queue.SimpleQueue()
    for number in range(jobs):
        tree = copied(folder / str(number))
        trees.put(tree)

    if not all(passes(tree, tests) for tests in tests_of(drawn[0][1].path, tree)):
        raise SystemExit("The tests fail on the engine as it is.")

    def outcome(pair: tuple[int, Mutant]) -> bool:
        tree, started = trees.get(), time.monotonic()
        try:
            is_alive = survives(pair[1], tree)
        finally:
            trees.put(tree)
        word = "SURVIVED" if is_alive else "killed"
        seconds = time.monotonic() - started
        print(f"{pair[0]} {word} {seconds:.1f} s {described(pair[1])}", flush=True)
        if log is not None:
            row = {"number": pair[0], "survived": is_alive, "path": str(pair[1].path)}
            with log.open("a", encoding="utf-8") as file:
                file.write(json.dumps(row) + "\n")
        return is_alive

    with ThreadPoolExecutor(jobs) as pool:
        alive = sum(pool.map(outcome, drawn))
    count = len(drawn)
    low, high = interval(count - alive, count)
    share = (count - alive) / count
    print(f"killed {count - alive} of {count}: {share:.1%} ({low:.1%} to {high:.1%})")


def described(mutant: Mutant) -> str:
    before, after = (
        " ".join(text.split())[:70] for text in (mutant.before, mutant.after)
    )
    return f"{mutant.path}:{mutant.line} {mutant.what}: {before!r} -> {after!r}"


if __name__ == "__main__":
    main()
