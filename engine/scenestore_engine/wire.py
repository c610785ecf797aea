"""The JSON of one ``l2_commit`` as a batch; what is wrong in its form as faults.

Here belongs what the text of the request alone shows: JSON, types, names of fields, and
what is missing. Whether a wish may be granted is not asked. Reading does not stop at
the first fault, since an agent may retry only once.

Source:
    CONTRACT section 5, the table of actions, "Batch rules" and "Bad input".
"""

import difflib
import json
import re
from collections.abc import Collection, Iterable, Iterator
from typing import TypeVar, get_args

import msgspec

from scenestore_engine import strictjson
from scenestore_engine.commands import AdvisoryMeta, Batch, Command, Write
from scenestore_engine.faults import Fault, FaultCode, Notice, NoticeCode
from scenestore_engine.policy import MAX_WRITES
from scenestore_engine.strictjson import (
    MAX_SHOWN_CHARS,
    TOO_DEEP,
    Flaw,
    Json,
    Unfit,
    clipped,
    shown,
    step,
    syntax,
)
from scenestore_engine.texts import normal_body

MAX_FAULTS = 500
"""Faults that are listed; nobody reads more, and the answer must stay bounded."""


def parse_batch(payload: bytes | str) -> Batch:
    """Return the batch that *payload*, the JSON of one request, asks for.

    Args:
        payload: UTF-8 if bytes; a leading byte order mark is passed over.

    Returns:
        A batch that has all that is wrong in form in its ``faults``. A field with a
        fault is left out, and a write without what it needs; what is right stays, so
        that it can be judged as well.

    Stays true:
        Nothing is raised, whatever *payload* says.
    """
    reading = _Reading()
    return _batch(reading, reading.request(payload))


def batch_from(request: object) -> Batch:
    """Return the batch that *request*, a request that is decoded already, asks for.

    It is written as JSON and read again, so that no caller gets past a check.

    Stays true:
        Nothing is raised, whatever *request* is made of.
    """
    try:
        # Unchecked, a list that holds itself is just one that is too deep.
        text = json.dumps(request, ensure_ascii=False, check_circular=False)
    except RecursionError:
        return _refused(FaultCode.TOO_DEEP, TOO_DEEP)
    except (TypeError, ValueError) as error:
        message = f"The request holds what JSON cannot say: {error}."
        return _refused(FaultCode.WRONG_TYPE, message)
    return parse_batch(text)


_JSON_NAMES = {"add_members": "addMembers", "restore_as": "as"}
_FIELDS = {
    str(kind.__struct_config__.tag): {
        _JSON_NAMES.get(field.name, field.name): field
        for field in msgspec.structs.fields(kind)
    }
    for kind in get_args(Command)
}
"""What each action uses, as its command declares it."""
_ACTIONS = (
    "create begins a scene, update rewrites one, delete ends one, consolidate makes "
    "one of several, archive puts one away, restore brings it back."
)
_ONLY_FOR = {"sources": "consolidate", "as": "restore"}
_TOP = (
    *("sceneWrites", "cursor", "personaSignal", "personaReason", "dismiss"),
    *("dismissReason", "baseRevision", "idempotencyKey", "runId", "dryRun"),
)
_WRITE = ("action", *dict.fromkeys(name for used in _FIELDS.values() for name in used))
_META = AdvisoryMeta.__struct_fields__
_PLACES = {
    **dict.fromkeys(_FIELDS, "is an `action` of a write"),
    **dict.fromkeys(_TOP, "stands beside `sceneWrites`"),
    **dict.fromkeys(_WRITE, "stands in a write, beside `action`"),
    **dict.fromkeys(_META, "stands in the `meta` of a write"),
}
_MEANT = {
    "consolidate": "merge combine join fuse unite unify absorb",
    "update": "write edit modify change rewrite replace append upsert put set save "
    "patch extend overwrite revise",
    "create": "new add insert",
    "delete": "remove erase drop purge dissolve",
    "archive": "retire shelve hide stash",
    "restore": "unarchive revive bringback unhide",
    "sceneWrites": "scenes writes operations actions changes",
    "cursor": "nextcursor lastrecordid",
    "personaSignal": "persona personaupdate",
    "dismiss": "dismissed dismissals ignore",
    "baseRevision": "base revision parent",
    "idempotencyKey": "key requestid",
    "runId": "run session sessionid",
    "dryRun": "preview validateonly",
    "action": "type op operation kind",
    "filename": "file name path scene target scenename into output destination",
    "sources": "from mergefrom",
    "reason": "why note comment explanation",
    "as": "newname restoreas rename",
    "meta": "metadata header frontmatter",
    "content": "body text markdown",
    "members": "memberids ids records recordids sourceids",
    "addMembers": "newmembers",
    "summary": "description title",
}
"""What agents write instead of the right word: small, without joints."""
_RIGHT = {name.lower(): name for name in _PLACES} | {
    wrong: right for right, words in _MEANT.items() for wrong in words.split()
}

_Object = dict[str, object]
_Writes = list[object]
_Ids = frozenset[str]
_Names = tuple[str, ...]
_WORDS: dict[object, str] = {
    str: "a text",
    int: "a whole number",
    float: "a number",
    bool: "true or false",
    type(None): "null",
    list: "an array",
    dict: "an object",
    _Object: "an object",
    _Writes: "an array of writes",
    _Ids: "an array of texts",
    _Names: "an array of texts",
}
_JOINTS = re.compile(r"[\W_]+")
_OBJECT = re.compile(r"(?:scene|block)s?$")
"""What an agent adds to an action's word: merge_scenes."""
_LEAST_NEAR = 4
"""Letters of a name from which another word can be near it."""
_T = TypeVar("_T")


class _Reading:
    """What one request was found to have, so far."""

    def __init__(self) -> None:
        self.faults: list[Fault] = []
        self.notices: list[tuple[str, Notice]] = []
        self.names: dict[str, str] = {}
        """Filenames of the writes, by path."""
        self.unread = 0
        """Writes that lack so much that no rule can judge them."""
        self._faulty: set[str] = set()

    def fault(
        self, code: FaultCode, path: str, message: str, hint: str | None = None
    ) -> None:
        """Note what is wrong at *path*."""
        around = path
        while around and around not in self._faulty:
            self._faulty.add(around)
            around = around.rpartition("/")[0]
        if len(self.faults) < MAX_FAULTS:
            fault = Fault(code=code, path=path, message=message, hint=hint)
            self.faults.append(fault)

    def notice(self, code: NoticeCode, path: str, message: str, facts: _Object) -> None:
        """Note what had to be read with good will at *path*."""
        notice = Notice(code=code, message=message, facts=facts)
        self.notices.append((path, notice))

    def is_faulty(self, path: str) -> bool:
        """Say whether there is a fault at *path* or within it."""
        return path in self._faulty

    def finished(self, batch: Batch) -> Batch:
        """Return *batch* with all that was noted, tied to the names of the writes."""
        named = msgspec.structs.replace
        name = self.names.get
        return named(
            batch,
            unread=self.unread,
            faults=tuple(named(f, filename=name(_owner(f.path))) for f in self.faults),
            notices=tuple(named(n, filename=name(_owner(p))) for p, n in self.notices),
        )

    def request(self, payload: bytes | str) -> "Json | Unfit":
        """Return what the JSON *payload* says, having noted what is unfit in it."""
        value, flaws = strictjson.read(payload)
        return self._noted(value, flaws)

    def _noted(self, value: "Json | Unfit", flaws: Iterable[Flaw]) -> "Json | Unfit":
        for flaw in flaws:
            self.fault(flaw.code, flaw.path, flaw.message, flaw.hint)
        return value

    def typed(self, value: object, path: str, kind: type[_T]) -> _T | None:
        """Return *value* if it is a *kind* or text that says one; else note a fault."""
        wanted = _WORDS[kind]
        if isinstance(value, str) and wanted.startswith("an "):
            opening = "{" if kind is _Object else "["
            if value.lstrip("\ufeff \t\r\n").startswith(opening):
                value = self._taken_from_text(value, path)
        try:
            return msgspec.convert(value, kind)
        except (msgspec.ValidationError, UnicodeEncodeError):
            # The second: msgspec looks into a text that is none of its kinds.
            got = _WORDS.get(type(value))
            if got == _WORDS[list] and wanted == _WORDS[_Ids]:
                items = msgspec.convert(value, list[object])
                at = next(
                    i for i, item in enumerate(items) if not isinstance(item, str)
                )
                self.typed(items[at], f"{path}/{at}", str)
            elif got:
                code = FaultCode.WRONG_TYPE if path else FaultCode.NOT_AN_OBJECT
                _, hint = _meant(value, kind)
                self.fault(code, path, f"Wanted {wanted}, got {got}.", hint)
            return None

    def _taken_from_text(self, text: str, path: str) -> object:
        try:
            found = self._noted(*strictjson.value_of(text, path))
        except json.JSONDecodeError as error:
            message = f"The text looks like JSON and is not: {syntax(error)}."
            self.fault(FaultCode.WRONG_TYPE, path, message)
            return Unfit(FaultCode.WRONG_TYPE, message)
        message = f"{path or 'The request'} was sent as JSON text, and read as such."
        self.notice(NoticeCode.TEXT_TAKEN_AS_JSON, path, message, {"path": path})
        return found


class _Fields:
    """One object of the request, read field by field; null is as good as absent."""

    def __init__(
        self, reading: _Reading, path: str, values: _Object, known: Collection[str]
    ) -> None:
        self.reading = reading
        self.path = path
        self.values = {name: v for name, v in values.items() if v is not None}
        for name in values:
            if name not in known:
                # Half a million of them would take minutes to compare.
                is_listed = len(reading.faults) < MAX_FAULTS
                hint = _hint(name, known) if is_listed else None
                message = f"There is no field {shown(name)} here."
                self.fault(FaultCode.UNKNOWN_FIELD, step(name), message, hint)
                meant = _nearest(name, known) if is_listed else None
                is_said = values[name] is not None
                if path and is_said and meant and meant not in values:
                    # Judged as what is meant, so that one retry suffices.
                    self.values.setdefault(meant, values[name])

    def fault(
        self, code: FaultCode, step: str, message: str, hint: str | None = None
    ) -> None:
        """Note what is wrong in the field *step*."""
        self.reading.fault(code, f"{self.path}/{step}", message, hint)

    def need(self, name: str, needed_by: str) -> None:
        """Note a fault if the field is not there."""
        if name not in self.values:
            message = f"{needed_by} needs `{name}`."
            self.fault(FaultCode.MISSING_FIELD, name, message)

    def ignore(self, names: list[str]) -> None:
        """Note that the fields are of no use here, whatever is in them."""
        if names:
            message = f"Of no use here, and ignored: {', '.join(names)}."
            facts: _Object = {"fields": names}
            self.reading.notice(NoticeCode.FIELD_IGNORED, self.path, message, facts)

    def get(self, name: str, kind: type[_T]) -> _T | None:
        """Return the field, if it is there, a *kind*, and without a fault."""
        if name not in self.values:
            return None
        path = f"{self.path}/{name}"
        was_spoilt = self.reading.is_faulty(path)
        found = self.reading.typed(self.values[name], path, kind)
        if found is None and not was_spoilt:
            return _meant(self.values[name], kind)[0]
        # Writes are read one by one: a fault in one is no matter to the others.
        is_whole = kind is _Writes or not self.reading.is_faulty(path)
        return found if is_whole else None

    def line(self, name: str) -> str | None:
        """Return the text without outer spaces; other white space is for a rule."""
        text = self.get(name, str)
        return text and text.strip(" ")


def _batch(reading: _Reading, request: object) -> Batch:
    batch = Batch()
    values = reading.typed(request, "", _Object)
    if values is not None:
        top = _Fields(reading, "", values, _TOP)
        signal = top.get("personaSignal", bool)
        dismiss = top.get("dismiss", _Ids)
        batch = Batch(
            writes=tuple(_writes(top)),
            cursor=top.get("cursor", str),
            persona_reason=_reason(top, "personaSignal", signal, "personaReason"),
            dismiss=dismiss or frozenset(),
            dismiss_reason=_reason(top, "dismiss", dismiss, "dismissReason"),
            base_revision=top.get("baseRevision", str),
            idempotency_key=top.get("idempotencyKey", str),
            run_id=top.get("runId", str),
            dry_run=top.get("dryRun", bool) or False,
        )
    return reading.finished(batch)


def _reason(top: _Fields, wish: str, wished: object, name: str) -> str | None:
    """Return the reason *name* of a wish: needed with it, ignored without it."""
    if wished:
        top.need(name, f"`{wish}`")
    elif not top.reading.is_faulty(f"/{wish}"):
        top.ignore([name] if name in top.values else [])
        return None
    return top.line(name)


def _writes(top: _Fields) -> Iterator[Write]:
    found = top.get("sceneWrites", _Writes)
    if found is None and "sceneWrites" in top.values:
        top.reading.unread += 1
    asked = found or []
    if len(asked) > MAX_WRITES:
        message = f"{len(asked)} of at most {MAX_WRITES} writes."
        top.fault(FaultCode.TOO_MANY_WRITES, "sceneWrites", message)
    # What is beyond the limit is not even read: it may be a million.
    for index, value in enumerate(asked[:MAX_WRITES]):
        path = f"/sceneWrites/{index}"
        values = top.reading.typed(value, path, _Object)
        if values is not None:
            match values.get("filename"):
                case str() as name if name == clipped(name):
                    top.reading.names[path] = name
                case _:
                    pass
            command = _command(_Fields(top.reading, path, values, _WRITE))
            if command:
                yield Write(path=path, command=command)
                continue
        top.reading.unread += 1


def _command(write: _Fields) -> Command | None:
    action = _action(write)
    if action is None:
        write.need("filename", "A write")
        write.get("filename", str)
        return None
    fields = _FIELDS[action]
    unused = [
        name for name in write.values if name in _WRITE[1:] and name not in fields
    ]
    for name in unused:
        if name in _ONLY_FOR:
            message = f"`{name}` belongs to {_ONLY_FOR[name]}, not to {action}."
            hint = f"Use {_ONLY_FOR[name]}, or leave `{name}` out."
            write.fault(FaultCode.FIELD_NOT_ALLOWED, name, message, hint)
    write.ignore([name for name in unused if name not in _ONLY_FOR])
    wish: _Object = {"action": action}
    for name, field in fields.items():
        found = _value(write, name, action if field.required else None)
        if found is not None:
            wish[field.name] = found
    if any(f.required and f.name not in wish for f in fields.values()):
        return None
    # Judged by the rules, too, whatever fault of form it has: one retry must do.
    command: Command = msgspec.convert(wish, Command)
    return command


def _action(write: _Fields) -> str | None:
    """Return the action that is asked for, or else is meant: so that all is judged."""
    write.need("action", "A write")
    asked = write.values.get("action")
    action = _nearest(asked, _FIELDS) if isinstance(asked, str) else None
    if asked != action and not isinstance(asked, Unfit):
        got = shown(asked) if isinstance(asked, str) else _WORDS[type(asked)]
        message = f"The action is one of {', '.join(_FIELDS)}, and not {got}."
        hint = f"Did you mean `{action}`?" if action else _ACTIONS
        write.fault(FaultCode.UNKNOWN_ACTION, "action", message, hint)
    return action


def _value(write: _Fields, name: str, needed_by: str | None) -> object:
    if name == "meta":
        return _meta(write, needed_by)
    if needed_by:
        write.need(name, needed_by)
    if name == "reason":
        return write.line(name)
    if name == "content":
        content = write.get(name, str)
        return content and normal_body(content)
    if name in ("members", "addMembers"):
        return write.get(name, _Ids)
    return write.get(name, _Names if name == "sources" else str)


def _meta(write: _Fields, needed_by: str | None) -> _Object | None:
    path = f"{write.path}/meta"
    given = write.values.get("meta", {})
    values = write.reading.typed(given, path, _Object)
    if values is None:
        values, _ = _meant(given, _Object)
    if values is None:
        return None
    meta = _Fields(write.reading, path, values, _META)
    if needed_by:
        meta.need("summary", needed_by)
    return {
        "summary": meta.line("summary"),
        "created": meta.get("created", str),
        "updated": meta.get("updated", str),
        "heat": meta.get("heat", int),
    }


def _refused(code: FaultCode, message: str, hint: str | None = None) -> Batch:
    return Batch(faults=(Fault(code=code, path="", message=message, hint=hint),))


def _meant(value: object, kind: type[_T]) -> tuple[_T | None, str | None]:
    """Return what a value of a wrong type most likely means, and how to send it.

    The fault is told all the same; the reading is judged, so that one retry suffices.
    """
    meant: object = None
    hint = None
    if kind is str and isinstance(value, list):
        items = msgspec.convert(value, list[object])
        texts = [item for item in items if isinstance(item, str)]
        meant, hint = "\n".join(texts), "Join the lines into one text."
    elif kind in (_Ids, _Names) and isinstance(value, str):
        meant = re.findall(r"[^\s,;]+", value)
        hint = f"Send an array: {clipped(json.dumps(meant, ensure_ascii=False))}."
    elif kind is _Object and isinstance(value, str):
        meant, hint = {"summary": value}, 'Send an object: {"summary": "…"}.'
    elif kind is _Writes and isinstance(value, dict):
        write = msgspec.convert(value, dict[str, object])
        meant, hint = [write], "Put the write into an array."
    elif kind is bool and isinstance(value, str):
        meant = value.strip().lower() == "true"
        hint = "Send true or false, without quotes."
    elif kind is int and isinstance(value, str | float):
        meant, hint = 1, "Send a whole number, without quotes; or leave it out."
    if meant is None:
        return None, None
    return msgspec.convert(meant, kind), hint


def _owner(path: str) -> str:
    """Return the path of the write, or else the top field, that *path* leads into."""
    steps = path.split("/", 3)
    return "/".join(steps[: 3 if steps[1:2] == ["sceneWrites"] else 2])


def _hint(name: str, known: Collection[str]) -> str | None:
    elsewhere = _RIGHT.get(_small(name))
    if elsewhere and elsewhere not in known:
        return f"`{elsewhere}` {_PLACES[elsewhere]}."
    near = _nearest(name, known)
    return f"Did you mean `{near}`?" if near else "Leave it out."


def _nearest(word: str, known: Collection[str]) -> str | None:
    """Return the one of the *known* names that *word* is or, most likely, means."""
    small = _small(word)
    right = _RIGHT.get(small)
    if right in known:
        return right
    names = [name.lower() for name in known if len(name) >= _LEAST_NEAR]
    near = difflib.get_close_matches(small, names, n=1, cutoff=0.75)
    return _RIGHT[near[0]] if near else None


def _small(word: str) -> str:
    small = _JOINTS.sub("", word[:MAX_SHOWN_CHARS]).lower()
    bare = _OBJECT.sub("", small)
    return bare if bare in _RIGHT else small
