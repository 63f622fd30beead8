"""Checkpoint files of wrappers: every result that was expensive to find, by name, as JSON.

A search is deterministic, so a stopped one resumes by running again: what is in the file is not computed a second time.
A fingerprint of the data and the parameters keeps one search from another's results.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from time import monotonic
from typing import Any, TypeVar

import numpy as np
from joblib import Parallel, delayed

from lowdim.errors import BadInput
from lowdim.runtime.atomic_write import atomic_write
from lowdim.runtime.blas import run_single
from lowdim.runtime.checkpoint import fingerprint

__all__ = ["ResultLog"]

KEY = "lowdim-selection"
SECONDS = 2.0  # between two writes, while results come in
Item = TypeVar("Item")
Numbers = list[float]


class ResultLog:
    """Results by name, each a list of numbers; kept in a file if there is a path."""

    def __init__(self, path: str | os.PathLike[str] | None, *parts: Any) -> None:
        self._path = path
        self._fingerprint = "" if path is None else fingerprint(*parts)
        self._results: dict[str, Numbers] = {}
        self._written = monotonic()
        if path is not None and os.path.exists(path):
            self._results = self._read()

    def compute(
        self, items: Iterable[Item], name: Callable[[Item], str], work: Callable[[Item], Any], processes: int
    ) -> Iterator[tuple[Item, Numbers]]:
        """Results of all items, in their order: known ones, and work(item) of the others, several at a time.

        Several processes, because estimators of scikit-learn change the warning filters of theirs while they work.
        """
        items = list(items)
        new = [item for item in items if name(item) not in self._results]
        found: Iterator[Any] = (work(item) for item in new)
        if processes > 1 and len(new) > 1:
            tasks = (delayed(run_single)(partial(work, item)) for item in new)
            found = iter(Parallel(n_jobs=min(processes, len(new)), return_as="generator")(tasks))
        try:
            for item in items:
                if name(item) not in self._results:
                    self._results[name(item)] = np.asarray(next(found), dtype=np.float64).ravel().tolist()
                    if monotonic() - self._written > SECONDS:
                        self._write()
                yield item, self._results[name(item)]
        finally:  # also when the search is cancelled
            if new:
                self._write()

    def _read(self) -> dict[str, Numbers]:
        damaged = f"{str(self._path)!r} is not a checkpoint of a selection, or is damaged. Delete it to start over."
        try:
            with open(str(self._path), encoding="utf-8") as file:
                stored = json.load(file)
            results = {str(name): [float(value) for value in values] for name, values in stored["results"].items()}
            owner, checksum = stored[KEY], stored["sha256"]
        except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise BadInput(damaged) from error
        if owner != self._fingerprint:
            raise BadInput(
                f"the checkpoint {str(self._path)!r} belongs to other data or other parameters. "
                "Give another path, or delete the file to start over."
            )
        if checksum != fingerprint(results):
            raise BadInput(damaged)
        return results

    def _write(self) -> None:
        if self._path is None:
            return
        self._written = monotonic()
        stored = {KEY: self._fingerprint, "sha256": fingerprint(self._results), "results": self._results}
        with atomic_write(self._path) as draft:
            draft.write_text(json.dumps(stored), encoding="utf-8")
