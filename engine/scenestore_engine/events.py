"""What happened. An event is a fact: nothing may refuse it, and its form is for ever.

A member set and a whole state stand in an event as a *handle*: an opaque text that
names it (the store uses the ids of git trees), because sets can be large. `decide`
leaves the handles empty; the shell fills them in before anything is kept.

Source:
    CONTRACT section 7, "events.json".
"""

import msgspec

from scenestore_engine.state import Cursor, Meta


class SceneCreated(
    msgspec.Struct, frozen=True, kw_only=True, tag="scene_created", omit_defaults=True
):
    """A scene began."""

    filename: str
    meta: Meta
    first_seen: str = msgspec.field(name="firstSeen")
    blob: str = ""
    """Handle of the scene file's bytes."""
    members: str | None = None
    """Handle of the member set; None: the empty set."""
    reason: str | None = None


class SceneUpdated(
    msgspec.Struct, frozen=True, kw_only=True, tag="scene_updated", omit_defaults=True
):
    """A live scene was rewritten."""

    filename: str
    meta: Meta
    blob: str = ""
    members: str | None = None
    dropped: tuple[str, ...] = ()
    """Former members that L1 says are deleted, and that the scene no longer has."""
    members_unknown: bool = msgspec.field(name="membersUnknown", default=False)
    reason: str | None = None


class ScenesConsolidated(
    msgspec.Struct,
    frozen=True,
    kw_only=True,
    tag="scenes_consolidated",
    omit_defaults=True,
):
    """Several scenes became one."""

    filename: str
    sources: tuple[str, ...]
    meta: Meta
    first_seen: str = msgspec.field(name="firstSeen")
    blob: str = ""
    members: str | None = None
    dropped: tuple[str, ...] = ()
    members_unknown: bool = msgspec.field(name="membersUnknown", default=False)
    reason: str | None = None


class SceneDeleted(
    msgspec.Struct, frozen=True, kw_only=True, tag="scene_deleted", omit_defaults=True
):
    """A scene ended."""

    filename: str
    reason: str | None = None


class SceneArchived(
    msgspec.Struct, frozen=True, kw_only=True, tag="scene_archived", omit_defaults=True
):
    """A scene moved out of the live ones, whole."""

    filename: str
    reason: str


class SceneRestored(
    msgspec.Struct, frozen=True, kw_only=True, tag="scene_restored", omit_defaults=True
):
    """An archived scene came back, byte for byte."""

    filename: str
    restored_as: str = msgspec.field(name="as")
    reason: str | None = None


class DismissalsChanged(
    msgspec.Struct,
    frozen=True,
    kw_only=True,
    tag="dismissals_changed",
    omit_defaults=True,
):
    """Records were decided to belong to no scene, or became members after all."""

    dismissed: str | None = None
    """Handle of all that are dismissed now."""
    added: int = 0
    removed: int = 0
    reason: str | None = None


class CursorMoved(
    msgspec.Struct, frozen=True, kw_only=True, tag="cursor_moved", omit_defaults=True
):
    """The L1 records up to and including this place are organised."""

    to: Cursor


class PersonaRequested(
    msgspec.Struct,
    frozen=True,
    kw_only=True,
    tag="persona_requested",
    omit_defaults=True,
):
    """Somebody found that the persona should be renewed."""

    reason: str
    at: str


class Handles(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The parts of a whole state, by handle; None: an empty part.

    They name parts of a revision's own tree, so that what a handle names is kept for
    as long as the revision is.
    """

    scenes: str | None = None
    members: str | None = None
    archive: str | None = None
    dismissed: str | None = None
    places: str | None = None
    """What is known of each scene beside its file: when it was first seen."""


class StateImported(
    msgspec.Struct, frozen=True, kw_only=True, tag="imported", omit_defaults=True
):
    """Scenes came in from outside, over capacity if need be."""

    scenes: tuple[str, ...] = ()
    archived: tuple[str, ...] = ()
    cursor: Cursor | None = None
    """The cursor that followed."""
    state: Handles = Handles()
    """The scenes that followed."""


class StoreRolledBack(
    msgspec.Struct, frozen=True, kw_only=True, tag="rolled_back", omit_defaults=True
):
    """Scenes, archive, members, dismissals and cursor became an earlier revision's."""

    revision: str
    seq: int
    cursor: Cursor | None = None
    """The cursor that followed: that revision's, or the one there was."""
    cursor_kept: bool = msgspec.field(name="cursorKept", default=False)
    state: Handles = Handles()
    """The scenes of that revision."""
    reason: str | None = None


class StoreBegun(msgspec.Struct, frozen=True, tag="store_begun"):
    """The store was made; it was empty."""


Event = (
    StoreBegun
    | SceneCreated
    | SceneUpdated
    | ScenesConsolidated
    | SceneDeleted
    | SceneArchived
    | SceneRestored
    | DismissalsChanged
    | CursorMoved
    | PersonaRequested
    | StateImported
    | StoreRolledBack
)
