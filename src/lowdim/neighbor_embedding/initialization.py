"""Where a map starts: at principal scores, eigenvectors of its graph, chance, or places that are given."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from lowdim.data.duplicates import DistinctRows
from lowdim.data.rows import Rows, open_rows
from lowdim.decomposition.principal_axes import principal_scores
from lowdim.errors import BadParameter
from lowdim.neighbor_embedding.spectral_initialization import NOISE, by_chance, filled_up, spectral
from lowdim.neighbor_embedding.tsne.affinities import Affinities
from lowdim.neighbor_embedding.umap.fuzzy_graph import Fuzzy
from lowdim.runtime.param import Choice, Either, Such
from lowdim.runtime.random import normal

__all__ = ["INIT", "boxed", "boxed_start", "close_start"]

Array = NDArray[Any]
Floats = NDArray[np.float32]

CLOSE = 1e-4  # standard deviation of the first axis: points start close, and find their neighbours
SIDE = 10.0  # of the box
FARTHEST = 1e6  # of a place that is given: float32 keeps apart what is there
STREAM_NOISE = 1  # of the draws


def _are_places(value: Any) -> bool:
    try:
        return np.ndim(value) == 2 and not sp.issparse(value)
    except ValueError:  # rows of different lengths
        return False


INIT = Either(Choice("pca", "spectral", "random"), Such("an array (n, k)", _are_places))


def close_start(init: Any, rows: Rows | None, P: Affinities, k: int, seed: int, threads: int) -> Floats:
    """All rows close to the origin, (n, k). Without rows, 'pca' stands for 'spectral'."""
    if not isinstance(init, str):
        return _given(init, P.n, k)
    if init == "random":
        return (CLOSE * normal((P.n, k), seed)).astype(np.float32)
    if init == "pca" and rows is not None:
        axes = principal_scores(rows, k, seed, threads)
    else:
        axes = _even_vectors(P, k, seed, threads)
    missing = k - axes.shape[1]
    if missing:  # fewer columns than axes: chance takes their place, unless all rows are equal
        axes = np.hstack([axes, axes.std() * normal((P.n, missing), seed)])
    spread = float(axes[:, 0].std())
    return (axes * (CLOSE / spread) if spread > 0 else np.zeros_like(axes)).astype(np.float32)


def boxed_start(init: Any, graph: Fuzzy, table: Any, distinct: DistinctRows, k: int, seed: int, threads: int) -> Floats:
    """The distinct rows in a box, (m, k); places that are given for all rows are taken as they are."""
    if not isinstance(init, str):
        return _given(init, len(distinct.inverse), k)[distinct.first]
    if init == "random":
        Z = by_chance(graph.n, k, seed, threads)
    elif init == "spectral":
        Z = spectral(graph, k, seed, threads, table)
    elif table is not None:
        Z = filled_up(principal_scores(open_rows(table), k, seed, threads), k, seed, threads)
    else:
        raise BadParameter("init='pca' needs rows, and only distances were given; use 'spectral' or 'random'.")
    return boxed(Z, seed, threads)


def boxed(Z: Array, seed: int, threads: int) -> Floats:
    """The rows of Z in a box of side 10, each a little moved so that no two coincide."""
    Z = np.asarray(Z, dtype=np.float64)
    Z = Z - Z.mean(axis=0)
    largest = float(np.abs(Z).max(initial=0.0))
    Z = Z * (SIDE / largest if largest > 0 else 1.0)
    Z = Z + NOISE * normal(Z.shape, seed, stream=STREAM_NOISE, threads=threads)
    low, high = Z.min(axis=0), Z.max(axis=0)
    return np.ascontiguousarray(SIDE * (Z - low) / np.where(high > low, high - low, 1.0), dtype=np.float32)


def _even_vectors(P: Affinities, k: int, seed: int, threads: int) -> Array:
    """Eigenvectors of the graph of affinities, each of standard deviation 1, with a little chance in them."""
    vectors = spectral(Fuzzy(P.starts, P.columns, P.values, lengths=P.values), k, seed, threads)  # no length is read
    sizes = vectors.std(axis=0)
    vectors = vectors / np.where(sizes > 0, sizes, 1)
    return np.asarray(vectors + 0.01 * normal(vectors.shape, seed, stream=1))  # equal entries part


def _given(init: Any, n: int, k: int) -> Floats:
    places = np.asarray(init)
    if places.shape != (n, k) or places.dtype.kind not in "fiu":
        raise BadParameter(
            f"init must be numbers of shape {(n, k)}, a place a row; got {places.dtype} of shape {places.shape}."
        )
    if not (np.abs(places) <= FARTHEST).all():  # nor is NaN
        raise BadParameter(f"init must be finite, within {FARTHEST:g} of the origin. Scale it to a span of 10 or less.")
    if n > 1 and (places == places[0]).all():
        raise BadParameter(
            "init has all rows at one place, and nothing would part them. Give others, or init='random'."
        )
    return np.ascontiguousarray(places, dtype=np.float32)
