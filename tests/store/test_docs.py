"""What the documents name is there."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DOCS = sorted((ROOT / "docs").glob("*.md"))
TEST = re.compile(r"`(test_\w+)`")
FILE = re.compile(r"\b(?:tests|benchmarks|docs|examples)/[\w/.-]*\.(?:py|md|jsonl)\b")
LINK = re.compile(r"\]\((?!https?:|#)([^)#\s]+)")


@cache
def functions() -> set[str]:
    """Every function of every test module."""
    return {
        node.name
        for path in (ROOT / "tests").rglob("test_*.py")
        for node in ast.walk(ast.parse(path.read_bytes()))
        if isinstance(node, ast.FunctionDef)
    }


def test_there_are_documents_to_look_at() -> None:
    assert {"invariants.md", "testing.md"} <= {path.name for path in DOCS}


def test_every_invariant_of_a_consolidation_names_tests_that_exist() -> None:
    text = (ROOT / "docs" / "invariants.md").read_text(encoding="utf-8")
    rows = [line for line in text.splitlines() if line.startswith("| ")][1:]

    assert len(rows) >= 8
    for row in rows:
        named = TEST.findall(row)
        assert named, row
        assert set(named) <= functions(), row


@pytest.mark.parametrize("path", DOCS, ids=lambda path: path.name)
def test_every_test_that_a_document_names_exists(path: Path) -> None:
    named = set(TEST.findall(path.read_text(encoding="utf-8")))

    assert named <= functions()


@pytest.mark.parametrize("path", DOCS, ids=lambda path: path.name)
def test_every_file_that_a_document_names_exists(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    named = set(FILE.findall(text))
    linked = {str((path.parent / link).resolve()) for link in LINK.findall(text)}

    assert [name for name in sorted(named) if not (ROOT / name).exists()] == []
    assert [name for name in sorted(linked) if not Path(name).exists()] == []
