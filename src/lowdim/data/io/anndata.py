"""AnnData: annotated matrices of cells × genes, as rows with the names of their variables."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from lowdim.data.rows import Rows, SparseRows
from lowdim.data.table import NamedArrayRows
from lowdim.errors import BadInput

__all__ = ["anndata_rows", "is_anndata"]


class NamedSparseRows(SparseRows):
    """Rows of a sparse matrix, with feature names."""

    def __init__(self, X: Any, feature_names: tuple[str, ...]) -> None:
        super().__init__(X)
        self.feature_names = feature_names


def is_anndata(X: Any) -> bool:
    """Whether X is an annotated matrix; anndata itself is not imported."""
    return all(hasattr(X, part) for part in ("X", "obs", "var_names"))


def anndata_rows(adata: Any) -> Rows:
    """The matrix X of annotated data as rows whose feature names are those of the variables."""
    if adata.X is None:
        raise BadInput("the AnnData has no matrix X. Set adata.X, or give one of its layers.")
    names = tuple(str(name) for name in adata.var_names)
    if sp.issparse(adata.X):
        return NamedSparseRows(adata.X, names)
    return NamedArrayRows(np.asarray(adata.X), names)
