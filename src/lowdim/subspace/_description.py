"""A cluster of units in words: few boxes that cover it (greedy growth, then a minimal cover), as a formula in DNF.

Finding the smallest cover is NP-hard. As in the CLIQUE paper, boxes grow greedily to maximal ones until all units are
covered, and then boxes are dropped, the smallest first, that the others cover.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["cover_boxes", "describe_boxes", "edge_texts"]

Array = NDArray[Any]
Boxes = NDArray[np.int32]  # (b, k, 2): first and last interval of each box along each axis

MOST_CELLS = 1 << 22  # of the bounding box of a cluster, to be held as a table
DIGITS = range(3, 18)


class _Cells:
    """The cells of a cluster, and whether a box is full of them."""

    def __init__(self, cells: Array) -> None:
        self.cells, self.low, self.high = cells, cells.min(axis=0), cells.max(axis=0)
        shape = (self.high - self.low + 1).astype(float)
        self.table: NDArray[np.bool_] | None = None
        if shape.prod() <= MOST_CELLS:
            self.table = np.zeros(tuple(shape.astype(int)), dtype=bool)
            self.table[tuple((cells - self.low).T)] = True

    def inside(self, box: Array) -> NDArray[np.bool_]:
        """Which cells are in a box (k, 2)."""
        return np.asarray(((self.cells >= box[:, 0]) & (self.cells <= box[:, 1])).all(axis=1))

    def fill(self, box: Array) -> bool:
        """Whether every cell of the box belongs to the cluster."""
        if (box[:, 0] < self.low).any() or (box[:, 1] > self.high).any():
            return False
        if self.table is not None:
            part = tuple(slice(a, b + 1) for a, b in box - self.low[:, None])
            return bool(self.table[part].all())
        return bool(self.inside(box).sum() == np.prod((box[:, 1] - box[:, 0] + 1).astype(float)))


def cover_boxes(cells: Array) -> Boxes:
    """Boxes that cover exactly these cells (m, k) of one cluster."""
    cluster = _Cells(np.asarray(cells))
    covered = np.zeros(len(cells), dtype=bool)
    boxes, members = [], []
    while not covered.all():
        box = _grow(cluster, cells[np.argmin(covered)])
        inside = cluster.inside(box)
        boxes.append(box)
        members.append(inside)
        covered |= inside
    kept = _minimal(np.array(members))
    return np.array([boxes[i] for i in kept], dtype=np.int32)


def _grow(cluster: _Cells, cell: Array) -> Array:
    """A maximal box from one cell: along each axis in turn, as far as the slabs beside it are full."""
    box = np.stack([cell, cell], axis=1).astype(np.int64)
    for axis in range(len(cell)):
        for side, step in ((0, -1), (1, 1)):
            while True:
                slab = box.copy()
                slab[axis] = box[axis, side] + step
                if not cluster.fill(slab):
                    break
                box[axis, side] += step
    return box


def _minimal(members: NDArray[np.bool_]) -> list[int]:
    """The boxes that remain when the smallest first are dropped if the others cover them; members (boxes, cells)."""
    counts = members.sum(axis=0)
    kept = set(range(len(members)))
    for i in np.argsort(members.sum(axis=1), kind="stable"):
        if (counts[members[i]] > 1).all():
            counts = counts - members[i]
            kept.remove(int(i))
    return sorted(kept)


def edge_texts(edges: Array) -> list[str]:
    """Edges as short numbers that are right to a fiftieth of an interval."""
    tolerance = np.diff(edges).min() / 50
    for digits in DIGITS:
        texts = [_plain(edge, digits) for edge in edges]
        if np.abs(np.array([float(text) for text in texts]) - edges).max() <= tolerance:
            break
    return texts


def _plain(number: float, digits: int) -> str:
    """The number to some digits, without an exponent unless it is very large or small."""
    text = f"{number:.{digits}g}"
    return f"{float(text):.15g}" if "e+" in text else text


def describe_boxes(boxes: Boxes, names: Sequence[str], texts: Sequence[Sequence[str]]) -> str:
    """Boxes as a formula: a ≤ x < b ∧ …, several of them joined by ∨. `texts` are the edges of each axis."""
    terms = []
    for box in boxes:
        parts = [
            f"{edges[first]} ≤ {name} {'≤' if last + 2 == len(edges) else '<'} {edges[last + 1]}"
            for (first, last), name, edges in zip(box, names, texts, strict=True)
        ]
        terms.append(" ∧ ".join(parts))
    return terms[0] if len(terms) == 1 else " ∨ ".join(f"({term})" for term in terms)
