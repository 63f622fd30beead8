"""The fitted state of UMAP: what `transform` and `update` need, and the checks of a model file."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import astuple, dataclass

import numpy as np

from lowdim.base.state import StateCheck
from lowdim.data.duplicates import DistinctRows
from lowdim.errors import BadParameter, ModelFileError
from lowdim.neighbor_embedding.umap.densmap import DensityCorrelation
from lowdim.neighbor_embedding.umap.output_space import OutputSpace
from lowdim.runtime.param import Integer, Real

__all__ = ["EPOCHS", "UmapState", "check_umap_state"]

SEED = Integer(0, 2**64 - 1)
EPOCHS = Integer(1, 1_000_000)  # a model file with more would keep `transform` busy for ever


@dataclass(frozen=True)
class UmapState:
    """What `transform` and `update` need beside the public attributes."""

    seed: int
    distinct: DistinctRows  # the first of equal rows, and the distinct row that each row is
    density: DensityCorrelation | None  # of densMAP


def check_umap_state(check: StateCheck, precomputed: bool, space: Callable[[], OutputSpace]) -> None:
    """Raise ModelFileError unless everything that a UMAP holds is there, and agrees."""
    embedding = check.floats("embedding_", "n", "k")
    check.require(embedding is not None and embedding.size > 0, "embedding_ must not be empty")
    _check_space(check, space)
    _check_rows(check, precomputed)
    check.indices("edges_", "e", 2, below="n")
    weights = check.floats("weights_", "e", low=0.0)
    check.require(weights is not None and (weights <= 1).all(), "weights_ must be at most 1")
    check.number("n_neighbors_", Integer(1, check.sizes["m"]))
    check.number("n_epochs_", EPOCHS)
    check.number("a_", Real(0, open=True))
    check.number("b_", Real(0, open=True))
    check.require(isinstance(check.value("supervised_"), bool), "supervised_ must be True or False")
    check.number("state.seed", SEED)
    for name in ("rad_orig_", "rad_emb_"):  # of densMAP; files of earlier versions have none
        if check.holds(name):
            check.floats(name, "n", optional=True)
    _check_density(check)


def _check_space(check: StateCheck, space: Callable[[], OutputSpace]) -> None:
    """The number of coordinates that a space without straight lines needs."""
    try:
        found = space()
    except BadParameter as error:
        raise ModelFileError(f"the model contradicts itself: {error}") from error
    if found.metric != "euclidean":
        check.require(found.k == check.sizes["k"], f"embedding_ must have n_components={found.k} columns")


def _check_density(check: StateCheck) -> None:
    density = check.instance("state.density", DensityCorrelation, optional=True)
    if density is not None:
        check.require(all(Real().accepts(value) for value in astuple(density)), "state.density must be finite")
        positive = min(density.original_std, density.embedding_std) > 0
        check.require(positive, "state.density must have positive standard deviations")
        check.require(density.original_min <= density.original_max, "state.density must have ordered extremes")


def _check_rows(check: StateCheck, precomputed: bool) -> None:
    """The distinct rows, and which of them each fitted row is."""
    check.instance("state.distinct", DistinctRows)
    first = check.indices("state.distinct.first", "m", below="n")
    inverse = check.indices("state.distinct.inverse", "n", below="m")
    assert first is not None and inverse is not None
    check.require((np.diff(first) > 0).all(), "state.distinct.first must be ascending")
    check.require((inverse[first] == np.arange(len(first))).all(), "state.distinct must agree with itself")
    m, d = check.sizes["m"], check.sizes["d"]  # no columns after a fit to a graph
    check.require(not precomputed or d in (0, m), f"n_features_in_ must be {m}, one distance per row")
    check.rows("X_fit_", "m", "d", optional=True)
