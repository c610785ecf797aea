"""The compression check on any sources and target, without a store.

Source:
    CONTRACT section 5, "Compression".
"""

import msgspec

from scenestore.errors import Refusal
from scenestore_engine.faults import Fault, FaultCode
from scenestore_engine.retention import Source, Strength, Verdict, judge
from scenestore_engine.rules import is_exempt
from scenestore_engine.strictjson import read
from scenestore_engine.texts import normal_body


class Question(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What is to be judged: ``{"sources": [{filename, content}], "target": {…}}``."""

    sources: tuple[Source, ...]
    target: Source


def judged(payload: bytes, *, strength: Strength, max_chars: int) -> Verdict | Refusal:
    """Return the verdict on the sources and the target that *payload* gives.

    Args:
        payload: A `Question` as JSON.
        strength: How strict to be.
        max_chars: How long a body may be.
    """
    value, flaws = read(payload)
    if flaws:
        return Refusal(
            errors=tuple(
                Fault(code=f.code, path=f.path, message=f.message, hint=f.hint)
                for f in flaws
            )
        )
    try:
        question = msgspec.convert(value, Question)
    except msgspec.ValidationError as error:
        return Refusal(errors=(_wrong(str(error)),))
    sources = [_normal(source) for source in question.sources]
    return judge(
        sources,
        _normal(question.target),
        strength=strength,
        max_chars=max_chars,
        is_exempt=is_exempt,
    )


def _normal(source: Source) -> Source:
    return Source(source.filename, normal_body(source.content))


def _wrong(message: str) -> Fault:
    what, _, place = message.partition(" - at ")
    path = place.strip("`").removeprefix("$").replace("[", "/").replace("]", "")
    return Fault(
        code=FaultCode.WRONG_TYPE,
        path=path.replace(".", "/"),
        message=f"{what}.",
        hint='Give {"sources": [{"filename", "content"}], "target": {"filename", '
        '"content"}}.',
    )
