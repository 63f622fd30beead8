"""The projection of wide rows: taken where the neighbors of a sample stay near, and only there."""

from __future__ import annotations

import numpy as np
import pytest

from lowdim.data.rows import ArrayRows
from lowdim.distance.metrics import metric_of
from lowdim.knn.projection import MARGIN, PROJECTED_COLUMNS, principal_projection
from lowdim.knn.recall_sample import RecallSample
from lowdim.knn.search_space import search_space_of


def space_of(X, metric="euclidean"):
    return search_space_of(ArrayRows(X), metric_of(metric, None), 2)


def low_rank(rng, rank, d=300, noise=0.05):
    X = rng.normal(size=(3000, rank)) @ rng.normal(size=(rank, d))
    return (X + noise * rng.normal(size=(3000, d))).astype(np.float32)


@pytest.mark.parametrize("rank", [5, 60])
def test_rows_near_a_subspace_are_projected_and_no_distance_grows(rng, rank):
    X = low_rank(rng, rank)
    space = space_of(X)
    sample = RecallSample.of(space, 10, 0)
    projection, length = principal_projection(space, sample, 0.99, 0)
    assert projection is not None
    assert projection.work.shape == (3000, PROJECTED_COLUMNS[0])
    assert 10 < length <= 20
    pairs = rng.integers(0, 3000, size=(200, 2))
    apart = ((X[pairs[:, 0]] - X[pairs[:, 1]]) ** 2).sum(1)
    near = ((projection.work[pairs[:, 0]] - projection.work[pairs[:, 1]]) ** 2).sum(1)
    assert (near <= apart * (1 + 1e-4)).all()
    assert near.sum() > 0.99 * apart.sum()


def test_the_list_is_as_long_as_the_sample_asks(rng):
    X = low_rank(rng, 80, noise=0.5)
    space = space_of(X)
    sample = RecallSample.of(space, 12, 0)
    projection, length = principal_projection(space, sample, 0.9, 0)
    assert projection is not None
    P = projection.work.astype(np.float64)
    squares = (P**2).sum(1)
    D = squares[sample.rows, None] + squares - 2 * P[sample.rows] @ P.T
    D[np.arange(len(sample.rows)), sample.rows] = np.inf
    order = np.argsort(D, axis=1)
    assert sample.contained(order[:, :length]) >= 0.9 + MARGIN - 1e-3
    shorter = length - 2
    assert shorter < 12 + 4 or sample.contained(order[:, :shorter]) < 0.9 + MARGIN + 1e-3


def test_rows_without_structure_or_savings_are_searched_as_they_are(rng):
    noise = rng.normal(size=(3000, 400)).astype(np.float32)
    for X, metric in ((noise, "euclidean"), (low_rank(rng, 5, d=80), "euclidean"), (low_rank(rng, 5), "manhattan")):
        space = space_of(X, metric)
        assert principal_projection(space, RecallSample.of(space, 10, 0), 0.99, 0) == (None, 10)


def test_recall_of_lists_in_a_projection_counts_members_not_distances(rng):
    space = space_of(low_rank(rng, 5, d=20))
    sample = RecallSample.of(space, 4, 0)
    assert sample.contained(sample.truth.indices[:, ::-1]) == 1
    assert sample.contained(sample.truth.indices[:, :3]) == 0.75
    assert sample.contained(np.full((len(sample.rows), 9), -1)) == 0
