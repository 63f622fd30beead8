"""Singularity of a neighbor embedding: where the map is torn (Liu, Ma, Zhong 2025).

The loss as a function of one point alone, all others fixed, has a Hessian H, (c, c), at its minimum. Where its smallest
eigenvalue is near 0, a small change of the data moves the point far: the map has a fracture there. The score of a point
is 1 / λ_min(H); it is infinite where the point is not at a minimum.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from lowdim.errors import BadInput, BadParameter
from lowdim.neighbor_embedding.tsne.affinities import Affinities
from lowdim.neighbor_embedding.tsne.estimator import TSNE
from lowdim.neighbor_embedding.tsne.inputs import tsne_inputs
from lowdim.neighbor_embedding.umap.estimator import UMAP
from lowdim.runtime.blas import single_blas
from lowdim.runtime.progress import report
from lowdim.runtime.threads import thread_count

__all__ = ["singularity", "tsne_hessians", "umap_hessians"]

Floats = NDArray[np.float64]

BLOCK_VALUES = 1 << 20  # pairs at a time


def singularity(model: Any, *, affinities: Affinities | None = None, n_jobs: int | None = None) -> Floats:
    """The singularity score of every point of a fitted TSNE or UMAP, (n,): 1 / λ_min of its Hessian block.

    Parameters
    ----------
    model : TSNE or UMAP, fitted
        Its embedding should have converged: the score is that of a stationary map.
    affinities : Affinities, optional
        Those that a TSNE was fitted to, if it was fitted to distances, a graph or affinities; else they are made again.
    n_jobs : int, optional
        Threads.

    """
    threads = thread_count(n_jobs)
    if not isinstance(model, TSNE | UMAP):
        raise BadParameter(f"singularity is defined for a fitted TSNE or UMAP; got {type(model).__name__}.")
    check_is_fitted(model, "embedding_")
    Z = np.asarray(model.embedding_, dtype=np.float64)
    with single_blas():
        if isinstance(model, TSNE):
            hessians = tsne_hessians(_affinities(model, affinities, threads), Z, model.dof, threads)
        else:
            hessians = umap_hessians(model.graph_, Z, model.a_, model.b_, model.repulsion_strength, threads)
        smallest = np.linalg.eigvalsh(hessians)[:, 0]
    return np.divide(1.0, smallest, out=np.full(len(Z), np.inf), where=smallest > 0)


def _affinities(model: TSNE, given: Affinities | None, threads: int) -> sp.csr_array:
    if given is not None:
        if given.n != len(model.embedding_):
            raise BadInput(f"the affinities have {given.n} rows, and the embedding {len(model.embedding_)}.")
        return given.to_sparse()
    if model.X_fit_ is None:
        raise BadInput(
            "this TSNE was fitted to distances, a graph or affinities, and does not keep them: give affinities=…, as "
            "Affinities.from_graph(graph, perplexity) makes them."
        )
    copy = TSNE(**model.get_params())
    return tsne_inputs(copy, model.X_fit_, tuple(model.perplexity_.tolist()), 0, threads).affinities.to_sparse()


def tsne_hessians(P: sp.csr_array, Z: Floats, dof: float, threads: int) -> Floats:
    """Hessians of KL(P ‖ Q) in each point alone, (n, c, c).

    With u = z_i - z_j, g = 1 / (1 + |u|² / ν), w = g^((ν+1)/2), c = (ν + 1) / ν and N = Σ w over all ordered pairs,

        H_i = 2 c Σ_j p_ij (g I - (2/ν) g² u uᵀ) - (2 c / N) Σ_j w (g I - (c + 2/ν) g² u uᵀ) - (4 / N²) S Sᵀ,
        S = c Σ_j w g u.
    """
    n, columns = Z.shape
    c, bend = (dof + 1) / dof, 2 / dof
    i = np.repeat(np.arange(n), np.diff(P.indptr))
    u = Z[i] - Z[P.indices]
    g = 1 / (1 + (u * u).sum(axis=1) / dof)
    attraction = 2 * c * _edge_sums(i, P.data * g, -bend * P.data * g**2, u, n)
    total, repulsion, S = 0.0, np.empty((n, columns, columns)), np.empty((n, columns))
    for start, stop, u in _differences(Z):
        g = 1 / (1 + (u * u).sum(axis=2) / dof)
        w = g ** ((dof + 1) / 2)
        w[np.arange(stop - start), np.arange(start, stop)] = 0
        total += w.sum()
        wg = w * g
        repulsion[start:stop] = _block_sums(wg, -(c + bend) * wg * g, u)
        S[start:stop] = c * np.einsum("bj,bjc->bc", wg, u)
        report("Hessians", stop, n)
    cross = np.einsum("ia,ib->iab", S, S)
    return np.asarray(attraction - 2 * c / total * repulsion - 4 / total**2 * cross)


def umap_hessians(V: sp.csr_array, Z: Floats, a: float, b: float, gamma: float, threads: int) -> Floats:
    """Hessians of UMAP's cross-entropy -Σ (v log φ + γ (1 - v) log(1 - φ)) in each point alone, φ = 1 / (1 + a |u|^2b).

    With s = |u|², each pair is a function f(s), and its Hessian 2 f' I + 4 f'' u uᵀ.
    """
    n, columns = Z.shape
    i = np.repeat(np.arange(n), np.diff(V.indptr))
    u = Z[i] - Z[V.indices]
    v, s = V.data.astype(np.float64), (u * u).sum(axis=1)
    near, far = _attraction(s, a, b), _repulsion(s, a, b)
    edges = _edge_sums(i, 2 * (v * near[0] - gamma * v * far[0]), 4 * (v * near[1] - gamma * v * far[1]), u, n)
    repulsion = np.empty((n, columns, columns))
    for start, stop, u in _differences(Z):
        s = (u * u).sum(axis=2)
        first, second = _repulsion(s, a, b)
        own = np.arange(stop - start), np.arange(start, stop)
        first[own] = second[own] = 0
        repulsion[start:stop] = gamma * _block_sums(2 * first, 4 * second, u)
        report("Hessians", stop, n)
    return np.asarray(edges + repulsion)


def _attraction(s: Floats, a: float, b: float) -> tuple[Floats, Floats]:
    """The first two derivatives of log(1 + a s^b) in s."""
    s = np.maximum(s, SMALLEST)
    t = a * s**b
    first = b * t / (s * (1 + t))
    return first, first * (b - 1 - b * t / (1 + t)) / s


def _repulsion(s: Floats, a: float, b: float) -> tuple[Floats, Floats]:
    """The first two derivatives in s of -log(1 - φ) = log(1 + a s^b) - log(a s^b)."""
    s = np.maximum(s, SMALLEST)
    t = a * s**b
    first = -b / (s * (1 + t))
    return first, -first * (1 + b * t / (1 + t)) / s


SMALLEST = 1e-3  # squared distance below which pairs are taken to be at it, as in the gradient of the optimizer


def _edge_sums(i: NDArray[np.intp], scale: Floats, outer: Floats, u: Floats, n: int) -> Floats:
    """Σ scale I + outer u uᵀ over the edges of every point, (n, c, c)."""
    columns = u.shape[1]
    out = np.empty((n, columns, columns))
    for a in range(columns):
        for b in range(columns):
            out[:, a, b] = np.bincount(i, outer * u[:, a] * u[:, b] + (scale if a == b else 0), minlength=n)
    return out


def _block_sums(scale: Floats, outer: Floats, u: Floats) -> Floats:
    """Σ scale I + outer u uᵀ over all others, (b, c, c)."""
    sums: Floats = np.einsum("bj,bjx,bjy->bxy", outer, u, u)
    return sums + scale.sum(axis=1)[:, None, None] * np.eye(u.shape[2])


def _differences(Z: Floats) -> Any:
    """Blocks of rows, and their differences from all rows, (b, n, c)."""
    n = len(Z)
    size = max(1, BLOCK_VALUES // n)
    for start in range(0, n, size):
        stop = min(start + size, n)
        yield start, stop, Z[start:stop, None, :] - Z
