"""Every path, ref and file name, named once.

Source:
    CONTRACT section 1.
"""

from pathlib import Path

MAIN_REF = "refs/heads/main"
SCENES = "scene-blocks"
MEMBERS = "members"
ARCHIVE = "archive"
DISMISSED = "dismissed"
FORGOTTEN = "forgotten"
PLACES_FILE = "scenes.json"
CURSOR_FILE = "cursor.json"
PERSONA_FILE = "persona.json"
EVENTS_FILE = "events.json"
INDEX_FILE = "index/scene_index.json"
OTHER_RUN = "other"
RUN_SUFFIX = ".ids"
SHARD_SUFFIX = ".jsonl"


def memory_dir(profile: Path) -> Path:
    """Return the folder by which a profile is known."""
    return profile / "memoryDB"


def records_dir(profile: Path) -> Path:
    """Return where the L1 shards lie."""
    return memory_dir(profile) / "l1" / "records"


def repo_dir(profile: Path) -> Path:
    """Return the scene repo, which is its own work tree."""
    return memory_dir(profile) / "l2"


def git_dir(profile: Path) -> Path:
    """Return where git keeps the scene repo's history."""
    return repo_dir(profile) / ".git"


def own_dir(profile: Path) -> Path:
    """Return what is ours inside of the git folder."""
    return git_dir(profile) / "scenestore"


def lock_file(profile: Path) -> Path:
    """Return the file that writers lock in turn."""
    return own_dir(profile) / "lock"


def drawn_file(profile: Path) -> Path:
    """Return the record of what the projection was drawn from."""
    return own_dir(profile) / "drawn"


def rescued_dir(profile: Path) -> Path:
    """Return where the work of other hands is put before a place is redrawn."""
    return own_dir(profile) / "rescued"


def policy_file(profile: Path) -> Path:
    """Return the host's limits."""
    return memory_dir(profile) / "scenestore.toml"


def cache_dir(profile: Path) -> Path:
    """Return what may be deleted at any time."""
    return memory_dir(profile) / "scenestore"


def records_cache(profile: Path) -> Path:
    """Return the cache of where L1 records stand and which scenes hold them."""
    return cache_dir(profile) / "records.sqlite"


def recall_dir(profile: Path) -> Path:
    """Return where the host notes which records were recalled."""
    return memory_dir(profile) / "l1" / "recall"


def refusals_file(profile: Path) -> Path:
    """Return the log of refused batches."""
    return cache_dir(profile) / "refusals.jsonl"


def scene_path(filename: str, *, archived: bool = False) -> str:
    """Return a scene file's path inside the repo."""
    return f"{ARCHIVE}/{SCENES}/{filename}" if archived else f"{SCENES}/{filename}"


def members_path(filename: str, *, archived: bool = False) -> str:
    """Return the path, inside the repo, of a scene's member runs."""
    return f"{ARCHIVE}/{MEMBERS}/{filename}" if archived else f"{MEMBERS}/{filename}"
