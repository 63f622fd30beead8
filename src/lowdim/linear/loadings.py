"""Correlation loadings: the correlations between the columns of a table and the scores of its rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from lowdim.data.validation import FeatureRecord, check_weights, read_matrix, read_rows
from lowdim.errors import BadInput, NotEnoughData
from lowdim.linalg.centered import Centered, column_means, nonzero_scale
from lowdim.runtime.blas import single_blas
from lowdim.runtime.threads import thread_count

__all__ = ["correlation_loadings"]

Array = NDArray[Any]


def correlation_loadings(model: Any, X: Any, *, sample_weight: Any = None, n_jobs: int | None = None) -> Array:
    """Pearson correlations between the columns of X and the scores of its rows, (d, k).

        r_jc = cov(x_j, z_c) / √(var(x_j) var(z_c))

    They are drawn in a correlation circle. A column or a score that is constant has the correlation 0. A fitted PCA has
    those of the rows that it was fitted to as `correlation_loadings_`.

    Parameters
    ----------
    model : fitted estimator, or array (n, k)
        An estimator with `transform`, or the scores or the embedding of the rows.
    X : table (n, d)
        Rows of numbers: an array, sparse matrix, dataframe or file.
    sample_weight : array of n numbers, optional
        Multiplicity of each row.
    n_jobs : int, optional
        Number of threads; the result has the same bits for any number.

    """
    rows = read_rows(FeatureRecord(), X, fitting=True)
    scores = model.transform(X) if hasattr(model, "transform") else model
    Z = read_matrix(scores, "the scores").astype(np.float64)  # (n, k)
    if len(Z) != rows.count:
        raise BadInput(f"there are {len(Z)} scores, but X has {rows.count} rows. Give the scores of these rows.")
    weights = check_weights(sample_weight, rows.n)
    with single_blas(), np.errstate(over="ignore", invalid="ignore"):
        n, mean = column_means(rows, weights, thread_count(n_jobs))
        if rows.count < 2:
            raise NotEnoughData(f"a correlation needs at least 2 rows; got {rows.count}.")
        roots = np.ones(rows.count) if weights is None else np.sqrt(weights)
        centered = Centered(rows, mean, None, None if weights is None else roots, thread_count(n_jobs))
        deviations = nonzero_scale(np.sqrt(centered.column_scatter(n)[0] / n), mean, rows.dtype)
        Z_mean = roots**2 @ Z / n
        P = (Z - Z_mean) * roots[:, None]
        lengths = nonzero_scale(np.sqrt((P**2).sum(axis=0) / n), Z_mean, np.dtype(scores.dtype))
        products = centered.transpose_times(P / lengths) / n  # (d, k)
        return np.clip(products / deviations[:, None], -1.0, 1.0).astype(rows.dtype)
