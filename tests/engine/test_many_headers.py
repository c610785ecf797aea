"""Reader and writer of META agree, on as many headers as the profile has time for."""

import os
import random

from scenestore.blockfile import Block, parse, render
from scenestore_engine.state import Meta
from scenestore_engine.texts import normal_body
from scenestore_engine.times import iso

COUNT = 1_000_000 if os.environ.get("HYPOTHESIS_PROFILE") == "deep" else 3_000
WORDS = [
    *("created:", "updated: x", "heat: 7", "summary:", "-----META", "a: b: c", "—"),
    *("林晓", "跑步", "🏃", "42", "[x]", "{y: z}", "#", "- ", "  ", "\t", "'q'", '"'),
]
FIELDS = ["mood: blue", "tags: [a, b]", "来源: 群聊", "Heat: 3", "created : then"]


def text(dice: random.Random, most: int) -> str:
    return " ".join(dice.choice(WORDS) for _ in range(dice.randint(1, most)))


def block(dice: random.Random) -> Block:
    body = "\n".join(text(dice, 4) for _ in range(dice.randint(1, 4)))
    return Block(
        meta=Meta(
            created=iso(dice.randrange(4_102_444_800_000)),
            updated=iso(dice.randrange(4_102_444_800_000)),
            summary=text(dice, 6).strip() or "s",
            heat=dice.choice([0, 1, 7, 10**9, 10**15]),
            extra=tuple(dice.sample(FIELDS, dice.randint(0, 3))),
        ),
        body=normal_body(body) or "x",
    )


def test_what_is_written_is_read_as_it_was() -> None:
    dice = random.Random(20260301)  # noqa: S311 - a repeatable test, no secret

    for _ in range(COUNT):
        written = block(dice)
        data = render(written.meta, written.body)
        assert parse(data, file_time=iso(0)) == written, data
