"""The host's limits, and nothing that is not a limit.

Source:
    CONTRACT section 6.
"""

from typing import Annotated, Literal

import msgspec

_Count = Annotated[int, msgspec.Meta(ge=0, le=1_000_000)]
_AtLeastOne = Annotated[int, msgspec.Meta(ge=1, le=1_000_000)]


class Policy(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a decision obeys; the values used stand in each revision."""

    max_scenes: _AtLeastOne = 15
    """Live scenes. Source: the upstream scene layer's default."""
    max_body_chars: _AtLeastOne = 1_500
    """Code points of a body, without META. Source: the organiser brief, step 3."""
    max_creates_per_batch: _Count = 1
    """Source: the organiser brief: one new theme at a time."""
    max_archives_per_batch: _Count = 1
    """Source: the organiser brief."""
    max_deletes_per_batch: _Count = 2
    """Source: CONTRACT section 10."""
    min_archive_age_days: _Count = 7
    """Days since the store first saw the scene. Source: the organiser brief."""
    strict_members: bool = False
    """Whether a member that L1 does not know is a fault instead of a notice."""
    retention: Literal["strict", "standard", "off"] = "standard"
    """How strictly a consolidation must keep the facts of its sources."""
    retention_update: Literal["floor", "reject", "notice", "off"] = "floor"
    """What happens when an update drops facts."""
    on_drift: Literal["refuse"] = "refuse"
    """What a commit does that meets the work of another hand. Source: CONTRACT 9."""
    secrets: Literal["reject", "notice", "off"] = "reject"
    """What happens to text that holds a key or an access token."""
    mode: Literal["chat", "code"] = "chat"
    """Whose memories these are: a person's life, or work on code."""
    keep_refusals: bool = True
    """Whether refused batches are kept for the next prompt to learn from."""


MAX_WRITES = 64
"""Writes of one batch. Source: CONTRACT section 5, "Batch rules"."""
MAX_LINE_CHARS = 500
"""Characters of a summary or a reason. Source: CONTRACT section 5."""
MAX_NEW_IDS = 10_000
"""New record ids of one batch. Source: CONTRACT section 5, "Bad input"."""
MAX_ID_BYTES = 128
"""UTF-8 bytes of a record id. Source: CONTRACT section 1."""
MAX_FILENAME_BYTES = 200
"""UTF-8 bytes of a filename. Source: CONTRACT section 5, "Filenames"."""
MAX_KEY_CHARS = 200
"""Characters of an ``idempotencyKey`` or a ``runId``: enough for any made-up id."""
MAX_HEAT = 10**15
"""More than any scene is written; so many digits fit into any reader's number."""
MAX_BATCH_BYTES = 4 * 1024 * 1024
"""Bytes of one tool call. Source: CONTRACT section 5, "Bad input"."""
MAX_DEPTH = 32
"""Levels of nesting, the outer object counted. Source: CONTRACT section 5."""
