"""Put new L1 records into scenes without a model: offline, and the same every time.

A client of `scenestore.Store` like any other: it reads what an agent reads, and every
change goes through the same `Store.commit`. Read top down: `organiser` (the run),
`waiting` (what is read), `planning` (which record goes where; by `grouping` and
`vectors`), `shelf` (the scenes that are there), `writing` (the batches; by `bodies` and
`naming`), `terms` (words of any language).

Source:
    CONTRACT sections 2, 5 and 6.
"""

from scenestore.organise.organiser import OrganiseError, Progress, Summary, organise

__all__ = ["OrganiseError", "Progress", "Summary", "organise"]
