"""The rules, one function each: a rule looks, and yields faults or nothing.

No rule stops at its first fault, and none depends on another having passed.

Source:
    CONTRACT section 5.
"""

from scenestore_engine.rules.facts import (
    Measured,
    facts_are_kept,
    is_exempt,
    measured,
)
from scenestore_engine.rules.limits import (
    counts_fit,
    names_after,
    shelf_has_room,
)
from scenestore_engine.rules.members import (
    dismissals_are_good,
    ids_are_good,
    is_record_id,
    left_out,
    members_are_kept,
    members_are_known,
    members_are_not_forgotten,
    named_members,
    new_ids_fit,
    new_members,
    touched_memberships,
    unknown_members,
)
from scenestore_engine.rules.names import (
    filename_is_good,
    filenames_are_good,
    is_archivable,
    name_is_free,
    names_play_one_role,
    namesake,
    scene_can_come_back,
    scene_can_go,
    scene_is_live,
    sources_are_good,
    target_is_new_or_live,
)
from scenestore_engine.rules.text import (
    DELETED_MARK,
    META_LINES,
    batch_lines_are_good,
    body_is_good,
    has_control,
    line_complaint,
    lines_are_good,
    secrets_in,
)
from scenestore_engine.rules.whole import (
    actor_is_good,
    base_is_fresh,
    batch_is_not_empty,
    cursor_is_good,
    keys_are_good,
)

__all__ = [
    "DELETED_MARK",
    "META_LINES",
    "Measured",
    "actor_is_good",
    "base_is_fresh",
    "batch_is_not_empty",
    "batch_lines_are_good",
    "body_is_good",
    "counts_fit",
    "cursor_is_good",
    "dismissals_are_good",
    "facts_are_kept",
    "filename_is_good",
    "filenames_are_good",
    "has_control",
    "ids_are_good",
    "is_archivable",
    "is_exempt",
    "is_record_id",
    "keys_are_good",
    "left_out",
    "line_complaint",
    "lines_are_good",
    "measured",
    "members_are_kept",
    "members_are_known",
    "members_are_not_forgotten",
    "name_is_free",
    "named_members",
    "names_after",
    "names_play_one_role",
    "namesake",
    "new_ids_fit",
    "new_members",
    "scene_can_come_back",
    "scene_can_go",
    "scene_is_live",
    "secrets_in",
    "shelf_has_room",
    "sources_are_good",
    "target_is_new_or_live",
    "touched_memberships",
    "unknown_members",
]
