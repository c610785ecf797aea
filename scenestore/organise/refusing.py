"""What the organiser raises when the store says no, and it cannot go round it."""

from collections.abc import Iterable

from scenestore.errors import StoreError
from scenestore_engine.faults import Fault

_SHOWN_FAULTS = 5


class OrganiseError(StoreError):
    """The store refuses what the organiser needs; a person must look at the faults."""

    def __init__(self, message: str, faults: tuple[Fault, ...] = ()) -> None:
        """Keep the *faults* for programs; *message* tells people."""
        super().__init__(message)
        self.faults = faults


def refused(faults: Iterable[Fault]) -> OrganiseError:
    """Return the error that names *faults*, what stayed true, and what to do."""
    found = tuple(faults)
    told = [
        f"{fault.code}: {fault.message}" + (f" {fault.hint}" if fault.hint else "")
        for fault in found[:_SHOWN_FAULTS]
    ]
    more = len(found) - len(told)
    return OrganiseError(
        f"The store refused the organiser ({' / '.join(told)}"
        + (f" / and {more} more" if more else "")
        + "). What was committed before stands, and nothing else was changed. "
        "Mend what is named, then run scenestore organize again: it goes on there.",
        found,
    )
