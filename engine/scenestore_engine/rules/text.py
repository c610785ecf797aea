"""What may be written.

Source:
    CONTRACT section 5, "Batch rules".
"""

import re
import unicodedata
from collections.abc import Iterator

from scenestore_engine.commands import (
    Batch,
    BodyWrite,
    Command,
    Consolidate,
    targets,
)
from scenestore_engine.faults import Fault, FaultCode
from scenestore_engine.policy import (
    MAX_LINE_CHARS,
    Policy,
)
from scenestore_engine.secret import kind_of_secret

META_LINES = frozenset({"-----meta-start-----", "-----meta-end-----"})
DELETED_MARK = "[deleted]"
_LINE_BREAKS = "\u2028\u2029"
_ANY_LINE_END = re.compile("[\n\v\f\x1c-\x1e\x85\u2028\u2029]")
"""Where some reader of a scene file ends a line, though we end one at LF alone."""


def body_is_good(path: str, command: BodyWrite, policy: Policy) -> Iterator[Fault]:
    """Yield a fault for each reason why the body cannot be one."""
    place, filename, body = f"{path}/content", command.filename, command.content
    lines = [_seen(line).casefold() for line in _ANY_LINE_END.split(body)]
    if not _seen(body):
        yield Fault(
            code=FaultCode.BODY_BLANK,
            path=place,
            filename=filename,
            message="The content is blank.",
            hint="Give the body, or delete the scene with the action delete.",
        )
    if len(body) > policy.max_body_chars:
        yield Fault(
            code=FaultCode.BODY_TOO_LONG,
            path=place,
            filename=filename,
            message=f"The content has {len(body)} characters; "
            f"{policy.max_body_chars} are allowed.",
            hint=f"Shorten it by {len(body) - policy.max_body_chars} characters.",
        )
    if META_LINES.intersection(lines):
        yield Fault(
            code=FaultCode.BODY_HAS_META,
            path=place,
            filename=filename,
            message="The content holds a line of a META header.",
            hint="Send the body alone; the META header is the server's.",
        )
    if DELETED_MARK in lines:
        yield Fault(
            code=FaultCode.BODY_MARKS_DELETION,
            path=place,
            filename=filename,
            message="The content has a line that is nothing but [DELETED].",
            hint="Use the action delete, or leave that line out.",
        )


def line_complaint(text: str) -> str | None:
    """Return why *text* is not one clean line of 1 to 500 characters, or None."""
    if not _seen(text):
        return "is blank"
    if len(text) > MAX_LINE_CHARS:
        return f"has {len(text)} characters; {MAX_LINE_CHARS} are allowed"
    if "\n" in text or "\r" in text or any(char in text for char in _LINE_BREAKS):
        return "has more than one line"
    if has_control(text):
        return "holds a control character"
    return None


def _seen(text: str) -> str:
    """Return what is seen of *text*: without outer space and format characters."""
    if not text.isascii():
        text = "".join(char for char in text if unicodedata.category(char) != "Cf")
    return text.strip()


def has_control(text: str) -> bool:
    """Say whether *text* holds a control character of C0 or C1, or DEL."""
    return any(unicodedata.category(char) == "Cc" for char in text)


def lines_are_good(path: str, command: Command) -> Iterator[Fault]:
    """Yield a fault if the summary or the reason is not one clean line."""
    if isinstance(command, BodyWrite) and command.meta.summary is not None:
        yield from _line_is_good(
            FaultCode.BAD_SUMMARY,
            f"{path}/meta/summary",
            "summary",
            command.meta.summary,
        )
    if command.reason is not None:
        yield from _line_is_good(
            FaultCode.BAD_REASON, f"{path}/reason", "reason", command.reason
        )


def batch_lines_are_good(batch: Batch) -> Iterator[Fault]:
    """Yield a fault for each reason of the batch itself that is not one clean line."""
    given = (
        ("personaReason", batch.persona_reason),
        ("dismissReason", batch.dismiss_reason),
    )
    for field, text in given:
        if text is not None:
            yield from _line_is_good(FaultCode.BAD_REASON, f"/{field}", field, text)


def _line_is_good(code: FaultCode, path: str, word: str, text: str) -> Iterator[Fault]:
    complaint = line_complaint(text)
    if complaint is not None:
        yield Fault(
            code=code,
            path=path,
            message=f"The {word} {complaint}.",
            hint=f"Give one line of 1 to {MAX_LINE_CHARS} characters.",
        )


def secrets_in(batch: Batch) -> Iterator[Fault]:
    """Yield a fault for each text that holds a key or a token, never naming it."""
    for path, filename, text in _texts(batch):
        kind = kind_of_secret(text)
        if kind is not None:
            yield Fault(
                code=FaultCode.SECRET,
                path=path,
                filename=filename,
                message=f"Line {_line_of_secret(text)} of the text holds {kind}; "
                "history would keep it for ever.",
                hint="Leave that line out, and say where the secret is kept instead.",
            )


def _line_of_secret(text: str) -> int:
    lines = text.split("\n")
    held = (n for n, line in enumerate(lines, start=1) if kind_of_secret(line))
    return next(held, 1)


def _texts(batch: Batch) -> Iterator[tuple[str, str | None, str]]:
    for write in batch.writes:
        command = write.command
        for index, name in enumerate(targets(command)):
            place = "filename" if index == 0 else "as"
            if index and isinstance(command, Consolidate):
                place = f"sources/{index - 1}"
            yield f"{write.path}/{place}", None, name
        if isinstance(command, BodyWrite):
            yield f"{write.path}/content", command.filename, command.content
            meta = command.meta
            for field in ("summary", "created", "updated"):
                said: str | None = getattr(meta, field)
                if said is not None:
                    yield f"{write.path}/meta/{field}", command.filename, said
        if command.reason is not None:
            yield f"{write.path}/reason", command.filename, command.reason
    if batch.persona_reason is not None:
        yield "/personaReason", None, batch.persona_reason
    if batch.dismiss_reason is not None:
        yield "/dismissReason", None, batch.dismiss_reason
