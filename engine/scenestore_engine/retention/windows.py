"""Neighbouring clauses of a target, and the weight that stands in them.

A window is a run of clauses within one line. What windows hold is one integer, with a
lane of bits for each window: weights are added in all lanes at once, which is what
makes thousands of terms a millisecond's work.
"""

import struct
from collections.abc import Collection, Sequence
from itertools import accumulate, groupby
from typing import Final, TypeAlias

Window: TypeAlias = tuple[int, int]
"""Its first clause, and the first behind it."""
_FORMATS: Final = {4: "I", 8: "Q"}


def line_ends(lines: Sequence[int]) -> list[int]:
    """Return for each clause where its line ends: at the first clause behind it.

    What stands in another line may be moved away, and must not count as near.

    Args:
        lines: The line of each clause, in order.
    """
    ends: list[int] = []
    for _, clauses in groupby(lines):
        count = len([*clauses])
        ends += [len(ends) + count] * count
    return ends


def every_window(ends: Sequence[int], size: int) -> list[Window]:
    """Return from each clause on the window of *size* clauses, or what its line has."""
    return [(start, min(end, start + size)) for start, end in enumerate(ends)]


def whole_windows(
    ends: Sequence[int], size: int, spoilt: Collection[int]
) -> list[Window]:
    """Return the windows without a *spoilt* clause that are no part of another.

    At the end of a line windows are parts of the one before: they never hold more.
    """
    before = [*accumulate([place in spoilt for place in range(len(ends))], initial=0)]
    windows: list[Window] = []
    last = 0
    for start, stop in every_window(ends, size):
        if stop != last and before[start] == before[stop]:
            windows.append((start, stop))
            last = stop
    return windows


class Windows:
    """Windows, each with a lane; the first lane is for all clauses together."""

    def __init__(
        self, windows: Sequence[Window], clauses: int, lane_bytes: int
    ) -> None:
        """Give each window a lane.

        Args:
            windows: The windows, in the order of the lanes.
            clauses: How many clauses there are.
            lane_bytes: 4 or 8; no sum of weights may be too big for a lane.
        """
        self.windows = windows
        self._lanes = struct.Struct(f"<{len(windows) + 1}{_FORMATS[lane_bytes]}")
        self.holding = [1] * clauses
        """Of each clause a one in the lane of each window that holds it."""
        one = 1
        for start, stop in windows:
            one <<= 8 * lane_bytes
            for place in range(start, stop):
                self.holding[place] |= one

    def weights(self, held: int) -> tuple[int, ...]:
        """Return what stands in each lane of *held*: in all, and in each window."""
        return self._lanes.unpack(held.to_bytes(self._lanes.size, "little"))
