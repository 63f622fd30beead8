"""The spectral start of a map: the slowest vectors of its graph, each connected component laid out by itself."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from lowdim import _native
from lowdim.data.rows import chunk_rows, open_rows
from lowdim.decomposition.principal_axes import principal_scores
from lowdim.knn.graph import component_labels
from lowdim.linalg.dense_eigen import fix_signs, pencil, top
from lowdim.neighbor_embedding.umap.fuzzy_graph import FuzzyGraph
from lowdim.runtime.memory import require_memory
from lowdim.runtime.progress import report
from lowdim.runtime.random import normal

__all__ = ["NOISE", "filled_up", "random_init", "slow_vectors", "spectral"]

Array = NDArray[Any]

NOISE = 1e-4
DENSE = 256  # rows up to which the eigenproblem is solved outright
SHARE = 4  # of all vectors, from which on the dense matrix is no larger than what is asked for
WIDTHS = (8, 16, 32)  # vectors in a block
SPARE = 4  # of them beyond those that are wanted
DEGREE = 32
ROUNDS = 12
STREAM_CHANCE, STREAM_BLOCK, STREAM_CENTRES = 2, 3, 4  # of the draws
ACCURACY = 1e-2  # of the vectors, relative to the gap that separates them from the rest
ADVICE = "Use fewer components, or init='random'."


def spectral(graph: FuzzyGraph, k: int, seed: int, threads: int, table: Any | None = None) -> Array:
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
    sizes = np.diff(bounds) / graph.n
    places = _side_by_side(_middles(table, order, bounds, k, seed, threads), sizes)
    sorted_graph = graph.reordered(order)
    Z = np.empty((graph.n, k))
    for piece, (begin, end) in enumerate(pairwise(bounds.tolist())):
        if end - begin <= 2:
            part = random_init(end - begin, k, seed, 1)
        else:
            part = slow_vectors(sorted_graph.subgraph(begin, end), k, seed, threads)
        part = part - part.mean(axis=0)
        reach = float(np.abs(part).max(initial=0.0))
        Z[order[begin:end]] = places[piece] + part * (sizes[piece] / (2 * reach) if reach > 0 else 0.0)
        report("laying out components", piece + 1, pieces)
    return Z


def random_init(n: int, k: int, seed: int, threads: int) -> Array:
    """Normal numbers."""
    return normal((n, k), seed, stream=STREAM_CHANCE, threads=threads)


def filled_up(axes: Array, k: int, seed: int, threads: int) -> Array:
    """All k axes (n, k): those that do not exist are a little chance."""
    n, found = axes.shape
    if found == k:
        return axes
    return np.column_stack([axes, NOISE * random_init(n, k - found, seed, threads)])


def slow_vectors(graph: FuzzyGraph, k: int, seed: int, threads: int) -> Array:
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
        vectors = fix_signs(_by_filter(_Smooth(graph, root, threads), trivial, found, seed))
    return filled_up(np.asarray(vectors, dtype=np.float64), k, seed, threads)


def _outright(graph: FuzzyGraph, root: Array, trivial: Array, k: int) -> Array:
    n = graph.n
    if k == 0:
        return np.empty((n, 0))
    require_memory(4 * 8 * n * n, "the spectral start", ADVICE)
    S = graph.to_sparse().toarray() / np.outer(root, root)
    return top((S + S.T) / 2 - 3 * np.outer(trivial, trivial), k).vectors


class _Smooth:
    """S in single precision, times blocks of vectors: itself, and a polynomial that leaves what is slow."""

    def __init__(self, graph: FuzzyGraph, root: Array, threads: int) -> None:
        self.n, self.threads = graph.n, threads
        inverse = (1 / root).astype(np.float32)
        self.edges = graph.starts, graph.columns, graph.weights * inverse[graph.rows] * inverse[graph.columns]

    def times(self, x: Array) -> Array:
        """S x, in double precision."""
        return self._by_groups(self._image, x)

    def filtered(self, x: Array, cut: float, degree: int) -> Array:
        """T(S) x in double precision, T Chebyshev's polynomial that is small from -1 to `cut` and 1 at 1."""
        return self._by_groups(lambda part: self._chebyshev(part, cut, degree), x)

    def _by_groups(self, work: Callable[[Array], Array], x: Array) -> Array:
        """The kernel takes at most 32 vectors at once."""
        widest = WIDTHS[-1]
        parts = [work(x[:, i : i + widest].copy()).astype(np.float64) for i in range(0, x.shape[1], widest)]
        return parts[0] if len(parts) == 1 else np.hstack(parts)

    def _image(self, x: Array) -> Array:
        out = np.empty_like(x)
        self._step(x, x, out, 1.0, 0.0, 0.0)
        return out

    def _chebyshev(self, x: Array, cut: float, degree: int) -> Array:
        half, middle = (cut + 1) / 2, (cut - 1) / 2
        first = half / (1 - middle)
        sigma, y, z = first, np.empty_like(x), np.empty_like(x)
        self._step(x, x, y, sigma / half, -sigma * middle / half, 0.0)
        for _ in range(degree - 1):
            following = 1 / (2 / first - sigma)
            self._step(y, x, z, 2 * following / half, -2 * following * middle / half, -sigma * following)
            x, y, z, sigma = y, z, x, following
        return y

    def _step(self, x: Array, z: Array, out: Array, scale: float, shift: float, back: float) -> None:
        """Out = scale S x + shift x + back z."""
        _native.filter_step(*self.edges, x, z, out, scale, shift, back, self.threads)


def _by_filter(smooth: _Smooth, trivial: Array, k: int, seed: int) -> Array:
    """Subspace iteration: filter a block, find the best vectors in it, and filter these."""
    n, widest = smooth.n, WIDTHS[-1]
    width = next((w for w in WIDTHS if w >= k + SPARE), -(-(k + SPARE) // widest) * widest)
    require_memory(32 * n * width, "the spectral start", ADVICE)
    block = normal((n, width), seed, stream=STREAM_BLOCK, dtype=np.float32, threads=smooth.threads)
    cut, degree, spent = 0.9, DEGREE, 0
    vectors = np.empty((n, 0))
    while spent < ROUNDS * DEGREE:
        wide = smooth.filtered(block, cut, degree)
        spent += degree
        wide -= np.outer(trivial, trivial @ wide)
        wide /= np.maximum(np.linalg.norm(wide, axis=0), 1e-30)
        image = smooth.times(wide.astype(np.float32))
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
            stream = STREAM_BLOCK + spent
            fresh = normal((n, missing), seed, stream=stream, dtype=np.float32, threads=smooth.threads)
            block = np.hstack([block, fresh / np.float32(np.sqrt(n))])
            continue
        cut = float(np.clip(theta[-1], -0.5, 0.999))
    return vectors


def _side_by_side(middles: Array, sizes: Array) -> Array:
    """Middles of intervals of these sizes, (c, k), along each axis one beside the other in the order of `middles`."""
    pieces, k = middles.shape
    places = np.empty((pieces, k))
    for axis in range(k):
        along = np.lexsort((np.arange(pieces), middles[:, axis]))
        places[along, axis] = np.cumsum(sizes[along]) - sizes[along] / 2
    return places


def _middles(table: Any | None, order: Array, bounds: Array, k: int, seed: int, threads: int) -> Array:
    """Where the components are, (c, k); the rows sorted by component, and where each begins."""
    pieces = len(bounds) - 1
    if table is None:
        return normal((pieces, k), seed, stream=STREAM_CENTRES)
    counts = np.diff(bounds)
    if sp.issparse(table):
        shares = sp.csr_array((np.repeat(1 / counts, counts), order, bounds), shape=(pieces, len(order)))
        means = sp.csr_array(shares @ table)
    else:
        means = _sums(table, order, np.repeat(np.arange(pieces), counts), pieces) / counts[:, None]
    return filled_up(principal_scores(open_rows(means), k, seed, threads), k, seed, threads)


def _sums(table: Array, order: Array, piece_of: Array, pieces: int) -> NDArray[np.float64]:
    """Sums of the rows of each component, a chunk at a time, since they are in double precision."""
    sums = np.zeros((pieces, table.shape[1]))
    step = chunk_rows(table.shape[1], 8)
    for start in range(0, len(order), step):
        mine = piece_of[start : start + step]
        first = np.flatnonzero(np.diff(mine, prepend=-1))
        sums[mine[first]] += np.add.reduceat(table[order[start : start + step]].astype(np.float64), first, axis=0)
    return sums
