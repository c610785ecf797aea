"""How much of its sources a new body keeps: quantities, names and words, no model.

`judge` decides about a consolidation, `kept` measures an update or a delete.
"""

from scenestore_engine.retention.verdict import (
    ALGORITHM,
    FOUND,
    REQUIRED,
    UPDATE_FLOOR,
    Kept,
    LostFact,
    Source,
    Strength,
    Verdict,
    judge,
    kept,
)

__all__ = [
    "ALGORITHM",
    "FOUND",
    "REQUIRED",
    "UPDATE_FLOOR",
    "Kept",
    "LostFact",
    "Source",
    "Strength",
    "Verdict",
    "judge",
    "kept",
]
