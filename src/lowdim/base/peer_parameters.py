"""Parameters that other packages have under another name, or that lowdim does not need: a hint in place of a TypeError.

One table per method, of the names of scikit-learn, umap-learn, openTSNE and others. A parameter of lowdim stands in
braces, so that every hint names one that exists, and the command line can spell it as a flag.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from difflib import get_close_matches
from string import Formatter

from lowdim.errors import BadParameter
from lowdim.runtime.param import parameters

__all__ = ["PEER_PARAMETERS", "check_arguments", "peer_hint", "unknown_parameter"]

Hints = Mapping[str, str]

_SEARCH = "the neighbor search is exact up to 12,000 rows and approximate above; fit(lowdim.neighbors(X, k, …)) sets it"
_REPULSION = "repulsion is exact up to 4,000 rows, and by FFT or Barnes-Hut above, with an error below 2%"
_KERNEL = "a kernel has its own: {kernel}=lowdim.kernels.polynomial(degree, coef0=…), for instance"
_PROGRESS = "`with lowdim.watch(): model.fit(X)` shows progress, and lowdim.watch(callback) calls back at every step"
_LANCZOS = "the eigensolver is chosen by the number of rows"

_COMMON: Hints = {
    "verbose": _PROGRESS,
    "callback": _PROGRESS,
    "callbacks": _PROGRESS,
    "copy": "X is never changed",
    "copy_X": "X is never changed",
    "n_threads": "use {n_jobs}",
    "num_threads": "use {n_jobs}",
    "n_cpu": "use {n_jobs}",
    "seed": "use {random_state}",
    "random_seed": "use {random_state}",
    "n_dims": "use {n_components}",
    "no_dims": "use {n_components}",
    "ndim": "use {n_components}",
    "k": "use {n_neighbors}",
    "knn": "use {n_neighbors}",
    "n_iter": "use {max_iter}",
    "n_iters": "use {max_iter}",
    "eps": "use {tol}",
}

_MDS: Hints = {
    "dissimilarity": "use {metric}='precomputed' if X holds distances",
    "metric_mds": "MDS is the metric form, and NonmetricMDS the other",
    "normalized_stress": "a fit has both: stress_ is raw, and stress1_ is normalized",
    "eps": "use {tol}",
}

PEER_PARAMETERS: Mapping[str, Hints] = {
    "TSNE": {
        "n_iter_without_progress": "use {tol}, which ends the descent once the loss has converged",
        "min_grad_norm": "use {tol}, which ends the descent once the loss has converged",
        "angle": _REPULSION,
        "theta": _REPULSION,
        "method": _REPULSION,
        "negative_gradient_method": _REPULSION,
        "n_interpolation_points": _REPULSION,
        "min_num_intervals": _REPULSION,
        "ints_in_interval": _REPULSION,
        "initialization": "use {init}",
        "initial_momentum": "the momentum is 0.8 in all steps",
        "final_momentum": "the momentum is 0.8 in all steps",
        "max_grad_norm": "no point moves further than 5 in one step",
        "max_step_norm": "no point moves further than 5 in one step",
        "neighbors": _SEARCH,
        "knn_index": _SEARCH,
        "callbacks_every_iters": _PROGRESS,
        "square_distances": "distances are squared, as in the paper; {metric}='sqeuclidean' squares them once more",
    },
    "UMAP": {
        "precomputed_knn": "fit(lowdim.Graph(indices, distances)) takes such arrays",
        "low_memory": _SEARCH,
        "angular_rp_forest": _SEARCH,
        "force_approximation_algorithm": _SEARCH,
        "initial_alpha": "use {learning_rate}",
        "gamma": "use {repulsion_strength}",
        "output_metric_kwds": "no {output_metric} has parameters of its own",
        "transform_queue_size": "the search for new rows has a fixed width",
        "transform_seed": "use {random_state}",
        "transform_mode": "transform_graph(X) gives the graph of new rows",
        "target_n_neighbors": "y is compared among as many rows as {n_neighbors}",
        "unique": "equal rows always share one position",
        "dens_frac": "the density term acts in the last 30% of the epochs",
        "dens_var_shift": "0.1 is added to the variance of the radii, as in umap-learn",
        "output_dens": "rad_orig_ and rad_emb_ are there after a fit with {densmap}=True",
        "tqdm_kwds": _PROGRESS,
    },
    "PCA": {
        "svd_solver": "use {solver}",
        "eigen_solver": "use {solver}",
        "iterated_power": "use {max_iter} and {tol}: solver='krylov' iterates until it converges",
        "n_oversamples": "solver='krylov' needs none, and converges to {tol}",
        "power_iteration_normalizer": "solver='krylov' needs none, and converges to {tol}",
        "batch_size": "fit takes a stream of chunks, and partial_fit one chunk after another",
        "scale": "use {standardize}",
        "scale_": "use {standardize}",
        "center": "columns are always centered",
    },
    "KernelPCA": {
        "eigen_solver": "use {solver}",
        "degree": _KERNEL,
        "coef0": _KERNEL,
        "kernel_params": _KERNEL,
        "sigma": "use {gamma}, which is 1 / (2 sigma²)",
        "fit_inverse_transform": "inverse_transform is always there; {pre_image} says how it works",
        "max_iter": "use {tol}",
        "iterated_power": "use {tol}",
        "remove_zero_eig": "{n_components}=None keeps all components of positive variance",
    },
    "ICA": {
        "whiten": "rows are always whitened, and sources have unit variance",
        "whiten_solver": "rows are whitened by their principal components",
        "fun_args": "the contrast function has no settings beside {fun}",
        "w_init": "use {random_state}; stability(X) compares many random starts",
        "ortho": "use {algorithm}",
    },
    "LDA": {
        "covariance_estimator": "use {shrinkage} and {shrinkage_target}",
        "store_covariance": "the within-class covariance is always estimated, whatever the {solver}",
    },
    "MDS": _MDS,
    "NonmetricMDS": _MDS,
    "ClassicalMDS": {
        "dissimilarity": "use {metric}='precomputed' if X holds distances",
        "eig": "eigenvalues_ are always there",
        "add": "use {correction}",
    },
    "Isomap": {
        "neighbors_algorithm": _SEARCH,
        "eigen_solver": _LANCZOS,
        "tol": _LANCZOS,
        "max_iter": _LANCZOS,
        "path_method": "shortest paths are found by Dijkstra's algorithm, from all rows or from {n_landmarks}",
        "epsilon": "use {radius}",
    },
    "LLE": {
        "neighbors_algorithm": _SEARCH,
        "eigen_solver": "use {solver}",
        "hessian_tol": "{reg} is the regularization of all variants",
        "modified_tol": "{reg} is the regularization of all variants",
        "max_iter": "use {tol}",
    },
    "LaplacianEigenmaps": {
        "eigen_solver": _LANCZOS,
        "eigen_tol": _LANCZOS,
        "t": "use {diffusion_time}",
        "epsilon": "use {gamma}",
        "weight": "use {affinity}",
    },
}


def peer_hint(cls: type, name: str, spell: Callable[[str], str] = str) -> str | None:
    """What to do in place of a parameter that `cls` does not have, if another package has it; else None.

    `spell` writes the name of a parameter of lowdim.
    """
    known = parameters(cls)
    own, common = PEER_PARAMETERS.get(cls.__name__, {}).get(name), _COMMON.get(name)
    for hint in (own, common):
        if hint is not None and hint_parameters(hint) <= set(known):
            return hint.format(**{parameter: spell(parameter) for parameter in known})
    return None


def hint_parameters(hint: str) -> set[str]:
    """The parameters of lowdim that a hint names."""
    return {name for _, name, _, _ in Formatter().parse(hint) if name is not None}


def unknown_parameter(cls: type, name: str, known: list[str]) -> BadParameter:
    """The error for a parameter that is not among those that an estimator has, with what to do."""
    hint = peer_hint(cls, name)
    if hint is not None:
        return BadParameter(f"{cls.__name__} has no parameter {name!r}: {hint}.")
    near = get_close_matches(name, known, n=3, cutoff=0.6)
    advice = f"Did you mean {' or '.join(near)}?" if near else f"Its parameters: {', '.join(known)}."
    return BadParameter(f"{cls.__name__} has no parameter {name!r}. {advice}")


def check_arguments(cls: type, n_positional: int, names: Mapping[str, object]) -> None:
    """Raise BadParameter, which is a TypeError too, for arguments that a constructor does not take."""
    known = parameters(cls)
    for name in names:
        if name not in known:
            raise unknown_parameter(cls, name, list(known))
    positional = [name for name, declared in known.items() if not declared.kw_only]
    if n_positional > len(positional):
        first = f"{' and '.join(positional)} by position" if positional else "nothing by position"
        raise BadParameter(f"{cls.__name__} takes {first}, and its other parameters by name; got {n_positional}.")
