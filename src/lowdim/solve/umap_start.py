"""Where the rows of a map stand before they are moved: eigenvectors of their graph, principal axes, or chance."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from lowdim import _native
from lowdim.data.rows import chunk_rows, open_rows
from lowdim.errors import BadParameter
from lowdim.memory import require_memory
from lowdim.progress import report
from lowdim.random import normal
from lowdim.solve.eigen import fix_signs, pencil, top
from lowdim.solve.principal import Plan, principal_axes
from lowdim.summaries.centred import Centred
from lowdim.summaries.distinct import Distinct
from lowdim.summaries.fuzzy import Fuzzy
from lowdim.summaries.graph import component_labels

__all__ = ["boxed", "by_chance", "principal", "slow_vectors", "spectral", "start_map"]

Array = NDArray[Any]

SIDE = 10.0  # of the box in which a map begins
NOISE = 1e-4
DENSE = 256  # rows up to which the eigenproblem is solved outright
SHARE = 4  # of all vectors, from which on the dense matrix is no larger than what is asked for
WIDTHS = (8, 16, 32)  # vectors in a block
SPARE = 4  # of them beyond those that are wanted
DEGREE = 32
ROUNDS = 12
STREAM_NOISE, STREAM_CHANCE, STREAM_CENTRES, STREAM_BLOCK = 1, 2, 4, 3  # of the draws
ACCURACY = 1e-2  # of the vectors, relative to the gap that separates them from the rest
FARTHEST = 1e6  # of a start that is given


def start_map(
    init: Any, graph: Fuzzy, rows: Any | None, distinct: Distinct, k: int, seed: int, threads: int
) -> NDArray[np.float32]:
    """Where the distinct rows begin: 'spectral', 'pca' (of these rows), 'random', or at places given for all rows."""
    if not isinstance(init, str):
        return _given(init, len(distinct.which), k)[distinct.first]
    if init == "random":
        return boxed(by_chance(graph.n, k, seed, threads), seed, threads)
    if init == "pca":
        if rows is None:
            raise BadParameter("init='pca' needs rows, and only distances were given; use 'spectral' or 'random'.")
        return boxed(principal(rows, k, seed, threads), seed, threads)
    return boxed(spectral(graph, k, seed, threads, rows), seed, threads)


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


def spectral(graph: Fuzzy, k: int, seed: int, threads: int, table: Any | None = None) -> Array:
    """The slowest vectors of the graph, (n, k); each connected component is laid out by itself.

    Along each axis every component gets an interval as long as its share of the rows, in the order of the principal
    scores of their means or, without a table, of chance: none covers another, one far off does not squeeze the rest.
    """
    labels = component_labels(graph.to_sparse())
    pieces = int(labels.max()) + 1
    if pieces == 1:
        return slow_vectors(graph, k, seed, threads)
    order = np.argsort(labels, kind="stable")
    bounds = np.searchsorted(labels[order], np.arange(pieces + 1))
    middles = _middles(table, order, bounds, k, seed, threads)
    sizes = np.diff(bounds) / graph.n
    places = np.empty((pieces, k))
    for axis in range(k):
        along = np.lexsort((np.arange(pieces), middles[:, axis]))
        places[along, axis] = np.cumsum(sizes[along]) - sizes[along] / 2
    sorted_graph = graph.reordered(order)
    Z = np.empty((graph.n, k))
    for piece, (begin, end) in enumerate(pairwise(bounds.tolist())):
        if end - begin <= 2:
            part = by_chance(end - begin, k, seed, 1)
        else:
            part = slow_vectors(sorted_graph.part(begin, end), k, seed, threads)
        part = part - part.mean(axis=0)
        reach = float(np.abs(part).max(initial=0.0))
        Z[order[begin:end]] = places[piece] + part * (sizes[piece] / (2 * reach) if reach > 0 else 0.0)
        report("laying out components", piece + 1, pieces)
    return Z


def slow_vectors(graph: Fuzzy, k: int, seed: int, threads: int) -> Array:
    """The k smallest nontrivial eigenvectors of the normalised Laplacian I - S of a connected graph, (n, k).

    S = D^-1/2 W D^-1/2 has its trivial vector D^1/2 1 at 1, which is taken out; the next k are found by Chebyshev
    polynomials of S that damp the rest of the spectrum. Where there are few rows, or most of their vectors are
    wanted, they come from the dense matrix. Vectors that do not exist are left to chance.
    """
    n = graph.n
    degrees = np.bincount(graph.rows, graph.weights.astype(np.float64), minlength=n)
    root = np.sqrt(np.where(degrees > 0, degrees, 1.0))
    trivial = root / np.linalg.norm(root)
    found = min(k, max(n - 2, 0))
    if n <= DENSE or SHARE * found > n:
        vectors = _outright(graph, root, trivial, found)
    else:
        vectors = fix_signs(_by_filter(graph, root, trivial, found, seed, threads))
    missing = k - vectors.shape[1]
    if missing:
        vectors = np.column_stack([vectors, NOISE * by_chance(n, missing, seed, threads)])
    return np.asarray(vectors, dtype=np.float64)


def _outright(graph: Fuzzy, root: Array, trivial: Array, k: int) -> Array:
    n = graph.n
    if k == 0:
        return np.empty((n, 0))
    require_memory(4 * 8 * n * n, "the spectral start", "Use fewer components, or init='random'.")
    S = graph.to_sparse().toarray() / np.outer(root, root)
    return top((S + S.T) / 2 - 3 * np.outer(trivial, trivial), k).vectors


def _by_filter(graph: Fuzzy, root: Array, trivial: Array, k: int, seed: int, threads: int) -> Array:
    """Subspace iteration with Chebyshev filters, on groups of at most 32 vectors."""
    n, widest = graph.n, WIDTHS[-1]
    width = next((w for w in WIDTHS if w >= k + SPARE), -(-(k + SPARE) // widest) * widest)
    require_memory(32 * n * width, "the spectral start", "Use fewer components, or init='random'.")
    inverse = (1 / root).astype(np.float32)
    values = graph.weights * inverse[graph.rows] * inverse[graph.columns]
    block = normal((n, width), seed, stream=STREAM_BLOCK, dtype=np.float32, threads=threads)
    shape = n, min(width, widest)
    scratch = np.empty(shape, dtype=np.float32), np.empty(shape, dtype=np.float32)

    def times(x: Array, z: Array, out: Array, scale: float, shift: float, back: float) -> None:
        _native.filter_step(graph.starts, graph.columns, values, x, z, out, scale, shift, back, threads)

    def filtered(x: Array) -> Array:
        """T(x), T the polynomial that is small from -1 to `cut` and 1 at 1."""
        half, middle = (cut + 1) / 2, (cut - 1) / 2
        first = half / (1 - middle)
        sigma, (y, z) = first, scratch
        times(x, x, y, sigma / half, -sigma * middle / half, 0.0)
        for _ in range(degree - 1):
            following = 1 / (2 / first - sigma)
            times(y, x, z, 2 * following / half, -2 * following * middle / half, -sigma * following)
            x, y, z, sigma = y, z, x, following
        return y

    def image_of(x: Array) -> Array:
        out = np.empty_like(x)
        times(x, x, out, 1.0, 0.0, 0.0)
        return out

    def in_groups(work: Callable[[Array], Array], x: Array) -> Array:
        parts = [work(x[:, first : first + widest].copy()).astype(np.float64) for first in range(0, width, widest)]
        return parts[0] if len(parts) == 1 else np.hstack(parts)

    cut, degree, spent = 0.9, DEGREE, 0
    vectors = np.empty((n, 0))
    while spent < ROUNDS * DEGREE:
        wide = in_groups(filtered, block)
        spent += degree
        wide -= np.outer(trivial, trivial @ wide)
        wide /= np.maximum(np.linalg.norm(wide, axis=0), 1e-30)
        image = in_groups(image_of, wide.astype(np.float32))
        product = wide.T @ image
        ritz = pencil((product + product.T) / 2, wide.T @ wide, tol=1e-10)
        theta, inner = ritz.values, ritz.vectors
        vectors = wide @ inner[:, :k]
        residual = np.linalg.norm(image @ inner[:, :k] - vectors * theta[:k], axis=0)
        error = float(residual.max()) / max(float(theta[0] - theta[-1]), 1e-3)
        report("spectral start", spent, ROUNDS * DEGREE, residual=error)
        if error <= ACCURACY and len(theta) >= k:
            break
        block = np.ascontiguousarray(wide @ inner, dtype=np.float32)
        missing = width - len(theta)
        if missing:  # the filter was so steep that the block became dependent: a gentler one, and others beside it
            degree = max(2, degree // 2)
            fresh = normal((n, missing), seed, stream=STREAM_BLOCK + spent, dtype=np.float32, threads=threads)
            block = np.hstack([block, fresh / np.float32(np.sqrt(n))])
            continue
        cut = float(np.clip(theta[-1], -0.5, 0.999))
    return vectors


def principal(table: Any, k: int, seed: int, threads: int) -> Array:
    """Scores on the first k principal axes, (n, k); axes that do not exist are left to chance."""
    rows = open_rows(table)
    n, found = rows.count, min(k, rows.count, rows.d)
    axes = principal_axes(rows, None, Plan(found, 0, False, None, 200, seed, threads), "auto")
    scores = Centred(rows, axes.mean, None, None, threads).times(axes.vectors).astype(np.float64)
    largest = float(np.abs(scores).max(initial=0.0)) or 1.0
    return np.column_stack([scores / largest, NOISE * by_chance(n, k - found, seed, threads)])


def _middles(table: Any | None, order: Array, bounds: Array, k: int, seed: int, threads: int) -> Array:
    """Where the components are, for their order along each axis, (c, k); the rows sorted, and where each begins."""
    pieces = len(bounds) - 1
    if table is None:
        return normal((pieces, k), seed, stream=STREAM_CENTRES)
    counts = np.diff(bounds)
    if sp.issparse(table):
        shares = sp.csr_array((np.repeat(1 / counts, counts), order, bounds), shape=(pieces, len(order)))
        return principal(sp.csr_array(shares @ table), k, seed, threads)
    sums = np.zeros((pieces, table.shape[1]))
    piece_of = np.repeat(np.arange(pieces), counts)
    step = chunk_rows(table.shape[1], 8)
    for start in range(0, len(order), step):  # a chunk at a time, since the sums are in double precision
        mine = piece_of[start : start + step]
        first = np.flatnonzero(np.diff(mine, prepend=-1))
        sums[mine[first]] += np.add.reduceat(table[order[start : start + step]].astype(np.float64), first, axis=0)
    return principal(sums / counts[:, None], k, seed, threads)


def _given(init: Any, n: int, k: int) -> NDArray[np.float32]:
    start = np.asarray(init, dtype=np.float64)
    if start.shape != (n, k):
        raise BadParameter(f"UMAP: init must be an array of shape {(n, k)}, a place a row; got {start.shape}.")
    if not np.isfinite(start).all() or np.abs(start).max() > FARTHEST:
        raise BadParameter(
            f"UMAP: init must be finite and within {FARTHEST:g} of the origin; scale it to a span of 10."
        )
    return np.ascontiguousarray(start, dtype=np.float32)
