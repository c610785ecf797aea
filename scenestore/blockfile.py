"""A scene file: its META header and its body, to bytes and back.

Writing gives exactly one form; reading takes what people and other programs leave.

Source:
    CONTRACT section 1, "A scene file".
"""

import re

import msgspec

from scenestore_engine.policy import MAX_HEAT
from scenestore_engine.state import Meta
from scenestore_engine.texts import normal_body
from scenestore_engine.times import is_canonical, iso, ms

START = "-----META-START-----"
END = "-----META-END-----"
_FIELDS = ("created", "updated", "summary", "heat")
_BOM = "\ufeff"
_MAX_SUMMARY_CHARS = 120


class Block(msgspec.Struct, frozen=True, kw_only=True):
    """What a scene file says."""

    meta: Meta
    body: str


def render(meta: Meta, body: str) -> bytes:
    """Return the bytes of a scene file; equal arguments give equal bytes."""
    header = [
        START,
        f"created: {meta.created}",
        f"updated: {meta.updated}",
        f"summary: {meta.summary}",
        f"heat: {meta.heat}",
        *meta.extra,
        END,
    ]
    return ("\n".join(header) + f"\n\n{body}\n").encode()


def parse(data: bytes, *, file_time: str) -> Block:
    """Return what a scene file says, whoever wrote it.

    Args:
        data: The file; CRLF, lone CR, a BOM and a missing header are tolerated.
        file_time: What stands for missing times, as `times.iso` writes it.

    Raises:
        ValueError: It is not UTF-8.

    Stays true:
        ``parse(render(meta, body)) == Block(meta, body)`` for every body without outer
        blank lines.
    """
    text = data.decode("utf-8").removeprefix(_BOM)
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    header, body_lines = _divided(lines)
    body = normal_body("\n".join(body_lines))
    fields: dict[str, str] = {}
    extra: list[str] = []
    for line in header:
        name, colon, value = line.partition(":")
        if colon and name in _FIELDS and name not in fields:
            fields[name] = value.removeprefix(" ")
        elif line.strip():
            extra.append(line)
    said = fields.get("summary", "")
    created = _time(fields.get("created"), file_time)
    return Block(
        meta=Meta(
            created=created,
            updated=_time(fields.get("updated"), created if fields else file_time),
            summary=said if said.strip() else _summary(body),
            heat=_heat(fields.get("heat")),
            extra=tuple(extra),
        ),
        body=body,
    )


def _divided(lines: list[str]) -> tuple[list[str], list[str]]:
    """Return the lines of the header and those after it."""
    first = next((i for i, line in enumerate(lines) if line.strip()), None)
    if first is None or lines[first].strip() != START:
        return [], lines
    for index in range(first + 1, len(lines)):
        if lines[index].strip() == END:
            return lines[first + 1 : index], lines[index + 1 :]
    return [], lines  # a header that never ends is none


def _time(said: str | None, otherwise: str) -> str:
    if said is None:
        return otherwise
    if is_canonical(said):
        return said
    try:
        return iso(ms(said.strip()))
    except (ValueError, OverflowError):
        return otherwise


def _heat(said: str | None) -> int:
    if said is None or not re.fullmatch(r"\s*\d{1,100}\s*", said, re.ASCII):
        return 1
    return min(int(said), MAX_HEAT)


def _summary(body: str) -> str:
    """Return the first heading of *body*, or else its first line."""
    lines = [line.strip() for line in body.split("\n") if line.strip()]
    heading = next((line for line in lines if line.startswith("#")), None)
    chosen = heading.lstrip("#").strip() if heading else next(iter(lines), "")
    clean = "".join(char if char.isprintable() else " " for char in chosen).strip()
    return clean[:_MAX_SUMMARY_CHARS] or "untitled"
