"""Neighbour lists: for each row the nearest so far, ascending, equal distances by index."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim import _native
from lowdim.knn.search_space import Space
from lowdim.runtime.memory import require_memory
from lowdim.runtime.progress import report

__all__ = ["NOBODY", "Lists", "all_pairs", "from_queries", "refined"]

Array = NDArray[Any]

NOBODY = 2**31 - 1  # the index in an empty place
SLACK = 8  # places beyond the k-th, so that rounding in the search can't push a true neighbour out
LONGER = (56, 448)  # places where that was not enough, before all rows are measured in double precision
QUERY_ROWS = 1 << 14  # queries between two reports of progress
LARGE = 1 << 26  # bytes; smaller lists are made without asking for room


@dataclass(frozen=True)
class Lists:
    """(n, k) distances and indices, in the native layout."""

    distances: NDArray[np.float32]
    indices: NDArray[np.int32]

    @classmethod
    def empty(cls, n: int, k: int) -> Lists:
        """Lists with every place free."""
        if 8 * n * k > LARGE:
            require_memory(8 * n * k, f"lists of {k} neighbours of {n} rows", "Ask for fewer neighbours.")
        return cls(np.full((n, k), np.inf, dtype=np.float32), np.full((n, k), NOBODY, dtype=np.int32))

    @property
    def k(self) -> int:
        """Places in a list."""
        return int(self.indices.shape[1])

    def __getitem__(self, rows: slice) -> Lists:
        return Lists(self.distances[rows], self.indices[rows])


def all_pairs(space: Space, k: int) -> Lists:
    """The k nearest rows of every row, exactly."""
    n = space.n
    found = Lists.empty(n, _with_slack(space, k, n - 1))
    rounds = _native.all_pairs_round_count(*space.work.shape)
    for turn in range(rounds):
        _native.all_pairs_round(
            space.work, space.shift, space.kernel, turn, found.distances, found.indices, space.threads
        )
        report("comparing all pairs", turn + 1, rounds)
    return _proved(space, space.work, space.source, found, k, _row_numbers(n))


def from_queries(space: Space, work: Array, source: Array, k: int, names: Array | None = None) -> Lists:
    """The k nearest rows of the space to every query, exactly; a row of the query's own name is left out."""
    m = len(work)
    most = space.n - (0 if names is None else 1)
    found = Lists.empty(m, _with_slack(space, k, most))
    _scan(space, work, names, found, "comparing queries")
    return _proved(space, work, source, found, k, names)


def _scan(space: Space, work: Array, names: Array | None, found: Lists, task: str) -> None:
    """The nearest rows of the space to every query, as sums, into the lists."""
    m = len(work)
    for start in range(0, m, QUERY_ROWS):
        cut = slice(start, min(start + QUERY_ROWS, m))
        part, own = found[cut], None if names is None else names[cut]
        _native.exact_queries(
            work[cut], own, space.work, space.shift, space.kernel, part.distances, part.indices, space.threads
        )
        report(task, cut.stop, m)


def refined(space: Space, source: Array, candidates: Array | None, k: int, names: Array | None) -> Lists:
    """The k nearest among the candidates of each query (all rows if None), measured in double precision."""
    out = Lists.empty(len(source), k)
    _native.refine_candidates(
        source,
        space.source,
        candidates,
        names,
        space.kernel,
        space.metric.root,
        space.scale,
        out.distances,
        out.indices,
        space.threads,
    )
    return out


def _proved(space: Space, work: Array, source: Array, found: Lists, k: int, names: Array | None) -> Lists:
    """The k nearest of longer lists; where rounding may have hidden one, all rows are measured."""
    if space.metric.bits:
        return Lists(np.float32(space.scale) * found.distances[:, :k], np.ascontiguousarray(found.indices[:, :k]))
    out = refined(space, source, found.indices, k, names)
    most = space.n - (0 if names is None else 1)
    doubtful = np.flatnonzero(_doubtful(space, work, out, found, most))
    for slack in LONGER:  # a crowd of near ties fits into a longer list
        if len(doubtful) == 0 or k + slack >= most:
            break
        asked, asking = np.ascontiguousarray(work[doubtful]), np.ascontiguousarray(source[doubtful])
        own = None if names is None else names[doubtful]
        longer = Lists.empty(len(doubtful), k + slack)
        _scan(space, asked, own, longer, "settling near ties")
        better = refined(space, asking, longer.indices, k, own)
        out.distances[doubtful], out.indices[doubtful] = better.distances, better.indices
        doubtful = doubtful[_doubtful(space, asked, better, longer, most)]
    for start in range(0, len(doubtful), 64):
        some = doubtful[start : start + 64]
        again = refined(space, source[some], None, k, None if names is None else names[some])
        out.distances[some], out.indices[some] = again.distances, again.indices
        report("settling near ties", start + len(some), len(doubtful))
    return out


def _doubtful(space: Space, work: Array, out: Lists, found: Lists, most: int) -> NDArray[np.bool_]:
    """Whose k-th distance is so near to the last that was looked at that a nearer row may have been missed, (m,)."""
    if found.k == most or space.whole:
        return np.zeros(len(work), dtype=bool)
    kth = out.distances[:, -1]
    nearest = space.sums(kth)
    return ~((kth == 0) | (nearest + space.blur(work, nearest) < found.distances[:, -1].astype(np.float64)))


def _with_slack(space: Space, k: int, most: int) -> int:
    return k if space.metric.bits else min(k + SLACK, most)


def _row_numbers(n: int) -> NDArray[np.int32]:
    return np.arange(n, dtype=np.int32)
