"""Errors, split by who must act. A wrong batch is no error: see `Rejected`.

Every message has three parts: what happened, what stayed true, what to do next.
"""

import msgspec

from scenestore_engine.faults import Fault


class StoreError(Exception):
    """Something that this package raises; never raised itself."""


class CallerError(StoreError):
    """The one who calls must change the call; trying it again does not help."""


class BusyError(StoreError):
    """Another program is writing; try again."""


class HeadMovedError(StoreError):
    """Another writer came first; decide again on the new head, then try again."""


class DiskError(StoreError):
    """The disk, its permissions or its space failed; nothing of ours is damaged."""


class OutcomeUnknownError(StoreError):
    """The disk failed after the publishing step; the next open tells the outcome."""


class TooNewError(StoreError):
    """A newer program wrote this store; it can be read by that one only."""


class CorruptError(StoreError):
    """What is on disk is damaged; a person must look (``scenestore check``)."""


class Refusal(msgspec.Struct, frozen=True, kw_only=True):
    """The answer of a reading tool to a request that it cannot serve.

    Source:
        CONTRACT section 5, "Refusals of the other tools have the same shape".
    """

    errors: tuple[Fault, ...]
    retry: bool = False
