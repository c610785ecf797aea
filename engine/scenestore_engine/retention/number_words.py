"""The words that numbers, units, months and days are written with, English and Chinese.

Tables only; `numbers` says how they are read.
"""
# ruff: noqa: RUF001, SIM905, E501 - Chinese signs are meant; tables of words.

from typing import Final

_ENGLISH_ONES = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen "
    "fourteen fifteen sixteen seventeen eighteen nineteen"
).split()
_ENGLISH_TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()
_ENGLISH_ORDINALS = (
    # "first" and "second" are left out: they order a tale more often than they count.
    "third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth "
    "fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth"
).split()

ENGLISH: Final = {
    **{word: value for value, word in enumerate(_ENGLISH_ONES)},
    **{word: 10 * value for value, word in enumerate(_ENGLISH_TENS, 2)},
    **{word: value for value, word in enumerate(_ENGLISH_ORDINALS, 3)},
    "twentieth": 20,
    "thirtieth": 30,
}
ENGLISH_SCALES: Final = {"hundred": 100, "thousand": 1000, "million": 1_000_000}
ENGLISH_TENS: Final = frozenset(_ENGLISH_TENS)

CHINESE_DIGITS: Final = {
    **{digit: value for value, digit in enumerate("零一二三四五六七八九")},
    "〇": 0,
    "两": 2,
    "俩": 2,
    "仨": 3,
}
CHINESE_SCALES: Final = {"十": 10, "百": 100, "千": 1000}
CHINESE_BIG_SCALES: Final = {"万": 10_000, "亿": 100_000_000}

# After these a Chinese numeral counts or orders something.
CHINESE_BEFORE: Final = "第初之"
# Before these a lone Chinese numeral counts something; elsewhere it may be an idiom.
CHINESE_MEASURES: Final = (
    "个次天周月年岁人只支本张块斤公里米层楼点分秒小时遍轮节座晚夜格单家套名位条款项成元角版档键"
    "队桌场站号台瓶段步句口批回期种首幅箱件页通趟班倍份级日星礼早餐颗根顿杯声桶度折辆间棵封盘门"
    "针粒朵滴栋艘架笔堂课餐枚卷册圈味串包罐壶勺寸尺丈亩核阶载株束"
    "道代把头匹双对吨克升毫厘平刻票行碗盒袋片章集部所样国国语室厅卫季届组排"
)
# These hold numerals and count nothing.
CHINESE_IDIOMS: Final = (
    "万一",
    "万分感",
    "千万别",
    "千万不",
    "千万要",
    "十分地",
    "一一",
    "三三两两",
    "七七八八",
    "乱七八糟",
    "五花八门",
    "四面八方",
    "九牛一毛",
    "一五一十",
    "四合院",
    "百合",
    "百货",
    "万能",
    "千层",
)

MONTHS: Final = {
    name: month
    for month, name in enumerate(
        "jan feb mar apr may jun jul aug sep oct nov dec".split(), 1
    )
}
WEEKDAYS: Final = {
    **{name: day for day, name in enumerate("mon tue wed thu fri sat sun".split(), 1)},
    **{name: day for day, name in enumerate("一二三四五六", 1)},
    **{str(day): day for day in range(1, 8)},
    "日": 7,
    "天": 7,
    "末": 8,
}

_YEAR_SECONDS = 365 * 86_400

# Unit → (dimension, how many of its base).
UNITS: Final[dict[str, tuple[str, float]]] = {
    unit: (dimension, factor)
    for dimension, factor, units in (
        ("s", 0.001, "毫秒 ms msec msecs millisecond milliseconds"),
        ("s", 1, "秒 秒钟 s sec secs second seconds"),
        ("s", 60, "分 分钟 min mins minute minutes"),
        ("s", 3600, "小时 个小时 钟头 个钟头 h hr hrs hour hours"),
        ("s", 86_400, "天 d day days"),
        ("s", 604_800, "周 个星期 星期 个礼拜 礼拜 wk wks week weeks weekly"),
        ("s", _YEAR_SECONDS / 12, "个月 mo month months"),
        ("s", _YEAR_SECONDS / 4, "个季度"),
        ("s", _YEAR_SECONDS, "年 岁 yr yrs year years yo"),
        ("s", 10 * _YEAR_SECONDS, "decade decades"),
        ("m", 0.001, "毫米 mm"),
        ("m", 0.01, "厘米 公分 cm"),
        ("m", 1, "米 metre metres meter meters"),
        ("m", 1000, "公里 千米 km kilometre kilometres kilometer kilometers"),
        ("g", 0.001, "毫克 mg"),
        ("g", 1, "克 g gram grams"),
        ("g", 500, "斤"),
        ("g", 1000, "公斤 千克 kg kilo kilos kilogram kilograms"),
        ("g", 1_000_000, "吨 ton tons tonne tonnes"),
        ("l", 0.001, "毫升 ml"),
        ("l", 0.01, "cl"),
        ("l", 0.1, "dl"),
        ("l", 1, "升 l litre litres liter liters"),
        ("b", 1e3, "kb kib"),
        ("b", 1e6, "mb mib"),
        ("b", 1e9, "gb gib"),
        ("b", 1e12, "tb tib"),
    )
    for unit in units.split()
}
SCALES: Final[dict[str, float]] = {
    "k": 1e3,
    "w": 1e4,
    "万": 1e4,
    "千": 1e3,
    "百万": 1e6,
    "亿": 1e8,
    "hundred": 1e2,
    "thousand": 1e3,
    "million": 1e6,
    "mn": 1e6,
    "billion": 1e9,
    "bn": 1e9,
    "dozen": 12,
    "打": 12,
}
# One letter that stands for several things: every reading counts.
AMBIGUOUS: Final[dict[str, tuple[tuple[str, float], ...]]] = {
    "m": (("m", 1), ("s", 60), ("b", 1e6), ("", 1e6)),
    "g": (("g", 1), ("b", 1e9)),
    "k": (("", 1e3),),
    "w": (("", 1e4), ("", 1)),
}
# What a table of single words cannot read, in the order in which it is replaced. The first
# column is a piece of each match: most texts hold none of them, and need no search.
PHRASES: Final = (
    ("half", r"\bhalf an hour|\bhalf[- ]hour", "30 minutes"),
    ("hour", r"\b(?:an|one) hour and a half", "90 minutes"),
    ("year", r"\b(?:a|one) year and a half", "18 months"),
    ("half", r"\bhalf a year\b", "6 months"),
    ("half", r"\bhalf (?:a )?day\b", "0.5 days"),
    ("half", r"\bhalf a dozen\b", "6"),
    ("dozen", r"\ba dozen\b", "12"),
    ("quarter", r"\bthree[- ]quarters of an hour", "45 minutes"),
    ("quarter", r"\b(?:a |one )?quarter of an hour", "15 minutes"),
    ("quarter", r"\bthree[- ]quarters\b", "4分之3"),
    ("quarter of", r"(?<!of )\b(?:a|one) quarter (?=of\b)", "4分之1 "),
    ("third", r"\btwo[- ]thirds\b", "3分之2"),
    ("third", r"\b(?:a|one)[- ]third\b", "3分之1"),
    ("fifth", r"\b(?:a|one)[- ]fifth\b", "5分之1"),
    ("tenth", r"\b(?:a|one)[- ]tenth\b", "10分之1"),
    ("fortnight", r"\b(?:a )?fortnight(?:ly)?\b", "2 weeks"),
    ("wice", r"\btwice\b", "2 times"),
    ("couple", r"\b(?:a )?couple of\b", "2"),
    ("noon", r"\bnoon\b", "12:00 pm"),
    ("midday", r"\bmidday\b", "12:00 pm"),
    ("midnight", r"\bmidnight\b", "12:00 am"),
    ("an hour", r"\ban hour\b", "1 hour"),
    ("one ", r"\bone (?=(?:hour|day|week|month|year|minute|second)\b)", "1 "),
    ("半", r"半(?<!个半)个?(?:小时|钟头)", "30分钟"),
    ("半", r"半(?<!个半)年", "6个月"),
    ("半", r"半(?<!个半)个月", "15天"),
    ("半", r"一个半(?=小时|钟头|月|星期)", "1.5个"),
    ("半", r"一年半", "1.5年"),
    (
        "一",
        r"一(?<![有某哪那这同另]一)(?=小时|周(?![一二三四五六末日岁])|个月|个?星期|年(?!级)|天|分钟)",
        "1",
    ),
    ("半", r"一半", "50%"),
    ("刻钟", r"一刻钟", "15分钟"),
    ("百分百", r"百分百", "100%"),
    ("百分之百", r"百分之百", "100%"),
)
