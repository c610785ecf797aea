"""A versioned store of scenes, kept as events in a git repository."""

from scenestore.errors import (
    BusyError,
    CallerError,
    CorruptError,
    DiskError,
    HeadMovedError,
    OutcomeUnknownError,
    Refusal,
    StoreError,
    TooNewError,
)
from scenestore.receipts import Receipt
from scenestore.restoring import roll_back
from scenestore.store import Store
from scenestore.transfer import import_state

__all__ = [
    "BusyError",
    "CallerError",
    "CorruptError",
    "DiskError",
    "HeadMovedError",
    "OutcomeUnknownError",
    "Receipt",
    "Refusal",
    "Store",
    "StoreError",
    "TooNewError",
    "import_state",
    "roll_back",
]
