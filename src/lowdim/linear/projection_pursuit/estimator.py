"""Projection pursuit."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from lowdim.base.estimator import SeedMixin, ThreadsMixin, estimator
from lowdim.base.linear import LinearProjection
from lowdim.base.state import StateCheck
from lowdim.data.validation import overflow_error, read_rows
from lowdim.decomposition.component_count import ComponentRule, component_domain
from lowdim.errors import NotEnoughData
from lowdim.linalg.dense_eigen import fix_signs
from lowdim.linear.projection_pursuit.catalog import SUPERVISED, index_domain, make_index
from lowdim.linear.projection_pursuit.class_indices import read_classes
from lowdim.linear.projection_pursuit.search import Found, PursuitOptions, pursue
from lowdim.linear.projection_pursuit.significance import (
    CLASSES,
    CORRELATED,
    SPHERICAL,
    monte_carlo_p_values,
    noise_like,
    null_distribution,
    verdict,
)
from lowdim.linear.projection_pursuit.sphering import SpheredRows, sphere_rows, standardize_rows
from lowdim.runtime.display import rows_and_columns
from lowdim.runtime.param import Choice, Either, Flag, Integer, Maybe, Real, param
from lowdim.runtime.random import seed_of
from lowdim.runtime.threads import thread_count

__all__ = ["ProjectionPursuit", "PursuitState"]

Array = NDArray[Any]


@dataclass(frozen=True)
class PursuitState:
    """What the inverse needs."""

    reconstruction: Array  # (k, d) from scores to centered rows


@estimator(
    title="projections far from normal noise, by an index of clusters, holes, skewness or classes",
    summary="rows",
    inverse=True,
    streaming=True,
    sparse=True,
    accepts_target=True,
)
class ProjectionPursuit(ThreadsMixin, SeedMixin, LinearProjection):
    """Projection pursuit: the directions in which sphered rows look least like normal noise.

        max I(YA)  subject to  AᵀA = I,   Y = (X - μ) S^(-1/2)

    I is a projection index, S the covariance matrix. PCA looks for variance, and misses clusters in directions of small
    variance; sphering removes variance, so that nothing but the shape of the projected rows counts.

        holes           (1 - mean exp(-‖z‖²/2)) / (1 - exp(-k/2))       few rows at the center, as between clusters
        central_mass    1 - holes                                       many rows at the center, with outliers
        friedman_tukey  Σᵢⱼ K(‖zᵢ - zⱼ‖ / h) / (n² hᵏ)                   dense spots; k ≤ 2
        legendre        Σⱼ (2j + 1) (E Pⱼ(2Φ(z) - 1))² / 2              anything but a normal density; k ≤ 2
        negentropy      k₁ (E z exp(-z²/2))² + k₂ (E exp(-z²/2) - √½)²   the same, without regard for outliers; k = 1
        moment          ((E z³)² + (E z⁴ - 3)² / 4) / 12                the same, with outliers; k = 1
        kurtosis        (E z⁴ - 3)²                                     outliers, or two clusters of one size; k = 1
        skewness        (E z³)²                                         asymmetry; k = 1
        lda             1 - |AᵀWA| / |Aᵀ(W + B)A|                       classes y
        pda             the same with (1 - λ) W + nλI for W             classes y, more columns than rows

    A frame of more components than the index has dimensions is found one direction after another. Before the next one,
    the structure found is removed: the scores on that direction become the normal quantiles of their ranks (Friedman
    1987).

    An index has many local maxima, so the best of `n_init` ascents is taken: two from the directions of least and of
    largest kurtosis (eigenvectors of the fourth moment, as in invariant coordinate selection), the others from random
    frames, of which 'friedman_tukey' first takes two of three to a maximum of 'holes'. They use the gradient on the
    Stiefel manifold, or a random search if the index is a function of one's own.

    Whatever is maximized so eagerly grows on noise as well: `p_value_` compares it with the same search on spherical
    normal noise. For rows that are not sphered, noise has their covariance; for classes, it is the same rows with the
    classes in random order. Above 5,000 rows, restarts and noise have as many, and the best restart goes on with all.

    {parameters}

    Attributes
    ----------
    components_ : array (k, d)
        Directions in rows, in units of X: scores of the fitted rows have unit variance if the rows were sphered.
    mean_, scale_ : array (d,), None
        Means of the columns; components are for columns in their own units.
    index_ : array (searches,)
        The index of each search: one for all components, or one for each.
    p_value_ : array (searches,)
        Of each index under noise, (1 + #) / (1 + n_null); None without a null distribution.
    null_index_ : array (n_null,)
        The best index of each sample of noise.
    index_path_ : list of arrays
        For each search, the index along the best ascent.
    restart_paths_ : list of lists of arrays
        For each search, the index along every ascent.
    n_iter_ : int
        Steps of the longest of the best ascents.
    converged_ : bool
        Whether they converged.
    n_sphere_ : int
        Dimensions of the rows that were searched.

    """

    n_components: int = param(2, Integer(1), "Number of components.", kw_only=False)
    index: str | Callable[[Array], float] = param(
        "holes", index_domain, "What is maximized: a projection index, or a function from scores (n, k) to a number."
    )
    n_init: int = param(6, Integer(1, 10_000), "Ascents, of which the best is taken.")
    n_null: int = param(19, Integer(0, 100_000), "Samples of noise for the p-value; 0 for none.")
    deflation: str = param(
        "structure_removal",
        Choice("structure_removal", "orthogonal"),
        "Further directions are found after the structure of earlier ones was removed, or orthogonal to them.",
    )
    sphere: bool | str = param(
        "auto",
        Either(Choice("auto"), Flag()),
        "Sphere the rows, or only standardize the columns; 'auto' spheres, except for the index 'pda'.",
    )
    n_sphere: int | float | str | ComponentRule | None = param(
        None,
        component_domain,
        "Principal components to sphere, the others are left out: a number, a share of the variance, a rule, or all.",
    )
    order: int = param(6, Integer(1, 50), "Order of the Legendre polynomials.")
    bandwidth: float | None = param(
        None, Maybe(Real(0, open=True)), "Bandwidth h of friedman_tukey; None for three times the normal reference."
    )
    penalty: float = param(0.1, Real(0, 1), "Penalty λ of pda.")
    max_iter: int = param(200, Integer(1), "Maximum number of steps of an ascent.")
    tol: float = param(1e-5, Real(0, open=True), "An ascent ends when steps gain less than this share of the index.")

    _state_classes = (PursuitState,)

    def fit(self, X: Any, y: Any = None) -> Self:
        """Find the directions. The indices 'lda' and 'pda' need `y`, the class of each row; the others ignore it."""
        with self._fitting():
            rows = read_rows(self, X, fitting=True, min_rows=2, several_passes=True)
            codes = read_classes(y, rows.count, str(self.index)) if self._is_supervised() else None
            seed, threads = seed_of(self.random_state), thread_count(self.n_jobs)
            if self._spheres():
                sphered = sphere_rows(rows, self.n_sphere, seed, threads)
            else:
                sphered = standardize_rows(rows, seed, threads)
            self._require_dimensions(sphered)
            options = self._options(seed, threads)
            found = pursue(sphered.rows, codes, options)
            self._keep_frame(sphered, found, options, rows.dtype)
            self._keep_search(found)
            self._keep_significance(sphered, found, codes, options)
            return self

    @property
    def verdict_(self) -> str:
        """Whether there is structure, in words: one sentence for each search."""
        check_is_fitted(self, "components_")
        if self.p_value_ is None:
            return "not compared with noise (n_null=0)"
        noise = CLASSES if self._is_supervised() else SPHERICAL if self._spheres() else CORRELATED
        return "; ".join(verdict(float(p), len(self.null_index_), noise) for p in self.p_value_)

    def _why_target_is_ignored(self) -> str | None:
        """What a target on the command line is told; None if the index uses it."""
        if self._is_supervised():
            return None
        return f"the index {self.index!r} does not use a target. Indices that do: {', '.join(SUPERVISED)}"

    def _is_supervised(self) -> bool:
        return isinstance(self.index, str) and self.index in SUPERVISED

    def _spheres(self) -> bool:
        return self.index != "pda" if self.sphere == "auto" else bool(self.sphere)

    def _options(self, seed: int, threads: int) -> PursuitOptions:
        index = make_index(self.index, order=self.order, bandwidth=self.bandwidth, penalty=self.penalty)
        return PursuitOptions(
            index, self.n_components, self.n_init, self.max_iter, self.tol, self.deflation, seed, threads
        )

    def _require_dimensions(self, sphered: SpheredRows) -> None:
        n, r = sphered.rows.shape
        if self.n_components > r:
            raise NotEnoughData(
                f"n_components={self.n_components} must be at most {r}, the dimensions that "
                f"{rows_and_columns(n, self.n_features_in_)} vary in. Ask for fewer, or give more data."
            )
        self.n_sphere_ = r

    def _keep_frame(
        self, sphered: SpheredRows, found: list[Found], options: PursuitOptions, dtype: np.dtype[Any]
    ) -> None:
        A = np.hstack([one.frame for one in found])  # (r, k)
        if options.index.rotation_invariant and len(found) == 1:
            A = A @ _axis_rotation(A, sphered)
        directions = fix_signs(sphered.forward @ A)  # (d, k)
        A = sphered.backward @ directions
        self.mean_ = sphered.mean.astype(dtype)
        self.scale_ = None
        self.components_ = np.ascontiguousarray(directions.T, dtype=dtype)
        reconstruction = (np.linalg.pinv(A) @ sphered.backward).astype(dtype)
        if not (np.isfinite(self.components_).all() and np.isfinite(reconstruction).all()):
            raise overflow_error()
        self._state = PursuitState(reconstruction)

    def _keep_search(self, found: list[Found]) -> None:
        self.index_ = np.array([one.value for one in found])
        self.index_path_ = [one.best for one in found]
        self.restart_paths_ = [one.paths for one in found]
        self.n_iter_ = max(len(one.best) - 1 for one in found)
        self.converged_ = all(one.converged for one in found)

    def _keep_significance(self, sphered: SpheredRows, found: list[Found], codes: Any, options: PursuitOptions) -> None:
        noise = noise_like(sphered.rows, codes, self._spheres(), options.seed)
        self.null_index_ = null_distribution(noise, options, self.n_null)
        observed = np.array([one.sample_value for one in found])
        self.p_value_ = monte_carlo_p_values(observed, self.null_index_) if self.n_null else None

    def _reconstruction(self) -> Array:
        return self._state.reconstruction

    def _check_state(self, check: StateCheck) -> None:
        super()._check_state(check)
        check.floats("state.reconstruction", "k", "d")
        check.floats("index_", "searches")
        check.floats("null_index_", None)
        p_values = check.floats("p_value_", "searches", optional=True)
        check.require(p_values is None or ((p_values > 0) & (p_values <= 1)).all(), "p_value_ must be from 0 to 1")
        for name in ("index_path_", "restart_paths_"):
            check.require(isinstance(check.value(name), list), f"{name} must be a list")
            check.require(len(check.value(name)) == check.sizes["searches"], f"{name} must have an entry per search")
        paths = [*self.index_path_, *(path for search in self.restart_paths_ for path in search)]
        whole = [isinstance(p, np.ndarray) and p.ndim == 1 and p.dtype == np.float64 and len(p) > 0 for p in paths]
        check.require(all(whole), "the paths must be arrays of the index")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = self._is_supervised()
        return tags


def _axis_rotation(A: Array, sphered: SpheredRows) -> Array:
    """The rotation (k, k) for which the columns explain as much as possible of the standardized rows, one by one.

    The index does not care, but a reader does, and the result is the same however the search arrived there.
    """
    return np.linalg.svd(A.T @ sphered.standardized_backward(), full_matrices=False)[0]
