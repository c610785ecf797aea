"""Member sets as git keeps them: a tree of runs, named by its id.

Runs that are equal by id are never opened.
"""

from collections.abc import Iterable, Mapping

from scenestore import runs
from scenestore.errors import CorruptError
from scenestore.ledger.objects import FILE, Entry, Objects


class Sets:
    """Reading and making of member sets; a handle is a tree id, None is empty."""

    def __init__(self, objects: Objects) -> None:
        """Keep the sets among *objects*."""
        self._objects = objects
        self._counts: dict[str, int] = {}

    def runs(self, handle: str | None) -> dict[str, str]:
        """Return the runs of a set: file name to blob id."""
        return {name: e.id for name, e in self._objects.tree(handle).items()}

    def ids_in_run(self, blob: str) -> frozenset[str]:
        """Return the ids of one run."""
        try:
            return runs.from_bytes(self._objects.blob(blob))
        except UnicodeDecodeError as error:
            raise CorruptError(f"the member run {blob} is not UTF-8") from error

    def ids(self, handle: str | None) -> frozenset[str]:
        """Return the whole set."""
        parts = (self.ids_in_run(blob) for blob in self.runs(handle).values())
        return frozenset[str]().union(*parts)

    def count(self, handle: str | None) -> int:
        """Return how many ids the set has."""
        total = 0
        for blob in self.runs(handle).values():
            if blob not in self._counts:
                self._counts[blob] = self._objects.blob(blob).count(b"\n")
            total += self._counts[blob]
        return total

    def holds(self, handle: str | None, ids: Iterable[str]) -> frozenset[str]:
        """Return those of *ids* that are in the set; only their runs are opened."""
        files = self.runs(handle)
        asked: dict[str, set[str]] = {}
        for record_id in ids:
            run = runs.run_of(record_id, files)
            if run is not None:
                asked.setdefault(files[run], set()).add(record_id)
        found = (some & self.ids_in_run(blob) for blob, some in asked.items())
        return frozenset[str]().union(*found)

    def make(
        self,
        union: Iterable[str | None],
        add: Iterable[str] = (),
        drop: Iterable[str] = (),
    ) -> str | None:
        """Stage the union of some sets, with *add* and without *drop*.

        Returns:
            The new set's handle; the same set has the same handle.
        """
        bases = [self.runs(handle) for handle in dict.fromkeys(union) if handle]
        adding, dropping = _by_group(add), _by_group(drop)
        by_base = [_runs_by_group(base) for base in bases]
        made: dict[str, str] = {}
        for group in dict.fromkeys(g for base in by_base for g in base):
            variants = [base[group] for base in by_base if group in base]
            is_alike = all(variant == variants[0] for variant in variants)
            if is_alike and group not in adding and group not in dropping:
                made |= variants[0]
                continue
            made |= self._joined(
                group, variants, adding.get(group, set()), dropping.get(group, set())
            )
        for group in adding.keys() - {g for base in by_base for g in base}:
            made |= self._joined(group, [], adding[group], dropping.get(group, set()))
        return self._objects.put_tree({n: Entry(FILE, i) for n, i in made.items()})

    def _joined(
        self,
        group: str,
        variants: list[dict[str, str]],
        adding: set[str],
        dropping: set[str],
    ) -> dict[str, str]:
        """Return the runs of one group that holds all the variants' ids and more."""
        if len(variants) == 1 and not dropping and len(variants[0]) > 1:
            grown = self._grown(variants[0], adding)
            if grown is not None:
                return grown
        members = set(adding)
        for blob in {blob for variant in variants for blob in variant.values()}:
            members |= self.ids_in_run(blob)
        files = (
            runs.split_group(group, members - dropping) if members - dropping else {}
        )
        return {name: self._objects.put_blob(data) for name, data in files.items()}

    def _grown(
        self, variant: dict[str, str], adding: set[str]
    ) -> dict[str, str] | None:
        """Return a split group with more ids, opening only the runs that they fall in.

        None if that needs a look at the whole group: a split group that only grows
        stays split, but a run of it may outgrow its limit, or be new.
        """
        parts: dict[str, set[str]] = {}
        for record_id in adding:
            run = runs.run_of(record_id, variant)
            if run is None:
                return None
            parts.setdefault(run, set()).add(record_id)
        grown = dict(variant)
        for run, some in parts.items():
            members = self.ids_in_run(variant[run]) | some
            if len(members) > runs.MAX_RUN:
                return None
            grown[run] = self._objects.put_blob(runs.to_bytes(members))
        return grown


def _by_group(ids: Iterable[str]) -> dict[str, set[str]]:
    groups: dict[str, set[str]] = {}
    for record_id in ids:
        groups.setdefault(runs.group_of(record_id), set()).add(record_id)
    return groups


def _runs_by_group(files: Mapping[str, str]) -> dict[str, dict[str, str]]:
    groups: dict[str, dict[str, str]] = {}
    for name, blob in files.items():
        groups.setdefault(runs.group_of_run(name), {})[name] = blob
    return groups
