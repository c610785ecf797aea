"""JSON read strictly: what a lenient reader lets pass is a flaw, with its place.

Duplicate keys, NaN, numbers that no other reader would take, NUL, lone surrogates, too
many bytes and too many levels. Nothing is known here of what the JSON is for.

Source:
    CONTRACT section 5, "Bad input".
"""

import json
import re
from collections import Counter
from collections.abc import Iterator
from typing import TypeAlias

import msgspec

from scenestore_engine.faults import FaultCode
from scenestore_engine.policy import MAX_BATCH_BYTES, MAX_DEPTH, MAX_FILENAME_BYTES

Json: TypeAlias = "dict[str, Json] | list[Json] | str | int | float | bool | None"
MAX_DIGITS = 18
"""Digits of a whole number: so many fit into 64 bits, whoever reads them later."""
MAX_SHOWN_CHARS = MAX_FILENAME_BYTES
TOO_DEEP = f"The request is nested deeper than {MAX_DEPTH} levels."
_BAD_TEXT = re.compile("[\0\ud800-\udfff]")
_MAY_BE_BAD = re.compile(r"[\0\ud800-\udfff]|\\u(?:0000|[dD][89a-fA-F])")
_SQUARE = bytes.maketrans(b"{}", b"[]")
_NO_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))


class Flaw(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that is unfit, and where."""

    code: FaultCode
    path: str
    """A JSON Pointer."""
    message: str
    hint: str | None = None


class Unfit(msgspec.Struct, frozen=True):
    """Stands for a value whose own fault is said, so that no second one need be."""

    code: FaultCode
    message: str


def read(payload: bytes | str) -> "tuple[Json | Unfit, list[Flaw]]":
    """Return what the JSON *payload* says, and all that is unfit in it.

    Args:
        payload: UTF-8 if bytes; a leading byte order mark is passed over.

    Stays true:
        Nothing is raised, whatever *payload* says.
    """
    size = len(_utf8(payload) if isinstance(payload, str) else payload)
    code, hint = FaultCode.NOT_JSON, None
    if size <= MAX_BATCH_BYTES:
        try:
            text = payload if isinstance(payload, str) else payload.decode()
            return value_of(text, "")
        except UnicodeDecodeError as error:
            where = f"byte {error.start} belongs to no character"
            message = f"The JSON is not UTF-8: {where}."
        except json.JSONDecodeError as error:
            message = f"The request is not JSON: {syntax(error)}."
            hint = "Send one JSON object, without a code fence or comments."
    else:
        code = FaultCode.TOO_LARGE
        limit = f"at most 4 MiB ({MAX_BATCH_BYTES} bytes) are taken"
        message = f"The request has {size} bytes; {limit}."
    flaw = Flaw(code=code, path="", message=message, hint=hint)
    return Unfit(code, message), [flaw]


def value_of(text: str, path: str) -> "tuple[Json | Unfit, list[Flaw]]":
    """Return what the JSON *text* at *path* says, and what is unfit in it.

    Raises:
        JSONDecodeError: It is no JSON.
    """
    text = text.removeprefix("\ufeff")
    # A path has as many steps as there are levels around its place.
    if _is_deeper(text, MAX_DEPTH - path.count("/")):
        flaw = Flaw(code=FaultCode.TOO_DEEP, path=path, message=TOO_DEEP)
        return Unfit(FaultCode.TOO_DEEP, TOO_DEEP), [flaw]
    hooks = _Hooks()
    value: Json = json.loads(
        text,
        object_pairs_hook=hooks.object,
        parse_int=hooks.whole,
        parse_float=hooks.fraction,
        parse_constant=hooks.constant,
    )
    if not hooks.has_unfit and not _MAY_BE_BAD.search(text):
        return value, []
    flaws = (_flaw(place, found) for place, found in _walk(value, path))
    return value, [flaw for flaw in flaws if flaw is not None]


def _flaw(place: str, found: object) -> Flaw | None:
    if isinstance(found, Unfit):
        return Flaw(code=found.code, path=place, message=found.message)
    if isinstance(found, str) and (bad := _BAD_TEXT.search(found)):
        name = "NUL" if bad.group() == "\0" else "a lone surrogate"
        message = f"The text holds {name} (U+{ord(bad.group()):04X})."
        return Flaw(code=FaultCode.BAD_TEXT, path=place, message=message)
    return None


class _Hooks:
    """What JSON's own reader makes of numbers and objects."""

    def __init__(self) -> None:
        self.has_unfit = False

    def constant(self, name: str) -> object:
        return self._unfit(FaultCode.NOT_JSON, f"JSON has no number {name}.")

    def whole(self, digits: str) -> object:
        if len(digits.lstrip("-")) <= MAX_DIGITS:
            return int(digits)
        message = f"The number is too long: more than {MAX_DIGITS} digits."
        return self._unfit(FaultCode.WRONG_TYPE, message)

    def fraction(self, digits: str) -> object:
        number = float(digits)
        if abs(number) < float("inf"):
            return number
        return self._unfit(FaultCode.WRONG_TYPE, "The number is too large.")

    def object(self, pairs: list[tuple[str, object]]) -> object:
        found = dict(pairs)
        if len(found) < len(pairs):
            for key, times in Counter(key for key, _ in pairs).items():
                if times > 1:
                    message = f"{shown(key)} stands {times} times in one object."
                    found[key] = self._unfit(FaultCode.DUPLICATE_KEY, message)
        return found

    def _unfit(self, code: FaultCode, message: str) -> Unfit:
        self.has_unfit = True
        return Unfit(code, message)


def _is_deeper(text: str, levels: int) -> bool:
    """Say whether JSON's reader would nest deeper, in a few passes at the speed of C.

    Without escapes, every second piece between quotes is a string. Of the brackets that
    remain, each round takes away the innermost pairs; what *levels* rounds leave is too
    deep, or was never closed.
    """
    bare = _utf8(text).replace(rb"\\", b"").replace(rb"\"", b"").split(b'"')[::2]
    left = b"".join(bare).translate(_SQUARE, _NO_BRACKETS)
    for _ in range(levels):
        left = left.replace(b"[]", b"")
    return b"[]" in left or left.count(b"[") > levels


def _walk(root: Json, path: str) -> Iterator[tuple[str, object]]:
    """Yield *root*, and each value and each key in it, with its path."""
    ahead = [(path, root)]
    while ahead:
        place, value = ahead.pop()
        yield place, value
        if isinstance(value, dict):
            inner = [(f"{place}/{step(key)}", key, item) for key, item in value.items()]
            yield from ((step, key) for step, key, _ in inner)
            ahead += [(step, item) for step, _, item in reversed(inner)]
        elif isinstance(value, list):
            ahead += [(f"{place}/{i}", item) for i, item in enumerate(value)][::-1]


def clipped(text: str) -> str:
    """Return the start of *text*, without what cannot be printed at all."""
    start = text[:MAX_SHOWN_CHARS] + "…" * (len(text) > MAX_SHOWN_CHARS)
    return _BAD_TEXT.sub("\ufffd", start)


def step(name: str) -> str:
    """Return *name* as a step of a JSON Pointer. Source: RFC 6901, section 3."""
    return clipped(name).replace("~", "~0").replace("/", "~1")


def shown(text: str) -> str:
    """Return *text* in quotes, cut where it is long."""
    return json.dumps(clipped(text), ensure_ascii=False)


def syntax(error: json.JSONDecodeError) -> str:
    """Return what is wrong and where, in words."""
    what = error.msg.removesuffix(" at").lower()
    return f"{what} at line {error.lineno}, column {error.colno}"


def _utf8(text: str) -> bytes:
    return text.encode(errors="surrogatepass")
