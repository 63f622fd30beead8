"""Neighbors of a sample of rows and distances to all others, under any metric, and the noise to compare them with.

Where the metric is Euclidean after a map of rows, the dimension is measured on that distance (the chord): the cosine
distance is its square, which would halve every dimension.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from lowdim.choose._null_spectra import generator
from lowdim.data.rows import ArrayRows, open_rows
from lowdim.diagnosis._concentration import noise_rows
from lowdim.diagnosis._sample import Sample, covariance_values
from lowdim.distance.mapped_rows import mapped_rows
from lowdim.distance.metrics import ARC, LARGEST, MAGNITUDES, POWERS, ROOT, SQUARES, Metric
from lowdim.distance.pairwise import prepare_rows
from lowdim.distance.unit_rows import unit_rows
from lowdim.knn.exact import euclidean_distances, neighbors_in_double
from lowdim.knn.index import NeighborIndex
from lowdim.runtime.threads import ordered_map

__all__ = ["EuclideanSpace", "Neighborhood", "SampleSpace", "noise_name", "space_of"]

Array = NDArray[np.float64]

MOST_QUERIES = 1000  # rows whose distances to the whole sample are measured
WIDE = 256  # columns from which distances of noise, none of which is small, are measured by products alone
BLOCK_ROWS = 256
PART_ROWS = 128  # of an index that is asked for all distances: long lists are slow to fill


@dataclass(frozen=True)
class Neighborhood:
    """Neighbors, nearest first, and what is far: chords where the metric has them, else distances."""

    numbers: NDArray[np.intp]  # (n, k)
    near: Array  # (n, k)
    far: Array  # (q, n - 1) of evenly spaced rows to all others

    @property
    def nearest(self) -> Array:
        """The distances of the same rows to their nearest, (q,)."""
        return self.near[_queries(len(self.near)), 0]


class SampleSpace(Protocol):
    """Distinct rows of the sample under a metric."""

    def neighborhood(self, k: int) -> Neighborhood: ...
    def distances(self, chords: Array) -> Array:
        """Chords as distances of the metric."""

    def covariance_values(self) -> Array | None:
        """Eigenvalues of the covariance of the rows whose Euclidean distances are the chords, if there are any."""

    def noise(self, seed: int) -> SampleSpace: ...


def noise_name(metric: Metric) -> str:
    """What the rows are compared with: normal rows if the metric is Euclidean after a map, else shuffled columns."""
    return "noise" if _is_rotatable(metric) else "shuffled columns"


def space_of(X: Sample, metric: Metric, threads: int) -> SampleSpace:
    """The rows of a sample under a metric; raises for values that it can't use."""
    if metric.kernel != SQUARES or sp.issparse(X):
        scaled = metric.row_map is not None or metric.name in ("haversine", "seuclidean", "mahalanobis")
        dense = X.toarray() if scaled and sp.issparse(X) else X
        return space_of(dense, metric, threads) if dense is not X else IndexedSpace(X, metric, threads)
    if metric.unit_rows:
        return EuclideanSpace(unit_rows(ArrayRows(X), metric, threads, np.float64), metric, threads, X)
    fitted = metric.fitted(ArrayRows(X))
    rows = X if fitted.row_map is None else mapped_rows(ArrayRows(X), fitted, threads)
    return EuclideanSpace(_unit(rows) if metric.root != ARC else rows, metric, threads, X)


@dataclass(frozen=True)
class EuclideanSpace:
    """Dense rows whose Euclidean distances are the chords."""

    rows: Array
    metric: Metric
    threads: int
    original: Array | None = None  # the rows before the map

    def neighborhood(self, k: int) -> Neighborhood:
        """By differences of near rows, which keep their digits."""
        n, d = self.rows.shape
        if self.original is None and d > WIDE:
            return _by_products(self.rows, k, self.threads)
        numbers, near = neighbors_in_double(self.rows, k, self.threads)
        queries = _queries(n)
        return Neighborhood(numbers, near, _others(euclidean_distances(self.rows[queries], self.rows), queries))

    def distances(self, chords: Array) -> Array:
        """Chords as distances of the metric, but for a common factor."""
        if self.metric.root == ARC:
            return np.asarray(2 * np.arcsin(np.minimum(chords / 2, 1)))
        return chords if self.metric.root == ROOT else chords**2

    def covariance_values(self) -> Array:
        """Eigenvalues of the covariance matrix."""
        return covariance_values(self.rows, self.threads)

    def noise(self, seed: int) -> SampleSpace:
        """Normal rows of as many columns, or the rows with every column shuffled."""
        assert self.original is not None
        if not _is_rotatable(self.metric):
            return space_of(_shuffled(self.original, seed), self.metric, self.threads)
        return _gaussian(self.original.shape, self.metric, seed, self.threads)


@dataclass(frozen=True)
class IndexedSpace:
    """Rows that are searched by the metric's own index: sparse ones, or those of a metric that is no Euclidean one."""

    rows: Sample
    metric: Metric
    threads: int

    def neighborhood(self, k: int) -> Neighborhood:
        """By an exact search; distances have the digits of float32."""
        X = _scaled(self.rows, self.metric)
        metric, queries = self.metric.fitted(open_rows(X)), _queries(X.shape[0])
        graph = NeighborIndex(X, metric=metric, algorithm="exact", n_jobs=self.threads).graph(k)
        near = self._chords(graph.distances.astype(np.float64))
        far = self._chords(_others(_distances_to_all(X, queries, metric, self.threads), queries))
        return Neighborhood(graph.indices.astype(np.intp), near, far)

    def distances(self, chords: Array) -> Array:
        """Chords as distances of the metric, but for a common factor."""
        return chords**2 if self._has_squares else chords

    def covariance_values(self) -> Array | None:
        """Eigenvalues of the covariance of the rows, or of their directions."""
        if self.metric.kernel != SQUARES or self.metric.root_rows or self.metric.centered_rows:
            return None
        X = _scaled(self.rows, self.metric)
        if self.metric.unit_rows:
            lengths = np.sqrt(np.asarray(X.multiply(X).sum(axis=1)).ravel())
            X = sp.csr_array(sp.diags_array(1 / np.where(lengths > 0, lengths, 1)) @ X)
        return covariance_values(X, self.threads)

    def noise(self, seed: int) -> SampleSpace:
        """Normal rows of as many columns, or the rows with every column shuffled."""
        if _is_rotatable(self.metric):
            return _gaussian(self.rows.shape, self.metric, seed, self.threads)
        return IndexedSpace(_shuffled(self.rows, seed), self.metric, self.threads)

    @property
    def _has_squares(self) -> bool:
        return self.metric.kernel == SQUARES and self.metric.root != ROOT

    def _chords(self, distances: Array) -> Array:
        return np.sqrt(distances) if self._has_squares else distances


def _is_rotatable(metric: Metric) -> bool:
    """Whether the distances of normal rows depend on the number of columns alone."""
    return metric.kernel == SQUARES and metric.root != ARC and not metric.root_rows


def _gaussian(shape: tuple[int, ...], metric: Metric, seed: int, threads: int) -> EuclideanSpace:
    """Normal rows; for correlations, their part at right angles to the mean, which has one dimension less."""
    n, d = shape
    noise = noise_rows(n, max(d - 1, 1) if metric.centered_rows else d, seed)
    if metric.unit_rows:
        noise = noise / np.linalg.norm(noise, axis=1, keepdims=True)
    return EuclideanSpace(noise, metric, threads)


def _shuffled(X: Sample, seed: int) -> Sample:
    """The rows with the values of every column in random order: no relation between columns is left."""
    random = generator(seed, 2)
    if not sp.issparse(X):
        return random.permuted(X, axis=0)
    columns = sp.csc_array(X)
    n = X.shape[0]
    for start, stop in zip(columns.indptr[:-1], columns.indptr[1:], strict=True):
        columns.indices[start:stop] = random.choice(n, stop - start, replace=False, shuffle=False)
    columns.has_sorted_indices = False
    return sp.csr_array(columns)


def _distances_to_all(X: Sample, queries: NDArray[np.intp], metric: Metric, threads: int) -> Array:
    """Distances from some of the rows to all, (q, n), by a fitted metric."""
    n = X.shape[0]
    if not sp.issparse(X):
        rows = prepare_rows(open_rows(X), metric, threads)
        return np.asarray(rows.distances_from(replace(rows, table=rows.table[queries])), dtype=np.float64)
    out = np.empty((len(queries), n))
    for start in range(0, n, PART_ROWS):
        part = X[start : start + PART_ROWS]
        index = NeighborIndex(part, metric=metric, algorithm="exact", n_jobs=threads)
        found = index.query(X[queries], part.shape[0])
        np.put_along_axis(out, start + found.indices.astype(np.intp), found.distances.astype(np.float64), axis=1)
    return out


def _by_products(rows: Array, k: int, threads: int) -> Neighborhood:
    """Neighbors and distances by inner products, block by block."""
    n = len(rows)
    queries = _queries(n)

    def search(start: int) -> tuple[NDArray[np.intp], Array, Array]:
        own = np.arange(start, min(start + BLOCK_ROWS, n))
        apart = euclidean_distances(rows[own], rows)
        asked = queries[(queries >= start) & (queries < start + BLOCK_ROWS)]
        far = _others(apart[asked - start], asked)
        apart[own - start, own] = np.inf
        nearest = np.argpartition(apart, k - 1, axis=1)[:, :k]
        near = np.take_along_axis(apart, nearest, axis=1)
        order = np.argsort(near, axis=1, kind="stable")
        return np.take_along_axis(nearest, order, axis=1), np.take_along_axis(near, order, axis=1), far

    parts = list(ordered_map(search, range(0, n, BLOCK_ROWS), threads))
    numbers, near, far = (np.concatenate(part) for part in zip(*parts, strict=True))
    return Neighborhood(numbers, near, far)


def _unit(X: Array) -> Array:
    """Centered, and scaled so that squares don't overflow; distances keep their ratios."""
    centered: Array = X - X.mean(axis=0)
    largest = float(np.abs(centered).max())
    return centered / largest if largest > 0 else centered


def _scaled(X: Sample, metric: Metric) -> Sample:
    """Rows scaled so that squares don't overflow, if that changes no ratio of distances."""
    if metric.kernel not in (SQUARES, MAGNITUDES, LARGEST, POWERS):
        return X
    largest = float(np.abs(X.data if sp.issparse(X) else X).max(initial=0.0))
    return X / 2.0 ** np.round(np.log2(largest)) if largest > 0 else X


def _queries(n: int) -> NDArray[np.intp]:
    return np.linspace(0, n - 1, min(n, MOST_QUERIES)).astype(np.intp)


def _others(distances: Array, own: NDArray[np.intp]) -> Array:
    """Distances (q, n) of rows to all, without those to themselves, (q, n - 1)."""
    q, n = distances.shape
    others = np.ones((q, n), dtype=bool)
    others[np.arange(q), own] = False
    return distances[others].reshape(q, n - 1)
