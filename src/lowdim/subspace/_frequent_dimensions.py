"""The set of dimensions of largest quality around one row, by branch and bound over frequent sets (MineClus)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.errors import SearchTooLarge
from lowdim.runtime.progress import report

__all__ = ["DimensionSet", "best_frequent_set", "log_quality"]

Bits = NDArray[np.uint64]


@dataclass(frozen=True)
class DimensionSet:
    """Dimensions, the number of rows that are near in all of them, and the logarithm of their quality."""

    dimensions: tuple[int, ...]  # ascending
    support: int
    quality: float


def log_quality(support: Any, size: Any, beta: float) -> Any:
    """The logarithm of μ = rows · (1 / β)^dimensions: a dimension more is worth a share β of the rows."""
    return np.log(support) - np.log(beta) * size


def best_frequent_set(near: NDArray[np.bool_], least: int, beta: float, max_nodes: int) -> DimensionSet | None:
    """The set of columns with at least `least` rows near in all of them (n, d) that has the largest quality.

    Dimensions as items, rows as transactions: all frequent sets are searched depth first, most frequent dimension
    first, but those that can't exceed the best one: even if the rows of a set were nested, j more dimensions leave no
    more than the rows of the j-th most frequent one. None if no column has so many rows.
    """
    return _FrequentSetSearch(_bitmaps(near), least, beta, max_nodes).run()


class _FrequentSetSearch:
    def __init__(self, bits: Bits, least: int, beta: float, max_nodes: int) -> None:
        self.bits, self.least, self.beta = bits, least, beta  # bits (d, words)
        self.nodes, self.max_nodes = 0, max_nodes
        self.best: DimensionSet | None = None

    def run(self) -> DimensionSet | None:
        everything = np.full(self.bits.shape[1], ~np.uint64(0))
        self._extend((), everything, np.arange(len(self.bits)))
        return self.best

    def _extend(self, chosen: tuple[int, ...], rows: Bits, items: NDArray[np.intp]) -> None:
        """All sets of the chosen dimensions and some of `items`."""
        self.nodes += 1
        if self.nodes % 64 == 0:
            report("MineClus: frequent sets of dimensions", self.nodes)
        if self.nodes > self.max_nodes:
            raise SearchTooLarge(
                f"more than max_nodes={self.max_nodes} sets of dimensions are frequent around one row. Lower width, "
                "raise alpha, or raise max_nodes."
            )
        held = self.bits[items] & rows
        supports = np.bitwise_count(held).sum(axis=1, dtype=np.int64)
        order = np.argsort(-supports, kind="stable")
        order = order[supports[order] >= self.least]
        items, supports, held = items[order], supports[order], held[order]
        for i, item in enumerate(items):
            self._offer((*chosen, int(item)), int(supports[i]))
        for i, item in enumerate(items):
            sizes = len(chosen) + 1 + np.arange(len(items) - i)
            if self.best is not None and log_quality(supports[i:], sizes, self.beta).max() <= self.best.quality:
                return
            self._extend((*chosen, int(item)), held[i], items[i + 1 :])

    def _offer(self, dimensions: tuple[int, ...], support: int) -> None:
        quality = float(log_quality(support, len(dimensions), self.beta))
        if self.best is None or quality > self.best.quality:
            self.best = DimensionSet(tuple(sorted(dimensions)), support, quality)


def _bitmaps(near: NDArray[np.bool_]) -> Bits:
    """One bit per row and column, (d, words)."""
    n, d = near.shape
    packed = np.zeros((d, 8 * -(-n // 64)), dtype=np.uint8)
    packed[:, : -(-n // 8)] = np.packbits(near, axis=0).T
    return packed.view(np.uint64)
