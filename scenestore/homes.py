"""Which member sets there are in a state, for whoever counts records over them."""

from collections.abc import Mapping

from scenestore import layout
from scenestore.ledger import Sets
from scenestore_engine.state import State


class StateHomes:
    """The member sets of one state; see `scenestore.coverage.Homes`."""

    def __init__(self, state: State, sets: Sets) -> None:
        """Look at the sets of *state*, staged or stored."""
        self._state = state
        self._sets = sets

    def sets(self) -> Mapping[str, str]:
        """Return the path of each set that is not empty, and its handle."""
        state = self._state
        named = {layout.members_path(n): s.members for n, s in state.live.items()}
        named |= {
            layout.members_path(name, archived=True): scene.members
            for name, scene in state.archived.items()
        }
        named |= {layout.DISMISSED: state.dismissed, layout.FORGOTTEN: state.forgotten}
        return {path: handle for path, handle in named.items() if handle is not None}

    def runs(self, handle: str) -> Mapping[str, str]:
        """Return the runs of a set, by file name."""
        return self._sets.runs(handle)

    def ids(self, run: str) -> frozenset[str]:
        """Return the ids of a run."""
        return self._sets.ids_in_run(run)
