"""Text as terms that can be counted, in English and in Chinese, Japanese and Korean.

Words are cut to a stem of five letters. CJK text, which has no spaces, becomes its
characters and pairs of characters, without those that only carry grammar.
"""

import itertools
import re
import unicodedata
from collections.abc import Iterator

CJK = "\u3400-\u4dbf\u4e00-\u9fff\u3040-\u30ff\uac00-\ud7af"
GRAMMAR = frozenset(
    "的了是我你他她它们在有不这那就也都很和与吗呢吧啊呀哦嗯会要可以能说到去来得着过把被给对为从个些"
    "么什怎样没好谢觉还最想让更非常并且但而或及将已该应却则其之于由向往才又再只"
)
"""Characters that carry grammar, or that every talk is full of."""
_COMMON_RUNS = """
今天 昨天 明天 今年 去年 今晚 昨晚 早上 晚上 上午 下午 时候 时间
自己 如果 知道 听起 起来 听说 一家 一道 一种 一次 一本 一部 一首
一位 一起 一直 一天 一下 一点 一样 一定 一般 一切 特别 地方 推荐
伴侣 喜欢 建议 需要 觉得 感觉 认为 希望 开始 现在 以后 之后 以前
之前 因为 所以 虽然 但是 可能 一些 许多 很多 东西 事情 问题 助手
聊天 分享 有趣 非常 比较 确实 其实 当然 不错 帮助 决定 打算 准备
计划 尝试 发现 已经 每天 每周 每次 周末 上周 下周 本周 最近 看到
用户 提醒 注意 考虑 认真 糟糕 伴侣 方法
"""
COMMON_RUNS = frozenset(_COMMON_RUNS.split())
"""Words that every talk is full of, so that they name nothing."""
MEASURES = frozenset("部家道本首次件条位张只台份块杯项")
"""Characters by which things are counted: what follows them is the word."""
_STEM_CHARS = 5
_MAX_CHARS = 2_000
"""Characters of one text that are looked at; more says little that is new."""
_WORD = re.compile(rf"[{CJK}]+|[^\W_{CJK}]+(?:['\u2019][a-z]+)?")
_POSSESSIVE = re.compile(r"['\u2019](?:s$)?")
_STOP_WORDS = """
a about added after again ago all also always am an and another any anything
appreciate appreciates are arent around as ask asked asking assistant at back be
because been before began begin begins being believes better both bring brings but by
called can cant chat companion cool could couldnt day days decided did didn didnt
different do does doesn doesnt doing don done dont down during each enjoy enjoyed
enjoys especially even evening ever every everyone everything excited express
expresses feel feeling feels felt few find finding finds first for found from gave get
gets getting give gives giving go goes going gone good got great had haha has hasnt
have havent having he hello help her here hers hi him his how i id if ill im in
interested interesting into is isn isnt it its ive just keep kept kind know known last
learned let lets like ll look looking looks lot love loved loves made make makes
making many may me meet mentioned might month months more morning most much must my
myself name named need needs never new next nice no not now of off often okay old on
once one only onto or other our out over own per plan planned planning plans please
put re really recently recommend said same saw say says secret see seeing she should
since so some someone something sound sounds start started starts still such
suggestions take taken takes taking talk talking talks tell than thank thanks that
thats the their them then there these they theyre thing things think this those three
through time to today told too took tried tries try trying two under until up us use
used user using values ve very want wanted wants was wasn wasnt way we week weeks well
went were weve what when where which while who whole why will with without wont would
wow year years yes yesterday you your youre yours yourself
"""
STOP_WORDS = frozenset(_STOP_WORDS.split())


def words(text: str) -> Iterator[str]:
    """Yield the words of *text* in small letters; a run of CJK counts as one."""
    folded = unicodedata.normalize("NFKC", text[:_MAX_CHARS]).lower()
    for found in _WORD.finditer(folded):
        yield _POSSESSIVE.sub("", found.group())


def is_cjk(word: str) -> bool:
    """Say whether *word*, as `words` yields it, is a run of CJK."""
    return bool(re.match(f"[{CJK}]", word))


def is_telling(word: str) -> bool:
    """Say whether a word that is not CJK says something."""
    return word not in STOP_WORDS and (len(word) > 1 or not word.isascii())


def stem(word: str) -> str:
    """Return what the forms of a word share."""
    return word if word.isdigit() else word[:_STEM_CHARS]


def terms(text: str) -> list[str]:
    """Return the terms of *text*, in order, as often as they stand there."""
    found: list[str] = []
    for word in words(text):
        if is_cjk(word):
            found += _cjk_terms(word)
        elif is_telling(word):
            found.append(stem(word))
    return found


def _cjk_terms(run: str) -> Iterator[str]:
    yield from (char for char in run if char not in GRAMMAR)
    for pair in itertools.pairwise(run):
        if not GRAMMAR.intersection(pair):
            yield "".join(pair)
