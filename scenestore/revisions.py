"""Which revision somebody means, and what a revision says.

Source:
    CONTRACT section 3 (what names a revision) and section 7.
"""

import re
from collections.abc import Iterator

import msgspec

from scenestore import layout
from scenestore.ledger import Ledger, Revision
from scenestore_engine.faults import Fault, FaultCode

_SEQ = re.compile(r"\d{1,9}", re.ASCII)
_BACK = re.compile(r"HEAD(?:~(\d{1,9}))?", re.ASCII)
_PREFIX = re.compile(r"g?([0-9a-f]{4,40})", re.ASCII)


class SceneChange(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """What a revision did to one scene file."""

    filename: str
    archived: bool
    before: str | None
    """The file's text; None: there was none."""
    after: str | None
    members_added: int
    members_removed: int


def resolve(ledger: Ledger, text: str) -> Revision | Fault:
    """Return the revision that *text* names, or why there is none.

    Args:
        ledger: Whose history it is.
        text: A seq, a commit id or a prefix of 4 digits or more (with or without
            ``g``), ``HEAD``, ``HEAD~n``, or a receipt's ``backupDir``.
    """
    said = text.strip().removesuffix(f":{layout.SCENES}")
    head = ledger.head()
    if head is None:
        return _unknown(text, "There is no revision yet.")
    if match := _BACK.fullmatch(said):
        back = int(match[1] or 0)
        for index, revision in enumerate(_own(ledger, head)):
            if index == back:
                return revision
        return _unknown(text, "The history does not go back that far.")
    if _SEQ.fullmatch(said):
        for revision in _own(ledger, head):
            if revision.seq == int(said):
                return revision
        if len(said) < 4:  # noqa: PLR2004 - too short to be a commit id
            return _unknown(text, "There is no revision of that number.")
    if match := _PREFIX.fullmatch(said):
        return _by_prefix(ledger, text, match[1])
    return _unknown(text, "It is no seq, commit id, HEAD~n or backupDir.")


def _own(ledger: Ledger, head: str) -> Iterator[Revision]:
    return (revision for revision in ledger.back_from(head) if revision.is_own)


def _by_prefix(ledger: Ledger, text: str, prefix: str) -> Revision | Fault:
    if len(prefix) == 40:  # noqa: PLR2004 - a whole sha1
        found = [prefix] if ledger.objects.has(prefix) else []
    else:
        found = list(ledger.objects.starting_with(prefix))
    commits = [i for i in found if ledger.objects.kind(i) == "commit"]
    if len(commits) > 1:
        return _unknown(text, f"{len(commits)} revisions begin like that.")
    if not commits:
        return _unknown(text, "No revision begins like that.")
    revision = ledger.revision(commits[0])
    if not revision.is_own:
        return _unknown(text, "That commit is another program's.")
    return revision


def _unknown(text: str, why: str) -> Fault:
    return Fault(
        code=FaultCode.UNKNOWN_REVISION,
        path="/revision",
        message=f"{text[:80]!a} names no revision. {why}",
        hint="scenestore log lists them.",
    )


def changes(ledger: Ledger, revision: Revision) -> list[SceneChange]:
    """Return what *revision* did to each scene, live ones first, by name."""
    before = ledger.revision(revision.parent).tree if revision.parent else None
    found: list[SceneChange] = []
    for archived in (False, True):
        files = [
            _scene_files(ledger, tree, archived) for tree in (before, revision.tree)
        ]
        sets = [_scene_sets(ledger, tree, archived) for tree in (before, revision.tree)]
        for name in sorted(files[0].keys() | files[1].keys()):
            blobs = [side.get(name) for side in files]
            handles = [side.get(name) for side in sets]
            if blobs[0] == blobs[1] and handles[0] == handles[1]:
                continue
            old, new = (ledger.sets.ids(handle) for handle in handles)
            texts = [
                None if blob is None else ledger.objects.blob(blob).decode()
                for blob in blobs
            ]
            found.append(
                SceneChange(
                    filename=name,
                    archived=archived,
                    before=texts[0],
                    after=texts[1],
                    members_added=len(new - old),
                    members_removed=len(old - new),
                )
            )
    return found


def _scene_files(ledger: Ledger, tree: str | None, archived: bool) -> dict[str, str]:  # noqa: FBT001
    return ledger.folder(tree, layout.scene_path("", archived=archived))


def _scene_sets(ledger: Ledger, tree: str | None, archived: bool) -> dict[str, str]:  # noqa: FBT001
    return ledger.folder(tree, layout.members_path("", archived=archived))
