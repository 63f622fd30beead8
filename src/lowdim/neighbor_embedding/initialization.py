"""Initialization of t-SNE and UMAP: principal components, Laplacian eigenvectors, random, or given positions.

The spectral initialization embeds each connected component by itself, by the eigenvectors of its normalized graph
Laplacian with the smallest nonzero eigenvalues. Along each axis every component gets an interval as long as its share
of the rows, so that none covers another, and one far away does not squeeze the rest.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from lowdim.data.duplicates import DistinctRows
from lowdim.data.rows import Rows, chunk_rows, open_rows
from lowdim.decomposition.principal_axes import principal_scores
from lowdim.errors import BadParameter
from lowdim.knn.graph import component_labels
from lowdim.linalg.components import interval_centers
from lowdim.linalg.subspace_iteration import laplacian_eigenvectors
from lowdim.neighbor_embedding.tsne.affinities import Affinities
from lowdim.neighbor_embedding.umap.fuzzy_graph import FuzzyGraph
from lowdim.runtime.param import Choice, Either, Such
from lowdim.runtime.progress import report
from lowdim.runtime.random import normal

__all__ = [
    "INIT",
    "component_scores",
    "pad_columns",
    "random_init",
    "scale_to_box",
    "spectral_init",
    "tsne_init",
    "umap_init",
]

Array = NDArray[Any]
Floats = NDArray[np.float32]

TSNE_STD = 1e-4  # of the first axis (Kobak and Berens 2019): points start close to each other
UMAP_SIDE = 10.0  # of the box
MAX_COORDINATE = 1e6  # of given positions: beyond it, float32 is too coarse
NOISE = 1e-4  # standard deviation, before scaling to the box
NOISE_STREAM, RANDOM_STREAM, CENTROID_STREAM = 1, 2, 4  # of the random numbers; laplacian_eigenvectors takes 3


def _is_matrix(value: Any) -> bool:
    try:
        return np.ndim(value) == 2 and not sp.issparse(value)
    except ValueError:  # rows of different lengths
        return False


INIT = Either(Choice("pca", "spectral", "random"), Such("an (n, k) array", _is_matrix))


def tsne_init(init: Any, rows: Rows | None, P: Affinities, k: int, seed: int, threads: int) -> Floats:
    """Initial positions with a small standard deviation, (n, k). Without rows, 'pca' means 'spectral'."""
    if not isinstance(init, str):
        return _given(init, P.n, k)
    if init == "random":
        return (TSNE_STD * normal((P.n, k), seed)).astype(np.float32)
    if init == "pca" and rows is not None:
        axes = principal_scores(rows, k, seed, threads)
    else:
        axes = _standardized_eigenvectors(P, k, seed, threads)
    missing = k - axes.shape[1]
    if missing:  # fewer columns than components: random numbers, unless all rows are equal
        axes = np.hstack([axes, axes.std() * normal((P.n, missing), seed)])
    std = float(axes[:, 0].std())
    return (axes * (TSNE_STD / std) if std > 0 else np.zeros_like(axes)).astype(np.float32)


def umap_init(
    init: Any, graph: FuzzyGraph, table: Any, distinct: DistinctRows, k: int, seed: int, threads: int
) -> Floats:
    """Initial positions of the distinct rows in a box, (m, k); given positions, of all rows, are taken as they are."""
    if not isinstance(init, str):
        return _given(init, len(distinct.inverse), k)[distinct.first]
    if init == "random":
        Z = random_init(graph.n, k, seed, threads)
    elif init == "spectral":
        Z = spectral_init(graph, k, seed, threads, table)
    elif table is not None:
        Z = pad_columns(principal_scores(open_rows(table), k, seed, threads), k, seed, threads)
    else:
        raise BadParameter("init='pca' needs rows, and only distances were given; use 'spectral' or 'random'.")
    return scale_to_box(Z, seed, threads)


def scale_to_box(Z: Array, seed: int, threads: int) -> Floats:
    """Z scaled to a box of side 10, with a little noise so that no two rows coincide."""
    Z = np.asarray(Z, dtype=np.float64)
    Z = Z - Z.mean(axis=0)
    largest = float(np.abs(Z).max(initial=0.0))
    Z = Z * (UMAP_SIDE / largest if largest > 0 else 1.0)
    Z = Z + NOISE * normal(Z.shape, seed, stream=NOISE_STREAM, threads=threads)
    low, high = Z.min(axis=0), Z.max(axis=0)
    return np.ascontiguousarray(UMAP_SIDE * (Z - low) / np.where(high > low, high - low, 1.0), dtype=np.float32)


def _standardized_eigenvectors(P: Affinities, k: int, seed: int, threads: int) -> Array:
    """Laplacian eigenvectors of the affinities, each of standard deviation 1, with a little noise."""
    graph = FuzzyGraph(P.starts, P.columns, P.values, lengths=P.values)  # the lengths are not read
    vectors = spectral_init(graph, k, seed, threads)
    stds = vectors.std(axis=0)
    vectors = vectors / np.where(stds > 0, stds, 1)
    return np.asarray(vectors + 0.01 * normal(vectors.shape, seed, stream=NOISE_STREAM))  # separates equal entries


def random_init(n: int, k: int, seed: int, threads: int) -> Array:
    """Standard normal positions, (n, k)."""
    return normal((n, k), seed, stream=RANDOM_STREAM, threads=threads)


def pad_columns(axes: Array, k: int, seed: int, threads: int) -> Array:
    """The axes and, where there are fewer than k, small random numbers, (n, k)."""
    n, found = axes.shape
    if found == k:
        return axes
    return np.column_stack([axes, NOISE * random_init(n, k - found, seed, threads)])


def spectral_init(graph: FuzzyGraph, k: int, seed: int, threads: int, table: Any | None = None) -> Array:
    """Laplacian eigenvectors of each connected component, the components in intervals of their own, (n, k).

    Components are ordered by the principal components of their centroids or, without a table, at random.
    """
    labels = component_labels(graph.to_sparse())
    components = int(labels.max()) + 1
    if components == 1:
        return _eigenvectors(graph, k, seed, threads)
    order = np.argsort(labels, kind="stable")
    bounds = np.searchsorted(labels[order], np.arange(components + 1))
    sizes = np.diff(bounds) / graph.n
    centers = interval_centers(component_scores(table, order, bounds, k, seed, threads), sizes)
    sorted_graph = graph.reordered(order)
    Z = np.empty((graph.n, k))
    for component, (begin, end) in enumerate(pairwise(bounds.tolist())):
        if end - begin <= 2:
            part = random_init(end - begin, k, seed, 1)
        else:
            part = _eigenvectors(sorted_graph.subgraph(begin, end), k, seed, threads)
        part = part - part.mean(axis=0)
        largest = float(np.abs(part).max(initial=0.0))
        Z[order[begin:end]] = centers[component] + part * (sizes[component] / (2 * largest) if largest > 0 else 0.0)
        report("spectral initialization of components", component + 1, components)
    return Z


def _eigenvectors(graph: FuzzyGraph, k: int, seed: int, threads: int) -> Array:
    """Laplacian eigenvectors of a connected graph, padded where there are fewer than k, (n, k)."""
    return pad_columns(laplacian_eigenvectors(graph.to_sparse(), k, seed, threads), k, seed, threads)


def component_scores(table: Any | None, order: Array, bounds: Array, k: int, seed: int, threads: int) -> Array:
    """Principal components of the centroids, (c, k), of rows sorted by component; without a table, random numbers."""
    components = len(bounds) - 1
    if table is None:
        return normal((components, k), seed, stream=CENTROID_STREAM)
    counts = np.diff(bounds)
    if sp.issparse(table):
        averaging = sp.csr_array((np.repeat(1 / counts, counts), order, bounds), shape=(components, len(order)))
        centroids = sp.csr_array(averaging @ table)
    else:
        centroids = _sums(table, order, np.repeat(np.arange(components), counts), components) / counts[:, None]
    return pad_columns(principal_scores(open_rows(centroids), k, seed, threads), k, seed, threads)


def _sums(table: Array, order: Array, component_of: Array, components: int) -> NDArray[np.float64]:
    """Sums of the rows of each component in double precision, chunk by chunk."""
    sums = np.zeros((components, table.shape[1]))
    step = chunk_rows(table.shape[1], 8)
    for start in range(0, len(order), step):
        here = component_of[start : start + step]
        first = np.flatnonzero(np.diff(here, prepend=-1))
        sums[here[first]] += np.add.reduceat(table[order[start : start + step]].astype(np.float64), first, axis=0)
    return sums


def _given(init: Any, n: int, k: int) -> Floats:
    positions = np.asarray(init)
    if positions.shape != (n, k) or positions.dtype.kind not in "fiu":
        raise BadParameter(
            f"init must be an array of numbers of shape {(n, k)}, one position per row; "
            f"got {positions.dtype} of shape {positions.shape}."
        )
    if not (np.abs(positions) <= MAX_COORDINATE).all():  # NaN fails, too
        raise BadParameter(
            f"init must be finite, with coordinates up to {MAX_COORDINATE:g}. Scale it to a range of 10 or less."
        )
    if n > 1 and (positions == positions[0]).all():
        raise BadParameter("init has all rows at one position, from which no gradient moves them; use init='random'.")
    return np.ascontiguousarray(positions, dtype=np.float32)
