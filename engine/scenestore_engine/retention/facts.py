"""Bodies taken apart: a source into facts, a target into clauses."""
# ruff: noqa: RUF001, SIM905, E501 - Chinese signs are meant; tables of words.

import re
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

LONG_LINE: Final = 400
"""Width from which a line counts by its sentences. Chosen among 100, 160 and 400."""
_SHORT: Final = 24
"""Width below which a sentence stays with its neighbour: "No. 5", "He agreed."."""
_SHORT_CLAUSE: Final = 8
_SENTENCE_END = re.compile(r"(?<=[。！？!?；;])|(?<=\.)(?=\s)")
_CLAUSE_END = re.compile(r"(?<=[。！？!?；;，,—])(?!\d)|(?<=\.)(?=\s)|(?=[(（])")
_LABELS: Final = frozenset(
    """
    item items detail details name value values date dates day time key field fields note
    notes price cost amount what who when where why how topic fact facts description
    comment comments status owner type kind number count unit person place thing rule rules
    step reason source result default meaning setting parameter option role event year
    项目 内容 说明 名称 日期 时间 值 数值 备注 价格 金额 字段 描述 类型 数量 单位 人员 负责人 地点
    事项 规则 步骤 原因 结果 默认值 含义 参数 状态 角色 事件 年份 姓名 条目 细节 详情 类别 情况
    """.split()
) | {""}
_DAY = re.compile(r"\d{4}[-/.年]\d{1,2}[-/.月]\d{1,2}|\d月\d{1,2}[日号]")
_SAYS_SOMETHING = re.compile(r"\w")


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
    for number, line in enumerate(body.split("\n"), 1):
        if names_what_follows(line) or not _SAYS_SOMETHING.search(line):
            continue
        if _width(line) <= LONG_LINE:
            yield Fact(number, line)
        else:
            for sentence in _joined(_SENTENCE_END.split(line), _SHORT):
                yield Fact(number, sentence.strip())


def clauses_of(body: str) -> Iterator[Clause]:
    """Yield the clauses of *body*, headings included: a title may hold a fact."""
    for number, line in enumerate(body.split("\n"), 1):
        for clause in _joined(_CLAUSE_END.split(line), _SHORT_CLAUSE):
            yield Clause(number, clause)


def clause_count(text: str) -> int:
    """Return how many clauses *text* has, which holds no line break."""
    return len(_joined(_CLAUSE_END.split(text), _SHORT_CLAUSE))


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
        return _DAY.search(line) is None
    cells = [cell.strip(" *").lower() for cell in line.strip().split("|")[1:-1]]
    return len(cells) > 1 and all(cell in _LABELS for cell in cells)


def _joined(parts: Sequence[str], short: int) -> list[str]:
    joined: list[str] = []
    for part in parts:
        if not part.strip():
            continue
        if joined and (_width(part) < short or _width(joined[-1]) < short):
            joined[-1] += part
        else:
            joined.append(part)
    return [part for part in joined if _SAYS_SOMETHING.search(part)]


def _width(text: str) -> int:
    """Return about how wide *text* is in a terminal: a Chinese character says more."""
    return (len(text) + len(text.encode(errors="replace"))) // 2
