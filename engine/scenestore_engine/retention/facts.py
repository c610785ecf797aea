"""Bodies taken apart: a source into facts, a target into clauses."""
# ruff: noqa: RUF001, E501 - Chinese signs are meant; tables of words.

import re
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Final, NamedTuple

LONG_LINE: Final = 400
"""Width from which a line counts by its sentences. Chosen among 100, 160 and 400."""
_SHORT: Final = 24
"""Width below which a sentence stays with its neighbour: "No. 5", "He agreed."."""
_SHORT_CLAUSE: Final = 8
_MOST_BYTES: Final = 4
"""Of a character in UTF-8."""
_LABELS: Final = """
    item items detail details name value values date dates day time key field fields note
    notes price cost amount what who when where why how topic fact facts description
    comment comments status owner type kind number count unit person place thing rule rules
    step reason source result default meaning setting parameter option role event year
    项目 内容 说明 名称 日期 时间 值 数值 备注 价格 金额 字段 描述 类型 数量 单位 人员 负责人 地点
    事项 规则 步骤 原因 结果 默认值 含义 参数 状态 角色 事件 年份 姓名 条目 细节 详情 类别 情况
    """


class Fact(NamedTuple):
    """What one line of a body says, or one sentence of a long line."""

    line: int
    """The line of the body; the first is 1."""
    text: str


class Clause(NamedTuple):
    """A piece of a target, small enough that its terms belong together."""

    line: int
    text: str


def facts_of(body: str) -> Iterator[Fact]:
    """Yield the facts of *body*; headings name what follows, most are none."""
    says_something = _says_something().search
    for number, line in enumerate(body.split("\n"), 1):
        if names_what_follows(line) or not says_something(line):
            continue
        if _is_narrower(line, LONG_LINE + 1):
            yield Fact(number, line)
        else:
            for sentence in _joined(_sentence_end().split(line), _SHORT):
                yield Fact(number, sentence.strip())


def clauses_of(body: str) -> Iterator[Clause]:
    """Yield the clauses of *body*, headings included: a title may hold a fact."""
    pieces = _clause().findall
    for number, line in enumerate(body.split("\n"), 1):
        for clause in _joined(pieces(line), _SHORT_CLAUSE):
            yield Clause(number, clause)


def clause_count(text: str) -> int:
    """Return how many clauses *text* has, which says something on one line."""
    pieces = _clause().findall(text)
    return 1 if len(pieces) == 1 else len(_joined(pieces, _SHORT_CLAUSE))


def is_heading(line: str) -> bool:
    """Tell whether *line* is a Markdown heading."""
    return line.lstrip().startswith("#")


def names_what_follows(line: str) -> bool:
    """Tell whether *line* is a heading without a day, or a table's row of labels.

    A heading with a day is a fact: when it goes, nobody knows when its lines happened.
    A row of labels is known by its words, not by its place above the dashes, as the
    order of lines must not matter.
    """
    if is_heading(line):
        return _day().search(line) is None
    if "|" not in line:
        return False
    cells = [cell.strip(" *").lower() for cell in line.strip().split("|")[1:-1]]
    return len(cells) > 1 and all(cell in _labels() for cell in cells)


# Patterns are compiled when they are first asked for: most who import this never judge.


@cache
def _sentence_end() -> re.Pattern[str]:
    return re.compile(r"(?<=[。！？!?；;])|(?<=\.)(?=\s)")


@cache
def _clause() -> re.Pattern[str]:
    """Return a pattern whose matches are a line's pieces, without a gap.

    A piece ends behind a sign that no digit follows, or before a bracket. Matching the
    pieces is ten times as fast as splitting where nothing stands.
    """
    end = "。！？!?；;，,—"
    return re.compile(
        rf"(?!\Z)[(（]?(?:[^{end}.(（]+|[{end}](?=\d)|\.(?!\s))*[{end}.]?"
    )


@cache
def _day() -> re.Pattern[str]:
    return re.compile(r"\d{4}[-/.年]\d{1,2}[-/.月]\d{1,2}|\d月\d{1,2}[日号]")


@cache
def _says_something() -> re.Pattern[str]:
    return re.compile(r"\w")


@cache
def _labels() -> frozenset[str]:
    return frozenset(_LABELS.split()) | {""}


def _joined(parts: Sequence[str], short: int) -> list[str]:
    """Return *parts*, each that is narrower than *short* joined to its neighbour."""
    joined: list[str] = []
    last_is_short = False
    for part in parts:
        if not part or part.isspace():
            continue
        is_short = _is_narrower(part, short)
        if joined and (is_short or last_is_short):
            joined[-1] += part
            last_is_short = last_is_short and _is_narrower(joined[-1], short)
        else:
            joined.append(part)
            last_is_short = is_short
    says_something = _says_something().search
    return [part for part in joined if says_something(part)]


def _is_narrower(text: str, width: int) -> bool:
    """Tell whether *text* is narrower than *width*, by its length where that will do."""
    chars = len(text)
    if chars >= width:
        return False
    if chars * (1 + _MOST_BYTES) // 2 < width:
        return True
    return _width(text) < width


def _width(text: str) -> int:
    """Return about how wide *text* is in a terminal: a Chinese character says more."""
    return (len(text) + len(text.encode(errors="replace"))) // 2
