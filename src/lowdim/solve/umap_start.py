"""Where the rows of a map stand before they are moved: eigenvectors of their graph, principal axes, or chance."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim import _native
from lowdim.data.rows import ArrayRows
from lowdim.progress import report
from lowdim.random import normal
from lowdim.solve.eigen import fix_signs, pencil, top
from lowdim.solve.principal import Plan, principal_axes
from lowdim.summaries.centred import Centred
from lowdim.summaries.fuzzy import Fuzzy
from lowdim.summaries.graph import component_labels

__all__ = ["boxed", "by_chance", "principal", "slow_vectors", "spectral"]

Array = NDArray[Any]

SIDE = 10.0  # of the box in which a map begins
NOISE = 1e-4
DENSE = 256  # rows up to which the eigenproblem is solved outright
WIDTHS = (8, 16, 32)  # vectors in a block
DEGREE = 32
ROUNDS = 12
STREAM_NOISE, STREAM_CHANCE, STREAM_BLOCK, STREAM_CENTRES = range(1, 5)  # of the draws
ACCURACY = 1e-2  # of the vectors, relative to the gap that separates them from the rest


def boxed(Z: Array, seed: int, threads: int) -> NDArray[np.float32]:
    """The rows of Z in a box of side 10, each a little moved so that no two coincide."""
    Z = np.asarray(Z, dtype=np.float64)
    Z = Z - Z.mean(axis=0)
    largest = float(np.abs(Z).max(initial=0.0))
    Z = Z * (SIDE / largest if largest > 0 else 1.0)
    Z = Z + NOISE * normal(Z.shape, seed, stream=STREAM_NOISE, threads=threads)
    low, high = Z.min(axis=0), Z.max(axis=0)
    return np.ascontiguousarray(SIDE * (Z - low) / np.where(high > low, high - low, 1.0), dtype=np.float32)


def by_chance(n: int, k: int, seed: int, threads: int) -> Array:
    """Normal numbers."""
    return normal((n, k), seed, stream=STREAM_CHANCE, threads=threads)


def spectral(graph: Fuzzy, k: int, seed: int, threads: int, table: Array | None = None) -> Array:
    """The slowest vectors of the graph, (n, k); each connected component is laid out by itself.

    Along each axis every component gets an interval as long as its share of the rows, in the order of the principal
    scores of their means or, without a table, of chance: none covers another, one far off does not squeeze the rest.
    """
    labels = component_labels(graph.to_sparse())
    pieces = int(labels.max()) + 1
    if pieces == 1:
        return slow_vectors(graph, k, seed, threads)
    middles = _middles(table, labels, k, seed, threads)
    sizes = np.bincount(labels, minlength=pieces) / graph.n
    order = np.argsort(labels, kind="stable")
    bounds = np.searchsorted(labels[order], np.arange(pieces + 1))
    places = np.empty((pieces, k))
    for axis in range(k):
        along = np.lexsort((np.arange(pieces), middles[:, axis]))
        places[along, axis] = np.cumsum(sizes[along]) - sizes[along] / 2
    Z = np.empty((graph.n, k))
    for piece in range(pieces):
        members = order[bounds[piece] : bounds[piece + 1]]
        small = len(members) <= 2
        part = by_chance(len(members), k, seed, 1) if small else slow_vectors(_part(graph, members), k, seed, threads)
        part = part - part.mean(axis=0)
        reach = float(np.abs(part).max(initial=0.0))
        Z[members] = places[piece] + part * (sizes[piece] / (2 * reach) if reach > 0 else 0.0)
        report("laying out components", piece + 1, pieces)
    return Z


def slow_vectors(graph: Fuzzy, k: int, seed: int, threads: int) -> Array:
    """The k smallest nontrivial eigenvectors of the normalised Laplacian I - S of a connected graph, (n, k).

    S = D^-1/2 W D^-1/2 has its trivial vector D^1/2 1 at 1, which is taken out; the next k are found by
    Chebyshev polynomials of S that damp the rest of the spectrum. Vectors that do not exist are left to chance.
    """
    n = graph.n
    degrees = np.bincount(graph.rows, graph.weights.astype(np.float64), minlength=n)
    root = np.sqrt(np.where(degrees > 0, degrees, 1.0))
    trivial = root / np.linalg.norm(root)
    found = min(k, max(n - 2, 0))
    if n <= DENSE or found > WIDTHS[-1] - 4:
        S = graph.to_sparse().toarray() / np.outer(root, root)
        S = (S + S.T) / 2 - 3 * np.outer(trivial, trivial)
        vectors = top(S, found).vectors if found else np.empty((n, 0))
    else:
        vectors = fix_signs(_by_filter(graph, root, trivial, found, seed, threads))
    if found < k:
        vectors = np.column_stack([vectors, NOISE * by_chance(n, k - found, seed, threads)])
    return np.asarray(vectors, dtype=np.float64)


def _by_filter(graph: Fuzzy, root: Array, trivial: Array, k: int, seed: int, threads: int) -> Array:
    """Subspace iteration with Chebyshev filters."""
    n = graph.n
    width = next(w for w in WIDTHS if w >= k + 4)
    inverse = (1 / root).astype(np.float32)
    values = graph.weights * inverse[graph.rows] * inverse[graph.columns]
    block = normal((n, width), seed, stream=STREAM_BLOCK, dtype=np.float32, threads=threads)
    scratch = [np.empty_like(block), np.empty_like(block)]

    def times(x: Array, z: Array, out: Array, scale: float, shift: float, back: float) -> None:
        _native.filter_step(graph.starts, graph.columns, values, x, z, out, scale, shift, back, threads)

    def filtered(x: Array, cut: float) -> Array:
        """T(x), T the polynomial that is small from -1 to `cut` and 1 at 1."""
        half, middle = (cut + 1) / 2, (cut - 1) / 2
        first = half / (1 - middle)
        sigma, y, z = first, *scratch
        times(x, x, y, sigma / half, -sigma * middle / half, 0.0)
        for _ in range(DEGREE - 1):
            following = 1 / (2 / first - sigma)
            times(y, x, z, 2 * following / half, -2 * following * middle / half, -sigma * following)
            x, y, z, sigma = y, z, x, following
        return y

    cut = 0.9
    vectors = np.empty((n, k))
    for step in range(ROUNDS):
        wide = filtered(block, cut).astype(np.float64)
        wide -= np.outer(trivial, trivial @ wide)
        wide /= np.maximum(np.linalg.norm(wide, axis=0), 1e-30)
        block = wide.astype(np.float32)
        image = np.empty_like(block)
        times(block, block, image, 1.0, 0.0, 0.0)
        product = wide.T @ image
        ritz = pencil((product + product.T) / 2, wide.T @ wide, tol=1e-10)
        theta, inner = ritz.values, ritz.vectors
        vectors = wide @ inner[:, :k]
        residual = np.linalg.norm(image @ inner[:, :k] - vectors * theta[:k], axis=0)
        error = float(residual.max()) / max(float(theta[0] - theta[-1]), 1e-3)
        report("spectral start", step + 1, ROUNDS, residual=error)
        if error <= ACCURACY or len(theta) < width:  # as good as wanted, or the block has become dependent
            break
        block = np.ascontiguousarray(wide @ inner, dtype=np.float32)
        cut = float(np.clip(theta[-1], -0.5, 0.999))
    return vectors


def principal(table: Array, k: int, seed: int, threads: int) -> Array:
    """Scores on the first k principal axes, (n, k); axes that do not exist are left to chance."""
    rows = ArrayRows(table)
    found = min(k, *table.shape)
    axes = principal_axes(rows, None, Plan(found, 0, False, None, 200, seed, threads), "auto")
    scores = Centred(rows, axes.mean, None, None, threads).times(axes.vectors).astype(np.float64)
    largest = float(np.abs(scores).max(initial=0.0)) or 1.0
    return np.column_stack([scores / largest, NOISE * by_chance(len(table), k - found, seed, threads)])


def _middles(table: Array | None, labels: Array, k: int, seed: int, threads: int) -> Array:
    """Where the components are, as far as their order along each axis goes, (c, k)."""
    pieces = int(labels.max()) + 1
    if table is None:
        return normal((pieces, k), seed, stream=STREAM_CENTRES)
    order = np.argsort(labels, kind="stable")
    bounds = np.searchsorted(labels[order], np.arange(pieces))
    sums = np.add.reduceat(table[order].astype(np.float64), bounds, axis=0)
    return principal(sums / np.bincount(labels)[:, None], k, seed, threads)


def _part(graph: Fuzzy, members: Array) -> Fuzzy:
    """The graph of some rows that no edge leaves."""
    inside = graph.to_sparse()[members][:, members]
    inside.sort_indices()
    return Fuzzy.from_sparse(inside)
