"""Dimensionality reduction: which picture, how many dimensions, and how far to trust it.

    from lowdim import PCA
    Z = PCA(2).fit_transform(X)

Everything is imported when it is first used, so `import lowdim` costs little more than NumPy.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lowdim import choose, kernels, plot
    from lowdim._build_info import config, show_config
    from lowdim.base.estimator import methods
    from lowdim.base.standardized import Standardized
    from lowdim.data import datasets
    from lowdim.data.io.read import read_table
    from lowdim.data.io.write import write_table
    from lowdim.data.table import Table
    from lowdim.diagnosis import diagnose
    from lowdim.kernel_pca.estimator import KernelPCA
    from lowdim.knn.graph import Graph
    from lowdim.knn.index import NeighborIndex, neighbors
    from lowdim.linear.pca import PCA
    from lowdim.manifold.isomap.estimator import Isomap
    from lowdim.manifold.laplacian.estimator import LaplacianEigenmaps
    from lowdim.manifold.lle.estimator import LLE
    from lowdim.mds.classical import ClassicalMDS
    from lowdim.mds.metric import MDS
    from lowdim.mds.nonmetric import NonmetricMDS
    from lowdim.neighbor_embedding.tsne.affinities import Affinities
    from lowdim.neighbor_embedding.tsne.estimator import TSNE
    from lowdim.neighbor_embedding.umap.estimator import UMAP
    from lowdim.persistence import load, save
    from lowdim.runtime.progress import Step, watch
    from lowdim.summaries.gram import Gram, gram
    from lowdim.summaries.moments import Moments, moments

# Where each public name lives.
_HOMES = {
    "ClassicalMDS": "lowdim.mds.classical",
    "KernelPCA": "lowdim.kernel_pca.estimator",
    "LLE": "lowdim.manifold.lle.estimator",
    "MDS": "lowdim.mds.metric",
    "NonmetricMDS": "lowdim.mds.nonmetric",
    "PCA": "lowdim.linear.pca",
    "Gram": "lowdim.summaries.gram",
    "TSNE": "lowdim.neighbor_embedding.tsne.estimator",
    "Affinities": "lowdim.neighbor_embedding.tsne.affinities",
    "UMAP": "lowdim.neighbor_embedding.umap.estimator",
    "Graph": "lowdim.knn.graph",
    "Isomap": "lowdim.manifold.isomap.estimator",
    "LaplacianEigenmaps": "lowdim.manifold.laplacian.estimator",
    "Moments": "lowdim.summaries.moments",
    "NeighborIndex": "lowdim.knn.index",
    "Standardized": "lowdim.base.standardized",
    "Step": "lowdim.runtime.progress",
    "Table": "lowdim.data.table",
    "choose": "lowdim.choose",
    "config": "lowdim._build_info",
    "datasets": "lowdim.data.datasets",
    "diagnose": "lowdim.diagnosis",
    "gram": "lowdim.summaries.gram",
    "kernels": "lowdim.kernels",
    "load": "lowdim.persistence",
    "methods": "lowdim.base.estimator",
    "moments": "lowdim.summaries.moments",
    "neighbors": "lowdim.knn.index",
    "plot": "lowdim.plot",
    "read_table": "lowdim.data.io.read",
    "save": "lowdim.persistence",
    "show_config": "lowdim._build_info",
    "watch": "lowdim.runtime.progress",
    "write_table": "lowdim.data.io.write",
}
_MODULES = (  # names that are the module itself
    "choose",
    "datasets",
    "kernels",
    "plot",
)

__version__ = "0.1.0"
__all__ = [
    "LLE",
    "MDS",
    "PCA",
    "TSNE",
    "UMAP",
    "Affinities",
    "ClassicalMDS",
    "Gram",
    "Graph",
    "Isomap",
    "KernelPCA",
    "LaplacianEigenmaps",
    "Moments",
    "NeighborIndex",
    "NonmetricMDS",
    "Standardized",
    "Step",
    "Table",
    "choose",
    "config",
    "datasets",
    "diagnose",
    "errors",
    "gram",
    "kernels",
    "load",
    "methods",
    "moments",
    "neighbors",
    "plot",
    "read_table",
    "save",
    "show_config",
    "watch",
    "write_table",
]

from lowdim import errors  # noqa: E402  (a tree of names, nothing heavy)


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'lowdim' has no attribute {name!r}")
    module = import_module(home)
    value = module if name in _MODULES else getattr(module, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
