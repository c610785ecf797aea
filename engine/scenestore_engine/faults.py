"""Why a batch is refused, and what is worth saying about one that is not.

Both are data for the agent, never exceptions. Every code that a caller can meet is
listed here once; a test fails for a code that no test produces.
"""

from collections.abc import Mapping, Sequence
from enum import StrEnum

import msgspec


class FaultCode(StrEnum):
    """What is wrong, as a word that programs may rely on."""

    # The request itself.
    NOT_JSON = "not_json"
    NOT_AN_OBJECT = "not_an_object"
    DUPLICATE_KEY = "duplicate_key"
    TOO_LARGE = "too_large"
    TOO_DEEP = "too_deep"
    BAD_TEXT = "bad_text"
    UNKNOWN_FIELD = "unknown_field"
    UNKNOWN_ACTION = "unknown_action"
    MISSING_FIELD = "missing_field"
    WRONG_TYPE = "wrong_type"
    FIELD_NOT_ALLOWED = "field_not_allowed"
    TOO_MANY_WRITES = "too_many_writes"
    # Names and roles.
    BAD_FILENAME = "bad_filename"
    SCENE_EXISTS = "scene_exists"
    SCENE_MISSING = "scene_missing"
    NOT_ARCHIVED = "not_archived"
    ARCHIVE_NAME_TAKEN = "archive_name_taken"
    TOUCHED_TWICE = "touched_twice"
    BAD_SOURCES = "bad_sources"
    # Limits.
    TOO_MANY_CREATES = "too_many_creates"
    TOO_MANY_ARCHIVES = "too_many_archives"
    TOO_MANY_DELETES = "too_many_deletes"
    NO_ROOM = "no_room"
    TOO_YOUNG = "too_young"
    # Text.
    BODY_BLANK = "body_blank"
    BODY_TOO_LONG = "body_too_long"
    BODY_HAS_META = "body_has_meta"
    BODY_MARKS_DELETION = "body_marks_deletion"
    BAD_SUMMARY = "bad_summary"
    BAD_REASON = "bad_reason"
    SECRET = "secret"  # noqa: S105 - the name of a fault
    FACTS_MISSING = "facts_missing"
    FACTS_LOST = "facts_lost"
    # Records.
    BAD_RECORD_ID = "bad_record_id"
    TOO_MANY_IDS = "too_many_ids"
    MEMBER_GAP = "member_gap"
    UNKNOWN_MEMBER = "unknown_member"
    FORGOTTEN_MEMBER = "forgotten_member"
    DISMISSED_MEMBER = "dismissed_member"
    DISMISSED_UNKNOWN = "dismissed_unknown"
    UNKNOWN_CURSOR = "unknown_cursor"
    CURSOR_GOES_BACK = "cursor_goes_back"
    # The batch as a whole.
    EMPTY_BATCH = "empty_batch"
    BAD_KEY = "bad_key"
    KEY_REUSED = "key_reused"
    STALE_BASE = "stale_base"
    BAD_ACTOR = "bad_actor"
    # Found by the shell, which sees the disk.
    DRIFT = "drift"
    FOREIGN_COMMIT = "foreign_commit"
    HISTORY_MOVED = "history_moved"
    STORE_BUSY = "store_busy"
    UNKNOWN_REVISION = "unknown_revision"
    BAD_ARGUMENT = "bad_argument"


class NoticeCode(StrEnum):
    """What is worth saying, as a word that programs may rely on."""

    FIELD_IGNORED = "field_ignored"
    META_ADVISORY = "meta_advisory"
    TEXT_TAKEN_AS_JSON = "text_taken_as_json"
    UNKNOWN_META_DROPPED = "unknown_meta_dropped"
    ARCHIVED_NAMESAKE = "archived_namesake"
    SOURCE_WITHOUT_MEMBERS = "source_without_members"
    UNKNOWN_MEMBER = "unknown_member"
    DELETED_MEMBER_DROPPED = "deleted_member_dropped"
    UNDISMISSED = "undismissed"
    UNCHANGED = "unchanged"
    FACTS_DROPPED = "facts_dropped"
    FACTS_DOUBTFUL = "facts_doubtful"
    SECRET = "secret"  # noqa: S105 - the name of a notice
    # Counted by the shell.
    UNASSIGNED_RECORDS = "unassigned_records"
    MEMBERS_ORPHANED = "members_orphaned"


class Fault(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One reason, tied to the place in the request that has it."""

    code: FaultCode
    path: str
    """A JSON Pointer into the request, such as ``/sceneWrites/2/members``."""
    message: str
    hint: str | None = None
    filename: str | None = None


class Notice(msgspec.Struct, frozen=True, kw_only=True):
    """One remark about an accepted batch: an entry of the receipt's ``warnings``."""

    code: NoticeCode
    message: str
    filename: str | None = None
    facts: Mapping[str, object] = {}
    """Further members of the entry, JSON values only."""


SHOWN_IDS = 50
"""Ids that a notice or a fault lists. Source: CONTRACT section 5."""


def about_ids(
    code: NoticeCode,
    filename: str | None,
    message: str,
    ids: Sequence[str],
    count: int | None = None,
) -> Notice:
    """Return a notice that counts some ids and lists the first of them.

    Args:
        code: Of the notice.
        filename: The scene it is about, if one.
        message: For people.
        ids: In the order in which they are listed.
        count: How many there are; None: those that *ids* holds.
    """
    facts = {
        "count": len(ids) if count is None else count,
        "ids": list(ids[:SHOWN_IDS]),
    }
    return Notice(code=code, filename=filename, message=message, facts=facts)


class Conflict(msgspec.Struct, frozen=True, kw_only=True):
    """A scene that changed since the caller read it."""

    filename: str
    diff: str
    """From what the caller read to what stands there now, as a unified diff."""


class MemberGap(msgspec.Struct, frozen=True, kw_only=True):
    """Members of a scene that a given set leaves out."""

    filename: str
    ids: tuple[str, ...]
