"""Subspace clustering: clusters of rows that stand out in some of the columns only.

    found = lowdim.subspace.CLIQUE(xi=10, tau=0.02).fit(X)
    for cluster in found.clusters_:
        print(cluster)

`CLIQUE` (with MAFIA's adaptive grid), `PROCLUS`, `PCluster` (δ-pClusters by MaPle), `SUBCLU`, `DOC` and `MineClus` are
clusterers of scikit-learn's kind: `labels_`, `fit_predict`, `predict` for new rows. Clusters may overlap, so all of
them stand in `clusters_`, with their rows and dimensions. `scores` compares them with a known truth, as
`planted_clusters` has one. The public names stand in `__init__.pyi`. Imports `base` and below.
"""

from lowdim.runtime.lazy_exports import attach

_EXPORTS, __getattr__, __dir__ = attach(__name__, __file__)
__all__ = __dir__()
