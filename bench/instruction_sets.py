"""The hot kernels on every instruction set that this processor has, so that none falls behind unseen.

The instruction set is chosen when a process starts (`LOWDIM_ISA`), so each contender is a worker process that holds the
data and runs the task when told to.
"""

from __future__ import annotations

import numpy as np

import lowdim
from bench.case import Case
from bench.clothes import clothes
from bench.worker import LOWER, Task, contender
from lowdim.knn.index import neighbors
from lowdim.neighbor_embedding.tsne.affinities import Affinities
from lowdim.neighbor_embedding.tsne.gradient_descent import GradientDescent, TsneOptions
from lowdim.neighbor_embedding.umap.find_ab import find_ab
from lowdim.neighbor_embedding.umap.fuzzy_graph import fuzzy_simplicial_set
from lowdim.neighbor_embedding.umap.optimizer import UmapOptimizer, UmapParams

THREADS = lowdim.config()["threads"]


def images(n: int) -> np.ndarray:
    return clothes(n)[0]


def pca_tall() -> Task:
    X = images(70_000)
    return lambda: lowdim.PCA(50).fit(X)


def neighbor_search() -> Task:
    X = lowdim.PCA(50).fit_transform(images(70_000))
    return lambda: lowdim.neighbors(X, 15, algorithm="approximate")


def umap_layout() -> Task:
    X = lowdim.PCA(50).fit_transform(images(20_000))
    graph = fuzzy_simplicial_set(neighbors(X, 14), 1.0, 1.0, THREADS)
    start = np.ascontiguousarray(10 * X[:, :2] / np.abs(X[:, :2]).max())
    layout = UmapOptimizer(graph, UmapParams(*find_ab(0.1, 1.0)), 200, THREADS)
    return lambda: layout.run(start)


def tsne_steps() -> Task:
    X = lowdim.PCA(50).fit_transform(images(20_000))
    affinities = Affinities.from_graph(neighbors(X, 90), 30)
    descent = GradientDescent(affinities, TsneOptions(), THREADS)
    spread = np.ascontiguousarray(60 * X[:, :2] / np.abs(X[:, :2]).max())
    return lambda: descent.advance(descent.initial_state(spread), 300, 400)


def kernel_pca() -> Task:
    X = images(5000)
    return lambda: lowdim.KernelPCA(10, gamma=1 / 784).fit(X)


def smacof() -> Task:
    X = images(2000)
    return lambda: lowdim.MDS(2, max_iter=100, tol=0.0).fit(X)


TASKS = {
    "isa-pca": ("PCA, 70,000 × 784 → 50", pca_tall),
    "isa-neighbors": ("15 neighbors, 70,000 × 50, approximate", neighbor_search),
    "isa-umap": ("UMAP's 200 epochs alone, 20,000 rows, 14 neighbors → 2", umap_layout),
    "isa-tsne": ("100 steps of t-SNE, 20,000 rows, perplexity 30 → 2", tsne_steps),
    "isa-kernel-pca": ("kernel PCA, 5,000 × 784 → 10, Gaussian kernel", kernel_pca),
    "isa-mds": ("MDS by SMACOF, 2,000 rows → 2, 100 iterations", smacof),
}


def case(task: str) -> Case:
    best = lowdim.config()["instruction set"]
    sets = (best, *LOWER.get(best, ()))
    return Case(
        task,
        f"{TASKS[task][0]}, float32 (synthetic clothes), by instruction set",
        lambda: None,
        tuple(contender(task, one, best) for one in sets),
        lambda data, result: {},
        repeats=3,
        memory=False,
    )


CASES = [case(task) for task in TASKS]
