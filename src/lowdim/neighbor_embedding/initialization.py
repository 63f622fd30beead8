"""Initialization of t-SNE and UMAP: principal components, Laplacian eigenvectors, random, or given positions."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from lowdim.data.duplicates import Distinct
from lowdim.data.rows import Rows, open_rows
from lowdim.decomposition.principal_axes import principal_scores
from lowdim.errors import BadParameter
from lowdim.neighbor_embedding.spectral_initialization import NOISE, filled_up, random_init, spectral
from lowdim.neighbor_embedding.tsne.affinities import Affinities
from lowdim.neighbor_embedding.umap.fuzzy_graph import FuzzyGraph
from lowdim.runtime.param import Choice, Either, Such
from lowdim.runtime.random import normal

__all__ = ["INIT", "scale_to_box", "tsne_init", "umap_init"]

Array = NDArray[Any]
Floats = NDArray[np.float32]

TSNE_STD = 1e-4  # of the first axis (Kobak and Berens 2019): points start close to each other
UMAP_SIDE = 10.0  # of the box
MAX_COORDINATE = 1e6  # of given positions: beyond it, float32 is too coarse
NOISE_STREAM = 1  # of the random numbers


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


def umap_init(init: Any, graph: FuzzyGraph, table: Any, distinct: Distinct, k: int, seed: int, threads: int) -> Floats:
    """Initial positions of the distinct rows in a box, (m, k); given positions, of all rows, are taken as they are."""
    if not isinstance(init, str):
        return _given(init, len(distinct.which), k)[distinct.first]
    if init == "random":
        Z = random_init(graph.n, k, seed, threads)
    elif init == "spectral":
        Z = spectral(graph, k, seed, threads, table)
    elif table is not None:
        Z = filled_up(principal_scores(open_rows(table), k, seed, threads), k, seed, threads)
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
    vectors = spectral(graph, k, seed, threads)
    stds = vectors.std(axis=0)
    vectors = vectors / np.where(stds > 0, stds, 1)
    return np.asarray(vectors + 0.01 * normal(vectors.shape, seed, stream=NOISE_STREAM))  # separates equal entries


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
